"""A longest-prefix-match table as a multi-bit trie in SRAM, changed while microengines walk it.

The first 16 bits of an address are looked up at once, the others 8 at a time: 1 to 3 references. Prefixes are pushed down to the
leaves, so that a walk never has to come back.

    root, 65,536 words                 node, 256 words               node, 256 words
    +--------------------+             +--------------------+        +--------------------+
    | word[addr[31:16]]  |---bit 0=0-->| word[addr[15:8]]   |---0--->| word[addr[7:0]]    |
    +--------------------+             +--------------------+        +--------------------+
              | bit 0 = 1                        | 1                           | 1 (always)
              v                                  v                             v
            leaf                               leaf                          leaf

    a word   [31:2] byte address of the next node or, in a leaf, whatever the caller means by it (an address of a next-hop entry)
             [1]    0
             [0]    1 = leaf, 0 = a node follows.   SRAM commands ignore the two low bits, so either can be used as it stands.

What a walker may meet during a change. It reads one word per level, and every word is written whole, so the walk of one
destination ends in the leaf that was right before the change or in the one that is right after it, never in a third. Where
more than one word of a node below the root changes, a new copy of the node is written first and then the one word that points to
it, so that the node's destinations change together; a prefix of up to 16 bits changes each /16 on its own. The old copy stays as
it was until `grace` has run what it was given: by then no walker may be inside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ixpemu import codes
from ixpemu.diagnostics import user_error
from ixpemu.xscale.routes import Prefix, mask

ROOT_BITS = 16
NODE_BITS = 8
ROOT_BYTES = 4 << ROOT_BITS
NODE_BYTES = 4 << NODE_BITS
LEAF = 1
NOWHERE = -1        # the depth of a cell that no prefix covers


class Words(Protocol):
    """Memory as the table needs it: rows of 32-bit words at byte addresses, each word written whole."""

    def write(self, address: int, words: Sequence[int]) -> None: ...


@dataclass(slots=True)
class _Node:
    """One node's cells: `leaf` the pushed-down leaf words, `depth` the length of the prefix that each came from.

    `prefix` is what the node's place stands for. `held` counts the prefixes longer than that which end in it or under it: a node
    that holds none is given back. `written` are the words in memory, None before the first writing.
    """

    prefix: Prefix
    bits: int
    address: int
    leaf: npt.NDArray[np.uint32]
    depth: npt.NDArray[np.int8]
    children: dict[int, _Node] = field(default_factory=dict)
    held: int = 0
    written: npt.NDArray[np.uint32] | None = None

    def cell(self, address: int) -> int:
        """The number of the cell that `address` falls into."""
        return address >> (32 - self.prefix.length - self.bits) & ((1 << self.bits) - 1)

    def words(self) -> npt.NDArray[np.uint32]:
        words = self.leaf | np.uint32(LEAF)
        for cell, child in self.children.items():
            words[cell] = child.address
        return words


class Trie:
    """The table. `base` is the byte address of the root; `nodes` nodes of 1 KB follow it.

    Leaves are 32-bit values with bits [1:0] 0; a leaf is found in memory with bit 0 set. `nothing` is the leaf of addresses
    that no prefix covers. `grace` is given a function to call once no walker can be where it was.
    """

    def __init__(
        self, memory: Words, base: int, nodes: int, nothing: int, grace: Callable[[Callable[[], None]], None]
    ) -> None:
        self._memory = memory
        self._grace = grace
        self._nothing = nothing
        self._free = [base + ROOT_BYTES + NODE_BYTES * number for number in reversed(range(nodes))]
        self._capacity = nodes
        self._live = False              # before `build` nothing is written
        self._leaves: dict[Prefix, int] = {}
        self._root = self._node(Prefix(0, 0), ROOT_BITS, base, nothing, NOWHERE)

    @property
    def prefixes(self) -> dict[Prefix, int]:
        """Every prefix with its leaf. A copy."""
        return dict(self._leaves)

    @property
    def nodes_in_use(self) -> int:
        """Nodes that cannot be given out, those waiting for the end of their grace period included; the root not counted."""
        return self._capacity - len(self._free)

    def save(self) -> dict[str, Any]:
        """This side's copy of the table, as a value. What is in memory is a snapshot's of the chip."""
        return deepcopy({name: value for name, value in vars(self).items() if name not in ("_memory", "_grace")})

    def load(self, saved: dict[str, Any]) -> None:
        """Go back to what `save` gave."""
        vars(self).update(deepcopy(saved))

    def build(self, prefixes: Iterable[tuple[Prefix, int]]) -> None:
        """Fills the empty table and writes it once, before anybody walks it."""
        if self._live:
            raise RuntimeError("a table is built once; use set and remove")
        for prefix, leaf in prefixes:
            self.set(prefix, leaf)
        self._live = True
        self._write_all(self._root)

    def set(self, prefix: Prefix, leaf: int) -> None:
        """Adds the prefix, or gives it another leaf."""
        if leaf & 3:
            raise ValueError(f"a leaf has bits [1:0] clear, unlike {leaf:#x}")
        before = self._leaves.get(prefix)
        if before == leaf:
            return
        if before is None:
            self._make_room(prefix)
        self._leaves[prefix] = leaf
        self._change(self._root, prefix, leaf, prefix.length, 1 if before is None else 0)
        self._publish_root(prefix)

    def remove(self, prefix: Prefix) -> None:
        """Takes the prefix out; KeyError where it is not in. Its destinations fall to the next longer one that covers them."""
        del self._leaves[prefix]
        leaf, depth = self._nothing, NOWHERE
        for length in reversed(range(prefix.length)):
            shorter = Prefix(prefix.address & mask(length), length)
            if shorter in self._leaves:
                leaf, depth = self._leaves[shorter], length
                break
        self._change(self._root, prefix, leaf, depth, -1)
        self._publish_root(prefix)

    def lookup(self, address: int) -> int:
        """The leaf for `address`, from this side's own copy of the table."""
        node = self._root
        while (cell := node.cell(address)) in node.children:
            node = node.children[cell]
        return int(node.leaf[cell])

    # A change has two halves: the cells are set in every node concerned, then nodes are published from the leaves up, so that
    # what a written pointer leads to is complete.

    def _make_room(self, prefix: Prefix) -> None:
        """Refuses a prefix that needs more nodes than are free, before anything is changed.

        Copies need none: where no node is free for one, words are changed in place.
        """
        node = self._root
        while prefix.length > node.prefix.length + node.bits and node.cell(prefix.address) in node.children:
            node = node.children[node.cell(prefix.address)]
        needed = -(-(prefix.length - node.prefix.length - node.bits) // NODE_BITS)
        if needed > len(self._free):
            raise user_error(
                codes.TABLE_FULL, f"no room for {prefix}: all {self._capacity} nodes of the route table are in use",
                help="give the table more SRAM, or fewer prefixes longer than /16; nodes just given up come back after their "
                     "grace period",
            )

    def _node(self, prefix: Prefix, bits: int, address: int, leaf: int, depth: int) -> _Node:
        cells = 1 << bits
        return _Node(prefix, bits, address, np.full(cells, leaf, np.uint32), np.full(cells, depth, np.int8))

    def _change(self, node: _Node, prefix: Prefix, leaf: int, depth: int, held: int) -> None:
        """Gives the cells under `prefix` that no longer prefix covers the leaf and depth; adds `held` to the nodes on the way."""
        node.held += held
        end = node.prefix.length + node.bits
        cell = node.cell(prefix.address)
        if prefix.length <= end:
            self._paint(node, cell, cell + (1 << (end - prefix.length)), leaf, depth, prefix.length)
            return
        child = node.children.get(cell)
        if child is None:
            below = Prefix(prefix.address & mask(end), end)
            child = self._node(below, NODE_BITS, self._free.pop(), int(node.leaf[cell]), int(node.depth[cell]))
            node.children[cell] = child
        self._change(child, prefix, leaf, depth, held)

    def _paint(self, node: _Node, first: int, last: int, leaf: int, depth: int, longest: int) -> None:
        concerned = node.depth[first:last] <= longest
        node.leaf[first:last][concerned] = leaf
        node.depth[first:last][concerned] = depth
        for cell, child in node.children.items():
            if first <= cell < last:
                self._paint(child, 0, 1 << child.bits, leaf, depth, longest)

    def _publish_root(self, prefix: Prefix) -> None:
        if not self._live:
            return
        root = self._root
        first = root.cell(prefix.address)
        last = first + (1 << max(ROOT_BITS - prefix.length, 0))
        retired: list[int] = []
        for cell in [cell for cell in root.children if first <= cell < last]:
            self._publish(root, cell, retired)
        words = root.words()
        before = self._written(root)
        for run in _runs(np.flatnonzero(words[first:last] != before[first:last]) + first):
            self._memory.write(root.address + 4 * run.start, [int(word) for word in words[run.start : run.stop]])
        root.written = words
        if retired:
            self._grace(lambda: self._free.extend(retired))

    def _publish(self, parent: _Node, cell: int, retired: list[int]) -> None:
        """Brings the node under `parent`'s cell, and those under it, into memory as they now are."""
        node = parent.children[cell]
        if node.held == 0:
            self._retire(node, retired)
            del parent.children[cell]
            return
        for below in list(node.children):
            self._publish(node, below, retired)
        words = node.words()
        if node.written is not None:
            if np.array_equal(words, node.written):
                return
            changed = np.flatnonzero(words != node.written)
            if len(changed) == 1 or not self._free:
                # One word is changed in place: no copy would be more at once than that. So are several where no node is free for
                # a copy; each destination still sees only its old leaf or its new one.
                for run in _runs(changed):
                    self._memory.write(node.address + 4 * run.start, [int(word) for word in words[run.start : run.stop]])
                node.written = words
                return
            retired.append(node.address)
            node.address = self._free.pop()
        self._memory.write(node.address, [int(word) for word in words])
        node.written = words

    def _retire(self, node: _Node, retired: list[int]) -> None:
        for child in node.children.values():
            self._retire(child, retired)
        retired.append(node.address)

    def _write_all(self, node: _Node) -> None:
        for child in node.children.values():
            self._write_all(child)
        node.written = node.words()
        self._memory.write(node.address, [int(word) for word in node.written])

    def _written(self, node: _Node) -> npt.NDArray[np.uint32]:
        if node.written is None:
            raise RuntimeError("the table is changed before it is built")
        return node.written


def _runs(cells: npt.NDArray[np.int64]) -> list[range]:
    """The numbers, which ascend, as ranges of neighbours."""
    if not len(cells):
        return []
    breaks = np.flatnonzero(np.diff(cells) != 1)
    starts = [0, *(int(at) + 1 for at in breaks)]
    ends = [*(int(at) for at in breaks), len(cells) - 1]
    return [range(int(cells[start]), int(cells[end]) + 1) for start, end in zip(starts, ends, strict=True)]
