; echo.uc: sends every frame back out of the port it came from, as it is. The smallest program that uses the whole path of a packet.
;
;   port -> RBUF element -> DRAM -> TBUF element -> port
;
; Runs on    one microengine; context 0 does everything, the other seven end at once.
; Needs      MSF with elements of 64 bytes in RBUF and TBUF, elements on the free list (control.py).
; Input      RBUF elements, by autopush to $rsw0 (status) and $rsw1 (checksum, not used).
; Output     TBUF elements 0, 1, 2, ... 127, 0, ..., one for each RBUF element, with the same length, SOP, EOP and port.
; Drops      nothing. What arrives faster than one element every 280 cycles or so overflows the receive FIFO of its port.
; Uses       64 bytes of DRAM at ELEMENT_COPY.
;
; Elements of frames on different ports may come and go interleaved: each MAC puts together its own.
;
;   receive status   [30:24] element  [23:16] bytes  [15] SOP  [14] EOP  [4:0] port
;   transmit control [31:24] bytes    [9] SOP  [8] EOP  [7:0] port

#define ELEMENT_COPY        0x10000
#define RX_THREAD_FREELIST  0x30
#define RBUF_ELEMENT_DONE   0x44
#define TX_SEQUENCE         0x60
#define TBUF_CONTROL        0x1800
#define WINDOW              96          // elements in flight at most; 128 would let a sequence number come round unseen

.reg volatile read $rsw0 $rsw1
.xfer_order $rsw0 $rsw1
.reg read $sequence
.reg write $control0 $control1
.xfer_order $control0 $control1
.sig volatile arrived
.sig copied filled written sequence_read

.reg status freelist me rsw element place done buffer copy_flags next sent used port length flags where control_base sequence_at

; ---- once

    br!=ctx[0, others#]

    ; This thread's free-list entry: [31:28] signal, [25] cluster, [24:20] microengine and context, [19:16] transfer register;
    ; [15:0] the address of the CSR.
    local_csr_rd[ACTIVE_CTX_STS]
    immed[status, 0]
    alu[freelist, status, and, 0x1f]
    alu_shf[freelist, --, b, freelist, <<4]
    alu[me, status, and, 0x80]
    alu_shf[freelist, freelist, or, me, <<2]
    immed[me, ((&arrived << 12) | &$rsw0)]
    alu[freelist, freelist, or, me]
    alu_shf[freelist, --, b, freelist, <<16]
    alu[freelist, freelist, or, RX_THREAD_FREELIST]

    immed[buffer, (ELEMENT_COPY >> 16), <<16]
    immed[copy_flags, 0x10]
    immed_w1[copy_flags, 4]             ; address override, bit 18: the RBUF and TBUF window at 0x2000
    immed[control_base, TBUF_CONTROL]
    immed[sequence_at, TX_SEQUENCE]
    alu[$control1, --, b, 0]
    immed[next, 0]
    immed[sent, 0]
    msf[fast_wr, --, freelist, 0]

; ---- an element at a time

next_element#:
    .set_sig arrived
    ctx_arb[arrived]
    .set $rsw0 $rsw1
    alu[rsw, --, b, $rsw0]
    alu_shf[element, 0x7f, and, rsw, >>24]
    alu_shf[place, copy_flags, or, element, <<11]
    dram[rbuf_rd, --, buffer, 0, max_8], indirect_ref, ctx_swap[copied]

    alu_shf[done, --, b, element, <<16]
    alu[done, done, or, RBUF_ELEMENT_DONE]
    msf[fast_wr, --, done, 0]

room#:
    alu[used, next, -, sent]
    alu[used, used, and, 0xff]
    alu[--, WINDOW, -, used]
    blo[full#]
    alu[element, next, and, 0x7f]
    alu_shf[place, copy_flags, or, element, <<11]
    dram[tbuf_wr, --, buffer, 0, max_8], indirect_ref, ctx_swap[filled]

    alu[port, rsw, and, 0x1f]
    alu_shf[length, 0xff, and, rsw, >>16]
    alu_shf[port, port, or, length, <<24]
    alu_shf[flags, 3, and, rsw, >>14]
    alu_shf[$control0, port, or, flags, <<8]
    alu_shf[where, --, b, element, <<3]
    msf[write, $control0, where, control_base, 2], ctx_swap[written]
    ; Only now: the next status makes this thread work on the next packet, and the control word goes with the packet at work.
    br[next_element#], defer[2]
    msf[fast_wr, --, freelist, 0]
    alu[next, next, +, 1]

full#:
    msf[read, $sequence, sequence_at, 0, 1], ctx_swap[sequence_read]
    br[room#], defer[1]
    alu[sent, 0xff, and, $sequence]

others#:
    ctx_arb[kill]
