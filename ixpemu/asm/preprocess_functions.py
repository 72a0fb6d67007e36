"""The expressions of # directives: built-in functions on text, then 32-bit arithmetic.

The functions work on the text of their arguments (`strstr(reg, $)`, `streq(dest, --)`), so they are evaluated before the rest is
read as an expression. A result is a number or a string. What a name that a `.` directive declares is worth is known only to the
linker; here such a name can only be recognised.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Set
from typing import NamedTuple

from ixpemu.asm.expressions import ExpressionError, signed, value_of
from ixpemu.asm.findings import Findings
from ixpemu.asm.parser import parse_condition
from ixpemu.asm.preprocess_text import Substitution, matching, split_arguments
from ixpemu.asm.source import OWN, Builder, Line, Mark
from ixpemu.asm.syntax import Node
from ixpemu.codes import CONDITION_UNDEFINED, CONDITION_VALUE

Value = int | str

_DEFINED = re.compile(r"(?<![\w$@.])defined(?:\s*\(\s*(\w+)\s*\)|\s+(\w+))", re.IGNORECASE)
_CALL = re.compile(r"(?<![\w$@.'\"])([A-Za-z_]\w*)\s*\(")
_STRING = re.compile(r"""'([^']*)'|"([^"]*)"\Z""")
# What a restricted (8-bit) operand field cannot hold; see the operand kinds of isa/.
_UNRESTRICTED_ONLY = re.compile(r"@|n\$(?!index)|\*l\$index[01](?:\+\+|--|\[\s*(?:8|9|1[0-5])\s*\])", re.IGNORECASE)
_DEEPEST_CALL = 20
_VALUES_KEPT = 4096


class _Bad(Exception):
    """A built-in with arguments it cannot take."""


class _Function(NamedTuple):
    """A built-in. It takes `fewest` to `most` arguments, of which the first `texts` are text and the others numbers."""

    fewest: int
    most: int
    texts: int
    value: Callable[[list[str], list[int]], Value]


def _content(text: str) -> str:
    match = _STRING.fullmatch(text)
    return text if match is None else match.group(1) if match.group(1) is not None else match.group(2)


def _strleft(text: str, count: int) -> str:
    return text[:count] if count >= 0 else text[: max(0, len(text) + count)]


def _strright(text: str, count: int) -> str:
    return text[max(0, len(text) - count):] if count >= 0 else text[-count:]


def _log2(value: int, mode: int) -> int:
    if value == 0:
        raise _Bad("log2 needs a number above 0")
    exact = value & (value - 1) == 0
    if not exact and mode == 0:
        raise _Bad(f"{value} is no power of two; `log2(x, 1)` rounds up and `log2(x, -1)` down")
    return value.bit_length() - (0 if mode > 0 and not exact else 1)


def constant(text: str, value: Callable[[Node], int] | None = None) -> int | None:
    """The value of a text that is a constant expression, None if it is none. `value`, if given, gives those of names."""
    node = _quietly(text)
    if node is None or node.kind == "string":
        return None
    try:
        return value_of(node, value if value is not None else _no_place)
    except ExpressionError:
        return None


def _quietly(text: str) -> Node | None:
    """The expression or string that a text is; None, without a message, if it is none."""
    if not text.strip():
        return None
    return parse_condition(Line("", text, (Mark(0, 1, 1, 0, OWN),)), Findings(limit=1000))


def _no_place(place: Node) -> int:
    raise ExpressionError("no constant", place)


class Conditions:
    """Evaluates the expressions of # directives against the current `#define` names."""

    def __init__(
        self, substitution: Substitution, macros: Container[str], linked: Set[str], findings: Findings
    ) -> None:
        """`macros`: names in lower case that count as defined; `linked`: names whose values only the linker knows."""
        self._substitution = substitution
        self._macros = macros
        self._linked = linked
        self._findings = findings
        # Values by text, of texts that have nothing wrong with them: the same conditions come with every call of a macro.
        self._known: dict[str, Value] = {}
        is_constant = _Function(1, 1, 1, lambda texts, _: int(constant(texts[0]) is not None))
        is_linked = _Function(1, 1, 1, lambda texts, _: int(self._is_linked(texts[0])))
        self._functions = {
            "isnum": is_constant, "is_ct_const": is_constant, "is_numeric": is_constant,
            "isimport": is_linked, "is_rt_const": is_linked,
            "isrestricted": _Function(1, 1, 1, lambda texts, _: int(self._is_restricted(texts[0]))),
            "is_ixptype": _Function(1, 1, 1, lambda texts, _: int(bool(constant(texts[0], lambda place: 0)))),
            "strlen": _Function(1, 1, 1, lambda texts, _: len(texts[0])),
            "streq": _Function(2, 2, 2, lambda texts, _: int(texts[0].lower() == texts[1].lower())),
            "strstr": _Function(2, 2, 2, lambda texts, _: texts[0].lower().find(texts[1].lower()) + 1),
            "strleft": _Function(2, 2, 1, lambda texts, numbers: _strleft(texts[0], signed(numbers[0]))),
            "strright": _Function(2, 2, 1, lambda texts, numbers: _strright(texts[0], signed(numbers[0]))),
            "log2": _Function(1, 2, 0, lambda _, numbers: _log2(numbers[0], signed(numbers[1]) if len(numbers) > 1 else 0)),
        }

    def is_defined(self, name: str) -> bool:
        """Whether the name is one of `#define` or `#macro`."""
        key = name.lower()
        return key in self._substitution.defines or key in self._macros

    def value(self, line: Line) -> Value | None:
        """The value of the whole text of `line`, or None after adding what is wrong with it to the findings."""
        if not line.text.strip():
            self._findings.error(CONDITION_VALUE, "an expression is missing here", line.whole())
            return None
        substituted = self._substitution.line(self._defined(line))
        if substituted is None:
            return None
        if not substituted.text.strip():
            self._findings.error(
                CONDITION_VALUE, f"`{line.text.strip()}` is defined without a value", line.whole(),
                help="test it with #ifdef or defined(...), or give it a value with #define",
            )
            return None
        known = self._known.get(substituted.text)
        if known is not None:
            return known
        before = self._findings.reported
        value = self._evaluate(substituted)
        if value is not None and before == self._findings.reported and not self._linked:
            if len(self._known) >= _VALUES_KEPT:
                self._known.clear()
            self._known[substituted.text] = value
        return value

    def _evaluate(self, line: Line) -> Value | None:
        """The value of a line without names of `#define`."""
        with_values = self._calls(line, 0)
        if with_values is None:
            return None
        node = parse_condition(with_values, self._findings)
        if node is None:
            return None
        if node.kind == "string":
            return node.text[1:-1]
        try:
            return value_of(node, lambda place: self._undefined(with_values, place))
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

    def shown(self, line: Line) -> str:
        """The text for a message: the value, if it has one, or the text as it is. Nothing is wrong here."""
        value = constant(line.text)
        if value is not None:
            return str(value)
        quiet = Conditions(self._substitution, self._macros, self._linked, Findings(limit=1000))
        called = quiet._calls(line, 0) if _known_call(line.text, self._functions) else None
        value = constant(called.text) if called is not None else None
        if value is not None:
            return str(value)
        return _content(called.text.strip()) if called is not None else line.text.strip()

    def _undefined(self, line: Line, place: Node) -> int:
        if place.kind != "name" or not place.text.isidentifier():
            raise ExpressionError(f"`{line.text[place.start:place.end]}` has no value here: only constants have", place)
        if place.text.lower() in self._linked:
            raise ExpressionError(
                f"the value of `{place.text}` is known only when the program is linked; isimport({place.text}) tells such a name",
                place,
            )
        self._findings.warning(
            CONDITION_UNDEFINED, f"`{place.text}` is not defined and counts as 0", line.origin(place.start, place.end),
            help=f"test it with defined({place.text}), or give it a value with #define",
        )
        return 0

    def _defined(self, line: Line) -> Line:
        """`defined(X)` and `defined X` as 1 or 0; before substitution, which would put X's text there."""
        if "defined" not in line.text.lower():
            return line
        builder = Builder(line.base)
        kept = 0
        for match in _DEFINED.finditer(line.text):
            name = match.group(1) or match.group(2)
            builder.copy(line, kept, match.start())
            builder.put(str(int(self.is_defined(name))), line.place(match.start(), match.end()))
            kept = match.end()
        builder.copy(line, kept, len(line.text))
        return builder.line(line.file, line.frames)

    def _calls(self, line: Line, depth: int) -> Line | None:
        """The line with each call of a built-in replaced by its value."""
        builder = Builder(line.base)
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
            place = line.place(match.start(), closing + 1)
            builder.put(str(value) if isinstance(value, int) else _quoted(value), place)
            kept = closing + 1
        if not kept:
            return line
        builder.copy(line, kept, len(line.text))
        return builder.line(line.file, line.frames)

    def _call(self, line: Line, name: str, arguments: list[Line], start: int, end: int, depth: int) -> Value | None:
        function = self._functions[name.lower()]
        if len(arguments) == 0 and function.fewest == 1 and function.texts == 1:
            arguments = [line.slice(end - 1, end - 1)]      # an empty text: a macro was called without an argument
        if not function.fewest <= len(arguments) <= function.most:
            wanted = str(function.most) if function.fewest == function.most else f"{function.fewest} or {function.most}"
            self._findings.error(
                CONDITION_VALUE, f"`{name}` takes {wanted} argument{'s' * (wanted != '1')}, not {len(arguments)}",
                line.origin(start, end),
            )
            return None
        texts: list[str] = []
        for argument in arguments[:function.texts]:
            inner = self._calls(argument, depth + 1) if _known_call(argument.text, self._functions) else argument
            if inner is None:
                return None
            texts.append(_content(inner.text))
        numbers: list[int] = []
        for argument in arguments[function.texts:]:
            number = self.number(argument)
            if number is None:
                return None
            numbers.append(number)
        try:
            return function.value(texts, numbers)
        except _Bad as error:
            self._findings.error(CONDITION_VALUE, str(error), line.origin(start, end))
            return None

    def _is_restricted(self, text: str) -> bool:
        value = constant(text)
        return value <= 0x7F if value is not None else _UNRESTRICTED_ONLY.match(text) is None

    def _is_linked(self, text: str) -> bool:
        """Whether the text is a constant expression with something in it that only the linker knows: an import, an address."""
        found = False

        def place(node: Node) -> int:
            nonlocal found
            if node.kind not in ("address", "label_address") and node.text.lower() not in self._linked:
                raise ExpressionError("no constant", node)
            found = True
            return 1

        return constant(text, place) is not None and found


def _known_call(text: str, functions: Container[str]) -> bool:
    return any(match.group(1).lower() in functions for match in _CALL.finditer(text))


def _quoted(text: str) -> str:
    return f'"{text}"' if "'" in text else f"'{text}'"
