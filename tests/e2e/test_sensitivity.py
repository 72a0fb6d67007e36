"""`ixpemu run --sensitivity` and what limits a run: values, tables, losses, and mistakes on the command line."""

import json
from pathlib import Path

import pytest

from ixpemu import App, Chip, app_file
from ixpemu.app_loads import Counters, limit, loads
from ixpemu.app_sensitivity import Answer, Question, ask, kind_of, question
from ixpemu.cli_run import run_command
from ixpemu.diagnostics import UserError
from ixpemu.isa.chipfile import load_chip
from ixpemu.net import write_capture
from ixpemu.trace.summary import Load
from tests.support.machine import words_of

FRAME = bytes.fromhex("020000000001020000000101") + b"\x08\x00" + bytes(range(46))


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    path = tmp_path / "in.pcap"
    write_capture(path, [(700 * n, FRAME) for n in range(8)])
    return path


def test_one_line_for_each_value_and_the_chip_as_it_is(
    capture: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(capture.parent)
    run_command("echo", pcap=[f"0={capture}"], sensitivity="dram.latency=300,60", quiet=True, json=True)
    values = json.loads(capsys.readouterr().out)
    assert [(each["value"], each["now"]) for each in values["values"]] == [(60, False), (120, True), (300, False)]
    assert all(each["sent"] == 8 and each["stop"] == "quiet" for each in values["values"])
    medians = [each["latency"]["median"] for each in values["values"]]
    assert medians[0] < medians[1] < medians[2]
    # Each frame is copied out of DRAM by a reference whose latency counts in full.
    assert medians[2] - medians[1] >= 180
    assert [path.name for path in capture.parent.iterdir()] == ["in.pcap"], "no captures are written"
    run_command("echo", pcap=[f"0={capture}"], sensitivity="dram.latency=60", set_=["me.fifo_depth=2"], quiet=True)
    table = capsys.readouterr().out.splitlines()
    assert table[1].split()[:2] == ["dram.latency", "packets/s"] and table[2].split()[0] == "60"
    assert table[3].split()[:2] == ["*", "120"]


def test_it_is_what_single_runs_give(capture: Path) -> None:
    settings = app_file.load("echo")
    asked = question("sram.read_cycles=10..30/20", settings, {})
    assert asked == Question("sram.read_cycles", (10, 30, 72))
    app = {value: App.load("echo", feeds={0: capture}, overrides={asked.name: str(value)}, capture=False).run()
           for value in asked.values}
    answers = list(ask(asked, lambda changed: app[int(changed[asked.name])], {}, load_chip()))
    assert [answer.report for answer in answers] == list(app.values())
    assert kind_of(answers) == answers[2].kind != ""
    assert all(isinstance(answer, Answer) and answer.latency(answer.kind) for answer in answers)


@pytest.mark.parametrize(("text", "overrides", "said"), [
    ("sram.latency", {}, "not of the form"), ("=1,2", {}, "not of the form"), ("sram.latency=", {}, "not of the form"),
    ("sram.lateny=1", {}, "did you mean"), ("sram.latency=1", {}, "out of range"), ("sram.latency=100,,120", {}, "whole number"),
    ("sram.latency=9..3", {}, "has no values"), ("sram.latency=90..100/0", {}, "has no values"),
    ("sram.latency=100..900", {}, "more than 100 values"), ("sram.latency=100", {"sram.latency": "90"}, "by --set and by"),
    ("sram.latency=100", {"sram.read_cycles": "70"}, "both set"),
])
def test_questions_that_make_no_sense(text: str, overrides: dict[str, str], said: str) -> None:
    with pytest.raises(UserError, match=said):
        question(text, app_file.load("echo"), overrides)


def test_captures_and_comparisons_exclude_each_other(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="writes no captures"):
        run_command("echo", sensitivity="sram.latency=100", out=[f"0={tmp_path / 'o.pcap'}"], cycles="10")


def test_loads_are_what_a_program_keeps_busy() -> None:
    """Eight threads that read eight words at a time keep one SRAM channel's read port busy, and a loop its microengine."""
    chip = Chip()
    chip.load_words(0, words_of("turn#:\nsram[read, $0, a0, 0, 8], ctx_swap[s2]\nbr[turn#]"), start=False)
    chip.load_words(5, words_of("turn#:\nbr[turn#]"), start=False)
    chip.start(0)
    chip.start(5, 1)
    chip.run(cycles=600)
    before = Counters.of(chip)
    chip.run(cycles=2400)
    shares = {load.name: load.share for load in loads(chip, before)}
    assert shares["SRAM channel 0, reads"] == pytest.approx(1.0, abs=0.02)
    assert shares["microengine 5"] == pytest.approx(1.0, abs=0.01) and 0.1 < shares["microengine 0"] < 0.5
    assert set(shares) == {"SRAM channel 0, reads", "microengine 0", "microengine 5"}
    assert loads(chip, Counters.of(chip)) == ()


def test_what_limits_is_said_in_words() -> None:
    assert limit([Load("DRAM", 0.99), Load("MSF", 0.96), Load("CAP", 0.5)]) == "limited by DRAM (99% busy), MSF (96% busy)"
    assert limit([Load("DRAM", 0.5)]).startswith("no part is busy all the time (DRAM (50% busy)): its threads wait")
    assert limit([]) == "nothing was busy"


def test_a_run_that_loses_frames_names_what_limits(tmp_path: Path) -> None:
    """A thread that waits for slow memory behind a small FIFO: frames are refused, counted, and the report says what was busy."""
    write_capture(tmp_path / "in.pcap", [(0, FRAME)] * 200)
    app = App.load("echo", feeds={0: tmp_path / "in.pcap"}, capture=False, gbps=1.0, overrides={
        "dram.read_cycles": "40_000", "port.receive_fifo_bytes": "200"})
    report = app.run(cycles=80_000)
    [note] = [note for note in report.notes if "receive FIFO full" in note]
    assert report.ports[0].refused["receive FIFO full"] > 0
    assert "frames found a receive FIFO full: no part is busy all the time (" in note
