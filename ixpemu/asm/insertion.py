"""Puts instructions into a program with names: where that changes nothing, and what it does to labels, facts and probes.

An inserted instruction takes the labels and the facts of the one it stands before, so that every way there leads through it.
Nothing is decided here about what to insert.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ixpemu.asm.flow import Flow
from ixpemu.asm.program import FlowFact, Instruction, Program
from ixpemu.isa import InstructionSet, idioms
from ixpemu.isa.model import Operation, Register, Target


class Gaps:
    """The places of a program at which an instruction more does no harm."""

    def __init__(self, flow: Flow, isa: InstructionSet) -> None:
        self.flow, self.isa = flow, isa
        instructions = flow.program.instructions
        self.labelled = set(flow.program.labels.values())
        self.slots: dict[int, int] = {}         # instruction in a defer slot -> the one whose slot it is
        for owner, facts in enumerate(flow.facts):
            for slot in range(owner + 1, owner + 1 + facts.defer):
                self.slots[slot] = owner
        self.shadows = {
            index + distance for index, one in enumerate(instructions) if idioms.opens_shadow(isa, one.operation)
            for distance in range(1, 2 + idioms.SHADOW)
        }
        self.tables = jump_tables(flow)
        self.written: dict[int, set[int]] = {}      # instruction -> variables that it, or a directive before it, writes
        for occurrence in flow.occurrences:
            if occurrence.writes:
                self.written.setdefault(flow.nodes[occurrence.node].instruction, set()).add(occurrence.variable)

    def before(self, index: int, unchanged: int, shared: bool, suits: Callable[[int], bool]) -> int | None:
        """The last place at or before instruction `index` where something can be inserted that is executed whenever `index` is,
        with no write in between of the variable `unchanged`; None if there is none. `shared`: other contexts write it too, so
        that no swap may lie in between. `suits`: what else is asked of a place."""
        place = index
        while not (self._open(place) and suits(place)):
            if place == 0 or place in self.labelled:
                return None
            before = self.flow.facts[place - 1]
            if shared and before.swaps and self.slots.get(place) != place - 1:
                return None
            if (before.ends and self.slots.get(place) != place - 1) or unchanged in self.written.get(place - 1, ()):
                return None
            place -= 1
        return place

    def _open(self, place: int) -> bool:
        facts, instructions = self.flow.facts, self.flow.program.instructions
        if place in self.slots or place in self.shadows or place in self.tables or facts[place].reads_previous:
            return False
        if place and facts[place - 1].followed_by is not None:
            return False
        return not idioms.continues(self.isa, instructions[place].operation)


def jump_tables(flow: Flow) -> set[int]:
    """Instructions that a computed jump reaches by their distance from a label: nothing may come before one of them."""
    program, out = flow.program, set[int]()
    labels = sorted(set(program.labels.values()))
    for index, facts in enumerate(flow.facts):
        if facts.branch is None or not facts.branch.indirect:
            continue
        operation = program.instructions[index].operation
        for operand in facts.branch.targets:
            base = operation.operands[operand]
            if not isinstance(base, Target) or base.name not in program.labels:
                continue
            first = program.labels[base.name]
            listed = [one for token in operation.tokens for one in token.arguments if isinstance(one, Target)]
            ends = [program.labels[one.name] for one in listed if one.name in program.labels]
            last = max(ends) if ends else next((label for label in labels if label > first), len(program.instructions)) - 1
            out |= set(range(first, last + 1))
    return out


def insert(program: Program, before: Mapping[int, Sequence[Operation]], entry: Sequence[Operation] = ()) -> Program:
    """The program with operations before some instructions, and with `entry` before all, where no label leads."""
    instructions: list[Instruction] = []
    place_of: list[int] = []        # old instruction -> where control arrives for it
    first = program.instructions[0] if program.instructions else None
    if first is not None:
        instructions += [_made(operation, first, (), ()) for operation in entry]
    for index, old in enumerate(program.instructions):
        place_of.append(len(instructions))
        labels, facts = old.labels, old.facts
        for operation in before.get(index, ()):
            instructions.append(_made(operation, old, labels, facts))
            labels, facts = (), ()
        instructions.append(replace(old, labels=labels, facts=facts))
    place_of.append(len(instructions))
    return replace(
        program, instructions=instructions, labels={name: place_of[place] for name, place in program.labels.items()},
        probes=[replace(probe, index=place_of[probe.index]) for probe in program.probes],
        subroutines=[replace(one, first=place_of[one.first], behind=place_of[one.behind]) for one in program.subroutines],
    )


def _made(operation: Operation, beside: Instruction, labels: tuple[str, ...], facts: tuple[FlowFact, ...]) -> Instruction:
    """An inserted instruction; it has the origin of the one that it serves."""
    return replace(
        beside, operation=operation, operand_origins=(beside.origin,) * len(operation.operands),
        token_origins=(beside.origin,) * len(operation.tokens), labels=labels, facts=facts, source="inserted by --repair",
    )


def with_operand(instruction: Instruction, operand: int, register: Register) -> Instruction:
    """The instruction with another register at one place."""
    operands = list(instruction.operation.operands)
    operands[operand] = register
    return replace(instruction, operation=replace(instruction.operation, operands=tuple(operands)))
