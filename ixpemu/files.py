"""Reading a user's files and writing output files whole or not at all.

An output file appears under its name only once it is complete: it is written beside it under a temporary name and renamed. What
the operating system refuses becomes a `UserError`. No formats here but that of text: which bytes are which characters and lines.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO

from ixpemu import codes
from ixpemu.diagnostics import UserError, user_error

SOURCE_SUFFIXES = (".uc", ".h", ".inc", ".asm")
"""What files of microcode are called; .h may be an image in the form of a C initialiser as well."""
MOST_TEXT = 32 << 20        # bytes of a source text or an image: what is longer is no such file, or a device without an end
_LINE_END = re.compile(r"\r\n|\n|\r")
_WRITE_HELP = {
    errno.ENOENT: "the folder it goes to does not exist: make it first",
    errno.ENOTDIR: "a part of the name that should be a folder is a file",
    errno.EISDIR: "this is a folder: name a file in it",
    errno.ENOSPC: "free some space, or choose another disk",
    errno.EDQUOT: "free some space, or choose another disk",
    errno.ENAMETOOLONG: "choose a shorter name",
}


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, OSError):
        return (error.strerror or str(error)).lower()
    return "no file can have this name"


def read_bytes(path: str | Path, most: int | None = None, beginning: Callable[[bytes], None] | None = None) -> bytes:
    """The content of `path`. `UserError` 6001 where it cannot be read, or where it has more than `most` bytes.

    `beginning` is called with the first bytes, at least four where there are so many, before the rest is read: it may refuse what
    is no such file, were it without end.
    """
    try:
        with open(path, "rb") as stream:
            content = b""
            if beginning is not None:
                beginning(content := stream.read(4096))
            content += stream.read() if most is None else stream.read(most + 1 - len(content))
    except (OSError, ValueError) as error:      # ValueError: a name that no file system takes
        raise _unreadable(path, _reason(error)) from None
    if most is not None and len(content) > most:
        raise _unreadable(path, f"it is longer than {most >> 20} MB")
    return content


def _unreadable(path: str | Path, reason: str) -> UserError:
    help = "check the name and the folder it is looked for in"
    return user_error(codes.FILE_UNREADABLE, f"cannot read {path}: {reason}", help=help)


def decode(content: bytes) -> str:
    """The text of a file: UTF-8, UTF-16 that says so at its beginning, or Latin-1 as old editors wrote it."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def split_lines(text: str) -> list[str]:
    """The lines of a text, without their ends. Unlike `str.splitlines` it knows no line ends but CR, LF and both."""
    return _LINE_END.split(text)


def write_atomically(path: str | Path, content: bytes) -> None:
    """Write `content` to `path`, replacing what was there only when all of it is on disk. `UserError` 6002 on failure.

    A link is followed and stays; a device or a pipe is written to as it is; the permissions of an older file are kept.
    """
    with written_atomically(path) as stream:
        stream.write(content)


def write_together(outputs: Mapping[str | Path, bytes]) -> None:
    """Several files, of which none appears before all of them are on disk. `UserError` 6002 on failure."""
    with contextlib.ExitStack() as stack:
        streams = [stack.enter_context(written_atomically(path)) for path in outputs]
        for stream, content in zip(streams, outputs.values(), strict=True):
            stream.write(content)
            stream.flush()


@contextlib.contextmanager
def written_atomically(path: str | Path) -> Iterator[IO[bytes]]:
    """The same for what is written piece by piece: a stream, whose file appears under its name when the block is left."""
    try:
        mode = _mode_of(path)
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from None
    try:
        if mode is None or stat.S_ISREG(mode):
            with _replacing(Path(os.path.realpath(path)), mode) as stream:
                yield stream
        else:
            with open(path, "wb") as stream:
                yield stream
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: str | Path, error: OSError | ValueError) -> UserError:
    number = error.errno if isinstance(error, OSError) else None
    return user_error(
        codes.FILE_UNWRITABLE, f"cannot write {path}: {_reason(error)}",
        help=_WRITE_HELP.get(number or 0, "choose a place that you may write to"),
    )


def check_output(path: str | Path) -> None:
    """UserError 6002 where a file could not be written to `path` for what can be seen beforehand. Nothing is written."""
    number: int | None = None
    try:
        real = os.path.realpath(path)
        folder = os.path.dirname(real)
        if _mode_of(real) is None:
            if not os.path.isdir(folder):
                number = errno.ENOENT if not os.path.exists(folder) else errno.ENOTDIR
            elif not os.access(folder, os.W_OK):
                number = errno.EACCES
        elif os.path.isdir(real):
            number = errno.EISDIR
    except OSError as error:
        number = error.errno
    except ValueError:
        number = errno.EINVAL
    if number is not None:
        raise user_error(
            codes.FILE_UNWRITABLE, f"cannot write {path}: {os.strerror(number).lower()}",
            help=_WRITE_HELP.get(number, "choose a place that you may write to"),
        )


def _mode_of(path: str | Path) -> int | None:
    """What there is at `path`, None if nothing is. Raises `OSError` for a file that may not be written."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISREG(mode) and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return mode


@contextlib.contextmanager
def _replacing(target: Path, mode: int | None) -> Iterator[IO[bytes]]:
    # The name of the temporary file is short, whatever the target's: the longest name allowed is no less allowed here.
    descriptor, temporary = tempfile.mkstemp(prefix=".ixpemu-", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
        if mode is None:
            # mkstemp makes files for their owner alone; an output file gets what the user's umask says.
            umask = os.umask(0)
            os.umask(umask)
            mode = 0o666 & ~umask
        os.chmod(temporary, stat.S_IMODE(mode))
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def make_folder(path: str | Path) -> None:
    """Make the folder `path` and those above it, where they are not there. `UserError` 6002 on failure."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise user_error(
            codes.FILE_UNWRITABLE, f"cannot make the folder {path}: {_reason(error)}", help="check that it may be written"
        ) from None
