"""docs/diagnostics.md names codes that exist, each with a case that shows it, and all of the lints."""

from __future__ import annotations

import re
from pathlib import Path

from ixpemu.codes import TITLES
from tests.support.corpus import cases, load
from tests.unit.test_asm_findings import ELSEWHERE
from tests.unit.test_reserved_corpus import BY_THE_UNITS

PAGE = Path(__file__).parents[2] / "docs" / "diagnostics.md"
DEADLOCK = 7900         # tests/unit/test_chip_deadlock.py


def named() -> set[int]:
    return {int(number) for number in re.findall(r"IXP(\d{4})", PAGE.read_text(encoding="utf-8"))}


def shown() -> set[int]:
    """The codes that some case of the corpus shows."""
    texts = [text for path in cases("asm") for name, text in load(path).sections.items() if name == "errors"]
    texts += [text for path in cases("reserved") for name, text in load(path).sections.items() if name == "events"]
    return {int(number) for text in texts for number in re.findall(r"\bIXP(\d{4})", text)}


def test_each_code_named_exists_and_has_a_case() -> None:
    elsewhere = {*ELSEWHERE, DEADLOCK, *(int(code.removeprefix("IXP")) for code in BY_THE_UNITS)}
    assert len(named()) > 60
    assert sorted(named() - TITLES.keys()) == []
    assert sorted(named() - shown() - elsewhere) == []


def test_every_finding_about_flow_is_named() -> None:
    """What paths, registers, signals and the order of instructions decide; other pages have what a line alone decides."""
    of_repairs, of_nothing = range(4130, 4150), {4704}         # what an option did
    flow = {code for code in TITLES if 4100 <= code < 6000 and code not in of_repairs and code not in of_nothing}
    assert sorted(flow - named()) == []
