"""The operand encodings of isa/operands.isa as tables: field value to operand and back.

A table knows the codes of registers and constants in one kind of field and nothing about where the field sits in a word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from ixpemu.isa.model import Constant, Operand, Register, RegisterClass
from ixpemu.isa.physical import parse_physical_operand

_RELATIVE = (RegisterClass.GPR, RegisterClass.SRAM, RegisterClass.DRAM, RegisterClass.NEIGHBOR)
_BANKED = (RegisterClass.GPR, RegisterClass.ABSOLUTE)

Key = tuple[object, ...]


def window(contexts: int) -> int:
    """How many context-relative registers of each kind a context has: 16 with eight contexts, 32 with four."""
    return 16 if contexts == 8 else 32


def key_of(operand: Operand) -> Key:
    """What identifies a register or constant inside a field: everything but its bank and its spelling."""
    if isinstance(operand, Register):
        return (operand.cls, operand.number, operand.pointer, operand.post)
    if isinstance(operand, Constant):
        return (Constant, operand.value)
    return (type(operand),)


def bank_of(operand: Operand) -> str | None:
    """The bank of a GPR, relative or absolute; None for everything that has no side."""
    if isinstance(operand, Register) and operand.cls in _BANKED:
        return operand.bank
    return None


def port_of(operand: Operand) -> str:
    """The port class of a source: two sources of one class cannot be encoded together."""
    if isinstance(operand, Constant):
        return "constants"
    if not isinstance(operand, Register):
        return "none"
    match operand.cls:
        case RegisterClass.GPR | RegisterClass.ABSOLUTE:
            return f"registers of bank {(operand.bank or '?').upper()}"
        case RegisterClass.SRAM | RegisterClass.SRAM_INDEX:
            return "SRAM transfer registers"
        case RegisterClass.DRAM | RegisterClass.DRAM_INDEX:
            return "DRAM transfer registers"
        case RegisterClass.LOCAL_MEMORY:
            return "local memory operands"
        case _:
            return "next-neighbour registers"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of an encoding: a bit pattern, the text it stands for, and whether it holds for one use only."""

    pattern: str
    spelling: str
    use: str | None


@dataclass(slots=True)
class OperandTable:
    """One `encoding` block. Tables for a bank, number of contexts and use are made when first asked for."""

    name: str
    title: str
    width: int
    rows: tuple[Row, ...]
    help: Mapping[str, str]                 # what to do about a refused "source", "destination" or "constant"
    _decoders: dict[tuple[str, int, bool], list[Operand | None]] = field(default_factory=dict)
    _encoders: dict[tuple[int, bool], dict[Key, int]] = field(default_factory=dict)
    _kinds: frozenset[tuple[Key, str]] | None = None

    def decoder(self, bank: str, contexts: int, destination: bool) -> Sequence[Operand | None]:
        """Field value to operand, None where no operand has that code. `bank`: of the GPRs the field can hold."""
        found = self._decoders.get((bank, contexts, destination))
        if found is None:
            found = [None] * (1 << self.width)
            for code, operand in self._entries(contexts, destination):
                found[code] = _on_side(operand, bank)
            self._decoders[(bank, contexts, destination)] = found
        return found

    def code(self, operand: Operand, contexts: int, destination: bool) -> int | None:
        """The field value of an operand, None where the field cannot hold it."""
        codes = self._encoders.get((contexts, destination))
        if codes is None:
            codes = {key_of(operand): code for code, operand in self._entries(contexts, destination)}
            self._encoders[(contexts, destination)] = codes
        return codes.get(key_of(operand))

    def _entries(self, contexts: int, destination: bool) -> list[tuple[int, Operand]]:
        entries: list[tuple[int, Operand]] = []
        unwanted = "source" if destination else "destination"
        for row in self.rows:
            if row.use == unwanted:
                continue
            for code, number in _expand(row.pattern):
                operand = _instance(row.spelling, number)
                relative = isinstance(operand, Register) and operand.cls in _RELATIVE
                if not relative or number < window(contexts):
                    entries.append((code, operand))
        return entries

    def knows(self, operand: Operand, destination: bool) -> bool:
        """Whether the field holds operands of this kind at all for that use, whatever their number."""
        if self._kinds is None:
            self._kinds = frozenset(
                (_kind(_instance(row.spelling, 0)), use)
                for row in self.rows for use in ("source", "destination") if row.use in (None, use)
            )
        return (_kind(operand), "destination" if destination else "source") in self._kinds


def _on_side(operand: Operand, bank: str) -> Operand:
    if isinstance(operand, Register) and operand.cls in _BANKED:
        return replace(operand, bank=bank)
    return operand


def _kind(operand: Operand) -> Key:
    return (operand.cls, operand.pointer, operand.post) if isinstance(operand, Register) else (type(operand),)


def _expand(pattern: str) -> list[tuple[int, int]]:
    """Every code of a pattern with the number its letters spell, most significant letter first."""
    free = [i for i, ch in enumerate(pattern) if ch not in "01"]
    entries: list[tuple[int, int]] = []
    for bits in product("01", repeat=len(free)):
        code = list(pattern)
        for i, bit in zip(free, bits, strict=True):
            code[i] = bit
        entries.append((int("".join(code), 2), int("".join(bits) or "0", 2)))
    return entries


def _instance(spelling: str, number: int) -> Operand:
    """The operand a row's spelling gives for one number."""
    text = spelling.replace("{bank}", "a")
    for letter in ("{n}", "{k}", "{c}"):
        text = text.replace(letter, str(number))
    operand = parse_physical_operand(text)
    return Constant(operand.value) if isinstance(operand, Constant) else operand
