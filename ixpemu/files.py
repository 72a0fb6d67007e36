"""Reading a user's files and writing output files whole or not at all.

An output file appears under its name only once it is complete: it is written beside it under a temporary name and renamed. What
the operating system refuses becomes a `UserError`. No formats here.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from ixpemu import codes
from ixpemu.diagnostics import UserError, user_error


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def read_bytes(path: str | Path) -> bytes:
    """The content of `path`. `UserError` 6001 where it cannot be read."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: str | Path, error: OSError) -> UserError:
    return user_error(
        codes.FILE_UNREADABLE, f"cannot read {path}: {_reason(error)}", help="check the name and the folder it is looked for in"
    )


def write_atomically(path: str | Path, content: bytes) -> None:
    """Write `content` to `path`, replacing what was there only when all of it is on disk. `UserError` 6002 on failure."""
    target = Path(path)
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content)
            # mkstemp makes files for their owner alone; an output file gets what the user's umask says.
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(temporary, 0o666 & ~umask)
            os.replace(temporary, target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise user_error(
            codes.FILE_UNWRITABLE, f"cannot write {path}: {_reason(error)}", help="check that the folder exists and is writable"
        ) from None


def make_folder(path: str | Path) -> None:
    """Make the folder `path` and those above it, where they are not there. `UserError` 6002 on failure."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise user_error(
            codes.FILE_UNWRITABLE, f"cannot make the folder {path}: {_reason(error)}", help="check that it may be written"
        ) from None
