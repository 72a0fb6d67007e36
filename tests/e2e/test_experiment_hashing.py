"""`ixpemu experiment hashing`: figures against what can be counted in the source, and what must hold between them."""

import csv
import io
import json
from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ixpemu import UserError, app_hashing
from ixpemu.app_hashing import OPERATIONS, SOFTWARE, UNIT, UNIT_CACHED, Cost, cost, rate
from ixpemu.cli_application import application
from ixpemu.engine.jit import COMPILED

FOUND = OPERATIONS[0]


def test_a_find_by_the_hash_unit() -> None:
    """Counted by hand in flow_table.uc: 10 + 1 for the chain, 4 for its word, 9 + 1 + 1 for the entry and its value."""
    found = cost(UNIT, FOUND)
    assert (found.instructions, found.hashes, found.sram) == (26, 1, 2)
    assert 0 < found.busy < found.elapsed


def test_every_entry_passed_is_a_reference_and_five_instructions() -> None:
    found = [cost(UNIT, operation) for operation in OPERATIONS[:4]]
    assert [(each.instructions, each.sram) for each in found] == [(26 + 5 * k, 2 + k) for k in range(4)]
    steps = {after.elapsed - before.elapsed for before, after in pairwise(found)}
    assert len(steps) == 1


def test_the_software_hash_needs_no_unit() -> None:
    """27 instructions instead of 10 with the mask: 21 of the rounds, 3 copies, 2 for where two banks do not do, 1 more."""
    unit, software = cost(UNIT, FOUND), cost(SOFTWARE, FOUND)
    assert (software.hashes, software.sram) == (0, unit.sram)
    assert software.instructions == unit.instructions + 17


def test_the_cam_saves_the_chain() -> None:
    hit, missed = (cost(UNIT_CACHED, operation) for operation in app_hashing.CACHED_OPERATIONS)
    assert (hit.hashes, hit.sram) == (0, 1)
    assert (missed.hashes, missed.sram) == (1, 2)
    assert missed.instructions == cost(UNIT, FOUND).instructions + 9


@pytest.mark.skipif(not COMPILED, reason="half a million instructions: the compiled engine only")
def test_rates_are_what_memory_and_instructions_allow() -> None:
    """One microengine cannot find more often than its instructions take, and all together not more than SRAM has words for."""
    one, eight = rate(UNIT, 8, 1), rate(UNIT, 8, 8)
    busy = cost(UNIT, FOUND).busy
    assert busy <= one.cycles
    assert one.finds_per_second < eight.finds_per_second < 8 * one.finds_per_second
    # A find moves a word of the chain, seven of the entry and four of the key: sram.read_word_occupancy cycles each.
    assert eight.finds_per_second <= 600e6 / 12 / 3 * 1.02


def test_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = [cost(UNIT, FOUND)]
    monkeypatch.setattr(app_hashing, "costs", lambda progress: iter(made))
    found = CliRunner().invoke(application(), ["experiment", "hashing", "--quick", "--csv", str(tmp_path / "t.csv")])
    assert found.exit_code == 0, found.output
    line = next(line for line in found.output.splitlines() if line.startswith("find"))
    assert line.split()[:11] == ["find,", "number", "1", "of", "its", "chain", "hash", "unit", "26", "1", "2"]
    rows = list(csv.reader(io.StringIO((tmp_path / "t.csv").read_text())))
    assert dict(zip(*rows, strict=True))["instructions"] == "26"
    found = CliRunner().invoke(application(), ["experiment", "hashing", "--quick", "--json"])
    assert json.loads(found.stdout)["costs"][0]["sram_references"] == 2
    assert isinstance(made[0], Cost)


def test_a_table_that_cannot_be_written(tmp_path: Path) -> None:
    found = CliRunner().invoke(application(), ["experiment", "hashing", "--csv", str(tmp_path / "none" / "t.csv")])
    assert isinstance(found.exception, UserError)
    assert "cannot be written" in str(found.exception)
