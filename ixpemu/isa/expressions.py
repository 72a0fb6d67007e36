"""Parsed `do` lines to semantics trees, and what such trees read and write."""

from __future__ import annotations

from collections.abc import Iterator

from ixpemu.isa.semantics import (
    Act,
    Assign,
    Binary,
    Bits,
    Branch,
    Call,
    Expression,
    Jump,
    Name,
    Number,
    Statement,
    Unary,
)
from ixpemu.isa.source import Node

# Functions of the expression language and how many arguments each takes.
FUNCTIONS = {"carry": 3, "overflow": 3, "ror": 2, "funnel": 3, "lowest_one": 1, "ones": 1, "choose": 3}


def expression(node: Node) -> Expression:
    """The tree of a parsed expression. Raises `ValueError` for an unknown function or a bit beyond 31."""
    parts = node.children
    match node.rule:
        case "number":
            return Number(int(parts[0], 0) & 0xFFFFFFFF)
        case "name":
            return Name(parts[0])
        case "unary":
            return Unary(parts[0], expression(parts[1]))
        case "binary":
            return Binary(parts[1], expression(parts[0]), expression(parts[2]))
        case "bit" | "bits":
            high, _, low = parts[1].partition(":")
            run = (int(high), int(low or high))
            if not 31 >= run[0] >= run[1]:
                raise ValueError(f"[{parts[1]}] is no run of bits within 31:0")
            return Bits(expression(parts[0]), *run)
        case "call":
            name, arguments = parts[0], parts[1:]
            if name not in FUNCTIONS:
                raise ValueError(f"there is no function {name}; known are {', '.join(FUNCTIONS)}")
            if len(arguments) != FUNCTIONS[name]:
                raise ValueError(f"{name} takes {FUNCTIONS[name]} arguments, not {len(arguments)}")
            return Call(name, tuple(expression(argument) for argument in arguments))
    raise ValueError(f"{node.rule} is no expression")


def statement(node: Node) -> Statement:
    """The tree of a parsed statement. Raises `ValueError` as `expression` does."""
    match node.rule:
        case "assign":
            return Assign(node.children[0], expression(node.children[1]))
        case "branch":
            return Branch(expression(node.children[0]))
        case "jump":
            return Jump(expression(node.children[0]))
        case "internal" | "external":
            return Act(node.children[0], node.rule == "external")
    raise ValueError(f"{node.rule} is no statement")


def names_in(tree: Expression) -> Iterator[str]:
    """Every name an expression reads, in order, repeats included."""
    match tree:
        case Name():
            yield tree.name
        case Unary():
            yield from names_in(tree.operand)
        case Binary():
            yield from names_in(tree.left)
            yield from names_in(tree.right)
        case Bits():
            yield from names_in(tree.operand)
        case Call():
            for argument in tree.arguments:
                yield from names_in(argument)


def names_read(step: Statement) -> Iterator[str]:
    """Every name a statement reads."""
    match step:
        case Assign():
            yield from names_in(step.value)
        case Branch():
            yield from names_in(step.condition)
        case Jump():
            yield from names_in(step.address)


# Binding strength of the operators, weakest first; unary ones and brackets bind tighter.
_LEVELS = ("== != < <= > >=", "|", "^", "&", "<< >>", "+ -", "*")
_STRENGTH = {operator: strength for strength, level in enumerate(_LEVELS) for operator in level.split()}
_TIGHTEST = 7


def expression_text(tree: Expression, within: int = 0) -> str:
    """An expression in the language of the `do` lines, with no more parentheses than it needs."""
    match tree:
        case Number():
            return str(tree.value) if tree.value < 10 else hex(tree.value)
        case Name():
            return tree.name
        case Unary():
            return f"{tree.operator}{expression_text(tree.operand, _TIGHTEST)}"
        case Bits():
            run = str(tree.high) if tree.high == tree.low else f"{tree.high}:{tree.low}"
            return f"{expression_text(tree.operand, _TIGHTEST)}[{run}]"
        case Call():
            return f"{tree.function}({', '.join(expression_text(argument) for argument in tree.arguments)})"
        case Binary():
            strength = _STRENGTH[tree.operator]
            left, right = expression_text(tree.left, strength), expression_text(tree.right, strength + 1)
            text = f"{left} {tree.operator} {right}"
            return f"({text})" if strength < within else text


def statement_text(step: Statement) -> str:
    """A statement in the language of the `do` lines."""
    match step:
        case Assign():
            return f"{step.target} = {expression_text(step.value)}"
        case Branch():
            return f"branch {expression_text(step.condition)}"
        case Jump():
            return f"jump {expression_text(step.address)}"
        case Act():
            return f"{'external' if step.external else 'internal'} {step.action}"
