"""Local CSRs of a microengine: reads and writes by the microengine itself and, at a given time, from outside.

Those that only the executing instructions can see (LM_ADDR, T_INDEX, BYTE_INDEX, CRC_REMAINDER) are private; all other accesses
commit in time order. What no field gives a meaning to remembers what was written. Field layouts: machine facts with their
confidence in the csr data of isa/.
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine import numbers as n
from ixpemu.engine.actions import OP_CSR_READ, OP_CSR_WRITE
from ixpemu.engine.arrivals import post_signal
from ixpemu.engine.clocks import future_due, set_future_counts, set_timestamp, timestamp
from ixpemu.engine.contexts import choose_context, enable_contexts, share_pointers, stop_engine_key, update_ready
from ixpemu.engine.crc import read_remainder, write_remainder
from ixpemu.engine.hidden import note_own
from ixpemu.engine.jit import jit
from ixpemu.engine.layout import (
    AFTER_SWAP,
    HOLD_FLAGS,
    OWN_BYTE_INDEX,
    RESERVED_NO_NEIGHBOR,
    RESERVED_RANDOM,
    RESERVED_SIGNAL,
    SHADOW_BYTE_INDEX,
    SHADOW_NN_GET,
    SHADOW_NN_PUT,
    SHADOW_T_INDEX,
    SIGNAL_BITS,
    UNIT_SIGNAL,
)
from ixpemu.engine.observation import SEEN_SEND, observing, see_send
from ixpemu.engine.parameters import P_SIGNAL_NEIGHBOR, P_SIGNAL_SAME
from ixpemu.engine.pointers import apply_due_shadows, write_saved_pointer, write_shadowed
from ixpemu.engine.pseudo_random import next_random
from ixpemu.engine.reserved import report, report_actor
from ixpemu.engine.sizes import cluster_of, in_cluster, store_words, there
from ixpemu.engine.store import note_stale, read_store, write_store

CAP_RESET_WORD = (n.CAP_IXP_RESET1 >> 2) & 1023
"""Place of IXP_RESET1 in `state.cap`."""


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
        return uint32(timestamp(state, engine, now) & uint64(0xFFFFFFFF))
    if address == uint32(n.CSR_TIMESTAMP_HIGH):
        return uint32(timestamp(state, engine, now) >> uint64(32))
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
        following = choose_context(engine)
        if following > uint32(7):
            following = uint32(engine.context + uint32(1)) & uint32(7)
        return uint32((engine.previous_context << uint32(4)) | following)
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
    if address <= uint32(n.CSR_USTORE_DATA_UPPER):
        return read_store(state, engine, address)
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
        signal_thread(state, engine.number, to, uint32((value >> uint32(3)) & uint32(15)),
                      uint64(now + uint64(state.parameter[P_SIGNAL_SAME])))
    elif address == uint32(n.CSR_NEXT_NEIGHBOR_SIGNAL) or address == uint32(n.CSR_PREV_NEIGHBOR_SIGNAL):
        following = address == uint32(n.CSR_NEXT_NEIGHBOR_SIGNAL)
        to = uint32(ctx) if (value >> uint32(7)) & uint32(1) else uint32(value & uint32(7))
        other = uint32(engine.number + uint32(1)) if following else uint32(engine.number - uint32(1))
        if there(state, other):
            signal_thread(state, other, to, uint32((value >> uint32(3)) & uint32(15)),
                          uint64(now + uint64(state.parameter[P_SIGNAL_NEIGHBOR])))
        else:
            report_actor(state, RESERVED_NO_NEIGHBOR, 0)
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
        write_enables(state, engine, value, now)
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
        set_timestamp(state, engine, (timestamp(state, engine, now) & uint64(0xFFFFFFFF00000000)) | uint64(value), now)
    elif address == uint32(n.CSR_TIMESTAMP_HIGH):
        high = uint64(uint64(value) << uint64(32))
        set_timestamp(state, engine, (timestamp(state, engine, now) & uint64(0xFFFFFFFF)) | high, now)
    elif address == uint32(n.CSR_PROFILE_COUNT):
        engine.profile_offset = uint64(uint64(value & uint32(0xFFFF)) - now)
    elif address == uint32(n.CSR_PSEUDO_RANDOM_NUMBER):
        engine.prn = value
        engine.prn_time = uint64(now)
    elif address == uint32(n.CSR_ACTIVE_FUTURE_COUNT) or address == uint32(n.CSR_INDIRECT_FUTURE_COUNT):
        whose = ctx if address == uint32(n.CSR_ACTIVE_FUTURE_COUNT) else pointed
        engine.future_count[whose] = value & uint32(0xFFFF)
        engine.future_due[whose] = future_due(state, engine, whose, now)
        set_future_counts(state)
    elif address == uint32(n.CSR_ACTIVE_FUTURE_COUNT_SIGNAL):
        engine.future_signal[ctx] = value & uint32(15)
    elif address == uint32(n.CSR_INDIRECT_FUTURE_COUNT_SIGNAL):
        engine.future_signal[pointed] = value & uint32(15)
    elif address <= uint32(n.CSR_USTORE_DATA_UPPER):
        write_store(state, engine, address, value)
    elif address == uint32(n.CSR_CTX_ARB_CNTL):
        # Which context the arbiter looks at first; while one executes its own number says so.
        if engine.context >= uint32(0x80):
            engine.context = uint32(uint32(0x80) | ((value - uint32(1)) & uint32(7)))
    elif (address != uint32(n.CSR_ALU_OUT) and address != uint32(n.CSR_LOCAL_CSR_STATUS)
          and address != uint32(n.CSR_ACTIVE_CTX_STS)):
        engine.csr_other[(address >> uint32(2)) & uint32(127)] = value


@jit
def write_enables(state, engine, value, now):
    """Write CTX_ENABLES. The number of contexts decides how instruction words are read; a microengine held in reset keeps
    still."""
    if (state.cap[CAP_RESET_WORD] >> reset_bit(state, engine)) & uint32(1):
        return
    kept = engine.ctx_enables & ~value & uint32(0x2A000000)         # [29], [27], [25]: write 1 to clear
    before = engine.ctx_enables
    engine.ctx_enables = uint32((value & uint32(0xD5FF00FF)) | kept)
    if engine.ctx_enables & uint32(0x2A000000) == uint32(0):
        state.attention = uint32(state.attention & ~(uint32(1) << engine.number))
    if (before ^ engine.ctx_enables) >> uint32(31):
        note_stale(state, engine, uint32(0), uint32(store_words(state) - uint32(1)))
    mask = (value >> uint32(8)) & uint32(0xFF)
    enable_contexts(state, engine, mask & uint32(0x55) if value >> uint32(31) else mask, now)
    share_pointers(engine, engine.context & uint32(7))


@jit
def reset_bit(state, engine):
    """Number of the bit of IXP_RESET1 that holds a microengine in reset: from 0 and from 16 on."""
    return uint32(in_cluster(state, engine.number) | (cluster_of(state, engine.number) << uint32(4)))


@jit
def is_private(address):
    """Whether a local CSR is one of those that only executing instructions see."""
    address = uint32(address)
    return (address == uint32(n.CSR_ACTIVE_LM_ADDR_0) or address == uint32(n.CSR_ACTIVE_LM_ADDR_1)
            or address == uint32(n.CSR_ACTIVE_LM_ADDR_0_BYTE_INDEX) or address == uint32(n.CSR_ACTIVE_LM_ADDR_1_BYTE_INDEX)
            or address == uint32(n.CSR_T_INDEX) or address == uint32(n.CSR_T_INDEX_BYTE_INDEX)
            or address == uint32(n.CSR_BYTE_INDEX) or address == uint32(n.CSR_CRC_REMAINDER))


@jit
def access_from_outside(state, engine, address, value, writing, now):
    """Read (returned) or write a local CSR of `engine` by somebody else; writes of pointers act at once."""
    ctx = uint32(engine.context & uint32(7))
    if is_private(address):
        if not writing:
            return read_private(engine, ctx, address, engine.retired)
        write_private(state, engine, ctx, address, value, engine.retired)
        apply_due_shadows(engine, ctx, uint64(engine.retired + uint64(1 << 20)))
        return uint32(0)
    if not writing:
        return uint32(read_csr(state, engine, ctx, address, now))
    write_csr(state, engine, ctx, address, value, now)
    stop_engine_key(state, engine)
    return uint32(0)


@jit
def access_over_bus(state, engine, address, value, writing, now):
    """The same over the chip's buses, where it is lost if it meets an access of the microengine itself in this very cycle.

    LOCAL_CSR_STATUS then says so, until the next access; asking for that register meets nothing. Only accesses that are
    external operations count: those of LM_ADDR, T_INDEX, BYTE_INDEX and CRC_REMAINDER do not come this way.
    """
    place = uint32(n.CSR_LOCAL_CSR_STATUS) >> uint32(2)
    if address == uint32(n.CSR_LOCAL_CSR_STATUS):
        return engine.csr_other[place]
    engine.csr_other[place] = uint32(0)
    swapping = engine.after >= uint32(AFTER_SWAP) and engine.slots == uint32(0)
    if engine.context < uint32(0x80) and engine.clock == now and not swapping:
        op = uint32(state.code[uint32(engine.number * store_words(state) + engine.pc[engine.context])].op)
        if op == uint32(OP_CSR_READ) or op == uint32(OP_CSR_WRITE):
            engine.csr_other[place] = uint32(1)
            return uint32(0)
    return access_from_outside(state, engine, address, value, writing, now)


@jit
def signal_thread(state, me, to, signal, when):
    """Have event signal number `signal` reach context `to` of microengine `me` at `when`.

    A signal 0, a microengine that there is not, or an odd context of four is nobody: reported, and nothing else.
    """
    if not there(state, me):
        report_actor(state, RESERVED_SIGNAL, (uint32(me) << uint32(8)) | (to << uint32(4)) | signal)
        return
    four = state.engines[uint32(me)].ctx_enables >> uint32(31)
    if signal == uint32(0) or (four and to & uint32(1)):
        report_actor(state, RESERVED_SIGNAL, (uint32(me) << uint32(8)) | (to << uint32(4)) | signal)
        return
    send_signal(state, state.acting >> uint32(24), (state.acting >> uint32(16)) & uint32(0xFF), me, to, signal, when)


@jit
def send_signal(state, from_me, from_ctx, me, ctx, signal, when):
    """Have event signal number `signal` of a thread (`from_me`, `from_ctx`) reach a context at `when`."""
    if observing():
        see_send(state, SEEN_SEND, from_me, from_ctx, 0, uint32(uint32(me) * uint32(8) + uint32(ctx)),
                 uint32(uint32(1) << uint32(signal)), state.now, when)
    post_signal(state, me, ctx, UNIT_SIGNAL, uint32(uint32(1) << uint32(signal)) & uint32(SIGNAL_BITS), when)
