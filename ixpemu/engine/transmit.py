"""From TBUF to the wire: elements in strict order over the transmit bus, frames put together by the MAC, the line.

Software fills TBUF elements 0, 1, 2, ... and writes each one's control word, which makes it valid; the fabric sends element n of
a partition only after n-1, and partitions take turns (assumed). The MAC of a port stores a frame until its end (assumed) and
sends it at line speed; a full MAC holds up the elements behind in the same partition. A frame departs when its last bit is out:
then it is recorded and its packet finished.
"""

from __future__ import annotations

from numpy import uint8, uint32, uint64

from ixpemu.engine.accounting import finish_packet
from ixpemu.engine.jit import jit
from ixpemu.engine.lanes import request_stop, set_alarm
from ixpemu.engine.layout import (
    ALARM_TRANSMIT,
    NEVER,
    PACKET_SENT,
    RESERVED_CONTROL_WORD,
    RESERVED_MSF_MODE,
    RESERVED_TRANSMIT,
    STOP_OUTPUT,
    UNIT_MSF,
)
from ixpemu.engine.msf_layout import (
    BUFFER_BYTES,
    BUFFER_WORDS,
    CONTROL_WORD,
    ELEMENTS_MAX,
    LISTS,
    PORTS,
    SENT_BYTES,
    SENT_ROWS,
)
from ixpemu.engine.msf_partitions import (
    element_bytes,
    element_place,
    first_element,
    geometry,
    mode_modelled,
    next_element,
    partition_at,
    partition_count,
)
from ixpemu.engine.observation import BUFFER_SEND, observing, see_buffer
from ixpemu.engine.parameters import P_MEGAHERTZ, P_PORT_COUNT, P_PORT_LONGEST, P_PORT_MEGABITS, P_PORT_SEND_FIFO
from ixpemu.engine.receive import HEADER_BYTES, SHORTEST_FRAME, bus_cycles
from ixpemu.engine.reserved import report, report_at

ALARM_BUS_OUT = ALARM_TRANSMIT + PORTS
PREAMBLE_AND_CHECK = 12         # bytes on the wire beside the frame itself, without the gap
GAP_BYTES = 12
TX_CONTROL = 1                  # word offset
RESERVED_BIT = 1 << 12
SKIP, ABORT, SOP, EOP = 1 << 11, 1 << 10, 1 << 9, 1 << 8


@jit
def payload_bytes(control):
    """Bytes of payload that a control word announces: bits 31..24, 0 for 256."""
    length = uint32(control >> uint32(24))
    if length == uint32(0):
        length = uint32(256)
    return length


@jit
def element_length(control):
    """Bytes an element adds to its frame: prepended bytes and payload."""
    return uint32(payload_bytes(control) + ((control >> uint32(16)) & uint32(31)))


@jit
def element_end(control):
    """Bytes from an element's beginning to the end of its payload, which starts at the next 8-byte boundary behind what is
    prepended, plus its own offset."""
    return uint32(payload_start(control) + payload_bytes(control))


@jit
def payload_start(control):
    """Byte of the element at which the payload starts."""
    prepend = uint32(((control >> uint32(21)) & uint32(7)) + ((control >> uint32(16)) & uint32(31)))
    return uint32((uint32(prepend + uint32(7)) & uint32(0xFFFFFFF8)) + ((control >> uint32(13)) & uint32(7)))


@jit
def control_written(state, word, me, ctx, now):
    """The second word of an element's control has been written: the element is valid and carries its writer's packet.

    Reported: an element that is none or still valid; a second word or bit 12 that is not 0; more bytes than the element has.
    """
    msf = state.msf
    element = uint32((word - uint32(CONTROL_WORD)) >> uint32(1))
    buffer_control = msf.csr[TX_CONTROL]
    place = element_place(state, buffer_control, element)
    if place >= uint32(BUFFER_BYTES) or msf.send_valid[element]:
        report_at(state, RESERVED_TRANSMIT, me, ctx, msf.writer_pc, element, now)
        return
    partition = partition_at(buffer_control, place)
    control = msf.csr[uint32(word - uint32(1))]
    too_long = element_end(control) > element_bytes(buffer_control, partition) and (control & uint32(SKIP)) == uint32(0)
    if msf.csr[word] != uint32(0) or control & uint32(RESERVED_BIT) or too_long:
        report_at(state, RESERVED_CONTROL_WORD, me, ctx, msf.writer_pc, control, now)
    if observing() and (control & uint32(SKIP)) == uint32(0):
        before = uint32((control >> uint32(16)) & uint32(31))
        if before:
            first = uint32(place + ((control >> uint32(21)) & uint32(7)))
            see_buffer(state, UNIT_MSF, me, ctx, msf.writer_pc, first, before, BUFFER_SEND, now)
        see_buffer(state, UNIT_MSF, me, ctx, msf.writer_pc, uint32(place + payload_start(control)), payload_bytes(control),
                   BUFFER_SEND, now)
    msf.send_valid[element] = uint8(1)
    msf.send_pending[partition] = uint32(msf.send_pending[partition] + uint32(1))
    msf.send_writer[element] = uint32((uint32(me) << uint32(24)) | (uint32(ctx) << uint32(16)) | msf.writer_pc)
    msf.send_packet[element] = msf.writer_packet
    start_bus_out(state, now)


@jit
def transmit_control(state, value, me, ctx, now):
    """A write to TX_CONTROL. One that divides TBUF anew starts every partition again at its first element (assumed); reported if
    an element waited to be sent. Reported as well: a mode that is not modelled."""
    msf = state.msf
    old = msf.csr[TX_CONTROL]
    msf.csr[TX_CONTROL] = value
    if geometry(value) != geometry(old):
        held = uint32(0)
        for which in range(LISTS):
            held = uint32(held | msf.send_pending[which])
            msf.send_pending[which] = uint32(0)
            msf.send_next[which] = first_element(state, value, uint32(which)) & uint32(ELEMENTS_MAX - 1)
        for k in range(ELEMENTS_MAX):
            msf.send_valid[k] = uint8(0)
        msf.bus_out_busy = uint32(0)
        set_alarm(state, ALARM_BUS_OUT, NEVER)
        if held:
            report_at(state, RESERVED_TRANSMIT, me, ctx, msf.writer_pc, value, now)
    if not mode_modelled(value):
        report_at(state, RESERVED_MSF_MODE, me, ctx, msf.writer_pc, value, now)
    start_bus_out(state, now)


@jit
def sequence(state, which):
    """TX_SEQUENCE_`which`: bits 7..0 count the elements that its partition has sent, bit 31 is set while none is pending."""
    word = uint32(state.msf.send_count[which] & uint32(0xFF))
    if state.msf.send_pending[which] == uint32(0):
        word = uint32(word | uint32(0x80000000))
    return word


@jit
def may_send(state, element):
    """Whether `element` is valid, its channel on and its MAC ready to take it."""
    msf = state.msf
    if msf.send_valid[element] == uint8(0):
        return False
    control = msf.csr[uint32(uint32(CONTROL_WORD) + uint32(2) * element)]
    port = uint32(control & uint32(0xFF))
    if port >= uint32(PORTS) or (control & uint32(SKIP)) != uint32(0):
        return True
    if (msf.csr[TX_CONTROL] >> uint32(uint32(28) + port)) & uint32(1) == uint32(0):
        return False
    # A frame that alone would overfill the MAC is let in, found too long and thrown away; it must not block for ever.
    others = uint32(msf.mac_used[port] - msf.open_length[port])
    return uint32(msf.mac_used[port] + element_length(control)) <= state.parameter[P_PORT_SEND_FIFO] or others == uint32(0)


@jit
def start_bus_out(state, now):
    """If the bus is idle, start moving the next element in order of a partition that has one; partitions take turns."""
    msf = state.msf
    if msf.bus_out_busy:
        return
    count = partition_count(msf.csr[TX_CONTROL])
    which = msf.bus_out_last
    for _ in range(count):
        which = uint32(which + uint32(1))
        if which >= count:
            which = uint32(0)
        element = msf.send_next[which]
        if may_send(state, element):
            control = msf.csr[uint32(uint32(CONTROL_WORD) + uint32(2) * element)]
            words = uint32(0)
            if uint32(control & uint32(0xFF)) < uint32(PORTS) and (control & uint32(SKIP)) == uint32(0):
                words = uint32((element_length(control) + uint32(3)) >> uint32(2))
            msf.bus_out_busy = uint32(which + uint32(1))
            msf.bus_out_last = which
            set_alarm(state, ALARM_BUS_OUT, uint64(now + bus_cycles(state, words)))
            return


@jit
def bus_out_event(state, now):
    """The element on the transmit bus is with its MAC; it counts as transmitted and may be filled again."""
    msf = state.msf
    which = uint32(msf.bus_out_busy - uint32(1))
    element = msf.send_next[which]
    control = msf.csr[uint32(uint32(CONTROL_WORD) + uint32(2) * element)]
    port = uint32(control & uint32(0xFF))
    if (control & uint32(SKIP)) == uint32(0):
        if port < uint32(PORTS) and port < state.parameter[P_PORT_COUNT]:
            _to_mac(state, port, element, control, now)
        else:
            msf.out_nowhere += uint64(1)
            _report_element(state, element, port)
    msf.send_valid[element] = uint8(0)
    msf.send_pending[which] = uint32(msf.send_pending[which] - uint32(1))
    msf.send_count[which] = uint32(msf.send_count[which] + uint32(1))
    msf.elements_out += uint64(1)
    msf.send_next[which] = next_element(state, msf.csr[TX_CONTROL], element)
    msf.bus_out_busy = uint32(0)
    start_bus_out(state, now)


@jit
def _report_element(state, element, value):
    """An element that breaks a rule on its way out, at the place of the command that made it valid."""
    writer = state.msf.send_writer[element]
    report(state, RESERVED_TRANSMIT, uint32(writer >> uint32(24)), uint32((writer >> uint32(16)) & uint32(0xFF)),
           uint32(writer & uint32(0xFFFF)), value)


@jit
def _to_mac(state, port, element, control, now):
    """Add an element's bytes to the frame that the MAC of `port` puts together; at its end queue the frame."""
    msf = state.msf
    if control & uint32(SOP):
        if msf.open_frame[port]:
            msf.out_broken[port] += uint64(1)
            _report_element(state, element, element)
            _drop_open(state, port)
        msf.open_frame[port] = uint32(1)
        msf.open_packet[port] = msf.send_packet[element]
    elif msf.open_frame[port] == uint32(0):
        msf.out_broken[port] += uint64(1)
        _report_element(state, element, element)
        return
    if msf.open_packet[port] == uint32(0):
        msf.open_packet[port] = msf.send_packet[element]
    if msf.open_frame[port] == uint32(1):
        if uint32(msf.open_length[port] + element_length(control)) > state.parameter[P_PORT_LONGEST]:
            msf.out_oversize[port] += uint64(1)
            _drop_open(state, port)
            msf.open_frame[port] = uint32(2)
        else:
            _append(state, port, element, control)
    if control & uint32(ABORT):
        msf.out_aborted[port] += uint64(1)
        _drop_open(state, port)
    elif control & uint32(EOP):
        if msf.open_frame[port] == uint32(1):
            _close(state, port, element, now)
        msf.open_frame[port] = uint32(0)


@jit
def _drop_open(state, port):
    """Throw away what the MAC has of the frame it puts together."""
    msf = state.msf
    msf.mac_used[port] = uint32(msf.mac_used[port] - msf.open_length[port])
    msf.sent_byte_tail[port] = uint32(msf.sent_byte_tail[port] - msf.open_length[port])
    msf.open_length[port] = uint32(0)
    msf.open_frame[port] = uint32(0)


@jit
def _append(state, port, element, control):
    """Copy prepended bytes and payload out of TBUF."""
    msf = state.msf
    start = element_place(state, msf.csr[TX_CONTROL], element)
    prepend_at = uint32((control >> uint32(21)) & uint32(7))
    prepend = uint32((control >> uint32(16)) & uint32(31))
    payload_at = payload_start(control)
    target = msf.sent_byte_tail[port]
    target = _copy(msf, port, uint32(start + prepend_at), prepend, target)
    target = _copy(msf, port, uint32(start + payload_at), payload_bytes(control), target)
    length = uint32(target - msf.sent_byte_tail[port])
    msf.sent_byte_tail[port] = target
    msf.open_length[port] = uint32(msf.open_length[port] + length)
    msf.mac_used[port] = uint32(msf.mac_used[port] + length)


@jit
def _copy(msf, port, source, total, target):
    """Copy `total` bytes from TBUF byte `source` to the sent bytes of `port` from counter `target` on; returns the next one."""
    base = uint32(port * uint32(SENT_BYTES))
    k = uint32(0)
    if (source & uint32(3)) == uint32(0) and (target & uint32(3)) == uint32(0):
        while uint32(k + uint32(4)) <= total:
            word = msf.tbuf[(uint32(source + k) >> uint32(2)) & uint32(BUFFER_WORDS - 1)]
            to = uint32(base + (uint32(target + k) & uint32(SENT_BYTES - 1)))
            msf.sent_bytes[to] = uint8(word >> uint32(24))
            msf.sent_bytes[uint32(to + uint32(1))] = uint8((word >> uint32(16)) & uint32(0xFF))
            msf.sent_bytes[uint32(to + uint32(2))] = uint8((word >> uint32(8)) & uint32(0xFF))
            msf.sent_bytes[uint32(to + uint32(3))] = uint8(word & uint32(0xFF))
            k = uint32(k + uint32(4))
    while k < total:
        at = uint32(source + k)
        word = msf.tbuf[(at >> uint32(2)) & uint32(BUFFER_WORDS - 1)]
        shift = uint32(uint32(24) - uint32(8) * (at & uint32(3)))
        to = uint32(base + (uint32(target + k) & uint32(SENT_BYTES - 1)))
        msf.sent_bytes[to] = uint8((word >> shift) & uint32(0xFF))
        k = uint32(k + uint32(1))
    return uint32(target + total)


@jit
def _close(state, port, element, now):
    """The frame is whole: pad it, queue it for the line."""
    msf = state.msf
    length = msf.open_length[port]
    if length < uint32(HEADER_BYTES):
        msf.out_runts[port] += uint64(1)
        _report_element(state, element, length)
        _drop_open(state, port)
        return
    base = uint32(port * uint32(SENT_BYTES))
    while length < uint32(SHORTEST_FRAME):
        msf.sent_bytes[uint32(base + (msf.sent_byte_tail[port] & uint32(SENT_BYTES - 1)))] = uint8(0)
        msf.sent_byte_tail[port] = uint32(msf.sent_byte_tail[port] + uint32(1))
        msf.mac_used[port] = uint32(msf.mac_used[port] + uint32(1))
        length = uint32(length + uint32(1))
    tail = msf.sent_tail[port]
    row = uint32(uint32(port * uint32(SENT_ROWS)) + (tail & uint32(SENT_ROWS - 1)))
    msf.sent_length[row] = length
    msf.sent_start[row] = uint32(msf.sent_byte_tail[port] - length)
    msf.sent_packet[row] = msf.open_packet[port]
    msf.sent_tail[port] = uint32(tail + uint32(1))
    msf.open_length[port] = uint32(0)
    _start_line(state, port, now)


@jit
def _start_line(state, port, now):
    """If the line is idle and a frame waits, send it; its departure is the alarm of the port."""
    msf = state.msf
    if msf.line_busy[port] or msf.sent_done[port] == msf.sent_tail[port]:
        return
    row = uint32(uint32(port * uint32(SENT_ROWS)) + (msf.sent_done[port] & uint32(SENT_ROWS - 1)))
    # Thousandths of a cycle: at 600 MHz and 1 Gb/s a byte takes 4.8 cycles, and the fractions must not be lost.
    byte_time = uint64(uint64(8000) * uint64(state.parameter[P_MEGAHERTZ]) // uint64(state.parameter[P_PORT_MEGABITS]))
    start = max(uint64(now * uint64(1000)), msf.line_free[port])
    end = uint64(start + uint64(uint32(msf.sent_length[row] + uint32(PREAMBLE_AND_CHECK))) * byte_time)
    msf.line_free[port] = uint64(end + uint64(GAP_BYTES) * byte_time)
    msf.line_busy[port] = uint32(1)
    set_alarm(state, uint32(uint32(ALARM_TRANSMIT) + port), uint64((end + uint64(999)) // uint64(1000)))


@jit
def departure_event(state, port, now):
    """The last bit of a frame is out: record it, finish its packet, make room, send the next one."""
    msf = state.msf
    port = uint32(port)
    done = msf.sent_done[port]
    row = uint32(uint32(port * uint32(SENT_ROWS)) + (done & uint32(SENT_ROWS - 1)))
    length = msf.sent_length[row]
    msf.sent_time[row] = now
    done = uint32(done + uint32(1))
    msf.sent_done[port] = done
    msf.out_frames[port] += uint64(1)
    msf.out_bytes[port] += uint64(length)
    msf.mac_used[port] = uint32(msf.mac_used[port] - length)
    msf.line_busy[port] = uint32(0)
    if msf.sent_packet[row]:
        finish_packet(state, msf.sent_packet[row], PACKET_SENT, port, 0, now)
    # The host collects between slices; whoever listens is told well before the rings come round.
    end = uint32(msf.sent_start[row] + length)
    if uint32(done - msf.sent_rows_marked[port]) >= uint32(SENT_ROWS // 4) or uint32(
            end - msf.sent_bytes_marked[port]) >= uint32(SENT_BYTES // 4):
        msf.sent_rows_marked[port] = done
        msf.sent_bytes_marked[port] = end
        request_stop(state, STOP_OUTPUT, 0, 0)
    _start_line(state, port, now)
    start_bus_out(state, now)
