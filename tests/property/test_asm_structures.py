"""Generated programs of nested structures, loops left and continued, and subroutines: what the emulator leaves in every variable
is what a Python interpreter of the same tree leaves, with registers allocated by live range and shared as the allocator likes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ixpemu import Chip
from ixpemu.asm import checker
from ixpemu.asm.pipeline import assemble_program
from ixpemu.isa import instruction_set
from tests.support.conditions import EDGES

MASK = 0xFFFF_FFFF
LEFT, RIGHT = ("a", "b", "c"), ("x", "y", "z")      # two of one row never meet in an instruction, so that there are always banks
NAMES = (*LEFT, *RIGHT)
SUBROUTINES = ("first", "second")                   # the second may call the first
OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": lambda p, q: p + q, "-": lambda p, q: p - q, "AND": lambda p, q: p & q, "OR": lambda p, q: p | q,
    "XOR": lambda p, q: p ^ q,
}
RELATIONS: dict[str, Callable[[int, int], bool]] = {
    "==": lambda p, q: p == q, "!=": lambda p, q: p != q, "<": lambda p, q: p < q, "<=": lambda p, q: p <= q,
    ">": lambda p, q: p > q, ">=": lambda p, q: p >= q,
}
Values = dict[str, int]


class Left(Exception):
    """A loop is left (True) or continued (False)."""


@dataclass
class Text:
    """A program as it is written down. `count`: of labels and loop counters."""

    lines: list[str] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=itertools.count)
    counters: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Condition:
    """`left relation right`, or two joined; `signed` is the directive's."""

    parts: tuple[tuple[str, str, str | int], ...]
    joined: str
    signed: bool

    def text(self) -> str:
        return f" {self.joined} ".join(f"{left} {relation} {right}" for left, relation, right in self.parts)

    def holds(self, values: Values) -> bool:
        found = [self._holds(values, *part) for part in self.parts]
        return all(found) if self.joined == "&&" else any(found)

    def _holds(self, values: Values, left: str, relation: str, right: str | int) -> bool:
        pair = [values[left], values[right] if isinstance(right, str) else right & MASK]
        if self.signed:
            pair = [value - (1 << 32) if value >> 31 else value for value in pair]
        return RELATIONS[relation](*pair)

    @property
    def ending(self) -> str:
        return "" if self.signed else "_unsigned"


@dataclass(frozen=True)
class Set:
    """`target = left operation right`."""

    target: str
    left: str
    operation: str
    right: str | int

    def write(self, text: Text) -> None:
        text.lines.append(f"alu[{self.target}, {self.left}, {self.operation}, {self.right}]")

    def run(self, values: Values) -> None:
        right = values[self.right] if isinstance(self.right, str) else self.right
        values[self.target] = OPERATIONS[self.operation](values[self.left], right) & MASK


@dataclass(frozen=True)
class If:
    """Conditions with their blocks, and what is done otherwise."""

    branches: tuple[tuple[Condition, tuple], ...]
    otherwise: tuple | None

    def write(self, text: Text) -> None:
        for number, (condition, block) in enumerate(self.branches):
            text.lines.append(f".{'el' if number else ''}if{condition.ending} ({condition.text()})")
            write(block, text)
        if self.otherwise is not None:
            text.lines.append(".else")
            write(self.otherwise, text)
        text.lines.append(".endif")

    def run(self, values: Values) -> None:
        for condition, block in self.branches:
            if condition.holds(values):
                run(block, values)
                return
        run(self.otherwise or (), values)


@dataclass(frozen=True)
class Loop:
    """At most `most` rounds, tested in front or behind."""

    behind: bool
    most: int
    condition: Condition
    block: tuple

    def write(self, text: Text) -> None:
        counter = f"n{next(text.numbers)}"
        text.counters.append(counter)
        condition, ending = self.condition.text(), self.condition.ending
        front = ".repeat" if self.behind else f".while{ending} ({counter} < {self.most} && ({condition}))"
        text.lines += [f"immed[{counter}, 0]", front]
        text.lines.append(f"alu[{counter}, {counter}, +, 1]")
        write(self.block, text)
        text.lines.append(f".until{ending} ({counter} >= {self.most} || ({condition}))" if self.behind else ".endw")

    def run(self, values: Values) -> None:
        rounds = 0
        while True:
            if not self.behind and not (rounds < self.most and self.condition.holds(values)):
                return
            rounds += 1
            try:
                run(self.block, values)
            except Left as left:
                if left.args[0]:
                    return
            if self.behind and (rounds >= self.most or self.condition.holds(values)):
                return


@dataclass(frozen=True)
class Leave:
    """`.break` or `.continue`."""

    out: bool

    def write(self, text: Text) -> None:
        text.lines.append(".break" if self.out else ".continue")

    def run(self, values: Values) -> None:
        raise Left(self.out)


@dataclass(frozen=True)
class Call:
    """A call of a subroutine; what it does stands in `BODIES` while a program is run."""

    name: str

    def write(self, text: Text) -> None:
        label = f"back{next(text.numbers)}#"
        text.lines += [f"load_addr[return_{self.name}, {label}]", f"br[{self.name}#]", f"{label}:"]

    def run(self, values: Values) -> None:
        run(BODIES[self.name], values)


BODIES: dict[str, tuple] = {}


def write(block: tuple, text: Text) -> None:
    for statement in block:
        statement.write(text)


def run(block: tuple, values: Values) -> None:
    for statement in block:
        statement.run(values)


def conditions() -> st.SearchStrategy[Condition]:
    constants = st.sampled_from(EDGES).map(lambda value: value - (1 << 32) if value >> 31 else value)
    part = st.one_of(
        st.tuples(st.sampled_from(NAMES), st.sampled_from(list(RELATIONS)), constants),
        st.tuples(st.sampled_from(LEFT), st.sampled_from(list(RELATIONS)), st.sampled_from(RIGHT)),
    )
    return st.builds(Condition, st.lists(part, min_size=1, max_size=2).map(tuple), st.sampled_from(("&&", "||")), st.booleans())


SETS = st.one_of(
    st.builds(Set, st.sampled_from(NAMES), st.sampled_from(NAMES), st.sampled_from(list(OPERATIONS)), st.integers(0, 255)),
    st.builds(Set, st.sampled_from(NAMES), st.sampled_from(LEFT), st.sampled_from(list(OPERATIONS)), st.sampled_from(RIGHT)),
)


def blocks(depth: int, loop: bool, calls: tuple[str, ...]) -> st.SearchStrategy[tuple]:
    """A few statements; `loop`: inside one; `calls`: the subroutines that may be called."""
    choices = [SETS, SETS]
    if calls:
        choices.append(st.builds(Call, st.sampled_from(calls)))
    if depth:
        inner = blocks(depth - 1, loop, calls)
        looped = blocks(depth - 1, True, calls)
        choices += [
            st.builds(If, st.lists(st.tuples(conditions(), inner), min_size=1, max_size=2).map(tuple), st.none() | inner),
            st.builds(Loop, st.booleans(), st.integers(1, 4), conditions(), looped),
        ]
    if loop:
        leave = st.builds(Leave, st.booleans()).map(lambda one: (one,))
        choices.append(st.builds(If, st.tuples(st.tuples(conditions(), leave)), st.none()))
    return st.lists(st.one_of(choices), max_size=4).map(tuple)


def program(body: tuple, subroutines: dict[str, tuple], start: Values) -> str:
    """The whole text: variables with their values, the body, the values into local memory, the subroutines."""
    text = Text()
    write(body, text)
    main = text.lines
    text.lines = []
    for name, block in subroutines.items():
        text.lines += [".subroutine", f"{name}#:"]
        write(block, text)
        text.lines += [f"rtn[return_{name}]", ".endsub"]
    head = [f".reg {' '.join([*NAMES, *(f'return_{name}' for name in subroutines), *text.counters])}"]
    for name, value in start.items():
        head += [f"immed[{name}, {value & 0xFFFF}]", f"immed_w1[{name}, {value >> 16}]"]
    tail = [f"alu[*l$index0[{place}], --, B, {name}]" for place, name in enumerate(NAMES)]
    return "\n".join([*head, *main, *tail, "ctx_arb[kill]", ".if (0)", *text.lines, ".endif", ""])


@given(
    blocks(3, False, SUBROUTINES), blocks(1, False, ()), blocks(1, False, ("first",)),
    st.fixed_dictionaries({name: st.sampled_from(EDGES) for name in NAMES}),
)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_structures_do_what_they_say(body: tuple, first: tuple, second: tuple, start: Values) -> None:
    BODIES.update(first=first, second=second)
    wanted = dict(start)
    run(body, wanted)
    text = program(body, {"first": first, "second": second}, start)
    for moved in (False, True):
        assembly = assemble_program(text=text, vnops=moved, optimise=moved)
        assert checker.check(assembly.program, list(assembly.image.values), instruction_set()) == []
        chip = Chip()
        chip.load(0, assembly.image, start=False)
        chip.start(0, 1)
        assert chip.run(cycles=400_000).reason == "quiet"
        assert dict(zip(NAMES, chip.me[0].local_memory[: len(NAMES)].tolist(), strict=True)) == wanted
