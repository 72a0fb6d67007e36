"""From the wire to a thread: arrival, receive FIFO, RBUF elements, status words to the threads that wait.

A frame arrives when its last bit is in; the MAC looks at its length and puts it into the port's FIFO or counts it as lost. The
receive bus carries one mpacket at a time, from the ports in turn, into the first element of the free list. A full element's
status goes to the first thread of free list 0 by autopush. Status and control layouts are of the IXP2400 as real receive code
uses them; what is `assumed` is said at its place. CSR addresses are decoded in msf.py.
"""

from __future__ import annotations

from numpy import uint8, uint16, uint32, uint64

from ixpemu.engine.accounting import check_quiet, new_packet
from ixpemu.engine.commands import expect_push, push_words
from ixpemu.engine.jit import jit
from ixpemu.engine.lanes import request_stop, set_alarm
from ixpemu.engine.layout import (
    ALARM_MSF_TIMER,
    ALARM_RECEIVE,
    NEVER,
    PACKET_ROWS,
    RESERVED_ELEMENT,
    RESERVED_THREADS,
    SRAM_IN,
    STOP_INPUT,
    UNIT_RECEIVE,
)
from ixpemu.engine.msf_layout import (
    ARRIVAL_ROWS,
    ARRIVAL_WORDS,
    BUFFER_WORDS,
    ELEMENT_FILLING,
    ELEMENT_FREE,
    ELEMENT_FULL,
    ELEMENT_OWNED,
    ELEMENTS_MAX,
    FIFO_ROWS,
    FIFO_WORDS,
    PORTS,
    THREADS_MAX,
)
from ixpemu.engine.parameters import (
    P_MEGAHERTZ,
    P_MSF_BUS,
    P_MSF_BUS_OVERHEAD,
    P_MSF_STATUS,
    P_MSF_TIMEOUT_UNIT,
    P_PORT_COUNT,
    P_PORT_FIFO,
    P_PORT_LONGEST,
)
from ixpemu.engine.reserved import report

ALARM_BUS_IN = ALARM_RECEIVE + PORTS
HEADER_BYTES = 14
SHORTEST_FRAME = 60
NULL_STATUS = 1 << 9            # by analogy with the IXP2800's status word (M)
SOP, EOP = 1 << 15, 1 << 14


@jit
def element_bytes(control):
    """Bytes of a buffer element, from RX_CONTROL or TX_CONTROL: bits 3..2 are 0 for 64, 1 for 128, 2 (and 3, assumed) for 256."""
    return uint32(uint32(64) << min(uint32((control >> uint32(2)) & uint32(3)), uint32(2)))


@jit
def bus_cycles(state, words):
    """Cycles that `words` 32-bit words take on the media bus, rounded up."""
    clocks = uint32(words + state.parameter[P_MSF_BUS_OVERHEAD])
    bus = state.parameter[P_MSF_BUS]
    return uint64(uint32(uint32(clocks * state.parameter[P_MEGAHERTZ]) + uint32(bus - uint32(1))) // bus)


@jit
def receive_port_event(state, port, now):
    """Take in every frame of `port` whose last bit is in by `now`, and set the alarm for the next one."""
    msf = state.msf
    port = uint32(port)
    base = uint32(port * uint32(ARRIVAL_ROWS))
    head = msf.arrival_head[port]
    tail = msf.arrival_tail[port]
    following = uint64(NEVER)
    while head != tail:
        row = uint32(base + (head & uint32(ARRIVAL_ROWS - 1)))
        if msf.arrival_time[row] > now:
            following = msf.arrival_time[row]
            break
        _arrive(state, port, row, now)
        head = uint32(head + uint32(1))
    msf.arrival_head[port] = head
    set_alarm(state, uint32(uint32(ALARM_RECEIVE) + port), following)
    left = uint32(tail - head)
    if msf.input_more[port]:
        if left <= msf.input_low[port] and msf.input_wanted[port] == uint8(0):
            msf.input_wanted[port] = uint8(1)
            request_stop(state, STOP_INPUT, 0, 0)
    elif left == uint32(0):
        state.input_open = uint32(state.input_open & ~(uint32(1) << port))
        check_quiet(state)
    start_bus_in(state, now)


@jit
def _arrive(state, port, row, now):
    """One frame is in: into the FIFO, or counted as lost."""
    msf = state.msf
    length = msf.arrival_length[row]
    if length < uint32(HEADER_BYTES):
        msf.in_runts[port] += uint64(1)
        return
    if length > state.parameter[P_PORT_LONGEST]:
        msf.in_oversize[port] += uint64(1)
        return
    padded = max(length, uint32(SHORTEST_FRAME))
    if uint32(msf.fifo_used[port] + padded) > state.parameter[P_PORT_FIFO]:
        msf.in_overflow[port] += uint64(1)
        return
    number = new_packet(state, port, length, now)
    state.packets[number & uint32(PACKET_ROWS - 1)].kind = msf.arrival_kind[row]
    msf.in_frames[port] += uint64(1)
    msf.in_bytes[port] += uint64(length)
    tail = msf.fifo_tail[port]
    entry = uint32(uint32(port * uint32(FIFO_ROWS)) + (tail & uint32(FIFO_ROWS - 1)))
    msf.fifo_length[entry] = padded
    msf.fifo_packet[entry] = uint32(number)
    msf.fifo_tail[port] = uint32(tail + uint32(1))
    msf.fifo_used[port] = uint32(msf.fifo_used[port] + padded)
    msf.fifo_peak[port] = max(msf.fifo_peak[port], msf.fifo_used[port])
    words = uint32((padded + uint32(3)) >> uint32(2))
    source = msf.arrival_start[row]
    source_base = uint32(port * uint32(ARRIVAL_WORDS))
    target = msf.fifo_word_tail[port]
    target_base = uint32(port * uint32(FIFO_WORDS))
    for k in range(words):
        msf.fifo_words[uint32(target_base + (uint32(target + uint32(k)) & uint32(FIFO_WORDS - 1)))] = msf.arrival_words[
            uint32(source_base + (uint32(source + uint32(k)) & uint32(ARRIVAL_WORDS - 1)))]
    msf.fifo_word_tail[port] = uint32(target + words)


@jit
def start_bus_in(state, now):
    """If the receive bus, an element and an mpacket are there, start moving the mpacket; ports take turns."""
    msf = state.msf
    if msf.bus_in_busy or msf.free_head == msf.free_tail:
        return
    control = msf.csr[0]
    for k in range(1, PORTS + 1):
        port = uint32(uint32(msf.bus_in_port + uint32(k)) % uint32(PORTS))
        # Channel enables are bits 31..28, channel 0 lowest (assumed: only the full mask is on record).
        if msf.fifo_head[port] != msf.fifo_tail[port] and (control >> uint32(uint32(28) + port)) & uint32(1) and (
                port < state.parameter[P_PORT_COUNT]):
            element = msf.free_ring[msf.free_head & uint32(ELEMENTS_MAX - 1)]
            msf.free_head = uint32(msf.free_head + uint32(1))
            msf.element_state[element] = uint8(ELEMENT_FILLING)
            entry = uint32(uint32(port * uint32(FIFO_ROWS)) + (msf.fifo_head[port] & uint32(FIFO_ROWS - 1)))
            moving = min(element_bytes(control), uint32(msf.fifo_length[entry] - msf.fifo_moved[port]))
            msf.bus_in_busy = uint32(1)
            msf.bus_in_port = port
            msf.bus_in_element = uint32(element)
            msf.bus_in_bytes = moving
            set_alarm(state, ALARM_BUS_IN, uint64(now + bus_cycles(state, uint32((moving + uint32(3)) >> uint32(2)))))
            return


@jit
def bus_in_event(state, now):
    """The mpacket on the receive bus is in its element: status and checksum, a thread if one waits, the next mpacket."""
    msf = state.msf
    port = msf.bus_in_port
    element = msf.bus_in_element
    moving = msf.bus_in_bytes
    entry = uint32(uint32(port * uint32(FIFO_ROWS)) + (msf.fifo_head[port] & uint32(FIFO_ROWS - 1)))
    words = uint32((moving + uint32(3)) >> uint32(2))
    source = msf.fifo_word_head[port]
    source_base = uint32(port * uint32(FIFO_WORDS))
    target = uint32(uint32(element * element_bytes(msf.csr[0])) >> uint32(2))
    total = uint32(0)
    for k in range(words):
        word = msf.fifo_words[uint32(source_base + (uint32(source + uint32(k)) & uint32(FIFO_WORDS - 1)))]
        msf.rbuf[uint32(target + uint32(k)) & uint32(BUFFER_WORDS - 1)] = word
        total = uint32(total + uint32(word >> uint32(16)) + uint32(word & uint32(0xFFFF)))
    # Bytes behind a frame's end are zero in the FIFO, which pads an odd last byte as the checksum wants it.
    total = uint32((total & uint32(0xFFFF)) + (total >> uint32(16)))
    total = uint32((total & uint32(0xFFFF)) + (total >> uint32(16)))
    msf.fifo_word_head[port] = uint32(source + words)
    status = uint32((element << uint32(24)) | ((moving & uint32(0xFF)) << uint32(16)) | port)
    if msf.fifo_moved[port] == uint32(0):
        status = uint32(status | uint32(SOP))
    moved = uint32(msf.fifo_moved[port] + moving)
    msf.element_packet[element] = msf.fifo_packet[entry]
    msf.fifo_used[port] = uint32(msf.fifo_used[port] - moving)
    if moved == msf.fifo_length[entry]:
        status = uint32(status | uint32(EOP))
        msf.fifo_head[port] = uint32(msf.fifo_head[port] + uint32(1))
        moved = uint32(0)
    msf.fifo_moved[port] = moved
    msf.element_status[element] = status
    # The sum itself, not its complement, so that software adds the sums of a packet's elements (assumed).
    msf.element_checksum[element] = total
    msf.element_state[element] = uint8(ELEMENT_FULL)
    msf.full_ring[msf.full_tail & uint32(ELEMENTS_MAX - 1)] = uint8(element)
    msf.full_tail = uint32(msf.full_tail + uint32(1))
    msf.elements_in += uint64(1)
    msf.bus_in_busy = uint32(0)
    deliver(state, now)
    start_bus_in(state, now)


@jit
def deliver(state, now):
    """Hand full elements, oldest first, to the threads of free list 0, first come first served."""
    msf = state.msf
    while msf.full_head != msf.full_tail and msf.thread_head[0] != msf.thread_tail[0]:
        element = uint32(msf.full_ring[msf.full_head & uint32(ELEMENTS_MAX - 1)])
        msf.full_head = uint32(msf.full_head + uint32(1))
        msf.element_state[element] = uint8(ELEMENT_OWNED)
        msf.statuses += uint64(1)
        checksum = msf.element_checksum[element]
        _push_status(state, uint32(0), msf.element_status[element], checksum, msf.element_packet[element], now)


@jit
def entry_me(entry):
    """Microengine of a free-list entry: bit 9 is the cluster, bits 8..7 the number in it."""
    return uint32((entry >> uint32(7)) & uint32(7))


@jit
def _push_status(state, which, status, second, packet, now):
    """Autopush two words and a signal to the first thread of free list `which`, and restart the list's timer."""
    msf = state.msf
    head = msf.thread_head[which]
    entry = uint32(msf.thread_ring[uint32(which * uint32(THREADS_MAX) + (head & uint32(THREADS_MAX - 1)))])
    msf.thread_head[which] = uint32(head + uint32(1))
    ctx = uint32((entry >> uint32(4)) & uint32(7))
    signals = uint32((uint32(1) << uint32(entry >> uint32(12))) & uint32(0xFFFE))
    first = uint32(uint32(SRAM_IN) + uint32(16) * ctx + (entry & uint32(15)))
    ready = uint64(now + uint64(state.parameter[P_MSF_STATUS]))
    slot = push_words(state, entry_me(entry), ctx, first, uint32(2), signals, UNIT_RECEIVE, packet, ready)
    state.events[slot].words[0] = uint32(status)
    state.events[slot].words[1] = uint32(second)
    restart_timer(state, which, now)


@jit
def add_thread(state, which, entry, now):
    """A write to RX_THREAD_FREELIST_`which`: the thread waits for an element. Lists 1 and 2 only ever give nulls (assumed)."""
    msf = state.msf
    entry = uint32(entry & uint32(0xFFFF))
    me = entry_me(entry)
    ctx = uint32((entry >> uint32(4)) & uint32(7))
    tail = msf.thread_tail[which]
    if uint32(tail - msf.thread_head[which]) >= uint32(THREADS_MAX):
        report(state, RESERVED_THREADS, me, ctx, 0, entry)
        return
    msf.thread_ring[uint32(which * uint32(THREADS_MAX) + (tail & uint32(THREADS_MAX - 1)))] = uint16(entry)
    msf.thread_tail[which] = uint32(tail + uint32(1))
    expect_push(state, me, ctx)
    if tail == msf.thread_head[which]:
        restart_timer(state, which, now)
    if which == uint32(0):
        deliver(state, now)


@jit
def restart_timer(state, which, now):
    """Count the time-out of free list `which` from now on, if it is on and a thread waits (an empty list: assumed off)."""
    msf = state.msf
    timeout = msf.csr[uint32(uint32(0x50 // 4) + which)]
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
    _push_status(state, which, uint32(NULL_STATUS), uint32(0), uint32(0), now)


@jit
def element_done(state, element, me, ctx, now):
    """A write to RBUF_ELEMENT_DONE: the element goes to the end of the free list.

    Reported: a number that is no element, one that is not the software's to give, and the elements whose copies to DRAM
    the silicon corrupts (erratum 69: 9, 18, 27 of 64 bytes; 4, 9, 13 of 128; 2, 4, 6 of 256). The last are used all the same.
    """
    msf = state.msf
    element = uint32(element & uint32(0xFFFF))
    length = element_bytes(msf.csr[0])
    if element >= uint32(uint32(BUFFER_WORDS * 4) // length) or msf.element_state[element] != uint8(ELEMENT_OWNED):
        report(state, RESERVED_ELEMENT, me, ctx, 0, element)
        return
    if length == uint32(64):
        faulty = element == uint32(9) or element == uint32(18) or element == uint32(27)
    elif length == uint32(128):
        faulty = element == uint32(4) or element == uint32(9) or element == uint32(13)
    else:
        faulty = element == uint32(2) or element == uint32(4) or element == uint32(6)
    if faulty:
        report(state, RESERVED_ELEMENT, me, ctx, 0, element)
    msf.element_state[element] = uint8(ELEMENT_FREE)
    msf.free_ring[msf.free_tail & uint32(ELEMENTS_MAX - 1)] = uint8(element)
    msf.free_tail = uint32(msf.free_tail + uint32(1))
    start_bus_in(state, now)
