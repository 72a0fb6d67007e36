"""The shipped applications and bench programs do nothing reserved; `--strict`, `--allow` and app.toml's `reserved` section."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ixpemu import App, UserError, assemble, resources
from ixpemu.chip import Chip
from ixpemu.cli_application import application
from ixpemu.engine.jit import COMPILED

OFFENDS = ".physical\nalu[a1, --, B, b2]\nimmed[a0, 4]\ndram[read, $$0, a0, 0, 1], ctx_swap[s2]\nctx_arb[kill]\n"
PACKETS = 400 if COMPILED else 4


def folder(path: Path, **reserved: object) -> Path:
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in reserved.items())
    (path / "program.uc").write_text(OFFENDS)
    section = f"[reserved]\n{lines}" if reserved else ""
    (path / "app.toml").write_text('me = [ { index = 2, image = "program.uc" } ]\n' + section)
    return path


@pytest.mark.parametrize(("name", "traffic"), [("ipv4_forward", "64B"), ("ipv4_forward", None), ("echo", None)])
def test_shipped_applications_are_silent_in_strict(name: str, traffic: str | None) -> None:
    app = App.load(name, traffic=traffic, strict=True, capture=False)
    report = app.run(packets=PACKETS)
    assert report.failure is None and not report.warnings and report.stop in ("packets", "quiet")


@pytest.mark.parametrize("path", sorted((resources.folder("microcode") / "bench").glob("*.uc")), ids=lambda path: path.stem)
def test_bench_programs_are_silent_in_strict(path: Path) -> None:
    chip = Chip(strict=True)
    for me in range(8):
        chip.load(me, assemble(path))
    stop = chip.run(cycles=50_000 if COMPILED else 500)
    assert stop.reason == "cycles", stop.message


def test_a_run_warns_and_a_strict_one_fails(tmp_path: Path) -> None:
    run = CliRunner().invoke(application("run"), ["run", str(folder(tmp_path))])
    assert run.exit_code == 0
    assert "warning IXP7022" in run.stderr and "warning IXP7021" in run.stderr and "program.uc:2:1" in run.stderr
    strict = CliRunner().invoke(application("run"), ["run", str(tmp_path), "--strict"])
    assert strict.exit_code == 1 and "error IXP7022" in strict.stderr and "IXP7021" not in strict.stderr
    assert "help: write it on every path that leads here" in strict.stderr
    allowed = CliRunner().invoke(application("run"), ["run", str(tmp_path), "--strict", "--allow", "IXP7022", "--json"])
    assert allowed.exit_code == 1
    (found,) = json.loads(allowed.stdout)["diagnostics"]
    assert found["code"] == "IXP7021" and found["severity"] == "error" and found["line"] == 4
    silent = CliRunner().invoke(application("run"), ["run", str(tmp_path), "--strict", "--allow", "7022", "--allow", "ixp7021"])
    assert silent.exit_code == 0 and "IXP70" not in silent.stderr


def test_the_file_can_say_it(tmp_path: Path) -> None:
    report = App.load(folder(tmp_path, strict=True, allow=["IXP7022"])).run()
    assert report.failure is not None and report.failure.label == "IXP7021" and not report.complete
    assert [found.label for found in App.load(tmp_path, strict=False).run().warnings] == ["IXP7021"]
    assert not App.load(tmp_path, mode="fast").run().warnings


@pytest.mark.parametrize(("text", "why"), [
    ('allow = ["IXP7999"]', "there is no reserved behaviour"), ("strict = 1", "true or false"),
    ('allow = "IXP7004"', "array of strings"), ("loud = true", "loud")])
def test_mistakes_in_the_file(tmp_path: Path, text: str, why: str) -> None:
    folder(tmp_path)
    (tmp_path / "app.toml").write_text('me = [ { index = 2, image = "program.uc" } ]\n[reserved]\n' + text + "\n")
    with pytest.raises(UserError) as caught:
        App.load(tmp_path)
    (found,) = caught.value.diagnostics
    assert why in found.message + str(found.help) and found.origin is not None and found.origin.span.line == 3


def test_a_code_on_the_command_line_that_is_none(tmp_path: Path) -> None:
    run = CliRunner().invoke(application("run"), ["run", str(folder(tmp_path)), "--allow", "IXP1"])
    assert isinstance(run.exception, UserError) and "docs/reserved.md" in str(run.exception)


def test_a_run_that_ends_says_who_sleeps_for_good(tmp_path: Path) -> None:
    (tmp_path / "program.uc").write_text(".physical\nctx_arb[s3]\nctx_arb[kill]\n")
    (tmp_path / "app.toml").write_text('me = [ { index = 2, image = "program.uc" } ]\n')
    report = App.load(tmp_path).run()
    assert report.stop == "quiet" and report.failure is None and len(report.notes) == 6
    assert report.notes[0] == (
        "microengine 2 context 0 at 1 waits for signal 3; no instruction of any program raises it; it sleeps for good")
