"""docs/diagnostics.md names codes that exist, each with a case that shows it, all findings about flow, and the right ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ixpemu import AssemblyError, assemble
from ixpemu.codes import TITLES
from ixpemu.diagnostics import Severity
from tests.support.corpus import cases, load
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
    elsewhere = {DEADLOCK, *(int(code.removeprefix("IXP")) for code in BY_THE_UNITS)}
    assert len(named()) > 60
    assert sorted(named() - TITLES.keys()) == []
    assert sorted(named() - shown() - elsewhere) == []


LINES = {
    "no more defer slots than the instruction has": ("a#:\nbr[a#], defer[3]\nnop\nnop\nnop\n", {3007}),
    "constants fit their field": (
        ".reg x $a\n.sig s\nimmed[x, 0x123456]\nalu[x, x, +, 300]\nsram[write, $a, x, 0, 1], ctx_swap[s]\n", {3020}),
    "the program fits the control store, and branches reach": (
        "br[a#]\n" + "nop\n" * 8200 + "a#:\nctx_arb[kill]\n", {3020, 4120}),
    "only rings 0 to 11 of scratch memory have a status that can be tested": (
        "a#:\nbr_inp_state[SCR_RING12_STATUS, a#]\n", {3004}),
    "15 signals": (
        ".reg x $a\n.sig " + " ".join(f"s{k}" for k in range(16)) + "\nimmed[x, 0]\n"
        + "".join(f"sram[write, $a, x, 0, 1], sig_done[s{k}]\n" for k in range(16))
        + "".join(f"ctx_arb[s{k}]\n" for k in range(16)) + "ctx_arb[kill]\n", {5012}),
    "`local_csr_rd` is followed by its `immed`": ("local_csr_rd[T_INDEX]\nnop\nctx_arb[kill]\n", {4103}),
    "neither branch nor swap in a defer slot": ("a#:\nbr[a#], defer[1]\nctx_arb[voluntary]\n", {4101}),
    "defer slots do not lie behind the end": ("a#:\nbr[a#], defer[2]\nnop\n", {4102}),
}


@pytest.mark.parametrize("row", LINES, ids=lambda row: row.replace(" ", "-"))
def test_rows_that_no_lint_is_behind(row: str) -> None:
    """The codes of a row are those that come of a program that does not do what it says."""
    text, expected = LINES[row]
    cells = next(line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {row} |")).split("|")
    with pytest.raises(AssemblyError) as error:
        assemble(text=text)
    told = {found.code for found in error.value.diagnostics if found.severity is Severity.ERROR}
    assert told == expected
    assert all(f"IXP{code}" in cells[2] for code in expected)


def test_every_finding_about_flow_is_named() -> None:
    """What paths, registers, signals and the order of instructions decide; other pages have what a line alone decides."""
    of_repairs, of_nothing = range(4130, 4150), {4704}         # what an option did
    flow = {code for code in TITLES if 4100 <= code < 6000 and code not in of_repairs and code not in of_nothing}
    assert sorted(flow - named()) == []
