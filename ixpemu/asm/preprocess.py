"""The preprocessor: `#` directives, macros and includes; out come plain statements that know where they came from.

It works line by line on text and knows neither instructions nor `.` directives. Names are case-insensitive. `#define` replaces
words, `#macro` replaces statements; the lines that come out have every name substituted. Labels in a macro belong to that one
expansion: each character of a line carries the number of the expansion it was written in, and `Preprocessed.parents` says which
called which.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ixpemu.asm.findings import Findings, Stopped
from ixpemu.asm.preprocess_functions import Conditions
from ixpemu.asm.preprocess_macros import HASH, Call, Macro, at_level, find_call, instantiate, parse_parameters
from ixpemu.asm.preprocess_text import WORDS, Define, RunawayLine, Substitution, matching, split_arguments, stripped
from ixpemu.asm.source import NEWLINE, Line, logical_lines
from ixpemu.codes import (
    DEFINED_TWICE,
    EXPANSION_LIMIT,
    FILE_UNREADABLE,
    HASH_BLOCK_OPEN,
    HASH_BLOCK_UNOPENED,
    HASH_MALFORMED,
    HASH_UNKNOWN,
    HASH_UNSUPPORTED,
    INCLUDE_CYCLE,
    INCLUDE_MISSING,
    USER_ERROR,
    USER_WARNING,
)
from ixpemu.diagnostics import Diagnostic, MacroFrame, Note, Origin, Severity, Sources

MOST_LINES = 60_000        # lines looked at, loops and macros unrolled; the control store holds 4,096 words
DEEPEST = 50                # macros within macros, files within files

# What every program can test. `__PREPROC32` says that arithmetic is 32 bits wide.
PREDEFINED = {"__IXPEMU": "1", "__IXP2400": "1", "__IXP2XXX": "1", "__PREPROC32": "1"}

_INCLUDE = re.compile(r"""\s*(?:"([^"]+)"|'([^']+)'|<([^>]+)>)\s*$""")
_MESSAGE = re.compile(r"""\s*(?:\d+\s+(?=["']))?(.*?)\s*$""")
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
        self.include = include
        self.result = result
        self.defines = self.result.defines
        self.macros = result.macros
        self._substitution = Substitution(self.defines)
        self._conditions = Conditions(self._substitution, findings)
        self._lines_of: dict[Path, tuple[str, list[Line]]] = {}
        self._work = 0
        self._directives: dict[str, Callable[[Line, int, _Context], None]] = {
            "define": self._define, "define_eval": self._define_eval, "undef": self._undef, "include": self._include,
            "error": self._message, "warning": self._message, "info": self._message, "pragma": self._pragma,
        }

    def run_text(self, file: str, text: str, context: _Context) -> None:
        """Runs the lines of a text."""
        self.result.sources.lines[file] = NEWLINE.split(text)
        self.run(logical_lines(file, text, self.findings), context)

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
        line = self._substitution.line(line)
        if self.macros and self._macro_call(line, context):
            return
        if line.text.strip():
            self.result.lines.append(line)

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
        return self._conditions.number(place)

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
            for _ in range(count):
                self._count_work(line)
                self.run(body, context)
        elif word == "while":
            condition = stripped(line, start, len(line.text))
            while self._number(condition, condition.text):
                self._count_work(line)
                self.run(body, context)
        else:
            self._for(line, start, body, context)

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
        values = self._substitution.line(stripped(line, header.end(), len(line.text)))
        inner = (1, len(values.text) - 1) if matching(values.text, 0) == len(values.text) - 1 else (0, len(values.text))
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
        action = self._directives.get(word)
        if action is not None:
            action(line, hash_word.end(), context)
            return
        origin = line.origin(hash_word.start(1) - 1 if word else hash_word.end() - 1, hash_word.end())
        if word in ("endm", "endloop"):
            opener = "#macro" if word == "endm" else "#while, #for or #repeat"
            self.findings.error(HASH_BLOCK_UNOPENED, f"#{word} without {opener}", origin)
            return
        known = [*self._directives, *_CONDITIONALS, "elif", "else", "endif", "macro", "endm", *_LOOPS, "endloop"]
        close = difflib.get_close_matches(word, known, 1)
        self.findings.error(
            HASH_UNKNOWN, f"there is no directive `#{hash_word.group(1)}`", origin,
            help=f"did you mean `#{close[0]}`?" if close else None,
        )

    def _define(self, line: Line, start: int, context: _Context) -> None:
        header = re.compile(r"\s*([A-Za-z_]\w*)(\()?").match(line.text, start)
        if header is None:
            self.findings.error(HASH_MALFORMED, "#define needs a name", line.whole(), help="write `#define NAME text`")
            return
        parameters: tuple[str, ...] | None = None
        body_start = header.end()
        if header.group(2):
            closing = matching(line.text, header.end() - 1)
            pieces = split_arguments(line, header.end(), closing) if closing is not None else []
            bad = [piece for piece in pieces if WORDS.fullmatch(piece.text) is None]
            if closing is None or bad:
                self.findings.error(
                    HASH_MALFORMED, "the parameters of a #define are names in parentheses", line.whole(),
                    help="leave a blank behind the name if the parenthesis belongs to its text",
                )
                return
            parameters, body_start = tuple(piece.text for piece in pieces), closing + 1
        self._set(Define(header.group(1), parameters, line.text[body_start:].strip(), line.whole()))

    def _set(self, define: Define) -> None:
        known = self.defines.get(define.name.lower())
        same = known is None or (known.body, known.parameters) == (define.body, define.parameters)
        if known is not None and not same and not known.evaluated and not define.evaluated:
            notes = (Note("it was defined here", known.origin),) if known.origin is not None else ()
            self.findings.warning(
                DEFINED_TWICE, f"`{define.name}` is defined again with another text", define.origin, notes=notes,
                help="the later text counts from here on; #undef it first, or use #define_eval for a counter",
            )
        self.defines[define.name.lower()] = define

    def _define_eval(self, line: Line, start: int, context: _Context) -> None:
        header = re.compile(r"\s*([A-Za-z_]\w*)\s*").match(line.text, start)
        if header is None or not line.text[header.end():].strip():
            self.findings.error(
                HASH_MALFORMED, "#define_eval needs a name and an expression", line.whole(),
                help="write `#define_eval NAME expression`",
            )
            return
        value = self._conditions.value(stripped(line, header.end(), len(line.text)))
        if value is not None:
            self._set(Define(header.group(1), None, str(value), line.whole(), evaluated=True))

    def _undef(self, line: Line, start: int, context: _Context) -> None:
        name = line.text[start:].strip()
        if WORDS.fullmatch(name) is None:
            self.findings.error(HASH_MALFORMED, "#undef needs one name", line.whole(), help="write `#undef NAME`")
            return
        self.defines.pop(name.lower(), None)

    def _message(self, line: Line, start: int, context: _Context) -> None:
        hash_word = HASH.match(line.text)
        word = hash_word.group(1).lower() if hash_word is not None else "error"
        text = _MESSAGE.match(self._substitution.line(line, start).text, start)
        words = text.group(1) if text is not None else ""
        if len(words) > 1 and words[0] == words[-1] and words[0] in "'\"":
            words = words[1:-1]
        code = USER_ERROR if word == "error" else USER_WARNING
        severity = {"error": Severity.ERROR, "warning": Severity.WARNING}.get(word, Severity.NOTE)
        self.findings.add(Diagnostic(code, words or f"#{word}", severity, line.whole()))

    def _pragma(self, line: Line, start: int, context: _Context) -> None:
        self.findings.warning(HASH_UNSUPPORTED, "#pragma is not supported yet and does nothing", line.whole())

    def _include(self, line: Line, start: int, context: _Context) -> None:
        rest = self._substitution.line(line, start)
        match = _INCLUDE.match(line.text, start) or _INCLUDE.match(rest.text, start)
        if match is None:
            self.findings.error(
                HASH_MALFORMED, "#include needs a file name", line.whole(),
                help='write `#include "file.uc"` or `#include <file.uc>`',
            )
            return
        name = match.group(1) or match.group(2) or match.group(3)
        where = (line if match.string is line.text else rest).origin(
            match.start(match.lastindex or 0), match.end(match.lastindex or 0)
        )
        beside = [] if match.group(3) or line.file[:1] == "<" else [Path(line.file).parent]
        folders = list(dict.fromkeys([*beside, *self.include]))
        path = next((folder / name for folder in folders if _is_file(folder / name)), None)
        if path is None:
            looked = ", ".join(str(folder) for folder in folders) or "no folder"
            self.findings.error(
                INCLUDE_MISSING, f"there is no file `{name}`", where, help=f"looked in {looked}; -I adds folders"
            )
            return
        resolved = path.resolve()
        if resolved in context.files or len(context.files) >= DEEPEST:
            chain = " -> ".join(file.name for file in (*context.files, resolved)[-6:])
            self.findings.error(
                INCLUDE_CYCLE, f"`{name}` includes itself: {chain}", where,
                help="protect it: #ifndef NAME, #define NAME, ..., #endif",
            )
            return
        lines = self._read(path, resolved, where)
        inner = _Context(context.level, context.frames, context.depth, (*context.files, resolved))
        self.run(at_level(lines, context.frames, context.level) if context.level else lines, inner)

    def _read(self, path: Path, resolved: Path, where: Origin) -> list[Line]:
        known = self._lines_of.get(resolved)
        if known is not None:
            return known[1]
        try:
            text = decode(path.read_bytes())
        except OSError as error:
            self.findings.error(FILE_UNREADABLE, f"`{path}` cannot be read: {error.strerror}", where)
            return []
        file = str(path)
        self.result.sources.lines[file] = NEWLINE.split(text)
        lines = logical_lines(file, text, self.findings)
        self._lines_of[resolved] = (file, lines)
        return lines


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):       # a name no file system takes
        return False


def decode(content: bytes) -> str:
    """The text of a source file: UTF-8, or Latin-1 as old editors wrote it."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")
