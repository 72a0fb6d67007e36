"""One application run several times with one chip parameter changed: what depends on a figure that nobody is sure of.

Runs go one after the other, each on a new chip from its reset; nothing that ports send is written. Nothing here draws.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ixpemu import codes
from ixpemu.app_file import AppSettings
from ixpemu.app_loads import LIMIT
from ixpemu.diagnostics import user_error
from ixpemu.isa.chipfile import ChipParameters, load_chip
from ixpemu.trace.summary import Latency, RunReport

MOST_VALUES = 100
_FORM = "KEY=V1,V2,...  or  KEY=FIRST..LAST/STEP"


@dataclass(frozen=True, slots=True)
class Question:
    """A parameter (or latency) by name and the values to try, each once, in ascending order."""

    name: str
    values: tuple[int, ...]


def question(text: str, settings: AppSettings, overrides: dict[str, str]) -> Question:
    """`KEY=V1,V2,...` or `KEY=FIRST..LAST/STEP` as a question about the application's chip. What it has now is among the values.

    UserError for another form, an unknown parameter and a value that is out of range.
    """
    name, equals, listed = text.partition("=")
    name = name.strip()
    if not equals or not name or not listed.strip():
        raise user_error(codes.ARGUMENT, f"--sensitivity {text!r} is not of the form KEY=V1,V2,...", help=f"write  {_FORM}")
    if name in overrides:
        raise user_error(codes.ARGUMENT, f"{name} is given by --set and by --sensitivity", help="leave one out")
    file = load_chip(settings.chip)
    values = {file.override(overrides).value(name)}
    for part in listed.split(","):
        for value in _values(text, part.strip()):
            values.add(file.override({**overrides, name: value}).value(name))
            if len(values) > MOST_VALUES:
                raise user_error(codes.ARGUMENT, f"--sensitivity {name} has more than {MOST_VALUES} values",
                                 help="each is a run of its own; take a larger step")
    return Question(name, tuple(sorted(values)))


def _values(text: str, part: str) -> Iterator[int | str]:
    span = re.fullmatch(r"(\d[\d_]*)\.\.(\d[\d_]*)(?:/(\d[\d_]*))?", part)
    if span is None:
        yield part
        return
    first, last, step = int(span[1]), int(span[2]), int(span[3] or 1)
    if first > last or step == 0:
        raise user_error(codes.ARGUMENT, f"--sensitivity {text!r}: {part!r} has no values", help=f"write  {_FORM}")
    yield from range(first, last + 1, step)


@dataclass(frozen=True, slots=True)
class Answer:
    """What one value gave. `now`: the chip file (with other overrides) has this value. Latency is of the type most often sent."""

    value: int
    now: bool
    report: RunReport

    @property
    def kind(self) -> str:
        """The packet type most often sent, empty without any."""
        return max(self.report.types, key=lambda kind: kind.sent).name if any(kind.sent for kind in self.report.types) else ""

    def latency(self, kind: str) -> Latency | None:
        """Of the packets of a type."""
        return next((each.latency for each in self.report.types if each.name == kind), None)

    @property
    def packets_per_second(self) -> float:
        """Frames sent by all ports, in time of the chip."""
        return self.report.sent / self.report.seconds if self.report.cycles else 0.0

    @property
    def lost(self) -> int:
        """Frames that found a receive FIFO full, in all ports."""
        return sum(port.refused.get("receive FIFO full", 0) for port in self.report.ports)

    @property
    def busiest(self) -> str:
        """The part of the chip that was busy for most of the time."""
        load = self.report.loads[0] if self.report.loads else None
        return "-" if load is None else f"{load.name} {load.share:.0%}" + (" !" if load.share >= LIMIT else "")


def ask(
    asked: Question, run: Callable[[dict[str, str]], RunReport], overrides: dict[str, str], chip: ChipParameters,
) -> Iterator[Answer]:
    """Runs for each value of a question, one at a time. `run` takes overrides; `chip` is what they change."""
    now = chip.override(overrides).value(asked.name)
    for value in asked.values:
        yield Answer(value, value == now, run({**overrides, asked.name: str(value)}))


def kind_of(answers: Sequence[Answer]) -> str:
    """The packet type whose latency is compared: the one most often sent in the run with nothing changed."""
    return next((answer.kind for answer in answers if answer.now), "")
