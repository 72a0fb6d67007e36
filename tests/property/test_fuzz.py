"""Nonsense by the million, each kind in a process of its own: no crash, no hang, only named stops and messages (tests/fuzz).

`make soak` does ten times as much, with seeds that no run has had before, and the whole again with every index checked.
"""

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ixpemu.engine.jit import COMPILED

Tell = Callable[[str, dict[str, object], int], None]
ROOT = Path(__file__).parents[2]
# By kind: how much a soak does in all, in how many processes; the suite does a tenth. Instructions, edits or files.
SOAK = {"words": (160_000_000, 8), "any": (5_000_000, 2), "host": (35_000_000, 2), "apps": (6_000, 2), "images": (40_000, 2),
        "uof": (40_000, 2), "snapshots": (40_000, 2)}
UNCOMPILED = {"words": 5_000, "any": 3_000, "host": 3_000, "apps": 20, "images": 200, "uof": 200, "snapshots": 200}
SECONDS = 1500


def fuzz(kind: str, seed: int, amount: int, **environment: str) -> dict[str, object]:
    """What a process did. How it ended otherwise, and how to see that again, is in the message."""
    command = [sys.executable, "-m", "tests.fuzz", kind, str(seed), str(amount)]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)} | environment, capture_output=True,
                          text=True, check=False, timeout=SECONDS)
    said = f"python -m tests.fuzz {kind} {seed} {amount}  ended with {done.returncode}\n{done.stderr[-3000:]}"
    assert done.returncode == 0, said
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def reached(kind: str, found: dict[str, object], amount: int) -> None:
    """It did what was asked for, and was not always refused or stopped at once."""
    if kind in ("words", "any", "host"):
        assert int(str(found["instructions"])) >= amount
        stops = found["stops"]
        assert isinstance(stops, dict) and "cycles" in stops and "internal" not in stops
    else:
        counts = [int(str(value)) for name, value in found.items() if name not in ("edits", "files")]
        assert sum(counts) == amount and all(counts)


@pytest.fixture
def tell(record_property: Callable[[str, object], None]) -> Tell:
    """Checks what a process did, and has it counted for the summary at the end of the session (tests/conftest.py)."""
    def checked(kind: str, found: dict[str, object], amount: int) -> None:
        record_property("fuzz", {**found, "kind": kind})
        reached(kind, found, amount)

    return checked


# Who writes the store, a host or the program itself, has what marks reserved behaviour worked out anew, in Python: a second for a
# full store of nonsense, at every stop of the engine. So the kind "host" is too slow for the suite, which has a short run of it
# below, and `make soak` the long one.
@pytest.mark.parametrize("kind", [kind for kind in SOAK if kind != "host"])
def test_a_tenth(kind: str, tell: Tell) -> None:
    amount = SOAK[kind][0] // 10 if COMPILED else UNCOMPILED[kind]
    tell(kind, fuzz(kind, 1, amount), amount)


@pytest.mark.parametrize("kind", ["words", "any", "host"])
def test_nothing_reaches_outside_of_an_array(kind: str, tell: Tell) -> None:
    """Compiled code checks no index; the same functions as plain Python do."""
    tell(kind, fuzz(kind, 2, 5_000, IXPEMU_JIT="0"), 5_000)


@pytest.mark.soak
@pytest.mark.parametrize(("kind", "part"), [(kind, part) for kind, (_, parts) in SOAK.items() for part in range(parts)])
def test_at_length(kind: str, part: int, tell: Tell) -> None:
    total, parts = SOAK[kind]
    tell(kind, fuzz(kind, random.SystemRandom().getrandbits(32), total // parts), total // parts)


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["words", "any", "host"])
def test_no_index_leaves_its_array_at_length(kind: str, tell: Tell, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The engine compiled with checked indexes, in a cache of its own."""
    folder = tmp_path_factory.getbasetemp() / "checked"
    found = fuzz(kind, random.SystemRandom().getrandbits(32), 5_000_000, NUMBA_BOUNDSCHECK="1", IXPEMU_CACHE_DIR=str(folder))
    tell(kind, found, 5_000_000)
