; router.h: what the three programs and control.py agree on. Change a figure here, change it in control.py (a test compares).
;
;   ports -> MSF -> [receive] -> ring 1 -> [forward x 3] -> rings 4..6 -> [transmit] -> MSF -> ports
;                      ^ ring 0: free buffers  | ring 7 + interrupt            |
;                      +-----------------------+--> XScale --> rings 4..6, 0   +--> ring 0
;
; Descriptor: the one word that stands for a packet on rings 1 and 4 to 7.
;
;    31 30    27 26  25 24            14 13                      0
;   +--+--------+------+----------------+-------------------------+
;   | 0| reason | port | frame length   | buffer number (never 0) |
;   +--+--------+------+----------------+-------------------------+
;   reason: why the XScale gets it, 0 on other rings.   port: where it came in (not used on rings 4 to 6).
;
; Buffer: 2,048 bytes of DRAM at number << 11; the frame begins at its first byte, without a check sequence. The IP header then
; begins in the middle of a word, and stays there: nothing is ever shifted into place.
;
;   word  0        1              2        3               4            5               6             7              8
;        |dst MAC |dst MAC|src   |src MAC |type |v ihl tos|length |id  |frag |ttl proto|check |src   |src   |dst    |dst  |payload
;
; Longest frame: 1,514 bytes, a datagram of 1,500 behind 14 bytes of Ethernet. All ports have that MTU, so nothing is ever
; fragmented. Longer frames (the MAC lets up to 9,018 through) are dropped and counted where they come in.
;
; Scratch rings (full flags, so that a producer can tell), base and words:   0  0x0000 1,024     1  0x1000 512
;                                                                          4..6  0x1800 256 each    7  0x2400 256
; SRAM channel 0   0x00000000  route trie: root of 65,536 words, then nodes of 256 (see ixpemu/xscale/trie.py)
; SRAM channel 1   0x40000000  3 x 8 bytes, a port each:       | MAC bytes 0..3 | 0, MAC bytes 4..5 |
;                  0x40000100  next hops, 16 bytes each:       | frame word 0   | frame word 1      | frame word 2 | hop |
;                              hop: [31] 1 = to the XScale, [3:0] the reason; [31] 0 = [1:0] the port to leave by

#ifndef _ROUTER_H_
#define _ROUTER_H_

#define FREE_RING           0
#define RECEIVE_RING        1
#define TRANSMIT_RING       4           // + port
#define EXCEPTION_RING      7

#define LONGEST_FRAME       1514
#define BUFFER_SHIFT        11
#define NUMBER_MASK         0x3fff
#define LENGTH_SHIFT        14
#define LENGTH_MASK         0x7ff
#define PORT_SHIFT          25
#define REASON_SHIFT        27

#define REASON_NOT_IPV4     1           // Ethernet type other than IPv4
#define REASON_BAD_HEADER   2           // version, header length, total length or checksum wrong
#define REASON_OPTIONS      3           // a header longer than 20 bytes; not checked any further
#define REASON_TTL          4           // time to live is 0 or 1
#define REASON_NO_ROUTE     5
#define REASON_FOR_US       6           // one of the router's own addresses, or a broadcast it belongs to
#define REASON_MARTIAN      7           // an address that must not be seen on a wire
#define REASON_LINK         8           // not sent to this port's MAC

#define PORT_TABLE          0x40000000

#define FIRST_FORWARD       1           // microengines of forward.uc, as app.toml has them
#define LAST_FORWARD        3

// Elements of RBUF and TBUF are 128 bytes (RX_CONTROL, TX_CONTROL [3:2] = 1), 64 of each.
#define ELEMENT_SHIFT       7
#define ELEMENT_MASK        63
#define RBUF_ELEMENT_DONE   0x44
#define TX_SEQUENCE_0       0x60
#define TBUF_CONTROL        0x1800

// branch_if_full(port, STATE0, STATE1, STATE2, full#): to full# if the ring of `port` (0..2), whose input state is STATEn, is nearly
// full. 4 instructions, 2 for port 2.
#macro branch_if_full(port, STATE0, STATE1, STATE2, full_label)
    br_bset[port, 1, port2#]
    br_bset[port, 0, port1#]
    br_inp_state[STATE0, full_label]
    br[room#]
port1#:
    br_inp_state[STATE1, full_label]
    br[room#]
port2#:
    br_inp_state[STATE2, full_label]
room#:
#endm

#endif
