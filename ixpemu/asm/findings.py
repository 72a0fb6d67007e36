"""Where the stages of the assembler put what they find wrong, so that one bad line hides nothing and a flood stays readable.

Not for printing: `diagnostics.render` does that.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ixpemu.codes import TOO_MANY_ERRORS
from ixpemu.diagnostics import AssemblyError, Diagnostic, Note, Origin, Severity

MOST_ERRORS = 20


class Stopped(Exception):
    """There is no point in going on, e.g. the limit of errors is reached: the caller reports what `Findings` holds."""


@dataclass(slots=True)
class Findings:
    """The diagnostics of one assembly in the order they were found. Raises `Stopped` behind error number `limit`."""

    limit: int = MOST_ERRORS
    diagnostics: list[Diagnostic] = field(default_factory=list)
    _seen: set[tuple[int, str, Origin | None]] = field(default_factory=set)

    def add(self, diagnostic: Diagnostic) -> None:
        """Keeps the diagnostic unless the very same was found before."""
        key = (diagnostic.code, diagnostic.message, diagnostic.origin)
        if key in self._seen:
            return
        self._seen.add(key)
        self.diagnostics.append(diagnostic)
        if diagnostic.severity is Severity.ERROR and self.errors >= self.limit:
            message = f"{self.limit} errors: nothing behind them was looked at"
            self.diagnostics.append(Diagnostic(TOO_MANY_ERRORS, message, Severity.NOTE))
            raise Stopped

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
