"""The Ethernet ports of a chip as a user holds them: feed frames in, capture frames out, counters.

Python only places frames ahead of time and collects them afterwards; when each one arrives, is dropped or leaves is decided by
the engine (`ixpemu.engine.receive`, `.transmit`). The chip calls `Ports.service` whenever the engine returns and `flush` at the
end of a run. An arrival time is the cycle in which the last bit is in, a departure time the one in which the last bit is out,
preamble and check sequence counted; a packet's latency is their difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from ixpemu import arguments, codes
from ixpemu.chip_feed import Block, Feed
from ixpemu.diagnostics import user_error
from ixpemu.engine.jit import arithmetic
from ixpemu.engine.lanes import set_alarm
from ixpemu.engine.layout import ALARM_RECEIVE, NEVER
from ixpemu.engine.msf_layout import ARRIVAL_ROWS, ARRIVAL_WORDS, MSF, SENT_BYTES, SENT_ROWS
from ixpemu.engine.parameters import (
    P_MEGAHERTZ,
    P_PORT_COUNT,
    P_PORT_LONGEST,
    P_PORT_MEGABITS,
)
from ixpemu.engine.receive import STATUS_IN_BAND_PARITY, STATUS_PARITY, STATUS_RECEIVE_ERROR, STATUS_SOP_ERROR
from ixpemu.files import check_output
from ixpemu.wire import CaptureFile, FrameList, FrameSource, Line, LineClock, read_capture

Frames = str | Path | FrameSource | Iterable[bytes | tuple[int, bytes]]
MEGA = 1_000_000
_MANY = 1 << 64
FAULTS = {
    "receive": STATUS_RECEIVE_ERROR, "parity": STATUS_PARITY, "in_band_parity": STATUS_IN_BAND_PARITY, "sop": STATUS_SOP_ERROR,
}
"""Errors that a receive status word can show: `receive` in a frame's last element, the others in its first."""
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


@dataclass(frozen=True, slots=True)
class SavedPort:
    """What a snapshot holds of a port besides the engine's state."""

    feeds: tuple[Feed, ...]
    word_tail: int
    collected: int
    kept: int


def fields_of(state: np.recarray[Any, Any]) -> SimpleNamespace:
    """The array fields of `state.msf` as plain views: a record's own attributes take a thousand times as long to find."""
    msf = state.view(np.ndarray)["msf"]
    return SimpleNamespace(**{name: msf[name][0] for name in MSF.names or () if msf[name].ndim > 1})


def _put(ring: npt.NDArray[Any], tail: int, values: npt.NDArray[Any]) -> None:
    """Values into a ring from counter `tail` on; there is room for them."""
    at = tail % len(ring)
    split = min(len(values), len(ring) - at)
    ring[at : at + split] = values[:split]
    ring[: len(values) - split] = values[split:]


class Port:
    """One port. `number` is its MPHY channel. Made by the chip."""

    def __init__(self, number: int, state: np.recarray[Any, Any], cycle: Callable[[], int]) -> None:
        self.number = number
        self.classify: Callable[[bytes], int] | None = None
        """Gives each frame the number 0..255 of its packet type (`kind` in the packet's row); None: 0 for all."""
        self._state = state
        self._msf = fields_of(state)
        self._input_open = state.view(np.ndarray)["input_open"]
        self._cycle = cycle
        self._feeds: list[Feed] = []
        self._word_tail = 0
        self.collected = 0
        """Rows of the engine's sent ring taken so far, a counter of 32 bits."""
        self._faults = False
        self._keep = False
        self._file: CaptureFile | None = None
        self._sent: list[SentFrame] = []

    @property
    def line(self) -> Line:
        """The port's speed beside the chip's clock."""
        parameter = self._state[0].parameter
        return Line(int(parameter[P_PORT_MEGABITS]) * MEGA, int(parameter[P_MEGAHERTZ]) * MEGA)

    def feed(self, source: Frames, gbps: float | None = None, faults: Mapping[int, str] | None = None) -> None:
        """Let the frames of `source` arrive from now on, after those of earlier calls.

        `source` is a capture's path, frames (bytes, or pairs of nanoseconds and bytes) or any `FrameSource`. With `gbps`
        they follow one another at that rate (preamble, check sequence and gap counted); without, at their own times, the first at
        once, and as fast as the line goes where those are too close. `faults` names errors (`FAULTS`) that the status words of
        some frames are to show, by the frame's number in `source`; their bytes are as they are. UserError for a bad capture, a
        rate above the port's or an unknown fault.
        """
        if gbps is not None:
            arguments.number("a rate in Gb/s", gbps, "give a number above 0; 1.0 fills a gigabit port", codes.LINE_RATE)
        found: FrameSource
        if isinstance(source, str | Path):
            found = read_capture(source)
        elif isinstance(source, FrameSource):
            found = source
        elif isinstance(source, Iterable) and not isinstance(source, bytes | bytearray | memoryview):
            found = FrameList.of(source)
        else:
            raise arguments.wrong(
                "what a port is fed", source, "give the path of a capture, or a list of frames", codes.FRAME_REFUSED)
        wanted = arguments.mapping("faults", faults, '{3: "parity"}')
        for number, fault in wanted.items():
            arguments.whole("the number of a frame", number)
            if not isinstance(fault, str) or fault not in FAULTS:
                raise arguments.wrong("a receive fault", fault, f"one of {', '.join(FAULTS)}", codes.FRAME_REFUSED)
        bits = {number: FAULTS[fault] for number, fault in wanted.items()}
        self._faults = self._faults or bool(bits)
        self._feeds.append(Feed(found, LineClock.at(self.line, gbps, self._cycle()), own_times=gbps is None, faults=bits))
        self._msf.input_wanted[self.number] = 1
        self.refill()

    def capture(self, path: str | Path | None = None) -> None:
        """Keep every frame that leaves from now on, in `sent` and, with `path`, in a pcap brought up to date after each run.

        UserError where `path` is no place for a file.
        """
        if path is not None:
            check_output(arguments.path("the file of a capture", path))
        self._collect()
        self._keep = True
        self._sent = []
        self._file = CaptureFile(path) if path is not None else None

    @property
    def sent(self) -> Sequence[SentFrame]:
        """The frames that have left since `capture` was called."""
        self._collect()
        return self._sent

    @property
    def input_left(self) -> bool:
        """Whether frames are still to arrive."""
        return bool(int(self._input_open[0]) >> self.number & 1)

    @property
    def counters(self) -> PortCounters:
        """The counters of this port."""
        msf, k = self._msf, self.number
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
        msf, k = self._msf, self.number
        if not msf.input_wanted[k]:
            return
        msf.input_wanted[k] = 0
        placed = self._place()
        left = int(msf.arrival_tail[k] - msf.arrival_head[k])
        msf.input_more[k] = self._next_block() is not None
        msf.input_low[k] = left // 4
        bit = 1 << k
        self._input_open[0] = int(self._input_open[0]) | bit if left else int(self._input_open[0]) & ~bit
        if placed and int(self._state[0].alarm[ALARM_RECEIVE + k]) == NEVER:
            first = int(msf.arrival_time[k * ARRIVAL_ROWS + int(msf.arrival_head[k]) % ARRIVAL_ROWS])
            with arithmetic():
                _set_alarm(self._state[0], np.uint32(ALARM_RECEIVE + k), np.uint64(first))

    def service(self) -> None:
        """Refill and collect: whenever the engine returns."""
        self.refill()
        self._collect()

    def flush(self) -> None:
        """Bring the capture file up to date."""
        if self._file is None:
            return
        self._collect()
        line, count = self.line, self._file.count
        self._file.add((line.nanoseconds_of(frame.cycle), frame.frame) for frame in self._sent[count:])

    def save(self) -> SavedPort:
        """The part of a snapshot that the engine's state does not hold."""
        self._collect()
        return SavedPort(tuple(feed.copy() for feed in self._feeds), self._word_tail, self.collected, len(self._sent))

    def load(self, saved: SavedPort) -> None:
        """Go back to `saved`; the engine's state has gone back already. Frames captured since are forgotten."""
        self._feeds = [feed.copy() for feed in saved.feeds]
        self._word_tail = saved.word_tail
        self.collected = saved.collected
        del self._sent[saved.kept:]
        if self._file is not None:
            self._file.start_again()

    # Placing and collecting

    def _next_block(self) -> tuple[Block, int] | None:
        """The block and the index in it of the next frame of the sources, or None when all are empty."""
        while self._feeds:
            longest = int(self._state[0].parameter[P_PORT_LONGEST])
            found = self._feeds[0].block(longest, self.classify)
            if found is not None or len(self._feeds) == 1:
                return found
            finished = self._feeds.pop(0)
            # The line is shared: the next source starts behind the last frame of the one before it.
            self._feeds[0].clock = self._feeds[0].clock.behind(finished.clock)
        return None

    def _place(self) -> int:
        """Put frames into the arrival ring until it is full or the sources are empty; returns how many."""
        msf, k = self._msf, self.number
        head, tail = int(msf.arrival_head[k]), int(msf.arrival_tail[k])
        oldest = int(msf.arrival_start[k * ARRIVAL_ROWS + head % ARRIVAL_ROWS]) if head != tail else self._word_tail
        words_left = ARRIVAL_WORDS - (self._word_tail - oldest & 0xFFFFFFFF)
        rows_left = ARRIVAL_ROWS - (tail - head & 0xFFFFFFFF)
        ring = msf.arrival_words[k * ARRIVAL_WORDS : (k + 1) * ARRIVAL_WORDS]
        rows = slice(k * ARRIVAL_ROWS, (k + 1) * ARRIVAL_ROWS)
        times, row_lengths, kinds, row_starts, faults = (field[rows] for field in (
            msf.arrival_time, msf.arrival_length, msf.arrival_kind, msf.arrival_start, msf.arrival_faults))
        placed = 0
        while rows_left > 0 and (found := self._next_block()) is not None:
            block, first = found
            most = min(first + rows_left, len(block))
            # As many as have room for their words.
            end = int(np.searchsorted(block.starts[first + 1 : most + 1], block.starts[first] + words_left, "right")) + first
            if end == first:
                break
            count = end - first
            lengths = block.lengths[first:end]
            starts = block.starts[first:end] + (self._word_tail - int(block.starts[first])) & 0xFFFFFFFF
            if self._faults:
                _put(faults, tail, self._feeds[0].faults_of(count))
            _put(times, tail, self._feeds[0].advance(lengths, block.times[first:end]))
            _put(row_lengths, tail, lengths)
            _put(kinds, tail, block.kinds[first:end])
            _put(row_starts, tail, starts)
            words = block.words[block.starts[first] : block.starts[end]]
            _put(ring, self._word_tail, words)
            self._word_tail = self._word_tail + len(words) & 0xFFFFFFFF
            tail = tail + count & 0xFFFFFFFF
            rows_left -= count
            words_left -= len(words)
            placed += count
        msf.arrival_tail[k] = tail
        return placed

    def _collect(self) -> None:
        """Take what has left since the last time out of the engine's ring."""
        msf, k = self._msf, self.number
        done = int(msf.sent_done[k])
        if self._keep:
            ring = msf.sent_bytes[k * SENT_BYTES : (k + 1) * SENT_BYTES]
            for number in range(self.collected, self.collected + (done - self.collected & 0xFFFFFFFF)):
                row = k * SENT_ROWS + number % SENT_ROWS
                at, length = int(msf.sent_start[row]) % SENT_BYTES, int(msf.sent_length[row])
                frame = ring[at : at + length].tobytes()
                if len(frame) < length:
                    frame += ring[: length - len(frame)].tobytes()
                self._sent.append(SentFrame(int(msf.sent_time[row]), frame, int(msf.sent_packet[row])))
        self.collected = done


class Ports(Sequence[Port]):
    """The ports of a board, by number."""

    def __init__(self, state: np.recarray[Any, Any], cycle: Callable[[], int]) -> None:
        self._msf = fields_of(state)
        self._ports = tuple(Port(k, state, cycle) for k in range(int(state[0].parameter[P_PORT_COUNT])))

    @overload
    def __getitem__(self, number: int) -> Port: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Port]: ...
    def __getitem__(self, number: int | slice) -> Port | Sequence[Port]:
        if isinstance(number, slice):
            return self._ports[number]
        arguments.whole("the number of a port", number, -_MANY, _MANY, code=codes.PORT_UNKNOWN, help="give a whole number")
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
            if self._msf.input_wanted[port.number] or int(self._msf.sent_done[port.number]) != port.collected:
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
