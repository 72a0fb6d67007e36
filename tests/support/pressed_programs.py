"""Programs that need almost every register and signal at once, made from a seed, each with an allocation that is known to exist.

Every name has a register in the author's mind: a bank and a number, a place in its file, a signal number. The text never reads
two sources of one bank in one instruction. So names could simply be given those places, whatever the live ranges are; that an
assembler finds *some* allocation is no matter of luck. How much is used is chosen by `pressure`, 1 for all there is.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass(slots=True)
class Budget:
    """What a program declares. GPR names `a*` are meant for bank A and `b*` for bank B."""

    contexts: int
    in_a: int
    in_b: int
    absolutes: int
    files: dict[str, list[int]]         # "$r", "$w", "$$r", "$$w" -> lengths of their ordered groups
    singles: int
    pairs: int


def budget(chance: random.Random, pressure: float) -> Budget:
    """How many of everything: about `pressure` of what there is, GPRs and signals exactly all at 1."""
    contexts = chance.choice([8, 8, 4])
    windows, gpr, transfers = contexts, 128 // contexts, 128 // contexts
    absolutes = chance.choice([0, 0, 1, 3, windows, windows + 2])
    given = -(-absolutes // windows)
    in_a = max(2, round((gpr - given) * pressure))
    in_b = max(2, round((gpr - given * 0) * pressure))
    files = {}
    for name in ("$r", "$w", "$$r", "$$w"):
        left, groups = max(2, round(transfers * pressure)), []
        while left > 0:
            size = chance.randint(1, min(8, left))
            groups.append(size)
            left -= size
        if name.startswith("$$"):
            groups = [size - size % 2 for size in groups if size > 1] or [2]
        files[name] = groups
    pairs = chance.randint(1, max(1, round(7 * pressure)))
    singles = max(1, round((15 - 2 * pairs) * pressure))
    return Budget(contexts, in_a, in_b, absolutes, files, singles, pairs)


def program(seed: int, pressure: float) -> str:
    """The text of a program."""
    return _Author(random.Random(seed), pressure).text()


@dataclass(slots=True)
class _Author:
    chance: random.Random
    pressure: float
    lines: list[str] = field(default_factory=list)
    count: int = 0
    have: Budget = field(init=False)
    a: list[str] = field(init=False)
    b: list[str] = field(init=False)
    absolute: list[str] = field(init=False)
    subroutines: int = 0

    def text(self) -> str:
        """The whole program."""
        have = self.have = budget(self.chance, self.pressure)
        self.a = [f"a{number}" for number in range(have.in_a)]
        self.b = [f"b{number}" for number in range(have.in_b)]
        self.absolute = [f"@c{number}" for number in range(have.absolutes)]
        head = [f".num_contexts {have.contexts}", f".reg {' '.join([*self.a, *self.b, *self.absolute])}"]
        for file, sizes in have.files.items():
            half = "read" if file.endswith("r") else "write"
            for number, size in enumerate(sizes):
                head += [f".reg {half} {file}{number}[{size}]", f".xfer_order {file}{number}"]
        head.append(f".sig {' '.join(self.signals() + self.paired())}")
        order = [*self.a, *self.b, *self.absolute]
        self.chance.shuffle(order)
        self.lines = [f"immed[{name}, {number}]" for number, name in enumerate(order)]
        for file in ("$w", "$$w"):
            self.lines += [f"alu[{name}, --, B, {self.gpr()}]" for name in self.members(file)]
        for file in ("$r", "$$r"):
            for number in range(len(have.files[file])):
                self.swap(self.command(file, number))
        body = len(self.lines)
        for _ in range(self.chance.randint(4, 14)):
            self.group(0)
        if self.subroutines:
            self.subroutine(body)
        ends = [*self.a, *self.b, *self.absolute, *self.members("$r"), *self.members("$$r")]
        self.chance.shuffle(ends)
        self.lines += [f"alu[--, --, B, {name}]" for name in ends if self.chance.random() < 0.9]
        for file in ("$w", "$$w"):
            for number in range(len(have.files[file])):
                self.swap(self.command(file, number))
        return "\n".join([*head, *self.lines, "ctx_arb[kill]"]) + "\n"

    def signals(self) -> list[str]:
        """Signals that are raised alone."""
        return [f"s{number}" for number in range(self.have.singles)]

    def paired(self) -> list[str]:
        """Signals that are raised as a pair."""
        return [f"p{number}" for number in range(self.have.pairs)]

    def members(self, file: str) -> list[str]:
        """Every register of a file."""
        return [f"{file}{number}[{place}]" for number, size in enumerate(self.have.files[file]) for place in range(size)]

    def gpr(self) -> str:
        """Any general purpose register."""
        return self.chance.choice([*self.a, *self.b])

    def two(self, restricted: bool) -> list[str]:
        """Two sources of different banks, in either order."""
        found = [self.chance.choice(self.a), self.chance.choice(self.b)]
        self.chance.shuffle(found)
        return found

    def plain(self) -> str:
        """An instruction that neither branches nor starts a command."""
        chance = self.chance
        left, right = self.two(False)
        target = self.gpr() if chance.random() < 0.75 else chance.choice(["--", *self.absolute, *self.members("$w")])
        kind = chance.randint(0, 9)
        if kind <= 2:
            return f"alu[{target}, {left}, {chance.choice(['+', '-', 'XOR', 'B-A'])}, {right}]"
        if kind == 3:
            return f"alu[{self.gpr()}, --, B, {self.gpr()}]"
        if kind == 4:
            return f"ld_field[{left}, {chance.choice(['0011', '1000'])}, {right}]"
        if kind == 5:
            return f"alu[{target}, {left}, -, {chance.choice([*self.members('$r'), *self.members('$$r')])}]"
        if kind == 6:
            return f"immed[{target}, {chance.randint(0, 255)}]"
        if kind == 7 and self.absolute:
            return f"alu[{self.gpr()}, --, B, {chance.choice(self.absolute)}]"
        if kind == 8:
            return f"alu_shf[{self.gpr()}, {left}, OR, {right}, <<{chance.randint(1, 31)}]"
        return f"alu[{target}, {left}, OR, {chance.randint(0, 255)}]"

    def command(self, file: str, number: int) -> tuple[str, str]:
        """A command for some registers of a group from its first on, and which kind of signal it raises."""
        size = self.have.files[file][number]
        one, other = self.two(True)
        address = self.chance.choice([f"{one}, {other}", f"{one}, 8", f"{other}, 0"])
        how = "read" if file.endswith("r") else "write"
        if file.startswith("$$"):
            return f"dram[{how}, {file}{number}[0], {address}, {self.chance.randint(1, size // 2)}]", "pair"
        return f"sram[{how}, {file}{number}[0], {address}, {size}]", "single"

    def swap(self, command: tuple[str, str]) -> None:
        """The command, waited for at once, perhaps with filled slots."""
        text, kind = command
        slots = [self.plain() for _ in range(self.chance.choice([0, 0, 1, 2]))]
        name = self.chance.choice(self.paired() if kind == "pair" else self.signals())
        self.lines += [f"{text}, ctx_swap[{name}]" + (f", defer[{len(slots)}]" if slots else ""), *slots]

    def burst(self) -> None:
        """Several commands under way at once, waited for together or one after another."""
        singles, pairs, waited = self.signals(), self.paired(), []
        self.chance.shuffle(singles)
        self.chance.shuffle(pairs)
        for file in self.chance.sample(["$r", "$w", "$$r", "$$w"], 4):
            for number in range(len(self.have.files[file])):
                names = pairs if file.startswith("$$") else singles
                if names and self.chance.random() < 0.4 + self.pressure / 2:
                    waited.append(names.pop())
                    self.lines.append(f"{self.command(file, number)[0]}, sig_done[{waited[-1]}]")
                    if self.chance.random() < 0.4:
                        self.lines.append(self.quiet())
        self.chance.shuffle(waited)
        while waited:
            share = self.chance.randint(1, len(waited))
            slots = [self.quiet() for _ in range(self.chance.choice([0, 0, 1, 2]))]
            defer = f", defer[{len(slots)}]" if slots else ""
            self.lines += [f"ctx_arb[{', '.join(waited[:share])}]{defer}", *slots]
            del waited[:share]

    def quiet(self) -> str:
        """An instruction that touches no transfer register."""
        left, right = self.two(False)
        return f"alu[{self.gpr()}, {left}, +, {right}]"

    def group(self, depth: int) -> None:
        """A few lines that belong together."""
        chance = self.chance
        kind = chance.randint(0, 11)
        if kind <= 3:
            self.lines += [self.plain() for _ in range(chance.randint(1, 6))]
        elif kind <= 5 and depth < 3:
            self.count += 1
            label, slots = f"l{self.count}#", [self.plain() for _ in range(chance.choice([0, 0, 1, 2]))]
            self.lines.append(f"{label}:")
            for _ in range(chance.randint(1, 3)):
                self.group(depth + 1)
            defer = f", defer[{len(slots)}]" if slots else ""
            self.lines += [f"alu[--, {self.gpr()}, -, 1]", f"bne[{label}]{defer}", *slots]
        elif kind <= 7 and depth < 3:
            self.count += 1
            label, slots = f"l{self.count}#", [self.plain() for _ in range(chance.choice([0, 0, 1, 3]))]
            defer = f", defer[{len(slots)}]" if slots else ""
            self.lines += [chance.choice([f"beq[{label}]", f"br_bset[{self.gpr()}, 3, {label}]"]) + defer, *slots]
            for _ in range(chance.randint(1, 3)):
                self.group(depth + 1)
            self.lines.append(f"{label}:")
        elif kind == 8:
            file = chance.choice(["$r", "$w", "$$r", "$$w"])
            self.swap(self.command(file, chance.randrange(len(self.have.files[file]))))
        elif kind == 9 and depth == 0:
            self.subroutines += 1
            number = self.subroutines
            self.lines += [f"load_addr[a0, back{number}#]", "br[sub#]", f"back{number}#:"]
        else:
            self.burst()

    def subroutine(self, first: int) -> None:
        """What the calls lead to, before the body, which jumps over it."""
        kept, self.lines = self.lines, []
        for _ in range(self.chance.randint(1, 4)):
            line = self.plain()
            if not line.split("[")[1].startswith("a0,"):
                self.lines.append(line)
        targets = ", ".join(f"back{number + 1}#" for number in range(self.subroutines))
        code = ["br[body#]", "sub#:", *self.lines, f"rtn[a0], targets[{targets}]", "body#:"]
        self.lines = kept[:first] + code + kept[first:]
