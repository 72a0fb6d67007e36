"""Where the stages of the assembler put what they find wrong, so that one bad line hides nothing and a flood stays readable.

Not for printing: `diagnostics.render` does that.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ixpemu.codes import TOO_MANY_ERRORS
from ixpemu.diagnostics import AssemblyError, Diagnostic, MacroFrame, Note, Origin, Severity

MOST_ERRORS = 20


class Stopped(Exception):
    """There is no point in going on, e.g. the limit of errors is reached: the caller reports what `Findings` holds."""


@dataclass(slots=True)
class Findings:
    """The diagnostics of one assembly in the order they were found. Raises `Stopped` behind error number `limit`.

    `#pragma warning` leaves out warnings by their numbers: `silenced` at the place that the preprocessor is at, `silenced_at` at
    the lines that came out while some were, for the stages behind it.
    """

    limit: int = MOST_ERRORS
    diagnostics: list[Diagnostic] = field(default_factory=list)
    silenced: frozenset[int] = frozenset()
    silenced_at: dict[tuple[str, int, tuple[MacroFrame, ...]], frozenset[int]] = field(default_factory=dict)
    _seen: set[tuple[int, str, Origin | None]] = field(default_factory=set)

    def add(self, diagnostic: Diagnostic) -> None:
        """Keeps the diagnostic unless the very same was found before, or it is a warning that is not wanted here."""
        if diagnostic.severity is not Severity.ERROR and not self.wants(diagnostic.code, diagnostic.origin):
            return
        key = (diagnostic.code, diagnostic.message, diagnostic.origin)
        if key in self._seen:
            return
        self._seen.add(key)
        self.diagnostics.append(diagnostic)
        if diagnostic.severity is Severity.ERROR and self.errors >= self.limit:
            message = f"{self.limit} errors: nothing behind them was looked at"
            self.diagnostics.append(Diagnostic(TOO_MANY_ERRORS, message, Severity.NOTE))
            raise Stopped

    def wants(self, code: int, origin: Origin | None) -> bool:
        """Whether a warning is not switched off at its place."""
        if code in self.silenced:
            return False
        if not self.silenced_at or origin is None:
            return True
        return code not in self.silenced_at.get((origin.span.file, origin.span.line, origin.expansions), frozenset())

    def error(
        self, code: int, message: str, origin: Origin | None, *, help: str | None = None, notes: tuple[Note, ...] = ()
    ) -> None:
        """Adds an error."""
        self.add(Diagnostic(code, message, Severity.ERROR, origin, help, notes))

    def warning(
        self, code: int, message: str, origin: Origin | None, *, help: str | None = None, notes: tuple[Note, ...] = ()
    ) -> None:
        """Adds a warning."""
        self.add(Diagnostic(code, message, Severity.WARNING, origin, help, notes))

    @property
    def errors(self) -> int:
        """How many errors there are."""
        return sum(d.severity is Severity.ERROR for d in self.diagnostics)

    def raise_if_errors(self) -> None:
        """Raises `AssemblyError` with everything found, warnings included, if any of it is an error."""
        if self.errors:
            raise AssemblyError(*self.diagnostics)
