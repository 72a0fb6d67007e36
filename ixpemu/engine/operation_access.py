"""What SRAM and scratch memory do when an operation's turn comes: pull its operands, act on memory or the queue array, keep
what is pushed. When that is: operations.py. The acts themselves: atomics.py, queue_array.py, sram_rings.py.
"""

from __future__ import annotations

from numpy import uint32

from ixpemu.engine.atomics import access_atomic
from ixpemu.engine.jit import jit
from ixpemu.engine.layout import CHANNEL_CSRS, EVENT_PUSH, QUEUE_COUNT, SRAM_IN, SRAM_OUT
from ixpemu.engine.memories import mark_written
from ixpemu.engine.observation import SEEN_RING, SEEN_WRITE, observing, see_word
from ixpemu.engine.operation_numbers import (
    COMMAND_CHANNEL_READ,
    COMMAND_CHANNEL_WRITE,
    COMMAND_DEQUEUE,
    COMMAND_DESCRIPTOR_COUNT,
    COMMAND_DESCRIPTOR_HEAD,
    COMMAND_DESCRIPTOR_OTHER,
    COMMAND_DESCRIPTOR_WRITE,
    COMMAND_ENQUEUE,
    COMMAND_ENQUEUE_TAIL,
    COMMAND_FAST_JOURNAL,
    COMMAND_JOURNAL,
    COMMAND_QUEUE_GET,
    COMMAND_QUEUE_PUT,
    LAST_ATOMIC,
)
from ixpemu.engine.queue_array import (
    ADDRESS,
    dequeue,
    descriptor_index,
    enqueue,
    enqueue_tail,
    expect,
    load_head,
    load_other,
    load_tail,
    store_descriptor,
)
from ixpemu.engine.registers import pulled
from ixpemu.engine.sram_rings import ALL_PARTS, begin_get, put_status, read_word, write_word


@jit
def access_operation(state, memory, entry):
    """Do what the operation at the head of a unit's queue asks."""
    command = uint32(entry.command)
    engine = state.engines[entry.me]
    # What travels in the place of a byte mask is the number of words to pull, or what an enqueue says of its buffer.
    pulls = uint32(0) if command == uint32(COMMAND_ENQUEUE) else uint32(entry.byte_mask)
    first = uint32(entry.first)
    # A command that also fills registers is numbered by those.
    source = uint32(first + uint32(SRAM_OUT - SRAM_IN)) if uint32(entry.kind) == uint32(EVENT_PUSH) else first
    if command <= uint32(LAST_ATOMIC):
        access_atomic(state, memory, entry, engine.file[source] if pulls else entry.value)
    elif command == uint32(COMMAND_QUEUE_PUT) or command == uint32(COMMAND_JOURNAL) or command == uint32(COMMAND_QUEUE_GET):
        access_ring_entry(state, memory, entry, engine, command, pulls, source)
    elif command == uint32(COMMAND_CHANNEL_READ) or command == uint32(COMMAND_CHANNEL_WRITE):
        register = uint32((entry.address >> uint32(2)) & uint32(CHANNEL_CSRS - 1))
        at = uint32(uint32(entry.unit) * uint32(CHANNEL_CSRS) + register)
        if command == uint32(COMMAND_CHANNEL_READ):
            entry.words[0] = state.channel_csr[at]
        else:
            state.channel_csr[at] = engine.file[source]
    else:
        access_queue(state, memory, entry, command)
    if pulls != uint32(0):
        pulled(engine, entry.ctx, first, pulls)


@jit
def access_ring_entry(state, memory, entry, engine, command, pulls, source):
    """sram put, get and journal: bits 7:2 of the address are the entry's number."""
    k = uint32((uint32(entry.unit) << uint32(6)) | ((entry.address >> uint32(2)) & uint32(63)))
    file = engine.file
    if command == uint32(COMMAND_QUEUE_GET):
        begin_get(state, k, entry.total, entry.me, entry.ctx, entry.pc, entry.access)
        out = entry.words
        for n in range(uint32(entry.total)):
            out[n] = read_word(state, memory, k, entry.me, entry.ctx, entry.pc, entry.access)
            if observing():
                see_word(state, SEEN_RING, entry, k & uint32(63), out[n], 0, entry.access)
        return
    if command == uint32(COMMAND_QUEUE_PUT):
        status = put_status(state, k, pulls, entry.me, entry.ctx, entry.pc, entry.access)
        entry.words[0] = status
        if status >> uint32(31) == uint32(0):
            return
    else:
        expect(state, k, ALL_PARTS, entry.me, entry.ctx, entry.pc, entry.access)
    for n in range(pulls):
        if observing():
            see_word(state, SEEN_RING, entry, k & uint32(63), file[uint32(source + uint32(n))], 1, entry.access)
        write_word(state, memory, k, file[uint32(source + uint32(n))], entry.me, entry.ctx, entry.pc, entry.access)


@jit
def access_queue(state, memory, entry, command):
    """Queues, descriptors and fast_journal: bits 29:24 of the address are the entry's number, the rest a word address."""
    me, ctx, pc, now = entry.me, entry.ctx, entry.pc, entry.access
    k = uint32((uint32(entry.unit) << uint32(6)) | ((entry.address >> uint32(24)) & uint32(63)))
    address = uint32(entry.address & uint32(ADDRESS))
    if command == uint32(COMMAND_ENQUEUE):
        link = uint32(address | (uint32(entry.byte_mask) << uint32(24)))
        if observing() and state.array_count[k] != uint32(0):
            see_word(state, SEEN_WRITE, entry, uint32(state.array_tail[k] << uint32(2)), link, 15, now)
        if observing():
            see_word(state, SEEN_RING, entry, k & uint32(63), link, 1, now)
        enqueue(state, memory, k, link, me, ctx, pc, now)
    elif command == uint32(COMMAND_ENQUEUE_TAIL):
        enqueue_tail(state, k, address, me, ctx, pc, now)
    elif command == uint32(COMMAND_DEQUEUE):
        before = state.array_head[k]
        entry.words[0] = dequeue(state, memory, k, me, ctx, pc, now)
        if observing() and (before ^ state.array_head[k]) & uint32(ADDRESS):
            see_word(state, SEEN_RING, entry, k & uint32(63), entry.words[0], 0, now)       # a buffer, not only a cell of it
    elif command == uint32(COMMAND_FAST_JOURNAL):
        if observing():
            see_word(state, SEEN_RING, entry, k & uint32(63), address, 1, now)
        expect(state, k, ALL_PARTS, me, ctx, pc, now)
        write_word(state, memory, k, address, me, ctx, pc, now)
    else:
        index = descriptor_index(state, k, address, max(uint32(entry.total), uint32(3)), me, ctx, pc, now)
        if command == uint32(COMMAND_DESCRIPTOR_WRITE):
            if uint32(state.array_set[k]) == uint32(0):
                expect(state, k, ALL_PARTS, me, ctx, pc, now)
            store_descriptor(state, memory, k, index)
            if observing():
                see_word(state, SEEN_WRITE, entry, uint32(address << uint32(2)), memory[index], 15, now)
                see_word(state, SEEN_WRITE, entry, uint32((address << uint32(2)) + uint32(4)),
                         memory[uint32(index + uint32(1))], 15, now)
        elif command == uint32(COMMAND_DESCRIPTOR_COUNT):
            expect(state, k, QUEUE_COUNT, me, ctx, pc, now)
            memory[uint32(index + uint32(2))] = state.array_count[k]
            mark_written(memory, uint32(index + uint32(2)), 1)
            if observing():
                see_word(state, SEEN_WRITE, entry, uint32((address << uint32(2)) + uint32(8)), state.array_count[k], 15, now)
        elif command == uint32(COMMAND_DESCRIPTOR_OTHER):
            expect(state, k, QUEUE_COUNT, me, ctx, pc, now)
            load_other(state, memory, k, index)
        else:
            if command == uint32(COMMAND_DESCRIPTOR_HEAD):
                load_head(state, memory, k, index)
            else:
                load_tail(state, memory, k, index)
            out = entry.words
            for n in range(uint32(entry.total)):
                out[n] = memory[uint32(index + uint32(n))]


