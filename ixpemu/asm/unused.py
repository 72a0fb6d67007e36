"""Registers and signals that are declared and never used: for `ixpemu lint`, which is told more than an assembly.

A name in a part that an #if leaves out, or in a macro that is not called, may be used by another assembly of the same text. It is
told all the same, but there is an edit that removes the declaration only where the word stands nowhere else in what was read.
"""

from __future__ import annotations

import re

from ixpemu import codes
from ixpemu.asm.findings import Findings
from ixpemu.asm.program import Program
from ixpemu.diagnostics import Edit, Origin, Sources

_DECLARATION = re.compile(r"\s*\.(?:reg|sig)((?:\s+[\w$@\[\]]+)+)\s*$", re.IGNORECASE)
_NAME = re.compile(r"\s+([\w$@]+)(?:\[\w+\])?")
_QUALIFIERS = frozenset(("read", "write", "global", "volatile"))


def report(program: Program, file: str, findings: Findings) -> None:
    """Adds a warning for each name that `file` declares and nothing in the program uses. Names that other microengines use, and
    those of included files, which are there for whoever includes them, are left out."""
    used = {symbol.origin for table in (program.symbols, program.signals) for symbol in table.values()}
    for spelling, origin in program.declarations:
        if origin in used or origin.expansions or origin.span.file != file:
            continue
        findings.warning(
            codes.NEVER_REFERENCED, f"`{spelling}` is declared and never used", origin,
            help="leave the declaration out, or say `volatile` if something else uses the register",
            edits=_removal(spelling, origin, program.sources),
        )


def _removal(spelling: str, origin: Origin, sources: Sources) -> tuple[Edit, ...]:
    """The edit that takes one name out of its declaration, with the whole line where it is the last one."""
    span = origin.span
    line = sources.line(span)
    match = _DECLARATION.match(line or "")
    if line is None or match is None or _occurrences(spelling, sources) != 1:
        return ()
    names = [one for one in _NAME.finditer(line, match.start(1)) if one.group(1).lower() not in _QUALIFIERS]
    if len(names) == 1:
        return (Edit(span.file, span.line, 1, line, ""),)
    found = next((one for one in names if one.start(1) == span.column - 1), None)
    return () if found is None else (Edit(span.file, span.line, found.start() + 1, found.group(), ""),)


def _occurrences(spelling: str, sources: Sources) -> int:
    """How often the word stands in all texts that were read, comments included."""
    word = re.compile(rf"(?<![\w$@]){re.escape(spelling)}(?!\w)", re.IGNORECASE)
    return sum(len(word.findall(line)) for lines in sources.lines.values() for line in lines)
