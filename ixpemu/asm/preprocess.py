"""The preprocessor: `#` directives, macros and includes; out come plain statements that know where they came from.

It works line by line on text and knows neither instructions nor `.` directives. Names are case-insensitive. `#define` replaces
words, `#macro` replaces statements; the lines that come out have every name substituted. Labels in a macro belong to that one
expansion: each character of a line carries the number of the expansion it was written in, and `Preprocessed.parents` says which
called which.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ixpemu.asm.findings import Findings, Stopped
from ixpemu.asm.preprocess_files import Files
from ixpemu.asm.preprocess_macros import HASH, Call, Macro, at_level, find_call, instantiate, parse_parameters
from ixpemu.asm.preprocess_names import Names
from ixpemu.asm.preprocess_text import WORDS, Define, RunawayLine, matching, split_arguments, stripped
from ixpemu.asm.source import Line
from ixpemu.codes import DEFINED_TWICE, EXPANSION_LIMIT, HASH_BLOCK_OPEN, HASH_BLOCK_UNOPENED, HASH_MALFORMED, HASH_UNKNOWN
from ixpemu.diagnostics import MacroFrame, Note, Sources

# A control store holds 4,096 words, the largest of the family 8,192. What goes far beyond is a loop without an end, and that
# should be told within a second.
MOST_LINES = 60_000         # lines looked at, loops and macros unrolled
MOST_STATEMENTS = 12_288    # lines that come out
MOST_ROUNDS = 4_096         # of one loop
DEEPEST = 50                # macros within macros

# What every program can test. `__PREPROC32` says that arithmetic is 32 bits wide.
PREDEFINED = {"__IXPEMU": "1", "__IXP2400": "1", "__IXP2XXX": "1", "__PREPROC32": "1"}

_LOOPS = ("while", "for", "repeat")
_CONDITIONALS = ("if", "ifdef", "ifndef")


@dataclass(slots=True)
class Preprocessed:
    """The statements in order.

    `parents[n]` is the expansion that called expansion n; 0 is no expansion, its own parent. `defines` and `macros`: the
    names at the end, by their lower case; macros by their number of parameters too.
    """

    lines: list[Line] = field(default_factory=list)
    parents: list[int] = field(default_factory=lambda: [0])
    sources: Sources = field(default_factory=Sources)
    defines: dict[str, Define] = field(default_factory=dict)
    macros: dict[str, dict[int, Macro]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Context:
    """Where lines are being run: in which expansion, behind which calls, how deep."""

    level: int = 0
    frames: tuple[MacroFrame, ...] = ()
    depth: int = 0
    files: tuple[Path, ...] = ()


@dataclass(slots=True)
class _Conditional:
    """An open #if. `outer`: whether the lines around it count; `taken`: whether a branch was chosen; `active`: this branch is."""

    line: Line
    outer: bool
    taken: bool
    active: bool
    last: bool = False      # behind #else


def preprocess(
    file: str,
    text: str,
    findings: Findings,
    include: Sequence[str | Path] = (),
    define: Mapping[str, str | int] | None = None,
    result: Preprocessed | None = None,
) -> Preprocessed:
    """Preprocesses `text`, which came from `file` (or is called so). Mistakes go to `findings`; raises `Stopped` with those.

    `result`, if given, is filled, so that what was done until then is there even so.
    """
    result = result if result is not None else Preprocessed()
    preprocessor = Preprocessor(findings, [Path(folder) for folder in include], result)
    for name, value in (PREDEFINED | {name: str(value) for name, value in (define or {}).items()}).items():
        preprocessor.defines[name.lower()] = Define(name, None, value)
    preprocessor.run_text(file, text, _Context(files=(Path(file).resolve(),) if file[:1] != "<" else ()))
    return result


class Preprocessor:
    """The state of one run: names, macros, the lines so far, and the limits."""

    def __init__(self, findings: Findings, include: Sequence[Path], result: Preprocessed) -> None:
        self.findings = findings
        self.result = result
        self.defines = self.result.defines
        self.macros = result.macros
        self._names = Names(self.defines, self.macros, findings)
        self._files = Files(include, result.sources, self._names.substitution, findings)
        self._work = 0

    def run_text(self, file: str, text: str, context: _Context) -> None:
        """Runs the lines of a text."""
        self.run(self._files.text(file, text), context)

    def run(self, lines: Sequence[Line], context: _Context) -> None:
        """Runs lines of a file, a macro's body or a loop's body: conditionals and blocks must be closed within."""
        conditionals: list[_Conditional] = []
        index = 0
        while index < len(lines):
            self._count_work(lines[index])
            try:
                index = self._line(lines, index, conditionals, context)
            except RunawayLine as error:
                self._stop(lines[index], str(error))
        for conditional in conditionals:
            self.findings.error(
                HASH_BLOCK_OPEN, "this conditional is never closed", conditional.line.whole(), help="end it with #endif"
            )

    def _line(self, lines: Sequence[Line], index: int, conditionals: list[_Conditional], context: _Context) -> int:
        """Runs the line at `index`, or the block that it opens. Returns the index of the next line to run."""
        line = lines[index]
        active = not conditionals or conditionals[-1].active
        hash_word = HASH.match(line.text)
        if hash_word is None:
            if active:
                self._statement(line, context)
            return index + 1
        word = hash_word.group(1).lower()
        if word in _CONDITIONALS or word in ("elif", "else", "endif"):
            self._conditional(word, line, hash_word.end(), conditionals)
        elif active and (word == "macro" or word in _LOOPS):
            end = self._block_end(lines, index, word)
            if end is None:
                return len(lines)
            self._block(word, line, hash_word.end(), lines[index + 1:end], context)
            return end + 1
        elif active:
            self._directive(word, line, hash_word, context)
        return index + 1

    def _count_work(self, line: Line) -> None:
        self._work += 1
        if self._work > MOST_LINES:
            self._stop(line, f"macros, loops and includes make more than {MOST_LINES:,} lines")

    def _stop(self, line: Line, message: str) -> None:
        self.findings.error(
            EXPANSION_LIMIT, message, line.whole(),
            help="look for a loop whose condition never ends, or a macro that calls itself",
        )
        raise Stopped

    # Statements and macro calls

    def _statement(self, line: Line, context: _Context) -> None:
        line = self._names.substitution.line(line)
        if self.macros and self._macro_call(line, context):
            return
        if line.text.strip():
            self.result.lines.append(line)
            if len(self.result.lines) > MOST_STATEMENTS:
                self._stop(line, f"macros, loops and includes make more than {MOST_STATEMENTS:,} statements")

    def _macro_call(self, line: Line, context: _Context) -> bool:
        call = find_call(line, self.macros, self.findings)
        if isinstance(call, bool):
            return call
        if line.text[: call.labels_end].strip():
            self.result.lines.append(line.slice(0, call.labels_end))
        if context.depth >= DEEPEST:
            self._stop(line, f"macros call one another more than {DEEPEST} deep")
        self._expand(line, call, context)
        return True

    def _expand(self, line: Line, call: Call, context: _Context) -> None:
        level = len(self.result.parents)
        self.result.parents.append(context.level)
        frames = (MacroFrame(call.macro.name, line.span(call.start, call.end)), *line.frames)
        self.run(instantiate(call, frames, level), _Context(level, frames, context.depth + 1, context.files))

    # Conditionals

    def _conditional(self, word: str, line: Line, start: int, conditionals: list[_Conditional]) -> None:
        rest = stripped(line, start, len(line.text))
        if word in _CONDITIONALS:
            outer = not conditionals or conditionals[-1].active
            chosen = outer and self._test(word, line, rest)
            conditionals.append(_Conditional(line, outer, chosen, chosen))
            return
        if not conditionals:
            self.findings.error(HASH_BLOCK_UNOPENED, f"#{word} without #if", line.whole())
            return
        current = conditionals[-1]
        if word == "endif":
            conditionals.pop()
            return
        if current.last:
            self.findings.error(
                HASH_BLOCK_UNOPENED, f"#{word} behind #else", line.whole(), notes=(Note("the #if is here", current.line.whole()),)
            )
            return
        if word == "else":
            current.last = True
            chosen = current.outer and not current.taken
        else:
            chosen = current.outer and not current.taken and self._test("if", line, rest)
        current.active = chosen
        current.taken = current.taken or chosen

    def _test(self, word: str, line: Line, rest: Line) -> bool:
        if word == "if":
            return bool(self._number(rest if rest.text else line, rest.text))
        if WORDS.fullmatch(rest.text) is None:
            self.findings.error(HASH_MALFORMED, f"#{word} needs one name", line.whole(), help=f"write `#{word} NAME`")
            return False
        return (rest.text.lower() in self.defines or rest.text.lower() in self.macros) == (word == "ifdef")

    def _number(self, place: Line, text: str) -> int | None:
        """The number that an expression is worth; None after a message."""
        if not text:
            self.findings.error(HASH_MALFORMED, "an expression is missing here", place.whole())
            return None
        return self._names.conditions.number(place)

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
        elif word == "repeat":
            count = self._number(stripped(line, start, len(line.text)), line.text[start:].strip()) or 0
            for done in range(count):
                self._round(line, done, body, context)
        elif word == "while":
            condition = stripped(line, start, len(line.text))
            done = 0
            while self._number(condition, condition.text):
                self._round(line, done, body, context)
                done += 1
        else:
            self._for(line, start, body, context)

    def _round(self, line: Line, done: int, body: Sequence[Line], context: _Context) -> None:
        """Runs the body of the loop that `line` opens once more, after `done` times."""
        if done >= MOST_ROUNDS:
            self._stop(line, f"this loop runs more than {MOST_ROUNDS:,} times")
        self._count_work(line)
        self.run(body, context)

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

    def _for(self, line: Line, start: int, body: Sequence[Line], context: _Context) -> None:
        header = re.compile(r"\s*([A-Za-z_]\w*)\s*").match(line.text, start)
        if header is None:
            self.findings.error(
                HASH_MALFORMED, "#for needs a name and a list", line.whole(), help="write `#for name [value, value, ...]`"
            )
            return
        values = self._names.substitution.line(stripped(line, header.end(), len(line.text)))
        text = values.text
        bracketed = text[:1] in ("[", "(") and matching(text, 0) == len(text) - 1
        inner = (1, len(text) - 1) if bracketed else (0, len(text))
        key = header.group(1).lower()
        before = self.defines.get(key)
        for value in split_arguments(values, *inner):
            self._count_work(line)
            self.defines[key] = Define(header.group(1), None, value.text, line.whole(), evaluated=True)
            self.run(body, context)
        if before is not None:
            self.defines[key] = before
        else:
            self.defines.pop(key, None)

    # Single directives

    def _directive(self, word: str, line: Line, hash_word: re.Match[str], context: _Context) -> None:
        if word == "include":
            found = self._files.include(line, hash_word.end(), context.files)
            if found is not None:
                path, lines = found
                inner = _Context(context.level, context.frames, context.depth, (*context.files, path))
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
        known = [*self._names.actions, "include", *_CONDITIONALS, "elif", "else", "endif", "macro", "endm", *_LOOPS, "endloop"]
        close = difflib.get_close_matches(word, known, 1)
        self.findings.error(
            HASH_UNKNOWN, f"there is no directive `#{hash_word.group(1)}`", origin,
            help=f"did you mean `#{close[0]}`?" if close else None,
        )
