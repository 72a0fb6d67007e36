"""The values that the instruction set, the assembler and the engine's decoder exchange: registers, operands, operations.

An `Operation` is one instruction as a tree, before encoding or after decoding. The assembler makes it with registers that
have no number yet and fills the numbers in; the decoder makes it whole. What an instruction may hold is not said here but in
the blocks of isa/.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class RegisterClass(Enum):
    """The kinds of register an operand can name, by their prefix in source text."""

    GPR = "gpr"                     # name: context-relative, bank A or B
    ABSOLUTE = "absolute"           # @name: bank A or B, shared by all contexts
    SRAM = "sram"                   # $name
    DRAM = "dram"                   # $$name
    NEIGHBOR = "neighbor"           # n$name
    LOCAL_MEMORY = "local_memory"   # *l$index0, *l$index1
    SRAM_INDEX = "sram_index"       # *$index
    DRAM_INDEX = "dram_index"       # *$$index
    NEIGHBOR_INDEX = "neighbor_index"   # *n$index


@dataclass(frozen=True, slots=True)
class Register:
    """A register operand.

    `number` is the register number, the offset k of `*l$indexN[k]`, or None while not allocated. `bank` is "a" or "b" for GPR
    and ABSOLUTE once allocated. `pointer` is 0 or 1 for LOCAL_MEMORY. `post` is +1, -1 or 0: post-increment, post-decrement,
    none. `name` is the source's own spelling, for messages.
    """

    cls: RegisterClass
    number: int | None = None
    bank: str | None = None
    pointer: int = 0
    post: int = 0
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant operand, 32-bit two's complement as an unsigned value. `text` is its spelling, for messages."""

    value: int
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """A place in the program: `address` in words from 0, or None while only the label's `name`, with its `#`, is known."""

    address: int | None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Signal:
    """An event signal; `number` 1..15, or None while not allocated."""

    number: int | None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Word:
    """An operand that is a word of the language: an ALU operation, a CSR, an input state, a mask, a shift (`<<rot5`)."""

    text: str


@dataclass(frozen=True, slots=True)
class Nothing:
    """`--`: no operand, no destination."""


Operand = Register | Constant | Target | Signal | Word | Nothing


@dataclass(frozen=True, slots=True)
class Token:
    """An option behind the operands: `ctx_swap[s1]`, `defer[2]`, `indirect_ref`."""

    name: str
    arguments: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """One instruction: the mnemonic as written, its operands and its tokens in source order."""

    mnemonic: str
    operands: tuple[Operand, ...] = ()
    tokens: tuple[Token, ...] = ()
