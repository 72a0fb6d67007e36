"""Writing captures: classic pcap with nanosecond times, whole or not at all.

The same frames always make the same bytes, on any machine. A disk that fills up leaves the old file as it was.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

import dpkt

from ixpemu import codes
from ixpemu.diagnostics import user_error
from ixpemu.files import write_atomically
from ixpemu.wire.line import NANOSECONDS

_SNAPSHOT_LENGTH = 262_144
_HEADER = bytes(dpkt.pcap.LEFileHdr(
    magic=dpkt.pcap.TCPDUMP_MAGIC_NANO, snaplen=_SNAPSHOT_LENGTH, linktype=dpkt.pcap.DLT_EN10MB))
_pack = dpkt.pcap.LEPktHdr()._pack_hdr          # packs the four words without building an object a frame


def _records(frames: Iterable[tuple[int, bytes]]) -> tuple[bytearray, int]:
    content = bytearray()
    count = 0
    for time_ns, frame in frames:
        seconds, rest = divmod(time_ns, NANOSECONDS)
        content += _pack(seconds, rest, len(frame), len(frame))
        content += frame
        count += 1
    return content, count


def write_capture(path: str | Path, frames: Iterable[tuple[int, bytes]]) -> int:
    """Write (time in nanoseconds, frame without check sequence) pairs to `path` as a little-endian nanosecond pcap.

    Returns the number of frames. UserError where the file cannot be written; nothing is left behind then.
    """
    content, count = _records(frames)
    write_atomically(path, _HEADER + content)
    return count


class CaptureFile:
    """A capture that grows: written whole at first, then added to, a row of frames at a time.

    What is on disk is a valid capture whenever no call is under way, and after one that failed: then it ends where it ended
    before.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.count = 0
        """Frames in the file."""
        self._length: int | None = None             # of the file as this object left it; None: to be written anew

    def start_again(self) -> None:
        """Forget what has been written: the next frames replace the file."""
        self.count, self._length = 0, None

    def add(self, frames: Iterable[tuple[int, bytes]]) -> None:
        """Put more frames behind those in the file. UserError where it cannot be written or another program has changed it."""
        content, count = _records(frames)
        if self._length is None:
            write_atomically(self.path, _HEADER + content)
            self._length = len(_HEADER) + len(content)
        elif content:
            self._append(content, self._length)
            self._length += len(content)
        self.count += count

    def _append(self, content: bytearray, length: int) -> None:
        problem: str | None = None
        try:
            with open(self.path, "r+b", buffering=0) as file:
                if file.seek(0, os.SEEK_END) != length:
                    problem = "another program has changed it during the run"
                else:
                    self._write(file.fileno(), content, length)
        except OSError as error:
            problem = (error.strerror or str(error)).lower()
        if problem is not None:
            raise user_error(
                codes.FILE_UNWRITABLE, f"cannot write {self.path}: {problem}",
                help="check that the disk has room, and write to a file that nobody else uses",
            )

    @staticmethod
    def _write(descriptor: int, content: bytearray, length: int) -> None:
        try:
            left = memoryview(content)
            while left:
                left = left[os.write(descriptor, left):]
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, length)
            raise
