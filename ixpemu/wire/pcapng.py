"""Reading pcapng: sections, interfaces with their own clocks, and the three kinds of packet block.

The block layouts are dpkt's; see `ixpemu.wire.pcap` for why its reader is not used. Blocks of other kinds (statistics, name
resolution, secrets, custom) are skipped, as the format asks.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import dpkt

from ixpemu import codes
from ixpemu.diagnostics import UserError, user_error
from ixpemu.wire.frames import LONGEST_FRAME, CapturedFrame

SECTION_HEADER = dpkt.pcapng.PCAPNG_BT_SHB
_BLOCK_OVERHEAD = 12            # kind, length, length again
_ETHERNET = dpkt.pcapng.DLT_EN10MB
_NANOSECONDS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Interface:
    """One interface of a section: its link type, snapshot length (0: none), clock and check sequence."""

    link_type: int
    snapshot: int
    ticks_per_second: int
    offset_seconds: int
    check_bytes: int

    def nanoseconds(self, ticks: int) -> int:
        """A time stamp of this interface in nanoseconds, rounded down."""
        return ticks * _NANOSECONDS // self.ticks_per_second + self.offset_seconds * _NANOSECONDS


def read_pcapng(name: str, content: bytes, allow_truncated: bool) -> tuple[CapturedFrame, ...]:
    """The frames of a whole pcapng file; UserErrors as `ixpemu.wire.pcap.read_capture` says."""
    packets: list[CapturedFrame] = []
    interfaces: list[Interface] = []
    little = True
    offset = 0
    while offset < len(content):
        number = len(packets) + 1
        left = len(content) - offset
        if left < _BLOCK_OVERHEAD:
            if allow_truncated:
                break
            raise _cut(name, number, offset, left, _BLOCK_OVERHEAD)
        # The kind of a section header reads the same both ways round; only after its magic is the byte order known.
        new_section = int.from_bytes(content[offset : offset + 4], "big") == SECTION_HEADER
        if new_section:
            little = _byte_order(name, content, offset)
            interfaces = []
        order = "<" if little else ">"
        kind = int.from_bytes(content[offset : offset + 4], "little" if little else "big")
        length = int.from_bytes(content[offset + 4 : offset + 8], "little" if little else "big")
        if length < _BLOCK_OVERHEAD or length % 4:
            raise _damaged(name, number, offset, f"claims {length} bytes, which no block can have")
        if length > left:
            if allow_truncated:
                break
            raise _cut(name, number, offset, left, length)
        block = content[offset : offset + length]
        if new_section:
            _parse("SectionHeaderBlock", order, block, name, number, offset)
        elif kind == dpkt.pcapng.PCAPNG_BT_IDB:
            parsed = _parse("InterfaceDescriptionBlock", order, block, name, number, offset)
            interfaces.append(_interface(name, number, offset, parsed, order))
        elif kind in (dpkt.pcapng.PCAPNG_BT_EPB, dpkt.pcapng.PCAPNG_BT_PB):
            enhanced = kind == dpkt.pcapng.PCAPNG_BT_EPB
            parsed = _parse("EnhancedPacketBlock" if enhanced else "PacketBlock", order, block, name, number, offset)
            interface = _of(interfaces, parsed.iface_id, name, number, offset)
            if parsed.caplen > len(parsed.pkt_data) or parsed.caplen > length:
                raise _damaged(name, number, offset, f"claims {parsed.caplen} bytes of packet in a block of {length}")
            _check_length(name, number, offset, max(parsed.caplen, parsed.pkt_len))
            time_ns = interface.nanoseconds(parsed.ts_high << 32 | parsed.ts_low)
            packets.append(_frame(time_ns, bytes(parsed.pkt_data), parsed.pkt_len, interface))
        elif kind == dpkt.pcapng.PCAPNG_BT_SPB:
            # A simple packet block has no time: it follows the packet before it at once.
            interface = _of(interfaces, 0, name, number, offset)
            original = int.from_bytes(block[8:12], "little" if little else "big")
            _check_length(name, number, offset, original)
            kept = min(original, interface.snapshot) if interface.snapshot else original
            if kept > length - _BLOCK_OVERHEAD - 4:
                raise _damaged(name, number, offset, f"claims {kept} bytes of packet in a block of {length}")
            packets.append(_frame(packets[-1].time_ns if packets else 0, block[12 : 12 + kept], original, interface))
        offset += length
    return tuple(packets)


def _check_length(name: str, number: int, offset: int, length: int) -> None:
    if length > LONGEST_FRAME:
        raise _damaged(name, number, offset, f"claims a packet of {length} bytes, which no capture has")


def _frame(time_ns: int, data: bytes, original: int, interface: Interface) -> CapturedFrame:
    original = max(max(original, len(data)) - interface.check_bytes, 0)
    return CapturedFrame(time_ns, data[:original], original)


def _byte_order(name: str, content: bytes, offset: int) -> bool:
    magic = int.from_bytes(content[offset + 8 : offset + 12], "little")
    if magic == dpkt.pcapng.BYTE_ORDER_MAGIC:
        return True
    if magic == dpkt.pcapng.BYTE_ORDER_MAGIC_LE:
        return False
    raise _damaged(name, 1, offset, f"is a section header whose byte-order mark {magic:08x} is neither way round")


def _parse(kind: str, order: str, block: bytes, name: str, number: int, offset: int) -> Any:
    parser = getattr(dpkt.pcapng, kind + ("LE" if order == "<" else ""))
    try:
        return parser(block)
    # dpkt meets a damaged block with whatever its slices and struct calls happen to raise.
    except (dpkt.Error, struct.error, ValueError, IndexError, TypeError, KeyError, AttributeError) as error:
        raise _damaged(name, number, offset, f"cannot be read: {error or type(error).__name__}") from error


def _interface(name: str, number: int, offset: int, parsed: Any, order: str) -> Interface:
    ticks, seconds, check_bits = 1_000_000, 0, 0
    for option in parsed.opts:
        if option.code == dpkt.pcapng.PCAPNG_OPT_IF_TSRESOL and len(option.data) >= 1:
            power = option.data[0] & 0x7F
            ticks = (2 if option.data[0] & 0x80 else 10) ** power
        elif option.code == dpkt.pcapng.PCAPNG_OPT_IF_TSOFFSET and len(option.data) >= 8:
            seconds = int.from_bytes(option.data[:8], "little" if order == "<" else "big", signed=True)
        elif option.code == dpkt.pcapng.PCAPNG_OPT_IF_FCSLEN and len(option.data) >= 1:
            check_bits = option.data[0]
    if check_bits not in (0, 32) and check_bits != 4:
        raise _damaged(name, number, offset, f"gives frame check sequences of {check_bits} bits")
    # The option is in bits by the text of the format and in bytes by several writers: both of Ethernet's values are told apart.
    return Interface(parsed.linktype, parsed.snaplen, ticks, seconds, 4 if check_bits else 0)


def _of(interfaces: list[Interface], number: int, name: str, packet: int, offset: int) -> Interface:
    if number >= len(interfaces):
        raise _damaged(name, packet, offset, f"belongs to interface {number}, and {len(interfaces)} are described before it")
    interface = interfaces[number]
    if interface.link_type != _ETHERNET:
        raise user_error(
            codes.CAPTURE_LINK_TYPE,
            f"{name}: packet {packet} at byte {offset} was captured on an interface of link type {interface.link_type}, "
            f"not of Ethernet ({_ETHERNET})",
            file=name, help="capture on an Ethernet interface (tcpdump -i eth0, not -i any)",
        )
    return interface


def _cut(name: str, number: int, offset: int, present: int, wanted: int) -> UserError:
    return user_error(
        codes.CAPTURE_TRUNCATED,
        f"{name} ends inside the block at byte {offset}: {present} of {wanted} bytes are there; "
        f"{number - 1} whole packets come before it",
        file=name, help="copy the file again, or keep the whole packets only (editcap writes a repaired copy)",
    )


def _damaged(name: str, number: int, offset: int, why: str) -> UserError:
    return user_error(
        codes.CAPTURE_MALFORMED, f"{name}: the block at byte {offset} {why}", file=name,
        help=f"the file is damaged there; {number - 1} whole packets come before it",
    )
