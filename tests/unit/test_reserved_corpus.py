"""Every kind of reserved behaviour has a case in tests/corpus/reserved: a program that does it, and one, as near as can be, that
does not.

Sections of a case: `run` has lines `KEY VALUE` (`contexts` mask of the contexts that start, `cycles`, `ring N BASE` for a scratch
ring that is set up before, `cap NAME VALUE` for another register of the CAP); `program` (or `program N` for microengine N)
offends and `harmless` does not; `events` is what the first one gives, a line for each place.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ixpemu import Chip, assemble
from ixpemu.chip_rules import RULES
from ixpemu.codes import TITLES
from ixpemu.engine.layout import RESERVED_NAMES
from tests.support.corpus import Case, cases, check, load

FOLDER = "reserved"
BY_THE_UNITS = {
    "IXP7001": "an illegal word cannot be assembled; tests/unit/test_engine_host.py",
    "IXP7008": "what is not modelled is not assembled",
    "IXP7010": "tests/unit/test_engine_msf_receive.py",
    "IXP7011": "tests/unit/test_engine_msf_receive.py",
    "IXP7012": "tests/unit/test_engine_msf_transmit.py",
    "IXP7015": "tests/unit/test_engine_msf_receive.py",
    "IXP7016": "tests/unit/test_engine_msf_receive.py",
    "IXP7017": "tests/unit/test_engine_msf_transmit.py",
    "IXP7018": "tests/unit/test_engine_msf_transmit.py",
}
"""Kinds that no program of a few lines can show, and what does."""


def chip_of(case: Case, section: str, *, strict: bool = False) -> Chip:
    """A chip with the programs of a case, not yet run. Programs of other microengines than 0 are those of the offending one, if
    the harmless one does not have its own."""
    chip = Chip(strict=strict)
    mask = 1
    for line in case.sections.get("run", "").splitlines():
        key, *values = line.split()
        if key == "contexts":
            mask = int(values[0], 0)
        elif key == "ring":
            chip.cap.write(0x4800 + 16 * int(values[0], 0), int(values[1], 0))
        elif key == "cap":
            chip.cap.write(values[0], int(values[1], 0))
    programs = {0: case.sections[section]}
    for start in ("program ", f"{section} "):
        programs |= {int(name.removeprefix(start)): text for name, text in case.sections.items() if name.startswith(start)}
    for me, text in programs.items():
        image = assemble(text=text)
        chip.load(me, image, start=False)
        chip.start(me, mask & 0x55 if image.contexts == 4 else mask)
    return chip


def cycles(case: Case) -> int:
    lines = [line.split() for line in case.sections.get("run", "").splitlines()]
    return next((int(values[1]) for values in lines if values[0] == "cycles"), 3000)


def events(chip: Chip) -> str:
    """A line for each place, without its cycle, which a change of latencies moves."""
    return "".join(
        f"{place.rule.label} me{place.me} ctx{place.ctx} at {place.address}: {place.rule.name} ({place.about})"
        f"{f' x{place.count}' if place.count > 1 else ''}\n"
        for place in chip.reserved_places)


@pytest.mark.parametrize("path", cases(FOLDER), ids=lambda path: path.stem)
def test_what_offends_is_reported(path: Path, update_goldens: bool) -> None:
    case = load(path)
    chip = chip_of(case, "program")
    chip.run(cycles=cycles(case))
    check(case, "events", events(chip), update_goldens)
    assert case.sections["events"]


@pytest.mark.parametrize("path", cases(FOLDER), ids=lambda path: path.stem)
def test_what_only_looks_like_it_is_not(path: Path) -> None:
    case = load(path)
    chip = chip_of(case, "harmless", strict=True)
    stop = chip.run(cycles=cycles(case))
    assert not chip.reserved and stop.reason != "reserved", stop.message


@pytest.mark.parametrize("path", cases(FOLDER), ids=lambda path: path.stem)
def test_a_strict_run_stops_at_the_first_and_allowing_it_silences(path: Path) -> None:
    case = load(path)
    first = case.sections["events"].splitlines()[0]
    chip = chip_of(case, "program", strict=True)
    stop = chip.run(cycles=cycles(case))
    assert stop.reason == "reserved" and stop.diagnostic is not None
    assert stop.diagnostic.label == first.split()[0] and f" at {stop.pc}:" in first
    kind = next(rule for rule in RULES.values() if rule.label == stop.diagnostic.label)
    if not kind.fatal:
        allowed = chip_of(case, "program")
        allowed.state.reserved_allowed = 1 << kind.kind
        allowed.run(cycles=cycles(case))
        assert kind.name not in allowed.reserved


def test_every_kind_has_a_case() -> None:
    seen = {line.split()[0] for path in cases(FOLDER) for line in load(path).sections["events"].splitlines()}
    assert {rule.label for rule in RULES.values()} == seen | set(BY_THE_UNITS)


def test_every_kind_has_a_rule() -> None:
    assert list(RULES) == list(range(1, len(RESERVED_NAMES)))
    for rule in RULES.values():
        assert rule.code == 7000 + rule.kind and rule.code in TITLES
        assert rule.confidence in ("H", "M", "L", "assumed") and rule.rule.endswith(".") and rule.source
        assert not rule.advice.endswith(".") and rule.advice[0].islower()
