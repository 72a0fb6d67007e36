"""The CSR access proxy: scratch ring CSRs, hash multipliers, interrupts to the XScale, signals between threads, the reflector.

Addresses are those of the microengines' CSR space, 0x4000..0x4fff; what has no meaning here remembers what was written. The
XScale reaches the same registers through these functions.
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine import numbers as n
from ixpemu.engine.csrs import read_csr, send_signal, write_csr
from ixpemu.engine.jit import jit
from ixpemu.engine.lanes import request_stop
from ixpemu.engine.layout import (
    DRAM_IN,
    DRAM_OUT,
    SRAM_IN,
    SRAM_OUT,
    STOP_INTERRUPT,
)
from ixpemu.engine.parameters import P_SIGNAL_INTERTHREAD
from ixpemu.engine.rings import configure_ring, place_ring_pointer
from ixpemu.engine.sizes import engine_at, there
from ixpemu.engine.watch import note_written

RING_SPACE = 0x4800
RING_SPACE_END = 0x4900


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
        bit = thread_bit(me, ctx)
        if uint32(me) < uint32(8):
            state.thread_interrupts = uint64(state.thread_interrupts | bit)
        else:
            state.thread_interrupts_high[0] = uint64(state.thread_interrupts_high[0] | bit)
        state.stop_value = uint32(0)
        request_stop(state, STOP_INTERRUPT, me, ctx)
    elif address == uint32(n.CAP_XSCALE_INT_B):
        bit = thread_bit(me, ctx)
        if uint32(me) < uint32(8):
            state.thread_interrupts_b = uint64(state.thread_interrupts_b | bit)
        else:
            state.thread_interrupts_high[1] = uint64(state.thread_interrupts_high[1] | bit)
        state.stop_value = uint32(1)
        request_stop(state, STOP_INTERRUPT, me, ctx)
    elif address == uint32(n.CAP_INTERTHREAD_SIGNAL):
        # [10:7] microengine, [6:4] context, [3:0] signal (assumed); a microengine that is not there hears nothing
        to = uint32((value >> uint32(7)) & uint32(15))
        if there(state, to):
            send_signal(state, me, ctx, to, uint32((value >> uint32(4)) & uint32(7)),
                        uint32(value & uint32(15)), uint64(now + uint64(state.parameter[P_SIGNAL_INTERTHREAD])))
    elif address == uint32(n.CAP_SELF_DESTRUCT_0) or address == uint32(n.CAP_SELF_DESTRUCT_1):
        word = (address >> uint32(2)) & uint32(1023)
        state.cap[word] = uint32(state.cap[word] | value)
    else:
        state.cap[(address >> uint32(2)) & uint32(1023)] = value


@jit
def thread_bit(me, ctx):
    """The bit of a thread among 64, eight microengines."""
    return uint64(uint64(1) << uint64(uint32(uint32(me) & uint32(7)) * uint32(8) + uint32(ctx)))


@jit
def reflect_place(address, destination):
    """Register-file index behind a reflector address of another microengine's transfer registers: 32 words a context, 16 SRAM
    registers and then 16 DRAM registers (layout as a loader of the later core uses it, confidence M)."""
    word = (uint32(address) >> uint32(2)) & uint32(255)
    ctx = word >> uint32(5)
    register = word & uint32(15)
    if word & uint32(16):
        return uint32(uint32(DRAM_IN if destination else DRAM_OUT) + uint32(16) * ctx + register)
    return uint32(uint32(SRAM_IN if destination else SRAM_OUT) + uint32(16) * ctx + register)


@jit
def reflect_engine(state, address):
    """Number of the microengine in a reflector address: cluster in bit 14, microengine in bits 13..10."""
    return engine_at(state, (uint32(address) >> uint32(14)) & uint32(1), (uint32(address) >> uint32(10)) & uint32(15))


@jit
def reflect_read(state, engine, address, now):
    """cap[read] at a computed address: a transfer-out register or a local CSR of another microengine."""
    if uint32(address) & uint32(0x10000):
        return read_csr(state, engine, uint32(engine.context & uint32(7)), uint32(uint32(address) & uint32(0x3FC)), now)
    return engine.file[reflect_place(address, False)]


@jit
def reflect_write(state, engine, address, value, now):
    """cap[write] at a computed address: into a transfer-in register or a local CSR of another microengine."""
    if uint32(address) & uint32(0x10000):
        write_csr(state, engine, uint32(engine.context & uint32(7)), uint32(uint32(address) & uint32(0x3FC)), value, now)
    else:
        engine.file[reflect_place(address, True)] = uint32(value)
        note_written(engine, reflect_place(address, True), uint32(1))


