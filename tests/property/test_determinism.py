"""The same inputs give the same run: random words of the whole set on eight microengines, with hosts, ports and rings.

Slices of 1, 7 and 1,000 cycles, a second run, a run from a snapshot, and the engine as plain Python: all of them have to end in
the same state, with the same trace. New instructions and units are among the words as soon as they have a block.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from ixpemu import Chip
from ixpemu.engine.jit import COMPILED
from ixpemu.trace.digest import TraceHash
from tests.fuzz.machine import machine, valid_words
from tests.support import comparing
from tests.support.uncompiled import fingerprint

ROOT = Path(__file__).parents[2]
CYCLES = 2_000 if COMPILED else 250
SEEDS = range(12 if COMPILED else 2)


def made(seed: int) -> Chip:
    """The machine of a seed: everything about it follows from that."""
    pick = random.Random(seed)
    words = valid_words(pick)
    return machine(pick, lambda: next(words), "default")


def differences(one: Chip, other: Chip) -> list[str]:
    """What differs, but for which registers commands under way are taken to use: where two use one, that is not given back before
    the last of them, and a unit may be behind with telling. It only decides what has to commit in order."""
    return [name for name in comparing.differences(one, other) if not name.endswith((".out_registers", ".out_shared"))]


def through(chip: Chip, cycles: int, length: int) -> Chip:
    """Run to a cycle in slices, through whatever stops it early."""
    while chip.cycle < cycles:
        chip.run(cycles=min(length, cycles - chip.cycle))
    return chip


def traced(seed: int, cycles: int, length: int) -> str:
    """The digest of everything that happened."""
    chip, seen = made(seed), TraceHash()
    chip.observe(seen)
    through(chip, cycles, length)
    return seen.hexdigest()


@pytest.mark.parametrize("seed", SEEDS)
def test_slices_lead_to_the_same_state(seed: int) -> None:
    whole = through(made(seed), CYCLES, CYCLES)
    for length in (1, 7, 1_000) if COMPILED else (7,):
        assert differences(through(made(seed), CYCLES, length), whole) == [], f"slices of {length}"
    assert whole.instructions > CYCLES // 4


@pytest.mark.parametrize("seed", SEEDS[:6])
def test_the_same_trace(seed: int) -> None:
    cycles = min(CYCLES, 600)
    first = traced(seed, cycles, cycles)
    assert [traced(seed, cycles, length) for length in ((cycles, 1, 7, 1_000) if COMPILED else (7,))].count(first) in (1, 4)


@pytest.mark.parametrize("seed", SEEDS)
def test_going_on_from_a_snapshot(seed: int) -> None:
    chip = through(made(seed), CYCLES // 2, 97)
    saved = chip.snapshot()
    through(chip, CYCLES, CYCLES)
    after = chip.snapshot()
    chip.restore(saved)
    again = through(chip, CYCLES, 33).snapshot().differences(after)
    assert [name for name in again if not name.endswith((".out_registers", ".out_shared"))] == []


@pytest.mark.skipif(not COMPILED, reason="this process has no compiled engine to compare")
def test_compiled_and_not() -> None:
    seeds, cycles = SEEDS[:6], 250
    done = subprocess.run(
        [sys.executable, "-m", "tests.property.test_determinism", str(cycles), *map(str, seeds)], cwd=ROOT, check=True,
        env=os.environ | {"IXPEMU_JIT": "0", "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    plain = json.loads(done.stdout)
    for seed in seeds:
        compiled = fingerprint(through(made(seed), cycles, cycles)) | {"trace": traced(seed, cycles, cycles)}
        assert {name for name in compiled if compiled[name] != plain[str(seed)][name]} == set(), f"seed {seed}"


@pytest.mark.soak
def test_at_length() -> None:
    """Two hundred new machines, in slices of chance."""
    for _ in range(200):
        seed = random.SystemRandom().getrandbits(32)
        whole = through(made(seed), 20_000, 20_000)
        for length in (random.SystemRandom().randrange(1, 50), 1_000):
            assert differences(through(made(seed), 20_000, length), whole) == [], f"seed {seed}, slices of {length}"


if __name__ == "__main__":
    found = {}
    for text in sys.argv[2:]:
        limit = int(sys.argv[1])
        found[text] = fingerprint(through(made(int(text)), limit, limit)) | {"trace": traced(int(text), limit, limit)}
    print(json.dumps(found))
