"""The command `ixpemu`: one sub-command per file `cli_*.py`, put together here, and what happens when something goes wrong.

Exit codes: 0 done; 1 the program found errors in what it was given, or could not write; 2 wrong usage. Only cli modules print.
Each command imports what it needs when it runs, so that an assembly does not wait for the compiled engine.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from typing import Annotated

import typer

from ixpemu import cli_asm, cli_bench, cli_isa, cli_run
from ixpemu.cli_support import report_error
from ixpemu.diagnostics import UserError

app = typer.Typer(
    name="ixpemu",
    help="An assembler and an emulator of Intel's IXP2400 network processor.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
cli_asm.register(app)
cli_run.register(app)
cli_isa.register(app)
cli_bench.register(app)


def _version(wanted: bool) -> None:
    if wanted:
        from ixpemu import __version__

        typer.echo(f"ixpemu {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Runs the command line and leaves with its exit code."""
    code = 0
    try:
        try:
            app()
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else 1
        sys.stdout.flush()
    except UserError as error:
        code = report_error(error)
    except KeyboardInterrupt:
        sys.stderr.write("stopped\n")
        code = 1
    except BrokenPipeError:
        code = 1            # the reader has gone, as in `ixpemu dis x | head`: nobody is left to be told
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG, errno.EBADF):
            raise
        with contextlib.suppress(OSError):
            sys.stderr.write(f"error: output could not be written: {(error.strerror or str(error)).lower()}\n")
        code = 1
    # Python flushes once more on its way out; what could not be written before must not fail a second time.
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
