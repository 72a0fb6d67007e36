"""`ixpemu trace`: everything that happens in a run, one event a line; and `ixpemu diff`: where two such traces part."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from ixpemu import codes
from ixpemu.cli_run import count, run_limits
from ixpemu.cli_support import (
    compile_engine,
    key_values,
    number,
    port_files,
    report_error,
    show_diagnostics,
    usage_error,
)
from ixpemu.diagnostics import UserError, user_error
from ixpemu.files import check_output, written_atomically

if TYPE_CHECKING:
    from ixpemu.app import App
    from ixpemu.trace.text import Window

DIFFERENT, TROUBLE = 1, 2
DEFAULT_CYCLES = 100_000        # a trace has 100 bytes for every instruction: without a limit it would fill disks


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    app.command("trace")(trace_command)
    app.command("diff")(diff_command)


def numbers(option: str, text: str | None, most: int | None = None) -> frozenset[int] | None:
    """A list of numbers: `0,1,4` or `1-20`."""
    if text is None:
        return None
    found: set[int] = set()
    for part in text.split(","):
        low, dash, high = part.partition("-")
        ends = number(low), number(high) if dash else number(low)
        if ends[0] is None or ends[1] is None or not 0 <= ends[0] <= ends[1] or ends[1] - ends[0] > 1_000_000:
            raise usage_error(f"{option} {text!r} is no list of numbers", f"for instance  {option} 0,2  or  {option} 1-20")
        if most is not None and ends[1] > most:
            raise usage_error(f"{option} {text}: there is no {ends[1]}", f"0 to {most}")
        found.update(range(ends[0], ends[1] + 1))
    return frozenset(found)


def trace_command(
    application: Annotated[
        str, typer.Argument(metavar="APP", help="A folder with an app.toml, or a shipped application's name.", show_default=False)
    ],
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the trace there instead of standard output.")
    ] = None,
    me: Annotated[str | None, typer.Option("--me", metavar="N,N", help="Only these microengines; 8 is the XScale.")] = None,
    first: Annotated[str | None, typer.Option("--from", metavar="CYCLE", help="Nothing before this cycle.")] = None,
    end: Annotated[
        str | None, typer.Option("--to", metavar="CYCLE", help="Nothing from this cycle on; the run ends there.")
    ] = None,
    kinds: Annotated[
        str | None, typer.Option(metavar="KIND,KIND", help="Only these kinds: issue, branch, write, ring, done, ...")
    ] = None,
    packet: Annotated[
        str | None, typer.Option(metavar="N,N", help="Only what contexts do while they work on these packets, counted from 1.")
    ] = None,
    digest: Annotated[
        bool, typer.Option("--hash", help="Print one digest of everything that happened, in place of the trace.")
    ] = False,
    pcap: Annotated[list[str] | None, typer.Option("--pcap", metavar="PORT=FILE", help="Feed a port from this capture.")] = None,
    traffic: Annotated[
        str | None, typer.Option(metavar="64B|imix|FILE.toml", help="Feed every port from made traffic.")
    ] = None,
    gbps: Annotated[float | None, typer.Option(metavar="G", help="Rate at which frames arrive at each port, in Gb/s.")] = None,
    packets: Annotated[str | None, typer.Option(metavar="N", help="Stop when N packets have left or been dropped.")] = None,
    cycles: Annotated[
        str | None, typer.Option(metavar="N", help="Stop after N chip cycles; 100,000 where nothing else ends the run.")
    ] = None,
    time: Annotated[str | None, typer.Option(metavar="T", help="Stop after this time on the chip: 5ms, 250us.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=V", help="Override a parameter of the chip file.")
    ] = None,
) -> None:
    """Run an application and write down everything that happens, one event a line. No captures are written."""
    from ixpemu import app_file

    window, last = _window(me, first, end, kinds, packet)
    if not any((packets, cycles, time)):
        cycles = str(DEFAULT_CYCLES if last is None else last)
    limits = run_limits(packets, cycles, time, made=traffic is not None, mode="default")
    feeds, overrides = port_files("--pcap", pcap or [], app_file.PORTS), key_values("--set", set_ or [])
    if output is not None and output != "-":
        check_output(output)
    app_file.load(application)
    compile_engine(observed=True)
    from ixpemu.app import App

    ready = App.load(application, feeds=feeds, traffic=traffic, gbps=gbps, overrides=overrides, capture=False)
    show_diagnostics(ready.warnings)
    limit = {"packets": limits.packets, "cycles": limits.cycles, "time": limits.seconds}
    if digest:
        _print_digest(ready, window, limit)
    elif output is None or output == "-":
        _trace(ready, window, limit, sys.stdout)
    else:
        with written_atomically(output) as stream, io.TextIOWrapper(stream, "utf-8", newline="\n") as text:
            _trace(ready, window, limit, text)


def _window(
    me: str | None, first: str | None, end: str | None, kinds: str | None, packet: str | None
) -> tuple[Window, int | None]:
    """What of the run is wanted, and the cycle at which that ends."""
    from ixpemu.chip_observe import kinds_of
    from ixpemu.trace.text import Window

    names = None if kinds is None else frozenset(kinds.split(","))
    kinds_of(names)
    start, last = (0 if first in (None, "0") else count("--from", first) or 0), count("--to", end)
    if last is not None and last <= start:
        raise usage_error(f"--to {end} is not after --from {first}", "a window of cycles ends behind its beginning")
    return Window(numbers("--me", me, 8), start, last, numbers("--packet", packet), names), last


def _trace(ready: App, window: Window, limit: dict[str, Any], stream: TextIO) -> None:
    from ixpemu.trace.text import Describer, TextTrace

    title = (f"{ready.settings.folder.name} on {ready.chip.parameters.name}",)
    sink = TextTrace(stream, Describer(ready.chip, ready.images).line, window, title)
    ready.chip.observe(sink, window.observed)
    ready.run(**limit)


def _print_digest(ready: App, window: Window, limit: dict[str, Any]) -> None:
    from ixpemu.trace.digest import TraceHash

    if (window.engines, window.first, window.packets) != (None, 0, None):
        raise usage_error("--hash is of everything", "leave --me, --from and --packet away")
    sink = TraceHash()
    ready.chip.observe(sink, window.observed)
    ready.run(**limit)
    sys.stdout.write(f"{sink.hexdigest()} {sink.count} events, {ready.chip.cycle} cycles\n")


def diff_command(
    first: Annotated[str, typer.Argument(metavar="A", help="A trace, written by `ixpemu trace`.", show_default=False)],
    second: Annotated[str, typer.Argument(metavar="B", help="The trace to compare it with.", show_default=False)],
) -> None:
    """Compare two traces: nothing and exit code 0 if they are equal, else 1 and the first event in which they differ."""
    from ixpemu.report.difference import difference_text
    from ixpemu.trace.difference import difference

    try:
        for name in (first, second):
            if Path(name).is_dir():
                raise user_error(codes.FILE_UNREADABLE, f"{name} is a folder", help="name a trace, a file")
        found = difference(first, second)
    except UserError as error:
        report_error(error)
        raise typer.Exit(TROUBLE) from error
    if isinstance(found, int):
        sys.stdout.write(f"equal: {found:,} events\n")
        return
    sys.stdout.write(difference_text(found, (first, second)))
    raise typer.Exit(DIFFERENT)
