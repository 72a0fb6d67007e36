"""Places in the `memory` array: byte addresses of the units to word indexes, with what is populated checked.

The first words of `memory` are one flag a page, set on every write, so that a snapshot saves only pages that were written.
"""

from __future__ import annotations

from numpy import uint32

from ixpemu.engine.jit import jit
from ixpemu.engine.layout import RESERVED_UNPOPULATED, UNIT_DRAM, UNIT_SRAM0, UNIT_SRAM1
from ixpemu.engine.reserved import report_at

PAGE_SHIFT = 10
"""log2 of the words of a page."""


@jit
def memory_index(state, unit, address, words, me, ctx, pc, now):
    """Index in `memory` of the first of `words` words at byte `address` of a unit's memory.

    What reaches past the populated memory is reported and stays inside it, at its beginning. `me`, `ctx`, `pc`: the command.
    """
    word = uint32(address) >> uint32(2)
    if uint32(unit) == uint32(UNIT_DRAM):
        base = state.dram_base
        limit = state.dram_words
    elif uint32(unit) == uint32(UNIT_SRAM0) or uint32(unit) == uint32(UNIT_SRAM1):
        base = state.sram_base[unit]
        limit = state.sram_words[unit]
    else:
        base = state.scratch_base
        limit = state.scratch_words
    if word >= limit or uint32(limit - word) < uint32(words):
        report_at(state, RESERVED_UNPOPULATED, me, ctx, pc, address, now)
        word = uint32(0)
    return uint32(base + word)


@jit
def mark_written(memory, index, words):
    """Flag the pages of `words` words from `index` on as written."""
    memory[uint32(index) >> uint32(PAGE_SHIFT)] = uint32(1)
    memory[uint32(uint32(index) + uint32(words) - uint32(1)) >> uint32(PAGE_SHIFT)] = uint32(1)


@jit
def merge_word(memory, index, value, bytes_written):
    """Write the bytes of a word whose mask bit is set; bit 0 is the byte at the lowest address, the most significant one."""
    mask = uint32(0)
    for k in range(4):
        if (uint32(bytes_written) >> uint32(k)) & uint32(1):
            mask = uint32(mask | (uint32(0xFF000000) >> uint32(8 * k)))
    memory[index] = uint32((memory[index] & ~mask) | (uint32(value) & mask))
