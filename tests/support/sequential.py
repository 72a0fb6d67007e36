"""Programs that keep all the rules, and what they must compute: every thread by itself, one instruction after the other.

A program here never touches a transfer register that a command still uses, waits for every signal, and has memory, a ring and
local memory of its own; so whatever the order in which sixteen threads run and units answer, it must leave what a machine
leaves that does each command at once. That machine is `Model`: plain Python integers, no times, nothing of the engine or of isa/.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

WORD = 1 << 32
SPAN = 0x100                # bytes of every memory that a thread has
LOCAL = 32                  # words of local memory of a thread
RING = 128                  # words of its ring, which on the chip, too, loses the oldest when it is full
GPRS = [f"{bank}{k}" for bank in "ab" for k in range(5)]


def _signed(value: int) -> int:
    return value - WORD if value >> 31 else value


Flags = tuple[bool, bool, bool, bool]                   # N, Z, V, C


def _sum(x: int, y: int, carry: int = 0) -> tuple[int, Flags]:
    total = x + y + carry
    exact = _signed(x) + _signed(y) + carry
    result = total % WORD
    return result, (result >> 31 == 1, result == 0, not -(2**31) <= exact < 2**31, total >= WORD)


def _logic(result: int) -> tuple[int, Flags]:
    return result % WORD, (result >> 31 == 1, result == 0, False, False)


ALU: dict[str, Callable[[int, int, int], tuple[int, Flags]]] = {
    "+": lambda a, b, c: _sum(a, b), "-": lambda a, b, c: _sum(a, b ^ 0xFFFFFFFF, 1), "+carry": _sum,
    "AND": lambda a, b, c: _logic(a & b), "OR": lambda a, b, c: _logic(a | b), "XOR": lambda a, b, c: _logic(a ^ b),
    "B": lambda a, b, c: _logic(b),
}
BRANCH: dict[str, Callable[[bool, bool, bool, bool], bool]] = {
    "beq": lambda n, z, v, c: z, "bne": lambda n, z, v, c: not z, "bmi": lambda n, z, v, c: n, "bhs": lambda n, z, v, c: c,
    "blo": lambda n, z, v, c: not c, "bge": lambda n, z, v, c: n == v, "blt": lambda n, z, v, c: n != v,
}


@dataclass(slots=True)
class Model:
    """One thread: registers by name (`$3` to read, `out 3` to write), its flags and its share of every memory."""

    registers: dict[str, int]
    memory: dict[str, list[int]]
    local: list[int]
    ring: deque[int] = field(default_factory=deque)
    flags: Flags = (False, False, False, False)

    def read(self, name: str) -> int:
        if name.startswith("*"):
            return self.local[int(name[name.index("[") + 1:-1])]
        return int(name) if name.isdecimal() else self.registers[name]

    def write(self, name: str, value: int) -> None:
        if name.startswith("*"):
            self.local[int(name[name.index("[") + 1:-1])] = value
        elif name.startswith("$"):
            self.registers[f"out {name}"] = value
        elif name != "--":
            self.registers[name] = value


@dataclass(frozen=True, slots=True)
class Step:
    """A line of text and what it does to a model."""

    text: str
    act: Callable[[Model], None]


@dataclass(frozen=True, slots=True)
class Branch:
    """A comparison, a conditional branch over `skipped`, and `slots` that run either way.

    Condition codes belong to the microengine: what another context leaves in them is nobody's business, so they are set anew
    before they are used.
    """

    compare: Step
    name: str
    slots: tuple[Step, ...]
    skipped: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Command:
    """A command with its slots, behind which it takes effect."""

    text: str
    slots: tuple[Step, ...]
    finish: Callable[[Model], None]


Piece = Step | Branch | Command


@dataclass(frozen=True, slots=True)
class Program:
    """What all threads run, `turns` times."""

    pieces: tuple[Piece, ...]
    turns: int

    @property
    def text(self) -> str:
        lines = ["local_csr_wr[ACTIVE_LM_ADDR_0, a11]", f"immed[a15, {self.turns}]", "nop", "nop", "turn#:"]
        for number, piece in enumerate(self.pieces):
            match piece:
                case Step(text, _):
                    lines.append(text)
                case Branch(compare, name, slots, skipped):
                    defer = f", defer[{len(slots)}]" if slots else ""
                    lines += [compare.text, f"{name}[skip{number}#]{defer}", *(step.text for step in (*slots, *skipped)),
                              f"skip{number}#:"]
                case Command(text, slots, _):
                    lines += [text + (f", defer[{len(slots)}]" if slots else ""), *(step.text for step in slots)]
        return "\n".join([*lines, "alu[a15, a15, -, 1]", "bne[turn#]", "ctx_arb[kill]"])

    def run(self, model: Model) -> None:
        """What it must do to a thread."""
        for _ in range(self.turns):
            for piece in self.pieces:
                match piece:
                    case Step(_, act):
                        act(model)
                    case Branch(compare, name, slots, skipped):
                        compare.act(model)
                        taken = BRANCH[name](*model.flags)
                        for step in (*slots, *(() if taken else skipped)):
                            step.act(model)
                    case Command(_, slots, finish):
                        for step in slots:
                            step.act(model)
                        finish(model)


def _alu(target: str, left: str, operation: str, right: str) -> Step:
    def act(model: Model) -> None:
        result, model.flags = ALU[operation](model.read(left), model.read(right), int(model.flags[3]))
        model.write(target, result)

    return Step(f"alu[{target}, {left}, {operation}, {right}]", act)


def _name(class_: str, number: int) -> str:
    return f"{class_}{number}"


def _read(unit: str, first: int, offset: int, count: int) -> Callable[[Model], None]:
    file, words = ("$$", 2 * count) if unit == "dram" else ("$", count)

    def finish(model: Model) -> None:
        for k in range(words):
            model.registers[_name(file, first + k)] = model.memory[unit][offset // 4 + k]

    return finish


def _write(unit: str, first: int, offset: int, count: int) -> Callable[[Model], None]:
    file, words = ("$$", 2 * count) if unit == "dram" else ("$", count)

    def finish(model: Model) -> None:
        for k in range(words):
            model.memory[unit][offset // 4 + k] = model.registers[f"out {_name(file, first + k)}"]

    return finish


def _get(first: int, count: int) -> Callable[[Model], None]:
    def finish(model: Model) -> None:
        for k in range(count):
            model.registers[_name("$", first + k)] = model.ring.popleft() if model.ring else 0

    return finish


def _put(first: int, count: int) -> Callable[[Model], None]:
    def finish(model: Model) -> None:
        model.ring.extend(model.registers[f"out {_name('$', first + k)}"] for k in range(count))

    return finish


@dataclass(slots=True)
class _Busy:
    """Transfer registers that commands under way use, by signal."""

    reads: dict[int, set[str]] = field(default_factory=dict)        # filled: not to be read
    writes: dict[int, set[str]] = field(default_factory=dict)       # pulled: not to be written

    def free(self, names: Sequence[str], kind: dict[int, set[str]]) -> list[str]:
        taken = set().union(*kind.values())
        return [name for name in names if name not in taken]


@st.composite
def _steps(draw: st.DrawFn, busy: _Busy, most: int) -> tuple[Step, ...]:
    """Additions and the like on registers that are the program's own at this point."""
    short = [f"${k}" for k in range(8)] + [f"$${k}" for k in range(8)] + [f"*l$index0[{k}]" for k in range(8)]
    lefts = ["a0", "a1", "a2", "a3", "a4", *busy.free(short, busy.reads)]
    targets = [*GPRS, "--", *busy.free(short, busy.writes)]
    rights = ["b0", "b1", "b2", "b3", "b4", "0", "1", "200"]
    made: list[Step] = []
    for _ in range(draw(st.integers(0, most))):
        # A carry is one's own only from the instruction before.
        operation = draw(st.sampled_from([name for name in sorted(ALU) if made or name != "+carry"]))
        made.append(_alu(draw(st.sampled_from(targets)), draw(st.sampled_from(lefts)), operation, draw(st.sampled_from(rights))))
    return tuple(made)


@st.composite
def programs(draw: st.DrawFn, most: int = 14) -> Program:
    """A program of up to `most` groups, all of whose commands are waited for."""
    busy = _Busy()
    pieces: list[Piece] = []
    for kind in draw(st.lists(st.integers(0, 9), min_size=1, max_size=most)):
        if kind <= 2:
            pieces += draw(_steps(busy, 3))
        elif kind == 3:
            slots, skipped = draw(_steps(busy, 3)), draw(_steps(busy, 3))
            compare = _alu("--", draw(st.sampled_from(["a0", "a1"])), "-", draw(st.sampled_from(["b0", "b1", "3"])))
            pieces.append(Branch(compare, draw(st.sampled_from(sorted(BRANCH))), slots, skipped))
        elif kind <= 8:
            pieces += draw(_commands(busy))
        elif busy.reads:
            pieces.append(draw(_waits(busy)))
    while busy.reads:
        pieces.append(draw(_waits(busy)))
    return Program(tuple(pieces), draw(st.integers(1, 3)))


@st.composite
def _waits(draw: st.DrawFn, busy: _Busy) -> Step:
    chosen = draw(st.lists(st.sampled_from(sorted(busy.reads)), min_size=1, unique=True))
    for signal in chosen:
        del busy.reads[signal], busy.writes[signal]
    # The odd signal of a DRAM command comes with the even one; nobody else uses it.
    return Step(f"ctx_arb[{', '.join(f's{signal}' for signal in chosen)}]", lambda model: None)


@st.composite
def _commands(draw: st.DrawFn, busy: _Busy) -> list[Piece]:
    """One command, waited for at once or later."""
    free = [signal for signal in (2, 4, 6, 8) if signal not in busy.reads]
    unit = draw(st.sampled_from(["sram", "sram", "scratch", "dram", "ring"]))
    file, factor = ("$$", 2) if unit == "dram" else ("$", 1)
    count = draw(st.integers(1, 3))
    first = draw(st.integers(0, 8 - count * factor))
    names = [f"{file}{first + k}" for k in range(count * factor)]
    fills = draw(st.booleans())
    if not free or len(busy.free(names, busy.reads if fills else busy.writes)) < len(names):
        return []
    signal = draw(st.sampled_from(free))
    offset = draw(st.integers(0, 5)) * 4 * factor
    if unit == "ring":
        text = f"scratch[{'get' if fills else 'put'}, ${first}, b10, 0, {count}]"
        finish = (_get if fills else _put)(first, count)
    else:
        text = f"{unit}[{'read' if fills else 'write'}, {file}{first}, a10, {offset}, {count}]"
        finish = (_read if fills else _write)(unit, first, offset, count)
    if draw(st.booleans()):
        # Slots may write what this very command pulls, and not read what it fills.
        inside = _Busy(busy.reads | ({signal: set(names)} if fills else {}), busy.writes)
        return [Command(f"{text}, ctx_swap[s{signal}]", draw(_steps(inside, 2)), finish)]
    busy.reads[signal] = set(names) if fills else set()
    busy.writes[signal] = set() if fills else set(names)
    return [Command(f"{text}, sig_done[s{signal}]", (), finish)]


def thread(number: int, seed: int) -> Model:
    """Thread `number` before its program: everything it has, by chance."""
    pick = random.Random(seed * 100 + number)
    registers = {name: pick.choice((pick.getrandbits(32), pick.getrandbits(5))) for name in GPRS}
    for prefix in ("$", "$$"):
        for k in range(8):
            registers[f"{prefix}{k}"], registers[f"out {prefix}{k}"] = pick.getrandbits(32), pick.getrandbits(32)
    memory = {unit: [pick.getrandbits(32) for _ in range(SPAN // 4)] for unit in ("sram", "scratch", "dram")}
    local, ring = [pick.getrandbits(32) for _ in range(LOCAL)], deque((pick.getrandbits(32) for _ in range(3)), RING)
    return Model(registers, memory, local, ring)
