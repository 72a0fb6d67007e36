"""What is wrong, where, and what to do: the one vocabulary for every mistake a user can make.

Every module that reads a user's input (source text, isa files, images, captures, app.toml, arguments) reports through
`Diagnostic` and raises `UserError`; nothing here prints or exits. Rendering for people is `render`; for machines `as_json`.
It is not for faults of the program itself: those stay ordinary exceptions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum


class Severity(Enum):
    """How much a diagnostic matters: an error refuses the input, a warning does not, a note explains another one."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of one line of a file. `line` and `column` count from 1; `length` is in characters, at least 1."""

    file: str
    line: int
    column: int = 1
    length: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class MacroFrame:
    """One level of macro expansion: the macro's name and where it was called."""

    macro: str
    call: Span


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a piece of preprocessed text came from: its own span, and the calls that led there, innermost first."""

    span: Span
    expansions: tuple[MacroFrame, ...] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """A second place or a remark that belongs to a diagnostic."""

    message: str
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of a source text: what is written from a column on, in one line, becomes `text`.

    `written` is what has to stand there, or the file is not the one that was read. Lines and columns count from 1.
    """

    file: str
    line: int
    column: int
    written: str
    text: str

    @property
    def length(self) -> int:
        """How many characters are replaced."""
        return len(self.written)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. `code` is a stable number listed in `ixpemu.codes`; `help` says what to do about it.

    `also` are further places of which the very same is to be said. `edits`, all of them together, are what would mend it.
    """

    code: int
    message: str
    severity: Severity = Severity.ERROR
    origin: Origin | None = None
    help: str | None = None
    notes: tuple[Note, ...] = ()
    also: tuple[Origin, ...] = ()
    edits: tuple[Edit, ...] = ()

    @property
    def label(self) -> str:
        """The code as people write it, e.g. `IXP3001`."""
        return f"IXP{self.code:04d}"

    @property
    def explain(self) -> str:
        """The command that tells more about it."""
        return f"ixpemu explain {self.label}"


class UserError(Exception):
    """A user's mistake, as one or more diagnostics. The command line turns it into a message and an exit code."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("\n".join(d.message for d in diagnostics))
        self.diagnostics: tuple[Diagnostic, ...] = diagnostics

    def __str__(self) -> str:
        """What ends a traceback: the errors with their places and what to do, without warnings and source lines."""
        errors = [d for d in self.diagnostics if d.severity is Severity.ERROR] or list(self.diagnostics)
        return "\n".join(render(d) for d in errors)


class AssemblyError(UserError):
    """Source that does not assemble; `diagnostics` holds every finding, warnings included."""


def user_error(
    code: int, message: str, *, file: str | None = None, line: int = 1, column: int = 1, help: str | None = None
) -> UserError:
    """A `UserError` of one diagnostic, for the common case of one place and one message."""
    origin = Origin(Span(file, line, column)) if file is not None else None
    return UserError(Diagnostic(code, message, origin=origin, help=help))


@dataclass(slots=True)
class Sources:
    """The text lines behind spans, so that a message can show the line it speaks of."""

    lines: dict[str, Sequence[str]] = field(default_factory=dict)

    def line(self, span: Span) -> str | None:
        """The text of `span`'s line, or None where the file is not known."""
        known = self.lines.get(span.file)
        if known is None or not 1 <= span.line <= len(known):
            return None
        return known[span.line - 1]


_MOST_CALLS = 8     # of a macro call chain that are shown
_MOST_ALSO = 6      # further places that are shown
MOST_ALSO = 100     # further places that are kept
_WIDEST = 160       # characters of a source line that are shown
_BEFORE = 40        # of those, before the place in question
_LONGEST = 600      # characters of a message
# What would steer a terminal, or turn the direction of the text, is shown as a replacement character of the same width.
_UNSHOWN = {
    code: "\ufffd" for code in (*range(9), *range(10, 32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}


def _shown(text: str) -> str:
    """A text of any content and length as it is shown."""
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST // 2]} ... {text[-_LONGEST // 4:]}"
    return text.translate(_UNSHOWN)


def _excerpt(text: str, span: Span) -> tuple[str, str]:
    """The part of a source line around a span, and the line of carets under it."""
    start = min(max(span.column - 1, 0), len(text))
    length = max(1, min(span.length, len(text) - start))
    first = max(0, min(start - _BEFORE, len(text) - _WIDEST))
    piece = text[first:first + _WIDEST]
    before, behind = "... " if first else "", " ..." if first + _WIDEST < len(text) else ""
    # A tab in the source stays a tab under it, so that the caret lines up whatever the tab width.
    lead = " " * len(before) + "".join("\t" if ch == "\t" else " " for ch in text[first:start])
    carets = "^" * max(1, min(length, first + len(piece) - start))
    return f"{before}{piece.translate(_UNSHOWN)}{behind}", lead + carets


def _place(origin: Origin, sources: Sources | None, indent: str) -> list[str]:
    out = [f"{indent}--> {_shown(str(origin.span))}"]
    text = sources.line(origin.span) if sources is not None else None
    if text is not None:
        line, carets = _excerpt(text, origin.span)
        out += [f"{indent}    | {line}", f"{indent}    | {carets}"]
    calls = [f"{indent}    in macro {_shown(frame.macro)}, called at {_shown(str(frame.call))}" for frame in origin.expansions]
    if len(calls) > _MOST_CALLS:
        calls[_MOST_CALLS - 1:-1] = [f"{indent}    ... and {len(calls) - _MOST_CALLS} more calls"]
    out += calls
    return out


def render(diagnostic: Diagnostic, sources: Sources | None = None) -> str:
    """The diagnostic as plain text lines with its source line, carets, its macro call chain, notes and help.

    What a file holds is shown harmlessly: long lines in part, control characters as replacement characters.
    """
    out = [f"{diagnostic.severity.value} {diagnostic.label}: {_shown(diagnostic.message)}"]
    if diagnostic.origin is not None:
        out += _place(diagnostic.origin, sources, "  ")
    for note in diagnostic.notes:
        out.append(f"  note: {_shown(note.message)}")
        if note.origin is not None:
            out += _place(note.origin, sources, "    ")
    if diagnostic.also:
        out.append(f"  also at {_shown(further_places(diagnostic))}")
    if diagnostic.help is not None:
        out.append(f"  help: {_shown(diagnostic.help)}")
    return "\n".join(out)


def one_line(diagnostic: Diagnostic) -> str:
    """The diagnostic on one line, as compilers write it: `file:line:column: error IXP4001: ...`, then the macro call chain."""
    origin = diagnostic.origin
    place = "ixpemu" if origin is None else _shown(str(origin.span))
    text = f"{place}: {diagnostic.severity.value} {diagnostic.label}: {_shown(diagnostic.message)}"
    if origin is not None and origin.expansions:
        calls = [f"macro {frame.macro} called at {frame.call}" for frame in origin.expansions]
        shown = calls if len(calls) < _MOST_CALLS else [*calls[:_MOST_CALLS - 2], "...", calls[-1]]
        text += f" [in {_shown(', in '.join(shown))}]"
    if diagnostic.also:
        text += f" [also at {_shown(further_places(diagnostic))}]"
    return " ".join(text.split())


def further_places(diagnostic: Diagnostic) -> str:
    """Where else the same is wrong: the first places, and how many more. A place in a macro is that of the outermost call."""
    places = [str(origin.expansions[-1].call if origin.expansions else origin.span) for origin in diagnostic.also[:_MOST_ALSO]]
    more = len(diagnostic.also) - len(places)
    at_least = "at least " if len(diagnostic.also) == MOST_ALSO else ""
    return ", ".join(places) + (f" and {at_least}{more} more place{'s' if more > 1 else ''}" if more else "")


def _where(origin: Origin) -> dict[str, object]:
    """A place as JSON values."""
    span = origin.span
    row: dict[str, object] = {"file": span.file, "line": span.line, "column": span.column, "length": span.length}
    if origin.expansions:
        row["macros"] = [{"name": frame.macro, "call": str(frame.call)} for frame in origin.expansions]
    return row


def as_json(diagnostics: Iterable[Diagnostic]) -> list[dict[str, object]]:
    """The diagnostics as JSON values, one object each, with `file`, `line`, `column` where they are known."""
    rows: list[dict[str, object]] = []
    for d in diagnostics:
        row: dict[str, object] = {"code": d.label, "severity": d.severity.value, "message": d.message}
        if d.origin is not None:
            row |= _where(d.origin)
        if d.help is not None:
            row["help"] = d.help
        row["explain"] = d.explain
        if d.also:
            row["also"] = [_where(origin) for origin in d.also]
        if d.edits:
            row["edits"] = [
                {"file": e.file, "line": e.line, "column": e.column, "length": e.length, "text": e.text} for e in d.edits
            ]
        if d.notes:
            row["notes"] = [
                {"message": n.message} | ({"at": str(n.origin.span)} if n.origin is not None else {}) for n in d.notes
            ]
        rows.append(row)
    return rows
