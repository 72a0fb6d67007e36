; hash_keys.uc: the hash unit with multipliers set through the CAP. With the multiplier 1 a key is its own hash, with x (2) it is the key
; times x: shifted, and reduced by the polynomial when the top bit goes over.
;
; G48 = x^48+x^36+x^25+x^10+1, G64 = x^64+x^54+x^35+x^17+1, G128 = x^128+x^98+x^69+x^33+1

#include "check.uc"

.reg value
.reg $k0 $k1 $k2 $k3 $k4 $k5 $k6 $k7 $k8 $k9 $k10 $k11
.reg $m0 $m1
.xfer_order $k0 $k1 $k2 $k3 $k4 $k5 $k6 $k7 $k8 $k9 $k10 $k11
.xfer_order $m0 $m1
.sig done

#macro key(REG, WORD)
    load32(value, WORD)
    alu[REG, --, B, value]
#endm

    only_context_0()

    ; 48 bits, multiplier 1: three keys at once. The upper half of a key's second word does not count.
    immed[$m0, 1]
    immed[$m1, 0]
    cap[write, $m0, HASH_MULTIPLIER_48_0, 2], ctx_swap[done]
    key($k0, 0x01234567)
    key($k1, 0xffff89ab)
    key($k2, 0)
    key($k3, 0x8000)
    key($k4, 0xffffffff)
    key($k5, 0)
    hash_48[$k0, 3], ctx_swap[done]
    check(1, $k0, 0x01234567)
    check(2, $k1, 0x89ab)
    check(3, $k2, 0)
    check(4, $k3, 0x8000)
    check(5, $k4, 0xffffffff)
    check(6, $k5, 0)

    ; Multiplier x: bit 47 goes over and leaves x^36+x^25+x^10+1.
    immed[$m0, 2]
    cap[write, $m0, HASH_MULTIPLIER_48_0, 1], ctx_swap[done]
    key($k0, 0x80000001)
    key($k1, 0x8000)
    hash_48[$k0, 1], ctx_swap[done]
    check(7, $k0, 0x02000403)
    check(8, $k1, 0x11)

    ; 64 bits.
    immed[$m0, 2]
    immed[$m1, 0]
    cap[write, $m0, HASH_MULTIPLIER_64_0, 2], ctx_swap[done]
    key($k0, 0x40000000)
    key($k1, 0)
    key($k2, 0)
    key($k3, 0x80000000)
    hash_64[$k0, 2], ctx_swap[done]
    check(9, $k0, 0x80000000)
    check(10, $k1, 0)
    check(11, $k2, 0x00020001)
    check(12, $k3, 0x00400008)

    ; 128 bits: the same with x^98+x^69+x^33+1.
    cap[write, $m0, HASH_MULTIPLIER_128_0, 2], ctx_swap[done]
    immed[$m0, 0]
    cap[write, $m0, HASH_MULTIPLIER_128_2, 2], ctx_swap[done]
    key($k0, 1)
    key($k1, 0)
    key($k2, 0)
    key($k3, 0x80000000)
    key($k4, 0)
    key($k5, 0x80000000)
    key($k6, 0)
    key($k7, 0)
    key($k8, 0)
    key($k9, 0)
    key($k10, 0)
    key($k11, 0x40000000)
    hash_128[$k0, 3], ctx_swap[done]
    check(13, $k0, 3)
    check(14, $k1, 2)
    check(15, $k2, 0x20)
    check(16, $k3, 4)
    check(17, $k4, 0)
    check(18, $k5, 0)
    check(19, $k6, 1)
    check(20, $k7, 0)
    check(21, $k11, 0x80000000)
    check(22, $k8, 0)

#include "check_end.uc"
