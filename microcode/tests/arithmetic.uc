; arithmetic.uc: sums, carry chains, shifts and fields by immediate constants; the simplest of these programs.

#include "check.uc"

.reg a b result
    only_context_0()

    load32(a, 0xfffffffe)
    immed[b, 3]
    alu[result, a, +, b]
    check(1, result, 1)

    ; A 64-bit sum: ffffffff:fffffffe + 0:3 = 0:1.
    alu[result, a, +, b]
    immed[result, ~0]
    alu[result, result, +carry, 0]
    check(2, result, 0)

    ; A 64-bit difference: 1:0 - 0:1 = 0:ffffffff.
    immed[a, 0]
    alu[--, a, -, 1]
    immed[result, 1]
    alu[result, result, -carry, 0]
    check(3, result, 0)

    load32(a, 0x12345678)
    alu_shf[result, --, B, a, <<rot8]
    check(4, result, 0x34567812)
    alu_shf[result, 0xff, AND, a, >>8]
    check(5, result, 0x56)

    ; The amount of an indirect shift is the A operand of the instruction before.
    immed[b, 12]
    alu[--, b, OR, 0]
    alu_shf[result, --, B, a, >>indirect]
    check(6, result, 0x12345)

    ; The sign of asr is that of the result before.
    load32(a, 0x80000000)
    alu[--, --, B, a]
    asr[result, a, >>4]
    check(7, result, 0xf8000000)

    load32(a, 0xaabbccdd)
    immed[result, 0x1122]
    ld_field[result, 1010, a, <<8]
    check(8, result, 0xbb00dd22)
    ld_field_w_clr[result, 0110, a]
    check(9, result, 0x00bbcc00)

    alu[b, --, B, a]
    check_same(10, b, a)
    check_between(11, b, 0xaabbccdd, 0xaabbccde)

#include "check_end.uc"
