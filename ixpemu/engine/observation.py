"""What an observed chip writes down: a record of fixed length for each thing that happens, in an array that the host empties.

Every hook stands behind `if observing():`, a constant of the entry (jit.switch): the plain engine has no trace of it. Hooks
change nothing that the machine sees. Microengines run ahead of each other and units get to their commands late, so records are
not in the order of time; each carries its cycle, and the host (chip_observe.py) puts them straight. Between two drains there is
room for OBSERVED_ROWS of them; the loop asks the host to come when half are used (STOP_OBSERVED).
"""

from __future__ import annotations

import numpy as np
from numpy import uint8, uint16, uint32, uint64

from ixpemu.engine.actions import OP_COMMAND, OP_CSR_WRITE, OP_OPERATION
from ixpemu.engine.jit import jit, switch
from ixpemu.engine.layout import CONSTANT, DRAM_OUT, SINK, SPECIAL_A, SPECIAL_B
from ixpemu.engine.sizes import store_words

observing = switch("observing")
"""Whether this is the observed variant of an entry."""

OBSERVED_ROWS = 16384       # records between two drains
OBSERVED_FULL = OBSERVED_ROWS // 2

OBSERVED = np.dtype([
    ("cycle", "u8"),
    ("kind", "u1"),             # SEEN_*
    ("me", "u1"), ("ctx", "u1"),        # whose doing it is
    ("unit", "u1"),             # UNIT_*, where a unit has a part in it
    ("pc", "u2"),               # address of the instruction
    ("place", "u2"),            # register-file index of the register that is written
    ("value", "u4"),
    ("a", "u2"), ("b", "u2"),   # register-file indexes of the operands read
    ("address", "u4"), ("extra", "u4"),
], align=True)
"""One thing that happened, 32 bytes. What fields mean beyond this is said beside the kinds."""

(
    SEEN_ISSUE,         # an instruction: `value` is its result, `place` where it goes; SINK: it writes no register
    SEEN_BRANCH,        # a conditional or unconditional branch: `value` 1 if taken, `address` its target, `extra` its defer slots
    SEEN_ABORT,         # squashed cycles from here on: `value` of them
    SEEN_STALL,         # the command FIFO is full: `value` cycles
    SEEN_SWAP,          # the context gives up the microengine: `value` is what it waits for, as ENGINE.wakeup
    SEEN_START,         # a context gets the microengine: `value` is what it had waited for, `extra` the signals that have come
    SEEN_COMMAND,       # a command is sent: `place` its first transfer register, `value` its number of words, `extra` its
                        # signals, `a` COMMAND_*, `b` microengine * 8 + context that has the register
    SEEN_ACCESS,        # a unit gets to it: `value` words, `a` COMMAND_*
    SEEN_WRITE,         # a word of memory is written: `address` in bytes in its unit, `value`, `extra` the mask of bytes
    SEEN_REGISTER,      # a push fills a register: `place`, `value`
    SEEN_DONE,          # a command is over: `value` the signals that reach its context
    SEEN_SIGNAL,        # a signal from elsewhere arrives: `value`
    SEEN_SEND,          # a signal is sent: `address` microengine * 8 + context that gets it, `value` the mask, `extra` in how
                        # many cycles
    SEEN_RING,          # a word goes on a ring (`extra` 1) or off it (0): `address` its number, `value`
    SEEN_PROBE,         # a probe: `value` the packet that the context works on from here on, `address` its handle, `extra` its
                        # row
    SEEN_CSR,           # a local CSR is written: `address`, `value`
    SEEN_TEST,          # a signal is tested: `address` its number, `value` 1 if it had arrived
    SEEN_NEIGHBOR,      # a word is sent to a next-neighbour register: `address` microengine * 128 + register, `value`, `extra` in
                        # how many cycles
    SEEN_PACKET,        # the context works on packet `value` from here on, since the status of its element arrived
    SEEN_CAM,           # the CAM is used: `address` its entry, `value` the tag, `a` the state, `extra` CAM_* what is done
    SEEN_BUFFER,        # bytes of RBUF or TBUF: `address` the first, `value` how many, `extra` BUFFER_* what is done
) = range(1, 22)
SEEN_NAMES = ("", "issue", "branch", "abort", "stall", "swap", "start", "command", "access", "write", "register", "done",
              "signal", "send", "ring", "probe", "csr", "test", "neighbor", "packet", "cam", "buffer")
CAM_MISS, CAM_HIT, CAM_READ, CAM_WRITE, CAM_STATE, CAM_CLEAR = range(6)
"""A lookup that misses, and gives the entry used longest ago; one that hits; an entry's tag or state read, both written, its
state written; all cleared."""
BUFFER_READ, BUFFER_WRITE, BUFFER_FREE, BUFFER_SEND = range(4)
"""RBUF copied to DRAM; DRAM copied to TBUF; an element of RBUF given back; what is to be sent of an element of TBUF."""


@jit
def new_record(state, kind, me, ctx, pc, when):
    """A record of something at cycle `when`; returns its row, whose other fields are 0. What finds no room is counted."""
    row = state.observed_count
    if (state.observed_kinds >> uint32(kind)) & uint32(1) == uint32(0):
        row = uint32(OBSERVED_ROWS)                     # nobody wants it: the spare row
    elif row >= uint32(OBSERVED_ROWS):
        state.observed_lost = uint32(state.observed_lost + uint32(1))
    else:
        state.observed_count = uint32(row + uint32(1))
    record = state.observed[row]
    record.cycle = uint64(when)
    record.kind = uint8(kind)
    record.me = uint8(me)
    record.ctx = uint8(ctx)
    record.unit = uint8(0)
    record.pc = uint16(pc)
    record.place = uint16(0)
    record.value = uint32(0)
    record.a = uint16(0)
    record.b = uint16(0)
    record.address = uint32(0)
    record.extra = uint32(0)
    return row


@jit
def see_issue(state, me, ctx, pc, when, place, value, a, b):
    """Instruction `pc` issues at `when`, reads the registers `a` and `b`, and writes `value` to the register `place`."""
    record = state.observed[new_record(state, SEEN_ISSUE, me, ctx, pc, when)]
    record.place = uint16(place)
    record.value = uint32(value)
    record.a = uint16(a)
    record.b = uint16(b)


@jit
def see_branch(state, me, ctx, pc, when, taken, target, defer, a, b):
    """Branch `pc` issues at `when`."""
    record = state.observed[new_record(state, SEEN_BRANCH, me, ctx, pc, when)]
    record.value = uint32(1) if taken else uint32(0)
    record.address = uint32(target)
    record.extra = uint32(defer)
    record.a = uint16(a)
    record.b = uint16(b)


@jit
def see_value(state, kind, me, ctx, pc, when, value, extra):
    """Something that has no more to it than a value or two."""
    record = state.observed[new_record(state, kind, me, ctx, pc, when)]
    record.value = uint32(value)
    record.extra = uint32(extra)


@jit
def see_external(state, engine, ctx, when):
    """The external instruction at which a context stands issues at `when`. Its operands are those of commands and CSR writes."""
    pc = engine.pc[ctx]
    i = state.code[uint32(engine.number * store_words(state) + pc)]
    a = uint32(CONSTANT)
    b = uint32(CONSTANT)
    command = i.op == OP_COMMAND or i.op == OP_OPERATION
    if command or i.op == OP_CSR_WRITE:
        a = uint32(uint32(i.a) + (uint32(i.a_window) & uint32(ctx << uint32(4))))
        if i.special & uint8(SPECIAL_A):
            a = engine.at_a
    if command:
        b = uint32(uint32(i.b) + (uint32(i.b_window) & uint32(ctx << uint32(4))))
        if i.special & uint8(SPECIAL_B):
            b = engine.at_b
    see_issue(state, engine.number, ctx, pc, when, SINK, 0, a, b)


@jit
def see_command(state, engine, ctx, entry, when):
    """A context sends the command `entry` at `when`; whose registers and signals it names may be another one's."""
    record = state.observed[new_record(state, SEEN_COMMAND, engine.number, ctx, entry.pc, when)]
    record.unit = entry.unit
    record.place = entry.first
    record.value = uint32(entry.total)
    record.a = uint16(entry.command)
    record.b = uint16(uint32(entry.me) * uint32(8) + uint32(entry.ctx))
    record.address = entry.address
    record.extra = entry.signals


@jit
def see_access(state, entry, when):
    """The unit of the command `entry` gets to it at `when`."""
    record = state.observed[new_record(state, SEEN_ACCESS, entry.me, entry.ctx, entry.pc, when)]
    record.unit = entry.unit
    record.place = entry.first
    record.value = uint32(entry.total)
    record.a = uint16(entry.command)
    record.b = uint16(entry.byte_mask)
    record.address = entry.address
    record.extra = entry.signals


@jit
def see_word(state, kind, entry, address, value, extra, when):
    """A word that the command `entry` moves at `when`: to memory, or on or off a ring."""
    record = state.observed[new_record(state, kind, entry.me, entry.ctx, entry.pc, when)]
    record.unit = entry.unit
    record.address = uint32(address)
    record.value = uint32(value)
    record.extra = uint32(extra)


@jit
def see_push(state, event, now):
    """The words of a push reach their registers."""
    for k in range(uint32(event.total)):
        record = state.observed[new_record(state, SEEN_REGISTER, event.me, event.ctx, event.pc, now)]
        record.unit = event.unit
        record.place = uint16(uint32(event.first) + uint32(k))
        record.value = event.words[k]


@jit
def see_signals(state, event, ctx, now):
    """The signals of a command that is over reach context `ctx`."""
    record = state.observed[new_record(state, SEEN_DONE, event.me, ctx, event.pc, now)]
    record.unit = event.unit
    record.value = event.signals


@jit
def see_send(state, kind, me, ctx, pc, address, value, now, arrival):
    """A thread sends something to another microengine or context, which gets it at `arrival`."""
    record = state.observed[new_record(state, kind, me, ctx, pc, now)]
    record.address = uint32(address)
    record.value = uint32(value)
    record.extra = uint32(arrival - now)


@jit
def see_csr(state, engine, ctx, address, value, now):
    """A context writes a local CSR of its microengine that others can see."""
    record = state.observed[new_record(state, SEEN_CSR, engine.number, ctx, engine.pc[ctx], now)]
    record.address = uint32(address)
    record.value = uint32(value)


@jit
def see_probe(state, engine, ctx, probe, handle, now):
    """The context is at a probe, and works on `engine.packet[ctx]` from here on."""
    record = state.observed[new_record(state, SEEN_PROBE, engine.number, ctx, engine.pc[ctx], now)]
    record.address = uint32(handle)
    record.value = engine.packet[ctx]
    record.extra = uint32(probe)


@jit
def see_test(state, engine, ctx, signal, arrived, now):
    """A context tests a signal."""
    record = state.observed[new_record(state, SEEN_TEST, engine.number, ctx, engine.pc[ctx], now)]
    record.address = uint32(signal)
    record.value = uint32(1) if arrived else uint32(0)


@jit
def see_words(state, entry, file, first, words):
    """A write of `words` words from the registers `first` on reaches memory; `extra` of each is the mask of its bytes."""
    for k in range(words):
        shift = uint32(4) if first >= uint32(DRAM_OUT) and (k & 1) else uint32(0)
        see_word(state, SEEN_WRITE, entry, uint32(entry.address + uint32(4) * uint32(k)), file[uint32(first + uint32(k))],
                 uint32((uint32(entry.byte_mask) >> shift) & uint32(15)), entry.access)


@jit
def see_cam(state, engine, ctx, pc, entry, tag, what, clock):
    """The instruction before address `pc` and cycle `clock` uses CAM entry `entry`; its state is as it is behind it."""
    at = uint32(uint32(pc) - uint32(1)) & uint32(store_words(state) - uint32(1))
    record = state.observed[new_record(state, SEEN_CAM, engine.number, ctx, at, uint64(clock - uint64(1)))]
    record.address = uint32(entry)
    record.value = uint32(tag)
    record.a = uint16(engine.cam_state[uint32(entry)])
    record.extra = uint32(what)


@jit
def see_buffer(state, unit, me, ctx, pc, first, total, what, when):
    """Bytes `first` to before `first` + `total` of RBUF or TBUF, by the unit that does it."""
    record = state.observed[new_record(state, SEEN_BUFFER, me, ctx, pc, when)]
    record.unit = uint8(unit)
    record.address = uint32(first)
    record.value = uint32(total)
    record.extra = uint32(what)
