"""The lints against the emulator: what it reports of the programs in tests/corpus/reserved is found in their text before.

The emulator knows nothing of the lints. So every `program` there that offends against a rule which paths can prove has to be
found, and no `harmless` one may be, but where the text cannot tell it from an offence.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ixpemu import codes
from ixpemu.asm.pipeline import assemble_program
from ixpemu.diagnostics import UserError
from tests.support.corpus import cases, load

STATIC = {
    7019: codes.SIGNAL_AGAIN, 7023: codes.TOUCHED_IN_FLIGHT, 7024: codes.TOUCHED_IN_FLIGHT,
    7025: codes.STALE_FLAGS, 7027: codes.SIGN_OF_ANOTHER, 7028: codes.NO_PREVIOUS_A, 7029: codes.NO_PREVIOUS_RESULT,
    7030: codes.SHADOW_UNDEFINED, 7031: codes.STALE_INDEX, 7045: codes.STEP_ORDER, 7048: codes.STEP_ORDER,
    7050: codes.STALE_ALIGN, 7051: codes.STALE_CRC, 7052: codes.CRC_EARLY, 7054: codes.STALE_ENTRY,
}
SEEN_ONLY_BY_RUNNING = {
    "sign": "the other value has the same sign",
    "multiply_sources": "the other register has the same value",
    "flags_swapped": "the path over the swap is not taken",
}
ROOT = Path(__file__).parents[2]


def found(text: str) -> set[int]:
    return {diagnostic.code for diagnostic in assemble_program(text=text).diagnostics} & set(STATIC.values())


def reported(events: str) -> set[int]:
    return {int(line.split()[0].removeprefix("IXP")) for line in events.splitlines()}


def by_rule() -> list[Path]:
    return [path for path in cases("reserved") if reported(load(path).sections["events"]) & STATIC.keys()]


@pytest.mark.parametrize("path", by_rule(), ids=lambda path: path.stem)
def test_what_the_emulator_reports_is_found_before(path: Path) -> None:
    sections = load(path).sections
    expected = {STATIC[code] for code in reported(sections["events"]) if code in STATIC}
    programs = [text for name, text in sections.items() if name.split()[0] == "program"]
    assert expected <= set().union(*(found(text) for text in programs))
    harmless = set().union(*(found(text) for name, text in sections.items() if name.split()[0] == "harmless"))
    assert bool(harmless) == (path.stem in SEEN_ONLY_BY_RUNNING)


def test_nothing_is_found_where_the_emulator_reports_nothing_of_the_kind() -> None:
    checked = 0
    for path in cases("reserved"):
        if path in by_rule():
            continue
        for name, text in load(path).sections.items():
            if name.split()[0] in ("program", "harmless"):
                assert not found(text), f"{path.stem}: {name}"
                checked += 1
    assert checked > 60


def test_the_programs_here_are_clean() -> None:
    """No program in microcode/ is told anything by the lints."""
    checked = 0
    for path in sorted((ROOT / "microcode").rglob("*.uc")):
        try:
            assembly = assemble_program(path, include=[ROOT / "microcode" / "lib", ROOT / "microcode", path.parent])
        except UserError:
            continue            # a part that needs another file's macros
        told = [diagnostic for diagnostic in assembly.diagnostics if 4200 <= diagnostic.code < 4300]
        assert told == [], path
        checked += bool(assembly.image.values)
    assert checked > 25
