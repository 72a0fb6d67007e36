; overrides.uc: indirect_ref as a program sees it: count, byte mask, another register, another context's register.

#include "check.uc"

.reg value base word
.reg read $r0 $r1 $r2 $r3 $r4 $r5 $r6 $r7 $r8 $r9
.xfer_order $r0 $r1 $r2 $r3 $r4 $r5 $r6 $r7 $r8 $r9
.reg write $w0 $w1 $w2
.xfer_order $w0 $w1 $w2
.sig done
    only_context_0()

    ; Ten words in SRAM, 1 to 10, by writes of one.
    immed[base, 0x100]
    immed[value, 1]
fill#:
    alu[$w0, --, B, value]
    sram[write, $w0, base, 0, 1], ctx_swap[done]
    alu[base, base, +, 4]
    alu[value, value, +, 1]
    alu[--, value, -, 11]
    bne[fill#]

    ; Ten of them at once, more than a count in the word can say.
    immed[base, 0x100]
    immed[value, 9]
    alu_shf[word, --, B, 1, <<25]
    alu_shf[--, word, OR, value, <<21]
    sram[read, $r0, base, 0, max_10], ctx_swap[done], indirect_ref
    alu[value, $r0, +, 0]
    alu[value, value, +, $r4]
    alu[value, value, +, $r9]
    check(1, value, 16)

    ; Two of them only: the third register keeps what it had.
    alu_shf[value, --, B, 1, <<21]
    alu_shf[--, value, OR, 1, <<25]
    sram[read, $r0, base, 16, max_3], ctx_swap[done], indirect_ref
    alu[value, $r1, +, 0]
    check(2, value, 6)
    alu[value, $r2, +, 0]
    check(3, value, 3)

    ; One byte of a word: the mask's bit 0 is the most significant.
    load32(word, 0x11223344)
    alu[$w0, --, B, word]
    sram[write, $w0, base, 0, 1], ctx_swap[done]
    load32(word, 0xaabbccdd)
    alu[$w0, --, B, word]
    load32(word, 0x00102000)        ; bit 20, and bit 13 for byte 1
    alu[--, --, B, word]
    sram[write, $w0, base, 0, max_1], ctx_swap[done], indirect_ref
    sram[read, $r0, base, 0, 1], ctx_swap[done]
    alu[value, --, B, $r0]
    check(4, value, 0x11bb3344)

    ; Into the register of another number: 7 of this context.
    immed[word, (0x800 | (&$r7 << 4))]
    alu[--, --, B, word]
    sram[read, $r0, base, 4, max_1], ctx_swap[done], indirect_ref
    alu[value, --, B, $r7]
    check(5, value, 2)
    alu[value, --, B, $r0]
    check(6, value, 0x11bb3344)

#include "check_end.uc"
