; check.uc: how the programs of this folder check the machine by themselves.
;
; A program includes this file, checks with the macros below, each check with a number of its own, and ends by including check_end.uc.
; If all is as it should be it runs into that and halts at passed#; the first check that fails halts at failed#, with the number of the
; check in the register `failed_check`, what was found in `found` and what was expected in `expected`.
;
; One program NAME.uc runs in microengine 0. A folder NAME with me0.uc, me1.uc, ... runs each file in the microengine of its number; one
; of them checks and halts, the others end with ctx_arb[kill]. All eight contexts start at address 0.
; A line `; expects: NAME of the reserved behaviour` in a program says that it does that on purpose; nothing else may be reported.
; A line `; feeds PORT: LENGTH LENGTH ...` has frames of these lengths arrive at a port, one after the other from the start; byte j of
; frame k (both from 0) is 16 * k + j.

#ifndef _CHECK_UC_
#define _CHECK_UC_

#include "words.uc"

.reg failed_check found expected

; only_context_0(): the other contexts end here. 1 instruction, 2 in the other contexts.
#macro only_context_0()
    br=ctx[0, goes_on#]
    ctx_arb[kill]
goes_on#:
#endm

; check(NUMBER, value, WANTED): the register `value` must hold the constant WANTED. 6 instructions; changes the condition codes.
#macro check(NUMBER, value, WANTED)
    alu[found, --, B, value]
    load32(expected, WANTED)
    immed[failed_check, NUMBER]
    alu[--, found, -, expected]
    bne[failed#]
#endm

; check_same(NUMBER, value, wanted): the register `value` must equal the register `wanted`. 5 instructions.
#macro check_same(NUMBER, value, wanted)
    alu[found, --, B, value]
    alu[expected, --, B, wanted]
    immed[failed_check, NUMBER]
    alu[--, found, -, expected]
    bne[failed#]
#endm

; check_between(NUMBER, value, LEAST, MOST): LEAST <= value <= MOST, unsigned; `expected` is the limit that it misses. 10 instructions.
#macro check_between(NUMBER, value, LEAST, MOST)
    alu[found, --, B, value]
    immed[failed_check, NUMBER]
    load32(expected, LEAST)
    alu[--, found, -, expected]
    blo[failed#]
    load32(expected, MOST)
    alu[--, expected, -, found]
    blo[failed#]
#endm

; fail(NUMBER): control must not come here. 4 instructions.
#macro fail(NUMBER)
    immed[found, 0]
    immed[expected, 0]
    immed[failed_check, NUMBER]
    br[failed#]
#endm

#endif
