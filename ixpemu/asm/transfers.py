"""Transfer registers, next neighbour registers and signals: what has to lie together, and the numbers.

Transfer registers of one `.xfer_order` form a group of fixed distances, read and write halves each for themselves; an instruction
that uses both halves of a register, and an address taken of both, ties the two numbers. A signal raised as a pair takes an even
number and the next.
"""

from __future__ import annotations

from dataclasses import dataclass

from ixpemu.asm.banks import Place
from ixpemu.asm.flow import File, Site, file_of
from ixpemu.asm.graphs import OffsetUnion
from ixpemu.asm.limits import Limits
from ixpemu.asm.numbers import SAME_CELL, STEPS, Outcome, Problem, cells_of, solve
from ixpemu.asm.program import Half, XferOrder
from ixpemu.asm.webs import Webs

TRANSFER_FILES = (File.SRAM_READ, File.SRAM_WRITE, File.DRAM_READ, File.DRAM_WRITE)
_HALVES = ((File.SRAM_READ, File.SRAM_WRITE), (File.DRAM_READ, File.DRAM_WRITE))


@dataclass(frozen=True, slots=True)
class Group:
    """Webs with fixed distances: (web, distance from the first register of the group), the smallest distance being 0."""

    members: tuple[tuple[int, int], ...]

    @property
    def length(self) -> int:
        """Registers from the first to the last one used."""
        return max(distance for _, distance in self.members) + 1


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Orders that ask two distances of the same two registers: `order` cannot be met; None where an instruction asks for it."""

    order: XferOrder | None
    web: int


def groups(webs: Webs) -> list[Group] | Contradiction:
    """The groups of all transfer registers, in program order."""
    union = OffsetUnion()
    for _ in webs.webs:
        union.add()
    by_name: dict[tuple[str, File], list[int]] = {}
    for number, web in enumerate(webs.webs):
        by_name.setdefault((web.variable.name, web.variable.file), []).append(number)
    for order in webs.flow.program.xfer_orders:
        clash = _order(webs, union, order, by_name)
        if clash is not None:
            return Contradiction(order, clash)
    clash = _tie_halves(webs, union, by_name)
    if clash is not None:
        return Contradiction(None, clash)
    members: dict[int, list[tuple[int, int]]] = {}
    for number, web in enumerate(webs.webs):
        if web.variable.file in TRANSFER_FILES:
            root, distance = union.find(number)
            members.setdefault(root, []).append((number, distance))
    out = []
    for group in members.values():
        least = min(distance for _, distance in group)
        out.append(Group(tuple((web, distance - least) for web, distance in group)))
    return out


def _order(webs: Webs, union: OffsetUnion, order: XferOrder, by_name: dict[tuple[str, File], list[int]]) -> int | None:
    """Ties all webs of the names of an order; the web that cannot be tied, or None."""
    for write_half in (False, True):
        if order.half is (Half.READ if write_half else Half.WRITE):
            continue
        anchor = union.add()
        for distance, name in enumerate(order.names):
            file = file_of(webs.flow.program.symbols[name].cls, write_half)
            for web in by_name.get((name, file), ()):
                if not union.join(anchor, web, distance):
                    return web
    return None


def _tie_halves(webs: Webs, union: OffsetUnion, by_name: dict[tuple[str, File], list[int]]) -> int | None:
    """Ties the read and the write number where one number stands for both; the web that cannot be tied, or None."""
    for index, facts in enumerate(webs.flow.facts):
        transfer = facts.transfer
        if transfer is not None and transfer.operand is not None and transfer.direction == "both":
            for offset in range(transfer.count):
                site = Site(index, transfer.operand, None, offset)
                for halves in _HALVES:
                    read, write = (webs.at.get((site, file)) for file in halves)
                    if read is not None and write is not None and not union.join(read, write):
                        return write
    for symbol in webs.flow.program.symbols.values():
        if symbol.address_taken:
            for halves in _HALVES:
                for read in by_name.get((symbol.name, halves[0]), ()):
                    for write in by_name.get((symbol.name, halves[1]), ()):
                        if not union.join(read, write):
                            return write
    return None


def allocate_transfers(webs: Webs, found: list[Group], limits: Limits, steps: int = STEPS) -> dict[int, Place] | Outcome:
    """The number of every transfer register."""
    at = {web: (item, distance) for item, group in enumerate(found) for web, distance in group.members}
    conflicts: list[dict[int, set[int]]] = [{} for _ in found]
    for web, (item, distance) in at.items():
        for rival in cells_of(webs.rivals[web]):
            other, other_distance = at[rival]
            if other == item:
                # One name overwritten while a unit may still read it is the program's own doing, and named as such.
                if other_distance == distance and webs.webs[rival].variable is not webs.webs[web].variable:
                    return Outcome(None, True)
                continue
            conflicts[item].setdefault(other, set()).add(distance - other_distance)
    domains = [_starts(webs, group, limits) for group in found]
    frozen = [{other: frozenset(distances) for other, distances in row.items()} for row in conflicts]
    outcome = solve(Problem(domains, frozen), steps)
    if outcome.cells is None:
        return outcome
    return {web: Place(outcome.cells[item] + distance) for web, (item, distance) in at.items()}


def _starts(webs: Webs, group: Group, limits: Limits) -> int:
    """The numbers that the first register of a group may have, as a mask."""
    mask = (1 << max(0, limits.transfers - group.length + 1)) - 1
    for web, distance in group.members:
        fixed = webs.webs[web].variable.fixed
        if fixed is not None and fixed.number is not None:
            mask &= 1 << fixed.number - distance if fixed.number >= distance else 0
    return mask


def allocate_signals(webs: Webs, limits: Limits, steps: int = STEPS) -> dict[int, Place] | Outcome:
    """The number of every signal, from 1 on; the even one of a pair."""
    items = [number for number, web in enumerate(webs.webs) if web.variable.file is File.SIGNAL]
    index_of = {web: item for item, web in enumerate(items)}
    numbers = (1 << limits.signals + 1) - 2
    even = sum(1 << number for number in range(2, limits.signals, 2))
    domains = [(even if webs.webs[web].pair else numbers) & _given(webs, web) for web in items]
    conflicts: list[dict[int, frozenset[int]]] = []
    for web in items:
        row = {}
        for rival in cells_of(webs.rivals[web]):
            own, theirs = (range(2 if webs.webs[one].pair else 1) for one in (web, rival))
            row[index_of[rival]] = frozenset(a - b for a in own for b in theirs)
        conflicts.append(row)
    outcome = solve(Problem(domains, conflicts), steps)
    if outcome.cells is None:
        return outcome
    return {web: Place(cell) for web, cell in zip(items, outcome.cells, strict=True)}


def _given(webs: Webs, web: int) -> int:
    """The number that the text gives a web, as a mask; all if it gives none."""
    fixed = webs.webs[web].variable.fixed
    return -1 if fixed is None or fixed.number is None else 1 << fixed.number


def allocate_neighbors(webs: Webs, limits: Limits) -> dict[int, Place] | Outcome:
    """Next neighbour registers in order of appearance: the neighbour sees them, so none is shared."""
    items = [number for number, web in enumerate(webs.webs) if web.variable.file is File.NEIGHBOR]
    conflicts = [{other: SAME_CELL for other in range(len(items)) if other != item} for item in range(len(items))]
    if len(items) > limits.neighbors:
        return Outcome(None, True)
    outcome = solve(Problem([(1 << limits.neighbors) - 1 & _given(webs, web) for web in items], conflicts))
    if outcome.cells is None:
        return outcome
    return {web: Place(cell) for web, cell in zip(items, outcome.cells, strict=True)}
