"""`#if` and its kin: which lines of a file, a macro's body or a loop's body count.

What a condition is worth is `preprocess_functions`'s work; a condition is asked for only where its branch may be taken.
"""

from __future__ import annotations

from dataclasses import dataclass

from ixpemu.asm.findings import Findings
from ixpemu.asm.preprocess_functions import Conditions
from ixpemu.asm.preprocess_text import WORDS, stripped
from ixpemu.asm.source import Line
from ixpemu.codes import HASH_BLOCK_OPEN, HASH_BLOCK_UNOPENED, HASH_MALFORMED
from ixpemu.diagnostics import Note

OPENING = ("if", "ifdef", "ifndef")
FOLLOWING = ("elif", "else", "endif")


@dataclass(slots=True)
class _Open:
    """An open #if. `outer`: whether the lines around it count; `taken`: whether a branch was chosen; `active`: this branch is."""

    line: Line
    outer: bool
    taken: bool
    active: bool
    last: bool = False      # behind #else


class Branches:
    """The conditionals that are open at a line of one file or body."""

    def __init__(self, conditions: Conditions, findings: Findings) -> None:
        self._conditions = conditions
        self._findings = findings
        self._open: list[_Open] = []
        self.active = True      # whether the lines count here

    def run(self, word: str, line: Line, start: int) -> None:
        """Runs the directive `word`, one of `OPENING` or `FOLLOWING`, whose text begins at `start`."""
        if word in OPENING:
            chosen = self.active and self._test(word, line, start)
            self._open.append(_Open(line, self.active, chosen, chosen))
        elif not self._open:
            self._findings.error(HASH_BLOCK_UNOPENED, f"#{word} without #if", line.whole())
        elif word == "endif":
            self._open.pop()
        else:
            self._next_branch(word, line, start)
        self.active = not self._open or self._open[-1].active

    def _next_branch(self, word: str, line: Line, start: int) -> None:
        current = self._open[-1]
        if current.last and current.outer:
            self._findings.error(
                HASH_BLOCK_UNOPENED, f"#{word} behind #else", line.whole(), notes=(Note("the #if is here", current.line.whole()),)
            )
            return
        current.last = current.last or word == "else"
        current.active = current.outer and not current.taken and (current.last or self._test("if", line, start))
        current.taken = current.taken or current.active

    def finish(self) -> None:
        """Reports the conditionals that are still open."""
        for conditional in self._open:
            self._findings.error(
                HASH_BLOCK_OPEN, "this conditional is never closed", conditional.line.whole(), help="end it with #endif"
            )

    def _test(self, word: str, line: Line, start: int) -> bool:
        rest = stripped(line, start, len(line.text))
        if word == "if":
            return bool(number(self._conditions, self._findings, line, rest))
        if WORDS.fullmatch(rest.text) is None:
            self._findings.error(HASH_MALFORMED, f"#{word} needs one name", line.whole(), help=f"write `#{word} NAME`")
            return False
        return self._conditions.is_defined(rest.text) == (word == "ifdef")


def number(conditions: Conditions, findings: Findings, line: Line, expression: Line) -> int | None:
    """The number that the expression of the directive on `line` is worth; None after a message."""
    if not expression.text:
        findings.error(
            HASH_MALFORMED, "an expression is missing here", line.whole(), help="write a condition or number behind it"
        )
        return None
    return conditions.number(expression)
