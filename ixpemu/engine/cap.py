"""The CSR access proxy: scratch ring CSRs, hash multipliers, interrupts to the XScale, signals between threads, the reflector.

Addresses are those of the microengines' CSR space, 0x4000..0x4fff; what has no meaning here remembers what was written. The
XScale reaches the same registers through these functions.
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine import numbers as n
from ixpemu.engine.clocks import TIMESTAMP_ENABLE, run_timestamps
from ixpemu.engine.contexts import reset_contexts, stop_engine_key
from ixpemu.engine.csrs import access_over_bus, reset_bit, signal_thread
from ixpemu.engine.jit import jit
from ixpemu.engine.layout import (
    DRAM_IN,
    DRAM_OUT,
    RESERVED_REFLECTOR,
    SRAM_IN,
    SRAM_OUT,
)
from ixpemu.engine.outside import thread_interrupt
from ixpemu.engine.parameters import P_SIGNAL_INTERTHREAD
from ixpemu.engine.reserved import report_actor
from ixpemu.engine.rings import configure_ring, place_ring_pointer
from ixpemu.engine.sizes import engine_at, store_words, there
from ixpemu.engine.store import note_stale
from ixpemu.engine.watch import note_written

RING_SPACE = 0x4800
RING_SPACE_END = 0x4900
# Messages of threads come by the dozen and have no names of their own in numbers.py.
MESSAGE, MESSAGE_CLEAR = 0x4C00, 0x4D00
SUMMARY_WORD = (n.CAP_THREAD_MESSAGE_SUMMARY_0 >> 2) & 1023


@jit
def cap_read(state, memory, address, now):
    """One CSR word at `address`."""
    address = uint32(address) & uint32(0xFFFC)
    if uint32(RING_SPACE) <= address < uint32(RING_SPACE_END):
        ring = uint32(address - uint32(RING_SPACE)) >> uint32(4)
        part = (address >> uint32(2)) & uint32(3)
        if part == uint32(0):
            return state.ring_csr[ring]
        if part == uint32(1):
            return uint32(state.ring_head[ring] << uint32(2))
        if part == uint32(2):
            return uint32(state.ring_tail[ring] << uint32(2))
    if uint32(n.CAP_HASH_MULTIPLIER) <= address < uint32(n.CAP_HASH_MULTIPLIER + 32):
        return state.hash_multiplier[uint32(address - uint32(n.CAP_HASH_MULTIPLIER)) >> uint32(2)]
    word = (address >> uint32(2)) & uint32(1023)
    if uint32(MESSAGE_CLEAR) <= address < uint32(MESSAGE_CLEAR + 256):
        # The alias of a thread's message whose reading clears it and its bit in the summary.
        word = uint32(word - uint32((MESSAGE_CLEAR - MESSAGE) >> 2))
        value = state.cap[word]
        state.cap[word] = uint32(0)
        thread = uint32(address - uint32(MESSAGE_CLEAR)) >> uint32(2)
        summary = uint32(uint32(SUMMARY_WORD) + (thread >> uint32(5)))
        state.cap[summary] = uint32(state.cap[summary] & ~(uint32(1) << (thread & uint32(31))))
        return value
    value = state.cap[word]
    if address == uint32(n.CAP_SELF_DESTRUCT_0) or address == uint32(n.CAP_SELF_DESTRUCT_1):
        state.cap[word] = uint32(0)
    return value


@jit
def cap_write(state, memory, address, value, me, ctx, pc, now):
    """Write one CSR word; `me`, `ctx`, `pc`: who did (the XScale writes as thread 0 of microengine 0)."""
    address = uint32(address) & uint32(0xFFFC)
    value = uint32(value)
    if uint32(RING_SPACE) <= address < uint32(RING_SPACE_END):
        ring = uint32(address - uint32(RING_SPACE)) >> uint32(4)
        part = (address >> uint32(2)) & uint32(3)
        if part == uint32(0):
            configure_ring(state, ring, value, me, ctx, pc, now)
        elif part == uint32(1):
            place_ring_pointer(state, ring, False, value, now)
        elif part == uint32(2):
            place_ring_pointer(state, ring, True, value, now)
    elif uint32(n.CAP_HASH_MULTIPLIER) <= address < uint32(n.CAP_HASH_MULTIPLIER + 32):
        state.hash_multiplier[uint32(address - uint32(n.CAP_HASH_MULTIPLIER)) >> uint32(2)] = value
    elif address == uint32(n.CAP_XSCALE_INT_A):
        thread_interrupt(state, False, me, ctx)
    elif address == uint32(n.CAP_XSCALE_INT_B):
        thread_interrupt(state, True, me, ctx)
    elif address == uint32(n.CAP_INTERTHREAD_SIGNAL):
        # [10:7] microengine, [6:4] context, [3:0] signal (assumed)
        signal_thread(state, uint32((value >> uint32(7)) & uint32(15)),
                      uint32((value >> uint32(4)) & uint32(7)), uint32(value & uint32(15)),
                      uint64(now + uint64(state.parameter[P_SIGNAL_INTERTHREAD])))
    elif address == uint32(n.CAP_SELF_DESTRUCT_0) or address == uint32(n.CAP_SELF_DESTRUCT_1):
        word = (address >> uint32(2)) & uint32(1023)
        state.cap[word] = uint32(state.cap[word] | value)
    else:
        write_plain(state, address, value, now)


@jit
def write_plain(state, address, value, now):
    """The rest of cap_write: messages, resets, modes, and what only remembers. Read-only registers keep what they have."""
    word = (address >> uint32(2)) & uint32(1023)
    if uint32(MESSAGE) <= address < uint32(MESSAGE + 256):
        thread = uint32(address - uint32(MESSAGE)) >> uint32(2)
        summary = uint32(uint32(SUMMARY_WORD) + (thread >> uint32(5)))
        state.cap[summary] = uint32(state.cap[summary] | (uint32(1) << (thread & uint32(31))))
        state.cap[word] = value
    elif (uint32(MESSAGE_CLEAR) <= address < uint32(MESSAGE_CLEAR + 256) or address == uint32(n.CAP_THREAD_MESSAGE_SUMMARY_0)
          or address == uint32(n.CAP_THREAD_MESSAGE_SUMMARY_1) or address == uint32(n.CAP_PRODUCT_ID)
          or address == uint32(n.CAP_STRAP_OPTIONS)):
        return
    else:
        state.cap[word] = value
        if address == uint32(n.CAP_MISC_CONTROL):
            run_timestamps(state, (value & uint32(TIMESTAMP_ENABLE)) != uint32(0), now)
        elif address == uint32(n.CAP_IXP_RESET1):
            for m in range(len(state.engines)):
                engine = state.engines[m]
                if (value >> reset_bit(state, engine)) & uint32(1):
                    reset_engine(state, engine)


@jit
def reset_engine(state, engine):
    """Put a microengine into reset: no context enabled, all at address 0, eight contexts. Registers and store stay (on the chip:
    whatever they come up with)."""
    if engine.ctx_enables >> uint32(31):
        note_stale(state, engine, uint32(0), uint32(store_words(state) - uint32(1)))
    reset_contexts(engine)
    engine.ctx_enables = uint32(0)
    engine.enabled = uint32(0)
    engine.after_abort = uint32(0)
    engine.neighbor_words = uint32(0)
    state.attention = uint32(state.attention & ~(uint32(1) << engine.number))
    stop_engine_key(state, engine)


# What a computed address of cap[read] and cap[write] means.
REFLECT_NOTHING, REFLECT_TRANSFER, REFLECT_CSR, REFLECT_CAP = 0, 1, 2, 3


@jit
def reflect_kind(state, address):
    """What is at a computed address: transfer registers from 0x8000 and local CSRs from 0x18000 on, both with the cluster in
    bit 14 and the microengine in bits 13..10, and the CSRs behind the CAP itself at 0x4000..0x4fff."""
    address = uint32(address)
    window = address & uint32(0xFFFF8000)
    if window == uint32(0x8000) or window == uint32(0x18000):
        number = (address >> uint32(10)) & uint32(15)
        if number >> state.cluster_shift or not there(state, reflect_engine(state, address)):
            return uint32(REFLECT_NOTHING)
        return uint32(REFLECT_TRANSFER) if window == uint32(0x8000) else uint32(REFLECT_CSR)
    return uint32(REFLECT_CAP) if address & uint32(0xFFFFF000) == uint32(0x4000) else uint32(REFLECT_NOTHING)


@jit
def reflect_place(engine, address, destination):
    """Register-file index behind a reflector address of another microengine's transfer registers.

    A context has a window of 32 words: 16 SRAM registers and then 16 DRAM registers, or, of four contexts (0, 2, 4, 6), 32 and 32
    in two windows (layout as a loader of the later core uses it, confidence M).
    """
    word = (uint32(address) >> uint32(2)) & uint32(255)
    ctx = word >> uint32(5)
    dram = (word >> uint32(4)) & uint32(1)
    register = word & uint32(15)
    if engine.ctx_enables >> uint32(31):
        dram = ctx & uint32(1)
        ctx = ctx & uint32(6)
        register = word & uint32(31)
    if dram:
        return uint32(uint32(DRAM_IN if destination else DRAM_OUT) + uint32(16) * ctx + register)
    return uint32(uint32(SRAM_IN if destination else SRAM_OUT) + uint32(16) * ctx + register)


@jit
def reflect_engine(state, address):
    """Number of the microengine in a reflector address: cluster in bit 14, microengine in bits 13..10."""
    return engine_at(state, (uint32(address) >> uint32(14)) & uint32(1), (uint32(address) >> uint32(10)) & uint32(15))


@jit
def reflect_read(state, memory, entry, address, now):
    """One word of cap[read] at a computed address: a transfer-out register or a local CSR of another microengine, or a CSR."""
    kind = reflect_kind(state, address)
    engine = state.engines[reflect_engine(state, address)]
    if kind == uint32(REFLECT_CSR):
        return uint32(access_over_bus(state, engine, uint32(address) & uint32(0x3FC), uint32(0), uint32(0), now))
    if kind == uint32(REFLECT_TRANSFER):
        return engine.file[reflect_place(engine, address, False)]
    if kind == uint32(REFLECT_CAP):
        return uint32(cap_read(state, memory, address, now))
    report_actor(state, RESERVED_REFLECTOR, address)
    return uint32(0)


@jit
def reflect_write(state, memory, entry, address, value, now):
    """One word of cap[write] at a computed address: into a transfer-in register or a local CSR of another microengine, or a
    CSR."""
    kind = reflect_kind(state, address)
    engine = state.engines[reflect_engine(state, address)]
    if kind == uint32(REFLECT_CSR):
        access_over_bus(state, engine, uint32(address) & uint32(0x3FC), uint32(value), uint32(1), now)
    elif kind == uint32(REFLECT_TRANSFER):
        engine.file[reflect_place(engine, address, True)] = uint32(value)
        note_written(engine, reflect_place(engine, address, True), uint32(1))
    elif kind == uint32(REFLECT_CAP):
        cap_write(state, memory, address, uint32(value), entry.me, entry.ctx, entry.pc, now)
    else:
        report_actor(state, RESERVED_REFLECTOR, address)
