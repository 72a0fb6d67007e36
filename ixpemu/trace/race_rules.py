"""What is a race on one shared place, given vector clocks: two rules, for two kinds of places.

*Data*: a word of memory that commands read and write. Two accesses of different threads, at least one a write, of common bytes,
are a race if neither happened before the other by what orders threads (`ixpemu.trace.races`).

*Shared state*: an `@` register, a word of local memory, and a word of memory that atomic commands use. Each access is whole, and
what one thread writes another may wait for, so that accesses by themselves are no race and even order their threads: who reads
has seen what the writer did before. A race is when a thread takes for granted, over a swap, what another one changes:

- *lost update*: a thread reads the place, gives up the microengine, and writes the place without reading it again, while another
  thread has written it in between. The other's write is lost. (Not if it had written the place itself before it read it, in the
  same turn: then it uses the place for the length of a turn, and expects nothing of it later.)
- *overwritten*: a thread writes the place, gives up the microengine, and reads it back, while another thread that knew nothing of
  it has written something else there. The place is used as one thread's own by two.

Neither counts if the other's write happened before, in the order of signals, rings and reads of shared state; nor a write of the
value that was there. Within one microengine threads run alone between swaps: there a read and a write are one step.

Nothing here knows events or registers. A clock is an array: for each agent (a thread, or a thread's commands in one unit) how
much of what it did is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Clock = npt.NDArray[np.int32]


class Access(NamedTuple):
    """One access: by which instruction of which thread, when, and what it does ("reads", "writes", "changes")."""

    me: int
    ctx: int
    pc: int
    cycle: int
    action: str


Found = Callable[[str, Access, Access, Access | None], None]
"""Gets a race: its rule, the earlier access and the later one that do not go together, and the one that was taken for granted."""


class Data:
    """A word of memory. Agents are those that access it: a thread's commands in its unit."""

    __slots__ = ("reads", "writes")

    def __init__(self) -> None:
        self.writes: list[tuple[int, int, int, Access]] = []        # agent, its time, bytes, access
        self.reads: dict[int, tuple[int, int, Access]] = {}         # by agent: its time, bytes, access

    def read(self, agent: int, clock: Clock, mask: int, access: Access, found: Found) -> None:
        """`agent`, whose time is in its clock, reads the bytes of `mask`."""
        for other, time, bytes_, before in self.writes:
            if other != agent and bytes_ & mask and clock[other] < time:
                found("unordered", before, access, None)
        self.reads[agent] = (int(clock[agent]), mask, access)

    def write(self, agent: int, clock: Clock, mask: int, access: Access, found: Found) -> None:
        """The same for a write, after which only accesses after it count, for the bytes it writes."""
        kept = []
        for entry in self.writes:
            other, time, bytes_, before = entry
            if other != agent and bytes_ & mask and clock[other] < time:
                found("unordered", before, access, None)
            if bytes_ & ~mask:
                kept.append(entry)
        kept.append((agent, int(clock[agent]), mask, access))
        self.writes = kept
        if self.reads:
            for other, (time, bytes_, before) in self.reads.items():
                if other != agent and bytes_ & mask and clock[other] < time:
                    found("unordered", before, access, None)
            self.reads = {other: read for other, read in self.reads.items() if read[1] & ~mask}


class Shared:
    """A place of which every access is whole and orders its thread behind what it reads.

    `own`: whether a thread may take it for its own, so that it can be overwritten.
    """

    __slots__ = ("_clock", "_last", "_own", "_value", "_victims", "_writer")

    def __init__(self, own: bool = True) -> None:
        self._own = own
        self._clock: Clock | None = None        # all that writers knew
        self._value: Any = None
        self._writer: tuple[int, int, Access] | None = None         # of the value that is there: agent, its time
        # By agent: whether it read last, in which turn, what it began that turn with, who had written, and the access.
        self._last: dict[int, tuple[bool, int, bool, Any, Access]] = {}
        self._victims: dict[int, tuple[Access, Access]] = {}        # agents whose value somebody overwrote who did not know of it

    def publish(self, clock: Clock) -> None:
        """Who reads what is there has seen all that `clock` knows: its writer's, at the end of the turn in which it wrote."""
        self._clock = clock.copy() if self._clock is None else np.maximum(self._clock, clock)

    def read(self, agent: int, clock: Clock, turn: int, access: Access, found: Found) -> None:
        """`agent` reads, in its `turn`-th time on the microengine."""
        victim = self._victims.pop(agent, None)
        last = self._last.get(agent)
        writer = self._writer
        if victim is not None and last is not None and last[1] != turn and writer is not None and clock[writer[0]] < writer[1]:
            found("overwritten", victim[1], access, victim[0])
        if self._clock is not None:
            np.maximum(clock, self._clock, out=clock)
        self._last[agent] = (True, turn, last[2] if last is not None and last[1] == turn else True, self._writer, access)

    def write(self, agent: int, clock: Clock, turn: int, value: Any, access: Access, found: Found) -> None:
        """The same for a write of `value`. The caller moves the agent's time on afterwards."""
        last, writer = self._last.get(agent), self._writer
        self._victims.pop(agent, None)
        changes = value is None or value != self._value
        if writer is not None and writer[0] != agent and clock[writer[0]] < writer[1]:
            # Somebody else has written since this thread looked, and it does not know.
            if last is not None and last[0] and last[2] and last[1] != turn and last[3] is not writer:
                found("lost update", writer[2], access, last[4])
            elif changes and self._own:
                self._victims[writer[0]] = (writer[2], access)
        if changes or writer is None:
            self._writer = (agent, int(clock[agent]), access)
            self._value = value
        self._last[agent] = (False, turn, last[2] if last is not None and last[1] == turn else False, self._writer, access)
        self.publish(clock)
