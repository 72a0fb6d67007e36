"""The loaded instruction set: lookup, encoding, decoding, facts, text. Loading is `loader`, bit work is `codecs`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ixpemu.isa.blocks import Block, Csr, Decoded, Facts, Form, Variant
from ixpemu.isa.model import Operation


@dataclass(frozen=True, slots=True)
class InstructionSet:
    """Every block of isa/, with its tables. Immutable."""

    blocks: Mapping[str, Block]
    csrs: tuple[Csr, ...]
    input_states: tuple[str, ...]           # names of the branch input states, by number

    @classmethod
    def shipped(cls) -> InstructionSet:
        """The instruction set of this installation."""
        raise NotImplementedError

    @classmethod
    def from_folder(cls, folder: Path) -> InstructionSet:
        """Load the `.isa` files of a folder. Raises `UserError` with the place of each mistake."""
        raise NotImplementedError

    def lookup(self, mnemonic: str) -> Block | None:
        """The block of a mnemonic, aliases included, in any case."""
        raise NotImplementedError

    def mnemonics(self) -> tuple[str, ...]:
        """All spellings, sorted."""
        raise NotImplementedError

    def form(self, operation: Operation) -> Form:
        """The syntax form an operation is written in (by mnemonic, literal words and operand count). Raises `EncodingError`."""
        raise NotImplementedError

    def variants(self) -> tuple[Variant, ...]:
        """Every dispatch variant, in file order."""
        raise NotImplementedError

    def encode(self, operation: Operation, contexts: int = 8) -> int:
        """The 40-bit word of an operation on physical registers. Raises `EncodingError`."""
        raise NotImplementedError

    def decode(self, word: int, contexts: int = 8) -> Decoded | None:
        """The reading of a word, or None if it is an illegal instruction."""
        raise NotImplementedError

    def format(self, operation: Operation) -> str:
        """The operation as physical text, e.g. `alu[b3, b3, +, 1]`; targets without a name are printed as `l11#`."""
        raise NotImplementedError

    def disassemble(self, word: int, contexts: int = 8) -> str:
        """One line of physical text that assembles back to `word`; `.word 0x...` where no instruction text does."""
        raise NotImplementedError

    def facts(self, operation: Operation) -> Facts:
        """What an operation reads, writes, waits for and where control goes; registers need no numbers yet."""
        raise NotImplementedError

    def csr(self, name: str, space: str = "local") -> Csr | None:
        """The CSR of a name, in any case, in one of the spaces "local", "cap", "msf", "hash"."""
        raise NotImplementedError

    def csr_at(self, address: int, space: str = "local") -> Csr | None:
        """The CSR at a byte address of a space."""
        raise NotImplementedError

    def input_state(self, name: str) -> int | None:
        """The number of a branch input state, by name in any case."""
        raise NotImplementedError
