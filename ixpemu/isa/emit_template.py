"""The fixed text of the generated engine modules: the loop around the cases of dispatch.py. Filled in by emit.py."""

from __future__ import annotations

NUMBERS_HEAD = '''\
"""Addresses of control and status registers by name. Generated from isa/ by `python -m ixpemu.isa.emit`; do not edit."""
'''

FIXED_IMPORTS = {
    "jit": ("jit",),
    "layout": ("AFTER_GO", "AFTER_NOTHING", "CSR_VALUE", "MARKS_TRANSFER", "RESERVED_DEFER", "SINK", "SPECIAL_A", "SPECIAL_B",
               "SPECIAL_D"),
    "observation": ("SEEN_ABORT", "observing", "see_branch", "see_issue", "see_value"),
    "parameters": ("P_EARLY_BRANCH",),
    "pointers": ("resolve",),
    "registers": ("in_the_way",),
    "reserved": ("report_at",),
    "sizes": ("store_words",),
}
"""What the fixed text needs of the engine's modules; the actions of the cases come to it."""

HEAD = '''"""The private loop of a microengine. Generated from isa/ by `python -m ixpemu.isa.emit`; do not edit.

Executes the instructions of one context that nobody else can see, up to the next one that others can. Every case says which block
it came from. Operation numbers are grouped by what follows the case: flags and destination, destination, branch, nothing.
"""

from __future__ import annotations

from numpy import uint32, uint64

{imports}

OPERATIONS = {{
{names},
}}
"""Operation number of every private variant, by the variant's name."""

MODIFIES = frozenset(({modified},))
"""Operations that read the register they write: it comes as operand a."""

FIRST_RESULT = {flags}
FIRST_BRANCH = {results}
FIRST_OTHER = {branches}


@jit
def lowest_one(x):
    """Number of the least significant 1 bit, 0 for 0."""
    for k in range(32):
        if (x >> uint32(k)) & uint32(1):
            return uint32(k)
    return uint32(0)


@jit
def ones(x):
    """How many bits of x are 1."""
    x = uint32(x - ((x >> uint32(1)) & uint32(0x55555555)))
    x = uint32((x & uint32(0x33333333)) + ((x >> uint32(2)) & uint32(0x33333333)))
    x = uint32((x + (x >> uint32(4))) & uint32(0x0F0F0F0F))
    return uint32(uint32(x * uint32(0x01010101)) >> uint32(24))


'''

FOOT = '''@jit
def run_private(state, engine, horizon, far, pending):
    """Run the executing context up to its next external instruction, the cycle `far`, or the last defer slot of a swap.

    What touches transfer registers executes before the cycle `horizon` only. `pending`: the marks (MARK_*) that make an
    instruction external; 0 executes one that is marked but private by nature, whose turn has come.
    """
    file = engine.file
    ctx = engine.context
    window = uint32(ctx << uint32(4))
    base = uint32(engine.number * store_words(state))
    last = uint32(store_words(state) - uint32(1))
    pc = engine.pc[ctx]
    slots = engine.slots
    early = state.parameter[P_EARLY_BRANCH]
    clock = engine.clock
    start = clock
    squashed = engine.aborted
    before = uint64(engine.retired + engine.aborted - clock)        # with clock less aborted: instructions so far
    while clock < far:
        i = state.code[uint32(base + pc)]
        marks = uint32(i.marks)
        if clock >= horizon and marks & uint32(MARKS_TRANSFER):
            break
        marks = uint32(marks & pending)
        if marks and in_the_way(engine, i, ctx, marks):
            break
        op = uint32(i.op)
        a_at = uint32(uint32(i.a) + (uint32(i.a_window) & window))
        b_at = uint32(uint32(i.b) + (uint32(i.b_window) & window))
        d = uint32(uint32(i.d) + (uint32(i.d_window) & window))
        if i.special:
            engine.pc[ctx] = pc
            resolve(state, engine, i, ctx, uint64(before + clock - engine.aborted), clock)
            special = uint32(i.special)
            if special & uint32(SPECIAL_A):
                a_at = engine.at_a
            if special & uint32(SPECIAL_B):
                b_at = engine.at_b
            if special & uint32(SPECIAL_D):
                d = engine.at_d
        at = pc
        a = file[a_at]
        b = file[b_at]
        pc = uint32(pc + uint32(1)) & last
        clock = uint64(clock + uint64(1))
        if op < {flags}:
{flag_cases}
            engine.cc_result = r
            engine.cc_time = clock
            file[d] = r
            engine.previous_alu = r
            if observing():
                see_issue(state, engine.number, ctx, at, uint64(clock - uint64(1)), d, r, a_at, b_at)
        elif op < {results}:
{result_cases}
            file[d] = r
            engine.previous_alu = r
            if observing():
                see_issue(state, engine.number, ctx, at, uint64(clock - uint64(1)), d, r, a_at, b_at)
        elif op < {branches}:
            target = uint32(i.target)
            taken = False
{branch_cases}
            if observing():
                see_branch(state, engine.number, ctx, at, uint64(clock - uint64(1)), taken, target, i.defer, a_at, b_at)
            if taken:
                abort = uint64(i.abort)
                if early and engine.cc_time + uint64(1) != clock:
                    abort = uint64(i.early)
                if slots:
                    report_at(state, RESERVED_DEFER, engine.number, ctx, uint32(pc - uint32(1)), 0, uint64(clock - uint64(1)))
                    if i.defer == 0 and engine.after != uint32(AFTER_GO):
                        if observing() and abort:
                            see_value(state, SEEN_ABORT, engine.number, ctx, at, clock, abort, 0)
                        slots = uint32(0)               # it swaps out now, and goes on at the target
                        pc = target
                        clock = uint64(clock + abort)
                        engine.aborted = uint64(engine.aborted + abort)
                        break
                if i.defer:
                    engine.after = uint32(AFTER_GO)
                    engine.after_pc = target
                    engine.after_abort = uint32(abort)
                    slots = uint32(i.defer)
                    continue
                if observing() and abort:
                    see_value(state, SEEN_ABORT, engine.number, ctx, at, clock, abort, 0)
                slots = uint32(0)
                pc = target
                clock = uint64(clock + abort)
                engine.aborted = uint64(engine.aborted + abort)
        else:
{other_cases}
            if observing():
                see_issue(state, engine.number, ctx, at, uint64(clock - uint64(1)), SINK, 0, a_at, b_at)
        if slots:
            slots = uint32(slots - uint32(1))
            if slots == uint32(0):
                if engine.after != uint32(AFTER_GO):
                    break
                engine.after = uint32(AFTER_NOTHING)
                pc = engine.after_pc
                if observing() and engine.after_abort:
                    see_value(state, SEEN_ABORT, engine.number, ctx, at, clock, engine.after_abort, 0)
                clock = uint64(clock + uint64(engine.after_abort))
                engine.aborted = uint64(engine.aborted + uint64(engine.after_abort))
    engine.pc[ctx] = pc
    engine.slots = slots
    engine.clock = clock
    squashed = uint64(engine.aborted - squashed)
    issued = uint64((clock - start) - squashed)
    engine.retired = uint64(engine.retired + issued)
    engine.instructions[ctx] = uint32(engine.instructions[ctx] + uint32(issued))
    engine.aborts[ctx] = uint32(engine.aborts[ctx] + uint32(squashed))
'''
