"""Reads `.isa` text into plain trees: Lark, its grammar, and good messages.

It knows the grammar and nothing of its meaning; that is `builder`. What is made of the trees is kept between runs by `kept`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ixpemu import codes
from ixpemu.diagnostics import Diagnostic, Origin, Span, UserError

if TYPE_CHECKING:
    from lark import Lark

GRAMMAR = Path(__file__).with_name("grammar.lark")
_READABLE = {
    "NAME": "a name", "STRING": 'a text in "quotes"', "INT": "a number", "COLUMNS": "columns of 0, 1 and letters",
    "CASE": "a word", "MNEMONIC": "a mnemonic", "LITERAL": "a quoted word", "CONFIDENCE": "H, M, L or assumed",
    "HEX": "a hexadecimal number", "HEXADECIMAL": "a 0x number", "EXAMPLE": "an example", "SPELLING": "an operand",
    "BITS": "bits such as 7:0", "LSQB": "`[`", "RSQB": "`]`", "LPAR": "`(`", "RPAR": "`)`", "COMMA": "`,`", "EQUAL": "`=`",
    "$END": "the end of the file", "RANGE": "a range such as 0..255", "COMPARISON": "a comparison", "SIGN": "+ or -",
}


class Node(NamedTuple):
    """A node of a parsed file: the rule's name, where it starts, its children (nodes and texts)."""

    rule: str
    line: int
    column: int
    children: list[Any]

    def nodes(self, *rules: str) -> list[Node]:
        """The children that are nodes, of these rules if any are given."""
        return [child for child in self.children if isinstance(child, Node) and (not rules or child.rule in rules)]

    def texts(self) -> list[str]:
        """The children that are texts."""
        return [child for child in self.children if isinstance(child, str)]


def parse_folder(folder: Path) -> dict[str, Node]:
    """The trees of all `.isa` files of a folder, by file name. Raises `UserError` with every file's first mistake."""
    try:
        texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.isa"))}
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(Diagnostic(codes.FILE_UNREADABLE, f"cannot read the instruction set in {folder}: {error}")) from error
    if not texts:
        raise UserError(Diagnostic(codes.FILE_UNREADABLE, f"{folder} has no .isa files"))
    return parse_texts(texts)


def parse_texts(texts: Mapping[str, str]) -> dict[str, Node]:
    """The trees of `.isa` texts by file name. Raises `UserError`."""
    parser = _parser()
    trees: dict[str, Node] = {}
    problems: list[Diagnostic] = []
    for name, text in texts.items():
        try:
            trees[name] = _node(parser, text)
        except _SyntaxError as error:
            problems.append(error.diagnostic(name))
    if problems:
        raise UserError(*problems)
    return trees


class _SyntaxError(Exception):
    def __init__(self, line: int, column: int, found: str, expected: list[str]) -> None:
        super().__init__(found)
        self.line, self.column, self.found, self.expected = line, column, found, expected

    def diagnostic(self, file: str) -> Diagnostic:
        wanted = ", ".join(self.expected[:8]) + (", ..." if len(self.expected) > 8 else "")
        return Diagnostic(
            codes.ISA_SYNTAX, f"found {self.found} where the .isa format expects {wanted}",
            origin=Origin(Span(file, self.line, max(self.column, 1), max(len(self.found) - 2, 1))),
            help="the format is described in ixpemu/isa/grammar.lark; every block is closed by `end`",
        )


def _parser() -> Lark:
    from lark import Lark

    grammar = GRAMMAR.read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer="contextual", propagate_positions=True, maybe_placeholders=False)


def _node(parser: Lark, text: str) -> Node:
    from lark import Token, Tree
    from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

    def convert(tree: Any) -> Node:
        children = [str(child) if isinstance(child, Token) else convert(child) for child in tree.children]
        empty = tree.meta.empty
        return Node(str(tree.data), 1 if empty else tree.meta.line, 1 if empty else tree.meta.column, children)

    try:
        tree = parser.parse(text)
    except UnexpectedInput as error:
        expected: set[str] = set()
        found = "the end of the file"
        if isinstance(error, UnexpectedToken):
            expected = set(error.accepts or error.expected)
            found = f"`{error.token}`" if error.token.type != "$END" else found
        elif isinstance(error, UnexpectedCharacters):
            expected = set(error.allowed or ())
            found = f"`{error.char}`"
        line = error.line if error.line and error.line > 0 else text.count("\n") + 1
        names = sorted(_READABLE.get(name, f"`{name.lower()}`") for name in expected)
        raise _SyntaxError(line, error.column, found, names) from error
    assert isinstance(tree, Tree)
    return convert(tree)
