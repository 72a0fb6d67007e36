"""The self-checking programs of microcode/tests: each in both modes of the engine and on the engine that is not compiled.

What a program must do to pass is said in microcode/tests/check.uc. Tested here as well: that a program that finds a fault fails.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import self_checking
from tests.support.self_checking import Outcome, names, outcome

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def uncompiled() -> dict[str, Outcome]:
    """What every program says on the engine as plain Python, in a process of its own."""
    answer = subprocess.run(
        [sys.executable, "-m", "tests.support.self_checking"],
        cwd=ROOT, env=os.environ | {"IXPEMU_JIT": "0", "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=300,
    )
    assert answer.returncode == 0, answer.stderr
    rows = [json.loads(line) for line in answer.stdout.splitlines()]
    return {row["name"]: Outcome(row["problem"], row["cycle"], row["instructions"]) for row in rows}


@pytest.mark.parametrize("mode", ["default", "fast"])
@pytest.mark.parametrize("name", names())
def test_passes(name: str, mode: str) -> None:
    assert outcome(name, mode).problem == ""


@pytest.mark.parametrize("name", names())
def test_passes_with_instructions_moved(name: str) -> None:
    assert outcome(name, "default", vnops=True, optimise=True).problem == ""


@pytest.mark.parametrize("name", names())
def test_passes_uncompiled(name: str, uncompiled: dict[str, Outcome]) -> None:
    assert uncompiled[name].problem == ""
    assert uncompiled[name] == outcome(name, "default")


PROGRAM = """
#include "check.uc"
.reg value
only_context_0()
immed[value, 5]
check(7, value, {wanted})
{more}
#include "check_end.uc"
"""


@pytest.mark.parametrize(("wanted", "more", "problem"), [
    (5, "", ""),
    (6, "", "check 7: found 0x5, expected 0x6"),
    (5, "check_between(8, value, 6, 7)", "check 8: found 0x5, expected 0x6"),
    (5, "check_between(8, value, 2, 4)", "check 8: found 0x5, expected 0x4"),
    (5, "check_between(8, value, 5, 5)", ""),
    (5, "fail(9)", "check 9: found 0x0, expected 0x0"),
    (5, "halt", "it halted"),
])
def test_a_fault_is_found(
    wanted: int, more: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "program.uc").write_text(PROGRAM.format(wanted=wanted, more=more))
    monkeypatch.setattr(self_checking, "FOLDER", tmp_path)
    found = outcome("program", "default").problem
    assert found == problem or (more == "halt" and found.endswith("(no label), which is neither passed# nor failed#"))


def test_a_program_that_does_not_end_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "program.uc").write_text("turn#:\nbr[turn#]\n")
    monkeypatch.setattr(self_checking, "FOLDER", tmp_path)
    monkeypatch.setattr(self_checking, "CYCLES", 100)
    assert outcome("program", "default").problem.startswith("it did not halt: cycles at cycle 100")


def test_reserved_behaviour_must_be_announced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words 640 to 1023 of local memory are addressable but do not exist."""
    text = PROGRAM.format(wanted=5, more="immed[value, 0xa00]\nlocal_csr_wr[ACTIVE_LM_ADDR_0, value]\nnop\nnop\nnop\n"
                                         "alu[value, --, B, *l$index0]")
    monkeypatch.setattr(self_checking, "FOLDER", tmp_path)
    (tmp_path / "program.uc").write_text(text)
    assert outcome("program", "default").problem == "reserved behaviour: ['unpopulated local memory'], announced: []"
    assert outcome("program", "fast").problem == ""
    (tmp_path / "program.uc").write_text("; expects: unpopulated local memory\n" + text)
    assert outcome("program", "default").problem == ""
