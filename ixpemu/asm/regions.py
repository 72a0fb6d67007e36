"""A program cut into regions within which instructions may change places, and what is known at the ends of each.

A region has nothing inside that anybody can come to: labels, flow directives and probes stand at the beginning of one, a branch
or swap with its defer slots at the end. Registers are physical here: allocation is done, and what shares a register cannot pass
each other. What moves is decided in `slots` and `gaps`, what is inserted in `noops`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from ixpemu.asm.allocate import Allocation, physical
from ixpemu.asm.dataflow import Graph, backward
from ixpemu.asm.findings import Findings
from ixpemu.asm.flow import File, Flow, Kind
from ixpemu.asm.insertion import jump_tables
from ixpemu.isa import Facts, InstructionSet
from ixpemu.isa.effects import EVERYTHING, SHOWN, Effects, effects_of
from ixpemu.isa.model import Operand, Operation, Register, Signal

_NAMES = EVERYTHING.bit_length()
Model = Callable[[InstructionSet, Operation, int], Effects]


@dataclass(slots=True)
class Item:
    """An instruction. `number`: where it stood in the program that was cut. `held`: it does not move, and nothing comes between
    it and the one before if it is `joined` to that."""

    number: int
    effects: Effects
    facts: Facts
    held: bool = False
    joined: bool = False
    last: bool = False      # an instruction that may come behind it is joined to it


@dataclass(slots=True)
class Region:
    """`body`, then what ends it: `owner` is a branch or swap, `slots` are its defer slots. `first`: the number of its first
    instruction. `fixed`: nothing may move or be inserted. `alone`: control comes only from the region before, over no label.
    `live`: mask of what may be read behind it."""

    first: int
    body: list[Item] = field(default_factory=list)
    owner: Item | None = None
    slots: list[Item] = field(default_factory=list)
    fixed: bool = False
    alone: bool = False
    live: int = 0

    def items(self) -> list[Item]:
        """All instructions in order."""
        return [*self.body, *([] if self.owner is None else [self.owner]), *self.slots]


@dataclass(slots=True)
class Cut:
    """A program in regions. Lists go by instruction."""

    allocation: Allocation
    flow: Flow
    operations: list[Operation]
    effects: list[Effects]
    regions: list[Region]


def cut(allocation: Allocation, isa: InstructionSet, model: Model = effects_of) -> Cut:
    """Cuts an allocated program with names. Not for `.physical` programs, which have no flow graph."""
    webs = allocation.webs
    if webs is None:
        raise ValueError("a program without live ranges has no regions")
    flow = webs.flow
    operations = physical(allocation, Findings())
    effects = _Effects(allocation, flow, isa, model)
    of_all = [effects.of(index, operation) for index, operation in enumerate(operations)]
    live = _liveness(flow, of_all, effects)
    regions = _regions(flow, of_all)
    for region in regions:
        region.live = live[region.items()[-1].number]
    return Cut(allocation, flow, operations, of_all, regions)


class _Effects:
    """The effects of a program's instructions, on registers and on names: what shares a register must not pass, and what has one
    name must not either, so that names go on meaning what they meant. A name is a bit above those of the registers."""

    def __init__(self, allocation: Allocation, flow: Flow, isa: InstructionSet, model: Model) -> None:
        self.program, self.flow, self.isa, self.model = allocation.program, flow, isa, model
        self.points = own_points(flow)
        self.all = EVERYTHING | (1 << len(flow.variables)) - 1 << _NAMES

    def names(self, occurrences: Iterable[int], certain: bool = False) -> int:
        """The names of some occurrences, as a mask; signals are none. `certain`: only what certainly gets a value."""
        mask = 0
        for number in occurrences:
            one = self.flow.occurrences[number]
            if self.flow.variables[one.variable].file is not File.SIGNAL and (one.certain or not certain):
                mask |= 1 << _NAMES + one.variable
        return mask

    def of(self, index: int, operation: Operation) -> Effects:
        """What instruction `index` does. One with a volatile name is passed by nothing."""
        instruction = self.program.instructions[index]
        effects, point = self.model(self.isa, operation, self.program.contexts), self.flow.nodes[self.points[index]]
        named = instruction.operation
        operands = [*named.operands, *(one for token in named.tokens for one in token.arguments)]
        if effects.writes == EVERYTHING or any(self._volatile(operand) for operand in operands):
            return replace(effects, reads=self.all, writes=self.all, kills=0, plain=False, shared=True)
        return replace(
            effects, reads=effects.reads | self.names(point.reads), writes=effects.writes | self.names(point.writes),
            kills=effects.kills | self.names(point.writes, certain=True),
        )

    def _volatile(self, operand: Operand) -> bool:
        if isinstance(operand, Register) and operand.name is not None:
            return self.program.symbols[operand.name].volatile
        return isinstance(operand, Signal) and operand.name is not None and self.program.signals[operand.name].volatile


def own_points(flow: Flow) -> list[int]:
    """For every instruction its own point of the flow graph."""
    points = [0] * len(flow.facts)
    for number, point in enumerate(flow.nodes):
        if point.kind is Kind.INSTRUCTION:
            points[point.instruction] = number
    return points


def _liveness(flow: Flow, effects: list[Effects], names: _Effects) -> list[int]:
    """Behind each instruction, what may still be read. Where a context stops for good, its registers may be looked at;
    where it swaps, the microengine may be taken over, and its commands take registers until then."""
    points = own_points(flow)
    gain, lose = [0] * len(flow.nodes), [0] * len(flow.nodes)
    for number, point in enumerate(flow.nodes):
        if point.kind is Kind.INSTRUCTION:
            one = effects[point.instruction]
            gain[number], lose[number] = one.reads, one.kills
            if not flow.successors[number]:
                gain[number] |= SHOWN
                lose[number] = 0
        elif point.kind is Kind.WAIT:
            gain[number] = effects[point.instruction].sends | names.names(point.reads)
        else:
            gain[number], lose[number] = names.names(point.reads), names.names(point.writes, certain=True)
    behind = backward(Graph.of(flow.successors, flow.starts), gain, lose)
    return [behind[own] if flow.successors[own] else SHOWN for own in points]


def _turns(facts: Facts) -> bool:
    """Whether control does not simply go on behind an instruction and its slots."""
    return facts.branch is not None or facts.ends or facts.swaps or bool(facts.waits) or facts.resume is not None


def _regions(flow: Flow, effects: list[Effects]) -> list[Region]:
    program, facts = flow.program, flow.facts
    count = len(facts)
    entered = {*program.labels.values(), *(probe.index for probe in program.probes)}
    entered |= {place for one in program.subroutines for place in (one.first, one.behind)}
    entered |= {index for index, instruction in enumerate(program.instructions) if instruction.facts}
    tables = jump_tables(flow)
    kept = {
        index for index, one in enumerate(program.instructions)
        if (one.origin.span.file, one.origin.span.line, one.origin.expansions) in program.kept
    } if program.kept else set()
    # What is to be kept is cut off from what is not, as by a label.
    entered |= {index for index in range(count) if (index in kept) != (index - 1 in kept)}
    items = [Item(index, effects[index], facts[index], held=not effects[index].plain or index in kept) for index in range(count)]
    _join(flow, items)
    regions: list[Region] = []
    index, pending = 0, 0       # pending: defer slots behind a label that stands among them
    while index < count:
        region = Region(index, fixed=pending > 0, alone=index > 0 and index not in entered)
        regions.append(region)
        while index < count and not (items[index].number != region.first and index in entered):
            item = items[index]
            region.fixed = region.fixed or index in tables
            index += 1
            if pending:
                region.body.append(item)
                pending -= 1
                if not pending:
                    break
            elif _turns(item.facts):
                region.owner = item
                last = index + item.facts.defer
                while index < last and index not in entered:
                    region.slots.append(items[index])
                    index += 1
                pending = last - index
                region.fixed = region.fixed or pending > 0 or any(slot.number in tables for slot in region.slots)
                break
            else:
                region.body.append(item)
    return regions


def _join(flow: Flow, items: list[Item]) -> None:
    """Marks what has to stay directly behind what comes before it, on every path."""
    preceding: dict[int, list[int]] = {}
    for number, following in enumerate(flow.successors):
        for successor in following:
            preceding.setdefault(successor, []).append(number)
    points = own_points(flow)
    for item in items:
        before = _before(flow, preceding, points[item.number])
        follows = any(items[one].facts.followed_by is not None for one in before)
        steps = item.effects.step and any(items[one].effects.step for one in before)
        if not (item.effects.joined or follows or steps):
            continue
        item.held = item.joined = True
        seen, queue = set(before), list(before)
        while queue:
            one = items[queue.pop()]
            one.held = one.last = True
            if item.effects.joined and not one.effects.latches:     # what is wanted has been left further up
                more = _before(flow, preceding, points[one.number]) - seen
                seen |= more
                queue += more
                one.joined = True


def _before(flow: Flow, preceding: dict[int, list[int]], point: int) -> set[int]:
    """The instructions that may be executed directly before a point."""
    found, seen, queue = set[int](), set[int](), list(preceding.get(point, ()))
    while queue:
        number = queue.pop()
        if number in seen:
            continue
        seen.add(number)
        if flow.nodes[number].kind is Kind.INSTRUCTION:
            found.add(flow.nodes[number].instruction)
        else:
            queue += preceding.get(number, ())
    return found
