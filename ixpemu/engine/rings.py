"""Scratch memory and its 16 rings: places, put and get, and the status flag that microengines test.

A ring's CSRs: BASE [31:30] its length (128, 256, 512, 1,024 words), [26] the flag says empty (1) or nearly full (0), [13:9] base
address / 512; HEAD and TAIL [11:2] (lengths and fields as the Linux driver writes them, confidence M). A get on an empty ring
gives 0; a put is never refused: on a full ring it overwrites and is reported. The flag lags behind by parameter
`scratch.status_lag`; a change inside the lag of another hides the older one.
"""

from __future__ import annotations

from numpy import uint8, uint32, uint64

from ixpemu.engine.jit import jit
from ixpemu.engine.layout import RESERVED_RING_ALIGNMENT, RESERVED_RING_BASE, RESERVED_RING_OVERFLOW
from ixpemu.engine.memories import PAGE_SHIFT
from ixpemu.engine.parameters import P_SCRATCH_FULL, P_SCRATCH_LAG
from ixpemu.engine.reserved import report_at


@jit
def update_flag(state, ring, now):
    """Work out the status flag after a change of the ring's contents or of its BASE."""
    used = state.ring_used[ring]
    if (state.ring_csr[ring] >> uint32(26)) & uint32(1):
        flag = uint8(1) if used == uint32(0) else uint8(0)
    else:
        full = uint32((state.ring_words[ring] * state.parameter[P_SCRATCH_FULL]) >> uint32(3))
        flag = uint8(1) if used >= full else uint8(0)
    if flag != state.ring_flag[ring]:
        state.ring_flag_before[ring] = state.ring_flag[ring]
        state.ring_flag[ring] = flag
        state.ring_flag_time[ring] = uint64(now)


@jit
def visible_flag(state, ring, now):
    """The status flag as microengines see it at `now`."""
    if uint64(now) < uint64(state.ring_flag_time[ring] + uint64(state.parameter[P_SCRATCH_LAG])):
        return uint32(state.ring_flag_before[ring])
    return uint32(state.ring_flag[ring])


@jit
def configure_ring(state, ring, value, me, ctx, pc, now):
    """Write a ring's BASE: it is empty afterwards."""
    state.ring_csr[ring] = uint32(value)
    state.ring_words[ring] = uint32(uint32(128) << (uint32(value) >> uint32(30)))
    state.ring_base[ring] = uint32(((uint32(value) >> uint32(9)) & uint32(31)) * uint32(128))
    state.ring_head[ring] = uint32(0)
    state.ring_tail[ring] = uint32(0)
    state.ring_used[ring] = uint32(0)
    if state.ring_base[ring] & uint32(state.ring_words[ring] - uint32(1)):
        report_at(state, RESERVED_RING_ALIGNMENT, me, ctx, pc, value, now)
    if uint32(state.ring_base[ring] + state.ring_words[ring]) > state.scratch_words:
        report_at(state, RESERVED_RING_BASE, me, ctx, pc, value, now)
        state.ring_base[ring] = uint32(0)
    update_flag(state, ring, now)


@jit
def place_ring_pointer(state, ring, tail, value, now):
    """Write a ring's HEAD or, with `tail`, TAIL: a byte offset; the number of words follows from both."""
    words = max(state.ring_words[ring], uint32(1))
    at = (uint32(value) >> uint32(2)) & uint32(words - uint32(1))
    if tail:
        state.ring_tail[ring] = at
    else:
        state.ring_head[ring] = at
    state.ring_used[ring] = uint32(state.ring_tail[ring] - state.ring_head[ring]) & uint32(words - uint32(1))
    update_flag(state, ring, now)


@jit
def get_word(state, memory, ring):
    """Take the oldest word off a ring, 0 if there is none. The caller updates the flag."""
    if state.ring_used[ring] == uint32(0):
        return uint32(0)
    at = state.ring_head[ring]
    value = memory[uint32(state.scratch_base + state.ring_base[ring] + at)]
    state.ring_head[ring] = uint32(at + uint32(1)) & uint32(state.ring_words[ring] - uint32(1))
    state.ring_used[ring] = uint32(state.ring_used[ring] - uint32(1))
    return value


@jit
def put_word(state, memory, ring, value, me, ctx, pc, now):
    """Put a word on a ring, by the command at `pc` of a thread. The caller updates the flag."""
    words = state.ring_words[ring]
    if words == uint32(0):
        report_at(state, RESERVED_RING_BASE, me, ctx, pc, ring, now)
        return
    at = state.ring_tail[ring]
    index = uint32(state.scratch_base + state.ring_base[ring] + at)
    memory[index] = uint32(value)
    memory[index >> uint32(PAGE_SHIFT)] = uint32(1)
    state.ring_tail[ring] = uint32(at + uint32(1)) & uint32(words - uint32(1))
    if state.ring_used[ring] >= words:
        report_at(state, RESERVED_RING_OVERFLOW, me, ctx, pc, ring, now)
        state.ring_head[ring] = state.ring_tail[ring]
    else:
        state.ring_used[ring] = uint32(state.ring_used[ring] + uint32(1))
