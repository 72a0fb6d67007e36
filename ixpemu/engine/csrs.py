"""Local CSRs of a microengine: reads and writes by the microengine itself and, at a given time, from outside.

Those that only the executing instructions can see (LM_ADDR, T_INDEX, BYTE_INDEX, CRC_REMAINDER) are private; all other accesses
commit in time order. What no field gives a meaning to remembers what was written. Field layouts: machine facts with their
confidence in the csr data of isa/.
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine import numbers as n
from ixpemu.engine.arrivals import post_signal
from ixpemu.engine.contexts import enable_contexts, share_pointers, update_ready
from ixpemu.engine.crc import read_remainder, write_remainder
from ixpemu.engine.hidden import note_own
from ixpemu.engine.jit import jit
from ixpemu.engine.lanes import set_alarm
from ixpemu.engine.layout import (
    ALARM_FUTURE_COUNT,
    CONTEXTS,
    HOLD_FLAGS,
    NEVER,
    OWN_BYTE_INDEX,
    RESERVED_NO_NEIGHBOR,
    RESERVED_RANDOM,
    RESERVED_STORE_RUNNING,
    SHADOW_BYTE_INDEX,
    SHADOW_NN_GET,
    SHADOW_NN_PUT,
    SHADOW_T_INDEX,
    SIGNAL_BITS,
    UNIT_SIGNAL,
)
from ixpemu.engine.observation import SEEN_SEND, SEEN_SIGNAL, observing, see_send, see_value
from ixpemu.engine.parameters import P_SIGNAL_NEIGHBOR, P_SIGNAL_SAME
from ixpemu.engine.pointers import apply_due_shadows, write_saved_pointer, write_shadowed
from ixpemu.engine.pseudo_random import next_random
from ixpemu.engine.reserved import report
from ixpemu.engine.sizes import cluster_of, in_cluster, store_words, there


@jit
def csr_write(state, engine, i, ctx, a, b, pc, order, clock):
    """Write `a` to one of the pointers, BYTE_INDEX or CRC_REMAINDER; the arguments are those of hidden.py."""
    write_private(state, engine, ctx, i.imm, a, order)


@jit
def csr_read(state, engine, i, ctx, a, b, pc, order, clock):
    """Read one of them."""
    if uint32(i.imm) == uint32(n.CSR_CRC_REMAINDER):
        return read_remainder(state, engine, ctx, pc, order, clock)
    return read_private(engine, ctx, i.imm, order)


@jit
def write_private(state, engine, ctx, address, value, retired):
    """Write one of the pointers, BYTE_INDEX or CRC_REMAINDER by the instruction that `retired` others went before."""
    address = uint32(address)
    word = (uint32(value) >> uint32(2)) & uint32(1023)
    if address == uint32(n.CSR_ACTIVE_LM_ADDR_0) or address == uint32(n.CSR_ACTIVE_LM_ADDR_0_BYTE_INDEX):
        write_shadowed(state, engine, ctx, 0, word, retired)
    elif address == uint32(n.CSR_ACTIVE_LM_ADDR_1) or address == uint32(n.CSR_ACTIVE_LM_ADDR_1_BYTE_INDEX):
        write_shadowed(state, engine, ctx, 1, word, retired)
    elif address == uint32(n.CSR_T_INDEX) or address == uint32(n.CSR_T_INDEX_BYTE_INDEX):
        write_shadowed(state, engine, ctx, SHADOW_T_INDEX, (uint32(value) >> uint32(2)) & uint32(127), retired)
    elif address == uint32(n.CSR_CRC_REMAINDER):
        write_remainder(engine, value)
    if (address == uint32(n.CSR_BYTE_INDEX) or address == uint32(n.CSR_ACTIVE_LM_ADDR_0_BYTE_INDEX)
            or address == uint32(n.CSR_ACTIVE_LM_ADDR_1_BYTE_INDEX) or address == uint32(n.CSR_T_INDEX_BYTE_INDEX)):
        write_shadowed(state, engine, ctx, SHADOW_BYTE_INDEX, uint32(value) & uint32(3), retired)
        note_own(engine, OWN_BYTE_INDEX)


@jit
def read_private(engine, ctx, address, retired):
    """Read one of them; writes still in their delay do not show."""
    apply_due_shadows(engine, ctx, retired)
    address = uint32(address)
    if address == uint32(n.CSR_ACTIVE_LM_ADDR_0):
        return uint32(engine.lm_addr[uint32(uint32(2) * ctx)] << uint32(2))
    if address == uint32(n.CSR_ACTIVE_LM_ADDR_0_BYTE_INDEX):
        return uint32((engine.lm_addr[uint32(uint32(2) * ctx)] << uint32(2)) | engine.byte_index)
    if address == uint32(n.CSR_ACTIVE_LM_ADDR_1):
        return uint32(engine.lm_addr[uint32(uint32(2) * ctx + uint32(1))] << uint32(2))
    if address == uint32(n.CSR_ACTIVE_LM_ADDR_1_BYTE_INDEX):
        return uint32((engine.lm_addr[uint32(uint32(2) * ctx + uint32(1))] << uint32(2)) | engine.byte_index)
    if address == uint32(n.CSR_T_INDEX):
        return uint32(engine.t_index << uint32(2))
    if address == uint32(n.CSR_T_INDEX_BYTE_INDEX):
        return uint32((engine.t_index << uint32(2)) | engine.byte_index)
    if address == uint32(n.CSR_BYTE_INDEX):
        return engine.byte_index
    return engine.crc_remainder


@jit
def own_number(state, engine):
    """Bits 7..3 of ACTIVE_CTX_STS: cluster in bit 7, microengine in the cluster in bits 6..3."""
    return uint32((cluster_of(state, engine.number) << uint32(7)) | (in_cluster(state, engine.number) << uint32(3)))


@jit
def read_csr(state, engine, ctx, address, now):
    """Read any other local CSR at time `now`; `ctx` is the executing context (or whatever the outside asks about)."""
    address = uint32(address)
    pointed = uint32(engine.csr_ctx_pointer & uint32(7))
    if address == uint32(n.CSR_ACTIVE_CTX_STS):
        busy = uint32(1) if engine.context < uint32(0x80) else uint32(0)
        return uint32((busy << uint32(31)) | ((engine.pc[ctx] & uint32(0x3FFF)) << uint32(8)) | own_number(state, engine)
                      | (engine.context & uint32(7)))
    if address == uint32(n.CSR_TIMESTAMP_LOW):
        return uint32((uint64(now >> uint64(4)) + engine.timestamp_offset) & uint64(0xFFFFFFFF))
    if address == uint32(n.CSR_TIMESTAMP_HIGH):
        return uint32((uint64(now >> uint64(4)) + engine.timestamp_offset) >> uint64(32))
    if address == uint32(n.CSR_ACTIVE_CTX_SIG_EVENTS):
        return engine.signals[ctx]
    if address == uint32(n.CSR_ACTIVE_CTX_WAKEUP_EVENTS):
        return engine.wakeup[ctx]
    if address == uint32(n.CSR_INDIRECT_CTX_STS):
        ready = (engine.ready >> pointed) & uint32(1)
        return uint32((ready << uint32(31)) | engine.pc[pointed])
    if address == uint32(n.CSR_INDIRECT_CTX_SIG_EVENTS):
        return engine.signals[pointed]
    if address == uint32(n.CSR_INDIRECT_CTX_WAKEUP_EVENTS):
        return engine.wakeup[pointed]
    if address == uint32(n.CSR_CTX_ENABLES):
        return uint32(engine.ctx_enables | (engine.enabled << uint32(8)))
    if address == uint32(n.CSR_CSR_CTX_POINTER):
        return engine.csr_ctx_pointer
    if address == uint32(n.CSR_CC_ENABLE):
        return engine.cc_enable
    if address == uint32(n.CSR_CTX_ARB_CNTL):
        return uint32((engine.previous_context << uint32(4)) | (engine.context & uint32(7)))
    return read_rare_csr(state, engine, ctx, address, now)


@jit
def read_rare_csr(state, engine, ctx, address, now):
    """The rest of read_csr: pointers of other contexts, timers, random numbers, and plain memory."""
    pointed = uint32(engine.csr_ctx_pointer & uint32(7))
    if address == uint32(n.CSR_INDIRECT_LM_ADDR_0):
        return uint32(engine.lm_addr[uint32(uint32(2) * pointed)] << uint32(2))
    if address == uint32(n.CSR_INDIRECT_LM_ADDR_1):
        return uint32(engine.lm_addr[uint32(uint32(2) * pointed + uint32(1))] << uint32(2))
    if address == uint32(n.CSR_INDIRECT_LM_ADDR_0_BYTE_INDEX):
        return uint32((engine.lm_addr[uint32(uint32(2) * pointed)] << uint32(2)) | engine.byte_index)
    if address == uint32(n.CSR_INDIRECT_LM_ADDR_1_BYTE_INDEX):
        return uint32((engine.lm_addr[uint32(uint32(2) * pointed + uint32(1))] << uint32(2)) | engine.byte_index)
    if address == uint32(n.CSR_NN_PUT):
        return engine.nn_put
    if address == uint32(n.CSR_NN_GET):
        return engine.nn_get
    if address == uint32(n.CSR_PROFILE_COUNT):
        return uint32((now + engine.profile_offset) & uint64(0xFFFF))
    if address == uint32(n.CSR_PSEUDO_RANDOM_NUMBER):
        if engine.prn == uint32(0):
            report(state, RESERVED_RANDOM, engine.number, ctx, engine.pc[ctx], 0)
        return next_random(engine, now)
    if address == uint32(n.CSR_ACTIVE_FUTURE_COUNT):
        return engine.future_count[ctx]
    if address == uint32(n.CSR_INDIRECT_FUTURE_COUNT):
        return engine.future_count[pointed]
    if address == uint32(n.CSR_ACTIVE_FUTURE_COUNT_SIGNAL):
        return engine.future_signal[ctx]
    if address == uint32(n.CSR_INDIRECT_FUTURE_COUNT_SIGNAL):
        return engine.future_signal[pointed]
    return engine.csr_other[(address >> uint32(2)) & uint32(127)]


@jit
def write_csr(state, engine, ctx, address, value, now):
    """Write any other local CSR at time `now` by its own context `ctx`."""
    address = uint32(address)
    value = uint32(value)
    pointed = uint32(engine.csr_ctx_pointer & uint32(7))
    if address == uint32(n.CSR_SAME_ME_SIGNAL):
        step = uint32(1) if (engine.ctx_enables >> uint32(31)) == uint32(0) else uint32(2)
        to = uint32((ctx + step) & uint32(7)) if (value >> uint32(7)) & uint32(1) else uint32(value & uint32(7))
        send_signal(state, engine.number, ctx, engine.number, to, uint32((value >> uint32(3)) & uint32(15)),
                    uint64(now + uint64(state.parameter[P_SIGNAL_SAME])))
    elif address == uint32(n.CSR_NEXT_NEIGHBOR_SIGNAL) or address == uint32(n.CSR_PREV_NEIGHBOR_SIGNAL):
        following = address == uint32(n.CSR_NEXT_NEIGHBOR_SIGNAL)
        to = uint32(ctx) if (value >> uint32(7)) & uint32(1) else uint32(value & uint32(7))
        other = engine.number
        if following and there(state, uint32(engine.number + uint32(1))):
            other = uint32(engine.number + uint32(1))
        elif not following and engine.number > uint32(0):
            other = uint32(engine.number - uint32(1))
        if other != engine.number:
            send_signal(state, engine.number, ctx, other, to, uint32((value >> uint32(3)) & uint32(15)),
                        uint64(now + uint64(state.parameter[P_SIGNAL_NEIGHBOR])))
        else:
            report(state, RESERVED_NO_NEIGHBOR, engine.number, ctx, engine.pc[ctx], 0)
    elif address == uint32(n.CSR_ACTIVE_CTX_WAKEUP_EVENTS):
        engine.wakeup[ctx] = value & uint32(0x1FFFF)
    elif address == uint32(n.CSR_ACTIVE_CTX_SIG_EVENTS):
        engine.signals[ctx] = value & uint32(0xFFFF)
    elif address == uint32(n.CSR_CSR_CTX_POINTER):
        engine.csr_ctx_pointer = value & uint32(7)
    elif address == uint32(n.CSR_INDIRECT_LM_ADDR_0):
        write_saved_pointer(engine, pointed, 0, (value >> uint32(2)) & uint32(1023))
    elif address == uint32(n.CSR_INDIRECT_LM_ADDR_1):
        write_saved_pointer(engine, pointed, 1, (value >> uint32(2)) & uint32(1023))
    else:
        write_rare_csr(state, engine, ctx, address, value, now)


@jit
def write_rare_csr(state, engine, ctx, address, value, now):
    """The rest of write_csr: enables, other contexts, neighbour pointers, timers, seeds, and plain memory."""
    pointed = uint32(engine.csr_ctx_pointer & uint32(7))
    if address == uint32(n.CSR_CTX_ENABLES):
        kept = engine.ctx_enables & ~value & uint32(0x2A000000)         # [29], [27], [25]: write 1 to clear
        engine.ctx_enables = uint32((value & uint32(0xD5FF00FF)) | kept)
        mask = (value >> uint32(8)) & uint32(0xFF)
        enable_contexts(state, engine, mask & uint32(0x55) if value >> uint32(31) else mask, now)
        share_pointers(engine, ctx)
    elif address == uint32(n.CSR_INDIRECT_LM_ADDR_0_BYTE_INDEX) or address == uint32(n.CSR_INDIRECT_LM_ADDR_1_BYTE_INDEX):
        which = uint32(0) if address == uint32(n.CSR_INDIRECT_LM_ADDR_0_BYTE_INDEX) else uint32(1)
        write_saved_pointer(engine, pointed, which, (value >> uint32(2)) & uint32(1023))
        write_shadowed(state, engine, ctx, SHADOW_BYTE_INDEX, value & uint32(3), engine.retired)
        note_own(engine, OWN_BYTE_INDEX)
    elif address == uint32(n.CSR_CC_ENABLE):
        engine.cc_enable = value
        engine.watched = uint32(engine.watched & ~uint32(HOLD_FLAGS))
        if (value >> uint32(13)) & uint32(1) == uint32(0):
            engine.watched = uint32(engine.watched | uint32(HOLD_FLAGS))
    elif address == uint32(n.CSR_NN_PUT):
        write_shadowed(state, engine, ctx, SHADOW_NN_PUT, value & uint32(127), engine.retired)
    elif address == uint32(n.CSR_NN_GET):
        write_shadowed(state, engine, ctx, SHADOW_NN_GET, value & uint32(127), engine.retired)
    elif address == uint32(n.CSR_INDIRECT_CTX_STS):
        engine.pc[pointed] = value & uint32(store_words(state) - uint32(1))
    elif address == uint32(n.CSR_INDIRECT_CTX_SIG_EVENTS):
        engine.signals[pointed] = value & uint32(0xFFFF)
        update_ready(state, engine, pointed, UNIT_SIGNAL, now)
    elif address == uint32(n.CSR_INDIRECT_CTX_WAKEUP_EVENTS):
        engine.wakeup[pointed] = value & uint32(0x1FFFF)
        engine.ready = uint32(engine.ready & ~(uint32(1) << pointed))
        update_ready(state, engine, pointed, UNIT_SIGNAL, now)
    elif address == uint32(n.CSR_TIMESTAMP_LOW):
        current = uint64(uint64(now >> uint64(4)) + engine.timestamp_offset)
        wanted = (current & uint64(0xFFFFFFFF00000000)) | uint64(value)
        engine.timestamp_offset = uint64(engine.timestamp_offset + (wanted - current))
        set_future_counts(state)
    elif address == uint32(n.CSR_TIMESTAMP_HIGH):
        current = uint64(uint64(now >> uint64(4)) + engine.timestamp_offset)
        wanted = (current & uint64(0xFFFFFFFF)) | (uint64(value) << uint64(32))
        engine.timestamp_offset = uint64(engine.timestamp_offset + (wanted - current))
        set_future_counts(state)
    elif address == uint32(n.CSR_PROFILE_COUNT):
        engine.profile_offset = uint64(uint64(value & uint32(0xFFFF)) - now)
    elif address == uint32(n.CSR_PSEUDO_RANDOM_NUMBER):
        engine.prn = value
        engine.prn_time = uint64(now)
    elif address == uint32(n.CSR_ACTIVE_FUTURE_COUNT) or address == uint32(n.CSR_INDIRECT_FUTURE_COUNT):
        whose = ctx if address == uint32(n.CSR_ACTIVE_FUTURE_COUNT) else pointed
        engine.future_count[whose] = value & uint32(0xFFFF)
        engine.future_due[whose] = future_due(engine, whose, now)
        set_future_counts(state)
    elif address == uint32(n.CSR_ACTIVE_FUTURE_COUNT_SIGNAL):
        engine.future_signal[ctx] = value & uint32(15)
    elif address == uint32(n.CSR_INDIRECT_FUTURE_COUNT_SIGNAL):
        engine.future_signal[pointed] = value & uint32(15)
    else:
        if address == uint32(n.CSR_USTORE_DATA_UPPER):
            report(state, RESERVED_STORE_RUNNING, engine.number, ctx, engine.pc[ctx],
                   engine.csr_other[uint32(n.CSR_USTORE_ADDRESS >> 2)] & uint32(0xFFF))
        engine.csr_other[(address >> uint32(2)) & uint32(127)] = value


@jit
def send_signal(state, from_me, from_ctx, me, ctx, signal, when):
    """Have event signal number `signal` of a thread (`from_me`, `from_ctx`) reach a context at `when`."""
    if observing():
        see_send(state, SEEN_SEND, from_me, from_ctx, 0, uint32(uint32(me) * uint32(8) + uint32(ctx)),
                 uint32(uint32(1) << uint32(signal)), state.now, when)
    post_signal(state, me, ctx, UNIT_SIGNAL, uint32(uint32(1) << uint32(signal)) & uint32(SIGNAL_BITS), when)


@jit
def future_due(engine, ctx, now):
    """When TIMESTAMP_LOW[15:0] of `engine` next equals the FUTURE_COUNT of `ctx`, after `now`."""
    tick = uint64(now >> uint64(4))
    stamp = uint64(tick + engine.timestamp_offset) & uint64(0xFFFF)
    ahead = uint64(uint64(engine.future_count[ctx]) - stamp) & uint64(0xFFFF)
    if ahead == uint64(0):
        ahead = uint64(0x10000)
    return uint64((tick + ahead) << uint64(4))


@jit
def set_future_counts(state):
    """Set the alarm to the first future count that is due."""
    first = uint64(NEVER)
    for m in range(len(state.engines)):
        for ctx in range(CONTEXTS):
            first = min(first, state.engines[m].future_due[ctx])
    set_alarm(state, ALARM_FUTURE_COUNT, first)


@jit
def future_count_event(state, now):
    """Raise the signals of all future counts that are due at `now`; each fires once."""
    for m in range(len(state.engines)):
        engine = state.engines[m]
        for ctx in range(CONTEXTS):
            if engine.future_due[ctx] <= now:
                engine.future_due[ctx] = uint64(NEVER)
                slot_signal = uint32(uint32(1) << engine.future_signal[ctx]) & uint32(SIGNAL_BITS)
                engine.signals[ctx] = uint32(engine.signals[ctx] | slot_signal)
                if observing():
                    see_value(state, SEEN_SIGNAL, m, ctx, 0, now, slot_signal, 0)
                update_ready(state, engine, uint32(ctx), UNIT_SIGNAL, now)
    set_future_counts(state)
