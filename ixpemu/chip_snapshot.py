"""Saved states of a chip: everything that decides what happens next, comparable, with a version, never a pickle.

A snapshot holds the state record and those pages of memory that were ever written. Two snapshots are equal if the machines in
them would do the same from here on and hold the same values; how the runs before were sliced does not count. The file
that one can be saved to is chip_snapshot_file.py's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ixpemu import codes
from ixpemu.diagnostics import user_error
from ixpemu.engine.arrivals import SIGNAL_ALONE
from ixpemu.engine.layout import ENGINE, EVENT, EVENT_ACCESS, EVENT_NEIGHBOR, EVENT_PUSH, QUEUE_UNITS
from ixpemu.engine.state import PAGE_WORDS, STATE_VERSION

# Fields about the caller's slices and not about the machine. Reserved events are noted in the order in which private runs find
# them.
HOUSEKEEPING = ("acting", "now", "limit", "stop_mask", "stop_reason", "stop_me", "stop_ctx", "stop_pc", "stop_value", "stop_kind",
                "stop_time", "stop_at_packets", "commits", "reserved_rows", "reserved_kind", "reserved_me", "reserved_ctx",
                "reserved_pc", "reserved_value", "reserved_time", "reserved_count", "reserved_allowed", "observed_kinds",
                "observed_count", "observed_lost", "observed_key", "observed")
# The same of a microengine: which marks hold it up depends on the kind of run, machine code
# belongs to a process, and places of operands to one instruction.
ENGINE_HOUSEKEEPING = ("base_marks", "translated", "at_a", "at_b", "at_d")
# Which slot holds what is under way depends on when a microengine took in what had arrived; `_under_way` compares the contents.
SLOTS = ("event_time", "event_next", "free_slot", "free_events", "bucket_first", "bucket_last", "wheel_bits", "far_slot",
         "far_count", "queue_first", "queue_end", "events")
ENGINE_SLOTS = ("arrivals", "arrival_time", "arrival_what")


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """A chip at one cycle. `journal`: how many journal entries lie behind it. `ports`: what the ports' view holds. `agents`: what
    each agent has saved, None of one that does not; comparing leaves it out."""

    version: int
    cycle: int
    state: npt.NDArray[Any]
    pages: Mapping[int, npt.NDArray[np.uint32]]
    memory_words: int
    parameters: Mapping[str, int]
    journal: int
    ports: Any
    agents: tuple[object, ...] = ()

    def __repr__(self) -> str:
        return f"<snapshot of a chip at cycle {self.cycle:,}: {len(self.pages)} pages of memory written>"

    def differences(self, other: Snapshot) -> list[str]:
        """Names of what differs between two snapshots; empty if they are equal."""
        found = ["cycle"] if self.cycle != other.cycle else []
        for name in self.state.dtype.names or ():
            if name in HOUSEKEEPING or name in SLOTS:
                continue
            ours, theirs = self.state[name], other.state[name]
            if ours.tobytes() == theirs.tobytes():
                continue
            if name == "engines":
                for m in range(ours.shape[1]):
                    found += [f"engines[{m}].{field}" for field in ENGINE.names or ()
                              if field not in ENGINE_HOUSEKEEPING + ENGINE_SLOTS
                              and ours[0, m][field].tobytes() != theirs[0, m][field].tobytes()]
            elif ours.dtype.names and name == "msf":
                found += [f"msf.{field}" for field in ours.dtype.names if ours[field].tobytes() != theirs[field].tobytes()]
            else:
                found.append(name)
        if _under_way(self.state[0]) != _under_way(other.state[0]):
            found.append("what is under way")
        empty = np.zeros(PAGE_WORDS, np.uint32)
        for page in sorted(set(self.pages) | set(other.pages)):
            if not np.array_equal(self.pages.get(page, empty), other.pages.get(page, empty)):
                found.append(f"memory page {page}")
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Snapshot) and self.version == other.version and not self.differences(other)

    __hash__ = None  # type: ignore[assignment]     # it is compared by what it holds, which can be large: not hashable

    def save(self, path: str | Path, *, agents: bool = True) -> None:
        """Write it to a file, whole or not at all. `agents` false: without what the chip's agents gave.

        UserError where the file cannot be written, where an agent holds what no file can (a timer's function, values of its own
        types), or where a port is fed from an endless source that never repeats. The file needs no other one.
        """
        from ixpemu import chip_snapshot_file

        chip_snapshot_file.save(self, path, agents)

    @classmethod
    def load(cls, path: str | Path) -> Snapshot:
        """Read it back. UserError for a file that is damaged, or that another version of the engine has written.

        A damaged file is found; one that somebody has made up is not: read files only of people whose programs you would run.
        """
        from ixpemu import chip_snapshot_file

        return chip_snapshot_file.load(path)

    @property
    def nbytes(self) -> int:
        """What it costs to keep."""
        return self.state.nbytes + sum(page.nbytes for page in self.pages.values())


def _under_way(state: Any) -> list[Any]:
    """Everything on its way in a state record, in its order and without the slots: events, queues of units, arrivals."""

    def content(slot: int) -> tuple[Any, ...]:
        """The fields that count; the others are left over from what was in the slot before."""
        event = state["events"][slot]
        if slot in waiting or event["kind"] == EVENT_ACCESS:
            names: tuple[str, ...] = tuple(name for name in EVENT.names or () if name not in ("words", "queued"))
        elif event["kind"] == EVENT_NEIGHBOR:
            names = ("me", "ctx", "address", "value", "flag")
        else:
            names = ("signals", "packet", "first", "me", "ctx", "unit", "total")
            if event["unit"] < QUEUE_UNITS:
                names += ("pc",)
        came = event["kind"] == EVENT_PUSH and slot not in waiting
        return (*(int(event[name]) for name in names), bytes(event["words"][: int(event["total"])]) if came else b"")

    waiting = set()                 # units have not got to these: their words are still to come
    for unit in range(len(state["queue_first"])):
        slot = int(state["queue_first"][unit])
        while slot:
            waiting.add(slot - 1)
            slot = int(state["events"][slot - 1]["queued"])
    found: list[Any] = []
    for bucket in np.flatnonzero(state["bucket_first"]).tolist():
        slot = int(state["bucket_first"][bucket])
        while slot:
            found.append((int(state["event_time"][slot - 1]), content(slot - 1)))
            slot = int(state["event_next"][slot - 1])
    found.sort(key=lambda entry: entry[0])
    found += [(int(state["event_time"][slot]), content(slot)) for slot in state["far_slot"][: int(state["far_count"])].tolist()]
    for unit in range(len(state["queue_first"])):
        slot = int(state["queue_first"][unit])
        while slot:
            found.append((unit, content(slot - 1)))
            slot = int(state["events"][slot - 1]["queued"])
    for number, engine in enumerate(state["engines"]):
        count = int(engine["arrivals"])
        for when, what in zip(engine["arrival_time"][:count].tolist(), engine["arrival_what"][:count].tolist(), strict=True):
            found.append((number, when, (what,) if what & SIGNAL_ALONE else content(what)))
    return found


def take(
    state: npt.NDArray[Any], memory: npt.NDArray[np.uint32], cycle: int, parameters: Mapping[str, int], journal: int, ports: Any,
    agents: tuple[object, ...] = (),
) -> Snapshot:
    """Save the arrays."""
    total = len(memory) // PAGE_WORDS
    written = np.flatnonzero(memory[:total])
    pages = {int(page): memory[page * PAGE_WORDS : (page + 1) * PAGE_WORDS].copy() for page in written}
    # Byte by byte: a copy of records would leave what lies between their fields to chance, and comparing would see it.
    copy = state.view(np.ndarray).view(np.uint8).copy().view(state.view(np.ndarray).dtype)
    copy["engines"]["translated"] = 0
    return Snapshot(STATE_VERSION, cycle, copy, pages, len(memory), dict(parameters), journal, ports, agents)


def put_back(snapshot: Snapshot, state: npt.NDArray[Any], memory: npt.NDArray[np.uint32], parameters: Mapping[str, int]) -> None:
    """Restore the arrays in place. UserError if the snapshot is not of this version or of another chip."""
    if snapshot.version != STATE_VERSION:
        raise user_error(codes.SNAPSHOT_FOREIGN, "the snapshot was made by another version", help="make it again")
    same = snapshot.state.dtype == state.view(np.ndarray).dtype and snapshot.memory_words == len(memory)
    if not same or dict(snapshot.parameters) != dict(parameters):
        raise user_error(
            codes.SNAPSHOT_FOREIGN, "the snapshot is of a chip with other parameters", help="restore it into one like it"
        )
    total = len(memory) // PAGE_WORDS
    for written in np.flatnonzero(memory[:total]).tolist():
        if written not in snapshot.pages:
            memory[written * PAGE_WORDS : (written + 1) * PAGE_WORDS] = 0
    first = -(-total // PAGE_WORDS)
    memory[: first * PAGE_WORDS] = 0
    for page, words in snapshot.pages.items():
        memory[page * PAGE_WORDS : (page + 1) * PAGE_WORDS] = words
        memory[page] = 1
    state.view(np.ndarray).view(np.uint8)[:] = snapshot.state.view(np.uint8)
