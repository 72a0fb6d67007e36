"""Makes the sample trace: sample0.pcap .. sample2.pcap, what three hosts' networks send to a three-port IPv4 router.

About 1,000 packets of 60 to 1,514 bytes: ordinary traffic over every kind of route, and among it every exception that
a forwarding path has to notice. `sample.tsv` names the kind of each packet. Everything follows from one seed: the files are the
same bytes on every machine, and a test makes them again. Plain bytes on purpose, so that a wrong header is exactly as wrong as
it says. README.md beside this file lists the addresses.

Run: python traces/make_sample.py [FOLDER]
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path

from ixpemu.files import write_atomically
from ixpemu.net import internet_checksum
from ixpemu.wire import wire_length, write_capture

SEED = 2400
PORTS = 3
ORDINARY = 270              # ordinary packets a port, beside about sixty exceptions
ICMP, TCP, UDP = 1, 6, 17
BROADCAST = b"\xff" * 6

# Destinations that the routes of README.md reach, by the way they are reached.
REACHED = {
    "connected": ("10.0.0.77", "10.0.1.88", "10.0.2.99"),
    "through_router": ("10.1.2.3", "10.2.3.4", "10.3.4.5", "198.51.100.9"),
    "longer_prefix": ("10.1.128.1", "10.1.255.254", "10.1.128.70", "10.1.200.7"),
}
UNREACHED = "203.0.113.5"


def address(text: str) -> bytes:
    """The four bytes of a dotted address."""
    return IPv4Address(text).packed


def router_mac(port: int) -> bytes:
    """The router's MAC on a port."""
    return bytes((2, 0, 0, 0, 0, port + 1))


def host_mac(port: int) -> bytes:
    """The MAC of the host that sends into a port."""
    return bytes((2, 0, 0, 0, 1, port + 1))


def ethernet(port: int, payload: bytes, ethertype: int = 0x0800, destination: bytes | None = None) -> bytes:
    """A frame from the host of `port` to the router, padded to 60 bytes."""
    head = (router_mac(port) if destination is None else destination) + host_mac(port) + ethertype.to_bytes(2, "big")
    return (head + payload).ljust(60, b"\0")


@dataclass(frozen=True, slots=True)
class Header:
    """The fields of an IPv4 header; None means: what a correct sender would put there."""

    destination: str
    source: str
    protocol: int = UDP
    ttl: int = 64
    version: int = 4
    words: int | None = None
    total: int | None = None
    fragment: int = 0
    options: bytes = b""
    checksum: int | None = None
    identification: int = 0

    def packet(self, payload: bytes) -> bytes:
        """The header and `payload`."""
        words = 5 + len(self.options) // 4 if self.words is None else self.words
        total = 20 + len(self.options) + len(payload) if self.total is None else self.total
        head = bytearray((self.version << 4 | words, 0)) + total.to_bytes(2, "big")
        head += self.identification.to_bytes(2, "big") + self.fragment.to_bytes(2, "big") + bytes((self.ttl, self.protocol, 0, 0))
        head += address(self.source) + address(self.destination) + self.options
        checksum = internet_checksum(bytes(head)) if self.checksum is None else self.checksum
        head[10:12] = checksum.to_bytes(2, "big")
        return bytes(head) + payload


def with_checksum(port: int, wanted: int, stored: int, payload: bytes) -> bytes:
    """A valid packet whose header checksum comes out as `wanted` (by its identification) and is stored as `stored`."""
    without = int.from_bytes(Header("10.2.3.4", source(port)).packet(payload)[10:12], "big")
    # The checksum is a complemented sum modulo 0xffff, and the identification is one of the summands.
    identification = (without - wanted) % 0xFFFF
    return Header("10.2.3.4", source(port), identification=identification, checksum=stored).packet(payload)


def source(port: int, host: int = 10) -> str:
    """An address in the network of a port."""
    return f"10.0.{port}.{host}"


def udp(payload: bytes, to: int = 9) -> bytes:
    """A datagram without checksum."""
    return (40_000).to_bytes(2, "big") + to.to_bytes(2, "big") + (8 + len(payload)).to_bytes(2, "big") + b"\0\0" + payload


def icmp(kind: int, code: int, rest: bytes) -> bytes:
    """An ICMP message with its checksum; `rest` starts behind the checksum."""
    head = bytes((kind, code))
    return head + internet_checksum(head + b"\0\0" + rest).to_bytes(2, "big") + rest


def echo_request(number: int, size: int = 32) -> bytes:
    """An ICMP echo request."""
    return icmp(8, 0, (0x1234).to_bytes(2, "big") + number.to_bytes(2, "big") + bytes(range(size)))


def arp(operation: int, sender_mac: bytes, sender: str, target_mac: bytes, target: str) -> bytes:
    """An ARP message for IPv4 over Ethernet."""
    head = bytes.fromhex("000108000604") + operation.to_bytes(2, "big")
    return head + sender_mac + address(sender) + target_mac + address(target)


def exceptions(port: int) -> Iterator[tuple[str, bytes]]:
    """Every packet of a port that is not ordinary traffic, with the name of its kind."""
    here, other = source(port), (port + 1) % PORTS
    far = "10.2.3.4" if port != 2 else "10.1.2.3"
    data = udp(bytes(range(64)))

    def ip(**fields: object) -> bytes:
        return Header(**({"destination": far, "source": here} | fields)).packet(data)  # type: ignore[arg-type]

    yield "options", ethernet(port, ip(options=bytes.fromhex("01010100")))
    yield "options", ethernet(port, ip(options=bytes.fromhex("070f04") + bytes(13)))                # record route
    yield "options", ethernet(port, ip(options=bytes.fromhex("94040000")))                          # router alert
    yield "options", ethernet(port, ip(options=b"\x01" * 40))                                       # as many as fit
    for ttl in (1, 0):
        for _ in range(3):
            yield f"ttl_{ttl}", ethernet(port, ip(ttl=ttl))
    yield "ttl_2", ethernet(port, ip(ttl=2))
    yield "ttl_255", ethernet(port, ip(ttl=255))
    yield "ttl_1_icmp_error", ethernet(port, Header(far, here, ICMP, ttl=1).packet(icmp(3, 1, bytes(4) + ip()[:28])))
    yield "ttl_1_later_fragment", ethernet(port, ip(ttl=1, fragment=185))
    for wrong in (1, 0x8000):
        good = int.from_bytes(ip()[10:12], "big")
        yield "bad_checksum", ethernet(port, ip(checksum=good ^ wrong))
    yield "bad_checksum", ethernet(port, ip(checksum=0))
    for version in (0, 5, 6):
        yield "bad_version", ethernet(port, ip(version=version))
    for words in (0, 4):
        yield "short_header_length", ethernet(port, ip(words=words))
    yield "header_beyond_total", ethernet(port, ip(words=15, total=40))
    yield "total_too_big", ethernet(port, ip(total=1500))
    yield "total_too_big", ethernet(port, ip(total=93))
    yield "total_too_small", ethernet(port, ip(total=19))
    yield "padded_inside", ethernet(port, ip() + bytes(300))
    for _ in range(3):
        yield "no_route", ethernet(port, ip(destination=UNREACHED))
    yield "no_route", ethernet(port, ip(destination="8.8.8.8"))
    yield "arp_request_router", ethernet(port, arp(1, host_mac(port), here, bytes(6), f"10.0.{port}.1"), 0x0806, BROADCAST)
    yield "arp_request_router", ethernet(port, arp(1, host_mac(port), here, bytes(6), f"10.0.{port}.1"), 0x0806)
    yield "arp_request_other", ethernet(port, arp(1, host_mac(port), here, bytes(6), f"10.0.{port}.44"), 0x0806, BROADCAST)
    yield "arp_request_other_port", ethernet(port, arp(1, host_mac(port), here, bytes(6), f"10.0.{other}.1"), 0x0806, BROADCAST)
    yield "arp_reply", ethernet(port, arp(2, host_mac(port), here, router_mac(port), f"10.0.{port}.1"), 0x0806)
    yield "arp_announcement", ethernet(port, arp(1, host_mac(port), here, bytes(6), here), 0x0806, BROADCAST)
    ipv6 = bytes.fromhex("6000000000081140") + bytes(15) + b"\1" + bytes(15) + b"\2" + udp(b"")
    yield "ipv6", ethernet(port, ipv6, 0x86DD)
    yield "unknown_ethertype", ethernet(port, bytes(64), 0x88B5)
    yield "unknown_ethertype", ethernet(port, bytes.fromhex("0102030405"), 0x88CC, bytes.fromhex("0180c200000e"))
    yield "vlan", ethernet(port, bytes.fromhex("00640800") + ip(), 0x8100)
    yield "llc", ethernet(port, bytes.fromhex("424203") + bytes(35), 38, bytes.fromhex("0180c2000000"))
    yield "multicast", ethernet(port, ip(destination="224.0.0.5"), destination=bytes.fromhex("01005e000005"))
    yield "multicast", ethernet(port, ip(destination="239.1.2.3"))
    yield "broadcast", ethernet(port, ip(destination="255.255.255.255"), destination=BROADCAST)
    yield "directed_broadcast", ethernet(port, ip(destination=f"10.0.{other}.255"))
    yield "unicast_in_broadcast_frame", ethernet(port, ip(), destination=BROADCAST)
    yield "not_for_the_router", ethernet(port, ip(), destination=bytes.fromhex("020000000909"))
    for martian in ("127.0.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "240.0.0.1"):
        yield "martian_source", ethernet(port, ip(source=martian))
    for martian in ("127.0.0.1", "0.0.0.0", "240.0.0.1"):
        yield "martian_destination", ethernet(port, ip(destination=martian))
    for number in range(3):
        yield "echo_router", ethernet(port, Header(f"10.0.{port}.1", here, ICMP).packet(echo_request(number)))
    yield "echo_router_other_address", ethernet(port, Header(f"10.0.{other}.1", here, ICMP).packet(echo_request(9)))
    yield "echo_router_long", ethernet(port, Header(f"10.0.{port}.1", here, ICMP).packet(echo_request(10, 200)))
    yield "udp_router", ethernet(port, Header(f"10.0.{port}.1", here).packet(udp(b"nobody listens", 33_434)))
    yield "tcp_router", ethernet(port, Header(f"10.0.{port}.1", here, TCP).packet(bytes.fromhex(
        "9c4000500000000100000000500220000000") + b"\0\0"))
    yield "checksum_0000", ethernet(port, with_checksum(port, 0, 0, data))
    yield "checksum_ffff", ethernet(port, with_checksum(port, 0, 0xFFFF, data))
    yield "checksum_becomes_0000", ethernet(port, with_checksum(port, 0xFEFF, 0xFEFF, data))
    yield "checksum_wraps", ethernet(port, with_checksum(port, 0xFF00, 0xFF00, data))
    piece = bytes(range(256)) * 5
    for offset, more in ((0, 0x2000), (160, 0x2000), (320, 0)):
        fields = Header(far, here, fragment=more | offset, identification=0x4242)
        yield "fragment", ethernet(port, fields.packet(piece if more else piece[:100]))
    yield "do_not_fragment", ethernet(port, ip(fragment=0x4000))


def ordinary(port: int, rng: random.Random) -> Iterator[tuple[str, bytes]]:
    """Packets to be forwarded, of every size class, over every kind of route."""
    sizes: tuple[Callable[[], int], ...] = (
        lambda: 60,
        lambda: rng.randint(60, 128),
        lambda: rng.randint(60, 1514),
        lambda: rng.choice((590, 576, 1024)),
        lambda: 1514,
    )
    for number in range(ORDINARY):
        # Every length near the ends and round the 64-byte receive elements appears once, whatever the dice say.
        size = (60 + number if number < 72 else 1514 - (number - 72) if number < 80 else rng.choice(sizes)())
        way = rng.choice(sorted(REACHED))
        destination = rng.choice(REACHED[way])
        payload = rng.randbytes(size - 14 - 20 - 8)
        header = Header(
            destination, source(port, rng.randint(2, 200)), ttl=rng.choice((2, 63, 64, 128, 255)),
            identification=rng.randint(0, 0xFFFF), fragment=rng.choice((0, 0x4000)),
        )
        yield way, ethernet(port, header.packet(udp(payload)))


def trace(port: int) -> list[tuple[int, str, bytes]]:
    """The packets of a port: (time in nanoseconds, kind, frame), about half of a gigabit a second with bursts."""
    rng = random.Random(SEED + port)
    rows = [*ordinary(port, rng), *exceptions(port)]
    rng.shuffle(rows)
    timed = []
    now = 0
    for kind, frame in rows:
        timed.append((now, kind, frame))
        travel = (wire_length(len(frame)) + 12) * 8
        now += travel + rng.choice((0, 0, travel, rng.randint(0, 20_000)))
    return timed


def main(folder: Path) -> None:
    """Write the captures and the table of kinds into `folder`."""
    table = ["port\tnumber\ttime_ns\tkind\tbytes"]
    for port in range(PORTS):
        rows = trace(port)
        write_capture(folder / f"sample{port}.pcap", [(time, frame) for time, _, frame in rows])
        table += [f"{port}\t{number}\t{time}\t{kind}\t{len(frame)}" for number, (time, kind, frame) in enumerate(rows)]
    write_atomically(folder / "sample.tsv", ("\n".join(table) + "\n").encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
