"""Programs over names with a model of what they compute, in plain Python: no registers, no banks, no allocation.

The author takes any two names as sources, so that most of these programs fit no division between the banks; with enough names
they fit no context either. What a program leaves in its names it writes to SRAM, one word a name, and the model says what must be
there.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

MASK = 0xFFFFFFFF
Step = Callable[["Machine"], None]


@dataclass(slots=True)
class Machine:
    """Names, the carry, and where the program's own counters are."""

    names: dict[str, int] = field(default_factory=dict)
    carry: int = 0

    def get(self, name: str) -> int:
        """The value of a name."""
        return self.names[name]

    def alu(self, target: str, left: int, operation: str, right: int) -> None:
        """One operation of the ALU."""
        if operation in ("+", "+carry"):
            whole = left + right + (self.carry if operation == "+carry" else 0)
            self.carry = whole >> 32
        elif operation == "-":
            whole = left - right
            self.carry = int(left >= right)
        else:
            whole = {"AND": left & right, "OR": left | right, "XOR": left ^ right}[operation]
            self.carry = 0
        if target != "--":
            self.names[target] = whole & MASK


@dataclass(slots=True)
class Author:
    """Writes a program and its model together."""

    chance: random.Random
    names: list[str]
    absolute: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    labels: int = 0

    def program(self, groups: int) -> tuple[str, dict[int, int]]:
        """The text, and the words of SRAM by byte address when it is done."""
        model: list[Step] = []
        for name in (*self.names, *self.absolute):
            value = self.chance.getrandbits(16)
            self.lines.append(f"immed[{name}, {value}]")
            model.append(lambda m, name=name, value=value: m.names.__setitem__(name, value))  # type: ignore[misc]
        for _ in range(groups):
            model.append(self.group(0))
        machine = Machine()
        for step in model:
            step(machine)
        head = [f".reg {' '.join([*self.names, *self.absolute])} where $out", ".sig done"]
        head.append(f".reg {' '.join(f'count{number}' for number in range(self.labels + 1))}")
        wanted = {}
        for number, name in enumerate((*self.names, *self.absolute)):
            self.lines += [f"immed[where, {4 * number}]", f"alu[$out, --, B, {name}]",
                           "sram[write, $out, where, 0, 1], ctx_swap[done]"]
            wanted[4 * number] = machine.get(name)
        return "\n".join([*head, *self.lines, "ctx_arb[kill]"]) + "\n", wanted

    def some(self) -> str:
        """A name that every field can hold."""
        return self.chance.choice(self.names)

    def any(self) -> str:
        """A name that an ALU operation can have."""
        return self.chance.choice([*self.names, *self.absolute])

    def group(self, depth: int) -> Step:
        """A few lines that belong together, and what they do."""
        kind = self.chance.randint(0, 9)
        if kind >= 8 and depth < 2:
            return self.loop(depth) if kind == 8 else self.skip(depth)
        if kind == 7:
            return self.indirect()
        if kind == 6:
            return self.sum64()
        return self.plain()

    def plain(self) -> Step:
        """One instruction."""
        kind, target, left, right = self.chance.randint(0, 5), self.some(), self.some(), self.some()
        if kind <= 2:
            left, right, operation = self.any(), self.any(), self.chance.choice(["+", "-", "AND", "OR", "XOR"])
            self.lines.append(f"alu[{target}, {left}, {operation}, {right}]")
            return lambda m: m.alu(target, m.get(left), operation, m.get(right))
        if kind == 3:
            amount = self.chance.randint(1, 31)
            self.lines.append(f"alu_shf[{target}, {left}, OR, {right}, <<{amount}]")
            return lambda m: m.alu(target, m.get(left), "OR", m.get(right) << amount & MASK)
        if kind == 4:
            self.lines.append(f"ld_field[{target}, 0011, {right}]")
            return lambda m: m.names.__setitem__(target, m.get(target) & 0xFFFF0000 | m.get(right) & 0xFFFF)
        self.lines.append(f"alu[{target}, --, B, {right}]")
        return lambda m: m.alu(target, m.get(right), "OR", 0)

    def sum64(self) -> Step:
        """Two additions, the second with the carry of the first."""
        names = [self.any() for _ in range(4)]
        low, high = self.some(), self.some()
        self.lines += [f"alu[{low}, {names[0]}, +, {names[1]}]", f"alu[{high}, {names[2]}, +carry, {names[3]}]"]

        def step(m: Machine) -> None:
            m.alu(low, m.get(names[0]), "+", m.get(names[1]))
            m.alu(high, m.get(names[2]), "+carry", m.get(names[3]))

        return step

    def indirect(self) -> Step:
        """A shift by what the instruction before it had as its first source."""
        amount, other, target, left, right = (self.some() for _ in range(5))
        self.lines += [f"alu[--, {amount}, OR, {other}]", f"alu_shf[{target}, {left}, OR, {right}, >>indirect]"]

        def step(m: Machine) -> None:
            m.alu("--", m.get(amount), "OR", m.get(other))
            m.alu(target, m.get(left), "OR", m.get(right) >> (m.get(amount) & 31))

        return step

    def loop(self, depth: int) -> Step:
        """A few rounds of a body."""
        self.labels += 1
        number, rounds = self.labels, self.chance.randint(1, 3)
        self.lines += [f"immed[count{number}, {rounds}]", f"l{number}#:"]
        body = [self.group(depth + 1) for _ in range(self.chance.randint(1, 3))]
        self.lines += [f"alu[count{number}, count{number}, -, 1]"]
        slot = self.chance.random() < 0.5
        self.lines += [f"bne[l{number}#]" + (", defer[1]" if slot else "")]
        behind = self.slot() if slot else None

        def step(m: Machine) -> None:
            for left in range(rounds, 0, -1):
                for one in body:
                    one(m)
                m.carry = int(left >= 1)
                if behind is not None:
                    behind(m)

        return step

    def slot(self) -> Step:
        """An instruction for a defer slot."""
        target, left, right = self.some(), self.some(), self.some()
        self.lines.append(f"alu[{target}, {left}, XOR, {right}]")
        return lambda m: m.alu(target, m.get(left), "XOR", m.get(right))

    def skip(self, depth: int) -> Step:
        """A body that is left out if two names are equal."""
        self.labels += 1
        number, left, right = self.labels, self.some(), self.some()
        slot = self.chance.random() < 0.5
        self.lines += [f"alu[--, {left}, -, {right}]", f"beq[l{number}#]" + (", defer[1]" if slot else "")]
        behind = self.slot() if slot else None
        body = [self.group(depth + 1) for _ in range(self.chance.randint(1, 3))]
        self.lines.append(f"l{number}#:")

        def step(m: Machine) -> None:
            equal = m.get(left) == m.get(right)
            m.alu("--", m.get(left), "-", m.get(right))
            if behind is not None:
                behind(m)
            if not equal:
                for one in body:
                    one(m)

        return step


def program(seed: int, names: int, absolutes: int = 0, groups: int = 12) -> tuple[str, dict[int, int]]:
    """The text of a program of so many names, and what it leaves in SRAM."""
    relative, shared = [f"v{number}" for number in range(names)], [f"@g{number}" for number in range(absolutes)]
    return Author(random.Random(seed), relative, shared).program(groups)
