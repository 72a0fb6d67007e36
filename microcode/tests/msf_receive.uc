; msf_receive.uc: RBUF in two partitions of different element sizes, free lists, status words to the bit, checksums, time-outs.
;
; feeds 0: 100
; feeds 1: 300
;
; Partition 0 has elements of 64 bytes (numbers 0..95), partition 1 of 256 bytes (96, 100, .. 124). Port 0 feeds list 0, port 1 list 1.

#include "check.uc"

.reg value entry word zero
.reg write $w0
.reg volatile read $a0 $a1 $b0 $b1 $n0 $n1
.reg read $r0 $r1
.xfer_order $a0 $a1
.xfer_order $b0 $b1
.xfer_order $n0 $n1
.xfer_order $r0 $r1
.sig volatile arrived_0 arrived_1 late
.sig done

    only_context_0()

; thread(LIST, SIGNAL, register): context 0 of microengine 0 waits on a list.
#macro thread(LIST, SIGNAL, REGISTER)
    immed[entry, ((&SIGNAL << 12) | &REGISTER)]
    alu_shf[entry, --, B, entry, <<16]
    alu[entry, entry, OR, (0x30 + (4 * (LIST)))]
    msf[fast_wr, --, entry, 0]
#endm

; free(ELEMENT): gives an element to the media interface.
#macro free(ELEMENT)
    load32(value, (((ELEMENT) << 16) | 0x44))
    msf[fast_wr, --, value, 0]
#endm

    immed[zero, 0]
    load32(word, ((0xf << 28) | (1 << 19) | (1 << 10) | (2 << 4)))
    alu[$w0, --, B, word]
    msf[write, $w0, zero, 0, 1], ctx_swap[done]
    alu[$w0, --, B, 4]
    msf[write, $w0, zero, 0x40, 1], ctx_swap[done]
    free(1)
    free(3)
    free(100)
    free(116)
    thread(0, arrived_0, $a0)
    thread(1, arrived_1, $b0)

    ; Port 0: 64 and 36 bytes. The sixteen-bit words 0001, 0203, .. 3e3f of the first element add up to 3e400, folded e403.
    ctx_arb[arrived_0]
    .set $a0 $a1
    check(1, $a0, ((1 << 24) | (64 << 16) | (1 << 15) | 0))
    check(2, $a1, 0xe403)
    thread(0, arrived_0, $a0)
    ctx_arb[arrived_0]
    .set $a0 $a1
    check(3, $a0, ((3 << 24) | (36 << 16) | (1 << 14) | 0))
    ; The element's bytes are where its number says: 3 * 64 = c0. 64 bits a time as well.
    immed[value, 0x20c0]
    msf[read, $r0, value, 4, 1], ctx_swap[done]
    check(4, $r0, 0x44454647)
    msf[read64, $r0, value, 0, 1], ctx_swap[done]
    check(5, $r0, 0x40414243)
    check(6, $r1, 0x44454647)

    ; Port 1: 256 (told as 0) and 44 bytes, in elements 100 and 116 of 64-byte units.
    ctx_arb[arrived_1]
    .set $b0 $b1
    check(7, $b0, ((100 << 24) | (0 << 16) | (1 << 15) | 1))
    thread(1, arrived_1, $b0)
    ctx_arb[arrived_1]
    .set $b0 $b1
    check(8, $b0, ((116 << 24) | (44 << 16) | (1 << 14) | 1))
    immed[value, (0x2000 + (116 * 64))]
    msf[read, $r0, value, 40, 1], ctx_swap[done]
    check(9, $r0, 0x28292a2b)

    ; A time-out of list 2: a status that says null and nothing else.
    thread(2, late, $n0)
    immed[value, 1]
    alu_shf[value, --, B, value, <<16]
    alu[value, value, OR, 0x58]
    msf[fast_wr, --, value, 0]
    ctx_arb[late]
    .set $n0 $n1
    check(10, $n0, (1 << 9))
    check(11, $n1, 0)

#include "check_end.uc"
