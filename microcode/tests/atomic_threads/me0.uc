; me0.uc: the threads of microengine 0 work as all others; context 0 then waits for all 64 and checks what they have counted.

#include "check.uc"
#include "work.uc"

.reg left

    only_context_0()

wait#:
    scratch[read, $old, counters, 4, 1], ctx_swap[done]
    alu[--, $old, -, 64]
    bne[wait#]

    scratch[read, $old, counters, 0, 1], ctx_swap[done]
    check(1, $old, 64)
    sram[read, $count, counters, 0, 1], ctx_swap[done]
    check(2, $count, 64)
    sram[read, $count, counters, 4, 1], ctx_swap[done]
    check(3, $count, 64)
    scratch[read, $old, counters, 8, 1], ctx_swap[done]
    check(4, $old, 0)

    ; The map: 64 words of 1.
    immed[place, 0x1000]
    immed[left, 64]
each#:
    sram[read, $count, place, 0, 1], ctx_swap[done]
    check(5, $count, 1)
    alu[place, place, +, 4]
    alu[left, left, -, 1]
    bne[each#]
    sram[read, $count, place, 0, 1], ctx_swap[done]
    check(6, $count, 0)

#include "check_end.uc"
