"""Reserved behaviour: what a program did that the hardware does not define, as counted and located events.

An event never changes what the machine does; the caller of a slice may ask to stop at it (STOP_RESERVED). All events are counted
by kind. A place (kind, microengine, address) is kept once, with its first event and how many it had; when there are more than
RESERVED_ROWS places the earliest ones stay. Private runs report ahead of time, so that what is first is decided by cycle,
microengine, kind and address and not by who came here first.
"""

from __future__ import annotations

from numpy import uint8, uint32, uint64

from ixpemu.engine.jit import jit
from ixpemu.engine.layout import NEVER, RESERVED_ROWS, STOP_RESERVED


@jit
def place_number(me, kind, pc):
    """What orders places that offend in the same cycle."""
    return uint32((uint32(me) << uint32(24)) | (uint32(kind) << uint32(16)) | uint32(pc))


@jit
def is_later(state, row, when, number):
    """Whether the place in `row` was first seen after one of that number at `when`."""
    time = state.reserved_time[row]
    return time > when or (time == when and place_number(
        state.reserved_me[row], state.reserved_kind[row], state.reserved_pc[row]) > number)


@jit
def take_row(state, kind, me, pc, now):
    """The row of a place, a new one if need be; RESERVED_ROWS if earlier places have them all."""
    rows = state.reserved_rows
    for k in range(rows):
        if state.reserved_pc[k] == pc and state.reserved_kind[k] == kind and state.reserved_me[k] == me:
            return uint32(k)
    row = rows
    if rows < uint32(RESERVED_ROWS):
        state.reserved_rows = uint32(rows + uint32(1))
    else:
        row = uint32(0)
        for k in range(1, RESERVED_ROWS):
            number = place_number(state.reserved_me[row], state.reserved_kind[row], state.reserved_pc[row])
            if is_later(state, uint32(k), state.reserved_time[row], number):
                row = uint32(k)
        if not is_later(state, row, now, place_number(me, kind, pc)):
            return uint32(RESERVED_ROWS)
    state.reserved_kind[row] = uint8(kind)
    state.reserved_me[row] = uint8(me)
    state.reserved_pc[row] = uint32(pc)
    state.reserved_time[row] = uint64(NEVER)
    state.reserved_count[row] = uint32(0)
    return row


@jit
def report_at(state, kind, me, ctx, pc, value, now):
    """Note event `kind` (RESERVED_*) at cycle `now`, instruction `pc` of context `ctx`; `value` is the address or word it is
    about. `me` 255: no microengine did it."""
    if state.stop_reason == uint32(0):
        state.stop_kind = uint32(kind)
        state.stop_pc = uint32(pc)
        state.stop_value = uint32(value)
    if state.mode == uint32(0) or (state.reserved_allowed >> uint64(kind)) & uint64(1):
        return
    state.reserved_total[kind] = uint64(state.reserved_total[kind] + uint64(1))
    row = take_row(state, uint32(kind), uint32(me), uint32(pc), uint64(now))
    if row < uint32(RESERVED_ROWS):
        state.reserved_count[row] = uint32(state.reserved_count[row] + uint32(1))
        if uint64(now) < state.reserved_time[row]:
            state.reserved_ctx[row] = uint8(ctx)
            state.reserved_value[row] = uint32(value)
            state.reserved_time[row] = uint64(now)
    if state.stop_reason == uint32(0) and (state.stop_mask >> uint32(STOP_RESERVED)) & uint32(1):
        state.stop_reason = uint32(STOP_RESERVED)
        state.stop_me = uint32(me)
        state.stop_ctx = uint32(ctx)
        state.stop_time = uint64(now)


@jit
def report(state, kind, me, ctx, pc, value):
    """The same, at the time of the commit that is going on."""
    report_at(state, kind, me, ctx, pc, value, state.now)


OUTSIDE, NOWHERE = 255, 0xFFFF          # no microengine, and no instruction's address


@jit
def note_actor(state, me, ctx, pc):
    """Say who is about to write a register: what that causes may be reported by `report_actor`."""
    state.acting = uint32((uint32(me) << uint32(24)) | (uint32(ctx) << uint32(16)) | uint32(pc))


@jit
def report_actor(state, kind, value):
    """Note event `kind` as the doing of whoever writes a register just now."""
    acting = state.acting
    report(state, kind, acting >> uint32(24), (acting >> uint32(16)) & uint32(0xFF), acting & uint32(0xFFFF), value)
