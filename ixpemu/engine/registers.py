"""Which transfer registers commands under way still use, so that only instructions that touch those have to wait for their turn.

A mask per context: bits 31..0 its SRAM registers, 63..32 its DRAM registers. While two commands use one register the masks only
grow, until none is under way.
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine.jit import jit
from ixpemu.engine.layout import (
    DRAM_IN,
    DRAM_OUT,
    MARK_READS_IN,
    MARK_READS_IN_INDEXED,
    MARK_WRITES_OUT,
    MARK_WRITES_OUT_INDEXED,
    SRAM_IN,
    SRAM_OUT,
)

ALL = 0xFFFFFFFFFFFFFFFF


@jit
def register_bits(index, words, ctx):
    """Bits of `words` registers from register-file index `index` of context `ctx` on; all bits if they leave its window."""
    index = uint32(index)
    shift = uint32(0)
    if index >= uint32(DRAM_OUT):
        base = uint32(DRAM_OUT)
        shift = uint32(32)
    elif index >= uint32(DRAM_IN):
        base = uint32(DRAM_IN)
        shift = uint32(32)
    elif index >= uint32(SRAM_OUT):
        base = uint32(SRAM_OUT)
    else:
        base = uint32(SRAM_IN)
    number = uint32(index - base - (uint32(ctx) << uint32(4)))
    if number >= uint32(32) or uint32(number + uint32(words)) > uint32(32):
        return uint64(ALL)
    return uint64(((uint64(1) << uint64(words)) - uint64(1)) << uint64(number + shift))


@jit
def note_in(engine, ctx, first, words):
    """A command will fill `words` registers from `first` on."""
    ctx = uint32(ctx)
    bits = register_bits(first, words, ctx)
    if engine.in_registers[ctx] & bits:
        engine.in_shared = uint32(engine.in_shared | (uint32(1) << ctx))
    engine.in_registers[ctx] = uint64(engine.in_registers[ctx] | bits)
    engine.in_pending[ctx] = uint32(engine.in_pending[ctx] + uint32(1))
    engine.in_total = uint32(engine.in_total + uint32(1))
    engine.marks[ctx] = uint32(engine.marks[ctx] | uint32(MARK_READS_IN))


@jit
def filled(engine, ctx, first, words):
    """A push has arrived."""
    ctx = uint32(ctx)
    left = uint32(engine.in_pending[ctx] - uint32(1))
    engine.in_pending[ctx] = left
    engine.in_total = uint32(engine.in_total - uint32(1))
    if left == uint32(0):
        engine.in_registers[ctx] = uint64(0)
        engine.marks[ctx] = uint32(engine.marks[ctx] & ~uint32(MARK_READS_IN))
        engine.in_shared = uint32(engine.in_shared & ~(uint32(1) << ctx))
    elif (engine.in_shared >> ctx) & uint32(1) == uint32(0):
        engine.in_registers[ctx] = uint64(engine.in_registers[ctx] & ~register_bits(first, words, ctx))


@jit
def note_out(engine, ctx, first, words):
    """A command will read `words` registers from `first` on. Those of a hash are numbered as the registers it fills."""
    ctx = uint32(ctx)
    bits = register_bits(first, words, ctx)
    if engine.out_registers[ctx] & bits:
        engine.out_shared = uint32(engine.out_shared | (uint32(1) << ctx))
    engine.out_registers[ctx] = uint64(engine.out_registers[ctx] | bits)
    engine.out_pending[ctx] = uint32(engine.out_pending[ctx] + uint32(1))
    engine.out_total = uint32(engine.out_total + uint32(1))
    engine.marks[ctx] = uint32(engine.marks[ctx] | uint32(MARK_WRITES_OUT))


@jit
def pulled(engine, ctx, first, words):
    """A unit has read the registers of a command."""
    ctx = uint32(ctx)
    left = uint32(engine.out_pending[ctx] - uint32(1))
    engine.out_pending[ctx] = left
    engine.out_total = uint32(engine.out_total - uint32(1))
    if left == uint32(0):
        engine.out_registers[ctx] = uint64(0)
        engine.marks[ctx] = uint32(engine.marks[ctx] & ~uint32(MARK_WRITES_OUT))
        engine.out_shared = uint32(engine.out_shared & ~(uint32(1) << ctx))
    elif (engine.out_shared >> ctx) & uint32(1) == uint32(0):
        engine.out_registers[ctx] = uint64(engine.out_registers[ctx] & ~register_bits(first, words, ctx))


@jit
def in_the_way(engine, i, ctx, marks):
    """Whether instruction `i`, of whose marks `marks` count now, must commit in time order: it is external by nature, or one of
    its registers is in use."""
    if marks & ~uint32(MARK_READS_IN | MARK_WRITES_OUT):
        return True
    used = uint64(0)
    if marks & uint32(MARK_READS_IN):
        busy = engine.in_registers[ctx]
        used = uint64((busy >> uint64(i.in_a)) | (busy >> uint64(i.in_b)))
    if marks & uint32(MARK_WRITES_OUT):
        used = uint64(used | (engine.out_registers[ctx] >> uint64(i.out_d)))
    return (used & uint64(1)) != uint64(0)


@jit
def pending_marks(engine, ctx):
    """The marks that make an instruction of `ctx` external right now."""
    marks = uint32(engine.base_marks | engine.marks[ctx])
    if engine.in_total:
        marks = uint32(marks | uint32(MARK_READS_IN_INDEXED))
    if engine.out_total:
        marks = uint32(marks | uint32(MARK_WRITES_OUT_INDEXED))
    return marks
