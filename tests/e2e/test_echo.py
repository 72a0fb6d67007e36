"""Captures through the whole chip and back: assembled microcode echoes frames through RBUF, DRAM and TBUF."""

import os
import random
from pathlib import Path

import pytest

from ixpemu import Chip, assemble, resources
from ixpemu.wire import read_capture, wire_length, write_capture

CAPTURES = os.environ.get("IXPEMU_CAPTURES")
ECHO = resources.folder("microcode") / "echo"
ERRATUM = {0, 9, 18, 27}


@pytest.fixture(scope="module")
def image():
    return assemble(ECHO / "echo.uc")


@pytest.fixture
def chip(image):
    chip = Chip()
    chip.msf.csr["RX_CONTROL"] = 0xF << 28 | 1 << 19
    chip.msf.csr["TX_CONTROL"] = 0xF << 28 | 1 << 19
    for element in sorted(set(range(128)) - ERRATUM):
        chip.msf.csr["RBUF_ELEMENT_DONE"] = element
    chip.load(0, image)
    for port in chip.ports:
        port.capture()
    return chip


def sent(chip, port):
    return [frame.frame for frame in chip.ports[port].sent]


def padded(frames):
    return [frame.ljust(60, b"\0") for frame in frames]


def test_one_frame(chip):
    frame = bytes(range(60))
    chip.ports[0].feed([frame])
    stop = chip.run(cycles=100_000)
    assert stop.reason == "quiet"
    assert sent(chip, 0) == [frame]
    assert sent(chip, 1) == sent(chip, 2) == []


def test_every_length_on_three_ports(chip):
    rng = random.Random(9)
    frames = {port: [rng.randbytes(rng.choice((14, 60, 64, 65, 128, rng.randint(14, 1514), 1514))) for _ in range(40)]
              for port in range(3)}
    for port, rows in frames.items():
        chip.ports[port].feed(rows, gbps=0.15)
    assert chip.run(cycles=20_000_000).reason == "quiet"
    assert {port: sent(chip, port) for port in range(3)} == {port: padded(rows) for port, rows in frames.items()}
    # Every packet is accounted for, and each frame that leaves is the packet that came.
    assert (chip.packets_sent, chip.packets_dropped, int(chip.state.packets_inside)) == (120, 0, 0)
    for port in range(3):
        numbers = [frame.packet for frame in chip.ports[port].sent]
        assert numbers == sorted(set(numbers))
        assert {int(chip.state.packets[number].port_in) for number in numbers} == {port}
    assert chip.reserved == {}


def test_the_sample_trace_comes_back(chip, tmp_path):
    path = resources.folder("traces") / "sample0.pcap"
    chip.ports[2].feed(path, gbps=0.3)
    chip.ports[2].capture(tmp_path / "back.pcap")
    assert chip.run(cycles=100_000_000).reason == "quiet"
    back = read_capture(tmp_path / "back.pcap")
    assert [packet.frame for packet in back.packets] == [packet.frame for packet in read_capture(path).packets]
    times = [packet.time_ns for packet in back.packets]
    for number in range(1, len(times)):
        assert times[number] - times[number - 1] >= (wire_length(len(back.packets[number].frame)) + 12) * 8 - 2


def test_runts_and_jumbo_frames(chip, tmp_path):
    """A 10-byte packet is counted as a runt, one of 9,018 bytes is the longest that passes, one byte more is too long."""
    path = tmp_path / "odd.pcap"
    jumbo = random.Random(5).randbytes(9018)
    write_capture(path, [(0, bytes(10)), (1_000_000, jumbo), (2_000_000, bytes(9019)), (3_000_000, b"\7" * 60)])
    chip.ports[0].feed(path)
    assert chip.run(cycles=20_000_000).reason == "quiet"
    counters = chip.ports[0].counters
    assert (counters.received, counters.runts, counters.oversize) == (2, 1, 1)
    assert sent(chip, 0) == [jumbo, b"\7" * 60]


def test_too_much_overflows_and_is_counted(chip):
    count = 1500
    for port in chip.ports:
        port.feed([bytes([k & 255]) * 60 for k in range(count)], gbps=1.0)
    assert chip.run(cycles=20_000_000).reason == "quiet"
    for port in range(3):
        counters = chip.ports[port].counters
        assert counters.overflow > 0
        assert counters.received + counters.overflow == count
        assert counters.sent == counters.received


def test_stepping_in_slices_changes_nothing(image, chip):
    rng = random.Random(2)
    frames = [rng.randbytes(rng.randint(60, 400)) for _ in range(20)]
    chip.ports[0].feed(frames, gbps=0.4)
    for _ in range(2000):
        chip.run(cycles=37)
    partial = [(f.cycle, f.frame) for f in chip.ports[0].sent]
    whole = Chip()
    whole.msf.csr["RX_CONTROL"] = 0xF << 28 | 1 << 19
    whole.msf.csr["TX_CONTROL"] = 0xF << 28 | 1 << 19
    for element in sorted(set(range(128)) - ERRATUM):
        whole.msf.csr["RBUF_ELEMENT_DONE"] = element
    whole.load(0, image)
    whole.ports[0].capture()
    whole.ports[0].feed(frames, gbps=0.4)
    whole.run(cycles=2000 * 37)
    assert [(f.cycle, f.frame) for f in whole.ports[0].sent] == partial
    assert len(partial) == 20


def test_a_restored_chip_sends_the_same_frames_again(chip):
    rng = random.Random(4)
    chip.ports[1].feed([rng.randbytes(rng.randint(60, 600)) for _ in range(30)], gbps=0.3)
    chip.run(cycles=40_000)
    saved = chip.snapshot()
    before = len(chip.ports[1].sent)
    chip.run(cycles=2_000_000)
    first = [(f.cycle, f.frame) for f in chip.ports[1].sent]
    chip.restore(saved)
    assert len(chip.ports[1].sent) == before
    chip.run(cycles=2_000_000)
    assert [(f.cycle, f.frame) for f in chip.ports[1].sent] == first
    assert len(first) == 30


@pytest.mark.skipif(CAPTURES is None, reason="IXPEMU_CAPTURES names no folder of real captures")
def test_real_captures_come_back_unchanged(chip):
    files = [path for path in sorted(Path(CAPTURES or "").iterdir()) if path.suffix in (".pcap", ".pcapng")]
    assert files, f"{CAPTURES} holds no capture"
    wanted = []
    for path in files:
        chip.ports[0].feed(path, gbps=0.3)
        wanted += padded(packet.frame for packet in read_capture(path).packets)
    assert chip.run(cycles=100_000_000).reason == "quiet"
    assert sent(chip, 0) == wanted
