; crc32.uc: the CRC-32 of Ethernet, zip and gzip, over words and the bytes that are left.
;
; The unit works with the most significant bit first and its remainder belongs to the microengine. This CRC takes the bits of a byte the
; other way round: `bit_swap` turns the bytes that go in, and what comes out is turned at the end. No swap between crc32_start and crc32_end, or
; another thread's CRC mixes with this one.

#ifndef _CRC32_UC_
#define _CRC32_UC_

#include "move.uc"

; crc32_start()
;   A new CRC.
;   changes  CRC_REMAINDER
;   cost     crc32_start() -> 5 words, 5 cycles
#macro crc32_start()
    .begin
        .reg _crc32_ones
        immed[_crc32_ones, 0xffffffff]
        local_csr_wr[CRC_REMAINDER, _crc32_ones]
        nop
        nop
        nop
    .end
#endm

; crc32_word(src)
;   Four bytes more, the most significant one first.
;   src      a register that can be read
;   changes  CRC_REMAINDER, the condition codes
;   cost     crc32_word(a) after immed[a, 5] | crc32_start() -> 1 word, 1 cycle
#macro crc32_word(src)
    crc_be[crc_32, --, src], bit_swap
#endm

; crc32_words(group, FIRST, COUNT)
;   COUNT members of a group more.
;   group    a group of registers that can be read
;   FIRST    a constant
;   COUNT    a constant
;   changes  CRC_REMAINDER, the condition codes
;   cost     crc32_words($r, 0, 3) after .set $r[0] $r[1] $r[2] | crc32_start() -> 3 words, 3 cycles
#macro crc32_words(group, FIRST, COUNT)
    #define_eval _CRC32_NEXT 0
    #repeat (COUNT)
        crc32_word(group[((FIRST) + _CRC32_NEXT)])
        #define_eval _CRC32_NEXT (_CRC32_NEXT + 1)
    #endloop
#endm

; crc32_bytes(src, COUNT)
;   The upper 1, 2 or 3 bytes of src more: what is left at the end.
;   src      a register that can be read
;   COUNT    a constant from 0 to 3
;   changes  CRC_REMAINDER, the condition codes
;   cost     crc32_bytes(a, 0) after immed[a, 5] | crc32_start() -> 0 words, 0 cycles
;   cost     crc32_bytes(a, 3) after immed[a, 5] | crc32_start() -> 1 word, 1 cycle
#macro crc32_bytes(src, COUNT)
    #if ((COUNT) == 1)
        crc_be[crc_32, --, src], bit_swap, byte_0
    #elif ((COUNT) == 2)
        crc_be[crc_32, --, src], bit_swap, bytes_0_1
    #elif ((COUNT) == 3)
        crc_be[crc_32, --, src], bit_swap, bytes_0_2
    #elif ((COUNT) != 0)
        #error "crc32_bytes takes 0 to 3 bytes, not" (COUNT)
    #endif
#endm

; crc32_end(dst)
;   The CRC of all that went in, as zlib's crc32 has it. An Ethernet check sequence is sent with its least significant byte first.
;   dst      a general purpose register
;   changes  dst, the condition codes
;   cost     crc32_end(a) after crc32_start() -> 23 words, 23 cycles
#macro crc32_end(dst)
    .begin
        .reg _crc32_part
        nop
        nop
        nop
        local_csr_rd[CRC_REMAINDER]
        immed[_crc32_part, 0]
        alu[_crc32_part, --, ~B, _crc32_part]
        crc32_swap(_crc32_part, 0x55555555, 1)
        crc32_swap(_crc32_part, 0x33333333, 2)
        crc32_swap(_crc32_part, 0x0f0f0f0f, 4)
        alu_shf[dst, --, B, _crc32_part, >>rot8]
        ld_field[dst, 0101, _crc32_part, <<rot8]
    .end
#endm

; crc32_swap(word, MASK, DISTANCE)
;   The bits of word that MASK has change places with those DISTANCE higher: a step of crc32_end.
;   word     a general purpose register
;   MASK     a constant
;   DISTANCE a constant
;   changes  word, the condition codes
;   cost     crc32_swap(a, 0x33333333, 2) after immed[a, 5] -> 5 words, 5 cycles
#macro crc32_swap(word, MASK, DISTANCE)
    .begin
        .reg _crc32_bits _crc32_upper
        immediate(_crc32_bits, MASK)
        alu_shf[_crc32_upper, _crc32_bits, AND, word, >>(DISTANCE)]
        alu[word, word, AND, _crc32_bits]
        alu_shf[word, _crc32_upper, OR, word, <<(DISTANCE)]
    .end
#endm

#endif
