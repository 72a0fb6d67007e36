"""Small programs of general purpose registers with every allocation of theirs tried: which exist is found without the allocator.

A program is a list of steps over names. Its live ranges are found here from the text by following paths backward from each read;
which two can share a register is asked of the checker, by letting these two share and no others; then every way of putting ranges
into registers is tried, with nothing skipped but ways that differ in the order of unused numbers.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass

from ixpemu.asm.checker import check
from ixpemu.asm.front import read_program
from ixpemu.asm.pipeline import assemble
from ixpemu.isa import InstructionSet

Range = int
Place = tuple[int, int]         # bank 0 or 1, number


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction: its text with {0}, {1}... for the names, which of them are written and read, and where control goes."""

    text: str
    names: tuple[str, ...] = ()
    writes: tuple[int, ...] = ()
    reads: tuple[int, ...] = ()
    pair: tuple[int, int] | None = None
    label: str = ""
    to: str = ""
    ends: bool = False


def program(seed: int, most: int = 12) -> list[Step]:
    """A program of up to `most` registers, some of them absolute, in which everything is set before it is read."""
    chance = random.Random(seed)
    names = [f"r{number}" for number in range(chance.randint(3, most - 2))]
    shared = [f"@s{number}" for number in range(chance.choice([0, 0, 1, 2]))]
    steps = [Step("immed[{0}, 1]", (name,), (0,)) for name in (*shared, *names[:3])]
    known, left = names[:3], names[3:]
    labels = 0
    for _ in range(chance.randint(4, 14)):
        target = left.pop(0) if left and chance.random() < 0.5 else chance.choice(known)
        kind = chance.randint(0, 9)
        one, other = chance.sample([*known, *shared], 2)
        if kind <= 2:
            step = Step("alu[{0}, {1}, +, {2}]", (target, one, other), (0,), (1, 2), (1, 2))
        elif kind <= 5:
            step = Step("alu[{0}, --, B, {1}]", (target, one), (0,), (1,))
        elif kind <= 7:
            step = Step("immed[{0}, 2]", (target,), (0,))
        else:
            # A loop back, or a way round what follows; what is set in it has been set before.
            place, labels = chance.randrange(len(steps) // 2, len(steps)), labels + 1
            if kind == 8 and not steps[place].label:
                old = steps[place]
                steps[place] = Step(old.text, old.names, old.writes, old.reads, old.pair, f"l{labels}#", old.to)
                steps.append(Step(f"bne[l{labels}#]", to=f"l{labels}#"))
            else:
                two = chance.sample(known, 2)
                steps += [
                    Step(f"beq[l{labels}#]", to=f"l{labels}#"), Step("immed[{0}, 3]", (two[0],), (0,)),
                    Step("alu[{0}, {1}, -, 1]", (two[1], two[1]), (0,), (1,), label=f"l{labels}#"),
                ]
            continue
        steps.append(step)
        if target not in known:
            known.append(target)
    order = chance.sample(known, len(known))
    steps += [Step("alu[--, --, B, {0}]", (name,), (), (0,)) for name in order if chance.random() < 0.8]
    return [*steps, Step("ctx_arb[kill]", ends=True)]


def text(steps: list[Step]) -> str:
    """The program as it is written."""
    names = sorted({name for step in steps for name in step.names})
    lines = [(f"{step.label}:\n" if step.label else "") + step.text.format(*step.names) for step in steps]
    return "\n".join([".num_contexts 4", f".reg {' '.join(names)}", *lines]) + "\n"


@dataclass(slots=True)
class Small:
    """A program with its live ranges: `at[step, operand]` is the range there."""

    steps: list[Step]
    at: dict[tuple[int, int, bool], Range]
    count: int
    absolute: set[Range]
    apart: set[tuple[Range, Range]]     # not in one bank
    isa: InstructionSet
    known: set[tuple[Range, Range]] | None = None       # `conflicts`, once they have been asked for

    @classmethod
    def of(cls, steps: list[Step], isa: InstructionSet) -> Small:
        """The live ranges, found by going backward from each read to whatever may have set it."""
        before: dict[int, list[int]] = {number: [] for number in range(len(steps))}
        place = {step.label: number for number, step in enumerate(steps) if step.label}
        for number, step in enumerate(steps):
            for following in ([] if step.ends else [number + 1]) + ([place[step.to]] if step.to else []):
                before[following].append(number)
        parent: dict[tuple[int, int, bool], tuple[int, int, bool]] = {}

        def root(one: tuple[int, int, bool]) -> tuple[int, int, bool]:
            while parent.setdefault(one, one) != one:
                one = parent[one]
            return one

        first: dict[str, tuple[int, int, bool]] = {}
        for number, step in enumerate(steps):
            for operand, write in [(one, True) for one in step.writes] + [(one, False) for one in step.reads]:
                mine = root((number, operand, write))
                name = step.names[operand]
                if name.startswith("@"):
                    parent[root(mine)] = root(first.setdefault(name, mine))
                elif not write:
                    seen, queue = set(), list(before[number])
                    while queue:
                        there = queue.pop()
                        if there in seen:
                            continue
                        seen.add(there)
                        setters = [one for one in steps[there].writes if steps[there].names[one] == name]
                        if setters:
                            parent[root((there, setters[0], True))] = root(mine)
                        else:
                            queue += before[there]
        roots = {one: root(one) for one in list(parent)}
        index = {one: number for number, one in enumerate(sorted(set(roots.values())))}
        at = {one: index[roots[one]] for one in roots}
        apart = {
            (at[number, step.pair[0], False], at[number, step.pair[1], False]) for number, step in enumerate(steps) if step.pair
        }
        absolute = {at[one] for one in at if steps[one[0]].names[one[1]].startswith("@")}
        return cls(steps, at, len(index), absolute, apart, isa)

    def words(self, places: dict[Range, Place]) -> list[int] | None:
        """The words with every range in its place; None where two sources would be in one bank."""
        if any(places[one][0] == places[other][0] for one, other in self.apart):
            return None
        lines = []
        for number, step in enumerate(self.steps):
            registers = []
            for operand, name in enumerate(step.names):
                one = self.at.get((number, operand, True), self.at.get((number, operand, False), -1))
                bank, place = places[one]
                registers.append(f"{'@' if name.startswith('@') else ''}{'ab'[bank]}{place}")
            lines.append((f"{step.label}:\n" if step.label else "") + step.text.format(*registers))
        return assemble(text=".physical\n.num_contexts 4\n" + "\n".join(lines) + "\n").words.tolist()

    def accepted(self, places: dict[Range, Place]) -> bool:
        """Whether the checker accepts these places."""
        words = self.words(places)
        return words is not None and check(read_program(text=text(self.steps)), words, self.isa) == []

    def conflicts(self) -> set[tuple[Range, Range]]:
        """The pairs of ranges that cannot share a register, asked of the checker one by one with room for all."""
        if self.known is not None:
            return self.known
        out = self.known = set()
        colours = self.divide()
        if colours is None:
            return out
        program = read_program(text=text(self.steps))
        relative = [one for one in range(self.count) if one not in self.absolute]
        base = {one: (side, number) for number, (one, side) in enumerate(sorted(colours.items()))}
        for one, other in itertools.combinations(relative, 2):
            for turned in self.turns(one, other):
                places = {key: (turned[key], number + (32 if key in self.absolute else 0)) for key, (_, number) in base.items()}
                places[other] = places[one]
                words = self.words(places)
                if words is None or check(program, words, self.isa) != []:
                    out.add((one, other))
                break
            else:
                out.add((one, other))
        return out

    def divide(self) -> dict[Range, int] | None:
        """Some division between the banks, by trying."""
        return next(self.turns(None, None), None)

    def turns(self, one: Range | None, other: Range | None):  # type: ignore[no-untyped-def]
        """Divisions between the banks in which `one` and `other` are in the same bank."""
        ranges = list(range(self.count))
        colours: dict[Range, int] = {}

        def go(position: int):  # type: ignore[no-untyped-def]
            if position == len(ranges):
                yield dict(colours)
                return
            mine = ranges[position]
            for side in (0, 1):
                partners = [b if a == mine else a for a, b in self.apart if mine in (a, b)]
                if mine in partners or any(colours.get(partner) == side for partner in partners):
                    continue
                if {one, other} >= {mine} and any(colours.get(same, side) != side for same in (one, other) if same is not None):
                    continue
                colours[mine] = side
                yield from go(position + 1)
                del colours[mine]

        yield from go(0)

    def search(self, gpr: int, windows: int) -> dict[Range, Place] | None:
        """Places for all ranges with `gpr` registers in each bank, trying everything; None if there are none."""
        conflicts = self.conflicts()
        against = [{b if a == one else a for a, b in conflicts if one in (a, b)} for one in range(self.count)]
        relative = [one for one in range(self.count) if one not in self.absolute]
        for sides in itertools.product((0, 1), repeat=len(self.absolute)):
            bank_of = dict(zip(sorted(self.absolute), sides, strict=True))
            if any(one in bank_of and bank_of[one] == bank_of.get(other) for one, other in self.apart):
                continue
            taken = [-(-sides.count(side) // windows) for side in (0, 1)]
            room = [gpr - taken[0], gpr - taken[1]]
            fixed = {one: (bank_of[one], 0) for one in bank_of}
            found = self._fill(relative, room, against, fixed)
            if found is not None:
                # Absolute registers behind the relative ones: number 31 of each context.
                order = {side: [one for one in bank_of if bank_of[one] == side] for side in (0, 1)}
                for side, some in order.items():
                    for number, one in enumerate(some):
                        found[one] = (side, 32 * (number % windows) + 31 - number // windows)
                return found
        return None

    def _fill(
        self, relative: list[Range], room: list[int], against: list[set[Range]], fixed: dict[Range, Place]
    ) -> dict[Range, Place] | None:
        places = dict(fixed)

        def go(position: int) -> bool:
            if position == len(relative):
                return True
            mine = relative[position]
            partners = [b if a == mine else a for a, b in self.apart if mine in (a, b)]
            for side in (0, 1):
                if mine in partners or any(partner in places and places[partner][0] == side for partner in partners):
                    continue
                used = {places[one][1] for one in relative[:position] if places[one][0] == side}
                for number in range(min(room[side], len(used) + 1)):
                    if not any(places.get(rival) == (side, number) for rival in against[mine] if rival in places):
                        places[mine] = (side, number)
                        if go(position + 1):
                            return True
                        del places[mine]
            return False

        return places if go(0) else None
