"""Takes finished packets out of the chip's packet table and adds them to running totals.

The table is a ring that the engine reuses; whoever runs a chip for long collects often enough that no finished row is lost.
A row is left in place while a context still works for it: what that context has counted reaches the row later, and
whether it does must not depend on how often somebody looks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ixpemu.engine.layout import (
    CONTEXTS,
    ORIGINATED,
    PACKET,
    PACKET_DROPPED,
    PACKET_ENDED,
    PACKET_FREE,
    PACKET_INSIDE,
    PACKET_ROWS,
    PACKET_SENT,
    UNIT_COUNT,
    UNIT_NAMES,
)
from ixpemu.trace.summary import DROPPED, INSIDE, SENT, CycleSums, PacketColumns, Totals

Record = Any        # numpy's record arrays have no useful static type
_FIELDS = {name: dict(PACKET.fields or {})[name] for name in ("instructions", "aborted", "stalled", "refs", "waits")}
_FIRST = min(field[1] for field in _FIELDS.values())        # byte of a row at which its counters begin; nothing is behind them
_COUNTERS = {name: (field[0], field[1] - _FIRST) for name, field in _FIELDS.items()}


class Collector:
    """Totals over the packets of one chip, whose state record it reads and whose packet table it empties.

    `kinds` are the type names that `kind` of a packet's row indexes; it may grow while packets come. `reasons` maps the number of
    the probe that dropped a packet to words.
    """

    def __init__(self, state: Record, kinds: Sequence[str], reasons: Mapping[int, str]) -> None:
        self._state = state
        # As plain arrays: a record's own attributes take a thousand times as long to find.
        self._rows = state.packets.view(np.ndarray)
        self._counts = self._rows.view(np.uint8).reshape(len(self._rows), -1)[:, _FIRST:].view(np.uint32)
        self._held = state.engines.view(np.ndarray)["packet"]
        self._oldest = 0                # number of a packet before which all rows are free
        self._kinds = kinds
        self._reasons = tuple(reasons.get(number, f"probe {number}") for number in range(256))
        self._totals = Totals(UNIT_NAMES)
        self._originated = 0            # collected packets that the XScale made and that have been sent

    def collect(self) -> int:
        """Adds all finished packets that no context works for any more, and frees their rows; returns how many."""
        newest = int(self._state.packet_next)
        start = self._oldest % PACKET_ROWS
        stop = start + min((newest - self._oldest) % (1 << 32), PACKET_ROWS)
        held = self._held[self._held != 0]
        collected, waiting = 0, newest
        for first, last in ((start, min(stop, PACKET_ROWS)), (0, stop - PACKET_ROWS)):
            if first < last:
                at = self._finished(first, last, held)
                self._take(at)
                collected += len(at)
                left = self._rows["status"][first:last] != PACKET_FREE
                if waiting == newest and left.any():
                    waiting = int(self._rows["number"][first + int(left.argmax())])
        self._oldest = waiting
        return collected

    def _finished(self, first: int, last: int, held: npt.NDArray[np.uint32]) -> npt.NDArray[np.intp]:
        """The places from `first` to before `last` whose packets are finished and not among those that contexts work on."""
        status = self._rows["status"][first:last].copy()
        done = (status == PACKET_SENT) | (status == PACKET_DROPPED)
        places = held % PACKET_ROWS
        places = places[self._rows["number"][places] == held]
        done[places[(places >= first) & (places < last)] - first] = False
        return np.flatnonzero(done) + first

    def _take(self, at: npt.NDArray[np.intp]) -> None:
        """Counts the rows at these places, in ascending order, and frees them. Rows side by side are counted where they are."""
        if not len(at):
            return
        ends = np.flatnonzero(np.diff(at) != 1) + 1
        borders = [0, *ends.tolist(), len(at)]
        longest = int(np.argmax(np.diff(borders)))
        first, last = borders[longest], borders[longest + 1]
        for part in (at[:first], slice(int(at[first]), int(at[last - 1]) + 1), at[last:]):
            self._add(self._rows[part], self._counts[part])
        self._rows["status"][at] = PACKET_FREE

    def _add(self, rows: npt.NDArray[Any], counts: npt.NDArray[np.uint32]) -> None:
        """Adds rows to the totals; `counts` is the same rows' counters as words."""
        if not len(rows):
            return
        own = rows["port_in"] == ORIGINATED
        if own.any():
            self._originated += int((rows["status"][own] == PACKET_SENT).sum())
            rows, counts = rows[~own], counts[~own]
        kinds = rows["kind"]
        order = list(dict.fromkeys(kinds.tolist())) if len(kinds) and (kinds != kinds[0]).any() else kinds[:1].tolist()
        for kind in order:
            mine = rows, counts
            if len(order) > 1:                      # of one kind alone nothing has to be picked out
                chosen = kinds == kind
                mine = rows[chosen], counts[chosen]
            sent = mine[0]["status"] == PACKET_SENT
            sums = _sums(mine[1])
            instructions = int(sums["instructions"].sum())      # every instruction issues in one cycle
            self._totals.count(
                self._kinds[kind], (len(sent), int(sent.sum()), len(sent) - int(sent.sum())),
                (instructions, instructions, int(sums["aborted"].sum()), int(sums["stalled"].sum())),
                sums["waits"].reshape(-1, UNIT_COUNT).sum(axis=0), sums["refs"].reshape(-1, UNIT_COUNT).sum(axis=0),
                mine[0]["departed"][sent] - mine[0]["arrived"][sent],
            )
        self._totals.count_drops(rows["reason"][rows["status"] == PACKET_DROPPED], self._reasons)

    @property
    def originated(self) -> int:
        """How many packets that the XScale made have been sent."""
        rows = self._rows
        return self._originated + int(((rows["port_in"] == ORIGINATED) & (rows["status"] == PACKET_SENT)).sum())

    def totals(self) -> Totals:
        """Everything so far: what has been collected, and beside it, without being changed, the rows still in the table.

        Counts that contexts hold for a packet whose row is there are in.
        """
        self.collect()
        rows = self._rows
        rest = rows[(rows["status"] != PACKET_FREE) & (rows["port_in"] != ORIGINATED)].copy()
        place = {int(number): index for index, number in enumerate(rest["number"])}
        for engine in self._state.engines:
            me = int(engine["number"])
            units = slice(me * UNIT_COUNT, (me + 1) * UNIT_COUNT)
            for ctx in range(CONTEXTS):
                index = place.get(int(engine["packet"][ctx]))
                if index is None:
                    continue
                row = rest[index]
                row["instructions"][me] += engine["instructions"][ctx]
                row["aborted"][me] += engine["aborts"][ctx]
                row["stalled"][me] += engine["stalls"][ctx]
                mine = slice(ctx * UNIT_COUNT, (ctx + 1) * UNIT_COUNT)
                row["refs"][units] += engine["refs"][mine].astype(np.uint16)
                row["waits"][units] += engine["waits"][mine]
        all_of_them = self._totals.copy()
        if len(rest):
            all_of_them.add(self._columns(rest))
        return all_of_them

    def _columns(self, rows: npt.NDArray[Any]) -> PacketColumns:
        status = rows["status"]
        fate = np.full(len(rows), INSIDE, np.uint8)
        fate[status == PACKET_SENT] = SENT
        fate[status == PACKET_DROPPED] = DROPPED
        instructions = rows["instructions"]
        return PacketColumns(
            kinds=tuple(self._kinds), reasons=self._reasons, units=UNIT_NAMES, kind=rows["kind"].astype(np.uint32), fate=fate,
            reason=rows["reason"].astype(np.uint32), arrived=rows["arrived"], left=rows["departed"], instructions=instructions,
            executing=instructions,             # every instruction issues in one cycle
            aborted=rows["aborted"], stalled=rows["stalled"], waiting=rows["waits"], references=rows["refs"],
        )


def _sums(counts: npt.NDArray[np.uint32]) -> dict[str, npt.NDArray[np.uint64]]:
    """The sums over rows of every counter. `counts`: the rows from their first counter on, as words.

    Whole rows are added as words, several times as fast as column by column in 64 bits, as many at a time as no sum of which can
    outgrow its field.
    """
    octets = counts.view(np.uint8)
    room = int(np.iinfo(np.uint32).max) // max(1, int(counts.max()))
    for form, at in _COUNTERS.values():
        if form.base != np.uint32:                  # several in a word: none may grow into its neighbour
            narrow = octets[:, at : at + form.itemsize].view(form.base)
            room = min(room, int(np.iinfo(form.base).max) // max(1, int(narrow.max())))
    sums = {name: np.zeros(form.shape, np.uint64) for name, (form, _) in _COUNTERS.items()}
    for first in range(0, len(counts), room):
        added = np.add.reduce(counts[first : first + room], axis=0, dtype=np.uint32).view(np.uint8)
        for name, (form, at) in _COUNTERS.items():
            sums[name] += added[at : at + form.itemsize].view(form.base)
    return sums


def inside(state: Record) -> int:
    """How many packets are in the chip: arrived, and neither sent nor dropped."""
    status = state.packets["status"]
    arrived = state.packets["port_in"] != ORIGINATED
    return int((arrived & ((status == PACKET_INSIDE) | (status == PACKET_ENDED))).sum())


def engine_sums(state: Record, loaded: Sequence[int]) -> tuple[CycleSums, int, int]:
    """Over the loaded microengines since reset: cycles by what was done in them, idle ones, and instructions."""
    engines = [state.engines[me] for me in loaded]
    cycles = CycleSums(*(sum(int(engine[name]) for engine in engines) for name in ("retired", "aborted", "stalled")))
    return cycles, sum(int(engine["idle"]) for engine in engines), cycles.executing
