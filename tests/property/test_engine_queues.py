"""The queue array against lists and deques: queues with cells, packets and modes, descriptors, rings, journals.

Every step is one command of a microengine or one call from Python; after each the whole entry is compared. The models know
nothing of heads, tails and links: they hold what was put in.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.support.driver import Driver

QUICK = settings(max_examples=12, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck))
END = 1 << 31
ENTRIES = (0, 7, 63)
entries = st.sampled_from(ENTRIES)


@dataclass(slots=True)
class Buffer:
    """A buffer in a queue: its word address, the cells left, whether it ends a packet."""

    address: int
    cells: int
    end: bool

    @property
    def link(self) -> int:
        return (END if self.end else 0) | self.cells << 24 | self.address


class Queues(RuleBasedStateMachine):
    """Three queues of one channel and their descriptors in memory."""

    def __init__(self) -> None:
        super().__init__()
        self.driver = Driver()
        self.channel = 0
        self.control = 0
        self.queues: dict[int, list[Buffer]] = {entry: [] for entry in ENTRIES}
        self.free = deque(range(0x400, 0x440))

    @initialize(channel=st.integers(0, 1), control=st.sampled_from((0, 1 << 13, 1 << 14, 3 << 13, 1 << 12)))
    def start(self, channel: int, control: int) -> None:
        """The modes: take whole buffers, count every buffer, a start-of-packet flag in bit 30."""
        self.channel, self.control = channel, control
        self.sram = self.driver.chip.sram[channel]
        self.driver.do("sram[csr_wr, $0, a0, b0], ctx_swap[s1]", channel << 30, [control])
        for entry in ENTRIES:
            self.sram.queue(entry).setup()

    def address(self, entry: int, word: int) -> int:
        return self.channel << 30 | entry << 24 | word

    def packets(self, entry: int) -> int:
        queue = self.queues[entry]
        return len(queue) if self.control >> 14 & 1 else sum(buffer.end for buffer in queue)

    @precondition(lambda self: self.free)
    @rule(entry=entries, cells=st.integers(0, 3), sop=st.booleans(), by_python=st.booleans())
    def enqueue(self, entry: int, cells: int, sop: bool, by_python: bool) -> None:
        """A packet of one buffer. In the view with a start-of-packet flag that is the top bit of the cells."""
        cells |= 0x40 if sop and self.control >> 12 & 1 else 0
        buffer = Buffer(self.free.popleft(), cells, True)
        self.queues[entry].append(buffer)
        if by_python:
            self.sram.queue(entry).enqueue(buffer.address, cells=cells)
        else:
            self.driver.do("sram[enqueue, --, a0, b0], ctx_swap[s1]", self.address(entry, buffer.address), (),
                           1 << 20 | buffer.link >> 24 << 12)

    @precondition(lambda self: self.free)
    @rule(entry=entries)
    def enqueue_plainly(self, entry: int) -> None:
        """Without an override a buffer ends a packet and has one cell."""
        buffer = Buffer(self.free.popleft(), 0, True)
        self.queues[entry].append(buffer)
        self.driver.do("sram[enqueue, --, a0, b0]", self.address(entry, buffer.address))

    @precondition(lambda self: len(self.free) >= 3 and not self.control >> 14 & 1)
    @rule(entry=entries, count=st.integers(2, 3), cells=st.integers(0, 2))
    def enqueue_chain(self, entry: int, count: int, cells: int) -> None:
        """A packet of several buffers that software has linked: the first is enqueued, the tail moved to the last."""
        chain = [Buffer(self.free.popleft(), cells, k == count - 1) for k in range(count)]
        for before, after in pairwise(chain):
            self.driver.do("sram[write, $0, a0, b0, 1], ctx_swap[s1]", self.channel << 30 | 4 * before.address, [after.link])
        self.queues[entry] += chain
        first = chain[0]
        self.driver.do("sram[enqueue, --, a0, b0]", self.address(entry, first.address), (), 1 << 20 | first.link >> 24 << 12)
        self.driver.do("sram[enqueue_tail, --, a0, b0]", self.address(entry, chain[-1].address))

    @rule(entry=entries, by_python=st.booleans())
    def dequeue(self, entry: int, by_python: bool) -> None:
        if by_python:
            found = self.sram.queue(entry).dequeue()
        else:
            found = self.driver.do("sram[dequeue, $3, a0, b0], ctx_swap[s1]", self.address(entry, 0x1234))[3]
        queue = self.queues[entry]
        if not queue:
            assert found == 0
            return
        first = queue[0]
        assert found == first.link
        cells = first.cells & (0x3F if self.control >> 12 & 1 else 0x7F)
        if cells > 1 and not self.control >> 13 & 1:
            first.cells -= 1
        else:
            self.free.append(queue.pop(0).address)

    @rule(entry=entries, head_first=st.booleans())
    def evict_and_load(self, entry: int, head_first: bool) -> None:
        """Write the descriptor back, use the entry for something else, load the descriptor again."""
        descriptor = 0x100 + 4 * ENTRIES.index(entry)
        place = self.address(entry, descriptor)
        before = self.sram.queue(entry)
        kept = [before.head, before.tail, before.count]
        self.driver.do("sram[wr_qdesc, --, a0, b0]", place)
        self.driver.do("sram[wr_qdesc_count, --, a0, b0]", place)
        assert self.sram.read(4 * descriptor, 3).tolist() == kept
        self.sram.queue(entry).set(0x1234, 0x5678, 9)
        which = "head" if head_first else "tail"
        words = self.driver.do(f"sram[rd_qdesc_{which}, $0, a0, b0, 3], ctx_swap[s1]", place)
        assert words[:3] == kept
        assert self.sram.queue(entry).loaded == {which, "count"}
        self.driver.do("sram[rd_qdesc_other, --, a0, b0]", place)
        assert self.sram.queue(entry).loaded == {"head", "tail", "count"}

    @invariant()
    def the_same(self) -> None:
        if not hasattr(self, "sram"):
            return
        for entry, queue in self.queues.items():
            found = self.sram.queue(entry)
            assert list(found.links()) == [buffer.link for buffer in queue]
            assert len(found) == self.packets(entry)
            assert (found.tail if queue else 0) == (queue[-1].address if queue else 0)
        assert self.driver.chip.reserved == {}


class Rings(RuleBasedStateMachine):
    """A ring and a journal of one channel."""

    def __init__(self) -> None:
        super().__init__()
        self.driver = Driver()

    @initialize(code=st.integers(0, 2), channel=st.integers(0, 1), fill=st.integers(0, 40), skip=st.integers(0, 600))
    def start(self, code: int, channel: int, fill: int, skip: int) -> None:
        """Rings that are nearly full, and nearly at the place where they wrap."""
        self.channel = channel
        self.sram = self.driver.chip.sram[channel]
        self.length = 512 << code
        self.models: dict[int, deque[int]] = {}
        for entry, base in ((5, 0x8000), (6, 0xC000)):
            self.sram.ring(entry).setup(base, self.length)
            place = (base >> 2) + skip % self.length
            used = self.length - fill
            words = [entry << 16 | k for k in range(used)]
            for k, word in enumerate(words):
                self.sram[base + 4 * ((skip + k) % self.length)] = word
            self.sram.ring(entry).set(code << 29 | place, (base >> 2) + (skip + used) % self.length, used)
            self.models[entry] = deque(words, maxlen=self.length)

    def address(self, entry: int) -> int:
        return self.channel << 30 | entry << 2

    @rule(words=st.lists(st.integers(0, 0xFFFFFFFF), min_size=1, max_size=16))
    def put(self, words: list[int]) -> None:
        """All or nothing, and the status says which and how many there were."""
        model = self.models[5]
        before = len(model)
        override = 1 << 25 | len(words) - 1 << 21
        found = self.driver.do("sram[put, $0, a0, b0, max_8], ctx_swap[s2]", self.address(5), words, override)[0]
        room = before + len(words) <= self.length
        assert found == (END if room else 0) | before
        if room:
            model.extend(words)

    @rule(count=st.integers(1, 16))
    def get(self, count: int) -> None:
        model = self.models[5]
        count = min(count, len(model)) or count                   # never some but not all
        found = self.driver.do("sram[get, $0, a0, b0, max_8], ctx_swap[s2]", self.address(5), (), 1 << 25 | count - 1 << 21)
        assert found[:count] == [model.popleft() if model else 0 for _ in range(count)]

    @rule(words=st.lists(st.integers(0, 0xFFFFFFFF), min_size=1, max_size=8))
    def journal(self, words: list[int]) -> None:
        """Never refused: the oldest words go."""
        self.driver.do(f"sram[journal, $0, a0, b0, {len(words)}], ctx_swap[s2]", self.address(6), words)
        self.models[6].extend(words)

    @rule(word=st.integers(0, 0xFFFFFF))
    def fast_journal(self, word: int) -> None:
        self.driver.do("sram[fast_journal, --, a0, b0]", self.channel << 30 | 6 << 24 | word)
        self.models[6].append(word)

    @rule(word=st.integers(0, 0xFFFFFFFF))
    def by_python(self, word: int) -> None:
        ring, model = self.sram.ring(5), self.models[5]
        assert ring.put(word) == (len(model) < self.length)
        if len(model) < self.length:
            model.append(word)
        self.sram.ring(6).journal(word)
        self.models[6].append(word)
        assert ring.get() == model.popleft()

    @invariant()
    def the_same(self) -> None:
        if not hasattr(self, "sram"):
            return
        for entry, model in self.models.items():
            ring = self.sram.ring(entry)
            assert (ring.used, ring.words) == (len(model), self.length)
            assert ring.contents() == list(model)
        assert self.driver.chip.reserved == {}


TestQueues = Queues.TestCase
TestQueues.settings = QUICK
TestRings = Rings.TestCase
TestRings.settings = QUICK


@pytest.mark.parametrize("code", range(8))
def test_a_ring_fills_wraps_and_empties_at_every_length(code: int) -> None:
    """Full to the last word and no further, empty to the last word and no further, round its end."""
    length = 512 << code
    driver = Driver()
    ring = driver.chip.sram[0].ring(9)
    ring.setup(0x100000, length)
    put, get = "sram[put, $0, a0, b0, 4], ctx_swap[s2]", "sram[get, $0, a0, b0, 4], ctx_swap[s2]"
    # Words come from memory as they are: full but for 6, with the tail just before the end of the region.
    first = 0x40000 + length - 4
    ring.set(code << 29 | 0x40000 + 2, first, length - 6)
    driver.chip.sram[0].write(0x100008, [11, 12, 13, 14])
    assert driver.do(put, 9 << 2, [21, 22, 23, 24])[0] == END | length - 6
    assert ring.tail == 0x40000                                    # wrapped
    assert driver.do(put, 9 << 2, [25, 26, 27, 28])[0] == length - 2        # no room for four: refused
    assert driver.do("sram[put, $0, a0, b0, 2], ctx_swap[s2]", 9 << 2, [31, 32])[0] == END | length - 2
    assert ring.used == length
    assert driver.do("sram[put, $0, a0, b0, 1], ctx_swap[s2]", 9 << 2, [33])[0] == length
    assert driver.do(get, 9 << 2)[:4] == [11, 12, 13, 14]
    assert ring.used == length - 4
    ring.set(code << 29 | first, 0x40000 + 2, 6)                   # all but the last six taken
    assert driver.do(get, 9 << 2)[:4] == [21, 22, 23, 24]
    assert driver.do("sram[get, $0, a0, b0, 2], ctx_swap[s2]", 9 << 2)[:2] == [31, 32]
    assert ring.used == 0
    assert driver.do(get, 9 << 2)[:4] == [0, 0, 0, 0]
    assert driver.chip.reserved == {}
