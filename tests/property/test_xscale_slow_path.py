"""The slow path against the router that was written from the RFCs, over every kind of frame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import Ether

from ixpemu.xscale.forwarding import ForwardingTable, Reason, TableLayout
from ixpemu.xscale.routes import parse_routes
from ixpemu.xscale.slow_path import SlowPath, checksum
from tests.support.frames import ROUTES_TEXT, FrameMaker, reference
from tests.support.router import pad


class Nowhere:
    def write(self, address: int, words: Sequence[int]) -> None:
        pass


def slow_path() -> SlowPath:
    table = ForwardingTable(Nowhere(), TableLayout(0, 64, 0x4000_0100, 64), parse_routes(ROUTES_TEXT), lambda done: done())
    return SlowPath(table)


@pytest.mark.parametrize("seed", range(4))
def test_every_frame_is_treated_as_the_reference_treats_it(seed: int) -> None:
    router, slow = reference(), slow_path()
    make = FrameMaker(seed)
    expected: Counter[str] = Counter()
    for number in range(600):
        port = number % 3
        frame = make.frame(port, exceptions=0.8)
        verdict = router.receive(port, frame)
        if verdict.reason == "too_long":
            continue
        own_mac = frame[:6] == router.ports[port].mac
        reason = Reason.OPTIONS if own_mac else Reason.WRONG_MAC
        sent = [(to, pad(octets)) for to, octets in slow.handle(reason, port, pad(frame))]
        assert sent == list(verdict.sent), (verdict.reason, frame.hex())
        expected["late_route" if verdict.reason == "forwarded" else verdict.reason] += 1
    assert slow.counts == expected
    assert set(expected) == {
        "late_route", "not_ipv4", "wrong_mac", "bad_header", "martian", "for_us", "no_route", "ttl_expired", "options",
    }


def test_scapy_reads_an_answer_as_what_it_is() -> None:
    slow = slow_path()
    [(port, frame)] = slow.handle(Reason.TTL_EXPIRED, 0, pad(FrameMaker(1).expired(0)))
    assert port == 0
    message = Ether(frame)
    assert message[IP].src == "10.0.0.1" and message[IP].tos == 0xC0
    assert (message[ICMP].type, message[ICMP].code) == (11, 0)
    for layer in (IP, ICMP):
        assert checksum(bytes(message[layer])[: 20 if layer is IP else None]) == 0
    assert slow.answers["icmp_11_0"] == 1


def test_the_checksum_of_the_rfc() -> None:
    assert checksum(bytes.fromhex("0001f203f4f5f6f7")) == 0x220D
    assert checksum(b"") == checksum(bytes(4)) == 0xFFFF
    assert checksum(b"\xff\xff") == checksum(b"\xff\xff\xff\xff") == 0
    assert checksum(b"\x12") == checksum(b"\x12\x00")
