"""Instructions that only copy one register into another: which live ranges they make equal, and which can share a register.

Two live ranges of which one is a copy of the other need not differ while neither gets another value. Where they share a register
the instruction stays, and does nothing but set the condition codes. What shares is a wish: it gives way where it would cost a
register or a bank.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ixpemu.asm.dataflow import Graph, forward
from ixpemu.asm.flow import File, Flow, Kind, Site
from ixpemu.asm.graphs import Colouring
from ixpemu.asm.numbers import cells_of

MOST_ALIKE = 64     # registers that are looked at as copies of one value: more than a context has


@dataclass(frozen=True, slots=True)
class Copy:
    """One such instruction, its point, and the webs that it copies from and to."""

    instruction: int
    node: int
    source: int
    target: int


def find(flow: Flow, at: Mapping[tuple[Site, File], int], pinned: Sequence[bool]) -> list[Copy]:
    """The copies of one general purpose register into another. Names that others change are left out."""
    out = []
    for node, point in enumerate(flow.nodes):
        copies = flow.facts[point.instruction].copies if point.kind is Kind.INSTRUCTION else None
        if copies is None:
            continue
        target, source = (at.get((Site(point.instruction, operand), File.GPR)) for operand in copies)
        if target is not None and source is not None and target != source and not pinned[target] and not pinned[source]:
            out.append(Copy(point.instruction, node, source, target))
    return out


def alike(flow: Flow, graph: Graph, copies: Sequence[Copy], of_occurrence: Sequence[int]) -> dict[int, int]:
    """For the point of each copy the webs that are known to be equal to what it copies, its source among them, as a mask."""
    if not copies:
        return {}
    involved: dict[int, int] = {}       # web -> copies that no longer hold once it is written
    for number, copy in enumerate(copies):
        for web in (copy.source, copy.target):
            involved[web] = involved.get(web, 0) | 1 << number
    ends, begins = [0] * len(flow.nodes), [0] * len(flow.nodes)
    for number, occurrence in enumerate(flow.occurrences):
        if occurrence.writes:
            ends[occurrence.node] |= involved.get(of_occurrence[number], 0)
    for number, copy in enumerate(copies):
        begins[copy.node] |= 1 << number
    # A copy holds where it cannot have ended, or not have happened, on any path.
    everything = (1 << len(copies)) - 1
    start = dict.fromkeys(flow.starts, everything) if flow.nodes else {}
    over = forward(graph, [end & ~begin for end, begin in zip(ends, begins, strict=True)], begins, start)
    out = {}
    for copy in copies:
        holding, reached = everything & ~over[copy.node], [copy.source]
        mask = 1 << copy.source
        for web in reached:
            for number in cells_of(involved[web] & holding):
                for other in (copies[number].source, copies[number].target):
                    if not mask >> other & 1 and len(reached) < MOST_ALIKE:
                        mask |= 1 << other
                        reached.append(other)
        out[copy.node] = mask
    return out


@dataclass(slots=True)
class Sharing:
    """Which webs are to share, decided one copy after another. `colouring`: that of the webs, by the pairs of sources."""

    rivals: Sequence[int]
    colouring: Colouring
    parent: dict[int, int] = field(default_factory=dict)
    mask: dict[int, int] = field(default_factory=dict)
    against: dict[int, int] = field(default_factory=dict)
    parts: dict[int, tuple[int, int]] = field(default_factory=dict)    # component -> the one it is tied to, and whether turned

    def root(self, web: int) -> int:
        """The web that stands for all that share with `web`."""
        while web in self.parent:
            web = self.parent[web]
        return web

    def part(self, web: int) -> tuple[int, int]:
        """The component that the web lies in by now, and on which side of it."""
        part, side = self.colouring.component[web], self.colouring.colour[web]
        while part in self.parts:
            part, turned = self.parts[part]
            side ^= turned
        return part, side

    def members(self, root: int) -> int:
        """All that share with the web `root`, itself among them, as a mask."""
        return self.mask.get(root, 1 << root)

    def rivals_of(self, root: int) -> int:
        """What none of them can share with, as a mask."""
        return self.against.get(root, self.rivals[root])

    def join(self, left: int, right: int) -> bool:
        """Lets two webs, and all that share with them, share. False if that cannot be."""
        left, right = sorted((self.root(left), self.root(right)))
        if left == right:
            return True
        own, theirs = self.members(left), self.members(right)
        if self.rivals_of(left) & theirs:
            return False
        (one, side), (other, other_side) = self.part(left), self.part(right)
        if one == other and side != other_side:
            return False
        if one != other:
            held = self.colouring.fixed
            if one in held and other in held and side != other_side:
                return False
            if one in held:
                one, other = other, one
            if one not in held:
                self.parts[one] = other, side ^ other_side
        self.against[left] = self.rivals_of(left) | self.rivals_of(right)
        self.mask[left] = own | theirs
        self.parent[right] = left
        return True
