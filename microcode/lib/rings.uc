; rings.uc: rings of words in scratch memory and in SRAM: set up, put, get, full.
;
; A get from an empty ring brings 0, so a word that is put should not be 0. A put on a full scratch ring overwrites, and nothing says
; so: producers test first, and the flag lags. A put on a full SRAM ring is refused and says it.

#ifndef _RINGS_UC_
#define _RINGS_UC_

#include "move.uc"

; scratch_ring_setup(RING, BASE, WORDS)
;   An empty ring whose flag tells that it is nearly full (three quarters). Once, by one thread, before anybody uses it.
;   RING     a constant from 0 to 15; the flags of 12 to 15 cannot be tested
;   BASE     a constant, the byte address in scratch memory, a multiple of the ring's size
;   WORDS    128, 256, 512 or 1024
;   changes  the ring's registers; waits
;   cost     scratch_ring_setup(3, 0x400, 128) -> 5 words, 11 cycles, 3 cap
;   cost     scratch_ring_setup(3, 0x1000, 1024) -> 7 words, 13 cycles, 3 cap
#macro scratch_ring_setup(RING, BASE, WORDS)
    #if ((RING) < 0 || (RING) > 15)
        #error "scratch rings are 0 to 15, not" (RING)
    #endif
    #if ((WORDS) != 128 && (WORDS) != 256 && (WORDS) != 512 && (WORDS) != 1024)
        #error "a scratch ring has 128, 256, 512 or 1024 words, not" (WORDS)
    #endif
    #if (((BASE) % ((WORDS) * 4)) != 0 || (BASE) < 0 || ((BASE) + (WORDS) * 4) > 0x4000)
        #error "a scratch ring begins at a multiple of its size, inside of 0x4000 bytes; not at" (BASE)
    #endif
    .begin
        .reg $_rings_base $_rings_zero
        .sig _rings_done
        #define_eval _RINGS_NUMBER (RING)
        immed[$_rings_zero, 0]
        #define_eval _RINGS_CODE (log2(WORDS) - 7)
        move($_rings_base, (_RINGS_CODE << 30 | (BASE)))
        cap[write, $_rings_base, SCRATCH_RING_BASE_/**/_RINGS_NUMBER, 1], ctx_swap[_rings_done]
        cap[write, $_rings_zero, SCRATCH_RING_HEAD_/**/_RINGS_NUMBER, 1], ctx_swap[_rings_done]
        cap[write, $_rings_zero, SCRATCH_RING_TAIL_/**/_RINGS_NUMBER, 1], ctx_swap[_rings_done]
    .end
#endm

; scratch_ring_put(RING, group, COUNT)
;   COUNT words from group[0] on at the end of the ring.
;   RING     a constant from 0 to 15
;   group    a group of write transfer registers with .xfer_order
;   COUNT    a constant from 1 to 8
;   changes  nothing; waits until the words have left
;   cost     scratch_ring_put(3, $w, 1) after scratch_ring_setup(3, 0x400, 128) | immed[$w[0], 1] -> 2 words, 4 cycles, 1 scratch
#macro scratch_ring_put(RING, group, COUNT)
    .begin
        .reg _rings_address
        .sig _rings_done
        immed[_rings_address, ((RING) << 2)]
        scratch[put, group[0], _rings_address, 0, (COUNT)], ctx_swap[_rings_done]
    .end
#endm

; scratch_ring_get(RING, group, COUNT)
;   The next COUNT words of the ring in group[0] and on; zeros where it has no more.
;   RING     a constant from 0 to 15
;   group    a group of read transfer registers with .xfer_order
;   COUNT    a constant from 1 to 8
;   changes  group; waits
;   cost     scratch_ring_get(3, $r, 2) after scratch_ring_setup(3, 0x400, 128) -> 2 words, 4 cycles, 1 scratch
#macro scratch_ring_get(RING, group, COUNT)
    .begin
        .reg _rings_address
        .sig _rings_done
        immed[_rings_address, ((RING) << 2)]
        scratch[get, group[0], _rings_address, 0, (COUNT)], ctx_swap[_rings_done]
    .end
#endm

; scratch_ring_full(RING, full_label)
;   To full_label if the ring is nearly full. The flag is some cycles late: leave room for what others are putting.
;   RING     a constant from 0 to 11
;   full_label  a label
;   changes  nothing
;   cost     scratch_ring_full(3, elsewhere#) after scratch_ring_setup(3, 0x400, 128) -> 1 word, 1 cycle
#macro scratch_ring_full(RING, full_label)
    #if ((RING) < 0 || (RING) > 11)
        #error "the flags of scratch rings 0 to 11 can be tested, not" (RING)
    #endif
    #define_eval _RINGS_NUMBER (RING)
    br_inp_state[SCR_RING/**/_RINGS_NUMBER/**/_STATUS, full_label]
#endm

; sram_ring_address(dst, CHANNEL, ENTRY)
;   What sram_ring_put and sram_ring_get know a ring by.
;   dst      a general purpose register
;   CHANNEL  a constant, 0 or 1
;   ENTRY    a constant from 0 to 63
;   changes  dst
;   cost     sram_ring_address(a, 0, 5) -> 1 word, 1 cycle
;   cost     sram_ring_address(a, 1, 5) -> 2 words, 2 cycles
#macro sram_ring_address(dst, CHANNEL, ENTRY)
    immediate(dst, ((CHANNEL) << 30 | (ENTRY) << 2))
#endm

; sram_ring_setup(CHANNEL, ENTRY, DESCRIPTOR, BASE, WORDS)
;   An empty ring in an entry of the channel's queue array. Once, by one thread.
;   CHANNEL  a constant, 0 or 1
;   ENTRY    a constant from 0 to 63
;   DESCRIPTOR  a constant, the byte offset in the channel of 16 bytes for the ring's descriptor, a multiple of 16
;   BASE     a constant, the byte offset in the channel of its words, a multiple of the ring's size
;   WORDS    a power of two from 512 to 65536
;   changes  the entry, the descriptor; waits
;   cost     sram_ring_setup(0, 9, 0x400, 0x4000, 512) -> 9 words, 13 cycles, 3 sram
;   cost     sram_ring_setup(1, 9, 0x400, 0x8000, 1024) -> 12 words, 16 cycles, 3 sram
#macro sram_ring_setup(CHANNEL, ENTRY, DESCRIPTOR, BASE, WORDS)
    #if ((WORDS) < 512 || (WORDS) > 65536 || log2(WORDS, 1) != log2(WORDS, -1))
        #error "an SRAM ring has 512 to 65536 words, a power of two; not" (WORDS)
    #endif
    #if (((BASE) % ((WORDS) * 4)) != 0)
        #error "an SRAM ring begins at a multiple of its size; not at" (BASE)
    #endif
    #if (((DESCRIPTOR) & 15) != 0)
        #error "a descriptor begins at a multiple of 16; not at" (DESCRIPTOR)
    #endif
    .begin
        .reg _rings_address $_rings_w0 $_rings_w1 $_rings_w2 $_rings_read
        .xfer_order $_rings_w0 $_rings_w1 $_rings_w2
        .sig _rings_done
        #define_eval _RINGS_CODE (log2(WORDS) - 9)
        move($_rings_w0, (_RINGS_CODE << 29 | (BASE) >> 2))
        move($_rings_w1, ((BASE) >> 2))
        immed[$_rings_w2, 0]
        immediate(_rings_address, ((CHANNEL) << 30 | (DESCRIPTOR)))
        sram[write, $_rings_w0, _rings_address, 0, 3], ctx_swap[_rings_done]
        immediate(_rings_address, ((CHANNEL) << 30 | (ENTRY) << 24 | (DESCRIPTOR) >> 2))
        sram[rd_qdesc_head, $_rings_read, _rings_address, 0, 1], ctx_swap[_rings_done]
        sram[rd_qdesc_other, --, _rings_address, 0]
    .end
#endm

; sram_ring_put(ring, group, COUNT, full_label)
;   COUNT words from group[0] on at the end of the ring; to full_label, with nothing put, if there is no room for all.
;   ring     a general purpose register, see sram_ring_address
;   group    a group of transfer registers, both halves, with .xfer_order; group[0] brings the status
;   COUNT    a constant from 1 to 8
;   full_label  a label
;   changes  group[0]; waits
;   cost     sram_ring_put(a, $w, 1, elsewhere#) after sram_ring_setup(0, 9, 0x400, 0x4000, 512) | sram_ring_address(a, 0, 9) | immed[$w[0], 1] -> 2 words, 4 cycles, 1 sram
#macro sram_ring_put(ring, group, COUNT, full_label)
    .begin
        .sig _rings_done
        sram[put, group[0], ring, 0, (COUNT)], ctx_swap[_rings_done]
        br_bclr[group[0], 31, full_label]
    .end
#endm

; sram_ring_get(ring, group, COUNT)
;   The next COUNT words of the ring in group[0] and on; zeros where it has no more.
;   ring     a general purpose register, see sram_ring_address
;   group    a group of read transfer registers with .xfer_order
;   COUNT    a constant from 1 to 8
;   changes  group; waits
;   cost     sram_ring_get(a, $r, 1) after sram_ring_setup(0, 9, 0x400, 0x4000, 512) | sram_ring_address(a, 0, 9) -> 1 word, 3 cycles, 1 sram
#macro sram_ring_get(ring, group, COUNT)
    .begin
        .sig _rings_done
        sram[get, group[0], ring, 0, (COUNT)], ctx_swap[_rings_done]
    .end
#endm

#endif
