"""From TBUF to the wire: elements in strict order over the transmit bus, frames put together by the MAC, the line.

Software fills TBUF elements 0, 1, 2, ... and writes each one's control word, which makes it valid; the fabric sends element n
only after n-1. The MAC of a port stores a frame until its end (assumed) and sends it at line speed; a full MAC holds up the bus,
and so the elements of all ports behind. A frame departs when its last bit is out: then it is recorded and its packet finished.
"""

from __future__ import annotations

from numpy import uint8, uint32, uint64

from ixpemu.engine.accounting import finish_packet
from ixpemu.engine.jit import jit
from ixpemu.engine.lanes import request_stop, set_alarm
from ixpemu.engine.layout import ALARM_TRANSMIT, PACKET_SENT, RESERVED_TRANSMIT, STOP_OUTPUT
from ixpemu.engine.msf_layout import BUFFER_WORDS, CONTROL_WORD, PORTS, SENT_BYTES, SENT_ROWS
from ixpemu.engine.parameters import P_MEGAHERTZ, P_PORT_COUNT, P_PORT_LONGEST, P_PORT_MEGABITS, P_PORT_SEND_FIFO
from ixpemu.engine.receive import HEADER_BYTES, SHORTEST_FRAME, bus_cycles, element_bytes
from ixpemu.engine.reserved import report

ALARM_BUS_OUT = ALARM_TRANSMIT + PORTS
PREAMBLE_AND_CHECK = 12         # bytes on the wire beside the frame itself, without the gap
GAP_BYTES = 12
TX_CONTROL = 1                  # word offset
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
def control_written(state, word, me, ctx, now):
    """The second word of an element's control has been written: the element is valid and carries its writer's packet."""
    msf = state.msf
    element = uint32((word - uint32(CONTROL_WORD)) >> uint32(1))
    if element >= uint32(uint32(BUFFER_WORDS * 4) // element_bytes(msf.csr[TX_CONTROL])) or msf.send_valid[element]:
        report(state, RESERVED_TRANSMIT, me, ctx, 0, element)
        return
    msf.send_valid[element] = uint8(1)
    msf.send_pending = uint32(msf.send_pending + uint32(1))
    msf.send_packet[element] = uint32(0)
    if uint32(me) < uint32(8):
        msf.send_packet[element] = state.engines[me].packet[ctx]
    start_bus_out(state, now)


@jit
def start_bus_out(state, now):
    """If the bus is idle, the next element in order valid and its MAC has room, start moving it."""
    msf = state.msf
    if msf.bus_out_busy or msf.send_valid[msf.send_next] == uint8(0):
        return
    control = msf.csr[uint32(uint32(CONTROL_WORD) + uint32(2) * msf.send_next)]
    port = uint32(control & uint32(0xFF))
    words = uint32(0)
    if port < uint32(PORTS) and (control & uint32(SKIP)) == uint32(0):
        if (msf.csr[TX_CONTROL] >> uint32(uint32(28) + port)) & uint32(1) == uint32(0):
            return
        length = element_length(control)
        # A frame that alone would overfill the MAC is let in, found too long and thrown away; it must not block for ever.
        others = uint32(msf.mac_used[port] - msf.open_length[port])
        if uint32(msf.mac_used[port] + length) > state.parameter[P_PORT_SEND_FIFO] and others:
            return
        words = uint32((length + uint32(3)) >> uint32(2))
    msf.bus_out_busy = uint32(1)
    set_alarm(state, ALARM_BUS_OUT, uint64(now + bus_cycles(state, words)))


@jit
def bus_out_event(state, now):
    """The element on the transmit bus is with its MAC; it counts as transmitted and may be filled again."""
    msf = state.msf
    element = msf.send_next
    control = msf.csr[uint32(uint32(CONTROL_WORD) + uint32(2) * element)]
    port = uint32(control & uint32(0xFF))
    if (control & uint32(SKIP)) == uint32(0):
        if port < uint32(PORTS) and port < state.parameter[P_PORT_COUNT]:
            _to_mac(state, port, element, control, now)
        else:
            msf.out_nowhere += uint64(1)
            report(state, RESERVED_TRANSMIT, 0, 0, 0, port)
    msf.send_valid[element] = uint8(0)
    msf.send_pending = uint32(msf.send_pending - uint32(1))
    msf.send_count = uint32(msf.send_count + uint32(1))
    msf.elements_out += uint64(1)
    count = uint32(uint32(BUFFER_WORDS * 4) // element_bytes(msf.csr[TX_CONTROL]))
    msf.send_next = uint32(uint32(element + uint32(1)) & uint32(count - uint32(1)))
    msf.bus_out_busy = uint32(0)
    start_bus_out(state, now)


@jit
def _to_mac(state, port, element, control, now):
    """Add an element's bytes to the frame that the MAC of `port` puts together; at its end queue the frame."""
    msf = state.msf
    if control & uint32(SOP):
        if msf.open_frame[port]:
            msf.out_broken[port] += uint64(1)
            report(state, RESERVED_TRANSMIT, 0, 0, 0, element)
            _drop_open(state, port)
        msf.open_frame[port] = uint32(1)
        msf.open_packet[port] = msf.send_packet[element]
    elif msf.open_frame[port] == uint32(0):
        msf.out_broken[port] += uint64(1)
        report(state, RESERVED_TRANSMIT, 0, 0, 0, element)
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
            _close(state, port, now)
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
    """Copy prepended bytes and payload out of TBUF. Payload starts at the next 8-byte boundary behind the prepended ones."""
    msf = state.msf
    start = uint32(element * element_bytes(msf.csr[TX_CONTROL]))
    prepend_at = uint32((control >> uint32(21)) & uint32(7))
    prepend = uint32((control >> uint32(16)) & uint32(31))
    behind = uint32(uint32(prepend_at + prepend + uint32(7)) & uint32(0xFFFFFFF8))
    payload_at = uint32(behind + ((control >> uint32(13)) & uint32(7)))
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
    for k in range(uint32(total)):
        at = uint32(source + uint32(k))
        word = msf.tbuf[(at >> uint32(2)) & uint32(BUFFER_WORDS - 1)]
        shift = uint32(uint32(24) - uint32(8) * (at & uint32(3)))
        to = uint32(base + (uint32(target + uint32(k)) & uint32(SENT_BYTES - 1)))
        msf.sent_bytes[to] = uint8((word >> shift) & uint32(0xFF))
    return uint32(target + total)


@jit
def _close(state, port, now):
    """The frame is whole: pad it, queue it for the line."""
    msf = state.msf
    length = msf.open_length[port]
    if length < uint32(HEADER_BYTES):
        msf.out_runts[port] += uint64(1)
        report(state, RESERVED_TRANSMIT, 0, 0, 0, length)
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
