"""Puts useful instructions where no-ops would stand: those of the same region that may as well be executed there.

An instruction from further up sinks into the gap, or one from behind it rises. Only what needs fewer no-ops in all is done.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ixpemu.asm import moves
from ixpemu.asm.noops import Open, Walked, walk
from ixpemu.asm.regions import Cut, Region
from ixpemu.isa.hazards import Hazard


@dataclass(frozen=True, slots=True)
class Closed:
    """Instruction `moved` now stands where a no-op would, before `user`; `saved` no-ops are not needed any more."""

    moved: int
    user: int
    saved: int


def fill(cut: Cut, number: int, entry: Open, table: Mapping[str, Hazard]) -> list[Closed]:
    """Moves instructions of region `number` into its gaps; what was done."""
    region, done = cut.regions[number], list[Closed]()
    if region.fixed:
        return done
    while True:
        walked = walk(region, entry, table, True)
        one = next((found for place in sorted(walked.before) if (found := _close(region, place, entry, table, walked))), None)
        if one is None:
            return done
        done.append(one)


def _close(region: Region, gap: int, entry: Open, table: Mapping[str, Hazard], walked: Walked) -> Closed | None:
    """One instruction for the gap before the item at place `gap`, if there is one."""
    items, body = region.items(), region.body
    live = moves.live_behind(items, region.live)
    user = items[gap].number
    for place in range(gap - 1, max(-1, gap - 1 - moves.REACH), -1):
        fits = not body[place].held and moves.may_sink(items, place, gap - 1, live)
        if fits and _pays(region, place, gap - 1, entry, table, walked):
            return Closed(items[place].number, user, walked.count - walk(region, entry, table, True).count)
    for place in range(gap + 1, min(len(body), gap + 1 + moves.REACH)):
        fits = not body[place].held and moves.may_rise(items, place, gap, live)
        if fits and _pays(region, place, gap, entry, table, walked):
            return Closed(items[place].number, user, walked.count - walk(region, entry, table, True).count)
    return None


def _pays(region: Region, place: int, to: int, entry: Open, table: Mapping[str, Hazard], walked: Walked) -> bool:
    """Makes a move, and takes it back if it does not need fewer no-ops or leaves more open behind the region."""
    body = region.body
    body.insert(to, body.pop(place))
    after = walk(region, entry, table, True)
    worse = any(key not in walked.open or since < walked.open[key][0] for key, (since, _) in after.open.items())
    if after.count < walked.count and not worse:
        return True
    body.insert(place, body.pop(to))
    return False
