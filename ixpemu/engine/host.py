"""What Python does to a running chip beyond memory: one compiled entry for register accesses, rings, enables and signals.

Used for the XScale's and a user's accesses alike; each happens at cycle `now`. Plain memory needs no code: see chip_memory.py.
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine import numbers as n
from ixpemu.engine.accounting import bind_handle, new_packet
from ixpemu.engine.cap import cap_read, cap_write
from ixpemu.engine.contexts import enable_contexts, reset_contexts, set_signals, stop_engine_key
from ixpemu.engine.csrs import read_csr, read_private, write_csr, write_private
from ixpemu.engine.host_queues import HOST_CHANNEL_READ, HOST_QUEUES, queue_call
from ixpemu.engine.jit import entry, jit
from ixpemu.engine.layout import ORIGINATED, UNIT_SIGNAL
from ixpemu.engine.msf import msf_fast_write, msf_read, msf_write
from ixpemu.engine.pointers import apply_due_shadows
from ixpemu.engine.reserved import report_at
from ixpemu.engine.rings import get_word, put_word, update_flag

(HOST_CAP_READ, HOST_CAP_WRITE, HOST_CSR_READ, HOST_CSR_WRITE, HOST_MSF_READ, HOST_MSF_WRITE, HOST_MSF_FAST, HOST_RING_GET,
 HOST_RING_PUT, HOST_ENABLE, HOST_RESET, HOST_SIGNAL, HOST_ORIGINATE, HOST_REPORT) = range(1, 15)
READS = frozenset((HOST_CAP_READ, HOST_CSR_READ, HOST_MSF_READ, HOST_CHANNEL_READ))
"""Operations that change nothing (but for registers that clear when read)."""


@jit
def is_private(address):
    """Whether a local CSR is one of those that only executing instructions see."""
    address = uint32(address)
    return (address == uint32(n.CSR_ACTIVE_LM_ADDR_0) or address == uint32(n.CSR_ACTIVE_LM_ADDR_1)
            or address == uint32(n.CSR_ACTIVE_LM_ADDR_0_BYTE_INDEX) or address == uint32(n.CSR_ACTIVE_LM_ADDR_1_BYTE_INDEX)
            or address == uint32(n.CSR_T_INDEX) or address == uint32(n.CSR_T_INDEX_BYTE_INDEX)
            or address == uint32(n.CSR_BYTE_INDEX) or address == uint32(n.CSR_CRC_REMAINDER))


@jit
def csr_access(state, m, address, value, writing, now):
    """Read or write a local CSR of microengine `m` from outside; writes of pointers act at once."""
    engine = state.engines[m]
    ctx = uint32(engine.context & uint32(7))
    if is_private(address):
        if not writing:
            return read_private(engine, ctx, address, engine.retired)
        write_private(state, engine, ctx, address, value, engine.retired)
        apply_due_shadows(engine, ctx, uint64(engine.retired + uint64(1 << 20)))
        return uint32(0)
    if not writing:
        return read_csr(state, engine, ctx, address, now)
    write_csr(state, engine, ctx, address, value, now)
    stop_engine_key(state, engine)
    return uint32(0)


@entry
def host_call(states, memory, operation, a, b, c, now):
    """One access at cycle `now`; what `a`, `b`, `c` (all uint64) are depends on `operation` (HOST_*). Returns a word."""
    state = states[0]
    first = uint32(a)
    second = uint32(b)
    third = uint32(c)
    operation = uint32(operation)
    if operation == uint32(HOST_CAP_READ):
        return uint32(cap_read(state, memory, first, now))
    if operation == uint32(HOST_CAP_WRITE):
        cap_write(state, memory, first, second, uint32(0), uint32(0), uint32(0), now)
    elif operation == uint32(HOST_CSR_READ):
        return uint32(csr_access(state, first, second, uint32(0), uint32(0), now))
    elif operation == uint32(HOST_CSR_WRITE):
        csr_access(state, first, second, third, uint32(1), now)
    elif operation == uint32(HOST_MSF_READ):
        return uint32(msf_read(state, memory, first, now))
    elif operation == uint32(HOST_MSF_WRITE):
        state.msf.writer_pc = uint32(0)
        msf_write(state, memory, first, second, uint32(255), uint32(0), now)
    elif operation == uint32(HOST_MSF_FAST):
        state.msf.writer_pc = uint32(0)
        msf_fast_write(state, memory, first, second, uint32(255), uint32(0), now)
    elif operation == uint32(HOST_RING_GET):
        value = get_word(state, memory, first)
        update_flag(state, first, now)
        return uint32(value)
    elif operation == uint32(HOST_RING_PUT):
        put_word(state, memory, first, second, uint32(0), uint32(0), uint32(0), now)
        update_flag(state, first, now)
    elif operation == uint32(HOST_ENABLE):
        enable_contexts(state, state.engines[first], second, now)
        stop_engine_key(state, state.engines[first])
    elif operation == uint32(HOST_RESET):
        reset_contexts(state.engines[first])
        stop_engine_key(state, state.engines[first])
    elif operation == uint32(HOST_SIGNAL):
        set_signals(state, state.engines[first], second, third, UNIT_SIGNAL, now)
        stop_engine_key(state, state.engines[first])
    elif operation == uint32(HOST_REPORT):
        report_at(state, first, uint32(255), uint32(0), uint32(0), second, now)
    elif operation >= uint32(HOST_QUEUES):
        return uint32(queue_call(state, memory, operation, first, second, third, now))
    elif operation == uint32(HOST_ORIGINATE) and state.mode != uint32(0):
        number = new_packet(state, uint32(ORIGINATED), second, now)
        bind_handle(state, first, number)
        return uint32(number)
    return uint32(0)
