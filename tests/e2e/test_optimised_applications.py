"""The shipped applications with their instructions moved put the same frames on the same ports, and squash fewer fetches."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from ixpemu import App, resources

PORTS = range(3)
APPLICATIONS = sorted(path.parent.name for path in resources.folder("microcode").glob("*/app.toml")
                      if "port = [" in path.read_text(encoding="utf-8"))


def run(name: str, folder: Path, options: str) -> tuple[list[Counter[bytes]], int]:
    """Frames by port, and how many fetched instructions the microengines squashed."""
    shutil.copytree(resources.folder("microcode") / name, folder)
    settings = folder / "app.toml"
    text = re.sub(r', out = "[^"]*"', "", settings.read_text())
    settings.write_text(re.sub(r"(\{ index = \d+)", rf"\1{options}", text))
    app = App.load(folder)
    for port in PORTS:
        app.chip.ports[port].capture()
    report = app.run(packets=300)
    assert report.stop in ("quiet", "packets")
    sent = [Counter(frame.frame for frame in app.chip.ports[port].sent) for port in PORTS]
    return sent, sum(me.cycles["aborted"] for me in app.chip.me)


@pytest.mark.parametrize("name", APPLICATIONS)
def test_the_same_frames_leave_by_the_same_ports(name: str, tmp_path: Path) -> None:
    wanted, squashed = run(name, tmp_path / "as_written", "")
    assert sum(map(len, wanted)) > 50
    for number, options in enumerate((", optimise = true", ", vnops = true, optimise = true")):
        found, fewer = run(name, tmp_path / f"moved{number}", options)
        assert found == wanted
        assert fewer < 0.95 * squashed
