"""A microengine between two commits of the chip: what arrives for it, its private instructions, and its own arbitration.

A commit in the chip's order is needed for what others can see. What only the microengine itself can see - signals and words that
arrive, giving up the microengine and who follows, signals to its own contexts - is done here, ahead of the chip's time, as far as
nothing that is not yet on its way could arrive before: `state.near` cycles (chip_parameters.py works it out).
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine import numbers as n
from ixpemu.engine.accounting import take_packet
from ixpemu.engine.actions import OP_ARBITRATE, OP_CSR_WRITE, OP_SIGNAL_CLEAR, OP_SIGNAL_SET
from ixpemu.engine.arrivals import CTX_SHIFT, SIGNAL_ALONE, UNIT_SHIFT, next_arrival
from ixpemu.engine.contexts import set_signals, swap_out
from ixpemu.engine.dispatch import run_private
from ixpemu.engine.events import release_event
from ixpemu.engine.external import arbitrate, execute_rare
from ixpemu.engine.jit import call_at, jit
from ixpemu.engine.lanes import set_engine_key
from ixpemu.engine.layout import (
    AFTER_SWAP,
    ALARM_FUTURE_COUNT,
    EVENT_PUSH,
    HOLD_FLAGS,
    INTERPRET,
    MARK_EXTERNAL,
    NEVER,
    QUEUE_UNITS,
    RESERVED_SIGNAL_LOST,
    STOP_COMMIT,
    STOPPED,
    UNIT_COUNT,
)
from ixpemu.engine.observation import SEEN_PACKET, SEEN_SIGNAL, observing, see_push, see_signals, see_value
from ixpemu.engine.parameters import P_LOOKAHEAD
from ixpemu.engine.registers import filled, pending_marks
from ixpemu.engine.reserved import report_at
from ixpemu.engine.sizes import store_words
from ixpemu.engine.units import flush_unit
from ixpemu.engine.watch import note_written

NOWHERE = 0xFFFF            # no address of an instruction


@jit
def take_in(state, memory, engine, until, now):
    """Take in what has arrived by `until`; returns whether that was all of it.

    `now` is the time of the chip: what a unit would have to get to later than that must wait. An idle microengine wakes for the
    first arrival that makes a context ready; its clock is then past that.
    """
    while engine.arrivals != uint32(0):
        last = uint32(engine.arrivals - uint32(1))
        when = engine.arrival_time[last]
        if when > until:
            break
        what = engine.arrival_what[last]
        if what & uint32(SIGNAL_ALONE):
            engine.arrivals = last
            ctx = uint32((what >> uint32(CTX_SHIFT)) & uint32(7))
            mask = uint32(what & uint32(0xFFFF))
            if observing():
                see_value(state, SEEN_SIGNAL, engine.number, ctx, 0, when, mask, 0)
            raise_signals(state, engine, ctx, mask, (what >> uint32(UNIT_SHIFT)) & uint32(31), uint32(NOWHERE), when)
        else:
            if state.events[what].access > now:
                return False
            engine.arrivals = last
            deliver_event(state, memory, engine, what, when)
            release_event(state, what)
    return True


@jit
def deliver_event(state, memory, engine, slot, when):
    """Words of a command reach their registers, or have been pulled from them, at `when`; then its signals are raised."""
    event = state.events[slot]
    ctx = uint32(event.ctx)
    unit = uint32(event.unit)
    if unit < uint32(QUEUE_UNITS):
        flush_unit(state, memory, unit, event.access)
    if event.kind == EVENT_PUSH:
        file = engine.file
        first = uint32(event.first)
        words = event.words
        for k in range(uint32(event.total)):
            file[uint32(first + uint32(k))] = words[k]
        filled(engine, ctx, first, uint32(event.total))
        if observing():
            see_push(state, event, when)
        if engine.watch_inputs:
            note_written(engine, first, event.total)
        if event.packet != uint32(0):
            if engine.context != ctx and (engine.ready >> ctx) & uint32(1) == uint32(0):
                # It has slept until now for whatever it worked on before, not for the packet that arrives.
                row = uint32(ctx * uint32(UNIT_COUNT) + unit)
                engine.waits[row] = uint32(engine.waits[row] + uint32(when - engine.slept_at[ctx]))
                engine.slept_at[ctx] = when
            take_packet(state, engine, ctx, event.packet)
            if observing():
                see_value(state, SEEN_PACKET, event.me, ctx, 0, when, event.packet, 0)
    if event.signals != uint32(0):
        if observing():
            see_signals(state, event, ctx, when)
        place = uint32(event.pc) if unit < uint32(QUEUE_UNITS) else uint32(NOWHERE)
        raise_signals(state, engine, ctx, event.signals, unit, place, when)


@jit
def raise_signals(state, engine, ctx, mask, unit, pc, when):
    """Signals reach a context; one that is still set is lost. Its place is the command at `pc`, or, if that is not known, where
    the context sleeps."""
    lost = uint32(engine.signals[ctx] & mask)
    if lost != uint32(0):
        if pc == uint32(NOWHERE) and engine.context != ctx:
            pc = engine.pc[ctx]
        report_at(state, RESERVED_SIGNAL_LOST, engine.number, ctx, pc, lost, when)
    set_signals(state, engine, ctx, mask, unit, when)


@jit
def run_on(state, memory, engine, now):
    """Let `engine` run from its clock on, as far as the commit at `now` allows, and say when it wants to commit next."""
    ahead = uint64(1) if engine.watched else uint64(state.parameter[P_LOOKAHEAD])
    horizon = min(state.limit, uint64(now + ahead))
    far = horizon if engine.watched else min(state.limit, uint64(now + state.far))
    near = min(horizon, uint64(now + state.near))
    # Records carry the chip's time, somebody may ask after every commit, and a future count's signal is not on its way before.
    if observing() or (state.stop_mask >> uint32(STOP_COMMIT)) & uint32(1) or state.alarm[ALARM_FUTURE_COUNT] != uint64(NEVER):
        near = min(near, uint64(now + uint64(1)))
        far = horizon
    while True:
        if engine.context >= uint32(0x80):
            when = next_arrival(engine)
            if when >= near or not take_in(state, memory, engine, when, now):
                break
            continue
        if engine.clock < far and (engine.after < uint32(AFTER_SWAP) or engine.slots != uint32(0)):
            if engine.watched:
                run_watched(state, engine, horizon, pending_marks(engine, engine.context))
            elif engine.translated != uint64(0) and engine.slots == uint32(0) and not observing():
                run_translated(state, engine, horizon, far)
            else:
                run_private(state, engine, horizon, far, pending_marks(engine, engine.context))
        when = engine.clock
        if when >= near or (next_arrival(engine) <= when and not take_in(state, memory, engine, when, now)):
            break
        if not local_step(state, memory, engine, when):
            break
    if observing():
        when = min(when, next_arrival(engine))          # records come in the order of the chip's time
    set_engine_key(state, engine.number, when)


@jit
def run_translated(state, engine, horizon, far):
    """As run_private, by the program's own code as far as there is some. No defer slot is to be filled."""
    pending = pending_marks(engine, engine.context)
    while True:
        status = call_at(engine.translated, engine, state, horizon, far)
        clock = engine.clock
        if clock >= far:
            return
        if status == uint32(STOPPED):
            ctx = engine.context
            if uint32(state.code[uint32(engine.number * store_words(state) + engine.pc[ctx])].marks) & pending:
                return
        if status == uint32(INTERPRET):
            run_private(state, engine, horizon, uint64(clock + uint64(1)), pending)
            if engine.slots == uint32(0):
                if engine.clock == clock:
                    return                      # it has to wait for its turn
                continue
        run_private(state, engine, horizon, far, pending)
        return


@jit
def run_watched(state, engine, horizon, pending):
    """Run one instruction, which leaves the condition codes as they are if CC_ENABLE says so."""
    result, when, v, c = engine.cc_result, engine.cc_time, engine.cc_v, engine.cc_c
    run_private(state, engine, horizon, horizon, pending)
    if engine.watched & uint32(HOLD_FLAGS):
        engine.cc_result, engine.cc_time, engine.cc_v, engine.cc_c = result, when, v, c


@jit
def local_step(state, memory, engine, when):
    """Do what the executing context stands at, if nobody else can see it; returns whether it was done."""
    if engine.after >= uint32(AFTER_SWAP) and engine.slots == uint32(0):
        swap_out(state, engine, when)
        return True
    ctx = engine.context
    i = state.code[uint32(engine.number * store_words(state) + engine.pc[ctx])]
    marks = uint32(i.marks) & pending_marks(engine, ctx)
    if marks == uint32(0):
        return True                         # what held it up has arrived
    if marks != uint32(MARK_EXTERNAL) or engine.slots != uint32(0):
        return False
    op = uint32(i.op)
    if op == uint32(OP_ARBITRATE):
        arbitrate(state, engine, i, ctx, when)
        return True
    if (op == uint32(OP_CSR_WRITE) and i.imm == uint32(n.CSR_SAME_ME_SIGNAL)) or op == uint32(OP_SIGNAL_SET) or (
            op == uint32(OP_SIGNAL_CLEAR)):
        execute_rare(state, memory, engine, i, ctx, when, False)
        return True
    return False


@jit
def take_in_all(state, memory, until):
    """All microengines take in what has arrived by `until`: before somebody outside looks at them."""
    for m in range(len(state.engines)):
        take_in(state, memory, state.engines[m], until, until)
