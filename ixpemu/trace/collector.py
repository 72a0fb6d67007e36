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


class Collector:
    """Totals over the packets of one chip, whose state record it reads and whose packet table it empties.

    `kinds` are the type names that `kind` of a packet's row indexes; it may grow while packets come. `reasons` maps the number of
    the probe that dropped a packet to words.
    """

    def __init__(self, state: Record, kinds: Sequence[str], reasons: Mapping[int, str]) -> None:
        self._state = state
        # As plain arrays: a record's own attributes take a thousand times as long to find.
        self._rows = state.packets.view(np.ndarray)
        self._held = state.engines.view(np.ndarray)["packet"]
        self._kinds = kinds
        self._reasons = tuple(reasons.get(number, f"probe {number}") for number in range(256))
        self._totals = Totals(UNIT_NAMES)
        self._originated = 0            # collected packets that the XScale made and that have been sent

    def collect(self) -> int:
        """Adds all finished packets that no context works for any more, and frees their rows; returns how many."""
        rows = self._rows
        status = rows["status"].copy()
        done = (status == PACKET_SENT) | (status == PACKET_DROPPED)
        held = self._held[self._held != 0]
        places = held % PACKET_ROWS
        done[places[rows["number"][places] == held]] = False
        at = np.flatnonzero(done)
        if len(at):
            taken = rows.take(at)
            rows["status"][at] = PACKET_FREE
            own = taken["port_in"] == ORIGINATED
            if own.any():
                self._originated += int((taken["status"][own] == PACKET_SENT).sum())
                taken = taken[~own]
            self._totals.add(self._columns(taken))
        return len(at)

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
