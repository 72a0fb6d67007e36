; cam.uc: a cache of sixteen lines in local memory, found by the CAM; order of use, hits, misses, states.

#include "check.uc"

.reg tag result entry line
    only_context_0()

    cam_clear
    immed[tag, 0x100]

    ; Sixteen misses fill the entries in their order.
    immed[line, 0]
fill#:
    cam_lookup[result, tag]
    alu_shf[entry, 0xf, AND, result, >>3]
    check_same(1, entry, line)
    cam_write[entry, tag, 3]
    alu[tag, tag, +, 1]
    alu[line, line, +, 1]
    alu[--, line, -, 16]
    bne[fill#]

    ; A hit tells entry and state, and makes entry 0 the last to be given away.
    immed[tag, 0x100]
    cam_lookup[result, tag]
    check(2, result, ((3 << 8) | (1 << 7)))
    immed[tag, 0x999]
    cam_lookup[result, tag]
    check(3, result, (1 << 3))

    ; A miss reserves nothing: the next one is given the same entry.
    cam_lookup[result, tag]
    check(4, result, (1 << 3))

    cam_write_state[5, 12]
    cam_read_state[result, 5]
    check(5, result, (12 << 8))
    cam_read_tag[result, 5]
    check(6, result, 0x105)

    ; Each entry owns 16 words of local memory; a lookup sets the pointer to them.
    immed[tag, 0x105]
    cam_lookup[result, tag], lm_addr0[1]
    nop
    nop
    nop
    alu[*l$index0[2], --, B, tag]
    check(7, result, ((12 << 8) | (1 << 7) | (5 << 3)))
    immed[result, ((256 + 5 * 16) << 2)]
    local_csr_wr[ACTIVE_LM_ADDR_1, result]
    nop
    nop
    nop
    alu[result, --, B, *l$index1[2]]
    check(8, result, 0x105)

#include "check_end.uc"
