"""Reserved behaviour that only shows in the order of instructions: registers read that nobody wrote, condition codes from before
a swap, transfer registers under way.

`ixpemu.chip_watch` finds out which instructions could do any of it and marks them (MARK_WATCH); only those leave the private run,
and come here just before they execute. A register once written stays written, so that such a check is made once by each context
and its mark goes; what depends on the path is looked at every time, until it has been reported at that place.
"""

from __future__ import annotations

from numpy import uint8, uint32, uint64

from ixpemu.engine.actions import OP_OPERATION
from ixpemu.engine.jit import jit
from ixpemu.engine.layout import (
    DRAM_IN,
    DRAM_OUT,
    MARK_WATCH,
    NEIGHBOR,
    RESERVED_FLAGS_DOUBTFUL,
    RESERVED_FLAGS_SWAPPED,
    RESERVED_IN_FLIGHT_READ,
    RESERVED_IN_FLIGHT_WRITE,
    RESERVED_SIGN,
    RESERVED_T_INDEX_SWAPPED,
    RESERVED_UNWRITTEN,
    SPECIAL_A,
    SPECIAL_B,
    SPECIAL_D,
    SRAM_IN,
    SRAM_OUT,
    UNIT_HASH,
    WATCHED_WORDS,
)
from ixpemu.engine.reserved import report
from ixpemu.engine.sizes import store_words
from ixpemu.engine.timing import COMMAND_HASH_128

# What to look at, by instruction: STATE.watch_rules. The first four are settled once by each context.
WATCH_READ_A, WATCH_READ_B, WATCH_WRITE, WATCH_PULL = 1, 2, 4, 8
ONCE = 15
WATCH_FLAGS, WATCH_FLAGS_DOUBT, WATCH_NOTE_DOUBT, WATCH_SIGN = 16, 32, 64, 128
WATCH_T_INDEX, WATCH_NOTE_T_INDEX, WATCH_ALWAYS = 256, 512, 1024


@jit
def watch(state, engine, i, ctx, now):
    """Look at the marked instruction `i` at which `engine` stands and which executes at `now`."""
    pc = engine.pc[ctx]
    at = uint32(engine.number * store_words(state) + pc)
    rules = state.watch_rules[at]
    if rules & uint32(ONCE):
        rules = watch_registers(state, engine, i, ctx, at, rules)
    if rules & uint32(WATCH_ALWAYS):
        report(state, state.watch_kind[at], engine.number, ctx, pc, 0)
        rules = uint32(rules & ~uint32(WATCH_ALWAYS))
    if rules & uint32(WATCH_FLAGS) and engine.cc_time <= engine.ready_at[ctx]:
        report(state, RESERVED_FLAGS_SWAPPED, engine.number, ctx, pc, 0)
        rules = uint32(rules & ~uint32(WATCH_FLAGS))
    if rules & uint32(WATCH_FLAGS_DOUBT) and engine.doubt_time != uint64(0) and engine.cc_time == engine.doubt_time:
        report(state, RESERVED_FLAGS_DOUBTFUL, engine.number, ctx, pc, 0)
        rules = uint32(rules & ~uint32(WATCH_FLAGS_DOUBT))
    if rules & uint32(WATCH_NOTE_DOUBT):
        engine.doubt_time = uint64(now + uint64(1))
    if rules & uint32(WATCH_SIGN):
        b = uint32(uint32(i.b) + (uint32(i.b_window) & uint32(ctx << uint32(4))))
        if (uint32(i.special) & uint32(SPECIAL_B)) == uint32(0) and (engine.file[b] ^ engine.previous_alu) >> uint32(31):
            report(state, RESERVED_SIGN, engine.number, ctx, pc, engine.file[b])
            rules = uint32(rules & ~uint32(WATCH_SIGN))
    if rules & uint32(WATCH_NOTE_T_INDEX):
        engine.t_index_time = uint64(now + uint64(1))
    if rules & uint32(WATCH_T_INDEX) and engine.t_index_time <= engine.ready_at[ctx] and engine.enabled & ~(uint32(1) << ctx):
        report(state, RESERVED_T_INDEX_SWAPPED, engine.number, ctx, pc, uint32(engine.t_index << uint32(2)))
        rules = uint32(rules & ~uint32(WATCH_T_INDEX))
    state.watch_rules[at] = rules
    if (rules & ~uint32(ONCE)) == uint32(0) and (state.watch_left[at] & engine.enabled) == uint32(0):
        # Nobody who may come here has anything left to look at.
        state.code[at].marks = uint8(uint32(i.marks) & ~uint32(MARK_WATCH))
        if rules:
            engine.watch_hidden = uint32(1)


@jit
def watch_registers(state, engine, i, ctx, at, rules):
    """What a context has to look at once; returns the rules that are left."""
    bit = uint32(uint32(1) << ctx)
    left = uint32(state.watch_left[at])
    if (left & bit) == uint32(0):
        return rules
    window = uint32(ctx << uint32(4))
    special = uint32(i.special)
    a = uint32(uint32(i.a) + (uint32(i.a_window) & window))
    b = uint32(uint32(i.b) + (uint32(i.b_window) & window))
    d = uint32(uint32(i.d) + (uint32(i.d_window) & window))
    inputs = False
    waiting = False                         # for words that are on their way: reading them is another rule's
    relative = uint32(0)
    if rules & uint32(WATCH_READ_A) and (special & uint32(SPECIAL_A)) == uint32(0):
        inputs = is_input(a)
        relative = uint32(relative | uint32(i.a_window))
        if under_way(engine, ctx, a):
            waiting = True
        else:
            look_at(state, engine, ctx, a)
    if rules & uint32(WATCH_READ_B) and (special & uint32(SPECIAL_B)) == uint32(0):
        inputs = inputs or is_input(b)
        relative = uint32(relative | uint32(i.b_window))
        if under_way(engine, ctx, b):
            waiting = True
        else:
            look_at(state, engine, ctx, b)
    if rules & uint32(WATCH_PULL):
        relative = uint32(relative | uint32(i.d_window))
        words = uint32(i.total)
        if i.op == OP_OPERATION:
            words = uint32(i.amount)
        elif uint32(i.unit) == uint32(UNIT_HASH):
            words = uint32(words * (uint32(4) if uint32(i.command) == uint32(COMMAND_HASH_128) else uint32(2)))
        elif d >= uint32(DRAM_IN):
            words = uint32(words * uint32(2))
        # A command that also fills registers is numbered by those.
        first = uint32(d + uint32(SRAM_OUT - SRAM_IN)) if is_input(d) else d
        for k in range(words):
            look_at(state, engine, ctx, uint32(first + uint32(k)))
    if rules & uint32(WATCH_WRITE) and (special & uint32(SPECIAL_D)) == uint32(0):
        relative = uint32(relative | uint32(i.d_window))
        note_written(engine, d, uint32(1))
    if waiting:
        return rules
    left = uint32(left & ~bit) if relative else uint32(0)
    state.watch_left[at] = uint8(left)
    if left:
        return rules
    if inputs:
        engine.watch_inputs = uint32(engine.watch_inputs - uint32(1))
    return uint32(rules & ~uint32(ONCE))


@jit
def is_input(index):
    """Whether a register-file index is a transfer-in register."""
    index = uint32(index)
    return (uint32(SRAM_IN) <= index < uint32(SRAM_OUT)) or (uint32(DRAM_IN) <= index < uint32(DRAM_OUT))


@jit
def note_written(engine, index, words):
    """Registers from register-file index `index` on are written from now on. They do not cross a group of 32."""
    index = uint32(index)
    if index < uint32(WATCHED_WORDS):
        bits = uint32((uint64(1) << uint64(words)) - uint64(1))
        at = index >> uint32(5)
        engine.written[at] = uint32(engine.written[at] | (bits << (index & uint32(31))))


@jit
def look_at(state, engine, ctx, index):
    """Report a register that nobody has written. What is not 0 was written from outside."""
    index = uint32(index)
    if index >= uint32(WATCHED_WORDS) or engine.file[index] != uint32(0):
        return
    if (engine.written[index >> uint32(5)] >> (index & uint32(31))) & uint32(1) == uint32(0):
        report(state, RESERVED_UNWRITTEN, engine.number, ctx, engine.pc[ctx], index)


@jit
def busy_bit(index, ctx):
    """The bit of a transfer register of context `ctx` in the masks of what commands use, see registers.py; 0 for others."""
    index = uint32(index)
    if index < uint32(SRAM_IN) or index >= uint32(NEIGHBOR):
        return uint64(0)
    shift = uint32(32) if index >= uint32(DRAM_IN) else uint32(0)
    number = uint32((index & uint32(127)) - (uint32(ctx) << uint32(4)))
    return uint64(uint64(1) << uint64(number + shift)) if number < uint32(32) else uint64(0)


@jit
def under_way(engine, ctx, index):
    """Whether some command may be going to fill the transfer-in register: the masks only grow while two commands use one."""
    return is_input(index) and (engine.in_registers[ctx] & busy_bit(index, ctx)) != uint64(0)


@jit
def arriving(engine, ctx, index):
    """Whether a command under way is to fill the transfer-in register. False where that is not known exactly."""
    return (engine.in_shared >> ctx) & uint32(1) == uint32(0) and under_way(engine, ctx, index)


@jit
def touched_in_flight(state, engine, i, ctx, pc, in_slots):
    """After instruction `i` at `pc` has executed: report what it read or wrote of transfer registers that commands still use.

    `in_slots`: it stood in a defer slot of a swap; the command that swaps takes its data behind those.
    """
    window = uint32(ctx << uint32(4))
    special = uint32(i.special)
    a = engine.at_a if special & uint32(SPECIAL_A) else uint32(uint32(i.a) + (uint32(i.a_window) & window))
    b = engine.at_b if special & uint32(SPECIAL_B) else uint32(uint32(i.b) + (uint32(i.b_window) & window))
    d = engine.at_d if special & uint32(SPECIAL_D) else uint32(uint32(i.d) + (uint32(i.d_window) & window))
    if arriving(engine, ctx, a):
        report(state, RESERVED_IN_FLIGHT_READ, engine.number, ctx, pc, a)
    elif arriving(engine, ctx, b):
        report(state, RESERVED_IN_FLIGHT_READ, engine.number, ctx, pc, b)
    if in_slots or is_input(d) or (engine.out_shared >> ctx) & uint32(1):
        return
    if engine.out_registers[ctx] & busy_bit(d, ctx):
        report(state, RESERVED_IN_FLIGHT_WRITE, engine.number, ctx, pc, d)


@jit
def show_marks(state, engine):
    """Contexts were enabled: mark again what they have not looked at."""
    engine.watch_hidden = uint32(0)
    engine.translated = uint64(0)               # it knows nothing of these marks
    first = uint32(engine.number * store_words(state))
    for k in range(store_words(state)):
        at = uint32(first + uint32(k))
        if state.watch_rules[at]:
            state.code[at].marks = uint8(uint32(state.code[at].marks) | uint32(MARK_WATCH))
