"""When what happens: keys, alarms and stops. The queue of timed events itself is events.py.

`state.keys` holds the next time of every source, as `time << KEY_SHIFT | number`: the event queue, its overflow, the alarms, and
each microengine. The smallest key commits next, so at one cycle events go before alarms and these before microengines in their
order.
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine.jit import jit
from ixpemu.engine.layout import ALARMS, KEY_ME, KEY_SHIFT, LANE_ALARM, NEVER, STOP_INTERRUPT


@jit
def request_stop(state, reason, me, ctx):
    """Ask the core to return after the current commit, if the caller of the slice listens to `reason` (STOP_*)."""
    if state.stop_reason == uint32(0) and (state.stop_mask >> uint32(reason)) & uint32(1):
        state.stop_reason = uint32(reason)
        state.stop_me = uint32(me)
        state.stop_ctx = uint32(ctx)
        state.stop_time = state.now


@jit
def set_key(state, number, when):
    """Publish the next time of a source."""
    state.keys[uint32(number)] = uint64((uint64(when) << uint64(KEY_SHIFT)) | uint64(number))


@jit
def set_alarm(state, index, when):
    """Have alarm `index` (ALARM_*) go off at `when`, at the earliest one cycle after the last commit; NEVER puts it off."""
    before = state.alarm[uint32(index)]
    state.alarm[uint32(index)] = uint64(when)
    first = uint64(state.keys[LANE_ALARM] >> uint64(KEY_SHIFT))
    if before > first and uint64(when) >= first:
        return
    first = uint64(NEVER)
    for k in range(ALARMS):
        first = min(first, state.alarm[k])
    state.keys[LANE_ALARM] = uint64((first << uint64(KEY_SHIFT)) | uint64(LANE_ALARM))


@jit
def set_engine_key(state, m, when):
    """Say when microengine `m` wants to commit next; NEVER while it is idle."""
    m = uint32(m)
    state.keys[uint32(uint32(KEY_ME) + m)] = uint64((uint64(when) << uint64(KEY_SHIFT)) | uint64(uint32(KEY_ME) + m))


@jit
def first_key(state):
    """The smallest key: its low bits say which source commits next, the rest says when."""
    # Four chains instead of one: 7 ns instead of 11 when there were 28 keys.
    first = state.keys[0]
    second = state.keys[1]
    third = state.keys[2]
    fourth = state.keys[3]
    for k in range(4, len(state.keys), 4):
        key = state.keys[k]
        first = key if key < first else first
        key = state.keys[k + 1]
        second = key if key < second else second
        key = state.keys[k + 2]
        third = key if key < third else third
        key = state.keys[k + 3]
        fourth = key if key < fourth else fourth
    first = second if second < first else first
    third = fourth if fourth < third else third
    return third if third < first else first


@jit
def raise_interrupt(state, number, me, ctx):
    """Interrupt the XScale by `number` (IRQ_*); `me`, `ctx`: the thread behind it."""
    state.interrupts_raised = uint32(state.interrupts_raised | (uint32(1) << uint32(number)))
    request_stop(state, STOP_INTERRUPT, me, ctx)
