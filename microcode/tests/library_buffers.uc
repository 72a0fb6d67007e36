; library_buffers.uc: buffers.uc: a free list of 20 buffers on either channel, emptied and filled again, and a descriptor.

#include "check.uc"
#include "buffers.uc"

.reg list buffer first count wanted place value
.reg $d[4]
.xfer_order $d
    only_context_0()

#macro try_list(CHANNEL, ENTRY)
    free_list(list, CHANNEL, ENTRY)
    free_list_setup(list, 0x400)
    free_list_alloc(buffer, list, none#)
    fail(1)
none#:
    check(2, buffer, 0)

    immed[first, 0x2000]
    immed[count, 20]
    free_list_fill(list, first, count)
    check(3, first, (0x2000 + 20 * 4))
    check(4, count, 0)

    ; In the order in which they went in; every other one comes back.
    immed[wanted, 0x2000]
all#:
    free_list_alloc(buffer, list, gone#)
    check_same(5, buffer, wanted)
    br_bset[buffer, 2, kept#]
    alu[place, --, B, buffer]
    free_list_free(list, place)
kept#:
    alu[wanted, wanted, +, 4]
    load32(value, (0x2000 + 20 * 4))
    alu[--, wanted, -, value]
    bne[all#]
    immed[count, 0]
again#:
    free_list_alloc(buffer, list, gone#)
    alu[count, count, +, 1]
    br[again#]
gone#:
    check(6, count, 10)

    ; A descriptor: words 1 to 3 as they were written, the link as the list left it.
    immed[buffer, 0x2000]
    buffer_address(place, buffer, CHANNEL)
    load32(value, 0x00400123)
    alu[$d[1], --, B, value]
    immed[$d[2], 22]
    immed[$d[3], 33]
    buffer_write(place, $d)
    buffer_read($d, place)
    alu[value, --, B, $d[0]]
    check(7, value, 0x80002008)
    buffer_length(value, $d)
    check(8, value, 0x123)
    buffer_offset(value, $d)
    check(9, value, 0x40)
    check(10, $d[2], 22)
    check(11, $d[3], 33)
#endm

    try_list(0, 9)
    try_list(1, 40)

#include "check_end.uc"
