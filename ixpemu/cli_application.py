"""The sub-commands of `ixpemu`, put together: which module has which, and the options of the command as a whole.

What happens when something goes wrong is `cli`'s.
"""

from __future__ import annotations

from importlib import import_module
from typing import Annotated

import typer

# Sub-command and the module whose `register` adds it.
COMMANDS = {
    "asm": "cli_asm", "dis": "cli_asm", "link": "cli_link", "run": "cli_run", "trace": "cli_trace", "diff": "cli_trace",
    "isa": "cli_isa", "bench": "cli_bench", "experiment": "cli_experiment", "explain": "cli_explain", "fmt": "cli_fmt",
    "lint": "cli_lint",
}


def application(command: str | None = None) -> typer.Typer:
    """The command line with the module of sub-command `command` alone, so that it waits for no other; with all of them where
    `command` is none of these."""
    app = typer.Typer(
        name="ixpemu",
        help="An assembler and an emulator of Intel's IXP2400 network processor.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for module in dict.fromkeys([COMMANDS[command]] if command in COMMANDS else COMMANDS.values()):
        import_module(f"ixpemu.{module}").register(app)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        from ixpemu import __version__

        typer.echo(f"ixpemu {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass
