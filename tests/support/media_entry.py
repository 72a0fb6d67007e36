"""The one compiled door to the media interface for its tests: numba code can be entered only where the engine says so."""

from numpy import uint32

from ixpemu.engine.events import release_event
from ixpemu.engine.jit import entry
from ixpemu.engine.lanes import set_alarm
from ixpemu.engine.layout import ALARM_MSF_TIMER, ALARM_TRANSMIT, NEVER
from ixpemu.engine.msf import msf_fast_write, msf_read, msf_timer_event, msf_write, receive_event, transmit_event

READ, WRITE, FAST_WRITE, POP_PUSH, ALARM = 0, 1, 2, 3, 4


@entry
def media_call(state, memory, operation, a, b, me, ctx, now):
    """`operation` with uint32 arguments at cycle `now` (uint64); returns a word."""
    if operation == uint32(READ):
        return uint32(msf_read(state, memory, a, now))
    if operation == uint32(WRITE):
        msf_write(state, memory, a, b, me, ctx, now)
    elif operation == uint32(FAST_WRITE):
        msf_fast_write(state, memory, a, b, me, ctx, now)
    elif operation == uint32(POP_PUSH):
        engine = state.engines[a]
        engine.arrivals = uint32(engine.arrivals - uint32(1))
        slot = engine.arrival_what[engine.arrivals]
        release_event(state, slot)
        return uint32(slot)
    elif operation == uint32(ALARM):
        set_alarm(state, a, NEVER)
        if a < uint32(ALARM_TRANSMIT):
            receive_event(state, memory, a, now)
        elif a < uint32(ALARM_MSF_TIMER):
            transmit_event(state, memory, uint32(a - uint32(ALARM_TRANSMIT)), now)
        else:
            msf_timer_event(state, memory, uint32(a - uint32(ALARM_MSF_TIMER)), now)
    return uint32(0)
