"""What a snapshot's file holds of the ports: where each one is in its sources, and the frames that are still to come.

Frames are written as they are, so that a file needs neither the capture that they came from nor whatever made them. A source that
repeats itself is written as one period. What has no end and does not repeat cannot be written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ixpemu import codes
from ixpemu.chip_feed import Feed
from ixpemu.chip_ports import SavedPort
from ixpemu.diagnostics import user_error
from ixpemu.wire import FrameSource, Line, LineClock

MOST_FRAMES = 1 << 20
MOST_BYTES = 1 << 29


@dataclass(frozen=True, slots=True)
class LaterFrames:
    """The frames of a source from number `first` on, which is all that is left of it."""

    first: int
    rows: tuple[tuple[int, bytes], ...]

    def frames(self, start: int = 0) -> Iterator[tuple[int, bytes]]:
        return iter(self.rows[max(0, start - self.first) :])


@dataclass(frozen=True, slots=True)
class RepeatedFrames:
    """A source that repeats itself, by one period of it; `count` frames in all, None for no end."""

    rows: tuple[bytes, ...]
    count: int | None

    @property
    def period(self) -> int:
        return len(self.rows)

    def frames(self, start: int = 0) -> Iterator[tuple[int, bytes]]:
        number = start
        while self.count is None or number < self.count:
            yield 0, self.rows[number % len(self.rows)]
            number += 1


def ports_to(ports: tuple[SavedPort, ...]) -> list[Any]:
    """The ports as a plain value. UserError for a source that cannot be written."""
    return [{
        "words": port.word_tail, "collected": port.collected, "kept": port.kept,
        "feeds": [_feed_to(feed, number) for feed in port.feeds],
    } for number, port in enumerate(ports)]


def ports_from(value: list[Any]) -> tuple[SavedPort, ...]:
    """The ports of such a value. KeyError, TypeError or ValueError for what `ports_to` never gives."""
    return tuple(
        SavedPort(tuple(map(_feed_from, port["feeds"])), int(port["words"]), int(port["collected"]), int(port["kept"]))
        for port in value)


def _feed_to(feed: Feed, port: int) -> dict[str, Any]:
    clock = feed.clock
    period: int | None = getattr(feed.source, "period", None)
    count: int | None = getattr(feed.source, "count", None)
    first = feed.position if period is None else 0
    rows = list(islice(feed.source.frames(first), MOST_FRAMES + 1 if period is None else period))
    size = sum(len(frame) for _, frame in rows)
    if len(rows) > MOST_FRAMES or size > MOST_BYTES:
        raise user_error(
            codes.SNAPSHOT_UNWRITABLE, f"port {port} has more frames to come than a file can hold, or they never end",
            help=f"feed it a source with a `period`, or with at most {MOST_FRAMES:,} frames and {MOST_BYTES >> 20} MB",
        )
    return {
        "speed": clock.line.speed, "clock": clock.line.clock, "offered": clock.offered, "origin": clock.origin,
        "free": clock.free, "own_times": feed.own_times, "position": feed.position, "faults": dict(feed.faults), "first": first,
        "period": period, "count": count, "times": [time for time, _ in rows] if period is None else [],
        "lengths": [len(frame) for _, frame in rows], "frames": b"".join(frame for _, frame in rows),
    }


def _feed_from(value: dict[str, Any]) -> Feed:
    frames, at = [], 0
    for length in value["lengths"]:
        frames.append(value["frames"][at : at + length])
        at += length
    source: FrameSource
    if value["period"] is None:
        source = LaterFrames(value["first"], tuple(zip(value["times"], frames, strict=True)))
    else:
        source = RepeatedFrames(tuple(frames), value["count"])
    clock = LineClock(Line(value["speed"], value["clock"]), value["offered"], value["origin"], value["free"])
    return Feed(source, clock, value["own_times"], value["position"], value["faults"])
