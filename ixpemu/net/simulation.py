"""Hosts joined by links, in simulated time: what is sent at one end arrives at the other, later, twice, out of order or never.

Everything follows from seeds: the same hosts, links and programs give the same frames at the same nanoseconds.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from ixpemu.net.tcp import NEVER
from ixpemu.net.tcp_host import Host
from ixpemu.wire import wire_length


@dataclass(slots=True)
class Link:
    """One way. `delay` in nanoseconds, `rate` in bits a second (None: no time on the wire); `loss`, `duplicate` and `reorder` are
    chances of a frame, a reordered one arriving up to `spread` nanoseconds later."""

    delay: int = 10_000
    rate: int | None = 1_000_000_000
    loss: float = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    spread: int = 1_000_000
    seed: int = 1
    lost: int = 0
    _free_at: int = 0
    _pick: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._pick = random.Random(self.seed)

    def arrivals(self, now: int, frame: bytes) -> list[int]:
        """When a frame that is sent now arrives: no time, one or two."""
        begin = max(now, self._free_at)
        if self.rate is not None:
            self._free_at = begin + wire_length(len(frame)) * 8 * 1_000_000_000 // self.rate
            begin = self._free_at
        if self._pick.random() < self.loss:
            self.lost += 1
            return []
        copies = 2 if self._pick.random() < self.duplicate else 1
        return [begin + self.delay + (self._pick.randrange(self.spread) if self._pick.random() < self.reorder else 0)
                for _ in range(copies)]


class Simulation:
    """Two hosts with a link each way, and whatever programs ask to be called for at a time."""

    def __init__(self, left: Host, right: Host, there: Link, back: Link) -> None:
        self.now = 0
        self.hosts = (left, right)
        self._links = (there, back)
        self._queue: list[tuple[int, int, Callable[[], None]]] = []
        self._count = 0
        self.watch: Callable[[int, int, bytes], None] | None = None
        """Called with the time, the sender (0 or 1) and each frame that is sent."""

    def at(self, when: int, function: Callable[[], None]) -> None:
        """Call a function at a time; of the same time in the order in which they were asked for."""
        self._count += 1
        heapq.heappush(self._queue, (max(when, self.now), self._count, function))

    def run(self, until: int) -> bool:
        """Go on to a time; whether nothing is left to happen before it."""
        while True:
            self._send()
            due = min(self._queue[0][0] if self._queue else NEVER, *(host.due for host in self.hosts))
            if due > until:
                self.now = until
                return due == NEVER
            self.now = max(self.now, due)
            while self._queue and self._queue[0][0] <= self.now:
                heapq.heappop(self._queue)[2]()
                self._send()
            for host in self.hosts:
                if host.due <= self.now:
                    host.act(self.now)

    def _send(self) -> None:
        for number, (host, link) in enumerate(zip(self.hosts, self._links, strict=True)):
            peer = self.hosts[1 - number]
            frames, host.frames = host.frames, []
            for frame in frames:
                if self.watch is not None:
                    self.watch(self.now, number, frame)
                for when in link.arrivals(self.now, frame):
                    self.at(when, lambda peer=peer, frame=frame: peer.receive(self.now, frame))     # type: ignore[misc]
