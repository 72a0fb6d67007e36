; bytes.uc: bytes, halves and words of a header at any byte offset, out of transfer registers or straight from memory.
;
; Byte 0 is the most significant byte of the first register, as frames lie in memory. `group` is an aggregate with `.xfer_order`, or one
; of general purpose registers; a member is named only where the macro reads it. With an offset known at assembly a value is put together by
; ld_field; with one known only at run time the byte aligner turns whole words. BYTE_INDEX and the aligner belong to the
; microengine, not to the thread: no swap between bytes_align and the last bytes_copy that relies on it.

#ifndef _BYTES_UC_
#define _BYTES_UC_

; bytes_get8(dst, group, OFFSET)
;   The byte at OFFSET in dst.
;   dst      a register that can be written
;   group    registers of the header
;   OFFSET   a constant, in bytes from the first register
;   changes  dst, the condition codes
;   cost     bytes_get8(a, $r, 5) after .set $r[1] -> 1 word, 1 cycle
#macro bytes_get8(dst, group, OFFSET)
    #if (((OFFSET) & 3) == 0)
        alu_shf[dst, --, B, group[((OFFSET) >> 2)], >>24]
    #else
        alu_shf[dst, 0xff, AND, group[((OFFSET) >> 2)], >>((3 - ((OFFSET) & 3)) << 3)]
    #endif
#endm

; bytes_get16(dst, group, OFFSET)
;   The 16 bits at OFFSET in dst.
;   dst      a general purpose register
;   group    registers of the header
;   OFFSET   a constant, in bytes; odd ones too
;   changes  dst
;   cost     bytes_get16(a, $r, 4) after .set $r[1] -> 1 word, 1 cycle
;   cost     bytes_get16(a, $r, 7) after .set $r[1] $r[2] -> 2 words, 2 cycles
#macro bytes_get16(dst, group, OFFSET)
    #if (((OFFSET) & 3) == 3)
        ld_field_w_clr[dst, 0010, group[((OFFSET) >> 2)], <<8]
        ld_field[dst, 0001, group[(((OFFSET) >> 2) + 1)], >>24]
    #else
        ld_field_w_clr[dst, 0011, group[((OFFSET) >> 2)], >>((2 - ((OFFSET) & 3)) << 3)]
    #endif
#endm

; bytes_get32(dst, group, OFFSET)
;   The 32 bits at OFFSET in dst.
;   dst      a general purpose register
;   group    registers of the header
;   OFFSET   a constant, in bytes; any
;   changes  dst; the condition codes where OFFSET is a multiple of 4
;   cost     bytes_get32(a, $r, 4) after .set $r[1] -> 1 word, 1 cycle
;   cost     bytes_get32(a, $r, 6) after .set $r[1] $r[2] -> 2 words, 2 cycles
#macro bytes_get32(dst, group, OFFSET)
    #if (((OFFSET) & 3) == 0)
        alu[dst, --, B, group[((OFFSET) >> 2)]]
    #elif (((OFFSET) & 3) == 1)
        ld_field_w_clr[dst, 1110, group[((OFFSET) >> 2)], <<8]
        ld_field[dst, 0001, group[(((OFFSET) >> 2) + 1)], >>24]
    #elif (((OFFSET) & 3) == 2)
        ld_field_w_clr[dst, 1100, group[((OFFSET) >> 2)], <<16]
        ld_field[dst, 0011, group[(((OFFSET) >> 2) + 1)], >>16]
    #else
        ld_field_w_clr[dst, 1000, group[((OFFSET) >> 2)], <<24]
        ld_field[dst, 0111, group[(((OFFSET) >> 2) + 1)], >>8]
    #endif
#endm

; bytes_align(offset)
;   The byte aligner takes bits 1:0 of offset from now on; bytes_copy may follow at once.
;   offset   a register, or a constant up to 255
;   changes  BYTE_INDEX
;   cost     bytes_align(a) after immed[a, 3] -> 4 words, 4 cycles
#macro bytes_align(offset)
    local_csr_wr[BYTE_INDEX, offset]
    nop
    nop
    nop
#endm

; bytes_copy(to, INTO, from, FIRST, COUNT)
;   COUNT words, which begin the aligner's offset behind the start of from[FIRST], into to[INTO] and on.
;   to       a group of registers that can be written, transfer registers too
;   INTO     a constant, the first member of to that is written
;   from     a group of registers; COUNT + 1 of them are read, the last one even if the offset is 0
;   FIRST    a constant, the first member of from that is read
;   COUNT    a constant, in words
;   changes  to, the condition codes, the aligner's latch
;   cost     bytes_copy(d, 0, $r, 1, 2) after .set $r[1] $r[2] $r[3] | bytes_align(3) -> 3 words, 3 cycles
#macro bytes_copy(to, INTO, from, FIRST, COUNT)
    byte_align_be[--, from[(FIRST)]]
    #define_eval _BYTES_NEXT 0
    #repeat (COUNT)
        byte_align_be[to[((INTO) + _BYTES_NEXT)], from[((FIRST) + 1 + _BYTES_NEXT)]]
        #define_eval _BYTES_NEXT (_BYTES_NEXT + 1)
    #endloop
#endm

; bytes_read_sram(to, group, address, COUNT)
;   COUNT words from SRAM at any byte address into to[0] and on.
;   to       a group of general purpose registers
;   group    a group of at least COUNT + 1 SRAM transfer registers, with .xfer_order
;   address  a register that restricted operands allow
;   COUNT    a constant from 1 to 7
;   changes  to, group, BYTE_INDEX, the aligner's latch, the condition codes; waits
;   cost     bytes_read_sram(d, $r, a, 4) after immed[a, 0x103] -> 10 words, 12 cycles, 1 sram
#macro bytes_read_sram(to, group, address, COUNT)
    #if ((COUNT) < 1 || (COUNT) > 7)
        #error "bytes_read_sram reads 1 to 7 words, not" (COUNT)
    #endif
    .begin
        .sig _bytes_read
        sram[read, group[0], address, 0, ((COUNT) + 1)], ctx_swap[_bytes_read]
        bytes_align(address)
        bytes_copy(to, 0, group, 0, COUNT)
    .end
#endm

; bytes_read_dram(to, group, address, COUNT)
;   COUNT words from DRAM at any byte address into to[0] and on.
;   to       a group of general purpose registers
;   group    a group of at least COUNT + 3 DRAM transfer registers, with .xfer_order
;   address  a register that restricted operands allow
;   COUNT    a constant from 1 to 13
;   changes  to, group, BYTE_INDEX, the aligner's latch, the condition codes; waits
;   cost     bytes_read_dram(d, $$d, a, 2) after immed[a, 0x103] -> 13 words, 14 cycles, 1 dram
;   cost     bytes_read_dram(d, $$d, a, 2) after immed[a, 0x107] -> 13 words, 14 cycles, 1 dram
#macro bytes_read_dram(to, group, address, COUNT)
    #if ((COUNT) < 1 || (COUNT) > 13)
        #error "bytes_read_dram reads 1 to 13 words, not" (COUNT)
    #endif
    .begin
        .sig _bytes_read
        dram[read, group[0], address, 0, (((COUNT) + 3) / 2)], ctx_swap[_bytes_read]
        bytes_align(address)
        br_bset[address, 2, second#]
        bytes_copy(to, 0, group, 0, COUNT)
        br[there#]
    second#:
        bytes_copy(to, 0, group, 1, COUNT)
    there#:
    .end
#endm

#endif
