"""Time as microengines can read it: TIMESTAMP, FUTURE_COUNT and its signal; PROFILE_COUNT and the random number are elsewhere.

Timestamps move every 16 cycles (H) and only while MISC_CONTROL[7] is set, all of them together: so they are set to one value
while they stand. `ENGINE.future_due` counts in cycles that the timestamps have been running.
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine.contexts import update_ready
from ixpemu.engine.jit import jit
from ixpemu.engine.lanes import set_alarm
from ixpemu.engine.layout import ALARM_FUTURE_COUNT, CONTEXTS, NEVER, SIGNAL_BITS, UNIT_SIGNAL
from ixpemu.engine.observation import SEEN_SIGNAL, observing, see_value

TIMESTAMP_ENABLE = 1 << 7   # of MISC_CONTROL


@jit
def running_time(state, now):
    """Cycles that the timestamps have been running by `now`."""
    if state.stamps_stopped != uint64(0):
        return uint64(state.stamps_stopped - uint64(1) - state.stamps_lag)
    return uint64(now - state.stamps_lag)


@jit
def timestamp(state, engine, now):
    """The 64-bit timestamp of a microengine."""
    return uint64(uint64(running_time(state, now) >> uint64(4)) + engine.timestamp_offset)


@jit
def set_timestamp(state, engine, wanted, now):
    """Write all 64 bits of it. Future counts that are set are compared with the new one."""
    engine.timestamp_offset = uint64(engine.timestamp_offset + uint64(uint64(wanted) - timestamp(state, engine, now)))
    for ctx in range(CONTEXTS):
        if engine.future_due[ctx] != uint64(NEVER):
            engine.future_due[ctx] = future_due(state, engine, uint32(ctx), now)
    set_future_counts(state)


@jit
def run_timestamps(state, run, now):
    """MISC_CONTROL[7] is written: let all timestamps stand or run."""
    if run and state.stamps_stopped != uint64(0):
        state.stamps_lag = uint64(state.stamps_lag + (now - (state.stamps_stopped - uint64(1))))
        state.stamps_stopped = uint64(0)
    elif not run and state.stamps_stopped == uint64(0):
        state.stamps_stopped = uint64(now + uint64(1))
    set_future_counts(state)


@jit
def future_due(state, engine, ctx, now):
    """When TIMESTAMP_LOW[15:0] of `engine` next equals the FUTURE_COUNT of `ctx`, after `now`, in running time."""
    tick = uint64(running_time(state, now) >> uint64(4))
    stamp = uint64(tick + engine.timestamp_offset) & uint64(0xFFFF)
    ahead = uint64(uint64(engine.future_count[ctx]) - stamp) & uint64(0xFFFF)
    if ahead == uint64(0):
        ahead = uint64(0x10000)
    return uint64((tick + ahead) << uint64(4))


@jit
def set_future_counts(state):
    """Set the alarm to the first future count that is due."""
    first = uint64(NEVER)
    if state.stamps_stopped == uint64(0):
        for m in range(len(state.engines)):
            for ctx in range(CONTEXTS):
                first = min(first, state.engines[m].future_due[ctx])
        if first != uint64(NEVER):
            first = uint64(first + state.stamps_lag)
    set_alarm(state, ALARM_FUTURE_COUNT, first)


@jit
def future_count_event(state, now):
    """Raise the signals of all future counts that are due at `now`; each fires once."""
    due = running_time(state, now)
    for m in range(len(state.engines)):
        engine = state.engines[m]
        for ctx in range(CONTEXTS):
            if engine.future_due[ctx] <= due:
                engine.future_due[ctx] = uint64(NEVER)
                signal = uint32(uint32(1) << engine.future_signal[ctx]) & uint32(SIGNAL_BITS)
                engine.signals[ctx] = uint32(engine.signals[ctx] | signal)
                if observing():
                    see_value(state, SEEN_SIGNAL, m, ctx, 0, now, signal, 0)
                update_ready(state, engine, uint32(ctx), UNIT_SIGNAL, now)
    set_future_counts(state)
