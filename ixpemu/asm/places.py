"""Where names live, in words: physical places as text, the words in which each name holds its place, the places of each name.

Nothing is computed here that an allocation has not decided.
"""

from __future__ import annotations

from ixpemu.asm.allocate import Allocation
from ixpemu.asm.banks import Place
from ixpemu.asm.flow import File
from ixpemu.asm.numbers import cells_of
from ixpemu.asm.webs import Webs
from ixpemu.image import LiveRange

_PREFIX = {
    File.GPR: "", File.ABSOLUTE: "@", File.NEIGHBOR: "n$", File.SRAM_READ: "$", File.SRAM_WRITE: "$",
    File.DRAM_READ: "$$", File.DRAM_WRITE: "$$", File.SIGNAL: "s",
}


def place_text(place: Place, file: File) -> str:
    """A physical place as `.physical` text spells it: `a5`, `@b16`, `$3`, `s4`."""
    return f"{_PREFIX[file]}{place.bank or ''}{place.number}"


def live_ranges(allocation: Allocation) -> tuple[LiveRange, ...]:
    """For every name the runs of words in which it holds its place, in program order."""
    webs = allocation.webs
    if webs is None:
        return ()
    held = _held(webs, len(allocation.program.instructions))
    started: dict[int, int] = {}
    out: list[tuple[int, LiveRange]] = []
    before = 0
    for address, mask in enumerate([*held, 0]):
        for web in cells_of(before & ~mask):
            variable = webs.webs[web].variable
            text = place_text(allocation.places[web], variable.file)
            out.append((started[web], LiveRange(variable.name, text, started.pop(web), address - 1)))
        for web in cells_of(mask & ~before):
            started[web] = address
        before = mask
    return tuple(entry for _, entry in sorted(out, key=lambda pair: (pair[0], pair[1].name, pair[1].register)))


def _held(webs: Webs, instructions: int) -> list[int]:
    """The webs that have their place at each instruction, as masks: read, written, or kept across it."""
    held = [0] * instructions
    pinned = sum(1 << number for number, web in enumerate(webs.webs) if web.variable.pinned)
    for node, point in enumerate(webs.flow.nodes):
        if point.instruction < instructions:
            mask = webs.occupied[node] | pinned
            for number in (*point.reads, *point.writes):
                mask |= 1 << webs.of_occurrence[number]
            held[point.instruction] |= mask
    return held


def registers(allocation: Allocation) -> dict[str, str]:
    """Unique name to physical places, in order of the text."""
    places: dict[str, dict[str, None]] = {}
    if allocation.webs is not None:
        for number, web in enumerate(allocation.webs.webs):
            text = place_text(allocation.places[number], web.variable.file)
            places.setdefault(web.variable.name, {})[text] = None
    return {name: " ".join(texts) for name, texts in places.items()}
