"""Statements as the parser reads them: shapes with names in them, no meaning yet.

A `Node` keeps where it stands in its line. They are named tuples and not dataclasses because the parser makes several for every
operand of every line.
"""

from __future__ import annotations

from typing import NamedTuple

from ixpemu.asm.source import Line


class Node(NamedTuple):
    """A piece of a statement.

    `kind` is the name of its rule in grammar.lark: "name", "member", "indexed", "number", "unary", "binary", "conditional",
    "parenthesis", "call", "address", "label_address", "nothing", "string", "shift", "operator"; or "label", "mnemonic",
    "directive", "option". `text` is what tells it from its like: the name, the number as written, the operator; `start` and
    `end` are offsets in the line. Children: operands of operators; the index of a member; the place of an address; the operands
    of an option. For "indexed", `text` holds the post-increment too: `*l$index0++`.
    """

    kind: str
    text: str
    start: int
    end: int
    children: tuple[Node, ...] = ()


class Statement(NamedTuple):
    """A line: labels, then an instruction (`head.kind` "mnemonic"), a directive (`head.kind` "directive") or nothing.

    The operands of a directive have no commas left. `brackets` tells `cam_clear[]` from `cam_clear`.
    """

    line: Line
    labels: tuple[Node, ...]
    head: Node | None
    operands: tuple[Node, ...]
    options: tuple[Node, ...]
    brackets: bool = False
