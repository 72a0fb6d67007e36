"""What the statements of a variant use, beyond what its facts say: values of the instruction before, how a result comes about.

Worked out from the semantics of isa/; nothing is executed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from ixpemu.isa.blocks import Variant
from ixpemu.isa.semantics import Act, Assign, Binary, Bits, Branch, Call, Expression, Jump, Name, Number, Unary


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the statements of a variant use. `reads` leaves out what is only handed to the next instruction as its A operand."""

    reads: frozenset[str]
    hands_a: bool
    computes_carry: bool        # C or V is computed, and not just set to something or by an action
    moves: frozenset[str]       # operands that its result is a copy of


def meaning_of(variant: Variant) -> Meaning:
    """What the statements of `variant` use."""
    return _meaning_of(variant.statements)


@cache
def _meaning_of(statements: tuple[object, ...]) -> Meaning:
    reads: set[str] = set()
    temporaries: dict[str, frozenset[str]] = {}
    hands_a = False
    computes_carry = False
    moves: frozenset[str] = frozenset()
    for step in statements:
        match step:
            case Assign():
                names = frozenset(_names(step.value))
                if step.target == "previous.a":
                    hands_a = True
                    continue
                reads |= names
                computes_carry = computes_carry or (step.target in ("cc.c", "cc.v") and not isinstance(step.value, Number))
                if isinstance(step.value, Name):
                    moves |= temporaries.get(step.value.name, frozenset()) if step.target == "dest" else frozenset()
                    temporaries[step.target] = frozenset((step.value.name,))
            case Branch():
                reads |= set(_names(step.condition))
            case Jump():
                reads |= set(_names(step.address))
            case Act():
                pass
    return Meaning(frozenset(reads), hands_a, computes_carry, moves)


def _names(tree: Expression) -> Iterator[str]:
    """The names that an expression reads."""
    match tree:
        case Name():
            yield tree.name
        case Unary():
            yield from _names(tree.operand)
        case Bits():
            yield from _names(tree.operand)
        case Binary():
            yield from _names(tree.left)
            yield from _names(tree.right)
        case Call():
            for argument in tree.arguments:
                yield from _names(argument)
