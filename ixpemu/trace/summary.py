"""From packet records to the figures of a run: cost by packet type, packets by fate, rates by port, and the sums that must hold.

Works on plain columns; where they come from (the engine's accounting, a file) is the caller's matter, and how they look is
`ixpemu.report`'s. Two different things are called cycles here and are never added to each other: microengine cycles
(executing, aborted, stalled, idle), of which every loaded microengine has exactly one per chip cycle, and the time that a
thread waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ixpemu.diagnostics import Diagnostic

U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.unsignedinteger]

INSIDE, SENT, DROPPED = 0, 1, 2         # fate of a packet
WIRE_OVERHEAD_BYTES = 24                # preamble and start 8, check sequence 4, gap 12 (IEEE 802.3; confidence H)


@dataclass(frozen=True, slots=True)
class PacketColumns:
    """One row per numbered packet, as arrays of length N.

    `kind` indexes `kinds`; `reason` indexes `reasons` and counts only for dropped packets. `arrived` and `left` are chip cycles:
    the last bit in at the port, and the last bit out or the drop. `instructions` and the cycles are N, or N x microengines.
    `waiting` (cycles) and `references` (commands) are N x units, in the order of `units`, or N x (microengines x units): what
    stands side by side for one packet is added up.
    """

    kinds: tuple[str, ...]
    reasons: tuple[str, ...]
    units: tuple[str, ...]
    kind: U32
    fate: npt.NDArray[np.uint8]
    reason: U32
    arrived: U64
    left: U64
    instructions: Counts
    executing: Counts
    aborted: Counts
    stalled: Counts
    waiting: Counts
    references: Counts

    def __len__(self) -> int:
        return len(self.fate)


@dataclass(frozen=True, slots=True)
class CycleSums:
    """Microengine cycles by what was done in them, idle ones left out."""

    executing: int = 0
    aborted: int = 0
    stalled: int = 0

    @property
    def total(self) -> int:
        return self.executing + self.aborted + self.stalled

    def __add__(self, other: CycleSums) -> CycleSums:
        return CycleSums(
            self.executing + other.executing, self.aborted + other.aborted, self.stalled + other.stalled
        )


@dataclass(frozen=True, slots=True)
class Latency:
    """Port-to-port time of sent packets, in chip cycles. `median` and `p99` are nearest-rank: values that occurred."""

    minimum: int
    median: int
    p99: int
    maximum: int
    mean: float = 0.0

    @classmethod
    def of(cls, cycles: U32 | U64) -> Latency | None:
        """The figures of an unordered array, None for an empty one."""
        count = len(cycles)
        if not count:
            return None
        ordered = np.sort(cycles)

        def rank(percent: int) -> int:
            return int(ordered[max(-(-percent * count // 100), 1) - 1])

        return cls(int(ordered[0]), rank(50), rank(99), int(ordered[-1]), float(ordered.mean()))


@dataclass(frozen=True, slots=True)
class TypeFigures:
    """All packets of one type. `waiting` (cycles) and `references` (commands) are by unit. Sums over the packets, not means."""

    name: str
    packets: int
    sent: int
    dropped: int
    instructions: int
    cycles: CycleSums
    waiting: dict[str, int]
    references: dict[str, int]
    latency: Latency | None


@dataclass(frozen=True, slots=True)
class PortFigures:
    """One port. `offered` and `sent` are (frames, bytes without check sequence); rates are at the line, overhead included.

    `refused` are frames that never became packets (receive FIFO full, runt, too long), by reason; their bytes are in no figure.
    `receive_gbps` and `transmit_gbps` are over the whole run, None where nothing came or went.
    """

    number: int
    line_gbps: float
    offered: tuple[int, int]
    sent: tuple[int, int]
    refused: dict[str, int] = field(default_factory=dict)
    receive_gbps: float | None = None
    transmit_gbps: float | None = None


@dataclass(frozen=True, slots=True)
class Load:
    """A part of the chip and the share of the time in which it was busy."""

    name: str
    share: float


@dataclass(frozen=True, slots=True)
class Uncounted:
    """Microengine cycles that belong to no packet: those of work between packets, with its instructions, and idle ones."""

    cycles: CycleSums = CycleSums()
    instructions: int = 0
    idle: int = 0


@dataclass(frozen=True, slots=True)
class Where:
    """Where a context stands: `address` in words, the label at or before it with the distance, the source line, and what it does
    ("executing", "ready", "asleep", "off")."""

    me: int
    ctx: int
    address: int
    state: str
    label: str = ""
    place: str = ""

    def __str__(self) -> str:
        parts = [f"microengine {self.me}, context {self.ctx}: at {self.address}"]
        parts += [f"({self.label})"] if self.label else []
        parts += [self.place] if self.place else []
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class CaptureFigures:
    """A capture that has been written: what port `number` sent, in `path`, with so many frames."""

    number: int
    path: str
    frames: int


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run did. `cycles` are chip cycles; `clocks` microengine cycles, one per chip cycle and loaded microengine."""

    application: str
    clock_hz: int
    cycles: int
    clocks: int
    stop: str
    types: tuple[TypeFigures, ...]
    outside: Uncounted
    ports: tuple[PortFigures, ...] = ()
    arrived: int = 0
    sent: int = 0                           # frames out of all ports, those the XScale made included
    generated: int = 0                      # of those, frames that did not arrive as packets
    inside: int = 0                         # packets neither sent nor dropped when the run stopped
    drops: dict[str, int] = field(default_factory=dict)
    wall_seconds: float = 0.0
    notes: tuple[str, ...] = ()             # what a reader has to know beside the figures
    loads: tuple[Load, ...] = ()            # how busy the parts were, the busiest first
    where: tuple[Where, ...] = ()           # where the contexts stood when the run stopped
    warnings: tuple[Diagnostic, ...] = ()   # reserved behaviour, one for each place
    failure: Diagnostic | None = None       # the reserved behaviour that ended the run
    races: tuple[Diagnostic, ...] = ()      # data races, where they were looked for
    captures: tuple[CaptureFigures, ...] = ()       # written so far

    @property
    def complete(self) -> bool:
        """Whether all input was used up and every packet has left."""
        return self.stop == "quiet"

    @property
    def seconds(self) -> float:
        """Time on the chip."""
        return self.cycles / self.clock_hz

    @property
    def instructions(self) -> int:
        """All instructions, inside packets and outside of them."""
        return sum(kind.instructions for kind in self.types) + self.outside.instructions

    @property
    def counted(self) -> int:
        """Microengine cycles that the figures account for; equal to `clocks`, or something is wrong."""
        return sum(kind.cycles.total for kind in self.types) + self.outside.cycles.total + self.outside.idle

    @property
    def dropped(self) -> int:
        return sum(self.drops.values())

    def _repr_html_(self) -> str:
        from html import escape

        def row(kind: TypeFigures) -> str:
            sums = (kind.instructions, kind.cycles.executing, kind.cycles.aborted, sum(kind.waiting.values()))
            cells = "".join(f"<td>{total / max(kind.packets, 1):.1f}</td>" for total in sums)
            return f"<tr><th>{escape(kind.name)}</th><td>{kind.packets}</td>{cells}</tr>"

        rows = "".join(row(kind) for kind in self.types)
        head = "<tr><th>type</th><th>packets</th><th>instructions</th><th>executing</th><th>aborted</th><th>waiting</th></tr>"
        return f"<table><caption>{escape(self.application)}, per packet</caption>{head}{rows}</table>"


class Totals:
    """Figures that grow as packets finish: sums by type and reason, and the latency of each sent packet (4 bytes a packet)."""

    __slots__ = ("_latencies", "_sums", "drops", "units")

    def __init__(self, units: Sequence[str]) -> None:
        self.units = tuple(units)
        self.drops: dict[str, int] = {}
        self._sums: dict[str, npt.NDArray[np.int64]] = {}
        self._latencies: dict[str, list[U32]] = {}

    def add(self, columns: PacketColumns) -> None:
        """Counts packets; their units must be those of these totals."""
        if not len(columns):
            return
        for kind in dict.fromkeys(columns.kind.tolist()):
            rows = columns.kind == kind
            sent = rows & (columns.fate == SENT)
            cycles = (columns.instructions, columns.executing, columns.aborted, columns.stalled)
            self.count(
                columns.kinds[kind], (int(rows.sum()), int(sent.sum()), int((rows & (columns.fate == DROPPED)).sum())),
                [int(column[rows].sum(dtype=np.uint64)) for column in cycles],
                self._by_unit(columns.waiting[rows]), self._by_unit(columns.references[rows]),
                columns.left[sent] - columns.arrived[sent],
            )
        self.count_drops(columns.reason[columns.fate == DROPPED], columns.reasons)

    def count(
        self, name: str, packets: tuple[int, int, int], cycles: Sequence[int], waiting: U64, references: U64, latency: U64
    ) -> None:
        """Counts packets of one type: how many, sent and dropped; instructions, executing, aborted and stalled cycles; waiting
        and references by unit; the latency of each that was sent."""
        sums = np.concatenate((packets, cycles, waiting, references)).astype(np.int64)
        if name in self._sums:
            self._sums[name] += sums
        else:
            self._sums[name] = sums
        self._latencies.setdefault(name, []).append(latency.astype(np.uint32))

    def count_drops(self, numbers: npt.NDArray[np.unsignedinteger], reasons: Sequence[str]) -> None:
        """Counts dropped packets, each by the number of its reason in `reasons`."""
        for reason, count in enumerate(np.bincount(numbers).tolist() if len(numbers) else ()):
            if count:
                self.drops[reasons[reason]] = self.drops.get(reasons[reason], 0) + count

    def _by_unit(self, counts: Counts) -> U64:
        """Sums over packets first: that is along memory, and what is left to add up for each unit is a handful."""
        summed: U64 = counts.sum(axis=0, dtype=np.uint64).reshape(-1, len(self.units)).sum(axis=0)
        return summed

    def copy(self) -> Totals:
        """Totals that can grow on their own."""
        twin = Totals(self.units)
        twin.drops = dict(self.drops)
        twin._sums = {name: sums.copy() for name, sums in self._sums.items()}
        twin._latencies = {name: list(parts) for name, parts in self._latencies.items()}
        return twin

    def types(self) -> tuple[TypeFigures, ...]:
        """The figures of each packet type, in order of its first packet."""
        count = len(self.units)
        figures = []
        for name, sums in self._sums.items():
            values = [int(value) for value in sums]
            packets, sent, dropped, instructions = values[:4]
            waiting, references = values[7:7 + count], values[7 + count:]
            figures.append(TypeFigures(
                name=name, packets=packets, sent=sent, dropped=dropped, instructions=instructions, cycles=CycleSums(*values[4:7]),
                waiting={unit: n for unit, n in zip(self.units, waiting, strict=True) if n},
                references={unit: n for unit, n in zip(self.units, references, strict=True) if n},
                latency=Latency.of(np.concatenate(self._latencies[name])),
            ))
        return tuple(figures)


def summarise(columns: PacketColumns) -> tuple[tuple[TypeFigures, ...], dict[str, int]]:
    """The figures of each packet type, in order of its first packet, and the drops by reason, most frequent first."""
    totals = Totals(columns.units)
    totals.add(columns)
    return totals.types(), merge_drops(totals.drops)


def line_gbps(frames: int, octets: int, cycles: int, clock_hz: int) -> float | None:
    """The rate on the wire, in Gb/s, of `frames` frames of `octets` bytes together within `cycles`; None for no time at all."""
    if cycles <= 0 or not frames:
        return None
    return (octets + frames * WIRE_OVERHEAD_BYTES) * 8 * clock_hz / cycles / 1e9


def merge_drops(*drops: dict[str, int]) -> dict[str, int]:
    """Drops by reason from several places, most frequent first."""
    merged: dict[str, int] = {}
    for each in drops:
        for reason, count in each.items():
            if count:
                merged[reason] = merged.get(reason, 0) + count
    return dict(sorted(merged.items(), key=lambda item: (-item[1], item[0])))


def unbalanced(report: RunReport) -> Sequence[str]:
    """The sums of the report that do not hold, in words; none where all is well."""
    found = []
    if report.counted != report.clocks:
        found.append(f"microengine cycles: {report.counted:,} are accounted for, {report.clocks:,} passed")
    left = report.sent - report.generated + report.dropped + report.inside
    if report.arrived != left:
        found.append(f"packets: {report.arrived:,} arrived, {left:,} were sent, dropped or are inside")
    return found
