"""The media and switch fabric as the rest of the core calls it: CSRs, RBUF and TBUF, alarms.

What msf[...] commands, RBUF/TBUF copies and alarms do; the work behind them is in receive.py and transmit.py. Its state is
msf_layout.MSF, as `state.msf`. The core calls each function at the cycle `now` at which the unit acts, in time order. CSRs that
nothing here reads keep what was written. A microengine number of 8 and more stands for the XScale or a host.
"""

from __future__ import annotations

from numpy import uint32

from ixpemu.engine.jit import jit
from ixpemu.engine.layout import RESERVED_NOT_MODELLED
from ixpemu.engine.msf_layout import CONTROL_WORD, LISTS, PORTS
from ixpemu.engine.parameters import P_PORT_COUNT
from ixpemu.engine.receive import bus_in_event, element_done, receive_control, receive_port_event, start_bus_in
from ixpemu.engine.receive_lists import RX_THREAD_FREELIST_TIMEOUT_0, add_thread, restart_timer, timer_event
from ixpemu.engine.reserved import report_actor, report_at
from ixpemu.engine.transmit import bus_out_event, control_written, departure_event, sequence, transmit_control

# CSRs that do something, by word offset.
RX_CONTROL, TX_CONTROL = 0x00 // 4, 0x04 // 4
RX_THREAD_FREELIST_0 = 0x30 // 4
RBUF_ELEMENT_DONE = 0x44 // 4
RX_PORT_MAP = 0x40 // 4
TX_SEQUENCE_0 = 0x60 // 4
# And some that ought to.
INTERRUPT_ENABLE, CSIX_TYPE_MAP, FC_EGRESS_STATUS, FC_INGRESS_STATUS = 0x0C // 4, 0x10 // 4, 0x14 // 4, 0x18 // 4
HWM_CONTROL, FC_OVERRIDE, RX_POLL_LIMIT, TX_POLL_LIMIT = 0x24 // 4, 0x28 // 4, 0x48 // 4, 0x70 // 4


@jit
def not_modelled(state, word, value):
    """Whether `value` in the register at `word` asks for something that nothing here does."""
    if word == uint32(RX_POLL_LIMIT) or word == uint32(TX_POLL_LIMIT):
        return uint32(value) < uint32(state.parameter[P_PORT_COUNT] - uint32(1))
    used = word == uint32(INTERRUPT_ENABLE) or word == uint32(CSIX_TYPE_MAP) or word == uint32(HWM_CONTROL)
    return (used or word == uint32(FC_OVERRIDE)) and value != uint32(0)


@jit
def msf_read(state, memory, address, now):
    """One 32-bit word of msf[read] at byte `address` (0x0000..0x3fff)."""
    word = uint32(uint32(address) >> uint32(2)) & uint32(4095)
    if word >= uint32(2048):
        return state.msf.rbuf[word & uint32(2047)]
    if word >= uint32(TX_SEQUENCE_0) and word < uint32(TX_SEQUENCE_0 + LISTS):
        return sequence(state, uint32(word - uint32(TX_SEQUENCE_0)))
    if word == uint32(FC_EGRESS_STATUS) or word == uint32(FC_INGRESS_STATUS):
        report_actor(state, RESERVED_NOT_MODELLED, uint32(word << uint32(2)))
    return state.msf.csr[word]


@jit
def msf_write(state, memory, address, value, me, ctx, now):
    """One 32-bit word of msf[write] at byte `address`; words of one command come in ascending order.

    `me`, `ctx`: who wrote it; `state.engines[me].packet[ctx]` is the packet that context works on.
    """
    msf = state.msf
    word = uint32(uint32(address) >> uint32(2)) & uint32(4095)
    value = uint32(value)
    if word >= uint32(2048):
        msf.tbuf[word & uint32(2047)] = value
    elif word >= uint32(CONTROL_WORD):
        msf.csr[word] = value
        if word & uint32(1):
            control_written(state, word, me, ctx, now)
    elif word >= uint32(RX_THREAD_FREELIST_0) and word < uint32(RX_THREAD_FREELIST_0 + LISTS):
        add_thread(state, uint32(word - uint32(RX_THREAD_FREELIST_0)), value, now)
    elif word == uint32(RBUF_ELEMENT_DONE):
        element_done(state, value, me, ctx, now)
    elif word == uint32(RX_CONTROL):
        receive_control(state, value, me, ctx, now)
    elif word == uint32(TX_CONTROL):
        transmit_control(state, value, me, ctx, now)
    elif word < uint32(TX_SEQUENCE_0) or word >= uint32(TX_SEQUENCE_0 + LISTS):
        msf.csr[word] = value
        if not_modelled(state, word, value):
            report_at(state, RESERVED_NOT_MODELLED, me, ctx, msf.writer_pc, uint32(word << uint32(2)), now)
        if word == uint32(RX_PORT_MAP):
            start_bus_in(state, now)
        elif word >= uint32(RX_THREAD_FREELIST_TIMEOUT_0) and word < uint32(RX_THREAD_FREELIST_TIMEOUT_0 + LISTS):
            restart_timer(state, uint32(word - uint32(RX_THREAD_FREELIST_TIMEOUT_0)), now)


@jit
def msf_fast_write(state, memory, address, value, me, ctx, now):
    """msf[fast_wr]: 16 bits of `value` for the CSR at byte `address`."""
    msf_write(state, memory, address, uint32(uint32(value) & uint32(0xFFFF)), me, ctx, now)


@jit
def rbuf_to_dram(state, memory, offset, index, words, now):
    """dram[rbuf_rd]: copy `words` 32-bit words from RBUF byte `offset` (0..0x1fff) to `memory[index]` on."""
    start = uint32(uint32(offset) >> uint32(2))
    index = uint32(index)
    for k in range(uint32(words)):
        memory[uint32(index + uint32(k))] = state.msf.rbuf[uint32(start + uint32(k)) & uint32(2047)]


@jit
def dram_to_tbuf(state, memory, offset, index, words, now):
    """dram[tbuf_wr]: copy `words` 32-bit words from `memory[index]` on to TBUF byte `offset`."""
    start = uint32(uint32(offset) >> uint32(2))
    for k in range(uint32(words)):
        state.msf.tbuf[uint32(start + uint32(k)) & uint32(2047)] = memory[uint32(uint32(index) + uint32(k))]


@jit
def receive_event(state, memory, port, now):
    """The alarm ALARM_RECEIVE + port has gone off: a frame has arrived, or (behind the last port) the receive bus is done."""
    if uint32(port) < uint32(PORTS):
        receive_port_event(state, port, now)
    else:
        bus_in_event(state, now)


@jit
def transmit_event(state, memory, port, now):
    """The alarm ALARM_TRANSMIT + port has gone off: a frame has left, or (behind the last port) the transmit bus is done."""
    if uint32(port) < uint32(PORTS):
        departure_event(state, port, now)
    else:
        bus_out_event(state, now)


@jit
def msf_timer_event(state, memory, index, now):
    """The alarm ALARM_MSF_TIMER + index has gone off: free list `index` has waited too long."""
    timer_event(state, index, now)
