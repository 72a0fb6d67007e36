"""Saving and going back: the same future from the same snapshot, in the same chip or another, commit by commit."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ixpemu import Chip, UserError
from ixpemu.engine.jit import COMPILED
from ixpemu.isa.chipfile import load_chip
from tests.support.comparing import advance, differences, trace, whole
from tests.support.generated_programs import Machine, machines

MODEST = settings(
    max_examples=25 if COMPILED else 2, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


@MODEST
@given(machines(), st.integers(0, 600), st.integers(1, 600))
def test_run_restore_run(machine: Machine, first: int, second: int) -> None:
    """Final state and trace of commits; a snapshot does not change what it was taken of, nor the other way round."""
    chip = machine.chip()
    advance(chip, first)
    saved = chip.snapshot()
    assert saved == chip.snapshot()
    seen = trace(chip, 60)
    # Where a predicate stops a run, microengines may have executed private instructions past the chip's cycle, but no more.
    advance(chip, chip.cycle + chip.parameters["me.lookahead"] + second)
    end = chip.snapshot()
    for other in (chip, machine.chip(), Chip()):
        other.restore(saved)
        assert (other.cycle, other.snapshot()) == (first, saved)
        assert trace(other, 60) == seen
        advance(other, end.cycle)
        assert other.snapshot().differences(end) == []
    assert differences(chip, whole(machine, end.cycle)) == []


@MODEST
@given(machines(), st.lists(st.integers(0, 900), min_size=2, max_size=6))
def test_going_back_and_forth(machine: Machine, cycles: list[int]) -> None:
    """Snapshots of several cycles, restored in any order, each lead to the same place."""
    chip = machine.chip()
    saved = {}
    for cycle in sorted(set(cycles)):
        advance(chip, cycle)
        saved[cycle] = chip.snapshot()
    for cycle in cycles:
        chip.restore(saved[cycle])
        assert chip.snapshot().differences(saved[cycle]) == []
        advance(chip, 1000)
        assert differences(chip, whole(machine, 1000)) == []


def test_a_snapshot_of_memory_goes_back_page_by_page() -> None:
    chip = Chip()
    chip.dram.write(0x100000, [1])
    saved = chip.snapshot()
    chip.dram.write(0x100000, [2])
    chip.dram.write(0x700000, [3])
    chip.sram[1].write(0, [4])
    later = chip.snapshot()
    assert saved != later
    chip.restore(saved)
    assert (chip.dram[0x100000], chip.dram[0x700000], chip.sram[1][0]) == (1, 0, 0)
    assert chip.snapshot() == saved
    chip.restore(later)
    assert (chip.dram[0x100000], chip.dram[0x700000], chip.sram[1][0]) == (2, 3, 4)
    assert chip.snapshot() == later


def test_views_stay_valid_over_a_restore() -> None:
    chip = Chip()
    view = chip.me[2].ctx[3].gpr_a
    saved = chip.snapshot()
    view[5] = 7
    chip.restore(saved)
    assert view[5] == 0
    assert np.shares_memory(view, chip.me[2].ctx[3].gpr_a)


def test_a_snapshot_of_another_chip_is_refused() -> None:
    other = Chip(load_chip().override({"sram.read_cycles": 80}))
    with pytest.raises(UserError, match="other parameters"):
        other.restore(Chip().snapshot())


def test_differences_have_names() -> None:
    one, other = Chip(), Chip()
    other.me[3].ctx[0].gpr_a[0] = 1
    other.sram[0].write(0, [1])
    found = one.snapshot().differences(other.snapshot())
    assert "engines[3].file" in found
    assert any(name.startswith("memory page") for name in found)
