"""When a unit gets to a command: FIFO, command bus, the unit's queue, and how long each unit is busy with what.

Times only; they are reserved in the order in which commands commit. What a unit then does is units.py. Figures come from tables
that are worked out from the chip's parameters: rows 2 * unit for reads and 2 * unit + 1 for writes.
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine.jit import jit
from ixpemu.engine.layout import QUEUE_DEPTH_MAX, UNIT_DRAM, UNIT_HASH, UNIT_SCRATCH
from ixpemu.engine.parameters import (
    P_COMMAND_BUS,
    P_COMMAND_PATH,
    P_DRAM_BANK,
    P_DRAM_BANKS,
    P_DRAM_MISS,
    P_DRAM_ROW,
    P_DRAM_TURNAROUND,
    P_FIFO_DEPTH,
    P_HASH_48,
    P_HASH_OPERAND,
    P_HASH_WORD,
    P_SCRATCH_COMMAND,
)
from ixpemu.engine.sizes import cluster_of

# What a unit is asked to do; CODE.command and EVENT.command.
(COMMAND_READ, COMMAND_WRITE, COMMAND_GET, COMMAND_PUT, COMMAND_RBUF, COMMAND_TBUF, COMMAND_FAST,
 COMMAND_FAST_ALU, COMMAND_HASH_48, COMMAND_HASH_64, COMMAND_HASH_128, COMMAND_REFLECT_READ, COMMAND_REFLECT_WRITE) = range(1, 14)
WRITES = (1 << COMMAND_WRITE | 1 << COMMAND_PUT | 1 << COMMAND_RBUF | 1 << COMMAND_FAST | 1 << COMMAND_FAST_ALU
          | 1 << COMMAND_REFLECT_WRITE)
"""Mask of the commands that bring words to their unit; RBUF to DRAM is a write of DRAM."""
COUNTED = (1 << COMMAND_READ | 1 << COMMAND_WRITE | 1 << COMMAND_GET | 1 << COMMAND_PUT | 1 << COMMAND_RBUF | 1 << COMMAND_TBUF
           | 1 << COMMAND_REFLECT_READ | 1 << COMMAND_REFLECT_WRITE)
"""Mask of the commands whose count an indirect reference may override."""


@jit
def queue_place(state, engine, unit, now):
    """When a command issued at `now` reaches `unit`: after the FIFO, the command bus and a free place in the unit's queue.

    Reserves FIFO slot and bus. There is a place when the command `cost_queue` places earlier has started.
    """
    path = uint64(state.parameter[P_COMMAND_PATH])
    cluster = cluster_of(state, engine.number)
    departure = max(uint64(now + uint64(1)), state.command_bus[cluster])
    back = uint32(uint32(state.queue_next[unit] - state.cost_queue[unit]) & uint32(QUEUE_DEPTH_MAX - 1))
    departure = max(departure, uint64(max(state.queue_time[uint32(unit * uint32(QUEUE_DEPTH_MAX) + back)], path) - path))
    state.command_bus[cluster] = uint64(departure + uint64(state.parameter[P_COMMAND_BUS]))
    slot = engine.fifo_next
    engine.fifo_time[slot] = departure
    slot = uint32(slot + uint32(1))
    engine.fifo_next = uint32(0) if slot >= state.parameter[P_FIFO_DEPTH] else slot
    return uint64(departure + path)


@jit
def begin(state, unit, port, arrival, occupancy):
    """Start of a command that arrives at `arrival` and keeps a port of its unit busy; the ports serve one after the other."""
    start = max(arrival, state.free_at[port])
    state.free_at[port] = uint64(start + occupancy)
    state.busy[port] = uint64(state.busy[port] + occupancy)
    number = state.queue_next[unit]
    state.queue_time[uint32(unit * uint32(QUEUE_DEPTH_MAX) + uint32(number & uint32(QUEUE_DEPTH_MAX - 1)))] = start
    state.queue_next[unit] = uint32(number + uint32(1))
    state.commands[unit] = uint64(state.commands[unit] + uint64(1))
    return start


@jit
def unit_time(state, engine, unit, command, words, now):
    """Access time of a command of SRAM, scratch memory, MSF or CAP. SRAM and MSF read and write at once,
    others have one port."""
    row = uint32(uint32(2) * unit + uint32((uint32(WRITES) >> command) & uint32(1)))
    arrival = queue_place(state, engine, unit, now)
    occupancy = uint64(max(state.cost_command[row], uint32(state.cost_word[row] * words)))
    start = begin(state, unit, state.port[row], arrival, occupancy)
    return uint64(start + uint64(state.cost_latency[row]))


@jit
def dram_time(state, engine, command, address, words, now):
    """Access time of a DRAM command: in order, banks with one open row each, and a turn-around between reads and writes."""
    unit = uint32(UNIT_DRAM)
    writing = uint32((uint32(WRITES) >> command) & uint32(1))
    arrival = queue_place(state, engine, unit, now)
    row = uint32(address // state.parameter[P_DRAM_ROW])
    bank = uint32(row % state.parameter[P_DRAM_BANKS])
    port = uint32(uint32(2) * unit)
    if writing != state.dram_writing:
        state.free_at[port] = uint64(state.free_at[port] + uint64(state.parameter[P_DRAM_TURNAROUND]))
        state.dram_writing = writing
    occupancy = uint64(state.dram_cycles[words])
    start = begin(state, unit, port, max(arrival, state.dram_bank_free[bank]), occupancy)
    extra = uint64(0)
    if state.dram_row[bank] != uint32(row + uint32(1)):
        state.dram_row[bank] = uint32(row + uint32(1))
        extra = uint64(state.parameter[P_DRAM_MISS])
    state.dram_bank_free[bank] = uint64(start + extra + max(occupancy, uint64(state.parameter[P_DRAM_BANK])))
    return uint64(start + extra + uint64(state.cost_latency[uint32(port + writing)]))


@jit
def hash_time(state, engine, command, keys, now):
    """Access time of a hash command: the scratch pipe starts it, the operands come in, the array takes one key after the
    other."""
    unit = uint32(UNIT_HASH)
    pipe = uint32(2 * UNIT_SCRATCH)
    arrival = max(queue_place(state, engine, unit, now), state.free_at[pipe])
    state.free_at[pipe] = uint64(arrival + uint64(state.parameter[P_SCRATCH_COMMAND]))
    kind = uint32(command - uint32(COMMAND_HASH_48))
    array = uint64(state.parameter[uint32(P_HASH_48 + kind)])
    operands = uint64(uint64(4 if kind == uint32(2) else 2) * uint64(state.parameter[P_HASH_WORD]))
    # The stages are pipelined: a key's words in, the array, its words out; the slowest stage sets the pace.
    pace = max(array, operands)
    start = begin(state, unit, uint32(uint32(2) * unit), arrival, uint64(pace * uint64(keys)))
    return uint64(start + uint64(state.parameter[P_HASH_OPERAND]) + operands + array + pace * uint64(keys - uint32(1)))
