"""The RFC 2544 benchmark against programs whose rate is known: the line's, or what their instructions take."""

import csv
import json
import math
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ixpemu import UserError
from ixpemu.app_rfc2544 import Plan, Point, check, run
from ixpemu.cli_application import application

ROOT = Path(__file__).parents[2]
ECHO = ROOT / "microcode" / "echo"
LINE = 1e9 / 84 / 8             # frames of 64 bytes a second


def points(plan: Plan) -> list[Point]:
    return list(run(plan))


@pytest.fixture
def slow(tmp_path: Path):
    """The echo with a loop of `turns` turns for each element, and with what the XScale module has besides."""

    def make(turns: int) -> Path:
        folder = tmp_path / f"slow{turns}"
        folder.mkdir()
        source = (ECHO / "echo.uc").read_text()
        loop = f"    immed[delay, {turns}]\ndelay#:\n    alu[delay, delay, -, 1]\n    bne[delay#]\n"
        source = source.replace(".reg status ", ".reg delay status ").replace("room#:\n", loop + "room#:\n", 1)
        assert "delay#" in source
        (folder / "echo.uc").write_text(source)
        (folder / "control.py").write_text((ECHO / "control.py").read_text())
        (folder / "app.toml").write_text(
            'me = [ { index = 0, image = "echo.uc" } ]\nport = [ { number = 0 } ]\nxscale = { module = "control.py" }\n')
        return folder

    return make


def test_an_echo_carries_a_full_line_and_says_so():
    found = points(Plan("echo", sizes=(64, 512, 1518), ports=(0,), seconds=0.001, steps=50))
    assert [point.share for point in found] == [1.0] * 3
    assert [point.trials for point in found] == [1] * 3
    for point in found:
        assert point.limit.startswith("the lines") and point.failed is None and point.loss == ""
        assert point.line_frames == pytest.approx(1e9 / 8 / (point.size + 20))
        assert point.gbps == pytest.approx(1.0)
        low, mean, high = point.latency_us
        # Last bit in to last bit out: the frame's own time on the line, and 1 to 25 us inside the chip.
        wire = (point.size + 8) * 8 / 1000
        assert wire < low <= mean <= high < wire + 25
    # One thread at a time: an element is about 280 cycles behind the one before it.
    assert found[1].best.latency[0] - found[0].best.latency[0] == pytest.approx(7 * 280 + 448 * 4.8, rel=0.15)


def test_the_rate_of_a_slow_program_is_what_its_instructions_take(slow):
    """One turn of the loop is one cycle for the sum and four for the branch taken right behind it (machine facts: 1 + 3)."""
    cycles = {}
    for turns in (100, 200):
        [point] = points(Plan(slow(turns), sizes=(64,), seconds=0.004, steps=400))
        assert point.best is not None and point.failed is not None
        assert point.failed.step == point.best.step + 1
        assert point.trials <= 1 + math.ceil(math.log2(400)) + 1
        rate = point.frames_per_second
        step = LINE / 400
        assert point.best.doubt < 0.01
        cycles[turns] = (600e6 / (rate + step), 600e6 / rate * (1 + point.best.doubt))
        # The thread is busy with its loop for most of the time, and no unit is.
        assert "microengine 0" in point.limit
        assert point.loss
    low, high = cycles[200][0] - cycles[100][1], cycles[200][1] - cycles[100][0]
    assert low <= 500 <= high and high - low < 40
    assert cycles[100][0] > 500


def test_buffers_are_not_taken_for_throughput(slow):
    """With three times the receive FIFO a short trial loses nothing above the rate; what piles up shows all the same."""
    folder = slow(200)
    [small] = points(Plan(folder, sizes=(64,), seconds=0.0004, steps=100))
    [large] = points(Plan(folder, sizes=(64,), seconds=0.0004, steps=100, overrides={"port.receive_fifo_bytes": "49000"}))
    assert abs(small.best.step - large.best.step) <= 2
    assert large.failed.lost == 0 and large.failed.held > 0
    assert "more held" in large.loss
    assert int(0.9 * 31) <= large.best.step <= 32           # 468 thousand of 1.488 million a second


def test_an_application_that_sends_nothing_has_no_rate(tmp_path):
    folder = tmp_path / "sink"
    folder.mkdir()
    (folder / "sink.uc").write_text("ctx_arb[kill]\n")
    (folder / "app.toml").write_text('me = [ { index = 0, image = "sink.uc" } ]\nport = [ { number = 0 }, { number = 2 } ]\n')
    [point] = points(Plan(folder, sizes=(64,), seconds=0.0001, steps=4))
    assert point.best is None and point.share == 0 and point.latency_us is None
    assert point.failed.step == 1
    assert check(Plan(folder)) == (0, 2)
    assert "never sent" in point.loss or "held" in point.loss


@pytest.mark.parametrize(("change", "message"), [
    ({"sizes": (63,)}, "frames of 63 bytes"), ({"sizes": (9_100,)}, "frames of 9100 bytes"), ({"ports": (3,)}, "no port 3"),
    ({"seconds": 0.0}, "a trial of 0 s"), ({"steps": 0}, "0 steps"), ({"like": "65B"}, "no traffic stream"),
    ({"overrides": {"port.megabits": "0"}}, "port.megabits"), ({"application": "nothing"}, "no application"),
])
def test_plans_that_cannot_be(change, message):
    with pytest.raises(UserError, match=message) as caught:
        check(Plan(**{"application": "echo", **change}))
    assert caught.value.diagnostics[0].help


def test_the_command_prints_table_json_and_csv(tmp_path):
    runner = CliRunner()
    arguments = ["experiment", "rfc2544", "echo", "--sizes", "64,128", "--ports", "0,1", "--trial", "100us"]
    arguments += ["--resolution", "25%"]
    printed = runner.invoke(application(), [*arguments, "--csv", str(tmp_path / "table.csv")])
    assert printed.exit_code == 0, printed.output
    text = printed.output
    assert re.search(r"^ +64 +2,976,190 +\d[\d,]+ +\d+\.\d% ", text, re.M)
    assert "ports 0, 1" in text and "25.00% of the line" in text
    again = runner.invoke(application(), [*arguments, "--json"])
    values = json.loads(again.output)
    assert values["ports"] == [0, 1] and values["trial_seconds"] == pytest.approx(1e-4) and values["resolution"] == 0.25
    rows = list(csv.DictReader((tmp_path / "table.csv").read_text().splitlines()))
    assert [int(row["frame_bytes"]) for row in rows] == [64, 128]
    for row, found in zip(rows, values["sizes"], strict=True):
        assert {name: str("" if found[name] is None else found[name]) for name in row} == row
        assert found["above"] is None or found["above"]["share_of_line"] == found["share_of_line"] + 0.25
    assert f"{values['sizes'][0]['zero_loss_frames_per_second']:,.0f}" in text


@pytest.mark.parametrize("arguments", [
    ["--sizes", "64,64"], ["--sizes", "big"], ["--ports", "-1"], ["--trial", "soon"], ["--resolution", "none"],
    ["--resolution", "0"], ["--csv", "no/such/folder/x.csv"],
])
def test_wrong_arguments_are_told_before_anything_runs(arguments):
    found = CliRunner().invoke(application("experiment"), ["experiment", "rfc2544", "echo", *arguments, "--json"])
    assert found.exit_code == 2
    assert json.loads(found.stdout)["diagnostics"]


def test_the_page_shows_what_the_command_says():
    page = (ROOT / "docs" / "experiments.md").read_text()
    [found] = points(Plan("echo", sizes=(128,)))
    row = next(line for line in page.splitlines() if line.startswith("  128"))
    line, rate = (float(cell.replace(",", "")) for cell in row.split()[1:3])
    # Near enough that the page need not follow every change of a latency.
    assert line == round(found.line_frames) and rate == pytest.approx(found.frames_per_second, rel=0.1)
