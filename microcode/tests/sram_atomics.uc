; sram_atomics.uc: every atomic of an SRAM channel on one word, the old word that comes back, the forms without pull, both channels.
;
;   channel 0 at 0x100, channel 1 at 0x100: the words that are changed

#include "check.uc"

.reg base other value no_pull
.reg $x $word
.sig done pair

    only_context_0()

    immed[base, 0x100]
    load32(other, 0x40000100)

    ; set, clr and add take their operand from a write transfer register and say nothing of the old word.
    load32(value, 0x80000001)
    alu[$word, --, B, value]
    sram[write, $word, base, 0, 1], ctx_swap[done]
    immed[$x, 0xf0]
    sram[set, $x, base, 0], ctx_swap[done]
    sram[read, $word, base, 0, 1], ctx_swap[done]
    check(1, $word, 0x800000f1)
    immed[$x, 0x31]
    sram[clr, $x, base, 0], ctx_swap[done]
    sram[read, $word, base, 0, 1], ctx_swap[done]
    check(2, $word, 0x800000c0)
    load32(value, 0x80000040)
    alu[$x, --, B, value]
    sram[add, $x, base, 0], ctx_swap[done]
    sram[read, $word, base, 0, 1], ctx_swap[done]
    check(3, $word, 0x100)

    ; incr and decr have no operand, and wrap.
    sram[incr, --, base, 0]
    sram[incr, --, base, 0], ctx_swap[done]
    sram[read, $word, base, 0, 1], ctx_swap[done]
    check(4, $word, 0x102)
    alu[$word, --, B, 0]
    sram[write, $word, base, 0, 1], ctx_swap[done]
    sram[decr, --, base, 0], ctx_swap[done]
    sram[read, $word, base, 0, 1], ctx_swap[done]
    check(5, $word, 0xffffffff)
    sram[incr, --, base, 0], ctx_swap[done]
    sram[read, $word, base, 0, 1], ctx_swap[done]
    check(6, $word, 0)

    ; The forms that return the word as it was.
    immed[$x, 5]
    sram[swap, $x, base, 0], ctx_swap[pair]
    check(7, $x, 0)
    immed[$x, 6]
    sram[test_and_set, $x, base, 0], ctx_swap[pair]
    check(8, $x, 5)
    immed[$x, 3]
    sram[test_and_clr, $x, base, 0], ctx_swap[pair]
    check(9, $x, 7)
    immed[$x, 100]
    sram[test_and_add, $x, base, 0], ctx_swap[pair]
    check(10, $x, 4)
    sram[test_and_incr, $x, base, 0], ctx_swap[pair]
    check(11, $x, 104)
    sram[test_and_decr, $x, base, 0], ctx_swap[pair]
    check(12, $x, 105)
    sram[read, $word, base, 0, 1], ctx_swap[done]
    check(13, $word, 104)

    ; Without pull: the operand is in bits 22:12 of the result before, here 0x7ff and 0x555.
    load32(no_pull, 0x7ff000)
    alu[--, --, B, no_pull]
    sram[add, --, base, 0], ctx_swap[done], indirect_ref, no_pull
    sram[read, $word, base, 0, 1], ctx_swap[done]
    check(14, $word, 0x867)
    load32(no_pull, 0x555000)
    alu[--, --, B, no_pull]
    sram[test_and_clr, $x, base, 0], ctx_swap[pair], indirect_ref, no_pull
    check(15, $x, 0x867)
    alu[--, --, B, no_pull]
    sram[swap, $x, base, 0], ctx_swap[pair], indirect_ref, no_pull
    check(16, $x, 0x822)
    sram[read, $word, base, 0, 1], ctx_swap[done]
    check(17, $word, 0x555)

    ; Bits 31:30 choose the channel, the low two bits do not count.
    sram[test_and_incr, $x, other, 3], ctx_swap[pair]
    check(18, $x, 0)
    sram[read, $word, other, 0, 1], ctx_swap[done]
    check(19, $word, 1)
    sram[read, $word, base, 0, 1], ctx_swap[done]
    check(20, $word, 0x555)

    ; An atomic keeps its place between a write before it and a read behind it.
    immed[$word, 30]
    sram[write, $word, base, 8, 1], sig_done[done]
    sram[incr, --, base, 8]
    ctx_arb[done]
    sram[read, $word, base, 8, 1], ctx_swap[done]
    check(21, $word, 31)

#include "check_end.uc"
