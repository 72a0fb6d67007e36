"""Reserved behaviour: what a program did that the hardware does not define, as counted and located events.

An event never changes what the machine does; the caller of a slice may ask to stop at it (STOP_RESERVED). The first RESERVED_ROWS
are kept with their place, all are counted by kind.
"""

from __future__ import annotations

from numpy import uint8, uint32, uint64

from ixpemu.engine.jit import jit
from ixpemu.engine.lanes import request_stop
from ixpemu.engine.layout import RESERVED_ROWS, STOP_RESERVED


@jit
def report_at(state, kind, me, ctx, pc, value, now):
    """Note event `kind` (RESERVED_*) at cycle `now`, instruction `pc` of context `ctx`; `value` is the address or word it is
    about."""
    if state.stop_reason == uint32(0):
        state.stop_kind = uint32(kind)
        state.stop_pc = uint32(pc)
        state.stop_value = uint32(value)
    if state.mode == uint32(0):
        return
    state.reserved_total[kind] = uint64(state.reserved_total[kind] + uint64(1))
    row = state.reserved_rows
    if row < uint32(RESERVED_ROWS):
        state.reserved_kind[row] = uint8(kind)
        state.reserved_me[row] = uint8(me)
        state.reserved_ctx[row] = uint8(ctx)
        state.reserved_pc[row] = uint32(pc)
        state.reserved_value[row] = uint32(value)
        state.reserved_time[row] = uint64(now)
        state.reserved_rows = uint32(row + uint32(1))
    request_stop(state, STOP_RESERVED, me, ctx)


@jit
def report(state, kind, me, ctx, pc, value):
    """The same, at the time of the commit that is going on."""
    report_at(state, kind, me, ctx, pc, value, state.now)
