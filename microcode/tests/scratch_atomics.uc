; scratch_atomics.uc: every atomic of scratch memory on one word, and the old word that comes back.

#include "check.uc"

.reg base value
.reg $x $word
.sig done pair

    only_context_0()

    immed[base, 0x200]
    load32(value, 0xff00ff00)
    alu[$word, --, B, value]
    scratch[write, $word, base, 4, 1], ctx_swap[done]

    immed[$x, 0xff]
    scratch[set, $x, base, 4], ctx_swap[done]
    scratch[read, $word, base, 4, 1], ctx_swap[done]
    check(1, $word, 0xff00ffff)
    load32(value, 0xff00000f)
    alu[$x, --, B, value]
    scratch[clr, $x, base, 4], ctx_swap[done]
    scratch[read, $word, base, 4, 1], ctx_swap[done]
    check(2, $word, 0xfff0)
    immed[$x, 0x10]
    scratch[add, $x, base, 4], ctx_swap[done]
    scratch[read, $word, base, 4, 1], ctx_swap[done]
    check(3, $word, 0x10000)
    immed[$x, 1]
    scratch[sub, $x, base, 4], ctx_swap[done]
    scratch[read, $word, base, 4, 1], ctx_swap[done]
    check(4, $word, 0xffff)
    scratch[incr, --, base, 4], ctx_swap[done]
    scratch[incr, --, base, 4]
    scratch[decr, --, base, 4], ctx_swap[done]
    scratch[read, $word, base, 4, 1], ctx_swap[done]
    check(5, $word, 0x10000)

    immed[$x, 1]
    scratch[swap, $x, base, 4], ctx_swap[pair]
    check(6, $x, 0x10000)
    immed[$x, 6]
    scratch[test_and_set, $x, base, 4], ctx_swap[pair]
    check(7, $x, 1)
    immed[$x, 2]
    scratch[test_and_clr, $x, base, 4], ctx_swap[pair]
    check(8, $x, 7)
    immed[$x, 10]
    scratch[test_and_add, $x, base, 4], ctx_swap[pair]
    check(9, $x, 5)
    immed[$x, 16]
    scratch[test_and_sub, $x, base, 4], ctx_swap[pair]
    check(10, $x, 15)
    scratch[test_and_incr, $x, base, 4], ctx_swap[pair]
    check(11, $x, 0xffffffff)
    scratch[test_and_decr, $x, base, 4], ctx_swap[pair]
    check(12, $x, 0)
    scratch[read, $word, base, 4, 1], ctx_swap[done]
    check(13, $word, 0xffffffff)

    ; Its neighbours are as they were.
    scratch[read, $word, base, 0, 1], ctx_swap[done]
    check(14, $word, 0)
    scratch[read, $word, base, 8, 1], ctx_swap[done]
    check(15, $word, 0)

#include "check_end.uc"
