"""General purpose and absolute registers: which bank, then which number.

Two sources of one instruction need one register of bank A and one of bank B. That is a colouring with two colours; a part of the
program that is connected by such pairs can only be turned round as a whole. Absolute registers are packed: one relative number of
a bank, given up by all contexts, is worth as many absolute registers as there are contexts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ixpemu.asm.flow import File, Site
from ixpemu.asm.graphs import Colouring, Edge, OddCycle, two_colour
from ixpemu.asm.limits import Limits
from ixpemu.asm.numbers import SAME_CELL, STEPS, Outcome, Problem, cells_of, solve
from ixpemu.asm.webs import Webs


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
    """The parts of the program that the pairs connect, each coloured; or a cycle of pairs that no division satisfies."""
    return two_colour(len(webs.webs), edges)


def allocate_gprs(
    webs: Webs, edges: list[Edge], colouring: Colouring, limits: Limits, steps: int = STEPS
) -> dict[int, Place] | Outcome:
    """The place of every general purpose and absolute web; an `Outcome` without cells where there is none."""
    items = [number for number, web in enumerate(webs.webs) if web.variable.file in (File.GPR, File.ABSOLUTE)]
    proved = True
    for slots in _slot_counts(sum(webs.webs[web].variable.file is File.ABSOLUTE for web in items), limits):
        outcome = solve(_problem(webs, items, edges, colouring, limits, slots), steps)
        if outcome.cells is not None:
            return {web: _place(cell, limits, slots) for web, cell in zip(items, outcome.cells, strict=True)}
        proved = proved and outcome.proved
    return Outcome(None, proved)


def _slot_counts(absolutes: int, limits: Limits) -> Iterator[tuple[int, int]]:
    """How many relative numbers of bank A and of bank B are given to absolute registers: every way, cheapest first."""
    least = -(-absolutes // limits.windows)
    for total in range(least, least + (2 if absolutes > 1 else 1)):
        for in_a in range(total, -1, -1):
            if in_a <= limits.gpr and total - in_a <= limits.gpr:
                yield in_a, total - in_a


def _problem(
    webs: Webs, items: list[int], edges: list[Edge], colouring: Colouring, limits: Limits, slots: tuple[int, int]
) -> Problem:
    """The row of cells: relative A, relative B, absolute A, absolute B."""
    gpr, windows = limits.gpr, limits.windows
    relative = [((1 << gpr) - (1 << slots[0])), ((1 << gpr) - (1 << slots[1])) << gpr]
    absolute = [((1 << slots[0] * windows) - 1) << 2 * gpr, ((1 << slots[1] * windows) - 1) << 2 * gpr + slots[0] * windows]
    index_of = {web: item for item, web in enumerate(items)}
    paired = {web for edge in edges for web in (edge.left, edge.right)}
    conflicts = [{index_of[rival]: SAME_CELL for rival in cells_of(webs.rivals[web])} for web in items]
    return Problem(
        [sum(absolute if webs.webs[web].variable.file is File.ABSOLUTE else relative) for web in items],
        conflicts,
        (relative[0] | absolute[0], relative[1] | absolute[1]),
        [colouring.component[web] if web in paired else None for web in items],
        [colouring.colour[web] for web in items],
        preferred=_wishes(edges, colouring),
    )


def _wishes(edges: list[Edge], colouring: Colouring) -> dict[int, int]:
    """For each part the way round that leaves more operand pairs in the order of the text: first source in A, second in B."""
    votes: dict[int, int] = {}
    for edge in edges:
        part = colouring.component[edge.left]
        votes[part] = votes.get(part, 0) + (1 if colouring.colour[edge.left] == 0 else -1)
    return {part: 0 if count >= 0 else 1 for part, count in votes.items()}


def _place(cell: int, limits: Limits, slots: tuple[int, int]) -> Place:
    if cell < 2 * limits.gpr:
        return Place(cell % limits.gpr, "ab"[cell // limits.gpr])
    cell -= 2 * limits.gpr
    bank = 0 if cell < slots[0] * limits.windows else 1
    cell -= bank * slots[0] * limits.windows
    # The windows of one relative number are filled before the next number is touched.
    return Place(cell % limits.windows * limits.gpr + cell // limits.windows, "ab"[bank])
