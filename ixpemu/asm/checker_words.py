"""What one encoded word does with the names of its source instruction: names and physical cells, paired operand by operand.

Part of the checker of allocations; the walk over the program is `checker`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ixpemu.asm.program import Half, Program
from ixpemu.isa import Decoded, Facts, InstructionSet
from ixpemu.isa.model import Nothing, Operation, Register, RegisterClass, Signal, Target

_FILES = {
    RegisterClass.GPR: ("gpr", "gpr"), RegisterClass.ABSOLUTE: ("gpr-absolute", "gpr-absolute"),
    RegisterClass.NEIGHBOR: ("neighbor", "neighbor"), RegisterClass.SRAM: ("sram-read", "sram-write"),
    RegisterClass.DRAM: ("dram-read", "dram-write"),
}


_FIRST = Register(RegisterClass.GPR, bank="a", number=0)


@dataclass(frozen=True, slots=True)
class Read:
    """A name, with the file it is in, and the cell in which a word reads or writes it."""

    name: tuple[str, str]
    cell: int


@dataclass(frozen=True, slots=True)
class Pairing:
    """One word. `turned`: the reads the other way round, where the word does not show which is which (a sum of two addresses).
    `sends`, `fills`: transfer registers its unit reads and writes. `raised`: the completion signal's name and numbers; `awaited`:
    names waited for, `mask`: numbers waited for; `tested`: the signal a branch tests."""

    reads: tuple[Read, ...]
    writes: tuple[Read, ...]
    turned: tuple[Read, ...] = ()
    sends: tuple[Read, ...] = ()
    fills: tuple[Read, ...] = ()
    raised: tuple[str, frozenset[int]] | None = None
    awaited: tuple[str, ...] = ()
    mask: frozenset[int] = frozenset()
    tested: tuple[str, frozenset[int]] | None = None

    def signals(self) -> Iterator[tuple[str, frozenset[int]]]:
        """Names of signals whose numbers the word shows."""
        if self.raised is not None:
            yield self.raised
        if self.tested is not None:
            yield self.tested


def _cell(register: Register) -> int:
    return (128 if register.bank == "b" else 0) + (register.number or 0)


def lies_in(read: Read, operand: object) -> bool:
    """Whether `operand` of a word is a relative general purpose register, and the one that the name is paired with."""
    if not isinstance(operand, Register) or operand.cls is not RegisterClass.GPR:
        return False
    return read.name[1] == "gpr" and read.cell == _cell(operand)


def _registers(operation: Operation, indexes: tuple[int, ...], symbolic: bool) -> list[Register]:
    """The allocated registers among the operands: those with a name in source, those with a number in a word."""
    out = []
    for index in indexes:
        operand = operation.operands[index]
        if isinstance(operand, Register) and operand.cls in _FILES and (operand.name is not None or not symbolic):
            out.append(operand)
    return out


def _pair(names: list[Register], places: list[Register], write: bool) -> tuple[Read, ...] | None:
    if [one.cls for one in names] != [one.cls for one in places]:
        return None
    return tuple(
        Read((name.name or "", _FILES[name.cls][write]), _cell(place)) for name, place in zip(names, places, strict=True)
    )


def _read_anyhow(source: Operation, word: Operation) -> Operation:
    """The word with a0 where the source has an operand that a word shows as left out: the field is the same, and it is read."""
    if len(source.operands) != len(word.operands):
        return word
    shown = (_FIRST if isinstance(there, Nothing) and isinstance(wanted, Register) else there
             for wanted, there in zip(source.operands, word.operands, strict=True))
    return replace(word, operands=tuple(shown))


def match(program: Program, index: int, decoded: Decoded, isa: InstructionSet) -> Pairing | str:
    """The pairing of instruction `index` with its word, or what does not fit."""
    source, word = program.instructions[index].operation, decoded.operation
    wanted, found = isa.facts(source), decoded.facts
    names, places = _registers(source, wanted.reads, True), _registers(word, found.reads, False)
    reads = _pair(names, places, False)
    if reads is None:
        reads = _pair(names, _registers(_read_anyhow(source, word), wanted.reads, False), False)
    turned = _pair(names, places[::-1], False) if wanted.transfer is not None and len(places) == 2 else None
    writes = _pair(_registers(source, wanted.writes, True), _registers(word, found.writes, False), True)
    if (reads is None and turned is None) or writes is None:
        return "other registers than the source has"
    runs = _transfers(program, source, wanted, word, found)
    if isinstance(runs, str):
        return runs
    if (wanted.defer, wanted.ends, wanted.waits_any) != (found.defer, found.ends, found.waits_any):
        return "another flow of control than the source has"
    leaves = wanted.branch is not None or wanted.resume is not None
    if leaves and _targets(program, source) != [one.address for one in _all_targets(word)]:
        return "another label than the source has"
    awaited, mask = _waits(source, wanted), frozenset(_numbers(word, found))
    if wanted.signal is not None and wanted.waits and found.signal is not None:
        mask = _raised(source, wanted, word, found)[1]
    return Pairing(
        reads if reads is not None else turned or (), writes, turned or (), runs[0], runs[1],
        None if wanted.signal is None else _raised(source, wanted, word, found), awaited, mask,
        _tested(source, wanted, word, found),
    )


def _all_targets(operation: Operation) -> list[Target]:
    """Where a branch goes, or a swap goes on; not where a jump may go, which no word holds."""
    tokens = [one for one in operation.tokens if len(one.arguments) == 1 and one.name.lower() != "targets"]
    operands = [*operation.operands, *(one.arguments[0] for one in tokens)]
    return [one for one in operands if isinstance(one, Target)]


def _targets(program: Program, source: Operation) -> list[int | None]:
    """The addresses of the labels that a word has to hold."""
    return [one.address if one.name is None else program.labels.get(one.name) for one in _all_targets(source)]


def _transfers(
    program: Program, source: Operation, wanted: Facts, word: Operation, found: Facts
) -> tuple[tuple[Read, ...], tuple[Read, ...]] | str:
    """The registers that the unit reads, and those it fills."""
    ours, theirs = wanted.transfer, found.transfer
    if ours is None or ours.operand is None:
        return (), ()
    if theirs is None or theirs.operand is None or theirs.direction != ours.direction:
        return "another transfer than the source has"
    # Of the most that an indirect reference may ask for, the word's count holds what it can.
    if theirs.count != ours.count and not (ours.indirect and theirs.count < ours.count):
        return "another number of registers than the source has"
    name, place = source.operands[ours.operand], word.operands[theirs.operand]
    if not isinstance(name, Register) or not isinstance(place, Register) or name.name is None or name.cls != place.cls:
        return "another transfer register than the source has"
    runs: list[tuple[Read, ...]] = [(), ()]
    for fills in ((False,), (True,), (False, True))[("out", "in", "both").index(ours.direction)]:
        run = _run(program, name.name, ours.registers(fills), fills)
        file = _FILES[name.cls][not fills]
        runs[fills] = tuple(Read((one, file), _cell(place) + distance) for distance, one in enumerate(run))
    return runs[0], runs[1]


def _run(program: Program, name: str, count: int, fills: bool) -> list[str]:
    if count == 1:
        return [name]
    for order in program.xfer_orders:
        if name in order.names and order.half is not (Half.WRITE if fills else Half.READ):
            run = order.names[order.names.index(name) :][:count]
            if len(run) == count:
                return list(run)
    return [name]


def _signal(operation: Operation, token: int | None, argument: int) -> Signal | None:
    operand = operation.operands[argument] if token is None else operation.tokens[token].arguments[argument]
    return operand if isinstance(operand, Signal) else None


def _waits(source: Operation, wanted: Facts) -> tuple[str, ...]:
    signals = (_signal(source, token, argument) for token, argument in wanted.waits)
    return tuple(one.name for one in signals if one is not None and one.name is not None)


def _numbers(word: Operation, found: Facts) -> Iterator[int]:
    for token, argument in found.waits:
        signal = _signal(word, token, argument)
        if signal is not None and signal.number is not None:
            yield signal.number


def _raised(source: Operation, wanted: Facts, word: Operation, found: Facts) -> tuple[str, frozenset[int]]:
    name = _signal(source, *wanted.signal) if wanted.signal is not None else None
    place = _signal(word, *found.signal) if found.signal is not None else None
    number = place.number if place is not None and place.number is not None else 0
    return (name.name if name is not None and name.name else "?", frozenset(range(number, number + 1 + found.signal_pair)))


def _tested(source: Operation, wanted: Facts, word: Operation, found: Facts) -> tuple[str, frozenset[int]] | None:
    if wanted.consumes is None or found.consumes is None:
        return None
    name, place = _signal(source, None, wanted.consumes), _signal(word, None, found.consumes)
    if name is None or place is None or name.name is None or place.number is None:
        return None
    return name.name, frozenset({place.number})
