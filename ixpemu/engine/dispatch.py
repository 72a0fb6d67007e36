"""The private loop of a microengine. Generated from isa/ by `python -m ixpemu.isa.emit`; do not edit.

Executes the instructions of one context that nobody else can see, up to the next one that others can. Every case says which block
it came from. Operation numbers are grouped by what follows the case: flags and destination, destination, branch, nothing.
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine.csrs import read_private, write_private
from ixpemu.engine.jit import jit
from ixpemu.engine.layout import (
    AFTER_GO,
    AFTER_NOTHING,
    CSR_VALUE,
    RESERVED_DEFER,
    SINK,
    SPECIAL_A,
    SPECIAL_B,
    SPECIAL_D,
    STORE_WORDS,
)
from ixpemu.engine.observation import SEEN_ABORT, observing, see_branch, see_issue, see_value
from ixpemu.engine.parameters import P_EARLY_BRANCH
from ixpemu.engine.pointers import resolve
from ixpemu.engine.registers import in_the_way
from ixpemu.engine.reserved import report_at

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
    "alu_shf.B": 15,
    "alu_shf.~B": 16,
    "alu_shf.AND": 17,
    "alu_shf.~AND": 18,
    "alu_shf.AND~": 19,
    "alu_shf.OR": 20,
    "alu_shf.B.>>indirect": 21,
    "alu_shf.~B.>>indirect": 22,
    "alu_shf.AND.>>indirect": 23,
    "alu_shf.~AND.>>indirect": 24,
    "alu_shf.AND~.>>indirect": 25,
    "alu_shf.OR.>>indirect": 26,
    "alu_shf.B.<<indirect": 27,
    "alu_shf.~B.<<indirect": 28,
    "alu_shf.AND.<<indirect": 29,
    "alu_shf.~AND.<<indirect": 30,
    "alu_shf.AND~.<<indirect": 31,
    "alu_shf.OR.<<indirect": 32,
    "asr": 33,
    "asr.>>indirect": 34,
    "dbl_shf": 35,
    "dbl_shf.>>indirect": 36,
    "ld_field.keep.load_cc": 37,
    "ld_field.keep.>>indirect.load_cc": 38,
    "ld_field.keep.<<indirect.load_cc": 39,
    "ld_field.w_clr.load_cc": 40,
    "ld_field.w_clr.>>indirect.load_cc": 41,
    "ld_field.w_clr.<<indirect.load_cc": 42,
    "byte_align.be": 43,
    "byte_align.le": 44,
    "immed": 45,
    "immed_w0": 46,
    "immed_w1": 47,
    "immed_b0": 48,
    "immed_b1": 49,
    "immed_b2": 50,
    "immed_b3": 51,
    "ld_field.keep": 52,
    "ld_field.keep.>>indirect": 53,
    "ld_field.keep.<<indirect": 54,
    "ld_field.w_clr": 55,
    "ld_field.w_clr.>>indirect": 56,
    "ld_field.w_clr.<<indirect": 57,
    "br": 58,
    "beq": 59,
    "bne": 60,
    "bmi": 61,
    "bpl": 62,
    "bhs": 63,
    "blo": 64,
    "bvs": 65,
    "bvc": 66,
    "bge": 67,
    "blt": 68,
    "ble": 69,
    "bgt": 70,
    "br=ctx": 71,
    "br!=ctx": 72,
    "br_bclr": 73,
    "br_bset": 74,
    "br!=byte": 75,
    "br=byte": 76,
    "jump": 77,
    "rtn": 78,
    "nop": 79,
    "local_csr_rd.private": 80,
    "local_csr_wr.private": 81,
}
"""Operation number of every private variant, by the variant's name."""

MODIFIES = frozenset((37, 38, 39, 46, 47, 48, 49, 50, 51, 52, 53, 54,))
"""Operations that read the register they write: it comes as operand a."""

FIRST_RESULT = 45
FIRST_BRANCH = 58
FIRST_OTHER = 79


@jit
def lowest_one(x):
    """Number of the least significant 1 bit, 0 for 0."""
    for k in range(32):
        if (x >> uint32(k)) & uint32(1):
            return uint32(k)
    return uint32(0)


@jit
def run_private(state, engine, horizon, pending):
    """Run the executing context up to its next external instruction, the cycle `horizon`, or the last defer slot of a swap.

    `pending`: the marks (MARK_*) that make an instruction external; 0 executes one that is marked but private by nature, whose
    turn has come.
    """
    file = engine.file
    ctx = engine.context
    window = uint32(ctx << uint32(4))
    base = uint32(engine.number * uint32(STORE_WORDS))
    pc = engine.pc[ctx]
    slots = engine.slots
    early = state.parameter[P_EARLY_BRANCH]
    clock = engine.clock
    start = clock
    squashed = engine.aborted
    before = uint64(engine.retired + engine.aborted - clock)        # with clock less aborted: instructions so far
    while clock < horizon:
        i = state.code[uint32(base + pc)]
        marks = uint32(i.marks) & pending
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
        pc = uint32(pc + uint32(1)) & uint32(STORE_WORDS - 1)
        clock = uint64(clock + uint64(1))
        if op < 45:
            if op < 22:
                if op < 11:
                    if op < 5:
                        if op < 2:
                            if op < 1:
                                # 0: alu.B   alu.isa:3
                                r = b
                                engine.cc_c = uint32(0)
                                engine.cc_v = uint32(0)
                                engine.previous_a = a
                            else:
                                # 1: alu.+   alu.isa:3
                                r = uint32(a + b)
                                engine.cc_c = uint32((uint64(a) + uint64(b)) >> uint64(32))
                                engine.cc_v = uint32(((a ^ r) & (b ^ r)) >> uint32(31))
                                engine.previous_a = a
                        else:
                            if op < 3:
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
                                    # 4: alu.AND   alu.isa:3
                                    r = uint32(a & b)
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                    else:
                        if op < 8:
                            if op < 6:
                                # 5: alu.+8   alu.isa:3
                                r = uint32(a + uint32(b & uint32(0xff)))
                                engine.cc_c = uint32((uint64(a) + uint64(uint32(b & uint32(0xff)))) >> uint64(32))
                                engine.cc_v = uint32(((a ^ r) & (uint32(b & uint32(0xff)) ^ r)) >> uint32(31))
                                engine.previous_a = a
                            else:
                                if op < 7:
                                    # 6: alu.~AND   alu.isa:3
                                    r = uint32(uint32(~a) & b)
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                                else:
                                    # 7: alu.-carry   alu.isa:3
                                    r = uint32(uint32(a + uint32(~b)) + engine.cc_c)
                                    engine.cc_v = uint32(((a ^ r) & (uint32(~b) ^ r)) >> uint32(31))
                                    engine.cc_c = uint32((uint64(a) + uint64(uint32(~b)) + uint64(engine.cc_c)) >> uint64(32))
                                    engine.previous_a = a
                        else:
                            if op < 9:
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
                                    # 10: alu.OR   alu.isa:3
                                    r = uint32(a | b)
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                else:
                    if op < 16:
                        if op < 13:
                            if op < 12:
                                # 11: alu.-   alu.isa:3
                                r = uint32(a - b)
                                engine.cc_c = uint32((uint64(a) + uint64(uint32(~b)) + uint64(uint32(1))) >> uint64(32))
                                engine.cc_v = uint32(((a ^ r) & (uint32(~b) ^ r)) >> uint32(31))
                                engine.previous_a = a
                            else:
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
                                if op < 15:
                                    # 14: ffs   alu.isa:37
                                    r = lowest_one(b)
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                                else:
                                    # 15: alu_shf.B   shift.isa:3
                                    x = uint32(uint32((b >> uint32(i.amount)) | (b << ((uint32(32) - uint32(i.amount)) & uint32(31)))) & uint32(i.mask))
                                    r = x
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                    else:
                        if op < 19:
                            if op < 17:
                                # 16: alu_shf.~B   shift.isa:3
                                x = uint32(uint32((b >> uint32(i.amount)) | (b << ((uint32(32) - uint32(i.amount)) & uint32(31)))) & uint32(i.mask))
                                r = uint32(~x)
                                engine.cc_c = uint32(0)
                                engine.cc_v = uint32(0)
                                engine.previous_a = a
                            else:
                                if op < 18:
                                    # 17: alu_shf.AND   shift.isa:3
                                    x = uint32(uint32((b >> uint32(i.amount)) | (b << ((uint32(32) - uint32(i.amount)) & uint32(31)))) & uint32(i.mask))
                                    r = uint32(a & x)
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                                else:
                                    # 18: alu_shf.~AND   shift.isa:3
                                    x = uint32(uint32((b >> uint32(i.amount)) | (b << ((uint32(32) - uint32(i.amount)) & uint32(31)))) & uint32(i.mask))
                                    r = uint32(uint32(~a) & x)
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                        else:
                            if op < 20:
                                # 19: alu_shf.AND~   shift.isa:3
                                x = uint32(uint32((b >> uint32(i.amount)) | (b << ((uint32(32) - uint32(i.amount)) & uint32(31)))) & uint32(i.mask))
                                r = uint32(a & uint32(~x))
                                engine.cc_c = uint32(0)
                                engine.cc_v = uint32(0)
                                engine.previous_a = a
                            else:
                                if op < 21:
                                    # 20: alu_shf.OR   shift.isa:3
                                    x = uint32(uint32((b >> uint32(i.amount)) | (b << ((uint32(32) - uint32(i.amount)) & uint32(31)))) & uint32(i.mask))
                                    r = uint32(a | x)
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                                else:
                                    # 21: alu_shf.B.>>indirect   shift.isa:3
                                    x = uint32(b >> (engine.previous_a & uint32(0x1f)))
                                    r = x
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
            else:
                if op < 33:
                    if op < 27:
                        if op < 24:
                            if op < 23:
                                # 22: alu_shf.~B.>>indirect   shift.isa:3
                                x = uint32(b >> (engine.previous_a & uint32(0x1f)))
                                r = uint32(~x)
                                engine.cc_c = uint32(0)
                                engine.cc_v = uint32(0)
                                engine.previous_a = a
                            else:
                                # 23: alu_shf.AND.>>indirect   shift.isa:3
                                x = uint32(b >> (engine.previous_a & uint32(0x1f)))
                                r = uint32(a & x)
                                engine.cc_c = uint32(0)
                                engine.cc_v = uint32(0)
                                engine.previous_a = a
                        else:
                            if op < 25:
                                # 24: alu_shf.~AND.>>indirect   shift.isa:3
                                x = uint32(b >> (engine.previous_a & uint32(0x1f)))
                                r = uint32(uint32(~a) & x)
                                engine.cc_c = uint32(0)
                                engine.cc_v = uint32(0)
                                engine.previous_a = a
                            else:
                                if op < 26:
                                    # 25: alu_shf.AND~.>>indirect   shift.isa:3
                                    x = uint32(b >> (engine.previous_a & uint32(0x1f)))
                                    r = uint32(a & uint32(~x))
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                                else:
                                    # 26: alu_shf.OR.>>indirect   shift.isa:3
                                    x = uint32(b >> (engine.previous_a & uint32(0x1f)))
                                    r = uint32(a | x)
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                    else:
                        if op < 30:
                            if op < 28:
                                # 27: alu_shf.B.<<indirect   shift.isa:3
                                x = uint32(b << (engine.previous_a & uint32(0x1f)))
                                r = x
                                engine.cc_c = uint32(0)
                                engine.cc_v = uint32(0)
                                engine.previous_a = a
                            else:
                                if op < 29:
                                    # 28: alu_shf.~B.<<indirect   shift.isa:3
                                    x = uint32(b << (engine.previous_a & uint32(0x1f)))
                                    r = uint32(~x)
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                                else:
                                    # 29: alu_shf.AND.<<indirect   shift.isa:3
                                    x = uint32(b << (engine.previous_a & uint32(0x1f)))
                                    r = uint32(a & x)
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                        else:
                            if op < 31:
                                # 30: alu_shf.~AND.<<indirect   shift.isa:3
                                x = uint32(b << (engine.previous_a & uint32(0x1f)))
                                r = uint32(uint32(~a) & x)
                                engine.cc_c = uint32(0)
                                engine.cc_v = uint32(0)
                                engine.previous_a = a
                            else:
                                if op < 32:
                                    # 31: alu_shf.AND~.<<indirect   shift.isa:3
                                    x = uint32(b << (engine.previous_a & uint32(0x1f)))
                                    r = uint32(a & uint32(~x))
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                                else:
                                    # 32: alu_shf.OR.<<indirect   shift.isa:3
                                    x = uint32(b << (engine.previous_a & uint32(0x1f)))
                                    r = uint32(a | x)
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                else:
                    if op < 39:
                        if op < 36:
                            if op < 34:
                                # 33: asr   shift.isa:35
                                r = uint32((((uint64(uint32(uint32(0) - (engine.previous_alu >> uint32(31)))) << uint64(32)) | uint64(b)) >> uint64(uint32(i.amount))) & uint64(0xFFFFFFFF))
                                engine.cc_c = uint32(0)
                                engine.cc_v = uint32(0)
                                engine.previous_a = a
                            else:
                                if op < 35:
                                    # 34: asr.>>indirect   shift.isa:35
                                    r = uint32((((uint64(uint32(uint32(0) - (engine.previous_alu >> uint32(31)))) << uint64(32)) | uint64(b)) >> uint64((engine.previous_a & uint32(0x1f)))) & uint64(0xFFFFFFFF))
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                                else:
                                    # 35: dbl_shf   shift.isa:52
                                    r = uint32((((uint64(a) << uint64(32)) | uint64(b)) >> uint64(uint32(i.amount))) & uint64(0xFFFFFFFF))
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                        else:
                            if op < 37:
                                # 36: dbl_shf.>>indirect   shift.isa:52
                                r = uint32((((uint64(a) << uint64(32)) | uint64(b)) >> uint64((engine.previous_a & uint32(0x1f)))) & uint64(0xFFFFFFFF))
                                engine.cc_c = uint32(0)
                                engine.cc_v = uint32(0)
                                engine.previous_a = a
                            else:
                                if op < 38:
                                    # 37: ld_field.keep.load_cc   shift.isa:68
                                    x = uint32(uint32((b >> uint32(i.amount)) | (b << ((uint32(32) - uint32(i.amount)) & uint32(31)))) & uint32(i.mask))
                                    r = uint32(uint32(a & uint32(~uint32(i.imm))) | uint32(x & uint32(i.imm)))
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                else:
                                    # 38: ld_field.keep.>>indirect.load_cc   shift.isa:68
                                    x = uint32(b >> (engine.previous_a & uint32(0x1f)))
                                    r = uint32(uint32(a & uint32(~uint32(i.imm))) | uint32(x & uint32(i.imm)))
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                    else:
                        if op < 42:
                            if op < 40:
                                # 39: ld_field.keep.<<indirect.load_cc   shift.isa:68
                                x = uint32(b << (engine.previous_a & uint32(0x1f)))
                                r = uint32(uint32(a & uint32(~uint32(i.imm))) | uint32(x & uint32(i.imm)))
                                engine.cc_c = uint32(0)
                                engine.cc_v = uint32(0)
                            else:
                                if op < 41:
                                    # 40: ld_field.w_clr.load_cc   shift.isa:68
                                    x = uint32(uint32((b >> uint32(i.amount)) | (b << ((uint32(32) - uint32(i.amount)) & uint32(31)))) & uint32(i.mask))
                                    r = uint32(x & uint32(i.imm))
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                else:
                                    # 41: ld_field.w_clr.>>indirect.load_cc   shift.isa:68
                                    x = uint32(b >> (engine.previous_a & uint32(0x1f)))
                                    r = uint32(x & uint32(i.imm))
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                        else:
                            if op < 43:
                                # 42: ld_field.w_clr.<<indirect.load_cc   shift.isa:68
                                x = uint32(b << (engine.previous_a & uint32(0x1f)))
                                r = uint32(x & uint32(i.imm))
                                engine.cc_c = uint32(0)
                                engine.cc_v = uint32(0)
                            else:
                                if op < 44:
                                    # 43: byte_align.be   shift.isa:97
                                    r = uint32((((uint64(engine.align_b) << uint64(32)) | uint64(b)) >> uint64(uint32(uint32(0x20) - uint32(engine.byte_index * uint32(8))))) & uint64(0xFFFFFFFF))
                                    engine.align_b = b
                                    engine.cc_c = uint32(0)
                                    engine.cc_v = uint32(0)
                                    engine.previous_a = a
                                else:
                                    # 44: byte_align.le   shift.isa:97
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
        elif op < 58:
            if op < 51:
                if op < 48:
                    if op < 46:
                        # 45: immed   immed.isa:15
                        r = uint32(i.imm)
                    else:
                        if op < 47:
                            # 46: immed_w0   immed.isa:37
                            r = uint32(uint32(a & uint32(0xffff0000)) | uint32(i.imm))
                        else:
                            # 47: immed_w1   immed.isa:37
                            r = uint32(uint32(a & uint32(0xffff)) | uint32(uint32(i.imm) << uint32(0x10)))
                else:
                    if op < 49:
                        # 48: immed_b0   immed.isa:58
                        r = uint32(uint32(a & uint32(0xffffff00)) | uint32(i.imm))
                    else:
                        if op < 50:
                            # 49: immed_b1   immed.isa:58
                            r = uint32(uint32(a & uint32(0xffff00ff)) | uint32(uint32(i.imm) << uint32(8)))
                        else:
                            # 50: immed_b2   immed.isa:58
                            r = uint32(uint32(a & uint32(0xff00ffff)) | uint32(uint32(i.imm) << uint32(0x10)))
            else:
                if op < 54:
                    if op < 52:
                        # 51: immed_b3   immed.isa:58
                        r = uint32(uint32(a & uint32(0xffffff)) | uint32(uint32(i.imm) << uint32(0x18)))
                    else:
                        if op < 53:
                            # 52: ld_field.keep   shift.isa:68
                            x = uint32(uint32((b >> uint32(i.amount)) | (b << ((uint32(32) - uint32(i.amount)) & uint32(31)))) & uint32(i.mask))
                            r = uint32(uint32(a & uint32(~uint32(i.imm))) | uint32(x & uint32(i.imm)))
                        else:
                            # 53: ld_field.keep.>>indirect   shift.isa:68
                            x = uint32(b >> (engine.previous_a & uint32(0x1f)))
                            r = uint32(uint32(a & uint32(~uint32(i.imm))) | uint32(x & uint32(i.imm)))
                else:
                    if op < 56:
                        if op < 55:
                            # 54: ld_field.keep.<<indirect   shift.isa:68
                            x = uint32(b << (engine.previous_a & uint32(0x1f)))
                            r = uint32(uint32(a & uint32(~uint32(i.imm))) | uint32(x & uint32(i.imm)))
                        else:
                            # 55: ld_field.w_clr   shift.isa:68
                            x = uint32(uint32((b >> uint32(i.amount)) | (b << ((uint32(32) - uint32(i.amount)) & uint32(31)))) & uint32(i.mask))
                            r = uint32(x & uint32(i.imm))
                    else:
                        if op < 57:
                            # 56: ld_field.w_clr.>>indirect   shift.isa:68
                            x = uint32(b >> (engine.previous_a & uint32(0x1f)))
                            r = uint32(x & uint32(i.imm))
                        else:
                            # 57: ld_field.w_clr.<<indirect   shift.isa:68
                            x = uint32(b << (engine.previous_a & uint32(0x1f)))
                            r = uint32(x & uint32(i.imm))
            file[d] = r
            engine.previous_alu = r
            if observing():
                see_issue(state, engine.number, ctx, at, uint64(clock - uint64(1)), d, r, a_at, b_at)
        elif op < 79:
            target = uint32(i.target)
            taken = False
            if op < 68:
                if op < 63:
                    if op < 60:
                        if op < 59:
                            # 58: br   branch.isa:3
                            taken = True
                        else:
                            # 59: beq   branch.isa:15
                            taken = uint32(engine.cc_result == uint32(0)) != uint32(0)
                    else:
                        if op < 61:
                            # 60: bne   branch.isa:15
                            taken = uint32(engine.cc_result == uint32(0)) == uint32(0)
                        else:
                            if op < 62:
                                # 61: bmi   branch.isa:15
                                taken = uint32(engine.cc_result >> uint32(31)) != uint32(0)
                            else:
                                # 62: bpl   branch.isa:15
                                taken = uint32(engine.cc_result >> uint32(31)) == uint32(0)
                else:
                    if op < 65:
                        if op < 64:
                            # 63: bhs   branch.isa:15
                            taken = engine.cc_c != uint32(0)
                        else:
                            # 64: blo   branch.isa:15
                            taken = engine.cc_c == uint32(0)
                    else:
                        if op < 66:
                            # 65: bvs   branch.isa:15
                            taken = engine.cc_v != uint32(0)
                        else:
                            if op < 67:
                                # 66: bvc   branch.isa:15
                                taken = engine.cc_v == uint32(0)
                            else:
                                # 67: bge   branch.isa:15
                                taken = uint32(engine.cc_result >> uint32(31)) == engine.cc_v
            else:
                if op < 73:
                    if op < 70:
                        if op < 69:
                            # 68: blt   branch.isa:15
                            taken = uint32(engine.cc_result >> uint32(31)) != engine.cc_v
                        else:
                            # 69: ble   branch.isa:15
                            taken = uint32(uint32(engine.cc_result == uint32(0)) | uint32(uint32(engine.cc_result >> uint32(31)) != engine.cc_v)) != uint32(0)
                    else:
                        if op < 71:
                            # 70: bgt   branch.isa:15
                            taken = uint32(uint32(engine.cc_result == uint32(0)) | uint32(uint32(engine.cc_result >> uint32(31)) != engine.cc_v)) == uint32(0)
                        else:
                            if op < 72:
                                # 71: br=ctx   branch.isa:41
                                taken = ctx == uint32(i.imm)
                            else:
                                # 72: br!=ctx   branch.isa:41
                                taken = ctx != uint32(i.imm)
                else:
                    if op < 76:
                        if op < 74:
                            # 73: br_bclr   branch.isa:91
                            taken = uint32(uint32(a >> uint32(i.amount)) & uint32(1)) == uint32(0)
                        else:
                            if op < 75:
                                # 74: br_bset   branch.isa:91
                                taken = uint32(uint32(a >> uint32(i.amount)) & uint32(1)) != uint32(0)
                            else:
                                # 75: br!=byte   branch.isa:107
                                taken = uint32(uint32(a >> uint32(uint32(i.amount) * uint32(8))) & uint32(0xff)) != uint32(i.imm)
                    else:
                        if op < 77:
                            # 76: br=byte   branch.isa:107
                            taken = uint32(uint32(a >> uint32(uint32(i.amount) * uint32(8))) & uint32(0xff)) == uint32(i.imm)
                        else:
                            if op < 78:
                                # 77: jump   branch.isa:124
                                taken = True
                                target = uint32(a + uint32(i.target)) & uint32(STORE_WORDS - 1)
                            else:
                                # 78: rtn   branch.isa:143
                                taken = True
                                target = a & uint32(STORE_WORDS - 1)
            if observing():
                see_branch(state, engine.number, ctx, at, uint64(clock - uint64(1)), taken, target, i.defer, a_at, b_at)
            if taken:
                abort = uint64(i.abort)
                if early and engine.cc_time + uint64(1) != clock:
                    abort = uint64(i.early)
                if slots:
                    report_at(state, RESERVED_DEFER, engine.number, ctx, uint32(pc - uint32(1)), 0, uint64(clock - uint64(1)))
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
            if op < 80:
                # 79: nop   immed.isa:4
                pass
            else:
                if op < 81:
                    # 80: local_csr_rd.private   local_csr.isa:3
                    file[CSR_VALUE] = read_private(engine, ctx, i.imm, uint64(before + clock - engine.aborted - uint64(1)))
                else:
                    # 81: local_csr_wr.private   local_csr.isa:16
                    write_private(state, engine, ctx, i.imm, a, uint64(before + clock - engine.aborted - uint64(1)))
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
