"""Two traces side by side, up to the first event in which they differ, and what is known at that point.

Reads the text that `ixpemu.trace.text` writes, a line at a time, so that traces may be larger than memory. Registers are those
that the traces have shown being written so far: the values that both runs had when they parted.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO

from ixpemu import codes
from ixpemu.diagnostics import Diagnostic, Origin, Span, UserError, user_error
from ixpemu.trace.text import FIRST_COLUMNS, MAGIC

HISTORY = 10        # events of a thread that are kept, and shown
FOLLOWING = 5       # events shown from where two traces part
_KINDS = re.compile(r"[a-z]+")
_WRITES = re.compile(r"(@?(?:a|b|\$\$|\$|n\$)\d+|l\[\d+\]) = (0x[0-9a-f]{8})")
_OUT = "issue"      # an instruction writes the transfer-out register of a name, a push the transfer-in register


@dataclass(frozen=True, slots=True)
class Line:
    """An event of a trace file: its line number, which thread it is of, and its text without the line end."""

    number: int
    thread: tuple[int, int]
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where two traces part. `first` and `second`: the events that differ and some that follow, none if a trace ends there.

    `common` events are the same in both. `histories`: the last events before it of each thread that the two are of, and
    `registers` what these threads and their microengines had written by then.
    """

    common: int
    first: tuple[Line, ...]
    second: tuple[Line, ...]
    histories: dict[tuple[int, int], tuple[Line, ...]]
    registers: dict[tuple[int, int], dict[str, str]]


def events_of(path: str | Path) -> Iterator[Line]:
    """The events of a trace file. UserError for a file that cannot be read or is no trace, with the line."""
    try:
        with open(path, "rb") as stream:
            yield from _lines(path, stream)
    except OSError as error:
        raise user_error(codes.FILE_UNREADABLE, f"cannot read {path}: {(error.strerror or str(error)).lower()}",
                         help="check the name and the folder it is looked for in") from None


def _lines(path: str | Path, stream: IO[bytes]) -> Iterator[Line]:
    head = stream.readline(len(MAGIC) + 2)
    if head.rstrip(b"\r\n") != MAGIC.encode():
        other = head.startswith(MAGIC.rpartition(" ")[0].encode())
        raise user_error(codes.TRACE_DAMAGED, f"{path} is {'a trace of another version' if other else 'no trace'}",
                         help=f"its first line has to be {MAGIC!r}: make it with `ixpemu trace APP -o FILE`")
    number = 1
    while raw := stream.readline(_LONGEST):
        number += 1
        if raw.startswith(b"#"):
            continue
        yield _parsed(path, number, raw)


_LONGEST = 10_000


def _parsed(path: str | Path, number: int, raw: bytes) -> Line:
    text = raw.decode("utf-8", "replace").rstrip("\r\n")
    columns = text.split(maxsplit=FIRST_COLUMNS)
    if (
        not raw.endswith(b"\n") or len(columns) < FIRST_COLUMNS or not all(column.isdecimal() for column in columns[:3])
        or not _KINDS.fullmatch(columns[4])
    ):
        what = "ends inside a line" if not raw.endswith(b"\n") else "has a line that is no event"
        raise UserError(Diagnostic(
            codes.TRACE_DAMAGED, f"{path} {what}", origin=Origin(Span(str(path), number)),
            help="every line has a cycle, a microengine, a context, an address and a kind; was the file cut or changed?",
        ))
    return Line(number, (int(columns[1]), int(columns[2])), columns[4], text)


class _Known:
    """What one pass over the common part has shown: the last events of every thread, and its registers."""

    def __init__(self) -> None:
        self._histories: dict[tuple[int, int], deque[Line]] = {}
        self._registers: dict[tuple[int, int], dict[str, str]] = {}
        self._shared: dict[int, dict[str, str]] = {}
        self.count = 0

    def note(self, line: Line) -> None:
        self.count += 1
        self._histories.setdefault(line.thread, deque(maxlen=HISTORY)).append(line)
        if line.kind not in (_OUT, "register"):
            return
        found = _WRITES.search(line.text)
        if found is None:
            return
        name, value = found[1], found[2]
        if name[0] in "@l":
            self._shared.setdefault(line.thread[0], {})[name] = value
        else:
            if name[0] == "$" and line.kind == _OUT:
                name += " out"
            self._registers.setdefault(line.thread, {})[name] = value

    def history(self, thread: tuple[int, int]) -> tuple[Line, ...]:
        return tuple(self._histories.get(thread, ()))

    def registers(self, thread: tuple[int, int]) -> dict[str, str]:
        own = self._registers.get(thread, {}) | self._shared.get(thread[0], {})
        return dict(sorted(own.items(), key=lambda entry: [int(part) if part.isdigit() else part
                                                           for part in re.split(r"(\d+)", entry[0])]))


def difference(first: str | Path, second: str | Path) -> Divergence | int:
    """Where the traces in two files part; if they do not, how many events they have."""
    one, other = events_of(first), events_of(second)
    known = _Known()
    while True:
        ours, theirs = next(one, None), next(other, None)
        if ours is None and theirs is None:
            return known.count
        if ours is not None and theirs is not None and ours.text == theirs.text:
            known.note(ours)
            continue
        lines = [() if line is None else (line, *islice(rest, FOLLOWING - 1)) for line, rest in ((ours, one), (theirs, other))]
        threads = dict.fromkeys(line.thread for line in (ours, theirs) if line is not None)
        return Divergence(known.count, lines[0], lines[1], {thread: known.history(thread) for thread in threads},
                          {thread: known.registers(thread) for thread in threads})
