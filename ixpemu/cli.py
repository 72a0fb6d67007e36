"""The command `ixpemu`: runs a sub-command, and what happens when something goes wrong.

Exit codes: 0 done; 1 the program found errors in what it was given, or could not write; 2 wrong usage; 130 stopped by the user.
Only cli modules print. Each command imports what it needs when it runs, so that an assembly does not wait for the engine.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import io
import os
import sys

from ixpemu.diagnostics import UserError

_STOPPED = 130
_NEW_OBJECTS = 50_000       # before garbage is looked for: what a start makes stays, and searching it is a tenth of its time
_CANNOT_WRITE = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG, errno.EBADF)


class _Closed(io.TextIOBase):
    """Stands for a standard output that was closed before the program began: writing to it fails as the system would fail it."""

    def write(self, text: str, /) -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


def _open_streams() -> None:
    """Standard output and standard error as streams, whatever the program was started with."""
    if sys.__stdout__ is None:
        sys.stdout = _Closed()
    if sys.__stderr__ is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")        # noqa: SIM115    open as long as the program runs
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")           # for names that the terminal's encoding lacks


def main() -> None:
    """Runs the command line and leaves with its exit code."""
    _open_streams()
    gc.set_threshold(_NEW_OBJECTS, *gc.get_threshold()[1:])
    code = 0
    try:
        try:
            # Not above: an interrupt may come while modules load.
            from ixpemu.cli_application import application

            if "" in sys.argv[1:]:
                # As a path it would be the folder that one is in.
                from ixpemu.cli_support import usage_error

                raise usage_error("an argument is empty", "give the file or the value that belongs there; is a variable not set?")
            application(sys.argv[1] if len(sys.argv) > 1 else None)()
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else 1
        sys.stdout.flush()
    except UserError as error:
        from ixpemu.cli_support import report_error

        code = report_error(error)
    except KeyboardInterrupt:
        code = _STOPPED
    except BrokenPipeError:
        code = 1            # the reader has gone, as in `ixpemu dis x | head`: nobody is left to be told
    except OSError as error:
        if error.errno not in _CANNOT_WRITE:
            raise
        with contextlib.suppress(OSError):
            sys.stderr.write(f"error: output could not be written: {(error.strerror or str(error)).lower()}\n")
        code = 1
    if code == _STOPPED:
        with contextlib.suppress(OSError):
            sys.stderr.write("stopped\n")
    # Python flushes once more on its way out; what could not be written before must not fail a second time.
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
