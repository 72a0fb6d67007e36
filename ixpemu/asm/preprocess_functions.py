"""The expressions of # directives: built-in functions on text, then 32-bit arithmetic.

The functions work on the text of their arguments (`strstr(reg, $)`, `streq(dest, --)`), so they are evaluated before the rest is
read as an expression. A result is a number or a string.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container

from ixpemu.asm.expressions import Expression, ExpressionError, Literal, evaluate, from_node, number, signed
from ixpemu.asm.findings import Findings
from ixpemu.asm.parser import parse_condition
from ixpemu.asm.preprocess_text import Substitution, matching, split_arguments
from ixpemu.asm.source import Builder, Line, Mark
from ixpemu.asm.syntax import Node
from ixpemu.codes import CONDITION_UNDEFINED, CONDITION_VALUE

Value = int | str

_DEFINED = re.compile(r"(?<![\w$@.])defined(?:\s*\(\s*(\w+)\s*\)|\s+(\w+))", re.IGNORECASE)
_CALL = re.compile(r"(?<![\w$@.'\"])([A-Za-z_]\w*)\s*\(")
_STRING = re.compile(r"""'([^']*)'|"([^"]*)"\Z""")
# What a restricted (8-bit) operand field cannot hold; see the operand kinds of isa/.
_UNRESTRICTED_ONLY = re.compile(r"@|n\$(?!index)|\*l\$index[01](?:\+\+|--|\[\s*(?:8|9|1[0-5])\s*\])", re.IGNORECASE)
_DEEPEST_CALL = 20


class _Bad(Exception):
    """A built-in with arguments it cannot take."""


def _content(text: str) -> str:
    match = _STRING.fullmatch(text)
    return text if match is None else match.group(1) if match.group(1) is not None else match.group(2)


def _strleft(arguments: list[str], count: int) -> Value:
    return arguments[0][:count] if count >= 0 else arguments[0][: max(0, len(arguments[0]) + count)]


def _strright(arguments: list[str], count: int) -> Value:
    text = arguments[0]
    return text[max(0, len(text) - count):] if count >= 0 else text[-count:]


def _log2(value: int, mode: int) -> Value:
    if value <= 0:
        raise _Bad("log2 needs a number above 0")
    exact = value & (value - 1) == 0
    if not exact and mode == 0:
        raise _Bad(f"{value} is no power of two; `log2(x, 1)` rounds up and `log2(x, -1)` down")
    return value.bit_length() - (0 if mode > 0 and not exact else 1)


class Conditions:
    """Evaluates the expressions of # directives against the current `#define` names."""

    def __init__(self, substitution: Substitution, macros: Container[str], findings: Findings) -> None:
        """`macros`: names in lower case that count as defined."""
        self._substitution = substitution
        self._macros = macros
        self._findings = findings
        # name: fewest arguments, most arguments, how many leading ones are text (the others are numbers), function
        self._functions: dict[str, tuple[int, int, int, Callable[[list[str], list[int]], Value]]] = {
            "isnum": (1, 1, 1, lambda texts, _: int(self._is_number(texts[0]))),
            "is_ct_const": (1, 1, 1, lambda texts, _: int(self._is_number(texts[0]))),
            "is_numeric": (1, 1, 1, lambda texts, _: int(self._is_number(texts[0]))),
            "isimport": (1, 1, 1, lambda texts, _: 0),
            "is_rt_const": (1, 1, 1, lambda texts, _: 0),
            "isrestricted": (1, 1, 1, lambda texts, _: int(self._is_restricted(texts[0]))),
            "strlen": (1, 1, 1, lambda texts, _: len(texts[0])),
            "streq": (2, 2, 2, lambda texts, _: int(texts[0].lower() == texts[1].lower())),
            "strstr": (2, 2, 2, lambda texts, _: texts[0].lower().find(texts[1].lower()) + 1),
            "strleft": (2, 2, 1, lambda texts, numbers: _strleft(texts, signed(numbers[0]))),
            "strright": (2, 2, 1, lambda texts, numbers: _strright(texts, signed(numbers[0]))),
            "log2": (1, 2, 0, lambda _, numbers: _log2(numbers[0], signed(numbers[1]) if len(numbers) > 1 else 0)),
        }

    def value(self, line: Line) -> Value | None:
        """The value of the whole text of `line`, or None after adding what is wrong with it to the findings."""
        if not line.text.strip():
            self._findings.error(CONDITION_VALUE, "an expression is missing here", line.whole())
            return None
        line = self._substitution.line(self._defined(line))
        with_values = self._calls(line, 0)
        if with_values is None:
            return None
        node = parse_condition(with_values, self._findings)
        if node is None:
            return None
        if node.kind == "string":
            return node.text[1:-1]
        try:
            return evaluate(from_node(node, lambda place: self._undefined(with_values, place)))
        except ExpressionError as error:
            where = error.node if error.node is not None else node
            self._findings.error(CONDITION_VALUE, error.message, with_values.origin(where.start, where.end))
            return None

    def number(self, line: Line) -> int | None:
        """`value`, where a string is an error."""
        value = self.value(line)
        if isinstance(value, str):
            self._findings.error(
                CONDITION_VALUE, f"expected a number, not the string '{value}'", line.whole(),
                help="compare strings with streq(a, b)",
            )
            return None
        return value

    def _undefined(self, line: Line, place: Node) -> Expression:
        if place.kind != "name" or not place.text.isidentifier():
            raise ExpressionError(f"`{line.text[place.start:place.end]}` has no value here: only constants have", place)
        self._findings.warning(
            CONDITION_UNDEFINED, f"`{place.text}` is not defined and counts as 0", line.origin(place.start, place.end),
            help=f"test it with defined({place.text}), or give it a value with #define",
        )
        return Literal(0)

    def _defined(self, line: Line) -> Line:
        """`defined(X)` and `defined X` as 1 or 0; before substitution, which would put X's text there."""
        if "defined" not in line.text.lower():
            return line
        builder = Builder()
        kept = 0
        for match in _DEFINED.finditer(line.text):
            name = (match.group(1) or match.group(2)).lower()
            builder.copy(line, kept, match.start())
            builder.put(str(int(name in self._substitution.defines or name in self._macros)), line.place(match.start()))
            kept = match.end()
        builder.copy(line, kept, len(line.text))
        return builder.line(line.file, line.frames)

    def _calls(self, line: Line, depth: int) -> Line | None:
        """The line with each call of a built-in replaced by its value."""
        builder = Builder()
        kept = 0
        while (match := _CALL.search(line.text, kept)) is not None:
            name = match.group(1)
            closing = matching(line.text, match.end() - 1)
            if name.lower() not in self._functions:
                self._findings.error(
                    CONDITION_VALUE, f"there is no function `{name}`", line.origin(match.start(), match.start() + len(name)),
                    help="the functions are defined, " + ", ".join(self._functions),
                )
                return None
            if closing is None or depth > _DEEPEST_CALL:
                self._findings.error(CONDITION_VALUE, f"`{name}(` is never closed", line.origin(match.start(), match.end()))
                return None
            value = self._call(line, name, split_arguments(line, match.end(), closing), match.start(), closing + 1, depth)
            if value is None:
                return None
            builder.copy(line, kept, match.start())
            place = line.place(match.start())._replace(width=line.span(match.start(), closing + 1).length)
            builder.put(str(value) if isinstance(value, int) else _quoted(value), place)
            kept = closing + 1
        if not kept:
            return line
        builder.copy(line, kept, len(line.text))
        return builder.line(line.file, line.frames)

    def _call(self, line: Line, name: str, arguments: list[Line], start: int, end: int, depth: int) -> Value | None:
        fewest, most, text_count, function = self._functions[name.lower()]
        if not fewest <= len(arguments) <= most:
            wanted = str(most) if fewest == most else f"{fewest} or {most}"
            self._findings.error(
                CONDITION_VALUE, f"`{name}` takes {wanted} argument{'s' * (wanted != '1')}, not {len(arguments)}",
                line.origin(start, end),
            )
            return None
        texts: list[str] = []
        for argument in arguments[:text_count]:
            inner = self._calls(argument, depth + 1) if _known_call(argument.text, self._functions) else argument
            if inner is None:
                return None
            texts.append(_content(inner.text))
        numbers: list[int] = []
        for argument in arguments[text_count:]:
            number = self.number(argument)
            if number is None:
                return None
            numbers.append(number)
        try:
            return function(texts, numbers)
        except _Bad as error:
            self._findings.error(CONDITION_VALUE, str(error), line.origin(start, end))
            return None

    def _is_number(self, text: str) -> bool:
        quiet = Findings(limit=1000)
        node = parse_condition(Line("", text, (Mark(0, 1, 1, 0, 0),)), quiet) if text.strip() else None
        if node is None or node.kind == "string":
            return False
        try:
            evaluate(from_node(node, _no_place))
        except ExpressionError:
            return False
        return True

    def _is_restricted(self, text: str) -> bool:
        value = number(text)
        return value <= 0x7F if value is not None else _UNRESTRICTED_ONLY.match(text) is None


def _no_place(place: Node) -> Expression:
    raise ExpressionError("no constant", place)


def _known_call(text: str, functions: dict[str, tuple[int, int, int, Callable[[list[str], list[int]], Value]]]) -> bool:
    return any(match.group(1).lower() in functions for match in _CALL.finditer(text))


def _quoted(text: str) -> str:
    return f'"{text}"' if "'" in text else f"'{text}'"
