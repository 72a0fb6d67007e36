"""The wheel, installed where no checkout is: everything the commands need has to be inside it.

The new environment sees the libraries of the one that runs the tests (through a path file) but not this checkout, so that
nothing is downloaded and nothing but the wheel can provide ixpemu.
"""

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = """\
.reg a b
immed[a, 5]
immed[b, 6]
alu[--, a, +, b]
ctx_arb[kill]
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", build, str(folder)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `ixpemu` command of a fresh environment with the wheel in it."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    inside = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"], capture_output=True, text=True, check=True
    ).stdout.strip()
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index", str(wheel)],
        check=True, env=os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )
    # A path file that only adds the libraries; path files in that folder itself (an editable ixpemu among them) are not followed.
    Path(inside, "libraries.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return folder / "bin" / "ixpemu"


def run(command: Path, *arguments: str | Path, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")} | more
    return subprocess.run([command, *arguments], cwd=cwd, capture_output=True, text=True, check=False, env=environment)


def test_the_wheel_carries_the_data_and_no_tests(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for needed in ("explain/flow.toml", "isa/alu.isa", "isa/chips/enp2611.toml", "microcode/ipv4_forward/app.toml",
                   "traces/sample0.pcap"):
        assert f"ixpemu/_data/{needed}" in names
    assert "ixpemu/py.typed" in names and any(name.endswith("licenses/LICENSE") for name in names)
    assert not [name for name in names if name.startswith("tests") or "__pycache__" in name]


def test_it_assembles_and_disassembles(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "p.uc").write_text(SOURCE)
    done = run(installed, "asm", "p.uc", "-o", "p.ixp", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    shown = run(installed, "dis", "p.ixp", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    (tmp_path / "again.uc").write_text(shown.stdout)
    for source, target in (("p.uc", "1.words"), ("again.uc", "2.words")):
        assert run(installed, "asm", source, "-o", target, cwd=tmp_path).returncode == 0
    words = [line for line in (tmp_path / "1.words").read_text().splitlines() if not line.startswith("#")]
    assert len(words) == 4
    assert (tmp_path / "1.words").read_text() == (tmp_path / "2.words").read_text()


def test_it_checks_its_own_instruction_set(installed: Path, tmp_path: Path) -> None:
    done = run(installed, "isa", "check", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    where = run(installed.with_name("python"), "-c", "import ixpemu; print(ixpemu.__file__)", cwd=tmp_path)
    assert str(ROOT) not in where.stdout


def test_it_runs_the_shipped_application(installed: Path, tmp_path: Path) -> None:
    # Uncompiled: to compile the engine at a new place takes longer than to run a few packets.
    done = run(installed, "run", "ipv4_forward", "--packets", "5", "--json", cwd=tmp_path, IXPEMU_JIT="0")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["packets"]["in"] >= 5 and report["faults"] == []
    assert (tmp_path / "port0.pcap").is_file()
