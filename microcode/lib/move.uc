; move.uc: constants and registers into registers, in as few words as the value allows.
;
; The machine loads a half word or a byte's pair at a place, the other bits all 0 or all 1; what does not fit that takes a second
; word. The macros look at the value while the program is assembled. A constant that only the linker knows takes two words.

#ifndef _MOVE_UC_
#define _MOVE_UC_

; immediate(dst, VALUE)
;   VALUE in dst.
;   dst      a general purpose or @ register, or local memory: something that can be read back
;   VALUE    any constant of 32 bits
;   changes  dst; no condition codes
;   cost     immediate(a, 0x1234) -> 1 word, 1 cycle
;   cost     immediate(a, 0x12340000) -> 1 word, 1 cycle
;   cost     immediate(a, 0x00123400) -> 1 word, 1 cycle
;   cost     immediate(a, 0xffff1234) -> 1 word, 1 cycle
;   cost     immediate(a, 0x1234ffff) -> 1 word, 1 cycle
;   cost     immediate(a, (0 - 2)) -> 1 word, 1 cycle
;   cost     immediate(a, 0x12345678) -> 2 words, 2 cycles
#macro immediate(dst, VALUE)
    #if (!isnum(VALUE))
        immed[dst, ((VALUE) & 0xffff)]
        immed_w1[dst, (((VALUE) >> 16) & 0xffff)]
    #elif ((((VALUE) & 0xffff0000) == 0) || (((VALUE) & 0xffff0000) == 0xffff0000))
        immed[dst, (VALUE)]
    #elif ((((VALUE) & 0xffff) == 0) || (((VALUE) & 0xffff) == 0xffff))
        immed[dst, (VALUE)]
    #elif ((((VALUE) & 0xff0000ff) == 0) || (((VALUE) & 0xff0000ff) == 0xff0000ff))
        immed[dst, (VALUE)]
    #else
        immed[dst, ((VALUE) & 0xffff)]
        immed_w1[dst, (((VALUE) >> 16) & 0xffff)]
    #endif
#endm

; move(dst, src)
;   The register or constant src in dst. Nothing at all where they are the same register.
;   dst      any register that can be written, transfer registers too
;   src      any register that can be read, or a constant
;   changes  dst; the condition codes, unless src is a constant
;   cost     move(a, a) after immed[a, 1] -> 0 words, 0 cycles
;   cost     move(b, a) after immed[a, 1] -> 1 word, 1 cycle
;   cost     move($x, 5) -> 1 word, 1 cycle
;   cost     move($x, 0x12345678) -> 3 words, 3 cycles
#macro move(dst, src)
    #if (isnum(src))
        #if (strstr(dst, $) == 1)
            #if ((((src) & 0xffff0000) == 0) || (((src) & 0xffff0000) == 0xffff0000) || (((src) & 0xffff) == 0) || (((src) & 0xffff) == 0xffff) || (((src) & 0xff0000ff) == 0) || (((src) & 0xff0000ff) == 0xff0000ff))
                immed[dst, (src)]
            #else
                .begin
                    .reg _move_value
                    immediate(_move_value, src)
                    alu[dst, --, B, _move_value]
                .end
            #endif
        #else
            immediate(dst, src)
        #endif
    #elif (!streq(dst, src))
        alu[dst, --, B, src]
    #endif
#endm

#endif
