"""Frames for router tests, built by scapy, and the little network they live in.

Three ports as the shipped route file has them: port p is 10.0.p.1/24 with MAC 02:00:00:00:00:(p+1), its neighbour 10.0.p.2 with
MAC 02:00:00:00:01:(p+1) stands before 10.0.p.0/24 and more networks.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_NOP, IPOption_RR, IPOption_Timestamp
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Raw

from tests.support.router import Router

PORT_MACS = [f"02:00:00:00:00:0{port + 1}" for port in range(3)]
HOST_MACS = [f"02:00:00:00:01:0{port + 1}" for port in range(3)]
NETWORKS = {
    0: ["10.0.0.0/24", "10.10.0.0/16", "172.16.0.0/12"],
    1: ["10.0.1.0/24", "10.11.0.0/16", "192.168.0.0/16", "10.10.64.0/18"],
    2: ["10.0.2.0/24", "10.12.0.0/16", "10.10.64.128/25", "198.51.100.7/32"],
}
NOWHERE = ["203.0.113.5", "8.8.8.8", "10.99.1.1"]

ROUTES_TEXT = "\n".join(
    [f"interface {port} 10.0.{port}.1/24 mac {mac}" for port, mac in enumerate(PORT_MACS)]
    + [f"neighbor 10.0.{port}.2 mac {mac}" for port, mac in enumerate(HOST_MACS)]
    + [f"route {network} via 10.0.{port}.2" for port, networks in NETWORKS.items() for network in networks]
) + "\n"


def reference() -> Router:
    """The independent router with the same ports and routes."""
    return Router.of(
        [(f"10.0.{port}.1/24", mac) for port, mac in enumerate(PORT_MACS)],
        [(f"10.0.{port}.2/32", port, mac) for port, mac in enumerate(HOST_MACS)]
        + [(network, port, HOST_MACS[port]) for port, networks in NETWORKS.items() for network in networks],
    )


class FrameMaker:
    """Frames that arrive at a port: mostly good ones, and every kind of exception. The same seed gives the same frames."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.exceptions: list[Callable[[int], bytes]] = [
            self.expired, self.no_route, self.options, self.bad_header, self.not_ipv4, self.arp, self.for_us, self.martian,
            self.wrong_mac, self.no_neighbor, self.fragment, self.too_long,
        ]

    def frame(self, port: int, exceptions: float = 0.2) -> bytes:
        """One frame; one in `1 / exceptions` is not a plain datagram to be forwarded."""
        if self._random.random() < exceptions:
            return self._random.choice(self.exceptions)(port)
        return self.good(port)

    def address(self, port: int) -> str:
        """An address behind `port`."""
        pick = self._random
        return pick.choice({
            0: [f"10.0.0.{pick.randrange(2, 255)}", f"10.10.{pick.randrange(64)}.{pick.randrange(256)}", "172.20.1.9"],
            1: [f"10.0.1.{pick.randrange(2, 255)}", f"10.11.{pick.randrange(256)}.{pick.randrange(256)}",
                f"192.168.{pick.randrange(256)}.1", f"10.10.{pick.randrange(65, 128)}.{pick.randrange(256)}"],
            2: [f"10.0.2.{pick.randrange(2, 255)}", f"10.12.{pick.randrange(256)}.{pick.randrange(256)}",
                f"10.10.64.{pick.randrange(128, 256)}", "198.51.100.7"],
        }[port])

    def datagram(self, port: int, destination: str | None = None, **fields: object) -> IP:
        """An IP header from somewhere behind `port` to `destination`, by default behind another port."""
        if destination is None:
            destination = self.address(self._random.choice([other for other in range(3) if other != port]))
        pick = self._random
        usual = {"src": self.address(port), "dst": destination, "ttl": pick.randrange(2, 256), "id": pick.randrange(65536),
                 "tos": pick.randrange(256)}
        return IP(**(usual | fields))

    def good(self, port: int, **fields: object) -> bytes:
        sizes = [0, 1, 6, 18, 64, 86, 87, 100, 101, 102, 470, 1458, self._random.randrange(1459)]
        payload = self._random.randbytes(self._random.choice(sizes))
        transport = self._random.choice([UDP(sport=1024, dport=53), TCP(sport=80, dport=1234, flags="A"), ICMP(type=8)])
        return self._framed(port, self.datagram(port, **fields) / transport / Raw(payload), 1514)

    def _framed(self, port: int, packet: IP, longest: int | None = None) -> bytes:
        frame = bytes(Ether(dst=PORT_MACS[port], src=HOST_MACS[port]) / packet)
        if longest is not None and len(frame) > longest:
            return self.good(port)
        # Sometimes the link padded it, and not with zeros.
        if self._random.random() < 0.1:
            frame += self._random.randbytes(self._random.randrange(1, 30)) if len(frame) < 1400 else b""
        return frame

    def expired(self, port: int) -> bytes:
        return self.good(port, ttl=self._random.randrange(2))

    def no_route(self, port: int) -> bytes:
        return self.good(port, destination=self._random.choice(NOWHERE))

    def no_neighbor(self, port: int) -> bytes:
        """An answer that itself has no way back: the source is nowhere."""
        return self.good(port, src=NOWHERE[0], ttl=1)

    def options(self, port: int) -> bytes:
        routes = [f"10.9.9.{k}" for k in range(3)]
        options = self._random.choice([
            [IPOption_NOP()], [IPOption_Timestamp()], [IPOption_RR(length=15, pointer=8, routers=routes)],
            [IPOption_RR(length=11, pointer=12, routers=routes[:2])],
            [IPOption_NOP(), IPOption_RR(length=7, pointer=4, routers=routes[:1])],
            b"\x94\x04\x00\x00", b"\x83\x07\x04\x0a\x00\x01\x02\x00", b"\x07\x02\x00\x00", b"\x94\x09\x00\x00",
            b"\x07\x07\x03\x00\x00\x00\x00\x00", b"\x01\x01\x01\x94",
        ])
        packet = self.datagram(port, options=b"", ttl=self._random.choice([1, 2, 64]))
        payload = self._random.randbytes(self._random.randrange(600))
        if isinstance(options, bytes):
            header = bytearray(bytes(packet / UDP() / Raw(payload)))
            body = bytes(header[20:])
            header = header[:20] + bytearray(options)
            header[0] = 0x40 | len(header) // 4
            header[2:4] = (len(header) + len(body)).to_bytes(2, "big")
            header[10:12] = b"\0\0"
            header[10:12] = int(_checksum(bytes(header))).to_bytes(2, "big")
            return bytes(Ether(dst=PORT_MACS[port], src=HOST_MACS[port], type=0x0800)) + bytes(header) + body
        packet.options = options
        return self._framed(port, packet / UDP() / Raw(payload))

    def bad_header(self, port: int) -> bytes:
        frame = bytearray(self.good(port))
        match self._random.randrange(5):
            case 0:
                frame[24] ^= 0x10
            case 1:
                frame[14] = 0x65
                _mend(frame)
            case 2:
                frame[14] = 0x44
                _mend(frame)
            case 3:
                frame[16:18] = (len(frame) - 13 if len(frame) > 60 else 300).to_bytes(2, "big")
                _mend(frame)
            case 4:
                frame[16:18] = (19).to_bytes(2, "big")
                _mend(frame)
        return bytes(frame)

    def not_ipv4(self, port: int) -> bytes:
        ether = Ether(dst=PORT_MACS[port], src=HOST_MACS[port])
        return bytes(self._random.choice([
            ether / IPv6(dst="2001:db8::1") / UDP(), ether / Dot1Q(vlan=5) / self.datagram(port) / UDP(),
            Ether(dst="ff:ff:ff:ff:ff:ff", src=HOST_MACS[port], type=0x88CC) / Raw(b"x" * 50),
        ]))

    def arp(self, port: int) -> bytes:
        target = self._random.choice([f"10.0.{port}.1", f"10.0.{port}.1", f"10.0.{port}.9", f"10.0.{(port + 1) % 3}.1"])
        mac = self._random.choice(["ff:ff:ff:ff:ff:ff", PORT_MACS[port], "02:00:00:00:07:07"])
        operation = self._random.choice([1, 1, 1, 2])
        return bytes(Ether(dst=mac, src=HOST_MACS[port]) / ARP(
            op=operation, hwsrc=HOST_MACS[port], psrc=f"10.0.{port}.2", pdst=target, hwdst="00:00:00:00:00:00"))

    def for_us(self, port: int) -> bytes:
        pick = self._random
        destination = pick.choice(["10.0.0.1", "10.0.1.1", "10.0.2.1", f"10.0.{port}.255", "255.255.255.255"])
        body = pick.choice([
            ICMP(type=8, id=pick.randrange(65536), seq=7) / Raw(pick.randbytes(pick.randrange(100))), ICMP(type=0),
            UDP(dport=9) / Raw(b"hello"), TCP(dport=22), Raw(b"who knows"),
        ])
        fields = {"proto": 99} if isinstance(body, Raw) else {}
        return self._framed(port, self.datagram(port, destination, ttl=pick.choice([1, 64]), **fields) / body)

    def martian(self, port: int) -> bytes:
        pick = self._random
        bad = pick.choice(["0.1.2.3", "127.0.0.1", "224.0.0.5", "240.0.0.1", "239.255.255.250", "255.1.1.1"])
        if pick.random() < 0.5:
            return self._framed(port, self.datagram(port, src=bad) / UDP())
        return self._framed(port, self.datagram(port, bad, ttl=pick.choice([1, 9])) / UDP())

    def wrong_mac(self, port: int) -> bytes:
        mac = self._random.choice(["ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:05", PORT_MACS[(port + 1) % 3], "12:00:00:00:00:01"])
        return bytes(Ether(dst=mac, src=HOST_MACS[port]) / self.datagram(port) / UDP())

    def fragment(self, port: int) -> bytes:
        return self.good(port, flags=self._random.choice(["MF", 0]), frag=self._random.choice([0, 3, 185]),
                         ttl=self._random.choice([1, 9]))

    def too_long(self, port: int) -> bytes:
        size = self._random.choice([1515, 1518, 1600, 2000, 9018])
        frame = bytes(Ether(dst=PORT_MACS[port], src=HOST_MACS[port]) / self.datagram(port) / UDP() / Raw(b""))
        return frame + self._random.randbytes(size - len(frame))


def _checksum(octets: bytes) -> int:
    from scapy.utils import checksum

    return int(checksum(octets))


def _mend(frame: bytearray) -> None:
    """Makes the checksum of the 20 bytes of header right again, so that something else is wrong with it."""
    frame[24:26] = b"\0\0"
    frame[24:26] = _checksum(bytes(frame[14:34])).to_bytes(2, "big")
