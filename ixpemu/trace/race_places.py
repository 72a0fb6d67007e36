"""What races can be on besides registers and words of memory: entries of the CAM, bytes of RBUF and TBUF.

An entry of the CAM is shared state of its microengine, like an `@` register: a lookup reads the entry that it gives, hit or miss,
and who goes on to write it after a swap relies on nobody having written it meanwhile. What other threads' lookups do to the
order of use is not looked at.

RBUF and TBUF are memory. Giving an element back is a write of all its bytes, since the MSF fills it anew: a copy to DRAM that may
not have happened by then is a race. Who gets an element's status has seen all that was given back before. Making an element of
TBUF valid reads what is to be sent of it, and who reads TX_SEQUENCE has seen what was made valid. That the MSF has sent an
element before it is filled again is another matter, which the engine itself reports.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ixpemu.engine import observation as seen
from ixpemu.engine.layout import CAM_ENTRY, GPR_B, LOCAL_MEMORY, UNIT_COUNT
from ixpemu.engine.msf import TX_SEQUENCE_0
from ixpemu.engine.msf_layout import BUFFER_BYTES, LISTS
from ixpemu.engine.timing import COMMAND_READ, COMMAND_WRITE
from ixpemu.trace.race_rules import Access, Clock, Data

if TYPE_CHECKING:
    from ixpemu.trace.races import Races

CAM_PLACE = 1 << 16             # place of CAM entry 0, behind those of all registers
RBUF, TBUF = UNIT_COUNT, UNIT_COUNT + 1         # as units, whose memories they are
_NAMES = {RBUF: "RBUF", TBUF: "TBUF"}
_BUFFERS = 0x2000               # address of RBUF for reads, of TBUF for writes
_DONE = {
    seen.BUFFER_READ: (RBUF, False, "reads"), seen.BUFFER_WRITE: (TBUF, True, "writes"),
    seen.BUFFER_FREE: (RBUF, True, "frees"), seen.BUFFER_SEND: (TBUF, False, "sends"),
}


def cam_used(races: Races, event: Any) -> None:
    """An instruction uses the CAM."""
    cycle, _, me, ctx, _, pc, _, tag, state, _, entry, what = event
    reads = what in (seen.CAM_MISS, seen.CAM_HIT, seen.CAM_READ)
    access = Access(me, ctx, pc, cycle, "reads" if reads else "writes")
    for place in range(CAM_ENTRY + 1) if what == seen.CAM_CLEAR else (entry,):
        if reads:
            races.read_cell(me, CAM_PLACE + place, access)
        else:
            races.write_cell(me, CAM_PLACE + place, (tag, state), access)


def buffer_used(races: Races, event: Any, agent: int, clock: Clock) -> bool:
    """A command copies from RBUF or to TBUF, gives an element back, or makes one valid; `agent` is its thread's in its unit.
    True for the last two: the fabric has seen what `agent` knows."""
    cycle, _, me, ctx, _, pc, _, total, _, _, first, what = event
    unit, writes, action = _DONE[what]
    touch(races, unit, first, total, agent, clock, writes, Access(me, ctx, pc, cycle, action))
    return what in (seen.BUFFER_FREE, seen.BUFFER_SEND)


def msf_used(races: Races, event: Any, agent: int, clock: Clock, fabric: Clock) -> None:
    """A command of the MSF reads words of RBUF or TX_SEQUENCE, or writes words of TBUF."""
    cycle, _, me, ctx, _, pc, _, words, command, _, address, _ = event
    address &= 0x3FFF
    if command not in (COMMAND_READ, COMMAND_WRITE):
        return
    if address >= _BUFFERS:
        unit, action = (RBUF, "reads") if command == COMMAND_READ else (TBUF, "writes")
        access = Access(me, ctx, pc, cycle, action)
        touch(races, unit, address - _BUFFERS, 4 * words, agent, clock, command == COMMAND_WRITE, access)
    elif command == COMMAND_READ and address < 4 * (TX_SEQUENCE_0 + LISTS) and address + 4 * words > 4 * TX_SEQUENCE_0:
        np.maximum(clock, fabric, out=clock)


def touch(races: Races, unit: int, first: int, total: int, agent: int, clock: Clock, writes: bool, access: Access) -> None:
    """Bytes of a buffer are read or written."""
    for word, mask in word_masks(first, total):
        at = word & (BUFFER_BYTES // 4 - 1)
        data = races.data.get(unit << 32 | at)
        if data is None:
            data = races.data[unit << 32 | at] = Data()

        def report(*found: Any, at: int = at) -> None:
            races.report(f"{_NAMES[unit]} word {at << 2:#x}", *found)

        if writes:
            data.write(agent, clock, mask, access, report)
        else:
            data.read(agent, clock, mask, access, report)


def word_masks(first: int, total: int) -> Iterator[tuple[int, int]]:
    """The words that `total` bytes from byte `first` on lie in, with the mask of their bytes: bit 0 for the lowest address."""
    end = first + total
    for word in range(first >> 2, end + 3 >> 2):
        low, high = max(first - 4 * word, 0), min(end - 4 * word, 4)
        yield word, (1 << high) - (1 << low)


def register_text(me: int, place: int) -> str:
    """A place that the contexts of a microengine share, in words."""
    if place >= CAM_PLACE:
        return f"CAM entry {place - CAM_PLACE} of microengine {me}"
    if place >= LOCAL_MEMORY:
        return f"local memory word {place - LOCAL_MEMORY} of microengine {me}"
    return f"@{'b' if place >= GPR_B else 'a'}{place % 128} of microengine {me}"
