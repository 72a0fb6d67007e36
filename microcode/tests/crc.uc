; crc.uc: the CRC of "123456789" by two polynomials, with a remainder kept over a swap by hand, and byte alignment of its octets.

#include "check.uc"

.reg word remainder saved
    only_context_0()

    ; CRC-CCITT, most significant bit first, from ffff: 29b1.
    immed[remainder, 0xffff]
    local_csr_wr[CRC_REMAINDER, remainder]
    load32(word, 0x31323334)
    nop
    crc_be[crc_ccitt, --, word]
    load32(word, 0x35363738)
    crc_be[crc_ccitt, --, word]
    nop
    nop
    local_csr_rd[CRC_REMAINDER]
    immed[saved, 0]

    ; The unit is shared by all contexts: what it holds does not outlive a swap.
    ctx_arb[voluntary]
    local_csr_wr[CRC_REMAINDER, saved]
    load32(word, 0x39000000)
    nop
    crc_be[crc_ccitt, word, word], byte_0
    check(1, word, 0x39000000)
    local_csr_rd[CRC_REMAINDER]
    immed[remainder, 0]
    check(2, remainder, 0x29b1)

    ; The same octets in little-endian words.
    immed[remainder, 0]
    local_csr_wr[CRC_REMAINDER, remainder]
    load32(word, 0x34333231)
    nop
    crc_le[crc_ccitt, --, word]
    load32(word, 0x38373635)
    crc_le[crc_ccitt, --, word]
    immed[word, 0x39]
    crc_le[crc_ccitt, --, word], byte_0
    nop
    nop
    local_csr_rd[CRC_REMAINDER]
    immed[remainder, 0]
    check(3, remainder, 0x31c3)

    ; Octets 2 to 5 of 11 22 33 44 55 66 77 88.
    local_csr_wr[BYTE_INDEX, 2]
    load32(word, 0x11223344)
    nop
    byte_align_be[--, word]
    load32(word, 0x55667788)
    byte_align_be[word, word]
    check(4, word, 0x33445566)

#include "check_end.uc"
