"""Frames on their way into a port: sources prepared in blocks, so that placing a frame costs next to nothing.

A `Feed` is one source with its place in it and the clock of the line; a `Block` holds frames as the engine's arrival ring wants
them. Which frames fit when, and the ring itself, are `ixpemu.chip_ports`'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
import numpy.typing as npt

from ixpemu.wire import FrameSource, LineClock
from ixpemu.wire.line import HEADER_BYTES, SHORTEST_FRAME

BLOCK_FRAMES = 1024
REPEATED_FRAMES = 4096      # of a source that repeats, in one block: what a port takes at a time
Classifier = Callable[[bytes], int]


@dataclass(frozen=True, slots=True)
class Block:
    """Frames in a row. Frame k has `words[starts[k]:starts[k + 1]]`, padded; none if the MAC refuses it for its length."""

    times: npt.NDArray[np.int64]        # nanoseconds
    lengths: npt.NDArray[np.int64]      # bytes, before padding
    kinds: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]       # one more than frames
    words: npt.NDArray[np.uint32]       # byte 0 in the most significant byte

    def __len__(self) -> int:
        return len(self.lengths)

    def repeated(self, times: int) -> Block:
        """These frames so many times over."""
        if times <= 1:
            return self
        offsets = np.arange(times) * self.starts[-1]
        starts = np.append((self.starts[:-1] + offsets[:, None]).ravel(), times * self.starts[-1])
        return Block(
            np.tile(self.times, times), np.tile(self.lengths, times), np.tile(self.kinds, times), starts,
            np.tile(self.words, times),
        )


def prepare(rows: list[tuple[int, bytes]], longest: int, classify: Classifier | None) -> Block:
    """A block of (time, frame) rows. Frames of 14 to `longest` bytes keep their bytes."""
    lengths = np.array([len(frame) for _, frame in rows], np.int64)
    taken = (lengths >= HEADER_BYTES) & (lengths <= longest)
    counts = np.where(taken, np.maximum(lengths, SHORTEST_FRAME) + 3 >> 2, 0)
    starts = np.concatenate(([0], np.cumsum(counts)))
    content = b"".join(
        frame.ljust(count * 4, b"\0") for (_, frame), count in zip(rows, counts.tolist(), strict=True) if count
    )
    kinds = [classify(frame) for _, frame in rows] if classify is not None else [0] * len(rows)
    return Block(
        np.array([time for time, _ in rows], np.int64), lengths, np.array(kinds, np.uint8), starts,
        np.frombuffer(content, ">u4").astype(np.uint32),
    )


@dataclass(slots=True)
class Feed:
    """One source on its way into a port: `position` frames have been placed, `clock` is the line behind the last of them."""

    source: FrameSource
    clock: LineClock
    own_times: bool
    """Whether a frame waits for its own time; else it follows the one before at once."""
    position: int = 0
    faults: Mapping[int, int] = field(default_factory=dict)
    """Error bits of a receive status word, by the frame's number in the source."""
    _block: Block | None = field(default=None, repr=False)
    _first: int = 0                                     # number of the block's first frame
    _rows: Iterator[tuple[int, bytes]] | None = field(default=None, repr=False)

    def copy(self) -> Feed:
        """The same place in the same source, to go back to."""
        return Feed(self.source, self.clock, self.own_times, self.position, self.faults)

    def faults_of(self, count: int) -> npt.NDArray[np.uint16]:
        """The error bits of the next `count` frames."""
        bits = np.zeros(count, np.uint16)
        for number, fault in self.faults.items():
            if 0 <= number - self.position < count:
                bits[number - self.position] = fault
        return bits

    def advance(self, lengths: npt.NDArray[np.int64], times: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Take the next frames, of `lengths` bytes, due at `times` nanoseconds, over the line; returns their arrival cycles."""
        cycles, self.clock = self.clock.arrivals(lengths, times if self.own_times else None)
        self.position += len(lengths)
        return cycles

    def block(self, longest: int, classify: Classifier | None) -> tuple[Block, int] | None:
        """A block and the index in it of the next frame to place; None at the end of the source."""
        if self._block is not None and self.position - self._first < len(self._block):
            return self._block, self.position - self._first
        period: int | None = getattr(self.source, "period", None)
        if period is None:
            if self._rows is None:
                self._rows = self.source.frames(self.position)
            rows = list(islice(self._rows, BLOCK_FRAMES))
        elif self._block is not None and len(self._block) % period == 0 and self._left() >= len(self._block):
            self._first = self.position                 # the same frames once more
            return self._block, 0
        else:
            rows = list(islice(self.source.frames(self.position), period))
        if not rows:
            return None
        block = prepare(rows, longest, classify)
        if period is not None and len(rows) == period:
            block = block.repeated(int(min(max(1, REPEATED_FRAMES // period), self._left() // period)))
        self._block, self._first = block, self.position
        return self._block, 0

    def _left(self) -> float:
        """How many frames a source that repeats has left; most go on for ever."""
        count: int | None = getattr(self.source, "count", None)
        return float("inf") if count is None else count - self.position
