"""`#macro` definitions and calls: how a definition looks, how a call is found in a line, and the body with arguments put in.

When a body is expanded, and with what `#define` names, is `preprocess`'s business.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ixpemu.asm.findings import Findings
from ixpemu.asm.preprocess_text import WORDS, matching, replace_words, split_arguments, stripped, words_of
from ixpemu.asm.source import Line
from ixpemu.codes import HASH_MALFORMED, MACRO_ARGUMENTS, MACRO_CALL
from ixpemu.diagnostics import MacroFrame, Note, Origin

HASH = re.compile(r"\s*#\s*(\w*)")
_HEADER = re.compile(r"\s*([A-Za-z_]\w*)\s*")
_CALL = re.compile(r"\s*(?:[A-Za-z_]\w*#\s*:\s*)*([A-Za-z_]\w*)\s*(?=([\[(]|$))")
_LABELS = re.compile(r"\s*(?:[A-Za-z_]\w*#\s*:\s*)*")


@dataclass(frozen=True, slots=True)
class Macro:
    """A `#macro`: its body is text until it is called."""

    name: str
    parameters: tuple[str, ...]
    body: tuple[Line, ...]
    origin: Origin


@dataclass(frozen=True, slots=True)
class Call:
    """A statement that calls a macro. `labels_end`: where the labels before it end; `start`..`end`: the call itself."""

    macro: Macro
    arguments: tuple[Line, ...]
    labels_end: int
    start: int
    end: int


def parse_parameters(line: Line, start: int, findings: Findings) -> tuple[str, tuple[str, ...]] | None:
    """Name and parameters of the definition whose text begins at `start`: `name`, `name(a, b)` or `name[a, b]`."""
    header = _HEADER.match(line.text, start)
    if header is None:
        findings.error(
            HASH_MALFORMED, "the macro has no name", line.whole(),
            help="write `#macro name(parameter, parameter)` or `#macro name`",
        )
        return None
    rest = stripped(line, header.end(), len(line.text))
    parameters: list[str] = []
    if rest.text:
        closing = matching(rest.text, 0) if rest.text[0] in "[(" else None
        if closing is None or closing != len(rest.text) - 1:
            findings.error(
                HASH_MALFORMED, "the parameters of a macro stand in one pair of brackets", rest.whole(),
                help=f"write `#macro {header.group(1)}(parameter, parameter)`",
            )
            return None
        for piece in split_arguments(rest, 1, closing):
            if WORDS.fullmatch(piece.text) is None:
                findings.error(HASH_MALFORMED, f"`{piece.text}` is no name for a parameter", piece.whole())
                return None
            if piece.text.lower() in (name.lower() for name in parameters):
                findings.error(HASH_MALFORMED, f"there are two parameters `{piece.text}`", piece.whole())
                return None
            parameters.append(piece.text)
    return header.group(1), tuple(parameters)


def find_call(line: Line, macros: Mapping[str, Mapping[int, Macro]], findings: Findings) -> Call | bool:
    """The macro call that the line is. False if it is none; True if it is a bad one, which is in `findings` then."""
    match = _CALL.match(line.text)
    if match is None:
        return False
    overloads = macros.get(match.group(1).lower())
    if overloads is None:
        return False
    start = match.start(1)
    name = match.group(1)
    arguments: list[Line] = []
    end = match.end(1)
    if match.group(2):
        closing = matching(line.text, match.end())
        if closing is None:
            findings.error(
                MACRO_CALL, f"the arguments of the macro `{name}` are never closed", line.origin(match.end(), match.end() + 1)
            )
            return True
        arguments = split_arguments(line, match.end() + 1, closing)
        end = closing + 1
        if not arguments and 0 not in overloads and 1 in overloads:
            arguments = [line.slice(closing, closing)]
    if line.text[end:].strip():
        extra = stripped(line, end, len(line.text))
        findings.error(
            MACRO_CALL, f"`{extra.text}` cannot stand behind a macro call", extra.whole(),
            help="a macro call is a statement of its own; options belong to the instructions inside the macro",
        )
        return True
    macro = overloads.get(len(arguments))
    if macro is None:
        _report_count(line, name, len(arguments), overloads, (start, end), findings)
        return True
    labels = _LABELS.match(line.text)
    return Call(macro, tuple(arguments), labels.end() if labels is not None else 0, start, end)


def _report_count(
    line: Line, name: str, count: int, overloads: Mapping[int, Macro], span: tuple[int, int], findings: Findings
) -> None:
    wanted = sorted(overloads)
    takes = " or ".join(str(number) for number in wanted)
    notes = tuple(
        Note(f"defined here with {number} parameter{'s' * (number != 1)}", overloads[number].origin) for number in wanted
    )
    findings.error(
        MACRO_ARGUMENTS, f"the macro `{name}` takes {takes} argument{'s' * (takes != '1')}, not {count}", line.origin(*span),
        notes=notes,
    )


def labels_of(line: Line) -> Line:
    """The labels that a line begins with."""
    labels = _LABELS.match(line.text)
    return line.slice(0, labels.end() if labels is not None else 0)


def instantiate(call: Call, frames: tuple[MacroFrame, ...], level: int) -> list[Line]:
    """The lines of the body with the arguments in place of the parameters, at expansion `level`."""
    arguments = {
        name.lower(): argument for name, argument in zip(call.macro.parameters, call.arguments, strict=True)
    }
    lines = at_level(call.macro.body, frames, level)
    if not arguments:
        return lines
    names = arguments.keys()
    for index, body in enumerate(lines):
        if not names.isdisjoint(words_of(body.text)):
            hash_word = HASH.match(body.text)
            lines[index] = replace_words(body, hash_word.end() if hash_word is not None else 0, arguments.get)
    return lines


def at_level(lines: Sequence[Line], frames: tuple[MacroFrame, ...], level: int) -> list[Line]:
    """The lines as written at another level of expansion."""
    return [Line(file, text, marks, frames, level) for file, text, marks, _, _ in lines]
