"""Hosts at the ports of a chip: what a port sends reaches its host after the link's delay, what the host sends reaches the port.

An agent of the chip. It looks every so many cycles as the shortest delay takes, so that nothing can be noticed before it has
happened: what left the chip since the last look is not with a host yet, and what hosts have sent has not arrived. Frames are fed
to ports with their exact times, by `Port.feed`, whose journal entries do the same again without a host.
"""

from __future__ import annotations

import copy
import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ixpemu import arguments, codes
from ixpemu.chip import Chip
from ixpemu.net.simulation import Link
from ixpemu.net.tcp import NEVER
from ixpemu.net.tcp_host import Host


def wire(delay: int = 10_000, **chances: Any) -> Link:
    """A link to or from a port, whose own line says how long a frame takes: it only delays, loses, repeats and mixes up."""
    return Link(delay=delay, rate=None, **chances)


@dataclass(slots=True)
class Attached:
    """A host and the wires to and from its port."""

    host: Host
    to_port: Link
    from_port: Link
    seen: int = 0                                       # frames of `port.sent` that are on their way or there
    waiting: list[tuple[int, int, bytes]] = field(default_factory=list)     # to the port: arrival, order, frame


class Hosts:
    """The hosts of a chip, by port. Times are nanoseconds since the chip's reset."""

    def __init__(self, chip: Chip) -> None:
        self._chip = chip
        self._attached: dict[int, Attached] = {}
        self._events: list[tuple[int, int, int, Any]] = []      # time, order, port, frame or function
        self._count = 0
        self._next = 0
        chip.attach(self)

    def attach(self, port: int, host: Host, to_port: Link | None = None, from_port: Link | None = None) -> None:
        """Put a host at the end of a port's line; its frames are kept in `port.sent` from now on."""
        there, back = to_port or wire(), from_port or wire()
        if min(there.delay, back.delay) < 1_000:
            raise arguments.wrong("the delay of a link", min(there.delay, back.delay), "at least 1,000 ns: 200 m of fibre",
                                  codes.RUN_ARGUMENT)
        self._chip.ports[port].capture()
        self._attached[port] = Attached(host, there, back)

    def at(self, when: int, port: int, function: Callable[[int], None]) -> None:
        """Call a function of the host at `port` at a time, with the time."""
        self._push(when, port, function)

    @property
    def now(self) -> int:
        """The chip's time in nanoseconds."""
        return self._nanoseconds(self._chip.cycle)

    # What the chip calls

    def due(self) -> int:
        """The next look."""
        return self._next

    def busy(self) -> bool:
        """Whether a frame is on its way or a host has connections."""
        return bool(self._events) or any(one.waiting or one.host.connections for one in self._attached.values())

    def interrupt(self, cycle: int, source: str) -> bool | None:
        """None of a host's business."""
        return False

    def act(self, cycle: int) -> None:
        """Take what has left the chip, let the hosts get to its time, and hand over what arrives before the next look."""
        now = self._nanoseconds(cycle)
        delays = [link.delay for one in self._attached.values() for link in (one.to_port, one.from_port)]
        step = min(delays, default=10_000)
        self._next = self._chip.ports[0].line.cycle_of(now + step)
        for port, one in self._attached.items():
            self._send(now, one)                        # what somebody had it send on his own account
            sent = self._chip.ports[port].sent
            for frame in sent[one.seen :]:
                left = self._nanoseconds(frame.cycle)
                for when in one.from_port.arrivals(left, frame.frame):
                    self._push(when, port, frame.frame)
            one.seen = len(sent)
        self._advance(now)
        for port, one in self._attached.items():
            rows = []
            while one.waiting and one.waiting[0][0] <= now + step:
                when, _, content = heapq.heappop(one.waiting)
                rows.append((max(0, when - now), content))
            if rows:
                self._chip.ports[port].feed(rows)

    def _advance(self, until: int) -> None:
        """Everything at the hosts up to a time, in order."""
        while True:
            timers = [(one.host.due, port) for port, one in self._attached.items()]
            first = min(timers, default=(NEVER, 0))
            if self._events and self._events[0][0] <= min(first[0], until):
                when, _, port, what = heapq.heappop(self._events)
                if callable(what):
                    what(when)
                else:
                    self._attached[port].host.receive(when, what)
            elif first[0] <= until:
                when, port = first
                self._attached[port].host.act(when)
            else:
                return
            self._send(when, self._attached[port])

    def _send(self, now: int, one: Attached) -> None:
        for frame in one.host.frames:
            for when in one.to_port.arrivals(now, frame):
                self._count += 1
                heapq.heappush(one.waiting, (when, self._count, frame))
        one.host.frames.clear()

    def _push(self, when: int, port: int, what: Any) -> None:
        self._count += 1
        heapq.heappush(self._events, (when, self._count, port, what))

    def _nanoseconds(self, cycle: int) -> int:
        return self._chip.ports[0].line.nanoseconds_of(cycle)

    # Snapshots

    def snapshot(self) -> object:
        """Hosts, connections, programs and frames on their way, as they are now."""
        return copy.deepcopy((self._attached, self._events, self._count, self._next))

    def restore(self, saved: Any) -> None:
        """Back to what `snapshot` gave; hosts and programs are other objects afterwards: ask `host`."""
        self._attached, self._events, self._count, self._next = copy.deepcopy(saved)

    def host(self, port: int) -> Host:
        """The host at a port, as it is now."""
        return self._attached[port].host
