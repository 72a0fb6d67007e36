"""Applying the edits that messages carry to the text of a source, and only those that are found to do no harm.

Nothing is believed: after every change the text is assembled anew. A text that assembled has to give the very same words, and a
message less. One that did not has to lose the error in question and gain none, but for what is now seen of the lines that were
changed, or at a later stage. Files are not written here, and read only by #include; an edit of an included file is never taken,
since other programs may include it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from ixpemu.codes import SYNTAX
from ixpemu.diagnostics import Diagnostic, Edit, Severity

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_MOST_ROUNDS = 10
_Key = tuple[int, str]


class Reached(IntEnum):
    """How far an assembly came."""

    STATEMENTS = 0
    REGISTERS = 1
    WORDS = 2


@dataclass(frozen=True, slots=True)
class Checked:
    """What an assembly says of a text: its diagnostics, how far it came, and its words."""

    diagnostics: tuple[Diagnostic, ...]
    reached: Reached
    words: tuple[int, ...] = ()


Check = Callable[[str], Checked]


@dataclass(frozen=True, slots=True)
class Mended:
    """The text with all edits that were taken, what was mended, in that order, and what is still to be said."""

    text: str
    mended: tuple[Diagnostic, ...]
    left: tuple[Diagnostic, ...]


def applied(text: str, edits: Sequence[Edit]) -> str | None:
    """The text after the edits; None if something else stands at a place, or two edits meet."""
    lines = _LINE.findall(text)
    before: tuple[int, int] | None = None
    for edit in sorted(edits, key=lambda edit: (edit.line, edit.column), reverse=True):     # from behind: what is before stays
        start, end = edit.column - 1, edit.column - 1 + edit.length
        if not 1 <= edit.line <= len(lines) or start < 0 or lines[edit.line - 1][start:end] != edit.written:
            return None
        if before is not None and (edit.line, end) > before:
            return None
        line = lines[edit.line - 1]
        lines[edit.line - 1] = line[:start] + edit.text + line[end:]
        before = (edit.line, start)
    for number in {edit.line for edit in edits}:
        if not lines[number - 1].strip():
            lines[number - 1] = ""                  # all of it went: nobody misses an empty line
    return "".join(lines)


def mend(file: str, text: str, check: Check) -> Mended:
    """Applies what can be applied, until nothing is left that could be. `check` assembles a text as `file`.

    The edits of one diagnostic are taken together or not at all.
    """
    state = check(text)
    mended: list[Diagnostic] = []
    for _ in range(_MOST_ROUNDS):
        text, state, taken = _round(file, text, state, check)
        mended += taken
        if not taken:
            break
    return Mended(text, tuple(mended), state.diagnostics)


def _round(file: str, text: str, state: Checked, check: Check) -> tuple[str, Checked, list[Diagnostic]]:
    """One step from a text: all that can be mended at once, or else whatever can be mended together with what was before it."""
    able = [found for found in state.diagnostics if found.edits and _meant(file, found, state.diagnostics)]
    tried = _tried(text, able, state, check) if able else None
    if tried is not None:
        return (*tried, able)
    best, taken = (text, state), list[Diagnostic]()
    for found in able if len(able) > 1 else ():
        tried = _tried(text, [*taken, found], state, check)
        if tried is not None:
            best, taken = tried, [*taken, found]
    return (*best, taken)


def _meant(file: str, found: Diagnostic, others: Sequence[Diagnostic]) -> bool:
    """Whether edits may be tried: all in the file itself, and not a bracket or comma where the next line is wrong as well, since
    the two lines may be one."""
    if found.code == SYNTAX and found.origin is not None:
        span = found.origin.span
        for other in others:
            if other.origin is not None and other.origin.span.file == span.file and abs(other.origin.span.line - span.line) == 1:
                return False
    return all(edit.file == file for edit in found.edits)


def _tried(text: str, mended: Sequence[Diagnostic], state: Checked, check: Check) -> tuple[str, Checked] | None:
    """The text with the edits of these diagnostics and what is said of it, if that is better than before."""
    edits = list(dict.fromkeys(edit for found in mended for edit in found.edits))
    changed = applied(text, edits)
    if changed is None or changed == text:
        return None
    after = check(changed)
    return (changed, after) if _better(mended, state, after) else None


def _better(mended: Sequence[Diagnostic], before: Checked, after: Checked) -> bool:
    old, new = _counted(before), _counted(after)
    if any(new.get(_key(found), 0) >= old[_key(found)] for found in mended):
        return False
    added = [found for found in after.diagnostics if new[_key(found)] > old.get(_key(found), 0)]
    if before.reached is Reached.WORDS:
        return after.words == before.words and not added
    if after.reached != before.reached:
        return after.reached > before.reached
    if any(found.code < SYNTAX for found in mended):
        return True         # what a line of the preprocessor has hidden may be anywhere
    # A name put right may show what is wrong behind it; punctuation put right may not.
    changed = {edit.line for found in mended if found.code != SYNTAX for edit in found.edits}
    places = [found.origin for found in added if found.severity is Severity.ERROR]
    return all(origin is not None and origin.span.line in changed for origin in places)


def _key(found: Diagnostic) -> _Key:
    return found.code, found.message


def _counted(checked: Checked) -> dict[_Key, int]:
    """At how many places there is each message."""
    counted: dict[_Key, int] = {}
    for found in checked.diagnostics:
        counted[_key(found)] = counted.get(_key(found), 0) + 1 + len(found.also)
    return counted
