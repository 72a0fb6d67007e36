"""Where data and caches are found, and that a cache that cannot be used is only slower."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ixpemu import resources

ROOT = Path(__file__).parents[2]


def test_shipped_folders() -> None:
    assert (resources.folder("isa") / "alu.isa").is_file()
    assert (resources.folder("microcode") / "bench" / "compute.uc").is_file()
    with pytest.raises(FileNotFoundError, match="no nothing/ folder"):
        resources.folder("nothing")


def test_the_cache_folder_is_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("IXPEMU_CACHE_DIR", str(tmp_path / "mine"))
    assert resources.cache_folder() == tmp_path / "mine"
    monkeypatch.delenv("IXPEMU_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert resources.cache_folder() == tmp_path / "ixpemu"


def assemble(cache: Path, source: Path) -> subprocess.CompletedProcess[str]:
    code = "import sys; from ixpemu import assemble; print(len(assemble(sys.argv[1])))"
    environment = os.environ | {"IXPEMU_CACHE_DIR": str(cache)}
    return subprocess.run(
        [sys.executable, "-c", code, str(source)], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_a_damaged_or_impossible_cache_changes_nothing(tmp_path: Path) -> None:
    source = tmp_path / "p.uc"
    source.write_text("nop\nctx_arb[kill]\n")
    cache = tmp_path / "cache"
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert assemble(cache, source).stdout == "2\n"
    kept = list(cache.iterdir())
    assert kept
    for path in kept:
        path.write_bytes(b"damaged\n")
    for place in (cache, blocked, blocked / "below"):
        done = assemble(place, source)
        assert (done.stdout, done.returncode, done.stderr) == ("2\n", 0, "")
