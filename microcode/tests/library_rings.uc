; library_rings.uc: rings.uc: a scratch ring until it is nearly full, and an SRAM ring on either channel until it refuses.

#include "check.uc"
#include "rings.uc"

.reg left ring value next
.reg $w[8] $r[8]
.xfer_order $w
.xfer_order $r
    only_context_0()

    ; What was in the ring's registers before does not count: it is set up twice.
    scratch_ring_setup(5, 0x800, 128)
    immed[$w[0], 0x99]
    scratch_ring_put(5, $w, 1)
    scratch_ring_setup(5, 0x800, 128)
    scratch_ring_get(5, $r, 1)
    check(1, $r[0], 0)

    immed[left, 0]
fill#:
    scratch_ring_full(5, nearly_full#)
    alu[left, left, +, 1]
    alu[$w[0], --, B, left]
    alu[$w[1], left, +, 128]
    scratch_ring_put(5, $w, 2)
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    br[fill#]
nearly_full#:
    check(2, left, 48)
    immed[next, 1]
empty#:
    scratch_ring_get(5, $r, 2)
    check_same(3, $r[0], next)
    alu[value, next, +, 128]
    check_same(4, $r[1], value)
    alu[next, next, +, 1]
    alu[left, left, -, 1]
    bne[empty#]
    scratch_ring_get(5, $r, 1)
    check(5, $r[0], 0)

#macro try_sram_ring(CHANNEL, ENTRY, WORDS)
    sram_ring_setup(CHANNEL, ENTRY, 0x400, 0x10000, WORDS)
    sram_ring_address(ring, CHANNEL, ENTRY)
    sram_ring_get(ring, $r, 1)
    check(10, $r[0], 0)
    immed[next, 0]
more#:
    alu[$w[0], next, +, 1]
    alu[$w[1], next, +, 2]
    alu[$w[2], next, +, 3]
    alu[$w[3], next, +, 4]
    sram_ring_put(ring, $w, 4, full#)
    alu[next, next, +, 4]
    br[more#]
full#:
    check(11, next, WORDS)
    immed[next, 0]
less#:
    alu[next, next, +, 1]
    sram_ring_get(ring, $r, 1)
    check_same(12, $r[0], next)
    load32(value, WORDS)
    alu[--, value, -, next]
    bne[less#]
    sram_ring_get(ring, $r, 1)
    check(13, $r[0], 0)
#endm

    try_sram_ring(0, 9, 512)
    try_sram_ring(1, 63, 1024)

#include "check_end.uc"
