"""How a run is cut does not change it: steps, slices, snapshots, and running uncompiled, over programs made from seeds."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from ixpemu.engine.jit import COMPILED
from tests.support.machine import chip_of_seed, digest

ROOT = Path(__file__).parents[2]
SEEDS = range(12 if COMPILED else 3)
CYCLES = 1500 if COMPILED else 600


@pytest.mark.parametrize("seed", SEEDS)
def test_slices_of_any_length_are_one_run(seed: int) -> None:
    whole = chip_of_seed(seed)
    whole.run(cycles=CYCLES)
    cut = chip_of_seed(seed)
    pick = random.Random(seed)
    while cut.cycle < CYCLES:
        cut.run(cycles=min(pick.choice((1, 2, 3, 7, 40, 200)), CYCLES - cut.cycle))
    assert whole.snapshot().differences(cut.snapshot()) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_stepping_is_running(seed: int) -> None:
    stepped = chip_of_seed(seed)
    for number in range(60):
        before = stepped.me[number % 2].cycles["executing"]
        stop = stepped.step(number % 2)
        assert stop.reason == "step"
        assert stepped.me[number % 2].cycles["executing"] == before + 1
    run = chip_of_seed(seed)
    run.run(cycles=stepped.cycle)
    assert run.snapshot().differences(stepped.snapshot()) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_watching_changes_nothing(seed: int) -> None:
    plain = chip_of_seed(seed)
    plain.run(cycles=400)
    watched = chip_of_seed(seed)
    commits = 0

    def look(chip: object) -> bool:
        nonlocal commits
        commits += 1
        return False

    watched.run(cycles=400, until=look)
    assert commits > 10
    assert plain.snapshot().differences(watched.snapshot()) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_restore_and_run_again(seed: int) -> None:
    chip = chip_of_seed(seed)
    chip.run(cycles=CYCLES // 3)
    saved = chip.snapshot()
    chip.run(cycles=CYCLES // 2)
    first = chip.snapshot()
    assert saved != first
    chip.restore(saved)
    assert chip.snapshot() == saved
    chip.run(cycles=CYCLES // 2)
    assert chip.snapshot().differences(first) == []
    other = chip_of_seed(seed + 1)
    other.restore(saved)
    other.run(cycles=CYCLES // 2)
    assert other.snapshot().differences(first) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_every_cycle_is_accounted_for(seed: int) -> None:
    chip = chip_of_seed(seed)
    for cycles in (10, 100, CYCLES):
        chip.run(cycles=cycles)
        for me in chip.me:
            assert sum(me.cycles.values()) == me.clock


def test_a_journal_replays_without_its_agent() -> None:
    class Meddler:
        """Writes memory and a ring now and then."""

        def __init__(self, chip) -> None:
            self.chip, self.next, self.pick = chip, 100, random.Random(5)

        def due(self) -> int:
            return self.next

        def act(self, cycle: int) -> None:
            self.chip.sram[0].write(4 * self.pick.randrange(16), [self.pick.getrandbits(32)])
            self.chip.scratch.ring(0).put(cycle)
            self.chip.me[0].ctx[self.pick.randrange(8)].signal(15)
            self.next = cycle + self.pick.randrange(1, 90)

        def interrupt(self, cycle: int, source: str) -> None:
            raise AssertionError

    chip = chip_of_seed(4)
    saved = chip.snapshot()
    chip.attach(Meddler(chip))
    chip.run(cycles=700)
    journal = list(chip.journal)
    end = chip.snapshot()
    assert len(journal) > 20
    again = chip_of_seed(4)
    again.restore(saved)
    again.replay(journal[saved.journal:], 700)
    assert again.snapshot().differences(end) == []


@pytest.mark.skipif(not COMPILED, reason="compares with the compiled engine")
def test_compiled_is_uncompiled() -> None:
    seeds = range(100, 108)
    environment = os.environ | {"IXPEMU_JIT": "0"}
    out = subprocess.run(
        [sys.executable, "-m", "tests.support.machine_entry", "900", *map(str, seeds)],
        cwd=ROOT,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for seed, uncompiled in zip(seeds, json.loads(out), strict=True):
        chip = chip_of_seed(seed)
        chip.run(cycles=900)
        assert json.loads(json.dumps(digest(chip))) == uncompiled, seed
