"""Loading a microengine the way silicon is loaded: through its local CSRs, word by word.

The recipe is the one of the Linux driver for this chip (H): control-store access on, each word as its lower 32 bits and then
its upper 8 with two bits of even parity, where writing the upper half stores the word and moves on; then for every context
program counter, signals and wakeup events; flags, next-neighbour and transfer indexes; the mode. It starts nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ixpemu.image import Image

if TYPE_CHECKING:
    from ixpemu.xscale.agent import XScale

USTORE_ADDRESS, USTORE_DATA_LOWER, USTORE_DATA_UPPER = 0x000, 0x004, 0x008
CTX_ENABLES, CC_ENABLE, CSR_CTX_POINTER = 0x018, 0x01C, 0x020
INDIRECT_CTX_STS, INDIRECT_CTX_SIG_EVENTS, INDIRECT_CTX_WAKEUP_EVENTS = 0x040, 0x048, 0x050
T_INDEX, NN_PUT, NN_GET = 0x074, 0x080, 0x084
STORE_ACCESS = 1 << 31
FOUR_CONTEXTS, PARITY_CHECK = 1 << 31, 1 << 28
VOLUNTARY = 1
CC_UPDATE = 1 << 13
PREFETCHED_NOPS = 4                     # instruction fetch runs past the last word (H)
NOP = 0xF0000C0300


def store_halves(word: int) -> tuple[int, int]:
    """USTORE_DATA_LOWER and USTORE_DATA_UPPER of a 40-bit word: parity of bits 19..0 in upper bit 8, of bits 39..20 in bit 9."""
    low, high = word & 0xFFFFF, word >> 20
    return word & 0xFFFFFFFF, word >> 32 | (low.bit_count() & 1) << 8 | (high.bit_count() & 1) << 9


def load_through_store(xscale: XScale, me: int, image: Image) -> None:
    """Writes the image and the reset values of every context. The contexts stay disabled."""

    def write(register: int, value: int) -> None:
        xscale.write(f"csr {me}", register, (value,))

    write(CTX_ENABLES, 0)
    write(USTORE_ADDRESS, STORE_ACCESS)
    for word in [*(int(word) for word in image.words), *[NOP] * PREFETCHED_NOPS]:
        lower, upper = store_halves(word)
        write(USTORE_DATA_LOWER, lower)
        write(USTORE_DATA_UPPER, upper)
    write(USTORE_ADDRESS, 0)
    for context in range(0, 8, 8 // image.contexts):
        write(CSR_CTX_POINTER, context)
        write(INDIRECT_CTX_STS, 0)
        write(INDIRECT_CTX_SIG_EVENTS, VOLUNTARY)
        write(INDIRECT_CTX_WAKEUP_EVENTS, VOLUNTARY)
    for register, value in ((CC_ENABLE, CC_UPDATE), (NN_PUT, 0), (NN_GET, 0), (T_INDEX, 0)):
        write(register, value)
    write(CTX_ENABLES, PARITY_CHECK | (FOUR_CONTEXTS if image.contexts == 4 else 0))
