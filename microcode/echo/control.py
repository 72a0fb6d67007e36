"""The XScale side of the echo: enables receiving and sending on all channels and gives the RBUF elements to the MSF."""

from __future__ import annotations

from ixpemu.xscale import XScale

# Four channels (MPHY-4), one 32-bit bus, elements of 64 bytes.
MSF_CONTROL = 0xF << 28 | 1 << 19
RX_CONTROL, TX_CONTROL, RBUF_ELEMENT_DONE = 0x00, 0x04, 0x44
ELEMENTS = 128
NEVER_USED = {0, 9, 18, 27}                 # erratum 69: RBUF to DRAM copies of these are corrupt; 0 as its work-around has it


def setup(xscale: XScale) -> None:
    """The MSF, before any microengine runs."""
    xscale.msf.write(RX_CONTROL, MSF_CONTROL)
    xscale.msf.write(TX_CONTROL, MSF_CONTROL)
    for element in sorted(set(range(ELEMENTS)) - NEVER_USED):
        xscale.msf.write(RBUF_ELEMENT_DONE, element)
