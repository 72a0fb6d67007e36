"""The trie against a brute-force longest prefix match, and what a walker sees while the trie is changed under it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ixpemu.diagnostics import UserError
from ixpemu.xscale.routes import Prefix, mask
from ixpemu.xscale.trie import NODE_BYTES, ROOT_BYTES, Trie

BASE = 0x40000
NOTHING = 0x7000_0000


class Memory:
    """Words by byte address; `watch` is called after every single word that is written."""

    def __init__(self) -> None:
        self.words: dict[int, int] = {}
        self.watch: Callable[[], None] | None = None

    def write(self, address: int, words: Sequence[int]) -> None:
        for index, word in enumerate(words):
            assert address & 3 == 0 and 0 <= word < 1 << 32
            self.words[address + 4 * index] = word
            if self.watch is not None:
                self.watch()


class Walk:
    """A microengine's walk, one reference at a time, so that it can be caught between two of them."""

    def __init__(self, memory: Memory, address: int) -> None:
        self.memory = memory
        self.offsets = [4 * (address >> 16), 4 * (address >> 8 & 0xFF), 4 * (address & 0xFF)]
        self.at = BASE
        self.references = 0
        self.leaf: int | None = None

    def step(self) -> None:
        word = self.memory.words[(self.at & ~3) + self.offsets[self.references]]
        self.references += 1
        if word & 1:
            self.leaf = word & ~3
        self.at = word


def walk(memory: Memory, address: int) -> tuple[int, int]:
    run = Walk(memory, address)
    while run.leaf is None:
        run.step()
    return run.leaf, run.references


def best(prefixes: dict[Prefix, int], address: int) -> int:
    found = [prefix for prefix in prefixes if prefix.covers(address)]
    return prefixes[max(found, key=lambda prefix: prefix.length)] if found else NOTHING


# Few distinct bits, so that prefixes fall onto and into each other.
addresses = st.builds(
    lambda parts: int.from_bytes(bytes(parts), "big"),
    st.tuples(st.sampled_from((10, 11, 128)), st.sampled_from((0, 1, 2)), st.sampled_from((0, 7, 255)), st.integers(0, 255)),
)
prefixes = st.builds(lambda address, length: Prefix(address & mask(length), length), addresses, st.integers(0, 32))
leaves = st.integers(1, 50).map(lambda number: 0x4000_0000 + 16 * number)
changes = st.lists(st.tuples(prefixes, st.one_of(st.none(), leaves)), max_size=12)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(prefixes, leaves, max_size=8), changes, st.lists(addresses, min_size=1, max_size=12))
def test_the_trie_is_a_longest_prefix_match_before_during_and_after_changes(
    first: dict[Prefix, int], steps: list[tuple[Prefix, int | None]], probes: list[int]
) -> None:
    memory = Memory()
    waiting: list[Callable[[], None]] = []
    trie = Trie(memory, BASE, 64, NOTHING, waiting.append)
    trie.build(first.items())
    model = dict(first)
    for prefix, leaf in steps:
        probed = [*probes, prefix.address, prefix.address | ~mask(prefix.length) & 0xFFFFFFFF]
        old = {address: best(model, address) for address in probed}
        # Walkers that are caught half way, to be finished after every write of the change.
        early = [Walk(memory, address) for address in probed]
        for walker in early:
            walker.step()
        if leaf is None:
            if prefix not in model:
                with pytest.raises(KeyError):
                    trie.remove(prefix)
                continue
            del model[prefix]
        else:
            model[prefix] = leaf
        new = {address: best(model, address) for address in probed}

        def right(old: dict[int, int] = old, new: dict[int, int] = new) -> None:
            for address in old:
                assert walk(memory, address)[0] in (old[address], new[address])

        writes = 0

        def sometimes(check: Callable[[], None] = right) -> None:
            nonlocal writes
            writes += 1
            if writes % 41 == 1 or writes < 4:
                check()

        memory.watch = sometimes
        if leaf is None:
            trie.remove(prefix)
        else:
            trie.set(prefix, leaf)
        memory.watch = None
        for walker, address in zip(early, probed, strict=True):
            while walker.leaf is None:
                walker.step()
            assert walker.leaf in (old[address], new[address])
        for address in probed:
            leaf_found, references = walk(memory, address)
            assert leaf_found == new[address] == trie.lookup(address)
            assert 1 <= references <= 3
        while waiting:
            waiting.pop()()
    assert trie.prefixes == model
    # Every node that holds nothing was given back.
    for prefix in list(model):
        trie.remove(prefix)
    while waiting:
        waiting.pop()()
    assert trie.nodes_in_use == 0


def test_an_old_node_is_not_used_again_before_its_grace_period_is_over() -> None:
    memory = Memory()
    waiting: list[Callable[[], None]] = []
    trie = Trie(memory, BASE, 3, NOTHING, waiting.append)
    trie.build([(Prefix(0x0A010000, 17), 0x100)])
    trie.set(Prefix(0x0A010000, 18), 0x200)             # more than one word: a copy
    assert len(waiting) == 1 and trie.nodes_in_use == 2
    assert memory.words[BASE + 4 * 0x0A01] == BASE + ROOT_BYTES + NODE_BYTES
    trie.set(Prefix(0x0A020000, 24), 0x300)             # takes the third node
    with pytest.raises(UserError) as refused:
        trie.set(Prefix(0x0A030000, 24), 0x300)
    assert "no room" in str(refused.value)
    assert trie.lookup(0x0A030000) == NOTHING
    waiting.pop()()
    trie.set(Prefix(0x0A030000, 24), 0x300)
    assert walk(memory, 0x0A030001)[0] == 0x300
    # No node is free for a copy now: the change is made in place and is right all the same.
    trie.set(Prefix(0x0A010000, 19), 0x400)
    assert not waiting
    assert [walk(memory, address)[0] for address in (0x0A010000, 0x0A012000, 0x0A014000)] == [0x400, 0x200, 0x100]


def test_one_reference_for_a_short_prefix_three_for_a_long_one() -> None:
    memory = Memory()
    trie = Trie(memory, BASE, 8, NOTHING, lambda done: done())
    trie.build([
        (Prefix(0, 0), 0x10), (Prefix(0x0A010000, 16), 0x20), (Prefix(0x0A020100, 24), 0x30), (Prefix(0x0A020205, 32), 0x40),
    ])
    assert walk(memory, 0x08080808) == (0x10, 1)
    assert walk(memory, 0x0A01FFFF) == (0x20, 1)
    assert walk(memory, 0x0A020101) == (0x30, 2)
    assert walk(memory, 0x0A020205) == (0x40, 3)
