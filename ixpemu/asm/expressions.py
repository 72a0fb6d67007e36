"""Constant expressions as trees, and what they are worth: 32-bit arithmetic with the operators and precedence of C.

A tree is evaluated as soon as everything in it is known. What holds an address that only allocation decides (`&sig`, `&$reg`,
`label#`) stays a tree; the back end evaluates it with its own `address_of`. Reading text is `parser`'s work; `from_node` makes
a tree of what it read; `value_of` needs no tree where everything is known, as in # directives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from ixpemu.asm.syntax import Node

MASK = 0xFFFF_FFFF


class AddressKind(Enum):
    """What an address expression names."""

    REGISTER = "register"
    SIGNAL = "signal"
    LABEL = "label"
    LINK = "link"           # known to the linker alone


@dataclass(frozen=True, slots=True)
class Literal:
    """A number, already reduced to 32 bits and unsigned."""

    value: int


@dataclass(frozen=True, slots=True)
class AddressOf:
    """`&name` or `label#`: the number that a register, a signal or a label gets; or a name whose value the linker knows.

    `name` is the unique symbol (`$l0001!rsw0`, `l0001!done`) or label (`loop#`) of `program.Program`, not the source's spelling.
    """

    kind: AddressKind
    name: str


@dataclass(frozen=True, slots=True)
class Unary:
    """`operator` is one of `- + ~ !`."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary:
    """`operator` is one of C's binary operators on integers, `&&` and `||` included."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Conditional:
    """`condition ? then : otherwise`."""

    condition: Expression
    then: Expression
    otherwise: Expression


Expression = Literal | AddressOf | Unary | Binary | Conditional


class ExpressionError(Exception):
    """An expression that has no value, e.g. a division by zero. The message is fit to be shown to a user.

    `node` is the part at fault, where it is known.
    """

    def __init__(self, message: str, node: Node | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.node = node


def signed(value: int) -> int:
    """The 32-bit pattern `value` as a two's complement number."""
    return value - (1 << 32) if value & 0x8000_0000 else value


def _divide(left: int, right: int, operator: str) -> int:
    a, b = signed(left), signed(right)
    if b == 0:
        raise ExpressionError(f"division by zero: the right side of `{operator}` is 0")
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient if operator == "/" else a - quotient * b


def _shift(left: int, right: int, operator: str) -> int:
    amount = signed(right)
    if not 0 <= amount <= 31:
        raise ExpressionError(f"shift by {amount}: a 32-bit value can be shifted by 0 to 31")
    return left << amount if operator == "<<" else left >> amount


# Values are unsigned 32-bit patterns. Comparison and division are signed, as for C's int; `>>` shifts zeros in, because the
# constants of microcode are bit patterns (a choice of this project: the tool's manual is not public).
_BINARY: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: _divide(a, b, "/"),
    "%": lambda a, b: _divide(a, b, "%"),
    "<<": lambda a, b: _shift(a, b, "<<"),
    ">>": lambda a, b: _shift(a, b, ">>"),
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(signed(a) < signed(b)),
    "<=": lambda a, b: int(signed(a) <= signed(b)),
    ">": lambda a, b: int(signed(a) > signed(b)),
    ">=": lambda a, b: int(signed(a) >= signed(b)),
}
_UNARY: dict[str, Callable[[int], int]] = {"-": lambda a: -a, "+": lambda a: a, "~": lambda a: ~a, "!": lambda a: int(not a)}


def evaluate(expression: Expression, address_of: Callable[[AddressOf], int] | None = None) -> int:
    """The value, 0..0xFFFFFFFF. `address_of` gives the number of an address that occurs; without it an address is an error.

    Raises `ExpressionError` for a division by zero, an impossible shift, or an address nobody knows.
    """
    match expression:
        case Literal(value):
            return value
        case AddressOf():
            if address_of is None:
                raise ExpressionError(f"the address of `{expression.name}` is not known yet here")
            return address_of(expression) & MASK
        case Unary(operator, operand):
            return _UNARY[operator](evaluate(operand, address_of)) & MASK
        case Binary("&&", left, right):
            return int(bool(evaluate(left, address_of)) and bool(evaluate(right, address_of)))
        case Binary("||", left, right):
            return int(bool(evaluate(left, address_of)) or bool(evaluate(right, address_of)))
        case Binary(operator, left, right):
            return _BINARY[operator](evaluate(left, address_of), evaluate(right, address_of)) & MASK
        case Conditional(condition, then, otherwise):
            return evaluate(then if evaluate(condition, address_of) else otherwise, address_of)


def addresses(expression: Expression) -> Iterator[AddressOf]:
    """Every address that occurs in the expression."""
    match expression:
        case AddressOf():
            yield expression
        case Unary(_, operand):
            yield from addresses(operand)
        case Binary(_, left, right):
            yield from addresses(left)
            yield from addresses(right)
        case Conditional(condition, then, otherwise):
            yield from addresses(condition)
            yield from addresses(then)
            yield from addresses(otherwise)
        case Literal():
            pass


def is_linked(expression: Expression) -> bool:
    """Whether something in the expression is known only when the program is linked."""
    return any(address.kind is AddressKind.LINK for address in addresses(expression))


def postfix(expression: Expression, address_of: Callable[[AddressOf], int]) -> str:
    """The expression as `ixpemu.image_links` writes it: numbers for all that is known, names for what the linker knows."""
    if not is_linked(expression):
        return hex(evaluate(expression, address_of))
    match expression:
        case AddressOf():
            return expression.name
        case Unary(operator, operand):
            inner = postfix(operand, address_of)
            return inner if operator == "+" else f"{inner} {'neg' if operator == '-' else operator}"
        case Binary(operator, left, right):
            return f"{postfix(left, address_of)} {postfix(right, address_of)} {operator}"
        case Conditional(condition, then, otherwise):
            return " ".join([*(postfix(part, address_of) for part in (condition, then, otherwise)), "?:"])
        case Literal(value):
            return hex(value)


def number(text: str) -> int | None:
    """The value of a number as written, of any size: decimal, or hexadecimal with `0x`; None for other spellings."""
    digits = text[2:] if text[:2] in ("0x", "0X") else text
    hexadecimal = digits is not text
    if not digits.isascii() or len(digits) > 40:
        return None
    if hexadecimal:
        return int(digits, 16) if digits and "_" not in digits and _all_hex(digits) else None
    return int(digits) if digits.isdigit() else None


def _all_hex(digits: str) -> bool:
    return all(digit in "0123456789abcdefABCDEF" for digit in digits)


def value_of(node: Node, place: Callable[[Node], int]) -> int:
    """The value of a parsed expression, 0..0xFFFFFFFF. `place` gives what is neither number nor operator its value.

    What `&&`, `||` and `?:` skip is not evaluated, as in C. Raises `ExpressionError`, with the part at fault.
    """
    children = node.children
    match node.kind:
        case "number":
            return _literal(node)
        case "parenthesis":
            return value_of(children[0], place)
        case "unary":
            return _UNARY[node.text](value_of(children[0], place)) & MASK
        case "binary":
            left = value_of(children[0], place)
            if node.text == "&&":
                return int(bool(left) and bool(value_of(children[1], place)))
            if node.text == "||":
                return int(bool(left) or bool(value_of(children[1], place)))
            right = value_of(children[1], place)
            try:
                return _BINARY[node.text](left, right) & MASK
            except ExpressionError as error:
                raise ExpressionError(error.message, error.node or children[1]) from None
        case "conditional":
            return value_of(children[1 if value_of(children[0], place) else 2], place)
        case _:
            return place(node) & MASK


def _literal(node: Node) -> int:
    value = number(node.text)
    if value is None:
        raise ExpressionError(f"`{node.text}` is no number: write it in decimal, or with 0x in hexadecimal", node)
    if value > MASK:
        raise ExpressionError(f"`{node.text}` does not fit into 32 bits", node)
    return value


def from_node(node: Node, place: Callable[[Node], Expression]) -> Expression:
    """The tree of a parsed expression. `place` turns everything that is neither number nor operator into a tree: names, members,
    addresses, labels. Raises `ExpressionError` for a number that is none or does not fit 32 bits."""
    match node.kind:
        case "number":
            return Literal(_literal(node))
        case "parenthesis":
            return from_node(node.children[0], place)
        case "unary":
            return Unary(node.text, from_node(node.children[0], place))
        case "binary":
            left, right = node.children
            return Binary(node.text, from_node(left, place), from_node(right, place))
        case "conditional":
            condition, then, otherwise = node.children
            return Conditional(from_node(condition, place), from_node(then, place), from_node(otherwise, place))
        case _:
            return place(node)
