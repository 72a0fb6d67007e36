"""The heart: one slice of time. Picks what commits next, in exact order, and does it; microengines run privately in between.

Order: by cycle; at the same cycle lanes in their order, then microengines by number. A microengine's private run goes at most
`me.lookahead` cycles past the commit that started it, and never past the slice's limit, so that an agent that acts that much
later than what caused it finds every microengine at its own time. A slice may end anywhere without changing what follows.
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine.accounting import serve_probe
from ixpemu.engine.arrivals import next_arrival
from ixpemu.engine.clocks import future_count_event
from ixpemu.engine.contexts import stop_engine_key, swap_out
from ixpemu.engine.events import release_event, take_event, take_far_event
from ixpemu.engine.external import execute_external, finish_forced
from ixpemu.engine.jit import entry, jit, variant
from ixpemu.engine.lanes import first_key, request_stop, set_alarm
from ixpemu.engine.layout import (
    AFTER_SWAP,
    ALARM_DMA,
    ALARM_FUTURE_COUNT,
    ALARM_MSF_TIMER,
    ALARM_TIMER,
    ALARM_TRANSMIT,
    ALARMS,
    EVENT_NEIGHBOR,
    KEY_ME,
    KEY_SHIFT,
    KEY_WHEEL,
    LANE_ALARM,
    MARK_BREAK,
    MARK_PROBE,
    MARK_WATCH,
    MARK_WRITES_OUT,
    MARK_WRITES_OUT_INDEXED,
    MARKS_TRANSFER,
    NEIGHBOR,
    NEVER,
    RESERVED_NEIGHBOR_RING,
    STOP_BREAKPOINT,
    STOP_COMMIT,
    STOP_CYCLES,
    STOP_IDLE,
    STOP_OBSERVED,
    UNIT_DRAM,
    UNIT_MSF,
)
from ixpemu.engine.msf import msf_timer_event, receive_event, transmit_event
from ixpemu.engine.observation import OBSERVED_FULL, observing
from ixpemu.engine.outside import timer_event
from ixpemu.engine.pci import dma_event
from ixpemu.engine.receive import ALARM_BUS_IN
from ixpemu.engine.registers import pending_marks
from ixpemu.engine.reserved import report_at
from ixpemu.engine.running import run_on, run_watched, take_in, take_in_all
from ixpemu.engine.sizes import store_words
from ixpemu.engine.transmit import ALARM_BUS_OUT
from ixpemu.engine.units import access_cap, access_msf, flush_unit, flush_units
from ixpemu.engine.watch import note_written, touched_in_flight, watch


@jit
def event_due(state, memory, slot, now):
    """A unit acts that others can see at its exact time, or a word reaches a next-neighbour register."""
    event = state.events[slot]
    if event.kind == EVENT_NEIGHBOR:
        engine = state.engines[event.me]
        engine.file[uint32(uint32(NEIGHBOR) + (event.address & uint32(127)))] = event.value
        note_written(engine, uint32(uint32(NEIGHBOR) + (event.address & uint32(127))), uint32(1))
        if event.flag:
            if engine.neighbor_words >= uint32(128):
                report_at(state, RESERVED_NEIGHBOR_RING, event.command, event.ctx, event.pc, engine.neighbor_words, now)
            engine.neighbor_words = uint32(engine.neighbor_words + uint32(1))
    elif event.unit == UNIT_MSF:
        flush_unit(state, memory, UNIT_DRAM, now)           # its copies read and write the buffers
        access_msf(state, memory, event, now)
    else:
        access_cap(state, memory, event, now)


@jit
def alarm_event(state, memory, now):
    """Alarms that are due: each is off when its function is called."""
    for k in range(ALARMS):
        index = uint32(k)
        if state.alarm[index] <= now:
            set_alarm(state, index, NEVER)
            if index == uint32(ALARM_BUS_IN) or index == uint32(ALARM_BUS_OUT):
                flush_unit(state, memory, UNIT_DRAM, now)
            if index < uint32(ALARM_TRANSMIT):
                receive_event(state, memory, index, now)
            elif index < uint32(ALARM_MSF_TIMER):
                transmit_event(state, memory, uint32(index - uint32(ALARM_TRANSMIT)), now)
            elif index < uint32(ALARM_FUTURE_COUNT):
                msf_timer_event(state, memory, uint32(index - uint32(ALARM_MSF_TIMER)), now)
            elif index == uint32(ALARM_FUTURE_COUNT):
                future_count_event(state, now)
            elif index == uint32(ALARM_TIMER):
                timer_event(state, now)
            elif index == uint32(ALARM_DMA):
                flush_units(state, memory, now)
                dma_event(state, memory, now)


@jit
def commit_engine(state, memory, m, now):
    """Microengine `m` does what it stands at (if that is external) and runs on privately."""
    engine = state.engines[m]
    if next_arrival(engine) <= now:
        take_in(state, memory, engine, now, now)
    if engine.context >= uint32(0x80) or engine.clock > now:
        pass                                    # it has woken, or nothing that came was for an enabled context
    elif engine.after >= uint32(AFTER_SWAP) and engine.slots == uint32(0):
        swap_out(state, engine, now)
    else:
        ctx = engine.context
        i = state.code[uint32(m * store_words(state) + engine.pc[ctx])]
        marks = uint32(i.marks) & pending_marks(engine, ctx)
        if marks & uint32(MARK_BREAK) and (engine.probed & uint32(2)) == uint32(0):
            engine.probed = uint32(engine.probed | uint32(2))
            request_stop(state, STOP_BREAKPOINT, m, ctx)
            state.stop_pc = engine.pc[ctx]
            if state.stop_reason != uint32(0):
                return
        if marks & uint32(MARK_PROBE) and (engine.probed & uint32(1)) == uint32(0):
            serve_probe(state, engine, ctx, uint32(i.probe), now)
            engine.probed = uint32(engine.probed | uint32(1))
        if marks:
            if marks & uint32(MARK_WATCH):
                watch(state, engine, i, ctx, now)
            issued = engine.retired
            if i.op < 200:
                if marks & uint32(MARK_WRITES_OUT | MARK_WRITES_OUT_INDEXED):
                    flush_units(state, memory, now)
                pc = engine.pc[ctx]
                in_slots = engine.slots != uint32(0) and engine.after >= uint32(AFTER_SWAP)
                run_watched(state, engine, uint64(now + uint64(1)), uint32(0))
                if marks & uint32(MARKS_TRANSFER):
                    touched_in_flight(state, engine, i, ctx, pc, in_slots)
                finish_forced(state, engine, i, ctx, pc, now)
            else:
                execute_external(state, memory, engine, i, ctx, now)
            if engine.retired != issued:                # not if it only waits for room in its FIFO
                engine.probed = uint32(0)
    if state.stop_reason == uint32(0):
        run_on(state, memory, engine, now)
    else:
        stop_engine_key(state, engine)


@jit
def commit_all(state, memory):
    """The loop of a slice; see run_slice."""
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
        elif number == uint32(LANE_ALARM):
            alarm_event(state, memory, when)
        else:
            slot = take_event(state, when) if number == uint32(KEY_WHEEL) else take_far_event(state, when)
            event_due(state, memory, slot, when)
            release_event(state, slot)
        if (state.stop_mask >> uint32(STOP_COMMIT)) & uint32(1):
            request_stop(state, STOP_COMMIT, 0, 0)
        if observing():
            state.observed_key = key
            if state.observed_count >= uint32(OBSERVED_FULL):
                request_stop(state, STOP_OBSERVED, 0, 0)
        if state.stop_reason != uint32(0):
            break
    # Whoever looks now sees what has happened before the limit, or up to the last commit.
    reason = state.stop_reason
    if reason <= uint32(STOP_IDLE):
        state.stop_reason = uint32(0)                   # what a unit finds out now may be a reason to stop
        take_in_all(state, memory, uint64(state.limit - uint64(1)))
        flush_units(state, memory, uint64(state.limit - uint64(1)))
        if state.stop_reason == uint32(0):
            state.stop_reason = reason
    else:
        take_in_all(state, memory, state.now)
        flush_units(state, memory, state.now)
    return state.stop_reason


@entry
def run_slice(states, memory):
    """Commit everything before `state.limit`, or until a reason in `state.stop_mask`; returns the reason (STOP_*).

    STOP_IDLE: nothing will ever happen by itself. Afterwards `state.now` is the time of the last commit; a next slice goes on
    exactly where this one ended. `states`: see `jit.passed`.
    """
    return commit_all(states[0], memory)


@variant("observing")
def run_slice_observed(states, memory):
    """The same for a chip that somebody watches; besides, `state.observed` holds records of what happened."""
    return commit_all(states[0], memory)
