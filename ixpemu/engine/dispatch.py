"""The private loop of a microengine. Generated from isa/ by `python -m ixpemu.isa.emit`; do not edit.

Executes the instructions of one context that nobody else can see, up to the next one that others can. Every case says which block
it came from. Operation numbers are grouped by what follows the case: flags and destination, destination, branch, nothing.
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine.align import align_a, align_b
from ixpemu.engine.cam import cam_clear, cam_lookup, cam_read_state, cam_read_tag, cam_write, cam_write_state
from ixpemu.engine.count import find_first, pop_count_1, pop_count_2, pop_count_3
from ixpemu.engine.crc import crc
from ixpemu.engine.csrs import csr_read, csr_write
from ixpemu.engine.jit import jit
from ixpemu.engine.layout import (
    AFTER_GO,
    AFTER_NOTHING,
    CSR_VALUE,
    MARKS_TRANSFER,
    RESERVED_DEFER,
    SINK,
    SPECIAL_A,
    SPECIAL_B,
    SPECIAL_D,
)
from ixpemu.engine.multiply import multiply_last, multiply_step
from ixpemu.engine.observation import SEEN_ABORT, observing, see_branch, see_issue, see_value
from ixpemu.engine.parameters import P_EARLY_BRANCH
from ixpemu.engine.pointers import resolve
from ixpemu.engine.registers import in_the_way
from ixpemu.engine.reserved import report_at
from ixpemu.engine.sizes import store_words

OPERATIONS = {
    "alu.B": 0,
    "alu.+": 1,
    "alu.~B": 2,
    "alu.+16": 3,
    "alu.AND": 4,
    "alu.+8": 5,
    "alu.~AND": 6,
    "alu.-carry": 7,
    "alu.AND~": 8,
    "alu.+carry": 9,
    "alu.OR": 10,
    "alu.-": 11,
    "alu.XOR": 12,
    "alu.B-A": 13,
    "ffs": 14,
    "pop_count3": 15,
    "cam_lookup": 16,
    "cam_read_tag": 17,
    "cam_read_state": 18,
    "crc": 19,
    "mul_step.last": 20,
    "alu_shf.B": 21,
    "alu_shf.~B": 22,
    "alu_shf.AND": 23,
    "alu_shf.~AND": 24,
    "alu_shf.AND~": 25,
    "alu_shf.OR": 26,
    "alu_shf.B.>>indirect": 27,
    "alu_shf.~B.>>indirect": 28,
    "alu_shf.AND.>>indirect": 29,
    "alu_shf.~AND.>>indirect": 30,
    "alu_shf.AND~.>>indirect": 31,
    "alu_shf.OR.>>indirect": 32,
    "alu_shf.B.<<indirect": 33,
    "alu_shf.~B.<<indirect": 34,
    "alu_shf.AND.<<indirect": 35,
    "alu_shf.~AND.<<indirect": 36,
    "alu_shf.AND~.<<indirect": 37,
    "alu_shf.OR.<<indirect": 38,
    "asr": 39,
    "asr.>>indirect": 40,
    "dbl_shf": 41,
    "dbl_shf.>>indirect": 42,
    "ld_field.keep.load_cc": 43,
    "ld_field.keep.>>indirect.load_cc": 44,
    "ld_field.keep.<<indirect.load_cc": 45,
    "ld_field.w_clr.load_cc": 46,
    "ld_field.w_clr.>>indirect.load_cc": 47,
    "ld_field.w_clr.<<indirect.load_cc": 48,
    "byte_align.be": 49,
    "byte_align.le": 50,
    "immed": 51,
    "immed_w0": 52,
    "immed_w1": 53,
    "immed_b0": 54,
    "immed_b1": 55,
    "immed_b2": 56,
    "immed_b3": 57,
    "ld_field.keep": 58,
    "ld_field.keep.>>indirect": 59,
    "ld_field.keep.<<indirect": 60,
    "ld_field.w_clr": 61,
    "ld_field.w_clr.>>indirect": 62,
    "ld_field.w_clr.<<indirect": 63,
    "br": 64,
    "beq": 65,
    "bne": 66,
    "bmi": 67,
    "bpl": 68,
    "bhs": 69,
    "blo": 70,
    "bvs": 71,
    "bvc": 72,
    "bge": 73,
    "blt": 74,
    "ble": 75,
    "bgt": 76,
    "br=ctx": 77,
    "br!=ctx": 78,
    "br_bclr": 79,
    "br_bset": 80,
    "br!=byte": 81,
    "br=byte": 82,
    "jump": 83,
    "rtn": 84,
    "pop_count1": 85,
    "pop_count2": 86,
    "cam_clear": 87,
    "cam_write": 88,
    "cam_write_state": 89,
    "nop": 90,
    "local_csr_rd.private": 91,
    "local_csr_wr.private": 92,
    "mul_step.step": 93,
}
"""Operation number of every private variant, by the variant's name."""

MODIFIES = frozenset((43, 44, 45, 52, 53, 54, 55, 56, 57, 58, 59, 60,))
"""Operations that read the register they write: it comes as operand a."""

FIRST_RESULT = 51
FIRST_BRANCH = 64
FIRST_OTHER = 85


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


@jit
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
        if op < 51:
            if op < 25:
                if op < 12:
                    if op < 6:
                        if op < 3:
                            if op < 1:
                                # 0: alu.B   alu.isa:3
                                r = b
                                engine.cc_c = uint32(0)
                                engine.cc_v = uint32(0)
                                engine.previous_a = a
                            else:
                                if op < 2:
                                    # 1: alu.+   alu.isa:3
                                    r = uint32(a + b)
                                    engine.cc_c = uint32((uint64(a) + uint64(b)) >> uint64(32))
                                    engine.cc_v = uint32(((a ^ r) & (b ^ r)) >> uint32(31))
                                    engine.previous_a = a
                                else:
                                    # 2: alu.~B   alu.isa:3
                                    r = uint32(~b)
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                        else:
                            if op < 4:
                                # 3: alu.+16   alu.isa:3
                                r = uint32(a + uint32(b & uint32(0xffff)))
                                engine.cc_c = uint32((uint64(a) + uint64(uint32(b & uint32(0xffff)))) >> uint64(32))
                                engine.cc_v = uint32(((a ^ r) & (uint32(b & uint32(0xffff)) ^ r)) >> uint32(31))
                                engine.previous_a = a
                            else:
                                if op < 5:
                                    # 4: alu.AND   alu.isa:3
                                    r = uint32(a & b)
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                                else:
                                    # 5: alu.+8   alu.isa:3
                                    r = uint32(a + uint32(b & uint32(0xff)))
                                    engine.cc_c = uint32((uint64(a) + uint64(uint32(b & uint32(0xff)))) >> uint64(32))
                                    engine.cc_v = uint32(((a ^ r) & (uint32(b & uint32(0xff)) ^ r)) >> uint32(31))
                                    engine.previous_a = a
                    else:
                        if op < 9:
                            if op < 7:
                                # 6: alu.~AND   alu.isa:3
                                r = uint32(uint32(~a) & b)
                                engine.cc_c = uint32(0)
                                engine.cc_v = uint32(0)
                                engine.previous_a = a
                            else:
                                if op < 8:
                                    # 7: alu.-carry   alu.isa:3
                                    r = uint32(uint32(a + uint32(~b)) + engine.cc_c)
                                    engine.cc_v = uint32(((a ^ r) & (uint32(~b) ^ r)) >> uint32(31))
                                    engine.cc_c = uint32((uint64(a) + uint64(uint32(~b)) + uint64(engine.cc_c)) >> uint64(32))
                                    engine.previous_a = a
                                else:
                                    # 8: alu.AND~   alu.isa:3
                                    r = uint32(a & uint32(~b))
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                        else:
                            if op < 10:
                                # 9: alu.+carry   alu.isa:3
                                r = uint32(uint32(a + b) + engine.cc_c)
                                engine.cc_v = uint32(((a ^ r) & (b ^ r)) >> uint32(31))
                                engine.cc_c = uint32((uint64(a) + uint64(b) + uint64(engine.cc_c)) >> uint64(32))
                                engine.previous_a = a
                            else:
                                if op < 11:
                                    # 10: alu.OR   alu.isa:3
                                    r = uint32(a | b)
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                                else:
                                    # 11: alu.-   alu.isa:3
                                    r = uint32(a - b)
                                    engine.cc_c = uint32((uint64(a) + uint64(uint32(~b)) + uint64(uint32(1))) >> uint64(32))
                                    engine.cc_v = uint32(((a ^ r) & (uint32(~b) ^ r)) >> uint32(31))
                                    engine.previous_a = a
                else:
                    if op < 18:
                        if op < 15:
                            if op < 13:
                                # 12: alu.XOR   alu.isa:3
                                r = uint32(a ^ b)
                                engine.cc_c = uint32(0)
                                engine.cc_v = uint32(0)
                                engine.previous_a = a
                            else:
                                if op < 14:
                                    # 13: alu.B-A   alu.isa:3
                                    r = uint32(b - a)
                                    engine.cc_c = uint32((uint64(b) + uint64(uint32(~a)) + uint64(uint32(1))) >> uint64(32))
                                    engine.cc_v = uint32(((b ^ r) & (uint32(~a) ^ r)) >> uint32(31))
                                    engine.previous_a = a
                                else:
                                    # 14: ffs   alu.isa:37
                                    find_first(state, engine, i, ctx, a, b, pc, uint64(before + clock - engine.aborted - uint64(1)), clock)
                                    r = lowest_one(b)
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                        else:
                            if op < 16:
                                # 15: pop_count3   alu.isa:76
                                pop_count_3(state, engine, i, ctx, a, b, pc, uint64(before + clock - engine.aborted - uint64(1)), clock)
                                r = ones(b)
                                engine.cc_c = uint32(0)
                                engine.cc_v = uint32(0)
                                engine.previous_a = a
                            else:
                                if op < 17:
                                    # 16: cam_lookup   cam.isa:14
                                    result = cam_lookup(state, engine, i, ctx, a, b, pc, uint64(before + clock - engine.aborted - uint64(1)), clock)
                                    r = result
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                                else:
                                    # 17: cam_read_tag   cam.isa:64
                                    result = cam_read_tag(state, engine, i, ctx, a, b, pc, uint64(before + clock - engine.aborted - uint64(1)), clock)
                                    r = result
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                    else:
                        if op < 21:
                            if op < 19:
                                # 18: cam_read_state   cam.isa:78
                                result = cam_read_state(state, engine, i, ctx, a, b, pc, uint64(before + clock - engine.aborted - uint64(1)), clock)
                                r = result
                                engine.cc_c = uint32(0)
                                engine.cc_v = uint32(0)
                                engine.previous_a = a
                            else:
                                if op < 20:
                                    # 19: crc   crc.isa:3
                                    crc(state, engine, i, ctx, a, b, pc, uint64(before + clock - engine.aborted - uint64(1)), clock)
                                    r = b
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                else:
                                    # 20: mul_step.last   multiply.isa:3
                                    result = multiply_last(state, engine, i, ctx, a, b, pc, uint64(before + clock - engine.aborted - uint64(1)), clock)
                                    r = result
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                        else:
                            if op < 23:
                                if op < 22:
                                    # 21: alu_shf.B   shift.isa:3
                                    x = uint32(uint32((b >> uint32(i.amount)) | (b << ((uint32(32) - uint32(i.amount)) & uint32(31)))) & uint32(i.mask))
                                    r = x
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                                else:
                                    # 22: alu_shf.~B   shift.isa:3
                                    x = uint32(uint32((b >> uint32(i.amount)) | (b << ((uint32(32) - uint32(i.amount)) & uint32(31)))) & uint32(i.mask))
                                    r = uint32(~x)
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                            else:
                                if op < 24:
                                    # 23: alu_shf.AND   shift.isa:3
                                    x = uint32(uint32((b >> uint32(i.amount)) | (b << ((uint32(32) - uint32(i.amount)) & uint32(31)))) & uint32(i.mask))
                                    r = uint32(a & x)
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                                else:
                                    # 24: alu_shf.~AND   shift.isa:3
                                    x = uint32(uint32((b >> uint32(i.amount)) | (b << ((uint32(32) - uint32(i.amount)) & uint32(31)))) & uint32(i.mask))
                                    r = uint32(uint32(~a) & x)
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
            else:
                if op < 38:
                    if op < 31:
                        if op < 28:
                            if op < 26:
                                # 25: alu_shf.AND~   shift.isa:3
                                x = uint32(uint32((b >> uint32(i.amount)) | (b << ((uint32(32) - uint32(i.amount)) & uint32(31)))) & uint32(i.mask))
                                r = uint32(a & uint32(~x))
                                engine.cc_c = uint32(0)
                                engine.cc_v = uint32(0)
                                engine.previous_a = a
                            else:
                                if op < 27:
                                    # 26: alu_shf.OR   shift.isa:3
                                    x = uint32(uint32((b >> uint32(i.amount)) | (b << ((uint32(32) - uint32(i.amount)) & uint32(31)))) & uint32(i.mask))
                                    r = uint32(a | x)
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                                else:
                                    # 27: alu_shf.B.>>indirect   shift.isa:3
                                    x = uint32(b >> (engine.previous_a & uint32(0x1f)))
                                    r = x
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                        else:
                            if op < 29:
                                # 28: alu_shf.~B.>>indirect   shift.isa:3
                                x = uint32(b >> (engine.previous_a & uint32(0x1f)))
                                r = uint32(~x)
                                engine.cc_c = uint32(0)
                                engine.cc_v = uint32(0)
                                engine.previous_a = a
                            else:
                                if op < 30:
                                    # 29: alu_shf.AND.>>indirect   shift.isa:3
                                    x = uint32(b >> (engine.previous_a & uint32(0x1f)))
                                    r = uint32(a & x)
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                                else:
                                    # 30: alu_shf.~AND.>>indirect   shift.isa:3
                                    x = uint32(b >> (engine.previous_a & uint32(0x1f)))
                                    r = uint32(uint32(~a) & x)
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                    else:
                        if op < 34:
                            if op < 32:
                                # 31: alu_shf.AND~.>>indirect   shift.isa:3
                                x = uint32(b >> (engine.previous_a & uint32(0x1f)))
                                r = uint32(a & uint32(~x))
                                engine.cc_c = uint32(0)
                                engine.cc_v = uint32(0)
                                engine.previous_a = a
                            else:
                                if op < 33:
                                    # 32: alu_shf.OR.>>indirect   shift.isa:3
                                    x = uint32(b >> (engine.previous_a & uint32(0x1f)))
                                    r = uint32(a | x)
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                                else:
                                    # 33: alu_shf.B.<<indirect   shift.isa:3
                                    x = uint32(b << (engine.previous_a & uint32(0x1f)))
                                    r = x
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                        else:
                            if op < 36:
                                if op < 35:
                                    # 34: alu_shf.~B.<<indirect   shift.isa:3
                                    x = uint32(b << (engine.previous_a & uint32(0x1f)))
                                    r = uint32(~x)
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                                else:
                                    # 35: alu_shf.AND.<<indirect   shift.isa:3
                                    x = uint32(b << (engine.previous_a & uint32(0x1f)))
                                    r = uint32(a & x)
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                            else:
                                if op < 37:
                                    # 36: alu_shf.~AND.<<indirect   shift.isa:3
                                    x = uint32(b << (engine.previous_a & uint32(0x1f)))
                                    r = uint32(uint32(~a) & x)
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                                else:
                                    # 37: alu_shf.AND~.<<indirect   shift.isa:3
                                    x = uint32(b << (engine.previous_a & uint32(0x1f)))
                                    r = uint32(a & uint32(~x))
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                else:
                    if op < 44:
                        if op < 41:
                            if op < 39:
                                # 38: alu_shf.OR.<<indirect   shift.isa:3
                                x = uint32(b << (engine.previous_a & uint32(0x1f)))
                                r = uint32(a | x)
                                engine.cc_c = uint32(0)
                                engine.cc_v = uint32(0)
                                engine.previous_a = a
                            else:
                                if op < 40:
                                    # 39: asr   shift.isa:35
                                    r = uint32((((uint64(uint32(uint32(0) - (engine.previous_alu >> uint32(31)))) << uint64(32)) | uint64(b)) >> uint64(uint32(i.amount))) & uint64(0xFFFFFFFF))
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                                else:
                                    # 40: asr.>>indirect   shift.isa:35
                                    r = uint32((((uint64(uint32(uint32(0) - (engine.previous_alu >> uint32(31)))) << uint64(32)) | uint64(b)) >> uint64((engine.previous_a & uint32(0x1f)))) & uint64(0xFFFFFFFF))
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                        else:
                            if op < 42:
                                # 41: dbl_shf   shift.isa:52
                                r = uint32((((uint64(a) << uint64(32)) | uint64(b)) >> uint64(uint32(i.amount))) & uint64(0xFFFFFFFF))
                                engine.cc_c = uint32(0)
                                engine.cc_v = uint32(0)
                                engine.previous_a = a
                            else:
                                if op < 43:
                                    # 42: dbl_shf.>>indirect   shift.isa:52
                                    r = uint32((((uint64(a) << uint64(32)) | uint64(b)) >> uint64((engine.previous_a & uint32(0x1f)))) & uint64(0xFFFFFFFF))
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                                else:
                                    # 43: ld_field.keep.load_cc   shift.isa:68
                                    x = uint32(uint32((b >> uint32(i.amount)) | (b << ((uint32(32) - uint32(i.amount)) & uint32(31)))) & uint32(i.mask))
                                    r = uint32(uint32(a & uint32(~uint32(i.imm))) | uint32(x & uint32(i.imm)))
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                    else:
                        if op < 47:
                            if op < 45:
                                # 44: ld_field.keep.>>indirect.load_cc   shift.isa:68
                                x = uint32(b >> (engine.previous_a & uint32(0x1f)))
                                r = uint32(uint32(a & uint32(~uint32(i.imm))) | uint32(x & uint32(i.imm)))
                                engine.cc_c = uint32(0)
                                engine.cc_v = uint32(0)
                            else:
                                if op < 46:
                                    # 45: ld_field.keep.<<indirect.load_cc   shift.isa:68
                                    x = uint32(b << (engine.previous_a & uint32(0x1f)))
                                    r = uint32(uint32(a & uint32(~uint32(i.imm))) | uint32(x & uint32(i.imm)))
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                else:
                                    # 46: ld_field.w_clr.load_cc   shift.isa:68
                                    x = uint32(uint32((b >> uint32(i.amount)) | (b << ((uint32(32) - uint32(i.amount)) & uint32(31)))) & uint32(i.mask))
                                    r = uint32(x & uint32(i.imm))
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                        else:
                            if op < 49:
                                if op < 48:
                                    # 47: ld_field.w_clr.>>indirect.load_cc   shift.isa:68
                                    x = uint32(b >> (engine.previous_a & uint32(0x1f)))
                                    r = uint32(x & uint32(i.imm))
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                else:
                                    # 48: ld_field.w_clr.<<indirect.load_cc   shift.isa:68
                                    x = uint32(b << (engine.previous_a & uint32(0x1f)))
                                    r = uint32(x & uint32(i.imm))
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                            else:
                                if op < 50:
                                    # 49: byte_align.be   shift.isa:97
                                    align_b(state, engine, i, ctx, a, b, pc, uint64(before + clock - engine.aborted - uint64(1)), clock)
                                    r = uint32((((uint64(engine.align_b) << uint64(32)) | uint64(b)) >> uint64(uint32(uint32(0x20) - uint32(engine.byte_index * uint32(8))))) & uint64(0xFFFFFFFF))
                                    engine.align_b = b
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                                else:
                                    # 50: byte_align.le   shift.isa:97
                                    align_a(state, engine, i, ctx, a, b, pc, uint64(before + clock - engine.aborted - uint64(1)), clock)
                                    r = uint32((((uint64(a) << uint64(32)) | uint64(engine.align_a)) >> uint64(uint32(engine.byte_index * uint32(8)))) & uint64(0xFFFFFFFF))
                                    engine.align_a = a
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
            engine.cc_result = r
            engine.cc_time = clock
            file[d] = r
            engine.previous_alu = r
            if observing():
                see_issue(state, engine.number, ctx, at, uint64(clock - uint64(1)), d, r, a_at, b_at)
        elif op < 64:
            if op < 57:
                if op < 54:
                    if op < 52:
                        # 51: immed   immed.isa:15
                        r = uint32(i.imm)
                    else:
                        if op < 53:
                            # 52: immed_w0   immed.isa:37
                            r = uint32(uint32(a & uint32(0xffff0000)) | uint32(i.imm))
                        else:
                            # 53: immed_w1   immed.isa:37
                            r = uint32(uint32(a & uint32(0xffff)) | uint32(uint32(i.imm) << uint32(0x10)))
                else:
                    if op < 55:
                        # 54: immed_b0   immed.isa:58
                        r = uint32(uint32(a & uint32(0xffffff00)) | uint32(i.imm))
                    else:
                        if op < 56:
                            # 55: immed_b1   immed.isa:58
                            r = uint32(uint32(a & uint32(0xffff00ff)) | uint32(uint32(i.imm) << uint32(8)))
                        else:
                            # 56: immed_b2   immed.isa:58
                            r = uint32(uint32(a & uint32(0xff00ffff)) | uint32(uint32(i.imm) << uint32(0x10)))
            else:
                if op < 60:
                    if op < 58:
                        # 57: immed_b3   immed.isa:58
                        r = uint32(uint32(a & uint32(0xffffff)) | uint32(uint32(i.imm) << uint32(0x18)))
                    else:
                        if op < 59:
                            # 58: ld_field.keep   shift.isa:68
                            x = uint32(uint32((b >> uint32(i.amount)) | (b << ((uint32(32) - uint32(i.amount)) & uint32(31)))) & uint32(i.mask))
                            r = uint32(uint32(a & uint32(~uint32(i.imm))) | uint32(x & uint32(i.imm)))
                        else:
                            # 59: ld_field.keep.>>indirect   shift.isa:68
                            x = uint32(b >> (engine.previous_a & uint32(0x1f)))
                            r = uint32(uint32(a & uint32(~uint32(i.imm))) | uint32(x & uint32(i.imm)))
                else:
                    if op < 62:
                        if op < 61:
                            # 60: ld_field.keep.<<indirect   shift.isa:68
                            x = uint32(b << (engine.previous_a & uint32(0x1f)))
                            r = uint32(uint32(a & uint32(~uint32(i.imm))) | uint32(x & uint32(i.imm)))
                        else:
                            # 61: ld_field.w_clr   shift.isa:68
                            x = uint32(uint32((b >> uint32(i.amount)) | (b << ((uint32(32) - uint32(i.amount)) & uint32(31)))) & uint32(i.mask))
                            r = uint32(x & uint32(i.imm))
                    else:
                        if op < 63:
                            # 62: ld_field.w_clr.>>indirect   shift.isa:68
                            x = uint32(b >> (engine.previous_a & uint32(0x1f)))
                            r = uint32(x & uint32(i.imm))
                        else:
                            # 63: ld_field.w_clr.<<indirect   shift.isa:68
                            x = uint32(b << (engine.previous_a & uint32(0x1f)))
                            r = uint32(x & uint32(i.imm))
            file[d] = r
            engine.previous_alu = r
            if observing():
                see_issue(state, engine.number, ctx, at, uint64(clock - uint64(1)), d, r, a_at, b_at)
        elif op < 85:
            target = uint32(i.target)
            taken = False
            if op < 74:
                if op < 69:
                    if op < 66:
                        if op < 65:
                            # 64: br   branch.isa:3
                            taken = True
                        else:
                            # 65: beq   branch.isa:15
                            taken = uint32(engine.cc_result == uint32(0)) != uint32(0)
                    else:
                        if op < 67:
                            # 66: bne   branch.isa:15
                            taken = uint32(engine.cc_result == uint32(0)) == uint32(0)
                        else:
                            if op < 68:
                                # 67: bmi   branch.isa:15
                                taken = uint32(engine.cc_result >> uint32(31)) != uint32(0)
                            else:
                                # 68: bpl   branch.isa:15
                                taken = uint32(engine.cc_result >> uint32(31)) == uint32(0)
                else:
                    if op < 71:
                        if op < 70:
                            # 69: bhs   branch.isa:15
                            taken = engine.cc_c != uint32(0)
                        else:
                            # 70: blo   branch.isa:15
                            taken = engine.cc_c == uint32(0)
                    else:
                        if op < 72:
                            # 71: bvs   branch.isa:15
                            taken = engine.cc_v != uint32(0)
                        else:
                            if op < 73:
                                # 72: bvc   branch.isa:15
                                taken = engine.cc_v == uint32(0)
                            else:
                                # 73: bge   branch.isa:15
                                taken = uint32(engine.cc_result >> uint32(31)) == engine.cc_v
            else:
                if op < 79:
                    if op < 76:
                        if op < 75:
                            # 74: blt   branch.isa:15
                            taken = uint32(engine.cc_result >> uint32(31)) != engine.cc_v
                        else:
                            # 75: ble   branch.isa:15
                            taken = uint32(uint32(engine.cc_result == uint32(0)) | uint32(uint32(engine.cc_result >> uint32(31)) != engine.cc_v)) != uint32(0)
                    else:
                        if op < 77:
                            # 76: bgt   branch.isa:15
                            taken = uint32(uint32(engine.cc_result == uint32(0)) | uint32(uint32(engine.cc_result >> uint32(31)) != engine.cc_v)) == uint32(0)
                        else:
                            if op < 78:
                                # 77: br=ctx   branch.isa:41
                                taken = ctx == uint32(i.imm)
                            else:
                                # 78: br!=ctx   branch.isa:41
                                taken = ctx != uint32(i.imm)
                else:
                    if op < 82:
                        if op < 80:
                            # 79: br_bclr   branch.isa:91
                            taken = uint32(uint32(a >> uint32(i.amount)) & uint32(1)) == uint32(0)
                        else:
                            if op < 81:
                                # 80: br_bset   branch.isa:91
                                taken = uint32(uint32(a >> uint32(i.amount)) & uint32(1)) != uint32(0)
                            else:
                                # 81: br!=byte   branch.isa:107
                                taken = uint32(uint32(a >> uint32(uint32(i.amount) * uint32(8))) & uint32(0xff)) != uint32(i.imm)
                    else:
                        if op < 83:
                            # 82: br=byte   branch.isa:107
                            taken = uint32(uint32(a >> uint32(uint32(i.amount) * uint32(8))) & uint32(0xff)) == uint32(i.imm)
                        else:
                            if op < 84:
                                # 83: jump   branch.isa:124
                                taken = True
                                target = uint32(a + uint32(i.target)) & last
                            else:
                                # 84: rtn   branch.isa:143
                                taken = True
                                target = a & last
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
            if op < 89:
                if op < 87:
                    if op < 86:
                        # 85: pop_count1   alu.isa:52
                        pop_count_1(state, engine, i, ctx, a, b, pc, uint64(before + clock - engine.aborted - uint64(1)), clock)
                    else:
                        # 86: pop_count2   alu.isa:65
                        pop_count_2(state, engine, i, ctx, a, b, pc, uint64(before + clock - engine.aborted - uint64(1)), clock)
                else:
                    if op < 88:
                        # 87: cam_clear   cam.isa:3
                        cam_clear(state, engine, i, ctx, a, b, pc, uint64(before + clock - engine.aborted - uint64(1)), clock)
                    else:
                        # 88: cam_write   cam.isa:38
                        cam_write(state, engine, i, ctx, a, b, pc, uint64(before + clock - engine.aborted - uint64(1)), clock)
            else:
                if op < 91:
                    if op < 90:
                        # 89: cam_write_state   cam.isa:52
                        cam_write_state(state, engine, i, ctx, a, b, pc, uint64(before + clock - engine.aborted - uint64(1)), clock)
                    else:
                        # 90: nop   immed.isa:4
                        pass
                else:
                    if op < 92:
                        # 91: local_csr_rd.private   local_csr.isa:3
                        file[CSR_VALUE] = csr_read(state, engine, i, ctx, a, b, pc, uint64(before + clock - engine.aborted - uint64(1)), clock)
                    else:
                        if op < 93:
                            # 92: local_csr_wr.private   local_csr.isa:16
                            csr_write(state, engine, i, ctx, a, b, pc, uint64(before + clock - engine.aborted - uint64(1)), clock)
                        else:
                            # 93: mul_step.step   multiply.isa:3
                            multiply_step(state, engine, i, ctx, a, b, pc, uint64(before + clock - engine.aborted - uint64(1)), clock)
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
