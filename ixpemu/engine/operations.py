"""Operations of SRAM and scratch memory that are more than a read or write, on their way: atomics, queues, rings, journals,
CSRs.

As in commands.py, everything about time is worked out when the command commits; what the operation does is done when its unit
gets to it (operation_access.py). An operation may pull words and push others: it then has two signals, the even one for the
pull and the odd one for the push. Figures: `sram.atomic_...`, `sram.queue_...`, `scratch.atomic_...` of the chip file.
"""

from __future__ import annotations

from numpy import uint8, uint16, uint32, uint64

from ixpemu.engine.arrivals import post_event, post_signal
from ixpemu.engine.commands import count_reference, fill_in, join_queue, pull_time, push_time, silent_slot, sram_channel
from ixpemu.engine.events import new_event
from ixpemu.engine.jit import jit
from ixpemu.engine.layout import (
    EVENT_PULL,
    EVENT_PUSH,
    RESERVED_TRANSFER_WINDOW,
    UNIT_SCRATCH,
    UNIT_SRAM0,
)
from ixpemu.engine.operation_numbers import (
    COMMAND_CHANNEL_READ,
    COMMAND_CHANNEL_WRITE,
    COMMAND_DESCRIPTOR_HEAD,
    COMMAND_DESCRIPTOR_TAIL,
    COMMAND_DESCRIPTOR_WRITE,
    COMMAND_ENQUEUE,
    COMMAND_ENQUEUE_TAIL,
    COUNT_IN,
    COUNT_OUT,
    FIRST_WRITING,
    LAST_ATOMIC,
    NO_PULL,
)
from ixpemu.engine.overrides import (
    COMPLETE_IN,
    COMPLETE_INDIRECT,
    REDIRECTS,
    part_signals,
    redirect,
    signal_context,
    window_room,
)
from ixpemu.engine.parameters import (
    P_SCRATCH_ATOMIC,
    P_SCRATCH_ATOMIC_BUSY,
    P_SRAM_ATOMIC,
    P_SRAM_ATOMIC_SAME,
    P_SRAM_QUEUE_BUSY,
    P_SRAM_QUEUE_TIME,
    P_SRAM_READ_WORD,
    P_SRAM_WRITE_WORD,
)
from ixpemu.engine.registers import note_in, note_out
from ixpemu.engine.reserved import report
from ixpemu.engine.timing import begin, queue_place

END_OF_PACKET = 0x80
"""What an enqueue without an override says of its buffer, as bits 31:24 of a link word: the end of a packet, of one cell."""


@jit
def issue_operation(state, engine, i, ctx, address, now):
    """Send the operation of instruction `i` on its way at `now`; there is room for it. `address` is the operands' sum."""
    unit = uint32(i.unit)
    command = uint32(i.command)
    variant = uint32(i.variant)
    pushed = uint32(i.total)
    pulls = uint32(i.amount)
    address = uint32(address)
    if unit == uint32(UNIT_SRAM0):
        unit = sram_channel(state, engine, ctx, address)
        address = uint32(address & uint32(0x3FFFFFFF))
    silent = i.mask == uint32(0) and (variant & uint32(COMPLETE_IN)) == uint32(0)
    slot = silent_slot(state, unit) if silent else new_event(state)
    event = state.events[slot]
    fill_in(engine, i, ctx, event)
    event.byte_mask = uint8(END_OF_PACKET)
    pc = engine.pc[ctx]
    if variant & uint32(COMPLETE_INDIRECT):
        count = override(state, engine, event, i, max(pulls, pushed))
        if variant & uint32(COUNT_IN):
            pushed = count
        elif variant & uint32(COUNT_OUT):
            pulls = count
    owner = state.engines[event.me]             # whose transfer registers they are
    when = operation_time(state, engine, unit, command, variant, max(pushed, pulls), address, now)
    if pushed != uint32(0):
        note_in(owner, event.ctx, event.first, pushed)
    if pulls != uint32(0):
        note_out(owner, event.ctx, event.first, pulls)
    if command != uint32(COMMAND_ENQUEUE):
        event.byte_mask = uint8(pulls)
    event.address = address
    event.pc = uint16(pc)
    event.command = uint8(command)
    event.total = uint8(pushed)
    event.unit = uint8(unit)
    event.packet = uint32(0)
    count_reference(state, engine, ctx, event, pushed + pulls, now)
    when = join_queue(state, unit, slot, when)
    finish(state, event, slot, pulls, pushed, when)


@jit
def override(state, engine, event, i, words):
    """indirect_ref: as apply_overrides, with fields of the previous result that have another meaning here; returns the count.

    Of an enqueue 19:12, with bit 20 set, are the end bit and the cells of its buffer. Of an operation without pull 22:12 are the
    operand (assumed).
    """
    word = uint32(engine.previous_alu)
    variant = uint32(i.variant)
    counted = variant & uint32(COUNT_IN | COUNT_OUT)
    if variant & uint32(NO_PULL):
        event.value = uint32((word >> uint32(12)) & uint32(0x7FF))
    elif (word >> uint32(20)) & uint32(1) and uint32(i.command) == uint32(COMMAND_ENQUEUE):
        event.byte_mask = uint8((word >> uint32(12)) & uint32(0xFF))
    if counted and (word >> uint32(25)) & uint32(1):
        words = uint32(((word >> uint32(21)) & uint32(15)) + uint32(1))
    if word & uint32(REDIRECTS):
        redirect(state, engine, event, i, word)
    if counted:
        room = window_room(state.engines[event.me], event.first)
        if words > room:
            report(state, RESERVED_TRANSFER_WINDOW, engine.number, engine.context, engine.pc[engine.context], words)
            words = room
    return words


@jit
def finish(state, event, slot, pulls, pushed, when):
    """Schedule what follows the access at `when`: the pull with its signal, the push with its."""
    unit = uint32(event.unit)
    pulled = pull_time(state, event.me, pulls, uint32(0), unit, when)
    if pushed == uint32(0):
        event.kind = uint8(EVENT_PULL)
        if event.signals != uint32(0):
            if event.flag:
                part_signals(state, event, pulled)
            post_event(state, slot, event.me, pulled)
        return
    event.kind = uint8(EVENT_PUSH)
    even = uint32(event.signals & uint32(0x5555))
    odd = uint32(event.signals & uint32(0xAAAA))
    # Where nothing is pulled both signals of a pair come with the push.
    if pulls != uint32(0) and even != uint32(0) and odd != uint32(0):
        post_signal(state, event.me, signal_context(event), unit, even, pulled)
        event.signals = odd
    # What is pushed follows from what is pulled.
    ready = uint64(pulled if pulls != uint32(0) else when)
    if uint32(event.command) <= uint32(LAST_ATOMIC):
        ready = uint64(ready + uint64(state.parameter[P_SCRATCH_ATOMIC if unit == uint32(UNIT_SCRATCH) else P_SRAM_ATOMIC]))
    end = push_time(state, event.me, pushed, unit, ready)
    if event.flag:
        part_signals(state, event, end)
    post_event(state, slot, event.me, end)


@jit
def words_of_memory(command):
    """How many words of memory a queue array operation reads or writes at least."""
    if (command == uint32(COMMAND_DESCRIPTOR_HEAD) or command == uint32(COMMAND_DESCRIPTOR_TAIL)
            or command == uint32(COMMAND_DESCRIPTOR_WRITE)):
        return uint32(2)
    if (command == uint32(COMMAND_ENQUEUE_TAIL) or command == uint32(COMMAND_CHANNEL_READ)
            or command == uint32(COMMAND_CHANNEL_WRITE)):
        return uint32(0)
    return uint32(1)


@jit
def operation_time(state, engine, unit, command, variant, words, address, now):
    """Access time of an operation. An atomic of SRAM takes a turn of both ports; its word is busy until it is written back."""
    arrival = queue_place(state, engine, unit, now)
    row = uint32(uint32(2) * unit)
    if command <= uint32(LAST_ATOMIC):
        if variant & uint32(COMPLETE_IN):
            latency = uint64(state.cost_latency[row])
        else:
            latency = uint64(state.cost_latency[uint32(row + uint32(1))])
        if unit == uint32(UNIT_SCRATCH):
            return uint64(begin(state, unit, row, arrival, uint64(state.parameter[P_SCRATCH_ATOMIC_BUSY])) + latency)
        arrival = max(arrival, state.free_at[uint32(row + uint32(1))])
        if state.atomic_address[unit] == uint32(address >> uint32(2)):
            arrival = max(arrival, state.atomic_free[unit])
        start = begin(state, unit, row, arrival, uint64(state.parameter[P_SRAM_READ_WORD]))
        state.free_at[uint32(row + uint32(1))] = uint64(start + uint64(state.parameter[P_SRAM_WRITE_WORD]))
        state.atomic_address[unit] = uint32(address >> uint32(2))
        state.atomic_free[unit] = uint64(start + uint64(state.parameter[P_SRAM_ATOMIC_SAME]))
        return uint64(start + latency)
    if command >= uint32(FIRST_WRITING):
        row = uint32(row + uint32(1))
    words = max(words, words_of_memory(command))
    busy = max(state.parameter[P_SRAM_QUEUE_BUSY], uint32(state.cost_word[row] * words))
    start = begin(state, unit, row, arrival, uint64(busy))
    return uint64(start + uint64(state.cost_latency[row]) + uint64(state.parameter[P_SRAM_QUEUE_TIME]))


