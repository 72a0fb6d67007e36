; msf_transmit.uc: TBUF in two partitions, strict order, sequence numbers, payload that comes by msf[write] and from DRAM, elements that
; are skipped or break off their packet.
;
; Partition 0 is three quarters of TBUF, elements 0..95; partition 1 elements 96..127, all of 64 bytes.

#include "check.uc"

#define TX_CONTROL   0x04
#define TX_SEQUENCE  0x60

.reg place value element sequence_at word zero
.reg read $s0 $s1
.reg write $c0 $c1 $$d0 $$d1
.xfer_order $s0 $s1
.xfer_order $c0 $c1
.xfer_order $$d0 $$d1
.sig done filled

    only_context_0()

    immed[zero, 0]
    immed[sequence_at, TX_SEQUENCE]
    load32(word, ((0xf << 28) | (1 << 19) | (1 << 10)))
    alu[$c0, --, B, word]
    msf[write, $c0, zero, TX_CONTROL, 1], ctx_swap[done]
    alu[$c1, --, B, 0]

; control(ELEMENT, FLAGS): makes an element of 60 bytes for port 1 valid. Waits until the word is written.
#macro control(ELEMENT, FLAGS)
    load32(word, ((60 << 24) | (FLAGS) | 1))
    alu[$c0, --, B, word]
    immed[place, (0x1800 + (8 * (ELEMENT)))]
    msf[write, $c0, place, 0, 2], ctx_swap[done]
#endm
#define WHOLE   ((1 << 9) | (1 << 8))
#define SKIP    (1 << 11)
#define ABORT   ((1 << 10) | (1 << 9))

; sequence(): the sequence numbers into $s0 and $s1, later than anything here takes.
#macro sequence()
    immed[value, 0x1000]
later#:
    alu[value, value, -, 1]
    bne[later#]
    msf[read, $s0, sequence_at, 0, 2], ctx_swap[done]
#endm

    ; An element whose turn has not come waits; the other partition does not.
    control(1, WHOLE)
    control(96, WHOLE)
    sequence()
    check(1, $s0, 0)
    check(2, $s1, 0x80000001)
    control(0, WHOLE)
    sequence()
    check(3, $s0, 0x80000002)

    ; A copy from DRAM into element 2.
    alu[$$d0, --, B, 0x55]
    alu[$$d1, --, B, 0xaa]
    dram[write, $$d0, zero, 0x40, 1], ctx_swap[filled]
    load32(element, ((1 << 18) | (1 << 4) | (2 << 11)))
    alu[--, --, B, element]
    dram[tbuf_wr, --, zero, 0x40, max_8], indirect_ref, ctx_swap[filled]
    control(2, WHOLE)

    ; Skipped and aborted elements count as sent.
    control(3, SKIP)
    control(4, ABORT)
    control(97, WHOLE)
    sequence()
    check(4, $s0, 0x80000005)
    check(5, $s1, 0x80000002)

    ; The last element of a partition is followed by its first: 30 more make 32.
    immed[element, 98]
round#:
    load32(word, ((60 << 24) | SKIP))
    alu[$c0, --, B, word]
    alu_shf[place, --, B, element, <<3]
    immed[value, 0x1800]
    msf[write, $c0, place, value, 2], ctx_swap[done]
    alu[element, element, +, 1]
    alu[--, element, -, 128]
    bne[round#]
    control(96, WHOLE)
    sequence()
    check(6, $s1, 0x80000021)

#include "check_end.uc"
