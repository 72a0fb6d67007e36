; transmit.uc: from frames in DRAM to TBUF elements. One microengine, 8 threads, all three ports.
;
; Specification
;   In    descriptors (router.h) from rings TRANSMIT_RING + 0..2, taken in turn.
;   Out   the frame, in TBUF elements of 128 bytes that follow one another, each with its control word; the buffer on FREE_RING.
;   Order A thread takes a frame and all the elements for it in one turn. The MSF sends elements strictly in the order 0, 1, .. 63,
;         0, ..., so frames of a port leave in the order in which they were taken, however long the copies take.
;   Window at most WINDOW elements are in flight: between the next one to be given out, and the count of sent ones in TX_SEQUENCE.
;         An element is therefore never filled again before it has been sent.
;   State shared by the threads, used only in the turn: @next, the number of elements given out, modulo 256; @sent, the last
;         TX_SEQUENCE read; @port, the port whose ring was looked at last.
;
;   Control word  [31:24] bytes, [9] first, [8] last element of the frame, [7:0] port
;
; A frame of one element takes 32 instructions (a test counts), one DRAM reference, one of MSF, two of scratch and none of SRAM,
; besides the looks into empty rings.

#include "words.uc"
#include "router.h"

.num_contexts 8

#define WINDOW              48          // of 64 elements
#define TCW_SOP             9
#define TCW_EOP             8

.sig volatile turn
.sig got sequence_read copied control_written freed

.reg read $descriptor $sequence
.reg write $control0 $control1 $buffer
.xfer_order $control0 $control1

.reg @next @sent @port
.reg descriptor number address left bytes port ring element elements next used units place control where
.reg zero keep_number keep_length units_mask copy_flags control_base sequence_at first_flag

; ---- once

    immed[zero, 0]
    immed[keep_number, NUMBER_MASK]
    immed[keep_length, LENGTH_MASK]
    load32(units_mask, 0x01e00000)
    load32(copy_flags, ((1 << 25) | (1 << 18) | (1 << 4)))
    immed[control_base, TBUF_CONTROL]
    immed[sequence_at, TX_SEQUENCE_0]
    immed[first_flag, (1 << TCW_SOP)]
    alu[$control1, --, b, 0]
    br!=ctx[0, next_frame#]
    immed[@port, 0]
    msf[read, $sequence, sequence_at, 0, 1], ctx_swap[sequence_read]
    alu[@next, 0xff, and, $sequence]
    alu[@sent, 0xff, and, $sequence]
    give_turn_to_0(turn)

; ---- a frame at a time

next_frame#:
    .set_sig turn
    ctx_arb[turn]
poll#:
    alu[port, @port, +, 1]
    alu[--, port, -, 3]
    bne[look#]
    immed[port, 0]
look#:
    alu[@port, --, b, port]
    alu_shf[ring, --, b, port, <<2]
    scratch[get, $descriptor, ring, (TRANSMIT_RING << 2), 1], ctx_swap[got]
    alu[descriptor, --, b, $descriptor]
    beq[poll#]

    alu[number, keep_number, and, descriptor]
    .probe transmit, number
    alu_shf[left, keep_length, and, descriptor, >>LENGTH_SHIFT]
    alu[elements, left, +, 127]
    alu_shf[elements, --, b, elements, >>ELEMENT_SHIFT]
    alu[element, --, b, @next]
    alu[next, element, +, elements]
measure#:
    alu[used, next, -, @sent]
    alu[used, used, and, 0xff]
    alu[--, WINDOW, -, used]
    blo[wait_for_room#]
    alu[@next, next, and, 0xff]
    pass_turn(turn)

    alu_shf[address, --, b, number, <<BUFFER_SHIFT]
    alu[control, port, or, first_flag]

next_part#:
    ; bytes = min(left, 128); the last part has the flag that says so.
    alu[bytes, --, b, 128]
    alu[left, left, -, bytes]
    bgt[copy#]
    alu[bytes, bytes, +, left]
    alu_shf[control, control, or, 1, <<TCW_EOP]
copy#:
    alu[element, element, and, ELEMENT_MASK]
    alu[units, bytes, -, 1]
    alu_shf[units, units_mask, and, units, <<18]
    alu_shf[place, --, b, element, <<12]
    alu[place, place, or, units]
    alu[--, place, or, copy_flags]
    dram[tbuf_wr, --, address, 0, max_16], indirect_ref, sig_done[copied]
    alu_shf[where, --, b, element, <<3]
    alu_shf[$control0, control, or, bytes, <<24]
    ctx_arb[copied]
    br_bset[control, TCW_EOP, last_part#]
    msf[write, $control0, where, control_base, 2], ctx_swap[control_written]
    alu[control, port, or, 0]
    alu[element, element, +, 1]
    br[next_part#], defer[1]
    alu[address, address, +, 128]

last_part#:
    alu[$buffer, --, b, number]
    .probe transmitted, number
    msf[write, $control0, where, control_base, 2], sig_done[control_written]
    scratch[put, $buffer, zero, (FREE_RING << 2), 1], sig_done[freed]
    .set_sig turn
    .probe idle, zero
    ctx_arb[turn, control_written, freed], br[poll#]

wait_for_room#:
    msf[read, $sequence, sequence_at, 0, 1], ctx_swap[sequence_read]
    br[measure#], defer[1]
    alu[@sent, 0xff, and, $sequence]
