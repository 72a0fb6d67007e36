"""How deep in loops each point of a flow graph lies: a guess at how often it is executed, for choosing what to make cheap.

A loop is a set of points from each of which control can come back to it; within it, what is still a loop without the points where
it is entered is a deeper one. Nothing here knows what the points do.
"""

from __future__ import annotations

from collections.abc import Sequence

DEEPEST = 4     # levels that are told apart


def depths(successors: Sequence[Sequence[int]]) -> list[int]:
    """For each point the number of loops around it, at most `DEEPEST`."""
    depth = [0] * len(successors)
    level = [set(range(len(successors)))]
    for _ in range(DEEPEST):
        deeper = []
        for inside in level:
            for loop in _loops(successors, inside):
                for point in loop:
                    depth[point] += 1
                entered = {
                    there for point in inside - loop for there in successors[point] if there in loop
                } or {min(loop)}
                deeper.append(loop - entered)
        level = deeper
    return depth


def _loops(successors: Sequence[Sequence[int]], inside: set[int]) -> list[set[int]]:
    """The strongly connected parts of the graph of the points `inside` that hold a circle (Tarjan, without recursion)."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    waiting: set[int] = set()
    found = []
    for root in inside:
        if root in order:
            continue
        order[root] = low[root] = len(order)
        stack.append(root)
        waiting.add(root)
        path = [(root, iter(successors[root]))]
        while path:
            point, following = path[-1]
            for there in following:
                if there not in inside:
                    continue
                if there not in order:
                    order[there] = low[there] = len(order)
                    stack.append(there)
                    waiting.add(there)
                    path.append((there, iter(successors[there])))
                    break
                if there in waiting:
                    low[point] = min(low[point], order[there])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[point])
                if low[point] == order[point]:
                    part = set()
                    while True:
                        member = stack.pop()
                        waiting.discard(member)
                        part.add(member)
                        if member == point:
                            break
                    if len(part) > 1 or point in successors[point]:
                        found.append(part)
    return found
