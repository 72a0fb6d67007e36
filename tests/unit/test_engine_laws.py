"""The two laws of threads and channels, and every latency as the sum of its parameters; what is measured is in tests/laws.py."""

import random

import pytest

from ixpemu import Chip
from ixpemu.engine.jit import COMPILED
from ixpemu.isa.chipfile import load_chip
from tests.laws import Loop, Reference, latency_table, loops, measured_latency, points, references, scaling_table

needs_speed = pytest.mark.skipif(not COMPILED, reason="hundreds of long runs: too slow for the uncompiled engine")


@needs_speed
@pytest.mark.parametrize("loop", loops(), ids=lambda loop: loop.title.partition(":")[0])
def test_the_two_laws(loop: Loop, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(f"\n{loop.title}\n{scaling_table(loop)}", end="")
    assert [point for point in points(loop) if not point.holds] == []
    assert {(point.threads, point.microengines) for point in points(loop)} == {(t, m) for t in range(1, 9) for m in range(1, 9)}


def test_the_loops_reach_both_limits() -> None:
    """Otherwise the comparison would say little: each loop has a knee inside 1 to 8 threads, and one is capped by its channel."""
    chip = load_chip()
    assert all(1 < loop.knee(1, chip) < 8 for loop in loops())
    bound = [loop for loop in loops() if 8 / loop.cycles(chip) > 1 / (loop.count * loop.reference.busy(chip))]
    assert len(bound) == 2


@pytest.mark.parametrize("reference", references(), ids=lambda reference: reference.title)
def test_a_latency_is_the_sum_of_its_parameters(reference: Reference) -> None:
    assert measured_latency(reference) == reference.cycles(load_chip())


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_sum_of_any_parameters(seed: int) -> None:
    """Every figure that a sum names counts as often as it says, and no other does: the chip files are made by chance."""
    pick = random.Random(seed)
    names = sorted({name for reference in references() for name in reference.latency})
    values = {name: pick.randrange(1, 40) for name in names}
    values |= {name: pick.randrange(2, 6) for name in names if "word_cycles" in name}
    # The array has to stay the hash unit's slowest stage, as the sums say.
    values |= {f"hash.array_{bits}_cycles": pick.randrange(24, 40) for bits in (48, 64, 128)}
    other = {"dram.turnaround_cycles": 9, "me.wake_cycles": 3, "signal.same_me_cycles": 9, "scratch.status_lag": 3}
    parameters = load_chip().override(values | other)
    for reference in references():
        assert measured_latency(reference, Chip(parameters)) == reference.cycles(parameters), reference.title


def test_latencies_recalled_in_the_literature() -> None:
    chip = load_chip()
    by_title = {reference.title: reference.cycles(chip) for reference in references()}
    titles = ("SRAM read of 1 word", "scratch read of 1 word", "DRAM read of 8 bytes")
    assert [by_title[title] for title in titles] == [90, 60, 120]


def test_the_table_has_a_line_for_each() -> None:
    assert len(latency_table().splitlines()) == 1 + len(references())
