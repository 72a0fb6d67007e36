"""`ixpemu asm` and `ixpemu dis`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ixpemu.cli_support import failed_json, key_values, number, report_error, show_diagnostics, show_json, usage_error
from ixpemu.diagnostics import UserError, as_json

SUFFIXES = {"ixp": ".ixp", "words": ".words", "ucode-c": ".c", "bin": ".bin"}
FORMATS = tuple(SUFFIXES)


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    app.command("asm")(assemble_command)
    app.command("dis")(disassemble_command)


def _format(name: str | None) -> str | None:
    if name is not None and name not in FORMATS:
        raise usage_error(f"there is no format {name!r}", f"one of {', '.join(FORMATS)}")
    return name


def definitions(texts: list[str]) -> dict[str, int | str]:
    """`-D NAME`, `-D NAME=VALUE`: a bare name is 1, a number a number, anything else a text."""
    pairs = key_values("-D", [text if "=" in text else f"{text}=1" for text in texts])
    values: dict[str, int | str] = {}
    for name, text in pairs.items():
        value = number(text)
        values[name] = text if value is None else value
    return values


Form = Annotated[
    str | None, typer.Option("--format", metavar="|".join(FORMATS), help="Form of the image; by its suffix, if not given.")
]


def assemble_command(
    file: Annotated[Path, typer.Argument(metavar="FILE.uc", help="Source text.", show_default=False)],
    output: Annotated[
        Path | None, typer.Option("-o", metavar="FILE", help="Where the image goes; beside the source, if not given.")
    ] = None,
    include: Annotated[
        list[Path] | None, typer.Option("-I", metavar="DIR", help="A folder for #include, after the source's own.")
    ] = None,
    define: Annotated[list[str] | None, typer.Option("-D", metavar="NAME=V", help="Define NAME as if by #define.")] = None,
    listing: Annotated[
        Path | None, typer.Option("--list", metavar="FILE", help="Write a listing: addresses, words, source.")
    ] = None,
    form: Form = None,
    stage: Annotated[
        str | None, typer.Option("--stop-after", metavar="STAGE", help="Print this stage and write nothing: preprocess, parse, "
                                 "scope, flow, allocate or encode.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result and all diagnostics as JSON.")] = False,
) -> None:
    """Assemble microengine source into an image."""
    from ixpemu.asm.findings import Findings
    from ixpemu.asm.pipeline import assemble_program
    from ixpemu.asm.stages import STAGES, stage_text

    chosen = _format(form)
    if stage is not None and stage not in STAGES:
        raise usage_error(f"there is no stage {stage!r}", f"one of {', '.join(STAGES)}")
    try:
        if stage is not None:
            findings = Findings()
            text = stage_text(stage, file, include or [], definitions(define or []), findings)
            show_diagnostics(tuple(findings.diagnostics))
            sys.stdout.write(text)
            return
        result = assemble_program(file, include=include or [], define=definitions(define or []))
        target = output if output is not None else file.with_suffix(SUFFIXES[chosen or "ixp"])
        result.image.save(target, chosen)
        if listing is not None:
            from ixpemu.files import write_atomically

            write_atomically(listing, result.listing().encode())
    except UserError as error:
        if not json:
            raise
        show_json(failed_json(error))
        raise typer.Exit(report_error(error)) from error
    if json:
        show_json({
            "image": str(target), "words": len(result.image), "contexts": result.image.contexts,
            "diagnostics": as_json(result.diagnostics),
        })
    else:
        show_diagnostics(result.diagnostics)


def disassemble_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An image.", show_default=False)],
    form: Form = None,
    contexts: Annotated[int, typer.Option(help="4 or 8, for forms that do not say.")] = 8,
) -> None:
    """Disassemble an image into text that assembles back to the same words."""
    from ixpemu.asm import disassemble
    from ixpemu.image import Image

    if contexts not in (4, 8):
        raise usage_error(f"a microengine runs 4 or 8 contexts, not {contexts}")
    sys.stdout.write(disassemble(Image.load(file, _format(form), contexts)))
