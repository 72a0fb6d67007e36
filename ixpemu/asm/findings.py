"""Where the stages of the assembler put what they find wrong, so that one bad line hides nothing and a flood stays readable.

Not for printing: `diagnostics.render` does that.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NoReturn

from ixpemu import codes
from ixpemu.diagnostics import MOST_ALSO, AssemblyError, Diagnostic, Edit, MacroFrame, Note, Origin, Severity, Span

MOST_ERRORS = 20
_MOST_REPEATS = 1000
# Errors about a name: where it is used once more there is nothing else to say.
_OF_NAMES = frozenset((
    codes.HASH_UNKNOWN, codes.MACRO_UNKNOWN, codes.DIRECTIVE_UNKNOWN, codes.DIRECTIVE_UNSUPPORTED, codes.EXPRESSION,
    codes.MNEMONIC_UNKNOWN, codes.OPERAND_WORD, codes.OPTION_UNKNOWN, codes.SIGNAL_UNDECLARED, codes.REGISTER_HALF,
    codes.NAME_KIND, codes.XFER_ORDER_MISSING,
))


class Stopped(Exception):
    """There is no point in going on, e.g. the limit of errors is reached: the caller reports what `Findings` holds."""


@dataclass(slots=True)
class Findings:
    """The diagnostics of one assembly in the order they were found. Raises `Stopped` behind error number `limit`.

    What is found again, in another expansion of the same line or about the same name, is not a diagnostic of its own: its place
    is added to the first one. `#pragma warning` leaves out warnings by their numbers: `silenced` at the place that the
    preprocessor is at, `silenced_at` at the lines that came out while some were, for the stages behind it. A warning that is
    only given on request stands in them with its negative number where it was asked for.
    """

    limit: int = MOST_ERRORS
    diagnostics: list[Diagnostic] = field(default_factory=list)
    silenced: frozenset[int] = frozenset()
    silenced_at: dict[tuple[str, int, tuple[MacroFrame, ...]], frozenset[int]] = field(default_factory=dict)
    reported: int = 0       # findings so far, also those that became a place of another one
    _repeats: int = 0
    _seen: set[tuple[int, str, Origin | None]] = field(default_factory=set)
    _first: dict[tuple[int, str, Span | None], int] = field(default_factory=dict)

    def add(self, diagnostic: Diagnostic) -> None:
        """Keeps the diagnostic unless the very same was found before, or it is a warning that is not wanted here."""
        if diagnostic.severity is not Severity.ERROR and not self.wants(diagnostic.code, diagnostic.origin):
            return
        key = (diagnostic.code, diagnostic.message, diagnostic.origin)
        known = key in self._seen
        self.reported += not known
        if known or self._repeated(diagnostic):
            self._seen.add(key)
            self._repeats += diagnostic.severity is Severity.ERROR
            if self._repeats >= _MOST_REPEATS:
                self._stop(f"so many errors of the same kind that nothing behind the first {_MOST_REPEATS:,} was looked at")
            return
        self._seen.add(key)
        self.diagnostics.append(diagnostic)
        if diagnostic.severity is Severity.ERROR and self.errors >= self.limit:
            self._stop(f"{self.limit} errors: nothing behind them was looked at")

    def _stop(self, message: str) -> NoReturn:
        self.diagnostics.append(Diagnostic(codes.TOO_MANY_ERRORS, message, Severity.NOTE))
        raise Stopped

    def _repeated(self, diagnostic: Diagnostic) -> bool:
        """Whether there is one like it, which then has its place too."""
        if diagnostic.origin is None:
            return False
        span = None if diagnostic.code in _OF_NAMES and diagnostic.severity is Severity.ERROR else diagnostic.origin.span
        position = self._first.setdefault((diagnostic.code, diagnostic.message, span), len(self.diagnostics))
        if position == len(self.diagnostics):
            return False
        first = self.diagnostics[position]
        if len(first.also) < MOST_ALSO:
            self.diagnostics[position] = replace(
                first, also=(*first.also, diagnostic.origin), edits=first.edits + diagnostic.edits
            )
        return True

    def wants(self, code: int, origin: Origin | None) -> bool:
        """Whether a warning is not switched off at its place."""
        if code in self.silenced:
            return False
        here: frozenset[int] = frozenset()
        if self.silenced_at and origin is not None:
            here = self.silenced_at.get((origin.span.file, origin.span.line, origin.expansions), here)
        return -code in here if code in codes.ON_REQUEST else code not in here

    def error(
        self, code: int, message: str, origin: Origin | None, *, help: str | None = None, notes: tuple[Note, ...] = (),
        edits: tuple[Edit, ...] = (),
    ) -> None:
        """Adds an error."""
        self.add(Diagnostic(code, message, Severity.ERROR, origin, help, notes, edits=edits))

    def warning(
        self, code: int, message: str, origin: Origin | None, *, help: str | None = None, notes: tuple[Note, ...] = (),
        edits: tuple[Edit, ...] = (),
    ) -> None:
        """Adds a warning."""
        self.add(Diagnostic(code, message, Severity.WARNING, origin, help, notes, edits=edits))

    @property
    def errors(self) -> int:
        """How many errors there are."""
        return sum(d.severity is Severity.ERROR for d in self.diagnostics)

    def raise_if_errors(self) -> None:
        """Raises `AssemblyError` with everything found, warnings included, if any of it is an error."""
        if self.errors:
            raise AssemblyError(*self.diagnostics)
