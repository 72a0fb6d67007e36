"""Commands on their way: from a microengine through its FIFO and the command bus into a unit's queue, and back as a push or pull.

All its times are worked out when a command commits: departure from the FIFO (whole-microengine stall when it is full), the
cluster's command bus, a place in the unit's queue, the access, the push or pull bus. What remains is one event at its end;
units.py acts on memory in queue order, at the latest before anybody can see it. An unloaded reference takes 1 issue cycle +
command.path + the unit's own cycles + push (or pull) + one cycle a word.
"""

from __future__ import annotations

from numpy import uint8, uint16, uint32, uint64

from ixpemu.engine.cap import reflect_engine
from ixpemu.engine.events import put_event, reserve
from ixpemu.engine.jit import jit
from ixpemu.engine.lanes import request_stop
from ixpemu.engine.layout import (
    BUS_D_PULL,
    BUS_D_PUSH,
    BUS_PULL0,
    BUS_PUSH0,
    EVENT_ACCESS,
    EVENT_FLUSH,
    EVENT_PULL,
    EVENT_PUSH,
    EVENTS,
    QUEUE_DEPTH_MAX,
    QUEUE_ROWS,
    QUEUE_UNITS,
    RESERVED_UNPOPULATED,
    STOP_INTERNAL,
    UNIT_CAP,
    UNIT_COUNT,
    UNIT_DRAM,
    UNIT_HASH,
    UNIT_MSF,
    UNIT_SCRATCH,
    UNIT_SRAM0,
)
from ixpemu.engine.parameters import (
    P_CAP_COMMAND,
    P_CAP_QUEUE,
    P_CAP_READ,
    P_CAP_WRITE,
    P_COMMAND_BUS,
    P_COMMAND_PATH,
    P_DRAM_BANK,
    P_DRAM_BANKS,
    P_DRAM_BYTES,
    P_DRAM_MINIMUM,
    P_DRAM_MISS,
    P_DRAM_QUEUE,
    P_DRAM_READ,
    P_DRAM_ROW,
    P_DRAM_TURNAROUND,
    P_DRAM_WRITE,
    P_FIFO_DEPTH,
    P_HASH_48,
    P_HASH_OPERAND,
    P_HASH_QUEUE,
    P_HASH_WORD,
    P_MSF_COMMAND,
    P_MSF_QUEUE,
    P_MSF_READ,
    P_MSF_WRITE,
    P_PULL_BUFFER_WORD,
    P_PULL_D,
    P_PULL_D_WORD,
    P_PULL_S,
    P_PULL_S_WORD,
    P_PUSH_D,
    P_PUSH_D_WORD,
    P_PUSH_S,
    P_PUSH_S_WORD,
    P_SCRATCH_COMMAND,
    P_SCRATCH_QUEUE,
    P_SCRATCH_READ,
    P_SCRATCH_WORD,
    P_SCRATCH_WRITE,
    P_SRAM_QUEUE,
    P_SRAM_READ,
    P_SRAM_READ_WORD,
    P_SRAM_WRITE,
    P_SRAM_WRITE_WORD,
)
from ixpemu.engine.registers import note_in, note_out
from ixpemu.engine.reserved import report

# What a unit is asked to do; CODE.command and ACCESS.command.
(COMMAND_READ, COMMAND_WRITE, COMMAND_GET, COMMAND_PUT, COMMAND_RBUF, COMMAND_TBUF, COMMAND_FAST,
 COMMAND_FAST_ALU, COMMAND_HASH_48, COMMAND_HASH_64, COMMAND_HASH_128, COMMAND_REFLECT_READ, COMMAND_REFLECT_WRITE) = range(1, 14)

# CODE.variant of a command.
COMPLETE_SWAP = 1           # ctx_swap: sleep on the completion signals
COMPLETE_INDIRECT = 2       # indirect_ref: overrides come from the previous ALU result
COMPLETE_IN = 4             # it fills transfer-in registers
COMPLETE_OUT = 8            # it pulls transfer-out registers


@jit
def queue_place(state, engine, unit, depth, now):
    """When a command issued at `now` reaches `unit`: after the FIFO, the command bus and a free place in the unit's queue.

    Reserves FIFO slot and bus. The unit's queue is free again when the command `depth` places earlier has started.
    """
    unit = uint32(unit)
    path = uint64(state.parameter[P_COMMAND_PATH])
    cluster = uint32(engine.number >> uint32(2))
    departure = max(uint64(now + uint64(1)), state.command_bus[cluster])
    back = uint32(state.queue_next[unit] - uint32(depth)) & uint32(QUEUE_DEPTH_MAX - 1)
    departure = max(departure, uint64(max(state.queue_time[unit * uint32(QUEUE_DEPTH_MAX) + back], path) - path))
    state.command_bus[cluster] = uint64(departure + uint64(state.parameter[P_COMMAND_BUS]))
    slot = engine.fifo_next
    engine.fifo_time[slot] = departure
    slot = uint32(slot + uint32(1))
    engine.fifo_next = uint32(0) if slot >= state.parameter[P_FIFO_DEPTH] else slot
    return uint64(departure + path)


@jit
def queue_started(state, unit, start):
    """Note that the command just queued for `unit` starts at `start`."""
    unit = uint32(unit)
    state.queue_time[unit * uint32(QUEUE_DEPTH_MAX) + (state.queue_next[unit] & uint32(QUEUE_DEPTH_MAX - 1))] = start
    state.queue_next[unit] = uint32(state.queue_next[unit] + uint32(1))
    state.commands[unit] = uint64(state.commands[unit] + uint64(1))


@jit
def plain_start(state, unit, arrival, occupancy):
    """Start of a command of a unit that serves one after the other."""
    start = max(arrival, state.free_at[unit])
    state.free_at[unit] = uint64(start + occupancy)
    state.busy[unit] = uint64(state.busy[unit] + occupancy)
    queue_started(state, unit, start)
    return start


@jit
def sram_time(state, engine, unit, command, words, now):
    """Access time of an SRAM command: the channel reads and writes at once (QDR), each in order."""
    arrival = queue_place(state, engine, unit, state.parameter[P_SRAM_QUEUE], now)
    if command == uint32(COMMAND_WRITE):
        occupancy = uint64(uint64(state.parameter[P_SRAM_WRITE_WORD]) * uint64(words))
        start = max(arrival, state.write_free_at[unit])
        state.write_free_at[unit] = uint64(start + occupancy)
        when = uint64(start + uint64(state.parameter[P_SRAM_WRITE]))
    else:
        occupancy = uint64(uint64(state.parameter[P_SRAM_READ_WORD]) * uint64(words))
        start = max(arrival, state.free_at[unit])
        state.free_at[unit] = uint64(start + occupancy)
        when = uint64(start + uint64(state.parameter[P_SRAM_READ]))
    state.busy[unit] = uint64(state.busy[unit] + occupancy)
    queue_started(state, unit, start)
    return when


@jit
def scratch_time(state, engine, command, words, now):
    """Access time of a scratch command: one pipe, shared with the start of hash commands."""
    arrival = queue_place(state, engine, UNIT_SCRATCH, state.parameter[P_SCRATCH_QUEUE], now)
    occupancy = uint64(max(state.parameter[P_SCRATCH_COMMAND], uint32(state.parameter[P_SCRATCH_WORD] * words)))
    start = plain_start(state, UNIT_SCRATCH, arrival, occupancy)
    reads = command == uint32(COMMAND_READ) or command == uint32(COMMAND_GET)
    return uint64(start + uint64(state.parameter[P_SCRATCH_READ if reads else P_SCRATCH_WRITE]))


@jit
def dram_time(state, engine, command, address, words, now):
    """Access time of a DRAM command: in order, banks with one open row each, and a turn-around between reads and writes."""
    arrival = queue_place(state, engine, UNIT_DRAM, state.parameter[P_DRAM_QUEUE], now)
    row_number = uint32(address // max(state.parameter[P_DRAM_ROW], uint32(1)))
    banks = max(state.parameter[P_DRAM_BANKS], uint32(1))
    bank = uint32(row_number % banks)
    row = uint32(row_number // banks)
    writing = uint32(1) if command == uint32(COMMAND_WRITE) or command == uint32(COMMAND_RBUF) else uint32(0)
    ready = state.free_at[UNIT_DRAM]
    if writing != state.dram_writing:
        ready = uint64(ready + uint64(state.parameter[P_DRAM_TURNAROUND]))
        state.dram_writing = writing
    start = max(arrival, ready)
    start = max(start, state.dram_bank_free[bank])
    bytes_moved = max(uint32(words * uint32(4)), state.parameter[P_DRAM_MINIMUM])
    width = max(state.parameter[P_DRAM_BYTES], uint32(1))
    occupancy = uint64((bytes_moved + width - uint32(1)) // width)
    extra = uint64(0)
    if state.dram_row[bank] != uint32(row + uint32(1)):
        state.dram_row[bank] = uint32(row + uint32(1))
        extra = uint64(state.parameter[P_DRAM_MISS])
    state.free_at[UNIT_DRAM] = uint64(start + occupancy)
    state.dram_bank_free[bank] = uint64(start + extra + max(occupancy, uint64(state.parameter[P_DRAM_BANK])))
    state.busy[UNIT_DRAM] = uint64(state.busy[UNIT_DRAM] + occupancy)
    queue_started(state, UNIT_DRAM, start)
    return uint64(start + extra + uint64(state.parameter[P_DRAM_WRITE if writing else P_DRAM_READ]))


@jit
def hash_time(state, engine, command, keys, now):
    """Access time of a hash command: the scratch pipe starts it, the operands come in, the array takes one key after the
    other."""
    arrival = queue_place(state, engine, UNIT_HASH, state.parameter[P_HASH_QUEUE], now)
    begin = max(arrival, state.free_at[UNIT_SCRATCH])
    state.free_at[UNIT_SCRATCH] = uint64(begin + uint64(state.parameter[P_SCRATCH_COMMAND]))
    kind = uint32(command - uint32(COMMAND_HASH_48))
    array = uint64(state.parameter[uint32(P_HASH_48 + kind)])
    operands = uint64(uint64(4 if kind == uint32(2) else 2) * uint64(state.parameter[P_HASH_WORD]))
    # The stages are pipelined: a key's words in, the array, its words out; the slowest stage sets the pace.
    occupancy = uint64(max(array, operands) * uint64(keys))
    start = plain_start(state, UNIT_HASH, begin, occupancy)
    return uint64(
        start + uint64(state.parameter[P_HASH_OPERAND]) + operands + array + max(array, operands) * uint64(keys - uint32(1))
    )


@jit
def other_time(state, engine, unit, command, now):
    """Access time of an MSF or CAP command."""
    reads = command == uint32(COMMAND_READ) or command == uint32(COMMAND_REFLECT_READ)
    if unit == uint32(UNIT_MSF):
        arrival = queue_place(state, engine, UNIT_MSF, state.parameter[P_MSF_QUEUE], now)
        start = plain_start(state, UNIT_MSF, arrival, uint64(state.parameter[P_MSF_COMMAND]))
        return uint64(start + uint64(state.parameter[P_MSF_READ if reads else P_MSF_WRITE]))
    arrival = queue_place(state, engine, UNIT_CAP, state.parameter[P_CAP_QUEUE], now)
    start = plain_start(state, UNIT_CAP, arrival, uint64(state.parameter[P_CAP_COMMAND]))
    return uint64(start + uint64(state.parameter[P_CAP_READ if reads else P_CAP_WRITE]))


@jit
def issue_command(state, engine, i, ctx, address, now):
    """Send the command of instruction `i` on its way at `now`; there is room for it. `address` is the operands' sum."""
    unit = uint32(i.unit)
    command = uint32(i.command)
    variant = uint32(i.variant)
    total = uint32(i.total)
    byte_mask = uint32(0xFF)
    first = uint32(uint32(i.d) + (uint32(i.d_window) & uint32(ctx << uint32(4))))
    me = engine.number
    value = uint32(0)
    address = uint32(address)
    if variant & uint32(COMPLETE_INDIRECT):
        word = engine.previous_alu
        if (word >> uint32(25)) & uint32(1):
            total = uint32(((word >> uint32(21)) & uint32(15)) + uint32(1))
        if command == uint32(COMMAND_RBUF) or command == uint32(COMMAND_TBUF):
            if (word >> uint32(4)) & uint32(1):
                value = uint32((word >> uint32(5)) & uint32(0x3FFF))
        elif (word >> uint32(20)) & uint32(1):
            byte_mask = uint32((word >> uint32(12)) & uint32(0xFF))
    if unit == uint32(UNIT_DRAM):
        address = uint32(address & uint32(0xFFFFFFF8))
        words = uint32(total * uint32(2))
        when = dram_time(state, engine, command, address, words, now)
    elif unit <= uint32(UNIT_SRAM0 + 1):
        channel = uint32(address >> uint32(30))
        if channel > uint32(1):
            report(state, RESERVED_UNPOPULATED, me, ctx, engine.pc[ctx], address)
        unit = uint32(uint32(UNIT_SRAM0) + (channel & uint32(1)))
        address = uint32(address & uint32(0x3FFFFFFF))
        words = total
        when = sram_time(state, engine, unit, command, words, now)
    elif unit == uint32(UNIT_SCRATCH):
        words = total
        when = scratch_time(state, engine, command, words, now)
    elif unit == uint32(UNIT_HASH):
        words = uint32(total * (uint32(4) if command == uint32(COMMAND_HASH_128) else uint32(2)))
        when = hash_time(state, engine, command, total, now)
    else:
        words = total
        if command == uint32(COMMAND_FAST):
            value = uint32(i.imm)
        elif command == uint32(COMMAND_FAST_ALU):
            value = engine.previous_alu
        if unit == uint32(UNIT_CAP) and command != uint32(COMMAND_REFLECT_READ) and command != uint32(COMMAND_REFLECT_WRITE):
            address = uint32(i.target)
        when = other_time(state, engine, unit, command, now)
    if variant & uint32(COMPLETE_IN):
        note_in(engine, ctx, first, words)
    if variant & uint32(COMPLETE_OUT):
        note_out(engine, ctx, first, words)
    cluster = uint32(me >> uint32(2))
    state.outstanding[cluster] = uint32(state.outstanding[cluster] + uint32(1))
    at = uint32(ctx * uint32(UNIT_COUNT) + unit)
    engine.refs[at] = uint32(engine.refs[at] + uint32(1))
    state.words_moved[unit] = uint64(state.words_moved[unit] + uint64(words))
    if unit >= uint32(QUEUE_UNITS):
        # The MSF and the CAP act at their exact time: others see it.
        if command == uint32(COMMAND_REFLECT_READ) or command == uint32(COMMAND_REFLECT_WRITE):
            target = state.engines[reflect_engine(address)]
            target.watched = uint32(target.watched + uint32(1))
        event = state.events[put_event(state, when)]
        event.kind = uint8(EVENT_ACCESS)
        event.address = address
        event.value = value
        event.signals = i.mask
        event.first = uint16(first)
        event.pc = uint16(engine.pc[ctx])
        event.me = uint8(me)
        event.ctx = uint8(ctx)
        event.command = uint8(command)
        event.total = uint8(words)
        event.unit = uint8(unit)
        return
    # A queue is in order: nothing is done, and nothing signalled, before what came before it.
    when = max(when, state.queue_last[unit])
    state.queue_last[unit] = when
    slot = uint32(EVENTS)
    if variant & uint32(COMPLETE_IN):
        slot = push_words(state, me, ctx, first, words, i.mask, unit, 0, when)
    else:
        cycles = uint32(0)
        if command == uint32(COMMAND_RBUF) or command == uint32(COMMAND_TBUF):
            cycles = uint32(((words + uint32(1)) >> uint32(1)) * state.parameter[P_PULL_BUFFER_WORD])
            event = state.events[put_event(state, when)]
            event.kind = uint8(EVENT_FLUSH)
            event.unit = uint8(unit)
        slot = end_pull(state, me, ctx, words, cycles, i.mask, unit, when)
    tail = state.queue_tail[unit]
    entry = state.queue[uint32(unit * uint32(QUEUE_ROWS) + (tail & uint32(QUEUE_ROWS - 1)))]
    entry.time = when
    state.queue_tail[unit] = uint32(tail + uint32(1))
    entry.address = address
    entry.value = value
    entry.first = uint16(first)
    entry.pc = uint16(engine.pc[ctx])
    entry.slot = uint16(slot)
    entry.me = uint8(me)
    entry.ctx = uint8(ctx)
    entry.command = uint8(command)
    entry.total = uint8(words)
    entry.unit = uint8(unit)
    entry.byte_mask = uint8(byte_mask)


@jit
def push_words(state, me, ctx, first, words, signals, unit, packet, now):
    """Send `words` words, ready at `now`, and then `signals` to a context over its cluster's S-push bus (`unit` DRAM: the D-push
    bus).

    Returns the slot: the caller puts the words into `state.events[slot].words`. `first` is the register-file index of the first
    register. `packet`: number of the packet that the context works on once it has them, 0 to leave that alone. Pushes of a unit
    to a cluster keep their order.
    """
    unit = uint32(unit)
    cluster = uint32(uint32(me) >> uint32(2))
    order = uint32(uint32(2) * unit + cluster)
    ready = max(uint64(now), state.push_last[order])
    if unit == uint32(UNIT_DRAM):
        cycles = uint32(state.parameter[P_PUSH_D_WORD] * words)
        end = reserve(state, uint32(BUS_D_PUSH), ready, cycles)
        when = uint64(end + uint64(state.parameter[P_PUSH_D]))
    else:
        cycles = uint32(state.parameter[P_PUSH_S_WORD] * words)
        end = reserve(state, uint32(uint32(BUS_PUSH0) + cluster), ready, cycles)
        when = uint64(end + uint64(state.parameter[P_PUSH_S]))
    state.push_last[order] = uint64(end - uint64(cycles))
    slot = put_event(state, when)
    event = state.events[slot]
    event.kind = uint8(EVENT_PUSH)
    event.signals = uint32(signals)
    event.first = uint16(first)
    event.me = uint8(me)
    event.ctx = uint8(ctx)
    event.total = uint8(words)
    event.unit = uint8(unit)
    event.packet = uint32(packet)
    return slot


@jit
def expect_push(state, me, ctx):
    """Say that a push to this context will come at some time (a thread on a free list): reads of its transfer-in registers commit
    in time order from now on. Every `push_words` ends one expectation."""
    engine = state.engines[me]
    engine.in_pending[ctx] = uint32(engine.in_pending[ctx] + uint32(1))
    engine.in_total = uint32(engine.in_total + uint32(1))
    engine.in_registers[ctx] = uint64(0xFFFFFFFFFFFFFFFF)
    engine.in_shared = uint32(engine.in_shared | (uint32(1) << uint32(ctx)))
    cluster = uint32(uint32(me) >> uint32(2))
    state.outstanding[cluster] = uint32(state.outstanding[cluster] + uint32(1))


@jit
def end_pull(state, me, ctx, words, bus_cycles, signals, unit, now):
    """A unit reads `words` words from a context at `now`: hold the pull bus (for `bus_cycles` if not 0), and signal when they
    are through.

    Returns the slot of the signalling event, EVENTS if there is no signal to raise.
    """
    unit = uint32(unit)
    if unit == uint32(UNIT_DRAM):
        bus = uint32(BUS_D_PULL)
        path = state.parameter[P_PULL_D]
        cycles = uint32(state.parameter[P_PULL_D_WORD] * words)
    else:
        bus = uint32(uint32(BUS_PULL0) + (uint32(me) >> uint32(2)))
        path = state.parameter[P_PULL_S]
        cycles = uint32(state.parameter[P_PULL_S_WORD] * words)
    if uint32(bus_cycles) != uint32(0):
        cycles = uint32(bus_cycles)
    end = reserve(state, bus, uint64(now), cycles)
    if uint32(signals) == uint32(0):
        return uint32(EVENTS)
    slot = put_event(state, uint64(end + uint64(path)))
    event = state.events[slot]
    event.kind = uint8(EVENT_PULL)
    event.signals = uint32(signals)
    event.me = uint8(me)
    event.ctx = uint8(ctx)
    event.unit = uint8(unit)
    return slot


@jit
def command_ended(state, me):
    """One command less is under way from the cluster of `me`."""
    cluster = uint32(uint32(me) >> uint32(2))
    if state.outstanding[cluster] == uint32(0):
        request_stop(state, STOP_INTERNAL, me, 0)
    else:
        state.outstanding[cluster] = uint32(state.outstanding[cluster] - uint32(1))
