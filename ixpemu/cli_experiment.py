"""`ixpemu experiment`: measurements that take more than one run. Now: `rfc2544`, `hashing`."""

from __future__ import annotations

import csv
import io
import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from ixpemu.cli_support import (
    compile_engine,
    failed_json,
    key_values,
    number,
    progress_bar,
    report_error,
    show,
    show_json,
    usage_error,
)
from ixpemu.diagnostics import UserError


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    group = typer.Typer(help="Measurements that take more than one run.", no_args_is_help=True, pretty_exceptions_enable=False)
    group.callback()(lambda: None)
    group.command("rfc2544")(rfc2544_command)
    group.command("hashing")(hashing_command)
    app.add_typer(group, name="experiment")


def _numbers(option: str, text: str | None) -> tuple[int, ...] | None:
    """`64,128,1518` as numbers, each once."""
    if text is None:
        return None
    found: list[int] = []
    for part in text.split(","):
        value = number(part.strip())
        if value is None or value < 0 or value in found:
            raise usage_error(f"{option} {text!r} is not a list of numbers, each once", f"for instance  {option} 64,512,1518")
        found.append(value)
    return tuple(found)


def _seconds(text: str | None) -> float | None:
    from ixpemu.cli_run import chip_seconds

    try:
        return chip_seconds(text)
    except UserError as error:
        raise usage_error(f"--trial {text!r} is not a time", "for instance  --trial 20ms") from error


def _steps(text: str | None) -> int | None:
    """`0.5%` of the line rate as a number of steps up to it."""
    if text is None:
        return None
    found = re.fullmatch(r"([0-9]*\.?[0-9]+)\s*%?", text)
    if not found or not 0.001 <= float(found[1]) <= 100:
        raise usage_error(f"--resolution {text!r} is no share of the line rate", "0.001% to 100%: --resolution 0.5%")
    return max(1, round(100 / float(found[1])))


def rfc2544_command(
    application: Annotated[
        str, typer.Argument(metavar="APP", help="A folder with an app.toml, or a shipped application's name.")
    ] = "ipv4_forward",
    quick: Annotated[
        bool, typer.Option("--quick", help="Three sizes, 2 ms a trial, 2 % steps: a first look in seconds.")
    ] = False,
    sizes: Annotated[
        str | None, typer.Option(metavar="N,N,...", help="Frame sizes with check sequence; those of the RFC by default.")
    ] = None,
    ports: Annotated[
        str | None, typer.Option(metavar="N,N,...", help="Ports that are offered frames; all of the application by default.")
    ] = None,
    trial: Annotated[
        str | None, typer.Option(metavar="T", help="How long frames are offered in a trial, on the chip; 20ms by default.")
    ] = None,
    resolution: Annotated[
        str | None, typer.Option(metavar="P%", help="Step in which rates are tried, of the line rate; 0.5% by default.")
    ] = None,
    traffic: Annotated[
        str, typer.Option(metavar="FILE.toml", help="Made traffic whose addresses, protocols and ports the frames have.")
    ] = "64B",
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=V", help="Override a parameter of the chip file.")
    ] = None,
    table: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write the table to this file as well.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Find, by frame size, the highest rate at which no frame is lost, and the latency at it (RFC 2544)."""
    try:
        overrides = key_values("--set", set_ or [])
        wanted, which = _numbers("--sizes", sizes), _numbers("--ports", ports)
        seconds, steps = _seconds(trial), _steps(resolution)
        from ixpemu import app_rfc2544
        from ixpemu.app_file import load
        from ixpemu.isa.chipfile import load_chip

        plan = app_rfc2544.Plan(
            application=application, sizes=wanted or (app_rfc2544.QUICK_SIZES if quick else app_rfc2544.SIZES), ports=which,
            seconds=seconds or (app_rfc2544.QUICK_SECONDS if quick else app_rfc2544.SECONDS),
            steps=steps or (app_rfc2544.QUICK_STEPS if quick else app_rfc2544.STEPS), overrides=overrides, like=traffic,
        )
        offered = app_rfc2544.check(plan)
        _check_table(table)
        compile_engine(parameters=load_chip(load(application).chip).override(overrides))
        with progress_bar(not quiet and not json and sys.stderr.isatty()) as progress:
            points = list(app_rfc2544.run(plan, progress))
        name = load(application).name
    except UserError as error:
        if not json:
            raise
        show_json(failed_json(error))
        raise typer.Exit(report_error(error)) from error
    from ixpemu.report.rfc2544 import rfc2544_json, rfc2544_report, rfc2544_rows

    if table is not None:
        _write(table, rfc2544_rows(points))
    if json:
        show_json(rfc2544_json(name, offered, plan, points))
    else:
        show(rfc2544_report(name, offered, plan, points))


def hashing_command(
    quick: Annotated[bool, typer.Option("--quick", help="Only what each operation costs alone.")] = False,
    table: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write the tables to this file as well.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """What a flow table in SRAM costs: by the hash unit and by instructions, by place in the chain, with the CAM in front."""
    _check_table(table)
    from ixpemu import app_hashing

    compile_engine()
    with progress_bar(not quiet and not json and sys.stderr.isatty()) as progress:
        costs = list(app_hashing.costs(progress))
        rates = [] if quick else list(app_hashing.rates(progress))
    from ixpemu.report.hashing import hashing_json, hashing_report, hashing_rows

    if table is not None:
        _write(table, hashing_rows(costs, rates))
    if json:
        show_json(hashing_json(costs, rates))
    else:
        show(hashing_report(costs, rates))


def _check_table(table: Path | None) -> None:
    """Told now and not after the measurement."""
    if table is not None and (table.is_dir() or not table.absolute().parent.is_dir()):
        raise usage_error(f"--csv {table} cannot be written", "name a file in a folder that is there")


def _write(path: Path, rows: list[list[str]]) -> None:
    from ixpemu.files import write_atomically

    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    write_atomically(path, text.getvalue().encode())
