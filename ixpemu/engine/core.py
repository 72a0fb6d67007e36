"""The heart: one slice of time. Picks what commits next, in exact order, and does it; microengines run privately in between.

Order: by cycle; at the same cycle lanes in their order, then microengines by number. A microengine's private run goes at most
`me.lookahead` cycles past the commit that started it, and never past the slice's limit, so that an agent that acts that much later
than what caused it finds every microengine at its own time. A slice may end anywhere without changing what follows.
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine.accounting import serve_probe, take_packet
from ixpemu.engine.commands import command_ended
from ixpemu.engine.contexts import set_signals, stop_engine_key, swap_out
from ixpemu.engine.csrs import future_count_event
from ixpemu.engine.dispatch import run_private
from ixpemu.engine.external import execute_external, finish_forced, pending_marks
from ixpemu.engine.jit import entry, jit
from ixpemu.engine.lanes import first_key, pop_access, pop_push, request_stop, set_alarm, set_engine_key
from ixpemu.engine.layout import (
    AFTER_SWAP,
    ALARM_FUTURE_COUNT,
    ALARM_MSF_TIMER,
    ALARM_TRANSMIT,
    ALARMS,
    KEY_ME,
    KEY_SHIFT,
    LANE_ALARM,
    LANE_NEIGHBOR,
    LANE_PUSH0,
    LANE_SIGNAL_SAME,
    MARK_BREAK,
    MARK_PROBE,
    NEIGHBOR,
    NEVER,
    STOP_BREAKPOINT,
    STOP_COMMIT,
    STOP_CYCLES,
    STOP_IDLE,
    STORE_WORDS,
    UNIT_COUNT,
    UNIT_SIGNAL,
)
from ixpemu.engine.msf import msf_timer_event, receive_event, transmit_event
from ixpemu.engine.parameters import P_LOOKAHEAD
from ixpemu.engine.units import access


@jit
def run_on(state, engine, now):
    """Let `engine`, which executes a context, run privately from its clock on, as far as the commit at `now` allows."""
    horizon = min(state.limit, uint64(now + uint64(state.parameter[P_LOOKAHEAD])))
    if engine.clock < horizon and (engine.after < uint32(AFTER_SWAP) or engine.slots != uint32(0)):
        run_private(state, engine, horizon, pending_marks(engine, engine.context))
    set_engine_key(state, engine.number, engine.clock)


@jit
def deliver(state, slot, now):
    """Words and signals of a push or pull reach their context."""
    entry = state.pushes[slot]
    engine = state.engines[entry.me]
    ctx = uint32(entry.ctx)
    if entry.pulls == 0:
        file = engine.file
        first = uint32(entry.first)
        words = entry.words
        for k in range(uint32(entry.total)):
            file[uint32(first + uint32(k))] = words[k]
        engine.in_pending[ctx] = uint32(engine.in_pending[ctx] - uint32(1))
        engine.in_total = uint32(engine.in_total - uint32(1))
        if entry.packet != uint32(0):
            if engine.context != ctx and (engine.ready >> ctx) & uint32(1) == uint32(0):
                # It has slept until now for whatever it worked on before, not for the packet that arrives.
                row = uint32(ctx * uint32(UNIT_COUNT) + uint32(entry.unit))
                engine.waits[row] = uint32(engine.waits[row] + uint32(now - engine.slept_at[ctx]))
                engine.slept_at[ctx] = now
            take_packet(state, engine, ctx, entry.packet)
    command_ended(state, entry.me)
    if entry.signals != uint32(0) and set_signals(state, engine, ctx, entry.signals, uint32(entry.unit), now):
        run_on(state, engine, now)


@jit
def between_engines(state, lane, slot, now):
    """A signal or a next-neighbour word reaches its microengine."""
    entry = state.access[slot]
    engine = state.engines[entry.me]
    if lane == uint32(LANE_NEIGHBOR):
        engine.file[uint32(uint32(NEIGHBOR) + (entry.address & uint32(127)))] = entry.value
        if entry.command:
            engine.neighbor_words = uint32(engine.neighbor_words + uint32(1))
    elif set_signals(state, engine, uint32(entry.ctx), entry.signals, UNIT_SIGNAL, now):
        run_on(state, engine, now)


@jit
def alarm_event(state, memory, now):
    """Alarms that are due: each is off when its function is called."""
    for k in range(ALARMS):
        index = uint32(k)
        if state.alarm[index] <= now:
            set_alarm(state, index, NEVER)
            if index < uint32(ALARM_TRANSMIT):
                receive_event(state, memory, index, now)
            elif index < uint32(ALARM_MSF_TIMER):
                transmit_event(state, memory, uint32(index - uint32(ALARM_TRANSMIT)), now)
            elif index < uint32(ALARM_FUTURE_COUNT):
                msf_timer_event(state, memory, uint32(index - uint32(ALARM_MSF_TIMER)), now)
            else:
                future_count_event(state, now)


@jit
def commit_engine(state, memory, m, now):
    """Microengine `m` does what it stands at (if that is external) and runs on privately."""
    engine = state.engines[m]
    if engine.after >= uint32(AFTER_SWAP) and engine.slots == uint32(0):
        swap_out(engine, now)
    else:
        ctx = engine.context
        i = state.code[uint32(m * uint32(STORE_WORDS) + engine.pc[ctx])]
        marks = uint32(i.marks) & pending_marks(engine, ctx)
        if marks & uint32(MARK_BREAK):
            if (engine.probed & uint32(2)) == uint32(0):
                engine.probed = uint32(engine.probed | uint32(2))
                request_stop(state, STOP_BREAKPOINT, m, ctx)
                state.stop_pc = engine.pc[ctx]
                if state.stop_reason != uint32(0):
                    return
        if marks & uint32(MARK_PROBE) and (engine.probed & uint32(1)) == uint32(0):
            serve_probe(state, engine, ctx, uint32(i.probe), now)
            engine.probed = uint32(engine.probed | uint32(1))
        if marks:
            if i.op < 200:
                run_private(state, engine, uint64(now + uint64(1)), uint32(0))
                finish_forced(state, engine, i, ctx, now)
            else:
                execute_external(state, engine, i, ctx, now)
            if engine.clock != now:
                engine.probed = uint32(0)
    if engine.context < uint32(0x80) and state.stop_reason == uint32(0):
        run_on(state, engine, now)
    else:
        stop_engine_key(state, engine)


@entry
def run_slice(state, memory):
    """Commit everything before `state.limit`, or until a reason in `state.stop_mask`; returns the reason (STOP_*).

    STOP_IDLE: nothing will ever happen by itself. Afterwards `state.now` is the time of the last commit; a next slice goes on
    exactly where this one ended.
    """
    state.stop_reason = uint32(0)
    while True:
        key = first_key(state)
        when = uint64(key >> uint64(KEY_SHIFT))
        if when >= state.limit:
            state.stop_reason = uint32(STOP_IDLE) if when >= uint64(NEVER) else uint32(STOP_CYCLES)
            break
        state.now = when
        number = uint32(key & uint64(31))
        state.commits = uint64(state.commits + uint64(1))
        if number >= uint32(KEY_ME):
            commit_engine(state, memory, uint32(number - uint32(KEY_ME)), when)
        elif number >= uint32(LANE_ALARM):
            alarm_event(state, memory, when)
        elif number >= uint32(LANE_PUSH0):
            deliver(state, pop_push(state, number), when)
        elif number >= uint32(LANE_SIGNAL_SAME):
            between_engines(state, number, pop_access(state, number), when)
        else:
            access(state, memory, state.access[pop_access(state, number)], when)
        if (state.stop_mask >> uint32(STOP_COMMIT)) & uint32(1):
            request_stop(state, STOP_COMMIT, 0, 0)
        if state.stop_reason != uint32(0):
            break
    return state.stop_reason
