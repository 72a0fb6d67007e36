"""Compiled code kept between runs: shared by installations of one engine, never wrong, and removed when nobody uses it."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ixpemu.engine import kept_code

ROOT = Path(__file__).parents[2]
TINY = """
from numpy import uint32
from ixpemu.engine.jit import entry, jit

@jit
def more(value):
    return uint32(value + uint32({step}))

@entry
def tiny(value):
    return more(more(value))
"""
RUN = """
import json, sys
from numpy import uint32
from ixpemu.engine import kept_code
held = kept_code.holds("tiny.tiny")
from ixpemu.engine.tiny import tiny
result = int(tiny(uint32(1)))
print(json.dumps([result, held, kept_code.holds("tiny.tiny"), sum(tiny.stats.cache_hits.values())]))
"""


def installation(folder: Path, step: int = 1) -> Path:
    """A copy of the package with one small function more in its engine."""
    shutil.copytree(ROOT / "ixpemu", folder / "ixpemu", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "isa", folder / "isa")
    (folder / "ixpemu" / "engine" / "tiny.py").write_text(TINY.format(step=step))
    return folder


def run(folder: Path, cache: Path) -> list[int | bool]:
    """Result; whether its code was said to be there before and after; how often numba found it."""
    done = subprocess.run(
        [sys.executable, "-c", RUN], cwd=folder, capture_output=True, text=True, check=False,
        env=os.environ | {"IXPEMU_CACHE_DIR": str(cache), "IXPEMU_JIT": "1", "PYTHONPATH": str(folder)},
    )
    assert (done.returncode, done.stderr) == (0, "")
    values: list[int | bool] = json.loads(done.stdout)
    return values


def test_installations_of_one_engine_share_code_and_others_do_not(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first = installation(tmp_path / "first")
    assert run(first, cache) == [3, False, True, 0]
    assert run(first, cache) == [3, True, True, 1]
    assert run(installation(tmp_path / "second"), cache) == [3, True, True, 1]
    assert run(installation(tmp_path / "other", step=5), cache) == [11, False, True, 0]
    # The same file in another engine: it is the folder's name that says so, not the file's time or content.
    (first / "ixpemu" / "engine" / "rings.py").write_text('"""Changed."""\n')
    assert run(first, cache) == [3, False, True, 0]


def test_damaged_code_is_compiled_again(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    folder = installation(tmp_path / "one")
    assert run(folder, cache) == [3, False, True, 0]
    for pattern in ("*.nbc", "*.nbi"):
        (damaged,) = cache.rglob(f"tiny.{pattern}")
        damaged.write_bytes(damaged.read_bytes()[:50] if pattern == "*.nbi" else b"\x80\x05damaged")
        assert run(folder, cache)[0] == 3


def test_folders_that_nobody_has_used_for_a_month_go(tmp_path: Path) -> None:
    month_ago = time.time() - kept_code.KEPT_SECONDS - 60
    names = {"a" * 20: month_ago, "b" * 20: time.time(), "c" * 20: month_ago, "mine": month_ago, "d" * 20: month_ago}
    for name, when in names.items():
        (tmp_path / name / "engine_0").mkdir(parents=True)
        if not name.startswith("c"):
            (tmp_path / name / "engine_0" / "core.run_slice-160.py311.nbi").write_bytes(b"")
        os.utime(tmp_path / name, (when, when))
    (tmp_path / "grammar").write_text("no folder")
    kept_code._forget_old(tmp_path / ("d" * 20))
    left = {path.name for path in tmp_path.iterdir()}
    # Old and used by nobody goes; what is young, in use or no folder of compiled code stays.
    assert left == {"b" * 20, "c" * 20, "d" * 20, "mine", "grammar"}


@pytest.mark.parametrize("function", ["core.nothing", "core.run"])
def test_code_that_was_never_compiled_is_not_there(function: str) -> None:
    assert not kept_code.holds(function)
