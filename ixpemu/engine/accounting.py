"""What packets cost: which packet a context works on, and whose row its cycles, references and waits go to.

A context counts for itself; when its packet changes the counts move to the old packet's row, for the microengine it runs on.
Counts of a context with no packet (number 0) are dropped: they are the microengine's totals less all packets. Without probes
two rules say which packet it is: the push that reports a received element names its packet, and a transmitted element takes over
the packet of the context that wrote its control word. A probe binds a buffer handle to a packet (begin), takes the packet of a
handle (at), or ends or drops it, or says that there is none.

Not here: what a packet's bytes are, and its type: the host classifies.
"""

from __future__ import annotations

from numpy import uint8, uint16, uint32, uint64

from ixpemu.engine.jit import jit
from ixpemu.engine.lanes import request_stop
from ixpemu.engine.layout import (
    HANDLES,
    PACKET_DROPPED,
    PACKET_ENDED,
    PACKET_FREE,
    PACKET_INSIDE,
    PACKET_ROWS,
    PACKET_SENT,
    PROBE_BEGIN,
    PROBE_DROP,
    PROBE_END,
    PROBE_NOTHING,
    STOP_PACKET_TABLE,
    STOP_PACKETS,
    STOP_QUIET,
    UNIT_COUNT,
)
from ixpemu.engine.observation import observing, see_probe


@jit
def flush_context(state, engine, ctx):
    """Move the counts of `ctx` to the row of its packet and start counting anew."""
    ctx = uint32(ctx)
    m = engine.number
    packet = engine.packet[ctx]
    row = state.packets[packet & uint32(PACKET_ROWS - 1)]
    base = uint32(ctx * uint32(UNIT_COUNT))
    if packet != uint32(0) and row.number == packet and row.status != uint32(PACKET_FREE):
        row.instructions[m] = uint32(row.instructions[m] + engine.instructions[ctx])
        row.aborted[m] = uint32(row.aborted[m] + engine.aborts[ctx])
        row.stalled[m] = uint32(row.stalled[m] + engine.stalls[ctx])
        to = uint32(m * uint32(UNIT_COUNT))
        for k in range(UNIT_COUNT):
            row.refs[to + k] = uint16(row.refs[to + k] + engine.refs[base + k])
            row.waits[to + k] = uint32(row.waits[to + k] + engine.waits[base + k])
    engine.instructions[ctx] = uint32(0)
    engine.aborts[ctx] = uint32(0)
    engine.stalls[ctx] = uint32(0)
    for k in range(UNIT_COUNT):
        engine.refs[base + k] = uint32(0)
        engine.waits[base + k] = uint32(0)


@jit
def take_packet(state, engine, ctx, packet):
    """From here on `ctx` works on `packet` (0: on none)."""
    if engine.packet[ctx] != uint32(packet):
        flush_context(state, engine, ctx)
        engine.packet[ctx] = uint32(packet)


@jit
def new_packet(state, port, length, now):
    """Number a packet that arrives whole or in part at `port`; `length` in bytes. Returns its number, never 0.

    When the oldest row has not been collected by the host yet, the slice ends soon (STOP_PACKET_TABLE) and the row is used again
    at once if nobody listens.
    """
    number = state.packet_next
    following = uint32(number + uint32(1))
    if following == uint32(0):
        following = uint32(1)
    state.packet_next = following
    row = state.packets[number & uint32(PACKET_ROWS - 1)]
    row.number = number
    row.status = uint32(PACKET_INSIDE)
    row.arrived = uint64(now)
    row.departed = uint64(0)
    row.length = uint32(length)
    row.handle = uint32(0)
    row.port_in = uint8(port)
    row.port_out = uint8(255)
    row.reason = uint8(0)
    row.kind = uint8(0)
    for k in range(len(row.instructions)):
        row.instructions[k] = uint32(0)
        row.aborted[k] = uint32(0)
        row.stalled[k] = uint32(0)
    for k in range(len(row.refs)):
        row.refs[k] = uint16(0)
        row.waits[k] = uint32(0)
    state.packets_inside = uint32(state.packets_inside + uint32(1))
    ahead = state.packets[uint32(number + uint32(PACKET_ROWS // 4)) & uint32(PACKET_ROWS - 1)]
    # Without accounting, probes are not looked at, packets are lost sight of and nobody collects rows.
    if ahead.status != uint32(PACKET_FREE) and state.mode != uint32(0):
        request_stop(state, STOP_PACKET_TABLE, 0, 0)
    return number


@jit
def finish_packet(state, packet, status, port, reason, now):
    """Packet `packet` has left: `status` PACKET_SENT (last byte on the wire of `port`) or PACKET_DROPPED (for `reason`)."""
    row = state.packets[uint32(packet) & uint32(PACKET_ROWS - 1)]
    if uint32(packet) == uint32(0) or row.number != uint32(packet):
        return
    if row.status != uint32(PACKET_INSIDE) and row.status != uint32(PACKET_ENDED):
        return
    row.status = uint32(status)
    row.departed = uint64(now)
    row.port_out = uint8(port)
    row.reason = uint8(reason)
    if row.handle != uint32(0):
        unbind_handle(state, uint32(row.handle), uint32(packet))
    if uint32(status) == uint32(PACKET_SENT):
        state.packets_sent = uint64(state.packets_sent + uint64(1))
    else:
        state.packets_dropped = uint64(state.packets_dropped + uint64(1))
    state.packets_inside = uint32(state.packets_inside - uint32(1))
    state.packet_finished = uint32(state.packet_finished + uint32(1))
    if uint64(state.packets_sent + state.packets_dropped) >= state.stop_at_packets:
        request_stop(state, STOP_PACKETS, 0, 0)
    check_quiet(state)


@jit
def check_quiet(state):
    """Ask to stop if no packet is inside and no port may receive another one (`state.input_open`)."""
    if state.packets_inside == uint32(0) and state.input_open == uint32(0):
        request_stop(state, STOP_QUIET, 0, 0)


@jit
def handle_place(state, handle):
    """Index of `handle` in the handle table, or of the free place where it belongs."""
    at = uint32((uint32(handle) * uint32(2654435761)) >> uint32(18)) & uint32(HANDLES - 1)
    while state.handle_packet[at] != uint32(0) and state.handle_key[at] != uint32(handle):
        at = uint32(at + uint32(1)) & uint32(HANDLES - 1)
    return at


@jit
def remove_handle(state, at):
    """Empty place `at` of the handle table and close the gap behind it."""
    at = uint32(at)
    state.handle_packet[at] = uint32(0)
    state.handles_used = uint32(state.handles_used - uint32(1))
    k = uint32(at + uint32(1)) & uint32(HANDLES - 1)
    while state.handle_packet[k] != uint32(0):
        key = state.handle_key[k]
        packet = state.handle_packet[k]
        state.handle_packet[k] = uint32(0)
        to = handle_place(state, key)
        state.handle_key[to] = key
        state.handle_packet[to] = packet
        k = uint32(k + uint32(1)) & uint32(HANDLES - 1)


@jit
def bind_handle(state, handle, packet):
    """From here on buffer `handle` holds `packet`."""
    at = handle_place(state, handle)
    if state.handle_packet[at] == uint32(0):
        if state.handles_used >= uint32(HANDLES // 2):
            return                                  # a program that binds without end; the table stays usable
        state.handles_used = uint32(state.handles_used + uint32(1))
    state.handle_key[at] = uint32(handle)
    state.handle_packet[at] = uint32(packet)
    row = state.packets[uint32(packet) & uint32(PACKET_ROWS - 1)]
    if row.number == uint32(packet):
        row.handle = uint32(handle)


@jit
def unbind_handle(state, handle, packet):
    """Forget `handle` if it still holds `packet`."""
    at = handle_place(state, handle)
    if state.handle_packet[at] == uint32(packet) and uint32(packet) != uint32(0):
        remove_handle(state, at)


@jit
def serve_probe(state, engine, ctx, probe, now):
    """The executing context reaches an instruction with probe row `probe`, which has not executed yet."""
    row = state.probe[probe]
    row.hits = uint32(row.hits + uint32(1))
    handle = engine.file[uint32(uint32(row.key) + (uint32(row.window) & uint32(ctx << uint32(4))))]
    packet = engine.packet[ctx]
    if row.action == uint8(PROBE_NOTHING):
        take_packet(state, engine, ctx, uint32(0))
        if observing():
            see_probe(state, engine, ctx, probe, 0, now)
        return
    if row.action == uint8(PROBE_BEGIN):
        if packet != uint32(0):
            bind_handle(state, handle, packet)
        if observing():
            see_probe(state, engine, ctx, probe, handle, now)
        return
    packet = state.handle_packet[handle_place(state, handle)]
    take_packet(state, engine, ctx, packet)
    if observing():
        see_probe(state, engine, ctx, probe, handle, now)
    if packet == uint32(0):
        return
    if row.action == uint8(PROBE_DROP):
        finish_packet(state, packet, PACKET_DROPPED, 255, probe, now)
    elif row.action == uint8(PROBE_END):
        inside = state.packets[packet & uint32(PACKET_ROWS - 1)]
        if inside.number == packet and inside.status == uint32(PACKET_INSIDE):
            inside.status = uint32(PACKET_ENDED)
        unbind_handle(state, handle, packet)
