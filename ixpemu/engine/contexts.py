"""Contexts of a microengine: sleeping, waking, arbitration, and the waiting that accounting charges for it.

A context is enabled or not, and ready or asleep; one of the ready ones executes. `wakeup` says what a sleeping one waits for:
all of bits 15..1 and 0 (voluntary) or, with bit 16, any of them; `signals` says what has arrived. If all were awaited they are
cleared when the context starts; if any, they are not. Everything here happens at a commit, in time order.
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine.arrivals import next_arrival
from ixpemu.engine.jit import jit
from ixpemu.engine.lanes import set_engine_key
from ixpemu.engine.layout import (
    AFTER_NOTHING,
    AFTER_SWAP_GO,
    CONTEXTS,
    SHADOW_SAVED,
    SHADOW_T_INDEX,
    UNIT_COUNT,
    UNIT_READY,
    UNIT_SIGNAL,
    VOLUNTARY,
    WAKEUP_ANY,
)
from ixpemu.engine.observation import SEEN_ABORT, SEEN_START, SEEN_SWAP, observing, see_value
from ixpemu.engine.parameters import P_SWAP_ABORT, P_WAKE_CYCLES
from ixpemu.engine.watch import show_marks


@jit
def satisfied(signals, wakeup):
    """Whether a context that sleeps on `wakeup` may run with `signals` set. Any of an empty mask never may (kill)."""
    if wakeup & uint32(WAKEUP_ANY):
        return (signals & wakeup & uint32(0xFFFF)) != uint32(0)
    return (signals & wakeup) == wakeup


@jit
def settle_shadows(engine, ctx):
    """Let every pending pointer write take effect: what a swap does. Saved copies come last: they are what is loaded next."""
    for k in range(engine.shadow_count):
        if engine.shadow_which[k] < uint32(SHADOW_SAVED):
            apply_shadow(engine, ctx, engine.shadow_which[k], engine.shadow_value[k])
    for k in range(engine.shadow_count):
        if engine.shadow_which[k] >= uint32(SHADOW_SAVED):
            apply_shadow(engine, ctx, uint32(engine.shadow_which[k] - uint32(SHADOW_SAVED)), engine.shadow_value[k])
    engine.shadow_count = uint32(0)


@jit
def share_pointers(engine, ctx):
    """Give all contexts the local-memory pointers of `ctx` that CTX_ENABLES makes global."""
    for which in range(2):
        if (engine.ctx_enables >> uint32(16 + which)) & uint32(1):
            for other in range(CONTEXTS):
                engine.lm_addr[2 * other + which] = engine.lm_addr[uint32(uint32(2) * ctx + uint32(which))]


@jit
def apply_shadow(engine, ctx, which, value):
    """Write a shadowed register for good."""
    if which < uint32(SHADOW_T_INDEX):
        engine.lm_addr[uint32(uint32(2) * ctx + which)] = value
        if engine.ctx_enables & uint32(0x30000):
            share_pointers(engine, ctx)
    elif which == uint32(SHADOW_T_INDEX):
        engine.t_index = value
    elif which == uint32(SHADOW_T_INDEX + 1):
        engine.nn_put = value
        engine.neighbor_words = uint32(engine.nn_put - engine.nn_get) & uint32(127)
    elif which == uint32(SHADOW_T_INDEX + 2):
        engine.nn_get = value
        engine.neighbor_words = uint32(engine.nn_put - engine.nn_get) & uint32(127)
    else:
        engine.byte_index = value


@jit
def start_context(state, engine, ctx, now):
    """Make the ready context `ctx` the executing one."""
    wakeup = engine.wakeup[ctx]
    if observing():
        see_value(state, SEEN_START, engine.number, ctx, engine.pc[ctx], now, wakeup, engine.signals[ctx])
    if (wakeup & uint32(WAKEUP_ANY)) == uint32(0):
        engine.signals[ctx] = uint32(engine.signals[ctx] & ~wakeup)
    engine.wakeup[ctx] = uint32(0)
    engine.context = uint32(ctx)
    row = uint32(uint32(ctx) * uint32(UNIT_COUNT) + uint32(UNIT_READY))
    if now > engine.ready_at[ctx]:
        engine.waits[row] = uint32(engine.waits[row] + uint32(now - engine.ready_at[ctx]))
        engine.ready_at[ctx] = now


@jit
def choose_context(engine):
    """The next ready context, round robin after the one that ran last; 8 if there is none."""
    able = uint32(engine.ready & engine.enabled)
    last = uint32(engine.context & uint32(7))
    if able == uint32(0):
        return uint32(8)
    # Bits above `last` first: move them down to the bottom, the others behind them.
    turned = uint32(((able >> uint32(last + uint32(1))) | (able << uint32(uint32(7) - last))) & uint32(0xFF))
    step = uint32(0)
    while (turned >> step) & uint32(1) == uint32(0):
        step = uint32(step + uint32(1))
    return uint32((last + uint32(1) + step) & uint32(7))


@jit
def swap_out(state, engine, now):
    """The executing context gives up the microengine at `now`, its defer slots done; the next ready one follows or none does."""
    ctx = uint32(engine.context & uint32(7))
    if engine.shadow_count:
        settle_shadows(engine, ctx)
    if engine.after == uint32(AFTER_SWAP_GO):
        engine.pc[ctx] = engine.after_pc
    engine.own = uint32(0)
    abort = engine.after_abort
    if observing():
        see_value(state, SEEN_SWAP, engine.number, ctx, engine.pc[ctx], now, engine.wakeup[ctx], 0)
        if abort:
            see_value(state, SEEN_ABORT, engine.number, ctx, engine.pc[ctx], now, abort, 0)
    engine.after = uint32(AFTER_NOTHING)
    engine.clock = uint64(now + uint64(abort))
    engine.aborted = uint64(engine.aborted + uint64(abort))
    engine.aborts[ctx] = uint32(engine.aborts[ctx] + abort)
    engine.slept_at[ctx] = now
    bit = uint32(uint32(1) << ctx)
    if satisfied(engine.signals[ctx], engine.wakeup[ctx]):
        engine.ready = uint32(engine.ready | bit)
        engine.ready_at[ctx] = uint64(now + uint64(abort))
    else:
        engine.ready = uint32(engine.ready & ~bit)
    engine.previous_context = ctx
    following = choose_context(engine)
    if following < uint32(8):
        start_context(state, engine, following, engine.clock)
    else:
        engine.context = uint32(ctx | uint32(0x80))


@jit
def begin_swap(state, engine, wakeup, defer, after, target):
    """The executing context is to sleep on `wakeup` after `defer` more instructions, and go on at `target` if AFTER_SWAP_GO."""
    ctx = engine.context
    engine.wakeup[ctx] = uint32(wakeup)
    engine.slots = uint32(defer)
    engine.after = uint32(after)
    engine.after_pc = uint32(target)
    engine.after_abort = uint32(max(state.parameter[P_SWAP_ABORT], uint32(defer)) - uint32(defer))


@jit
def wake_engine(state, engine, now):
    """If nothing executes and a context is ready, start it: `wake_cycles` after `now`. Returns whether one was started."""
    ctx = choose_context(engine)
    if ctx >= uint32(8):
        return False
    start = max(engine.clock, uint64(now + uint64(state.parameter[P_WAKE_CYCLES])))
    engine.idle = uint64(engine.idle + (start - engine.clock))
    engine.clock = start
    start_context(state, engine, ctx, start)
    set_engine_key(state, engine.number, start)
    return True


@jit
def update_ready(state, engine, ctx, unit, now):
    """After a change of signals, wake-up mask or enables of a context that does not execute: wake it if it may run.

    Returns whether the microengine was idle and executes now.
    """
    bit = uint32(uint32(1) << uint32(ctx))
    if (engine.ready & bit) == uint32(0) and engine.context != uint32(ctx) and satisfied(engine.signals[ctx], engine.wakeup[ctx]):
        engine.ready = uint32(engine.ready | bit)
        engine.ready_at[ctx] = now
        row = uint32(uint32(ctx) * uint32(UNIT_COUNT) + uint32(unit))
        if now > engine.slept_at[ctx]:
            engine.waits[row] = uint32(engine.waits[row] + uint32(now - engine.slept_at[ctx]))
    return engine.context >= uint32(0x80) and wake_engine(state, engine, now)


@jit
def set_signals(state, engine, ctx, mask, unit, now):
    """Event signals `mask` reach context `ctx`. Returns whether the microengine was idle and executes now."""
    engine.signals[ctx] = uint32(engine.signals[ctx] | uint32(mask))
    return update_ready(state, engine, ctx, unit, now)


@jit
def enable_contexts(state, engine, mask, now):
    """Write the context enables. A context that executes goes on until it swaps out, even if it is disabled."""
    engine.enabled = uint32(mask)
    if engine.watch_hidden:
        show_marks(state, engine)
    for ctx in range(CONTEXTS):
        update_ready(state, engine, uint32(ctx), UNIT_SIGNAL, now)


@jit
def stop_engine_key(state, engine):
    """Publish when `engine` commits next: its clock, or never while no context executes."""
    if engine.context >= uint32(0x80):
        set_engine_key(state, engine.number, next_arrival(engine))
    else:
        set_engine_key(state, engine.number, min(engine.clock, next_arrival(engine)) if observing() else engine.clock)


@jit
def reset_contexts(engine):
    """What a loader does before it enables contexts: all at address 0, waiting for nothing but their turn."""
    settle_shadows(engine, uint32(engine.context & uint32(7)))
    for ctx in range(CONTEXTS):
        engine.pc[ctx] = uint32(0)
        engine.signals[ctx] = uint32(VOLUNTARY)
        engine.wakeup[ctx] = uint32(VOLUNTARY)
    engine.ready = uint32(0xFF)
    engine.context = uint32(0x87)
    engine.slots = uint32(0)
    engine.after = uint32(AFTER_NOTHING)
