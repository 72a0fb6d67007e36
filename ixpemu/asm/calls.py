"""Calls and returns: which labels a return address can be, and what calls of a subroutine do not do to each other.

A return leads to every label whose address somebody has taken. So a path may be drawn from one call through the subroutine to
what stands behind another, which no execution takes; `undefined_by_calls` looks at values along paths that return to where they
came from. Only what `.subroutine` marks is looked at so. Allocation counts all paths, which is safe.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ixpemu.asm.dataflow import Graph, forward
from ixpemu.asm.expressions import AddressKind, addresses
from ixpemu.asm.flow import Flow
from ixpemu.asm.program import Deferred, Program
from ixpemu.isa import Facts
from ixpemu.isa.model import Register, Target


def taken_labels(program: Program, facts: Sequence[Facts]) -> set[str]:
    """The labels whose address an instruction loads or computes with."""
    taken: set[str] = set()
    for own, instruction in zip(facts, program.instructions, strict=True):
        for operand in instruction.operation.operands:
            if isinstance(operand, Target) and operand.name is not None and own.branch is None:
                taken.add(operand.name)
            elif isinstance(operand, Deferred):
                taken |= {one.name for one in addresses(operand.expression) if one.kind is AddressKind.LABEL}
    return taken


def return_places(program: Program, facts: Sequence[Facts]) -> dict[int, list[int]]:
    """For each return in a subroutine that lists no targets, the instructions that it may lead to.

    If nothing but the loading of labels writes the register it returns by, these labels; else all that are taken. A return is
    left out if there are none: then nothing is known of it.
    """
    inside = {index for one in program.subroutines for index in range(one.first, one.behind)}
    if not inside:
        return {}
    everywhere, loaded = taken_labels(program, facts), _loaded(program, facts)
    out = {}
    for index in sorted(inside):
        branch, operation = facts[index].branch, program.instructions[index].operation
        if branch is None or not branch.indirect or branch.targets or any(
            isinstance(argument, Target) for token in operation.tokens for argument in token.arguments
        ):
            continue
        register = operation.operands[0]
        labels = loaded.get(register.name or "") if isinstance(register, Register) else None
        places = sorted({program.labels[name] for name in (labels if labels else everywhere) if name in program.labels})
        if places:
            out[index] = places
    return out


def _loaded(program: Program, facts: Sequence[Facts]) -> dict[str, set[str] | None]:
    """By the name of each register that instructions load with labels, the labels; None if something else writes it too."""
    found: dict[str, set[str] | None] = {}
    for own, instruction in zip(facts, program.instructions, strict=True):
        operands = instruction.operation.operands
        for fact in instruction.facts:
            found[fact.name] = None
        for index in own.writes:
            register = operands[index]
            if not isinstance(register, Register) or register.name is None:
                continue
            loaded = [operand.name for operand in operands if isinstance(operand, Target) and operand.name is not None]
            known = found.setdefault(register.name, set())
            if own.branch is not None or len(loaded) != 1 or known is None:
                found[register.name] = None
            else:
                known.add(loaded[0])
    return found


@dataclass(slots=True)
class _Copies:
    """The graph with a copy of each subroutine for every place it may return to. A point is (point, place), -1 outside."""

    flow: Flow
    returns: dict[int, list[int]]       # return -> places
    region: dict[int, int]              # instruction -> number of its subroutine
    places: dict[int, list[int]]        # subroutine -> places it may return to

    def successors(self, point: int, place: int) -> list[tuple[int, int]]:
        """What follows a point of a copy."""
        nodes = self.flow.nodes
        instruction = nodes[point].instruction
        here = self.region.get(instruction, -1)
        owner = self._returning(point)
        out = []
        for following in self.flow.successors[point]:
            target = nodes[following].instruction
            there = self.region.get(target, -1)
            if owner is not None and target in self.returns[owner] and place != -1 and target != place:
                continue
            if there == -1:
                out.append((following, -1))
            elif there == here:
                out.append((following, place))
            else:
                out += [(following, one) for one in self._called(point, there)]
        return out

    def _returning(self, point: int) -> int | None:
        """The return that leads away from a point: itself, or the one whose last defer slot it is."""
        instruction = self.flow.nodes[point].instruction
        for owner in range(instruction, max(-1, instruction - 4), -1):
            if owner in self.returns and owner + self.flow.facts[owner].defer == instruction:
                return owner
        return None

    def _called(self, point: int, subroutine: int) -> list[int]:
        """Where a subroutine that is entered from a point returns to: behind the point if that is a place, else anywhere."""
        places = self.places.get(subroutine, [])
        behind = self.flow.nodes[point].instruction + 1
        return [behind] if behind in places else places or [-1]


@dataclass(frozen=True, slots=True)
class Called:
    """The graph with a copy of each subroutine for every place it may return to. `nodes[p]`: the node that point p copies."""

    nodes: list[int]
    successors: list[list[int]]
    starts: list[int]


def calling_graph(flow: Flow) -> Called | None:
    """The paths that return where they came from; None if no subroutine may return to several places, so that all paths do."""
    program = flow.program
    returns = return_places(program, flow.facts)
    if all(len(places) < 2 for places in returns.values()):
        return None
    region = {index: number for number, one in enumerate(program.subroutines) for index in range(one.first, one.behind)}
    places: dict[int, list[int]] = {}
    for index, found in returns.items():
        known = places.setdefault(region[index], [])
        known += [place for place in found if place not in known]
    copies = _Copies(flow, returns, region, places)
    order = [(start, -1) for start in dict.fromkeys(flow.starts)]
    starts = len(order)
    numbers = {one: number for number, one in enumerate(order)}
    successors: list[list[int]] = []
    for point, place in order:
        following = []
        for one in copies.successors(point, place):
            if one not in numbers:
                numbers[one] = len(order)
                order.append(one)
            following.append(numbers[one])
        successors.append(following)
    return Called([point for point, _ in order], successors, list(range(starts)))


def undefined_by_calls(flow: Flow) -> set[tuple[int, int]] | None:
    """The (point, variable) pairs at which a variable may have no value, along paths that return where they came from; None if
    there is nothing that only such paths tell."""
    called = calling_graph(flow)
    if called is None:
        return None
    lose = [0] * len(called.nodes)
    for number, point in enumerate(called.nodes):
        for write in flow.nodes[point].writes:
            lose[number] |= 1 << flow.occurrences[write].variable
    everything = (1 << len(flow.variables)) - 1
    unset = forward(Graph.of(called.successors, [0]), [0] * len(lose), lose, {0: everything})
    return {
        (point, occurrence.variable) for number, point in enumerate(called.nodes) for read in flow.nodes[point].reads
        for occurrence in (flow.occurrences[read],) if unset[number] >> occurrence.variable & 1
    }
