"""Giving numbers: places items in a row of cells so that conflicting items do not collide. Complete, within a budget of steps.

An item is a register, or a group of registers whose numbers have fixed distances: what is chosen is the cell of its first one.
A row may have two sides (GPR banks); items of a component then fall on sides together, those of parity 1 opposite to those of
parity 0. Cells are bits of a mask. Nothing here knows what the cells are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

STEPS = 50_000      # of search: at most about two seconds, measured on dense random problems of 200 items


@dataclass(slots=True)
class Problem:
    """Items to place.

    `domains[i]`: cells item i may start in. `conflicts[i][j]`: the distances `cell[j] - cell[i]` that collide. `sides`: masks of
    the cells of side 0 and of side 1. `component[i]`, `parity[i]`: see above; component None: it may lie on either side.
    `fixed_side`: components whose side is given: the side of their parity-0 items. `preferred`: the same as a wish.
    """

    domains: list[int]
    conflicts: list[dict[int, frozenset[int]]]
    sides: tuple[int, int] = (-1, -1)
    component: Sequence[int | None] = ()
    parity: Sequence[int] = ()
    fixed_side: dict[int, int] = field(default_factory=dict)
    preferred: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """`cells` per item, or None; `proved`: there is no arrangement, else the search was given up."""

    cells: tuple[int, ...] | None
    proved: bool = False


SAME_CELL = frozenset({0})


def cells_of(mask: int) -> Iterable[int]:
    """The numbers of the bits set, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def solve(problem: Problem, steps: int = STEPS) -> Outcome:
    """Cells for all items, lowest first in item order where that succeeds; else by search."""
    search = _Search(problem)
    if not search.start():
        return Outcome(None, True)
    state = search.save()
    if search.first_fit():
        return Outcome(tuple(search.cells))
    search.restore(state)
    search.cells = [-1] * search.count
    return search.run(steps)


class _Search:
    """The state of one search: remaining domains with a trail to undo them."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.count = len(problem.domains)
        self.domains = list(problem.domains)
        self.cells = [-1] * self.count
        self.component: Sequence[int | None] = problem.component or [None] * self.count
        self.parity: Sequence[int] = problem.parity or [0] * self.count
        self.members: dict[int, list[int]] = {}
        for item, component in enumerate(self.component):
            if component is not None:
                self.members.setdefault(component, []).append(item)
        self.side: dict[int, int] = {}
        self.trail: list[tuple[int, int]] = []      # (item, its former domain), or (-1 - component, 0) for a side that was chosen
        self.classes = self._cell_classes()

    def start(self) -> bool:
        """Applies what is given from the outset. False if that alone is impossible."""
        given = self.problem.fixed_side.items()
        return (
            all(self.domains)
            and all(self._orient(component, side) for component, side in given)
            and all(self._follow(item) for item in range(self.count))
        )

    def save(self) -> int:
        """A mark to come back to."""
        return len(self.trail)

    def restore(self, mark: int) -> None:
        """Undoes every narrowing and every choice of a side since `mark`."""
        while len(self.trail) > mark:
            item, domain = self.trail.pop()
            if item >= 0:
                self.domains[item] = domain
            else:
                del self.side[-1 - item]

    def _narrow(self, item: int, allowed: int) -> bool:
        """Leaves only `allowed` cells to `item`; what that says about sides is carried on. False if none is left."""
        domain = self.domains[item]
        left = domain & allowed
        if left == domain:
            return left != 0
        self.trail.append((item, domain))
        self.domains[item] = left
        return left != 0 and self._follow(item)

    def _follow(self, item: int) -> bool:
        """Puts the item's component on a side if the item has cells on one side alone."""
        component = self.component[item]
        if component is None or component in self.side:
            return True
        for side, mask in enumerate(self.problem.sides):
            if not self.domains[item] & ~mask:
                return self._orient(component, side ^ self.parity[item])
        return True

    def _orient(self, component: int, side: int) -> bool:
        """Puts the parity-0 items of a component on `side`."""
        if component in self.side:
            return self.side[component] == side
        self.side[component] = side
        self.trail.append((-1 - component, 0))
        return all(self._narrow(item, self.problem.sides[side ^ self.parity[item]]) for item in self.members.get(component, ()))

    def _place(self, item: int, cell: int) -> bool:
        """Puts `item` in `cell` and takes that from its neighbours."""
        if not self._narrow(item, 1 << cell):
            return False
        for other, distances in self.problem.conflicts[item].items():
            if self.cells[other] >= 0:
                continue
            taken = 0
            for distance in distances:
                if cell + distance >= 0:
                    taken |= 1 << (cell + distance)
            if not self._narrow(other, ~taken):
                return False
        self.cells[item] = cell
        return True

    def first_fit(self) -> bool:
        """Every component on its preferred side, every item in the lowest cell left, in item order."""
        for component in self.members:
            if component not in self.side and not self._orient(component, self.problem.preferred.get(component, 0)):
                return False
        return all(self._place(item, next(iter(cells_of(self.domains[item])))) for item in range(self.count))

    def run(self, steps: int) -> Outcome:
        """Sets aside items that fit whatever the others do, searches the rest, then places what was set aside."""
        aside = self._set_aside()
        known = set(aside)
        core = [item for item in range(self.count) if item not in known]
        found, proved = self._search(core, steps)
        if not found:
            return Outcome(None, proved)
        for component in self.members:
            if component not in self.side and not self._orient(component, self.problem.preferred.get(component, 0)):
                return Outcome(None)
        if not all(self._place(item, next(iter(cells_of(self.domains[item])), 0)) for item in reversed(aside)):
            return Outcome(None)
        return Outcome(tuple(self.cells))

    def _set_aside(self) -> list[int]:
        """Items that have a cell left whatever the later ones of the list and all others do, in the order they were found."""
        weight = [0] * self.count
        for item, conflicts in enumerate(self.problem.conflicts):
            weight[item] = sum(len(distances) for distances in conflicts.values())
        room = [self._room(item) for item in range(self.count)]
        ready = [item for item in range(self.count) if weight[item] < room[item]]
        aside, gone = [], set(ready)
        while ready:
            item = ready.pop()
            aside.append(item)
            for other, distances in self.problem.conflicts[item].items():
                if other not in gone:
                    weight[other] -= len(distances)
                    if weight[other] < room[other]:
                        gone.add(other)
                        ready.append(other)
        return aside

    def _room(self, item: int) -> int:
        """Cells the item has for certain, on whichever side it comes to lie."""
        domain, component = self.domains[item], self.component[item]
        if component is None or component in self.side:
            return domain.bit_count()
        return min((domain & mask).bit_count() for mask in self.problem.sides)

    def _search(self, core: list[int], steps: int) -> tuple[bool, bool]:
        """Backtracking over `core`, the most constrained item first. (found, proved that there is nothing)."""
        frames: list[tuple[int, int, int]] = []     # item, cells still to try, trail mark
        unplaced = set(core)
        degree = [len(conflicts) for conflicts in self.problem.conflicts]

        def choose() -> int:
            return min(unplaced, key=lambda item: (self.domains[item].bit_count(), -degree[item], item))

        if not unplaced:
            return True, False
        item = choose()
        frames.append((item, self._candidates(item), self.save()))
        unplaced.discard(item)
        while frames:
            item, left, mark = frames.pop()
            self.restore(mark)
            self.cells[item] = -1
            if not left:
                unplaced.add(item)
                continue
            steps -= 1
            if steps < 0:
                return False, False
            cell = next(iter(cells_of(left)))
            frames.append((item, left & ~(1 << cell), mark))
            if not self._place(item, cell):
                continue
            if not unplaced:
                return True, False
            following = choose()
            unplaced.discard(following)
            frames.append((following, self._candidates(following), self.save()))
        return False, True

    def _cell_classes(self) -> list[int]:
        """Masks of cells that are alike for every item: only one unused cell of each need be tried. Empty where groups exist."""
        if any(distances != SAME_CELL for conflicts in self.problem.conflicts for distances in conflicts.values()):
            return []
        classes: list[int] = []
        width = max((domain.bit_length() for domain in self.domains), default=0)
        whole = [(1 << width) - 1]
        for mask in {*self.domains, *(side & ((1 << width) - 1) for side in self.problem.sides)}:
            classes = []
            for part in whole:
                classes += [piece for piece in (part & mask, part & ~mask) if piece]
            whole = classes
        return whole

    def _candidates(self, item: int) -> int:
        """The cells worth trying for `item`: of alike cells that nobody uses yet, only the first."""
        domain = self.domains[item]
        if not self.classes:
            return domain
        used = 0
        for cell in self.cells:
            used |= 1 << cell if cell >= 0 else 0
        out = domain & used
        for alike in self.classes:
            fresh = domain & alike & ~used
            out |= fresh & -fresh
        return out
