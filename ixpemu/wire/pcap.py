"""Reading capture files: classic pcap here, pcapng next door, both with exact nanoseconds and with errors that say where.

The header layouts are dpkt's. Its readers are not used: they turn times into floating point (a nanosecond is lost in any
time of this century), take a file cut inside a packet for a shorter packet, and know one interface a file. This module does not
look into frames.
"""

from __future__ import annotations

from pathlib import Path

import dpkt

from ixpemu import codes
from ixpemu.diagnostics import UserError, user_error
from ixpemu.files import read_bytes
from ixpemu.wire.frames import LONGEST_FRAME, LONGEST_SPAN, Capture, CapturedFrame
from ixpemu.wire.line import NANOSECONDS
from ixpemu.wire.pcapng import SECTION_HEADER, read_pcapng

MOST_CAPTURE = 2 << 30          # bytes of a capture file: frames are held in memory
ETHERNET = 1
_CHECK_PRESENT = 1 << 26        # link-type field: the length of the check sequence is given
_MAGICS = dpkt.pcap.MAGIC_TO_PKT_HDR
_LITTLE = (dpkt.pcap.PMUDPCT_MAGIC, dpkt.pcap.PMUDPCT_MAGIC_NANO, dpkt.pcap.PACPDOM_MAGIC)
_NANO = (dpkt.pcap.TCPDUMP_MAGIC_NANO, dpkt.pcap.PMUDPCT_MAGIC_NANO)


def read_capture(path: str | Path, *, allow_truncated: bool = False) -> Capture:
    """All frames of the pcap or pcapng file at `path`, without their frame check sequences.

    Raises UserError where the file cannot be read, is empty, is no capture, holds another link type than
    Ethernet, contradicts its own format, or ends inside a packet; the message names the packet (from 1) and the byte.
    `allow_truncated` keeps the whole packets of a file that ends inside one.
    A file with a good header and no packet is a capture of nothing: no error.
    """
    name = str(path)
    content = read_bytes(path, MOST_CAPTURE, lambda start: _check_magic(name, start))
    magic = int.from_bytes(content[:4], "big")
    if magic == SECTION_HEADER:
        packets = read_pcapng(name, content, allow_truncated)
    else:
        packets = _read_classic(name, content, magic, allow_truncated)
    _check_span(name, packets)
    return Capture(name, "pcapng" if magic == SECTION_HEADER else "pcap", packets)


def _check_magic(name: str, start: bytes) -> None:
    """UserError for what does not start as a capture does."""
    if not start:
        raise user_error(
            codes.CAPTURE_EMPTY, f"the capture {name} is empty: 0 bytes, not even a file header", file=name,
            help="capture again; a capture of no packets is 24 bytes long",
        )
    magic = int.from_bytes(start[:4], "big")
    if magic != SECTION_HEADER and magic not in _MAGICS:
        raise user_error(
            codes.CAPTURE_UNKNOWN,
            f"{name} is not a packet capture: it starts with the bytes {start[:4].hex(' ')}, not with a pcap or pcapng header",
            file=name, help="give a .pcap or .pcapng file; a compressed one must be unpacked first",
        )


def _check_span(name: str, packets: tuple[CapturedFrame, ...]) -> None:
    """UserError for times so far apart that no run reaches from the first to the last."""
    for number, packet in enumerate(packets, 1):
        if packet.time_ns - packets[0].time_ns > LONGEST_SPAN:
            raise user_error(
                codes.CAPTURE_MALFORMED,
                f"{name}: packet {number} comes {(packet.time_ns - packets[0].time_ns) // NANOSECONDS:,} seconds after the first",
                file=name, help=f"the file is damaged there, or two captures were joined; {number - 1} packets come before it",
            )


def _read_classic(name: str, content: bytes, magic: int, allow_truncated: bool) -> tuple[CapturedFrame, ...]:
    file_header = dpkt.pcap.LEFileHdr if magic in _LITTLE else dpkt.pcap.FileHdr
    packet_header = _MAGICS[magic]
    start = file_header.__hdr_len__
    if len(content) < start:
        raise user_error(
            codes.CAPTURE_TRUNCATED, f"{name} ends inside its file header: {len(content)} of {start} bytes", file=name,
            help="copy the file again, or capture again",
        )
    header = file_header(content[:start])
    check_bytes = check_length(name, header.linktype)
    scale = 1 if magic in _NANO else 1000
    packets: list[CapturedFrame] = []
    offset = start
    while offset < len(content):
        number = len(packets) + 1
        data = offset + packet_header.__hdr_len__
        if data > len(content):
            if allow_truncated:
                break
            raise truncated(name, number, offset, len(content) - offset, packet_header.__hdr_len__, "its header")
        record = packet_header(content[offset:data])
        longest = max(record.caplen, record.len)
        if longest > LONGEST_FRAME or record.tv_usec * scale >= NANOSECONDS:
            raise user_error(
                codes.CAPTURE_MALFORMED,
                f"{name}: packet {number} at byte {offset} claims {longest} bytes and {record.tv_usec * scale} ns past the "
                "second: this is not a packet header",
                file=name, help=f"the file is damaged at or before byte {offset}; packets 1 to {number - 1} are whole",
            )
        end = data + record.caplen
        if end > len(content):
            if allow_truncated:
                break
            raise truncated(name, number, offset, len(content) - data, record.caplen, "its data")
        time_ns = record.tv_sec * NANOSECONDS + record.tv_usec * scale
        packets.append(without_check(time_ns, content[data:end], record.len, check_bytes))
        offset = end
    return tuple(packets)


def check_length(name: str, link_type: int) -> int:
    """Bytes of frame check sequence at the end of each frame, from a link-type field; UserError if it is not Ethernet's."""
    if link_type & 0xFFFF != ETHERNET:
        raise user_error(
            codes.CAPTURE_LINK_TYPE,
            f"{name} is of link type {link_type & 0xFFFF}, not of Ethernet ({ETHERNET})", file=name,
            help="capture on an Ethernet interface (tcpdump -i eth0, not -i any)",
        )
    return (link_type >> 28) * 2 if link_type & _CHECK_PRESENT else 0


def truncated(name: str, number: int, offset: int, present: int, wanted: int, what: str) -> UserError:
    """The error for a file that ends inside packet `number`, which starts at byte `offset`."""
    whole = f"packets 1 to {number - 1} are whole: cut the file after them (editcap -r {Path(name).name} OUT 1-{number - 1})"
    return user_error(
        codes.CAPTURE_TRUNCATED,
        f"{name} ends inside packet {number}, which starts at byte {offset}: {present} of {wanted} bytes of {what} are there",
        file=name,
        help=whole if number > 1 else "the file holds no whole packet: copy it again, or capture again",
    )


def without_check(time_ns: int, data: bytes, original: int, check_bytes: int) -> CapturedFrame:
    """A frame with the check sequence cut off; `original` below the captured length (some tools write 0) is corrected."""
    original = max(original, len(data)) - check_bytes
    return CapturedFrame(time_ns, data[: max(original, 0)], max(original, 0))
