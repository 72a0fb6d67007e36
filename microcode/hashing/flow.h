; flow.h: the flow table and its rings: what the programs and control.py agree on (a test compares).
;
;                                     +--> ring 1: answers --> XScale
;   XScale --> ring 0: requests --> [flows x n] <---- SRAM: chains, entries ----> [ager]
;                 ^                    |                                            |
;                 |                    +--> ring 2: deleted entries ----------------+
;                 |                    <--- queue 0: free entries <-----------------+
;
; A flow is four words: source, destination, ports (source 31:16, destination 15:0), protocol. All in SRAM channel 0:
;
;   TABLE_BASE     CHAINS words, one a chain: the byte address of its first entry, or 0
;   LOCK_BASE     CHAINS words: bit 0 is set while somebody changes the chain
;   ENTRY_BASE   ENTRY_COUNT entries of 32 bytes
;
;     word 0  the byte address of the next entry of the chain, or 0; the link of the free list while the entry is free
;     words 1 to 3  source, destination, ports
;     word 4  protocol 7:0, LIVE_BIT; 0 while the entry is in no chain
;     word 5  value, the program's own
;     word 6  TIMESTAMP_LOW when the flow was last asked for, or of its deletion
;     word 7  not used
;
; Reading takes no lock. An entry is written before it is linked; one that is deleted is marked, taken out of its chain, and comes
; back to the free list when GRACE_TIME has gone by, so that whoever was reading it is through. Who changes a chain has its lock.
;
; A request is a slot of 32 bytes in SRAM; the rings hold slots' byte addresses, and a slot is its sender's from the answer on. Nothing is
; answered twice or not at all, but the order of answers is nobody's promise.
;
;   word     0          1       2             3      4         5      6                7
;   request  operation  source  destination   ports  protocol  value  -                -
;   answer   status     -       -             -      -         value  entry, 0: none   -

#ifndef _FLOW_H_
#define _FLOW_H_

#ifndef CHAINS
    #define CHAINS      1024
#endif
#define TABLE_BASE      0x10000
#define LOCK_BASE       0x20000
#define ENTRY_BASE      0x40000
#define ENTRY_COUNT     4096
#define FREE_QUEUE      0               // entry of the queue array
#define FREE_DESCRIPTOR 0x1000

#define REQUEST_BASE    0x8000
#define REQUEST_SLOTS   128
#define LIVE_BIT        0x100

#define REQUEST_RING    0
#define ANSWER_RING     1
#define DELETED_RING    2

#define OP_FIND         1
#define OP_INSERT       2
#define OP_DELETE       3

#define STATUS_DONE     0
#define STATUS_MISSING  1               // no such flow: nothing found, nothing deleted
#define STATUS_THERE    2               // inserted before: it has the new value now
#define STATUS_FULL     3               // no free entry

// Scratch memory: how long a flow that nobody asks for stays, in units of 16 cycles; 0: for ever.
#define LONGEST_IDLE    0x1010

// From a deletion to the next use of the entry, in units of 16 cycles. A reader has one reference in flight, with at most 64 in
// front of it of some twenty cycles each: this is fifty times that.
#define GRACE_TIME      4096

#endif
