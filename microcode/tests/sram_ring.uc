; sram_ring.uc: a ring and a journal of 512 words in the queue array of SRAM channel 1: status of a put, full, empty, round the end.
;
; Channel 1: descriptors at bytes 0x400 and 0x410, the ring at 0x4000 (word 0x1000), the journal at 0x4800 (word 0x1200).

#include "check.uc"

.reg place channel ring journal value left
.reg read $r0 $r1 $r2 $r3 $r4 $r5 $r6 $r7
.reg $w0 $w1 $w2 $w3 $w4 $w5 $w6 $w7
.reg $j0 $j1
.xfer_order $r0 $r1 $r2 $r3 $r4 $r5 $r6 $r7
.xfer_order $w0 $w1 $w2 $w3 $w4 $w5 $w6 $w7
.xfer_order $j0 $j1
.sig done pair

; put8(): puts eight words that count up from `value`; the status comes back in $w0.
#macro put8()
    alu[$w0, --, B, value]
    alu[$w1, value, +, 1]
    alu[$w2, value, +, 2]
    alu[$w3, value, +, 3]
    alu[$w4, value, +, 4]
    alu[$w5, value, +, 5]
    alu[$w6, value, +, 6]
    alu[$w7, value, +, 7]
    alu[value, value, +, 8]
    sram[put, $w0, ring, 0, 8], ctx_swap[pair]
#endm

    only_context_0()

    load32(channel, 0x40000000)
    load32(ring, 0x400000a4)                ; entry 0x29
    load32(journal, 0x400000a8)             ; entry 0x2a

    ; Descriptors: length code 0 in 31:29 and the head, the tail, no words. The last word of the journal is the first to be written.
    immed[$j0, 0x1000]
    immed[$j1, 0x1000]
    immed[place, 0x400]
    sram[write, $j0, channel, place, 2], ctx_swap[done]
    immed[$j0, 0x13ff]
    immed[$j1, 0x13ff]
    immed[place, 0x410]
    sram[write, $j0, channel, place, 2], ctx_swap[done]
    load32(place, 0x69000100)
    sram[rd_qdesc_head, $r0, place, 0, 1], ctx_swap[done]
    sram[rd_qdesc_other, --, place, 0]
    load32(place, 0x6a000104)
    sram[rd_qdesc_head, $r0, place, 0, 1], ctx_swap[done]
    sram[rd_qdesc_other, --, place, 0]

    ; An empty ring gives zeros.
    sram[get, $r0, ring, 0, 2], ctx_swap[done]
    check(1, $r0, 0)
    check(2, $r1, 0)

    ; 64 puts of eight fill it; each says how many words there were.
    immed[value, 0x100]
    immed[left, 64]
fill#:
    put8()
    alu[left, left, -, 1]
    bne[fill#]
    check(3, $w0, 0x800001f8)

    ; The next one is refused as a whole, and changes nothing.
    put8()
    check(4, $w0, 0x200)
    sram[get, $r0, ring, 0, 8], ctx_swap[done]
    check(5, $r0, 0x100)
    check(6, $r7, 0x107)

    ; Room for eight again, at the beginning of the region; nine would be too many.
    immed[value, 0x500]
    put8()
    check(7, $w0, 0x800001f8)
    put8()
    check(8, $w0, 0x200)
    immed[place, 0x4000]
    sram[read, $r0, channel, place, 1], ctx_swap[done]
    check(9, $r0, 0x500)

    ; Empty it: the last eight are the ones put last.
    immed[left, 64]
empty#:
    sram[get, $r0, ring, 0, 8], ctx_swap[done]
    alu[left, left, -, 1]
    bne[empty#]
    check(10, $r0, 0x500)
    check(11, $r7, 0x507)
    sram[get, $r0, ring, 0, 1], ctx_swap[done]
    check(12, $r0, 0)

    ; A journal is never refused. Its first word is the last of the region, the next one the first.
    immed[$w0, 0x111]
    immed[$w1, 0x222]
    sram[journal, $w0, journal, 0, 2], ctx_swap[done]
    immed[place, 0x4ffc]
    sram[read, $r0, channel, place, 1], ctx_swap[done]
    check(13, $r0, 0x111)
    immed[place, 0x4800]
    sram[read, $r0, channel, place, 1], ctx_swap[done]
    check(14, $r0, 0x222)

    ; fast_journal logs the low 24 bits of its address.
    load32(place, 0x6a123456)
    sram[fast_journal, --, place, 0], ctx_swap[done]
    immed[place, 0x4804]
    sram[read, $r0, channel, place, 1], ctx_swap[done]
    check(15, $r0, 0x123456)

    ; 512 more words push the first three out: as a ring it gives the oldest that is left.
    immed[left, 64]
log#:
    immed[$w0, 0x700]
    alu[$w1, --, B, left]
    immed[$w2, 0x702]
    immed[$w3, 0x703]
    immed[$w4, 0x704]
    immed[$w5, 0x705]
    immed[$w6, 0x706]
    immed[$w7, 0x707]
    sram[journal, $w0, journal, 0, 8], ctx_swap[done]
    alu[left, left, -, 1]
    bne[log#]
    sram[get, $r0, journal, 0, 2], ctx_swap[done]
    check(16, $r0, 0x700)
    check(17, $r1, 64)

#include "check_end.uc"
