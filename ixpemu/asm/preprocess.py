"""The preprocessor: `#` directives, macros and includes; out come plain statements that know where they came from.

It works line by line on text and knows neither instructions nor `.` directives. Names are case-insensitive. `#define` replaces
words, `#macro` replaces statements; the lines that come out have every name substituted. Labels in a macro belong to that one
expansion: each character of a line carries the number of the expansion it was written in, and `Preprocessed.parents` says which
called which.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, NoReturn

from ixpemu.asm.expressions import signed
from ixpemu.asm.findings import Findings, Stopped
from ixpemu.asm.preprocess_conditionals import FOLLOWING, OPENING, Branches, number
from ixpemu.asm.preprocess_files import Files, Opened
from ixpemu.asm.preprocess_macros import HASH, Call, Macro, at_level, find_call, instantiate, labels_of, parse_parameters
from ixpemu.asm.preprocess_names import Names
from ixpemu.asm.preprocess_symbols import linked_names, predefined
from ixpemu.asm.preprocess_text import Define, RunawayLine, matching, split_arguments, stripped
from ixpemu.asm.source import Line
from ixpemu.asm.suggestions import nearest
from ixpemu.codes import (
    CONDITION_VALUE,
    DEFINED_TWICE,
    EXPANSION_LIMIT,
    HASH_BLOCK_OPEN,
    HASH_BLOCK_UNOPENED,
    HASH_MALFORMED,
    HASH_UNKNOWN,
)
from ixpemu.diagnostics import MacroFrame, Note, Origin, Sources

# A control store holds 4,096 words, the largest of the family 8,192. What goes far beyond is a loop without an end, and that
# should be told within seconds.
MOST_LINES = 600_000        # lines looked at, loops and macros unrolled
MOST_STATEMENTS = 150_000   # lines that come out
MOST_ROUNDS = 150_000       # of one loop
DEEPEST = 50                # macros within macros

_LOOPS = ("while", "for", "repeat")


@dataclass(slots=True)
class Preprocessed:
    """The statements in order.

    `parents[n]` is the expansion that called expansion n; 0 is no expansion, its own parent. `calls[n]` is the call that made
    expansion n + 1. `defines` and `macros`: the names at the end, by their lower case; macros by their number of parameters too.
    `kept`: the places, file, line and expansions, of what `#pragma optimize(off)` says is not to be moved.
    """

    lines: list[Line] = field(default_factory=list)
    parents: list[int] = field(default_factory=lambda: [0])
    calls: list[MacroFrame] = field(default_factory=list)
    sources: Sources = field(default_factory=Sources)
    defines: dict[str, Define] = field(default_factory=dict)
    macros: dict[str, dict[int, Macro]] = field(default_factory=dict)
    kept: set[tuple[str, int, tuple[MacroFrame, ...]]] = field(default_factory=set)


class _Context(NamedTuple):
    """Where lines are being run: in which expansion, behind which calls, how deep, in which files."""

    level: int = 0
    frames: tuple[MacroFrame, ...] = ()
    depth: int = 0
    files: tuple[Opened, ...] = ()


@dataclass(slots=True)
class _Loop:
    """An open loop: the line that opens it and how often its body was begun."""

    line: Line
    rounds: int = 0


def preprocess(
    file: str,
    text: str,
    findings: Findings,
    include: Sequence[str | Path] = (),
    define: Mapping[str, str | int | None] | None = None,
    result: Preprocessed | None = None,
) -> Preprocessed:
    """Preprocesses `text`, which came from `file` (or is called so). Mistakes go to `findings`; raises `Stopped` with those.

    `define` are names as if by #define; a value None takes away a predefined one. `result`, if given, is filled, so that what
    was done until then is there even so.
    """
    result = result if result is not None else Preprocessed()
    preprocessor = Preprocessor(findings, [Path(folder) for folder in include], result)
    for name, value in [*predefined().items(), *(define or {}).items()]:
        if value is not None:
            preprocessor.defines[name.lower()] = Define(name, None, str(value))
        else:
            preprocessor.defines.pop(name.lower(), None)
    try:
        preprocessor.run_text(file, text, _Context(files=(Opened(Path(file).resolve()),) if file[:1] != "<" else ()))
    finally:
        findings.silenced = frozenset()
    return result


class Preprocessor:
    """The state of one run: names, macros, the lines so far, and the limits."""

    def __init__(self, findings: Findings, include: Sequence[Path], result: Preprocessed) -> None:
        self.findings = findings
        self.result = result
        self.defines = self.result.defines
        self.macros = result.macros
        self._linked: set[str] = set()
        self._names = Names(self.defines, self.macros, self._linked, findings)
        self._files = Files(include, result.sources, self._names.substitution, findings)
        self._work = 0
        self._loops: list[_Loop] = []

    def run_text(self, file: str, text: str, context: _Context) -> None:
        """Runs the lines of a text."""
        self.run(self._files.text(file, text), context)

    def run(self, lines: Sequence[Line], context: _Context) -> None:
        """Runs lines of a file, a macro's body or a loop's body: conditionals and blocks must be closed within."""
        branches = Branches(self._names.conditions, self.findings)
        index, count = 0, len(lines)
        try:
            while index < count:
                self._work += 1
                if self._work > MOST_LINES:
                    self._stop(lines[index], f"macros, loops and includes make more than {MOST_LINES:,} lines")
                if lines[index].text.lstrip()[:1] == "#":
                    index = self._hash_line(lines, index, branches, context)
                else:
                    if branches.active:
                        self._statement(lines[index], context)
                    index += 1
        except RunawayLine as error:
            self._stop(lines[index], str(error))
        branches.finish()

    def _hash_line(self, lines: Sequence[Line], index: int, branches: Branches, context: _Context) -> int:
        """Runs the directive at `index`, and the block that it opens. Returns the index of the next line to run."""
        line = lines[index]
        hash_word = HASH.match(line.text)
        if hash_word is None:
            return index + 1
        word = hash_word.group(1).lower()
        if word in OPENING or word in FOLLOWING:
            branches.run(word, line, hash_word.end())
        elif branches.active and (word == "macro" or word in _LOOPS):
            end = self._block_end(lines, index, word)
            if end is None:
                return len(lines)
            self._block(word, line, hash_word.end(), lines[index + 1:end], context)
            return end + 1
        elif branches.active:
            self._directive(word, line, hash_word, context)
        return index + 1

    def _stop(self, line: Line, message: str, help_text: str | None = None) -> NoReturn:
        """Gives up where the text grows without end: shows where that was noticed, and the loops and calls that led there."""
        rounds = {loop.line.whole().span: loop.rounds for loop in self._loops if loop.line is not line}
        loops = [Note(f"in round {count:,} of this loop", Origin(span)) for span, count in list(rounds.items())[-3:]]
        self.findings.error(
            EXPANSION_LIMIT, message, line.whole(), notes=tuple(loops),
            help=help_text or "look for a loop whose condition never ends, or a macro that calls itself",
        )
        raise Stopped

    # Statements and macro calls

    def _statement(self, line: Line, context: _Context) -> None:
        substituted = self._names.substitution.line(line)
        if substituted is None:
            labels = labels_of(line)
            if labels.text:
                self._emit(labels)
            return
        if self.macros and self._macro_call(substituted, context):
            return
        if substituted.text.strip():
            self._emit(substituted)

    def _emit(self, line: Line) -> None:
        """Adds a line to the result."""
        self.result.lines.append(line)
        if line.text.lstrip()[:1] == ".":
            self._linked |= linked_names(line.text)
        if self.findings.silenced:
            for mark in line.marks:
                self.findings.silenced_at[line.file, mark.line, line.frames] = self.findings.silenced
        if self._names.keeps_order:
            self.result.kept |= {(line.file, mark.line, line.frames) for mark in line.marks}
        if len(self.result.lines) > MOST_STATEMENTS:
            self._stop(line, f"macros, loops and includes make more than {MOST_STATEMENTS:,} statements")

    def _macro_call(self, line: Line, context: _Context) -> bool:
        call = find_call(line, self.macros, self.findings)
        if isinstance(call, bool):
            return call
        if line.text[: call.labels_end].strip():
            self._emit(line.slice(0, call.labels_end))
        if context.depth >= DEEPEST:
            self._stop(line, f"macros call one another more than {DEEPEST} deep")
        self._expand(line, call, context)
        return True

    def _expand(self, line: Line, call: Call, context: _Context) -> None:
        level = len(self.result.parents)
        self.result.parents.append(context.level)
        frames = (MacroFrame(call.macro.name, line.span(call.start, call.end)), *line.frames)
        self.result.calls.append(frames[0])
        self.run(instantiate(call, frames, level), _Context(level, frames, context.depth + 1, context.files))

    # Blocks

    def _block_end(self, lines: Sequence[Line], start: int, word: str) -> int | None:
        """The index of the #endm or #endloop that closes the block that opens at `start`; None after a message."""
        opening, closing = (("macro",), "endm") if word == "macro" else (_LOOPS, "endloop")
        depth = 0
        for index in range(start, len(lines)):
            hash_word = HASH.match(lines[index].text)
            if hash_word is None:
                continue
            found = hash_word.group(1).lower()
            if found in opening:
                depth += 1
            elif found == closing:
                depth -= 1
                if depth == 0:
                    return index
        self.findings.error(
            HASH_BLOCK_OPEN, f"this #{word} is never closed: nothing behind it was read", lines[start].whole(),
            help=f"end it with #{closing}",
        )
        return None

    def _block(self, word: str, line: Line, start: int, body: Sequence[Line], context: _Context) -> None:
        if word == "macro":
            self._macro(line, start, body)
            return
        loop = _Loop(line)
        self._loops.append(loop)
        rest = stripped(line, start, len(line.text))
        if word == "repeat":
            self._repeat(loop, rest, body, context)
        elif word == "while":
            self._while(loop, rest, body, context)
        else:
            self._for(loop, start, body, context)
        self._loops.pop()

    def _round(self, loop: _Loop, body: Sequence[Line], context: _Context) -> None:
        """Runs the body of a loop once more."""
        loop.rounds += 1
        self._work += 1
        if loop.rounds > MOST_ROUNDS:
            loop.rounds = MOST_ROUNDS
            self._stop(loop.line, f"this loop runs more than {MOST_ROUNDS:,} times")
        self.run(body, context)

    def _repeat(self, loop: _Loop, rest: Line, body: Sequence[Line], context: _Context) -> None:
        count = signed(number(self._names.conditions, self.findings, loop.line, rest) or 0)
        if count < 0:
            self.findings.error(
                CONDITION_VALUE, f"a loop cannot run {count} times", rest.whole(), help="write `#repeat (count)`, 0 or more"
            )
        for _ in range(count):
            self._round(loop, body, context)

    def _while(self, loop: _Loop, condition: Line, body: Sequence[Line], context: _Context) -> None:
        while number(self._names.conditions, self.findings, loop.line, condition):
            if loop.rounds >= MOST_ROUNDS:
                now = self._names.substitution.line(condition)
                self._stop(
                    loop.line, f"this loop runs more than {MOST_ROUNDS:,} times",
                    f"its condition is still true: `{now.text if now is not None else condition.text}`; change a name in it with "
                    "#define_eval inside the loop",
                )
            self._round(loop, body, context)

    def _macro(self, line: Line, start: int, body: Sequence[Line]) -> None:
        header = parse_parameters(line, start, self.findings)
        if header is None:
            return
        name, parameters = header
        overloads = self.macros.setdefault(name.lower(), {})
        known = overloads.get(len(parameters))
        macro = Macro(name, parameters, tuple(body), line.whole())
        if known is not None and known.origin != macro.origin:
            self.findings.warning(
                DEFINED_TWICE, f"the macro `{name}` with {len(parameters)} parameters is defined again", macro.origin,
                notes=(Note("it was defined here", known.origin),), help="the later definition counts from here on",
            )
        overloads[len(parameters)] = macro

    def _for(self, loop: _Loop, start: int, body: Sequence[Line], context: _Context) -> None:
        line = loop.line
        header = re.compile(r"\s*([A-Za-z_]\w*)\s*").match(line.text, start)
        if header is None:
            self.findings.error(
                HASH_MALFORMED, "#for needs a name and a list", line.whole(), help="write `#for name [value, value, ...]`"
            )
            return
        values = self._names.substitution.line(stripped(line, header.end(), len(line.text)))
        if values is None:
            return
        text = values.text
        bracketed = text[:1] in ("[", "(") and matching(text, 0) == len(text) - 1
        inner = (1, len(text) - 1) if bracketed else (0, len(text))
        key = header.group(1).lower()
        before = self.defines.get(key)
        for value in split_arguments(values, *inner):
            self.defines[key] = Define(header.group(1), None, value.text, line.whole(), evaluated=True)
            self._round(loop, body, context)
        if before is not None:
            self.defines[key] = before
        else:
            self.defines.pop(key, None)

    # Single directives

    def _directive(self, word: str, line: Line, hash_word: re.Match[str], context: _Context) -> None:
        if word == "include":
            found = self._files.include(line, hash_word.end(), context.files)
            if found is not None:
                opened, lines = found
                inner = context._replace(files=(*context.files, opened))
                self.run(at_level(lines, context.frames, context.level) if context.level else lines, inner)
            return
        action = self._names.actions.get(word)
        if action is not None:
            action(line, hash_word.end())
            return
        origin = line.origin(hash_word.start(1) - 1 if word else hash_word.end() - 1, hash_word.end())
        if word in ("endm", "endloop"):
            opener = "#macro" if word == "endm" else "#while, #for or #repeat"
            self.findings.error(HASH_BLOCK_UNOPENED, f"#{word} without {opener}", origin)
            return
        known = [*self._names.actions, "include", *OPENING, *FOLLOWING, "macro", "endm", *_LOOPS, "endloop"]
        near = nearest(word, known)
        self.findings.error(
            HASH_UNKNOWN, f"there is no directive `#{hash_word.group(1)}`", origin,
            help=None if near is None else f"did you mean `#{near.name}`?",
            edits=() if near is None else near.edits(origin, f"#{hash_word.group(1)}", f"#{near.name}"),
        )
