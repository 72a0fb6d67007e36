"""Names that somebody may have meant, and the edits of a source that messages carry.

An edit is made where the mistake is found, for text that stands in a file as it was read: not for what a macro or a #define has
put there, as a change of its body would change other expansions. Whether an edit may be applied is decided in `fixes`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ixpemu.asm.source import Line
from ixpemu.diagnostics import Edit, Origin

_CLEARLY = 0.1      # by which the likeness of the best name exceeds that of the next
_TELLING = 3        # characters that a name needs for an edit
_ALIKE = 0.72       # likeness from which on an edit is made; below it a name is only asked about


class Near(NamedTuple):
    """The known name that is most like a written one. `only`: no other comes near."""

    name: str
    only: bool

    def edits(self, origin: Origin, written: str, spelled: str | None = None) -> tuple[Edit, ...]:
        """The edit that puts it, or its spelling in the source, in place of what is written at `origin`."""
        return replacement(origin, written, self.name if spelled is None else spelled) if self.only else ()


def nearest(written: str, known: Iterable[str], cutoff: float = 0.6) -> Near | None:
    """The name most like `written`, which is in lower case as `known` are; None if none is like it."""
    import difflib  # not above: a program without mistakes does without it

    close = difflib.get_close_matches(written, known, 2, cutoff)
    if not close:
        return None
    likeness = [difflib.SequenceMatcher(None, name, written).ratio() for name in close]
    clear = len(close) == 1 or close[0] == close[1] or likeness[0] - likeness[1] >= _CLEARLY
    return Near(close[0], clear and len(written) >= _TELLING and likeness[0] >= _ALIKE)


def replacement(origin: Origin, written: str, text: str) -> tuple[Edit, ...]:
    """The edit that replaces `written`, which stands at `origin`; none where it stands there only after macros or #define."""
    span = origin.span
    if origin.expansions or span.length != len(written):
        return ()
    return (Edit(span.file, span.line, span.column, written, text),)


def insertion(line: Line, offset: int, text: str) -> tuple[Edit, ...]:
    """The edit that puts `text` behind the character before `offset` of a line."""
    if line.frames or offset <= 0:
        return ()
    span = line.span(offset - 1, offset)
    before = line.text[offset - 1]
    return (Edit(span.file, span.line, span.column, before, before + text),) if span.length == 1 else ()


def joined(*edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Edits that are one: all of them, or none where one is missing."""
    return tuple(edit for some in edits for edit in some) if all(edits) else ()
