"""The Ethernet ports of a chip as a user holds them: feed frames in, capture frames out, counters.

Python only places frames ahead of time and collects them afterwards; when each one arrives, is dropped or leaves is decided by
the engine (`ixpemu.engine.receive`, `.transmit`). The chip calls `Ports.service` whenever the engine returns and `flush` at the
end of a run. An arrival time is the cycle in which the last bit is in, a departure time the one in which the last bit is out,
preamble and check sequence counted; a packet's latency is their difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import numpy as np

from ixpemu import codes
from ixpemu.diagnostics import user_error
from ixpemu.engine.jit import arithmetic
from ixpemu.engine.lanes import set_alarm
from ixpemu.engine.layout import ALARM_RECEIVE, NEVER
from ixpemu.engine.msf_layout import ARRIVAL_ROWS, ARRIVAL_WORDS, PORTS, SENT_BYTES, SENT_ROWS
from ixpemu.engine.parameters import (
    P_MEGAHERTZ,
    P_MSF_BUS,
    P_PORT_COUNT,
    P_PORT_FIFO,
    P_PORT_LONGEST,
    P_PORT_MEGABITS,
    P_PORT_SEND_FIFO,
)
from ixpemu.wire import FrameList, FrameSource, Line, LineClock, read_capture, write_capture
from ixpemu.wire.line import HEADER_BYTES, SHORTEST_FRAME

Frames = str | Path | FrameSource | Iterable[bytes | tuple[int, bytes]]
MEGA = 1_000_000
# The same function whether or not the engine is compiled: one call a slice is not worth a compiled entry of its own.
_set_alarm = getattr(set_alarm, "py_func", set_alarm)


@dataclass(frozen=True, slots=True)
class SentFrame:
    """A frame that has left a port: cycle of its last bit, bytes without check sequence, number of its packet (0: none)."""

    cycle: int
    frame: bytes
    packet: int


@dataclass(frozen=True, slots=True)
class PortCounters:
    """What a port has counted since reset. `received` frames reached the FIFO; `runts`, `oversize` and `overflow` did not."""

    received: int
    received_bytes: int
    runts: int                  # shorter than a header of 14 bytes
    oversize: int               # longer than the longest frame that the port takes
    overflow: int               # no room in the receive FIFO
    fifo_peak: int              # most bytes that the receive FIFO held
    sent: int
    sent_bytes: int
    sent_runts: int
    sent_oversize: int
    aborted: int                # the program said so in the control word
    broken: int                 # elements or frames without a beginning or an end

    @property
    def dropped(self) -> int:
        """Frames that arrived and were lost before the chip saw them."""
        return self.runts + self.oversize + self.overflow


@dataclass(slots=True)
class _Feed:
    """One source on its way into a port: where it is, and the line's clock behind the last frame taken."""

    source: FrameSource
    clock: LineClock
    position: int = 0

    def copy(self) -> _Feed:
        return _Feed(self.source, self.clock, self.position)


@dataclass(frozen=True, slots=True)
class SavedPort:
    """What a snapshot holds of a port besides the engine's state."""

    feeds: tuple[_Feed, ...]
    word_tail: int
    collected: int
    kept: int


class Port:
    """One port. `number` is its MPHY channel. Made by the chip."""

    def __init__(self, number: int, state: np.recarray[Any, Any], cycle: Callable[[], int]) -> None:
        self.number = number
        self.classify: Callable[[bytes], int] | None = None
        """Gives each frame the number 0..255 of its packet type (`kind` in the packet's row); None: 0 for all."""
        self._state = state
        self._cycle = cycle
        self._feeds: list[_Feed] = []
        self._iterator: Iterator[tuple[int, bytes]] | None = None
        self._next: tuple[int, bytes] | None = None      # taken from the iterator, not yet placed
        self._word_tail = 0
        self._collected = 0                              # rows of the engine's sent ring seen
        self._keep = False
        self._path: Path | None = None
        self._sent: list[SentFrame] = []
        self._written = -1                               # frames in the file, -1: no file yet

    @property
    def line(self) -> Line:
        """The port's speed beside the chip's clock."""
        parameter = self._state[0].parameter
        return Line(int(parameter[P_PORT_MEGABITS]) * MEGA, int(parameter[P_MEGAHERTZ]) * MEGA)

    def feed(self, source: Frames, gbps: float | None = None) -> None:
        """Let the frames of `source` arrive from now on, after those of earlier calls.

        `source` is a capture's path, frames (bytes, or pairs of nanoseconds and bytes) or any `FrameSource`. With `gbps`
        they follow one another at that rate (preamble, check sequence and gap counted); without, at their own times, the first at
        once, and as fast as the line goes where those are too close. UserError for a bad capture or a rate above the port's.
        """
        found: FrameSource
        if isinstance(source, str | Path):
            found = read_capture(source)
        elif isinstance(source, FrameSource):
            found = source
        else:
            found = FrameList.of(source)
        self._feeds.append(_Feed(found, LineClock.at(self.line, gbps, self._cycle())))
        if len(self._feeds) == 1:
            self._begin()
        elif self._next is None:
            self._advance()
        self._state[0].msf.input_wanted[self.number] = 1
        self.refill()

    def capture(self, path: str | Path | None = None) -> None:
        """Keep every frame that leaves from now on, in `sent` and, with `path`, in a pcap written at the end of each run."""
        self._collect()
        self._keep = True
        if path is not None:
            self._path = Path(path)
            self._written = -1

    @property
    def sent(self) -> Sequence[SentFrame]:
        """The frames that have left since `capture` was called."""
        self._collect()
        return self._sent

    @property
    def input_left(self) -> bool:
        """Whether frames are still to arrive."""
        return bool(int(self._state[0].input_open) >> self.number & 1)

    @property
    def counters(self) -> PortCounters:
        """The counters of this port."""
        msf, k = self._state[0].msf, self.number
        return PortCounters(
            received=int(msf.in_frames[k]), received_bytes=int(msf.in_bytes[k]), runts=int(msf.in_runts[k]),
            oversize=int(msf.in_oversize[k]), overflow=int(msf.in_overflow[k]), fifo_peak=int(msf.fifo_peak[k]),
            sent=int(msf.out_frames[k]), sent_bytes=int(msf.out_bytes[k]), sent_runts=int(msf.out_runts[k]),
            sent_oversize=int(msf.out_oversize[k]), aborted=int(msf.out_aborted[k]), broken=int(msf.out_broken[k]),
        )

    def __repr__(self) -> str:
        counters = self.counters
        return f"<port {self.number}: {counters.received} received, {counters.dropped} dropped, {counters.sent} sent>"

    # What the chip calls

    def refill(self) -> None:
        """Place more frames if the engine has asked for them. What is placed when depends on the engine's cycle alone."""
        msf, k = self._state[0].msf, self.number
        if not msf.input_wanted[k]:
            return
        msf.input_wanted[k] = 0
        placed = self._place()
        left = int(msf.arrival_tail[k] - msf.arrival_head[k])
        more = self._next is not None
        msf.input_more[k] = more
        msf.input_low[k] = left // 4
        bit = 1 << k
        self._state[0].input_open = int(self._state[0].input_open) | bit if left else int(self._state[0].input_open) & ~bit
        if placed and int(self._state[0].alarm[ALARM_RECEIVE + k]) == NEVER:
            first = int(msf.arrival_time[k * ARRIVAL_ROWS + int(msf.arrival_head[k]) % ARRIVAL_ROWS])
            with arithmetic():
                _set_alarm(self._state[0], np.uint32(ALARM_RECEIVE + k), np.uint64(first))

    def service(self) -> None:
        """Refill and collect: whenever the engine returns."""
        self.refill()
        self._collect()

    def flush(self) -> None:
        """Write the capture file if frames have left since it was written."""
        self._collect()
        if self._path is not None and self._written != len(self._sent):
            line = self.line
            write_capture(self._path, ((line.nanoseconds_of(frame.cycle), frame.frame) for frame in self._sent))
            self._written = len(self._sent)

    def save(self) -> SavedPort:
        """The part of a snapshot that the engine's state does not hold."""
        self._collect()
        return SavedPort(tuple(feed.copy() for feed in self._feeds), self._word_tail, self._collected, len(self._sent))

    def load(self, saved: SavedPort) -> None:
        """Go back to `saved`; the engine's state has gone back already. Frames captured since are forgotten."""
        self._feeds = [feed.copy() for feed in saved.feeds]
        self._begin()
        self._word_tail = saved.word_tail
        self._collected = saved.collected
        del self._sent[saved.kept:]
        self._written = min(self._written, -1 if self._written > len(self._sent) else self._written)

    # Placing and collecting

    def _begin(self) -> None:
        self._iterator = self._feeds[0].source.frames(self._feeds[0].position) if self._feeds else None
        self._advance()

    def _advance(self) -> None:
        """Look at the next frame of the sources, if there is one."""
        self._next = next(self._iterator, None) if self._iterator is not None else None
        while self._next is None and len(self._feeds) > 1:
            finished = self._feeds.pop(0)
            following = self._feeds[0]
            # The line is shared: the next source starts behind the last frame of the one before it.
            following.clock = following.clock.behind(finished.clock)
            self._iterator = following.source.frames(following.position)
            self._next = next(self._iterator, None)

    def _place(self) -> int:
        """Put frames into the arrival ring until it is full or the sources are empty; returns how many."""
        msf, k = self._state[0].msf, self.number
        longest = int(self._state[0].parameter[P_PORT_LONGEST])
        head, tail = int(msf.arrival_head[k]), int(msf.arrival_tail[k])
        oldest = int(msf.arrival_start[k * ARRIVAL_ROWS + head % ARRIVAL_ROWS]) if head != tail else self._word_tail
        room = ARRIVAL_WORDS - (self._word_tail - oldest & 0xFFFFFFFF)
        first, start = tail, self._word_tail
        chunks: list[bytes] = []
        while self._next is not None and (tail - head & 0xFFFFFFFF) < ARRIVAL_ROWS:
            time_ns, frame = self._next
            length = len(frame)
            taken = HEADER_BYTES <= length <= longest
            words = max(length + 3 >> 2, SHORTEST_FRAME >> 2) if taken else 0
            if words > room:
                break
            feed = self._feeds[0]
            arrival, feed.clock = feed.clock.next(length, time_ns)
            feed.position += 1
            row = k * ARRIVAL_ROWS + tail % ARRIVAL_ROWS
            msf.arrival_time[row] = arrival
            msf.arrival_length[row] = length
            msf.arrival_start[row] = self._word_tail
            msf.arrival_kind[row] = self.classify(frame) if self.classify is not None else 0
            if taken:
                chunks.append(frame.ljust(words * 4, b"\0"))
            self._word_tail = self._word_tail + words & 0xFFFFFFFF
            room -= words
            tail = tail + 1 & 0xFFFFFFFF
            self._advance()
        words_in = np.frombuffer(b"".join(chunks), ">u4").astype(np.uint32)
        at = start % ARRIVAL_WORDS
        ring = msf.arrival_words[k * ARRIVAL_WORDS : (k + 1) * ARRIVAL_WORDS]
        split = min(len(words_in), ARRIVAL_WORDS - at)
        ring[at : at + split] = words_in[:split]
        ring[: len(words_in) - split] = words_in[split:]
        msf.arrival_tail[k] = tail
        return tail - first & 0xFFFFFFFF

    def _collect(self) -> None:
        """Take what has left since the last time out of the engine's ring."""
        msf, k = self._state[0].msf, self.number
        done = int(msf.sent_done[k])
        if self._keep:
            ring = msf.sent_bytes[k * SENT_BYTES : (k + 1) * SENT_BYTES]
            for number in range(self._collected, self._collected + (done - self._collected & 0xFFFFFFFF)):
                row = k * SENT_ROWS + number % SENT_ROWS
                at, length = int(msf.sent_start[row]) % SENT_BYTES, int(msf.sent_length[row])
                frame = ring[at : at + length].tobytes()
                if len(frame) < length:
                    frame += ring[: length - len(frame)].tobytes()
                self._sent.append(SentFrame(int(msf.sent_time[row]), frame, int(msf.sent_packet[row])))
        self._collected = done


# What the state has room for, by parameter: lowest and highest value.
_LIMITS = {
    "chip.megahertz": (P_MEGAHERTZ, 1, 10_000),
    "msf.bus_megahertz": (P_MSF_BUS, 1, 10_000),
    "port.count": (P_PORT_COUNT, 1, PORTS),
    "port.megabits": (P_PORT_MEGABITS, 1, 10_000),
    "port.receive_fifo_bytes": (P_PORT_FIFO, SHORTEST_FRAME, 48 * 1024),
    "port.transmit_fifo_bytes": (P_PORT_SEND_FIFO, SHORTEST_FRAME, 64 * 1024),
    "port.longest_frame": (P_PORT_LONGEST, SHORTEST_FRAME, 48 * 1024),
}


def _check(state: np.recarray[Any, Any]) -> None:
    """UserError for a parameter of the ports that the emulator has no room for."""
    for name, (place, lowest, highest) in _LIMITS.items():
        value = int(state[0].parameter[place])
        if not lowest <= value <= highest:
            raise user_error(
                codes.PORT_PARAMETER, f"{name} is {value}, and must be from {lowest} to {highest}",
                help="correct it in the chip file or in --set",
            )


class Ports(Sequence[Port]):
    """The ports of a board, by number. UserError where a parameter of theirs is out of range."""

    def __init__(self, state: np.recarray[Any, Any], cycle: Callable[[], int]) -> None:
        _check(state)
        self._ports = tuple(Port(k, state, cycle) for k in range(int(state[0].parameter[P_PORT_COUNT])))

    @overload
    def __getitem__(self, number: int) -> Port: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Port]: ...
    def __getitem__(self, number: int | slice) -> Port | Sequence[Port]:
        if isinstance(number, slice):
            return self._ports[number]
        if not 0 <= number < len(self._ports):
            raise user_error(
                codes.PORT_UNKNOWN, f"there is no port {number}: the board has ports 0 to {len(self._ports) - 1}",
                help="choose one of those, or another chip file",
            )
        return self._ports[number]

    def __len__(self) -> int:
        return len(self._ports)

    def __iter__(self) -> Iterator[Port]:
        return iter(self._ports)

    def service(self) -> None:
        """What the chip does whenever the engine returns."""
        for port in self._ports:
            port.service()

    def flush(self) -> None:
        """What the chip does at the end of a run: captures are written."""
        for port in self._ports:
            port.flush()

    def save(self) -> tuple[SavedPort, ...]:
        """The ports' part of a snapshot."""
        return tuple(port.save() for port in self._ports)

    def load(self, saved: tuple[SavedPort, ...]) -> None:
        """Go back to a snapshot."""
        for port, state in zip(self._ports, saved, strict=True):
            port.load(state)
