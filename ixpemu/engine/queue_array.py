"""The queue array of an SRAM channel, 64 entries: linked queues of buffers, and their descriptors in memory.

An entry holds a head (a link word), a tail (a word address) and a count of packets. A link word says of a buffer: bit 31
whether it ends a packet, 30:24 its cells, 23:0 its word address, 0 for none; the word at a buffer's own address is the link
word of the buffer behind it. A descriptor in memory is head, tail and count in words 0 to 2, on a multiple of 16 bytes
(HRM:213-217, H and M). What is silent there, confidence L: dequeue returns the head as it stands before a cell is taken off; an
entry that becomes empty has head and tail 0. Rings and journals in the same entries: sram_rings.py.
"""

from __future__ import annotations

from numpy import uint8, uint32

from ixpemu.engine.jit import jit
from ixpemu.engine.layout import (
    CHANNEL_CSRS,
    QUEUE_COUNT,
    QUEUE_HEAD,
    QUEUE_TAIL,
    RESERVED_DESCRIPTOR,
    RESERVED_QUEUE_LINK,
    RESERVED_QUEUE_TAIL,
    RESERVED_QUEUE_UNSET,
)
from ixpemu.engine.memories import mark_written, memory_index
from ixpemu.engine.reserved import report_at

ADDRESS = 0xFFFFFF
"""The part of a link word that is an address, in words."""


@jit
def expect(state, k, parts, me, ctx, pc, now):
    """Report it unless these parts of entry `k` have been loaded."""
    if uint32(state.array_set[k]) & uint32(parts) != uint32(parts):
        report_at(state, RESERVED_QUEUE_UNSET, me, ctx, pc, k & uint32(63), now)


@jit
def enqueue(state, memory, k, link, me, ctx, pc, now):
    """Put a buffer, given by its link word, behind the tail of entry `k` (64 * channel + number)."""
    expect(state, k, QUEUE_COUNT, me, ctx, pc, now)
    address = uint32(uint32(link) & uint32(ADDRESS))
    if address == uint32(0):
        report_at(state, RESERVED_QUEUE_LINK, me, ctx, pc, k & uint32(63), now)
    if state.array_count[k] == uint32(0):
        state.array_head[k] = uint32(link)
        state.array_set[k] = uint8(QUEUE_HEAD | QUEUE_TAIL | QUEUE_COUNT)
    else:
        expect(state, k, QUEUE_TAIL, me, ctx, pc, now)
        index = memory_index(state, k >> uint32(6), uint32(state.array_tail[k] << uint32(2)), 1, me, ctx, pc, now)
        memory[index] = uint32(link)
        mark_written(memory, index, 1)
    state.array_tail[k] = address
    state.array_count[k] = uint32(state.array_count[k] + uint32(1)) & uint32(ADDRESS)


@jit
def enqueue_tail(state, k, address, me, ctx, pc, now):
    """Move the tail of entry `k` to the last buffer of a chain that is linked already; the count stays."""
    expect(state, k, QUEUE_TAIL | QUEUE_COUNT, me, ctx, pc, now)
    if state.array_count[k] == uint32(0) or uint32(address) & uint32(ADDRESS) == uint32(0):
        report_at(state, RESERVED_QUEUE_TAIL, me, ctx, pc, k & uint32(63), now)
    state.array_tail[k] = uint32(uint32(address) & uint32(ADDRESS))


@jit
def dequeue(state, memory, k, me, ctx, pc, now):
    """Take a cell off entry `k`; returns the head's link word as it was, 0 from an empty queue."""
    expect(state, k, QUEUE_HEAD | QUEUE_COUNT, me, ctx, pc, now)
    if state.array_count[k] == uint32(0):
        return uint32(0)
    channel = uint32(k >> uint32(6))
    control = state.channel_csr[uint32(channel * uint32(CHANNEL_CSRS))]
    head = state.array_head[k]
    cells = uint32(head >> uint32(24)) & (uint32(0x3F) if (control >> uint32(12)) & uint32(1) else uint32(0x7F))
    if (control >> uint32(13)) & uint32(1) == uint32(0) and cells > uint32(1):
        state.array_head[k] = uint32(head - uint32(1 << 24))
        return head
    if (head >> uint32(31)) | ((control >> uint32(14)) & uint32(1)):
        state.array_count[k] = uint32(state.array_count[k] - uint32(1))
    if state.array_count[k] == uint32(0):
        state.array_head[k] = uint32(0)
        state.array_tail[k] = uint32(0)
        return head
    following = memory[memory_index(state, channel, uint32((head & uint32(ADDRESS)) << uint32(2)), 1, me, ctx, pc, now)]
    if following & uint32(ADDRESS) == uint32(0):
        report_at(state, RESERVED_QUEUE_LINK, me, ctx, pc, k & uint32(63), now)
    state.array_head[k] = following
    return head


@jit
def descriptor_index(state, k, address, words, me, ctx, pc, now):
    """Index in memory of the descriptor at a word address."""
    if uint32(address) & uint32(3):
        report_at(state, RESERVED_DESCRIPTOR, me, ctx, pc, uint32(address) & uint32(ADDRESS), now)
    return memory_index(state, k >> uint32(6), uint32((uint32(address) & uint32(ADDRESS)) << uint32(2)), words, me, ctx, pc, now)


@jit
def load_head(state, memory, k, index):
    """rd_qdesc_head: the head and the count of the descriptor at `index`; the tail is still to come."""
    state.array_head[k] = memory[index]
    state.array_count[k] = uint32(memory[uint32(index + uint32(2))] & uint32(ADDRESS))
    state.array_set[k] = uint8(QUEUE_HEAD | QUEUE_COUNT)


@jit
def load_tail(state, memory, k, index):
    """rd_qdesc_tail: the tail and the count; the head is still to come."""
    state.array_tail[k] = uint32(memory[uint32(index + uint32(1))] & uint32(ADDRESS))
    state.array_count[k] = uint32(memory[uint32(index + uint32(2))] & uint32(ADDRESS))
    state.array_set[k] = uint8(QUEUE_TAIL | QUEUE_COUNT)


@jit
def load_other(state, memory, k, index):
    """rd_qdesc_other: what the one before has left out, if nothing has set it meanwhile."""
    there = uint32(state.array_set[k])
    if there & uint32(QUEUE_HEAD) == uint32(0):
        state.array_head[k] = memory[index]
    if there & uint32(QUEUE_TAIL) == uint32(0):
        state.array_tail[k] = uint32(memory[uint32(index + uint32(1))] & uint32(ADDRESS))
    state.array_set[k] = uint8(there | uint32(QUEUE_HEAD | QUEUE_TAIL))


@jit
def store_descriptor(state, memory, k, index):
    """wr_qdesc: head and tail, as far as they are loaded."""
    there = uint32(state.array_set[k])
    if there & uint32(QUEUE_HEAD):
        memory[index] = state.array_head[k]
    if there & uint32(QUEUE_TAIL):
        memory[uint32(index + uint32(1))] = state.array_tail[k]
    mark_written(memory, index, 2)
