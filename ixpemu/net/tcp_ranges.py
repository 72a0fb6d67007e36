"""Pieces of a byte stream that is not whole: what a receiver has behind a gap, and what a sender was told of by SACK."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Ranges:
    """Disjoint ranges of sequence numbers that do not wrap, in order, each from its first number to behind its last."""

    found: list[tuple[int, int]] = field(default_factory=list)

    def add(self, first: int, end: int) -> None:
        """One more, joined with those that it meets."""
        if first >= end:
            return
        apart = [(low, high) for low, high in self.found if high < first or low > end]
        joined = [(low, high) for low, high in self.found if not (high < first or low > end)]
        low, high = min([first, *(low for low, _ in joined)]), max([end, *(high for _, high in joined)])
        self.found = sorted([*apart, (low, high)])

    def drop_before(self, number: int) -> None:
        """Forget what lies before `number`."""
        self.found = [(max(low, number), high) for low, high in self.found if high > number]

    def holes(self, first: int) -> list[tuple[int, int]]:
        """What is missing from `first` to the last range."""
        missing, at = [], first
        for low, high in self.found:
            if low > at:
                missing.append((at, low))
            at = max(at, high)
        return missing

    @property
    def end(self) -> int | None:
        """Behind the last range."""
        return self.found[-1][1] if self.found else None

    @property
    def size(self) -> int:
        """Numbers in all ranges together."""
        return sum(high - low for low, high in self.found)


@dataclass(slots=True)
class Reassembly:
    """Bytes behind a gap, by sequence number."""

    pieces: dict[int, bytes] = field(default_factory=dict)
    ranges: Ranges = field(default_factory=Ranges)
    latest: int = 0                             # where the piece that came last begins

    def put(self, first: int, content: bytes) -> None:
        """A piece; where it is there already in part, the new one counts."""
        if content:
            known = self.pieces.get(first, b"")
            self.pieces[first] = content if len(content) >= len(known) else known
            self.ranges.add(first, first + len(content))
            self.latest = first

    def take(self, at: int) -> bytes:
        """What can be read from `at` on without a gap; gone afterwards."""
        out = b""
        for first in sorted(self.pieces):
            if first > at + len(out):
                break
            content = self.pieces.pop(first)
            out += content[at + len(out) - first :]
        self.ranges.drop_before(at + len(out))
        return out

    def blocks(self, most: int) -> list[tuple[int, int]]:
        """Ranges for a SACK option, that of the latest piece first (RFC 2018)."""
        return sorted(self.ranges.found, key=lambda block: not block[0] <= self.latest < block[1])[:most]
