"""SRAM channels as a user holds them: memory, the 64 entries of the queue array as queues or as rings, and the channel's
registers.

All of it acts at the chip's current cycle and costs no time; what changes something is journalled. Addresses of memory are in
bytes, as everywhere in Python; link words, and what a queue holds, have word addresses, as the machine has them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ixpemu import arguments, codes
from ixpemu.chip_csrs import Registers
from ixpemu.chip_memory import Call, Memory, Store, Words
from ixpemu.diagnostics import user_error
from ixpemu.engine.host_queues import (
    HOST_CHANNEL_READ,
    HOST_CHANNEL_WRITE,
    HOST_DEQUEUE,
    HOST_ENQUEUE,
    HOST_ENQUEUE_TAIL,
    HOST_ENTRY_GET,
    HOST_ENTRY_PUT,
    HOST_ENTRY_SET,
    HOST_JOURNAL,
)
from ixpemu.engine.layout import CHANNEL_CSRS, QUEUE_COUNT, QUEUE_ENTRIES, QUEUE_HEAD, QUEUE_TAIL

END = 1 << 31
ADDRESS = 0xFFFFFF
RING_WORDS = tuple(512 << code for code in range(8))
"""Lengths that a ring or journal can have."""


class Entry:
    """One entry of the queue array: what queues and rings have in common."""

    what = "entry"

    def __init__(self, channel: Channel, number: int, state: Any, call: Call) -> None:
        self.channel = channel
        self.number = number
        self._state = state
        self._call = call
        self._k = QUEUE_ENTRIES * channel.number + number

    @property
    def head(self) -> int:
        """The head word: of a queue the link word of the next buffer, of a ring its length and the address of the oldest word."""
        return int(self._state.array_head[self._k])

    @property
    def tail(self) -> int:
        """The word address of the last buffer, or of the next word of a ring."""
        return int(self._state.array_tail[self._k])

    @property
    def count(self) -> int:
        """Packets in the queue, or words on the ring."""
        return int(self._state.array_count[self._k])

    @property
    def loaded(self) -> frozenset[str]:
        """Which of "head", "tail" and "count" have been set since reset, by a descriptor, an enqueue or from here."""
        there = int(self._state.array_set[self._k])
        parts = ((QUEUE_HEAD, "head"), (QUEUE_TAIL, "tail"), (QUEUE_COUNT, "count"))
        return frozenset(name for bit, name in parts if there & bit)

    def set(self, head: int, tail: int, count: int) -> None:
        """Set all three parts, whatever they make."""
        arguments.words("the head, tail and count of an entry", (head, tail, count))
        for part, value in ((QUEUE_HEAD, head), (QUEUE_TAIL, tail), (QUEUE_COUNT, count)):
            self._call(HOST_ENTRY_SET, self._k, value & 0xFFFFFFFF, part)

    def load(self, address: int) -> None:
        """Load the descriptor at byte `address`, a multiple of 16, as rd_qdesc_head and rd_qdesc_other do."""
        self._check_descriptor(address)
        self.set(*(int(word) for word in self.channel.read(address, 3)))

    def store(self, address: int) -> None:
        """Write head, tail and count to the descriptor at byte `address`, as wr_qdesc and wr_qdesc_count do."""
        self._check_descriptor(address)
        self.channel.write(address, [self.head, self.tail, self.count])

    def _check_descriptor(self, address: int) -> None:
        if arguments.whole("the address of a descriptor", address, code=codes.QUEUE_SETUP) % 16:
            raise user_error(codes.QUEUE_SETUP, f"no queue descriptor can be at {address:#x}",
                             help="descriptors are on multiples of 16 bytes")
        self.channel.check(address, 12)

    def __len__(self) -> int:
        return self.count


class Queue(Entry):
    """An entry of the queue array as a queue of buffers."""

    what = "queue"

    def setup(self) -> None:
        """Make it an empty queue."""
        self.set(0, 0, 0)

    def enqueue(self, address: int, *, cells: int = 0, end: bool = True) -> None:
        """Put the buffer at word `address` behind the others. `cells`: 0 to 127, 0 being one as well; `end`: it ends a packet."""
        self.check(address, cells)
        self._call(HOST_ENQUEUE, self._k, (END if end else 0) | cells << 24 | address)

    def check(self, address: int, cells: int = 0) -> None:
        """UserError unless there can be a buffer of so many cells at word `address`."""
        arguments.whole("the word address of a buffer", address, code=codes.QUEUE_SETUP)
        arguments.whole("the cells of a buffer", cells, 0, 127, code=codes.QUEUE_SETUP)
        if not 0 < address <= ADDRESS:
            raise user_error(codes.QUEUE_SETUP, f"a buffer at word address {address:#x} cannot be enqueued",
                             help="word addresses are from 1 to 0xffffff, 0 is NIL")
        self.channel.check(4 * address, 4)

    def enqueue_tail(self, address: int) -> None:
        """Say that the chain behind the last buffer, linked already, ends at word `address`."""
        self.channel.check(4 * arguments.whole("the word address of a buffer", address, code=codes.QUEUE_SETUP), 4)
        self._call(HOST_ENQUEUE_TAIL, self._k, address)

    def dequeue(self) -> int:
        """Take a cell off: the head's link word as it was before, 0 if the queue is empty."""
        return self._call(HOST_DEQUEUE, self._k)

    def links(self) -> Iterator[int]:
        """The link words of the buffers in it, from the head on, as far as a link leads."""
        word, seen = self.head if self.count else 0, set[int]()
        while word & ADDRESS and word & ADDRESS not in seen and 4 * (word & ADDRESS) < self.channel.length:
            yield word
            if word & ADDRESS == self.tail:
                return
            seen.add(word & ADDRESS)
            word = self.channel[4 * (word & ADDRESS)]

    def __repr__(self) -> str:
        return f"<queue {self.number} of {self.channel.name}: {self.count} packets>"


class SramRing(Entry):
    """An entry of the queue array as a ring or journal of words."""

    what = "ring"

    def setup(self, address: int, words: int) -> None:
        """Make it an empty ring of 512 to 65,536 words at byte `address`, a multiple of its length."""
        self.check(address, words)
        self.set(RING_WORDS.index(words) << 29 | address >> 2, address >> 2, 0)

    def check(self, address: int, words: int) -> None:
        """UserError unless there can be a ring of so many words at byte `address`."""
        arguments.whole("the address of a ring", address, code=codes.QUEUE_SETUP)
        if words not in RING_WORDS or address % (4 * words):
            raise user_error(
                codes.QUEUE_SETUP, f"ring {self.number} of {self.channel.name} cannot have {words} words at {address:#x}",
                help=f"{', '.join(str(length) for length in RING_WORDS)} words, at a multiple of the length")
        self.channel.check(address, 4 * words)

    @property
    def words(self) -> int:
        """Its length in words; 0 while it is not set up."""
        return RING_WORDS[self.head >> 29] if self.loaded else 0

    @property
    def used(self) -> int:
        """Words on it."""
        return self.count

    def put(self, value: int) -> bool:
        """Put a word behind the others; False, and nothing put, if it is full."""
        return bool(self._call(HOST_ENTRY_PUT, self._k, arguments.word("a word of a ring", value)) >> 31)

    def get(self) -> int:
        """Take the oldest word off, 0 if there is none."""
        return self._call(HOST_ENTRY_GET, self._k)

    def journal(self, value: int) -> None:
        """Put a word behind the others; a full one loses its oldest word."""
        self._call(HOST_JOURNAL, self._k, arguments.word("a word of a journal", value))

    def contents(self) -> list[int]:
        """The words on it, the oldest first."""
        if not self.words:
            return []
        base, first = self.head & ADDRESS & -self.words, self.head & ADDRESS & (self.words - 1)
        region = self.channel.read(4 * base, self.words)
        return [int(region[(first + k) % self.words]) for k in range(self.count)]

    def __repr__(self) -> str:
        return f"<ring {self.number} of {self.channel.name}: {self.used} of {self.words} words>"


class Channel(Memory):
    """An SRAM channel: its memory, `queue(n)` and `ring(n)` for the 64 entries of its queue array, `csr` its registers."""

    def __init__(self, number: int, memory: Words, store: Store, state: Any, call: Call) -> None:
        super().__init__(f"SRAM channel {number}", memory, int(state.sram_base[number]), int(state.sram_words[number]), store)
        self.number = number
        self._state = state
        self._call = call
        self.csr = Registers("sram", self._read_csr, self._write_csr)

    def queue(self, number: int) -> Queue:
        """Entry 0 to 63 of the queue array as a queue."""
        return Queue(self, self._entry(number), self._state, self._call)

    def ring(self, number: int) -> SramRing:
        """Entry 0 to 63 of the queue array as a ring or journal."""
        return SramRing(self, self._entry(number), self._state, self._call)

    def _entry(self, number: int) -> int:
        help = f"they are numbered 0 to {QUEUE_ENTRIES - 1}"
        arguments.whole("the number of an entry", number, -(1 << 64), code=codes.QUEUE_SETUP, help=help)
        if not 0 <= number < QUEUE_ENTRIES:
            raise user_error(codes.QUEUE_SETUP, f"{self.name} has no queue array entry {number}",
                             help=help)
        return number

    def _read_csr(self, address: int) -> int:
        return self._call(HOST_CHANNEL_READ, CHANNEL_CSRS * self.number + (address >> 2))

    def _write_csr(self, address: int, value: int) -> None:
        self._call(HOST_CHANNEL_WRITE, CHANNEL_CSRS * self.number + (address >> 2), value)
