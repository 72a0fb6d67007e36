"""External operations of a microengine: what one instruction does that others can see, at its exact time.

Commands, arbitration, signals and states tested, local CSRs, next-neighbour registers, and instructions that must wait for their
turn because a transfer register they touch is still in use. Private instructions are dispatch.py's.
"""

from __future__ import annotations

from numpy import uint8, uint16, uint32, uint64

from ixpemu.engine.actions import (
    ARBITRATE_GO,
    ARBITRATE_PREPARED,
    ARBITRATE_VOLUNTARY,
    OP_ARBITRATE,
    OP_BREAKPOINT,
    OP_COMMAND,
    OP_CSR_READ,
    OP_CSR_WRITE,
    OP_ILLEGAL,
    OP_KILL,
    OP_OPERATION,
    OP_SIGNAL_CLEAR,
    OP_SIGNAL_SET,
    OP_STATE_CLEAR,
    OP_STATE_SET,
    OP_STORE_END,
)
from ixpemu.engine.commands import issue_command
from ixpemu.engine.contexts import begin_swap, settle_shadows, swap_out
from ixpemu.engine.csrs import read_csr, write_csr
from ixpemu.engine.events import put_event
from ixpemu.engine.jit import jit
from ixpemu.engine.lanes import request_stop
from ixpemu.engine.layout import (
    AFTER_GO,
    AFTER_NOTHING,
    AFTER_SWAP,
    AFTER_SWAP_GO,
    CSR_VALUE,
    EVENT_NEIGHBOR,
    INBOX_ROOM,
    POINTER_NEIGHBOR,
    POINTER_NEIGHBOR_DIRECT,
    QUEUE_UNITS,
    RESERVED_COMMAND,
    RESERVED_CSR_READ,
    RESERVED_DEFER,
    RESERVED_ILLEGAL,
    RESERVED_NO_NEIGHBOR,
    RESERVED_NOT_MODELLED,
    RESERVED_STORE_END,
    SILENT,
    SINK,
    SPECIAL_A,
    SPECIAL_B,
    SPECIAL_D,
    STOP_HALT,
    STOP_RESERVED,
    UNIT_SCRATCH,
    UNIT_SIGNAL,
    VOLUNTARY,
    WAKEUP_ANY,
)
from ixpemu.engine.observation import (
    SEEN_ABORT,
    SEEN_NEIGHBOR,
    SEEN_STALL,
    observing,
    see_csr,
    see_external,
    see_send,
    see_test,
    see_value,
)
from ixpemu.engine.operations import issue_operation
from ixpemu.engine.outside import attention_interrupt
from ixpemu.engine.overrides import COMPLETE_OUT, COMPLETE_SWAP
from ixpemu.engine.parameters import P_NEIGHBOR_FULL, P_NEIGHBOR_PUT, P_NEIGHBOR_SELF
from ixpemu.engine.pointers import resolve
from ixpemu.engine.reserved import note_actor, report
from ixpemu.engine.rings import visible_flag
from ixpemu.engine.sizes import store_words, there
from ixpemu.engine.units import flush_unit, flush_units


@jit
def full_until(state, memory, engine, silent, now):
    """0 if `engine` may issue a command now, else the cycle at which to try again. `silent`: it signals nothing."""
    free = engine.fifo_time[engine.fifo_next]
    if free > now:
        return free
    if engine.arrivals >= uint32(INBOX_ROOM):
        return uint64(now + uint64(1))
    if silent and crowded(state):
        # More is under way than any real queue holds, unless units are only behind with their work.
        flush_units(state, memory, now)
        if crowded(state):
            return uint64(now + uint64(1))
    return uint64(0)


@jit
def crowded(state):
    """Whether some unit has no room for one more write that signals nothing."""
    most = uint32(0)
    for unit in range(QUEUE_UNITS):
        most = max(most, uint32(state.silent_issued[unit] - state.silent_done[unit]))
    return most >= uint32(SILENT - 1)


@jit
def settle_pulls(state, memory, engine, i, ctx, now):
    """Before a command that pulls: earlier pulls of the context that are over by `now` are done, so that what is said to be in
    use does not depend on when somebody looked last."""
    if uint32(i.variant) & uint32(COMPLETE_OUT) and engine.out_pending[ctx] != uint32(0):
        flush_units(state, memory, now)


@jit
def finish_issue(state, engine, ctx, now):
    """Account one issue cycle at `now`, step to the next instruction, and count a defer slot."""
    if observing():
        see_external(state, engine, ctx, now)
    engine.pc[ctx] = uint32(engine.pc[ctx] + uint32(1)) & uint32(store_words(state) - uint32(1))
    engine.clock = uint64(now + uint64(1))
    engine.retired = uint64(engine.retired + uint64(1))
    engine.instructions[ctx] = uint32(engine.instructions[ctx] + uint32(1))


@jit
def count_slot(state, engine, ctx):
    """One defer slot has been filled; after the last one control goes where it was to go. A swap is left to the next commit."""
    engine.slots = uint32(engine.slots - uint32(1))
    if engine.slots == uint32(0) and engine.after == uint32(AFTER_GO):
        engine.after = uint32(AFTER_NOTHING)
        engine.pc[ctx] = engine.after_pc
        charge_abort(state, engine, ctx, engine.after_abort)


@jit
def charge_abort(state, engine, ctx, cycles):
    """Cycles of squashed fetches."""
    if observing() and cycles:
        see_value(state, SEEN_ABORT, engine.number, ctx, engine.pc[ctx], engine.clock, cycles, 0)
    engine.clock = uint64(engine.clock + uint64(cycles))
    engine.aborted = uint64(engine.aborted + uint64(cycles))
    engine.aborts[ctx] = uint32(engine.aborts[ctx] + uint32(cycles))


@jit
def take_branch(state, engine, i, ctx):
    """Go to the target of `i`, now or after its defer slots."""
    if i.defer:
        engine.slots = uint32(i.defer)
        engine.after = uint32(AFTER_GO)
        engine.after_pc = uint32(i.target)
        engine.after_abort = uint32(i.abort)
    else:
        engine.pc[ctx] = uint32(i.target)
        charge_abort(state, engine, ctx, uint32(i.abort))


@jit
def operand_sum(state, engine, i, ctx, now):
    """The address of a command: the sum of its two address operands."""
    a = uint32(uint32(i.a) + (uint32(i.a_window) & uint32(ctx << uint32(4))))
    b = uint32(uint32(i.b) + (uint32(i.b_window) & uint32(ctx << uint32(4))))
    if i.special:
        resolve(state, engine, i, ctx, engine.retired, now)
        if i.special & uint8(SPECIAL_A):
            a = engine.at_a
        if i.special & uint8(SPECIAL_B):
            b = engine.at_b
    return uint32(engine.file[a] + engine.file[b])


@jit
def execute_external(state, memory, engine, i, ctx, now):
    """Execute the external instruction `i` at which `engine` stands; a full command FIFO only moves its clock."""
    op = uint32(i.op)
    in_slot = engine.slots != uint32(0)
    if op == uint32(OP_COMMAND) or op == uint32(OP_OPERATION):
        send_command(state, memory, engine, i, ctx, now, in_slot)
        return
    if op == uint32(OP_ARBITRATE):
        arbitrate(state, engine, i, ctx, now)
        return
    execute_rare(state, memory, engine, i, ctx, now, in_slot)


@jit
def send_command(state, memory, engine, i, ctx, now, in_slot):
    """A command, as soon as there is room for one: of commands.py, or one of the operations."""
    again = full_until(state, memory, engine, i.mask == uint32(0), now)
    if again != uint64(0):
        stall = uint64(again - now)
        if observing():
            see_value(state, SEEN_STALL, engine.number, ctx, engine.pc[ctx], now, stall, 0)
        engine.stalled = uint64(engine.stalled + stall)
        engine.stalls[ctx] = uint32(engine.stalls[ctx] + uint32(stall))
        engine.clock = again
        return
    settle_pulls(state, memory, engine, i, ctx, now)
    address = operand_sum(state, engine, i, ctx, now)
    if i.op == OP_COMMAND:
        issue_command(state, engine, i, ctx, address, now)
    else:
        issue_operation(state, engine, i, ctx, address, now)
    swaps = uint32(i.variant) & uint32(COMPLETE_SWAP)
    if in_slot and swaps:
        report(state, RESERVED_DEFER, engine.number, ctx, engine.pc[ctx], 0)
    finish_issue(state, engine, ctx, now)
    if swaps:
        begin_swap(state, engine, i.mask, uint32(i.defer), AFTER_SWAP, 0)
        if i.defer == 0:
            swap_out(state, engine, engine.clock)
    elif in_slot:
        count_slot(state, engine, ctx)


@jit
def arbitrate(state, engine, i, ctx, now):
    """ctx_arb with signals, voluntary, or with the mask prepared in ACTIVE_CTX_WAKEUP_EVENTS."""
    if engine.slots:
        report(state, RESERVED_DEFER, engine.number, ctx, engine.pc[ctx], 0)
    finish_issue(state, engine, ctx, now)
    variant = uint32(i.variant)
    wakeup = uint32(i.mask)
    if variant & uint32(ARBITRATE_PREPARED):
        wakeup = engine.wakeup[ctx]
    elif variant & uint32(ARBITRATE_VOLUNTARY):
        wakeup = uint32(VOLUNTARY)
        engine.signals[ctx] = uint32(engine.signals[ctx] | uint32(VOLUNTARY))
    after = uint32(AFTER_SWAP_GO) if variant & uint32(ARBITRATE_GO) else uint32(AFTER_SWAP)
    begin_swap(state, engine, wakeup, uint32(i.defer), after, uint32(i.target))
    if i.defer == 0:
        swap_out(state, engine, engine.clock)


@jit
def execute_rare(state, memory, engine, i, ctx, now, in_slot):
    """All external instructions but commands and arbitration."""
    op = uint32(i.op)
    if op == uint32(OP_CSR_READ):
        value = read_csr(state, engine, ctx, i.imm, now)
        if i.variant:
            report(state, RESERVED_CSR_READ, engine.number, ctx, engine.pc[ctx], i.imm)
        finish_issue(state, engine, ctx, now)
        engine.file[CSR_VALUE] = value
    elif op == uint32(OP_CSR_WRITE):
        a = uint32(uint32(i.a) + (uint32(i.a_window) & uint32(ctx << uint32(4))))
        if i.special:
            resolve(state, engine, i, ctx, engine.retired, now)
            a = engine.at_a
        if observing():
            see_csr(state, engine, ctx, i.imm, engine.file[a], now)
        note_actor(state, engine.number, ctx, engine.pc[ctx])
        write_csr(state, engine, ctx, i.imm, engine.file[a], now)
        finish_issue(state, engine, ctx, now)
    elif op == uint32(OP_SIGNAL_SET) or op == uint32(OP_SIGNAL_CLEAR):
        bit = uint32(uint32(1) << uint32(i.imm))
        arrived = (engine.signals[ctx] & bit) != uint32(0)
        engine.signals[ctx] = uint32(engine.signals[ctx] & ~bit)
        if observing():
            see_test(state, engine, ctx, i.imm, arrived, now)
        finish_issue(state, engine, ctx, now)
        if arrived == (op == uint32(OP_SIGNAL_SET)):
            branch_or_report(state, engine, i, ctx, in_slot)
            return
    elif op == uint32(OP_STATE_SET) or op == uint32(OP_STATE_CLEAR):
        flush_unit(state, memory, UNIT_SCRATCH, now)
        holds = input_state(state, engine, uint32(i.imm), now) != uint32(0)
        if uint32(i.imm) >= uint32(FLOW_CONTROL_INPUTS):
            value = uint32(uint32(1 << 16) | uint32(i.imm))
            report(state, RESERVED_NOT_MODELLED, engine.number, ctx, engine.pc[ctx], value)
        finish_issue(state, engine, ctx, now)
        if holds == (op == uint32(OP_STATE_SET)):
            branch_or_report(state, engine, i, ctx, in_slot)
            return
    elif op == uint32(OP_KILL):
        finish_issue(state, engine, ctx, now)
        if in_slot:
            report(state, RESERVED_DEFER, engine.number, ctx, engine.pc[ctx], 0)
        begin_swap(state, engine, WAKEUP_ANY, 0, AFTER_SWAP, 0)
        swap_out(state, engine, engine.clock)
        return
    else:
        stop_engine(state, engine, i, ctx, now)
        return
    if in_slot:
        count_slot(state, engine, ctx)


@jit
def branch_or_report(state, engine, i, ctx, in_slot):
    """A taken branch; in a defer slot of another one it takes its place, which is reserved."""
    if in_slot:
        report(state, RESERVED_DEFER, engine.number, ctx, uint32(engine.pc[ctx] - uint32(1)), 0)
    take_branch(state, engine, i, ctx)


@jit
def stop_engine(state, engine, i, ctx, now):
    """halt, an illegal word, or the end of the program: no context of this microengine runs on.

    A breakpoint waits for no signal: enabled again, its context goes on behind it (confidence L).
    """
    op = uint32(i.op)
    if op == uint32(OP_BREAKPOINT):
        if engine.slots:
            report(state, RESERVED_DEFER, engine.number, ctx, uint32(engine.pc[ctx] + uint32(1)), 0)
        finish_issue(state, engine, ctx, now)
        engine.ctx_enables = uint32(engine.ctx_enables | uint32(1 << 27))
        state.stop_pc = uint32(engine.pc[ctx] - uint32(1)) & uint32(store_words(state) - uint32(1))
        request_stop(state, STOP_HALT, engine.number, ctx)
        attention_interrupt(state, engine.number, ctx)
    else:
        kind = uint32(RESERVED_ILLEGAL) if op == uint32(OP_ILLEGAL) else uint32(RESERVED_COMMAND)
        if op == uint32(OP_STORE_END):
            kind = uint32(RESERVED_STORE_END)
        report(state, kind, engine.number, ctx, engine.pc[ctx], i.imm)
        # The machine cannot go on from here, whatever the mode.
        if state.stop_reason == uint32(0):
            state.stop_reason = uint32(STOP_RESERVED)
            state.stop_me = engine.number
            state.stop_ctx = ctx
            state.stop_time = now
    settle_shadows(engine, ctx)
    engine.enabled = uint32(0)
    engine.slots = uint32(0)
    engine.after = uint32(AFTER_NOTHING)
    engine.after_abort = uint32(0)
    engine.context = uint32(ctx | uint32(0x80))
    engine.previous_context = ctx
    engine.slept_at[ctx] = now
    if op == uint32(OP_BREAKPOINT):
        engine.wakeup[ctx] = uint32(0)
        engine.ready = uint32(engine.ready | (uint32(1) << ctx))
        engine.ready_at[ctx] = now
    else:
        engine.wakeup[ctx] = uint32(WAKEUP_ANY)
        engine.ready = uint32(engine.ready & ~(uint32(1) << ctx))


FLOW_CONTROL_INPUTS = 14        # and 15


@jit
def input_state(state, engine, number, now):
    """An input of br_inp_state: 0 NN_EMPTY, 1 NN_FULL, 2..13 status of scratch rings 0..11, 14 FCI_NOT_EMPTY, 15 FCI_FULL.

    NN_FULL looks at the ring of the receiver. There is no flow-control FIFO here: FCI inputs are 0.
    """
    if number >= uint32(2) and number < uint32(14):
        return visible_flag(state, uint32(number - uint32(2)), now)
    if number == uint32(0):
        threshold = (engine.ctx_enables >> uint32(18)) & uint32(3)
        return uint32(1) if engine.neighbor_words <= threshold else uint32(0)
    if number == uint32(1):
        receiver = neighbor_of(state, engine)
        return uint32(1) if state.engines[receiver].neighbor_words >= state.parameter[P_NEIGHBOR_FULL] else uint32(0)
    return uint32(0)


@jit
def neighbor_of(state, engine):
    """Number of the microengine whose next-neighbour registers this one writes; itself in self mode, or if it is the last."""
    if (engine.ctx_enables >> uint32(20)) & uint32(1) or not there(state, uint32(engine.number + uint32(1))):
        return engine.number
    return uint32(engine.number + uint32(1))


@jit
def finish_forced(state, engine, i, ctx, pc, now):
    """After a private instruction at `pc` that had to commit in time order: send a next-neighbour result on its way."""
    if (uint32(i.special) & uint32(SPECIAL_D)) == uint32(0):
        return
    kind = uint32(i.d) >> uint32(8)
    if kind != uint32(POINTER_NEIGHBOR) and kind != uint32(POINTER_NEIGHBOR_DIRECT):
        return
    to = neighbor_of(state, engine)
    own_mode = (engine.ctx_enables >> uint32(20)) & uint32(1)
    if to == engine.number and own_mode == uint32(0):
        report(state, RESERVED_NO_NEIGHBOR, engine.number, ctx, pc, 0)
        return                                      # the last microengine has no next one
    receiver = state.engines[to]
    place = uint32(uint32(i.d) & uint32(0xFF))
    ring = kind == uint32(POINTER_NEIGHBOR)
    if ring:
        place = receiver.nn_put
        receiver.nn_put = uint32(place + uint32(1)) & uint32(127)
    else:
        place = uint32(place + uint32(16) * ctx) & uint32(127)
    arrival = uint64(now + uint64(state.parameter[P_NEIGHBOR_SELF if own_mode else P_NEIGHBOR_PUT]))
    if observing():
        see_send(state, SEEN_NEIGHBOR, engine.number, ctx, 0, uint32(to * uint32(128) + place), engine.file[SINK], now, arrival)
    event = state.events[put_event(state, arrival)]
    event.kind = uint8(EVENT_NEIGHBOR)
    event.me = uint8(to)
    event.ctx = uint8(ctx)
    event.unit = uint8(UNIT_SIGNAL)
    event.address = place
    event.value = engine.file[SINK]
    event.flag = uint8(1) if ring else uint8(0)
    event.pc = uint16(pc)
    event.command = uint8(engine.number)
