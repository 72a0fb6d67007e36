"""How much a TCP sender may have under way, and how long it waits for an answer: RFC 5681, 6582 (NewReno) and 6298.

Bytes and nanoseconds. What is sent is the connection's matter; this is told what was acknowledged, lost and measured.
"""

from __future__ import annotations

from dataclasses import dataclass

MILLISECOND = 1_000_000
DUPLICATES = 3              # acknowledgements that say the same, from which on a segment counts as lost


@dataclass(slots=True)
class Timeout:
    """The retransmission timeout. `least` is 200 ms, as systems have it; the RFC asks for a second."""

    least: int = 200 * MILLISECOND
    most: int = 60_000 * MILLISECOND
    smoothed: int | None = None
    variation: int = 0
    value: int = 1_000 * MILLISECOND

    def measured(self, round_trip: int) -> None:
        """A segment that was sent once was acknowledged after `round_trip`."""
        if self.smoothed is None:
            self.smoothed, self.variation = round_trip, round_trip // 2
        else:
            self.variation = (3 * self.variation + abs(self.smoothed - round_trip)) // 4
            self.smoothed = (7 * self.smoothed + round_trip) // 8
        self.value = min(self.most, max(self.least, self.smoothed + max(MILLISECOND, 4 * self.variation)))

    def expired(self) -> None:
        """Twice as long the next time."""
        self.value = min(self.most, 2 * self.value)


@dataclass(slots=True)
class Congestion:
    """The congestion window. `recover`: the end of what was sent when a loss was noticed, None outside of recovery."""

    mss: int
    window: int = 0
    threshold: int = 1 << 30
    duplicates: int = 0
    recover: int | None = None
    counted: int = 0            # bytes acknowledged towards the next segment of congestion avoidance

    def __post_init__(self) -> None:
        self.window = min(4 * self.mss, max(2 * self.mss, 4380))

    def acknowledged(self, count: int) -> None:
        """`count` new bytes were acknowledged, outside of recovery."""
        self.duplicates = 0
        if self.window < self.threshold:
            self.window += min(count, self.mss)
            return
        self.counted += count
        if self.counted >= self.window:
            self.counted -= self.window
            self.window += self.mss

    def lost(self, under_way: int, end: int) -> None:
        """Duplicates or SACK say that a segment is lost, with `under_way` bytes out and `end` the next to be sent."""
        self.threshold = max(under_way // 2, 2 * self.mss)
        self.window = self.threshold
        self.recover = end

    def recovered(self) -> None:
        """All that was out at the loss is acknowledged."""
        self.window = self.threshold
        self.recover, self.duplicates, self.counted = None, 0, 0

    def expired(self, under_way: int) -> None:
        """The retransmission timer went off."""
        self.threshold = max(under_way // 2, 2 * self.mss)
        self.window = self.mss
        self.recover, self.duplicates, self.counted = None, 0, 0
