"""Capture files: round trips judged by scapy, exact times, and every way a file can be wrong."""

import errno
import os
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from scapy.utils import PcapNgReader, PcapNgWriter, PcapReader, PcapWriter, rdpcap

from ixpemu import codes
from ixpemu.diagnostics import UserError
from ixpemu.wire import CaptureFile, read_capture, write_capture

FRAMES = [bytes([k]) * length for k, length in enumerate((10, 14, 59, 60, 61, 64, 1514, 9018))]


def classic(packets, *, order="<", magic=0xA1B2C3D4, link=1):
    out = struct.pack(order + "IHHIIII", magic, 2, 4, 0, 0, 65535, link)
    for seconds, fraction, data, length in packets:
        out += struct.pack(order + "IIII", seconds, fraction, len(data), length) + data
    return out


def block(kind, body, order="<"):
    body += bytes(-len(body) % 4)
    return struct.pack(order + "II", kind, len(body) + 12) + body + struct.pack(order + "I", len(body) + 12)


def section(order="<"):
    return block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order)


def interface(link=1, options=b"", order="<", snapshot=0):
    return block(1, struct.pack(order + "HHI", link, 0, snapshot) + options, order)


def enhanced(number, ticks, data, order="<", length=None):
    original = len(data) if length is None else length
    head = struct.pack(order + "IIIII", number, ticks >> 32, ticks & 0xFFFFFFFF, len(data), original)
    return block(6, head + data, order)


def refused(path) -> tuple[int, str, str]:
    with pytest.raises(UserError) as caught:
        read_capture(path)
    finding = caught.value.diagnostics[0]
    assert finding.help, "every refusal says what to do"
    return finding.code, finding.message, finding.help


def put(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "some.pcap"
    path.write_bytes(content)
    return path


def test_what_is_written_reads_back_exactly(tmp_path):
    rows = [(1_700_000_000_123_456_789 + 7 * k, frame) for k, frame in enumerate(FRAMES)]
    assert write_capture(tmp_path / "out.pcap", rows) == len(rows)
    capture = read_capture(tmp_path / "out.pcap")
    assert [(p.time_ns, p.frame) for p in capture.packets] == rows
    assert capture.form == "pcap"
    assert capture.shortened == 0


def test_scapy_reads_what_is_written(tmp_path):
    path = tmp_path / "out.pcap"
    write_capture(path, [(k * 1_000_000_001, frame) for k, frame in enumerate(FRAMES)])
    with PcapReader(str(path)) as reader:
        read = [(bytes(packet), packet.time) for packet in reader]
    assert [data for data, _ in read] == FRAMES
    assert [int(time * 10**9) for _, time in read] == [k * 1_000_000_001 for k in range(len(FRAMES))]


@pytest.mark.parametrize("endian", ["<", ">"])
@pytest.mark.parametrize("nano", [False, True])
def test_scapy_classic_captures_are_read(tmp_path, endian, nano):
    path = tmp_path / "in.pcap"
    with PcapWriter(str(path), linktype=1, endianness=endian, nano=nano) as writer:
        for k, frame in enumerate(FRAMES):
            if k == 0:
                writer.write_header(Raw(frame))
            writer.write_packet(frame, sec=1_600_000_000 + k, usec=123_456_789 if nano else 123_456)
    capture = read_capture(path)
    assert [p.frame for p in capture.packets] == FRAMES
    fraction = 123_456_789 if nano else 123_456_000
    assert [p.time_ns for p in capture.packets] == [(1_600_000_000 + k) * 10**9 + fraction for k in range(len(FRAMES))]


def test_scapy_pcapng_is_read_like_scapy_reads_it(tmp_path):
    path = tmp_path / "in.pcapng"
    with PcapNgWriter(str(path)) as writer:
        for frame in FRAMES[1:]:
            writer.write(Ether(frame))
    capture = read_capture(path)
    assert capture.form == "pcapng"
    with PcapNgReader(str(path)) as reader:
        assert [p.frame for p in capture.packets] == [bytes(p) for p in reader]


@pytest.mark.parametrize("order", ["<", ">"])
def test_pcapng_interfaces_have_their_own_clocks(tmp_path, order):
    def option(code, data):
        return struct.pack(order + "HH", code, len(data)) + data + bytes(-len(data) % 4)
    end = struct.pack(order + "HH", 0, 0)
    content = section(order)
    content += interface(options=option(9, b"\x09") + option(14, struct.pack(order + "q", 5)) + end, order=order)
    content += interface(order=order)                                            # microseconds unless said otherwise
    content += interface(options=option(9, b"\x8a") + end, order=order)          # 1/1024 second
    content += block(0x0BAD, b"skipped", order)
    content += enhanced(0, 123_456_789_012_345_678, FRAMES[3], order)
    content += enhanced(1, 7, FRAMES[4], order)
    content += enhanced(2, 1025, FRAMES[5], order, length=200)
    content += block(3, struct.pack(order + "I", 60) + FRAMES[3], order)
    capture = read_capture(put(tmp_path, content))
    assert [p.time_ns for p in capture.packets] == [123_456_794_012_345_678, 7_000, 1025 * 10**9 // 1024, 1025 * 10**9 // 1024]
    assert [p.frame for p in capture.packets] == [FRAMES[3], FRAMES[4], FRAMES[5], FRAMES[3]]
    assert capture.shortened == 1
    assert capture.backwards == 1


def test_a_second_section_forgets_the_interfaces_and_may_turn_the_bytes_round(tmp_path):
    content = section("<") + interface() + enhanced(0, 1, FRAMES[3]) + section(">") + interface(order=">")
    content += enhanced(0, 2, FRAMES[4], ">")
    assert [p.frame for p in read_capture(put(tmp_path, content)).packets] == [FRAMES[3], FRAMES[4]]
    code, message, _ = refused(put(tmp_path, section() + interface() + section() + enhanced(0, 1, FRAMES[3])))
    assert code == codes.CAPTURE_MALFORMED
    assert "interface 0" in message


def test_check_sequences_are_cut_off_where_the_file_says_they_are_there(tmp_path):
    frame = FRAMES[3] + b"\xde\xad\xbe\xef"
    capture = read_capture(put(tmp_path, classic([(0, 0, frame, 64)], link=1 | 1 << 26 | 2 << 28)))
    assert capture.packets[0].frame == FRAMES[3]
    assert capture.packets[0].original_length == 60
    option = struct.pack("<HHB3x", 13, 1, 32) + bytes(4)
    capture = read_capture(put(tmp_path, section() + interface(options=option) + enhanced(0, 0, frame)))
    assert capture.packets[0].frame == FRAMES[3]


def test_shortened_frames_are_counted_and_fed_at_their_length(tmp_path):
    capture = read_capture(put(tmp_path, classic([(0, 0, FRAMES[3], 1514), (0, 0, FRAMES[4], 61)])))
    assert capture.shortened == 1
    assert [len(frame) for _, frame in capture.frames()] == [1514, 61]
    assert next(capture.frames())[1] == FRAMES[3] + bytes(1454)


def test_times_start_at_zero_and_never_go_back(tmp_path):
    rows = [(5, 10, FRAMES[3], 60), (4, 0, FRAMES[3], 60), (5, 11, FRAMES[3], 60)]
    capture = read_capture(put(tmp_path, classic(rows)))
    assert [time for time, _ in capture.frames()] == [0, 0, 1000]
    assert [time for time, _ in capture.frames(2)] == [1000]
    assert capture.backwards == 1


def test_a_capture_of_no_packets_is_no_error(tmp_path):
    assert read_capture(put(tmp_path, classic([]))).packets == ()
    assert list(read_capture(put(tmp_path, section() + interface())).frames()) == []


def test_missing_file(tmp_path):
    assert refused(tmp_path / "nowhere.pcap")[0] == codes.FILE_UNREADABLE
    assert refused(tmp_path)[0] == codes.FILE_UNREADABLE


def test_empty_file(tmp_path):
    code, message, _ = refused(put(tmp_path, b""))
    assert code == codes.CAPTURE_EMPTY
    assert "0 bytes" in message


@pytest.mark.parametrize("content", [b"PK\x03\x04zip", b"\x1f\x8b\x08gz", b"x", b"frame 1: hello\n" * 10])
def test_not_a_capture(tmp_path, content):
    assert refused(put(tmp_path, content))[0] == codes.CAPTURE_UNKNOWN


@pytest.mark.parametrize("content", [classic([], link=113), section() + interface(link=113) + enhanced(0, 0, FRAMES[3])])
def test_other_link_types(tmp_path, content):
    code, message, _ = refused(put(tmp_path, content))
    assert code == codes.CAPTURE_LINK_TYPE
    assert "113" in message


WHOLE_CLASSIC = classic([(1, k, FRAMES[3], 60) for k in range(3)])
WHOLE_NG = section() + interface() + b"".join(enhanced(0, k, FRAMES[3]) for k in range(3))


@pytest.mark.parametrize("cut", range(25, 24 + 3 * 76))
def test_a_classic_file_cut_anywhere_names_packet_and_byte(tmp_path, cut):
    if (cut - 24) % 76 == 0:
        assert len(read_capture(put(tmp_path, WHOLE_CLASSIC[:cut])).packets) == (cut - 24) // 76
        return
    number = (cut - 24) // 76
    code, message, _ = refused(put(tmp_path, WHOLE_CLASSIC[:cut]))
    assert code == codes.CAPTURE_TRUNCATED
    assert f"packet {number + 1}, which starts at byte {24 + 76 * number}:" in message
    assert len(read_capture(tmp_path / "some.pcap", allow_truncated=True).packets) == number


def test_a_pcapng_file_cut_anywhere_is_refused_with_the_byte(tmp_path):
    for cut in range(4, len(WHOLE_NG)):
        path = put(tmp_path, WHOLE_NG[:cut])
        offset = 28 + 20
        if cut in (28, 48, 48 + 92, 48 + 184):
            assert len(read_capture(path).packets) == max(0, (cut - offset) // 92)
            continue
        code, message, _ = refused(path)
        assert code == codes.CAPTURE_TRUNCATED
        starts = [0, 28, 48, 140, 232]
        assert f"byte {max(s for s in starts if s < cut)}:" in message


def test_an_absurd_length_is_damage_not_a_truncation(tmp_path):
    content = WHOLE_CLASSIC + struct.pack("<IIII", 0, 0, 0x7FFFFFFF, 60)
    code, message, _ = refused(put(tmp_path, content))
    assert code == codes.CAPTURE_MALFORMED
    assert "packet 4 at byte 252" in message


@given(st.binary(max_size=200), st.sampled_from(["", "classic", "ng"]))
@settings(max_examples=200, deadline=None)
def test_any_bytes_give_a_capture_or_a_user_error(tmp_path_factory, content, prefix):
    start = {"": b"", "classic": WHOLE_CLASSIC[:100], "ng": WHOLE_NG[:48]}[prefix]
    path = tmp_path_factory.mktemp("any") / "x.pcap"
    path.write_bytes(start + content)
    try:
        read_capture(path)
    except UserError as error:
        assert error.diagnostics[0].help


@given(st.integers(0, len(WHOLE_NG) - 1), st.integers(0, 255))
@settings(max_examples=300, deadline=None)
def test_any_flipped_byte_of_a_pcapng_gives_a_capture_or_a_user_error(tmp_path_factory, at, value):
    path = tmp_path_factory.mktemp("flip") / "x.pcapng"
    content = bytearray(WHOLE_NG)
    content[at] = value
    path.write_bytes(content)
    try:
        read_capture(path)
    except UserError as error:
        assert error.diagnostics[0].help


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "out.pcap"
    write_capture(path, [(0, FRAMES[3])])
    before = path.read_bytes()

    def full(*_arguments, **_options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(UserError) as caught:
        write_capture(path, [(0, FRAMES[4])])
    assert caught.value.diagnostics[0].code == codes.FILE_UNWRITABLE
    assert "space" in caught.value.diagnostics[0].message.lower()
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["out.pcap"]


def test_a_growing_capture_is_the_capture_written_at_once(tmp_path):
    rows = [(k * 333, frame) for k, frame in enumerate(FRAMES)]
    growing = CaptureFile(tmp_path / "growing.pcap")
    growing.add([])
    assert read_capture(tmp_path / "growing.pcap").packets == ()
    growing.add(rows[:3])
    growing.add([])
    growing.add(rows[3:])
    assert growing.count == len(rows)
    write_capture(tmp_path / "whole.pcap", rows)
    assert (tmp_path / "growing.pcap").read_bytes() == (tmp_path / "whole.pcap").read_bytes()
    growing.start_again()
    growing.add(rows[:1])
    assert len(read_capture(tmp_path / "growing.pcap").packets) == 1


def test_a_disk_that_fills_up_leaves_the_frames_before(tmp_path, monkeypatch):
    path = tmp_path / "growing.pcap"
    growing = CaptureFile(path)
    growing.add([(0, FRAMES[3])])
    before = path.read_bytes()
    write = os.write
    written = []

    def short(descriptor, content):
        if written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written.append(write(descriptor, bytes(content[:7])))
        return written[0]

    monkeypatch.setattr(os, "write", short)
    with pytest.raises(UserError, match="space"):
        growing.add([(1, FRAMES[4])])
    monkeypatch.undo()
    assert written == [7]
    assert path.read_bytes() == before
    growing.add([(1, FRAMES[4])])
    assert len(read_capture(path).packets) == 2


def test_a_capture_that_somebody_else_changed_is_not_added_to(tmp_path):
    growing = CaptureFile(tmp_path / "growing.pcap")
    growing.add([(0, FRAMES[3])])
    (tmp_path / "growing.pcap").write_bytes(b"mine")
    with pytest.raises(UserError, match="another program"):
        growing.add([(1, FRAMES[4])])
    assert (tmp_path / "growing.pcap").read_bytes() == b"mine"
    (tmp_path / "growing.pcap").unlink()
    with pytest.raises(UserError):
        growing.add([(1, FRAMES[4])])


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(UserError):
        write_capture(tmp_path / "no" / "out.pcap", [])


CAPTURES = os.environ.get("IXPEMU_CAPTURES")


@pytest.mark.skipif(not CAPTURES, reason="IXPEMU_CAPTURES names no folder of real captures")
def test_real_captures_read_as_scapy_reads_them():
    files = [p for p in sorted(Path(CAPTURES or "").iterdir()) if p.suffix in (".pcap", ".pcapng")]
    assert files, f"{CAPTURES} holds no capture"
    for path in files:
        ours = read_capture(path)
        theirs = rdpcap(str(path))
        assert [p.frame for p in ours.packets] == [bytes(p) for p in theirs]
        assert all(abs(p.time_ns - int(t.time * 10**9)) < 1000 for p, t in zip(ours.packets, theirs, strict=True))
