; forward.uc: what a router does to a datagram. Microengines 1 to 3, 24 threads that do the same.
;
; Specification
;   In    descriptors (router.h) from ring RECEIVE_RING.
;   Out   for each, in the same order, one of
;           a descriptor on ring TRANSMIT_RING + the port of its next hop; the frame in DRAM has the next hop's MAC and the
;           port's, one less time to live and the checksum that goes with it, and ends where the datagram ends;
;           a descriptor with a reason on ring EXCEPTION_RING, the frame untouched, and an XScale interrupt;
;           the buffer on ring FREE_RING, when the ring it should go to is nearly full.
;   Tests in this order, each with the reason it hands over with: IPv4 (NOT_IPV4); destination MAC is the input port's (REASON_LINK);
;         version 4 and at least 5 words of header (BAD_HEADER); exactly 5 words (OPTIONS); 20 <= total length <= frame - 14, header
;         checksum (BAD_HEADER); source address (MARTIAN); next hop (NO_ROUTE, FOR_US, MARTIAN); time to live > 1 (TTL).
;         RFC 1812 5.2.2, 5.3.7, 5.3.1.
;   Checksum update  RFC 1624 equation 3: HC' = ~(~HC + ~m + m'). The word that changes is (ttl, protocol), m' = m - 0x100, so
;         ~m + m' is 0xfeff whatever m is, and HC' = HC - 0xfeff less the borrow: one's complement subtraction. 0xfeff becomes
;         0x0000, not 0xffff.
;   Route trie  see ixpemu/xscale/trie.py; its leaves are addresses of next hops.
;
; Order. The threads of the three microengines have their turns one after another, 0..7 of the first, of the second, of the third, and
; again: `turn_in` to take the next descriptor, `turn_out` to hand it on. In between each works at its own pace. So the order of the ring
; is kept whatever a packet needs, only one thread at a time looks into the ring, and traffic of one port has all 24 threads.
;
; State in local memory, the same in each microengine: the MAC of port p at p << 3, as two words (router.h).
;
; 69 to 74 instructions (a test counts), 2 more and 2 CAP references in context 7; 2 to 4 SRAM references (1 to 3 of the trie, 1 next
; hop); 2 of DRAM (40 bytes in, 32 out); 2 of scratch.
; The first step into the trie is under way while the header is tested, the next hop while it is rewritten.

#include "words.uc"
#include "router.h"

.num_contexts 8

// give_turn_over(SIGNAL): context 0 of the next microengine has the turn now; for context 7. 2 instructions.
#macro give_turn_over(SIGNAL)
    alu[--, next_engine, or, &SIGNAL]
    cap[fast_wr, ALU, INTERTHREAD_SIGNAL]
#endm

// pass_turn_out(): the next of all threads has `turn_out` now. 3 instructions.
#macro pass_turn_out()
    br=ctx[7, over#]
    br[passed#], defer[1]
    pass_turn(turn_out)
over#:
    give_turn_over(turn_out)
passed#:
#endm

.sig volatile turn_in turn_out
.sig got header_read walked hop_read written put_done

.reg read $descriptor $entry $hop[4] $macs[6]
.reg write $out $buffer
.reg read $$old[10]
.reg write $$new[8]
.xfer_order $$old
.xfer_order $$new
.xfer_order $hop
.xfer_order $macs

.reg descriptor number buffer length total sum check offset fold port ring reason
.reg zero next_engine plain_ipv4 keep_number keep_length root_mask node_mask one_hop complement

; ---- once

    immed[zero, 0]
    load32(plain_ipv4, 0x00080045)              ; Ethernet type 0x0800, version 4, 5 words of header
    immed[keep_number, NUMBER_MASK]
    immed[keep_length, LENGTH_MASK]
    load32(root_mask, 0x0003fffc)
    immed[node_mask, 0x3fc]
    immed[one_hop, 0x100]                       ; one time to live, in word 5
    immed[complement, 0xfeff]

    ; The microengine after this one, where INTERTHREAD_SIGNAL has it: [10:7] microengine, [6:4] context, [3:0] signal.
    local_csr_rd[ACTIVE_CTX_STS]
    immed[fold, 0]
    alu_shf[fold, 0xf, and, fold, >>3]
    alu[next_engine, fold, +, 1]
    alu[--, fold, -, LAST_FORWARD]
    bne[within#]
    immed[next_engine, FIRST_FORWARD]
within#:
    alu_shf[next_engine, --, b, next_engine, <<7]

    br!=ctx[0, next_packet#]
    load32(offset, PORT_TABLE)
    sram[read, $macs[0], offset, 0, 6], ctx_swap[got]
    local_csr_wr[ACTIVE_LM_ADDR_0, zero]
    nop
    nop
    nop
    alu[*l$index0[0], --, b, $macs[0]]
    alu[*l$index0[1], --, b, $macs[1]]
    alu[*l$index0[2], --, b, $macs[2]]
    alu[*l$index0[3], --, b, $macs[3]]
    alu[*l$index0[4], --, b, $macs[4]]
    alu[*l$index0[5], --, b, $macs[5]]
    alu[--, fold, -, FIRST_FORWARD]
    bne[next_packet#]
    give_turn_to_0(turn_in)
    give_turn_to_0(turn_out)

; ---- a packet at a time

next_packet#:
    .set_sig turn_in
    .probe idle, zero
    ctx_arb[turn_in]
poll#:
    scratch[get, $descriptor, zero, (RECEIVE_RING << 2), 1], ctx_swap[got]
    alu[descriptor, --, b, $descriptor]
    beq[poll#]
    br=ctx[7, turn_in_over#]
    pass_turn(turn_in)
taken#:
    alu[number, keep_number, and, descriptor]
    .probe forward, number
    alu_shf[buffer, --, b, number, <<BUFFER_SHIFT]
    alu_shf[port, 0x18, and, descriptor, >>(PORT_SHIFT - 3)]
    dram[read, $$old[0], buffer, 0, 5], ctx_swap[header_read], defer[2]
    local_csr_wr[ACTIVE_LM_ADDR_0, port]
    alu_shf[length, keep_length, and, descriptor, >>LENGTH_SHIFT]

    ; The first step of the walk runs beside the tests.
    alu_shf[offset, root_mask, and, $$old[7], <<2]
    sram[read, $entry, offset, 0, 1], sig_done[walked]

    ; To the input port, plain IPv4.
    alu[--, *l$index0[0], xor, $$old[0]]
    bne[link#]
    alu_shf[fold, --, b, $$old[1], >>16]
    alu[--, fold, -, *l$index0[1]]
    bne[link#]
    alu_shf[fold, --, b, $$old[3], >>8]
    alu[--, fold, -, plain_ipv4]
    bne[unusual#]

    ; 20 <= total length <= length - 14, as one comparison: total - 20 wraps where it is less than a header.
    alu_shf[total, --, b, $$old[4], >>16]
    alu[fold, total, -, 20]
    alu[length, length, -, 34]
    alu[--, length, -, fold]
    blo[bad_header#]

    ; The one's complement sum of the ten header words of 16 bits is 0xffff: summed in 32 bits, then the halves onto each other.
    alu_shf[sum, --, b, $$old[8], >>16]
    alu[sum, sum, +16, $$old[3]]
    alu[sum, sum, +, $$old[4]]
    alu[sum, sum, +carry, $$old[5]]
    alu[sum, sum, +carry, $$old[6]]
    alu[sum, sum, +carry, $$old[7]]
    alu[sum, sum, +carry, 0]
    alu_shf[fold, --, b, sum, <<rot16]
    alu[fold, fold, +, sum]
    alu[fold, fold, +carry, 0]
    alu[--, --, ~b, fold]
    bne[bad_header#]

    ; A source that no machine has: 0/8, 127/8, 224/3.
    br=byte[$$old[6], 1, 0, martian#]
    br=byte[$$old[6], 1, 127, martian#]
    alu_shf[fold, 0xff, and, $$old[6], >>8]
    alu[--, fold, -, 224]
    bhs[martian#]

    ctx_arb[walked]
    br_bset[$entry, 0, leaf#]
    alu_shf[offset, node_mask, and, $$old[8], >>22]
    sram[read, $entry, $entry, offset, 1], ctx_swap[walked]
    br_bset[$entry, 0, leaf#]
    alu_shf[offset, node_mask, and, $$old[8], >>14]
    sram[read, $entry, $entry, offset, 1], ctx_swap[walked]
leaf#:
    sram[read, $hop[0], $entry, 0, 4], sig_done[hop_read]

    ; The header as it goes on, words 3 to 7, while the next hop is read.
    alu_shf[check, --, b, $$old[6], >>16]
    alu[check, check, -, complement]
    alu[check, check, -carry, 0]
    ld_field_w_clr[fold, 0011, $$old[6]]
    alu_shf[$$new[6], fold, or, check, <<16]
    alu[$$new[5], $$old[5], -, one_hop]
    alu[$$new[3], --, b, $$old[3]]
    alu[$$new[4], --, b, $$old[4]]
    alu[$$new[7], --, b, $$old[7]]
    alu[total, total, +, 14]
    alu_shf[$out, number, or, total, <<LENGTH_SHIFT]
    ctx_arb[hop_read]

    br_bset[$hop[3], 31, special#]
    alu_shf[--, 0xfe, and, $$old[5], >>8]
    beq[expired#]
    alu[$$new[0], --, b, $hop[0]]
    alu[$$new[1], --, b, $hop[1]]
    alu[$$new[2], --, b, $hop[2]]
    dram[write, $$new[0], buffer, 0, 4], sig_done[written]
    alu[port, $hop[3], and, 3]
    alu_shf[ring, --, b, port, <<2]

    .set_sig turn_out
    ctx_arb[written, turn_out]
    branch_if_full(port, SCR_RING4_STATUS, SCR_RING5_STATUS, SCR_RING6_STATUS, transmit_full#)
    scratch[put, $out, ring, (TRANSMIT_RING << 2), 1], sig_done[put_done]
    br=ctx[7, turn_out_over#]
    pass_turn(turn_out)
handed_on#:
    .set_sig turn_in
    .probe idle, zero
    ctx_arb[turn_in, put_done], br[poll#]

turn_in_over#:
    give_turn_over(turn_in)
    br[taken#]

turn_out_over#:
    give_turn_over(turn_out)
    br[handed_on#]

; ---- exceptions: to the XScale, with a reason

unusual#:
    alu_shf[fold, --, b, $$old[3], >>16]
    alu_shf[sum, --, b, plain_ipv4, >>8]
    alu[--, fold, -, sum]
    bne[not_ipv4#]
    alu_shf[fold, 0xf, and, $$old[3], >>12]
    alu[--, fold, -, 4]
    bne[bad_header#]
    alu_shf[fold, 0xf, and, $$old[3], >>8]
    alu[--, fold, -, 5]
    blo[bad_header#]
    .probe options, number
    immed[reason, REASON_OPTIONS]
    br[abandon#]

not_ipv4#:
    .probe not_ipv4, number
    immed[reason, REASON_NOT_IPV4]
    br[abandon#]

bad_header#:
    .probe bad_header, number
    immed[reason, REASON_BAD_HEADER]
    br[abandon#]

martian#:
    .probe martian, number
    immed[reason, REASON_MARTIAN]
    br[abandon#]

    ; ARP requests among others come to everybody.
link#:
    alu_shf[fold, --, b, $$old[3], >>16]
    alu_shf[sum, --, b, plain_ipv4, >>8]
    alu[--, fold, -, sum]
    bne[not_ipv4#]
    .probe wrong_mac, number
    immed[reason, REASON_LINK]

abandon#:
    ctx_arb[walked], br[hand_over#]

    ; What the next hop says instead of a port.
special#:
    alu[reason, 0xf, and, $hop[3]]
    br=byte[reason, 0, REASON_NO_ROUTE, no_route#]
    br=byte[reason, 0, REASON_FOR_US, for_us#]
    .probe martian, number
    br[hand_over#]
no_route#:
    .probe no_route, number
    br[hand_over#]
for_us#:
    .probe for_us, number
    br[hand_over#]

expired#:
    .probe expired, number
    immed[reason, REASON_TTL]

hand_over#:
    alu_shf[$out, descriptor, or, reason, <<REASON_SHIFT]
    .set_sig turn_out
    ctx_arb[turn_out]
    br_inp_state[SCR_RING7_STATUS, exception_full#]
    scratch[put, $out, zero, (EXCEPTION_RING << 2), 1], ctx_swap[put_done]
    cap[fast_wr, 0, XSCALE_INT_A]
    pass_turn_out()
    br[next_packet#]

; ---- drops

transmit_full#:
    .probe drop_transmit_ring, number
    br[give_back#]

exception_full#:
    .probe drop_exception_ring, number

give_back#:
    alu[$buffer, --, b, number]
    scratch[put, $buffer, zero, (FREE_RING << 2), 1], sig_done[put_done]
    pass_turn_out()
    .set_sig turn_in
    .probe idle, zero
    ctx_arb[turn_in, put_done], br[poll#]
