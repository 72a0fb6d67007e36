"""`ixpemu link`: images and an app.toml made into one linked program, and the map of where everything is."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ixpemu.cli_support import (
    announce,
    failed_json,
    key_values,
    report_error,
    show_diagnostics,
    show_json,
    usage_error,
    write_standard,
)
from ixpemu.diagnostics import Diagnostic, UserError, as_json
from ixpemu.files import SOURCE_SUFFIXES, write_together

if TYPE_CHECKING:
    from ixpemu.image import Image
    from ixpemu.link import Linked
    from ixpemu.link_file import Program
    from ixpemu.link_settings import LinkSettings

STANDARD = Path("-")
IMAGE_SUFFIXES = (".ixp", ".words", ".bin", ".c")


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command("link")(link_command)


def link_command(
    inputs: Annotated[
        list[str], typer.Argument(metavar="APP | [ME[,ME...]=]IMAGE...", help="An application (a folder with an app.toml, or a "
                                  "shipped one's name), or images: of the microengines named, else of the next one.",
                                  show_default=False)
    ],
    output: Annotated[
        Path | None, typer.Option("-o", metavar="FILE", help="Where the linked program goes, - for standard output; as UOF if "
                                  "the name ends in .uof.")
    ] = None,
    imports: Annotated[
        list[str] | None, typer.Option("--import", "-D", metavar="NAME=V", help="Value of an .import_var, before that of "
                                       "app.toml.")
    ] = None,
    places: Annotated[
        list[str] | None, typer.Option("--place", metavar="NAME=ADDRESS", help="Address of a .global_mem or .local_mem.")
    ] = None,
    map_file: Annotated[
        Path | None, typer.Option("--map", metavar="FILE", help="Write a map: addresses, values, control stores; - for standard "
                                  "output. A name that ends in .json gets it as JSON.")
    ] = None,
    chip: Annotated[
        str | None, typer.Option("--chip", metavar="NAME|FILE.toml", help="Chip file to link for; that of the application, or "
                                 "enp2611, if not given.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the map, or what is wrong, as JSON.")] = False,
) -> None:
    """Link images for a chip: memory gets addresses, imports values, names of other microengines numbers."""
    from ixpemu.link_settings import LinkSettings, from_arguments

    try:
        if output is None and map_file is None and not json:
            raise usage_error("nothing is asked for", "write  -o FILE.ixl  for the linked program, or  --map -  for a map of it")
        streams = [name for name, path in (("-o -", output), ("--map -", map_file)) if path == STANDARD] + ["--json"] * json
        if len(streams) > 1:
            raise usage_error(f"{' and '.join(streams)} would mix in standard output", "give one of them a file")
        given = LinkSettings(
            from_arguments("--import", key_values("--import", imports or [], "NAME=VALUE")),
            from_arguments("--place", key_values("--place", places or [], "NAME=ADDRESS")),
        )
        made = _linked(inputs, given, chip)
        _write(made, output, map_file)
    except UserError as error:
        if not json:
            raise
        show_json(failed_json(error))
        raise typer.Exit(report_error(error)) from error
    show_diagnostics(made.warnings)
    if json:
        from ixpemu.link_map import as_json as map_json

        show_json(map_json(made.linked) | {"diagnostics": as_json(made.warnings)})


@dataclass(frozen=True, slots=True)
class _Made:
    """What was linked, what the assembler warned of, and the files that were read."""

    linked: Linked
    warnings: tuple[Diagnostic, ...]
    inputs: tuple[Path, ...]


def _linked(inputs: Sequence[str], given: LinkSettings, chip: str | None) -> _Made:
    """The one application or the images, linked."""
    from ixpemu.isa.chipfile import DEFAULT, load_chip
    from ixpemu.link import link

    if not _is_application(inputs):
        files = _images(inputs)
        images, names = _read(files)
        return _Made(link(images, load_chip(chip or DEFAULT), given, names), (), tuple(files.values()))
    from ixpemu import app_file
    from ixpemu.app_images import images_of

    settings = app_file.load(inputs[0])
    if settings.program is not None:
        raise usage_error(f"{inputs[0]} is linked already", "run it, or link its images again from where they are")
    made = images_of(settings, load_chip(chip or settings.chip), given)
    if made.linked is None:
        raise RuntimeError("an application's images come without the linker's decisions")
    return _Made(made.linked, made.warnings, settings.inputs)


def _is_application(inputs: Sequence[str]) -> bool:
    """Whether the arguments name an application: one without `=`, that is no file, or one called app.toml or .ixl."""
    if len(inputs) != 1 or "=" in inputs[0]:
        return False
    path = Path(inputs[0])
    suffix = path.suffix.lower()
    return suffix in (".toml", ".ixl", ".uof") or (not path.is_file() and suffix not in (*IMAGE_SUFFIXES, *SOURCE_SUFFIXES))


def _images(inputs: Sequence[str]) -> dict[int, Path]:
    """The files of images by microengine."""
    found: dict[int, Path] = {}
    following = 0
    for text in inputs:
        numbers, equals, name = text.rpartition("=")
        if equals and not re.fullmatch(r"[0-9]+(,[0-9]+)*", numbers):
            raise usage_error(f"{text!r}: {numbers!r} is no microengine", "write  3=FILE.ixp, or  3,4=FILE.ixp  for two of them")
        if Path(name).suffix.lower() in SOURCE_SUFFIXES:
            raise usage_error(f"{name} is a source, and images are linked", "assemble it first: ixpemu asm; or write an app.toml")
        if Path(name).suffix.lower() in (".ixl", ".uof"):
            raise usage_error(f"{name} is linked already, and images are linked", "run it, or link its images again")
        for index in [int(number) for number in numbers.split(",")] if equals else [following]:
            if index in found:
                raise usage_error(f"microengine {index} has two images: {found[index]} and {name}", "leave one out")
            found[index] = Path(name)
            following = index + 1
    return found


def _read(files: Mapping[int, Path]) -> tuple[dict[int, Image], dict[int, str]]:
    from ixpemu.image import Image

    read = {path: Image.load(path) for path in dict.fromkeys(files.values())}
    return {index: read[path] for index, path in files.items()}, {index: path.name for index, path in files.items()}


def _program_bytes(program: Program, output: Path) -> bytes:
    """The program in the form that the output's name asks for; says what that form does not hold."""
    from ixpemu.link_file import UOF_SUFFIX, to_bytes

    if output.suffix.lower() != UOF_SUFFIX:
        return to_bytes(program)
    from ixpemu.link_uof import left_out, to_uof

    content = to_uof(program)
    if missing := left_out(program):
        announce(f"note: a UOF file has no place for {missing}; an .ixl file has")
    return content


def _write(made: _Made, output: Path | None, map_file: Path | None) -> None:
    """Writes the program and the map, once both are made."""
    from ixpemu import link_map
    from ixpemu.cli_asm import keep_apart
    from ixpemu.link_file import Program

    outputs = {option: path for option, path in (("-o", output), ("--map", map_file)) if path is not None and path != STANDARD}
    keep_apart([str(path) for path in made.inputs], outputs)
    linked = made.linked
    contents: list[tuple[Path, bytes]] = []
    if output is not None:
        contents.append((output, _program_bytes(Program(linked.images, linked.names, linked.chip.name), output)))
    if map_file is not None:
        if map_file.suffix.lower() == ".json":
            import json

            text = json.dumps(link_map.as_json(linked), indent=2) + "\n"
        else:
            text = link_map.text(linked)
        contents.append((map_file, text.encode(errors="surrogateescape")))
    write_together({path: content for path, content in contents if path != STANDARD})
    for path, content in contents:
        if path == STANDARD:
            sys.stdout.flush()
            write_standard(content)
