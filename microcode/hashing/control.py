"""The XScale side of the flow table: sets it up, sends requests and takes answers.

The layout of memory and rings is drawn in flow.h; the figures here are the same. Requests go out when there is room for them and
answers come in when the XScale looks, every POLL_CYCLES.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from ixpemu.xscale import XScale

CHAINS, TABLE_BASE, LOCK_BASE, ENTRY_BASE, ENTRY_COUNT = 1024, 0x10000, 0x20000, 0x40000, 4096
FREE_QUEUE, FREE_DESCRIPTOR, LONGEST_IDLE = 0, 0x1000, 0x1010
LIVE_BIT, GRACE_TIME = 0x100, 4096
REQUEST_RING, ANSWER_RING, DELETED_RING = 0, 1, 2
REQUEST_BASE, REQUEST_SLOTS = 0x8000, 128
# Ring: byte address in scratch memory, words.
RINGS = {0: (0x0000, 256), 1: (0x0400, 256), 2: (0x1000, 1024)}
HASH_MULTIPLIER_128 = 0x4910
# Any multiplier that looks random does: four words, the low one first.
MULTIPLIER = (0x9E3779B9, 0x7F4A7C15, 0xBF58476D, 0x94D049BB)
POLL_CYCLES = 2_000
IDLE_UNIT = 16                  # cycles


class Operation(IntEnum):
    """What a request asks for."""

    FIND, INSERT, DELETE = 1, 2, 3


class Status(IntEnum):
    """What came of it. THERE: inserted before, and has the new value now."""

    DONE, MISSING, THERE, FULL = 0, 1, 2, 3


@dataclass(frozen=True, slots=True)
class Flow:
    """What tells one flow from another: addresses of 32 bits, ports of 16, the protocol's number."""

    source: int
    destination: int
    source_port: int
    destination_port: int
    protocol: int = 6

    def words(self) -> tuple[int, int, int, int]:
        """As a request has it."""
        return self.source, self.destination, self.source_port << 16 | self.destination_port, self.protocol


@dataclass(frozen=True, slots=True)
class Answer:
    """`entry` is a byte address in SRAM, 0 for none."""

    status: Status
    value: int
    entry: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A flow as it stands in SRAM. `used` is TIMESTAMP_LOW when it was last asked for."""

    flow: Flow
    value: int
    used: int
    chain: int


class Control:
    """Requests on their way and answers that have come, by number. Found as `xscale.program`."""

    def __init__(self, xscale: XScale) -> None:
        self._xscale = xscale
        self._waiting: deque[tuple[int, ...]] = deque()     # number and words of requests that have no slot yet
        self._slots = deque(REQUEST_BASE + 32 * slot for slot in range(REQUEST_SLOTS))
        self._open: dict[int, int] = {}                     # slot: number of the request that is in it
        self._asked = 0
        self.answers: dict[int, Answer] = {}

    def ask(self, operation: Operation, flow: Flow, value: int = 0) -> int:
        """Send a request as soon as there is a slot; its answer will be `answers[the number that is returned]`."""
        self._asked += 1
        self._waiting.append((self._asked, int(operation), *flow.words(), value))
        return self._asked

    def ask_all(self, requests: Iterable[tuple[Operation, Flow, int]]) -> list[int]:
        """The same for many."""
        return [self.ask(*request) for request in requests]

    @property
    def outstanding(self) -> int:
        """Requests without an answer so far."""
        return self._asked - len(self.answers)

    def set_longest_idle(self, cycles: int) -> None:
        """From now on a flow that nobody asks for goes after so many cycles; 0: it stays."""
        self._xscale.sram.write(LONGEST_IDLE, [cycles // IDLE_UNIT])

    def entries(self) -> dict[Flow, Entry]:
        """All flows that are in chains now."""
        found = {}
        for chain in range(CHAINS):
            at = self._xscale.sram.read(TABLE_BASE + 4 * chain, 1)[0]
            while at:
                following, source, destination, ports, protocol, value, used = self._xscale.sram.read(at, 7)
                flow = Flow(source, destination, ports >> 16, ports & 0xFFFF, protocol & 0xFF)
                found[flow] = Entry(flow, value, used, chain)
                at = following
        return found

    def save(self) -> Mapping[str, Any]:
        """What a snapshot keeps."""
        answers = {str(number): [int(answer.status), answer.value, answer.entry] for number, answer in self.answers.items()}
        return {"waiting": [list(request) for request in self._waiting], "slots": list(self._slots),
                "open": [[slot, number] for slot, number in self._open.items()], "asked": self._asked, "answers": answers}

    def load(self, saved: Mapping[str, Any]) -> None:
        """Back to what `save` gave."""
        self._waiting = deque(tuple(request) for request in saved["waiting"])
        self._slots, self._open, self._asked = deque(saved["slots"]), dict(saved["open"]), saved["asked"]
        self.answers = {int(number): Answer(Status(status), value, entry)
                        for number, (status, value, entry) in saved["answers"].items()}

    def poll(self) -> None:
        """Takes all answers, sends what there is room for, and comes again."""
        while slot := self._xscale.ring_get(ANSWER_RING):
            words = self._xscale.sram.read(slot, 7)
            self.answers[self._open.pop(slot)] = Answer(Status(words[0]), words[5], words[6])
            self._slots.append(slot)
        while self._waiting and self._slots:
            number, *words = self._waiting.popleft()
            slot = self._slots.popleft()
            self._open[slot] = number
            self._xscale.sram.write(slot, words)
            self._xscale.ring_put(REQUEST_RING, slot)
        self._xscale.after(POLL_CYCLES, self.poll)


def setup(xscale: XScale) -> None:
    """Rings, an empty table, free entries and the hash multiplier; before any microengine runs."""
    for ring, (address, words) in RINGS.items():
        xscale.ring_setup(ring, address, words, empty_flag=False)
    for place, word in enumerate(MULTIPLIER):
        xscale.cap.write(HASH_MULTIPLIER_128 + 4 * place, word)
    entries = range(ENTRY_BASE, ENTRY_BASE + 32 * ENTRY_COUNT, 32)
    xscale.queues.free_list(0, FREE_QUEUE, [address // 4 for address in entries])
    xscale.program = Control(xscale)
    xscale.program.poll()


def snapshot(xscale: XScale) -> object:
    """What the program keeps."""
    return xscale.program.save()


def restore(xscale: XScale, saved: Any) -> None:
    """Back to what `snapshot` gave."""
    xscale.program.load(saved)
