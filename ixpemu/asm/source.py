"""Text that knows where it came from: logical lines, and pieces of text that keep their place through macro substitution.

A `Line` is one statement of one file. Its `marks` say, run by run, which place of the file a character of the text stands for,
and at which level of macro expansion it was written (labels are resolved by that level). Substituted text stands for the place
of the name it replaced.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ixpemu.asm.findings import Findings
from ixpemu.codes import COMMENT_OPEN
from ixpemu.diagnostics import MacroFrame, Origin, Span
from ixpemu.files import split_lines


class Mark(NamedTuple):
    """A run of text from `offset` to the next mark.

    `width` 0: the run walks along the line from `column`; otherwise the whole run stands for the `width` characters at `column`.
    `level` is the expansion it was written in, 0 for files; `OWN` is that of the line.
    """

    offset: int
    line: int
    column: int
    width: int
    level: int


OWN = -1        # the level of a mark whose text was written at the level of its line


class Line(NamedTuple):
    """A logical line, or a piece of one: `text` on one line, without comments but for the pasting mark `/**/`.

    `base` is the expansion in which the line as a whole stands. It is not in the marks, so that a macro's body is not copied for
    every call. A named tuple and not a dataclass, because every line of every expansion is one.
    """

    file: str
    text: str
    marks: tuple[Mark, ...]
    frames: tuple[MacroFrame, ...] = ()     # the macro calls that led here, innermost first
    base: int = 0

    def _mark(self, offset: int) -> Mark:
        marks = self.marks
        if len(marks) == 1:
            return marks[0]
        return marks[max(bisect_right(marks, offset, key=_offset) - 1, 0)]

    def level(self, offset: int) -> int:
        """The macro expansion in which the character at `offset` was written."""
        level = self._mark(offset).level
        return self.base if level == OWN else level

    def place(self, start: int, end: int | None = None) -> Mark:
        """The place of text[start:end], of one character by default, as a mark of its own with offset 0."""
        mark = self._mark(start)
        level = self.base if mark.level == OWN else mark.level
        if end is not None:
            span = self.span(start, end)
            return Mark(0, span.line, span.column, span.length, level)
        if mark.width:
            return Mark(0, mark.line, mark.column, mark.width, level)
        return Mark(0, mark.line, mark.column + start - mark.offset, 1, level)

    def span(self, start: int = 0, end: int | None = None) -> Span:
        """The place of text[start:end], cut to the line where it starts."""
        if end is None:
            end = len(self.text)
        if len(self.marks) == 1 and not self.marks[0].width:    # as most lines are: straight from the file
            mark = self.marks[0]
            return Span(self.file, mark.line, mark.column + start, max(1, end - start))
        first, last = self.place(start), self.place(max(start, end - 1))
        if last.line != first.line:
            return Span(self.file, first.line, first.column, first.width)
        return Span(self.file, first.line, first.column, max(1, last.column + last.width - first.column))

    def origin(self, start: int = 0, end: int | None = None) -> Origin:
        """`span` with the macro calls that led here."""
        return Origin(self.span(start, end), self.frames)

    def whole(self) -> Origin:
        """The origin of the line without the blanks around it."""
        text = self.text
        start = len(text) - len(text.lstrip())
        return self.origin(start, max(start + 1, len(text.rstrip())))

    def slice(self, start: int, end: int) -> Line:
        """The piece text[start:end]."""
        marks = self.marks
        if len(marks) == 1:
            _, line, column, width, level = marks[0]
            mark = Mark(0, line, column if width else column + start, width, level)
            return Line(self.file, self.text[start:end], (mark,), self.frames, self.base)
        builder = Builder(self.base)
        builder.copy(self, start, end)
        return builder.line(self.file, self.frames)


def _offset(mark: Mark) -> int:
    return mark.offset


class Builder:
    """Puts a `Line` that stands in expansion `base` together from pieces."""

    __slots__ = ("base", "length", "marks", "parts")

    def __init__(self, base: int = 0) -> None:
        self.base = base
        self.length = 0
        self.parts: list[str] = []
        self.marks: list[Mark] = []

    def copy(self, line: Line, start: int, end: int) -> None:
        """Appends text[start:end] of `line` with its own places."""
        if start >= end:
            return
        marks = line.marks
        own = line.base if line.base != self.base else OWN
        index = bisect_right(marks, start, key=_offset) - 1 if len(marks) > 1 else 0
        offset, number, column, width, level = marks[max(index, 0)]
        self.marks.append(
            Mark(self.length, number, column if width else column + start - offset, width, own if level == OWN else level)
        )
        shift = self.length - start
        for offset, number, column, width, level in marks[index + 1:] if len(marks) > 1 else ():
            if offset >= end:
                break
            self.marks.append(Mark(offset + shift, number, column, width, own if level == OWN else level))
        self.parts.append(line.text[start:end])
        self.length += end - start

    def put(self, text: str, place: Mark) -> None:
        """Appends text that stands for `place` as a whole."""
        if text:
            self.marks.append(Mark(self.length, place.line, place.column, place.width, place.level))
            self.parts.append(text)
            self.length += len(text)

    def put_line(self, piece: Line, place: Mark) -> None:
        """Appends `piece` so that it stands for `place`, each part still at its own level of expansion."""
        own = piece.base if piece.base != self.base else OWN
        _, line, column, width, _ = place
        for mark in piece.marks:
            level = mark.level
            self.marks.append(Mark(mark.offset + self.length, line, column, width, own if level == OWN else level))
        self.parts.append(piece.text)
        self.length += len(piece.text)

    def line(self, file: str, frames: tuple[MacroFrame, ...]) -> Line:
        """The finished line."""
        return Line(file, "".join(self.parts), tuple(self.marks) or (Mark(0, 1, 1, 1, 0),), frames, self.base)


_COMMENT = re.compile(r"""'[^']*'|"[^"]*"|/\*\*/|/\*|//|;""")
_STRING = re.compile(r"""'[^']*'|"[^"]*\"""")
# What cannot be the middle of a bracketed list: a directive of either kind, or a label's definition.
_STARTS_ANEW = re.compile(r"\s*(?:#\s*[A-Za-z]|\.[A-Za-z]|[A-Za-z_]\w*#\s*:)")
_FREE_TEXT = re.compile(r"\s*#\s*(?:error|warning|info)\b", re.IGNORECASE)
_DEFINE = re.compile(r"\s*#\s*define\b", re.IGNORECASE)      # may end in a comma: `#define COMMA ,`
_ENDS_OPERAND = re.compile(r"[\w\])'\"#]\s*$")
_STARTS_OPERAND = re.compile(r"\s*[\w$@'\"]")
_MOST_JOINED = 200


def without_comments(file: str, text: str, findings: Findings) -> list[str]:
    """The physical lines, every comment blanked out or cut off so that columns stay; `/**/` stays."""
    lines: list[str] = []
    inside: Origin | None = None        # where the block comment that we are in began
    for number, (line, begins_inside, opened) in enumerate(blanked_lines(text), 1):
        lines.append(line)
        if opened is not None:
            inside = Origin(Span(file, number, opened + 1, 2))
        elif not begins_inside or line:
            inside = None
    if inside is not None:
        findings.error(COMMENT_OPEN, "this comment is never closed", inside, help="end it with `*/`")
    return lines


def blanked_lines(text: str) -> Iterator[tuple[str, bool, int | None]]:
    """The physical lines without their comments, as `without_comments` has them; whether each begins in a block comment, and
    where in it one begins that it does not close."""
    inside = False
    for raw in split_lines(text):
        line, start, began = raw.replace("\0", "\1"), 0, inside         # a sign that has no meaning, and no end of text
        opened: int | None = None
        if inside:
            close = line.find("*/")
            if close < 0:
                yield "", True, None
                continue
            line = " " * (close + 2) + line[close + 2:]
            start = close + 2
        if ";" in line or "/" in line:
            line, opened = _blank(line, start)
        inside = opened is not None
        yield line, began, opened


def _blank(line: str, start: int) -> tuple[str, int | None]:
    """The line without its comments from `start` on, and where a block comment begins that the line does not close."""
    while (match := _COMMENT.search(line, start)) is not None:
        kind = match.group()
        start = match.end()
        if kind in (";", "//"):
            return line[: match.start()], None
        if kind == "/*":
            close = line.find("*/", start)
            if close < 0:
                return line[: match.start()], match.start()
            start = close + 2
            line = line[: match.start()] + " " * (start - match.start()) + line[start:]
    return line, None


def bracket_depth(text: str) -> int:
    """How many brackets `text` leaves open; strings do not count."""
    if "'" in text or '"' in text:
        text = _STRING.sub("", text)
    return text.count("[") + text.count("(") - text.count("]") - text.count(")")


def logical_lines(file: str, text: str, findings: Findings) -> list[Line]:
    """The lines of a file with continuation lines joined by a blank, blank ones dropped.

    A line goes on behind a `\\` at its end, while a bracket is open, and behind a comma at its end (but for a `#define`). A
    bracket that the next lines cannot close leaves the line as it is, so that the mistake stays one line's.
    """
    physical = without_comments(file, text, findings)
    out: list[Line] = []
    index = 0
    while index < len(physical):
        first = physical[index]
        if not first or first.isspace():
            index += 1
            continue
        count = joined_lines(physical, index)
        if count == 1:
            out.append(Line(file, first.rstrip().removesuffix("\\"), (Mark(0, index + 1, 1, 0, OWN),)))
        else:
            out.append(_join(file, physical, index, count))
        index += count
    return out


def _join(file: str, physical: Sequence[str], index: int, count: int) -> Line:
    builder = Builder()
    for number in range(index, index + count):
        stripped = physical[number].rstrip().removesuffix("\\")
        start = 0 if number == index else len(stripped) - len(stripped.lstrip())
        if builder.length:
            builder.put(" ", Mark(0, number + 1, start + 1, 1, OWN))
        builder.marks.append(Mark(builder.length, number + 1, start + 1, 0, OWN))
        builder.parts.append(stripped[start:])
        builder.length += len(stripped) - start
    return builder.line(file, ())


def joined_lines(physical: Sequence[str], index: int) -> int:
    """How many physical lines from `index` on, which is not blank, make one logical line."""
    first = physical[index].rstrip()
    return _joined(physical, index) if first[-1] in "\\,[(" or bracket_depth(first) > 0 else 1


def _joined(physical: Sequence[str], index: int) -> int:
    free_text = _FREE_TEXT.match(physical[index]) is not None
    comma = "," if _DEFINE.match(physical[index]) is None else "\\"
    settled = 1         # lines that belong together even if the bracket turns out never to close
    depth = 0
    last = len(physical) - 1
    for number in range(index, min(index + _MOST_JOINED, len(physical))):
        text = physical[number].rstrip()
        if not text and number != last:
            continue
        joined = number - index + 1
        depth += bracket_depth(text)
        if depth <= 0 or free_text:
            settled = max(settled, joined)
        if number == last:
            return settled
        if text.endswith("\\"):
            settled = joined + 1
            continue
        if free_text or (depth <= 0 and not text.endswith(comma)):
            return settled
        following = _next_text(physical, number)
        if following is None or _STARTS_ANEW.match(physical[following]):
            return settled
        if depth > 0 and text.strip() and _ENDS_OPERAND.search(text) and _STARTS_OPERAND.match(physical[following]):
            return settled
    return settled


def _next_text(physical: Sequence[str], number: int) -> int | None:
    """The next line that is not blank."""
    for following in range(number + 1, min(number + _MOST_JOINED, len(physical))):
        if physical[following].strip():
            return following
    return None
