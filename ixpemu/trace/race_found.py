"""A data race as it was found, and how it is told. What is one: race_rules.py; how they are found: races.py."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ixpemu import codes
from ixpemu.chip_observe import HOST
from ixpemu.chip_reserved import origin_of
from ixpemu.diagnostics import Diagnostic, Note, Severity
from ixpemu.image import Image
from ixpemu.trace.race_rules import Access

_TITLES = {
    "unordered": (codes.RACE_UNORDERED, "nothing orders these accesses",
                  "let the first thread signal the second when its command is done, hand the word over on a ring, or use an "
                  "atomic command"),
    "lost update": (codes.RACE_LOST_UPDATE, "a write is lost: another thread wrote between this one's read and its write",
                    "read and write without giving up the microengine in between, or read again after the swap"),
    "overwritten": (codes.RACE_OVERWRITTEN, "a thread finds what another one wrote where it had put something itself",
                    "give each context a register of its own, or use it up before the swap"),
}


@dataclass(slots=True)
class Race:
    """Two places of programs that race. `first` and `second`: the first pair of accesses found, of `count`; `taken`: the read or
    write that `second` goes back to. `what`: the first thing they raced on, in words."""

    rule: str
    what: str
    first: Access
    second: Access
    taken: Access | None = None
    count: int = 1
    places: set[str] = field(default_factory=set)

    def diagnostic(self, images: Mapping[int, Image]) -> Diagnostic:
        """The race with both places and what to do about it."""
        code, title, help = _TITLES[self.rule]
        notes = [Note(f"and {_said(self.second)}", origin_of(images.get(self.second.me), self.second.pc))]
        if self.taken is not None:
            notes.append(Note(f"relying on this: {_said(self.taken)}", origin_of(images.get(self.taken.me), self.taken.pc)))
        more = len(self.places) - 1
        times = "" if self.count == 1 else f"; {self.count:,} times" + (f", and on {more:,} other places" if more else "")
        return Diagnostic(
            code, f"race on {self.what}: {title}: {_said(self.first)}{times}", Severity.WARNING,
            origin_of(images.get(self.first.me), self.first.pc), help, tuple(notes),
        )


def _said(access: Access) -> str:
    if access.me == HOST:
        return f"the XScale {access.action} it at cycle {access.cycle:,}"
    return f"microengine {access.me} context {access.ctx} at {access.pc} {access.action} it at cycle {access.cycle:,}"


def as_text(races: Iterable[Race]) -> str:
    """One line for each, for people who look at them in Python."""
    return "\n".join(
        f"{race.rule} on {race.what}: {_said(race.first)}; {_said(race.second)}; {race.count:,} times" for race in races
    )
