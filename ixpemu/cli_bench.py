"""`ixpemu bench`."""

from __future__ import annotations

from typing import Annotated

import typer

from ixpemu.cli_support import announce, compile_engine, show, show_json, usage_error


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command("bench")(bench_command)


def bench_command(
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    case: Annotated[list[str] | None, typer.Option(metavar="CASE", help="Only this case; may be given several times.")] = None,
    seconds: Annotated[float, typer.Option(metavar="S", help="How long each speed is measured for.")] = 3.0,
    peers: Annotated[bool, typer.Option("--peers/--no-peers", help="Also measure other emulators that are installed.")] = True,
    compile_only: Annotated[
        bool, typer.Option("--compile-only", help="Only compile the engine, both variants, for runs to come.")
    ] = False,
) -> None:
    """Measure the speed of this installation."""
    if compile_only:
        compile_engine(observed=True)
        announce("the engine is compiled")
        return
    from ixpemu.bench import CASES, run_bench
    from ixpemu.bench.peers import PEERS

    for name in case or ():
        if name not in CASES:
            raise usage_error(f"there is no case {name!r}", f"one of {', '.join(CASES)}")
    if not 0.01 <= seconds <= 600:
        raise usage_error(f"--seconds {seconds:g} is out of range", "from 0.01 to 600")
    result = run_bench(tuple(case) if case else CASES, seconds, announce, tuple(PEERS) if peers else ())
    if json:
        show_json(result.as_json())
    else:
        from ixpemu.report.bench import bench_report

        show(bench_report(result))
