"""The front end of the assembler as one call: text -> preprocess -> parse -> lower -> scope -> `Program`.

It strings the stages together, finds the labels, and owns nothing else of what the stages do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ixpemu.asm.control import CONDITIONAL, Control
from ixpemu.asm.directives import UNSUPPORTED, Directives
from ixpemu.asm.findings import Findings, Stopped
from ixpemu.asm.lower import Lowering
from ixpemu.asm.operands import OperandReader
from ixpemu.asm.output import Output
from ixpemu.asm.parser import parse_line
from ixpemu.asm.preprocess import Preprocessed, preprocess
from ixpemu.asm.preprocess_text import WORDS, matching
from ixpemu.asm.program import Expansion, Program
from ixpemu.asm.scope import Labels, Scopes
from ixpemu.asm.source import Line
from ixpemu.asm.suggestions import joined, nearest, replacement
from ixpemu.asm.syntax import Node, Statement
from ixpemu.codes import (
    DIRECTIVE_UNSUPPORTED,
    FILE_UNREADABLE,
    HASH_BLOCK_OPEN,
    HASH_MALFORMED,
    INCLUDE_CYCLE,
    INCLUDE_MISSING,
    MACRO_UNKNOWN,
    SYNTAX,
)
from ixpemu.diagnostics import AssemblyError, Diagnostic, Edit, Note, Origin, Severity, Sources, Span, UserError
from ixpemu.files import MOST_TEXT, decode, read_bytes
from ixpemu.isa import InstructionSet, instruction_set

_DIRECTIVE = re.compile(r"\s*(\.[A-Za-z_]\w*)")
_UNKNOWN_MACRO = re.compile(r"\s*(?:[A-Za-z_]\w*#\s*:\s*)*([A-Za-z_]\w*)\s*\(")
_LABEL = re.compile(r"\s*([A-Za-z_]\w*#)\s*:")
# After one of these, macros and names are missing that the rest of the text relies on: only its syntax is still worth checking.
_INCOMPLETE = frozenset((INCLUDE_MISSING, INCLUDE_CYCLE, HASH_BLOCK_OPEN, HASH_MALFORMED, FILE_UNREADABLE))


def read_program(
    path: str | Path | None = None,
    *,
    text: str | None = None,
    include: Sequence[str | Path] = (),
    define: Mapping[str, str | int | None] | None = None,
    findings: Findings | None = None,
    require_declarations: bool = False,
) -> Program:
    """The program of the file `path`, or of `text` (`path` then only names it, `<text>` by default).

    `include` are the folders searched by `#include`, `define` the symbols of `-D`. Warnings are left in `findings`. Raises
    `AssemblyError` with every diagnostic where there is an error, at most `findings.MOST_ERRORS` of them. `require_declarations`:
    a register that no .reg declares is an error.
    """
    if findings is None:
        findings = Findings()
    file = str(path) if path is not None else "<text>"
    if text is None:
        text = read_source(file)
    program = Program()
    preprocessed = Preprocessed(sources=program.sources)
    try:
        preprocess(file, text, findings, include, define, preprocessed)
        complete = not any(diagnostic.code in _INCOMPLETE for diagnostic in findings.diagnostics)
        parsed = parse(preprocessed, complete)
        if complete:
            lower(parsed, preprocessed, instruction_set(), findings, program, require_declarations)
        else:
            for line in parsed:
                line.report(findings)
    except Stopped:
        pass
    _explain_names(findings, preprocessed, program.sources)
    findings.raise_if_errors()
    return program


def _explain_names(findings: Findings, preprocessed: Preprocessed, sources: Sources) -> None:
    """Adds a note to errors where a #define name stands for something else: at the place of the error, unless a # directive is
    wrong; or in the line, if the name only differs in case, which is seldom what was meant."""
    for position, diagnostic in enumerate(findings.diagnostics):
        if diagnostic.severity is not Severity.ERROR or diagnostic.origin is None:
            continue
        span = diagnostic.origin.span
        for word in WORDS.finditer(sources.line(span) or ""):
            define = preprocessed.defines.get(word.group().lower())
            if define is None:
                continue
            stands_for = f"`{define.name}`, that is `{define.body}`"
            if define.name != word.group():
                place = Origin(Span(span.file, span.line, word.start() + 1, len(word.group())))
                note = Note(f"case does not count: `{word.group()}` is the #define name {stands_for}", place)
            elif diagnostic.code >= SYNTAX and span.column <= word.start() + 1 < span.column + span.length:
                note = Note(f"this is the #define name {stands_for}", define.origin)
            else:
                continue
            findings.diagnostics[position] = replace(diagnostic, notes=(*diagnostic.notes, note))
            break


def read_source(file: str) -> str:
    """The text of a source file. Raises `AssemblyError` if it cannot be read."""
    try:
        return decode(read_bytes(file, MOST_TEXT))
    except UserError as error:
        diagnostic = error.diagnostics[0]
        raise AssemblyError(replace(diagnostic, origin=Origin(Span(file, 1)))) from error


class Parsed(NamedTuple):
    """A line as it was read, with what is wrong with it; reported in its turn, so that messages come in the order of the text."""

    statement: Statement
    diagnostics: Sequence[Diagnostic]

    def report(self, findings: Findings) -> None:
        """Adds what is wrong with the line."""
        for diagnostic in self.diagnostics:
            findings.add(diagnostic)


def parse(preprocessed: Preprocessed, complete: bool = True) -> list[Parsed]:
    """The statements of all lines. A line that is none keeps at least its labels, so that nobody misses them.

    `complete`: no macro is missing for reasons that have been reported already.
    """
    parsed: list[Parsed] = []
    findings = Findings()
    for line in preprocessed.lines:
        if findings.diagnostics:
            findings = Findings()
        directive = _DIRECTIVE.match(line.text)
        if directive is not None and directive.group(1).lower() in UNSUPPORTED:
            findings.error(
                DIRECTIVE_UNSUPPORTED, f"`{directive.group(1)}` is not supported yet",
                line.origin(directive.start(1), directive.end(1)),
            )
            parsed.append(Parsed(_remains(line), findings.diagnostics))
            continue
        macro = _UNKNOWN_MACRO.match(line.text)
        if macro is not None:
            if complete:
                _report_macro(line, macro, preprocessed, findings)
            parsed.append(Parsed(_remains(line), findings.diagnostics))
            continue
        statement = parse_line(line, findings, CONDITIONAL)
        parsed.append(Parsed(statement if statement is not None else _remains(line), findings.diagnostics or ()))
    return parsed


def _report_macro(line: Line, call: re.Match[str], preprocessed: Preprocessed, findings: Findings) -> None:
    """Only macros are called with parentheses, and this one was not found."""
    name = call.group(1)
    if instruction_set().lookup(name) is not None:
        findings.error(
            MACRO_UNKNOWN, f"`{name}` is an instruction, and its operands stand in square brackets",
            line.origin(call.start(1), call.end(1)), help=f"write `{name}[...]`", edits=_square(line, call.end() - 1),
        )
        return
    near = nearest(name.lower(), preprocessed.macros)
    help_text = "include the file that defines it before this line; instructions take square brackets"
    origin = line.origin(call.start(1), call.end(1))
    edits: tuple[Edit, ...] = ()
    if near is not None:
        meant = next(iter(preprocessed.macros[near.name].values())).name
        help_text, edits = f"did you mean `{meant}`?", near.edits(origin, name, meant)
    findings.error(MACRO_UNKNOWN, f"there is no macro `{name}`", origin, help=help_text, edits=edits)


def _square(line: Line, opening: int) -> tuple[Edit, ...]:
    """The edits that make square brackets of the parentheses around operands."""
    closing = matching(line.text, opening)
    if closing is None:
        return ()
    return joined(
        replacement(line.origin(opening, opening + 1), "(", "["), replacement(line.origin(closing, closing + 1), ")", "]")
    )


def _remains(line: Line) -> Statement:
    """What can be saved of a line that is no statement."""
    labels: list[Node] = []
    position = 0
    while (match := _LABEL.match(line.text, position)) is not None:
        labels.append(Node("label", match.group(1), match.start(1), match.end()))
        position = match.end()
    directive = _DIRECTIVE.match(line.text, position)
    head = Node("bad", directive.group(1).lower() if directive is not None else "", 0, 1)
    return Statement(line, tuple(labels), head, (), ())


def lower(
    parsed: Sequence[Parsed], preprocessed: Preprocessed, isa: InstructionSet, findings: Findings, program: Program,
    require_declarations: bool = False,
) -> None:
    """Fills `program` from statements: names are resolved and instructions made, in the order of the text."""
    labels = Labels(findings, preprocessed.parents)
    statements = [line.statement for line in parsed]
    names = _define_labels(statements, labels)
    scopes = Scopes(findings, require_declarations)
    first = next((statement.head for statement in statements if statement.head is not None or statement.labels), None)
    program.physical = first is not None and first.kind == "directive" and first.text.lower() == ".physical"
    operands = OperandReader(isa, scopes, labels, findings, program.physical)
    lowering = Lowering(isa, operands, findings, list(preprocessed.macros))
    output = Output(program, labels, scopes, isa)
    control = Control(operands, output, findings, program.physical)
    directives = Directives(program, scopes, operands, output, findings, control.names)
    for number, (line, own) in enumerate(zip(parsed, names, strict=True)):
        line.report(findings)
        for label in own:
            output.place(label)
        head = line.statement.head
        if head is None:
            continue
        output.expansion = line.statement.line.base
        if head.kind == "bad":
            scopes.trust_signals = scopes.trust_signals or head.text == ".sig"
            control.recover(head.text, line.statement.line.whole())
        elif head.kind != "directive":
            made = lowering.instruction(line.statement)
            if made is not None:
                output.add(made)
        elif head.text.lower() in control.names:
            control.run(line.statement, statements[number + 1:number + 3])
        else:
            directives.run(line.statement)
    control.finish()
    directives.finish()
    scopes.finish()
    program.end_facts = tuple(output.facts)
    program.labels = dict(labels.table())
    program.expansions = [
        Expansion(call.macro, call.call, parent)
        for call, parent in zip(preprocessed.calls, preprocessed.parents[1:], strict=True)
    ]
    program.kept = frozenset(preprocessed.kept)
    program.symbols, program.signals, program.declarations = scopes.symbols, scopes.signals, scopes.declared


def _define_labels(statements: Sequence[Statement], labels: Labels) -> list[list[str]]:
    """Enters all labels and gives, for each statement, the unique names of its own."""
    names: list[list[str]] = []
    for statement in statements:
        own = []
        for node in statement.labels:
            hash_sign = node.start + len(node.text) - 1
            name = labels.define(
                node.text, statement.line.level(hash_sign), statement.line.origin(node.start, hash_sign + 1)
            )
            if name is not None:
                own.append(name)
        names.append(own)
    return names
