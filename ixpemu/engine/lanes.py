"""Lanes: who schedules what for when, and the pushes that end commands. The only code that writes `state.keys`.

A lane is a FIFO whose times never go backwards: a time before the lane's last one is moved up to it. Three kinds:

* access lanes (`LANE_SRAM0` ... `LANE_NEIGHBOR`): a command at the moment its unit touches memory, or a signal or word that
  travels between microengines. `schedule` gives the slot of `state.access` to fill.
* push lanes (`LANE_PUSH0` ... `LANE_D_PULL`): words and signals that reach a microengine. `schedule_push` reserves the bus and gives the
  slot of `state.pushes` to fill.
* one alarm lane: `set_alarm` for single times, one per `ALARM_*`; setting one again replaces it.

`keys[lane]` always holds the time of the lane's first entry. Events are popped by core.py.
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine.jit import jit
from ixpemu.engine.layout import (
    ACCESS_DEPTH,
    ALARMS,
    KEY_ME,
    KEY_SHIFT,
    KEYS_USED,
    LANE_ALARM,
    LANE_D_PULL,
    LANE_D_PUSH,
    LANE_PULL0,
    LANE_PUSH0,
    NEVER,
    PUSH_DEPTH,
    STOP_INTERNAL,
)


@jit
def request_stop(state, reason, me, ctx):
    """Ask the core to return after the current commit, if the caller of the slice listens to `reason` (STOP_*)."""
    if state.stop_reason == uint32(0) and (state.stop_mask >> uint32(reason)) & uint32(1):
        state.stop_reason = uint32(reason)
        state.stop_me = uint32(me)
        state.stop_ctx = uint32(ctx)
        state.stop_time = state.now


@jit
def schedule(state, lane, when):
    """Append to an access lane at time `when`; returns the slot of `state.access`, whose every field the caller sets."""
    lane = uint32(lane)
    tail = state.lane_tail[lane]
    head = state.lane_head[lane]
    slot = uint32(lane * uint32(ACCESS_DEPTH) + (tail & uint32(ACCESS_DEPTH - 1)))
    if uint32(tail - head) >= uint32(ACCESS_DEPTH):
        request_stop(state, STOP_INTERNAL, 0, 0)
    when = max(uint64(when), state.lane_last[lane])
    state.lane_last[lane] = when
    state.access_time[slot] = when
    state.lane_tail[lane] = uint32(tail + uint32(1))
    if tail == head:
        state.keys[lane] = uint64((when << uint64(KEY_SHIFT)) | uint64(lane))
    return slot


@jit
def pop_access(state, lane):
    """Remove the first entry of an access lane and return its slot."""
    lane = uint32(lane)
    head = state.lane_head[lane]
    slot = uint32(lane * uint32(ACCESS_DEPTH) + (head & uint32(ACCESS_DEPTH - 1)))
    head = uint32(head + uint32(1))
    state.lane_head[lane] = head
    if head == state.lane_tail[lane]:
        state.keys[lane] = uint64((uint64(NEVER) << uint64(KEY_SHIFT)) | uint64(lane))
    else:
        when = state.access_time[uint32(lane * uint32(ACCESS_DEPTH) + (head & uint32(ACCESS_DEPTH - 1)))]
        state.keys[lane] = uint64((when << uint64(KEY_SHIFT)) | uint64(lane))
    return slot


@jit
def schedule_push(state, lane, ready, bus_cycles, word_cycles):
    """Reserve bus `lane` for `word_cycles` from `ready` on and append the entry that takes effect after them.

    `bus_cycles` is the time a word spends on the bus, which holds nobody up. Returns the slot of `state.pushes`; the caller sets
    its fields. The entry's time is start + bus_cycles + word_cycles.
    """
    lane = uint32(lane)
    start = max(uint64(ready), state.bus_free[lane])
    state.bus_free[lane] = uint64(start + uint64(word_cycles))
    when = max(uint64(start + uint64(bus_cycles) + uint64(word_cycles)), state.lane_last[lane])
    state.lane_last[lane] = when
    tail = state.lane_tail[lane]
    head = state.lane_head[lane]
    slot = uint32((lane - uint32(LANE_PUSH0)) * uint32(PUSH_DEPTH) + (tail & uint32(PUSH_DEPTH - 1)))
    if uint32(tail - head) >= uint32(PUSH_DEPTH):
        request_stop(state, STOP_INTERNAL, 0, 0)
    state.push_time[slot] = when
    state.lane_tail[lane] = uint32(tail + uint32(1))
    if tail == head:
        state.keys[lane] = uint64((when << uint64(KEY_SHIFT)) | uint64(lane))
    return slot


@jit
def pop_push(state, lane):
    """Remove the first entry of a push lane and return its slot."""
    lane = uint32(lane)
    head = state.lane_head[lane]
    base = uint32((lane - uint32(LANE_PUSH0)) * uint32(PUSH_DEPTH))
    slot = uint32(base + (head & uint32(PUSH_DEPTH - 1)))
    head = uint32(head + uint32(1))
    state.lane_head[lane] = head
    if head == state.lane_tail[lane]:
        state.keys[lane] = uint64((uint64(NEVER) << uint64(KEY_SHIFT)) | uint64(lane))
    else:
        when = state.push_time[uint32(base + (head & uint32(PUSH_DEPTH - 1)))]
        state.keys[lane] = uint64((when << uint64(KEY_SHIFT)) | uint64(lane))
    return slot


@jit
def set_alarm(state, index, when):
    """Have alarm `index` (ALARM_*) go off at `when`, at the earliest one cycle after the last commit; NEVER puts it off."""
    state.alarm[uint32(index)] = uint64(when)
    first = uint64(NEVER)
    for k in range(ALARMS):
        first = min(first, state.alarm[k])
    state.keys[LANE_ALARM] = uint64((first << uint64(KEY_SHIFT)) | uint64(LANE_ALARM))


@jit
def set_engine_key(state, m, when):
    """Say when microengine `m` wants to commit next; NEVER while it is idle."""
    m = uint32(m)
    state.keys[uint32(uint32(KEY_ME) + m)] = uint64((uint64(when) << uint64(KEY_SHIFT)) | uint64(uint32(KEY_ME) + m))


@jit
def first_key(state):
    """The smallest key: its low bits say which lane or microengine commits next, the rest says when."""
    # Four chains instead of one: 7 ns instead of 11 where a commit costs 30.
    first = state.keys[0]
    second = state.keys[1]
    third = state.keys[2]
    fourth = state.keys[3]
    for k in range(4, KEYS_USED, 4):
        key = state.keys[k]
        first = key if key < first else first
        key = state.keys[k + 1]
        second = key if key < second else second
        key = state.keys[k + 2]
        third = key if key < third else third
        key = state.keys[k + 3]
        fourth = key if key < fourth else fourth
    first = second if second < first else first
    third = fourth if fourth < third else third
    return third if third < first else first


LANES_OF_D_BUS = (LANE_D_PUSH, LANE_D_PULL)
LANES_OF_S_BUS = (LANE_PUSH0, LANE_PULL0)
"""First of each pair; cluster 1's is the next number."""
