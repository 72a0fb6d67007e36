"""What a control module reads and writes through: SRAM, DRAM and CSRs as the XScale reaches them, each access at its price.

When an access happens and what it costs is `ixpemu.xscale.agent`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ixpemu.xscale.agent import XScale


class Memory:
    """SRAM as the XScale uses it: rows of words at microengine byte addresses."""

    def __init__(self, xscale: XScale) -> None:
        self._xscale = xscale

    def read(self, address: int, count: int = 1) -> list[int]:
        """`count` words from byte `address` on."""
        return self._xscale.read_words("sram", address, count)

    def write(self, address: int, words: Sequence[int]) -> None:
        """The words, one access each, in ascending order; before the chip runs, where accesses cost nothing, all in one."""
        if not self._xscale.running:
            self._xscale.write("sram", address, tuple(words))
            return
        for index, word in enumerate(words):
            self._xscale.write("sram", address + 4 * index, (word,))


class Dram:
    """DRAM as the XScale uses it, byte by byte, a cache line an access. Lines written together commit together, with the last."""

    def __init__(self, xscale: XScale) -> None:
        self._xscale = xscale

    def read_bytes(self, address: int, count: int) -> bytes:
        return self._xscale.read_dram(address, count)

    def write_bytes(self, address: int, octets: bytes) -> None:
        self._xscale.write("dram", address, bytes(octets))


class Registers:
    """CSRs of the MSF or the CAP by byte offset, or whatever is on the bus by physical address."""

    def __init__(self, xscale: XScale, place: str) -> None:
        self._xscale = xscale
        self._place = place

    def read(self, address: int) -> int:
        return self._xscale.read_words(self._place, address, 1)[0]

    def write(self, address: int, value: int) -> None:
        self._xscale.write(self._place, address, (value,))
