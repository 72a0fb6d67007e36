; checksum.uc: the checksum of IP, TCP and UDP (RFC 1071): made over registers, brought up to date for one changed field (RFC 1624).
;
; A sum is a register of 32 bits in one's complement: carries out of the top are added at the bottom. Words of 32 bits may be added as they
; are, since 2^16 is 1 modulo 0xffff; halves fold onto each other at the end. A sum of 0 means that all there was is 0.

#ifndef _CHECKSUM_UC_
#define _CHECKSUM_UC_

; checksum_add(sum, value)
;   One word more in the sum.
;   sum      a general purpose register
;   value    a register, or a constant up to 255
;   changes  sum, the condition codes
;   cost     checksum_add(a, b) after immed[a, 0] | immed[b, 5] -> 2 words, 2 cycles
#macro checksum_add(sum, value)
    alu[sum, sum, +, value]
    alu[sum, sum, +carry, 0]
#endm

; checksum_words(sum, group, FIRST, COUNT)
;   The members FIRST to FIRST + COUNT - 1 of a group more in the sum. Bytes behind the end of an odd length have to be 0.
;   sum      a general purpose register
;   group    a group of registers that can be read
;   FIRST    a constant
;   COUNT    a constant, 1 or more
;   changes  sum, the condition codes
;   cost     checksum_words(a, $r, 0, 5) after immed[a, 0] | .set $r[0] $r[1] $r[2] $r[3] $r[4] -> 6 words, 6 cycles
#macro checksum_words(sum, group, FIRST, COUNT)
    alu[sum, sum, +, group[(FIRST)]]
    #define_eval _CHECKSUM_NEXT 1
    #while (_CHECKSUM_NEXT < (COUNT))
        alu[sum, sum, +carry, group[((FIRST) + _CHECKSUM_NEXT)]]
        #define_eval _CHECKSUM_NEXT (_CHECKSUM_NEXT + 1)
    #endloop
    alu[sum, sum, +carry, 0]
#endm

; checksum_pseudo(sum, source, destination, PROTOCOL, length)
;   The pseudo header that TCP and UDP have in their sum: RFC 793, RFC 768.
;   sum      a general purpose register
;   source   a register, the address it comes from
;   destination  a register, the address it goes to
;   PROTOCOL a constant up to 255
;   length   a register, bytes of TCP or UDP header and data
;   changes  sum, the condition codes
;   cost     checksum_pseudo(a, $x, $y, 17, b) after immed[a, 0] | immed[b, 8] | .set $x $y -> 5 words, 5 cycles
#macro checksum_pseudo(sum, source, destination, PROTOCOL, length)
    alu[sum, sum, +, source]
    alu[sum, sum, +carry, destination]
    alu[sum, sum, +carry, length]
    alu[sum, sum, +carry, (PROTOCOL)]
    alu[sum, sum, +carry, 0]
#endm

; checksum_end(dst, sum)
;   The checksum, 16 bits, that belongs to a sum. Of a header with its checksum in it: 0 if that is right.
;   dst      a register that can be written
;   sum      a register of which nothing but the sum is known; may be dst
;   changes  dst, the condition codes
;   cost     checksum_end(b, a) after immed[a, 0x1234] -> 5 words, 5 cycles
#macro checksum_end(dst, sum)
    .begin
        ; sum + (sum turned by 16) has the folded sum in either half.
        .reg _checksum_turned
        alu_shf[_checksum_turned, --, B, sum, <<rot16]
        alu[_checksum_turned, _checksum_turned, +, sum]
        alu[_checksum_turned, _checksum_turned, +carry, 0]
        alu[_checksum_turned, --, ~B, _checksum_turned]
        alu_shf[dst, --, B, _checksum_turned, >>16]
    .end
#endm

; checksum_update16(check, old, new)
;   The checksum when 16 bits of what it covers change from old to new: RFC 1624, equation 3, which never makes 0xffff out of 0.
;   check    a general purpose register, the checksum in bits 15:0; afterwards the new one alone
;   old      a register, of which bits 15:0 count
;   new      a register, bits 31:16 zero
;   changes  check, the condition codes
;   cost     checksum_update16(a, $x, $y) after immed[a, 0x1234] | .set $x $y -> 9 words, 9 cycles
#macro checksum_update16(check, old, new)
    .begin
        .reg _checksum_sum _checksum_not
        alu[_checksum_not, --, ~B, old]
        alu[_checksum_sum, new, +16, _checksum_not]
        alu[_checksum_not, --, ~B, check]
        alu[_checksum_sum, _checksum_sum, +16, _checksum_not]
        checksum_end(check, _checksum_sum)
    .end
#endm

; checksum_update32(check, old, new)
;   The checksum when 32 bits of what it covers, an address for instance, change from old to new.
;   check    a general purpose register, the checksum in bits 15:0; afterwards the new one alone
;   old      a register
;   new      a register
;   changes  check, the condition codes
;   cost     checksum_update32(a, $x, $y) after immed[a, 0x1234] | .set $x $y -> 11 words, 11 cycles
#macro checksum_update32(check, old, new)
    .begin
        .reg _checksum_sum _checksum_not
        alu[_checksum_not, --, ~B, check]
        alu[_checksum_sum, --, ~B, old]
        alu[_checksum_sum, _checksum_sum, +, new]
        alu[_checksum_sum, _checksum_sum, +carry, 0]
        alu[_checksum_sum, _checksum_sum, +16, _checksum_not]
        alu[_checksum_sum, _checksum_sum, +carry, 0]
        checksum_end(check, _checksum_sum)
    .end
#endm

#endif
