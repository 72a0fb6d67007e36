"""TCP segments in Ethernet frames: made and read. What is sent when is `ixpemu.net.tcp`'s.

IPv4 without options and Ethernet without tags; of TCP options MSS, window scale, SACK-permitted and SACK (RFC 9293, 7323,
2018). Others are passed over by their length.
"""

from __future__ import annotations

from dataclasses import dataclass

from ixpemu.net.checksum import internet_checksum, ones_complement_sum

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
PROTOCOL = 6
_TYPE_IPV4 = b"\x08\x00"
_HEADERS = 14 + 20
_END, _NOTHING, _MSS, _SCALE, _SACK_PERMITTED, _SACK = 0, 1, 2, 3, 4, 5


@dataclass(frozen=True, slots=True)
class Interface:
    """One end of a link: its MAC (6 bytes) and its IPv4 address (a number)."""

    mac: bytes
    address: int


@dataclass(frozen=True, slots=True)
class Segment:
    """A TCP segment. Numbers are those of the header, 32 and 16 bits; `sack` has left and right edges."""

    source_port: int
    destination_port: int
    sequence: int
    acknowledgement: int
    flags: int
    window: int
    payload: bytes = b""
    mss: int | None = None
    window_scale: int | None = None
    sack_permitted: bool = False
    sack: tuple[tuple[int, int], ...] = ()

    @property
    def length(self) -> int:
        """What it takes of the sequence space: its bytes, and one each for SYN and FIN."""
        return len(self.payload) + bool(self.flags & SYN) + bool(self.flags & FIN)


@dataclass(frozen=True, slots=True)
class Received:
    """A segment and the addresses it came from and was sent to."""

    source: int
    destination: int
    segment: Segment


def _options(segment: Segment) -> bytes:
    options = b""
    if segment.mss is not None:
        options += bytes((_MSS, 4)) + segment.mss.to_bytes(2, "big")
    if segment.window_scale is not None:
        options += bytes((_NOTHING, _SCALE, 3, segment.window_scale))
    if segment.sack_permitted:
        options += bytes((_NOTHING, _NOTHING, _SACK_PERMITTED, 2))
    if segment.sack:
        options += bytes((_NOTHING, _NOTHING, _SACK, 2 + 8 * len(segment.sack)))
        options += b"".join(edge.to_bytes(4, "big") for block in segment.sack for edge in block)
    return options + b"\0" * (-len(options) % 4)


def _pseudo_header(source: int, destination: int, length: int) -> bytes:
    return source.to_bytes(4, "big") + destination.to_bytes(4, "big") + bytes((0, PROTOCOL)) + length.to_bytes(2, "big")


def to_frame(segment: Segment, source: Interface, destination: Interface, identification: int = 0, ttl: int = 64) -> bytes:
    """The segment in a frame without check sequence, both checksums right."""
    options = _options(segment)
    header = (
        segment.source_port.to_bytes(2, "big") + segment.destination_port.to_bytes(2, "big")
        + segment.sequence.to_bytes(4, "big") + segment.acknowledgement.to_bytes(4, "big")
        + bytes(((20 + len(options)) << 2, segment.flags)) + segment.window.to_bytes(2, "big")
    )
    rest = b"\0\0" + options + segment.payload
    length = len(header) + 2 + len(rest)
    check = internet_checksum(_pseudo_header(source.address, destination.address, length) + header + b"\0\0" + rest)
    network = (b"\x45\0" + (20 + length).to_bytes(2, "big") + (identification & 0xFFFF).to_bytes(2, "big") + b"\x40\0"
               + bytes((ttl, PROTOCOL)))
    addresses = source.address.to_bytes(4, "big") + destination.address.to_bytes(4, "big")
    network_check = internet_checksum(network + addresses)
    return (destination.mac + source.mac + _TYPE_IPV4 + network + network_check.to_bytes(2, "big") + addresses
            + header + check.to_bytes(2, "big") + rest)


def from_frame(frame: bytes) -> Received | None:
    """The TCP segment in a frame; None for anything else, and for one whose lengths or checksums are wrong."""
    if len(frame) < _HEADERS + 20 or frame[12:14] != _TYPE_IPV4 or frame[14] >> 4 != 4 or frame[23] != PROTOCOL:
        return None
    start = 14 + (frame[14] & 15) * 4
    end = 14 + int.from_bytes(frame[16:18], "big")
    fragment = int.from_bytes(frame[20:22], "big") & 0x3FFF
    if start < _HEADERS or end > len(frame) or end - start < 20 or fragment or ones_complement_sum(frame[14:start]) != 0xFFFF:
        return None
    source, destination = (int.from_bytes(frame[at : at + 4], "big") for at in (26, 30))
    content = frame[start:end]
    if ones_complement_sum(_pseudo_header(source, destination, len(content)) + content) != 0xFFFF:
        return None
    behind = (content[12] >> 4) * 4
    if not 20 <= behind <= len(content):
        return None
    segment = Segment(
        int.from_bytes(content[0:2], "big"), int.from_bytes(content[2:4], "big"), int.from_bytes(content[4:8], "big"),
        int.from_bytes(content[8:12], "big"), content[13] & 0x3F, int.from_bytes(content[14:16], "big"), content[behind:],
        *_read_options(content[20:behind]),
    )
    return Received(source, destination, segment)


def _read_options(options: bytes) -> tuple[int | None, int | None, bool, tuple[tuple[int, int], ...]]:
    """MSS, window scale, whether SACK is permitted, and SACK blocks. One that runs out of the header ends the list."""
    mss: int | None = None
    scale: int | None = None
    permitted = False
    blocks: tuple[tuple[int, int], ...] = ()
    at = 0
    while at < len(options) and options[at] != _END:
        if options[at] == _NOTHING:
            at += 1
            continue
        length = options[at + 1] if at + 1 < len(options) else 0
        if length < 2 or at + length > len(options):
            break
        kind, content = options[at], options[at + 2 : at + length]
        if kind == _MSS and length == 4:
            mss = int.from_bytes(content, "big")
        elif kind == _SCALE and length == 3:
            scale = min(content[0], 14)
        elif kind == _SACK_PERMITTED and length == 2:
            permitted = True
        elif kind == _SACK and (length - 2) % 8 == 0:
            edges = [int.from_bytes(content[k : k + 4], "big") for k in range(0, len(content), 4)]
            blocks = tuple(zip(edges[::2], edges[1::2], strict=True))
        at += length
    return mss, scale, permitted, blocks
