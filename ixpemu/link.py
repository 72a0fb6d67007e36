"""Several images made into one program for the chip: memory gets addresses, imports values, names of other microengines numbers.

`link` is a function of its arguments alone; files and command lines are somebody else's (`ixpemu.link_file`, `ixpemu.cli_link`),
and so is putting values into words (`ixpemu.link_values`). Whatever does not fit together is told all at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ixpemu import codes
from ixpemu.diagnostics import Diagnostic, Note, UserError
from ixpemu.image import Image
from ixpemu.image_links import LOCAL_MEMORY, NamedMemory
from ixpemu.isa.chipfile import ChipParameters
from ixpemu.link_memory import Segment, placed
from ixpemu.link_names import Crossing, Import, crossings, imports, stray_places
from ixpemu.link_settings import LinkSettings, Reserved
from ixpemu.link_values import resolve

LOCAL_BYTES = 640 * 4           # manual of the IXP2800, confidence H


@dataclass(frozen=True, slots=True)
class Linked:
    """Images without open names by microengine, and what the linker decided. `names`: what each image is called."""

    images: Mapping[int, Image]
    names: Mapping[int, str]
    chip: ChipParameters
    segments: tuple[Segment, ...]
    reserved: tuple[Reserved, ...]
    imports: tuple[Import, ...]
    crossings: tuple[Crossing, ...]


def needs_linking(images: Mapping[int, Image]) -> bool:
    """Whether an image has open names."""
    return any(image.links.unresolved() for image in images.values())


def link(
    images: Mapping[int, Image], chip: ChipParameters, settings: LinkSettings | None = None,
    names: Mapping[int, str] | None = None,
) -> Linked:
    """The images, by microengine, with every open name resolved. `names` are for messages and maps. UserError with all that
    speaks against it."""
    settings = LinkSettings() if settings is None else settings
    images = dict(sorted(images.items()))
    names = {index: (names or {}).get(index, f"image {index}") for index in images}
    problems = _unfit(images, names, chip)
    segments, clashes = _segments(images, names)
    segments, misplaced = placed(segments, settings.places, settings.reserved, chip)
    found, missing = imports(images, settings)
    crossed, numbers, unseen = crossings(images)
    known = {segment.name.lower(): segment.name for segment in segments}
    problems += [*clashes, *misplaced, *missing, *unseen, *stray_places(settings, known)]
    if problems:
        raise UserError(*problems)
    given = {one.name.lower(): one.value for one in found}
    addresses = {segment.key: segment.address for segment in segments}
    linked: dict[int, Image] = {}
    for index, image in images.items():
        values = dict(numbers[index])
        values |= {name: given[name.lower()] for name in image.links.imports if name.lower() in given}
        for memory in image.links.memories:
            address = addresses.get((memory.name.lower(), -1 if memory.shared else index))
            if memory.region != LOCAL_MEMORY and address is not None:
                values[memory.name] = address
        try:
            linked[index] = resolve(image, values)
        except UserError as error:
            problems += [found for found in error.diagnostics if found not in problems]
    problems += _initial_clashes(linked) if not problems else []
    if problems:
        raise UserError(*problems)
    local = tuple(_local(index, memory) for index, image in images.items() for memory in image.links.memories
                  if memory.region == LOCAL_MEMORY)
    return Linked(linked, names, chip, (*segments, *local), settings.reserved, tuple(found), tuple(crossed))


def _local(index: int, memory: NamedMemory) -> Segment:
    return Segment(memory.name, memory.region, memory.size, memory.align, (index,), False, memory.address, "the assembler")


def _unfit(images: Mapping[int, Image], names: Mapping[int, str], chip: ChipParameters) -> list[Diagnostic]:
    """Images that this chip cannot hold."""
    engines, store = chip["chip.microengines"], chip["chip.control_store_words"]
    found = []
    for index, image in images.items():
        if not 0 <= index < engines:
            found.append(Diagnostic(
                codes.LINK_CHIP, f"{names[index]} is for microengine {index}, and this chip has {engines}",
                help=f"microengines are 0 to {engines - 1}; or link for another chip: --chip",
            ))
        if len(image) > store:
            found.append(Diagnostic(
                codes.LINK_CHIP, f"{names[index]} has {len(image):,} words, and a control store of this chip {store:,}",
                help="link for another chip: --chip ixp2800; or divide the program",
            ))
        for memory in image.links.memories:
            if memory.region == LOCAL_MEMORY and (memory.address is None or memory.address + memory.size > LOCAL_BYTES):
                found.append(Diagnostic(
                    codes.LINK_ROOM, f"`{memory.name}` of {names[index]} is not in local memory, which has {LOCAL_BYTES:,} bytes",
                    help="assemble it again",
                ))
    return found


def _segments(images: Mapping[int, Image], names: Mapping[int, str]) -> tuple[list[Segment], list[Diagnostic]]:
    """All named memory but local, each once, with no addresses but those that images have already; and contradictions."""
    found: dict[tuple[str, int], Segment] = {}
    problems: list[Diagnostic] = []
    for index, image in images.items():
        for memory in image.links.memories:
            if memory.region == LOCAL_MEMORY:
                continue
            key = (memory.name.lower(), -1 if memory.shared else index)
            first = found.get(key)
            if first is None:
                found[key] = Segment(
                    memory.name, memory.region, memory.size, memory.align, (index,), memory.shared, memory.address
                )
                continue
            problems += _contradictions(first, memory, index, names)
            address = memory.address if first.address is None else first.address
            align = max(first.align, memory.align)
            found[key] = replace(first, owners=(*first.owners, index), align=align, address=address)
    return list(found.values()), problems


def _contradictions(first: Segment, memory: NamedMemory, index: int, names: Mapping[int, str]) -> list[Diagnostic]:
    """What two declarations of shared memory do not agree about."""
    pairs = (
        ("is in", first.region, memory.region), ("has", f"{first.size} bytes", f"{memory.size} bytes"),
        ("is at", first.address, memory.address),
    )
    return [
        Diagnostic(
            codes.LINK_CLASH, f"`{memory.name}` {verb} {_shown(here)} for {names[index]}, and {verb} {_shown(there)} for "
            f"{names[first.owners[0]]}", notes=(Note("memory of .global_mem is the same for all images that name it"),),
            help="declare it in one file that both include, or make it .local_mem, one for each image",
        )
        for verb, there, here in pairs if there != here and None not in (there, here)
    ]


def _shown(value: object) -> str:
    return f"{value:#x}" if isinstance(value, int) else str(value)


def _initial_clashes(images: Mapping[int, Image]) -> list[Diagnostic]:
    """Words of shared memory that images want to begin with different values."""
    first: dict[tuple[str, int], tuple[int, str]] = {}
    found = []
    for index, image in images.items():
        for one in image.links.initial:
            if one.kind != "memory" or not image.links.memory(one.target).shared:
                continue
            for word, value in enumerate(one.values):
                key = (one.target.lower(), one.offset + 4 * word)
                before = first.setdefault(key, (index, value))
                if before[0] != index and before[1] != value:
                    found.append(Diagnostic(
                        codes.LINK_CLASH, f"`{one.target}+{key[1]}` is to begin with {before[1]} in microengine {before[0]} and "
                        f"with {value} in microengine {index}", help="let one of them have the .init",
                    ))
                first[key] = (index, value)
    return found
