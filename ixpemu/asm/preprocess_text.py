"""Substitution: `#define` names and macro parameters in one line of text.

Names are compared without regard to case. A name behind `$`, `$$`, `n$`, `@`, `*l$` or `.` is part of a register or a directive
and stays as it is; `$/**/name` pastes. Text in '...' is substituted, text in "..." is not. Directives and macro calls are
`preprocess`'s work.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ixpemu.asm.source import Builder, Line, Mark
from ixpemu.diagnostics import Origin

LONGEST_LINE = 20_000           # characters; what expands beyond has run away
MOST_SUBSTITUTIONS = 5_000      # in one line
DEEPEST = 60                    # names within names

WORDS = re.compile(r"[A-Za-z_]\w*")
_PIECES = re.compile(
    r"""(?P<quoted>'[^']*')|"[^"]*"|[lnLN]?\$+\w*|@\w*|\.[A-Za-z_]\w*|\d\w*|(?P<word>[A-Za-z_]\w*)"""
)
PASTE = "/**/"


class RunawayLine(Exception):
    """The expansion of a line has no reasonable end; the message says what grew."""


@dataclass(frozen=True, slots=True)
class Define:
    """A `#define` name. `parameters` is None for a plain one. `evaluated`: made by `#define_eval`, so it may change."""

    name: str
    parameters: tuple[str, ...] | None
    body: str
    origin: Origin | None = None
    evaluated: bool = False


def matching(text: str, start: int) -> int | None:
    """The offset of the bracket that closes the one at `start`; None where there is none or another kind comes first."""
    stack: list[str] = []
    for match in re.finditer(r"""'[^']*'|"[^"]*"|[\[\]()]""", text[start:]):
        sign = match.group()
        if sign in ("[", "("):
            stack.append("]" if sign == "[" else ")")
        elif sign in ("]", ")"):
            if not stack or sign != stack.pop():
                return None
            if not stack:
                return start + match.start()
    return None


def split_arguments(line: Line, start: int, end: int) -> list[Line]:
    """The pieces of text[start:end] between commas outside of brackets and strings, without blanks around them."""
    pieces: list[Line] = []
    depth = 0
    begin = start
    for match in re.finditer(r"""'[^']*'|"[^"]*"|[\[\](),]""", line.text[start:end]):
        sign = match.group()
        if sign in ("[", "("):
            depth += 1
        elif sign in ("]", ")"):
            depth -= 1
        elif sign == "," and depth == 0:
            pieces.append(stripped(line, begin, start + match.start()))
            begin = start + match.end()
    pieces.append(stripped(line, begin, end))
    return [] if len(pieces) == 1 and not pieces[0].text else pieces


def stripped(line: Line, start: int, end: int) -> Line:
    """The piece text[start:end] without blanks around it."""
    text = line.text[start:end]
    lead = len(text) - len(text.lstrip())
    return line.slice(start + lead, start + max(lead, len(text.rstrip())))


def replace_words(line: Line, start: int, replacement: Callable[[str], Line | None]) -> Line:
    """The line with free words from `start` on replaced by what `replacement` gives for them in lower case, None to keep one."""
    builder = Builder()
    kept = 0
    for match in _PIECES.finditer(line.text, start):
        if match.lastgroup == "word":
            piece = replacement(match.group().lower())
            if piece is not None:
                builder.copy(line, kept, match.start())
                builder.put_line(piece, _place(line, match.start(), match.end()))
                kept = match.end()
        elif match.lastgroup == "quoted":
            for word in WORDS.finditer(line.text, match.start(), match.end()):
                piece = replacement(word.group().lower())
                if piece is not None:
                    builder.copy(line, kept, word.start())
                    builder.put_line(piece, _place(line, word.start(), word.end()))
                    kept = word.end()
    if not kept:
        return line
    builder.copy(line, kept, len(line.text))
    if builder.length > LONGEST_LINE:
        raise RunawayLine(f"the line grows beyond {LONGEST_LINE} characters")
    return builder.line(line.file, line.frames)


def _place(line: Line, start: int, end: int) -> Mark:
    span = line.span(start, end)
    return Mark(0, span.line, span.column, span.length, line.level(start))


def without_paste(line: Line) -> Line:
    """The line with every `/**/` taken out, so that its neighbours become one word."""
    if PASTE not in line.text:
        return line
    builder = Builder()
    start = 0
    while (found := line.text.find(PASTE, start)) >= 0:
        builder.copy(line, start, found)
        start = found + len(PASTE)
    builder.copy(line, start, len(line.text))
    return builder.line(line.file, line.frames)


@dataclass(slots=True)
class Substitution:
    """Expands `#define` names. `defines` is shared with the preprocessor, which changes it; keys are in lower case."""

    defines: Mapping[str, Define]
    _count: int = field(default=0)

    def line(self, line: Line, start: int = 0) -> Line:
        """The line with all defined names expanded from `start` on and `/**/` pasted; words made by pasting are expanded too."""
        self._count = 0
        for _ in range(8):
            line = self._expand(line, start, frozenset(), 0)
            if PASTE not in line.text:
                break
            line = without_paste(line)
        return line

    def _expand(self, line: Line, start: int, hidden: frozenset[str], depth: int) -> Line:
        text = line.text
        if self.defines.keys().isdisjoint(WORDS.findall(text.lower(), start)):
            return line
        if depth > DEEPEST:
            raise RunawayLine(f"#define names stand in one another more than {DEEPEST} deep")
        builder = Builder()
        kept = position = start
        builder.copy(line, 0, start)
        while (match := _PIECES.search(text, position)) is not None:
            position = match.end()
            if match.lastgroup == "quoted":
                inner = self._quoted(line, match.start(), match.end(), hidden, depth)
                builder.copy(line, kept, match.start())
                builder.put_line(inner, _place(line, match.start(), match.end()))
                kept = position
                continue
            if match.lastgroup != "word":
                continue
            key = match.group().lower()
            define = self.defines.get(key)
            if define is None or key in hidden:
                continue
            self._count += 1
            if self._count > MOST_SUBSTITUTIONS or builder.length > LONGEST_LINE:
                raise RunawayLine(f"`{define.name}` expands to more than {LONGEST_LINE} characters")
            place = _place(line, match.start(), match.end())
            body = Line(line.file, define.body, (place,), line.frames)
            if define.parameters is not None:
                call = self._call(line, position, define, body, hidden, depth)
                if call is None:
                    continue
                body, position = call
            builder.copy(line, kept, match.start())
            builder.put_line(self._expand(body, 0, hidden | {key}, depth + 1), place)
            kept = position
        builder.copy(line, kept, len(text))
        return builder.line(line.file, line.frames)

    def _quoted(self, line: Line, start: int, end: int, hidden: frozenset[str], depth: int) -> Line:
        inner = self._expand(line.slice(start + 1, end - 1), 0, hidden, depth + 1)
        builder = Builder()
        builder.copy(line, start, start + 1)
        builder.put_line(inner, _place(line, start, end))
        builder.copy(line, end - 1, end)
        return builder.line(line.file, line.frames)

    def _call(
        self, line: Line, position: int, define: Define, body: Line, hidden: frozenset[str], depth: int
    ) -> tuple[Line, int] | None:
        """The body with the arguments that follow at `position`, and where they end; None if no fitting arguments follow."""
        parameters = define.parameters or ()
        opening = re.compile(r"\s*\(").match(line.text, position)
        if opening is None:
            return None
        closing = matching(line.text, opening.end() - 1)
        if closing is None:
            return None
        arguments = split_arguments(line, opening.end(), closing)
        if not arguments and len(parameters) == 1:
            arguments = [line.slice(closing, closing)]
        if len(arguments) != len(parameters):
            return None
        given = {
            name.lower(): self._expand(argument, 0, hidden, depth + 1)
            for name, argument in zip(parameters, arguments, strict=True)
        }
        return replace_words(body, 0, given.get), closing + 1
