; work.uc: what each of the 64 threads of atomic_threads does: counts in scratch memory and in SRAM by atomics, then takes a lock and
; counts by plain commands.
;
;   scratch 0x100   counted by test_and_incr, old value marked in the map      SRAM 0x1000   the map, a word for each old value
;   scratch 0x104   threads that are through                                  SRAM 0x100    counted by incr and decr
;   scratch 0x108   the lock                                                  SRAM 0x104    counted by read and write under the lock

#define TURNS_EACH 1

.reg counters place turns
.reg $old $mark $count
.sig done pair

    immed[counters, 0x100]
    immed[turns, TURNS_EACH]
turn#:
    ; Every old value is another one: its word in the map is counted up once.
    scratch[test_and_incr, $old, counters, 0], ctx_swap[pair]
    immed[place, 0x1000]
    alu_shf[place, place, OR, $old, <<2]
    sram[incr, --, place, 0], ctx_swap[done]
    sram[incr, --, counters, 0]
    sram[incr, --, counters, 0]
    sram[decr, --, counters, 0], ctx_swap[done]

    ; A lock of one bit around plain commands.
try#:
    immed[$mark, 1]
    scratch[test_and_set, $mark, counters, 8], ctx_swap[pair]
    br_bset[$mark, 0, try#]
    sram[read, $count, counters, 4, 1], ctx_swap[done]
    alu[$count, $count, +, 1]
    sram[write, $count, counters, 4, 1], ctx_swap[done]
    immed[$mark, 1]
    scratch[clr, $mark, counters, 8], ctx_swap[done]

    alu[turns, turns, -, 1]
    bne[turn#]
    scratch[incr, --, counters, 4], ctx_swap[done]
