"""TCP hosts in simulated time: segments judged by scapy, streams over links that lose, repeat and mix up, windows by the RFCs."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether

from ixpemu.net import read_capture
from ixpemu.net.simulation import Link, Simulation
from ixpemu.net.tcp import Connection, Settings, State
from ixpemu.net.tcp_congestion import MILLISECOND, Congestion, Timeout
from ixpemu.net.tcp_host import Host
from ixpemu.net.tcp_ranges import Ranges, Reassembly
from ixpemu.net.tcp_segment import ACK, FIN, PSH, RST, SYN, Interface, Segment, from_frame, to_frame

LEFT, RIGHT = Interface(b"\2\0\0\0\0\1", 0x0A000001), Interface(b"\2\0\0\0\0\2", 0x0A000102)
SECOND = 1_000 * MILLISECOND
numbers = st.integers(0, 0xFFFFFFFF)


@given(
    numbers, numbers, st.integers(0, 31), st.integers(0, 0xFFFF), st.binary(max_size=60),
    st.one_of(st.none(), st.integers(0, 0xFFFF)), st.one_of(st.none(), st.integers(0, 14)), st.booleans(),
    st.lists(st.tuples(numbers, numbers), max_size=2),
)
@settings(max_examples=150, deadline=None)
def test_segments_are_what_scapy_reads(
    sequence: int, acknowledgement: int, flags: int, window: int, payload: bytes, mss: int | None, scale: int | None,
    permitted: bool, blocks: list[tuple[int, int]],
) -> None:
    segment = Segment(1024, 80, sequence, acknowledgement, flags, window, payload, mss, scale, permitted, tuple(blocks))
    frame = to_frame(segment, LEFT, RIGHT, 77)
    read = Ether(frame)
    found = read[TCP]
    assert (read.dst, read[IP].src, read[IP].dst, read[IP].id) == ("02:00:00:00:00:02", "10.0.0.1", "10.0.1.2", 77)
    assert (found.sport, found.dport, found.seq, found.ack, int(found.flags), found.window) == (
        1024, 80, sequence, acknowledgement, flags, window)
    assert bytes(found.payload) == payload
    options = dict(option for option in found.options if option[0] != "NOP")
    assert options.get("MSS") == mss and options.get("WScale") == scale and ("SAckOK" in options) == permitted
    assert options.get("SAck", ()) == tuple(edge for block in blocks for edge in block)
    for layer in (IP, TCP):
        again = Ether(frame)
        del again[layer].chksum
        assert Ether(bytes(again))[layer].chksum == read[layer].chksum
    back = from_frame(frame)
    assert back is not None and back.segment == segment and (back.source, back.destination) == (LEFT.address, RIGHT.address)


@given(st.binary(max_size=120), st.integers(0, 60), st.integers(1, 255))
@settings(max_examples=200, deadline=None)
def test_what_is_damaged_is_no_segment(content: bytes, place: int, change: int) -> None:
    frame = bytearray(to_frame(Segment(1, 2, 3, 4, ACK, 5, b"payload", mss=1460), LEFT, RIGHT))
    assert from_frame(content) is None
    frame[14 + place % (len(frame) - 14)] ^= change
    # Type of service to addresses are summed, and so is the segment: no single change is missed.
    assert from_frame(bytes(frame)) is None


@dataclass
class Talker:
    """Sends a stream when opened, reads another to its end, and closes."""

    content: bytes
    heard: bytearray = field(default_factory=bytearray)
    outcome: list[str | None] = field(default_factory=list)

    def opened(self, now: int, connection: Connection) -> None:
        connection.send(now, self.content)
        connection.close(now)

    def arrived(self, now: int, connection: Connection) -> None:
        self.heard += connection.read()

    def ended(self, now: int, connection: Connection) -> None:
        self.outcome.append(connection.error)


def exchange(
    there: bytes, back: bytes, links: tuple[Link, Link], left: Settings = Settings(), right: Settings = Settings(),  # noqa: B008
    first: int = 0, limit: int = 2_000 * SECOND, watch: Callable[[int, int, bytes], None] | None = None,
) -> tuple[Talker, Talker, Simulation, Connection]:
    """A client and a server that send each other a stream and close."""
    hosts = Host(LEFT, RIGHT.mac, left), Host(RIGHT, LEFT.mac, right)
    simulation = Simulation(*hosts, *links)
    simulation.watch = watch
    client, server = Talker(there), Talker(back)
    hosts[1].listeners[80] = server
    connection = hosts[0].connect(0, RIGHT.address, 80, client, first)
    assert simulation.run(limit), "nothing more happens in the end"
    return client, server, simulation, connection


def stream(size: int, seed: int) -> bytes:
    return bytes((seed * 31 + k * 7 + (k >> 8)) & 0xFF for k in range(size))


@given(
    st.integers(0, 60_000), st.integers(0, 60_000), st.sampled_from([0.0, 0.01, 0.1]), st.sampled_from([0.0, 0.05]),
    st.sampled_from([0.0, 0.1]), st.booleans(), st.booleans(), st.sampled_from([0, 0xFFFFFF9C, 0x80000000]),
    st.integers(0, 1 << 20), st.sampled_from([2_000, 8_192, 65_535]), st.sampled_from([None, 2]),
)
@settings(max_examples=60, deadline=None)
def test_both_streams_arrive_whatever_the_links_do(
    there: int, back: int, loss: float, duplicate: float, reorder: float, sack_left: bool, sack_right: bool, first: int,
    seed: int, window: int, scale: int | None,
) -> None:
    links = tuple(Link(2 * MILLISECOND, loss=loss, duplicate=duplicate, reorder=reorder, spread=5 * MILLISECOND, seed=seed + k)
                  for k in range(2))
    longest = 0

    def measure(now: int, sender: int, frame: bytes) -> None:
        nonlocal longest
        longest = max(longest, len(frame))

    client, server, simulation, _ = exchange(
        stream(there, 1), stream(back, 2), links, Settings(sack=sack_left, window=window, window_scale=scale),       # type: ignore[arg-type]
        Settings(sack=sack_right, window=window, mss=1_460 if seed % 2 else 900, window_scale=scale), first, watch=measure)
    assert bytes(server.heard) == stream(there, 1) and bytes(client.heard) == stream(back, 2)
    assert longest <= 14 + 20 + 20 + 1460, "no frame is longer than the MTU, SACK blocks and all"
    assert client.outcome == server.outcome == [None]
    assert simulation.hosts[0].connections == simulation.hosts[1].connections == {}


@pytest.mark.parametrize("size", [0, 2_001])
def test_timers_that_go_off_together_on_both_sides(size: int) -> None:
    """Both repeat from their oldest byte at once: what they acknowledge meanwhile must not look like something old."""
    links = Link(2 * MILLISECOND, loss=0.1, seed=7020), Link(2 * MILLISECOND, loss=0.1, seed=7021)
    small = Settings(sack=False, window=2_000)
    client, server, _, _ = exchange(stream(size, 1), stream(size, 2), links, small, small)
    assert bytes(server.heard) == stream(size, 1) and bytes(client.heard) == stream(size, 2)
    assert client.outcome == server.outcome == [None]


def test_a_quiet_link_needs_no_repetition_and_follows_the_handshake() -> None:
    frames: list[tuple[int, Segment]] = []
    hosts = Host(LEFT, RIGHT.mac), Host(RIGHT, LEFT.mac)
    simulation = Simulation(*hosts, Link(), Link())
    simulation.watch = lambda now, sender, frame: frames.append((sender, from_frame(frame).segment))    # type: ignore[union-attr]
    hosts[1].listeners[80] = Talker(b"answer")
    connection = hosts[0].connect(0, RIGHT.address, 80, Talker(b"question"), 0xFFFFFFF0)
    assert simulation.run(200 * SECOND) and connection.retransmissions == 0
    flags = [(sender, segment.flags) for sender, segment in frames]
    assert flags[:3] == [(0, SYN), (1, SYN | ACK), (0, ACK)]
    assert frames[0][1].sequence == 0xFFFFFFF0 and frames[2][1].sequence == 0xFFFFFFF1
    assert sum(bool(each & FIN) for _, each in flags) == 2 and not any(each & RST for _, each in flags)
    assert frames[3][1].payload == b"question" and frames[3][1].flags & PSH


def test_slow_start_and_congestion_avoidance_by_the_book() -> None:
    """RFC 5681: four segments of 1,000 at first, one more for each acknowledged, and above the threshold one more a window."""
    window = Congestion(1_000)
    assert window.window == 4_000
    for _ in range(4):
        window.acknowledged(1_000)
    assert window.window == 8_000
    window.lost(8_000, 99)
    assert (window.threshold, window.window, window.recover) == (4_000, 4_000, 99)
    window.recovered()
    grown = []
    for _ in range(9):
        window.acknowledged(1_000)
        grown.append(window.window)
    assert grown == [4_000, 4_000, 4_000, 5_000, 5_000, 5_000, 5_000, 5_000, 6_000]
    window.expired(6_000)
    assert (window.threshold, window.window) == (3_000, 1_000)


def test_timeouts_by_the_book() -> None:
    """RFC 6298 with figures worked out by hand: first 100 ms, then 200 ms."""
    timeout = Timeout(least=0)
    timeout.measured(100 * MILLISECOND)
    assert timeout.value == 300 * MILLISECOND
    timeout.measured(200 * MILLISECOND)
    # RTTVAR = 3/4 * 50 + 1/4 * 100 = 62.5, SRTT = 7/8 * 100 + 1/8 * 200 = 112.5
    assert timeout.value == int(362.5 * MILLISECOND)
    timeout.expired()
    assert timeout.value == 725 * MILLISECOND


def lossy(drop: set[int]) -> Link:
    """A link that loses the frames of these numbers."""

    class Dropping(Link):
        count = 0

        def arrivals(self, now: int, frame: bytes) -> list[int]:
            Dropping.count += 1
            return [] if Dropping.count - 1 in drop else super().arrivals(now, frame)

    return Dropping(delay=5 * MILLISECOND)


@pytest.mark.parametrize("sack", [False, True])
def test_one_lost_segment_is_sent_again_without_a_timeout(sack: bool) -> None:
    chosen = Settings(sack=sack)
    links = lossy({12}), Link(delay=5 * MILLISECOND)
    client, server, _, connection = exchange(stream(80_000, 3), b"", links, chosen, chosen)
    assert bytes(server.heard) == stream(80_000, 3) and connection.retransmissions == 1
    assert client.outcome == [None]


def test_sack_repairs_several_losses_in_a_round_trip() -> None:
    """Three segments of one window: with SACK only these go again, and sooner than one a round trip."""
    ends = {}
    for sack in (False, True):
        chosen = Settings(sack=sack, time_wait=0)
        last: list[int] = []
        hosts = Host(LEFT, RIGHT.mac, chosen), Host(RIGHT, LEFT.mac, chosen)
        simulation = Simulation(*hosts, lossy({20, 22, 24}), Link(delay=5 * MILLISECOND))
        server = Talker(b"")
        hosts[1].listeners[80] = server
        connection = hosts[0].connect(0, RIGHT.address, 80, Talker(stream(60_000, 4)))
        simulation.watch = lambda now, sender, frame, last=last: last.append(now)      # type: ignore[misc]
        assert simulation.run(100 * SECOND) and bytes(server.heard) == stream(60_000, 4)
        ends[sack] = last[-1]
        if sack:
            assert connection.retransmissions == 3
    assert ends[True] < ends[False]


def test_a_closed_window_is_probed_and_opens() -> None:
    class Sleeper(Talker):
        awake = False

        def arrived(self, now: int, connection: Connection) -> None:
            if self.awake:
                super().arrived(now, connection)

    hosts = Host(LEFT, RIGHT.mac), Host(RIGHT, LEFT.mac, Settings(window=4_000))
    simulation = Simulation(*hosts, Link(), Link())
    server = Sleeper(b"")
    hosts[1].listeners[80] = server
    hosts[0].connect(0, RIGHT.address, 80, Talker(stream(20_000, 5)))

    def wake() -> None:
        server.awake = True
        (connection,) = hosts[1].connections.values()
        server.arrived(simulation.now, connection)
        hosts[1].settle(simulation.now, connection)

    simulation.at(10 * SECOND, wake)
    assert not simulation.run(9 * SECOND)
    assert len(next(iter(hosts[1].connections.values())).received) == 4_000
    assert simulation.run(100 * SECOND) and bytes(server.heard) == stream(20_000, 5)


def test_nobody_listens_and_nobody_answers() -> None:
    hosts = Host(LEFT, RIGHT.mac), Host(RIGHT, LEFT.mac)
    simulation = Simulation(*hosts, Link(), Link())
    refused = Talker(b"x")
    hosts[0].connect(0, RIGHT.address, 81, refused)
    assert simulation.run(SECOND) and refused.outcome == ["refused"] and hosts[1].refused == 1
    simulation = Simulation(*hosts, Link(loss=1.0), Link())
    alone = Talker(b"x")
    hosts[0].connect(simulation.now, RIGHT.address, 80, alone)
    assert simulation.run(2_000 * SECOND) and alone.outcome == ["timed out"]


def test_a_reset_ends_a_connection_and_a_guessed_one_does_not() -> None:
    """RFC 5961: only a RST with the very number that is expected counts."""
    made = Connection(1024, 80, 100)
    made.open(0)
    made.receive(0, Segment(80, 1024, 500, 101, SYN | ACK, 1_000))
    made.outgoing.clear()
    assert made.state is State.ESTABLISHED
    made.receive(1, Segment(80, 1024, 600, 0, RST, 0))
    assert made.state is State.ESTABLISHED and made.outgoing[-1].acknowledgement == 501
    made.receive(2, Segment(80, 1024, 501, 0, RST, 0))
    assert made.state is State.CLOSED and made.error == "reset"


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 12)), max_size=12), st.integers(0, 60))
@settings(max_examples=200, deadline=None)
def test_ranges_are_sets_of_numbers(added: list[tuple[int, int]], cut: int) -> None:
    ranges, wanted = Ranges(), set[int]()
    for first, count in added:
        ranges.add(first, first + count)
        wanted |= set(range(first, first + count))
    ranges.drop_before(cut)
    wanted = {number for number in wanted if number >= cut}
    assert {n for low, high in ranges.found for n in range(low, high)} == wanted and ranges.size == len(wanted)
    assert all(before[1] < after[0] for before, after in zip(ranges.found, ranges.found[1:], strict=False))
    missing = {n for low, high in ranges.holes(cut) for n in range(low, high)}
    assert missing == (set(range(cut, max(wanted, default=cut))) - wanted)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 10)), max_size=14))
@settings(max_examples=200, deadline=None)
def test_pieces_come_together(pieces: list[tuple[int, int]]) -> None:
    whole, waiting, got, have = stream(50, 6), Reassembly(), b"", set[int]()
    for first, count in pieces:
        waiting.put(first, whole[first : first + count])
        have |= set(range(first, first + count))
        got += waiting.take(len(got))
        assert got == whole[: next((n for n in range(51) if n not in have), 50)]


CAPTURES = os.environ.get("IXPEMU_CAPTURES")


@pytest.mark.skipif(CAPTURES is None, reason="IXPEMU_CAPTURES names no folder of captures")
@pytest.mark.parametrize("name", ["tcp_handshake.pcapng", "tcp_teardown.pcapng", "http_google.pcapng", "http_post.pcapng"])
def test_segments_of_real_kernels_are_read_as_scapy_reads_them(name: str) -> None:
    """Each TCP frame of a capture: the same fields as scapy's; made anew, a segment that scapy finds equal to the original."""
    seen = 0
    for captured in read_capture(Path(CAPTURES or "") / name).packets:
        frame = captured.frame
        packet = Ether(frame)
        if TCP not in packet or IP not in packet:
            continue
        found = from_frame(frame)
        if found is None:
            again = Ether(frame)
            del again[TCP].chksum
            assert Ether(bytes(again))[TCP].chksum != packet[TCP].chksum, "a checksum that the card was to fill in"
            continue
        theirs, ours = packet[TCP], found.segment
        length = packet[IP].len - packet[IP].ihl * 4 - theirs.dataofs * 4
        assert (ours.sequence, ours.acknowledgement, ours.flags, ours.window, len(ours.payload)) == (
            theirs.seq, theirs.ack, int(theirs.flags) & 0x3F, theirs.window, length)
        assert ours.mss == dict(option for option in theirs.options if len(option) == 2).get("MSS")
        seen += 1
    assert seen >= 3
