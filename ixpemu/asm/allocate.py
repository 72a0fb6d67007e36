"""Allocation: from a program with names to the physical place of every name, live range by live range.

It calls the analyses in turn and asks for explanations where there is no place. Nothing is inserted and nothing moves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ixpemu import codes
from ixpemu.asm import banks, conflicts, fixed, flow_builder, return_addresses, transfers
from ixpemu.asm import webs as live_ranges
from ixpemu.asm.banks import Place
from ixpemu.asm.expressions import AddressKind, AddressOf, ExpressionError, is_linked, postfix
from ixpemu.asm.findings import Findings
from ixpemu.asm.flow import File, Site
from ixpemu.asm.flow_warnings import warn
from ixpemu.asm.graphs import OddCycle
from ixpemu.asm.limits import Limits
from ixpemu.asm.lints import lint, lint_physical
from ixpemu.asm.numbers import STEPS, Outcome
from ixpemu.asm.program import Deferred, Instruction, Program
from ixpemu.asm.webs import Webs
from ixpemu.isa import InstructionSet
from ixpemu.isa.model import Constant, Operand, Operation, Register, RegisterClass, Signal, Target, Token


@dataclass(frozen=True, slots=True)
class Allocation:
    """The place of every web. For a `.physical` program there are no webs and nothing to place."""

    program: Program
    webs: Webs | None
    places: dict[int, Place]


def allocate(
    program: Program, isa: InstructionSet, findings: Findings, limits: Limits | None = None, steps: int = STEPS,
    mended: bool = False,
) -> Allocation:
    """Places for all names of a program. Errors go to `findings`, and `AssemblyError` is raised when there are any. `mended`:
    what is used too early is going to be mended, and nothing is said of it here."""
    if program.physical:
        lint_physical(program, isa, findings)
        return Allocation(program, None, {})
    room = limits or Limits.of_contexts(program.contexts)
    webs = live_ranges_of(program, isa, findings)
    lint(webs.flow, isa, findings, mended)
    return_addresses.check(webs, findings)
    fixed.check(webs, room, findings)
    findings.raise_if_errors()
    places: dict[int, Place] = {}
    for part in (_gprs, _transfers, _signals, _neighbors):
        places |= part(webs, room, findings, steps)
    findings.raise_if_errors()
    return Allocation(program, webs, places)


def live_ranges_of(program: Program, isa: InstructionSet, findings: Findings) -> Webs:
    """The flow graph and the live ranges of a program with names, and what is suspicious in them."""
    flow = flow_builder.build(program, isa, findings)
    findings.raise_if_errors()      # what a graph with mistakes shows besides would follow from them
    webs = live_ranges.find(flow)
    warn(webs, findings)
    return webs


def _gprs(webs: Webs, limits: Limits, findings: Findings, steps: int) -> dict[int, Place]:
    edges = banks.pair_edges(webs)
    colouring = banks.divide(webs, edges)
    if isinstance(colouring, OddCycle):
        conflicts.bank_circles(webs, edges, colouring, findings)
        return {}
    places = banks.allocate_gprs(webs, edges, colouring, limits, steps)
    return _or_explain(places, conflicts.out_of_gprs, webs, limits, findings)


def _transfers(webs: Webs, limits: Limits, findings: Findings, steps: int) -> dict[int, Place]:
    found = transfers.groups(webs)
    if isinstance(found, transfers.Contradiction):
        conflicts.contradictory_orders(webs, found, findings)
        return {}
    places = transfers.allocate_transfers(webs, found, limits, steps)
    return _or_explain(places, conflicts.out_of_transfers, webs, limits, findings)


def _signals(webs: Webs, limits: Limits, findings: Findings, steps: int) -> dict[int, Place]:
    return _or_explain(transfers.allocate_signals(webs, limits, steps), conflicts.out_of_signals, webs, limits, findings)


def _neighbors(webs: Webs, limits: Limits, findings: Findings, steps: int) -> dict[int, Place]:
    return _or_explain(transfers.allocate_neighbors(webs, limits), conflicts.out_of_neighbors, webs, limits, findings)


def _or_explain(
    places: dict[int, Place] | Outcome, explain: Callable[[Webs, Limits, Findings], None], webs: Webs, limits: Limits,
    findings: Findings,
) -> dict[int, Place]:
    if isinstance(places, Outcome):
        explain(webs, limits, findings)
        return {}
    return places


LeftOpen = dict[int, list[tuple[int, str]]]


def physical(allocation: Allocation, findings: Findings, left_open: LeftOpen | None = None) -> list[Operation]:
    """The operations with physical registers, signals, label addresses and evaluated constants, in program order.

    A wait for a signal that is raised as a pair waits for both. What cannot be evaluated goes to `findings`. `left_open` gets, by
    instruction, the operands that only the linker knows, with their expressions; 0 stands in their place.
    """
    filler = _Filler(allocation, findings)
    if left_open is not None:
        filler.left_open = left_open
    return [filler.operation(index, instruction) for index, instruction in enumerate(allocation.program.instructions)]


def address_of(allocation: Allocation) -> Callable[[AddressOf], int]:
    """What gives the number of each register, signal and label that is used as a constant."""
    return _Filler(allocation, Findings()).address


class _Filler:
    """Puts places into operations."""

    def __init__(self, allocation: Allocation, findings: Findings) -> None:
        self.program, self.webs, self.places = allocation.program, allocation.webs, allocation.places
        self.findings = findings
        self.left_open: LeftOpen = {}
        self.numbers: dict[tuple[AddressKind, str], int] = {}
        if self.webs is not None:
            for number, web in enumerate(self.webs.webs):
                if web.variable.pinned:
                    kind = AddressKind.SIGNAL if web.variable.file is File.SIGNAL else AddressKind.REGISTER
                    self.numbers[kind, web.variable.name] = self.places[number].number

    def operation(self, index: int, instruction: Instruction) -> Operation:
        """The operation of instruction `index`, filled in."""
        old = instruction.operation
        waited = set()
        if self.webs is not None:
            waited = {(token, argument) for token, argument in self.webs.flow.facts[index].waits if token is None}
        operands: list[Operand] = []
        for number, operand in enumerate(old.operands):
            filled = self._operand(operand, index, number, None, instruction)
            operands.append(filled)
            if (None, number) in waited and isinstance(filled, Signal) and self._is_pair(index, number):
                operands.append(Signal((filled.number or 0) + 1, filled.name))
        tokens = tuple(
            Token(token.name, tuple(self._operand(a, index, n, t, instruction) for n, a in enumerate(token.arguments)))
            for t, token in enumerate(old.tokens)
        )
        return Operation(old.mnemonic, tuple(operands), tokens)

    def _is_pair(self, index: int, operand: int) -> bool:
        if self.webs is None:
            return False
        web = self.webs.at.get((Site(index, operand), File.SIGNAL))
        return web is not None and self.webs.webs[web].pair

    def _operand(self, operand: Operand, index: int, number: int, token: int | None, instruction: Instruction) -> Operand:
        if isinstance(operand, (Register, Signal)):
            return operand if self.webs is None or operand.name is None else self._placed(operand, Site(index, number, token))
        if isinstance(operand, Target):
            address = self.program.labels.get(operand.name) if operand.name is not None else None
            return operand if address is None else replace(operand, address=address)
        if isinstance(operand, Deferred):
            try:
                if token is None and is_linked(operand.expression):
                    self.left_open.setdefault(index, []).append((number, postfix(operand.expression, self.address)))
                    return Constant(0)
                return operand.resolve(self.address)
            except ExpressionError as error:
                origin = instruction.operand_origins[number] if token is None else instruction.token_origins[token]
                self.findings.error(codes.EXPRESSION, str(error), origin, help="write an expression that has a value")
                return replace(operand, value=0)
        return operand

    def _placed(self, operand: Register | Signal, site: Site) -> Operand:
        webs = self.webs
        if webs is None or (isinstance(operand, Register) and operand.number is not None):
            return operand
        files = (File.SIGNAL,) if isinstance(operand, Signal) else _FILES_OF[operand.cls]
        for file in files:
            web = webs.at.get((site, file))
            if web is not None:
                place = self.places[web]
                if isinstance(operand, Signal):
                    return Signal(place.number, operand.name)
                return Register(operand.cls, place.number, place.bank, name=operand.name)
        return operand

    def address(self, address: AddressOf) -> int:
        if address.kind is AddressKind.LABEL:
            if address.name not in self.program.labels:
                raise ExpressionError(f"there is no label {address.name}")
            return self.program.labels[address.name]
        if (address.kind, address.name) not in self.numbers:
            raise ExpressionError(f"{address.name} has no number: nothing uses it")
        return self.numbers[address.kind, address.name]


_FILES_OF = {
    RegisterClass.GPR: (File.GPR,),
    RegisterClass.ABSOLUTE: (File.ABSOLUTE,),
    RegisterClass.SRAM: (File.SRAM_READ, File.SRAM_WRITE),
    RegisterClass.DRAM: (File.DRAM_READ, File.DRAM_WRITE),
    RegisterClass.NEIGHBOR: (File.NEIGHBOR,),
}
