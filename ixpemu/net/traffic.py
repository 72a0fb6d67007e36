"""Traffic streams made on the spot: rows of valid IPv4 frames of given sizes and protocols, the same ones every time.

A stream is a `FrameSource`: frame number n depends on n and the stream's parameters only, so a port can go back to any
position. Times are 0: the port's line rate spaces the frames. The frames repeat after `period`, about a thousand. Streams that a
file describes are traffic_file.py's; exceptions and hosts that answer are not made here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import AddressValueError, IPv4Address, IPv4Network, NetmaskValueError
from math import lcm

from ixpemu import codes
from ixpemu.diagnostics import user_error
from ixpemu.net.checksum import internet_checksum, update_checksum
from ixpemu.wire.line import CHECK_BYTES

# Sizes as the field counts them, with the check sequence. The mix is the common "simple IMIX": IP packets of 40, 576 and 1,500
# bytes in the proportion 7 : 4 : 1, spread so that no size bunches.
PATTERNS: dict[str, tuple[int, ...]] = {
    "64B": (64,),
    "imix": (64, 594, 64, 64, 594, 64, 1518, 64, 594, 64, 594, 64),
}
PERIOD = 1020                       # a multiple of 1 to 6, 10, 12, 15, 17, 20
ICMP, TCP, UDP = 1, 6, 17
PROTOCOLS = {"udp": UDP, "tcp": TCP, "icmp": ICMP}
_TRANSPORT = {UDP: 8, TCP: 20, ICMP: 8}         # header bytes
SHORTEST = 64                       # the least that Ethernet carries, and enough for every header here
LONGEST = 65_000
_HEADERS = 14 + 20
_ETHERTYPE_IPV4 = bytes.fromhex("0800")
_GOLDEN = 0x9E3779B97F4A7C15        # multiplicative mixing of the frame number: neighbours land far apart
_MASK64 = (1 << 64) - 1


def _mac(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", ""))


@dataclass(frozen=True, slots=True)
class Addresses:
    """A range of IPv4 addresses, `first` and the `room` - 1 behind it."""

    first: int
    room: int

    @classmethod
    def of(cls, text: str) -> Addresses:
        """`10.1.0.0/16` (its hosts, but for the first two addresses and the last, where there are eight or more), one address, or
        `10.1.0.5-10.1.0.20`. UserError without a place for anything else."""
        low, dash, high = text.partition("-")
        try:
            if dash:
                first, last = int(IPv4Address(low.strip())), int(IPv4Address(high.strip()))
                if last < first:
                    raise AddressValueError(f"{high.strip()} is below {low.strip()}")
                return cls(first, last - first + 1)
            network = IPv4Network(text.strip(), strict=False)
        except (AddressValueError, NetmaskValueError, ValueError) as error:
            raise user_error(
                codes.TRAFFIC_UNKNOWN, f"{text!r} is not an IPv4 network or range: {error}",
                help="write it as 10.1.0.0/16 or as 10.1.0.5-10.1.0.20",
            ) from error
        first, room = int(network.network_address), network.num_addresses
        return cls(first, room) if room < 8 else cls(first + 2, room - 3)

    def pick(self, mixed: int) -> int:
        """An address of the range."""
        return self.first + mixed % self.room


@dataclass(frozen=True, slots=True)
class Traffic:
    """A stream of frames into one port.

    `sizes` is a repeating row of frame sizes in bytes with check sequence, `protocols` one of IP protocol numbers (UDP, TCP,
    ICMP); `destinations` are the ranges that the frames go to, in turn; `source` is the range they come from; `ports` are the
    transport ports they go to, in turn; `count` limits the stream (None: endless). The destination MAC is the port's own, as a
    router expects.
    """

    sizes: tuple[int, ...]
    destinations: tuple[Addresses, ...]
    source: Addresses
    port_mac: bytes
    host_mac: bytes
    seed: int = 1
    count: int | None = None
    protocols: tuple[int, ...] = (UDP,)
    ports: tuple[int, ...] = (9,)
    ttl: int = 64
    _templates: dict[tuple[int, int], bytes] = field(default_factory=dict, repr=False, compare=False)

    def frames(self, start: int = 0) -> Iterator[tuple[int, bytes]]:
        number = start
        while self.count is None or number < self.count:
            yield 0, self.frame(number)
            number += 1

    @property
    def period(self) -> int:
        """After so many frames the same ones come again: a multiple of the length of every row."""
        row = lcm(len(self.sizes), len(self.destinations), len(self.protocols), len(self.ports))
        return row * max(1, PERIOD // row)

    def frame(self, number: int) -> bytes:
        """Frame `number`, without its check sequence."""
        number %= self.period
        size = self.sizes[number % len(self.sizes)] - CHECK_BYTES
        protocol = self.protocols[number % len(self.protocols)]
        mixed = (number + self.seed) * _GOLDEN & _MASK64
        destination = self.destinations[number % len(self.destinations)].pick(mixed >> 32)
        source = self.source.pick(mixed >> 16 & 0xFFFF)
        template = self._templates.get((size, protocol))
        if template is None:
            template = self._templates[size, protocol] = self._template(size, protocol)
        frame = bytearray(template)
        addresses = source.to_bytes(4, "big") + destination.to_bytes(4, "big")
        identification = (number & 0xFFFF).to_bytes(2, "big")
        frame[18:20] = identification
        frame[26:34] = addresses
        _update(frame, 24, identification + addresses)
        if protocol == ICMP:
            frame[40:42] = identification
            _update(frame, 36, identification)
        else:
            ports = (1024 + (mixed >> 48) & 0xFFFF) << 16 | self.ports[number % len(self.ports)]
            transport = ports.to_bytes(4, "big")
            frame[34:38] = transport
            if protocol == TCP:
                _update(frame, 50, addresses + transport)
        return bytes(frame)

    def _template(self, size: int, protocol: int) -> bytes:
        """A frame whose addresses, identification and ports are 0, its checksums those of the rest."""
        total = size - 14
        header = bytearray(20)
        header[0] = 0x45
        header[2:4] = total.to_bytes(2, "big")
        header[8] = self.ttl
        header[9] = protocol
        header[10:12] = internet_checksum(bytes(header)).to_bytes(2, "big")
        transport = bytearray(_TRANSPORT[protocol])
        payload = bytes(k & 0xFF for k in range(size - _HEADERS - len(transport)))
        if protocol == UDP:
            # A checksum of 0 means "none", which lets the addresses vary without touching the payload.
            transport[4:6] = (total - 20).to_bytes(2, "big")
        elif protocol == TCP:
            transport[12] = 5 << 4
            transport[13] = 0x10                                    # ACK
            transport[14:16] = (8192).to_bytes(2, "big")
            pseudo = bytes([0, TCP]) + (total - 20).to_bytes(2, "big")
            transport[16:18] = internet_checksum(pseudo + bytes(transport) + payload).to_bytes(2, "big")
        else:
            transport[0] = 8                                        # echo request
            transport[2:4] = internet_checksum(bytes(transport) + payload).to_bytes(2, "big")
        return self.port_mac + self.host_mac + _ETHERTYPE_IPV4 + bytes(header) + bytes(transport) + payload


def _update(frame: bytearray, at: int, words: bytes) -> None:
    """Add 16-bit words that stood as 0 to the checksum at `at`."""
    checksum = int.from_bytes(frame[at : at + 2], "big")
    for k in range(0, len(words), 2):
        checksum = update_checksum(checksum, 0, int.from_bytes(words[k : k + 2], "big"))
    frame[at : at + 2] = checksum.to_bytes(2, "big")


def traffic(
    kind: str, *, destinations: tuple[str, ...] = (), port: int = 0, count: int | None = None, seed: int = 1
) -> Traffic:
    """The stream named `kind`: "64B", "imix", or a path to a TOML file (docs/traffic.md); into board port `port`.

    `destinations` are networks or ranges; without any, the networks of the other two router ports. What a file says goes before
    all of these but for `destinations` and `count`.
    """
    others = tuple(f"10.0.{other}.0/24" for other in range(3) if other != port)
    stream = Traffic(
        sizes=PATTERNS.get(kind, (64,)),
        destinations=tuple(Addresses.of(text) for text in destinations or others),
        source=Addresses.of(f"10.0.{port}.0/24"),
        port_mac=_mac(f"02:00:00:00:00:{port + 1:02x}"),
        host_mac=_mac(f"02:00:00:00:01:{port + 1:02x}"),
        seed=seed,
        count=count,
    )
    if kind in PATTERNS:
        return stream
    if kind.endswith(".toml"):
        from ixpemu.net.traffic_file import from_file

        return from_file(kind, stream, keep_destinations=bool(destinations))
    raise user_error(
        codes.TRAFFIC_UNKNOWN, f"there is no traffic stream {kind!r}",
        help=f"name one of {', '.join(PATTERNS)}, or a .toml file with a list `sizes`",
    )
