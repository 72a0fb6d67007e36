"""Substitution: `#define` names and macro parameters in one line of text.

Names are compared without regard to case. A name behind `$`, `$$`, `n$`, `@`, `*l$` or `.` is part of a register or a directive
and stays as it is; `$/**/name` pastes. Text in '...' is substituted, text in "..." is not. Directives and macro calls are
`preprocess`'s work.

Where the words of a text stand is found once for each text, because the bodies of macros and loops come again and again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from ixpemu.asm.findings import Findings
from ixpemu.asm.source import Builder, Line
from ixpemu.codes import MACRO_ARGUMENTS
from ixpemu.diagnostics import Note, Origin

LONGEST_LINE = 20_000           # characters; what expands beyond has run away
MOST_SUBSTITUTIONS = 5_000      # in one line
DEEPEST = 60                    # names within names
_MOST_PASTES = 8                # rounds in which what a round has pasted together is looked up again
_TEXTS_KEPT = 8192

WORDS = re.compile(r"[A-Za-z_]\w*")
_PIECES = re.compile(
    r"""(?P<quoted>'[^']*')|"[^"]*"|[lnLN]?\$+\w*|@\w*|\.[A-Za-z_]\w*|\d\w*|(?P<word>[A-Za-z_]\w*)"""
)
_BRACKETS = re.compile(r"""'[^']*'|"[^"]*"|[\[\](),]""")
_OPENING = re.compile(r"\s*\(")
PASTE = "/**/"


class RunawayLine(Exception):
    """The expansion of a line has no reasonable end; the message says what grew."""


class _BadCall(Exception):
    """A name with parameters is used wrongly; the message is in the findings."""


@dataclass(frozen=True, slots=True)
class Define:
    """A `#define` name. `parameters` is None for a plain one. `evaluated`: made by `#define_eval`, so it may change."""

    name: str
    parameters: tuple[str, ...] | None
    body: str
    origin: Origin | None = None
    evaluated: bool = False


class Place(NamedTuple):
    """A free word of a text, in lower case, or text in '...' that has words (then `word` is empty)."""

    start: int
    end: int
    word: str


@lru_cache(maxsize=_TEXTS_KEPT)
def words_of(text: str) -> frozenset[str]:
    """The words that a text has anywhere, in lower case."""
    return frozenset(WORDS.findall(text.lower()))


@lru_cache(maxsize=_TEXTS_KEPT)
def _places(text: str) -> tuple[Place, ...]:
    """Where what can be replaced stands in a text."""
    places = []
    for match in _PIECES.finditer(text):
        if match.lastgroup == "word":
            places.append(Place(match.start(), match.end(), match.group().lower()))
        elif match.lastgroup == "quoted" and WORDS.search(text, match.start(), match.end()) is not None:
            places.append(Place(match.start(), match.end(), ""))
    return tuple(places)


def matching(text: str, start: int) -> int | None:
    """The offset of the bracket that closes the one at `start`; None where there is none or another kind comes first."""
    stack: list[str] = []
    for match in _BRACKETS.finditer(text, start):
        sign = match.group()
        if sign in ("[", "("):
            stack.append("]" if sign == "[" else ")")
        elif sign in ("]", ")"):
            if not stack or sign != stack.pop():
                return None
            if not stack:
                return match.start()
    return None


def split_arguments(line: Line, start: int, end: int) -> list[Line]:
    """The pieces of text[start:end] between commas outside of brackets and strings, without blanks around them."""
    pieces: list[Line] = []
    depth = 0
    begin = start
    for match in _BRACKETS.finditer(line.text, start, end):
        sign = match.group()
        if sign in ("[", "("):
            depth += 1
        elif sign in ("]", ")"):
            depth -= 1
        elif sign == "," and depth == 0:
            pieces.append(stripped(line, begin, match.start()))
            begin = match.end()
    pieces.append(stripped(line, begin, end))
    return [] if len(pieces) == 1 and not pieces[0].text else pieces


def stripped(line: Line, start: int, end: int) -> Line:
    """The piece text[start:end] without blanks around it."""
    text = line.text[start:end]
    lead = len(text) - len(text.lstrip())
    return line.slice(start + lead, start + max(lead, len(text.rstrip())))


def replace_words(line: Line, start: int, replacement: Callable[[str], Line | None]) -> Line:
    """The line with free words from `start` on replaced by what `replacement` gives for them in lower case, None to keep one."""
    text = line.text
    builder = Builder(line.base)
    kept = 0
    for place in _places(text):
        if place.start < start:
            continue
        words = [place] if place.word else [
            Place(match.start(), match.end(), match.group().lower()) for match in WORDS.finditer(text, place.start, place.end)
        ]
        for begin, end, word in words:
            piece = replacement(word)
            if piece is not None:
                builder.copy(line, kept, begin)
                builder.put_line(piece, line.place(begin, end))
                kept = end
    if not kept:
        return line
    builder.copy(line, kept, len(text))
    if builder.length > LONGEST_LINE:
        raise RunawayLine(f"the line grows beyond {LONGEST_LINE} characters")
    return builder.line(line.file, line.frames)


def without_paste(line: Line) -> Line:
    """The line with every `/**/` taken out, so that its neighbours become one word."""
    if PASTE not in line.text:
        return line
    builder = Builder(line.base)
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
    findings: Findings
    _count: int = field(default=0)

    def line(self, line: Line, start: int = 0) -> Line | None:
        """The line with all defined names expanded from `start` on and `/**/` pasted; words made by pasting are expanded too.

        None where a name with parameters has wrong ones, after a message.
        """
        self._count = 0
        try:
            for _ in range(_MOST_PASTES):
                line = self._expand(line, start, frozenset(), 0)
                if PASTE not in line.text:
                    break
                line = without_paste(line)
        except _BadCall:
            return None
        return line

    def _expand(self, line: Line, start: int, hidden: frozenset[str], depth: int) -> Line:
        text = line.text
        if self.defines.keys().isdisjoint(words_of(text)):
            return line
        if depth > DEEPEST:
            raise RunawayLine(f"#define names stand in one another more than {DEEPEST} deep")
        builder = Builder(line.base)
        kept = 0
        behind = start      # where the last name or call that was expanded ends
        for begin, end, word in _places(text):
            if begin < behind:
                continue
            if not word:
                inner = self._quoted(line, begin, end, hidden, depth)
                if inner is not None:
                    builder.copy(line, kept, begin)
                    builder.put_line(inner, line.place(begin, end))
                    kept = end
                continue
            define = self.defines.get(word)
            if define is None or word in hidden:
                continue
            self._count += 1
            if self._count > MOST_SUBSTITUTIONS or builder.length > LONGEST_LINE:
                raise RunawayLine(f"`{define.name}` expands to more than {LONGEST_LINE} characters")
            place = line.place(begin, end)
            body = Line(line.file, define.body, (place,), line.frames, line.base)
            if define.parameters is not None:
                call = self._call(line, begin, end, define, body, hidden, depth)
                if call is None:
                    continue
                body, end = call
            builder.copy(line, kept, begin)
            builder.put_line(self._expand(body, 0, hidden | {word}, depth + 1), place)
            kept = behind = end
        if not kept:
            return line
        builder.copy(line, kept, len(text))
        return builder.line(line.file, line.frames)

    def _quoted(self, line: Line, start: int, end: int, hidden: frozenset[str], depth: int) -> Line | None:
        """The text in '...' with its names expanded; None if there are none in it."""
        content = line.slice(start + 1, end - 1)
        inner = self._expand(content, 0, hidden, depth + 1)
        if inner is content:
            return None
        builder = Builder(line.base)
        builder.copy(line, start, start + 1)
        builder.put_line(inner, line.place(start, end))
        builder.copy(line, end - 1, end)
        return builder.line(line.file, line.frames)

    def _call(
        self, line: Line, start: int, end: int, define: Define, body: Line, hidden: frozenset[str], depth: int
    ) -> tuple[Line, int] | None:
        """The body with the arguments that follow the name at `start`..`end`, and where they end.

        None where no arguments follow, as the name alone is no call.
        """
        parameters = define.parameters or ()
        opening = _OPENING.match(line.text, end)
        if opening is None:
            return None
        closing = matching(line.text, opening.end() - 1)
        if closing is None:
            self.findings.error(
                MACRO_ARGUMENTS, f"the arguments of `{define.name}` are never closed", line.origin(start, opening.end()),
                notes=_defined_here(define),
            )
            raise _BadCall
        arguments = split_arguments(line, opening.end(), closing)
        if not arguments and len(parameters) == 1:
            arguments = [line.slice(closing, closing)]
        if len(arguments) != len(parameters):
            count = len(parameters)
            self.findings.error(
                MACRO_ARGUMENTS, f"`{define.name}` takes {count} argument{'s' * (count != 1)}, not {len(arguments)}",
                line.origin(start, closing + 1), notes=_defined_here(define),
            )
            raise _BadCall
        given = {
            name.lower(): self._expand(argument, 0, hidden, depth + 1)
            for name, argument in zip(parameters, arguments, strict=True)
        }
        return replace_words(body, 0, given.get), closing + 1


def _defined_here(define: Define) -> tuple[Note, ...]:
    return (Note("it was defined here", define.origin),) if define.origin is not None else ()
