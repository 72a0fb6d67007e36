"""`ixpemu asm` and `ixpemu dis`."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from ixpemu.cli_support import (
    MESSAGE_FORMS,
    announce,
    failed_json,
    key_values,
    message_form,
    number,
    read_standard,
    report_error,
    show_diagnostics,
    show_json,
    usage_error,
    write_standard,
)
from ixpemu.diagnostics import UserError, as_json
from ixpemu.files import SOURCE_SUFFIXES, write_atomically, write_together

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
SUFFIXES = {"ixp": ".ixp", "words": ".words", "ucode-c": ".c", "bin": ".bin"}
FORMATS = tuple(SUFFIXES)
STANDARD = Path("-")            # standard input or output where a file is named


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    app.command("asm")(assemble_command)
    app.command("dis")(disassemble_command)


def _format(name: str | None) -> str | None:
    if name is not None and name not in FORMATS:
        raise usage_error(f"there is no format {name!r}", f"one of {', '.join(FORMATS)}")
    return name


def definitions(texts: list[str]) -> dict[str, int | str]:
    """`-D NAME`, `-D NAME=VALUE`: a bare name is 1, a number a number, anything else a text. Case does not count."""
    pairs = key_values("-D", [text if "=" in text else f"{text}=1" for text in texts])
    values: dict[str, int | str] = {}
    known: dict[str, str] = {}
    for name, text in pairs.items():
        if _NAME.fullmatch(name) is None:
            raise usage_error(f"-D {name}: this is no name", "a name has letters, digits and _, and begins with no digit")
        if not text.isprintable():
            raise usage_error(f"-D {name}: its text has characters that cannot stand in a line")
        if name.lower() in known:
            raise usage_error(f"-D {known[name.lower()]} and -D {name} are one name: case does not count", "leave one out")
        known[name.lower()] = name
        value = number(text)
        values[name] = text if value is None else value
    return values


def keep_apart(sources: Iterable[str], outputs: Mapping[str, Path], refuse_sources: bool = True) -> None:
    """Raises a usage error where an output, named by its option, would overwrite what was read, or another output, or, with
    `refuse_sources`, any file with the name of a source."""
    taken = {os.path.realpath(source): f"the source {source}" for source in sources}
    for option, path in outputs.items():
        place = os.path.realpath(path)
        source = path.suffix.lower() in SOURCE_SUFFIXES and path.suffix.lower() != ".h"
        if refuse_sources and source and os.path.exists(path) and place not in taken:
            raise usage_error(f"{option} {path} would overwrite a source", "give the output another name, or remove that file")
        if place in taken:
            raise usage_error(f"{option} {path} would overwrite {taken[place]}", "give the output another name")
        taken[place] = f"the file of {option}"


Form = Annotated[
    str | None, typer.Option("--format", metavar="|".join(FORMATS), help="Form of the image; by its suffix, if not given.")
]


Messages = Annotated[
    str, typer.Option("--message-format", metavar="|".join(MESSAGE_FORMS), callback=message_form, help="Form of errors and "
                      "warnings: with source lines, a line each, JSON, or SARIF 2.1.0.")
]


def assemble_command(
    file: Annotated[Path, typer.Argument(metavar="FILE.uc", help="Source text.", show_default=False)],
    output: Annotated[
        Path | None, typer.Option("-o", metavar="FILE", help="Where the image goes, - for standard output; beside the source, "
                                  "if not given.")
    ] = None,
    include: Annotated[
        list[Path] | None, typer.Option("-I", metavar="DIR", help="A folder for #include, after the source's own and before "
                                  "the shipped microcode/lib.")
    ] = None,
    define: Annotated[list[str] | None, typer.Option("-D", metavar="NAME=V", help="Define NAME as if by #define.")] = None,
    listing: Annotated[
        Path | None, typer.Option("--list", metavar="FILE", help="Write a listing: addresses, words, source, registers, macros; "
                                  "as JSON where the name ends in .json; - for standard output.")
    ] = None,
    form: Form = None,
    stage: Annotated[
        str | None, typer.Option("--stop-after", metavar="STAGE", help="Print this stage and write nothing: preprocess, parse, "
                                 "scope, flow, allocate or encode.")
    ] = None,
    chip: Annotated[
        str | None, typer.Option("--chip", metavar="NAME|FILE.toml", help="Chip file whose control store the program has to fit; "
                                 "ixp2800 has 8,192 words.")
    ] = None,
    preprocess: Annotated[
        bool, typer.Option("-P", help="Preprocess only: print the statements, which assemble to the same words, or write them to "
                           "the file of -o.")
    ] = False,
    ixp2400: Annotated[bool, typer.Option("-ixp2400", help="For an IXP2400, as without any of these.")] = False,
    ixp2800: Annotated[bool, typer.Option("-ixp2800", help="For an IXP2800: __IXP2800 is defined, and 8,192 words fit.")] = False,
    ixp2xxx: Annotated[bool, typer.Option("-ixp2xxx", help="For either: only __IXP2XXX is defined.")] = False,
    revision_min: Annotated[
        str | None, typer.Option("-REVISION_MIN", metavar="A0", help="First stepping of the chip that is meant, __REVISION_MIN.")
    ] = None,
    revision_max: Annotated[
        str | None, typer.Option("-REVISION_MAX", metavar="B1", help="Last stepping of the chip that is meant, __REVISION_MAX.")
    ] = None,
    revision: Annotated[str | None, typer.Option("-REVISION", metavar="A0", help="Both at once.")] = None,
    require_declarations: Annotated[
        bool, typer.Option("-R", help="Registers have to be declared: one without a .reg is an error.")
    ] = False,
    pressure: Annotated[
        bool, typer.Option("--pressure", help="Print how many registers and signals each word needs, and where most are; also "
                           "where there are too few.")
    ] = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="Where registers do not do, insert moves and keep values in local memory; says "
                           "where, and what it costs.")
    ] = False,
    vnops: Annotated[
        bool, typer.Option("--vnops", help="Insert the no-ops that the hardware needs between instructions; says where and why.")
    ] = False,
    optimise: Annotated[
        bool, typer.Option("-O", help="Fill defer slots, and with --vnops put useful instructions where no-ops would be; --list "
                           "shows what moved.")
    ] = False,
    live: Annotated[bool, typer.Option("--live", help="Print the live ranges: words against registers and signals.")] = False,
    macro_cost: Annotated[
        bool, typer.Option("--macro-cost", help="Print how many words the expansions of each macro made; part of --json.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result and all diagnostics as JSON.")] = False,
    messages: Messages = "full",
) -> None:
    """Assemble microengine source into an image."""
    from ixpemu.asm.pipeline import assemble_program
    from ixpemu.image_formats import format_of

    if preprocess or stage is not None:
        alone = "-P" if preprocess else "--stop-after"
        useless = {"-O": optimise, "--vnops": vnops, "--repair": repair, "--pressure": pressure, "--live": live, "--json": json,
                   "--macro-cost": macro_cost, "--list": listing is not None, "--format": form is not None}
        _together(alone, [option for option, given in useless.items() if given])
    check_includes(include or [])
    chosen = _format(form)
    family = _family({"ixp2400": ixp2400, "ixp2800": ixp2800, "ixp2xxx": ixp2xxx}, chip)
    if chip is None and family == "ixp2800":
        chip = family
    defined = {**_predefined(family, revision_min, revision_max, revision), **definitions(define or [])}
    if preprocess:
        stage = "preprocess"
    streams = [name for name, path in (("-o -", output), ("--list -", listing)) if path == STANDARD]
    streams += ["--json"] * json + ["--live"] * live
    streams += [] if json else ["--pressure"] * pressure + ["--macro-cost"] * macro_cost
    needs: dict[str, object] | None = None
    try:
        if len(streams) > 1:
            raise usage_error(f"{' and '.join(streams)} would mix in standard output", "give one of them a file")
        if stage is not None:
            _print_stage(stage, file, include or [], defined, output if preprocess else None, messages)
            return
        store = _store(chip)
        if pressure:
            needs = _pressure(file, include or [], defined, show=not json)
        result = assemble_program(
            file, include=include or [], define=defined, store=store, repair=repair,
            require_declarations=require_declarations, vnops=vnops, optimise=optimise
        )
        target = output if output is not None else file.with_suffix(SUFFIXES[chosen or "ixp"])
        outputs = {"-o": target} | ({} if listing is None else {"--list": listing})
        keep_apart(result.sources.lines, {option: path for option, path in outputs.items() if path != STANDARD})
        contents = {target: result.image.as_bytes(chosen or format_of(target))}
        if listing is not None:
            # A file name that is no text is kept as the bytes that it is.
            as_values = listing.suffix.lower() == ".json"
            text = dumps(result.rows().as_json(), indent=2) + "\n" if as_values else result.listing()
            contents[listing] = text.encode(errors="surrogateescape")
        write_together({path: content for path, content in contents.items() if path != STANDARD})
        if STANDARD in contents:
            write_standard(contents[STANDARD])
        if live:
            sys.stdout.write(result.live())
        if macro_cost and not json:
            sys.stdout.write(result.macro_cost())
    except UserError as error:
        if json:
            show_json({**failed_json(error), **({} if needs is None else {"pressure": needs})})
        raise typer.Exit(report_error(error, messages)) from error
    if json:
        show_json({
            **({} if needs is None else {"pressure": needs}),
            "image": str(target), "words": len(result.image), "contexts": result.image.contexts,
            **({} if result.schedule is None else {"schedule": result.schedule.as_json()}),
            "diagnostics": as_json(result.diagnostics),
            **({"macros": [cost.as_json() for cost in result.rows().macros]} if macro_cost else {}),
        })
    if messages != "full" or not json:
        show_diagnostics(result.diagnostics, messages)
    if result.schedule is not None and messages == "full" and not json:
        sys.stderr.write("".join(f"{line}\n" for line in result.schedule.lines()))


def _together(option: str, others: Sequence[str]) -> None:
    """A usage error for options that would have no effect beside another one."""
    if others:
        raise usage_error(f"{' and '.join(others)} would do nothing beside {option}", f"leave {option} or the other out")


def check_includes(folders: Iterable[Path]) -> None:
    """Says which folders of -I there are not: what is included may be found elsewhere, so that this alone is no error."""
    for folder in folders:
        if not folder.is_dir():
            announce(f"warning: -I {folder}: there is no such folder")


def _store(chip: str | None) -> int:
    """The words that a program may have: those of the IXP2400, or of the chip file that is named."""
    if chip is None:
        from ixpemu.image import CONTROL_STORE_WORDS

        return CONTROL_STORE_WORDS
    from ixpemu.isa.chipfile import load_chip

    return load_chip(chip)["chip.control_store_words"]


def _pressure(file: Path, include: list[Path], define: Mapping[str, int | str | None], show: bool) -> dict[str, object] | None:
    """How many registers each word needs, printed or not. Errors are left to the assembly that follows."""
    from ixpemu.asm.stages import pressure

    try:
        found = pressure(file, include, define)
    except UserError:
        return None
    if show:
        sys.stdout.write("a .physical program: nothing is allocated\n" if found is None else found.text())
    return None if found is None else found.as_json()


def _family(flags: Mapping[str, bool], chip: str | None) -> str:
    """The chip whose names are predefined: by the option, or else by the chip file's name."""
    chosen = [name for name, wanted in flags.items() if wanted]
    if len(chosen) > 1:
        raise usage_error(f"{' and '.join(f'-{name}' for name in chosen)} exclude each other", "-ixp2xxx is for either")
    if chosen:
        return chosen[0]
    stem = Path(chip or "").stem.lower()
    return stem if stem in flags else "ixp2400"


def _predefined(
    family: str, revision_min: str | None, revision_max: str | None, revision: str | None
) -> dict[str, int | str | None]:
    """The names that the chip and its steppings give a program."""
    from ixpemu.asm.preprocess_symbols import HIGHEST_REVISION, predefined, revision_number

    if revision is not None and (revision_min is not None or revision_max is not None):
        raise usage_error("-REVISION is both -REVISION_MIN and -REVISION_MAX", "give it alone")
    first, last = revision_min or revision, revision_max or revision
    lowest = 0 if first is None else revision_number(first)
    highest = HIGHEST_REVISION if last is None else revision_number(last)
    if lowest > highest:
        raise usage_error(f"-REVISION_MIN={first} is behind -REVISION_MAX={last}")
    return predefined(family, (lowest, highest))


def _print_stage(
    stage: str, file: Path, include: list[Path], define: Mapping[str, int | str | None], output: Path | None, messages: str
) -> None:
    """Prints what a stage of the assembler makes, or writes it to a file, its warnings on standard error."""
    from ixpemu.asm.findings import Findings
    from ixpemu.asm.stages import stage_text

    findings = Findings()
    text = stage_text(stage, file, include, define, findings)
    show_diagnostics(tuple(findings.diagnostics), messages)
    if output is None or output == STANDARD:
        sys.stdout.write(text)
        return
    keep_apart([str(file)], {"-o": output}, refuse_sources=False)        # what it makes is a source
    write_atomically(output, text.encode(errors="surrogateescape"))


def disassemble_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An image, - for standard input.", show_default=False)],
    form: Form = None,
    contexts: Annotated[int, typer.Option(help="4 or 8, for forms that do not say.")] = 8,
    me: Annotated[int | None, typer.Option(metavar="N", help="Of a linked program: only this microengine.")] = None,
) -> None:
    """Disassemble an image into text that assembles back to the same words; or all images of a linked program, one by one."""
    from ixpemu import link_file
    from ixpemu.asm import disassemble
    from ixpemu.image import Image

    if contexts not in (4, 8):
        raise usage_error(f"a microengine runs 4 or 8 contexts, not {contexts}")
    chosen = _format(form)
    if chosen is None and file != STANDARD and link_file.is_program(file):
        sys.stdout.write(_program_text(file, me))
        return
    if me is not None:
        raise usage_error(f"--me {me}: {file} is the image of any microengine", "leave it out")
    if file == STANDARD:
        image = Image.from_bytes(read_standard(), chosen or "ixp", "standard input", contexts)
    else:
        image = Image.load(file, chosen, contexts)
    sys.stdout.write(disassemble(image))


def _program_text(file: Path, me: int | None) -> str:
    """The images of a linked program, each under a comment that says whose it is."""
    from ixpemu import link_file
    from ixpemu.asm import disassemble

    program = link_file.load(file)
    if me is not None and me not in program.images:
        raise usage_error(f"--me {me}: {file} has images for {', '.join(map(str, program.images))}", "choose one of those")
    if me is not None:
        return disassemble(program.images[me])
    parts: dict[tuple[str, bytes], list[int]] = {}
    for index, image in program.images.items():
        parts.setdefault((program.names[index], image.as_bytes()), []).append(index)
    return "\n".join(
        f"; microengine {', '.join(map(str, indexes))}: {name}\n{disassemble(program.images[indexes[0]])}"
        for (name, _), indexes in parts.items())
