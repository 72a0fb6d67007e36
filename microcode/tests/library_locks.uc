; library_locks.uc: eight threads of a microengine in the critical sections of critical.uc. Each reads a counter, lets the others run, and
; writes it back one higher: a section that lets two in loses a count.
;
;   @count     counted under an @ lock            SRAM 0x104   counted under the bit at 0x100
;   SRAM 0x200 + 4 x k, k from 0 to 19   counted under fold_enter with key k: 20 keys through 16 entries
;   local memory, the first word of each entry's 16   the key it was last filled for, as its thread left it

#include "check.uc"
#include "critical.uc"

#define TURNS 5
#define KEYS 20

.reg @lock @count @done left key entry copy lock place hits @hits value @stage @through
.reg $count
.sig got

    ; Context 0 is the first to run, and does not swap before everything is set.
    immed[lock, 0x100]
    br!=ctx[0, start#]
    immed[@lock, 0]
    immed[@count, 0]
    immed[@done, 0]
    immed[@hits, 0]
    immed[@stage, 0]
    immed[@through, 0]
    fold_start()
start#:
    immed[left, TURNS]
turn#:
    mutex_enter(@lock)
    alu[copy, --, B, @count]
    ctx_arb[voluntary]
    alu[@count, copy, +, 1]
    mutex_leave(@lock)

    sram_mutex_enter(lock)
    sram[read, $count, lock, 4, 1], ctx_swap[got]
    alu[$count, $count, +, 1]
    sram[write, $count, lock, 4, 1], ctx_swap[got]
    sram_mutex_leave(lock)
    alu[left, left, -, 1]
    bne[turn#]

    ; Every thread comes to every key once, four times over and all in the same order, so that they meet.
    immed[left, 4]
round#:
    immed[key, 0]
each#:
    fold_enter(entry, key, known#)
    cam_lookup[value, key], lm_addr0[0]
    nop
    nop
    nop
    alu[*l$index0[0], --, B, key]
    br[work#]
known#:
    cam_lookup[value, key], lm_addr0[0]
    alu[@hits, @hits, +, 1]
    nop
    nop
    alu[value, --, B, *l$index0[0]]
    check_same(1, value, key)
work#:
    immed[place, 0x200]
    alu_shf[copy, --, B, key, <<2]
    alu[place, place, +, copy]
    sram[read, $count, place, 0, 1], ctx_swap[got]
    alu[$count, $count, +, 1]
    sram[write, $count, place, 0, 1], ctx_swap[got]
    fold_leave(entry)
    alu[key, key, +, 1]
    alu[--, key, -, KEYS]
    bne[each#]
    alu[left, left, -, 1]
    bne[round#]

    alu[@done, @done, +, 1]
    br=ctx[1, many_keys#]
    only_context_0()
last#:
    alu[--, @done, -, 8]
    beq[all_done#]
    ctx_arb[voluntary], br[last#]
all_done#:
    alu[copy, --, B, @count]
    check(2, copy, (8 * TURNS))
    sram[read, $count, lock, 4, 1], ctx_swap[got]
    check(3, $count, (8 * TURNS))
    sram[read, $count, lock, 0, 1], ctx_swap[got]
    check(4, $count, 0)
    immed[key, 0]
    immed[place, 0x200]
total#:
    sram[read, $count, place, 0, 1], ctx_swap[got]
    check(5, $count, (8 * 4))
    alu[place, place, +, 4]
    alu[key, key, +, 1]
    alu[--, key, -, KEYS]
    bne[total#]
    ; Threads on the heels of each other find what the first of them has left.
    alu[hits, --, B, @hits]
    check_between(6, hits, 100, 639)

    ; An entry in work is not given away, however long ago it was used: context 1 gets 15 keys through, and the sixteenth has to wait.
    immed[key, 200]
    fold_enter(entry, key, unexpected#)
    immed[@stage, 1]
    immed[left, 200]
others#:
    ctx_arb[voluntary]
    alu[left, left, -, 1]
    bne[others#]
    alu[copy, --, B, @through]
    check(7, copy, 15)
    cam_read_tag[value, entry]
    check_same(8, value, key)
    fold_leave(entry)
    immed[left, 200]
rest#:
    ctx_arb[voluntary]
    alu[left, left, -, 1]
    bne[rest#]
    alu[copy, --, B, @through]
    check(9, copy, 16)
    br[passed#]

many_keys#:
    alu[--, --, B, @stage]
    bne[go#]
    ctx_arb[voluntary], br[many_keys#]
go#:
    immed[key, 101]
another#:
    fold_enter(entry, key, unexpected#)
    fold_leave(entry)
    alu[@through, @through, +, 1]
    ctx_arb[voluntary]
    alu[key, key, +, 1]
    alu[--, key, -, 117]
    bne[another#]
    ctx_arb[kill]
unexpected#:
    fail(10)

#include "check_end.uc"
