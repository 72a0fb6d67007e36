"""Threads that wait for received elements: the three free lists, their time-outs, the status words pushed to a thread.

An entry of a list names a thread, the first of two transfer registers and a signal; elements of a list go to its threads, first
come first served, by autopush. Which list an element goes to, and how it got its bytes, is receive.py's.
"""

from __future__ import annotations

from numpy import uint8, uint16, uint32, uint64

from ixpemu.engine.commands import expect_push, push_words
from ixpemu.engine.jit import jit
from ixpemu.engine.lanes import set_alarm
from ixpemu.engine.layout import (
    ALARM_MSF_TIMER,
    NEVER,
    RESERVED_THREAD_ENTRY,
    RESERVED_THREADS,
    SRAM_IN,
    UNIT_RECEIVE,
)
from ixpemu.engine.msf_layout import ELEMENT_OWNED, ELEMENTS_MAX, THREADS_MAX
from ixpemu.engine.parameters import P_MSF_STATUS, P_MSF_TIMEOUT_UNIT
from ixpemu.engine.reserved import report_at
from ixpemu.engine.sizes import engine_at, there

RX_THREAD_FREELIST_TIMEOUT_0 = 0x50 // 4     # word offset
NULL_STATUS = 1 << 9            # by analogy with the IXP2800's status word (M)


@jit
def deliver(state, which, now):
    """Hand full elements, oldest first, to the threads of free list `which`, first come first served."""
    msf = state.msf
    base = uint32(which * uint32(ELEMENTS_MAX))
    while msf.full_head[which] != msf.full_tail[which] and msf.thread_head[which] != msf.thread_tail[which]:
        element = uint32(msf.full_ring[uint32(base + (msf.full_head[which] & uint32(ELEMENTS_MAX - 1)))])
        msf.full_head[which] = uint32(msf.full_head[which] + uint32(1))
        msf.element_state[element] = uint8(ELEMENT_OWNED)
        msf.statuses += uint64(1)
        checksum = msf.element_checksum[element]
        push_status(state, which, msf.element_status[element], checksum, msf.element_packet[element], now)


@jit
def entry_me(state, entry):
    """Microengine of a free-list entry: bit 9 is the cluster, bits 8..7 the number in it (IXP2400, H).

    Where a cluster has eight, bit 11 is the cluster and bits 9..7 the number, as in the descendant (M).
    """
    if state.cluster_shift > uint32(2):
        return engine_at(state, (entry >> uint32(11)) & uint32(1), (entry >> uint32(7)) & uint32(7))
    return uint32((entry >> uint32(7)) & uint32(7))


@jit
def push_status(state, which, status, second, packet, now):
    """Autopush two words and a signal to the first thread of free list `which`, and restart the list's timer."""
    msf = state.msf
    head = msf.thread_head[which]
    entry = uint32(msf.thread_ring[uint32(which * uint32(THREADS_MAX) + (head & uint32(THREADS_MAX - 1)))])
    msf.thread_head[which] = uint32(head + uint32(1))
    ctx = uint32((entry >> uint32(4)) & uint32(7))
    signals = uint32((uint32(1) << uint32(entry >> uint32(12))) & uint32(0xFFFE))
    first = uint32(uint32(SRAM_IN) + uint32(16) * ctx + (entry & uint32(15)))
    ready = uint64(now + uint64(state.parameter[P_MSF_STATUS]))
    slot = push_words(state, entry_me(state, entry), ctx, first, uint32(2), signals, UNIT_RECEIVE, packet, ready)
    state.events[slot].words[0] = uint32(status)
    state.events[slot].words[1] = uint32(second)
    restart_timer(state, which, now)


@jit
def add_thread(state, which, entry, now):
    """A write to RX_THREAD_FREELIST_`which`: the thread waits for an element.

    Reported: a 65th thread on a list; an entry without a signal, of a microengine that is not there, or whose second register is
    the next context's.
    """
    msf = state.msf
    entry = uint32(entry & uint32(0xFFFF))
    me = entry_me(state, entry)
    ctx = uint32((entry >> uint32(4)) & uint32(7))
    tail = msf.thread_tail[which]
    if uint32(tail - msf.thread_head[which]) >= uint32(THREADS_MAX):
        report_at(state, RESERVED_THREADS, me, ctx, msf.writer_pc, entry, now)
        return
    four = state.engines[me].ctx_enables >> uint32(31)
    if entry >> uint32(12) == uint32(0) or (entry & uint32(15) == uint32(15) and four == uint32(0)) or (
            four & ctx & uint32(1)) or not there(state, me):
        report_at(state, RESERVED_THREAD_ENTRY, me, ctx, msf.writer_pc, entry, now)
    msf.thread_ring[uint32(which * uint32(THREADS_MAX) + (tail & uint32(THREADS_MAX - 1)))] = uint16(entry)
    msf.thread_tail[which] = uint32(tail + uint32(1))
    expect_push(state, me, ctx, uint32(uint32(SRAM_IN) + uint32(16) * ctx + (entry & uint32(15))))
    if tail == msf.thread_head[which]:
        restart_timer(state, which, now)
    deliver(state, which, now)


@jit
def restart_timer(state, which, now):
    """Count the time-out of free list `which` from now on, if it is on and a thread waits (an empty list: assumed off)."""
    msf = state.msf
    timeout = msf.csr[uint32(uint32(RX_THREAD_FREELIST_TIMEOUT_0) + which)]
    if timeout and msf.thread_head[which] != msf.thread_tail[which]:
        due = uint64(now + uint64(timeout) * uint64(state.parameter[P_MSF_TIMEOUT_UNIT]))
        set_alarm(state, uint32(uint32(ALARM_MSF_TIMER) + which), due)
    elif state.alarm[uint32(uint32(ALARM_MSF_TIMER) + which)] != uint64(NEVER):
        set_alarm(state, uint32(uint32(ALARM_MSF_TIMER) + which), uint64(NEVER))


@jit
def timer_event(state, which, now):
    """The first thread of a list has waited too long: it gets a status word that says so."""
    msf = state.msf
    if msf.thread_head[which] == msf.thread_tail[which]:
        restart_timer(state, which, now)
        return
    msf.nulls += uint64(1)
    push_status(state, which, uint32(NULL_STATUS), uint32(0), uint32(0), now)
