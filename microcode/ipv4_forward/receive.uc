; receive.uc: from RBUF elements to whole frames in DRAM. One microengine, 8 threads, all three ports.
;
; Specification
;   In    RBUF elements of 128 bytes, by autopush; free buffers from ring FREE_RING.
;   Out   a descriptor (router.h) on ring RECEIVE_RING for every whole frame, in order of arrival at its port.
;   Drops no buffer free; the ring nearly full; a frame longer than LONGEST_FRAME; an element with an error bit. The elements
;         of a dropped frame that still come are thrown away.
;   State per port, in local memory, for frames of more than one element; used only by the thread that has the turn:
;
;           port << 4   | buffer number, 0 = throw away | bytes so far | - | - |
;
; Order. Threads hand themselves to the MSF in the order 0..7, so elements come to them in that order. Each has two turns: `turn_in`
; to join its element to its frame, `turn_out` to hand the frame on and to go back to the MSF. The copies in between run side by
; side: a frame is handed on in the turn_out of its last element, when the threads of all its elements have had theirs.
;
; A frame of one element takes 29 instructions, one DRAM reference, two of scratch and none of SRAM (a test counts).

#include "words.uc"
#include "router.h"

.num_contexts 8

#define RSW_EOP             14
#define RSW_SOP             15
#define RSW_ERRORS          0x1f00      // SOP error, null, parity errors, receive error

// copy_element(): the element of `rsw` to DRAM at `address`; raises `copied`. 6 instructions.
// Word for indirect_ref: [25] count given, [24:21] units of 8 bytes less one, [18:5] RBUF address, [4] address given.
#macro copy_element()
    alu[units, rsw, -, one_byte]                        ; [22:16] = bytes - 1
    alu_shf[units, units_mask, and, units, <<2]
    alu_shf[place, place_mask, and, rsw, >>12]
    alu[place, place, or, units]
    alu[--, place, or, copy_flags]
    dram[rbuf_rd, --, address, 0, max_16], indirect_ref, sig_done[copied]
#endm

// return_element(): gives the element of `rsw` back to the MSF. 3 instructions.
#macro return_element()
    alu_shf[done, done_mask, and, rsw, >>8]
    alu[done, done, or, RBUF_ELEMENT_DONE]
    msf[fast_wr, --, done, 0]
#endm

// listen(): gives this thread to the MSF for the element after those that the other threads get. 1 instruction.
#macro listen()
    .probe idle, zero
    msf[fast_wr, --, freelist, 0]
#endm

// point_at_port(): local memory pointer 0 at the state of `rsw`'s port. 3 instructions; usable after 3 more.
#macro point_at_port()
    alu[port, rsw, and, 0x1f]
    alu_shf[state, --, b, port, <<4]
    local_csr_wr[ACTIVE_LM_ADDR_0, state]
#endm

.reg volatile read $rsw0 $rsw1
.xfer_order $rsw0 $rsw1
.sig volatile arrived turn_in turn_out
.sig copied got put_done

.reg rsw freelist number address length port state units place done
.reg zero one_byte units_mask place_mask done_mask copy_flags longest errors
.reg read $fresh
.reg write $descriptor $buffer

; ---- once

    ; This thread's entry of RX_THREAD_FREELIST_0: [31:28] signal, [25] cluster, [24:20] microengine and context,
    ; [19:16] transfer register; [15:0] the address of the CSR.
    local_csr_rd[ACTIVE_CTX_STS]
    immed[state, 0]
    alu[freelist, state, and, 0x1f]
    alu_shf[freelist, --, b, freelist, <<4]
    alu[port, state, and, 0x80]
    alu_shf[freelist, freelist, or, port, <<2]
    immed[number, ((&arrived << 12) | &$rsw0)]
    alu[freelist, freelist, or, number]
    alu_shf[freelist, --, b, freelist, <<16]
    alu[freelist, freelist, or, 0x30]

    immed[zero, 0]
    load32(one_byte, 0x10000)
    load32(units_mask, 0x01e00000)
    load32(place_mask, 0x0003f000)
    load32(done_mask, 0x007f0000)
    load32(copy_flags, ((1 << 25) | (1 << 18) | (1 << 4)))
    immed[longest, LONGEST_FRAME]
    immed[errors, RSW_ERRORS]

    scratch[get, $fresh, zero, (FREE_RING << 2), 1], ctx_swap[got]
    br!=ctx[0, join#]
    give_turn_to_0(turn_in)
    give_turn_to_0(turn_out)
    br[join#]

; ---- an element at a time

next_element#:
    .set_sig arrived turn_in
    ctx_arb[arrived, turn_in]
element#:
    .set $rsw0 $rsw1
    alu[rsw, --, b, $rsw0]
    alu[--, errors, and, rsw]
    bne[damaged#]
    br_bclr[rsw, RSW_SOP, continue#]

    ; The first element of a frame: a buffer of its own.
    alu[number, --, b, $fresh]
    scratch[get, $fresh, zero, (FREE_RING << 2), 1], sig_done[got]
    beq[no_buffer#]
    .probe received, number
    alu_shf[length, 0xff, and, rsw, >>16]
    br_bclr[rsw, RSW_EOP, more_follow#]
first_copy#:
    alu_shf[address, --, b, number, <<BUFFER_SHIFT]
    copy_element()
    pass_turn(turn_in)
    ctx_arb[copied, got]

copied#:
    return_element()
    br_bclr[rsw, RSW_EOP, join#]

    ; The last element: the frame is whole once every turn before this one is over.
    alu[port, rsw, and, 0x1f]
    alu_shf[length, --, b, length, <<LENGTH_SHIFT]
    alu_shf[length, length, or, port, <<PORT_SHIFT]
    alu[$descriptor, length, or, number]
    .set_sig turn_out
    ctx_arb[turn_out]
    br_inp_state[SCR_RING1_STATUS, ring_full#]
    scratch[put, $descriptor, zero, (RECEIVE_RING << 2), 1], sig_done[put_done]
    listen()
    pass_turn(turn_out)
    .set_sig arrived turn_in
    ctx_arb[arrived, turn_in, put_done], br[element#]

; Nothing to hand on: only the turn, and this thread to the MSF.
join#:
    .set_sig turn_out
    ctx_arb[turn_out]
    listen()
    pass_turn(turn_out)
    br[next_element#]

; ---- frames of more than one element

more_follow#:
    point_at_port()
    nop
    nop
    nop
    alu[*l$index0[0], --, b, number]
    alu[*l$index0[1], --, b, length]
    br[first_copy#]

continue#:
    point_at_port()
    alu_shf[length, 0xff, and, rsw, >>16]
    nop
    nop
    alu[number, --, b, *l$index0[0]]
    beq[throw_away#]
    alu_shf[address, --, b, number, <<BUFFER_SHIFT]
    alu[address, address, +, *l$index0[1]]
    alu[length, length, +, *l$index0[1]]
    alu[--, longest, -, length]
    blo[too_long#]
    alu[*l$index0[1], --, b, length]
    copy_element()
    pass_turn(turn_in)
    ctx_arb[copied], br[copied#]

; ---- drops

no_buffer#:
    point_at_port()
    .probe received, errors                 ; no buffer has the number 0x1f00, so no other packet goes by it
    nop
    .probe drop_no_buffer, errors
    nop
    nop
    immed[*l$index0[0], 0]
    pass_turn(turn_in)
    ctx_arb[got]
    return_element()
    br[join#]

throw_away#:
    pass_turn(turn_in)
    return_element()
    br[join#]

damaged#:
    br_bset[rsw, 9, null#]
    point_at_port()
    nop
    nop
    br_bset[rsw, RSW_SOP, forget#]
    alu[number, --, b, *l$index0[0]]
    beq[forget#]
    .probe drop_damaged, number
    br[give_back#]
forget#:
    immed[*l$index0[0], 0]
    br[throw_away#]

null#:
    pass_turn(turn_in)
    br[join#]

too_long#:
    .probe drop_too_long, number
give_back#:
    immed[*l$index0[0], 0]
    pass_turn(turn_in)
    return_element()
    alu[$buffer, --, b, number]
    scratch[put, $buffer, zero, (FREE_RING << 2), 1], ctx_swap[put_done]
    br[join#]

ring_full#:
    .probe drop_receive_ring, number
    alu[$buffer, --, b, number]
    scratch[put, $buffer, zero, (FREE_RING << 2), 1], sig_done[put_done]
    listen()
    pass_turn(turn_out)
    ctx_arb[put_done], br[next_element#]
