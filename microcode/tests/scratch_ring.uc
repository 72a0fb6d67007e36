; scratch_ring.uc: scratch rings 3 (nearly-full flag) and 11 (empty flag) of 128 words: flags by br_inp_state, head and tail, round the
; end, and a ring of 1,024 words. The flag lags behind: it is looked at after `settle`.

#include "check.uc"

.reg ring3 ring11 ring7 value left found_flag
.reg read $r0 $r1 $r2 $r3 $r4 $r5 $r6 $r7
.reg $w0 $w1 $w2 $w3 $w4 $w5 $w6 $w7
.xfer_order $r0 $r1 $r2 $r3 $r4 $r5 $r6 $r7
.xfer_order $w0 $w1 $w2 $w3 $w4 $w5 $w6 $w7
.sig done

; flag(NUMBER, STATE, WANTED): the input state must be WANTED once the lag is over.
#macro flag(NUMBER, STATE, WANTED)
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    immed[found_flag, 1]
    br_inp_state[STATE, set#]
    immed[found_flag, 0]
set#:
    check(NUMBER, found_flag, WANTED)
#endm

#macro put8(ring)
    scratch[put, $w0, ring, 0, 8], ctx_swap[done]
#endm

    only_context_0()

    ; BASE: length in 31:30, bit 26 the empty flag, base / 512 in 13:9.
    immed[ring3, 12]
    immed[ring11, 44]
    immed[ring7, 28]
    immed[$w0, 0x400]                               ; 128 words at 0x400
    cap[write, $w0, SCRATCH_RING_BASE_3, 1], ctx_swap[done]
    load32(value, 0x04000800)                       ; 128 words at 0x800, empty flag
    alu[$w0, --, B, value]
    cap[write, $w0, SCRATCH_RING_BASE_11, 1], ctx_swap[done]
    load32(value, 0xc0002000)                       ; 1,024 words at 0x2000
    alu[$w0, --, B, value]
    cap[write, $w0, SCRATCH_RING_BASE_7, 1], ctx_swap[done]

    flag(1, SCR_RING3_STATUS, 0)
    flag(2, SCR_RING11_STATUS, 1)
    flag(3, SCR_RING7_STATUS, 0)

    immed[$w0, 0x10]
    immed[$w1, 0x11]
    immed[$w2, 0x12]
    immed[$w3, 0x13]
    immed[$w4, 0x14]
    immed[$w5, 0x15]
    immed[$w6, 0x16]
    immed[$w7, 0x17]

    ; The empty flag falls with the first word and rises with the last.
    scratch[put, $w0, ring11, 0, 1], ctx_swap[done]
    flag(4, SCR_RING11_STATUS, 0)
    scratch[get, $r0, ring11, 0, 1], ctx_swap[done]
    check(5, $r0, 0x10)
    flag(6, SCR_RING11_STATUS, 1)
    scratch[get, $r0, ring11, 0, 2], ctx_swap[done]
    check(7, $r0, 0)
    check(8, $r1, 0)

    ; Nearly full at three quarters: 96 of 128 words.
    immed[left, 11]
most#:
    put8(ring3)
    alu[left, left, -, 1]
    bne[most#]
    scratch[put, $w0, ring3, 0, 7], ctx_swap[done]
    flag(9, SCR_RING3_STATUS, 0)
    scratch[put, $w7, ring3, 0, 1], ctx_swap[done]
    flag(10, SCR_RING3_STATUS, 1)

    ; To the last word, which is no overflow: head and tail meet.
    immed[left, 4]
rest#:
    put8(ring3)
    alu[left, left, -, 1]
    bne[rest#]
    flag(11, SCR_RING3_STATUS, 1)
    cap[read, $r0, SCRATCH_RING_HEAD_3, 1], ctx_swap[done]
    check(12, $r0, 0)
    cap[read, $r0, SCRATCH_RING_TAIL_3, 1], ctx_swap[done]
    check(13, $r0, 0)

    ; Eight off and eight on: round the end, to the beginning of the region.
    scratch[get, $r0, ring3, 0, 8], ctx_swap[done]
    check(14, $r0, 0x10)
    check(15, $r7, 0x17)
    immed[$w0, 0x99]
    put8(ring3)
    cap[read, $r0, SCRATCH_RING_HEAD_3, 1], ctx_swap[done]
    check(16, $r0, 0x20)
    immed[value, 0x400]
    scratch[read, $r0, value, 0, 1], ctx_swap[done]
    check(17, $r0, 0x99)

    ; Off again, all 128: the last eight are those.
    immed[left, 16]
empty#:
    scratch[get, $r0, ring3, 0, 8], ctx_swap[done]
    alu[left, left, -, 1]
    bne[empty#]
    check(18, $r0, 0x99)
    check(19, $r1, 0x11)
    scratch[get, $r0, ring3, 0, 8], ctx_swap[done]
    check(20, $r0, 0)
    flag(21, SCR_RING3_STATUS, 0)

    ; The longest ring: nearly full at 768 words.
    immed[left, 95]
long#:
    put8(ring7)
    alu[left, left, -, 1]
    bne[long#]
    flag(22, SCR_RING7_STATUS, 0)
    put8(ring7)
    flag(23, SCR_RING7_STATUS, 1)
    scratch[get, $r0, ring7, 0, 1], ctx_swap[done]
    flag(24, SCR_RING7_STATUS, 0)

#include "check_end.uc"
