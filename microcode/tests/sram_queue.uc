; sram_queue.uc: a queue of buffers in the queue array of an SRAM channel: loaded from its descriptor, filled, emptied by cells and by
; packets, written back and loaded again; and the modes of SRAM_CONTROL.
;
; Word addresses: 0x100 the descriptor, 0x200, 0x210, ... buffers. Entry 9 of channel 0.
; A link word: bit 31 the end of a packet, 30:24 its cells, 23:0 the buffer. An enqueue with indirect_ref takes its bits 31:24
; from bits 19:12 of the result before, if bit 20 is set.

#include "check.uc"

#define QUEUE_9 0x09000000
#define FIRST_CELLS_3 ((1 << 20) | (0x83 << 12))
#define MIDDLE ((1 << 20) | (0x02 << 12))

.reg entry buffer value channel
.reg read $head $tail $count $spare
.reg $word $link
.xfer_order $head $tail $count $spare
.sig done

    only_context_0()

    load32(entry, QUEUE_9)
    load32(channel, 0)

    ; The descriptor in memory is all zero: an empty queue.
    immed[buffer, 0x100]
    sram[rd_qdesc_head, $head, entry, buffer, 3], ctx_swap[done]
    sram[rd_qdesc_other, --, entry, buffer]
    sram[dequeue, $link, entry, 0], ctx_swap[done]
    check(1, $link, 0)

    ; Two buffers, each a packet of one cell: first in, first out.
    immed[buffer, 0x200]
    sram[enqueue, --, entry, buffer]
    immed[buffer, 0x210]
    sram[enqueue, --, entry, buffer]
    immed[buffer, 0x800]
    sram[read, $word, channel, buffer, 1], ctx_swap[done]     ; byte address 0x800 is word 0x200: the link to the second
    check(2, $word, 0x80000210)
    sram[dequeue, $link, entry, 0], ctx_swap[done]
    check(3, $link, 0x80000200)
    sram[dequeue, $link, entry, 0], ctx_swap[done]
    check(4, $link, 0x80000210)
    sram[dequeue, $link, entry, 0], ctx_swap[done]
    check(5, $link, 0)

    ; A buffer of three cells is returned three times, with the cells that are left.
    load32(value, FIRST_CELLS_3)
    immed[buffer, 0x220]
    alu[--, --, B, value]
    sram[enqueue, --, entry, buffer], indirect_ref
    sram[dequeue, $link, entry, 0], ctx_swap[done]
    check(6, $link, 0x83000220)
    sram[dequeue, $link, entry, 0], ctx_swap[done]
    check(7, $link, 0x82000220)
    sram[dequeue, $link, entry, 0], ctx_swap[done]
    check(8, $link, 0x81000220)
    sram[dequeue, $link, entry, 0], ctx_swap[done]
    check(9, $link, 0)

    ; A packet of two buffers: linked by software, the first enqueued, the tail moved. Behind it another packet.
    load32(value, 0x80000240)
    alu[$word, --, B, value]
    immed[buffer, 0x8c0]
    sram[write, $word, channel, buffer, 1], ctx_swap[done]     ; word 0x230 links to 0x240
    load32(value, MIDDLE)
    immed[buffer, 0x230]
    alu[--, --, B, value]
    sram[enqueue, --, entry, buffer], indirect_ref
    immed[buffer, 0x240]
    sram[enqueue_tail, --, entry, buffer]
    immed[buffer, 0x250]
    sram[enqueue, --, entry, buffer]

    ; Write the descriptor back: two packets.
    immed[buffer, 0x100]
    sram[wr_qdesc, --, entry, buffer]
    sram[wr_qdesc_count, --, entry, buffer], ctx_swap[done]
    immed[buffer, 0x400]
    sram[read, $head, channel, buffer, 4], ctx_swap[done]
    check(10, $head, 0x02000230)
    check(11, $tail, 0x250)
    check(12, $count, 2)
    check(13, $spare, 0)

    ; And load it into another entry, tail first.
    load32(entry, 0x3f000000)
    immed[buffer, 0x100]
    sram[rd_qdesc_tail, $head, entry, buffer, 4], ctx_swap[done]
    check(14, $tail, 0x250)
    sram[rd_qdesc_other, --, entry, buffer]
    sram[dequeue, $link, entry, 0], ctx_swap[done]
    check(15, $link, 0x02000230)
    sram[dequeue, $link, entry, 0], ctx_swap[done]
    check(16, $link, 0x01000230)
    sram[dequeue, $link, entry, 0], ctx_swap[done]
    check(17, $link, 0x80000240)
    sram[dequeue, $link, entry, 0], ctx_swap[done]
    check(18, $link, 0x80000250)
    sram[dequeue, $link, entry, 0], ctx_swap[done]
    check(19, $link, 0)

    ; SRAM_CONTROL bit 13: a dequeue takes a whole buffer. It reads back as it was written.
    load32(value, 0x2000)
    alu[$word, --, B, value]
    sram[csr_wr, $word, channel, 0], ctx_swap[done]
    sram[csr_rd, $word, channel, 0], ctx_swap[done]
    check(20, $word, 0x2000)
    load32(value, FIRST_CELLS_3)
    immed[buffer, 0x220]
    alu[--, --, B, value]
    sram[enqueue, --, entry, buffer], indirect_ref
    sram[dequeue, $link, entry, 0], ctx_swap[done]
    check(21, $link, 0x83000220)
    sram[dequeue, $link, entry, 0], ctx_swap[done]
    check(22, $link, 0)

    ; Bit 14: a buffer that does not end a packet is counted off as well.
    load32(value, 0x6000)
    alu[$word, --, B, value]
    sram[csr_wr, $word, channel, 0], ctx_swap[done]
    load32(value, MIDDLE)
    immed[buffer, 0x230]
    alu[--, --, B, value]
    sram[enqueue, --, entry, buffer], indirect_ref
    sram[dequeue, $link, entry, 0], ctx_swap[done]
    check(23, $link, 0x02000230)
    sram[dequeue, $link, entry, 0], ctx_swap[done]
    check(24, $link, 0)

#include "check_end.uc"
