"""Data races of a run: accesses of different threads to what they share that nothing orders. A sink for `chip.observe`.

What orders is followed by vector clocks: program order; a command's completion, for who waits for its signal; signals between
threads; words put on a ring and taken off it; next-neighbour registers; an interrupt of the XScale and what the XScale then
does; and reading what another thread has written to shared state. A command acts later than it is sent: its accesses are an
agent of their own, a thread's commands in one unit, which keep their order. Swaps order nothing, but between them a thread is
alone on its microengine. What is a race on one place: `ixpemu.trace.race_rules`; the CAM, RBUF and TBUF: `race_places`.

The XScale is an agent like the threads. It knows what was done before an interrupt it gets and a word it takes off a ring, and a
thread that starts knows what it had done. Not seen: what Python reads and writes by itself, and PCI.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ixpemu.chip_observe import HOST
from ixpemu.diagnostics import Diagnostic
from ixpemu.engine import numbers as n
from ixpemu.engine import observation as seen
from ixpemu.engine.layout import (
    CONSTANT,
    LOCAL_MEMORY,
    NEIGHBOR,
    SPECIAL_A,
    SPECIAL_B,
    SPECIAL_D,
    SRAM_IN,
    UNIT_CAP,
    UNIT_DRAM,
    UNIT_HASH,
    UNIT_MSF,
    UNIT_NAMES,
    UNIT_RECEIVE,
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
from ixpemu.trace.race_places import buffer_used, cam_used, msf_used, register_text
from ixpemu.trace.race_rules import Access, Clock, Data, Shared

if TYPE_CHECKING:
    from ixpemu.chip import Chip
    from ixpemu.chip_observe import Events
    from ixpemu.image import Image

KINDS = ("issue", "branch", "start", "command", "access", "done", "signal", "send", "ring", "test", "neighbor", "cam", "buffer")
XSCALE = 64                     # agents: 64 threads, the XScale, and each thread's commands in each unit
UNITS = UNIT_MSF + 1            # whose commands of one context keep their order
FABRIC = XSCALE + 1 + XSCALE * UNITS            # and what receives and sends frames
AGENTS = FABRIC + 1
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
        self.turns = [0] * 8
        self._turn_of = [XSCALE] * 8                    # whose turn it is, and what it has written in it
        self._written: list[list[Shared]] = [[] for _ in range(8)]
        self.data: dict[int, Data] = {}
        self.shared: dict[tuple[int, int], Shared] = {}
        self._queues: list[deque[tuple[int, Clock, int, int]]] = [deque() for _ in range(UNIT_CAP + 1)]
        self._cap: dict[int, tuple[int, Clock]] = {}
        self._done: dict[tuple[int, int], deque[list[Any]]] = {}        # signals still to come, and what they tell
        self._signals: dict[tuple[int, int], Clock] = {}
        self._flying: dict[tuple[int, int], deque[tuple[int, Clock]]] = {}
        self._rings: dict[int, deque[Clock]] = {}
        # Of an SRAM channel on which descriptors have been stored: an entry of its queue array is now this queue and now that,
        # so that who takes something counts as having seen all that was put.
        self._swapped: dict[int, Clock] = {}
        self._neighbors: dict[int, deque[tuple[int, Clock]]] = {}
        self._started: set[int] = set()
        self._acting: tuple[int, int, int, Clock] | None = None         # the command that a unit is at: registers, address, agent
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

    def clock(self, agent: int) -> Clock:
        found = self._clocks.get(agent)
        if found is None:
            found = self._clocks[agent] = np.zeros(AGENTS, np.int32)
            found[agent] = 1
        return found

    def release(self, agent: int) -> Clock:
        """What `agent` knows, for somebody else to know; what it does from here on is later."""
        clock = self.clock(agent)
        known = clock.copy()
        clock[agent] += 1
        return known

    def learn(self, agent: int, known: Clock) -> None:
        clock = self.clock(agent)
        np.maximum(clock, known, out=clock)

    def report(self, what: str, rule: str, first: Access, second: Access, taken: Access | None) -> None:
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
                self.read_cell(me, register, Access(me, ctx, pc, cycle, "reads"))
        if writes and not NEIGHBOR <= place < LOCAL_MEMORY:
            self.write_cell(me, place, value, Access(me, ctx, pc, cycle, "writes"))

    def read_cell(self, me: int, place: int, access: Access) -> None:
        """A context reads what its microengine's contexts share."""
        thread = me * 8 + access.ctx
        self.cell(me, place).read(
            thread, self.clock(thread), self.turns[me], access,
            lambda *found: self.report(register_text(me, place), *found))

    def write_cell(self, me: int, place: int, value: Any, access: Access) -> None:
        """A context writes it."""
        thread, cell = me * 8 + access.ctx, self.cell(me, place)
        self._turn_of[me] = thread
        self._written[me].append(cell)
        cell.write(
            thread, self.clock(thread), self.turns[me], value, access,
            lambda *found: self.report(register_text(me, place), *found))
        self.clock(thread)[thread] += 1

    def cell(self, me: int, place: int) -> Shared:
        found = self.shared.get((me, place))
        if found is None:
            found = self.shared[me, place] = Shared()
        return found

    def _read_neighbor(self, thread: int, register: int, cycle: int) -> None:
        """Who reads a next-neighbour register has seen what its writer did before."""
        sent = self._neighbors.get(register, ())
        for arrival, known in sent:
            if arrival <= cycle:
                self.learn(thread, known)

    def _start(self, event: Any) -> None:
        _, _, me, ctx, _, _, _, waited, _, _, _, came = event
        self.turns[me] += 1
        if self._written[me]:
            # Nobody has seen anything of a turn before its end: who reads a part of it comes after all of it.
            before = self._turn_of[me]
            for cell in self._written[me]:
                cell.publish(self.clock(before))
            self.clock(before)[before] += 1
            self._written[me].clear()
        if (thread := me * 8 + ctx) not in self._started:       # the XScale has started it
            self._started.add(thread)
            self.learn(thread, self.release(XSCALE))
        signals = waited & came & 0xFFFE
        for signal in range(1, 16):
            if signals >> signal & 1:
                self._take_signal(me * 8 + ctx, signal, keep=bool(waited & WAKEUP_ANY))

    def _take_signal(self, thread: int, signal: int, keep: bool) -> None:
        known = self._signals.get((thread, signal)) if keep else self._signals.pop((thread, signal), None)
        if known is not None:
            self.learn(thread, known)

    def raise_signals(self, thread: int, mask: int, known: Clock) -> None:
        for signal in range(1, 16):
            if mask >> signal & 1:
                before = self._signals.get((thread, signal))
                self._signals[thread, signal] = known if before is None else np.maximum(before, known)

    def _test(self, event: Any) -> None:
        if event[7]:
            self._take_signal(event[2] * 8 + event[3], event[10], keep=False)

    def _command(self, event: Any) -> None:
        _, _, me, ctx, unit, pc, _, _, _, whose, _, _ = event
        if unit <= UNIT_CAP:
            self._queues[unit].append((me * 8 + ctx, self.release(me * 8 + ctx), pc, whose))

    def _sent(self, unit: int, pc: int, whose: int) -> tuple[int, Clock] | None:
        """Who sent the command that `unit` gets to, and what was known then; None if it was sent before anybody watched. Units
        of two clusters' commands may get to them in another order than they were sent in."""
        queue = self._queues[unit]
        for k, (thread, known, at, registers) in enumerate(queue):
            if at == pc and registers == whose:
                del queue[k]
                return thread, known
        return None

    def _access(self, event: Any) -> None:
        cycle, _, me, ctx, unit, pc, _, words, command, mask, address, signals = event
        self._at = self._acting = None
        if me == HOST:
            clock = self.clock(XSCALE)
            self._touch(XSCALE, clock, unit, address, words, command, mask, Access(me, ctx, pc, cycle, ""))
            clock[XSCALE] += 1
            return
        sent = self._sent(unit, pc, me * 8 + ctx) if unit <= UNIT_CAP else None
        if sent is None:
            return
        thread, known = sent
        if unit == UNIT_CAP:
            self._cap[thread] = (cycle, known)
            if address in (n.CAP_XSCALE_INT_A, n.CAP_XSCALE_INT_B):
                self.learn(XSCALE, known)
        if unit >= UNITS:
            done = known
        else:
            agent = XSCALE + 1 + thread * UNITS + unit
            clock = self.clock(agent)
            np.maximum(clock, known, out=clock)
            clock[agent] += 1
            self._acting = me * 8 + ctx, pc, agent, clock
            if unit == UNIT_MSF:
                msf_used(self, event, agent, clock, self.clock(FABRIC))
            elif unit != UNIT_HASH and (command in _EFFECTS or command in ATOMIC):
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
                self.report(f"{UNIT_NAMES[unit]} word {at << 2:#x}", *found)

            shared = self.shared.get((-1 - unit, word))
            if atomic and shared is None:
                shared = self.shared[-1 - unit, word] = Shared(own=False)
                self.data.pop(unit << 32 | word, None)
            bytes_ = 15
            if command == COMMAND_WRITE and mask != 0xFF:
                bytes_ = mask >> (4 if unit == UNIT_DRAM and (word - first) & 1 else 0) & 15
            if shared is not None:
                if reads:
                    shared.read(agent, clock, access.cycle, read, report)
                if writes:
                    shared.write(agent, clock, access.cycle, None, written, report)
                continue
            data = self.data.get(unit << 32 | word)
            if data is None:
                data = self.data[unit << 32 | word] = Data()
            if reads:
                data.read(agent, clock, 15, read, report)
            if writes and bytes_:
                data.write(agent, clock, bytes_, written, report)

    def _ring(self, event: Any) -> None:
        """A word on or off a ring, or a buffer on or off a queue: who takes it has seen what who put it there did before."""
        unit, puts = event[4], event[11]
        done: Clock | None
        if event[2] == HOST:
            agent, done = XSCALE, self.release(XSCALE) if puts else self.clock(XSCALE)
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
                self.learn(agent, known)
        elif done is not None:
            if together is None:
                words.append(done)
            else:
                np.maximum(together, done, out=together)

    def _buffer(self, event: Any) -> None:
        _, _, me, ctx, _, pc, _, _, _, _, _, _ = event
        if self._acting is not None and self._acting[:2] == (me * 8 + ctx, pc) and buffer_used(self, event, *self._acting[2:]):
            self.learn(FABRIC, self._acting[3])

    def _completed(self, event: Any) -> None:
        _, _, me, ctx, unit, _, _, signals, _, _, _, _ = event
        if unit == UNIT_RECEIVE:                        # the status of an element: who waits has seen who gave elements back
            self.raise_signals(me * 8 + ctx, signals, self.clock(FABRIC).copy())
            return
        self._over(me * 8 + ctx, unit, signals)

    def _over(self, thread: int, unit: int, signals: int) -> bool:
        """A command of `thread` to a unit has raised these signals; false if none is known that would."""
        waiting = self._done.get((thread, unit), deque())
        for k, entry in enumerate(waiting):
            if entry[0] & signals == signals:
                self.raise_signals(thread, signals, entry[1])
                entry[0] &= ~signals                    # a command may raise one signal for what it takes, one for what it brings
                if entry[0] == 0:
                    del waiting[k]
                return True
        return False

    def _send(self, event: Any) -> None:
        cycle, _, me, ctx, _, _, _, mask, _, _, target, ahead = event
        thread = XSCALE if me == HOST else me * 8 + ctx
        sent, known = self._cap.get(thread, (-1, None))
        if sent != cycle or known is None:
            known = self.release(thread)
        self._flying.setdefault((target, mask), deque()).append((cycle + ahead, known))

    def _arrived(self, event: Any) -> None:
        cycle, _, me, ctx, _, _, _, mask, _, _, _, _ = event
        flying = self._flying.get((me * 8 + ctx, mask))
        if flying and flying[0][0] <= cycle:
            self.raise_signals(me * 8 + ctx, mask, flying.popleft()[1])
        elif not self._over(me * 8 + ctx, UNIT_MSF, mask):      # these units end their writes with a signal and nothing else
            self._over(me * 8 + ctx, UNIT_CAP, mask)

    def _neighbor(self, event: Any) -> None:
        cycle, _, me, ctx, _, _, _, _, _, _, register, ahead = event
        self._neighbors.setdefault(register, deque(maxlen=2)).append((cycle + ahead, self.release(me * 8 + ctx)))


_HANDLERS: dict[int, Callable[[Races, Any], None]] = {
    seen.SEEN_START: Races._start, seen.SEEN_COMMAND: Races._command, seen.SEEN_ACCESS: Races._access,
    seen.SEEN_DONE: Races._completed, seen.SEEN_SIGNAL: Races._arrived, seen.SEEN_SEND: Races._send, seen.SEEN_RING: Races._ring,
    seen.SEEN_TEST: Races._test, seen.SEEN_NEIGHBOR: Races._neighbor, seen.SEEN_CAM: cam_used, seen.SEEN_BUFFER: Races._buffer,
}
_FOLLOWED = np.array(list(_HANDLERS), np.uint8)


def observe_races(chip: Chip, images: Mapping[int, Image] | None = None) -> Races:
    """Let a chip be watched for races from now on."""
    races = Races(chip, images)
    chip.observe(races, KINDS)
    return races
