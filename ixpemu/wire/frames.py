"""Frames and where they come from: the values that pass between capture files, traffic generators and ports.

A source can be read again from any position, which is what lets a port be restored from a snapshot; it is not an iterator
that is used up. Nothing here knows cycles or line rates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol, runtime_checkable

from ixpemu import codes
from ixpemu.diagnostics import user_error

LONGEST_FRAME = 262_144
"""Bytes: the snapshot length that capture tools use for "everything". What claims more is damaged."""
LONGEST_SPAN = 366 * 86_400 * 1_000_000_000
"""Nanoseconds that a source's times may cover: a year, whose cycles at the fastest clock are still times of the engine."""


@dataclass(frozen=True, slots=True)
class CapturedFrame:
    """One frame of a capture, without its frame check sequence.

    `time_ns` is in nanoseconds since the epoch of the file, exact for resolutions down to a nanosecond and rounded down below it.
    `original_length` is the length the frame had on the wire; it exceeds `len(frame)` where the capture kept only the
    first bytes (a snapshot length).
    """

    time_ns: int
    frame: bytes
    original_length: int

    @property
    def shortened(self) -> bool:
        """Whether the capture kept only the first bytes of this frame."""
        return len(self.frame) < self.original_length

    def restored(self) -> bytes:
        """The frame at its original length, zeros where the capture did not keep the bytes."""
        return self.frame.ljust(self.original_length, b"\0")


@runtime_checkable
class FrameSource(Protocol):
    """Anything a port can be fed from: frames with their own times, readable again from any position.

    A source may have an attribute `period`: frame number n is then the same as number n + period, and all times are 0, so that a
    port prepares each frame once. Its attribute `count` says how many frames it has, None or absent for no end.
    """

    def frames(self, start: int = 0) -> Iterator[tuple[int, bytes]]:
        """Pairs (time in nanoseconds, frame without its frame check sequence) from number `start` on, times not decreasing."""
        ...


@dataclass(frozen=True, slots=True)
class FrameList:
    """A source over frames held in memory: pairs (time in nanoseconds, bytes)."""

    rows: tuple[tuple[int, bytes], ...]

    @classmethod
    def of(cls, frames: Iterable[bytes | tuple[int, bytes]]) -> FrameList:
        """A list of plain frames (all due at once: they follow one another at line rate) or of (time, frame) pairs.

        A time before that of the frame in front is moved up to it. UserError for what is no frame.
        """
        rows: list[tuple[int, bytes]] = []
        latest = 0
        for number, row in enumerate(frames):
            time_ns, frame = row if isinstance(row, tuple) and len(row) == 2 else (0, row)
            if (
                not isinstance(frame, bytes | bytearray | memoryview) or not isinstance(time_ns, int)
                or not 0 <= time_ns <= LONGEST_SPAN
            ):
                raise user_error(
                    codes.FRAME_REFUSED, f"item {number} is no frame: {row!r:.60}",
                    help="give bytes, or pairs of a time in nanoseconds, at most a year, and bytes",
                )
            latest = max(latest, time_ns)
            rows.append((latest, bytes(frame)))
        return cls(tuple(rows))

    def frames(self, start: int = 0) -> Iterator[tuple[int, bytes]]:
        return iter(self.rows[start:])

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class Capture:
    """A whole capture file in memory, and a source of its frames.

    As a source its times start at 0 with the first frame, a frame older than its predecessor is given the predecessor's time
    (several interfaces or a clock that was set back; `backwards` counts them), and frames that the capture
    shortened are filled with zeros to their length on the wire (`shortened` counts them), so that the wire is as busy as it was.
    """

    path: str
    form: str                       # "pcap" or "pcapng"
    packets: tuple[CapturedFrame, ...]

    @property
    def shortened(self) -> int:
        """How many frames the capture holds only the first bytes of."""
        return sum(1 for packet in self.packets if packet.shortened)

    @property
    def backwards(self) -> int:
        """How many frames carry a time before that of the frame in front of them."""
        times = [packet.time_ns for packet in self.packets]
        return sum(1 for before, after in pairwise(times) if after < before)

    def __len__(self) -> int:
        return len(self.packets)

    def frames(self, start: int = 0) -> Iterator[tuple[int, bytes]]:
        if not self.packets:
            return
        first = self.packets[0].time_ns
        latest = 0
        for number, packet in enumerate(self.packets):
            latest = max(latest, packet.time_ns - first)
            if number >= start:
                yield latest, packet.restored()
