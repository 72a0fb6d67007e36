; flow_table.uc: the flow table's operations as macros; flow.h draws the table.
;
; A program declares what they work on:
;
;   .reg flow_source flow_destination flow_ports flow_protocol    the flow; flow_protocol with LIVE_BIT
;   .reg entry value                                              what was found
;   .reg chain                                                    the chain: its number times 4
;   .reg link                                                     where the address of `entry` is written
;   .reg table locks mask now                                     constants, by flow_setup(); the time, by flow_now()
;   .reg read $found[7]   .reg write $new[7]   each with .xfer_order
;   .sig flow_done flow_touched
;
; SOFTWARE_HASH   0: the chain is found by the hash unit (hash_128); 1: by 25 instructions, the last rounds of Jenkins's lookup3
; CACHED          1: the CAM of each microengine keeps the entries of the 16 flows that its threads asked for last

#ifndef _FLOW_TABLE_UC_
#define _FLOW_TABLE_UC_

#include "words.uc"
#include "critical.uc"
#include "buffers.uc"
#include "flow.h"

#ifndef SOFTWARE_HASH
    #define SOFTWARE_HASH 0
#endif
#ifndef CACHED
    #define CACHED 0
#endif

; flow_setup(): the constants; once in each thread. With CACHED context 0 has to call fold_start() before any other comes here.
#macro flow_setup()
    load32(table, TABLE_BASE)
    load32(locks, LOCK_BASE)
    immed[mask, (CHAINS - 1)]
#endm

; flow_now(): the time, in units of 16 cycles. 2 instructions.
#macro flow_now()
    local_csr_rd[TIMESTAMP_LOW]
    immed[now, 0]
#endm

; mix(x, y, ROTATION): a round of lookup3: x = (x xor y) - y turned left. 3 instructions.
#macro mix(x, y, ROTATION)
    .begin
        .reg _flow_turned
        alu_shf[_flow_turned, --, B, y, <<rot/**/ROTATION]
        alu[x, x, XOR, y]
        alu[x, x, -, _flow_turned]
    .end
#endm

; flow_hash(): the chain of the flow. Changes the condition codes; waits, with the hash unit.
#macro flow_hash()
    .begin
        #if (SOFTWARE_HASH)
            ; Three registers that are all combined with each other cannot be in two banks: `copy` stands in for `first` where it meets `second`.
            .reg _flow_first _flow_second _flow_third _flow_copy
            alu[_flow_third, flow_ports, XOR, flow_protocol]
            alu[_flow_first, --, B, flow_source]
            alu[_flow_second, --, B, flow_destination]
            mix(_flow_third, _flow_second, 14)
            mix(_flow_first, _flow_third, 11)
            alu[_flow_copy, --, B, _flow_first]
            mix(_flow_second, _flow_copy, 25)
            mix(_flow_third, _flow_second, 16)
            mix(_flow_first, _flow_third, 4)
            alu[_flow_copy, --, B, _flow_first]
            mix(_flow_second, _flow_copy, 14)
            mix(_flow_third, _flow_second, 24)
            alu[chain, mask, AND, _flow_third]
        #else
            .reg $_flow_key[4]
            .xfer_order $_flow_key
            alu[$_flow_key[0], --, B, flow_source]
            alu[$_flow_key[1], --, B, flow_destination]
            alu[$_flow_key[2], --, B, flow_ports]
            alu[$_flow_key[3], --, B, flow_protocol]
            hash_128[$_flow_key[0], 1], ctx_swap[flow_done]
            alu[chain, --, B, $_flow_key[0]]
            alu[chain, chain, XOR, $_flow_key[1]]
            alu[chain, chain, XOR, $_flow_key[2]]
            alu[chain, chain, XOR, $_flow_key[3]]
            alu[chain, mask, AND, chain]
        #endif
        alu_shf[chain, --, B, chain, <<2]
    .end
#endm

; flow_compare(other_label): $found against the flow; to other_label if it is another one. 4 comparisons, the address first: most
; entries differ there.
#macro flow_compare(other_label)
    alu[--, flow_source, -, $found[1]]
    bne[other_label]
    alu[--, flow_ports, -, $found[3]]
    bne[other_label]
    alu[--, flow_destination, -, $found[2]]
    bne[other_label]
    alu[--, flow_protocol, -, $found[4]]
    bne[other_label]
#endm

; flow_walk(CHANGING, missing_label): `entry` and $found of the flow in its chain, with KEEP_LINK 1 `link` as well; to missing_label, with
; entry 0, if it is not there.
#macro flow_walk(KEEP_LINK, missing_label)
    .begin
        alu[link, table, +, chain]
        sram[read, $found[0], link, 0, 1], ctx_swap[flow_done]
        alu[entry, --, B, $found[0]]
        beq[missing_label]
    next#:
        sram[read, $found[0], entry, 0, 7], ctx_swap[flow_done]
        flow_compare(other#)
        br[same#]
    other#:
        #if (KEEP_LINK)
            ; The link is an entry's first word, so the entry is the place of the link from here on.
            alu[link, --, B, entry]
        #endif
        alu[entry, --, B, $found[0]]
        bne[next#]
        br[missing_label]
    same#:
    .end
#endm

; flow_find(missing_label): `entry` and `value` of the flow, with no lock; to missing_label if it is not there, with entry 0.
#macro flow_find(missing_label)
    .begin
        #if (CACHED)
            .reg _flow_tag _flow_way
            alu[_flow_tag, flow_source, XOR, flow_destination]
            alu[_flow_tag, _flow_tag, +, flow_ports]
            cam_lookup[_flow_way, _flow_tag], lm_addr0[0]
            br_bclr[_flow_way, 7, chain#]
            nop
            nop
            alu[entry, --, B, *l$index0[0]]
            sram[read, $found[0], entry, 0, 7], ctx_swap[flow_done]
            flow_compare(chain#)
            br[found#]
        chain#:
            flow_hash()
            flow_walk(0, missing_label)
            ; Threads may have come between: the way is asked for anew, and written before anybody else can.
            cam_lookup[_flow_way, _flow_tag], lm_addr0[0]
            alu_shf[_flow_way, 0xf, AND, _flow_way, >>3]
            cam_write[_flow_way, _flow_tag, 0]
            nop
            alu[*l$index0[0], --, B, entry]
        found#:
        #else
            flow_hash()
            flow_walk(0, missing_label)
        #endif
        alu[value, --, B, $found[5]]
    .end
#endm

; flow_touch(): notes in the entry that the flow was asked for. Waits until the word has left.
#macro flow_touch()
    flow_now()
    alu[$new[0], --, B, now]
    sram[write, $new[0], entry, 24, 1], ctx_swap[flow_touched]
#endm

; flow_lock(), flow_unlock(): the chain, against others that want to change it.
#macro flow_lock()
    .begin
        .reg _flow_lock
        alu[_flow_lock, locks, +, chain]
        sram_mutex_enter(_flow_lock)
    .end
#endm
#macro flow_unlock()
    .begin
        .reg _flow_lock
        alu[_flow_lock, locks, +, chain]
        sram_mutex_leave(_flow_lock)
    .end
#endm

; flow_insert(free_entries, there_label, full_label): the flow with `value`, in a free entry at the beginning of its chain. To there_label if
; there is one already, which has the new value now; to full_label if there is no free entry.
;   free_entries   a general purpose register, see free_list of buffers.uc
#macro flow_insert(free_entries, there_label, full_label)
    .begin
        flow_hash()
        flow_lock()
        flow_walk(0, new#)
        flow_now()
        alu[$new[0], --, B, value]
        alu[$new[1], --, B, now]
        sram[write, $new[0], entry, 20, 2], ctx_swap[flow_done]
        flow_unlock()
        br[there_label]
    none#:
        flow_unlock()
        br[full_label]
    new#:
        free_list_alloc(entry, free_entries, none#)
        alu_shf[entry, --, B, entry, <<2]
        alu[link, table, +, chain]
        sram[read, $found[0], link, 0, 1], ctx_swap[flow_done]
        flow_now()
        alu[$new[0], --, B, $found[0]]
        alu[$new[1], --, B, flow_source]
        alu[$new[2], --, B, flow_destination]
        alu[$new[3], --, B, flow_ports]
        alu[$new[4], --, B, flow_protocol]
        alu[$new[5], --, B, value]
        alu[$new[6], --, B, now]
        sram[write, $new[0], entry, 0, 7], ctx_swap[flow_done]
        alu[$new[0], --, B, entry]
        sram[write, $new[0], link, 0, 1], ctx_swap[flow_done]
        flow_unlock()
    .end
#endm

; flow_delete(OLDER, missing_label): takes the flow out of its chain and hands its entry to the ager; to missing_label if it is not there.
;   OLDER   0, or the name of a register: only if nobody has asked for the flow for longer, in units of 16 cycles
#macro flow_delete(OLDER, missing_label)
    .begin
        .reg _flow_ring
        flow_hash()
        flow_lock()
        flow_walk(1, not_there#)
        #if (!streq(OLDER, 0))
            .reg _flow_age
            flow_now()
            alu[_flow_age, now, -, $found[6]]
            alu[--, OLDER, -, _flow_age]
            bhs[not_there#]
        #endif
        alu[value, --, B, $found[5]]
        alu[$new[0], --, B, $found[0]]
        sram[write, $new[0], link, 0, 1], ctx_swap[flow_done]
        flow_now()
        immed[$new[0], 0]
        alu[$new[1], --, B, value]
        alu[$new[2], --, B, now]
        sram[write, $new[0], entry, 16, 3], ctx_swap[flow_done]
        flow_unlock()
        immed[_flow_ring, (DELETED_RING << 2)]
        alu[$new[0], --, B, entry]
        br[room#]
    wait#:
        ctx_arb[voluntary]
    room#:
        br_inp_state[SCR_RING2_STATUS, wait#]
        scratch[put, $new[0], _flow_ring, 0, 1], ctx_swap[flow_done]
        br[deleted#]
    not_there#:
        flow_unlock()
        br[missing_label]
    deleted#:
    .end
#endm

#endif
