"""How deep a line of a source stands: follows the blocks of both languages, the preprocessor's and the assembler's own.

`#macro`, `#if`, loops, `.begin`, `.if` and the rest each indent what is in them. The two kinds of blocks need not be nested in
each other (a `.begin` may stand under an `#if` and its `.end` under another), so that blocks of the assembler are closed wherever
they were opened, and every branch of an `#if` starts from where the first did. Text is not changed here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from ixpemu.asm.findings import Findings
from ixpemu.asm.preprocess_conditionals import FOLLOWING, OPENING
from ixpemu.asm.preprocess_macros import HASH
from ixpemu.codes import HASH_BLOCK_OPEN, HASH_BLOCK_UNOPENED
from ixpemu.diagnostics import Origin, Span

STEP = 4                        # columns that a block indents by
_WORD = re.compile(r"\.[A-Za-z_]\w*")
_LOOPS = ("while", "for", "repeat")
_SCOPES = {".begin": ".end", ".local": ".endlocal", ".subroutine": ".endsub"}
_CONTROL = {".if": ".endif", ".while": ".endw", ".repeat": ".until"}
_BRANCHES = (".elif", ".else")
_UNSIGNED = "_unsigned"
# Directives that stand among instructions, at a point of the flow; all others declare something.
_FLOW = (
    *_CONTROL, *_CONTROL.values(), *_BRANCHES, ".break", ".continue", ".set", ".set_rd", ".set_wr", ".use", ".use_rd", ".use_wr",
    ".set_sig", ".io_completed", ".probe", ".reentry", ".word",
)


class _Kind(Enum):
    SCOPE = "scope"             # .begin, .local, .subroutine
    CONTROL = "control"         # .if, .while, .repeat
    HASH = "hash"               # #if, #macro, loops
    GUARD = "guard"             # an #ifndef around a whole file: it indents nothing


class _Frame(NamedTuple):
    """A block that is open. `number` tells it from others."""

    kind: _Kind
    number: int


_Stack = tuple[_Frame, ...]


@dataclass(slots=True)
class _Open:
    """An open block of the preprocessor: its word and place, the blocks open in it at its start, and at the end of its first
    branch. `skipped`: it is `#if 0`."""

    word: str
    origin: Origin
    frame: _Frame
    start: _Stack
    first_end: _Stack | None = None
    skipped: bool = False


class Place(NamedTuple):
    """Where a logical line belongs: the columns of its labels and of what follows them, and whether it closes a block."""

    label: int
    code: int
    closes: bool = False


class Layout:
    """Follows the logical lines of a file in order. `guarded`: numbers of the lines that open and close an include guard."""

    def __init__(self, file: str, findings: Findings, guarded: tuple[int, int] | None) -> None:
        self._file = file
        self._findings = findings
        self._guarded = guarded or ()
        self._stack: _Stack = ()
        self._hashes: list[_Open] = []
        self._numbers = 0

    @property
    def depth(self) -> int:
        """Blocks that indent here."""
        return len(_indenting(self._stack))

    @property
    def inside(self) -> Place:
        """Where an instruction would stand here."""
        return self._place(self._stack, flow=True)

    @property
    def skipped(self) -> bool:
        """Whether the line stands in an `#if 0`: it need not be anything."""
        return any(one.skipped for one in self._hashes)

    def line(self, text: str, number: int) -> Place:
        """The place of the logical line `text`, which begins in line `number`, counted from 1, without its labels."""
        hash_word = HASH.match(text)
        if hash_word is not None:
            return self._hash(hash_word.group(1).lower(), text[hash_word.end():], number, hash_word.end())
        found = _WORD.match(text)
        if found is None:
            return self.inside
        word = found.group().lower().removesuffix(_UNSIGNED)
        if word in _SCOPES or word in _CONTROL:
            place = self._place(self._stack, flow=word in _FLOW)
            self._push(_Kind.SCOPE if word in _SCOPES else _Kind.CONTROL)
            return place
        if word in _BRANCHES:
            return self._place(_without(self._stack, self._last(_Kind.CONTROL)), flow=True)._replace(closes=True)
        if word in _SCOPES.values() or word in _CONTROL.values():
            self._stack = _without(self._stack, self._last(_Kind.SCOPE if word in _SCOPES.values() else _Kind.CONTROL))
            return self._place(self._stack, flow=word in _FLOW)._replace(closes=True)
        return self._place(self._stack, flow=word in _FLOW)

    def finish(self) -> None:
        """Reports blocks of the preprocessor that are open at the end."""
        for one in self._hashes:
            end = "endif" if one.word in OPENING else "endm" if one.word == "macro" else "endloop"
            self._findings.error(HASH_BLOCK_OPEN, f"this #{one.word} is never closed", one.origin, help=f"end it with #{end}")

    def _hash(self, word: str, rest: str, number: int, length: int) -> Place:
        if word in OPENING or word == "macro" or word in _LOOPS:
            place = self._place(self._stack, flow=False)
            self._numbers += 1
            frame = _Frame(_Kind.GUARD if number in self._guarded else _Kind.HASH, self._numbers)
            self._stack = (*self._stack, frame)
            skipped = word == "if" and rest.strip(" \t()") == "0"
            origin = Origin(Span(self._file, number, 1, length))
            self._hashes.append(_Open(word, origin, frame, self._stack, skipped=skipped))
            return place
        if word not in FOLLOWING and word not in ("endm", "endloop"):
            return self._place(self._stack, flow=False)
        one = self._hashes[-1] if self._hashes else None
        fits = one is not None and (one.word in OPENING if word in FOLLOWING else (one.word == "macro") == (word == "endm"))
        if one is None or not fits or (word == "endloop" and one.word in OPENING):
            origin = Origin(Span(self._file, number, 1, length))
            self._findings.error(HASH_BLOCK_UNOPENED, f"this #{word} belongs to nothing that is open here", origin)
            return self._place(self._stack, flow=False)
        if word in FOLLOWING and word != "endif":
            one.first_end = self._stack if one.first_end is None else one.first_end
            one.skipped = False
            self._stack = one.start
        else:
            self._hashes.pop()
            # What a branch leaves open stays open behind it; a macro or the body of a loop is a text of its own.
            end = one.start if word != "endif" else self._stack if one.first_end is None else one.first_end
            self._stack = _without(end, one.frame)
        return self._place(_without(one.start, one.frame), flow=False)._replace(closes=True)

    def _push(self, kind: _Kind) -> None:
        self._numbers += 1
        self._stack = (*self._stack, _Frame(kind, self._numbers))

    def _last(self, kind: _Kind) -> _Frame | None:
        return next((frame for frame in reversed(self._stack) if frame.kind is kind), None)

    def _place(self, stack: _Stack, flow: bool) -> Place:
        """Instructions stand in a block at least; declarations may stand at the edge."""
        indenting = _indenting(stack)
        base = 1 if not indenting or indenting[0].kind is _Kind.CONTROL else 0
        level = len(indenting) + base if flow or indenting else 0
        return Place(max(0, STEP * (level - 1)), STEP * level)


def _indenting(stack: _Stack) -> _Stack:
    return tuple(frame for frame in stack if frame.kind is not _Kind.GUARD)


def _without(stack: _Stack, frame: _Frame | None) -> _Stack:
    return tuple(one for one in stack if one != frame)


def guard_of(logical: Sequence[tuple[int, str]]) -> tuple[int, int] | None:
    """The line numbers of `#ifndef NAME` and its `#endif` where they are around all of a file, whose logical lines are given with
    their numbers: NAME is defined directly behind, and is not tested again."""
    if len(logical) < 3:
        return None
    first = re.match(r"\s*#\s*ifndef\s+(\w+)\s*$|\s*#\s*if\s*\(?\s*!\s*defined\s*\(\s*(\w+)\s*\)\s*\)?\s*$", logical[0][1], re.I)
    name = first and (first[1] or first[2])
    if not name or re.match(rf"\s*#\s*define\s+{name}\b", logical[1][1], re.I) is None:
        return None
    depth = 0
    for number, text in logical:
        found = HASH.match(text)
        word = found.group(1).lower() if found is not None else ""
        if word in OPENING:
            depth += 1
        elif word == "endif":
            depth -= 1
        elif word in FOLLOWING and depth == 1:
            return None
        if depth == 0:
            return (logical[0][0], number) if number == logical[-1][0] else None
    return None
