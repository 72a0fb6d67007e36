"""The media and switch fabric as the rest of the core calls it: CSRs, RBUF and TBUF, receive and transmit events.

What msf[...] commands, RBUF/TBUF copies and alarms do. Its state is msf_layout.MSF, as `state.msf`. The core calls each function at
the cycle `now` at which the unit acts, in time order. What this module may use: lanes.set_alarm (ALARM_RECEIVE + port,
ALARM_TRANSMIT + port, ALARM_MSF_TIMER + k), units.push_words (an autopush to a context), accounting.new_packet and
accounting.finish_packet, lanes.request_stop (STOP_INPUT: more input is wanted, STOP_OUTPUT: sent frames are to be collected).
"""

from __future__ import annotations

from numpy import uint32

from ixpemu.engine.jit import jit


@jit
def msf_read(state, memory, address, now):
    """One 32-bit word of msf[read] at byte `address` (0x0000..0x3fff)."""
    word = uint32(uint32(address) >> uint32(2)) & uint32(4095)
    if word >= uint32(2048):
        return state.msf.rbuf[word & uint32(2047)]
    return state.msf.csr[word]


@jit
def msf_write(state, memory, address, value, me, ctx, now):
    """One 32-bit word of msf[write] at byte `address`; words of one command come in ascending order.

    `me`, `ctx`: who wrote it; `state.engines[me].packet[ctx]` is the packet that context works on.
    """
    word = uint32(uint32(address) >> uint32(2)) & uint32(4095)
    if word >= uint32(2048):
        state.msf.tbuf[word & uint32(2047)] = uint32(value)
    else:
        state.msf.csr[word] = uint32(value)


@jit
def msf_fast_write(state, memory, address, value, me, ctx, now):
    """msf[fast_wr]: 16 bits of `value` for the CSR at byte `address`."""
    msf_write(state, memory, address, value, me, ctx, now)


@jit
def rbuf_to_dram(state, memory, offset, index, words, now):
    """dram[rbuf_rd]: copy `words` 32-bit words from RBUF byte `offset` (0..0x1fff) to `memory[index]` on."""
    start = uint32(uint32(offset) >> uint32(2))
    for k in range(uint32(words)):
        memory[uint32(index + k)] = state.msf.rbuf[uint32(start + uint32(k)) & uint32(2047)]


@jit
def dram_to_tbuf(state, memory, offset, index, words, now):
    """dram[tbuf_wr]: copy `words` 32-bit words from `memory[index]` on to TBUF byte `offset`."""
    start = uint32(uint32(offset) >> uint32(2))
    for k in range(uint32(words)):
        state.msf.tbuf[uint32(start + uint32(k)) & uint32(2047)] = memory[uint32(index + k)]


@jit
def receive_event(state, memory, port, now):
    """The alarm ALARM_RECEIVE + port has gone off (it is off now; set it again)."""
    return


@jit
def transmit_event(state, memory, port, now):
    """The alarm ALARM_TRANSMIT + port has gone off."""
    return


@jit
def msf_timer_event(state, memory, index, now):
    """The alarm ALARM_MSF_TIMER + index has gone off."""
    return
