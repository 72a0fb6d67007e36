"""What a router does with the frames that microcode hands over: answers, options, and a count of each.

Bytes in, bytes out: a frame with the reason it came with, to the frames that leave because of it. It touches no ring and no
buffer (that is the application's XScale module); it looks routes up in the `ForwardingTable` that the microengines use.

Answers: ICMP time exceeded (11/0), network or host unreachable (3/0; 3/1 on a port's own subnet), port and protocol
unreachable (3/3, 3/2) and echo replies as a host, parameter problem (12/0), ARP replies for the address of the port asked at.
What must never be answered is not (RFC 1812 4.3.2.7). Options: record route is filled in, source routes are
refused (RFC 1812 5.3.13.4 lets a router be set so), the rest passes. Identification 0 with "don't fragment" set, RFC 6864.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from ixpemu.xscale.forwarding import EVERYBODY, ForwardingTable, NextHop, Reason, own_interface
from ixpemu.xscale.routes import is_martian

ETHERNET = 14
IPV4, ARP = b"\x08\x00", b"\x08\x06"
ARP_REQUEST = bytes.fromhex("0001080006040001")     # Ethernet, IPv4, 6 and 4 bytes, request
ARP_REPLY = bytes.fromhex("0001080006040002")
ICMP, TCP, UDP = 1, 6, 17
ECHO_REPLY, UNREACHABLE, ECHO, TIME_EXCEEDED, PARAMETER_PROBLEM = 0, 3, 8, 11, 12
NETWORK, HOST, PROTOCOL, PORT = 0, 1, 2, 3          # codes of "unreachable"
# ICMP types that may be answered with an error, since they are queries or replies to them (RFC 792, 950, 1256).
NO_ERRORS = frozenset({0, 8, 9, 10, 13, 14, 15, 16, 17, 18})
INTERNETWORK_CONTROL = 0xC0                         # precedence 6 for errors, RFC 1812 4.3.2.5
TTL = 64
LONGEST_ERROR = 576                                 # RFC 1812 4.3.2.3
END, NO_OPERATION, RECORD_ROUTE, LOOSE_SOURCE, STRICT_SOURCE = 0, 1, 7, 131, 137

Sent = tuple[int, bytes]
"""A frame that leaves, with its port."""


def checksum(octets: bytes) -> int:
    """The Internet checksum. 2**16 is 1 modulo 0xffff, so the one's complement sum is a remainder, 0xffff where that is 0."""
    if len(octets) % 2:
        octets += b"\0"
    total = int.from_bytes(octets, "big")
    return 0xFFFF if total == 0 else 0xFFFF - ((total - 1) % 0xFFFF + 1)


@dataclass(frozen=True, slots=True)
class Datagram:
    """An IPv4 datagram without what the link padded it with."""

    octets: bytes

    @property
    def header_length(self) -> int:
        return 4 * (self.octets[0] & 15)

    @property
    def source(self) -> int:
        return int.from_bytes(self.octets[12:16], "big")

    @property
    def destination(self) -> int:
        return int.from_bytes(self.octets[16:20], "big")

    @property
    def fragment_offset(self) -> int:
        return int.from_bytes(self.octets[6:8], "big") & 0x1FFF

    @property
    def fragmented(self) -> bool:
        return bool(int.from_bytes(self.octets[6:8], "big") & 0x3FFF)

    @property
    def payload(self) -> bytes:
        return self.octets[self.header_length :]

    @classmethod
    def of(cls, octets: bytes) -> Datagram | None:
        """The datagram at the beginning of `octets`, None where its header is wrong (RFC 1812 5.2.2)."""
        if len(octets) < 20 or octets[0] >> 4 != 4:
            return None
        header, total = 4 * (octets[0] & 15), int.from_bytes(octets[2:4], "big")
        if not 20 <= header <= total <= len(octets) or checksum(octets[:header]) != 0:
            return None
        return cls(octets[:total])


class SlowPath:
    """The slow half of a router. `counts` is by reason name; `answers` by what was sent."""

    def __init__(self, table: ForwardingTable) -> None:
        self._table = table
        self.counts: Counter[str] = Counter()
        self.answers: Counter[str] = Counter()

    def handle(self, reason: int, port: int, frame: bytes) -> list[Sent]:
        """The frames to send because `frame`, which came in at `port`, was handed over for `reason`."""
        kind = frame[12:14]
        if kind != IPV4:
            self.counts["not_ipv4"] += 1
            return list(self._arp(port, frame)) if kind == ARP else []
        if reason == Reason.WRONG_MAC:
            self.counts["wrong_mac"] += 1
            return []
        datagram = Datagram.of(frame[ETHERNET:])
        if datagram is None:
            self.counts["bad_header"] += 1
            return []
        if is_martian(datagram.source):
            self.counts["martian"] += 1
            return []
        decided, sent = self._decide(datagram)
        self.counts["options" if datagram.header_length > 20 else decided] += 1
        return list(sent)

    def _decide(self, datagram: Datagram) -> tuple[str, Iterator[Sent]]:
        """Reason and answer for a datagram with a right header; the table decides anew, since it may have changed meanwhile."""
        hop = self._table.lookup(datagram.destination)
        if hop.reason is Reason.FOR_US:
            return "for_us", self._for_us(datagram)
        if hop.reason is Reason.MARTIAN:
            return "martian", iter(())
        if hop.reason is Reason.NO_ROUTE:
            near = any(each.subnet.covers(datagram.destination) for each in self._table.interfaces.values())
            return "no_route", self._error(datagram, UNREACHABLE, HOST if near else NETWORK)
        if datagram.octets[8] <= 1:
            return "ttl_expired", self._error(datagram, TIME_EXCEEDED, 0)
        return "late_route" if datagram.header_length == 20 else "options", self._forward(datagram, hop)

    def _forward(self, datagram: Datagram, hop: NextHop) -> Iterator[Sent]:
        """Forwards here what microcode would not: datagrams with options, and those whose route came while they waited."""
        header = bytearray(datagram.octets[: datagram.header_length])
        wrong = self._fill_in(header, hop)
        if wrong is not None:
            yield from self._error(datagram, PARAMETER_PROBLEM, 0, wrong << 24)
            return
        if any(kind in (LOOSE_SOURCE, STRICT_SOURCE) for kind, _, _ in _options(header)):
            self.answers["source_route_refused"] += 1
            return
        header[8] -= 1
        header[10:12] = bytes(2)
        header[10:12] = checksum(bytes(header)).to_bytes(2, "big")
        self.answers["forwarded"] += 1
        yield hop.port, hop.mac + hop.source_mac + IPV4 + bytes(header) + datagram.payload

    def _fill_in(self, header: bytearray, hop: NextHop) -> int | None:
        """Enters the router's address where an option asks for it. Returns the place of a malformed byte, None for none."""
        for kind, start, length in _options(header):
            if length == 0:
                return min(start + 1, len(header) - 1)
            if kind in (LOOSE_SOURCE, STRICT_SOURCE):
                return None
            if kind != RECORD_ROUTE:
                continue
            if length < 3 or header[start + 2] < 4:
                return start + min(2, length - 1)
            pointer = header[start + 2]
            if pointer > length:
                continue                                # full: passes as it is
            if pointer + 3 > length:
                return start + 2
            address = self._table.interfaces[hop.port].address
            header[start + pointer - 1 : start + pointer + 3] = address.to_bytes(4, "big")
            header[start + 2] += 4
        return None

    def _for_us(self, datagram: Datagram) -> Iterator[Sent]:
        own = own_interface(self._table.interfaces, datagram.destination)
        if own is None or datagram.fragmented:
            return                                      # a broadcast is not answered; nothing is put together here
        protocol, body = datagram.octets[9], datagram.payload
        if protocol == ICMP:
            if len(body) >= 8 and body[0] == ECHO and body[1] == 0 and checksum(body) == 0:
                self.answers["echo_reply"] += 1
                yield from self._icmp(bytes((ECHO_REPLY, 0)), body[4:], datagram.source, own.address, datagram.octets[1])
        elif protocol != TCP:
            yield from self._error(datagram, UNREACHABLE, PORT if protocol == UDP else PROTOCOL)

    def _error(self, datagram: Datagram, kind: int, code: int, rest: int = 0) -> Iterator[Sent]:
        if not self._may_be_told(datagram):
            self.answers["not_to_be_answered"] += 1
            return
        quoted = datagram.octets[: LONGEST_ERROR - 20 - 8]
        body = rest.to_bytes(4, "big") + quoted
        for sent in self._icmp(bytes((kind, code)), body, datagram.source, None, INTERNETWORK_CONTROL):
            self.answers[f"icmp_{kind}_{code}"] += 1
            yield sent

    def _may_be_told(self, datagram: Datagram) -> bool:
        """RFC 1812 4.3.2.7: no error about errors, later fragments, broadcasts and multicasts."""
        if datagram.fragment_offset or datagram.destination >> 28 == 14 or datagram.destination == EVERYBODY.address:
            return False
        if any(datagram.destination == each.broadcast != each.address for each in self._table.interfaces.values()):
            return False
        return datagram.octets[9] != ICMP or datagram.payload[:1] in {bytes((query,)) for query in NO_ERRORS}

    def _icmp(self, head: bytes, rest: bytes, destination: int, source: int | None, service: int) -> Iterator[Sent]:
        """A message of the router's own; without `source`, from the address of the port that it leaves by."""
        hop = self._table.lookup(destination)
        if hop.reason is not None:
            self.answers["no_way_back"] += 1
            return
        if source is None:
            source = self._table.interfaces[hop.port].address
        message = head + checksum(head + bytes(2) + rest).to_bytes(2, "big") + rest
        header = bytes((0x45, service)) + (20 + len(message)).to_bytes(2, "big") + b"\0\0\x40\0" + bytes((TTL, ICMP))
        addresses = source.to_bytes(4, "big") + destination.to_bytes(4, "big")
        header += checksum(header + addresses).to_bytes(2, "big") + addresses
        yield hop.port, hop.mac + hop.source_mac + IPV4 + header + message

    def _arp(self, port: int, frame: bytes) -> Iterator[Sent]:
        own = self._table.interfaces.get(port)
        if own is None or frame[:6] not in (own.mac, b"\xff" * 6):
            return
        body = frame[ETHERNET:]
        address = own.address.to_bytes(4, "big")
        if len(body) < 28 or body[:8] != ARP_REQUEST or body[24:28] != address:
            return
        asker = body[8:14]
        self.answers["arp_reply"] += 1
        yield port, asker + own.mac + ARP + ARP_REPLY + own.mac + address + body[8:18]


def _options(header: bytearray) -> Iterator[tuple[int, int, int]]:
    """Kind, place and length of each option behind the 20 fixed bytes; a length of 0 ends them where one is malformed."""
    at = 20
    while at < len(header) and header[at] != END:
        if header[at] == NO_OPERATION:
            at += 1
            continue
        length = header[at + 1] if at + 1 < len(header) else 0
        if length < 2 or at + length > len(header):
            yield header[at], at, 0
            return
        yield header[at], at, length
        at += length
