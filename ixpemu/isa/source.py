"""Reads `.isa` text into plain trees: Lark, its grammar, good messages, and a cache of what was parsed.

It knows the grammar and nothing of its meaning; that is `builder`. The parsed form of the shipped files is kept in the user's
cache folder under a hash of everything it depends on, so that starting costs no parse; without a writable folder it parses.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ixpemu import codes, resources
from ixpemu.diagnostics import Diagnostic, Origin, Span, UserError

if TYPE_CHECKING:
    from lark import Lark

GRAMMAR = Path(__file__).with_name("grammar.lark")
_FORMAT = "1"           # of the cached trees; raised when Node changes
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


def parse_folder(folder: Path, *, cached: bool = True) -> dict[str, Node]:
    """The trees of all `.isa` files of a folder, by file name. Raises `UserError` with every file's first mistake."""
    try:
        texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.isa"))}
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(Diagnostic(codes.FILE_UNREADABLE, f"cannot read the instruction set in {folder}: {error}")) from error
    if not texts:
        raise UserError(Diagnostic(codes.FILE_UNREADABLE, f"{folder} has no .isa files"))
    place = _cache_place(texts) if cached else None
    if place is not None:
        found = _from_cache(place)
        if found is not None:
            return found
    trees = parse_texts(texts)
    if place is not None:
        _to_cache(place, trees)
    return trees


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


def _cache_place(texts: Mapping[str, str]) -> Path | None:
    folder = resources.cache_folder()
    if folder is None:
        return None
    digest = hashlib.sha256(_FORMAT.encode())
    for part in (GRAMMAR.read_text(encoding="utf-8"), *(piece for item in sorted(texts.items()) for piece in item)):
        digest.update(part.encode() + b"\0")
    return folder / f"isa-{digest.hexdigest()[:24]}.json"


def _from_cache(place: Path) -> dict[str, Node] | None:
    def revive(value: list[Any]) -> Node:
        return Node(value[0], value[1], value[2], [child if isinstance(child, str) else revive(child) for child in value[3]])

    try:
        return {name: revive(tree) for name, tree in json.loads(place.read_text(encoding="utf-8")).items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None                 # absent or damaged: parse again


def _to_cache(place: Path, trees: Mapping[str, Node]) -> None:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=place.parent, suffix=".tmp")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(trees, file, separators=(",", ":"))
        os.replace(temporary, place)
    except OSError:
        return                      # no cache: the next start parses again
