; contexts.uc: waits for all and for any signals, signals around the threads of a microengine, a prepared mask, pairs, and the timer.
;
; Context 0 checks; context 1 answers each signal 8 with a signal 9 for context 0, and counts; the others end at once.

#include "check.uc"

.reg value turns @answers
.reg $word $$low $$high
.xfer_order $$low $$high
.sig volatile ask answer other
.sig done pair
    .set_sig ask
    .set_sig answer
    .set_sig other
    br=ctx[0, checker#]
    br=ctx[1, answerer#]
    ctx_arb[kill]

answerer#:
    ctx_arb[ask]
    alu[@answers, @answers, +, 1]
    local_csr_wr[SAME_ME_SIGNAL, (&answer << 3)]
    br[answerer#]

checker#:
    immed[@answers, 0]

    ; A question and an answer, five times.
    immed[turns, 5]
turn#:
    local_csr_wr[SAME_ME_SIGNAL, ((&ask << 3) | 1)]
    ctx_arb[answer]
    alu[turns, turns, -, 1]
    bne[turn#]
    check(1, @answers, 5)

    ; To the next context: bit 7.
    local_csr_wr[SAME_ME_SIGNAL, ((&ask << 3) | 0x80)]
    ctx_arb[answer]
    check(2, @answers, 6)

    ; Waking on any leaves the signal; br_signal takes it off.
    local_csr_wr[SAME_ME_SIGNAL, ((&ask << 3) | 1)]
    ctx_arb[answer, other], any
    br_!signal[answer, wrong#]
    br_signal[answer, wrong#]
    br_signal[other, wrong#]

    ; All of two: the second is one's own.
    local_csr_wr[SAME_ME_SIGNAL, ((&ask << 3) | 1)]
    local_csr_wr[SAME_ME_SIGNAL, (&other << 3)]
    ctx_arb[answer, other]
    br_signal[answer, wrong#]
    br_signal[other, wrong#]
    check(3, @answers, 8)

    ; A prepared mask, and a label to go on at.
    immed[value, (1 << &answer)]
    local_csr_wr[SAME_ME_SIGNAL, ((&ask << 3) | 1)]
    local_csr_wr[ACTIVE_CTX_WAKEUP_EVENTS, value]
    ctx_arb[--], br[prepared#]
wrong#:
    fail(4)
prepared#:
    check(5, @answers, 9)

    ; A DRAM read raises a pair, and is there when both are.
    immed[value, 0x7ab]
    alu[$$low, --, B, value]
    alu[$$high, value, +, 1]
    immed[value, 0x200]
    dram[write, $$low, value, 0, 1], ctx_swap[pair]
    dram[read, $$low, value, 0, 1], sig_done[pair]
    ctx_arb[pair]
    alu[value, --, B, $$low]
    check(6, value, 0x7ab)
    alu[value, --, B, $$high]
    check(7, value, 0x7ac)

    ; The timer: four counts of 16 cycles from now on.
    local_csr_rd[TIMESTAMP_LOW]
    immed[value, 0]
    alu[value, value, +, 4]
    local_csr_wr[ACTIVE_FUTURE_COUNT_SIGNAL, &other]
    local_csr_wr[ACTIVE_FUTURE_COUNT, value]
    ctx_arb[other]
    alu[turns, --, B, value]
    local_csr_rd[TIMESTAMP_LOW]
    immed[value, 0]
    check_same(8, value, turns)

#include "check_end.uc"
