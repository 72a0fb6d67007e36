; dram_masks.uc: DRAM by units of 8 bytes: counts, sums of operands, byte masks for part of a unit and over several units; byte 0 is the
; most significant of the word at the lower address.

#include "check.uc"

.reg base value override
.reg read $$r0 $$r1 $$r2 $$r3
.reg $$w0 $$w1 $$w2 $$w3
.xfer_order $$r0 $$r1 $$r2 $$r3
.xfer_order $$w0 $$w1 $$w2 $$w3
.sig pair

#macro word(REG, WORD_VALUE)
    load32(value, WORD_VALUE)
    alu[REG, --, B, value]
#endm

; masked(MASK, COUNT): write COUNT units at `base` with the byte mask; bit 0 is the byte at the lowest address.
#macro masked(MASK, COUNT)
    load32(override, ((1 << 20) | ((MASK) << 12)))
    alu[--, --, B, override]
    dram[write, $$w0, base, 0, COUNT], ctx_swap[pair], indirect_ref
#endm

    only_context_0()

    load32(base, 0x00123000)
    word($$w0, 0x00112233)
    word($$w1, 0x44556677)
    word($$w2, 0x8899aabb)
    word($$w3, 0xccddeeff)
    dram[write, $$w0, base, 0, 2], ctx_swap[pair]
    dram[read, $$r0, base, 8, 1], ctx_swap[pair]
    check(1, $$r0, 0x8899aabb)
    check(2, $$r1, 0xccddeeff)

    ; One byte: the first of the unit.
    word($$w0, 0xa0a1a2a3)
    word($$w1, 0xa4a5a6a7)
    masked(0x01, 1)
    dram[read, $$r0, base, 0, 2], ctx_swap[pair]
    check(3, $$r0, 0xa0112233)
    check(4, $$r1, 0x44556677)

    ; The last one, and two in the middle across the words.
    masked(0x80, 1)
    dram[read, $$r0, base, 0, 1], ctx_swap[pair]
    check(5, $$r0, 0xa0112233)
    check(6, $$r1, 0x445566a7)
    masked(0x18, 1)
    dram[read, $$r0, base, 0, 1], ctx_swap[pair]
    check(7, $$r0, 0xa01122a3)
    check(8, $$r1, 0xa45566a7)

    ; No byte at all, and all of them.
    word($$w0, 0xb0b1b2b3)
    word($$w1, 0xb4b5b6b7)
    masked(0x00, 1)
    dram[read, $$r0, base, 0, 1], ctx_swap[pair]
    check(9, $$r0, 0xa01122a3)
    masked(0xff, 1)
    dram[read, $$r0, base, 0, 1], ctx_swap[pair]
    check(10, $$r0, 0xb0b1b2b3)
    check(11, $$r1, 0xb4b5b6b7)

    ; Over two units the mask holds for each.
    word($$w2, 0xc0c1c2c3)
    word($$w3, 0xc4c5c6c7)
    masked(0x81, 2)
    dram[read, $$r0, base, 0, 2], ctx_swap[pair]
    check(12, $$r0, 0xb0b1b2b3)
    check(13, $$r2, 0xc099aabb)
    check(14, $$r3, 0xccddeec7)

#include "check_end.uc"
