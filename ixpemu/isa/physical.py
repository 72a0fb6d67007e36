"""The spelling of physical registers, constants and whole instructions in `.physical` text: parsing and printing.

One instruction a line, no labels, no expressions, no macros: those are the assembler's.
"""

from __future__ import annotations

from ixpemu.isa.model import Operand, Operation


def parse_physical_operand(text: str) -> Operand:
    """The operand that `text` spells: `a0 b0 @a0 @b0 $0 $$0 n$0 s1 *l$index0[3] *$index++ 0x10 -- l12#`; anything else is a
    `Word` (operation, CSR, command, shift)."""
    raise NotImplementedError


def parse_physical_instruction(text: str) -> Operation:
    """One instruction of physical text, e.g. `sram[read, $1, a2, 0, 2], ctx_swap[s4]`. Raises `EncodingError`."""
    raise NotImplementedError
