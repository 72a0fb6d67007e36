"""Operands that go through a pointer (`*l$index0`, `*$index`, `*n$index`), and the delay between writing a pointer and its use.

A pointer write takes effect for the fourth instruction after it; until then the old value is in force, and writes may follow each
other (machine.md facts H for LM_ADDR; T_INDEX, NN_PUT and NN_GET alike). The delay is parameter `me.shadow`, in instructions
of this microengine. All places of one instruction are found before it writes anything; then each pointer moves once.
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine.contexts import apply_shadow, share_pointers
from ixpemu.engine.jit import jit
from ixpemu.engine.layout import (
    DRAM_IN,
    DRAM_OUT,
    LOCAL_MEMORY,
    LOCAL_MEMORY_WORDS,
    NEIGHBOR,
    NEVER,
    POINTER_DRAM,
    POINTER_LM1,
    POINTER_NEIGHBOR,
    POINTER_SRAM,
    RESERVED_LOCAL_MEMORY,
    RESERVED_NEIGHBOR_RING,
    RESERVED_T_INDEX_WINDOW,
    SHADOW_SAVED,
    SHADOWS,
    SINK,
    SPECIAL_A,
    SPECIAL_B,
    SPECIAL_D,
    SRAM_IN,
    SRAM_OUT,
)
from ixpemu.engine.parameters import P_SHADOW
from ixpemu.engine.reserved import report_at


@jit
def apply_due_shadows(engine, ctx, retired):
    """Let the pointer writes whose delay is over take effect; `retired` counts the instructions before this one."""
    kept = uint32(0)
    for k in range(engine.shadow_count):
        if engine.shadow_due[k] <= retired:
            apply_shadow(engine, ctx, engine.shadow_which[k], engine.shadow_value[k])
        else:
            engine.shadow_due[kept] = engine.shadow_due[k]
            engine.shadow_which[kept] = engine.shadow_which[k]
            engine.shadow_value[kept] = engine.shadow_value[k]
            kept = uint32(kept + uint32(1))
    engine.shadow_count = kept


@jit
def write_shadowed(state, engine, ctx, which, value, retired):
    """Write pointer `which` (SHADOW_*) by the instruction that `retired` others went before."""
    apply_due_shadows(engine, ctx, retired)
    k = engine.shadow_count
    if k >= uint32(SHADOWS):            # cannot be, by the longest delay that a chip file may have
        return
    engine.shadow_due[k] = uint64(retired + uint64(1) + uint64(state.parameter[P_SHADOW]))
    engine.shadow_which[k] = uint32(which)
    engine.shadow_value[k] = uint32(value)
    engine.shadow_count = uint32(k + uint32(1))


@jit
def outside_window(engine, ctx):
    """Whether T_INDEX stands at a transfer register of another context than `ctx`."""
    other = (engine.t_index >> uint32(4)) ^ uint32(ctx)
    return (other & uint32(6) if engine.ctx_enables >> uint32(31) else other & uint32(7)) != uint32(0)


@jit
def write_saved_pointer(engine, ctx, which, value):
    """Write the saved copy of local-memory pointer `which` of context `ctx` (INDIRECT_LM_ADDR).

    Of the executing context it is in force when the context starts again (inferred, M). A global pointer has no saved copies: the
    write means the shared one (assumed).
    """
    shared = (engine.ctx_enables >> uint32(uint32(16) + uint32(which))) & uint32(1)
    if engine.context != ctx or shared:
        engine.lm_addr[uint32(uint32(2) * ctx + uint32(which))] = uint32(value)
        if shared:
            share_pointers(engine, ctx)
        return
    k = uint32(0)
    while k < engine.shadow_count and engine.shadow_which[k] != uint32(uint32(SHADOW_SAVED) + uint32(which)):
        k = uint32(k + uint32(1))
    if k >= uint32(SHADOWS):
        return
    engine.shadow_count = max(engine.shadow_count, uint32(k + uint32(1)))
    engine.shadow_due[k] = uint64(NEVER)
    engine.shadow_which[k] = uint32(uint32(SHADOW_SAVED) + uint32(which))
    engine.shadow_value[k] = uint32(value)


@jit
def pointer_place(state, engine, ctx, what, destination, now):
    """Register-file index of the operand `what` (pointer kind << 8 | offset)."""
    kind = uint32(what) >> uint32(8)
    offset = uint32(what) & uint32(0xFF)
    if kind <= uint32(POINTER_LM1):
        word = uint32((engine.lm_addr[uint32(uint32(2) * ctx + kind)] | offset) & uint32(1023))
        if word >= uint32(LOCAL_MEMORY_WORDS):
            report_at(state, RESERVED_LOCAL_MEMORY, engine.number, ctx, engine.pc[ctx], word, now)
        return uint32(uint32(LOCAL_MEMORY) + word)
    if kind <= uint32(POINTER_DRAM) and outside_window(engine, ctx):
        report_at(state, RESERVED_T_INDEX_WINDOW, engine.number, ctx, engine.pc[ctx], uint32(engine.t_index << uint32(2)), now)
    if kind == uint32(POINTER_SRAM):
        return uint32(uint32(SRAM_OUT if destination else SRAM_IN) + (engine.t_index & uint32(127)))
    if kind == uint32(POINTER_DRAM):
        return uint32(uint32(DRAM_OUT if destination else DRAM_IN) + (engine.t_index & uint32(127)))
    if kind == uint32(POINTER_NEIGHBOR) and not destination:
        return uint32(uint32(NEIGHBOR) + (engine.nn_get & uint32(127)))
    return uint32(SINK)


@jit
def moved(pointer, how, wrap):
    """`pointer` after a post-modify `how` (0 none, 1 up, 2 down), modulo `wrap`."""
    if how == uint32(1):
        return uint32(pointer + uint32(1)) & uint32(wrap - uint32(1))
    if how == uint32(2):
        return uint32(pointer - uint32(1)) & uint32(wrap - uint32(1))
    return pointer


@jit
def resolve(state, engine, i, ctx, retired, now):
    """Find the places of the pointer operands of instruction `i`, which issues at `now`, in `at_a`, `at_b`, `at_d`; move the
    pointers."""
    if engine.shadow_count:
        apply_due_shadows(engine, ctx, retired)
    special = uint32(i.special)
    if special & uint32(SPECIAL_A):
        engine.at_a = pointer_place(state, engine, ctx, i.a, False, now)
    if special & uint32(SPECIAL_B):
        engine.at_b = pointer_place(state, engine, ctx, i.b, False, now)
    if special & uint32(SPECIAL_D):
        engine.at_d = pointer_place(state, engine, ctx, i.d, True, now)
    post = uint32(i.post)
    if post:
        first = uint32(uint32(2) * ctx)
        engine.lm_addr[first] = moved(engine.lm_addr[first], post & uint32(3), uint32(1024))
        second = uint32(first + uint32(1))
        engine.lm_addr[second] = moved(engine.lm_addr[second], (post >> uint32(2)) & uint32(3), uint32(1024))
        if engine.ctx_enables & uint32(0x30000):
            share_pointers(engine, ctx)
        engine.t_index = moved(engine.t_index, (post >> uint32(4)) & uint32(3), uint32(128))
        take = (post >> uint32(6)) & uint32(3)
        if take:
            engine.nn_get = moved(engine.nn_get, take, uint32(128))
            if engine.neighbor_words == uint32(0):
                report_at(state, RESERVED_NEIGHBOR_RING, engine.number, ctx, engine.pc[ctx], 0, now)
            else:
                engine.neighbor_words = uint32(engine.neighbor_words - uint32(1))


