"""Sources laid out in one way: `ixpemu fmt`. Blanks and nothing else change, so that the words stay what they are.

Blocks indent by four columns, labels stand one step left of what they lead to, comments behind code stand in columns; commas are
followed by a blank. What stands in comments, strings and behind `#` directives is left as it was written. A text that is laid
out already is not changed. How deep a line belongs is `layout`'s; files are read and written elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum

from ixpemu.asm.findings import Findings, Stopped
from ixpemu.asm.layout import STEP, Layout, Place, guard_of
from ixpemu.asm.source import blanked_lines, bracket_depth, joined_lines, without_comments
from ixpemu.codes import SYNTAX
from ixpemu.diagnostics import Origin, Span
from ixpemu.files import split_lines

LONG = 90                       # columns: the comment of a longer line moves no other
MOST_BLANK = 2                  # blank lines that follow each other
_TAB = 8
_LABELS = re.compile(r"(?:[A-Za-z_](?:\w|/\*\*/)*#\s*:\s*)+")
_LABEL = re.compile(r"([^\s:]+#)\s*:")
_CALL = re.compile(r"[A-Za-z_]\w*\s*\(")
_KEPT = re.compile(r"""'[^']*'|"[^"]*"|/\*.*?\*/""")        # strings and comments in the middle of a line
_DIRECTIVE = re.compile(r"#\s*[A-Za-z]")


class _Kind(Enum):
    BLANK = "blank"
    CODE = "code"
    COMMENT = "comment"
    RAW = "raw"                 # in a block comment that began before: nothing of it is touched


@dataclass(slots=True)
class _Line:
    """A physical line. `text`: what is written at column `column`; `comment`, behind it, stood at `comment_column` and goes to
    `comment_to`. `hangs`: it is a comment that goes on from the one above."""

    kind: _Kind
    text: str = ""
    column: int = 0
    comment: str = ""
    comment_column: int = 0
    comment_to: int = 0
    hangs: bool = False

    @property
    def length(self) -> int:
        """Columns up to the end of the code."""
        return len((" " * self.column + self.text).expandtabs(_TAB))

    def written(self) -> str:
        """The line laid out."""
        if self.kind in (_Kind.RAW, _Kind.BLANK):
            return self.text
        code = (" " * self.column + self.text) if self.text else ""
        if not self.comment:
            return code
        if self.kind is _Kind.COMMENT:
            return " " * self.column + self.comment
        return code + " " * (self.comment_to - self.length) + self.comment


def format_text(text: str, file: str = "<text>") -> str:
    """The text laid out. Raises `AssemblyError` for one whose blocks, brackets or comments do not close."""
    findings = Findings()
    lines: list[_Line] = []
    with suppress(Stopped):
        lines = _Formatter(file, text, findings).lines()
    findings.raise_if_errors()
    _comments_in_columns(lines)
    out: list[str] = []
    blank = MOST_BLANK              # none at the beginning
    for line in lines:
        blank = blank + 1 if line.kind is _Kind.BLANK else 0
        if blank <= MOST_BLANK:
            out.append(line.written())
    while out and not out[-1]:
        out.pop()
    newline = "\r\n" if "\r\n" in text else "\n" if "\n" in text or "\r" not in text else "\r"
    return newline.join([*out, ""]) if out else ""


class _Formatter:
    """Makes the lines of one text."""

    def __init__(self, file: str, text: str, findings: Findings) -> None:
        self._file = file
        self._findings = findings
        self._raw = split_lines(text)
        self._code = without_comments(file, text, findings)
        self._inside = [inside for _, inside, _ in blanked_lines(text)]
        findings.raise_if_errors()
        self._counts: list[tuple[int, int]] = []        # first line and number of lines of each logical line
        index = 0
        while index < len(self._code):
            count = 1
            if self._code[index].strip():
                count = joined_lines(self._code, index)
                self._counts.append((index, count))
            index += count
        numbered = [(index + 1, self._logical(index, count)) for index, count in self._counts]
        self._layout = Layout(file, findings, guard_of(numbered))
        self._lines: list[_Line] = []
        self._waiting: list[_Line] = []         # comments that go where the next line goes

    def lines(self) -> list[_Line]:
        """All lines with their columns; those of comments behind code are not decided yet."""
        index = 0
        for first, count in self._counts:
            self._between(index, first)
            self._statement(first, count)
            index = first + count
        self._between(index, len(self._raw))
        self._settle(self._layout.inside, flow=False)
        self._layout.finish()
        return self._lines

    def _logical(self, index: int, count: int) -> str:
        return " ".join(line.strip().removesuffix("\\") for line in self._code[index:index + count])

    def _between(self, start: int, end: int) -> None:
        """Lines without code."""
        for index in range(start, end):
            self._lines.append(self._bare(index))
            if self._lines[-1].kind is _Kind.COMMENT:
                self._waiting.append(self._lines[-1])

    def _bare(self, index: int) -> _Line:
        """A line without code: blank, a comment, or the middle of one."""
        raw = self._raw[index]
        if self._inside[index]:
            return _Line(_Kind.RAW, raw)
        comment = raw.strip(" \t")
        if not comment.strip():
            return _Line(_Kind.BLANK)
        if index + 1 < len(self._inside) and self._inside[index + 1]:
            return _Line(_Kind.RAW, raw)        # its other lines stay where they are
        line = _Line(_Kind.COMMENT, comment=comment, comment_column=_columns(raw, comment))
        above = self._lines[-1] if self._lines else None
        line.hangs = above is not None and bool(above.comment) and above.comment_column == line.comment_column and (
            above.kind is _Kind.CODE or above.hangs
        )
        return line

    def _statement(self, first: int, count: int) -> None:
        """The lines of a logical line."""
        text = self._logical(first, count).strip()
        as_text = self._layout.skipped or _DIRECTIVE.match(text) is not None
        labels = _LABELS.match(text)
        rest = text[labels.end():] if labels is not None else text
        if not as_text and bracket_depth(text):
            origin = Origin(Span(self._file, first + 1, 1, len(self._code[first])))
            self._findings.error(
                SYNTAX, "brackets do not match in this line", origin,
                help="close every bracket that is opened, in the same line or in those that it goes on in",
            )
        outer = self._layout.inside
        place = self._layout.line(rest, first + 1)
        if place.closes:
            self._settle(outer, flow=True)
        else:
            self._settle(place, flow=False, label=labels is not None)
        for index in range(first, first + count):
            line = self._bare(index)
            if self._code[index].strip():
                line = self._coded(index, place, first, as_text)
            elif line.kind is _Kind.COMMENT:
                line.column = place.code + STEP
            self._lines.append(line)

    def _coded(self, index: int, place: Place, first: int, as_text: bool) -> _Line:
        """A line with code, of the logical line that begins in line `first`. `as_text`: its blanks count."""
        raw = self._raw[index]
        if self._inside[index]:
            return _Line(_Kind.RAW, raw)
        code = raw[: len(self._code[index].rstrip())]
        comment = raw[len(code):].strip(" \t")
        column = place.code if index == first else place.code + STEP
        line = _Line(
            _Kind.CODE, code.strip() if as_text else _tidy(code), column, comment, _columns(raw, comment) if comment else 0
        )
        labels = _LABELS.match(line.text)
        if labels is not None and index == first:
            line.column = place.label
            names = " ".join(f"{name}:" for name in _LABEL.findall(labels.group()))
            rest = line.text[labels.end():]
            line.text = names.ljust(max(place.code - place.label, len(names) + 1)) + rest if rest else names
        return line

    def _settle(self, place: Place, flow: bool, label: bool = False) -> None:
        """Puts the comments that wait where the next line goes, a `label` or code; those at the left margin of a file stay."""
        for line in self._waiting:
            if not line.hangs:
                at_edge = self._layout.depth == 0 and not flow and line.comment_column == 0
                to_label = label and line.comment_column <= place.label
                line.column = 0 if at_edge else place.label if to_label else place.code
        self._waiting = []


def _tidy(code: str) -> str:
    """The code of a line: one blank behind a comma and none before, none inside square brackets, others as one. The arguments of
    a macro in parentheses are text."""
    code = code.strip()
    goes_on = code.endswith("\\")
    if goes_on:
        code = code[:-1].rstrip()
    labels = _LABELS.match(code)
    call = _CALL.match(code, labels.end() if labels is not None else 0) is not None
    parts: list[str] = []
    position = 0
    for kept in _KEPT.finditer(code):
        parts += [_blanks(code[position:kept.start()], call), kept.group()]
        position = kept.end()
    parts.append(_blanks(code[position:], call))
    tidied = "".join(parts).strip()
    return f"{tidied} \\".lstrip() if goes_on else tidied


def _blanks(text: str, call: bool) -> str:
    if not call:
        text = re.sub(r"[ \t]+", " ", text)
        text = re.sub(r"\[ | (?=\])", lambda found: found.group().strip(), text)
    return re.sub(r"[ \t]*,[ \t]*", ", ", text)


def _columns(raw: str, comment: str) -> int:
    """The column at which the comment at the end of a line begins."""
    return len(raw.rstrip(" \t")[: -len(comment)].expandtabs(_TAB))


def _comments_in_columns(lines: Sequence[_Line]) -> None:
    """Gives the comments behind code their columns, run by run: lines that follow each other with nothing in between."""
    run: list[_Line] = []
    for line in [*lines, _Line(_Kind.BLANK)]:
        if line.kind is _Kind.CODE or line.hangs:
            run.append(line)
            continue
        _align(run)
        run = []


def _align(run: Sequence[_Line]) -> None:
    commented = [line for line in run if line.kind is _Kind.CODE and line.comment]
    together = [line for line in commented if line.length <= LONG]
    # Behind the code, and behind where a comment on a line of its own may come to stand: below this one it would go on from it.
    least = max((max(line.length + 1, line.column + STEP + 1) for line in together), default=0)
    columns = {line.comment_column for line in together}
    column = columns.pop() if len(columns) == 1 else 0
    if column < least:              # they stand in several columns, or the code has no room
        column = -(-(least + 1) // STEP) * STEP
    last = column
    for line in run:
        if line.hangs:
            line.column = last
        elif line.comment:
            line.comment_to = last = column if line.length <= LONG else line.length + 2
