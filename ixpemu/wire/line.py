"""The time frames take on an Ethernet line, in exact integers: nanoseconds in, chip cycles out, no rounding that adds up.

A `Line` is the arithmetic of one line speed and one chip clock; a `LineClock` hands out the arrival cycles of a row of
frames. Neither holds a frame nor counts a drop: what a port does with what arrives is the engine's matter.
Facts: preamble and start delimiter 8 bytes, frame check sequence 4, shortest gap between frames 12 byte times, shortest frame
60 bytes without its check sequence (IEEE 802.3; confidence H).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd

import numpy as np
import numpy.typing as npt

from ixpemu import codes
from ixpemu.diagnostics import user_error

PREAMBLE_BYTES = 8
CHECK_BYTES = 4
GAP_BYTES = 12
HEADER_BYTES = 14           # destination, source, type: anything shorter is no frame at all
SHORTEST_FRAME = 60
NANOSECONDS = 1_000_000_000
FARTHEST = 1 << 58          # cycles: years; the engine's clocks go to twice that
FASTEST_GBPS = 1000         # no Ethernet of this century's first quarter is faster


IntArray = npt.NDArray[np.int64]


def wire_length(length: int) -> int:
    """Bytes that a frame of `length` bytes (without check sequence) occupies from preamble to the end of its check sequence.

    Frames of 14 to 59 bytes travel padded to 60; a shorter one is a fragment and travels as it is. The gap is not in it.
    """
    padded = SHORTEST_FRAME if HEADER_BYTES <= length < SHORTEST_FRAME else length
    return PREAMBLE_BYTES + padded + CHECK_BYTES


def bits_per_second(gbps: float) -> int:
    """`gbps` gigabits a second as whole bits a second; UserError unless it is a number above zero."""
    if not 0 < gbps <= FASTEST_GBPS:
        raise user_error(
            codes.LINE_RATE, f"{gbps} Gb/s is not a line rate",
            help=f"give a number above 0, at most {FASTEST_GBPS:,}; 1.0 fills a gigabit port",
        )
    bits = round(gbps * NANOSECONDS)
    if bits == 0:
        raise user_error(codes.LINE_RATE, f"{gbps} Gb/s is less than one bit a second", help="give a larger rate")
    return bits


@dataclass(frozen=True, slots=True)
class Line:
    """One direction of an Ethernet line beside a chip clock: `speed` in bits a second, `clock` in cycles a second."""

    speed: int = NANOSECONDS
    clock: int = 600_000_000

    def cycles(self, byte_count: int) -> int:
        """Whole cycles, rounded up, that `byte_count` bytes take."""
        return -(-byte_count * 8 * self.clock // self.speed)

    def nanoseconds_of(self, cycle: int) -> int:
        """The time of `cycle` in nanoseconds, rounded down."""
        return cycle * NANOSECONDS // self.clock

    def cycle_of(self, nanoseconds: int) -> int:
        """The first cycle that begins at or after a time in nanoseconds."""
        return -(-nanoseconds * self.clock // NANOSECONDS)

    def frames_per_second(self, length: int) -> float:
        """How many frames of `length` bytes (without check sequence) the line carries in a second, gaps included."""
        return self.speed / ((wire_length(length) + GAP_BYTES) * 8)

    def cycles_between(self, length: int) -> float:
        """Chip cycles from one frame of `length` bytes to the next when the line is full."""
        return self.clock / self.frames_per_second(length)


@dataclass(frozen=True, slots=True)
class LineClock:
    """When the next frame may start, and the cycle in which the last bit of a frame is in.

    Times are whole numbers of `1 / (speed * offered * 10**9)` seconds, so that any rate and any nanosecond are exact.
    `offered` is the rate in bits a second at which slots of preamble, frame, check sequence and gap follow one another; each
    frame itself always travels at the line's speed.
    """

    line: Line
    offered: int
    origin: int = 0             # cycle that stands for time 0
    free: int = 0               # earliest start of the next frame, in the unit above

    @classmethod
    def at(cls, line: Line, gbps: float | None, origin: int = 0) -> LineClock:
        """A clock that offers `gbps` (None: as fast as the line goes, for frames that bring their own times)."""
        offered = line.speed if gbps is None else bits_per_second(gbps)
        if offered > line.speed:
            raise user_error(
                codes.LINE_RATE, f"{gbps} Gb/s is more than the port's {line.speed / NANOSECONDS:g} Gb/s",
                help=f"give at most {line.speed / NANOSECONDS:g}, or change the port's speed in the chip file",
            )
        return cls(line, offered, origin)

    def behind(self, other: LineClock) -> LineClock:
        """This clock, its line busy until `other`'s is free: the start of a source that follows another one."""
        there = other.origin * NANOSECONDS * other.line.speed * other.offered + other.free * other.line.clock
        # `there` is in cycles times other's unit; in this clock's own unit, rounded up.
        unit = other.line.speed * other.offered * NANOSECONDS
        here = self.line.speed * self.offered * NANOSECONDS
        grain = self._grain()
        free = -(-(there - self.origin * unit) * here // (unit * self.line.clock * grain)) * grain
        return replace(self, free=max(self.free, free))

    def _grain(self) -> int:
        """The largest number that divides a nanosecond, a bit on the line and a bit of a slot, in this clock's unit."""
        speed, offered = self.line.speed, self.offered
        return gcd(speed * offered, offered * NANOSECONDS, speed * NANOSECONDS)

    def arrivals(self, lengths: IntArray, not_before_ns: IntArray | None = None) -> tuple[IntArray, LineClock]:
        """What `next` gives for a row of frames, as int64 arrays of one length: arrival cycles, and the clock after the last.

        `not_before_ns` None: each frame follows the one before at once. A frame that a slow line brings after `FARTHEST` is said
        to arrive then: no run gets there.
        """
        grain = self._grain()
        speed, offered = self.line.speed, self.offered
        nanosecond, line_bit, slot_bit = speed * offered // grain, offered * NANOSECONDS // grain, speed * NANOSECONDS // grain
        factor, divisor = self.line.clock * grain, speed * offered * NANOSECONDS
        common = gcd(factor, divisor)
        factor, divisor = factor // common, divisor // common
        padded = np.where((lengths >= HEADER_BYTES) & (lengths < SHORTEST_FRAME), SHORTEST_FRAME, lengths)
        travel = padded + (PREAMBLE_BYTES + CHECK_BYTES)
        latest = self.free // grain
        if not_before_ns is not None:
            latest = max(latest, int(not_before_ns.max(initial=0)) * nanosecond)
        last = latest + int(travel.sum() + GAP_BYTES * len(travel)) * 8 * max(slot_bit, line_bit)
        if last * factor >= 1 << 62:
            return self._one_by_one(lengths, np.zeros_like(lengths) if not_before_ns is None else not_before_ns)
        # start[i] = max(due[i], start[i-1] + slot[i-1]): with the slots summed up, a running maximum.
        slots = (travel + GAP_BYTES) * (8 * slot_bit)
        before = np.cumsum(slots) - slots
        starts = before + self.free // grain
        if not_before_ns is not None:
            starts = np.maximum(starts, before + np.maximum.accumulate(not_before_ns * nanosecond - before))
        ends = starts + travel * (8 * line_bit)
        cycles: IntArray = np.minimum(self.origin - (-ends * factor // divisor), FARTHEST)
        free = int(starts[-1] + slots[-1]) * grain if len(starts) else self.free
        return cycles, replace(self, free=free)

    def _one_by_one(self, lengths: IntArray, not_before_ns: IntArray) -> tuple[IntArray, LineClock]:
        clock = self
        cycles = np.zeros(len(lengths), np.int64)
        for k, (length, due) in enumerate(zip(lengths.tolist(), not_before_ns.tolist(), strict=True)):
            cycle, clock = clock.next(length, due)
            cycles[k] = min(cycle, FARTHEST)
        return cycles, clock

    def next(self, length: int, not_before_ns: int = 0) -> tuple[int, LineClock]:
        """The arrival cycle (last bit in) of a frame of `length` bytes, and the clock after it.

        The frame starts at `not_before_ns` or when the line is free, whichever is later.
        """
        unit = self.line.speed * self.offered
        start = max(self.free, not_before_ns * unit)
        travel = wire_length(length)
        last_bit = start + travel * 8 * self.offered * NANOSECONDS
        slot = (travel + GAP_BYTES) * 8 * self.line.speed * NANOSECONDS
        cycle = -(-last_bit * self.line.clock // (unit * NANOSECONDS))
        return self.origin + cycle, replace(self, free=start + slot)
