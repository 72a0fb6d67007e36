"""Pure graph algorithms of the allocator: two colours with a proof when there are none, and union with offsets.

Nodes are plain integers. Nothing here knows registers, banks or the source text.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Edge:
    """`left` and `right` must differ in colour; `reason` is the caller's, to be shown if they cannot."""

    left: int
    right: int
    reason: int


@dataclass(frozen=True, slots=True)
class OddCycle:
    """Why two colours do not suffice: a closed walk of edges of odd length, or a walk between two fixed nodes of wrong parity."""

    edges: tuple[Edge, ...]
    fixed: tuple[int, ...] = ()     # the two fixed nodes at its ends; empty for a closed cycle


@dataclass(frozen=True, slots=True)
class Colouring:
    """For every node its connected `component`, and its colour 0 or 1 up to exchanging the two in a component without `fixed`."""

    component: tuple[int, ...]
    colour: tuple[int, ...]
    fixed: frozenset[int]           # components that hold a fixed node: their colours are final


def two_colour(nodes: int, edges: Sequence[Edge], fixed: Mapping[int, int] | None = None) -> Colouring | OddCycle:
    """Colours the nodes so that every edge joins two colours; or the shortest odd cycle of the first component without one."""
    wanted = fixed or {}
    adjacent = _adjacency(nodes, edges)
    component, colour = [-1] * nodes, [0] * nodes
    held: set[int] = set()
    count = 0
    for root in [*wanted, *range(nodes)]:
        if component[root] >= 0:
            continue
        component[root], colour[root] = count, wanted.get(root, 0)
        members, queue = [root], deque([root])
        wrong = False
        while queue:
            node = queue.popleft()
            for edge in adjacent[node]:
                other = edge.right if edge.left == node else edge.left
                if component[other] < 0:
                    component[other], colour[other] = count, 1 - colour[node]
                    members.append(other)
                    queue.append(other)
                elif colour[other] == colour[node]:
                    wrong = True
        if wrong or any(wanted.get(member, colour[member]) != colour[member] for member in members):
            return _shortest_odd(adjacent, members, wanted)
        if root in wanted:
            held.add(count)
        count += 1
    return Colouring(tuple(component), tuple(colour), frozenset(held))


def is_bipartite_without(nodes: int, edges: Sequence[Edge], reason: int, fixed: Mapping[int, int] | None = None) -> bool:
    """Whether two colours suffice once the edges with this `reason` are gone."""
    return isinstance(two_colour(nodes, [edge for edge in edges if edge.reason != reason], fixed), Colouring)


def _adjacency(nodes: int, edges: Sequence[Edge]) -> list[list[Edge]]:
    adjacent: list[list[Edge]] = [[] for _ in range(nodes)]
    for edge in edges:
        adjacent[edge.left].append(edge)
        if edge.right != edge.left:
            adjacent[edge.right].append(edge)
    return adjacent


def _shortest_odd(adjacent: list[list[Edge]], members: list[int], wanted: Mapping[int, int]) -> OddCycle:
    """The shortest contradiction in one component: breadth-first over (node, parity) from each node."""
    best: OddCycle | None = None
    for root in members:
        for end, parity in [(root, 1)] + [(n, 1 ^ c ^ wanted[root]) for n, c in wanted.items() if root in wanted and n != root]:
            path = _walk(adjacent, root, end, parity, len(best.edges) if best else None)
            if path is not None:
                best = OddCycle(tuple(path), () if end == root else (root, end))
        if best is not None and len(best.edges) == 1:
            break
    if best is None:
        raise RuntimeError("a component that is not two-colourable has an odd cycle")
    return best


def _walk(adjacent: list[list[Edge]], root: int, end: int, parity: int, limit: int | None) -> list[Edge] | None:
    """The shortest walk from `root` to `end` of length parity `parity`, shorter than `limit`; None if there is none."""
    came: dict[tuple[int, int], tuple[tuple[int, int], Edge] | None] = {(root, 0): None}
    layer, length = [(root, 0)], 0
    while layer and (end, parity) not in came and (limit is None or length + 1 < limit):
        length += 1
        following = []
        for state in layer:
            for edge in adjacent[state[0]]:
                reached = (edge.right if edge.left == state[0] else edge.left, 1 - state[1])
                if reached not in came:
                    came[reached] = (state, edge)
                    following.append(reached)
        layer = following
    if (end, parity) not in came:
        return None
    path: list[Edge] = []
    step = came[(end, parity)]
    while step is not None:
        path.append(step[1])
        step = came[step[0]]
    return path[::-1]


@dataclass(slots=True)
class OffsetUnion:
    """Sets of nodes with a fixed distance between any two of a set: `position(right) = position(left) + distance`."""

    parent: list[int] = field(default_factory=list)
    offset: list[int] = field(default_factory=list)     # to the parent

    def add(self) -> int:
        """A new node in a set of its own."""
        self.parent.append(len(self.parent))
        self.offset.append(0)
        return len(self.parent) - 1

    def find(self, node: int) -> tuple[int, int]:
        """The set's representative and the node's distance from it."""
        path = []
        while self.parent[node] != node:
            path.append(node)
            node = self.parent[node]
        distance = 0
        for member in reversed(path):
            distance += self.offset[member]
            self.parent[member], self.offset[member] = node, distance
        return node, distance

    def join(self, left: int, right: int, distance: int = 0) -> bool:
        """Ties `right` at `distance` behind `left`. False if the two are tied at another distance already."""
        left_root, left_offset = self.find(left)
        right_root, right_offset = self.find(right)
        if left_root == right_root:
            return right_offset - left_offset == distance
        self.parent[right_root] = left_root
        self.offset[right_root] = left_offset + distance - right_offset
        return True


class Sides:
    """Sets of nodes of which it is known who is on the same side as whom; `fixed` ones are on a given side."""

    def __init__(self, nodes: int, fixed: Mapping[int, int]) -> None:
        self._parent = list(range(nodes + 1))
        self._turned = [0] * (nodes + 1)        # against the parent
        for node, side in fixed.items():        # the last node is on side 0
            self._join(node, nodes, side)

    def _find(self, node: int) -> tuple[int, int]:
        path = []
        while self._parent[node] != node:
            path.append(node)
            node = self._parent[node]
        turned = 0
        for member in reversed(path):
            turned ^= self._turned[member]
            self._parent[member], self._turned[member] = node, turned
        return node, turned

    def _join(self, left: int, right: int, turned: int) -> bool:
        (one, mine), (other, theirs) = self._find(left), self._find(right)
        if one == other:
            return mine ^ theirs == turned
        self._parent[one], self._turned[one] = other, mine ^ theirs ^ turned
        return True

    def part(self, left: int, right: int) -> bool:
        """Puts two nodes on different sides. False if they are known to be on the same."""
        return self._join(left, right, 1)
