"""Walks a program by names and its words by registers, side by side along one path, and says where they part.

Values are tokens: what an instruction computes is a new one, what a copy passes on is the old one. A command reads and fills its
registers at any moment between its issue and the wait for its signal, whichever chance says, and signals come in any order. A
walk proves a difference and never its absence; it shares nothing with the checker of allocations, which proves the absence and
may see a difference where no path has one. Without indirect references, directives about data flow, and tests of signals.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from ixpemu.asm.program import Half, Instruction, Program
from ixpemu.isa import Decoded, Facts, InstructionSet
from ixpemu.isa.model import Operation, Register, RegisterClass, Signal, Target

Name = tuple[str, str]
Cell = tuple[str, str | None, int]
_KINDS = {
    RegisterClass.GPR: "gpr", RegisterClass.ABSOLUTE: "@", RegisterClass.NEIGHBOR: "n$", RegisterClass.SRAM: "$",
    RegisterClass.DRAM: "$$",
}


class Parted(Exception):
    """The words do not do what the names do."""


@dataclass(eq=False, slots=True)
class Flight:
    """A command under way."""

    sends: list[tuple[Name, Cell]]
    fills: list[tuple[Name, Cell]]
    signal: str | None
    numbers: frozenset[int]


def difference(program: Program, words: list[int], isa: InstructionSet, seed: int, steps: int) -> str | None:
    """Where the words depart from the program on one path; None if they do not on this one."""
    decoded = [isa.decode(word, program.contexts) for word in words]
    if any(one is None for one in decoded):
        return "an illegal word"
    walk = _Walk(program, [one for one in decoded if one is not None], isa, random.Random(seed))
    try:
        walk.run(steps)
    except Parted as parted:
        return str(parted)
    return None


class _Walk:
    def __init__(self, program: Program, decoded: list[Decoded], isa: InstructionSet, chance: random.Random) -> None:
        self.program, self.decoded, self.chance = program, decoded, chance
        self.facts = [isa.facts(one.operation) for one in program.instructions]
        self.names: dict[Name, object] = {}
        self.cells: dict[Cell, object] = {}
        self.flights: list[Flight] = []
        self.raised: set[int] = set()
        self.fresh = 0

    def run(self, steps: int) -> None:
        """Follows one path for at most so many instructions."""
        place, owner, slots = 0, -1, 0
        for _ in range(steps):
            if place >= len(self.decoded):
                return
            for flight in list(self.flights):
                if self.chance.random() < 0.1:
                    self.complete(flight)
            self.execute(place)
            facts = self.facts[place]
            if owner < 0 and (facts.branch is not None or facts.ends or facts.waits):
                owner, slots = place, facts.defer
            elif owner >= 0:
                slots -= 1
            place += 1
            if owner >= 0 and slots == 0:
                following = self.leave(owner, place)
                if following is None:
                    return
                place, owner = following, -1

    def token(self) -> int:
        """A value that nothing had before."""
        self.fresh += 1
        return self.fresh

    def at(self, cell: Cell) -> object:
        """What a register has; before anything is written, something of its own."""
        return self.cells.get(cell, cell)

    def execute(self, place: int) -> None:
        """Reads and writes of one instruction; a command sets out."""
        instruction, facts, word = self.program.instructions[place], self.facts[place], self.decoded[place]
        wanted = [self.names.get(name) for name in named(instruction.operation, facts.reads, False)]
        found = [self.at(cell) for cell in numbered(word.operation, word.facts.reads, False)]
        orders = [found, found[::-1]] if facts.transfer is not None else [found]
        if len(wanted) != len(found) or not any(
            all(one in (None, other) for one, other in zip(wanted, order, strict=True)) for order in orders
        ):
            raise Parted(f"{place}: {instruction.source} reads something else")
        value = self.token()
        to_name: object = value
        to_cell: object = value
        if facts.copies is not None and (names := named(instruction.operation, facts.copies[1:], False)):
            to_name = self.names.get(names[0])
        if word.facts.copies is not None and (cells := numbered(word.operation, word.facts.copies[1:], False)):
            to_cell = self.at(cells[0])
        for name, cell in zip(
            named(instruction.operation, facts.writes, True), numbered(word.operation, word.facts.writes, True), strict=True
        ):
            if to_name is None:
                self.names.pop(name, None)
            else:
                self.names[name] = to_name
            self.cells[cell] = to_cell
        flight = self.sets_out(place, instruction, facts, word)
        if flight is not None and not facts.waits:
            self.flights.append(flight)

    def sets_out(self, place: int, instruction: Instruction, facts: Facts, word: Decoded) -> Flight | None:
        """The command that an instruction sends, if it does."""
        sends: list[tuple[Name, Cell]] = []
        fills: list[tuple[Name, Cell]] = []
        transfer = facts.transfer
        if transfer is not None and transfer.operand is not None and word.facts.transfer is not None:
            name = instruction.operation.operands[transfer.operand]
            cell = word.operation.operands[word.facts.transfer.operand or 0]
            assert isinstance(name, Register) and isinstance(cell, Register) and name.name is not None and cell.number is not None
            for into in ((False,), (True,), (False, True))[("out", "in", "both").index(transfer.direction)]:
                half = "read" if into else "write"
                kind = f"{_KINDS[name.cls]} {half}"
                run = self.run_of(name.name, Half.READ if into else Half.WRITE)[: transfer.registers(into)]
                (fills if into else sends).extend(
                    ((one, kind), (kind, None, cell.number + distance)) for distance, one in enumerate(run)
                )
        if facts.signal is None:
            return None
        token, argument = facts.signal
        signal = instruction.operation.tokens[token].arguments[argument]
        token, argument = word.facts.signal or (0, 0)
        number = word.operation.tokens[token].arguments[argument]
        assert isinstance(signal, Signal) and isinstance(number, Signal) and number.number is not None
        return Flight(sends, fills, signal.name, frozenset(range(number.number, number.number + 1 + facts.signal_pair)))

    def run_of(self, name: str, half: Half) -> list[str]:
        """The name and those that follow it in its order."""
        for order in self.program.xfer_orders:
            if name in order.names and order.half in (Half.BOTH, half):
                return list(order.names[order.names.index(name) :])
        return [name]

    def complete(self, flight: Flight) -> None:
        """The unit reads, fills and raises."""
        if flight in self.flights:
            self.flights.remove(flight)
        for name, cell in flight.sends:
            if self.names.get(name) not in (None, self.at(cell)):
                raise Parted(f"{name[0]} is sent with another value")
        for name, cell in flight.fills:
            self.names[name] = self.cells[cell] = self.token()
        self.raised |= flight.numbers

    def leave(self, owner: int, following: int) -> int | None:
        """Behind the slots: the wait, then where the path goes on."""
        facts, instruction = self.facts[owner], self.program.instructions[owner]
        if facts.waits:
            self.wait(owner)
        if facts.branch is None:
            return None if facts.ends else following
        if facts.branch.indirect:
            listed = [one for token in instruction.operation.tokens for one in token.arguments if isinstance(one, Target)]
        else:
            listed = [one for one in (instruction.operation.operands[target] for target in facts.branch.targets)
                      if isinstance(one, Target)]
        places = [self.program.labels[one.name] for one in listed if one.name is not None] + ([] if facts.ends else [following])
        return self.chance.choice(places)

    def wait(self, owner: int) -> None:
        """Sleeps until the awaited commands are done, and not before, and does not sleep for ever."""
        instruction, facts, word = self.program.instructions[owner], self.facts[owner], self.decoded[owner]
        own = self.sets_out(owner, instruction, facts, word)
        if own is not None:
            self.flights.append(own)
        awaited = {signals(instruction.operation, place).name for place in facts.waits}
        mask = {signals(word.operation, place).number for place in word.facts.waits}
        if own is not None:
            mask |= own.numbers
        for flight in self.flights:
            others: set[int | None] = set(self.raised)
            for other in self.flights:
                if other is not flight:
                    others |= other.numbers
            if flight.signal in awaited and mask <= others:
                raise Parted(f"{owner}: wakes before {flight.signal}")
        for flight in self.chance.sample(self.flights, len(self.flights)):
            if flight.signal in awaited:
                self.complete(flight)
        if not mask <= self.raised:
            raise Parted(f"{owner}: sleeps for ever")
        self.raised -= {number for number in mask if number is not None}


def signals(operation: Operation, place: tuple[int | None, int]) -> Signal:
    """The signal at a place of an operation."""
    token, argument = place
    found = operation.operands[argument] if token is None else operation.tokens[token].arguments[argument]
    assert isinstance(found, Signal)
    return found


def named(operation: Operation, indexes: tuple[int, ...], write: bool) -> list[Name]:
    """The names among some operands."""
    registers = (operation.operands[index] for index in indexes)
    return [(one.name, _kind(one, write)) for one in registers if isinstance(one, Register) and one.name is not None]


def numbered(operation: Operation, indexes: tuple[int, ...], write: bool) -> list[Cell]:
    """The physical registers among some operands."""
    registers = (operation.operands[index] for index in indexes)
    return [
        (_kind(one, write), one.bank, one.number) for one in registers
        if isinstance(one, Register) and one.cls in _KINDS and one.number is not None
    ]


def _kind(register: Register, write: bool) -> str:
    kind = _KINDS[register.cls]
    return f"{kind} {'write' if write else 'read'}" if kind in ("$", "$$") else kind
