"""`ixpemu bench`."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from ixpemu.cli_support import announce, show, show_json, usage_error


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command("bench")(bench_command)


def compile_engine() -> None:
    """Compiles the engine into the user's cache, unless that is done."""
    from ixpemu.engine.jit import CACHE_MESSAGE, COMPILED, is_cached

    if not COMPILED:
        announce("nothing to compile: IXPEMU_JIT=0")
        return
    if CACHE_MESSAGE is not None:
        announce(CACHE_MESSAGE)
    known = is_cached()
    if not known:
        announce("compiling the engine for this machine, once per installation")
    from ixpemu.chip import Chip

    started = time.perf_counter()
    Chip().run(cycles=1)
    announce("the engine is compiled" if known else f"compiled in {time.perf_counter() - started:.1f} s")


def bench_command(
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    case: Annotated[list[str] | None, typer.Option(metavar="CASE", help="Only this case; may be given several times.")] = None,
    seconds: Annotated[float, typer.Option(metavar="S", help="How long each speed is measured for.")] = 3.0,
    compile_only: Annotated[bool, typer.Option("--compile-only", help="Only compile the engine, for runs to come.")] = False,
) -> None:
    """Measure the speed of this installation."""
    if compile_only:
        compile_engine()
        return
    from ixpemu.bench import CASES, run_bench

    for name in case or ():
        if name not in CASES:
            raise usage_error(f"there is no case {name!r}", f"one of {', '.join(CASES)}")
    if not 0.01 <= seconds <= 600:
        raise usage_error(f"--seconds {seconds:g} is out of range", "from 0.01 to 600")
    result = run_bench(tuple(case) if case else CASES, seconds, announce)
    if json:
        show_json(result.as_json())
    else:
        from ixpemu.report.bench import bench_report

        show(bench_report(result))
