"""Makes a program fit that does not: moves where sources cannot be divided between banks, local memory where registers run out.

Only when asked. It changes the program with names, before allocation, and says at each place what it costs; what is inserted
leaves condition codes, results that the next instruction takes, defer slots, tables of jumps and pointer shadows as they are.
Where that cannot be, the program stays as it is and its errors with it. Transfer registers and signals are not mended.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from ixpemu import codes
from ixpemu.asm import banks, flow_builder, loops
from ixpemu.asm import webs as live_ranges
from ixpemu.asm.findings import Findings, Stopped
from ixpemu.asm.flow import File, Site
from ixpemu.asm.graphs import Edge, OddCycle, Sides
from ixpemu.asm.insertion import Gaps, insert, with_operand
from ixpemu.asm.limits import Limits
from ixpemu.asm.numbers import Outcome
from ixpemu.asm.program import Program, Symbol
from ixpemu.asm.spill import Spilling
from ixpemu.asm.webs import Webs
from ixpemu.diagnostics import AssemblyError, Diagnostic, Severity
from ixpemu.isa import InstructionSet, idioms
from ixpemu.isa.model import Operation, Register, RegisterClass

MOST_ROUNDS = 40


class Failed(Exception):
    """What is wrong cannot be mended; the text says why."""


@dataclass(slots=True)
class Repaired:
    """The program to allocate instead, and what was done to it, or why nothing was."""

    program: Program
    notes: list[Diagnostic] = field(default_factory=list)


def repair(program: Program, isa: InstructionSet, limits: Limits) -> Repaired:
    """The program, mended as far as it takes. One that fits, or whose mistakes are others, comes back as it is."""
    if program.physical:
        return Repaired(program)
    worker = _Worker(program, isa, limits)
    try:
        worker.run()
    except (AssemblyError, Stopped):
        return Repaired(program)        # errors of another kind: the assembly that follows reports them
    except Failed as failed:
        note = Diagnostic(codes.REPAIR_FAILED, f"--repair does not help here: {failed}", Severity.NOTE)
        return Repaired(program, [note])
    return Repaired(worker.program, worker.notes)


class _Worker:
    def __init__(self, program: Program, isa: InstructionSet, limits: Limits) -> None:
        self.program, self.isa, self.limits = program, isa, limits
        self.notes: list[Diagnostic] = []
        self.spilling = Spilling(isa, program.contexts)
        self.made = 0

    def run(self) -> None:
        """Rounds of finding what is wrong and mending it, until nothing is."""
        for _ in range(MOST_ROUNDS):
            findings = Findings()
            webs = live_ranges.find(flow_builder.build(self.program, self.isa, findings))
            findings.raise_if_errors()
            edges = banks.pair_edges(webs)
            colouring = banks.divide(webs, edges)
            if isinstance(colouring, OddCycle):
                self.part(webs, edges)
                continue
            if not isinstance(banks.allocate_gprs(webs, edges, colouring, self.limits), Outcome):
                self.notes += self.spilling.notes()
                return
            self.spill(webs)
        raise Failed(f"after {MOST_ROUNDS} rounds it still does not fit")

    def temporary(self, program: Program) -> tuple[Program, Register]:
        """A register with a new name, and the program that has it."""
        self.made += 1
        while f"l0000!repair{self.made}" in program.symbols:
            self.made += 1
        name = f"l0000!repair{self.made}"
        symbol = Symbol(name, f"repair{self.made}", RegisterClass.GPR)
        return replace(program, symbols={**program.symbols, name: symbol}), Register(RegisterClass.GPR, name=name)

    def part(self, webs: Webs, edges: list[Edge]) -> None:
        """Breaks every circle of pairs. Pairs are kept in the order of what it would cost to part them, so that what closes a
        circle of odd length is the cheapest of it."""
        depth, gaps = loops.depths(webs.flow.successors), Gaps(webs.flow, self.isa)
        pairs: dict[tuple[int, int], list[Edge]] = {}
        for edge in edges:
            pairs.setdefault((min(edge.left, edge.right), max(edge.left, edge.right)), []).append(edge)

        def cost(pair: list[Edge]) -> float:
            ways = (self.way(webs, gaps, edge) for edge in pair)
            depths = (depth[webs.flow.entry[edge.reason]] for edge in pair)
            return sum(math.inf if way is None else 10**deep for way, deep in zip(ways, depths, strict=True))

        before: dict[int, list[Operation]] = {}
        kept = Sides(len(webs.webs), banks.fixed_banks(webs))
        for _, (left, right), pair in sorted((-cost(pair), ends, pair) for ends, pair in pairs.items()):
            if kept.part(left, right):
                continue
            for edge in pair:
                way = self.way(webs, gaps, edge)
                if way is None:
                    line = self.program.instructions[edge.reason].origin.span.line
                    raise Failed(f"there is no place for a move before line {line}, and it has to be there")
                self.move(edge.reason, *way, before, depth[webs.flow.entry[edge.reason]])
        self.program = insert(self.program, before)

    def way(self, webs: Webs, gaps: Gaps, edge: Edge) -> tuple[int, int] | None:
        """The operand of a pair that can be moved to another register, and before which instruction."""
        facts, operands = webs.flow.facts[edge.reason], self.program.instructions[edge.reason].operation.operands
        for operand in reversed(facts.pair or ()):
            register = operands[operand]
            if operand in facts.writes or not isinstance(register, Register) or register.name is None:
                continue
            file = File.ABSOLUTE if register.cls is RegisterClass.ABSOLUTE else File.GPR
            web = webs.at[Site(edge.reason, operand), file]
            occurrence = webs.flow.occurrences[webs.webs[web].occurrences[0]]
            shared = file is File.ABSOLUTE

            def suits(place: int, sets_codes: bool = shared) -> bool:
                return not sets_codes or _codes_unused(webs, place)

            place = gaps.before(edge.reason, occurrence.variable, shared, suits)
            if place is not None:
                return operand, place
        return None

    def move(self, index: int, operand: int, place: int, before: dict[int, list[Operation]], depth: int) -> None:
        """Lets an instruction read a copy of one of its sources."""
        source = self.program.instructions[index].operation.operands[operand]
        if not isinstance(source, Register) or source.name is None:
            raise Failed("only a register can be moved")
        self.program, target = self.temporary(self.program)
        copy = idioms.move if source.cls is RegisterClass.ABSOLUTE else idioms.quiet_move
        before.setdefault(place, []).append(copy(target, source))
        instructions = list(self.program.instructions)
        instructions[index] = with_operand(instructions[index], operand, target)
        self.program = replace(self.program, instructions=instructions)
        spelling = self.program.symbols[source.name].spelling
        self.notes.append(Diagnostic(
            codes.REPAIR_MOVE, f"`{spelling}` is copied to a register of the other bank for this: 1 cycle {how_often(depth)}",
            Severity.NOTE, instructions[index].operand_origins[operand],
        ))

    def spill(self, webs: Webs) -> None:
        """Puts some values into local memory."""
        problem = self.spilling.choose(self.program, webs, self.limits)
        if isinstance(problem, str):
            raise Failed(problem)
        self.program = self.spilling.carry_out(self.program, webs, problem, self.temporary)


def how_often(depth: int) -> str:
    """How often something is executed, in words."""
    return "each time" if not depth else f"each time, in {depth} loop{'s' if depth > 1 else ''}"


def _codes_unused(webs: Webs, place: int) -> bool:
    """Whether nothing behind `place` takes condition codes from before it."""
    flow = webs.flow
    seen, queue = set(), [flow.entry[place]]
    while queue:
        node = queue.pop()
        if node in seen:
            continue
        seen.add(node)
        instruction = flow.nodes[node].instruction
        if instruction >= len(flow.facts):
            queue += flow.successors[node]
            continue
        facts = flow.facts[instruction]
        if facts.reads_cc:
            return False
        if not facts.writes_cc:
            queue += flow.successors[node]
    return True
