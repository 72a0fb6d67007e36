"""Solves data-flow equations over sets kept as bit masks. Straight runs of points are solved as one, which is most of the speed.

Nothing here knows what the points or the bits are.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph of points, cut into runs: within a run each point has one successor, which has no other predecessor."""

    successors: Sequence[Sequence[int]]
    predecessors: Sequence[Sequence[int]]
    runs: Sequence[Sequence[int]]
    after: Sequence[Sequence[int]]      # run -> runs that follow
    before: Sequence[Sequence[int]]

    @classmethod
    def of(cls, successors: Sequence[Sequence[int]], entries: Sequence[int] = ()) -> Graph:
        """The graph with these successors; a run never passes over one of `entries`."""
        predecessors: list[list[int]] = [[] for _ in successors]
        for point, following in enumerate(successors):
            for successor in following:
                predecessors[successor].append(point)
        inner = {
            point for point, preceding in enumerate(predecessors)
            if len(preceding) == 1 and len(successors[preceding[0]]) == 1 and preceding[0] != point
        } - set(entries)
        runs: list[list[int]] = []
        run_of = [-1] * len(successors)
        for first in range(len(successors)):
            if first not in inner:
                _grow(first, inner, successors, runs, run_of)
        for first in range(len(successors)):       # circles that nothing enters
            if run_of[first] < 0:
                _grow(first, inner, successors, runs, run_of)
        after = [[run_of[point] for point in successors[run[-1]]] for run in runs]
        before = [[run_of[point] for point in predecessors[run[0]]] for run in runs]
        return cls(successors, predecessors, runs, after, before)


def _grow(first: int, inner: set[int], successors: Sequence[Sequence[int]], runs: list[list[int]], run_of: list[int]) -> None:
    """Adds the run that begins at `first`."""
    run, point = [first], first
    run_of[first] = len(runs)
    while len(successors[point]) == 1 and successors[point][0] in inner and run_of[successors[point][0]] < 0:
        point = successors[point][0]
        run_of[point] = len(runs)
        run.append(point)
    runs.append(run)


def forward(graph: Graph, gain: Sequence[int], lose: Sequence[int], start: dict[int, int] | None = None) -> list[int]:
    """For each point the least `in`; `out = gain | (in & ~lose)`, and `in` is the union of the `out` before it and `start`."""
    return _solve(graph.runs, graph.before, graph.after, gain, lose, start or {})


def backward(graph: Graph, gain: Sequence[int], lose: Sequence[int]) -> list[int]:
    """For each point the least `out`, where `in = gain | (out & ~lose)` and `out` is the union of the `in` behind it."""
    return _solve([run[::-1] for run in graph.runs], graph.after, graph.before, gain, lose, {}, last_first=True)


def _solve(
    runs: Sequence[Sequence[int]], before: Sequence[Sequence[int]], after: Sequence[Sequence[int]], gain: Sequence[int],
    lose: Sequence[int], start: dict[int, int], last_first: bool = False,
) -> list[int]:
    count = len(runs)
    run_gain, run_lose = [0] * count, [0] * count
    for number, run in enumerate(runs):
        gained = lost = 0
        for point in run:
            gained = gain[point] | (gained & ~lose[point])
            lost |= lose[point]
        run_gain[number], run_lose[number] = gained, lost
    arriving = [start.get(run[0], 0) for run in runs]
    initial, leaving = list(arriving), [0] * count
    queue, waiting = deque(reversed(range(count)) if last_first else range(count)), [True] * count
    while queue:
        number = queue.popleft()
        waiting[number] = False
        mask = initial[number]
        for preceding in before[number]:
            mask |= leaving[preceding]
        arriving[number] = mask
        mask = run_gain[number] | (mask & ~run_lose[number])
        if mask != leaving[number]:
            leaving[number] = mask
            for following in after[number]:
                if not waiting[following]:
                    waiting[following] = True
                    queue.append(following)
    out = [0] * len(gain)
    for number, run in enumerate(runs):
        mask = arriving[number]
        for point in run:
            out[point] = mask
            mask = gain[point] | (mask & ~lose[point])
    return out
