"""indirect_ref: what the result of the instruction before a command changes in it.

Fields of that word (the IXP2400's own layout; not that of its descendants):

    [25]  count      [24:21] less one, in the command's own unit                     confidence H
    [20]  byte mask  [19:12] bit 0 for the byte at the lowest address                assumed
    [11]  register   [10:4]  number of a transfer register in the whole file, 0..127 L
     [4]  buffer     [18:5]  byte address in the RBUF/TBUF window; of copies only    H
     [3]  context    [2:0]   whose registers and signals they are                    L
    [31]  engine     [30:26] the chip's own number: cluster in bit 4                 L

Another context or microengine means: its transfer registers are filled or sent, and it gets the signals. A register override
names the register itself, so the signals can go to one context and the words to a register of another. Counts that reach past
the registers of a context end there, which is reported.
"""

from __future__ import annotations

from numpy import uint8, uint16, uint32

from ixpemu.engine.arrivals import post_signal
from ixpemu.engine.jit import jit
from ixpemu.engine.layout import (
    RESERVED_OVERRIDE,
    RESERVED_TRANSFER_WINDOW,
    UNIT_DRAM,
    UNIT_SRAM1,
)
from ixpemu.engine.reserved import report
from ixpemu.engine.sizes import engine_at, in_cluster, there
from ixpemu.engine.timing import COMMAND_RBUF, COMMAND_TBUF, COMMAND_WRITE, COUNTED

# CODE.variant of a command.
COMPLETE_SWAP = 1           # ctx_swap: sleep on the completion signals
COMPLETE_INDIRECT = 2       # indirect_ref: overrides come from the previous ALU result
COMPLETE_IN = 4             # it fills transfer-in registers
COMPLETE_OUT = 8            # it pulls transfer-out registers
COMPLETE_DOUBLE = 16        # its count is in units of two words although its unit counts words

REDIRECTS = 0x80000808      # another microengine, register or context
ELSEWHERE = 1               # added to the context in EVENT.flag: its signals go to that context, not to the registers' one


@jit
def apply_overrides(state, engine, event, i, unit, words):
    """Change `event`, which says whose command of instruction `i` it is, by the previous result; returns the count.

    Counts are in the units of CODE.total, before and after.
    """
    word = uint32(engine.previous_alu)
    command = uint32(i.command)
    variant = uint32(i.variant)
    if (word >> uint32(25)) & uint32(1) and (uint32(COUNTED) >> command) & uint32(1):
        words = uint32(((word >> uint32(21)) & uint32(15)) + uint32(1))
        if variant & uint32(COMPLETE_DOUBLE):
            words = uint32(words * uint32(2))
    copy = command == uint32(COMMAND_RBUF) or command == uint32(COMMAND_TBUF)
    if copy:
        if (word >> uint32(4)) & uint32(1):
            event.value = uint32((word >> uint32(5)) & uint32(0x3FFF))
        word = uint32(word & ~uint32(0x800))
    elif (word >> uint32(20)) & uint32(1) and command == uint32(COMMAND_WRITE):
        if unit == uint32(UNIT_DRAM):
            event.byte_mask = uint8((word >> uint32(12)) & uint32(0xFF))
        elif unit <= uint32(UNIT_SRAM1):
            event.byte_mask = uint8((word >> uint32(12)) & uint32(0x0F))
    if word & uint32(REDIRECTS):
        redirect(state, engine, event, i, word)
    if variant & uint32(COMPLETE_IN | COMPLETE_OUT) and words > uint32(1):
        room = window_room(state.engines[event.me], event.first)
        if unit == uint32(UNIT_DRAM):
            room = room >> uint32(1)
        if words > room and (uint32(COUNTED) >> command) & uint32(1):
            report(state, RESERVED_TRANSFER_WINDOW, engine.number, engine.context, engine.pc[engine.context], words)
            words = room
    return words


@jit
def window_of(engine, first):
    """The context whose transfer register has the register-file index `first`."""
    ctx = (uint32(first) & uint32(127)) >> uint32(4)
    return ctx & uint32(6) if engine.ctx_enables >> uint32(31) else ctx


@jit
def window_room(engine, first):
    """How many transfer registers of one context there are from register-file index `first` on."""
    window = uint32(32) if engine.ctx_enables >> uint32(31) else uint32(16)
    return uint32(window - (uint32(first) & uint32(window - uint32(1))))


@jit
def redirect(state, engine, event, i, word):
    """Another microengine, context or register than the command's own."""
    ctx = uint32(event.ctx)
    if word >> uint32(31):
        number = (word >> uint32(26)) & uint32(31)
        me = engine_at(state, number >> uint32(4), number & uint32(15))
        if in_cluster(state, number & uint32(15)) != number & uint32(15) or not there(state, me):
            report(state, RESERVED_OVERRIDE, engine.number, ctx, engine.pc[ctx], word)
        else:
            event.me = uint8(me)
    target = state.engines[event.me]
    if word & uint32(8):
        ctx = word & uint32(7)
    if target.ctx_enables >> uint32(31) and ctx & uint32(1):
        report(state, RESERVED_OVERRIDE, engine.number, engine.context, engine.pc[engine.context], word)
    event.ctx = uint8(ctx)
    if uint32(i.variant) & uint32(COMPLETE_IN | COMPLETE_OUT) == uint32(0):
        return
    first = uint32(i.d)
    number = uint32(uint32(first + (uint32(ctx) << uint32(4))) & uint32(127))
    if word & uint32(0x800):
        number = (word >> uint32(4)) & uint32(127)
    first = uint32((first & ~uint32(127)) | number)
    event.first = uint16(first)
    owner = window_of(target, first)
    if owner != ctx:
        event.ctx = uint8(owner)
        event.flag = uint8(ctx + uint32(ELSEWHERE))


@jit
def part_signals(state, event, end):
    """The signals of a command whose registers are another context's: they come at `end`, behind its words."""
    if event.signals == uint32(0):
        return
    post_signal(state, event.me, uint32(event.flag - uint8(ELSEWHERE)), event.unit, event.signals, end)
    event.signals = uint32(0)


@jit
def part_push(state, slot, flag):
    """The same for the push in a slot that a unit which acts at its exact time has just sent."""
    event = state.events[slot]
    event.flag = uint8(flag)
    part_signals(state, event, state.event_time[slot])


@jit
def signal_context(entry):
    """The context that gets the signals of a command."""
    if entry.flag:
        return uint32(entry.flag - uint8(ELSEWHERE))
    return uint32(entry.ctx)
