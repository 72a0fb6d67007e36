"""`#define`, `#define_eval`, `#undef` and the messages `#error`, `#warning`, `#info`, `#pragma`: directives of one line.

They change the names and report; they make no lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, MutableMapping, Set
from typing import Any

from ixpemu.asm.findings import Findings
from ixpemu.asm.preprocess_functions import Conditions
from ixpemu.asm.preprocess_macros import HASH
from ixpemu.asm.preprocess_text import WORDS, Define, Substitution, matching, split_arguments, stripped
from ixpemu.asm.source import Line
from ixpemu.codes import DEFINED_TWICE, HASH_MALFORMED, HASH_UNSUPPORTED, ON_REQUEST, PRAGMA_POP, USER_ERROR, USER_WARNING
from ixpemu.diagnostics import Diagnostic, Note, Severity

_NAME = re.compile(r"\s*([A-Za-z_]\w*)\s*")
_HEADER = re.compile(r"\s*([A-Za-z_]\w*)(\()?")
_LEVEL = re.compile(r"""\s*\d+\s+(?=["'])""")
_STRING = re.compile(r"""'[^']*'|"[^"]*"|[\[\]()]""")
_PRAGMA_WARNING = re.compile(r"\s*warning\s*\(([^()]*)\)\s*,?", re.IGNORECASE)
_PRAGMA_OPTIMIZE = re.compile(r'\s*optimi[sz]e\s*\(\s*(?:""\s*,\s*)?(on|off)\s*\)\s*', re.IGNORECASE)
_PRAGMA_CLAUSE = re.compile(r"(push|pop)|(disable|default|enable)\s*:\s*((?:IXP)?\d+(?:\s+(?:IXP)?\d+)*)", re.IGNORECASE)
_ON_REQUEST = frozenset(-code for code in ON_REQUEST)


class Names:
    """Carries out the directives of one line.

    `defines` and `macros`, by lower case, are the caller's, and change; so does what `findings` leaves out. `linked` are the
    names whose values only the linker knows. `keeps_order`: what comes out now is not to be moved.
    """

    def __init__(
        self, defines: dict[str, Define], macros: MutableMapping[str, Any], linked: Set[str], findings: Findings
    ) -> None:
        self.defines = defines
        self.findings = findings
        self.substitution = Substitution(defines, findings)
        self.conditions = Conditions(self.substitution, macros, linked, findings)
        self._macros = macros
        self.keeps_order = False
        self._pushed: list[frozenset[int]] = []
        self.actions: dict[str, Callable[[Line, int], None]] = {
            "define": self._define, "define_eval": self._define_eval, "undef": self._undef,
            "error": self._message, "warning": self._message, "info": self._message, "pragma": self._pragma,
        }

    def _define(self, line: Line, start: int) -> None:
        header = _HEADER.match(line.text, start)
        if header is None:
            self.findings.error(HASH_MALFORMED, "#define needs a name", line.whole(), help="write `#define NAME text`")
            return
        parameters: tuple[str, ...] | None = None
        body_start = header.end()
        if header.group(2):
            closing = matching(line.text, header.end() - 1)
            pieces = split_arguments(line, header.end(), closing) if closing is not None else []
            names = [piece.text.lower() for piece in pieces]
            if closing is None or any(WORDS.fullmatch(name) is None for name in names) or len(set(names)) < len(names):
                self.findings.error(
                    HASH_MALFORMED, "the parameters of a #define are different names in parentheses", line.whole(),
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

    def _define_eval(self, line: Line, start: int) -> None:
        header = _NAME.match(line.text, start)
        if header is None or not line.text[header.end():].strip():
            self.findings.error(
                HASH_MALFORMED, "#define_eval needs a name and an expression", line.whole(),
                help="write `#define_eval NAME expression`",
            )
            return
        value = self.conditions.value(stripped(line, header.end(), len(line.text)))
        if value is not None:
            self._set(Define(header.group(1), None, str(value), line.whole(), evaluated=True))

    def _undef(self, line: Line, start: int) -> None:
        name = line.text[start:].strip()
        if WORDS.fullmatch(name) is None:
            self.findings.error(HASH_MALFORMED, "#undef needs one name", line.whole(), help="write `#undef NAME`")
            return
        self.defines.pop(name.lower(), None)
        self._macros.pop(name.lower(), None)

    def _message(self, line: Line, start: int) -> None:
        hash_word = HASH.match(line.text)
        word = hash_word.group(1).lower() if hash_word is not None else "error"
        substituted = self.substitution.line(line, start)
        if substituted is None:
            return
        code = USER_ERROR if word == "error" else USER_WARNING
        severity = {"error": Severity.ERROR, "warning": Severity.WARNING}.get(word, Severity.NOTE)
        self.findings.add(Diagnostic(code, self._words(substituted, start) or f"#{word}", severity, line.whole()))

    def _words(self, line: Line, start: int) -> str:
        """The text of a message: quoted texts without their quotes, expressions behind them as their values, or free text."""
        level = _LEVEL.match(line.text, start)
        if level is not None:
            start = level.end()
        if line.text[start:].lstrip()[:1] not in ("'", '"'):
            return line.text[start:].strip()
        parts: list[str] = []
        depth = 0
        for match in _STRING.finditer(line.text, start):
            sign = match.group()
            if sign in "([":
                depth += 1
            elif sign in ")]":
                depth -= 1
            elif depth == 0:        # a text in brackets is an argument of a function
                parts += [self._expression(line, start, match.start()), sign[1:-1].strip()]
                start = match.end()
        parts.append(self._expression(line, start, len(line.text)))
        return " ".join(filter(None, parts))

    def _expression(self, line: Line, start: int, end: int) -> str:
        pieces = split_arguments(line, start, end)
        return " ".join(self.conditions.shown(piece) for piece in pieces if piece.text)

    def _pragma(self, line: Line, start: int) -> None:
        if (optimize := _PRAGMA_OPTIMIZE.fullmatch(line.text, start)) is not None:
            self.keeps_order = optimize.group(1).lower() == "off"
            return
        position = start
        known = False
        while (clauses := _PRAGMA_WARNING.match(line.text, position)) is not None:
            known = True
            for clause in split_arguments(line, clauses.start(1), clauses.end(1)):
                self._pragma_clause(clause)
            position = clauses.end()
        if not known:
            self.findings.warning(
                HASH_UNSUPPORTED, "this #pragma is not known and does nothing", line.whole(),
                help="known are `#pragma warning(...)` with push, pop, disable:NUMBER, enable:NUMBER and default:NUMBER, and "
                "`#pragma optimize(off)` and `(on)`",
            )
        elif line.text[position:].strip():
            self._bad_pragma(stripped(line, position, len(line.text)))

    def _pragma_clause(self, clause: Line) -> None:
        match = _PRAGMA_CLAUSE.fullmatch(clause.text)
        if match is None:
            self._bad_pragma(clause)
            return
        silenced = self.findings.silenced
        if match.group(1):
            if match.group(1).lower() == "push":
                self._pushed.append(silenced)
            elif self._pushed:
                self.findings.silenced = self._pushed.pop()
            else:
                self.findings.warning(
                    PRAGMA_POP, "nothing was pushed that could be popped", clause.whole(),
                    help="`#pragma warning(push)` keeps the present state for a later pop",
                )
            return
        codes = frozenset(int(number.lower().removeprefix("ixp")[:9]) for number in match.group(3).split())
        asked_for = frozenset(-code for code in codes)
        now = {"disable": codes, "enable": asked_for & _ON_REQUEST, "default": frozenset()}[match.group(2).lower()]
        self.findings.silenced = (silenced - codes - asked_for) | now

    def _bad_pragma(self, piece: Line) -> None:
        self.findings.error(
            HASH_MALFORMED, f"`{piece.text}` is no clause of #pragma warning", piece.whole(),
            help="write push, pop, disable:4701, enable:4220 or default:4701, several of them with commas between them",
        )
