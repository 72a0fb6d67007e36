; library_table.uc: table.uc: 40 keys in the 8 chains of a table, so that chains are long; found, deleted from the beginning, the middle and the
; end of their chains, and put in again with another value.
;
;   SRAM 0x1000   the table     SRAM 0x2000 + 16 x n   entry number n for key 3 n + 1, value 1000 + n

#include "check.uc"
#include "table.uc"

#define KEYS 40
#define MASK 7

.reg table entry key value number wanted left

; the_key(): the key of entry `number`. 3 instructions.
#macro the_key()
    alu_shf[key, --, B, number, <<1]
    alu[key, key, +, number]
    alu[key, key, +, 1]
#endm

; expect_all(FIRST_CHECK, COUNT, ODD_ONLY): the keys of entries 0 to COUNT - 1 are there with their values, or of the odd ones only.
#macro expect_all(FIRST_CHECK, COUNT, ODD_ONLY)
    immed[number, 0]
each#:
    the_key()
    table_find(entry, value, table, key, MASK, missing#)
    #if (ODD_ONLY)
        br_bset[number, 0, present#]
        fail(FIRST_CHECK)
    present#:
    #endif
    immed[wanted, 1000]
    alu[wanted, wanted, +, number]
    check_same((FIRST_CHECK + 1), value, wanted)
    immed[wanted, 0x2000]
    alu_shf[left, --, B, number, <<4]
    alu[wanted, wanted, +, left]
    check_same((FIRST_CHECK + 2), entry, wanted)
    br[next#]
missing#:
    #if (ODD_ONLY)
        br_bclr[number, 0, next#]
    #endif
    fail((FIRST_CHECK + 3))
next#:
    alu[number, number, +, 1]
    alu[--, number, -, (COUNT)]
    bne[each#]
#endm

    only_context_0()

    hash_setup(0x9e3779b9, 0x7f4a7c15)
    load32(table, 0x1000)

    immed[number, 0]
insert#:
    the_key()
    immed[entry, 0x2000]
    alu_shf[wanted, --, B, number, <<4]
    alu[entry, entry, +, wanted]
    immed[value, 1000]
    alu[value, value, +, number]
    table_insert(entry, table, key, value, MASK)
    alu[number, number, +, 1]
    alu[--, number, -, KEYS]
    bne[insert#]

    ; All are there, and no others.
    expect_all(10, KEYS, 0)
    immed[key, 2]
    table_find(entry, value, table, key, MASK, right_1#)
    fail(1)
right_1#:
    check(2, entry, 0)

    ; Every other one goes, the last one first: from all places in the chains.
    immed[number, (KEYS - 2)]
delete#:
    the_key()
    table_delete(entry, table, key, MASK, lost#)
    immed[wanted, 0x2000]
    alu_shf[value, --, B, number, <<4]
    alu[wanted, wanted, +, value]
    check_same(3, entry, wanted)
    table_delete(entry, table, key, MASK, right_2#)
    fail(4)
lost#:
    fail(5)
right_2#:
    alu[number, number, -, 2]
    bpl[delete#]
    expect_all(20, KEYS, 1)

    ; One of them again, with another value.
    immed[key, 1]
    immed[entry, 0x2000]
    table_insert(entry, table, key, 77, MASK)
    immed[entry, 0]
    table_find(entry, value, table, key, MASK, lost#)
    check(6, entry, 0x2000)
    check(7, value, 77)

#include "check_end.uc"
