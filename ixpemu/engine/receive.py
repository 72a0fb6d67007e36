"""From the wire into RBUF: arrival, receive FIFO, mpackets into elements, elements given back.

A frame arrives when its last bit is in; the MAC looks at its length and puts it into the port's FIFO or counts it as lost. The
receive bus carries one mpacket at a time, from the ports in turn, into the first free element of a partition of RBUF; the
threads that wait for it are receive_lists.py's. Status and control layouts are of the IXP2400 as real receive code uses them;
what is `assumed` is said at its place. CSR addresses are decoded in msf.py, partitions are msf_partitions.py's.
"""

from __future__ import annotations

from numpy import uint8, uint32, uint64

from ixpemu.engine.accounting import check_quiet, new_packet
from ixpemu.engine.jit import jit
from ixpemu.engine.lanes import request_stop, set_alarm
from ixpemu.engine.layout import (
    ALARM_RECEIVE,
    NEVER,
    PACKET_ROWS,
    RESERVED_ELEMENT,
    RESERVED_ERRATUM_69,
    RESERVED_MSF_MODE,
    STOP_INPUT,
    UNIT_MSF,
)
from ixpemu.engine.msf_layout import (
    ARRIVAL_ROWS,
    ARRIVAL_WORDS,
    BUFFER_BYTES,
    BUFFER_WORDS,
    ELEMENT_FILLING,
    ELEMENT_FREE,
    ELEMENT_FULL,
    ELEMENT_OWNED,
    ELEMENTS_MAX,
    FIFO_ROWS,
    FIFO_WORDS,
    LISTS,
    PORTS,
)
from ixpemu.engine.msf_partitions import (
    element_bytes,
    element_place,
    geometry,
    mode_modelled,
    partition_at,
    partition_count,
)
from ixpemu.engine.observation import BUFFER_FREE, observing, see_buffer
from ixpemu.engine.parameters import (
    P_MEGAHERTZ,
    P_MSF_BUS,
    P_MSF_BUS_OVERHEAD,
    P_MSF_ERRATUM,
    P_PORT_COUNT,
    P_PORT_FIFO,
    P_PORT_LONGEST,
)
from ixpemu.engine.receive_lists import deliver
from ixpemu.engine.reserved import report_at

ALARM_BUS_IN = ALARM_RECEIVE + PORTS
RX_PORT_MAP = 0x40 // 4
HEADER_BYTES = 14
SHORTEST_FRAME = 60
SOP, EOP = 1 << 15, 1 << 14
# Error bits of a status word: a receive error is known at a frame's end, the others with the element that they are in. Which of
# bits 8, 11 and 12 is which: by analogy with the IXP2800's word (L).
STATUS_IN_BAND_PARITY, STATUS_RECEIVE_ERROR, STATUS_PARITY, STATUS_SOP_ERROR = 1 << 8, 1 << 10, 1 << 11, 1 << 12
FAULTS_AT_START = STATUS_IN_BAND_PARITY | STATUS_PARITY | STATUS_SOP_ERROR
FAULTS_AT_END = STATUS_RECEIVE_ERROR


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
    msf.fifo_faults[entry] = msf.arrival_faults[row]
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
def port_list(state, control, port):
    """The free list whose threads get what comes from `port`: RX_PORT_MAP has two bits a port, port 0 lowest (assumed).

    3 is none; what asks for it goes to list 0.
    """
    which = uint32((state.msf.csr[RX_PORT_MAP] >> uint32(uint32(2) * port)) & uint32(3))
    return uint32(0) if which == uint32(3) else which


@jit
def list_partition(control, which):
    """The partition that list `which` takes elements from: its own; the first one if it has none (assumed)."""
    return which if which < partition_count(control) else uint32(0)


@jit
def start_bus_in(state, now):
    """If the receive bus, an element and an mpacket are there, start moving the mpacket; ports take turns."""
    msf = state.msf
    if msf.bus_in_busy:
        return
    control = msf.csr[0]
    for k in range(1, PORTS + 1):
        port = uint32(uint32(msf.bus_in_port + uint32(k)) % uint32(PORTS))
        # Channel enables are bits 31..28, channel 0 lowest (assumed: only the full mask is on record).
        if msf.fifo_head[port] != msf.fifo_tail[port] and (control >> uint32(uint32(28) + port)) & uint32(1) and (
                port < state.parameter[P_PORT_COUNT]):
            which = port_list(state, control, port)
            partition = list_partition(control, which)
            head = msf.free_head[partition]
            if head == msf.free_tail[partition]:
                continue
            element = uint32(msf.free_ring[uint32(partition * uint32(ELEMENTS_MAX) + (head & uint32(ELEMENTS_MAX - 1)))])
            msf.free_head[partition] = uint32(head + uint32(1))
            msf.element_state[element] = uint8(ELEMENT_FILLING)
            entry = uint32(uint32(port * uint32(FIFO_ROWS)) + (msf.fifo_head[port] & uint32(FIFO_ROWS - 1)))
            moving = min(element_bytes(control, partition), uint32(msf.fifo_length[entry] - msf.fifo_moved[port]))
            msf.bus_in_busy = uint32(1)
            msf.bus_in_port = port
            msf.bus_in_element = element
            msf.bus_in_place = element_place(state, control, element)
            msf.bus_in_list = which
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
    target = uint32(msf.bus_in_place >> uint32(2))
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
    faults = uint32(msf.fifo_faults[entry])
    if msf.fifo_moved[port] == uint32(0):
        status = uint32(status | uint32(SOP) | (faults & uint32(FAULTS_AT_START)))
    moved = uint32(msf.fifo_moved[port] + moving)
    msf.element_packet[element] = msf.fifo_packet[entry]
    msf.fifo_used[port] = uint32(msf.fifo_used[port] - moving)
    if moved == msf.fifo_length[entry]:
        status = uint32(status | uint32(EOP) | (faults & uint32(FAULTS_AT_END)))
        msf.fifo_head[port] = uint32(msf.fifo_head[port] + uint32(1))
        moved = uint32(0)
    msf.fifo_moved[port] = moved
    msf.element_status[element] = status
    # The sum itself, not its complement, so that software adds the sums of a packet's elements (assumed).
    msf.element_checksum[element] = total
    msf.element_state[element] = uint8(ELEMENT_FULL)
    which = msf.bus_in_list
    at = msf.full_tail[which]
    msf.full_ring[uint32(which * uint32(ELEMENTS_MAX) + (at & uint32(ELEMENTS_MAX - 1)))] = uint8(element)
    msf.full_tail[which] = uint32(at + uint32(1))
    msf.elements_in += uint64(1)
    msf.bus_in_busy = uint32(0)
    deliver(state, which, now)
    start_bus_in(state, now)


@jit
def element_done(state, element, me, ctx, now):
    """A write to RBUF_ELEMENT_DONE: the element goes to the end of its partition's free list.

    Reported: a number that is no element, one that is not the software's to give, and element 0 and those whose copies to DRAM
    the silicon corrupts (erratum 69). The last are used all the same.
    """
    msf = state.msf
    element = uint32(element & uint32(0xFFFF))
    control = msf.csr[0]
    place = element_place(state, control, element)
    if place >= uint32(BUFFER_BYTES) or msf.element_state[element] != uint8(ELEMENT_OWNED):
        report_at(state, RESERVED_ELEMENT, me, ctx, msf.writer_pc, element, now)
        return
    partition = partition_at(control, place)
    if state.parameter[P_MSF_ERRATUM] and faulty(place, element_bytes(control, partition)):
        report_at(state, RESERVED_ERRATUM_69, me, ctx, msf.writer_pc, element, now)
    if observing():
        see_buffer(state, UNIT_MSF, me, ctx, msf.writer_pc, place, element_bytes(control, partition), BUFFER_FREE, now)
    msf.element_state[element] = uint8(ELEMENT_FREE)
    tail = msf.free_tail[partition]
    msf.free_ring[uint32(partition * uint32(ELEMENTS_MAX) + (tail & uint32(ELEMENTS_MAX - 1)))] = uint8(element)
    msf.free_tail[partition] = uint32(tail + uint32(1))
    start_bus_in(state, now)


@jit
def faulty(place, length):
    """Whether erratum 69 forbids the element of `length` bytes at byte `place`: 9, 18, 27 of 64 bytes; 4, 9, 13 of 128; 2, 4, 6
    of 256 (the driver, H); it leaves out element 0 as well."""
    number = uint32(place // length)
    if number == uint32(0):
        return True
    if length == uint32(64):
        return number == uint32(9) or number == uint32(18) or number == uint32(27)
    if length == uint32(128):
        return number == uint32(4) or number == uint32(9) or number == uint32(13)
    return number == uint32(2) or number == uint32(4) or number == uint32(6)


@jit
def receive_control(state, value, me, ctx, now):
    """A write to RX_CONTROL. One that divides RBUF anew takes all elements out of the lists (assumed): they are to be given
    again; reported if an element was in the chip's hands. Reported as well: a mode that is not modelled."""
    msf = state.msf
    if geometry(value) != geometry(msf.csr[0]):
        held = msf.bus_in_busy
        for k in range(ELEMENTS_MAX):
            if msf.element_state[k] == uint8(ELEMENT_FREE) or msf.element_state[k] == uint8(ELEMENT_FULL):
                msf.element_state[k] = uint8(ELEMENT_OWNED)
                held = uint32(1)
        for which in range(LISTS):
            msf.free_head[which] = msf.free_tail[which]
            msf.full_head[which] = msf.full_tail[which]
        if held:
            report_at(state, RESERVED_ELEMENT, me, ctx, msf.writer_pc, value, now)
    if not mode_modelled(value):
        report_at(state, RESERVED_MSF_MODE, me, ctx, msf.writer_pc, value, now)
    msf.csr[0] = value
    start_bus_in(state, now)
