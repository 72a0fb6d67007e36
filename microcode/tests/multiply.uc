; multiply.uc: products of all three shapes, and population counts, against constants.

#include "check.uc"

.reg a b low high
    only_context_0()

    load32(a, 0x00abcdef)
    immed[b, 0xfd]
    mul_step[a, b], 24x8_start
    mul_step[a, b], 24x8_step1
    mul_step[low, --], 24x8_last
    check(1, low, (0xabcdef * 0xfd))

    immed[a, 0xfedc]
    immed[b, 0xba98]
    mul_step[a, b], 16x16_start
    mul_step[a, b], 16x16_step1
    mul_step[a, b], 16x16_step2
    mul_step[low, --], 16x16_last
    check(2, low, 0xb9c32aa0)

    ; ffffffff * ffffffff = fffffffe:00000001
    immed[a, ~0]
    immed[b, ~0]
    mul_step[a, b], 32x32_start
    mul_step[a, b], 32x32_step1
    mul_step[a, b], 32x32_step2
    mul_step[a, b], 32x32_step3
    mul_step[a, b], 32x32_step4
    mul_step[low, --], 32x32_last
    mul_step[high, --], 32x32_last2
    check(3, low, 1)
    check(4, high, 0xfffffffe)

    load32(a, 0x8421f00f)
    pop_count1[a]
    pop_count2[a]
    pop_count3[low, a]
    check(5, low, 12)
    ffs[low, a]
    check(6, low, 0)
    alu_shf[a, --, B, a, <<7]
    ffs[low, a]
    check(7, low, 7)

#include "check_end.uc"
