"""`#define`, `#define_eval`, `#undef` and the messages `#error`, `#warning`, `#info`, `#pragma`: directives of one line.

They change the names and report; they make no lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container

from ixpemu.asm.findings import Findings
from ixpemu.asm.preprocess_functions import Conditions
from ixpemu.asm.preprocess_macros import HASH
from ixpemu.asm.preprocess_text import WORDS, Define, Substitution, matching, split_arguments, stripped
from ixpemu.asm.source import Line
from ixpemu.codes import DEFINED_TWICE, HASH_MALFORMED, HASH_UNSUPPORTED, USER_ERROR, USER_WARNING
from ixpemu.diagnostics import Diagnostic, Note, Severity

_MESSAGE = re.compile(r"""\s*(?:\d+\s+(?=["']))?(.*?)\s*$""")


class Names:
    """Carries out the directives of one line. `defines` and `macros`, by lower case, are the caller's; `defines` changes."""

    def __init__(self, defines: dict[str, Define], macros: Container[str], findings: Findings) -> None:
        self.defines = defines
        self.findings = findings
        self.substitution = Substitution(defines)
        self.conditions = Conditions(self.substitution, macros, findings)
        self.actions: dict[str, Callable[[Line, int], None]] = {
            "define": self._define, "define_eval": self._define_eval, "undef": self._undef,
            "error": self._message, "warning": self._message, "info": self._message, "pragma": self._pragma,
        }

    def _define(self, line: Line, start: int) -> None:
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

    def _define_eval(self, line: Line, start: int) -> None:
        header = re.compile(r"\s*([A-Za-z_]\w*)\s*").match(line.text, start)
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

    def _message(self, line: Line, start: int) -> None:
        hash_word = HASH.match(line.text)
        word = hash_word.group(1).lower() if hash_word is not None else "error"
        text = _MESSAGE.match(self.substitution.line(line, start).text, start)
        words = text.group(1) if text is not None else ""
        if len(words) > 1 and words[0] == words[-1] and words[0] in "'\"":
            words = words[1:-1]
        code = USER_ERROR if word == "error" else USER_WARNING
        severity = {"error": Severity.ERROR, "warning": Severity.WARNING}.get(word, Severity.NOTE)
        self.findings.add(Diagnostic(code, words or f"#{word}", severity, line.whole()))

    def _pragma(self, line: Line, start: int) -> None:
        self.findings.warning(HASH_UNSUPPORTED, "#pragma is not supported yet and does nothing", line.whole())
