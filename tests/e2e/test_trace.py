"""`ixpemu trace` and `ixpemu diff` as a user calls them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ixpemu import resources


def ixpemu(*arguments: object, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command line, uncompiled: these runs are short."""
    root = str(Path(__file__).parents[2])
    return subprocess.run(
        [sys.executable, "-m", "ixpemu", *map(str, arguments)], capture_output=True, text=True, cwd=folder, timeout=120,
        env=os.environ | {"IXPEMU_JIT": "0", "PYTHONPATH": root})


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first 2,500 cycles of the router, with and without a slower scratch memory: `a`, `again` and `b`."""
    folder = tmp_path_factory.mktemp("traces")
    for name, options in (("a", ()), ("again", ()), ("b", ("--set", "scratch.read_cycles=90"))):
        done = ixpemu("trace", "ipv4_forward", "--cycles", 2500, "-o", folder / name, *options)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return folder


def test_two_runs_write_the_same(traced: Path) -> None:
    assert (traced / "a").read_bytes() == (traced / "again").read_bytes()
    done = ixpemu("diff", traced / "a", traced / "again")
    assert done.returncode == 0
    assert done.stdout.startswith("equal: ") and done.stderr == ""


def test_a_change_is_found(traced: Path) -> None:
    done = ixpemu("diff", traced / "a", traced / "b")
    assert done.returncode == 1
    assert "events are the same" in done.stdout
    assert "registers written so far" in done.stdout
    assert f"- {traced / 'a'}, line " in done.stdout and f"+ {traced / 'b'}, line " in done.stdout
    assert done.stderr == ""


def test_trouble_is_neither_equal_nor_different(traced: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("hello\n")
    for pair in ((traced / "a", tmp_path / "none"), (traced / "a", other), (tmp_path, traced / "a")):
        done = ixpemu("diff", *pair)
        assert done.returncode == 2
        assert done.stderr.startswith("error ") and "Traceback" not in done.stderr


def test_options_choose(traced: Path) -> None:
    done = ixpemu("trace", "ipv4_forward", "--me", "1,4", "--from", 100, "--to", 2000, "--kinds", "ring,swap,start")
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines() if not line.startswith("#")]
    assert lines
    assert {line[1] for line in lines} <= {"1", "4"}
    assert {line[4] for line in lines} <= {"ring", "swap", "start"}
    assert all(100 <= int(line[0]) < 2000 for line in lines)
    whole = [line.split() for line in (traced / "a").read_text().splitlines() if not line.startswith("#")]
    inside = [line for line in whole if 100 <= int(line[0]) < 2000]
    assert lines == [line for line in inside if line[1] in "14" and line[4] in ("ring", "swap", "start")]


def test_one_number_for_a_run() -> None:
    first, second = (ixpemu("trace", "ipv4_forward", "--cycles", 1000, "--hash") for _ in range(2))
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout
    assert len(first.stdout.split()[0]) == 64
    other = ixpemu("trace", "ipv4_forward", "--cycles", 1000, "--hash", "--set", "scratch.read_cycles=90")
    assert other.stdout.split()[0] != first.stdout.split()[0]


@pytest.mark.parametrize(("arguments", "expected"), [
    (("--me", "9"), "there is no 9"),
    (("--me", "x"), "is no list of numbers"),
    (("--packet", "4-2"), "is no list of numbers"),
    (("--kinds", "issuee"), "there is no kind of event 'issuee'"),
    (("--from", "500", "--to", "400"), "is not after"),
    (("--to", "soon"), "is not a positive whole number"),
    (("--hash", "--me", "1"), "--hash is of everything"),
    (("-o", "no/such/folder/trace"), "cannot write"),
])
def test_mistakes_are_told(arguments: tuple[str, ...], expected: str) -> None:
    done = ixpemu("trace", "ipv4_forward", *arguments)
    assert done.returncode in (1, 2)
    assert expected in done.stderr and "Traceback" not in done.stderr
    assert done.stdout == ""


def test_packets_are_followed(tmp_path: Path) -> None:
    """Only contexts that work on the packet, and its whole way: received, forwarded, transmitted."""
    capture = resources.folder("traces") / "sample0.pcap"
    out = tmp_path / "packet"
    done = ixpemu("trace", "ipv4_forward", "--pcap", f"0={capture}", "--packet", "1", "--cycles", 9000, "-o", out)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in out.read_text().splitlines() if not line.startswith("#")]
    assert {line[1] for line in lines} == {"0", "1", "4"}
    assert any(line[4] == "packet" and line[-1] == "1" for line in lines)


RACY = """
.reg $word zero
.sig done
immed[zero, 0]
immed[$word, 1]
scratch[write, $word, zero, 0x40, 1], ctx_swap[done]
ctx_arb[kill]
"""


@pytest.mark.parametrize(("me", "code"), [("{ index = 0, image = 'w.uc' }, { index = 1, image = 'w.uc' }", 1), ("", 0)])
def test_races_are_told_on_the_command_line(tmp_path: Path, me: str, code: int) -> None:
    (tmp_path / "w.uc").write_text(RACY)
    (tmp_path / "n.uc").write_text("ctx_arb[kill]\n")
    (tmp_path / "app.toml").write_text(f"chip = {{ file = 'enp2611' }}\nme = [ {me or '''{ index = 0, image = 'n.uc' }'''} ]\n")
    done = ixpemu("run", tmp_path, "--races", "--cycles", 1500)
    assert done.returncode == code, done.stderr
    if code:
        assert "IXP7801" in done.stderr and "race on scratch word 0x40" in done.stderr
        assert "w.uc:6" in done.stderr and "Traceback" not in done.stderr
    else:
        assert "no races found" in done.stderr
    values = ixpemu("run", tmp_path, "--races", "--cycles", 1500, "--json")
    assert values.returncode == code
    assert ("IXP7801" in values.stdout or "7801" in values.stdout) == bool(code)


def test_races_have_a_mode_of_their_own() -> None:
    done = ixpemu("run", "ipv4_forward", "--races", "--mode", "fast")
    assert done.returncode == 2 and "--races has a mode of its own" in done.stderr
