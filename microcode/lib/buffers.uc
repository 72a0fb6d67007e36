; buffers.uc: free lists of buffers in the queue array of an SRAM channel, and the descriptors that stand for buffers.
;
; A buffer is known by its descriptor: 16 bytes in SRAM at a multiple of 16. Word 0 is the link of the queue array's lists.
;
;   word 0  31 end of packet, 30:24 cells, 23:0 next descriptor (word address)
;   word 1  31:16 offset of the data in the buffer, 15:0 its length, both in bytes
;   word 2  the program's own
;   word 3  the program's own
;
; A handle is the word address of a descriptor in its channel, never 0. A `list` is a register: bits 31:30 the channel, 29:24 the entry.

#ifndef _BUFFERS_UC_
#define _BUFFERS_UC_

#include "bits.uc"

; free_list(dst, CHANNEL, ENTRY)
;   What the other macros know a free list by.
;   dst      a general purpose register
;   CHANNEL  a constant, 0 or 1
;   ENTRY    a constant from 0 to 63
;   changes  dst
;   cost     free_list(a, 1, 5) -> 1 word, 1 cycle
#macro free_list(dst, CHANNEL, ENTRY)
    immediate(dst, ((CHANNEL) << 30 | (ENTRY) << 24))
#endm

; free_list_setup(list, DESCRIPTOR)
;   An empty list. Once, by one thread.
;   list     a general purpose register, see free_list
;   DESCRIPTOR  a constant, the byte offset in the channel of 16 bytes for the list's own descriptor, a multiple of 16
;   changes  the entry, the descriptor, the condition codes; waits
;   cost     free_list_setup(a, 0x400) after free_list(a, 0, 5) -> 10 words, 14 cycles, 3 sram
#macro free_list_setup(list, DESCRIPTOR)
    #if (((DESCRIPTOR) & 15) != 0)
        #error "a descriptor begins at a multiple of 16; not at" (DESCRIPTOR)
    #endif
    .begin
        .reg _buffers_place _buffers_channel $_buffers_w0 $_buffers_w1 $_buffers_w2 $_buffers_read
        .xfer_order $_buffers_w0 $_buffers_w1 $_buffers_w2
        .sig _buffers_done
        immed[$_buffers_w0, 0]
        immed[$_buffers_w1, 0]
        immed[$_buffers_w2, 0]
        immediate(_buffers_place, (DESCRIPTOR))
        alu_shf[_buffers_channel, --, B, list, >>30]
        alu_shf[_buffers_place, _buffers_place, OR, _buffers_channel, <<30]
        sram[write, $_buffers_w0, _buffers_place, 0, 3], ctx_swap[_buffers_done]
        immediate(_buffers_place, ((DESCRIPTOR) >> 2))
        sram[rd_qdesc_head, $_buffers_read, list, _buffers_place, 1], ctx_swap[_buffers_done]
        sram[rd_qdesc_other, --, list, _buffers_place]
    .end
#endm

; free_list_free(list, buffer)
;   The buffer goes to the end of the list.
;   list     a general purpose register, see free_list
;   buffer   a general purpose register, its handle; bits 31:24 zero
;   changes  nothing; does not wait
;   cost     free_list_free(a, b) after free_list(a, 0, 5) | free_list_setup(a, 0x400) | immed[b, 0x200] -> 1 word, 1 cycle, 1 sram
#macro free_list_free(list, buffer)
    sram[enqueue, --, list, buffer]
#endm

; free_list_fill(list, first, count)
;   count buffers, whose descriptors lie one behind the other from first on, go to the list.
;   list     a general purpose register, see free_list
;   first    a general purpose register, the lowest handle; afterwards the one behind the last
;   count    a general purpose register, 1 or more; afterwards 0
;   changes  first, count, the condition codes; does not wait
;   cost     free_list_fill(a, b, c) after free_list(a, 0, 5) | free_list_setup(a, 0x400) | immed[b, 0x200] | immed[c, 1] -> 4 words, 4 cycles, 1 sram
;   cost     free_list_fill(a, b, c) after free_list(a, 0, 5) | free_list_setup(a, 0x400) | immed[b, 0x200] | immed[c, 3] -> 4 words, 16 cycles, 3 sram
#macro free_list_fill(list, first, count)
next#:
    sram[enqueue, --, list, first]
    alu[count, count, -, 1]
    bne[next#], defer[1]
    alu[first, first, +, 4]
#endm

; free_list_alloc(buffer, list, empty_label)
;   The first buffer of the list; to empty_label if there is none.
;   buffer   a general purpose register, its handle, 0 if there is none
;   list     a general purpose register, see free_list
;   empty_label  a label
;   changes  buffer, the condition codes; waits
;   cost     free_list_alloc(b, a, elsewhere#) after free_list(a, 0, 5) | free_list_setup(a, 0x400) | immed[b, 0x200] | free_list_free(a, b) -> 3 words, 5 cycles, 1 sram
#macro free_list_alloc(buffer, list, empty_label)
    .begin
        .reg $_buffers_link
        .sig _buffers_done
        sram[dequeue, $_buffers_link, list, 0], ctx_swap[_buffers_done]
        ld_field_w_clr[buffer, 0111, $_buffers_link], load_cc
        beq[empty_label]
    .end
#endm

; buffer_address(dst, buffer, CHANNEL)
;   The byte address of a descriptor, for commands to SRAM.
;   dst      a general purpose register
;   buffer   a general purpose register, the handle; may be dst for channel 0
;   CHANNEL  a constant, 0 or 1
;   changes  dst, the condition codes
;   cost     buffer_address(a, b, 0) after immed[b, 0x200] -> 1 word, 1 cycle
;   cost     buffer_address(a, b, 1) after immed[b, 0x200] -> 2 words, 2 cycles
#macro buffer_address(dst, buffer, CHANNEL)
    #if ((CHANNEL) == 0)
        alu_shf[dst, --, B, buffer, <<2]
    #else
        immed[dst, ((CHANNEL) << 30)]
        alu_shf[dst, dst, OR, buffer, <<2]
    #endif
#endm

; buffer_read(group, address)
;   The four words of a descriptor in group[0] to group[3].
;   group    a group of read transfer registers with .xfer_order
;   address  a register, see buffer_address
;   changes  group; waits
;   cost     buffer_read($r, a) after immed[a, 0x800] -> 1 word, 3 cycles, 1 sram
#macro buffer_read(group, address)
    .begin
        .sig _buffers_done
        sram[read, group[0], address, 0, 4], ctx_swap[_buffers_done]
    .end
#endm

; buffer_write(address, group)
;   Words 1 to 3 of a descriptor from group[1] to group[3]; the link stays as it is.
;   address  a register, see buffer_address
;   group    a group of write transfer registers with .xfer_order
;   changes  nothing; waits until the words have left
;   cost     buffer_write(a, $w) after immed[a, 0x800] | immed[$w[1], 1] | immed[$w[2], 2] | immed[$w[3], 3] -> 1 word, 3 cycles, 1 sram
#macro buffer_write(address, group)
    .begin
        .sig _buffers_done
        sram[write, group[1], address, 4, 3], ctx_swap[_buffers_done]
    .end
#endm

; buffer_length(dst, group)
;   The length of the data, of a descriptor that was read.
;   dst      a register that can be written
;   group    the group it was read into
;   changes  dst
;   cost     buffer_length(b, $r) after immed[a, 0x800] | buffer_read($r, a) -> 1 word, 1 cycle
#macro buffer_length(dst, group)
    ld_field_w_clr[dst, 0011, group[1]]
#endm

; buffer_offset(dst, group)
;   Where in the buffer the data begin, of a descriptor that was read.
;   dst      a register that can be written
;   group    the group it was read into
;   changes  dst, the condition codes
;   cost     buffer_offset(b, $r) after immed[a, 0x800] | buffer_read($r, a) -> 1 word, 1 cycle
#macro buffer_offset(dst, group)
    alu_shf[dst, --, B, group[1], >>16]
#endm

#endif
