"""The instruction set as data: loads isa/, encodes and decodes 40-bit words, and says what instructions read, write and do.

Public names are here; isa/ is read on the first use of `instruction_set`. It is not an assembler: it takes single `Operation`s of
physical registers and knows no labels, no allocation and no files of source.
"""

from __future__ import annotations

from functools import cache

from ixpemu.isa.blocks import (
    Block,
    BranchFacts,
    Csr,
    CsrField,
    Decoded,
    EncodingError,
    Facts,
    Form,
    OperandSpec,
    Role,
    Timing,
    TokenSpec,
    Transfer,
    Variant,
)
from ixpemu.isa.codecs_commands import MOST_INDIRECT, most_of
from ixpemu.isa.instruction_set import InstructionSet
from ixpemu.isa.physical import parse_physical_instruction, parse_physical_operand

__all__ = [
    "MOST_INDIRECT",
    "Block",
    "BranchFacts",
    "Csr",
    "CsrField",
    "Decoded",
    "EncodingError",
    "Facts",
    "Form",
    "InstructionSet",
    "OperandSpec",
    "Role",
    "Timing",
    "TokenSpec",
    "Transfer",
    "Variant",
    "instruction_set",
    "most_of",
    "parse_physical_instruction",
    "parse_physical_operand",
]


@cache
def instruction_set() -> InstructionSet:
    """The shipped instruction set; loaded once, immutable."""
    return InstructionSet.shipped()
