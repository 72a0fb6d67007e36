"""The images of an application: its sources assembled, its ready images read, or a linked program in place of both; and linked.

Nothing here makes a chip. What linking is, is `ixpemu.link`'s.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ixpemu import app_file, codes
from ixpemu.app_file import AppSettings, MicroengineSettings
from ixpemu.diagnostics import Diagnostic, UserError
from ixpemu.image import Image
from ixpemu.isa.chipfile import ChipParameters
from ixpemu.link import Linked, link
from ixpemu.link_file import Program, load
from ixpemu.link_settings import LinkSettings

IMAGE_SUFFIXES = (".ixp", ".words", ".bin")     # an `image` with one of these is read as it is; anything else is a source


@dataclass(frozen=True, slots=True)
class AppImages:
    """The images by microengine, with nothing open; `warnings` of the assembler; the linker's decisions, None for a program that
    was linked before."""

    images: dict[int, Image]
    warnings: tuple[Diagnostic, ...] = ()
    linked: Linked | None = None


def images_of(
    settings: AppSettings, chip: ChipParameters, given: LinkSettings | None = None, program: Path | None = None
) -> AppImages:
    """The application's images for this chip. `given`: values of a command line, before those of the file; `program`: a file with
    a linked program to take in place of the application's own images. UserError for any mistake in any of it."""
    program = program if program is not None else settings.program
    if program is not None:
        if given is not None and (given.imports or given.places):
            raise UserError(Diagnostic(
                codes.ARGUMENT, f"{program} is linked: nothing in it waits for a value",
                help="give the value when it is linked: ixpemu link --import NAME=VALUE",
            ))
        made = AppImages(dict(_program(program, chip).images))
    else:
        _check_engines(settings, chip["chip.microengines"])
        images, warnings = _assemble(settings, chip["chip.control_store_words"])
        given = LinkSettings() if given is None else given
        names = {entry.index: entry.image.name for entry in settings.microengines}
        linked = link(images, chip, settings.link.joined(given.imports, given.places), names)
        made = AppImages(dict(linked.images), warnings, linked)
    app_file.check_probes(settings, {probe.name for image in made.images.values() for probe in image.probes})
    return made


def _program(path: Path, chip: ChipParameters) -> Program:
    """A linked program for this chip."""
    program = load(path)
    if program.chip != chip.name:
        raise UserError(Diagnostic(
            codes.LINK_CHIP, f"{path} is linked for {program.chip}, and the application runs on {chip.name}",
            help="link it again: where memory lies depends on the chip",
        ))
    outside = [index for index in program.images if index >= chip["chip.microengines"]]
    if outside:
        raise UserError(Diagnostic(
            codes.LINK_CHIP, f"{path} has an image for microengine {outside[0]}, and the chip has {chip['chip.microengines']}",
            help="link it for this chip",
        ))
    return program


def _check_engines(settings: AppSettings, count: int) -> None:
    """Refuses an entry for a microengine that the chip does not have."""
    for entry in settings.microengines:
        if entry.index >= count:
            raise UserError(Diagnostic(
                codes.FILE_BAD_VALUE, f"index {entry.index} is out of range: the chip has {count} microengines",
                origin=entry.index_origin, help=f"0 to {count - 1}, or another chip file",
            ))


def _assemble(settings: AppSettings, store: int) -> tuple[dict[int, Image], tuple[Diagnostic, ...]]:
    """The images by microengine, and what the assembler warned of; a source that several microengines share is read once each."""
    images: dict[int, Image] = {}
    warnings: list[Diagnostic] = []
    for entry in settings.microengines:
        image, found = _image(entry, store)
        if entry.contexts is not None and image.contexts != entry.contexts:
            raise UserError(Diagnostic(
                codes.FILE_BAD_VALUE, f"{entry.image.name} is written for {image.contexts} contexts, not {entry.contexts}",
                origin=entry.contexts_origin, help=f"write  contexts = {image.contexts}  or  .num_contexts {entry.contexts}",
            ))
        images[entry.index] = image
        warnings += [one for one in found if one not in warnings]
    return images, tuple(warnings)


def _image(entry: MicroengineSettings, store: int) -> tuple[Image, tuple[Diagnostic, ...]]:
    if entry.image.suffix.lower() in IMAGE_SUFFIXES:
        return Image.load(entry.image, contexts=entry.contexts or 8), ()
    from ixpemu.asm.pipeline import assemble_program

    made = assemble_program(
        entry.image, include=entry.include, define=entry.define, store=store, vnops=entry.vnops, optimise=entry.optimise
    )
    return made.image, made.diagnostics

