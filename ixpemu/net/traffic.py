"""Traffic streams made on the spot: rows of valid IPv4/UDP frames of given sizes, the same ones every time.

A stream is a `FrameSource`: frame number n depends on n and the stream's parameters only, so a port can go back to any
position. Times are 0: the port's line rate spaces the frames. The frames repeat after `period`, about a thousand. Exceptions, TCP
and hosts that answer are not made here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Network
from math import lcm
from pathlib import Path

from ixpemu import codes
from ixpemu.diagnostics import UserError, user_error
from ixpemu.net.checksum import internet_checksum, update_checksum
from ixpemu.toml_file import Table, read
from ixpemu.wire.line import CHECK_BYTES

# Sizes as the field counts them, with the check sequence. The mix is the common "simple IMIX": IP packets of 40, 576 and 1,500
# bytes in the proportion 7 : 4 : 1, spread so that no size bunches.
_PATTERNS: dict[str, tuple[int, ...]] = {
    "64B": (64,),
    "imix": (64, 594, 64, 64, 594, 64, 1518, 64, 594, 64, 594, 64),
}
_PERIOD = 1020                      # a multiple of 1 to 6, 10, 12, 15, 17, 20
_ETHERTYPE_IPV4 = bytes.fromhex("0800")
_UDP = 17
_LONGEST = 65_000
_HEADERS = 14 + 20 + 8
_GOLDEN = 0x9E3779B97F4A7C15        # multiplicative mixing of the frame number: neighbours land far apart
_MASK64 = (1 << 64) - 1


def _mac(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", ""))


@dataclass(frozen=True, slots=True)
class Traffic:
    """A stream of UDP frames into one port.

    `sizes` is a repeating row of frame sizes in bytes with check sequence; `destinations` are the networks that the frames go
    to, in turn; `source` is the network they come from; `count` limits the stream (None: endless). The destination MAC is the
    port's own, as a router expects.
    """

    sizes: tuple[int, ...]
    destinations: tuple[IPv4Network, ...]
    source: IPv4Network
    port_mac: bytes
    host_mac: bytes
    seed: int = 1
    count: int | None = None
    _templates: dict[int, bytes] = field(default_factory=dict, repr=False, compare=False)

    def frames(self, start: int = 0) -> Iterator[tuple[int, bytes]]:
        number = start
        while self.count is None or number < self.count:
            yield 0, self.frame(number)
            number += 1

    @property
    def period(self) -> int:
        """After so many frames the same ones come again: a multiple of the row of sizes and of the row of destinations."""
        row = lcm(len(self.sizes), len(self.destinations))
        return row * max(1, _PERIOD // row)

    def frame(self, number: int) -> bytes:
        """Frame `number`, without its check sequence."""
        number %= self.period
        size = self.sizes[number % len(self.sizes)] - CHECK_BYTES
        mixed = (number + self.seed) * _GOLDEN & _MASK64
        network = self.destinations[number % len(self.destinations)]
        destination = _host(network, mixed >> 32)
        source = _host(self.source, mixed >> 16 & 0xFFFF)
        template = self._templates.get(size)
        if template is None:
            template = self._templates[size] = self._template(size)
        frame = bytearray(template)
        addresses = source.to_bytes(4, "big") + destination.to_bytes(4, "big")
        checksum = int.from_bytes(frame[24:26], "big")
        changed = (number & 0xFFFF).to_bytes(2, "big")
        checksum = update_checksum(checksum, 0, number & 0xFFFF)
        for at in range(0, 8, 2):
            checksum = update_checksum(checksum, 0, int.from_bytes(addresses[at : at + 2], "big"))
        frame[18:20] = changed
        frame[24:26] = checksum.to_bytes(2, "big")
        frame[26:34] = addresses
        frame[34:36] = (1024 + (mixed >> 48)).to_bytes(4, "big")[2:]
        return bytes(frame)

    def _template(self, size: int) -> bytes:
        total = size - 14
        header = bytearray(20)
        header[0] = 0x45
        header[2:4] = total.to_bytes(2, "big")
        header[8] = 64
        header[9] = _UDP
        header[10:12] = internet_checksum(bytes(header)).to_bytes(2, "big")
        # A UDP checksum of 0 means "none", which lets the addresses vary without touching the payload.
        datagram = (9).to_bytes(2, "big") * 2 + (total - 20).to_bytes(2, "big") + bytes(2)
        payload = bytes(k & 0xFF for k in range(size - _HEADERS))
        return self.port_mac + self.host_mac + _ETHERTYPE_IPV4 + bytes(header) + datagram + payload


def _host(network: IPv4Network, mixed: int) -> int:
    """An address of `network` that is neither its first two (network, router) nor its last (broadcast)."""
    room = network.num_addresses
    if room < 8:
        return int(network.network_address) + (mixed % room)
    return int(network.network_address) + 2 + mixed % (room - 3)


def traffic(kind: str, *, destinations: tuple[str, ...] = (), port: int = 0, count: int | None = None, seed: int = 1) -> Traffic:
    """The stream named `kind`: "64B", "imix", or a path to a TOML file; into board port `port`.

    `destinations` are networks in CIDR form; without any, the networks of the other two router ports. The file's keys are
    `sizes` (bytes with check sequence, repeated in this order), `destinations`, `source`, `seed` and `count`; all but `sizes`
    are optional.
    """
    others = tuple(f"10.0.{other}.0/24" for other in range(3) if other != port)
    stream = Traffic(
        sizes=_PATTERNS.get(kind, (64,)),
        destinations=tuple(_network(text) for text in destinations or others),
        source=IPv4Network(f"10.0.{port}.0/24"),
        port_mac=_mac(f"02:00:00:00:00:{port + 1:02x}"),
        host_mac=_mac(f"02:00:00:00:01:{port + 1:02x}"),
        seed=seed,
        count=count,
    )
    if kind in _PATTERNS:
        return stream
    if kind.endswith(".toml"):
        return _from_file(Path(kind), stream, keep_destinations=bool(destinations))
    raise user_error(
        codes.TRAFFIC_UNKNOWN, f"there is no traffic stream {kind!r}",
        help=f"name one of {', '.join(_PATTERNS)}, or a .toml file with a list `sizes`",
    )


def _network(text: str) -> IPv4Network:
    """UserError without a place for a text that is no network."""
    try:
        return IPv4Network(text, strict=False)
    except ValueError as error:
        raise user_error(
            codes.TRAFFIC_UNKNOWN, f"{text!r} is not an IPv4 network: {error}", help="write it as 10.1.0.0/16"
        ) from error


def _from_file(path: Path, stream: Traffic, keep_destinations: bool) -> Traffic:
    table = read(path, "the traffic file")
    table.allow("sizes", "destinations", "source", "seed", "count")
    sizes = table.values.get("sizes")
    shortest = _HEADERS + CHECK_BYTES
    if not isinstance(sizes, list) or not sizes or not all(type(s) is int and shortest <= s <= _LONGEST for s in sizes):
        raise table.wrong(
            "sizes" if "sizes" in table.values else None,
            f"{path.name} needs `sizes`, a list of frame sizes from {shortest} to {_LONGEST} bytes", "sizes = [64, 594, 1518]",
        )
    for key in ("seed", "count"):
        if (table.get(key, int) or 0) < 0:
            raise table.wrong(key, f"{key} must not be negative", f"{key} = 1000")
    destinations = stream.destinations
    if "destinations" in table.values and not keep_destinations:
        texts = table.words("destinations")
        if not texts:
            raise table.wrong("destinations", "destinations are a list of networks", 'destinations = ["10.1.0.0/16"]')
        destinations = tuple(_placed(table, text, "destinations", index) for index, text in enumerate(texts))
    source, count = table.get("source", str), table.get("count", int)
    return replace(
        stream, sizes=tuple(sizes), destinations=destinations,
        source=stream.source if source is None else _placed(table, source, "source"), seed=table.values.get("seed", stream.seed),
        count=count if stream.count is None else stream.count, _templates={},
    )


def _placed(table: Table, text: str, *key: str | int) -> IPv4Network:
    """A network named in a file."""
    try:
        return _network(text)
    except UserError as error:
        raise UserError(*(replace(found, origin=table.origin(*key)) for found in error.diagnostics)) from error
