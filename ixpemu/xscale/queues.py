"""The queue array of the SRAM channels as the XScale uses it: setting queues, rings and free lists up, putting in, taking out.

As on the chip, one access does one thing: what takes a word out acts at once, what puts one in when its time has come (see
agent.py), in order with the XScale's other writes. Setting up is several accesses. Addresses of buffers are word addresses,
those of rings byte addresses, as in `chip.sram[n].queue` and `.ring`, which are where it all goes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ixpemu.engine.layout import QUEUE_ENTRIES

if TYPE_CHECKING:
    from ixpemu.xscale.agent import Write, XScale

SETUP, ENQUEUE, RING, PUT = "array setup", "array enqueue", "array ring", "array put"
PLACES = frozenset((SETUP, ENQUEUE, RING, PUT))
"""`Write.place` of what is done here. Its address is 64 * channel + entry."""


class SramQueues:
    """What `xscale.queues` is. `channel` 0 or 1, `entry` 0 to 63. UserError for what cannot be, when it is asked for."""

    def __init__(self, xscale: XScale) -> None:
        self._xscale = xscale

    def setup(self, channel: int, entry: int) -> None:
        """Make an entry an empty queue: head, tail and count are three accesses."""
        self._xscale.chip.sram[channel].queue(entry)
        self._post(SETUP, channel, entry, (), 3)

    def enqueue(self, channel: int, entry: int, address: int, *, cells: int = 0, end: bool = True) -> None:
        """Put the buffer at word `address` behind the others; see `Queue.enqueue`."""
        self._xscale.chip.sram[channel].queue(entry).check(address, cells)
        self._post(ENQUEUE, channel, entry, (address, cells, int(end)))

    def free_list(self, channel: int, entry: int, buffers: Iterable[int]) -> None:
        """Make an entry a free list: an empty queue, and every buffer (word addresses) enqueued as a packet of one cell."""
        addresses = list(buffers)
        queue = self._xscale.chip.sram[channel].queue(entry)
        for address in addresses:
            queue.check(address)
        self.setup(channel, entry)
        for address in addresses:
            self.enqueue(channel, entry, address)

    def dequeue(self, channel: int, entry: int) -> int:
        """Take a cell off a queue: the head's link word, 0 if it is empty. What this side has still to enqueue does not count."""
        queue = self._xscale.chip.sram[channel].queue(entry)
        self._xscale.spend_accesses("sram_cycles")
        return queue.dequeue()

    def ring_setup(self, channel: int, entry: int, address: int, words: int) -> None:
        """Make an entry an empty ring of 512 to 65,536 words at byte `address`, a multiple of its length."""
        self._xscale.chip.sram[channel].ring(entry).check(address, words)
        self._post(RING, channel, entry, (address, words), 3)

    def ring_put(self, channel: int, entry: int, word: int) -> None:
        """Put a word on a ring. A full one refuses it, which nobody is told: look at `chip.sram[channel].ring(entry)` first."""
        self._xscale.chip.sram[channel].ring(entry)
        self._post(PUT, channel, entry, (word & 0xFFFFFFFF,))

    def ring_get(self, channel: int, entry: int) -> int:
        """Take the oldest word off a ring, 0 where there is none."""
        ring = self._xscale.chip.sram[channel].ring(entry)
        self._xscale.spend_accesses("sram_cycles")
        return ring.get()

    def _post(self, place: str, channel: int, entry: int, words: tuple[int, ...], accesses: int = 1) -> None:
        self._xscale.spend_accesses("sram_cycles", accesses)
        self._xscale.post(place, QUEUE_ENTRIES * channel + entry, words)

    def commit(self, write: Write) -> None:
        """Do what was posted."""
        channel, entry = divmod(write.address, QUEUE_ENTRIES)
        sram, words = self._xscale.chip.sram[channel], write.words
        if write.place == SETUP:
            sram.queue(entry).setup()
        elif write.place == ENQUEUE:
            sram.queue(entry).enqueue(words[0], cells=words[1], end=bool(words[2]))
        elif write.place == RING:
            sram.ring(entry).setup(words[0], words[1])
        else:
            sram.ring(entry).put(words[0])
