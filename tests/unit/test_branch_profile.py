"""The weights of the engine's branches: that they go with its sources, and what is done with others."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ixpemu.engine.jit import COMPILED

pytestmark = pytest.mark.skipif(not COMPILED, reason="nothing is compiled: there is nothing to give weights to")


def test_weights_go_with_functions_that_exist_and_most_with_their_present_source() -> None:
    from ixpemu.engine.branch_profile import read_weights, source_checksum

    fitting = 0
    weights = read_weights()
    for name, entry in weights.items():
        module, _, function = name.partition(".")
        found = getattr(importlib.import_module(f"ixpemu.engine.{module}"), function)
        fitting += source_checksum(getattr(found, "py_func", found)) == entry["source"]
        assert all(taken >= 0 and passed >= 0 and taken + passed for taken, passed in entry["branches"].values())
    assert len(weights) > 100
    assert fitting / len(weights) > 0.9, "python -m ixpemu.bench.count_branches counts anew"


@pytest.mark.parametrize("text", [None, "", "[", "[1]", "\xff"])
def test_without_a_readable_file_there_are_no_weights(tmp_path: Path, text: str | None) -> None:
    from ixpemu.engine.branch_profile import read_weights

    path = tmp_path / "weights.json"
    if text is not None:
        path.write_bytes(text.encode("latin-1"))
    assert read_weights(path) == {}


COUNTED = """
from ixpemu.engine.branch_profile import counters
from ixpemu.engine.jit import entry, jit
import json, numpy

@jit
def larger(a, b):
    if a > b and a > 3:
        return a
    return b

@entry
def total(values):
    found = 0
    for k in range(len(values)):
        found += larger(values[k], 2)
    return found

assert total(numpy.arange(10)) == 2 + 2 + 2 + 2 + 4 + 5 + 6 + 7 + 8 + 9
print(json.dumps({name: entry["branches"] for name, entry in counters.weights().items()}))
"""


def test_counters_count_each_branch_of_a_line(tmp_path: Path) -> None:
    program = tmp_path / "counted.py"
    program.write_text(COUNTED)
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=True, env=os.environ | {
        "PYTHONPATH": str(Path(__file__).parents[2]), "IXPEMU_COUNT_BRANCHES": "1",
        "IXPEMU_CACHE_DIR": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path)})
    counts = json.loads(done.stdout)
    # larger: ten times a > 2 (seven are: 3..9), of these a > 3 (six are). total: the loop goes on ten times and ends once.
    assert counts["__main__.larger"] == {"2:0": [7, 3], "2:1": [6, 1]}
    assert [10, 1] in counts["__main__.total"].values()
