"""Statements from lines: Lark reads each *shape* of line once, and lines of a known shape are filled in from its template.

Lark sees token kinds only, so two lines with the same kinds in the same order have the same tree; `alu[x, y, +, 1]` and
`alu[z, z, +, 4]` are one parse. That makes a line of known shape cost little more than its scan, and one of known text nothing.
Nothing here knows a mnemonic, a directive or a register class; see grammar.lark.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import lark
from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedToken
from lark.lexer import Lexer, PatternStr

from ixpemu import resources
from ixpemu.asm.findings import Findings
from ixpemu.asm.source import Line
from ixpemu.asm.syntax import Node, Statement
from ixpemu.asm.syntax_messages import Failure, Scanned, report
from ixpemu.codes import SYNTAX

MOST_TOKENS = 2000
DEEPEST = 100       # nesting of one expression; keeps recursion over trees bounded
_SHAPES_KEPT = 20_000
_TEXTS_KEPT = 20_000


class Template(NamedTuple):
    """A `Node` of a shape. All numbers are indexes of tokens, inclusive; `text_first > text_last` is no text."""

    kind: str
    text_first: int
    text_last: int
    first: int
    last: int
    children: tuple[Template, ...] = ()
    depth: int = 1


class Shape(NamedTuple):
    """The tree of all lines with the same token kinds."""

    labels: tuple[Template, ...]
    head: Template | None
    operands: tuple[Template, ...]
    options: tuple[Template, ...]
    brackets: bool


class TooDeep(Exception):
    """An expression nested beyond `DEEPEST`."""


class _Given(Lexer):
    """Hands Lark the token kinds it is given as a list of strings."""

    def __init__(self, lexer_conf: Any) -> None:
        pass

    def lex(self, data: Any) -> Iterator[Token]:        # type: ignore[override]    # Lark hands plain lexers the text alone
        for index, kind in enumerate(data):
            yield Token(kind, kind, start_pos=index)


class _Templates(Transformer[Token, Any]):
    """Makes templates while Lark parses. Children are tokens (`start_pos` is their index) and templates."""

    @staticmethod
    def _first(child: Token | Template) -> int:
        return child.start_pos or 0 if isinstance(child, Token) else child.first

    @staticmethod
    def _last(child: Token | Template) -> int:
        return child.start_pos or 0 if isinstance(child, Token) else child.last

    def _node(self, kind: str, children: list[Any], text: tuple[int, int] | None = None) -> Template:
        parts = tuple(child for child in children if isinstance(child, Template))
        depth = 1 + max((part.depth for part in parts), default=0)
        if depth > DEEPEST:
            raise TooDeep
        first, last = self._first(children[0]), self._last(children[-1])
        text_first, text_last = text if text is not None else (first, last)
        return Template(kind, text_first, text_last, first, last, parts, depth)

    def _leaf(self, kind: str, children: list[Any]) -> Template:
        return self._node(kind, children)

    def _by_first_token(self, kind: str, children: list[Any]) -> Template:
        index = next(self._first(child) for child in children if isinstance(child, Token))
        return self._node(kind, children, (index, index))

    def name(self, children: list[Any]) -> Template:
        return self._leaf("name", children)

    def number(self, children: list[Any]) -> Template:
        return self._leaf("number", children)

    def string(self, children: list[Any]) -> Template:
        return self._leaf("string", children)

    def nothing(self, children: list[Any]) -> Template:
        return self._leaf("nothing", children)

    def operator(self, children: list[Any]) -> Template:
        return self._leaf("operator", children)

    def mnemonic(self, children: list[Any]) -> Template:
        return self._leaf("mnemonic", children)

    def label_address(self, children: list[Any]) -> Template:
        return self._leaf("label_address", children)

    def label(self, children: list[Any]) -> Template:
        return self._node("label", children, (self._first(children[0]), self._first(children[0])))

    def member(self, children: list[Any]) -> Template:
        return self._by_first_token("member", children)

    def indexed(self, children: list[Any]) -> Template:
        first = self._first(children[0])
        return self._node("indexed", children, (first, self._last(children[-1]) if len(children) == 2 else first))

    def shift(self, children: list[Any]) -> Template:
        return self._by_first_token("shift", children)

    def binary(self, children: list[Any]) -> Template:
        return self._by_first_token("binary", children)

    def unary(self, children: list[Any]) -> Template:
        return self._by_first_token("unary", children)

    def conditional(self, children: list[Any]) -> Template:
        return self._by_first_token("conditional", children)

    def address(self, children: list[Any]) -> Template:
        return self._by_first_token("address", children)

    def call(self, children: list[Any]) -> Template:
        return self._by_first_token("call", children)

    def parenthesis(self, children: list[Any]) -> Template:
        return self._by_first_token("parenthesis", children)

    def operands(self, children: list[Any]) -> Template:
        return self._node("operands", children)

    def option(self, children: list[Any]) -> Template:
        first = self._first(children[0])
        node = self._node("option", children, (first, first))
        return node._replace(children=node.children[0].children if node.children else ())

    def instruction(self, children: list[Any]) -> tuple[Template, ...]:
        return tuple(child for child in children if isinstance(child, Template))

    def directive(self, children: list[Any]) -> tuple[Template, ...]:
        head = self._node("directive", children[:1])
        return (head, *(child for child in children if isinstance(child, Template)))

    def statement(self, children: list[Any]) -> Shape:
        labels = tuple(child for child in children if isinstance(child, Template))
        body: tuple[Template, ...] = next((child for child in children if not isinstance(child, Template)), ())
        if not body:
            return Shape(labels, None, (), (), False)
        head, rest = body[0], body[1:]
        if head.kind == "directive":
            return Shape(labels, head, rest, (), False)
        brackets = bool(rest) and rest[0].kind == "operands"
        return Shape(labels, head, rest[0].children if brackets else (), rest[1:] if brackets else rest, brackets)


@cache
def _lark() -> Lark:
    grammar = Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    return Lark(
        grammar, start=["statement", "condition"], parser="lalr", lexer=_Given, transformer=_Templates(),
        keep_all_tokens=True, maybe_placeholders=False, cache=_table_file() or False,
    )


def _table_file() -> str | None:
    """Where Lark keeps the parser's tables, which take longer to make than most programs to assemble; None for nowhere.

    Lark itself makes them anew when the grammar, Lark or Python is another, or when the file is damaged.
    """
    folder = resources.cache_folder()
    if folder is None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return str(folder / f"asm-{sys.version_info.major}.{sys.version_info.minor}-lark-{lark.__version__}.tables")


class _Scanner:
    """Cuts lines into tokens by one regular expression out of the grammar's terminals.

    What kind a token is follows from its text alone, so it is found once for each text.
    """

    def __init__(self) -> None:
        patterns: list[str] = []
        literals: list[tuple[str, str]] = []
        for terminal in _lark().terminals:
            if isinstance(terminal.pattern, PatternStr):
                literals.append((terminal.pattern.value, terminal.name))
            else:
                patterns.append(f"(?P<{terminal.name}>{terminal.pattern.to_regexp()})")
        literals.sort(key=lambda literal: -len(literal[0]))
        # Terminals with a pattern in the grammar's order, then the literals, the longest first.
        patterns += [f"(?P<{name}>{re.escape(value)})" for value, name in literals]
        self._token = re.compile("|".join([*patterns, r"(?P<OTHER>\S)"]))
        unnamed = re.sub(r"\(\?P<\w+>", "(?:", self._token.pattern)
        self._pieces = re.compile(rf"(\s*)({unnamed})", self._token.flags)
        self._kinds: dict[str, str] = {}

    def scan(self, text: str) -> list[Scanned]:
        """The tokens of a line. What no token can begin with comes out as kind OTHER."""
        kinds = self._kinds
        out = []
        position = 0
        for blank, token in self._pieces.findall(text):
            kind = kinds.get(token) or self._kind(token)
            start = position + len(blank)
            position = start + len(token)
            out.append(Scanned(kind, token, start))
        return out

    def _kind(self, token: str) -> str:
        if len(self._kinds) >= _TEXTS_KEPT:
            self._kinds.clear()
        match = self._token.match(token)
        kind = self._kinds[token] = (match.lastgroup if match is not None else None) or "OTHER"
        return kind


@cache
def _scanner() -> _Scanner:
    return _Scanner()


@cache
def _spellings() -> dict[str, str]:
    """What a terminal looks like, for messages."""
    spelled = {
        terminal.name: f"`{terminal.pattern.value}`" for terminal in _lark().terminals if isinstance(terminal.pattern, PatternStr)
    }
    return spelled | {
        "LABEL": "a label", "DIRECTIVE": "a directive", "INDEX": "an indexed register", "REGISTER": "a register",
        "NAME": "a name", "CALLED": "a predicate", "NUMBER": "a number", "STRING": "a string", "$END": "the end of the line",
    }


def scan(text: str) -> list[Scanned]:
    """The tokens of a line. What no token can begin with comes out as kind OTHER."""
    return _scanner().scan(text)


_shapes: dict[tuple[str, ...], Any] = {}


def _shape(kinds: tuple[str, ...], start: str) -> Any:
    """The `Shape` (for a statement) or `Template` (for a condition) of these token kinds, or the `Failure`."""
    key = (start, *kinds)
    known = _shapes.get(key)
    if known is None:
        if len(_shapes) >= _SHAPES_KEPT:
            _shapes.clear()
        try:
            other = kinds.index("OTHER") if "OTHER" in kinds else None
            known = _lark().parse(kinds, start=start) if other is None else Failure(other, frozenset())   # kinds stand for text
        except UnexpectedToken as error:
            at_end = error.token.type == "$END"
            accepted = frozenset(error.accepts) if error.interactive_parser is not None else frozenset()
            known = Failure(len(kinds) if at_end else error.token.start_pos or 0, accepted)
        _shapes[key] = known
    return known


def _fill(template: Template, tokens: list[Scanned]) -> Node:
    kind, text_first, text_last, first, last, children, _ = template
    if text_first == text_last:
        text = tokens[text_first].text
    else:
        text = "".join([token.text for token in tokens[text_first:text_last + 1]])
    _, last_text, last_start = tokens[last]
    start = tokens[first].start
    if not children:
        return Node(kind, text, start, last_start + len(last_text))
    return Node(kind, text, start, last_start + len(last_text), tuple([_fill(child, tokens) for child in children]))


class _Parts(NamedTuple):
    """What a `Statement` holds besides its line: the same for all lines of the same text."""

    labels: tuple[Node, ...]
    head: Node | None
    operands: tuple[Node, ...]
    options: tuple[Node, ...]
    brackets: bool


_parts: dict[str, _Parts] = {}


def parse_line(line: Line, findings: Findings, conditional: Collection[str] = ()) -> Statement | None:
    """The statement on a line, or None after adding what is wrong with it to `findings`.

    `conditional`: the directives, in lower case, in whose operands a name before a parenthesis is the name of a predicate.
    """
    text = line.text
    known = _parts.get(text)
    if known is not None:
        return Statement(line, *known)
    read = _read(line, "statement", findings, conditional)
    if read is None:
        return None
    tokens, (labels, head, operands, options, brackets) = read
    parts = _Parts(
        tuple([_fill(label, tokens) for label in labels]),
        _fill(head, tokens) if head is not None else None,
        tuple([_fill(operand, tokens) for operand in operands]),
        tuple([_fill(option, tokens) for option in options]),
        brackets,
    )
    if "(" not in text:         # what one has depends on `conditional` too
        if len(_parts) >= _TEXTS_KEPT:
            _parts.clear()
        _parts[text] = parts
    return Statement(line, *parts)


def parse_condition(line: Line, findings: Findings) -> Node | None:
    """The expression or string that is the whole of `line`, or None after adding what is wrong with it to `findings`."""
    read = _read(line, "condition", findings)
    if read is None:
        return None
    tokens, template = read
    return _fill(template, tokens)


def _kinds(tokens: list[Scanned], conditional: Collection[str]) -> tuple[str, ...]:
    """The kinds of the tokens; a name is CALLED before a parenthesis in a condition, and between `&` and one anywhere."""
    kinds = [token.kind for token in tokens]
    if "LPAR" not in kinds:
        return tuple(kinds)
    in_condition = any(token.kind == "DIRECTIVE" and token.text.lower() in conditional for token in tokens)
    for place in range(1, len(kinds) - 1):
        if kinds[place] == "NAME" and kinds[place + 1] == "LPAR" and (in_condition or tokens[place - 1].text == "&"):
            kinds[place] = "CALLED"
    return tuple(kinds)


def _read(
    line: Line, start: str, findings: Findings, conditional: Collection[str] = ()
) -> tuple[list[Scanned], Any] | None:
    """The tokens of a line and their `Shape` or `Template`, or None after adding what is wrong with it to `findings`."""
    tokens = scan(line.text)
    if len(tokens) > MOST_TOKENS:
        findings.error(SYNTAX, f"the line has {len(tokens)} words and signs; at most {MOST_TOKENS} are read", line.whole())
        return None
    try:
        shape = _shape(_kinds(tokens, conditional), start)
    except TooDeep:
        findings.error(
            SYNTAX, f"the expression is nested more than {DEEPEST} deep", line.whole(),
            help="name a part of it with #define_eval",
        )
        return None
    if isinstance(shape, Failure):
        report(line, tokens, shape, _spellings(), findings)
        return None
    return tokens, shape
