"""General purpose and absolute registers: which bank, then which number.

Two sources of one instruction need one register of bank A and one of bank B. That is a colouring with two colours; a part of the
program that is connected by such pairs can only be turned round as a whole. Registers that a copy makes equal share one where
nothing is lost by it. Absolute registers are packed: one relative number of a bank, given up by all contexts, is worth as many
absolute registers as there are contexts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ixpemu.asm import loops
from ixpemu.asm.copies import Copy, Sharing
from ixpemu.asm.flow import File, Site
from ixpemu.asm.graphs import Colouring, Edge, OddCycle, two_colour
from ixpemu.asm.limits import Limits
from ixpemu.asm.numbers import SAME_CELL, STEPS, Outcome, Problem, cells_of, solve
from ixpemu.asm.program import Fixed
from ixpemu.asm.webs import Webs

FEW_STEPS = 2_000       # of search for a wish


@dataclass(frozen=True, slots=True)
class Place:
    """A physical register or signal: its number, and for GPRs its bank."""

    number: int
    bank: str | None = None


def pair_edges(webs: Webs) -> list[Edge]:
    """An edge between two webs for each instruction that reads both at once; `reason` is the instruction's index."""
    edges = []
    for index, facts in enumerate(webs.flow.facts):
        if facts.pair is None:
            continue
        ends = [_gpr_at(webs, Site(index, operand)) for operand in facts.pair]
        if ends[0] is not None and ends[1] is not None:
            edges.append(Edge(ends[0], ends[1], index))
    return edges


def _gpr_at(webs: Webs, site: Site) -> int | None:
    web = webs.at.get((site, File.GPR))
    return webs.at.get((site, File.ABSOLUTE)) if web is None else web


def divide(webs: Webs, edges: list[Edge]) -> Colouring | OddCycle:
    """The parts of the program that the pairs connect, each coloured; or what no division satisfies: a cycle of pairs, or a chain
    of them between two names of fixed banks."""
    return two_colour(len(webs.webs), edges, fixed_banks(webs))


def fixed_banks(webs: Webs) -> dict[int, int]:
    """The webs whose bank the text gives, with 0 for A and 1 for B."""
    return {
        web: "ab".index(one.variable.fixed.bank) for web, one in enumerate(webs.webs)
        if one.variable.fixed is not None and one.variable.fixed.bank is not None
    }


@dataclass(frozen=True, slots=True)
class Row:
    """The cells that registers are put into: relative A, relative B, and, for each relative number given up in a bank, the
    absolute registers that it is worth. `slots`: the numbers given up in A and in B."""

    limits: Limits
    slots: tuple[tuple[int, ...], tuple[int, ...]]

    def relative(self, bank: int) -> int:
        """The mask of a bank's relative cells that are left."""
        given = sum(1 << number for number in self.slots[bank])
        return ((1 << self.limits.gpr) - 1 & ~given) << bank * self.limits.gpr

    def absolute(self, bank: int) -> int:
        """The mask of a bank's absolute cells."""
        return ((1 << len(self.slots[bank]) * self.limits.windows) - 1) << self._first(bank)

    def _first(self, bank: int) -> int:
        return 2 * self.limits.gpr + bank * len(self.slots[0]) * self.limits.windows

    def place(self, cell: int) -> Place:
        """The register of a cell. The windows of one relative number are filled before the next number is touched."""
        gpr, windows = self.limits.gpr, self.limits.windows
        if cell < 2 * gpr:
            return Place(cell % gpr, "ab"[cell // gpr])
        bank = 0 if cell < self._first(1) else 1
        cell -= self._first(bank)
        return Place(cell % windows * self.limits.stride + self.slots[bank][cell // windows], "ab"[bank])

    def cells(self, absolute: bool, fixed: Fixed | None) -> int:
        """The mask of the cells that a register may have."""
        kind = self.absolute if absolute else self.relative
        mask = kind(0) | kind(1)
        if fixed is None:
            return mask
        if fixed.bank is not None:
            mask &= kind("ab".index(fixed.bank))
        if fixed.number is not None:
            mask &= sum(1 << cell for cell in cells_of(mask) if self.place(cell).number == fixed.number)
        return mask


def allocate_gprs(
    webs: Webs, edges: list[Edge], colouring: Colouring, limits: Limits, steps: int = STEPS
) -> dict[int, Place] | Outcome:
    """The place of every general purpose and absolute web; an `Outcome` without cells where there is none.

    Webs that a copy makes equal share a register where that is free: in the deepest loops first, as many as there is room for.
    """
    copies = _by_gain(webs)
    if copies:
        found = _allocate(webs, edges, colouring, limits, copies, min(steps, FEW_STEPS))
        if isinstance(found, dict):
            return found
    best = _allocate(webs, edges, colouring, limits, [], steps)
    fits, fails = 0, len(copies)
    while isinstance(best, dict) and fails - fits > 1:
        middle = (fits + fails) // 2
        found = _allocate(webs, edges, colouring, limits, copies[:middle], min(steps, FEW_STEPS))
        if isinstance(found, dict):
            best, fits = found, middle
        else:
            fails = middle
    return best


def _by_gain(webs: Webs) -> list[Copy]:
    """The copies whose two webs can share, those that are executed most often first."""
    apart = [copy for copy in webs.copies if not webs.rivals[copy.source] >> copy.target & 1]
    if not apart:
        return []
    depth = loops.depths(webs.flow.successors)
    return sorted(apart, key=lambda copy: -depth[copy.node])


def _allocate(
    webs: Webs, edges: list[Edge], colouring: Colouring, limits: Limits, copies: list[Copy], steps: int
) -> dict[int, Place] | Outcome:
    """As `allocate_gprs`, but the webs of `copies` do share where their banks allow it."""
    items = [number for number, web in enumerate(webs.webs) if web.variable.file in (File.GPR, File.ABSOLUTE)]
    sharing = Sharing(webs.rivals, colouring)
    for copy in copies:
        sharing.join(copy.source, copy.target)
    proved = True
    for slots in _slots(webs, items, limits):
        row = Row(limits, slots)
        heads = [web for web in items if sharing.root(web) == web]
        outcome = solve(_problem(webs, heads, edges, colouring, row, sharing), steps)
        if outcome.cells is not None:
            cell_of = dict(zip(heads, outcome.cells, strict=True))
            return {web: row.place(cell_of[sharing.root(web)]) for web in items}
        proved = proved and outcome.proved
    return Outcome(None, proved)


def _slots(webs: Webs, items: list[int], limits: Limits) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The relative numbers of bank A and of bank B that are given to absolute registers: every way that matters, cheapest first.

    Numbers are alike but for those that fixed names have: the ones of absolute registers are given up in any case, the ones of
    relative registers never.
    """
    given: tuple[set[int], set[int]] = set(), set()
    kept: tuple[set[int], set[int]] = set(), set()
    absolutes = 0
    for web in items:
        variable = webs.webs[web].variable
        absolutes += variable.file is File.ABSOLUTE
        if variable.fixed is not None and variable.fixed.number is not None and variable.fixed.bank is not None:
            table = given if variable.file is File.ABSOLUTE else kept
            table["ab".index(variable.fixed.bank)].add(variable.fixed.number % limits.stride)
    most = -(-absolutes // limits.windows) + 1 if absolutes > 1 else absolutes
    others = [[n for n in range(limits.gpr) if n not in given[bank] and n not in kept[bank]] for bank in (0, 1)]
    for total in range(most + 1):
        for in_a in range(min(total, len(others[0])), -1, -1):
            if total - in_a <= len(others[1]):
                slots = (*sorted(given[0]), *others[0][:in_a]), (*sorted(given[1]), *others[1][: total - in_a])
                if (len(slots[0]) + len(slots[1])) * limits.windows >= absolutes:
                    yield slots


def _problem(
    webs: Webs, heads: list[int], edges: list[Edge], colouring: Colouring, row: Row, sharing: Sharing
) -> Problem:
    """What to solve: an item for each of `heads`, which stand for all that share with them."""
    relative, absolute = (row.relative(0), row.relative(1)), (row.absolute(0), row.absolute(1))
    item_of = {web: item for item, web in enumerate(heads)}
    whole = {kind: row.cells(kind, None) for kind in (False, True)}
    domains, conflicts = [], []
    for web in heads:
        domain = -1
        for member in cells_of(sharing.members(web)):
            variable = webs.webs[member].variable
            kind = variable.file is File.ABSOLUTE
            domain &= whole[kind] if variable.fixed is None else row.cells(kind, variable.fixed)
        domains.append(domain)
        conflicts.append({item_of[sharing.root(rival)]: SAME_CELL for rival in cells_of(sharing.rivals_of(web))})
    paired = {sharing.part(web)[0] for edge in edges for web in (edge.left, edge.right)}
    parts = [sharing.part(web) for web in heads]
    return Problem(
        domains,
        conflicts,
        (relative[0] | absolute[0], relative[1] | absolute[1]),
        [part if part in paired else None for part, _ in parts],
        [side for _, side in parts],
        {part: 0 for part in colouring.fixed},
        preferred=_wishes(edges, sharing),
    )


def _wishes(edges: list[Edge], sharing: Sharing) -> dict[int, int]:
    """For each part the way round that leaves more operand pairs in the order of the text: first source in A, second in B."""
    votes: dict[int, int] = {}
    for edge in edges:
        part, side = sharing.part(edge.left)
        votes[part] = votes.get(part, 0) + (1 if side == 0 else -1)
    return {part: 0 if count >= 0 else 1 for part, count in votes.items()}
