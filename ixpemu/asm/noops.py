"""Where too few instructions lie between setting something and using it, and the no-ops that mend it.

Followed over all paths, region by region: for each kind of state how many instructions ago it was set, at least. A no-op stands
as late as it can, directly before the instruction that needs it, or before the branch in whose defer slots that is; so one no-op
serves everything that is open at its place, and a path on which nothing is used has none. What a swap lets pass is not looked at:
the context is away for longer than any of these delays. What counts as set and used is `ixpemu.isa.hazards`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ixpemu.asm.flow import Kind
from ixpemu.asm.regions import Cut, Item, Region, own_points
from ixpemu.isa.hazards import Hazard

Open = dict[str, tuple[int, int]]       # key -> instructions since it was set, and the number of the one that set it


@dataclass(frozen=True, slots=True)
class Need:
    """Instruction `user` uses `hazard`, which `setter` has set, and `missing` instructions too few lie between. `mended`: no-ops
    stand before it."""

    user: int
    setter: int
    hazard: Hazard
    missing: int
    mended: bool


@dataclass(slots=True)
class Walked:
    """One region looked through. `before`: no-ops before an item, by its place; `open`: what is open behind the last."""

    open: Open
    before: dict[int, int] = field(default_factory=dict)
    needs: list[Need] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many no-ops it takes, one more for whatever no no-op can mend."""
        return sum(self.before.values()) + sum(not need.mended for need in self.needs)


def groups(region: Region) -> list[tuple[int, int, bool]]:
    """The region's items in runs (first, behind, open) that nothing may come between; `open`: something may come before."""
    items = region.items()
    slots_from = len(region.body) + 1
    if not items:
        return []
    starts = [place for place, item in enumerate(items) if not place or not (item.joined or place >= slots_from)]
    return [
        (first, behind, not region.fixed and not items[first].joined)
        for first, behind in zip(starts, [*starts[1:], len(items)], strict=True)
    ]


def walk(region: Region, entry: Open, table: Mapping[str, Hazard], insert: bool) -> Walked:
    """The needs of a region that is entered with `entry` open. `insert`: no-ops are put in as they are needed."""
    items = region.items()
    found = Walked(dict(entry))
    for first, behind, free in groups(region):
        group = items[first:behind]
        needs = _needs(group, found.open, table)
        within = {item.number for item in group}
        wanted = max((need.missing for need in needs if need.setter not in within), default=0)
        if insert and free and wanted:
            found.before[first] = wanted
            found.open = _later(found.open, wanted, table)
        for need in needs:
            mended = insert and free and need.setter not in within
            found.needs.append(Need(need.user, need.setter, need.hazard, need.missing, mended))
        for item in group:
            found.open = past(item, found.open, table)
    return found


def _needs(group: Sequence[Item], state: Open, table: Mapping[str, Hazard]) -> list[Need]:
    found = []
    for item in group:
        for key in sorted(item.effects.uses & state.keys()):
            since, setter = state[key]
            found.append(Need(item.number, setter, table[key], table[key].between - since, False))
        state = past(item, state, table)
    return found


def past(item: Item, state: Open, table: Mapping[str, Hazard]) -> Open:
    """What is open behind an instruction."""
    if not state and not item.effects.sets:
        return state
    return _later(state, 1, table) | {key: (0, item.number) for key in item.effects.sets if table[key].between}


def _later(state: Open, by: int, table: Mapping[str, Hazard]) -> Open:
    return {key: (since + by, setter) for key, (since, setter) in state.items() if since + by < table[key].between}


def _meet(state: Open, other: Open) -> bool:
    """Takes over what is closer behind its setter on the other path; whether anything was."""
    changed = False
    for key, one in other.items():
        if key not in state or one < state[key]:
            state[key] = one
            changed = True
    return changed


def links(cut: Cut) -> list[list[tuple[int, bool]]]:
    """For every region those that may follow, and whether the microengine is given up between."""
    region_of = {region.first: number for number, region in enumerate(cut.regions)}
    points, flow, out = own_points(cut.flow), cut.flow, []
    for region in cut.regions:
        swaps = region.owner is not None and region.owner.facts.swaps
        found: set[tuple[int, bool]] = set()
        start = points[region.items()[-1].number]
        queue = [(following, swaps) for following in flow.successors[start]]
        seen = set(queue)
        while queue:
            node, swapped = queue.pop()
            point = flow.nodes[node]
            if point.kind is Kind.INSTRUCTION:
                found.add((region_of[point.instruction], swapped))
                continue
            for following in flow.successors[node]:
                more = following, swapped or point.kind is Kind.WAIT
                if more not in seen:
                    seen.add(more)
                    queue.append(more)
        out.append(sorted(found))
    return out


def entries(
    cut: Cut, following: Sequence[Sequence[tuple[int, bool]]], table: Mapping[str, Hazard], insert: bool
) -> list[Open]:
    """What may be open where each region is entered, least instructions first."""
    states: list[Open] = [{} for _ in cut.regions]
    queue, waiting = deque(range(len(cut.regions))), [True] * len(cut.regions)
    while queue:
        number = queue.popleft()
        waiting[number] = False
        behind = walk(cut.regions[number], states[number], table, insert).open
        for successor, swapped in following[number]:
            if behind and not swapped and _meet(states[successor], behind) and not waiting[successor]:
                waiting[successor] = True
                queue.append(successor)
    return states
