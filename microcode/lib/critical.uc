; critical.uc: critical sections: one thread at a time in one microengine, on the whole chip, or for each of many keys.
;
; Threads of a microengine give way only where they say so (ctx_arb, ctx_swap): without a swap inside, a section needs no lock. A lock in an
; @ register is for the threads of one microengine, a bit in SRAM for all. fold_enter is for work on many things of which each
; may be worked on by one thread at a time: the CAM holds the keys in work and those worked on lately, so that whoever comes to one of these
; finds what others left in local memory and need not read it again. Nothing here is fair: who tries at the right time is next.

#ifndef _CRITICAL_UC_
#define _CRITICAL_UC_

#include "move.uc"

; mutex_enter(lock)
;   Waits until lock is 0 and takes it; other threads of the microengine run meanwhile.
;   lock     an @ register; one thread sets it to 0 before any comes here
;   changes  lock, the condition codes; waits while another thread has it
;   cost     mutex_enter(@lock) after immed[@lock, 0] -> 4 words, 5 cycles
#macro mutex_enter(lock)
try#:
    alu[--, --, B, lock]
    beq[taken#], defer[1]
    immed[lock, 1]
    ctx_arb[voluntary], br[try#]
taken#:
#endm

; mutex_leave(lock)
;   Gives the lock back.
;   lock     the @ register
;   changes  lock
;   cost     mutex_leave(@lock) -> 1 word, 1 cycle
#macro mutex_leave(lock)
    immed[lock, 0]
#endm

; sram_mutex_enter(address)
;   Waits until bit 0 of the word at address is 0 and sets it. Threads of all microengines; each round of waiting is a reference.
;   address  a register that restricted operands allow; the word in SRAM is 0 at the start and no plain write touches it
;   changes  nothing else; waits
;   cost     sram_mutex_enter(a) after immed[a, 0x100] -> 3 words, 5 cycles, 1 sram
#macro sram_mutex_enter(address)
    .begin
        .reg $_critical_bit
        .sig _critical_done
    try#:
        immed[$_critical_bit, 1]
        sram[test_and_set, $_critical_bit, address, 0], ctx_swap[_critical_done]
        br_bset[$_critical_bit, 0, try#]
    .end
#endm

; sram_mutex_leave(address)
;   Clears the bit. What was written to the same SRAM channel before is in memory when the next one comes in.
;   address  the register
;   changes  nothing else; waits
;   cost     sram_mutex_leave(a) after immed[a, 0x100] -> 2 words, 4 cycles, 1 sram
#macro sram_mutex_leave(address)
    .begin
        .reg $_critical_bit
        .sig _critical_done
        immed[$_critical_bit, 1]
        sram[clr, $_critical_bit, address, 0], ctx_swap[_critical_done]
    .end
#endm

; fold_start()
;   The CAM without keys; once for the microengine, before any thread comes to fold_enter.
;   changes  the CAM, the condition codes
;   cost     fold_start() -> 8 words, 128 cycles
#macro fold_start()
    .begin
        ; Tags have to differ from each other and from all keys: -16 to -1.
        .reg _fold_entry _fold_tag
        cam_clear
        immed[_fold_entry, 0]
        immed[_fold_tag, 0xfffffff0]
    next#:
        cam_write[_fold_entry, _fold_tag, 0]
        alu[_fold_tag, _fold_tag, +, 1]
        alu[_fold_entry, _fold_entry, +, 1]
        alu[--, _fold_entry, -, 16]
        bne[next#]
    .end
#endm

; fold_enter(entry, key, held_label)
;   Waits until no thread works on key and takes it. At held_label if the entry had the key before: what its last user left for it, in
;   local memory for instance, is valid. Falls through if it is new: the caller reads what belongs to it. Words 16 x entry to
;   16 x entry + 15 of local memory are the usual place (cam_lookup with lm_addr0).
;   entry    a general purpose register: the number of the CAM's entry, to be kept for fold_leave
;   key      a register; not 0xfffffff0 or above
;   held_label  a label
;   changes  entry, the CAM, the condition codes; waits while another thread has the key, or the entry that would be next
;   cost     fold_enter(a, b, elsewhere#) after fold_start() | immed[b, 5] -> 10 words, 9 cycles
;   cost     fold_enter(a, b, elsewhere#) after fold_start() | immed[b, 5] | cam_write[3, b, 0] -> 10 words, 10 cycles
#macro fold_enter(entry, key, held_label)
    .begin
        .reg _fold_found
    try#:
        cam_lookup[_fold_found, key]
        br_bset[_fold_found, 7, hit#], defer[1]
        alu_shf[entry, 0xf, AND, _fold_found, >>3]
        cam_read_state[_fold_found, entry]
        br_bclr[_fold_found, 8, fresh#]
    wait#:
        ctx_arb[voluntary], br[try#]
    hit#:
        br_bset[_fold_found, 8, wait#]
        cam_write_state[entry, 1]
        br[held_label]
    fresh#:
        cam_write[entry, key, 1]
    .end
#endm

; fold_leave(entry)
;   The key may be worked on by others; the entry keeps it until it is the one used longest ago.
;   entry    the register
;   changes  the CAM
;   cost     fold_leave(a) after immed[a, 3] | cam_clear -> 1 word, 1 cycle
#macro fold_leave(entry)
    cam_write_state[entry, 0]
#endm

#endif
