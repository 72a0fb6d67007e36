"""The simulated TCP talks to this machine's kernel: both streams whole, on a clean wire and on one that loses frames."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("direction", ["to kernel", "from kernel"])
@pytest.mark.parametrize(("size", "loss", "sack"), [(1, 0.0, "sack"), (300_000, 0.0, "sack"), (100_000, 0.02, "sack"),
                                                    (100_000, 0.02, "plain")])
def test_streams_to_and_from_the_kernel(direction: str, size: int, loss: float, sack: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.kernel_peer", direction, str(size), str(loss), "7", sack], cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False, timeout=90)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    if "skip" in found:
        pytest.skip(f"no TAP device in a namespace of its own here: {found['skip']}")
    assert found["heard"] and found["outcome"] == [None] and "kernel error" not in found, found
    assert found.get("kernel heard", True)
    assert (found["lost"] > 0) == (loss > 0)
