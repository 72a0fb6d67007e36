"""Agents beside the chip (the XScale, host models) and the journal of what Python did to it.

An agent has a clock of its own: the chip runs up to the agent's next time, calls it, and runs on. At equal cycles agents act in
the order in which they were attached. Everything that Python does to the chip through its methods is noted with its cycle;
replaying a journal does the same again without calling an agent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt


@runtime_checkable
class Agent(Protocol):
    """Something outside the microengines that acts at times of its own."""

    def due(self) -> int:
        """The next cycle at which it acts by itself; a very large number if it will not."""

    def busy(self) -> bool:
        """Whether it still has to deal with what the chip has asked of it; a run is not over before. Timers do not count."""

    def act(self, cycle: int) -> None:
        """Do everything that is due by `cycle`, through the chip's methods. The chip stands at `cycle`."""

    def interrupt(self, cycle: int, source: str) -> bool | None:
        """`source` (a name of INTERRUPTS in ixpemu/engine/layout.py: "thread_a", "attention", ...) was raised at `cycle`; may
        change what `due` says. True if it will deal with it: then a breakpoint of a microengine does not end the run."""


@runtime_checkable
class SavingAgent(Agent, Protocol):
    """An agent whose state a snapshot of the chip holds as well."""

    def snapshot(self) -> object:
        """Everything that decides what it does next, as a value that nothing changes afterwards."""

    def restore(self, saved: Any) -> None:
        """Go back to what `snapshot` gave. The chip has gone back already."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One access: at `cycle`, `operation` (HOST_*, or one of those below) with its arguments and `words`."""

    cycle: int
    operation: int
    arguments: tuple[int, ...]
    words: npt.NDArray[np.uint32] | None = None
    result: int = 0


STORE = 0
"""A memory write of `words` at the index `arguments[0]`."""
LOAD, PATCH, PROBE = 1001, 1002, 1003
"""A program of (microengine, contexts), each word as two halves, the lower first; registers changed at a byte offset of the
state record; a row of the probe table with its place."""


def halves(words: Iterable[int]) -> npt.NDArray[np.uint32]:
    """Instruction words as pairs of 32-bit words, the lower half first."""
    return np.array([half for word in words for half in (word & 0xFFFFFFFF, word >> 32)], np.uint32)


def whole(pairs: npt.NDArray[np.uint32]) -> list[int]:
    """The words that `halves` took apart."""
    values = [int(half) for half in pairs]
    return [low | high << 32 for low, high in zip(values[::2], values[1::2], strict=True)]


class Journal:
    """The accesses so far, in order. `enabled` false: nothing is noted (then nothing can be replayed)."""

    def __init__(self) -> None:
        self.enabled = True
        self.entries: list[Entry] = []

    def note(self, entry: Entry) -> None:
        if self.enabled:
            self.entries.append(entry)

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)
