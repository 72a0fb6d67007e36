"""Writing captures: classic pcap with nanosecond times, whole or not at all.

The same frames always make the same bytes, on any machine. A disk that fills up leaves the old file as it was.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import dpkt

from ixpemu.files import write_atomically
from ixpemu.wire.line import NANOSECONDS

_SNAPSHOT_LENGTH = 262_144


def write_capture(path: str | Path, frames: Iterable[tuple[int, bytes]]) -> int:
    """Write (time in nanoseconds, frame without check sequence) pairs to `path` as a little-endian nanosecond pcap.

    Returns the number of frames. UserError where the file cannot be written; nothing is left behind then.
    """
    content = bytearray(bytes(dpkt.pcap.LEFileHdr(
        magic=dpkt.pcap.TCPDUMP_MAGIC_NANO, snaplen=_SNAPSHOT_LENGTH, linktype=dpkt.pcap.DLT_EN10MB)))
    pack = dpkt.pcap.LEPktHdr()._pack_hdr       # packs the four words without building an object a frame
    count = 0
    for time_ns, frame in frames:
        seconds, rest = divmod(time_ns, NANOSECONDS)
        content += pack(seconds, rest, len(frame), len(frame))
        content += frame
        count += 1
    write_atomically(path, bytes(content))
    return count
