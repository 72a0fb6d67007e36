; table.uc: the hash unit, and hash tables with chains in SRAM.
;
; A table is an array of words in SRAM, one for each chain, a power of two of them: the byte address of the first entry, or 0. An entry is 16
; bytes at any address but 0:
;
;   word 0  the byte address of the next entry, or 0
;   word 1  key
;   word 2  value
;   word 3  the program's own
;
; A key's chain is number (hash of the key) & MASK. Finding takes no lock and sees whole chains at any time: an entry is written
; before it is linked. Threads that insert and delete have to keep each other off, for instance by sram_mutex_enter, and an entry
; that was deleted must not be used for another key while somebody may still be reading it.

#ifndef _TABLE_UC_
#define _TABLE_UC_

#include "move.uc"

; hash_setup(LOW, HIGH)
;   The multiplier of the unit's hash of 64 bits; once for the chip. After a reset nobody knows what it is.
;   LOW      a constant, bits 31:0
;   HIGH     a constant, bits 63:32; together not a multiple of the unit's polynomial, best a number that looks random
;   changes  HASH_MULTIPLIER_64; waits
;   cost     hash_setup(2, 0) -> 3 words, 5 cycles, 1 cap
;   cost     hash_setup(0x9e3779b9, 0x7f4a7c15) -> 7 words, 9 cycles, 1 cap
#macro hash_setup(LOW, HIGH)
    .begin
        .reg $_table_low $_table_high
        .xfer_order $_table_low $_table_high
        .sig _table_done
        move($_table_low, LOW)
        move($_table_high, HIGH)
        cap[write, $_table_low, HASH_MULTIPLIER_64_0, 2], ctx_swap[_table_done]
    .end
#endm

; hash_key(dst, low, high)
;   The hash of 64 bits, as 32: the low word of the product over the high one, by exclusive or.
;   dst      a general purpose register
;   low      a register or constant, bits 31:0 of the key
;   high     a register or constant, bits 63:32
;   changes  dst, the condition codes; waits
;   cost     hash_key(a, b, 0) after immed[b, 5] | hash_setup(2, 0) -> 5 words, 7 cycles, 1 hash
#macro hash_key(dst, low, high)
    .begin
        .reg $_table_low $_table_high
        .xfer_order $_table_low $_table_high
        .sig _table_done
        move($_table_low, low)
        move($_table_high, high)
        hash_64[$_table_low, 1], ctx_swap[_table_done]
        alu[dst, --, B, $_table_low]
        alu[dst, dst, XOR, $_table_high]
    .end
#endm

; table_chain(dst, table, key, MASK)
;   The byte address of the word where the chain of a key begins.
;   dst      a general purpose register
;   table    a general purpose register, the byte address of the table
;   key      a register
;   MASK     a constant, the number of chains less 1
;   changes  dst, the condition codes; waits
;   cost     table_chain(a, b, c, 15) after immed[b, 0x100] | immed[c, 5] | hash_setup(2, 0) -> 8 words, 10 cycles, 1 hash
;   cost     table_chain(a, b, c, 1023) after immed[b, 0x100] | immed[c, 5] | hash_setup(2, 0) -> 9 words, 11 cycles, 1 hash
#macro table_chain(dst, table, key, MASK)
    .begin
        .reg _table_hash _table_shifted
        hash_key(_table_hash, key, 0)
        #if ((MASK) <= 255)
            alu[_table_hash, _table_hash, AND, (MASK)]
        #else
            .reg _table_mask
            immediate(_table_mask, MASK)
            alu[_table_hash, _table_hash, AND, _table_mask]
        #endif
        alu_shf[_table_shifted, --, B, _table_hash, <<2]
        alu[dst, table, +, _table_shifted]
    .end
#endm

; table_find(entry, value, table, key, MASK, missing_label)
;   The entry of a key and its value; to missing_label if there is none.
;   entry    a general purpose register, the byte address of the entry, 0 if there is none
;   value    a register that can be written
;   table    a general purpose register, the byte address of the table
;   key      a general purpose register
;   MASK     a constant, the number of chains less 1
;   missing_label  a label
;   changes  entry, value, the condition codes; waits
;   cost     table_find(a, e, b, c, 15, elsewhere#) after immed[b, 0x100] | immed[c, 5] | hash_setup(2, 0) -> 15 words, 18 cycles, 1 hash, 1 sram
;   cost     table_find(a, e, b, c, 15, elsewhere#) after immed[b, 0x100] | immed[c, 5] | hash_setup(2, 0) | immed[d[0], 0x200] | immed[d[1], 9] | table_insert(d[0], b, c, d[1], 15) -> 15 words, 21 cycles, 1 hash, 2 sram
#macro table_find(entry, value, table, key, MASK, missing_label)
    .begin
        .reg read $_table_next $_table_key $_table_value
        .xfer_order $_table_next $_table_key $_table_value
        .sig _table_read
        table_chain(entry, table, key, MASK)
        sram[read, $_table_next, entry, 0, 1], ctx_swap[_table_read]
    next#:
        alu[entry, --, B, $_table_next]
        beq[missing_label]
        sram[read, $_table_next, entry, 0, 3], ctx_swap[_table_read]
        alu[--, key, -, $_table_key]
        bne[next#]
        alu[value, --, B, $_table_value]
    .end
#endm

; table_insert(entry, table, key, value, MASK)
;   Puts a free entry with key and value at the beginning of the key's chain. It does not look whether the key is there already.
;   entry    a general purpose register, the byte address of the entry
;   table    a general purpose register, the byte address of the table
;   key      a general purpose register
;   value    a register or a constant
;   MASK     a constant, the number of chains less 1
;   changes  the condition codes; waits until both words have left
;   cost     table_insert(a, b, c, 7, 15) after immed[a, 0x200] | immed[b, 0x100] | immed[c, 5] | hash_setup(2, 0) -> 15 words, 23 cycles, 1 hash, 3 sram
#macro table_insert(entry, table, key, value, MASK)
    .begin
        .reg _table_place $_table_next $_table_key $_table_value
        .xfer_order $_table_next $_table_key $_table_value
        .sig _table_done
        table_chain(_table_place, table, key, MASK)
        sram[read, $_table_next, _table_place, 0, 1], ctx_swap[_table_done]
        alu[$_table_next, --, B, $_table_next]
        move($_table_key, key)
        move($_table_value, value)
        sram[write, $_table_next, entry, 0, 3], ctx_swap[_table_done]
        alu[$_table_next, --, B, entry]
        sram[write, $_table_next, _table_place, 0, 1], ctx_swap[_table_done]
    .end
#endm

; table_delete(entry, table, key, MASK, missing_label)
;   Takes the first entry of a key out of its chain; to missing_label if there is none.
;   entry    a general purpose register, the byte address of the entry that is free now, 0 if there is none
;   table    a general purpose register, the byte address of the table
;   key      a general purpose register
;   MASK     a constant, the number of chains less 1
;   missing_label  a label
;   changes  entry, the condition codes; waits until the link has left
;   cost     table_delete(a, b, c, 15, elsewhere#) after immed[b, 0x100] | immed[c, 5] | hash_setup(2, 0) -> 18 words, 18 cycles, 1 hash, 1 sram
;   cost     table_delete(a, b, c, 15, elsewhere#) after immed[b, 0x100] | immed[c, 5] | hash_setup(2, 0) | immed[d[0], 0x200] | immed[d[1], 9] | table_insert(d[0], b, c, d[1], 15) -> 18 words, 27 cycles, 1 hash, 3 sram
#macro table_delete(entry, table, key, MASK, missing_label)
    .begin
        .reg _table_place $_table_next $_table_key
        .xfer_order $_table_next $_table_key
        .sig _table_done
        table_chain(_table_place, table, key, MASK)
        sram[read, $_table_next, _table_place, 0, 1], ctx_swap[_table_done]
    next#:
        alu[entry, --, B, $_table_next]
        beq[missing_label]
        sram[read, $_table_next, entry, 0, 2], ctx_swap[_table_done]
        alu[--, key, -, $_table_key]
        beq[found#]
        ; The link is an entry's first word, so the entry is the place of the link from here on.
        alu[_table_place, --, B, entry]
        br[next#]
    found#:
        alu[$_table_next, --, B, $_table_next]
        sram[write, $_table_next, _table_place, 0, 1], ctx_swap[_table_done]
    .end
#endm

#endif
