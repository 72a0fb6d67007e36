"""The CRC unit: the remainder of a division of polynomials, fed the bytes of words that pass by; one for the microengine.

The remainder stands in the low bits of CRC_REMAINDER, its most significant bit the coefficient of the highest power.
Polynomials are those of their names (M); that of crc_5 is USB's (assumed). The order of bits, the most significant one of each
byte first, is M.
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine.hidden import is_own, note_own, report_here
from ixpemu.engine.jit import jit
from ixpemu.engine.layout import OWN_CRC, RESERVED_CRC_EARLY, RESERVED_CRC_SWAP

READABLE = 3
"""Cycles from a crc to the first read of its remainder that is defined (the descendant's libraries, M)."""

# How `control` tells the compiled code what an instruction asks for.
SWAPPED, LITTLE = 0x10000, 0x20000
_BYTES = ((0, 3), (1, 3), (2, 3), (3, 3), (0, 2), (0, 1), (0, 0))
"""First and last byte, by the number of the option."""


def control(kind: int, chosen: int, bit_swap: int, little: int) -> int:
    """`CODE.imm` of a crc: type number [3:0], first byte [7:4], last byte [11:8], SWAPPED, LITTLE."""
    first, last = _BYTES[chosen]
    return kind | first << 4 | last << 8 | (SWAPPED if bit_swap else 0) | (LITTLE if little else 0)


@jit
def polynomial(kind):
    """The polynomial of a type number without its highest power; 0 for none."""
    if kind == uint32(2):
        return uint32(0x1021)
    if kind == uint32(4):
        return uint32(0x04C11DB7)
    if kind == uint32(5):
        return uint32(0x1EDC6F41)
    if kind == uint32(6):
        return uint32(0x233)
    return uint32(0x05) if kind == uint32(7) else uint32(0)


@jit
def degree(kind):
    """The number of bits of the remainder of a type number."""
    if kind == uint32(2):
        return uint32(16)
    if kind == uint32(6):
        return uint32(10)
    return uint32(5) if kind == uint32(7) else uint32(32)


@jit
def divide(remainder, octet, powers, width, swapped):
    """The remainder after eight more bits, the most significant one first, or the least if `swapped`."""
    top = uint32(width - uint32(1))
    for k in range(8):
        bit = (octet >> uint32(k if swapped else 7 - k)) & uint32(1)
        out = (remainder >> top) & uint32(1)
        remainder = uint32(remainder << uint32(1))
        if bit != out:
            remainder = uint32(remainder ^ powers)
    return uint32(remainder & (uint32(0xFFFFFFFF) >> uint32(uint32(32) - width)))


@jit
def crc(state, engine, i, ctx, a, b, pc, order, clock):
    """Take the chosen bytes of `b` into the remainder."""
    what = uint32(i.imm)
    kind = uint32(what & uint32(15))
    powers = polynomial(kind)
    if powers == uint32(0):
        return
    check_owner(state, engine, ctx, pc, clock)
    width = degree(kind)
    remainder = uint32(engine.crc_remainder)
    first, last = (what >> uint32(4)) & uint32(15), (what >> uint32(8)) & uint32(15)
    for k in range(4):
        place = uint32(k)
        if first <= place <= last:
            moved = uint32(uint32(8) * place) if what & uint32(LITTLE) else uint32(uint32(24) - uint32(8) * place)
            remainder = divide(remainder, (b >> moved) & uint32(0xFF), powers, width, (what & uint32(SWAPPED)) != uint32(0))
    engine.crc_remainder = remainder
    engine.crc_readable = uint64(order + uint64(READABLE))
    note_own(engine, OWN_CRC)


@jit
def check_owner(state, engine, ctx, pc, clock):
    """Report a remainder that is not the executing context's, if there is another context that it could be of."""
    if not is_own(engine, OWN_CRC) and engine.enabled & ~(uint32(1) << ctx):
        report_here(state, RESERVED_CRC_SWAP, engine, ctx, pc, engine.crc_remainder, clock)


@jit
def write_remainder(engine, value):
    """CRC_REMAINDER is written."""
    engine.crc_remainder = uint32(value)
    engine.crc_readable = uint64(0)
    note_own(engine, OWN_CRC)


@jit
def read_remainder(state, engine, ctx, pc, order, clock):
    """CRC_REMAINDER is read by the instruction that `order` others went before."""
    check_owner(state, engine, ctx, pc, clock)
    if order < engine.crc_readable:
        report_here(state, RESERVED_CRC_EARLY, engine, ctx, pc, engine.crc_remainder, clock)
    return uint32(engine.crc_remainder)
