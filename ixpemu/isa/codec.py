"""What every operand codec is: one binding of a block's `fields`, two-way between operands and bits.

A codec moves the operands or tokens it is bound to into the fields of a word and back, says which operand kinds it takes, which
values of a field it never writes, and what the operands mean for liveness. The codecs themselves are in the modules `codecs_...`;
blocks use them by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ixpemu.isa.blocks import OperandSpec, TokenSpec
from ixpemu.isa.fields import Field
from ixpemu.isa.model import Constant, Operand, Token
from ixpemu.isa.tables import OperandTable


class Refused(Exception):
    """An operand or token that has no encoding here. `name`: of the operand or token. `side`: only the side of the register
    does not fit this layout; another layout of the same syntax may take it."""

    def __init__(self, name: str, message: str, help: str | None = None, *, side: bool = False) -> None:
        super().__init__(message)
        self.name = name
        self.message = message
        self.help = help
        self.side = side


@dataclass(slots=True)
class Given:
    """An operation on its way into a word: operands and tokens by name, and the choices made so far."""

    contexts: int
    operands: dict[str, Operand]
    tokens: dict[str, Token]
    several: tuple[Operand, ...] = ()           # the operands of a variadic place
    choices: dict[str, str] = field(default_factory=dict)

    def operand(self, name: str) -> Operand:
        """The operand of that name. Raises `Refused` if it is missing."""
        found = self.operands.get(name)
        if found is None:
            raise Refused(name, f"operand {name} is missing")
        return found


@dataclass(slots=True)
class Reading:
    """A word on its way into an operation. Codecs add to it; names as in `blocks.Decoded`."""

    contexts: int
    operands: dict[str, Operand] = field(default_factory=dict)       # as written, by operand name
    several: tuple[Operand, ...] = ()
    tokens: dict[str, Token] = field(default_factory=dict)
    choices: dict[str, str] = field(default_factory=dict)
    semantic: dict[str, Operand] = field(default_factory=dict)
    values: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class FactsBuilder:
    """Facts being collected; see `blocks.Facts`. `place` gives an operand's index by name, `token_place` a token's."""

    place: Mapping[str, int]
    token_place: Mapping[str, int]
    parts: dict[str, Any] = field(default_factory=lambda: {"reads": [], "writes": [], "restricted": [], "waits": []})

    def add(self, part: str, name: str) -> None:
        """Note the operand `name` under "reads", "writes" or "restricted"."""
        if name in self.place:
            self.parts[part].append(self.place[name])


@dataclass(frozen=True, slots=True)
class Binding:
    """A parsed `fields` line: `names = codec(arguments)`; each argument is a tuple of its words."""

    names: tuple[str, ...]
    codec: str
    arguments: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a codec may look up when it is made: the fields of its word, operand tables, choices and CSR names."""

    fields: Mapping[str, Field]
    tables: Mapping[str, OperandTable]
    choices: Mapping[str, Sequence[tuple[int, tuple[str, ...]]]]
    csrs: Mapping[str, Any]


class Codec:
    """Base of the codecs. `binding` is the line of the block that made it.

    Class constants: `order`: codecs with a higher one run later, because they look at choices that others make.
    """

    order: ClassVar[int] = 0

    def __init__(self, binding: Binding, around: Surroundings) -> None:
        self.binding = binding
        self.names = binding.names
        self.name = binding.names[0]
        self.around = around
        self.letters: dict[str, Field] = {}         # the fields it owns
        self.setup(*binding.arguments)

    def setup(self, *arguments: tuple[str, ...]) -> None:
        """Take the parameters of the binding. Raises `ValueError` with what is wrong with them."""

    def own(self, letter: str) -> Field:
        """Claim the field of a letter."""
        found = self.around.fields.get(letter)
        if found is None:
            raise ValueError(f"the word has no field {letter!r}")
        self.letters[letter] = found
        return found

    def operand_specs(self) -> Mapping[str, OperandSpec]:
        """The operands it takes, by name."""
        return {}

    def token_specs(self) -> Sequence[TokenSpec]:
        """The option tokens it takes."""
        return ()

    def axes(self) -> Mapping[str, Mapping[str, str]]:
        """Choices it makes: axis -> case -> suffix of the variant's name ("" for the plain case)."""
        return {}

    def readable(self) -> Sequence[str]:
        """Operands that semantics may read."""
        return ()

    def writable(self) -> Sequence[str]:
        """Operands that semantics may assign."""
        return ()

    def parameters(self) -> Sequence[str]:
        """Decoded numbers it provides, by name."""
        return ()

    def legal(self, letter: str, value: int) -> bool:
        """Whether it ever writes `value` into the field `letter`; it never reads other values. For the overlap check."""
        return True

    def encode(self, given: Given) -> int:
        """The bits of the word it is responsible for. Raises `Refused`."""
        raise NotImplementedError

    def decode(self, word: int, reading: Reading) -> bool:
        """Read its fields; False if no operand has these bits, and the word is then not of this form."""
        raise NotImplementedError

    def note(self, given: Given, facts: FactsBuilder) -> None:
        """Add what its operands mean to the facts. Registers may be without number."""


def named_arguments(arguments: Sequence[tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """`(wide i), (first modified)` as {"wide": ("i",), "first": ("modified",)}."""
    return {words[0]: words[1:] for words in arguments}


def number_of(name: str, operand: Operand, what: str, low: int, high: int, bits: int | None = None) -> int:
    """The value of a constant operand within low..high. Raises `Refused` that names the field and its range."""
    if not isinstance(operand, Constant):
        raise Refused(name, f"{what} must be a constant {low}..{high}")
    if not low <= operand.value <= high:
        shown = operand.text or hex(operand.value)
        width = f" of {bits} bits" if bits is not None else ""
        raise Refused(name, f"{shown} does not fit {what}{width}: {low}..{high}")
    return operand.value
