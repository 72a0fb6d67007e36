"""Commands on their way: from a microengine through its FIFO and the command bus into a unit's queue, and back as a push or pull.

All its times are worked out when a command commits: departure from the FIFO (whole-microengine stall when it is full), the
cluster's command bus, a place in the unit's queue, the access, the push or pull bus. What remains is one event at its end;
units.py acts on memory in queue order, at the latest before anybody can see it. An unloaded reference takes 1 issue cycle +
command.path + the unit's own cycles + push (or pull) + one cycle a word.
"""

from __future__ import annotations

from numpy import uint8, uint16, uint32, uint64

from ixpemu.engine.arrivals import post_event, post_signal
from ixpemu.engine.cap import reflect_engine
from ixpemu.engine.events import new_event, reserve, schedule_event
from ixpemu.engine.jit import jit
from ixpemu.engine.layout import (
    BUS_D_PULL,
    BUS_D_PUSH,
    BUS_PULL0,
    BUS_PUSH0,
    EVENT_ACCESS,
    EVENT_PULL,
    EVENT_PUSH,
    EVENTS,
    QUEUE_UNITS,
    RESERVED_IN_FLIGHT_WRITE,
    RESERVED_UNALIGNED,
    RESERVED_UNPOPULATED,
    SILENT,
    UNIT_CAP,
    UNIT_COUNT,
    UNIT_DRAM,
    UNIT_HASH,
    UNIT_SIGNAL,
    UNIT_SRAM0,
)
from ixpemu.engine.observation import observing, see_command
from ixpemu.engine.overrides import (
    COMPLETE_DOUBLE,
    COMPLETE_IN,
    COMPLETE_INDIRECT,
    COMPLETE_OUT,
    apply_overrides,
    part_signals,
)
from ixpemu.engine.parameters import (
    P_PULL_BACKLOG,
    P_PULL_BUFFER_WORD,
    P_PULL_D,
    P_PULL_D_WORD,
    P_PULL_S,
    P_PULL_S_WORD,
    P_PUSH_BACKLOG,
    P_PUSH_D,
    P_PUSH_D_WORD,
    P_PUSH_S,
    P_PUSH_S_WORD,
)
from ixpemu.engine.registers import note_in, note_out
from ixpemu.engine.reserved import report
from ixpemu.engine.sizes import cluster_of
from ixpemu.engine.timing import (
    COMMAND_FAST_ALU,
    COMMAND_HASH_128,
    COMMAND_RBUF,
    COMMAND_REFLECT_READ,
    COMMAND_REFLECT_WRITE,
    COMMAND_TBUF,
    dram_time,
    hash_time,
    unit_time,
)


@jit
def issue_command(state, engine, i, ctx, address, now):
    """Send the command of instruction `i` on its way at `now`; there is room for it. `address` is the operands' sum."""
    unit = uint32(i.unit)
    command = uint32(i.command)
    variant = uint32(i.variant)
    words = uint32(i.total)
    me = engine.number
    address = uint32(address)
    if unit == uint32(UNIT_SRAM0):
        unit = sram_channel(state, engine, ctx, address)
        address = uint32(address & uint32(0x3FFFFFFF))
    silent = i.mask == uint32(0) and unit < uint32(QUEUE_UNITS) and (variant & uint32(COMPLETE_IN)) == uint32(0)
    slot = silent_slot(state, unit) if silent else new_event(state)
    event = state.events[slot]
    fill_in(engine, i, ctx, event)
    event.byte_mask = uint8(0xFF)
    pc = engine.pc[ctx]
    owner = engine              # whose transfer registers they are
    if variant & uint32(COMPLETE_INDIRECT):
        words = apply_overrides(state, engine, event, i, unit, words)
        owner = state.engines[event.me]
    if unit == uint32(UNIT_DRAM):
        if address & uint32(7):
            report(state, RESERVED_UNALIGNED, me, ctx, engine.pc[ctx], address)
        address = uint32(address & uint32(0xFFFFFFF8))
        words = uint32(words * uint32(2))
        when = dram_time(state, engine, command, address, words, now)
    elif unit == uint32(UNIT_HASH):
        keys = words
        words = uint32(keys * (uint32(4) if command == uint32(COMMAND_HASH_128) else uint32(2)))
        when = hash_time(state, engine, command, keys, now)
    else:
        when = unit_time(state, engine, unit, command, words, now)
    if variant & uint32(COMPLETE_IN):
        shared = owner.in_shared
        note_in(owner, event.ctx, event.first, words)
        if owner.in_shared != shared:           # another command under way fills it as well
            report(state, RESERVED_IN_FLIGHT_WRITE, me, ctx, pc, event.first)
    if variant & uint32(COMPLETE_OUT):
        note_out(owner, event.ctx, event.first, words)
    event.address = address
    event.pc = uint16(pc)
    event.command = uint8(command)
    event.total = uint8(words)
    event.unit = uint8(unit)
    event.packet = uint32(0)
    count_reference(state, engine, ctx, event, words, now)
    if unit >= uint32(QUEUE_UNITS):
        event.packet = engine.packet[ctx]       # when it comes through, the thread may work on another one
        exact_command(state, engine, event, i, command)
        schedule_event(state, slot, when)
        return
    when = join_queue(state, unit, slot, when)
    if variant & uint32(COMPLETE_IN):
        event.kind = uint8(EVENT_PUSH)
        end = push_time(state, event.me, words, unit, when)
        if event.flag:
            part_signals(state, event, end)
        post_event(state, slot, event.me, end)
        return
    cycles = uint32(0)
    if command == uint32(COMMAND_RBUF) or command == uint32(COMMAND_TBUF):
        cycles = uint32(((words + uint32(1)) >> uint32(1)) * state.parameter[P_PULL_BUFFER_WORD])      # 8 bytes each
    event.kind = uint8(EVENT_PULL)
    end = pull_time(state, event.me, words, cycles, unit, when)
    if not silent:
        if event.flag:
            part_signals(state, event, end)
        post_event(state, slot, event.me, end)


@jit
def sram_channel(state, engine, ctx, address):
    """The SRAM unit whose channel an address names in bit 30. There are no more channels; bit 31 is reported."""
    if address >> uint32(31):
        report(state, RESERVED_UNPOPULATED, engine.number, ctx, engine.pc[ctx], address)
    return uint32((address >> uint32(30)) & uint32(1))


@jit
def fill_in(engine, i, ctx, event):
    """What the instruction `i` itself says of its command; overrides may change it."""
    event.value = i.imm
    event.signals = i.mask
    event.first = uint16(uint32(i.d) + (uint32(i.d_window) & uint32(ctx << uint32(4))))
    event.me = uint8(engine.number)
    event.ctx = uint8(ctx)
    event.flag = uint8(0)


@jit
def count_reference(state, engine, ctx, event, words, now):
    """Account the complete command `event` of a context: one reference to its unit, `words` words moved."""
    unit = uint32(event.unit)
    at = uint32(ctx * uint32(UNIT_COUNT) + unit)
    engine.refs[at] = uint32(engine.refs[at] + uint32(1))
    state.words_moved[unit] = uint64(state.words_moved[unit] + uint64(words))
    if observing():
        see_command(state, engine, ctx, event, now)


@jit
def join_queue(state, unit, slot, when):
    """Put the command in a slot behind what `unit` has to do already; returns when it gets to it, not before `when`.

    A queue is in order: nothing is done, and nothing signalled, before what came before it.
    """
    when = max(when, state.queue_last[unit])
    state.queue_last[unit] = when
    event = state.events[slot]
    event.access = when
    event.queued = 0
    last = uint32(state.queue_end[unit])
    if last == uint32(0):
        state.queue_first[unit] = slot + uint32(1)
    else:
        state.events[uint32(last - uint32(1))].queued = slot + uint32(1)
    state.queue_end[unit] = slot + uint32(1)
    return when


@jit
def silent_slot(state, unit):
    """The slot of a write that signals nothing: it is over when the unit has the words, and no event follows.

    Such slots are given out in turn, so that when a unit works through its queue does not show in them.
    """
    number = state.silent_issued[unit]
    state.silent_issued[unit] = uint32(number + uint32(1))
    return uint32(uint32(EVENTS) + unit * uint32(SILENT) + (number & uint32(SILENT - 1)))


@jit
def exact_command(state, engine, event, i, command):
    """What the MSF and the CAP need besides: they act at their exact time, since others see what they do."""
    event.kind = uint8(EVENT_ACCESS)
    event.access = uint64(0)
    if uint32(i.variant) & uint32(COMPLETE_DOUBLE):
        event.address = uint32(event.address & uint32(0xFFFFFFF8))     # as DRAM has it (assumed)
    if command == uint32(COMMAND_FAST_ALU):
        event.value = engine.previous_alu
    if command == uint32(COMMAND_REFLECT_READ) or command == uint32(COMMAND_REFLECT_WRITE):
        target = state.engines[reflect_engine(state, event.address)]
        target.watched = uint32(target.watched + uint32(1))
    elif uint32(i.unit) == uint32(UNIT_CAP):
        event.address = uint32(i.target)


@jit
def push_time(state, me, words, unit, when):
    """When `words` words of `unit`, ready at `when`, have reached a microengine.

    They go over its cluster's S-push bus, from DRAM over the D-push bus. Pushes of a unit to a cluster keep their order.
    """
    cluster = cluster_of(state, me)
    order = uint32(uint32(2) * unit + cluster)
    ready = max(uint64(when), state.push_last[order])
    if unit == uint32(UNIT_DRAM):
        bus = uint32(BUS_D_PUSH)
        cycles = uint32(state.parameter[P_PUSH_D_WORD] * words)
        path = state.parameter[P_PUSH_D]
    else:
        bus = uint32(uint32(BUS_PUSH0) + cluster)
        cycles = uint32(state.parameter[P_PUSH_S_WORD] * words)
        path = state.parameter[P_PUSH_S]
    begin = uint64(reserve(state, bus, ready, cycles) - uint64(cycles))
    state.push_last[order] = begin
    if begin > uint64(when + uint64(state.parameter[P_PUSH_BACKLOG])):
        hold_back(state, uint32(uint32(2) * unit), uint64(begin - uint64(state.parameter[P_PUSH_BACKLOG])))
    return uint64(begin + uint64(cycles + path))


@jit
def pull_time(state, me, words, bus_cycles, unit, now):
    """When `unit` has pulled the `words` words that it reads at `now`; `bus_cycles`, if not 0, is how long they hold the bus."""
    if unit == uint32(UNIT_DRAM):
        bus = uint32(BUS_D_PULL)
        cycles = uint32(state.parameter[P_PULL_D_WORD] * words)
        path = state.parameter[P_PULL_D]
    else:
        bus = uint32(uint32(BUS_PULL0) + cluster_of(state, me))
        cycles = uint32(state.parameter[P_PULL_S_WORD] * words)
        path = state.parameter[P_PULL_S]
    if bus_cycles != uint32(0):
        cycles = bus_cycles
    end = reserve(state, bus, uint64(now), cycles)
    if end > uint64(now + uint64(cycles + state.parameter[P_PULL_BACKLOG])):
        hold_back(state, uint32(uint32(2) * unit + uint32(1)), uint64(end - uint64(cycles + state.parameter[P_PULL_BACKLOG])))
    return uint64(end + uint64(path))


@jit
def hold_back(state, row, when):
    """A unit's words wait too long for a bus: have the port of `row` begin nothing that would be ready for it before `when`.

    So no more words wait than a bus carries in the time that the parameters name, however fast the unit is.
    """
    if row < uint32(2 * UNIT_SIGNAL):
        port = state.port[row]
        latency = uint64(state.cost_latency[row])
        state.free_at[port] = max(state.free_at[port], uint64(max(when, latency) - latency))


@jit
def push_words(state, me, ctx, first, words, signals, unit, packet, now):
    """Send `words` words, ready at `now`, and then `signals` to a context; see push_time.

    Returns the slot: the caller puts the words into `state.events[slot].words`. `first` is the register-file index of the first
    register. `packet`: number of the packet that the context works on once it has them, 0 to leave that alone.
    """
    when = push_time(state, me, uint32(words), uint32(unit), now)
    slot = new_event(state)
    state.event_time[slot] = when
    post_event(state, slot, me, when)
    event = state.events[slot]
    event.access = uint64(0)
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
def expect_push(state, me, ctx, first):
    """Say that two words for the registers from register-file index `first` on will come at some time (a thread on a free list):
    reads of these commit in time order from now on. Every `push_words` ends one expectation."""
    note_in(state.engines[me], ctx, first, 2)


@jit
def end_pull(state, me, ctx, words, signals, unit, now):
    """A unit that acts at its exact time reads `words` words from a context at `now`; signal when they are through."""
    end = pull_time(state, me, uint32(words), uint32(0), uint32(unit), now)
    if uint32(signals) == uint32(0):
        return
    post_signal(state, me, ctx, unit, signals, end)
