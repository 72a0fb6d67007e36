; words.uc: 32-bit constants, and turns among the threads of a microengine.
;
; Turns. Work that has to stay in order is done by one thread at a time, in the order 0, 1, .. 7, 0, ...: a thread waits for a
; signal that stands for the turn and passes it on to the next context when its part is under way. A turn signal is declared
; `.sig volatile`, since another thread raises it.

#ifndef _WORDS_UC_
#define _WORDS_UC_

; load32(reg, VALUE): any 32-bit constant. 2 instructions.
#macro load32(reg, VALUE)
    immed[reg, ((VALUE) & 0xffff)]
    immed_w1[reg, (((VALUE) >> 16) & 0xffff)]
#endm

; pass_turn(sig): the next context has the turn now. 1 instruction; waits for nothing.
#macro pass_turn(sig)
    local_csr_wr[SAME_ME_SIGNAL, (0x80 | (&sig << 3))]
#endm

; give_turn_to_0(sig): context 0 has the turn now; for starting. 1 instruction.
#macro give_turn_to_0(sig)
    local_csr_wr[SAME_ME_SIGNAL, (&sig << 3)]
#endm

#endif
