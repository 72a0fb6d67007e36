"""Transmit side of the media interface against plain Python: layout of elements, strict order, line times, what is refused."""

import random
from math import ceil

import pytest

from ixpemu.diagnostics import UserError
from ixpemu.engine.layout import PACKET_SENT, RESERVED_CONTROL_WORD, RESERVED_TRANSMIT, STOP_OUTPUT
from ixpemu.wire import read_capture
from tests.support.media import Media

SOP, EOP, ABORT, SKIP = 1 << 9, 1 << 8, 1 << 10, 1 << 11


def bus(length: int) -> int:
    return ceil((ceil(length / 4) + 2) * 600 / 104)


def control(port: int, length: int, flags: int = SOP | EOP, *, prepend: tuple[int, int] = (0, 0), offset: int = 0) -> int:
    return (length & 0xFF) << 24 | prepend[0] << 21 | prepend[1] << 16 | offset << 13 | flags | port


class Sender:
    """Software that cuts frames into elements and never overruns TBUF."""

    def __init__(self, media: Media) -> None:
        self.media = media
        self.next = 0
        self.count = 8192 // media.element

    def send(self, port: int, frame: bytes) -> None:
        media, size = self.media, self.media.element
        for start in range(0, len(frame), size):
            while int(media.state.msf.send_pending[0]) >= self.count - 1:
                media.run(media.now + 1000)
            piece = frame[start : start + size]
            media.fill(self.next, piece)
            flags = (SOP if start == 0 else 0) | (EOP if start + size >= len(frame) else 0)
            media.send_element(self.next, control(port, len(piece), flags))
            self.next = (self.next + 1) % self.count


@pytest.mark.parametrize("element", [64, 128, 256])
def test_frames_leave_as_they_were_put_in(element):
    media = Media(element)
    for port in media.ports:
        port.capture()
    rng = random.Random(element)
    sender = Sender(media)
    frames: dict[int, list[bytes]] = {0: [], 1: [], 2: []}
    for length in [14, 59, 60, 61, 64, 65, 128, 129, 256, 257, 1514, 1518] + [rng.randint(60, 1514) for _ in range(60)]:
        port, frame = rng.randrange(3), rng.randbytes(length)
        frames[port].append(frame.ljust(60, b"\0"))
        sender.send(port, frame)
    media.run(media.now + 1_000_000)
    assert {k: [sent.frame for sent in media.ports[k].sent] for k in range(3)} == frames
    assert media.read(0x60) == 0x80000000 | int(media.state.msf.send_count[0]) & 0xFF


def test_time_of_a_departure_is_the_sum_of_its_parts():
    media = Media()
    media.ports[1].capture()
    media.fill(0, bytes(60))
    media.send_element(0, control(1, 60))
    media.run(10_000)
    assert [s.cycle for s in media.ports[1].sent] == [bus(60) + ceil(72 * 4.8)]


def test_the_line_is_full_and_no_fuller():
    media = Media()
    media.ports[0].capture()
    sender = Sender(media)
    for _ in range(200):
        sender.send(0, bytes(60))
    media.run(1_000_000)
    times = [s.cycle for s in media.ports[0].sent]
    first = times[0]
    assert times == [first - 346 + -(-(3456 + 4032 * k) // 10) for k in range(200)]


def test_prepended_bytes_and_payload_offset():
    media = Media()
    media.ports[0].capture()
    content = bytes(range(64))
    for element, (prepend, offset, length) in enumerate([((0, 0), 0, 64), ((2, 14), 0, 40), ((0, 8), 3, 30), ((7, 31), 7, 9)]):
        media.fill(element, content)
        media.send_element(element, control(0, length, prepend=prepend, offset=offset))
    media.run(100_000)
    expected = [
        content, content[2:16] + content[16:56], content[0:8] + content[11:41], content[7:38] + content[47:56],
    ]
    assert [s.frame for s in media.ports[0].sent] == [frame.ljust(60, b"\0") for frame in expected]


def test_length_zero_means_256():
    media = Media(256)
    media.ports[0].capture()
    media.fill(0, bytes(range(256)))
    media.send_element(0, control(0, 256))
    media.run(100_000)
    assert [s.frame for s in media.ports[0].sent] == [bytes(range(256))]


def test_elements_are_sent_in_order_whatever_order_they_become_valid_in():
    media = Media()
    media.ports[0].capture()
    media.ports[1].capture()
    for element in (3, 2, 1):
        media.fill(element, bytes([element]) * 60)
        media.send_element(element, control(element & 1, 60))
        media.run(media.now + 5000)
    assert media.read(0x60) == 0
    media.fill(0, bytes(60))
    media.send_element(0, control(0, 60))
    media.run(media.now + 5000)
    assert [s.frame[0] for s in media.ports[0].sent] == [0, 2]
    assert [s.frame[0] for s in media.ports[1].sent] == [1, 3]
    assert media.read(0x60) == 0x80000004


def test_an_element_is_valid_with_its_second_word_only():
    media = Media()
    media.write(0x1800, control(0, 60))
    media.run(10_000)
    assert media.read(0x60) == 0x80000000
    media.write(0x1804, 0)
    assert media.read(0x60) == 0
    assert media.read(0x1800) == control(0, 60)


def test_programs_write_tbuf_and_read_rbuf_at_the_same_addresses():
    media = Media()
    media.write(0x2004, 0x01020304)
    media.write(0x3FFC, 0x05060708)
    media.state.msf.rbuf[1] = 0xAABBCCDD
    assert (media.state.msf.tbuf[1], media.state.msf.tbuf[2047]) == (0x01020304, 0x05060708)
    assert media.read(0x2004) == 0xAABBCCDD
    assert media.read(0x3FFC) == 0


def test_csrs_without_a_meaning_remember():
    media = Media()
    media.write(0x24, 0x12345678)
    assert media.read(0x24) == 0x12345678


def test_skip_and_abort():
    media = Media()
    media.ports[0].capture()
    for element, flags in enumerate((SKIP, SOP, ABORT, SOP | EOP)):
        media.fill(element, bytes([element]) * 60)
        media.send_element(element, control(0, 60, flags))
    media.run(100_000)
    assert [s.frame for s in media.ports[0].sent] == [b"\3" * 60]
    assert media.ports[0].counters.aborted == 1
    assert media.read(0x60) == 0x80000004


def test_frames_without_beginning_or_end_are_counted_and_reported():
    media = Media()
    media.ports[0].capture()
    for element, flags in enumerate((EOP, SOP, SOP, EOP)):
        media.fill(element, bytes([element]) * 60)
        media.send_element(element, control(0, 60, flags))
    media.run(100_000)
    assert [s.frame for s in media.ports[0].sent] == [b"\2" * 60 + b"\3" * 60]
    assert media.ports[0].counters.broken == 2
    assert media.state.reserved_total[RESERVED_TRANSMIT] == 2


def test_runts_and_oversize_are_not_sent():
    media = Media()
    media.ports[0].capture()
    sender = Sender(media)
    sender.send(0, bytes(13))
    sender.send(0, bytes(1519))
    sender.send(0, bytes(9018))
    sender.send(0, b"\1" * 1518)
    media.run(media.now + 100_000)
    assert [s.frame for s in media.ports[0].sent] == [b"\1" * 1518]
    counters = media.ports[0].counters
    assert (counters.sent, counters.sent_runts, counters.sent_oversize) == (1, 1, 2)
    assert media.state.msf.mac_used[0] == 0


def test_a_channel_without_a_port():
    media = Media()
    media.send_element(0, control(7, 60))
    media.run(10_000)
    assert media.state.msf.out_nowhere == 1
    assert media.state.reserved_total[RESERVED_TRANSMIT] == 1


@pytest.mark.parametrize(("first", "second", "told"), [
    (control(0, 64), 0, 0), (control(0, 64), 1, 1), (control(0, 60) | 1 << 12, 0, 1), (control(0, 60, offset=4), 0, 0),
    (control(0, 60, offset=5), 0, 1), (control(0, 57, prepend=(1, 7)), 0, 1), (control(0, 256, SKIP), 0, 0),
])
def test_control_words_out_of_rule_are_told(first, second, told):
    media = Media()
    media.write(0x1800, first)
    media.write(0x1804, second)
    assert media.state.reserved_total[RESERVED_CONTROL_WORD] == told


def test_partitions_take_turns_and_do_not_wait_for_one_another():
    media = Media()
    for port in media.ports:
        port.capture()
    media.write(0x04, media.control | 2 << 10)
    for element, port in ((65, 1), (64, 1), (112, 2), (1, 0)):
        media.fill(element, bytes([element]) * 60)
        media.send_element(element, control(port, 60))
    media.run(20_000)
    assert [[s.frame[0] for s in port.sent] for port in media.ports] == [[], [64, 65], [112]]
    assert [media.read(0x60 + 4 * k) for k in range(3)] == [0, 0x80000002, 0x80000001]
    media.fill(0, bytes(60))
    media.send_element(0, control(0, 60))
    media.run(40_000)
    assert [s.frame[0] for s in media.ports[0].sent] == [0, 1]
    media.send_element(2, control(0, 60))
    media.write(0x04, media.control)                        # one partition again: what waited is forgotten, and told
    assert media.state.reserved_total[RESERVED_TRANSMIT] == 1
    assert media.read(0x60) == 0x80000002
    media.send_element(0, control(0, 60))
    media.run(60_000)
    assert media.read(0x60) == 0x80000003


def test_what_is_told_names_the_command_that_made_the_element_valid():
    media = Media()
    media.state.msf.writer_pc = 77
    media.send_element(0, control(7, 60), me=3, ctx=5)
    media.state.msf.writer_pc = 99
    media.run(10_000)
    state = media.state
    assert (state.reserved_me[0], state.reserved_ctx[0], state.reserved_pc[0], state.reserved_value[0]) == (3, 5, 77, 7)


def test_an_element_in_flight_may_not_be_written_again():
    media = Media()
    media.send_element(0, control(0, 60))
    media.send_element(0, control(0, 60))
    assert media.state.reserved_total[RESERVED_TRANSMIT] == 1
    assert media.state.msf.send_pending[0] == 1


def test_a_full_mac_holds_up_everything_behind_it():
    media = Media(changes={"port.transmit_fifo_bytes": 2048})
    media.ports[0].capture()
    media.ports[1].capture()
    sender = Sender(media)
    for _ in range(3):
        sender.send(0, bytes(1514))
    sender.send(1, bytes(60))
    media.run(200_000)
    last_but_one = media.ports[0].sent[1].cycle
    assert media.ports[1].sent[0].cycle > last_but_one
    assert len(media.ports[0].sent) == 3


def test_a_disabled_channel_waits():
    media = Media()
    media.ports[0].capture()
    media.write(0x04, 0)
    media.send_element(0, control(0, 60))
    media.run(10_000)
    assert not media.ports[0].sent
    media.write(0x04, media.control)
    media.run(20_000)
    assert len(media.ports[0].sent) == 1


def test_a_packet_is_finished_when_its_last_bit_is_out():
    media = Media()
    media.free([1])
    media.queue_thread(me=3, ctx=2)
    media.on_status = lambda status: media.state.engines[3].packet.__setitem__(2, status.packet)
    media.ports[0].feed([bytes(60)])
    media.ports[2].capture()
    media.run(5_000)
    assert media.state.packets_inside == 1
    media.fill(0, bytes(60))
    media.send_element(0, control(2, 60), me=3, ctx=2)
    media.run(10_000)
    row = media.state.packets[1]
    assert (int(row.status), int(row.port_in), int(row.port_out)) == (PACKET_SENT, 0, 2)
    assert int(row.arrived) == 346
    assert int(row.departed) == media.ports[2].sent[0].cycle == 5_000 + bus(60) + 346
    assert media.ports[2].sent[0].packet == 1
    assert media.state.packets_inside == 0


def test_captures_are_written_with_departure_times(tmp_path):
    media = Media()
    media.ports[0].capture(tmp_path / "out.pcap")
    media.ports.flush()
    assert read_capture(tmp_path / "out.pcap").packets == ()
    sender = Sender(media)
    for k in range(5):
        sender.send(0, bytes([k]) * 60)
    media.run(100_000)
    media.ports.flush()
    packets = read_capture(tmp_path / "out.pcap").packets
    assert [p.frame for p in packets] == [bytes([k]) * 60 for k in range(5)]
    assert [p.time_ns for p in packets] == [s.cycle * 10 // 6 for s in media.ports[0].sent]


def test_more_frames_than_the_sent_ring_holds_are_all_collected():
    media = Media(256)
    media.state.stop_mask = 1 << STOP_OUTPUT
    media.ports[0].capture()
    sender = Sender(media)
    media.state.msf.sent_byte_tail[0] = 0xFFFFFF00          # counters come round too
    count = 260
    for k in range(count):
        sender.send(0, k.to_bytes(2, "big") * 700)
    media.run(media.now + 1_000_000)
    assert [int.from_bytes(s.frame[:2], "big") for s in media.ports[0].sent] == list(range(count))


def test_saved_ports_continue_where_they_were():
    media = Media()
    media.free(range(1, 128))
    media.ports[0].feed([bytes([k]) * 60 for k in range(20)], gbps=0.5)
    media.ports[1].capture()
    media.run(3_000)
    saved, state, now = media.ports.save(), media.array.copy(), media.now
    media.run(50_000)
    first = [int(row.arrived) for row in media.state.packets[1:21]]
    media.array[:] = state
    media.now = now
    media.ports.load(saved)
    media.run(50_000)
    assert [int(row.arrived) for row in media.state.packets[1:21]] == first
    assert all(first)


def test_a_port_that_is_not_there():
    media = Media()
    with pytest.raises(UserError):
        media.ports[3]
    assert len(media.ports) == 3
    assert [port.number for port in media.ports[1:]] == [1, 2]
