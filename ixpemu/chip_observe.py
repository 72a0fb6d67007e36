"""The host's side of an observed chip: takes what the engine has written down, puts it into the order of time, and hands it out.

Which record comes first at one cycle: words and signals that reach a microengine, then what units do, then what microengines do,
each by number, then signals that are sent; within each of these the order in which it happened. That order does not depend on
where slices end, nor on how far a microengine happened to run ahead. A record is handed out when nothing earlier can follow.
What records mean to people is `ixpemu.trace`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ixpemu import arguments, codes
from ixpemu.diagnostics import user_error
from ixpemu.engine.host import HOST_RING_GET, HOST_RING_PUT, HOST_SIGNAL
from ixpemu.engine.host_queues import HOST_DEQUEUE, HOST_ENQUEUE, HOST_ENTRY_GET, HOST_ENTRY_PUT
from ixpemu.engine.layout import CONTEXTS, KEY_ME, KEY_SHIFT, UNIT_SCRATCH
from ixpemu.engine.observation import (
    OBSERVED,
    SEEN_ACCESS,
    SEEN_BUFFER,
    SEEN_DONE,
    SEEN_NAMES,
    SEEN_NEIGHBOR,
    SEEN_PACKET,
    SEEN_REGISTER,
    SEEN_RING,
    SEEN_SEND,
    SEEN_SIGNAL,
    SEEN_WRITE,
)
from ixpemu.engine.timing import COMMAND_READ, COMMAND_WRITE

Events = npt.NDArray[Any]
"""Records of OBSERVED in the order of time."""
Sink = Callable[[Events], None]
"""What gets them, a slice at a time. The array is its own to keep."""

HOST = 8                        # the number of "microengine" that stands for Python: the XScale, or a user
EVERYTHING = (1 << len(SEEN_NAMES)) - 2
_FROM_UNITS, _FROM_ME, _SENT = 16, 32, 48
_STREAM_BITS = 8
_FAR = 1 << 55                  # later than any cycle that a run reaches

# Which stream a kind belongs to: one of words and signals that arrive, of units, or of microengines.
_BASE = np.full(len(SEEN_NAMES), _FROM_ME, np.uint64)
_BASE[[SEEN_REGISTER, SEEN_DONE, SEEN_SIGNAL, SEEN_PACKET]] = 0
_BASE[[SEEN_ACCESS, SEEN_WRITE, SEEN_RING, SEEN_BUFFER]] = _FROM_UNITS
_BASE[[SEEN_SEND, SEEN_NEIGHBOR]] = _SENT       # by instructions and by the CAP; noted in the order in which they commit


def kinds_of(names: Iterable[str] | None) -> int:
    """The mask of the kinds with these names; None: all. UserError for a name that no kind has."""
    if names is None:
        return EVERYTHING
    mask = 0
    for name in arguments.texts("the kinds of event", names):
        if name not in SEEN_NAMES[1:]:
            raise user_error(codes.EVENT_KIND, f"there is no kind of event {name!r}", help=f"one of {', '.join(SEEN_NAMES[1:])}")
        mask |= 1 << SEEN_NAMES.index(name)
    return mask


class Observation:
    """Who watches a chip (`sinks`, each with the kinds it wants) and what has been seen and not handed out yet."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        plain = array.view(np.ndarray)
        self._rows = plain["observed"][0]
        self._count, self._lost, self._key = plain["observed_count"], plain["observed_lost"], plain["observed_key"]
        self._pending = np.zeros(0, OBSERVED)
        self.sinks: list[tuple[Sink, int]] = []
        self.kinds = 0

    def add(self, sink: Sink, kinds: int = EVERYTHING) -> None:
        """Let `sink` get what happens from now on, of the kinds in the mask `kinds`."""
        self.sinks.append((sink, kinds))
        self.kinds |= kinds

    def remove(self, sink: Sink) -> None:
        """Hand out nothing more to `sink`."""
        self.sinks = [entry for entry in self.sinks if entry[0] != sink]
        self.kinds = 0
        for _, kinds in self.sinks:
            self.kinds |= kinds
        if not self.sinks:
            self.forget()

    def forget(self) -> None:
        """Drop what has not been handed out: the chip is somewhere else now."""
        self._pending = self._pending[:0]
        self._count[0] = 0

    def host(self, cycle: int, operation: int, a: int, b: int, c: int, result: int) -> None:
        """Hand out what Python does to the chip, as doings of microengine 8: words on and off rings, buffers on and off queues,
        and signals. It comes before all else of its cycle that is still to come."""
        row = np.zeros(2, OBSERVED)
        row["cycle"], row["me"], row["unit"] = cycle, HOST, UNIT_SCRATCH
        if operation in (HOST_RING_GET, HOST_RING_PUT):
            row["kind"], row["address"], row["extra"] = SEEN_RING, a, int(operation == HOST_RING_PUT)
            row["value"] = b if operation == HOST_RING_PUT else result
            row = row[:1]
        elif operation == HOST_SIGNAL:
            row["kind"], row["address"], row["value"] = (SEEN_SEND, SEEN_SIGNAL), a * CONTEXTS + b, c
            row["me"], row["ctx"], row["address"][1] = (HOST, a), (0, b), 0
        elif operation in (HOST_ENQUEUE, HOST_DEQUEUE, HOST_ENTRY_PUT, HOST_ENTRY_GET):
            puts = operation in (HOST_ENQUEUE, HOST_ENTRY_PUT)
            row["kind"], row["unit"], row["address"], row["value"] = SEEN_RING, a >> 6, a & 63, b if puts else result
            row["extra"] = int(puts)
            row = row[:1]
        else:
            return
        self._hand_out(row[(self.kinds >> row["kind"].astype(np.int64)) & 1 == 1])

    def access(self, cycle: int, unit: int, address: int, words: int, mask: int, writes: bool) -> None:
        """Hand out an access of the XScale to memory, as of microengine 8; `mask`: the bytes of each word."""
        row = np.zeros(1, OBSERVED)
        row["cycle"], row["me"], row["kind"], row["unit"], row["address"] = cycle, HOST, SEEN_ACCESS, unit, address
        row["value"], row["a"], row["b"] = words, COMMAND_WRITE if writes else COMMAND_READ, mask | mask << 4
        if self.kinds >> SEEN_ACCESS & 1:
            self._hand_out(row)

    def drain(self, limit: int | None) -> None:
        """Take what the slice has left: up to the cycle `limit`, not included; None: up to its last commit."""
        if self._lost[0]:
            raise RuntimeError(f"{int(self._lost[0])} records of an observed run found no room")
        fresh = self._rows[: int(self._count[0])].copy()
        self._count[0] = 0
        events = np.concatenate((self._pending, fresh)) if len(self._pending) else fresh
        kind = events["kind"]
        base = _BASE[kind]
        stream = base + np.where(base == _FROM_UNITS, events["unit"], np.where(base == _SENT, 0, events["me"]))
        keys = (events["cycle"] << np.uint64(_STREAM_BITS)) | stream
        order = np.argsort(keys, kind="stable")
        events, keys = events[order], keys[order]
        ready = int(np.searchsorted(keys, np.uint64(self._horizon(limit))))
        self._pending = events[ready:].copy()
        if ready:
            self._hand_out(events[:ready])

    def _horizon(self, limit: int | None) -> int:
        """The first key that may still get company: nothing before it can follow any more."""
        if limit is not None:
            return min(limit, _FAR) << _STREAM_BITS
        key = int(self._key[0])
        cycle, source = key >> KEY_SHIFT, key & ((1 << KEY_SHIFT) - 1)
        # A microengine has done what it does at this cycle, and so have those before it; later ones may have run ahead.
        return (cycle << _STREAM_BITS) + (_FROM_ME + source - KEY_ME + 1 if source >= KEY_ME else 0)

    def _hand_out(self, events: Events) -> None:
        for sink, kinds in tuple(self.sinks):
            wanted = events if kinds & self.kinds == self.kinds else events[(kinds >> events["kind"].astype(np.uint32)) & 1 == 1]
            if len(wanted):
                sink(wanted)
