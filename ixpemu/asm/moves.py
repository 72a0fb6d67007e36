"""Whether an instruction may pass others, and what it costs where a region ends: the judgements behind `slots` and `gaps`.

Passing is judged by masks alone: what is read must have been written, what is written must not be read too late, and of two
writes the later one counts, unless nobody reads it any more.
"""

from __future__ import annotations

from collections.abc import Sequence

from ixpemu.asm.regions import Item, Region
from ixpemu.isa import InstructionSet
from ixpemu.isa.effects import CODES
from ixpemu.isa.model import Operation

REACH = 48          # instructions that a move passes at most


def live_behind(items: Sequence[Item], live: int) -> list[int]:
    """Behind each of the items what may be read, with `live` behind the last."""
    found = [live] * len(items)
    for place in range(len(items) - 1, 0, -1):
        effects = items[place].effects
        live = effects.reads | live & ~effects.kills
        found[place - 1] = live
    return found


def may_sink(items: Sequence[Item], place: int, to: int, live: Sequence[int], takes_late: Item | None = None) -> bool:
    """Whether the item at `place` may stand behind the item at `to`, which is later. `takes_late`: a command whose unit takes
    what it sends only behind its defer slots."""
    moved = items[place].effects
    kept = moved.writes
    for item in items[place + 1 : to + 1]:
        other = item.effects
        reads = other.reads & ~other.sends if item is takes_late else other.reads
        if reads & kept or other.writes & moved.reads:
            return False
        if other.writes & ~other.kills & moved.writes:
            return False
        if item is not takes_late and other.sends & moved.writes:
            return False        # its unit takes them at some time until its signal, whoever wrote them last
        kept &= ~other.kills
    return not moved.writes & ~kept & live[to]


def may_rise(items: Sequence[Item], place: int, to: int, live: Sequence[int]) -> bool:
    """Whether the item at `place` may stand before the item at `to`, which is earlier."""
    moved = items[place].effects
    for item in items[to:place]:
        other = item.effects
        if other.writes & moved.reads or other.reads & moved.writes:
            return False
        if other.writes & moved.writes & live[place]:
            return False
    return True


def squashed(region: Region, isa: InstructionSet, operations: Sequence[Operation]) -> int:
    """Fetches that are lost when the owner of a region is taken or swaps: what its defer slots leave of them."""
    owner = region.owner
    if owner is None:
        return 0
    timing = isa.form(operations[owner.number]).timing
    lost = owner.facts.aborted
    if timing.early is not None and region.body and not region.body[-1].effects.writes & CODES:
        lost = timing.early
    return max(0, lost - len(region.slots))
