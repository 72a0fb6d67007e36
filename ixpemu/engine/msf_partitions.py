"""How RBUF and TBUF are divided: partitions, their element sizes, and what an element's number stands for.

Everything is worked out from a control word (RX_CONTROL for RBUF, TX_CONTROL for TBUF), of which nothing but its layout is
known here. Each buffer of 8 KB is one, two or three partitions (places and sizes: the IXP2800's manual, M for the IXP2400);
where the control word says how many, and the sizes of the second and third, is `assumed`: bits 11..10 hold the number less one,
bits 5..4 and 7..6 the sizes, coded as those of the first in bits 3..2.

An element's number counts from the buffer's beginning: on the IXP2400 in units of the element size (shown by the driver), on the
IXP2800 in 64 bytes whatever the size (its manual). With partitions of several sizes the IXP2400's unit is the smallest one in
use (assumed), so that a number means one element only.
"""

from __future__ import annotations

from numpy import uint32

from ixpemu.engine.jit import jit
from ixpemu.engine.msf_layout import BUFFER_BYTES
from ixpemu.engine.parameters import P_MSF_UNIT


@jit
def partition_count(control):
    """How many partitions: 1 to 3."""
    return uint32(min(uint32((control >> uint32(10)) & uint32(3)), uint32(2)) + uint32(1))


@jit
def partition_start(count, which):
    """Byte at which partition `which` of `count` begins; the end of the last one for `which` = `count`."""
    if which == uint32(0):
        return uint32(0)
    if which >= count:
        return uint32(BUFFER_BYTES)
    if count == uint32(2):
        return uint32(0x1800)               # three quarters and a quarter
    return uint32(0x1000) if which == uint32(1) else uint32(0x1C00)      # a half, three eighths, an eighth


@jit
def partition_at(control, byte):
    """Number of the partition that holds `byte` of the buffer."""
    count = partition_count(control)
    which = uint32(0)
    while uint32(which + uint32(1)) < count and byte >= partition_start(count, uint32(which + uint32(1))):
        which = uint32(which + uint32(1))
    return which


@jit
def element_bytes(control, which):
    """Bytes of an element of partition `which`: 64, 128 or 256 for codes 0, 1, 2 (and 3, assumed)."""
    return uint32(uint32(64) << min(uint32((control >> uint32(uint32(2) + uint32(2) * which)) & uint32(3)), uint32(2)))


@jit
def element_unit(state, control):
    """Bytes that element numbers count in."""
    unit = state.parameter[P_MSF_UNIT]
    if unit == uint32(0):
        unit = element_bytes(control, uint32(0))
        for which in range(1, partition_count(control)):
            unit = min(unit, element_bytes(control, uint32(which)))
    return uint32(unit)


@jit
def element_place(state, control, number):
    """Byte at which element `number` begins, or BUFFER_BYTES if no element has that number."""
    byte = uint32(min(uint32(number), uint32(BUFFER_BYTES)) * element_unit(state, control))
    if byte >= uint32(BUFFER_BYTES):
        return uint32(BUFFER_BYTES)
    which = partition_at(control, byte)
    inside = uint32(byte - partition_start(partition_count(control), which))
    if inside & uint32(element_bytes(control, which) - uint32(1)):
        return uint32(BUFFER_BYTES)
    return byte


@jit
def first_element(state, control, which):
    """Number of the first element of partition `which`; of none behind the last partition."""
    return uint32(partition_start(partition_count(control), which) // element_unit(state, control))


@jit
def next_element(state, control, number):
    """Number of the element behind `number` in its partition, which goes round."""
    unit = element_unit(state, control)
    byte = uint32(number * unit)
    which = partition_at(control, byte)
    byte = uint32(byte + element_bytes(control, which))
    if byte >= partition_start(partition_count(control), uint32(which + uint32(1))):
        byte = partition_start(partition_count(control), which)
    return uint32(byte // unit)


@jit
def geometry(control):
    """The bits of a control word that divide a buffer; elements given out under other ones mean nothing any more."""
    return uint32(control & uint32(0xCFC))


@jit
def mode_modelled(control):
    """Whether a control word asks for what is there: POS or UTOPIA over one 32-bit bus, channels as the driver enables them.

    Of a valid set of channels (all four with several ports on the bus, else the first) some may be off.
    """
    if (control >> uint32(22)) & uint32(1) or (control >> uint32(20)) & uint32(3):
        return False                                        # CSIX; two or four narrower buses
    if (control >> uint32(10)) & uint32(3) == uint32(3):
        return False
    if (control >> uint32(19)) & uint32(1):
        return True
    return (control >> uint32(28)) & uint32(0xE) == uint32(0)
