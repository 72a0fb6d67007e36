"""The world at the far end of the wires: traffic streams and reference checksums.

Captures and line rates come from `ixpemu.wire` and are offered here too. May use the chip; the chip never uses it.
"""

from __future__ import annotations

from ixpemu.net.checksum import internet_checksum, update_checksum
from ixpemu.net.traffic import Traffic, traffic
from ixpemu.wire import Capture, CapturedFrame, FrameList, FrameSource, Line, LineClock, read_capture, wire_length, write_capture

__all__ = [
    "Capture",
    "CapturedFrame",
    "FrameList",
    "FrameSource",
    "Line",
    "LineClock",
    "Traffic",
    "internet_checksum",
    "read_capture",
    "traffic",
    "update_checksum",
    "wire_length",
    "write_capture",
]
