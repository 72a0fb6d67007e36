"""Atomics against plain integers, one at a time and from 64 threads at once; scratch rings against deques, at every length."""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ixpemu import Chip
from tests.support.driver import Driver
from tests.support.machine import words_of

QUICK = settings(max_examples=12, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck))
WORD = 0xFFFFFFFF
values = st.one_of(st.sampled_from((0, 1, 0x7FFFFFFF, 0x80000000, WORD)), st.integers(0, WORD))
CHANGES = {
    "set": lambda word, operand: word | operand,
    "clr": lambda word, operand: word & (WORD ^ operand),
    "add": lambda word, operand: (word + operand) % (WORD + 1),
    "sub": lambda word, operand: (word - operand) % (WORD + 1),
    "swap": lambda word, operand: operand,
}


class Atomics(RuleBasedStateMachine):
    """Words of both SRAM channels and of scratch memory; low bits of an address do not count."""

    def __init__(self) -> None:
        super().__init__()
        self.driver = Driver()
        chip = self.driver.chip
        self.memories = {"sram 0": chip.sram[0], "sram 1": chip.sram[1], "scratch": chip.scratch}
        self.words = {(where, at): 0 for where in self.memories for at in (0, 4, 0xFFC)}

    @rule(place=st.data(), operation=st.sampled_from(sorted(CHANGES)), operand=values, returns=st.booleans(),
          low=st.integers(0, 3))
    def change(self, place: st.DataObject, operation: str, operand: int, returns: bool, low: int) -> None:
        where, at = place.draw(st.sampled_from(sorted(self.words)))
        unit, _, channel = where.partition(" ")
        if operation == "sub" and unit == "sram":
            operation = "add"
        old = self.words[where, at]
        name = operation if operation == "swap" or not returns else f"test_and_{operation}"
        found = self.driver.do(f"{unit}[{name}, $0, a0, b0], ctx_swap[s2]", int(channel or 0) << 30 | at | low, [operand])
        if name != operation or operation == "swap":
            assert found[0] == old
        self.words[where, at] = CHANGES[operation](old, operand)

    @rule(place=st.data(), step=st.sampled_from(("incr", "decr")), returns=st.booleans())
    def count(self, place: st.DataObject, step: str, returns: bool) -> None:
        where, at = place.draw(st.sampled_from(sorted(self.words)))
        unit, _, channel = where.partition(" ")
        command = f"{unit}[test_and_{step}, $0, a0, b0], ctx_swap[s2]" if returns else f"{unit}[{step}, --, a0, b0]"
        found = self.driver.do(command, int(channel or 0) << 30 | at)
        old = self.words[where, at]
        assert not returns or found[0] == old
        self.words[where, at] = (old + (1 if step == "incr" else -1)) % (WORD + 1)

    @rule(place=st.data(), operation=st.sampled_from(("set", "clr", "add", "swap")), operand=st.integers(0, 2047),
          returns=st.booleans())
    def without_pull(self, place: st.DataObject, operation: str, operand: int, returns: bool) -> None:
        """The operand in bits 22:12 of the previous result, and what is in the transfer register not touched."""
        where, at = place.draw(st.sampled_from(sorted(key for key in self.words if key[0] != "scratch")))
        channel = int(where[-1])
        returns |= operation == "swap"
        name = f"test_and_{operation}" if returns and operation != "swap" else operation
        token = "$0, a0, b0], ctx_swap[s2], no_pull" if returns else "--, a0, b0], ctx_swap[s2], no_pull"
        found = self.driver.do(f"sram[{name}, {token}", channel << 30 | at, [0x55555555], operand << 12 | 0x800000)
        old = self.words[where, at]
        assert not returns or found[0] == old
        self.words[where, at] = CHANGES[operation](old, operand)

    @invariant()
    def the_same(self) -> None:
        for (where, at), word in self.words.items():
            assert self.memories[where][at] == word, (where, at)
        assert self.driver.chip.reserved == {}


class ScratchRings(RuleBasedStateMachine):
    """One scratch ring: what is on it, and its status flag once the lag is over."""

    def __init__(self) -> None:
        super().__init__()
        self.driver = Driver()

    @initialize(code=st.integers(0, 3), number=st.integers(0, 11), empty_flag=st.booleans(), fill=st.integers(0, 20),
                skip=st.integers(0, 140))
    def start(self, code: int, number: int, empty_flag: bool, fill: int, skip: int) -> None:
        self.length, self.number, self.empty_flag = 128 << code, number, empty_flag
        self.ring = self.driver.chip.scratch.ring(number)
        self.ring.setup(0x2000, self.length, empty_flag=empty_flag)
        self.model: deque[int] = deque()
        for k in range(skip % self.length):                       # so that it wraps soon
            self.ring.put(k)
            self.ring.get()
        for k in range(self.length - fill - 1):
            self.ring.put(k)
            self.model.append(k)

    @rule(words=st.lists(st.integers(0, WORD), min_size=1, max_size=8))
    def put(self, words: list[int]) -> None:
        words = words[: self.length - len(self.model)]
        if words:
            self.driver.do(f"scratch[put, $0, a0, b0, {len(words)}], ctx_swap[s2]", self.number << 2, words)
            self.model.extend(words)

    @rule(count=st.integers(1, 8))
    def get(self, count: int) -> None:
        count = min(count, len(self.model)) or count
        found = self.driver.do(f"scratch[get, $0, a0, b0, {count}], ctx_swap[s2]", self.number << 2)
        assert found[:count] == [self.model.popleft() if self.model else 0 for _ in range(count)]

    @precondition(lambda self: hasattr(self, "ring"))
    @rule()
    def flag(self) -> None:
        """br_inp_state, long after the last change."""
        self.driver.chip.run(cycles=50)
        self.driver.do(f"immed[$1, 2]\nbr_inp_state[SCR_RING{self.number}_STATUS, set#]\nimmed[$1, 1]\nset#:\n"
                       "scratch[swap, $1, a0, b0], ctx_swap[s2]", 0x100)
        status = self.driver.chip.scratch[0x100] == 2
        assert status == (not self.model if self.empty_flag else len(self.model) >= self.length * 6 // 8)

    @invariant()
    def the_same(self) -> None:
        if hasattr(self, "ring"):
            assert self.ring.used == len(self.model)
            csr, base = self.driver.chip.cap, 0x4800 + 0x10 * self.number
            assert ((csr.read(base + 8) - csr.read(base + 4)) >> 2) % self.length == len(self.model) % self.length
            assert self.driver.chip.reserved == {}


TestAtomics = Atomics.TestCase
TestAtomics.settings = QUICK
TestScratchRings = ScratchRings.TestCase
TestScratchRings.settings = QUICK


@pytest.mark.parametrize("code", range(4))
def test_a_scratch_ring_fills_wraps_and_empties_at_every_length(code: int) -> None:
    length = 128 << code
    driver = Driver()
    ring = driver.chip.scratch.ring(3)
    ring.setup(0x1000, length)
    for base in (0, 1000):                                         # the second time round, with head and tail elsewhere
        for k in range(0, length, 8):
            driver.do("scratch[put, $0, a0, b0, 8], ctx_swap[s2]", 12, range(base + k, base + k + 8))
            assert ring.status == (k + 8 >= length * 6 // 8)
        assert ring.used == length
        assert driver.chip.cap.read(0x4834) == driver.chip.cap.read(0x4838)       # head and tail meet on a full ring
        found = []
        for _ in range(0, length, 8):
            found += driver.do("scratch[get, $0, a0, b0, 8], ctx_swap[s2]", 12)[:8]
        assert found == list(range(base, base + length))
        assert ring.used == 0
        ring.put(1)
        assert driver.do("scratch[get, $0, a0, b0, 1], ctx_swap[s2]", 12)[0] == 1
    assert driver.chip.reserved == {}
    for k in range(length + 1):
        ring.put(k)
    assert driver.chip.reserved == {"put on a full ring": 1}


THREADS = 64


def with_all_threads(text: str, mode: str = "default") -> Chip:
    """Every thread of every microengine runs the text, with its own number in a7, from 1 on."""
    chip = Chip(mode=mode)
    words = words_of(text)
    for me in range(8):
        chip.load_words(me, words, start=False)
        for ctx in chip.me[me].ctx:
            ctx.gpr_a[7] = 1 + 8 * me + ctx.number
        chip.start(me)
    return chip


@pytest.mark.parametrize("unit", ["sram", "scratch"])
def test_increments_of_64_threads_are_all_there(unit: str) -> None:
    """Each thread counts up 5 times; every old value that comes back is another one, from 0 on without a gap."""
    turns = 5
    chip = with_all_threads(f"""
        immed[a0, 0x40]
        immed[a1, {turns}]
    turn#:
        {unit}[test_and_incr, $0, a0, 0], ctx_swap[s2]
        alu_shf[a2, --, B, $0, <<2]
        alu[$1, --, B, a7]
        sram[write, $1, a2, b3, 1], sig_done[s4]
        scratch[incr, --, a0, 8]
        ctx_arb[s4]
        alu[a1, a1, -, 1]
        bne[turn#]
        ctx_arb[kill]
    """)
    for me in range(8):
        for ctx in chip.me[me].ctx:
            ctx.gpr_b[3] = 0x1000
    assert chip.run(cycles=200_000).reason == "quiet"
    memory = chip.sram[0] if unit == "sram" else chip.scratch
    assert memory[0x40] == THREADS * turns
    assert chip.scratch[0x48] == THREADS * turns
    owners = chip.sram[0].read(0x1000, THREADS * turns).tolist()
    assert sorted(owners) == [thread for thread in range(1, THREADS + 1) for _ in range(turns)]
    assert chip.reserved == {}


@pytest.mark.parametrize("unit", ["sram", "scratch"])
def test_a_lock_keeps_64_threads_apart(unit: str) -> None:
    """A counter that is read, changed and written by plain commands under a lock taken with test_and_set: nothing is lost."""
    chip = with_all_threads(f"""
        immed[a0, 0x40]
    again#:
        immed[$0, 1]
        {unit}[test_and_set, $0, a0, 0], ctx_swap[s2]
        alu[--, $0, -, 0]
        bne[again#]
        sram[read, $2, a0, 16, 1], ctx_swap[s4]
        alu[$2, $2, +, 1]
        sram[write, $2, a0, 16, 1], ctx_swap[s4]
        immed[$3, 1]
        {unit}[clr, $3, a0, 0], ctx_swap[s4]
        ctx_arb[kill]
    """)
    assert chip.run(cycles=400_000).reason == "quiet"
    assert chip.sram[0][0x50] == THREADS
    assert chip.reserved == {}


def test_the_same_counter_without_the_lock_loses_increments() -> None:
    """Otherwise the lock test would show nothing."""
    chip = with_all_threads("""
        immed[a0, 0x40]
        sram[read, $2, a0, 16, 1], ctx_swap[s4]
        alu[$2, $2, +, 1]
        sram[write, $2, a0, 16, 1], ctx_swap[s4]
        ctx_arb[kill]
    """)
    assert chip.run(cycles=100_000).reason == "quiet"
    assert 0 < chip.sram[0][0x50] < THREADS


def test_ring_and_queue_of_64_threads_lose_and_double_nothing() -> None:
    """Each thread takes a buffer from a queue, puts it on an SRAM ring, takes one off the ring and frees that."""
    chip = with_all_threads("""
        sram[dequeue, $0, a4, 0], ctx_swap[s4]
        alu[$1, --, B, $0]
        sram[put, $1, a5, 0, 1], ctx_swap[s2]
        sram[get, $2, a5, 0, 1], ctx_swap[s4]
        alu_shf[b2, --, B, $2, <<8]
        alu_shf[b2, --, B, b2, >>8]
        sram[enqueue, --, a6, b2]
        ctx_arb[kill]
    """)
    for me in range(8):
        for ctx in chip.me[me].ctx:
            ctx.gpr_a[4:7] = 1 << 24, 2 << 2, 3 << 24
    sram = chip.sram[0]
    sram.queue(1).setup()
    sram.queue(3).setup()
    sram.ring(2).setup(0x4000, 512)
    for k in range(THREADS):
        sram.queue(1).enqueue(0x2000 + k)
    assert chip.run(cycles=100_000).reason == "quiet"
    assert (len(sram.queue(1)), len(sram.queue(3)), sram.ring(2).used) == (0, THREADS, 0)
    assert sorted(word & 0xFFFFFF for word in sram.queue(3).links()) == [0x2000 + k for k in range(THREADS)]
    assert chip.reserved == {}
