"""The shipped sample trace: made again byte for byte, and its kinds are what they say, judged by scapy."""

import runpy
from collections import Counter
from itertools import pairwise

import pytest
from scapy.layers.inet import IP
from scapy.layers.l2 import ARP, Ether

from ixpemu import resources
from ixpemu.net import internet_checksum, read_capture
from ixpemu.wire import wire_length

FOLDER = resources.folder("traces")


@pytest.fixture(scope="module")
def rows() -> list[tuple[int, str, bytes]]:
    captures = {port: read_capture(FOLDER / f"sample{port}.pcap").packets for port in range(3)}
    out = []
    for line in (FOLDER / "sample.tsv").read_text().splitlines()[1:]:
        port, number, time_ns, kind, length = line.split("\t")
        packet = captures[int(port)][int(number)]
        assert (packet.time_ns, len(packet.frame)) == (int(time_ns), int(length))
        out.append((int(port), kind, packet.frame))
    assert len(out) == sum(len(packets) for packets in captures.values())
    return out


def test_the_generator_makes_the_shipped_files(tmp_path):
    runpy.run_path(str(FOLDER / "make_sample.py"))["main"](tmp_path)
    for path in sorted(tmp_path.iterdir()):
        assert path.read_bytes() == (FOLDER / path.name).read_bytes(), f"{path.name} is stale: run traces/make_sample.py"
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in FOLDER.glob("sample*")}


def test_sizes_and_numbers(rows):
    assert 950 <= len(rows) <= 1050
    assert {60, 61, 64, 65, 128, 1513, 1514} <= {len(frame) for _, _, frame in rows}
    assert all(60 <= len(frame) <= 1514 for _, _, frame in rows)
    assert Counter(port for port, _, _ in rows) == {port: len(rows) // 3 for port in range(3)}


def test_no_port_is_asked_for_more_than_a_line_carries():
    for port in range(3):
        packets = read_capture(FOLDER / f"sample{port}.pcap").packets
        for before, after in pairwise(packets):
            assert after.time_ns - before.time_ns >= (wire_length(len(before.frame)) + 12) * 8


def test_ordinary_packets_are_valid(rows):
    for port, kind, frame in rows:
        if kind not in ("connected", "through_router", "longer_prefix", "fragment", "ttl_2", "ttl_255", "padded_inside"):
            continue
        assert frame[:12] == bytes((2, 0, 0, 0, 0, port + 1, 2, 0, 0, 0, 1, port + 1))
        assert frame[14] == 0x45
        assert internet_checksum(frame[14:34]) == 0
        assert frame[22] >= 2
        assert int.from_bytes(frame[16:18], "big") <= len(frame) - 14


def test_exceptions_are_what_they_are_called(rows):
    by_kind: dict[str, list[tuple[int, bytes]]] = {}
    for port, kind, frame in rows:
        by_kind.setdefault(kind, []).append((port, frame))
    assert all(IP(f[14:]).ihl > 5 for _, f in by_kind["options"])
    assert {IP(f[14:]).ttl for _, f in by_kind["ttl_1"]} == {1}
    assert {IP(f[14:]).ttl for _, f in by_kind["ttl_0"]} == {0}
    assert all(internet_checksum(f[14:34]) != 0 for _, f in by_kind["bad_checksum"])
    assert {f[14] >> 4 for _, f in by_kind["bad_version"]} == {0, 5, 6}
    assert {f[14] & 15 for _, f in by_kind["short_header_length"]} == {0, 4}
    assert all(IP(f[14:]).len > len(f) - 14 for _, f in by_kind["total_too_big"])
    assert all(f[24:26] == b"\0\0" and internet_checksum(f[14:34]) == 0 for _, f in by_kind["checksum_0000"])
    assert all(f[24:26] == b"\xff\xff" and internet_checksum(f[14:34]) == 0 for _, f in by_kind["checksum_ffff"])
    assert all(Ether(f)[ARP].pdst == f"10.0.{p}.1" and Ether(f)[ARP].op == 1 for p, f in by_kind["arp_request_router"])
    assert all(Ether(f)[ARP].pdst != f"10.0.{p}.1" for p, f in by_kind["arp_request_other"])
    assert all(Ether(f)[IP].dst == f"10.0.{p}.1" and Ether(f)[IP].proto == 1 for p, f in by_kind["echo_router"])
    assert {Ether(f).type for _, f in by_kind["ipv6"]} == {0x86DD}
    pieces = [IP(f[14:]) for p, f in by_kind["fragment"] if p == 0]
    assert sorted((p.frag, int(p.flags.MF)) for p in pieces) == [(0, 1), (160, 1), (320, 0)]
    assert {Ether(f).dst for _, f in by_kind["unicast_in_broadcast_frame"]} == {"ff:ff:ff:ff:ff:ff"}
    wanted = {
        "no_route", "vlan", "llc", "unknown_ethertype", "multicast", "broadcast", "directed_broadcast", "arp_reply",
        "martian_source", "martian_destination", "udp_router", "tcp_router", "not_for_the_router", "header_beyond_total",
        "total_too_small",
    }
    assert wanted <= by_kind.keys()
