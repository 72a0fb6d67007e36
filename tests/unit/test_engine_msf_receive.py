"""Receive side of the media interface against plain Python: segmentation, status words, order, FIFO, free lists, time-outs."""

import random
from math import ceil

import pytest

from ixpemu.chip import Chip
from ixpemu.diagnostics import UserError
from ixpemu.engine.layout import (
    RESERVED_ELEMENT,
    RESERVED_ERRATUM_69,
    RESERVED_MSF_MODE,
    RESERVED_THREAD_ENTRY,
    RESERVED_THREADS,
    STOP_INPUT,
    STOP_QUIET,
)
from ixpemu.engine.msf_layout import ARRIVAL_ROWS
from ixpemu.isa.chipfile import load_chip
from ixpemu.net import internet_checksum, traffic
from ixpemu.wire import wire_length
from tests.support.media import Media, Status


def bus(length: int) -> int:
    """Time of `length` bytes on the 104 MHz bus with two words of overhead, in 600 MHz cycles."""
    return ceil((ceil(length / 4) + 2) * 600 / 104)


def segments(frame: bytes, element: int) -> list[bytes]:
    padded = frame.ljust(60, b"\0")
    return [padded[k : k + element] for k in range(0, len(padded), element)]


class Receiver:
    """Software that queues a thread for every status, takes the bytes out and frees the element at once."""

    def __init__(self, media: Media, contexts: int = 64) -> None:
        self.media = media
        self.statuses: list[Status] = []
        self.pieces: list[bytes] = []
        self.per_port: dict[int, list[bytes]] = {}
        self.open: dict[int, bytes] = {}
        media.on_status = self.take
        for k in range(contexts):
            media.queue_thread(k >> 3, k & 7, register=2 * (k & 3), signal=1 + k % 15)

    def take(self, status: Status) -> None:
        media = self.media
        self.statuses.append(status)
        piece = media.element_bytes(status.element, status.length)
        self.pieces.append(piece)
        assert (status.port in self.open) != status.sop
        self.open[status.port] = self.open.get(status.port, b"") + piece
        if status.eop:
            self.per_port.setdefault(status.port, []).append(self.open.pop(status.port))
        media.free([status.element])
        media.queue_thread(status.me, status.ctx, status.register, status.signals.bit_length() - 1)


@pytest.mark.parametrize("element", [64, 128, 256])
def test_frames_are_cut_into_elements_with_their_status(element):
    media = Media(element)
    media.free(range(1, 8192 // element))
    receiver = Receiver(media)
    rng = random.Random(element)
    frames = [rng.randbytes(length) for length in (14, 59, 60, 61, 64, 65, 127, 128, 129, 255, 256, 257, 1513, 1514, 1518)]
    media.ports[1].feed(frames)
    media.run(1_000_000)
    expected = [piece for frame in frames for piece in segments(frame, element)]
    assert receiver.pieces == expected
    assert receiver.per_port == {1: [frame.ljust(60, b"\0") for frame in frames]}
    for status, piece in zip(receiver.statuses, expected, strict=True):
        assert status.words[0] & 0x1F00 == 0, "no error and no null"
        assert status.words[0] >> 31 == 0
        assert ~status.words[1] & 0xFFFF == internet_checksum(piece), "the one's-complement sum of the element"
    assert media.state.packets_inside == len(frames)


def test_status_reaches_the_thread_that_waited_longest_with_its_signal():
    media = Media()
    media.free(range(1, 9))
    seen: list[Status] = []
    media.on_status = seen.append
    media.queue_thread(me=6, ctx=5, register=14, signal=15)
    media.queue_thread(me=1, ctx=2, register=3, signal=7)
    media.ports[0].feed([bytes(60)] * 2)
    media.run(10_000)
    assert [(s.me, s.ctx, s.register, s.signals) for s in seen] == [(6, 5, 14, 1 << 15), (1, 2, 3, 1 << 7)]
    assert [s.packet for s in seen] == [1, 2]
    assert [s.element for s in seen] == [1, 2]


def test_time_of_a_status_is_the_sum_of_its_parts():
    media = Media()
    media.free([1])
    seen: list[Status] = []
    media.on_status = seen.append
    media.queue_thread()
    media.ports[0].feed([bytes(60)])
    media.run(10_000)
    # last bit in; over the media bus; status; two words on the push bus
    assert [s.cycle for s in seen] == [ceil(wire_length(60) * 4.8) + bus(60) + 10 + 4 + 2]


def test_three_full_lines_come_through_in_order():
    media = Media()
    media.free(range(1, 128))
    receiver = Receiver(media)
    rng = random.Random(3)
    frames = [[rng.randbytes(rng.randint(14, 400)) for _ in range(60)] for _ in range(3)]
    for port in range(3):
        media.ports[port].feed(frames[port], gbps=1.0)
    media.run(1_000_000)
    assert receiver.per_port == {p: [f.ljust(60, b"\0") for f in frames[p]] for p in range(3)}


def test_waiting_ports_take_turns_on_the_bus():
    media = Media()
    for port in range(3):
        media.ports[port].feed([bytes(1000)] * 3)
    media.run(100_000)
    receiver = Receiver(media)
    media.free(range(1, 8))
    media.run(200_000)
    ports = [s.port for s in receiver.statuses]
    assert len(ports) == 3 * 3 * 16
    assert ports == [(ports[0] + k) % 3 for k in range(len(ports))]


def test_elements_wait_in_order_until_a_thread_comes():
    media = Media()
    media.free(range(1, 5))
    seen: list[Status] = []
    media.on_status = seen.append
    media.ports[2].feed([bytes([k]) * 64 for k in range(6)])
    media.run(20_000)
    assert not seen
    assert list(media.state.msf.element_state[1:5]) == [3, 3, 3, 3]
    assert media.ports[2].counters.received == 6
    for k in range(6):
        media.queue_thread(ctx=k)
    media.run(40_000)
    assert [s.element for s in seen] == [1, 2, 3, 4]
    media.free([3])
    media.run(60_000)
    assert [s.element for s in seen] == [1, 2, 3, 4, 3]
    assert media.element_bytes(3, 64) == bytes([4]) * 64
    media.free([1])
    media.run(80_000)
    assert [(s.element, s.packet) for s in seen[4:]] == [(3, 5), (1, 6)]


def test_a_full_fifo_drops_whole_frames_and_counts_them():
    media = Media()
    media.ports[0].feed([bytes(1514)] * 20)
    media.run(1_000_000)
    counters = media.ports[0].counters
    assert (counters.received, counters.overflow) == (10, 10)      # 10 x 1514 fit into 16,384, 11 do not
    assert counters.fifo_peak == 15_140
    assert counters.dropped == 10
    media.free(range(1, 128))
    receiver = Receiver(media)
    media.run(2_000_000)
    assert receiver.per_port == {0: [bytes(1514)] * 10}


@pytest.mark.parametrize(("length", "counter"), [(0, "runts"), (10, "runts"), (13, "runts"), (1519, "oversize"),
                                                   (9018, "oversize")])
def test_lengths_that_the_mac_refuses(length, counter):
    media = Media()
    media.free(range(1, 9))
    receiver = Receiver(media)
    media.ports[0].feed([bytes(length), b"\1" * 60])
    media.run(100_000)
    assert getattr(media.ports[0].counters, counter) == 1
    assert receiver.per_port == {0: [b"\1" * 60]}
    assert media.state.packets_inside == 1
    # A refused frame takes its time on the line all the same.
    first = receiver.statuses[0].cycle
    assert first == ceil((wire_length(length) + 12 + wire_length(60)) * 4.8) + bus(60) + 16


def test_longest_frame_is_a_parameter():
    media = Media(changes={"port.longest_frame": 9_600})
    media.free(range(1, 128))
    receiver = Receiver(media)
    frame = random.Random(1).randbytes(9018)
    media.ports[0].feed([frame])
    media.run(1_000_000)
    assert receiver.per_port == {0: [frame]}


def test_a_port_that_is_not_enabled_fills_its_fifo():
    media = Media()
    media.free(range(1, 128))
    receiver = Receiver(media)
    media.write(0x00, 1 << 29)
    media.ports[0].feed([b"\0" * 60])
    media.ports[1].feed([b"\1" * 60])
    media.run(10_000)
    assert receiver.per_port == {1: [b"\1" * 60]}
    media.write(0x00, 0xF << 28)
    media.run(20_000)
    assert receiver.per_port == {1: [b"\1" * 60], 0: [b"\0" * 60]}


def test_timeout_pushes_nulls_while_a_thread_waits():
    media = Media()
    seen: list[Status] = []
    media.on_status = seen.append
    media.queue_thread(me=2, ctx=3)
    media.queue_thread(me=2, ctx=4)
    media.write(0x50, 1000)
    media.run(10_000)
    assert [(s.cycle, s.null, s.ctx) for s in seen] == [(1016, True, 3), (2016, True, 4)]
    assert all(s.packet == 0 for s in seen)
    media.queue_thread(me=2, ctx=5)
    media.run(10_500)
    media.write(0x50, 0)
    media.run(20_000)
    assert len(seen) == 2
    media.write(0x50, 300)
    media.run(30_000)
    assert [(s.cycle, s.ctx) for s in seen[2:]] == [(20_316, 5)]


def test_reserved_use_of_the_free_lists_is_reported():
    media = Media()
    media.free([1, 1])
    assert media.state.reserved_total[RESERVED_ELEMENT] == 1
    media.free([128])
    assert media.state.reserved_total[RESERVED_ELEMENT] == 2
    assert media.state.msf.free_tail[0] == 1
    for _ in range(65):
        media.queue_thread()
    assert media.state.reserved_total[RESERVED_THREADS] == 1


@pytest.mark.parametrize(("element", "faulty"), [(64, {0, 9, 18, 27}), (128, {0, 4, 9, 13}), (256, {0, 2, 4, 6})])
def test_elements_of_the_erratum_are_reported(element, faulty):
    media = Media(element)
    for k in range(8192 // element):
        before = int(media.state.reserved_total[RESERVED_ERRATUM_69])
        media.free([k])
        assert int(media.state.reserved_total[RESERVED_ERRATUM_69]) - before == (k in faulty)
    assert media.state.reserved_total[RESERVED_ELEMENT] == 0
    without = Media(element, changes={"msf.erratum_69": 0})
    without.free(range(8192 // element))
    assert not without.state.reserved_total.any()


def test_port_map_chooses_the_list_and_partitions_have_their_own_elements():
    media = Media()
    media.write(0x00, 0xF << 28 | 1 << 19 | 2 << 10 | 1 << 4 | 2 << 6)      # three partitions of 64, 128 and 256 bytes
    media.write(0x40, 1 << 0 | 2 << 2 | 0 << 4)                             # ports 0, 1, 2 to lists 1, 2, 0
    media.free([1, 64, 66, 112, 116])
    seen: list[Status] = []
    media.on_status = seen.append
    for which in range(3):
        for ctx in range(8):
            media.queue_thread(me=which, ctx=ctx, which=which)
    for port in range(3):
        media.ports[port].feed([bytes([port]) * 300])
    media.run(20_000)
    assert sorted((s.me, s.port, s.element, s.length, s.sop, s.eop) for s in seen) == [
        (0, 2, 1, 64, True, False), (1, 0, 64, 128, True, False), (1, 0, 66, 128, False, False),
        (2, 1, 112, 256, True, False), (2, 1, 116, 44, False, True),
    ]
    assert media.state.msf.rbuf[112 * 16] == 0x01010101
    media.free([65])                                                        # inside element 64
    assert media.state.reserved_total[RESERVED_ELEMENT] == 1


def test_lists_share_the_one_partition():
    media = Media()
    media.write(0x40, 2)
    media.free([1, 2])
    seen: list[Status] = []
    media.on_status = seen.append
    media.queue_thread(me=4, which=2)
    media.queue_thread(me=5, which=0)
    media.ports[0].feed([bytes(60)])
    media.ports[1].feed([bytes(60)])
    media.run(20_000)
    assert [(s.me, s.port, s.element) for s in seen] == [(4, 0, 1), (5, 1, 2)]


def test_every_list_has_its_own_timer():
    media = Media()
    seen: list[Status] = []
    media.on_status = seen.append
    for which, timeout in enumerate((700, 300, 500)):
        media.queue_thread(me=which, which=which)
        media.write(0x50 + 4 * which, timeout)
    media.run(1_000)
    assert [(s.cycle, s.me, s.words) for s in seen] == [(316, 1, (1 << 9, 0)), (516, 2, (1 << 9, 0)), (716, 0, (1 << 9, 0))]


def test_dividing_rbuf_anew_takes_its_elements_back():
    media = Media()
    media.free([1, 2])
    media.write(0x00, media.control | 1 << 2)
    assert media.state.reserved_total[RESERVED_ELEMENT] == 1
    media.free([1])
    assert media.state.reserved_total[RESERVED_ELEMENT] == 1
    media.write(0x00, media.control & 0x0FFFFFFF | 1 << 2)          # channels only: nothing is divided
    assert media.state.reserved_total[RESERVED_ELEMENT] == 1


@pytest.mark.parametrize(("control", "modelled"), [
    (0xF << 28 | 1 << 19, True), (1 << 28, True), (0, True), (0xF << 28, False), (1 << 28 | 1 << 22, False),
    (0x5 << 28 | 1 << 20, False), (0xF << 28 | 1 << 19 | 3 << 10, False),
])
def test_modes_that_are_not_modelled_are_told(control, modelled):
    media = Media()
    media.write(0x00, control)
    media.write(0x04, control)
    assert media.state.reserved_total[RESERVED_MSF_MODE] == (0 if modelled else 2)


def test_entries_that_no_thread_could_be_woken_by_are_told():
    media = Media()
    for register, signal, told in ((14, 1, 0), (15, 1, 1), (3, 0, 2)):
        media.queue_thread(register=register, signal=signal)
        assert media.state.reserved_total[RESERVED_THREAD_ENTRY] == told
    media.state.engines[0].ctx_enables = 1 << 31                            # four contexts of 32 registers
    for ctx, told in ((2, 2), (3, 3)):
        media.queue_thread(ctx=ctx, register=15)
        assert media.state.reserved_total[RESERVED_THREAD_ENTRY] == told


def test_faults_show_in_the_element_that_they_belong_to():
    media = Media()
    media.free(range(1, 9))
    receiver = Receiver(media)
    names = ("receive", "parity", "in_band_parity", "sop")
    media.ports[0].feed([bytes(100)] * 5, faults=dict(enumerate(names)))
    media.run(50_000)
    assert [status.words[0] & 0x1F00 for status in receiver.statuses] == [
        0, 1 << 10, 1 << 11, 0, 1 << 8, 0, 1 << 12, 0, 0, 0]
    with pytest.raises(UserError, match="a receive fault cannot be"):
        media.ports[0].feed([bytes(60)], faults={0: "crc"})


def test_capture_times_are_kept_to_the_cycle():
    media = Media()
    media.free(range(1, 128))
    receiver = Receiver(media)
    times = [0, 1_000, 1_001, 50_000, 50_000, 123_457]
    media.ports[0].feed([(t, bytes(60)) for t in times])
    media.run(1_000_000)
    free = 0
    expected = []
    for t in times:
        start = max(t, free)
        expected.append(ceil((start + 576) * 6 / 10))
        free = start + 672
    assert [int(row.arrived) for row in media.state.packets[1:7]] == expected
    assert len(receiver.statuses) == 6


def test_a_rate_replaces_the_times_of_the_source():
    media = Media()
    media.ports[0].feed([(k * 1_000_000_000, bytes(60)) for k in range(3)], gbps=0.25)
    media.run(10_000)
    assert [int(row.arrived) for row in media.state.packets[1:4]] == [ceil((k * 336 + 72) * 4.8) for k in range(3)]


def test_more_frames_than_the_arrival_ring_holds_come_through_in_order():
    media = Media()
    media.free(range(1, 128))
    receiver = Receiver(media)
    count = ARRIVAL_ROWS + 300
    media.state.stop_mask = 1 << STOP_INPUT | 1 << STOP_QUIET
    media.ports[0].feed([k.to_bytes(60, "big") for k in range(count)])
    media.run(count * 420)
    assert receiver.per_port[0] == [k.to_bytes(60, "big") for k in range(count)]
    assert not media.ports[0].input_left


@pytest.mark.parametrize(("kind", "count"), [("64B", 100), ("64B", 1100), ("imix", 40)])
def test_a_stream_that_repeats_is_the_stream(kind, count):
    media = Media()
    media.free(range(1, 128))
    receiver = Receiver(media)
    stream = traffic(kind, port=2, count=count)
    media.ports[2].feed(stream, gbps=1.0)
    media.run(20_000)
    saved, state, now = media.ports.save(), media.array.copy(), media.now
    media.run(100_000)
    media.array[:] = state
    media.now = now
    media.ports.load(saved)
    receiver.per_port[2] = receiver.per_port[2][: int(media.state.msf.statuses)] if kind == "64B" else []
    media.run(30_000_000)
    assert not media.ports[2].input_left
    counters = media.ports[2].counters
    assert (counters.received, counters.dropped) == (count, 0)
    if kind == "64B":
        assert receiver.per_port[2] == [frame for _, frame in stream.frames()]


def test_a_second_feed_follows_the_first_on_the_line():
    media = Media()
    media.free(range(1, 128))
    receiver = Receiver(media)
    media.ports[0].feed([b"\1" * 60] * 3, gbps=1.0)
    media.ports[0].feed([b"\2" * 60] * 2, gbps=0.5)
    media.ports[0].feed([])
    media.ports[0].feed([b"\3" * 60])
    media.run(100_000)
    assert [f[0] for f in receiver.per_port[0]] == [1, 1, 1, 2, 2, 3]
    slots = [0, 84, 168, 252, 420, 588]
    assert [int(row.arrived) for row in media.state.packets[1:7]] == [ceil((s + 72) * 4.8) for s in slots]


@pytest.mark.parametrize(("name", "value"), [
    ("port.count", 4), ("port.count", 0), ("port.receive_fifo_bytes", 1 << 20), ("msf.bus_megahertz", 0),
    ("port.longest_frame", 59), ("msf.element_unit_bytes", 32), ("msf.erratum_69", 2),
])
def test_parameters_out_of_range_are_refused(name, value):
    with pytest.raises(UserError, match=name):
        Chip(load_chip().override({name: value}))


@pytest.mark.parametrize("source", [[3], ["x"], [(1.5, b"")], [(-1, b"")], "nowhere.pcap"])
def test_what_is_no_frame_is_refused(source):
    with pytest.raises(UserError) as caught:
        Media().ports[0].feed(source)
    assert caught.value.diagnostics[0].help


@pytest.mark.parametrize("gbps", [0, 1.01, float("nan")])
def test_rates_that_the_port_cannot_have(gbps):
    with pytest.raises(UserError):
        Media().ports[0].feed([bytes(60)], gbps=gbps)


def test_a_classifier_numbers_the_types_of_packets():
    media = Media()
    media.ports[1].classify = lambda frame: frame[0] + 1
    media.ports[1].feed([bytes([k]) * 60 for k in (4, 0, 9)])
    media.run(10_000)
    assert [int(row.kind) for row in media.state.packets[1:4]] == [5, 1, 10]


def test_feeding_nothing_leaves_no_input_open():
    media = Media()
    media.ports[0].feed([])
    assert not media.ports[0].input_left
    media.ports[0].feed([bytes(5)])
    assert media.ports[0].input_left
    media.run(10_000)
    assert not media.ports[0].input_left
