"""What came before: the paths that lead to an instruction, walked backwards, and facts that hold on all of them or on some.

Paths through a subroutine return to where they came from, as far as `.subroutine` says what one is. A path is only called certain
to exist if nothing on it was guessed. What is looked for on the paths is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum

from ixpemu.asm.calls import calling_graph
from ixpemu.asm.dataflow import Graph, forward
from ixpemu.asm.flow import Flow, Kind


class End(Enum):
    """Where a walk back ends."""

    FOUND = "found"         # at an instruction that was looked for
    SWAP = "swap"           # where the context gave up the microengine
    START = "start"         # where the program begins, or is entered from outside of the text
    FAR = "far"             # as far back as it was to go
    GUESS = "guess"         # at a jump of which nobody knows where it leads


@dataclass(frozen=True, slots=True)
class Walk:
    """All walks back from one place: how they ended, and the instructions at which those FOUND and those at a SWAP did."""

    ends: frozenset[End]
    found: tuple[int, ...]
    swaps: tuple[int, ...]

    @property
    def always(self) -> bool:
        """Whether every path ended at what was looked for."""
        return self.ends == {End.FOUND}


@dataclass(slots=True)
class Trails:
    """The points of a flow graph, one for each call that leads to it. `of_instruction[i]`: those at which instruction i executes,
    if control comes there at all. `swaps[p]`: behind point p the context has given up the microengine; by which instruction."""

    flow: Flow
    nodes: list[int]                                    # point -> node of the flow graph
    graph: Graph
    starts: frozenset[int]
    guesses: frozenset[int]                             # points that stand for jumps to nobody knows where
    swaps: dict[int, int]
    of_instruction: list[list[int]] = field(default_factory=list)
    sure: bool = True                                   # no path of the graph was guessed, so that each exists

    def executes(self, point: int) -> int | None:
        """The instruction that executes at a point, None if it is a point of another kind."""
        node = self.flow.nodes[self.nodes[point]]
        return node.instruction if node.kind is Kind.INSTRUCTION else None

    def back(self, instruction: int, most: int | None, wanted: Callable[[int], bool]) -> Walk:
        """Walks back from `instruction` by at most `most` instructions, or any number, until one is `wanted`."""
        ends: set[End] = set()
        found: dict[int, None] = {}
        swaps: dict[int, None] = {}
        seen: set[tuple[int, int]] = set()
        queue = [(point, 0) for point in self.of_instruction[instruction]]
        while queue:
            point, count = queue.pop()
            if point in self.starts:
                ends.add(End.START)
            for before in self.graph.predecessors[point]:
                if before in self.guesses:
                    ends.add(End.GUESS)
                    continue
                if before in self.swaps:
                    ends.add(End.SWAP)
                    swaps[self.swaps[before]] = None
                    continue
                other = self.executes(before)
                steps = count + (most is not None and other is not None)
                if other is not None and wanted(other):
                    ends.add(End.FOUND)
                    found[other] = None
                elif most is not None and steps >= most:
                    ends.add(End.FAR)
                elif (before, steps) not in seen:
                    seen.add((before, steps))
                    queue.append((before, steps))
        return Walk(frozenset(ends), tuple(found), tuple(swaps))

    def forward(self, gain: Sequence[int], lose: Sequence[int], start: int = 0) -> list[int]:
        """The union over all paths of what `gain` and `lose` make of the mask `start`, at every point."""
        return forward(self.graph, gain, lose, dict.fromkeys(self.starts, start))


def trails_of(flow: Flow) -> Trails:
    """The paths of a program."""
    called = calling_graph(flow)
    if called is None:
        nodes, successors, starts = list(range(len(flow.nodes))), flow.successors, frozenset(flow.starts)
    else:
        nodes, successors, starts = called.nodes, called.successors, frozenset(called.starts)
    trails = Trails(flow, nodes, Graph.of(successors, sorted(starts)), starts, frozenset(), {})
    trails.of_instruction = [[] for _ in flow.program.instructions]
    reached = _reached(successors, starts)
    guesses = set()
    behind = _swapping(flow)
    for point, node in enumerate(nodes):
        kind, instruction = flow.nodes[node].kind, flow.nodes[node].instruction
        if node in behind:
            trails.swaps[point] = behind[node]
        if kind is Kind.INSTRUCTION and reached[point]:
            trails.of_instruction[instruction].append(point)
        elif node == flow.anywhere:
            guesses.add(point)
    trails.guesses = frozenset(guesses)
    trails.sure = not flow.guessed_jumps and not flow.reentries
    return trails


def _swapping(flow: Flow) -> dict[int, int]:
    """Nodes behind which a context has given up the microengine, with the instruction that did: where a wait is over, or, if
    nothing in particular is waited for, the last defer slot."""
    out, own = {}, {}
    for number, node in enumerate(flow.nodes):
        if node.kind is Kind.WAIT:
            out[number] = node.instruction
        elif node.kind is Kind.INSTRUCTION:
            own[node.instruction] = number
    for instruction, facts in enumerate(flow.facts):
        if facts.swaps and not facts.waits and instruction + facts.defer in own:
            out[own[instruction + facts.defer]] = instruction
    return out


def _reached(successors: Sequence[Sequence[int]], starts: frozenset[int]) -> list[bool]:
    seen = [False] * len(successors)
    queue = list(starts)
    for point in queue:
        seen[point] = True
    while queue:
        for following in successors[queue.pop()]:
            if not seen[following]:
                seen[following] = True
                queue.append(following)
    return seen
