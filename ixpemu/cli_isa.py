"""`ixpemu isa check`, `dump`, `timing` and `reference`: the instruction set as data, proved, exported and printed."""

from __future__ import annotations

import json as json_library
from pathlib import Path
from typing import Annotated

import typer

from ixpemu.cli_support import key_values, show, show_diagnostics, show_json
from ixpemu.diagnostics import Severity, as_json
from ixpemu.isa.chipfile import DEFAULT, load_chip


def register(app: typer.Typer) -> None:
    """Adds the commands of this module as one group."""
    group = typer.Typer(no_args_is_help=True, help="The instruction set: check it, dump it, print its timing or its reference.")
    group.command("check")(check_command)
    group.command("dump")(dump_command)
    group.command("timing")(timing_command)
    group.command("reference")(reference_command)
    app.add_typer(group, name="isa")


def check_command(json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False) -> None:
    """Prove the tables: bits, overlaps, inverses, semantics, sources, examples."""
    from ixpemu.isa import instruction_set
    from ixpemu.isa.check import check

    isa = instruction_set()
    found = check(isa)
    if json:
        show_json({"blocks": len(isa.blocks), "diagnostics": as_json(found)})
    else:
        show_diagnostics(found)
        if not found:
            typer.echo(f"{len(isa.blocks)} blocks, nothing to complain about")
    if any(finding.severity is Severity.ERROR for finding in found):
        raise typer.Exit(1)


def dump_command(
    output: Annotated[Path | None, typer.Option("-o", metavar="FILE", help="Instead of standard output.")] = None,
) -> None:
    """Write everything that is known of the instruction set as JSON; its schema is in isa/."""
    from ixpemu.isa import instruction_set
    from ixpemu.isa.dump import dump

    values = dump(instruction_set())
    if output is None:
        show_json(values)
        return
    from ixpemu.files import write_atomically

    write_atomically(output, (json_library.dumps(values, indent=2) + "\n").encode())


def timing_command(
    chip: Annotated[
        str, typer.Option("--chip", metavar="NAME|FILE", help="The chip file whose parameters are printed.")
    ] = DEFAULT,
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=V", help="Override a parameter, as for a run.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the tables as JSON.")] = False,
) -> None:
    """Print what everything costs: instructions, every parameter of the units with its source, references; how sure each is."""
    from ixpemu.isa import instruction_set
    from ixpemu.report.isa import timing_json, timing_report

    parameters = load_chip(chip).override(key_values("--set", set_ or []))
    isa = instruction_set()
    if json:
        show_json(timing_json(isa, parameters))
    else:
        show(timing_report(isa, parameters))


def reference_command(
    folder: Annotated[Path | None, typer.Option("-o", metavar="DIR", help="Write the pages into this folder.")] = None,
) -> None:
    """Print the instruction reference, or write it as pages of Markdown."""
    from ixpemu.isa import instruction_set
    from ixpemu.isa.reference import reference_pages

    pages = reference_pages(instruction_set())
    if folder is None:
        typer.echo("\n".join(pages.values()))
        return
    from ixpemu.files import make_folder, write_atomically

    make_folder(folder)
    for name, text in pages.items():
        write_atomically(folder / name, text.encode())
