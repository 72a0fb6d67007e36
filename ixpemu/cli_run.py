"""`ixpemu run`: an application over captures or made traffic, with a progress bar, and the table of what packets cost."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ixpemu import cli_dump
from ixpemu.cli_support import (
    announce,
    compile_engine,
    failed_json,
    key_values,
    number,
    port_files,
    progress_bar,
    report_error,
    show,
    show_diagnostics,
    show_json,
    usage_error,
)
from ixpemu.diagnostics import UserError, as_json

if TYPE_CHECKING:
    from ixpemu.app import App
    from ixpemu.trace import RunReport

MODES = ("default", "fast")
DEFAULT_TRAFFIC_PACKETS = 10_000        # a made stream has no end of its own
_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


@dataclass(frozen=True, slots=True)
class Limits:
    """Where a run ends, whatever comes first; `cycles` or `seconds`, which are on the chip."""

    packets: int | None = None
    cycles: int | None = None
    seconds: float | None = None


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command("run")(run_command)


def count(option: str, text: str | None) -> int | None:
    """A positive whole number: `1000`, `10_000`, `2M`, `0x100`."""
    if text is None:
        return None
    scale = {"k": 10**3, "M": 10**6, "G": 10**9}.get(text[-1:], 1)
    value = number(text[:-1] if scale > 1 else text)
    if value is None or value <= 0:
        raise usage_error(f"{option} {text!r} is not a positive whole number", f"for instance  {option} 10_000  or  {option} 2M")
    return value * scale


def chip_seconds(text: str | None) -> float | None:
    """A time on the chip: `5ms`, `250us`, `0.1s`; a bare number is seconds."""
    if text is None:
        return None
    found = re.fullmatch(r"([0-9]*\.?[0-9]+)\s*(s|ms|us|ns)?", text)
    if not found or float(found[1]) == 0:
        raise usage_error(f"--time {text!r} is not a time", "for instance  --time 5ms  or  --time 250us")
    return float(found[1]) * _UNITS[found[2] or "s"]


def run_command(
    application: Annotated[
        str, typer.Argument(metavar="APP", help="A folder with an app.toml, a shipped application's name, or a linked program.",
                            show_default=False)
    ],
    pcap: Annotated[list[str] | None, typer.Option("--pcap", metavar="PORT=FILE", help="Feed a port from this capture.")] = None,
    out: Annotated[
        list[str] | None,
        typer.Option("--out", metavar="PORT=FILE", help="Capture what a port sends, in place of the file in app.toml."),
    ] = None,
    traffic: Annotated[
        str | None, typer.Option(metavar="64B|imix|FILE.toml", help="Feed every port from made traffic.")
    ] = None,
    gbps: Annotated[float | None, typer.Option(metavar="G", help="Rate at which frames arrive at each port, in Gb/s.")] = None,
    packets: Annotated[
        str | None, typer.Option(metavar="N", help="Stop when N packets have left or been dropped; 10,000 for made traffic "
                                 "without a limit.")
    ] = None,
    cycles: Annotated[str | None, typer.Option(metavar="N", help="Stop after N chip cycles.")] = None,
    time: Annotated[
        str | None, typer.Option(metavar="T", help="Stop after this time on the chip: 5ms, 250us; a bare number is seconds.")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=V", help="Override a parameter of the chip file; all of them: "
                                       "ixpemu isa timing.")
    ] = None,
    sensitivity: Annotated[
        str | None, typer.Option(metavar="KEY=V1,V2,...", help="Run once for each value of a parameter (or FIRST..LAST/STEP) "
                                 "and compare; writes no captures.")
    ] = None,
    mode: Annotated[
        str, typer.Option(metavar="|".join(MODES), help="fast leaves out the accounting by packet.")
    ] = "default",
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at reserved behaviour: what the hardware does not define.")
    ] = False,
    allow: Annotated[
        list[str] | None, typer.Option("--allow", metavar="CODE", help="Say nothing of this kind of reserved behaviour: IXP7004.")
    ] = None,
    races: Annotated[
        bool, typer.Option("--races", help="Look for data races between contexts: slow, and exit code 1 if there are any.")
    ] = False,
    linked: Annotated[
        Path | None, typer.Option("--linked", metavar="FILE", help="Load this linked program in place of the images of "
                                   "app.toml.")
    ] = None,
    imports: Annotated[
        list[str] | None, typer.Option("--import", metavar="NAME=V", help="Value of an .import_var, before that of app.toml.")
    ] = None,
    dump: Annotated[
        list[str] | None, typer.Option("--dump", metavar="REGION:ADDRESS[:BYTES]", help="Print memory as it is at the end: "
                                       "scratch:0x100:64, sram0, sram1, dram, local0 to local7.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Run an application and print what each type of packet cost."""
    unwritten: UserError | None = None
    try:
        limits = run_limits(packets, cycles, time, made=traffic is not None, mode=mode)
        from ixpemu.app_file import PORTS

        feeds, captures = port_files("--pcap", pcap or [], PORTS), port_files("--out", out or [], PORTS)
        overrides = key_values("--set", set_ or [])
        shown = not quiet and not json and sys.stderr.isatty()
        if races and (mode != "default" or sensitivity is not None):
            raise usage_error("--races has a mode of its own", "leave --mode and --sensitivity away")
        mode = "races" if races else mode
        start = {"feeds": feeds, "captures": captures, "traffic": traffic, "gbps": gbps, "mode": mode,
                 "strict": True if strict else None, "allow": allow or [],
                 "linked": linked, "imports": import_values(imports or [])}
        if sensitivity is not None:
            if captures:
                raise usage_error("--sensitivity runs several times and writes no captures", "leave --out away")
            if dump:
                raise usage_error("--sensitivity runs several times, and --dump shows one end", "leave one of them out")
            _compare(sensitivity, application, start, limits, overrides, shown, json)
            return
        asked = [cli_dump.wanted(text) for text in dump or []]
        ready, report, unwritten = _run(application, start, limits, overrides, shown, asked)
        dumped = [cli_dump.words(ready.chip, one) for one in asked]
    except UserError as error:
        if not json:
            raise
        show_json(failed_json(error))
        raise typer.Exit(report_error(error)) from error
    from ixpemu.report import run_json, run_report

    if json:
        memory = [{"region": one.region, "address": one.address, "words": found}
                  for one, found in zip(asked, dumped, strict=True)]
        show_json(run_json(report) | ({} if unwritten is None else {"unwritten": as_json(unwritten.diagnostics)})
                  | ({"memory": memory} if asked else {}))
    else:
        show(run_report(report))
        for one, found in zip(asked, dumped, strict=True):
            sys.stdout.write(cli_dump.lines(one, found))
        show_diagnostics((*report.warnings, *report.races))
        if races and not report.races:
            announce("no races found")
    if unwritten is not None:
        sys.stdout.flush()
        raise unwritten
    if report.failure is not None:
        show_diagnostics([report.failure])
    if report.failure is not None or report.races:
        raise typer.Exit(1)


def import_values(texts: list[str]) -> dict[str, int]:
    """The values of `--import` options."""
    from ixpemu.link_settings import from_arguments

    return {name: given.value for name, given in from_arguments("--import", key_values("--import", texts, "NAME=VALUE")).items()}


def run_limits(packets: str | None, cycles: str | None, time: str | None, *, made: bool, mode: str) -> Limits:
    """Where the run ends, from its options; `made` says whether its traffic is, so that it has no end of its own."""
    given = [name for name, value in (("--packets", packets), ("--cycles", cycles), ("--time", time)) if value is not None]
    if cycles is not None and time is not None:
        raise usage_error("--cycles and --time say the same in two ways", "give one of them")
    if mode not in MODES:
        raise usage_error(f"there is no mode {mode!r}", f"one of {', '.join(MODES)}")
    if made and not given:
        if mode == "fast":
            raise usage_error("made traffic has no end, and packets are not followed in the mode fast", "give --cycles or --time")
        return Limits(packets=DEFAULT_TRAFFIC_PACKETS)
    return Limits(count("--packets", packets), count("--cycles", cycles), chip_seconds(time))


def _run(
    application: str, start: dict[str, Any], limits: Limits, overrides: dict[str, str], shown: bool,
    asked: Sequence[cli_dump.Wanted] = (),
) -> tuple[App, RunReport, UserError | None]:
    """One run, and what is wrong with its captures if that is all that is wrong. `start` are options of App.load."""
    from ixpemu import app_file
    from ixpemu.app import App, CapturesUnwritten
    from ixpemu.isa.chipfile import load_chip

    # The mistakes of a moment's check come before the half minute of a first compile.
    compile_engine(start["mode"] == "races", load_chip(app_file.load(application).chip).override(overrides))
    ready = App.load(application, overrides=overrides, **start)
    for one in asked:
        cli_dump.words(ready.chip, one)         # what there is not is told before the run
    if ready.warnings:
        show_diagnostics(ready.warnings)
    with progress_bar(shown) as progress:
        try:
            return ready, ready.run(packets=limits.packets, cycles=limits.cycles, time=limits.seconds, progress=progress), None
        except CapturesUnwritten as error:
            return ready, error.report, error


def _compare(
    text: str, application: str, start: dict[str, Any], limits: Limits, overrides: dict[str, str], shown: bool, json: bool
) -> None:
    """Runs for every value of a parameter and prints the table of what came out."""
    from ixpemu import app_file
    from ixpemu.app import INTERRUPTED
    from ixpemu.app_sensitivity import Answer, ask, question
    from ixpemu.isa.chipfile import load_chip
    from ixpemu.report.sensitivity import sensitivity_json, sensitivity_report

    settings = app_file.load(application)
    asked = question(text, settings, overrides)

    def run(changed: dict[str, str]) -> RunReport:
        return _run(application, {**start, "capture": False}, limits, changed, shown)[1]

    answers: list[Answer] = []
    for answer in ask(asked, run, overrides, load_chip(settings.chip)):
        if answer.report.stop == INTERRUPTED:
            announce(f"stopped: the answers for {len(answers)} of {len(asked.values)} values")
            break
        answers.append(answer)
    if not answers:
        raise KeyboardInterrupt
    if json:
        show_json(sensitivity_json(asked, answers))
    else:
        show(sensitivity_report(asked, answers))
