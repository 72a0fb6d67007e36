"""Bits of a result that are the same whatever its registers hold, and what such bits say to a command with indirect_ref.

Only operations that treat each bit for itself are looked at, so that trying all zeros and all ones for every register shows all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from ixpemu.isa.blocks import Decoded, EncodingError
from ixpemu.isa.instruction_set import InstructionSet
from ixpemu.isa.meaning import meaning_of
from ixpemu.isa.model import Constant, Operation, Register, RegisterClass, Word
from ixpemu.isa.semantics import MASK32, evaluate

_OVERRIDES_COUNT = 1 << 25      # of the word that indirect_ref takes
_COUNT_LOW, _COUNT_MASK = 21, 0xF
_SPELLED_MAXIMUM = "max"


@dataclass(frozen=True, slots=True)
class Known:
    """Bits that are 1 in every result, and bits that are 0."""

    ones: int
    zeros: int

    @property
    def count(self) -> int | None:
        """How many units a command with indirect_ref moves by this word; None if that is not known, or not said by it."""
        field = _COUNT_MASK << _COUNT_LOW
        if not self.ones & _OVERRIDES_COUNT or (self.ones | self.zeros) & field != field:
            return None
        return (self.ones >> _COUNT_LOW & _COUNT_MASK) + 1

    @property
    def says_count(self) -> bool:
        """Whether the word overrides the count of a command with indirect_ref, in every case."""
        return bool(self.ones & _OVERRIDES_COUNT)


def known_value(known: Known | None) -> int | None:
    """The whole result, if all of its bits are known."""
    return known.ones if known is not None and known.ones | known.zeros == MASK32 else None


def leaves_room(operation: Operation) -> int | None:
    """The most units that a command says it may move by the word before it: the N of `max_N`; None if it says a count instead."""
    for operand in operation.operands:
        if isinstance(operand, Word) and operand.text.lower().startswith(_SPELLED_MAXIMUM):
            number = operand.text[len(_SPELLED_MAXIMUM) :].lstrip("_")
            return int(number) if number.isdigit() else 16
    return None


def known_result(isa: InstructionSet, operation: Operation) -> Known | None:
    """What is known of the result of an operation whose registers have no numbers yet; None if nothing is, or there is none."""
    if any(type(operand) is not Constant and isinstance(operand, Constant) for operand in operation.operands):
        return None             # its value comes later
    decoded = next(_decoded(isa, operation), None)
    if decoded is None or "previous.alu" not in decoded.variant.writes or decoded.variant.action is not None:
        return None
    if meaning_of(decoded.variant).computes_carry or any("." in name for name in decoded.variant.reads):
        return None
    names = sorted(decoded.variant.reads)
    fixed = {name: operand.value for name, operand in decoded.operands.items() if isinstance(operand, Constant)}
    fixed |= dict(decoded.values)
    free = [name for name in names if name not in fixed]
    ones, zeros = MASK32, MASK32
    for values in product((0, MASK32), repeat=len(free)):
        result = evaluate(decoded.variant.statements, fixed | dict(zip(free, values, strict=True))).state["previous.alu"]
        ones, zeros = ones & result, zeros & ~result
    return Known(ones, zeros)


def _decoded(isa: InstructionSet, operation: Operation) -> Iterator[Decoded]:
    """The operation with some registers that it can have, read back."""
    places = [index for index, operand in enumerate(operation.operands) if isinstance(operand, Register)]
    for banks in product("ab", repeat=len(places)):
        operands = list(operation.operands)
        for number, (index, bank) in enumerate(zip(places, banks, strict=True)):
            operands[index] = Register(RegisterClass.GPR, number + 1, bank)
        try:
            decoded = isa.decode(isa.encode(replace(operation, operands=tuple(operands))))
        except EncodingError:
            continue
        if decoded is not None:
            yield decoded
