; bits.uc: fields of a word: taken out, put in, set, cleared, inverted, tested. Bit 0 is the least significant.
;
; Positions and widths are constants: a field from bit POSITION up, WIDTH bits of it, all inside the word (an error if not).

#ifndef _BITS_UC_
#define _BITS_UC_

#include "move.uc"

; bits_check(POSITION, WIDTH)
;   An error at assembly unless bits POSITION to POSITION + WIDTH - 1 are bits of a word.
;   changes  nothing
;   cost     bits_check(8, 4) -> 0 words, 0 cycles
#macro bits_check(POSITION, WIDTH)
    #if ((WIDTH) < 1 || (POSITION) < 0 || (POSITION) > 31 || (WIDTH) > (32 - (POSITION)))
        #error "a field lies in bits 0 to 31 and has a bit at least; this one begins at, and has bits:" (POSITION) (WIDTH)
    #endif
#endm

; bits_extract(dst, src, POSITION, WIDTH)
;   The field of src, moved to bit 0, other bits zero, in dst.
;   dst      a register that can be written
;   src      a register that restricted operands allow: no @, no n$; may be dst
;   changes  dst, the condition codes
;   cost     bits_extract(b, a, 8, 4) after immed[a, 0x1234] -> 1 word, 1 cycle
;   cost     bits_extract(b, a, 20, 12) after immed[a, 0x1234] -> 1 word, 1 cycle
;   cost     bits_extract(b, a, 3, 12) after immed[a, 0x1234] -> 2 words, 2 cycles
#macro bits_extract(dst, src, POSITION, WIDTH)
    bits_check(POSITION, WIDTH)
    #if ((POSITION) + (WIDTH) == 32)
        alu_shf[dst, --, B, src, >>(POSITION)]
    #elif ((WIDTH) <= 8)
        alu_shf[dst, ((1 << (WIDTH)) - 1), AND, src, >>(POSITION)]
    #elif ((WIDTH) == 16 && (POSITION) % 8 == 0)
        ld_field_w_clr[dst, 0011, src, >>(POSITION)]
    #elif ((WIDTH) == 24 && (POSITION) % 8 == 0)
        ld_field_w_clr[dst, 0111, src, >>(POSITION)]
    #else
        .begin
            .reg _bits_up
            alu_shf[_bits_up, --, B, src, <<(32 - (POSITION) - (WIDTH))]
            alu_shf[dst, --, B, _bits_up, >>(32 - (WIDTH))]
        .end
    #endif
#endm

; bits_insert(dst, value, POSITION, WIDTH)
;   The low WIDTH bits of value in the field of dst, whose other bits stay.
;   dst      a general purpose register
;   value    a register, of which only the field's bits count; another one than dst
;   changes  dst, the condition codes
;   cost     bits_insert(b, a, 8, 8) after immed[a, 5] | immed[b, 6] -> 1 word, 1 cycle
;   cost     bits_insert(b, a, 16, 16) after immed[a, 5] | immed[b, 6] -> 1 word, 1 cycle
;   cost     bits_insert(b, a, 4, 5) after immed[a, 5] | immed[b, 6] -> 3 words, 3 cycles
#macro bits_insert(dst, value, POSITION, WIDTH)
    bits_check(POSITION, WIDTH)
    #if ((WIDTH) == 32)
        alu[dst, --, B, value]
    #elif ((POSITION) % 8 == 0 && (WIDTH) == 8)
        #if ((POSITION) == 0)
            ld_field[dst, 0001, value]
        #elif ((POSITION) == 8)
            ld_field[dst, 0010, value, <<8]
        #elif ((POSITION) == 16)
            ld_field[dst, 0100, value, <<16]
        #else
            ld_field[dst, 1000, value, <<24]
        #endif
    #elif ((WIDTH) == 16 && (POSITION) % 8 == 0)
        #if ((POSITION) == 0)
            ld_field[dst, 0011, value]
        #elif ((POSITION) == 8)
            ld_field[dst, 0110, value, <<8]
        #else
            ld_field[dst, 1100, value, <<16]
        #endif
    #elif ((POSITION) == 0)
        .begin
            .reg _bits_turned
            #define_eval _BITS_LEFT (WIDTH)
            dbl_shf[_bits_turned, value, dst, >>(WIDTH)]
            alu_shf[dst, --, B, _bits_turned, <<rot/**/_BITS_LEFT]
        .end
    #elif ((POSITION) + (WIDTH) == 32)
        .begin
            .reg _bits_turned
            #define_eval _BITS_RIGHT (POSITION)
            alu_shf[_bits_turned, --, B, dst, >>rot/**/_BITS_RIGHT]
            dbl_shf[dst, value, _bits_turned, >>(WIDTH)]
        .end
    #else
        .begin
            ; The word is turned until the field is at its low end, the field is shifted out there and the new one in from above.
            .reg _bits_low _bits_high
            #define_eval _BITS_RIGHT (POSITION)
            #define_eval _BITS_LEFT ((POSITION) + (WIDTH))
            alu_shf[_bits_low, --, B, dst, >>rot/**/_BITS_RIGHT]
            dbl_shf[_bits_high, value, _bits_low, >>(WIDTH)]
            alu_shf[dst, --, B, _bits_high, <<rot/**/_BITS_LEFT]
        .end
    #endif
#endm

; bits_set(dst, MASK)
;   The bits of the constant MASK become 1 in dst.
;   dst      a general purpose register
;   changes  dst, the condition codes
;   cost     bits_set(a, 0x81) after immed[a, 5] -> 1 word, 1 cycle
;   cost     bits_set(a, 0x8100) after immed[a, 5] -> 2 words, 2 cycles
;   cost     bits_set(a, 0x12345678) after immed[a, 5] -> 3 words, 3 cycles
#macro bits_set(dst, MASK)
    bits_apply(dst, OR, MASK)
#endm

; bits_clear(dst, MASK)
;   The bits of the constant MASK become 0 in dst.
;   dst      a general purpose register
;   changes  dst, the condition codes
;   cost     bits_clear(a, 0x81) after immed[a, 5] -> 1 word, 1 cycle
;   cost     bits_clear(a, 0xff00ff00) after immed[a, 5] -> 3 words, 3 cycles
#macro bits_clear(dst, MASK)
    bits_apply(dst, AND~, MASK)
#endm

; bits_invert(dst, MASK)
;   The bits of the constant MASK are inverted in dst.
;   dst      a general purpose register
;   changes  dst, the condition codes
;   cost     bits_invert(a, 0x81) after immed[a, 5] -> 1 word, 1 cycle
;   cost     bits_invert(a, 0x80000000) after immed[a, 5] -> 2 words, 2 cycles
;   cost     bits_invert(a, 0x12345678) after immed[a, 5] -> 3 words, 3 cycles
#macro bits_invert(dst, MASK)
    bits_apply(dst, XOR, MASK)
#endm

; bits_test(src, MASK)
;   Condition codes: zero unless src has a bit of the constant MASK. Follow it with beq or bne.
;   src      a register that can be read
;   changes  the condition codes
;   cost     bits_test(a, 0x81) after immed[a, 5] -> 1 word, 1 cycle
;   cost     bits_test(a, 0x12345678) after immed[a, 5] -> 3 words, 3 cycles
#macro bits_test(src, MASK)
    #if ((MASK) >= 0 && (MASK) <= 255)
        alu[--, src, AND, (MASK)]
    #else
        .begin
            .reg _bits_mask
            immediate(_bits_mask, MASK)
            alu[--, src, AND, _bits_mask]
        .end
    #endif
#endm

; bit_set(dst, N)
;   Bit N, a constant, becomes 1 in dst.
;   dst      a general purpose register, no @
;   changes  dst, the condition codes
;   cost     bit_set(a, 31) after immed[a, 5] -> 1 word, 1 cycle
#macro bit_set(dst, N)
    bits_check(N, 1)
    alu_shf[dst, dst, OR, 1, <<(N)]
#endm

; bit_clear(dst, N)
;   Bit N, a constant, becomes 0 in dst.
;   dst      a general purpose register, no @
;   changes  dst, the condition codes
;   cost     bit_clear(a, 31) after immed[a, 5] -> 1 word, 1 cycle
#macro bit_clear(dst, N)
    bits_check(N, 1)
    alu_shf[dst, dst, AND~, 1, <<(N)]
#endm

; bits_apply(dst, OPERATION, MASK)
;   dst OPERATION the constant MASK in dst: what bits_set and its like are made of.
;   dst      a general purpose register
;   OPERATION  a word of alu: OR, AND, AND~, XOR, +, -
;   changes  dst, the condition codes
;   cost     bits_apply(a, XOR, 255) after immed[a, 5] -> 1 word, 1 cycle
;   cost     bits_apply(a, AND, 0x12345678) after immed[a, 5] -> 3 words, 3 cycles
#macro bits_apply(dst, OPERATION, MASK)
    #if ((MASK) >= 0 && (MASK) <= 255)
        alu[dst, dst, OPERATION, (MASK)]
    #else
        .begin
            .reg _bits_mask
            immediate(_bits_mask, MASK)
            alu[dst, dst, OPERATION, _bits_mask]
        .end
    #endif
#endm

#endif
