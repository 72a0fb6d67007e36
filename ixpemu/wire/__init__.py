"""Captures and lines: files of Ethernet frames, the time a frame takes on a wire, and where frames come from.

What the chip's ports need to know about the world outside, below the chip so that they may import it; `docs/decisions/`
says why this is not part of `ixpemu.net`. It is not a protocol library: no header of any packet is read here.
"""

from __future__ import annotations

from ixpemu.wire.frames import Capture, CapturedFrame, FrameList, FrameSource
from ixpemu.wire.line import Line, LineClock, wire_length
from ixpemu.wire.pcap import read_capture
from ixpemu.wire.write import CaptureFile, write_capture

__all__ = [
    "Capture",
    "CaptureFile",
    "CapturedFrame",
    "FrameList",
    "FrameSource",
    "Line",
    "LineClock",
    "read_capture",
    "wire_length",
    "write_capture",
]
