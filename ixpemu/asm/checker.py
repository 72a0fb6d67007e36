"""Judges an allocation by following the encoded words: is every name still where the words look for it?

Independent of the allocator: it shares no analysis with it, neither live ranges nor the flow graph. Registers, signals, branch
targets and defer slots are read back from the words; from the program come only the names. It walks the program as the machine
does, one instruction at a time with the exits of deferring instructions outstanding, and keeps for every name the cells that have
its value on all paths, and for every command under way what it may still touch. Whether the program makes sense it does not say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ixpemu.asm.calls import return_places
from ixpemu.asm.checker_words import Pairing, Read, lies_in, match
from ixpemu.asm.program import FactKind, FlowFact, Program
from ixpemu.isa import Decoded, InstructionSet
from ixpemu.isa.model import Target

Name = tuple[str, str]          # a name and the file it is looked for in
Exit = tuple[int, int]          # a deferring instruction, and how many slots are left


@dataclass(frozen=True, slots=True)
class Command:
    """A command under way: its signal's name and numbers, and the cells its unit reads or fills, with their names."""

    signal: str | None
    numbers: frozenset[int]
    cells: frozenset[tuple[Name, int]]


@dataclass(slots=True)
class State:
    """What is known at one place. `cells[name]`: where the name's value is on every path; a name that is absent has no value yet.
    `flying`: commands that may be under way, by the instruction that issued them."""

    cells: dict[Name, frozenset[int]] = field(default_factory=dict)
    flying: dict[int, Command] = field(default_factory=dict)

    def copy(self) -> State:
        """An independent copy."""
        return State(dict(self.cells), dict(self.flying))

    def meet(self, other: State) -> bool:
        """Keeps what holds on both paths; whether anything changed."""
        changed = False
        for name, cells in other.cells.items():
            kept = self.cells[name] & cells if name in self.cells else cells
            if self.cells.get(name) != kept:
                self.cells[name] = kept
                changed = True
        for issue, command in other.flying.items():
            if issue not in self.flying:
                self.flying[issue] = command
                changed = True
        return changed

    def take(self, one: Read, has_value: bool, certain: bool = True) -> None:
        """The cell gets the value of the name, or will get it: no other name has its value there any more. Not `certain`: the
        name may keep the value that it has, which must then be there too."""
        for name, cells in self.cells.items():
            if name[1] == one.name[1] and name != one.name and one.cell in cells:
                self.cells[name] = cells - {one.cell}
        if has_value and (certain or one.name not in self.cells):
            self.cells[one.name] = frozenset({one.cell})
        elif has_value:
            self.cells[one.name] &= {one.cell}

    def copy_value(self, target: Read, source: Read) -> None:
        """The cell of `target` gets what the cell of `source` has: every name whose value is there has it in both."""
        known = self.cells.get(source.name, frozenset())
        for name, cells in self.cells.items():
            if name[1] == target.name[1] and source.cell in cells:
                self.cells[name] = cells | {target.cell}
            elif name[1] == target.name[1] and target.cell in cells:
                self.cells[name] = cells - {target.cell}
        self.cells[target.name] = known | {target.cell} if source.cell in known else frozenset({target.cell})


def check(program: Program, words: Sequence[int], isa: InstructionSet) -> list[str]:
    """What is wrong with the words as an encoding of the program; empty if they are right."""
    if len(words) != len(program.instructions):
        return [f"{len(words)} words for {len(program.instructions)} instructions"]
    checker = _Checker(program, isa)
    for index, word in enumerate(words):
        decoded = isa.decode(word, program.contexts)
        if decoded is None:
            return [f"word {index} is illegal"]
        pairing = match(program, index, decoded, isa)
        if isinstance(pairing, str):
            return [f"word {index}: {pairing}"]
        checker.decoded.append(decoded)
        checker.pairings.append(pairing)
    checker.check_shared()
    if not checker.faults:
        checker.walk()
    return list(dict.fromkeys(checker.faults))


class _Checker:
    def __init__(self, program: Program, isa: InstructionSet) -> None:
        self.program, self.isa = program, isa
        self.decoded: list[Decoded] = []
        self.pairings: list[Pairing] = []
        self.faults: list[str] = []
        self.returns: dict[int, list[int]] = {}     # what the text says of its subroutines
        if program.subroutines:
            self.returns = return_places(program, [isa.facts(one.operation) for one in program.instructions])

    def fault(self, index: int, message: str) -> None:
        """Notes that the word at `index` is wrong."""
        self.faults.append(f"word {index}: {message}")

    def check_shared(self) -> None:
        """Names that somebody uses unseen keep one cell, alone; absolute registers spoil a relative number for all contexts."""
        used: dict[Name, set[int]] = {}
        for pairing in self.pairings:
            for read in (*(() if pairing.turned else pairing.reads), *pairing.writes, *pairing.sends, *pairing.fills):
                used.setdefault(read.name, set()).add(read.cell)
            for signal, numbers in pairing.signals():
                used.setdefault((signal, "signal"), set()).update(numbers)
        for name, cells in used.items():
            if not self._shared(name):
                continue
            most = 2 if name[1] == "signal" else 1
            if len(cells) > most:
                self.faults.append(f"{name[0]} is shared, and lies in several places")
            touched = {clash for cell in cells for clash in self._clashes(name, cell)}
            for other, others in used.items():
                if other != name and any((other[1], cell) in touched for cell in others):
                    self.faults.append(f"{name[0]} is shared, and {other[0]} has its place too")
        self._check_orders(used)

    def _shared(self, name: Name) -> bool:
        if name[1] == "signal":
            signal = self.program.signals[name[0]]
            return signal.volatile or signal.address_taken
        symbol = self.program.symbols[name[0]]
        return symbol.volatile or symbol.address_taken or name[1] in ("gpr-absolute", "neighbor")

    def _clashes(self, name: Name, cell: int) -> Iterator[tuple[str, int]]:
        """The (file, cell) pairs that are the same storage in some context."""
        yield name[1], cell
        stride = 128 // self.program.contexts       # registers of a bank that each context has
        bank, number = divmod(cell, 128)
        if name[1] == "gpr-absolute":
            yield "gpr", bank * 128 + number % stride
        elif name[1] == "gpr":
            for window in range(self.program.contexts):
                yield "gpr-absolute", bank * 128 + window * stride + number

    def _check_orders(self, used: dict[Name, set[int]]) -> None:
        for order in self.program.xfer_orders:
            for file in ("sram-read", "sram-write", "dram-read", "dram-write"):
                if order.half.value in ("both", file.split("-")[1]):
                    bases = {cell - place for place, name in enumerate(order.names) for cell in used.get((name, file), ())}
                    if len(bases) > 1:
                        self.faults.append(f"the order of {order.names[0]} is not kept in {file}")

    def walk(self) -> None:
        """Follows every path until nothing new is learnt."""
        if not self.pairings:
            return
        states: dict[tuple[int, Exit | None], State] = {(0, None): State()}
        queue: list[tuple[int, Exit | None]] = [(0, None)]
        while queue and not self.faults:
            place = queue.pop()
            for following, state in self._step(place, states[place].copy()):
                known = states.get(following)
                if known is None:
                    states[following] = state
                    queue.append(following)
                elif known.meet(state) and following not in queue:
                    queue.append(following)

    def _step(self, place: tuple[int, Exit | None], state: State) -> Iterator[tuple[tuple[int, Exit | None], State]]:
        """Executes the instruction at a place; the places that follow, each with its state."""
        index, leaving = place
        for fact in self.program.instructions[index].facts:
            self._fact(index, fact, state)
        self._execute(index, state)
        facts = self.decoded[index].facts
        turns = facts.branch is not None or facts.ends or facts.waits or facts.resume is not None
        if leaving is None and turns:
            leaving = index, facts.defer
        elif leaving is not None:
            leaving = leaving[0], leaving[1] - 1
        if leaving is None or leaving[1] > 0:
            if index + 1 < len(self.pairings):
                yield (index + 1, leaving), state
            return
        yield from self._leave(leaving[0], index + 1, state)

    def _fact(self, index: int, fact: FlowFact, state: State) -> None:
        if fact.kind is FactKind.IO_COMPLETED:
            self._completed(fact.name, state, False)
        elif fact.kind is not FactKind.SET_SIGNAL:
            for name in [name for name in state.cells if name[0] == fact.name]:
                if fact.kind in (FactKind.SET, FactKind.INITIAL):
                    del state.cells[name]       # set from outside: where, the words do not say
                elif not state.cells[name] and fact.half.value in ("both", *name[1].split("-")[1:]):
                    self.fault(index, f"the value of {name[0]} is lost before its .use")

    def _execute(self, index: int, state: State) -> None:
        pairing, facts = self.pairings[index], self.decoded[index].facts
        swaps_on_it = bool(facts.waits) and facts.signal is not None
        either = pairing.turned if pairing.turned and not all(self._found(one, state) for one in pairing.reads) else pairing.reads
        for read in either:
            self._read(index, read, state)
        copied = self._copied(index)
        for write in pairing.writes:
            self._write(index, write, state, copied)
        if not pairing.sends and not pairing.fills and pairing.raised is None:
            return
        if not swaps_on_it:
            for read in pairing.sends:
                self._read(index, read, state)
        touched = frozenset((one.name, one.cell) for one in (*pairing.sends, *pairing.fills))
        signal, numbers = pairing.raised if pairing.raised is not None else (None, frozenset[int]())
        command = Command(signal, numbers, touched)
        for issue, other in state.flying.items():
            self._meet_in_flight(index, command, issue, other)
        certain = facts.transfer is None or not facts.transfer.indirect
        for fill in pairing.fills:
            state.take(fill, not swaps_on_it, certain)
        state.flying[index] = command

    def _meet_in_flight(self, index: int, command: Command, issue: int, other: Command) -> None:
        if command.signal != other.signal and command.numbers & other.numbers:
            self.fault(index, f"signal of {command.signal} may still be raised by the command at {issue} for {other.signal}")
        for name, cell in command.cells:
            if any(file_cell == cell and theirs[1] == name[1] and theirs != name for theirs, file_cell in other.cells):
                self.fault(index, f"{name[0]} has a register that the command at {issue} may still use")

    def _found(self, read: Read, state: State) -> bool:
        """Whether the name's value is where it is looked for; a name without a value yet may be looked for anywhere."""
        cells = state.cells.get(read.name)
        return cells is None or read.cell in cells or self._shared(read.name)

    def _read(self, index: int, read: Read, state: State) -> None:
        if not self._found(read, state):
            self.fault(index, f"{read.name[0]} is not where this reads it")

    def _copied(self, index: int) -> Read | None:
        """What the word only copies to where it writes: one general purpose register that is nobody else's into another."""
        operands = self.decoded[index].facts.copies
        pairing = self.pairings[index]
        if operands is None or len(pairing.writes) != 1 or self._shared(pairing.writes[0].name):
            return None
        target, source = (self.decoded[index].operation.operands[operand] for operand in operands)
        for read in pairing.reads:
            if lies_in(read, source) and lies_in(pairing.writes[0], target) and not self._shared(read.name):
                return read
        return None

    def _write(self, index: int, write: Read, state: State, copied: Read | None) -> None:
        for issue, command in state.flying.items():
            if any(cell == write.cell and name[1] == write.name[1] and name != write.name for name, cell in command.cells):
                self.fault(index, f"{write.name[0]} has a register that the command at {issue} may still use")
        if copied is None:
            state.take(write, True)
        else:
            state.copy_value(write, copied)

    def _leave(self, owner: int, following: int, state: State) -> Iterator[tuple[tuple[int, Exit | None], State]]:
        """Behind the defer slots of `owner`: its wait is over, and control goes to its targets and to `following`."""
        facts, pairing, operation = self.decoded[owner].facts, self.pairings[owner], self.decoded[owner].operation
        if facts.waits:
            self._wait(owner, state)
        places: list[tuple[int, bool]] = []
        if facts.resume is not None:
            token, argument = facts.resume
            places += [(place, True) for place in self._addresses(operation.tokens[token].arguments[argument])]
        elif facts.branch is not None and facts.branch.indirect:
            places += [(place, True) for place in self._jump(owner)]
        elif facts.branch is not None:
            places += [(place, True) for one in facts.branch.targets for place in self._addresses(operation.operands[one])]
        if not facts.ends and facts.resume is None:
            places.append((following, False))
        for place, taken in places:
            if place < len(self.pairings):
                arrived = state.copy()
                if pairing.tested is not None and taken == facts.arrived_when_taken:
                    self._completed(pairing.tested[0], arrived, True)
                yield (place, None), arrived

    def _wait(self, owner: int, state: State) -> None:
        pairing, facts = self.pairings[owner], self.decoded[owner].facts
        explained: set[int] = set()
        for signal in pairing.awaited:
            numbers = [command.numbers for command in state.flying.values() if command.signal == signal]
            for one in numbers:
                if not one <= pairing.mask:
                    self.fault(owner, f"the wait for {signal} does not wait for all of its signals")
                explained |= one
            if not numbers:
                explained |= pairing.mask
        if pairing.raised is None and pairing.mask - explained:
            self.fault(owner, "the wait is for a signal that none of its names has")
        own = state.flying.get(owner)
        if own is not None and facts.signal is not None:
            for read in pairing.sends:
                self._read(owner, read, state)
            certain = facts.transfer is None or not facts.transfer.indirect
            for fill in pairing.fills:
                state.take(fill, True, certain)
        if not facts.waits_any or len(pairing.awaited) == 1:
            for signal in pairing.awaited:
                self._completed(signal, state, False)

    def _completed(self, signal: str, state: State, tested: bool) -> None:
        """`signal` has come: its commands are done. A test sees only one signal of a pair."""
        for issue, command in list(state.flying.items()):
            if command.signal == signal and not (tested and len(command.numbers) > 1):
                del state.flying[issue]

    def _addresses(self, target: object) -> list[int]:
        return [target.address] if isinstance(target, Target) and target.address is not None else []

    def _jump(self, owner: int) -> list[int]:
        """Where a jump may go: what the text lists, else every label and every word behind the label it starts from."""
        symbolic = self.program.instructions[owner].operation
        listed = [one for token in symbolic.tokens for one in token.arguments if isinstance(one, Target)]
        if listed:
            return [self.program.labels[one.name] for one in listed if one.name in self.program.labels]
        if owner in self.returns:
            return self.returns[owner]
        labels = {place for name, place in self.program.labels.items() if name not in self.program.made_labels}
        places, ends = set(labels), set(self.program.labels.values())
        for operand in self.decoded[owner].operation.operands:
            for place in self._addresses(operand):
                while place < len(self.pairings) and (place == 0 or place not in ends or place in places):
                    places.add(place)
                    place += 1
                    if place in ends:
                        break
        return sorted(places)
