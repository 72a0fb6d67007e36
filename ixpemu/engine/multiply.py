"""The multiplier: a 64-bit product that grows by one byte of b times a at each step; one for the microengine.

`i.imm` is what the option of the instruction says: the shape in bits 4:3 (0 start, 1 24x8, 2 16x16, 3 32x32), the step in bits
2:0 (0 to 3, 4 for last, 5 for last2). Sequences and results: machine facts H; a swap or another instruction in between M and L.
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine.hidden import is_own, note_own, report_here
from ixpemu.engine.jit import jit
from ixpemu.engine.layout import OWN_MULTIPLY, RESERVED_MULTIPLY, RESERVED_MULTIPLY_BETWEEN, RESERVED_MULTIPLY_WIDE

LAST, LAST_HIGH = 4, 5


@jit
def multiply_step(state, engine, i, ctx, a, b, pc, order, clock):
    """start, or one step."""
    shape, step = uint32(i.imm >> uint32(3)), uint32(i.imm & uint32(7))
    if shape == uint32(0):
        engine.multiply_product = uint64(0)
        engine.multiply_a = a
        engine.multiply_b = b
        engine.multiply_step = uint32(0)
        engine.multiply_next = uint64(order + uint64(1))
        note_own(engine, OWN_MULTIPLY)
        return
    if step == uint32(0):
        engine.multiply_shape = shape
        if too_wide(shape, a, b):
            report_here(state, RESERVED_MULTIPLY_WIDE, engine, ctx, pc, a if shape == uint32(2) and a >> uint32(16) else b, clock)
    follow(state, engine, ctx, shape, step, a == engine.multiply_a and b == engine.multiply_b, pc, order, clock)
    places = uint32(uint32(8) * step)
    octet = uint64((b >> places) & uint32(0xFF))
    engine.multiply_product = uint64(engine.multiply_product + ((uint64(a) * octet) << uint64(places)))
    engine.multiply_step = uint32(step + uint32(1))


@jit
def multiply_last(state, engine, i, ctx, a, b, pc, order, clock):
    """last gives the low word of the product, last2 the high word."""
    shape, step = uint32(i.imm >> uint32(3)), uint32(i.imm & uint32(7))
    steps = uint32(1)
    if shape == uint32(2):
        steps = uint32(2)
    elif shape == uint32(3):
        steps = uint32(4)
    if step == uint32(LAST_HIGH):
        steps = uint32(LAST_HIGH)
    follow(state, engine, ctx, shape, steps, True, pc, order, clock)
    engine.multiply_step = uint32(LAST_HIGH)
    if step == uint32(LAST_HIGH):
        engine.multiply_step = uint32(LAST_HIGH + 1)
        return uint32(engine.multiply_product >> uint64(32))
    return uint32(engine.multiply_product & uint64(0xFFFFFFFF))


@jit
def follow(state, engine, ctx, shape, before, same, pc, order, clock):
    """Report a step that `before` others of its shape, with the same sources, should have gone before, and did not."""
    if (not same or engine.multiply_shape != shape or engine.multiply_step != uint32(before) or not is_own(engine, OWN_MULTIPLY)):
        report_here(state, RESERVED_MULTIPLY, engine, ctx, pc, before, clock)
    elif engine.multiply_next != order:
        report_here(state, RESERVED_MULTIPLY_BETWEEN, engine, ctx, pc, before, clock)
    engine.multiply_shape = shape
    engine.multiply_next = uint64(order + uint64(1))


@jit
def too_wide(shape, a, b):
    """Whether the product of such operands is not defined for the shape: 24 bits and 8, or 16 and 16."""
    if shape == uint32(1):
        return (a >> uint32(24)) != uint32(0) or (b >> uint32(8)) != uint32(0)
    if shape == uint32(2):
        return (a >> uint32(16)) != uint32(0) or (b >> uint32(16)) != uint32(0)
    return False
