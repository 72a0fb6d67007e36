; queue_cache.uc: 20 queues through the 16 entries of a queue array that the CAM keeps track of: the way of real queue managers. A queue
; that is in no entry evicts the one used least recently (wr_qdesc, wr_qdesc_count) and is loaded (rd_qdesc_head, rd_qdesc_other).
;
;   words 0x1000 + 4 x queue    descriptors of queues 1 to 20, all zero: empty
;   words 0x2000 + 4 x n        buffer number n, 1 to 240
;
; Buffer n goes to queue (7 n mod 20) + 1, so that queues come in an order which no 16 entries hold. Then all are emptied, round by round:
; 12 of each queue have to come out in the order in which they went in. CAM tags: the queue, or 0x100 + entry for an entry not in use.

#include "check.uc"

#define QUEUES 20
#define EACH 12

.reg queue entry result old address buffer number step index left misses
.reg $link
.sig done

; entry_of(): the entry of `queue`, as bits 29:24 of a command's address, in `entry`. Changes result, old, address.
#macro entry_of()
    .begin
        cam_lookup[result, queue]
        alu_shf[entry, 0xf, AND, result, >>3]
        br_bset[result, 7, hit#]
        alu[misses, misses, +, 1]
        cam_read_tag[old, entry]
        cam_write[entry, queue, 0]
        alu_shf[entry, --, B, entry, <<24]
        alu[--, old, -, 128]
        bhs[load#]
        descriptor_of(old)
        sram[wr_qdesc, --, entry, address]
        sram[wr_qdesc_count, --, entry, address]
    load#:
        descriptor_of(queue)
        sram[rd_qdesc_head, $link, entry, address, 1], ctx_swap[done]
        sram[rd_qdesc_other, --, entry, address]
        br[there#]
    hit#:
        alu_shf[entry, --, B, entry, <<24]
    there#:
    .end
#endm

; descriptor_of(which): the word address of a queue's descriptor in `address`.
#macro descriptor_of(which)
    immed[address, 0x1000]
    alu_shf[address, address, OR, which, <<2]
#endm

    only_context_0()

    ; Every tag distinct, and none that is a queue's.
    immed[index, 0]
tags#:
    immed[old, 0x100]
    alu[old, old, OR, index]
    cam_write[index, old, 0]
    alu[index, index, +, 1]
    alu[--, index, -, 16]
    bne[tags#]

    immed[misses, 0]
    immed[number, 1]
    immed[step, 0]
fill#:
    alu[step, step, +, 7]
    alu[--, step, -, QUEUES]
    blo[small#]
    alu[step, step, -, QUEUES]
small#:
    alu[queue, step, +, 1]
    entry_of()
    immed[buffer, 0x2000]
    alu_shf[buffer, buffer, OR, number, <<2]
    sram[enqueue, --, entry, buffer]
    alu[number, number, +, 1]
    alu[--, number, -, (QUEUES * EACH + 1)]
    bne[fill#]
    ; Every queue comes once in 20: the one used least recently is always the next one, and nothing is ever found.
    check(1, misses, (QUEUES * EACH))

    ; Round by round, in the same order: buffer n comes out of the queue into which it was put.
    immed[number, 1]
    immed[step, 0]
empty#:
    alu[step, step, +, 7]
    alu[--, step, -, QUEUES]
    blo[smaller#]
    alu[step, step, -, QUEUES]
smaller#:
    alu[queue, step, +, 1]
    entry_of()
    sram[dequeue, $link, entry, 0], ctx_swap[done]
    load32(buffer, 0x80002000)
    alu_shf[buffer, buffer, OR, number, <<2]
    check_same(2, $link, buffer)
    alu[number, number, +, 1]
    alu[--, number, -, (QUEUES * EACH + 1)]
    bne[empty#]

    ; All are empty. A queue that was used just before is found.
    immed[misses, 0]
    entry_of()
    check(3, misses, 0)
    sram[dequeue, $link, entry, 0], ctx_swap[done]
    check(4, $link, 0)

#include "check_end.uc"
