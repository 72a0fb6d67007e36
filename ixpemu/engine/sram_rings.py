"""Rings and journals of SRAM: a run of 512 to 65,536 words that an entry of the queue array describes.

The entry's head word has the length in bits 31:29 (0: 512 words, ... 7: 65,536) and in 23:0 the word address of the oldest
word, its tail the address that is written next, its count the words in between. A ring begins at a multiple of its length
(HRM:216, H). put does all of its words or, where they have no room, none, and says which (confidence M); get gives 0 for words
that are not there; a journal that is full loses its oldest word for a new one (confidence L).
"""

from __future__ import annotations

from numpy import uint32

from ixpemu.engine.jit import jit
from ixpemu.engine.layout import QUEUE_COUNT, QUEUE_HEAD, QUEUE_TAIL, RESERVED_QUEUE_SHORT
from ixpemu.engine.memories import mark_written, memory_index
from ixpemu.engine.queue_array import ADDRESS, expect
from ixpemu.engine.reserved import report_at

ALL_PARTS = QUEUE_HEAD | QUEUE_TAIL | QUEUE_COUNT


@jit
def ring_length(state, k):
    """Words of the ring in entry `k`."""
    return uint32(uint32(512) << (state.array_head[k] >> uint32(29)))


@jit
def following(address, length):
    """The word address behind `address` in a ring of `length` words."""
    mask = uint32(length - uint32(1))
    return uint32((uint32(address) & ~mask) | (uint32(address + uint32(1)) & mask))


@jit
def advance_head(state, k):
    """Step the head to the next word of the ring."""
    head = state.array_head[k]
    state.array_head[k] = uint32((head & ~uint32(ADDRESS)) | following(uint32(head & uint32(ADDRESS)), ring_length(state, k)))


@jit
def write_word(state, memory, k, value, me, ctx, pc, now):
    """Write a word at the tail of entry `k` and step on; a full ring loses its oldest word."""
    length = ring_length(state, k)
    tail = state.array_tail[k]
    index = memory_index(state, k >> uint32(6), uint32(tail << uint32(2)), 1, me, ctx, pc, now)
    memory[index] = uint32(value)
    mark_written(memory, index, 1)
    state.array_tail[k] = following(tail, length)
    if state.array_count[k] >= length:
        advance_head(state, k)
    else:
        state.array_count[k] = uint32(state.array_count[k] + uint32(1))


@jit
def put_status(state, k, words, me, ctx, pc, now):
    """What a put of `words` words returns: bit 31 whether they have room, below it the words that are there already."""
    expect(state, k, ALL_PARTS, me, ctx, pc, now)
    count = state.array_count[k]
    room = uint32(count + uint32(words)) <= ring_length(state, k)
    return uint32(count | (uint32(0x80000000) if room else uint32(0)))


@jit
def begin_get(state, k, words, me, ctx, pc, now):
    """Report a get of `words` words that finds some of them but not all."""
    expect(state, k, ALL_PARTS, me, ctx, pc, now)
    if state.array_count[k] != uint32(0) and state.array_count[k] < uint32(words):
        report_at(state, RESERVED_QUEUE_SHORT, me, ctx, pc, k & uint32(63), now)


@jit
def read_word(state, memory, k, me, ctx, pc, now):
    """Take the oldest word off the ring in entry `k`, 0 if there is none."""
    if state.array_count[k] == uint32(0):
        return uint32(0)
    address = uint32((state.array_head[k] & uint32(ADDRESS)) << uint32(2))
    value = memory[memory_index(state, k >> uint32(6), address, 1, me, ctx, pc, now)]
    advance_head(state, k)
    state.array_count[k] = uint32(state.array_count[k] - uint32(1))
    return value
