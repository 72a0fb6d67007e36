"""A router in plain Python, written from the RFCs, that judges the microcode: what must leave, where, byte for byte.

It knows nothing of the chip, of rings, tries or incremental sums: prefixes are compared one by one, checksums are summed
whole, and only then compared with RFC 1624's formula. It is slow on purpose. Frames have no check sequence; frames shorter than
60 bytes leave padded with zeros, as a MAC sends them.

Sources: RFC 791 (header, options), RFC 792 (ICMP), RFC 826 (ARP), RFC 1122 (echo, unreachable), RFC 1812 sections 4.3 and 5
(router requirements), RFC 1624 equation 3 (checksum after a change), RFC 6864 (identification of unfragmented datagrams).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

LONGEST_FRAME = 1514
BROADCAST_MAC = b"\xff" * 6
ICMP_QUERIES = (0, 8, 9, 10, 13, 14, 15, 16, 17, 18)
QUOTED_AT_MOST = 576 - 20 - 8           # RFC 1812 4.3.2.3: the error may be 576 bytes long


def ones_complement_sum(data: bytes) -> int:
    """The 16-bit one's complement sum of RFC 1071; an odd last byte counts as the high half of a word."""
    total = 0
    for at in range(0, len(data), 2):
        total += int.from_bytes(data[at : at + 2].ljust(2, b"\0"), "big")
    while total > 0xFFFF:
        total = (total >> 16) + (total & 0xFFFF)
    return total


def checksum(data: bytes) -> int:
    return 0xFFFF - ones_complement_sum(data)


def checksum_after_change(old_checksum: int, old_word: int, new_word: int) -> int:
    """RFC 1624 equation 3: HC' = ~(~HC + ~m + m')."""
    parts = (0xFFFF - old_checksum, 0xFFFF - old_word, new_word)
    return checksum(b"".join(part.to_bytes(2, "big") for part in parts))


def pad(frame: bytes) -> bytes:
    return frame.ljust(60, b"\0")


@dataclass(frozen=True)
class Port:
    """One port: its address with the subnet's length, and its MAC."""

    address: IPv4Interface
    mac: bytes


@dataclass(frozen=True)
class RouteTo:
    """A prefix, the port it is behind and the MAC of its next hop."""

    network: IPv4Network
    port: int
    mac: bytes


@dataclass(frozen=True)
class Verdict:
    """What became of one frame: forwarded, or why not; and all frames that leave because of it, as (port, bytes)."""

    reason: str
    sent: tuple[tuple[int, bytes], ...] = ()


@dataclass
class Router:
    ports: list[Port]
    routes: list[RouteTo] = field(default_factory=list)

    @classmethod
    def of(cls, ports: Iterable[tuple[str, str]], routes: Iterable[tuple[str, int, str]]) -> Router:
        """From texts: ports as ("10.0.0.1/24", mac), routes as (prefix, port, mac of the next hop)."""
        return cls(
            [Port(IPv4Interface(address), mac_of(mac)) for address, mac in ports],
            [RouteTo(IPv4Network(prefix), port, mac_of(mac)) for prefix, port, mac in routes],
        )

    def receive(self, port: int, frame: bytes) -> Verdict:
        """The verdict on a frame that arrived at `port`, as received (14 bytes at least; shorter than 60 is padded)."""
        frame = pad(frame)
        if len(frame) > LONGEST_FRAME:
            return Verdict("too_long")
        kind = int.from_bytes(frame[12:14], "big")
        if kind != 0x0800:
            return Verdict("not_ipv4", self._arp(port, frame) if kind == 0x0806 else ())
        if frame[:6] != self.ports[port].mac:
            return Verdict("wrong_mac")
        return self._ipv4(port, frame[14:])

    # -- IPv4

    def _ipv4(self, port: int, packet: bytes) -> Verdict:
        header_length = (packet[0] & 15) * 4
        total = int.from_bytes(packet[2:4], "big")
        # RFC 1812 5.2.2, the five tests; a failing datagram is discarded silently.
        if packet[0] >> 4 != 4 or header_length < 20 or total < header_length or total > len(packet):
            return Verdict("bad_header")
        if ones_complement_sum(packet[:header_length]) != 0xFFFF:
            return Verdict("bad_header")
        datagram = packet[:total]               # what is behind it is padding of the link
        source, destination = IPv4Address(datagram[12:16]), IPv4Address(datagram[16:20])
        if not may_be_source(source):
            return Verdict("martian")
        with_options = header_length > 20
        reason, sent = self._deliver_or_forward(port, datagram, source, destination, header_length)
        return Verdict("options" if with_options else reason, sent)

    def _deliver_or_forward(
        self, port: int, datagram: bytes, source: IPv4Address, destination: IPv4Address, header_length: int
    ) -> tuple[str, tuple[tuple[int, bytes], ...]]:
        if self._is_for_us(destination):
            return "for_us", self._local(port, datagram, source, destination, header_length)
        if not may_be_destination(destination):
            return "martian", ()
        route = self.lookup(destination)
        if route is None:
            code = 1 if any(destination in each.address.network for each in self.ports) else 0
            return "no_route", self._error(datagram, 3, code)
        if datagram[8] <= 1:
            return "ttl_expired", self._error(datagram, 11, 0)
        if header_length > 20:
            options, pointer = self._options(datagram[20:header_length], route)
            if pointer is not None:
                return "options", self._error(datagram, 12, 0, pointer << 24)
            if options is None:
                return "options", ()
            datagram = datagram[:20] + options + datagram[header_length:]
        return "forwarded", ((route.port, self._onward(datagram, route, header_length)),)

    def _onward(self, datagram: bytes, route: RouteTo, header_length: int) -> bytes:
        header = bytearray(datagram[:header_length])
        old_word = int.from_bytes(header[8:10], "big")
        header[8] -= 1
        header[10:12] = b"\0\0"
        fresh = checksum(bytes(header))
        if header_length == 20:
            old = int.from_bytes(datagram[10:12], "big")
            assert fresh == checksum_after_change(old, old_word, int.from_bytes(header[8:10], "big"))
        header[10:12] = fresh.to_bytes(2, "big")
        return pad(route.mac + self.ports[route.port].mac + b"\x08\x00" + bytes(header) + datagram[header_length:])

    def lookup(self, destination: IPv4Address) -> RouteTo | None:
        """The longest prefix that holds `destination`, every prefix tried; of equal prefixes the later one.

        A port's own subnet is a prefix with nobody behind it, unless a route says more.
        """
        best: RouteTo | None = None
        length = -1
        for each in self.ports:
            if destination in each.address.network and each.address.network.prefixlen > length:
                length = each.address.network.prefixlen
        for route in self.routes:
            if destination in route.network and route.network.prefixlen >= length:
                best, length = route, route.network.prefixlen
        return best

    def _is_for_us(self, destination: IPv4Address) -> bool:
        if destination == IPv4Address("255.255.255.255"):
            return True
        return any(destination in (each.address.ip, each.address.network.broadcast_address) for each in self.ports)

    def _options(self, options: bytes, route: RouteTo) -> tuple[bytes | None, int | None]:
        """The options as they go on (None: not forwarded), or the place of a malformed byte, counted from the header's first.

        Record route is filled in, source routes are refused, everything else passes as it is.
        """
        out = bytearray(options)
        at = 0
        while at < len(out):
            kind = out[at]
            if kind == 0:
                break
            if kind == 1:
                at += 1
                continue
            if at + 1 >= len(out) or out[at + 1] < 2 or at + out[at + 1] > len(out):
                return None, 20 + min(at + 1, len(out) - 1)
            length = out[at + 1]
            if kind in (131, 137):
                return None, None
            if kind == 7:
                if length < 3 or out[at + 2] < 4:
                    return None, 20 + at + min(2, length - 1)
                pointer = out[at + 2]
                if pointer <= length:
                    if pointer + 3 > length:
                        return None, 20 + at + 2
                    out[at + pointer - 1 : at + pointer + 3] = self.ports[route.port].address.ip.packed
                    out[at + 2] += 4
            at += length
        return bytes(out), None

    # -- the router as a host

    def _local(
        self, port: int, datagram: bytes, source: IPv4Address, destination: IPv4Address, header_length: int
    ) -> tuple[tuple[int, bytes], ...]:
        if not any(destination == each.address.ip for each in self.ports):
            return ()                       # a broadcast: heard, not answered
        if int.from_bytes(datagram[6:8], "big") & 0x3FFF:
            return ()                       # the router does not reassemble
        protocol, body = datagram[9], datagram[header_length:]
        if protocol == 1:
            if len(body) >= 8 and body[0] == 8 and body[1] == 0 and ones_complement_sum(body) == 0xFFFF:
                reply = b"\0\0\0\0" + body[4:]
                reply = reply[:2] + checksum(reply).to_bytes(2, "big") + reply[4:]
                return self._send(destination, source, reply, tos=datagram[1])
            return ()
        if protocol == 6:
            return ()
        return self._error(datagram, 3, 3 if protocol == 17 else 2)

    def _error(self, datagram: bytes, kind: int, code: int, extra: int = 0) -> tuple[tuple[int, bytes], ...]:
        """An ICMP error about `datagram`, unless RFC 1812 4.3.2.7 forbids it."""
        header_length = (datagram[0] & 15) * 4
        source, destination = IPv4Address(datagram[12:16]), IPv4Address(datagram[16:20])
        if int.from_bytes(datagram[6:8], "big") & 0x1FFF:
            return ()
        if destination.is_multicast or int(destination) == 0xFFFFFFFF:
            return ()
        if any(destination == each.address.network.broadcast_address for each in self.ports):
            return ()
        if datagram[9] == 1 and (len(datagram) == header_length or datagram[header_length] not in ICMP_QUERIES):
            return ()                       # an ICMP error, or nothing that could be told from one
        quoted = datagram[:QUOTED_AT_MOST]
        message = bytes((kind, code, 0, 0)) + extra.to_bytes(4, "big") + quoted
        message = message[:2] + checksum(message).to_bytes(2, "big") + message[4:]
        return self._send(None, source, message, tos=0xC0)

    def _send(
        self, source: IPv4Address | None, destination: IPv4Address, message: bytes, tos: int
    ) -> tuple[tuple[int, bytes], ...]:
        """An ICMP message of the router's own; without `source`, from the address of the port it leaves by."""
        if self._is_for_us(destination) or not may_be_destination(destination):
            return ()
        route = self.lookup(destination)
        if route is None:
            return ()
        if source is None:
            source = self.ports[route.port].address.ip
        header = bytes((0x45, tos)) + (20 + len(message)).to_bytes(2, "big") + b"\0\0\x40\0" + bytes((64, 1, 0, 0))
        header += source.packed + destination.packed
        header = header[:10] + checksum(header).to_bytes(2, "big") + header[12:]
        return ((route.port, pad(route.mac + self.ports[route.port].mac + b"\x08\x00" + header + message)),)

    def _arp(self, port: int, frame: bytes) -> tuple[tuple[int, bytes], ...]:
        """The reply to a request for the address of the port it came by."""
        own = self.ports[port]
        if frame[:6] not in (own.mac, BROADCAST_MAC):
            return ()
        if frame[14:22] != bytes.fromhex("0001080006040001") or frame[38:42] != own.address.ip.packed:
            return ()
        asker_mac, asker = frame[22:28], frame[28:32]
        body = bytes.fromhex("0001080006040002") + own.mac + own.address.ip.packed + asker_mac + asker
        return ((port, pad(asker_mac + own.mac + b"\x08\x06" + body)),)


def may_be_source(address: IPv4Address) -> bool:
    """RFC 1812 5.3.7: neither this network, loopback, multicast nor class E (broadcast among it)."""
    first = int(address) >> 24
    return first not in (0, 127) and first < 224


def may_be_destination(address: IPv4Address) -> bool:
    """The same places are none to forward to; multicast is not routed here."""
    return may_be_source(address)


def mac_of(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", ""))
