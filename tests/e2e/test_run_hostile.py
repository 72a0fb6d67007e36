"""`ixpemu run` and applications against mistakes in files, in an application's Python, in outputs: nobody sees a traceback."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import dpkt
import numpy as np
import pytest

from ixpemu import App, codes, resources
from ixpemu.app_interrupt import interrupts
from ixpemu.diagnostics import UserError
from ixpemu.net import traffic, write_capture
from ixpemu.wire import Line, LineClock, read_capture
from ixpemu.wire.line import FARTHEST

FRAME = bytes.fromhex("020000000001020000000101") + b"\x08\x00" + bytes(range(46))
COMMAND = [sys.executable, "-m", "ixpemu", "run"]


def ixpemu(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [*COMMAND, *arguments], cwd=cwd, env=os.environ | {"PYTHONPATH": root, "IXPEMU_JIT": "0"}, capture_output=True, text=True,
        timeout=60, check=False,
    )
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the echo, with one frame to send."""
    shutil.copytree(resources.folder("microcode") / "echo", tmp_path / "app", ignore=shutil.ignore_patterns("__pycache__"))
    write_capture(tmp_path / "in.pcap", [(0, FRAME)])
    return tmp_path


def refused(folder: Path, **options: object) -> UserError:
    with pytest.raises(UserError) as caught:
        App.load(folder / "app", **options)         # type: ignore[arg-type]
    return caught.value


@pytest.mark.parametrize(("code", "message", "line"), [
    ("raise ValueError('late')", "control.py raised ValueError: late", 1),
    ("1/0", "control.py raised ZeroDivisionError: division by zero", 1),
    ("import sys; sys.exit(3)", "control.py ends the program: 3", 1),
    ("def setup(xscale):\n    xscale.tables['no']", "control.py raised KeyError: 'no'", 2),
    ("def setup(xscale):\n    xscale.dram.write_bytes(0, 'text')", "control.py raised TypeError: ", 2),
    ("def setup(xscale):\n    xscale.ring_setup(0, 3, 100, empty_flag=True)", "scratch ring 0 cannot have 100 words at 0x3", 2),
    ("def setup(xscale):\n    xscale.ring_setup(77, 0, 128, empty_flag=True)", "the number of a scratch ring cannot be 77", 2),
    ("def setup(xscale):\n    xscale.sram.write(1 << 33, [1])", "no SRAM channel has the address 0x200000000", 2),
    ("def setup(xscale):\n    xscale.msf.write(-1, 1)", "there is no msf CSR at -0x1", 2),
    ("def setup(xscale):\n    xscale.spend(-1)", "work of -1 cycles", 2),
    ("def setup(xscale):\n    xscale.after(1, 3)", "nothing can be done 1 cycles from now: 3", 2),
    ("def setup(): pass", "setup of control.py is no function of one argument", 1),
    ("async def setup(xscale): pass", "setup of control.py is no function of one argument", 1),
    ("setup = 3", "setup of control.py is no function of one argument", 1),
    ("def snapshot(xscale): return 1", "control.py has 'snapshot' and no 'restore'", 1),
    ("def snapshot(x): return 1\ndef restore(x): pass", "restore of control.py is no function of 2 arguments", 2),
    ("handlers = 3", "handlers of control.py is no dict but 3", 1),
    ("handlers = {'thread_q': print}", "handlers of control.py: there is no interrupt source 'thread_q'", 1),
    ("handlers = {'thread_a': 3}", "handlers['thread_a'] of control.py is no function of one argument", 1),
])
def test_a_mistake_in_the_control_module_is_told_at_its_line(folder: Path, code: str, message: str, line: int) -> None:
    control = folder / "app" / "control.py"
    control.write_text(code + "\n")
    (found,) = refused(folder).diagnostics
    assert found.message.startswith(message)
    origin = found.origin or found.notes[0].origin
    assert origin is not None and (Path(origin.span.file), origin.span.line) == (control, line)


@pytest.mark.parametrize("code", [
    "def boom(xscale): 1/0",
    "def boom(xscale): xscale.after(5, lambda: 1/0)",
    "def boom(xscale): xscale.sram.write(1 << 35, [1])",
])
def test_what_a_handler_raises_during_a_run_is_told_at_its_line(folder: Path, code: str) -> None:
    control = folder / "app" / "control.py"
    control.write_text(code + "\nhandlers = {'thread_a': boom}\n")
    app = App.load(folder / "app", captures={number: folder / f"{number}.pcap" for number in range(3)})
    app.xscale.interrupt(app.chip.cycle, "thread_a")
    with pytest.raises(UserError) as caught:
        app.run(cycles=3000)
    (found,) = caught.value.diagnostics
    origin = found.origin or found.notes[0].origin
    assert origin is not None and (Path(origin.span.file), origin.span.line) == (control, 1)


def test_a_mistake_of_ours_stays_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What did not pass through the application is not put down to it."""
    from ixpemu import app_start

    def broken(settings: object, chip: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(app_start, "_probes", broken)
    with pytest.raises(ZeroDivisionError):
        App.load(folder / "app")


@pytest.mark.parametrize(("name", "reason"), [
    ("in.pcap", "the run reads this file"), ("app/app.toml", "the run reads this file"),
    ("app/echo.uc", "the run reads this file"), ("app", "this is a folder"), ("no/out.pcap", "its folder is not there"),
])
def test_a_capture_that_must_not_be_written_is_told_before_the_run(folder: Path, name: str, reason: str) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    (found,) = refused(folder, feeds={0: folder / "in.pcap"}, captures={0: folder / name}).diagnostics
    assert found.code == codes.FILE_UNWRITABLE and reason in found.message and found.help
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts}


def test_two_ports_need_two_files(folder: Path) -> None:
    captures = {0: folder / "out.pcap", 1: folder / "app" / ".." / "out.pcap", 2: Path(os.devnull)}
    (found,) = refused(folder, captures=captures).diagnostics
    assert "port 0 is captured there already" in found.message
    (folder / "app" / "app.toml").write_text(
        'me = [ { index = 0, image = "echo.uc" } ]\nport = [ { number = 0, out = "x" },\n{ number = 1, out = "./x" } ]\n')
    (found,) = refused(folder).diagnostics
    assert found.origin is not None and (found.origin.span.line, found.origin.span.column) == (3, 15)


@pytest.mark.parametrize(("entry", "message", "line"), [
    ('port = [ { number = 0, gbps = 5.0, in = "sample0.pcap" } ]', "more than the port's 1 Gb/s", 2),
    ('port = [ { number = 0, out = "" } ]', "out names no file", 2),
    ('xscale = { module = "echo.uc" }', "echo.uc is no Python file", 2),
    (f'tables = {{ a = "{"x" * 5000}" }}', "which is not there", 2),
])
def test_mistakes_in_app_toml_have_their_place_there(folder: Path, entry: str, message: str, line: int) -> None:
    (folder / "app" / "app.toml").write_text(f'me = [ {{ index = 0, image = "echo.uc" }} ]\n{entry}\n')
    (found,) = refused(folder).diagnostics
    assert message in found.message and found.origin is not None
    assert (found.origin.span.file, found.origin.span.line) == (str(folder / "app" / "app.toml"), line)


def test_a_define_needs_a_name(folder: Path) -> None:
    (folder / "app" / "app.toml").write_text('me = [ { index = 0, image = "echo.uc", define = { "A B" = 1 } } ]\n')
    (found,) = refused(folder).diagnostics
    assert "'A B' is no name" in found.message


@pytest.mark.parametrize(("arguments", "code", "said"), [
    (("--packets", "0"), 2, "--packets '0' is not a positive whole number"),
    (("--time", "5ms", "--cycles", "5"), 2, "say the same in two ways"),
    (("--mode", "races"), 2, "there is no mode 'races'"),
    (("--pcap", "0"), 2, "write  --pcap PORT=FILE"),
    (("--pcap", "0=a", "--pcap", "00=b"), 2, "gives port 0 twice"),
    (("--pcap", "\u00b2=a"), 2, "there is no port '\u00b2'"),
    (("--pcap", "0=/dev/zero"), 1, "is not a packet capture"),
    (("--gbps", "1e300"), 2, "is not a line rate"),
    (("--set", "chip.megahertz=0"), 2, "1 to 10,000 MHz"),
    (("--pcap", "0=nothing.pcap"), 1, "cannot read nothing.pcap"),
])
def test_json_is_json_whatever_is_wrong(folder: Path, arguments: tuple[str, ...], code: int, said: str) -> None:
    done = ixpemu("echo", "--json", "--cycles", "100", *arguments, cwd=folder) if "--packets" not in arguments else ixpemu(
        "echo", "--json", *arguments, cwd=folder)
    assert done.returncode == code
    diagnostics = json.loads(done.stdout)["diagnostics"]
    assert any(said in f"{each['message']} {each.get('help')}" for each in diagnostics)


def test_a_name_that_no_file_can_have_is_no_application(folder: Path) -> None:
    done = ixpemu("x" * 5000, cwd=folder)
    assert done.returncode == 1 and "there is no application" in done.stderr


def test_a_capture_is_not_shown_as_text(folder: Path) -> None:
    (folder / "in.pcap").write_bytes((folder / "in.pcap").read_bytes()[:60])
    done = ixpemu("echo", "--pcap", "0=in.pcap", cwd=folder)
    assert done.returncode == 1 and "ends inside packet 1" in done.stderr and "|" not in done.stderr


def test_limits_beyond_every_clock_are_limits(folder: Path) -> None:
    app = App.load("echo", feeds={0: folder / "in.pcap"}, captures={number: folder / f"{number}.pcap" for number in range(3)})
    assert app.run(packets=10**30).complete
    assert app.run(cycles=10**30).complete
    for bad in ({"packets": -1}, {"cycles": -1}, {"time": float("nan")}, {"time": float("inf")}):
        with pytest.raises(UserError):
            app.run(**bad)      # type: ignore[arg-type]


def test_an_interrupt_ends_a_run_between_slices_with_all_captures_whole(folder: Path) -> None:
    write_capture(folder / "in.pcap", [(0, FRAME)] * 4000)
    app = App.load("echo", feeds={0: folder / "in.pcap"}, captures={number: folder / f"{number}.pcap" for number in range(3)})
    report = app.run(progress=lambda share, text: signal.raise_signal(signal.SIGINT))
    assert report.stop == "interrupted" and 0 < report.ports[0].sent[0] < 4000
    assert [packet.frame for packet in read_capture(folder / "0.pcap").packets] == [FRAME] * report.ports[0].sent[0]
    assert app.run(cycles=100_000).ports[0].sent[0] > report.ports[0].sent[0]       # and it can go on


def test_a_second_interrupt_is_pythons_own() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), interrupts() as interrupted:
        assert not interrupted()
        signal.raise_signal(signal.SIGINT)
        assert interrupted()
        signal.raise_signal(signal.SIGINT)
        time.sleep(1)
    assert signal.getsignal(signal.SIGINT) is before


def test_times_that_no_run_reaches_are_a_damaged_capture(folder: Path) -> None:
    write_capture(folder / "in.pcap", [(0, FRAME), (2 * 366 * 86_400 * 10**9, FRAME)])
    with pytest.raises(UserError, match=r"packet 2 comes .* seconds after the first"):
        read_capture(folder / "in.pcap")


@pytest.mark.parametrize("form", ["pcap", "pcapng"])
def test_a_frame_longer_than_any_is_a_damaged_capture(tmp_path: Path, form: str) -> None:
    """A capture may keep less of a frame than there was; 4 GB of zeros are not made for one damaged length."""
    content = io.BytesIO()
    dpkt.pcap.Writer(content).writepkt(FRAME, 1.0) if form == "pcap" else dpkt.pcapng.Writer(content).writepkt(FRAME, 1.0)
    octets = bytearray(content.getvalue())
    at = octets.index(FRAME) - 4
    assert int.from_bytes(octets[at : at + 4], sys.byteorder) == len(FRAME)
    octets[at : at + 4] = b"\xff\xff\xff\xf0"
    (tmp_path / "x").write_bytes(octets)
    with pytest.raises(UserError) as caught:
        read_capture(tmp_path / "x")
    assert caught.value.diagnostics[0].code == codes.CAPTURE_MALFORMED


def test_a_line_of_a_bit_a_second_brings_frames_when_nobody_waits() -> None:
    clock = LineClock.at(Line(), 1e-9)
    lengths, due = np.full(20_000, 200_000), np.zeros(20_000, np.int64)
    cycles, after = clock.arrivals(lengths, due)
    assert cycles[0] == clock.next(200_000)[0] and cycles[-1] == FARTHEST and (np.diff(cycles) >= 0).all()
    assert after.arrivals(lengths[:1], due[:1])[0][0] == FARTHEST


@pytest.mark.parametrize(("text", "message", "line"), [
    ("seed = 1\nsizes = [1]\n", "a list of frame sizes from 64", 2),
    ("sizes = [64]\nsizez = 3\n", "has no key 'sizez'", 2),
    ("sizes = [64]\n\ncount = -1\n", "count -1 is out of range", 3),
    ('sizes = [64]\nsource = "300.1.1.1/3"\n', "is not an IPv4 network", 2),
    ('sizes = [64]\nsource = ["a"]\n', "source must be a string", 2),
    ('sizes = [64]\ndestinations = ["10.0.0.0/8",\n"10.0.0.0/33"]\n', "is not an IPv4 network", 3),
    ("sizes\n", "not a TOML file", 1),
])
def test_a_mistake_in_a_traffic_file_has_its_place(tmp_path: Path, text: str, message: str, line: int) -> None:
    file = tmp_path / "t.toml"
    file.write_text(text)
    with pytest.raises(UserError) as caught:
        traffic(str(file))
    (found,) = caught.value.diagnostics
    assert message in found.message and found.help and found.origin is not None
    assert (found.origin.span.file, found.origin.span.line) == (str(file), line)
