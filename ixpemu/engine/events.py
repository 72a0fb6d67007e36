"""The queue of timed events, and the buses that words travel on.

Events lie in a wheel of one bucket a cycle, WHEEL cycles around; those of one cycle in the order in which they were put in. The
few that lie further ahead wait in a list and enter when they are next. A slot of `state.events` holds an event; `put_event`
gives one out, the caller fills its fields, `take_event` finds it when it is due and `release_event` gives the slot back.

A bus is a calendar of busy cycles: `reserve` finds the first free run at or after a time, in the order in which commands commit;
so one whose words are ready sooner goes in between. Calendars forget the past by themselves.
"""

from __future__ import annotations

import numpy as np
from numpy import uint32, uint64

from ixpemu.engine.jit import jit
from ixpemu.engine.lanes import request_stop, set_key
from ixpemu.engine.layout import KEY_FAR, KEY_WHEEL, NEVER, STOP_INTERNAL, WHEEL

CHUNKS = 32                 # words of 64 cycles that a calendar spans before it comes round
WHEEL_WORDS = WHEEL // 64


# Number of a lone bit: multiplied by a de Bruijn sequence its place shows in the top six bits.
SEQUENCE = 0x03F79D71B4CB0A89
BIT_NUMBER = np.zeros(64, np.uint32)
for _bit in range(64):
    BIT_NUMBER[((SEQUENCE << _bit) & 0xFFFFFFFFFFFFFFFF) >> 58] = _bit


@jit
def lowest_bit(bits):
    """Number of the least significant 1 bit of a nonzero uint64."""
    lone = uint64(bits & uint64(~bits + uint64(1)))
    return BIT_NUMBER[uint64(lone * uint64(SEQUENCE)) >> uint64(58)]


@jit
def highest_bit(bits):
    """Number of the most significant 1 bit of a nonzero uint64."""
    bits = uint64(bits | (bits >> uint64(1)))
    bits = uint64(bits | (bits >> uint64(2)))
    bits = uint64(bits | (bits >> uint64(4)))
    bits = uint64(bits | (bits >> uint64(8)))
    bits = uint64(bits | (bits >> uint64(16)))
    bits = uint64(bits | (bits >> uint64(32)))
    return lowest_bit(uint64(bits - (bits >> uint64(1))))


@jit
def new_event(state):
    """A slot of `state.events` for the caller to fill."""
    left = state.free_events
    if left == uint32(0):
        request_stop(state, STOP_INTERNAL, 0, 0)
        return uint32(0)
    left = uint32(left - uint32(1))
    state.free_events = left
    return uint32(state.free_slot[left])


@jit
def schedule_event(state, slot, when):
    """Put the event of a slot in at `when`, after the last commit."""
    when = uint64(when)
    state.event_time[slot] = when
    state.event_next[slot] = 0
    if uint64(when - state.now) < uint64(WHEEL):
        into_wheel(state, slot, when)
    else:
        state.far_slot[state.far_count] = slot
        state.far_count = uint32(state.far_count + uint32(1))
        if when < uint64(state.keys[KEY_FAR] >> uint64(5)):
            set_key(state, KEY_FAR, when)


@jit
def put_event(state, when):
    """A new event at `when`; returns its slot, whose fields the caller sets."""
    slot = new_event(state)
    schedule_event(state, slot, when)
    return slot


@jit
def into_wheel(state, slot, when):
    """Link a slot into the bucket of its cycle."""
    bucket = uint32(when & uint64(WHEEL - 1))
    last = uint32(state.bucket_last[bucket])
    if last == uint32(0):
        state.bucket_first[bucket] = slot + uint32(1)
        word = uint32(bucket >> uint32(6))
        state.wheel_bits[word] = uint64(state.wheel_bits[word] | (uint64(1) << uint64(bucket & uint32(63))))
        if when < uint64(state.keys[KEY_WHEEL] >> uint64(5)):
            set_key(state, KEY_WHEEL, when)
    else:
        state.event_next[uint32(last - uint32(1))] = slot + uint32(1)
    state.bucket_last[bucket] = slot + uint32(1)


@jit
def take_event(state, when):
    """Take the first event of cycle `when`, the earliest in the wheel, out of it; returns its slot; the caller releases it."""
    bucket = uint32(when & uint64(WHEEL - 1))
    slot = uint32(uint32(state.bucket_first[bucket]) - uint32(1))
    following = state.event_next[slot]
    state.bucket_first[bucket] = following
    if following == 0:
        state.bucket_last[bucket] = 0
        word = uint32(bucket >> uint32(6))
        bits = uint64(state.wheel_bits[word] & ~(uint64(1) << uint64(bucket & uint32(63))))
        state.wheel_bits[word] = bits
        # The rest of this word lies after `when`, or is a turn of the wheel away and comes up again at the end of the search.
        ahead = uint64(bits >> uint64(bucket & uint32(63)))
        if ahead != uint64(0):
            set_key(state, KEY_WHEEL, uint64(when + uint64(lowest_bit(ahead))))
        else:
            set_key(state, KEY_WHEEL, search_wheel(state, word, uint64(when & ~uint64(63))))
    return slot


@jit
def search_wheel(state, word, start):
    """Time of the first event in the words after `word`, whose first cycle is `start`."""
    for k in range(1, WHEEL_WORDS + 1):
        bits = state.wheel_bits[uint32(word + uint32(k)) & uint32(WHEEL_WORDS - 1)]
        if bits != uint64(0):
            return uint64(start + uint64(64 * k) + uint64(lowest_bit(bits)))
    return uint64(NEVER)


@jit
def take_far_event(state, when):
    """The first event of the far list, due at `when`: taken out, as take_event."""
    count = state.far_count
    found = uint32(0)
    for k in range(count):
        if state.event_time[state.far_slot[k]] == when:
            found = uint32(k)
            break
    slot = uint32(state.far_slot[found])
    for k in range(found, count - uint32(1)):
        state.far_slot[k] = state.far_slot[k + 1]
    count = uint32(count - uint32(1))
    state.far_count = count
    first = uint64(NEVER)
    for k in range(count):
        first = min(first, state.event_time[state.far_slot[k]])
    set_key(state, KEY_FAR, first)
    return slot


@jit
def release_event(state, slot):
    """Give the slot of an event that is over back."""
    state.free_slot[state.free_events] = slot
    state.free_events = uint32(state.free_events + uint32(1))


@jit
def chunk_index(state, bus, chunk):
    """Where the 64 cycles `chunk` of a bus are kept, empty if nothing was reserved in them yet."""
    index = uint32(uint32(bus) * uint32(CHUNKS) + uint32(chunk & uint64(CHUNKS - 1)))
    if state.bus_chunk[index] != chunk:
        state.bus_chunk[index] = chunk
        state.bus_bits[index] = uint64(0)
    return index


@jit
def reserve(state, bus, ready, cycles):
    """Reserve the first free run of `cycles` (up to 64; a longer one is taken as 64s) of a bus at or after `ready`; returns its
    end."""
    # The usual case first: a free run inside 64 cycles in which something was reserved before.
    chunk = uint64(ready >> uint64(6))
    offset = uint32(uint32(ready) & uint32(63))
    index = uint32(uint32(bus) * uint32(CHUNKS) + (uint32(chunk) & uint32(CHUNKS - 1)))
    if uint32(offset + cycles) <= uint32(64) and cycles != uint32(0) and state.bus_chunk[index] == chunk:
        run = uint64((uint64(0xFFFFFFFFFFFFFFFF) >> uint64(uint32(64) - cycles)) << uint64(offset))
        if state.bus_bits[index] & run == uint64(0):
            state.bus_bits[index] = uint64(state.bus_bits[index] | run)
            return uint64(ready + uint64(cycles))
    return search_bus(state, bus, ready, cycles)


@jit
def search_bus(state, bus, ready, cycles):
    """The general case of reserve."""
    when = uint64(ready)
    left = uint32(cycles)
    while left > uint32(0):
        run = min(left, uint32(64))
        mask = uint64(0xFFFFFFFFFFFFFFFF) >> uint64(uint32(64) - run)
        while True:
            chunk = uint64(when >> uint64(6))
            offset = uint64(when & uint64(63))
            here = chunk_index(state, bus, chunk)
            busy = uint64(state.bus_bits[here] >> offset)
            there = here
            if uint64(offset + uint64(run)) > uint64(64):
                there = chunk_index(state, bus, uint64(chunk + uint64(1)))
                busy = uint64(busy | (state.bus_bits[there] << uint64(uint64(64) - offset)))
            busy = uint64(busy & mask)
            if busy == uint64(0):
                state.bus_bits[here] = uint64(state.bus_bits[here] | (mask << offset))
                if there != here:
                    state.bus_bits[there] = uint64(state.bus_bits[there] | (mask >> uint64(uint64(64) - offset)))
                break
            when = uint64(when + uint64(highest_bit(busy)) + uint64(1))
        when = uint64(when + uint64(run))
        left = uint32(left - run)
    return when


