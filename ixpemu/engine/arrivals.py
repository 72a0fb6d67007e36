"""What is on its way to a microengine: words and signals whose times of arrival are known, in the microengine's own inbox.

Only the microengine itself can see that something has arrived. So an arrival is no event of the chip: a microengine takes in what
has come when it commits next, or wakes for it while it is idle. An inbox is an array in descending order, the next arrival at its
end. Whoever sends calls `post_event` or `post_signal`; taking in is running.py's.
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine.jit import jit
from ixpemu.engine.lanes import request_stop, set_engine_key
from ixpemu.engine.layout import INBOX, NEVER, STOP_INTERNAL
from ixpemu.engine.observation import observing

# ENGINE.arrival_what: the slot of an event, or a signal alone: this bit, the unit, the context and the mask.
SIGNAL_ALONE = 1 << 31
UNIT_SHIFT, CTX_SHIFT = 24, 20


@jit
def post_event(state, slot, me, when):
    """The event of a slot reaches microengine `me` at `when`."""
    insert(state, state.engines[me], uint64(when), uint32(slot))


@jit
def post_signal(state, me, ctx, unit, mask, when):
    """Event signals `mask` (bits 15..1) reach a context at `when`; `unit` is what it is said to have waited for."""
    what = uint32(uint32(SIGNAL_ALONE) | (uint32(unit) << uint32(UNIT_SHIFT)) | (uint32(ctx) << uint32(CTX_SHIFT))
                  | (uint32(mask) & uint32(0xFFFF)))
    insert(state, state.engines[me], uint64(when), what)


@jit
def insert(state, engine, when, what):
    """Put an arrival where it belongs: at one cycle events come first, in the order in which they were sent, then signals."""
    times = engine.arrival_time
    what_comes = engine.arrival_what
    count = engine.arrivals
    if count >= uint32(INBOX):
        request_stop(state, STOP_INTERNAL, engine.number, 0)
        return
    rank = what if what & uint32(SIGNAL_ALONE) else uint32(0)
    k = count
    while k != uint32(0):
        before = uint32(k - uint32(1))
        other = times[before]
        if other > when:
            break
        if other == when:
            kind = what_comes[before]
            if (kind if kind & uint32(SIGNAL_ALONE) else uint32(0)) > rank:
                break
        times[k] = other
        what_comes[k] = what_comes[before]
        k = before
    times[k] = when
    what_comes[k] = what
    engine.arrivals = uint32(count + uint32(1))
    if k == count and (engine.context >= uint32(0x80) or (observing() and when < engine.clock)):
        set_engine_key(state, engine.number, when)


@jit
def next_arrival(engine):
    """When the next arrival is due; NEVER if nothing is on its way."""
    count = engine.arrivals
    if count == uint32(0):
        return uint64(NEVER)
    return engine.arrival_time[uint32(count - uint32(1))]
