"""Addresses for named memory: each segment first fit in its region, at its alignment, beside what is taken already.

Segments with a given place go first, then the others by alignment and size, the largest first, then by name and microengine: what
comes out depends on no order of files. Local memory is not given out here; the assembler does that for each microengine.
An address as programs use it has the SRAM channel in bits 31 and 30 (manual of the IXP2800, confidence H); all others are plain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ixpemu import codes
from ixpemu.diagnostics import Diagnostic, Note, Origin
from ixpemu.image_links import channel_base
from ixpemu.isa.chipfile import ChipParameters
from ixpemu.link_settings import SHARED_REGIONS, Given, Reserved


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of memory with a name. `owners`: the microengines whose images name it. `address` is None until it has one;
    `origin` is the line of a fixed place. `given_by` says who fixed it, empty if the linker chose."""

    name: str
    region: str
    size: int
    align: int
    owners: tuple[int, ...]
    shared: bool
    address: int | None = None
    given_by: str = ""
    origin: Origin | None = None

    @property
    def key(self) -> tuple[str, int]:
        """What tells it from others: memory of one image is another one in every microengine."""
        return self.name.lower(), -1 if self.shared else self.owners[0]

    @property
    def start(self) -> int:
        """Its offset in the region."""
        return (self.address or 0) - channel_base(self.region)

    @property
    def title(self) -> str:
        """How messages call it."""
        return f"`{self.name}`" if self.shared else f"`{self.name}` of microengine {self.owners[0]}"


@dataclass(frozen=True, slots=True)
class Taken:
    """Bytes `start` to before `end` of a region and what they are."""

    start: int
    end: int
    what: str


def region_bytes(chip: ChipParameters, region: str) -> int:
    """The size of a region on this chip, 0 where it has none."""
    name = f"memory.{region}_bytes"
    return chip[name] if name in chip.parameters else 0


def placed(
    segments: Sequence[Segment], places: Mapping[str, Given], reserved: Sequence[Reserved], chip: ChipParameters,
) -> tuple[list[Segment], list[Diagnostic]]:
    """The segments with addresses, in the order given, and what speaks against that; without an address those concerned."""
    problems: list[Diagnostic] = []
    taken: dict[str, list[Taken]] = {region: [] for region in SHARED_REGIONS}
    for one in reserved:
        if one.start + one.size > region_bytes(chip, one.region):
            problems.append(Diagnostic(
                codes.LINK_PLACE, f"what is reserved for {one.owner} ends at byte {one.start + one.size:#x} of {one.region}, "
                f"behind its end",
                origin=one.origin, help=_there_is(chip, one.region),
            ))
        taken[one.region].append(Taken(one.start, one.start + one.size, f"reserved for {one.owner}"))
    done: dict[tuple[str, int], Segment] = {}
    for segment in segments:
        given = places.get(segment.name.lower())
        if given is None and segment.address is None:
            continue
        if given is not None:
            segment = replace(segment, address=given.value, given_by=given.by, origin=given.origin)
        problem = _misplaced(segment, chip, taken[segment.region])
        if problem is not None:
            problems.append(problem)
        taken[segment.region].append(Taken(segment.start, segment.start + segment.size, segment.title))
        done[segment.key] = segment
    left = [segment for segment in segments if segment.key not in done]
    for segment in sorted(left, key=lambda one: (one.region, -one.align, -one.size, *one.key)):
        limit = region_bytes(chip, segment.region)
        start = _first_fit(segment, taken[segment.region], limit)
        if start is None:
            problems.append(_no_room(segment, taken[segment.region], chip))
            continue
        taken[segment.region].append(Taken(start, start + segment.size, segment.title))
        done[segment.key] = replace(segment, address=channel_base(segment.region) + start)
    return [done.get(segment.key, segment) for segment in segments], problems


def _first_fit(segment: Segment, taken: Iterable[Taken], limit: int) -> int | None:
    start = 0
    for one in sorted(taken, key=lambda one: one.start):
        if start + segment.size <= one.start:
            break
        start = max(start, one.end + -one.end % segment.align)
    return start if start + segment.size <= limit else None


def _there_is(chip: ChipParameters, region: str) -> str:
    size = region_bytes(chip, region)
    return f"{region} of this chip has {size:,} bytes" if size else f"this chip has no {region}"


def _misplaced(segment: Segment, chip: ChipParameters, taken: Iterable[Taken]) -> Diagnostic | None:
    address = segment.address or 0
    at = f"{segment.title} is to be at {address:#x} ({segment.given_by or 'its image'})"
    if address % segment.align:
        return Diagnostic(
            codes.LINK_PLACE, f"{at}, which is no multiple of {segment.align}", origin=segment.origin,
            help="its declaration asks for that alignment",
        )
    end = segment.start + segment.size
    if not 0 <= segment.start < end <= region_bytes(chip, segment.region):
        base = channel_base(segment.region)
        advice = _there_is(chip, segment.region)
        if base:
            advice += f"; its addresses begin at {base:#x}, the channel being in bits 31 and 30"
        return Diagnostic(codes.LINK_PLACE, f"{at}, and its {segment.size:,} bytes are not in {segment.region} there",
                          origin=segment.origin, help=advice)
    for one in sorted(taken, key=lambda one: one.start):
        if one.start < end and segment.start < one.end:
            return Diagnostic(
                codes.LINK_PLACE, f"{at}, where bytes {one.start:#x} to {one.end - 1:#x} of {segment.region} are {one.what}",
                origin=segment.origin, help="give it another place, or none, so that the linker finds one",
            )
    return None


def _no_room(segment: Segment, taken: Iterable[Taken], chip: ChipParameters) -> Diagnostic:
    if not region_bytes(chip, segment.region):
        return Diagnostic(codes.LINK_ROOM, f"{segment.title} is in {segment.region}, which this chip does not have",
                          help="put it into another region, or link for another chip: --chip")
    holders = sorted(taken, key=lambda one: one.start - one.end)[:4]
    notes = tuple(Note(f"{one.end - one.start:,} bytes from {one.start:#x} on: {one.what}") for one in holders)
    return Diagnostic(
        codes.LINK_ROOM, f"{segment.title} asks for {segment.size:,} bytes of {segment.region}, and there is no such gap",
        help=f"{_there_is(chip, segment.region)}; make something smaller, or put it into another region", notes=notes,
    )
