; msf_commands.uc: every command form of the media interface on registers that remember: 32 and 64 bits, 1 to 16 words, constants and
; counts from indirect_ref, and fast_wr.
;
; expects: part of the chip that is not modelled
;
;   80..9c  RX_UP_CONTROL_0..3, TX_UP_CONTROL_0..3      24, 28, 2c  high-water marks, flow control by hand, clock

#include "check.uc"

.reg base place value word zero
.reg read $r0 $r1 $r2 $r3 $r4 $r5 $r6 $r7 $r8 $r9 $r10 $r11 $r12 $r13 $r14 $r15
.reg write $w0 $w1 $w2 $w3 $w4 $w5 $w6 $w7
.xfer_order $r0 $r1 $r2 $r3 $r4 $r5 $r6 $r7 $r8 $r9 $r10 $r11 $r12 $r13 $r14 $r15
.xfer_order $w0 $w1 $w2 $w3 $w4 $w5 $w6 $w7
.sig done

    only_context_0()

    immed[base, 0x80]
    immed[zero, 0]

    ; One word, at a sum of two operands.
    load32(word, 0xdeadbeef)
    alu[$w0, --, B, word]
    msf[write, $w0, base, 0x10, 1], ctx_swap[done]
    msf[read, $r0, 0, base, 8], ctx_swap[done]
    check(1, $r3, 0)
    check(2, $r4, 0xdeadbeef)
    check(3, $r5, 0)

    ; Eight words.
    alu[$w0, --, B, 0x10]
    alu[$w1, --, B, 0x11]
    alu[$w2, --, B, 0x12]
    alu[$w3, --, B, 0x13]
    alu[$w4, --, B, 0x14]
    alu[$w5, --, B, 0x15]
    alu[$w6, --, B, 0x16]
    alu[$w7, --, B, 0x17]
    msf[write, $w0, base, 0, 8], ctx_swap[done]
    msf[read, $r0, base, 4, 2], ctx_swap[done]
    check(4, $r0, 0x11)
    check(5, $r1, 0x12)

    ; 64 bits: the count is in units of two words, and the low three bits of the address do not count.
    msf[read64, $r0, base, 12, 2], ctx_swap[done]
    check(6, $r0, 0x12)
    check(7, $r1, 0x13)
    check(8, $r2, 0x14)
    check(9, $r3, 0x15)
    alu[$w0, --, B, 0x20]
    alu[$w1, --, B, 0x21]
    alu[$w2, --, B, 0x22]
    alu[$w3, --, B, 0x23]
    msf[write64, $w0, base, 8, 2], ctx_swap[done]
    msf[read, $r0, base, 0, 8], ctx_swap[done]
    check(10, $r1, 0x11)
    check(11, $r2, 0x20)
    check(12, $r5, 0x23)
    check(13, $r6, 0x16)

    ; Counts from indirect_ref: [25] overrides it, [24:21] is the count less one, in the command's own unit.
    immed[value, ((1 << 9) | (11 << 5)), <<16]
    alu[--, --, B, value]
    msf[read, $r0, base, 0, max_12], indirect_ref, ctx_swap[done]
    check(14, $r0, 0x10)
    check(15, $r7, 0x17)
    check(16, $r8, 0)
    check(17, $r11, 0)
    immed[value, ((1 << 9) | (4 << 5)), <<16]
    alu[--, --, B, value]
    msf[read64, $r0, base, 0, max_5], indirect_ref, ctx_swap[done]
    check(18, $r5, 0x23)
    check(19, $r9, 0)
    alu[$w1, --, B, 0x31]
    alu[$w0, --, B, 0x30]
    immed[value, (1 << 9), <<16]
    alu[--, --, B, value]
    msf[write64, $w0, base, 0x18, max_2], indirect_ref, ctx_swap[done]
    msf[read, $r0, base, 0, 8], ctx_swap[done]
    check(20, $r5, 0x23)
    check(21, $r6, 0x30)
    check(22, $r7, 0x31)

    ; fast_wr: sixteen bits of data above sixteen bits of address, the sum of both operands, and nothing to wait for.
    load32(value, 0xabcd0020)
    msf[fast_wr, --, value, 4]
    immed[place, 60]
wait#:
    alu[place, place, -, 1]
    bne[wait#]
    msf[read, $r0, zero, 0x24, 1], ctx_swap[done]
    check(23, $r0, 0xabcd)

    ; A read of transmit sequence numbers: nothing was sent, nothing is pending. A write to them changes nothing.
    alu[$w0, --, B, 5]
    msf[write, $w0, zero, 0x60, 1], ctx_swap[done]
    msf[read, $r0, zero, 0x60, 3], ctx_swap[done]
    check(24, $r0, 0x80000000)
    check(25, $r1, 0x80000000)
    check(26, $r2, 0x80000000)

#include "check_end.uc"
