"""Applications from Python: small ones made on the spot and the echo, their reports, limits, overrides and mistakes."""

import dataclasses
import signal
from pathlib import Path

import pytest

from ixpemu import App, codes
from ixpemu.diagnostics import UserError
from ixpemu.net import read_capture, write_capture
from ixpemu.report import run_json
from ixpemu.trace import RunReport
from ixpemu.trace.summary import unbalanced

FRAME = bytes.fromhex("020000000001020000000101") + b"\x08\x00" + bytes(range(46))
FRAMES = [FRAME[:12] + bytes([0x08, index % 7]) + bytes(46 + 13 * index) for index in range(40)]


def outputs(tmp_path: Path) -> dict[int, Path]:
    """A file for every port, so that none is written where the tests are run."""
    return {number: tmp_path / f"out{number}.pcap" for number in range(3)}


def echo(tmp_path: Path, frames: list[bytes], **options: object) -> tuple[App, RunReport]:
    write_capture(tmp_path / "in.pcap", [(1000 * index, frame) for index, frame in enumerate(frames)])
    app = App.load("echo", feeds={0: tmp_path / "in.pcap"}, captures=outputs(tmp_path), **options)
    return app, app.run()


def test_frames_come_back_and_every_sum_holds(tmp_path: Path) -> None:
    app, report = echo(tmp_path, FRAMES)
    assert [sent.frame for sent in app.chip.ports[0].sent] == FRAMES
    assert [packet.frame for packet in read_capture(tmp_path / "out0.pcap").packets] == FRAMES
    assert len(read_capture(tmp_path / "out1.pcap")) == 0
    assert report.complete and not unbalanced(report)
    assert (report.arrived, report.sent, report.dropped, report.inside) == (40, 40, 0, 0)
    assert sum(kind.packets for kind in report.types) == 40
    (kind,) = report.types
    latency = kind.latency
    assert latency is not None and 0 < latency.minimum <= latency.median <= latency.p99 <= latency.maximum
    assert kind.references["dram"] >= 80        # a copy in and a copy out for each element at least


def figures(report: RunReport) -> dict[str, object]:
    """What must not depend on how a run was cut up."""
    values = run_json(report)
    return {name: values[name] for name in values if name not in ("wall_seconds", "stop")}


def test_a_run_in_pieces_is_the_same_run(tmp_path: Path) -> None:
    _, whole = echo(tmp_path, FRAMES)
    app = App.load("echo", feeds={0: tmp_path / "in.pcap"}, captures=outputs(tmp_path))
    for cycles in (1, 999, 12_345, 7):
        app.advance(cycles)
    assert figures(app.run()) == figures(whole)


def test_limits(tmp_path: Path) -> None:
    write_capture(tmp_path / "in.pcap", [(0, frame) for frame in FRAMES])
    app = App.load("echo", feeds={0: tmp_path / "in.pcap"}, captures=outputs(tmp_path))
    assert (report := app.run(packets=5)).stop == "packets" and report.sent == 5
    assert (report := app.run(packets=3)).sent == 8
    before = app.chip.cycle
    assert (report := app.run(cycles=1000)).cycles == before + 1000
    assert (report := app.run(time=1e-6)).cycles == before + 1600
    assert app.run().sent == 40


def test_progress_is_told_with_growing_shares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ixpemu.app.SLICE_CYCLES", 3000)
    write_capture(tmp_path / "in.pcap", [(0, frame) for frame in FRAMES])
    app = App.load("echo", feeds={0: tmp_path / "in.pcap"}, captures=outputs(tmp_path))
    shares: list[float] = []
    app.run(progress=lambda share, text: shares.append(share))
    assert len(shares) > 3 and shares == sorted(shares) and shares[0] >= 0 and shares[-1] <= 1


def test_an_interrupted_run_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ixpemu.app.SLICE_CYCLES", 3000)
    write_capture(tmp_path / "in.pcap", [(0, frame) for frame in FRAMES])
    app = App.load("echo", feeds={0: tmp_path / "in.pcap"}, captures=outputs(tmp_path))

    report = app.run(progress=lambda share, text: signal.raise_signal(signal.SIGINT))
    assert report.stop == "interrupted" and report.cycles == 3000 and not unbalanced(report)


def test_a_parameter_set_by_hand_changes_the_figures(tmp_path: Path) -> None:
    _, ordinary = echo(tmp_path, FRAMES)
    _, slow = echo(tmp_path, FRAMES, overrides={"dram.read_cycles": "500"})
    assert ordinary.types[0].latency is not None and slow.types[0].latency is not None
    assert slow.types[0].latency.minimum > ordinary.types[0].latency.minimum
    with pytest.raises(UserError) as caught:
        App.load("echo", overrides={"dram.read_cycle": "5"})
    assert str(caught.value.diagnostics[0].help).startswith("did you mean 'dram.read_cycles'?")


def test_fast_mode_moves_the_same_frames_at_the_same_times(tmp_path: Path) -> None:
    ordinary, _ = echo(tmp_path, FRAMES)
    write_capture(tmp_path / "in.pcap", [(1000 * index, frame) for index, frame in enumerate(FRAMES)])
    fast = App.load("echo", feeds={0: tmp_path / "in.pcap"}, captures=outputs(tmp_path), mode="fast")
    report = fast.run(cycles=ordinary.chip.cycle + 1)
    assert [(s.cycle, s.frame) for s in fast.chip.ports[0].sent] == [(s.cycle, s.frame) for s in ordinary.chip.ports[0].sent]
    assert report.types == () and (report.arrived, report.sent, report.inside) == (40, 40, 0)
    assert not unbalanced(report) and "not followed" in report.notes[0]
    with pytest.raises(UserError, match="packets are not followed"):
        fast.run(packets=1)


@pytest.mark.parametrize(("frames", "refused"), [
    ([FRAME, FRAME[:10], FRAME], {"runt": 1}),
    ([FRAME, bytes(9019), FRAME], {"frame too long": 1}),
])
def test_frames_that_a_port_refuses(tmp_path: Path, frames: list[bytes], refused: dict[str, int]) -> None:
    _, report = echo(tmp_path, frames)
    assert report.drops == refused and (report.arrived, report.sent) == (3, 2) and not unbalanced(report)


def test_the_longest_frame_passes(tmp_path: Path) -> None:
    long = FRAME[:14] + bytes(9018 - 14)
    app, report = echo(tmp_path, [FRAME, long, FRAME])
    assert [sent.frame for sent in app.chip.ports[0].sent] == [FRAME, long, FRAME] and not report.drops


@pytest.mark.parametrize(("content", "code"), [
    (b"", codes.CAPTURE_EMPTY), (b"GET / HTTP/1.1\r\n", codes.CAPTURE_UNKNOWN), (None, codes.FILE_UNREADABLE),
    ("cut", codes.CAPTURE_TRUNCATED),
])
def test_captures_that_cannot_be_used(tmp_path: Path, content: bytes | str | None, code: int) -> None:
    path = tmp_path / "x.pcap"
    write_capture(path, [(0, FRAME), (1, FRAME)])
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content if isinstance(content, bytes) else path.read_bytes()[:-5])
    with pytest.raises(UserError) as caught:
        App.load("echo", feeds={0: path})
    assert caught.value.diagnostics[0].code == code and caught.value.diagnostics[0].help


def test_a_capture_of_nothing_ends_at_once(tmp_path: Path) -> None:
    _, report = echo(tmp_path, [])
    assert report.complete and report.arrived == 0 and not unbalanced(report)


CONTROL = """\
def setup(xscale):
    xscale.program = sorted(xscale.images), [port.number for port in xscale.ports], dict(xscale.tables)


def kind(frame):
    return "short" if len(frame) < 100 else "long"
"""
SPIN = ".begin\n.reg a\nimmed[a, 0]\nagain#:\nalu[a, a, +, 1]\nbr[again#]\n.end\n"


def folder(tmp_path: Path, **changes: str) -> Path:
    files = {
        "spin.uc": SPIN, "control.py": CONTROL, "t.txt": "", "app.toml": 'me = [ { index = 0, image = "spin.uc" }, '
        '{ index = 5, image = "spin.uc", contexts = 8 } ]\nport = [ { number = 1 } ]\ntables = { t = "t.txt" }\n'
        'xscale = { module = "control.py" }\npackets = { classifier = "control:kind" }\n',
    }
    for name, text in (files | {name.replace("_", "."): text for name, text in changes.items()}).items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_what_the_control_module_is_given(tmp_path: Path) -> None:
    app = App.load(folder(tmp_path))
    assert app.xscale.program == ([0, 5], [1], {"t": tmp_path / "t.txt"})


def test_where_an_endless_program_stands(tmp_path: Path) -> None:
    report = App.load(folder(tmp_path)).run(cycles=5000)
    assert report.stop == "the limit of 5,000 cycles" and not unbalanced(report)
    executing = [place for place in report.where if place.state == "executing"]
    assert [place.me for place in executing] == [0, 5]
    assert all(place.label.startswith("again#") and place.place.endswith(("spin.uc:5", "spin.uc:6")) for place in executing)


def test_a_run_that_nothing_ends_gives_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ixpemu.app.PATIENCE_CYCLES", 20_000)
    monkeypatch.setattr("ixpemu.app.SLICE_CYCLES", 7_000)
    report = App.load(folder(tmp_path)).run()
    assert report.stop == "nothing has moved for 20,000 cycles" and report.cycles == 21_000


def test_reserved_behaviour_is_told_with_its_place(tmp_path: Path) -> None:
    source = ".reg a\nimmed[a, 0xa00]\nlocal_csr_wr[ACTIVE_LM_ADDR_0, a]\nnop\nnop\nnop\nalu[a, --, B, *l$index0[0]]\n"
    report = App.load(folder(tmp_path, spin_uc=source + "alu[--, --, B, a]\nctx_arb[kill]\n")).run()
    (found,) = report.warnings
    assert found.label == "IXP7005" and found.origin is not None and found.help is not None
    assert found.message.startswith("unpopulated local memory (word 0x280): microengine 0 context 0 at 5, cycle ")
    assert found.message.endswith("; 8 times, first there") and str(found.origin.span).endswith("spin.uc:7:1")


def test_a_program_that_ends_has_run_as_long_as_it_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not to the end of the slice in which it ended."""
    source = "nop\n" * 100 + "ctx_arb[kill]\n"
    cycles = []
    for name, length in (("a", 1000), ("b", 50_000)):
        monkeypatch.setattr("ixpemu.app.SLICE_CYCLES", length)
        (tmp_path / name).mkdir()
        report = App.load(folder(tmp_path / name, spin_uc=source)).run()
        assert report.complete and not unbalanced(report) and report.instructions == 2 * 8 * 101
        cycles.append(report.cycles)
    assert cycles[0] == cycles[1] and 808 <= cycles[0] < 900


@pytest.mark.parametrize(("changes", "code", "message", "line"), [
    ({"control_py": "def setup(x)\n"}, codes.APP_MODULE, "control.py does not compile", 1),
    ({"control_py": "import nowhere_to_be_found\n"}, codes.APP_MODULE, "nowhere_to_be_found", 1),
    ({"control_py": "def kinds(frame): return 1\n"}, codes.APP_MODULE, "no function 'kind'", 5),
    ({"spin_uc": ".num_contexts 4\n" + SPIN}, codes.FILE_BAD_VALUE, "written for 4 contexts, not 8", 1),
])
def test_mistakes_in_the_files_of_an_application(
    tmp_path: Path, changes: dict[str, str], code: int, message: str, line: int
) -> None:
    with pytest.raises(UserError) as caught:
        App.load(folder(tmp_path, **changes))
    (found,) = caught.value.diagnostics
    assert found.code == code and message in found.message and found.help
    assert found.origin is not None and found.origin.span.line == line


def test_types_beyond_what_the_engine_can_number_are_counted_together(tmp_path: Path) -> None:
    from ixpemu.app_start import KINDS_MAX, OTHERS, Kinds

    kinds = Kinds(lambda frame: f"type {frame.hex()}")
    numbers = [kinds.number(index.to_bytes(2, "big")) for index in range(300)]
    assert numbers[:255] == list(range(255)) and set(numbers[255:]) == {KINDS_MAX - 1}
    assert kinds.names[KINDS_MAX - 1] == OTHERS and len(kinds.names) == KINDS_MAX
    assert kinds.number((7).to_bytes(2, "big")) == 7


def test_reports_are_values(tmp_path: Path) -> None:
    _, report = echo(tmp_path, FRAMES[:2])
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.cycles = 1  # type: ignore[misc]


def test_a_snapshot_takes_the_routers_control_side_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    app = App.load("ipv4_forward")
    chip, program = app.chip, app.xscale.program
    chip.run(packets=300)
    saved = chip.snapshot()

    def on() -> list[object]:
        program.table.remove_route(next(iter(program.routes.routes)).prefix)
        chip.run(cycles=400_000)
        counters, slow = [port.counters for port in chip.ports], program.slow
        return [dict(slow.counts), dict(slow.answers), program.table.nodes_in_use, counters, app.xscale.interrupts]

    first = on()
    assert sum(program.slow.counts.values()) > 3
    chip.restore(saved)
    assert on() == first
