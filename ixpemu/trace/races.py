"""Data races of a run: accesses of different threads to what they share that nothing orders. A sink for `chip.observe`.

What orders is followed by vector clocks: program order; a command's completion, for who waits for its signal; signals between
threads; words put on a ring and taken off it; next-neighbour registers; an interrupt of the XScale and what the XScale then
does; and reading what another thread has written to shared state. A command acts later than it is sent: its accesses are an
agent of their own, a thread's commands in one unit, which keep their order. Swaps order nothing, but between them a thread is
alone on its microengine. What is a race on one place: `ixpemu.trace.race_rules`.

Not seen: what the XScale reads and writes in memory, RBUF and TBUF, and signals that an indirect_ref sends to another context.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ixpemu.diagnostics import Diagnostic
from ixpemu.engine import numbers as n
from ixpemu.engine import observation as seen
from ixpemu.engine.layout import (
    CONSTANT,
    GPR_B,
    LOCAL_MEMORY,
    NEIGHBOR,
    QUEUE_UNITS,
    SPECIAL_A,
    SPECIAL_B,
    SPECIAL_D,
    SRAM_IN,
    UNIT_CAP,
    UNIT_DRAM,
    UNIT_HASH,
    UNIT_NAMES,
    UNIT_SCRATCH,
    WAKEUP_ANY,
)
from ixpemu.engine.operation_numbers import (
    COMMAND_DESCRIPTOR_WRITE,
    COMMAND_FAST_JOURNAL,
    COMMAND_JOURNAL,
    LAST_ATOMIC,
    OPERATION,
)
from ixpemu.engine.timing import COMMAND_RBUF, COMMAND_READ, COMMAND_TBUF, COMMAND_WRITE
from ixpemu.trace.race_found import Race
from ixpemu.trace.race_rules import Access, Clock, Data, Shared

if TYPE_CHECKING:
    from ixpemu.chip import Chip
    from ixpemu.chip_observe import Events
    from ixpemu.image import Image

KINDS = ("issue", "branch", "start", "command", "access", "done", "signal", "send", "ring", "test", "neighbor")
XSCALE = 64                     # agents: 64 threads, the XScale, and each thread's commands in each unit
AGENTS = XSCALE + 1 + XSCALE * QUEUE_UNITS
ATOMIC = range(OPERATION, LAST_ATOMIC + 1)
"""Commands that read and change a word in one step."""
_JOURNALS = (COMMAND_JOURNAL, COMMAND_FAST_JOURNAL)
_EFFECTS = {COMMAND_READ: (True, False), COMMAND_WRITE: (False, True), COMMAND_RBUF: (False, True), COMMAND_TBUF: (True, False)}


class Races:
    """Looks for races on `chip`, from when it is given to `chip.observe(races, KINDS)`: best before the first cycle.

    `found` are the races so far, one for each pair of places in the programs, in the order in which they were found.
    """

    def __init__(self, chip: Chip, images: Mapping[int, Image] | None = None) -> None:
        self._code = chip.state.code
        self._room = chip.me[0].store_room
        self._images = dict(images or {})
        self._found: dict[Any, Race] = {}
        self._clocks: dict[int, Clock] = {}
        self._turns = [0] * 8
        self._turn_of = [XSCALE] * 8                    # whose turn it is, and what it has written in it
        self._written: list[list[Shared]] = [[] for _ in range(8)]
        self._data: dict[int, Data] = {}
        self._shared: dict[tuple[int, int], Shared] = {}
        self._queues: list[deque[tuple[int, Clock, int]]] = [deque() for _ in range(UNIT_CAP + 1)]
        self._cap: dict[int, tuple[int, Clock]] = {}
        self._done: dict[tuple[int, int], deque[list[Any]]] = {}        # signals still to come, and what they tell
        self._signals: dict[tuple[int, int], Clock] = {}
        self._flying: dict[tuple[int, int], deque[tuple[int, Clock]]] = {}
        self._rings: dict[int, deque[Clock]] = {}
        # Of an SRAM channel on which descriptors have been stored: an entry of its queue array is now this queue and now that,
        # so that who takes something counts as having seen all that was put.
        self._swapped: dict[int, Clock] = {}
        self._neighbors: dict[int, deque[tuple[int, Clock]]] = {}
        self._at: tuple[int, Clock] | None = None      # whose ring command is under way, and what it will know when done
        self._fill(chip)

    def _fill(self, chip: Chip) -> None:
        """Words and buffers that are on rings and queues already: nothing is known of who put them there."""
        nothing = np.zeros(AGENTS, np.int32)
        for ring in range(16):
            self._rings[UNIT_SCRATCH << 16 | ring] = deque([nothing] * int(chip.state.ring_used[ring]))
        for entry in np.flatnonzero(chip.state.array_count).tolist():
            unit, number = divmod(entry, 64)
            count = int(chip.state.array_count[entry])
            self._rings[unit << 16 | number] = deque([nothing] * count)

    @property
    def found(self) -> list[Race]:
        return list(self._found.values())

    def diagnostics(self) -> list[Diagnostic]:
        """The races as warnings."""
        return [race.diagnostic(self._images) for race in self._found.values()]

    def __call__(self, events: Events) -> None:
        kinds = events["kind"]
        issued = (kinds == seen.SEEN_ISSUE) | (kinds == seen.SEEN_BRANCH)
        wanted = np.isin(kinds, _FOLLOWED)
        reads_a, reads_b, writes = self._shared_operands(events)
        wanted |= issued & (reads_a | reads_b | writes)
        at = np.flatnonzero(wanted)
        operands = (reads_a[at].tolist(), reads_b[at].tolist(), writes[at].tolist())
        for event, a, b, d in zip(events[at].tolist(), *operands, strict=True):
            if event[1] <= seen.SEEN_BRANCH:
                self._instruction(event, a, b, d)
            else:
                _HANDLERS[event[1]](self, event)

    def _shared_operands(self, events: Events) -> tuple[Any, Any, Any]:
        """Whether operands a and b and the destination of each event are registers that its microengine's contexts share."""
        index = np.minimum(events["me"], 7).astype(np.int64) * self._room + events["pc"]
        special = self._code["special"][index]
        masks = []
        for name, place, bit in (("a", "a", SPECIAL_A), ("b", "b", SPECIAL_B), ("d", "place", SPECIAL_D)):
            at = events[place]
            absolute = (at < SRAM_IN) & (self._code[f"{name}_window"][index] == 0) & (special & bit == 0)
            masks.append(absolute | ((at >= LOCAL_MEMORY) & (at < CONSTANT)) | ((at >= NEIGHBOR) & (at < LOCAL_MEMORY)))
        masks[2] &= events["kind"] == seen.SEEN_ISSUE
        return masks[0], masks[1], masks[2]

    # Clocks

    def _clock(self, agent: int) -> Clock:
        found = self._clocks.get(agent)
        if found is None:
            found = self._clocks[agent] = np.zeros(AGENTS, np.int32)
            found[agent] = 1
        return found

    def _release(self, agent: int) -> Clock:
        """What `agent` knows, for somebody else to know; what it does from here on is later."""
        clock = self._clock(agent)
        known = clock.copy()
        clock[agent] += 1
        return known

    def _learn(self, agent: int, known: Clock) -> None:
        clock = self._clock(agent)
        np.maximum(clock, known, out=clock)

    def _report(self, what: str, rule: str, first: Access, second: Access, taken: Access | None) -> None:
        key = (rule, self._place(first), self._place(second))
        race = self._found.get(key)
        if race is None:
            race = self._found[key] = Race(rule, what, first, second, taken, 0)
        race.count += 1
        race.places.add(what)

    def _place(self, access: Access) -> tuple[Any, ...]:
        image = self._images.get(access.me)
        if image is not None and access.pc < len(image.debug):
            return (str(image.debug[access.pc].place), access.action)
        return (access.me, access.pc, access.action)

    # What happens

    def _instruction(self, event: Any, reads_a: bool, reads_b: bool, writes: bool) -> None:
        cycle, _, me, ctx, _, pc, place, value, a, b, _, _ = event
        thread = me * 8 + ctx
        for register in ((a,) if reads_a else ()) + ((b,) if reads_b else ()):
            if NEIGHBOR <= register < LOCAL_MEMORY:
                self._read_neighbor(thread, me * 128 + register - NEIGHBOR, cycle)
            else:
                self._cell(me, register).read(
                    thread, self._clock(thread), self._turns[me], Access(me, ctx, pc, cycle, "reads"),
                    lambda *found, at=register: self._report(_register_text(me, at), *found))
        if writes and not NEIGHBOR <= place < LOCAL_MEMORY:
            cell = self._cell(me, place)
            self._turn_of[me] = thread
            self._written[me].append(cell)
            cell.write(
                thread, self._clock(thread), self._turns[me], value, Access(me, ctx, pc, cycle, "writes"),
                lambda *found: self._report(_register_text(me, place), *found))
            self._clock(thread)[thread] += 1

    def _cell(self, me: int, place: int) -> Shared:
        found = self._shared.get((me, place))
        if found is None:
            found = self._shared[me, place] = Shared()
        return found

    def _read_neighbor(self, thread: int, register: int, cycle: int) -> None:
        """Who reads a next-neighbour register has seen what its writer did before."""
        sent = self._neighbors.get(register, ())
        for arrival, known in sent:
            if arrival <= cycle:
                self._learn(thread, known)

    def _start(self, event: Any) -> None:
        _, _, me, ctx, _, _, _, waited, _, _, _, came = event
        self._turns[me] += 1
        if self._written[me]:
            # Nobody has seen anything of a turn before its end: who reads a part of it comes after all of it.
            before = self._turn_of[me]
            for cell in self._written[me]:
                cell.publish(self._clock(before))
            self._clock(before)[before] += 1
            self._written[me].clear()
        signals = waited & came & 0xFFFE
        for signal in range(1, 16):
            if signals >> signal & 1:
                self._take_signal(me * 8 + ctx, signal, keep=bool(waited & WAKEUP_ANY))

    def _take_signal(self, thread: int, signal: int, keep: bool) -> None:
        known = self._signals.get((thread, signal)) if keep else self._signals.pop((thread, signal), None)
        if known is not None:
            self._learn(thread, known)

    def _raise_signals(self, thread: int, mask: int, known: Clock) -> None:
        for signal in range(1, 16):
            if mask >> signal & 1:
                before = self._signals.get((thread, signal))
                self._signals[thread, signal] = known if before is None else np.maximum(before, known)

    def _test(self, event: Any) -> None:
        if event[7]:
            self._take_signal(event[2] * 8 + event[3], event[10], keep=False)

    def _command(self, event: Any) -> None:
        _, _, me, ctx, unit, pc, _, _, _, _, _, _ = event
        if unit <= UNIT_CAP:
            self._queues[unit].append((me * 8 + ctx, self._release(me * 8 + ctx), pc))

    def _access(self, event: Any) -> None:
        cycle, _, me, ctx, unit, pc, _, words, command, mask, address, signals = event
        self._at = None
        if unit > UNIT_CAP or not self._queues[unit] or self._queues[unit][0][2] != pc:
            return                                  # of a command that was sent before anybody watched
        thread, known, _ = self._queues[unit].popleft()
        if unit == UNIT_CAP:
            self._cap[thread] = (cycle, known)
            if address in (n.CAP_XSCALE_INT_A, n.CAP_XSCALE_INT_B):
                self._learn(XSCALE, known)
        if unit >= QUEUE_UNITS:
            done = known
        else:
            agent = XSCALE + 1 + thread * QUEUE_UNITS + unit
            clock = self._clock(agent)
            np.maximum(clock, known, out=clock)
            clock[agent] += 1
            if unit != UNIT_HASH and (command in _EFFECTS or command in ATOMIC):
                self._touch(agent, clock, unit, address, words, command, mask, Access(thread >> 3, thread & 7, pc, cycle, ""))
            done = clock.copy()
            if command not in _JOURNALS:                # nobody takes words off a journal
                self._at = (agent, done)
            if command == COMMAND_DESCRIPTOR_WRITE:
                self._swapped.setdefault(unit, np.zeros(AGENTS, np.int32))
        if signals:
            self._done.setdefault((me * 8 + ctx, unit), deque()).append([signals, done])

    def _touch(
        self, agent: int, clock: Clock, unit: int, address: int, words: int, command: int, mask: int, access: Access
    ) -> None:
        """The words of a command that reads or writes memory."""
        atomic = command in ATOMIC
        reads, writes = (True, True) if atomic else _EFFECTS[command]
        words = 1 if atomic else words
        read, written = access._replace(action="reads"), access._replace(action="changes" if atomic else "writes")
        first = address >> 2
        for word in range(first, first + words):
            def report(*found: Any, at: int = word) -> None:
                self._report(f"{UNIT_NAMES[unit]} word {at << 2:#x}", *found)

            shared = self._shared.get((-1 - unit, word))
            if atomic and shared is None:
                shared = self._shared[-1 - unit, word] = Shared(own=False)
                self._data.pop(unit << 32 | word, None)
            bytes_ = 15
            if command == COMMAND_WRITE and mask != 0xFF:
                bytes_ = mask >> (4 if unit == UNIT_DRAM and (word - first) & 1 else 0) & 15
            if shared is not None:
                if reads:
                    shared.read(agent, clock, access.cycle, read, report)
                if writes:
                    shared.write(agent, clock, access.cycle, None, written, report)
                continue
            data = self._data.get(unit << 32 | word)
            if data is None:
                data = self._data[unit << 32 | word] = Data()
            if reads:
                data.read(agent, clock, 15, read, report)
            if writes and bytes_:
                data.write(agent, clock, bytes_, written, report)

    def _ring(self, event: Any) -> None:
        """A word on or off a ring, or a buffer on or off a queue: who takes it has seen what who put it there did before."""
        unit, puts = event[4], event[11]
        done: Clock | None
        if event[2] == 8:
            agent, done = XSCALE, self._release(XSCALE) if puts else self._clock(XSCALE)
        elif self._at is not None:
            agent, done = self._at
        else:
            agent, done = -1, None                      # of a command that nobody has seen coming, or of a journal
        words = self._rings.setdefault(unit << 16 | event[10], deque())
        together = self._swapped.get(unit)
        if not puts:
            known = together if together is not None else words.popleft() if words else None
            if known is not None and done is not None:
                np.maximum(done, known, out=done)
                self._learn(agent, known)
        elif done is not None:
            if together is None:
                words.append(done)
            else:
                np.maximum(together, done, out=together)

    def _completed(self, event: Any) -> None:
        _, _, me, ctx, unit, _, _, signals, _, _, _, _ = event
        waiting = self._done.get((me * 8 + ctx, unit), deque())
        for k, entry in enumerate(waiting):
            if entry[0] & signals == signals:
                self._raise_signals(me * 8 + ctx, signals, entry[1])
                entry[0] &= ~signals                    # a command may raise one signal for what it takes, one for what it brings
                if entry[0] == 0:
                    del waiting[k]
                return

    def _send(self, event: Any) -> None:
        cycle, _, me, ctx, _, _, _, mask, _, _, target, ahead = event
        thread = XSCALE if me == 8 else me * 8 + ctx
        sent, known = self._cap.get(thread, (-1, None))
        if sent != cycle or known is None:
            known = self._release(thread)
        self._flying.setdefault((target, mask), deque()).append((cycle + ahead, known))

    def _arrived(self, event: Any) -> None:
        cycle, _, me, ctx, _, _, _, mask, _, _, _, _ = event
        flying = self._flying.get((me * 8 + ctx, mask))
        if flying and flying[0][0] <= cycle:
            self._raise_signals(me * 8 + ctx, mask, flying.popleft()[1])

    def _neighbor(self, event: Any) -> None:
        cycle, _, me, ctx, _, _, _, _, _, _, register, ahead = event
        self._neighbors.setdefault(register, deque(maxlen=2)).append((cycle + ahead, self._release(me * 8 + ctx)))


_HANDLERS = {
    seen.SEEN_START: Races._start, seen.SEEN_COMMAND: Races._command, seen.SEEN_ACCESS: Races._access,
    seen.SEEN_DONE: Races._completed, seen.SEEN_SIGNAL: Races._arrived, seen.SEEN_SEND: Races._send, seen.SEEN_RING: Races._ring,
    seen.SEEN_TEST: Races._test, seen.SEEN_NEIGHBOR: Races._neighbor,
}
_FOLLOWED = np.array(list(_HANDLERS), np.uint8)


def _register_text(me: int, place: int) -> str:
    if place >= LOCAL_MEMORY:
        return f"local memory word {place - LOCAL_MEMORY} of microengine {me}"
    return f"@{'b' if place >= GPR_B else 'a'}{place % 128} of microengine {me}"


def observe_races(chip: Chip, images: Mapping[int, Image] | None = None) -> Races:
    """Let a chip be watched for races from now on."""
    races = Races(chip, images)
    chip.observe(races, KINDS)
    return races
