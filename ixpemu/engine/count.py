"""Steps of pop_count and the source of ffs, watched for what is not defined; the counting is an expression of their blocks.

pop_count1, 2 and 3 must follow each other directly and with one source (H); anything else is reported.
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine.hidden import is_own, note_own, report_here
from ixpemu.engine.jit import jit
from ixpemu.engine.layout import OWN_POP_COUNT, RESERVED_FIND_FIRST, RESERVED_POP_COUNT


@jit
def find_first(state, engine, i, ctx, a, b, pc, order, clock):
    """ffs of a word without a 1: what it gives is in no source."""
    if b == uint32(0):
        report_here(state, RESERVED_FIND_FIRST, engine, ctx, pc, 0, clock)


@jit
def pop_count_1(state, engine, i, ctx, a, b, pc, order, clock):
    """The first step."""
    engine.pop_step = uint32(1)
    engine.pop_value = b
    engine.pop_next = uint64(order + uint64(1))
    note_own(engine, OWN_POP_COUNT)


@jit
def pop_count_2(state, engine, i, ctx, a, b, pc, order, clock):
    """The second step."""
    pop_count_step(state, engine, ctx, 1, b, pc, order, clock)


@jit
def pop_count_3(state, engine, i, ctx, a, b, pc, order, clock):
    """The last step."""
    pop_count_step(state, engine, ctx, 2, b, pc, order, clock)


@jit
def pop_count_step(state, engine, ctx, before, b, pc, order, clock):
    """Go on after `before` steps; reported unless they were the instructions just before, of this context, with this source."""
    if (engine.pop_step != uint32(before) or engine.pop_next != order or engine.pop_value != b
            or not is_own(engine, OWN_POP_COUNT)):
        report_here(state, RESERVED_POP_COUNT, engine, ctx, pc, b, clock)
    engine.pop_step = uint32(before + 1)
    engine.pop_value = b
    engine.pop_next = uint64(order + uint64(1))
