"""The XScale as an agent: what an application's control module holds, with a clock that its accesses and interrupts cost.

How time passes. Before the chip runs, everything is done at once and costs nothing. Afterwards a handler is entered
`xscale.entry_cycles` after its interrupt, or when the one before it is done. It reads the chip as it is in that cycle; its
writes are queued and commit one by one, each at its own cycle, in the order in which it made them, so that microengines run
between them. So no Python is ever halfway when a run ends: what is left is a queue. A read sees what is still in the queue, as
on a processor with a write buffer. A handler takes as long as its accesses and `spend` say, and the next interrupt waits for it;
interrupts that come meanwhile are one. The same holds for code that uses this object between two runs: it starts at the chip's
cycle.

Costs are parameters of the chip file, [xscale], all of them guesses. Microengine addresses are used throughout: SRAM channel in
bits [31:30].
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ixpemu import codes
from ixpemu.chip_csrs import csr_address
from ixpemu.diagnostics import user_error
from ixpemu.engine.layout import INTERRUPTS, UNIT_DRAM, UNIT_SRAM0
from ixpemu.image import Image
from ixpemu.xscale.accesses import Dram, Memory, Registers
from ixpemu.xscale.queues import PLACES, SramQueues

if TYPE_CHECKING:
    from ixpemu.chip import Chip

NEVER = (1 << 59) - 1
CACHE_LINE = 32             # bytes of DRAM that one access costs (32-byte lines: the XScale core's, H)
RING_BASE, RING_SPAN = 0x4800, 0x10
RING_SIZES = {128: 0, 256: 1, 512: 2, 1024: 3}
RING_EMPTY_FLAG = 1 << 26
RING_NEARLY_FULL = 3, 4     # this side's own idea of it: three quarters

SOURCES = tuple(sorted(INTERRUPTS.values()))
"""What can interrupt the XScale: a microengine wrote XSCALE_INT_A or XSCALE_INT_B ("thread_a", "thread_b") or stopped at a
breakpoint ("attention"); a timer, a DMA channel, the host's doorbell, itself ("soft"). What its controller masks does not reach
a handler."""

Handler = Callable[["XScale"], None]


@dataclass(frozen=True, slots=True)
class Write:
    """One queued access: commits at `cycle`. `place` names what `address` counts in; `words` are 32-bit words, bytes for DRAM."""

    cycle: int
    place: str
    address: int
    words: tuple[int, ...] | bytes


@dataclass(frozen=True, slots=True)
class SavedXScale:
    """What a snapshot of the chip holds of the XScale. `program`: what the control module's `snapshot` gave."""

    running: bool
    time: int
    writes: tuple[Write, ...]
    timers: tuple[tuple[int, int, Callable[[], None]], ...]
    timer_count: int
    raised: Mapping[str, int]
    interrupts: int
    program: Any

    def plain(self) -> dict[str, Any]:
        """The same as values that a file can hold, if the timers' functions and `program` are such."""
        return {
            "running": self.running, "time": self.time, "timers": self.timers, "timer_count": self.timer_count,
            "writes": [(write.cycle, write.place, write.address, write.words) for write in self.writes],
            "raised": self.raised, "interrupts": self.interrupts, "program": self.program,
        }

    @classmethod
    def of(cls, saved: SavedXScale | Mapping[str, Any]) -> SavedXScale:
        """Itself, or what `plain` gave; UserError for anything else."""
        if isinstance(saved, SavedXScale):
            return saved
        try:
            return cls(**{**saved, "writes": tuple(Write(*write) for write in saved["writes"])})
        except (TypeError, KeyError):
            raise user_error(codes.SNAPSHOT_FOREIGN, "the snapshot holds another agent's state where the XScale's should be",
                             help="attach the agents that the chip had when it was made, in the same order") from None


class XScale:
    """The control processor of one chip.

    `tables`, `ports` and `images` are what the application says; `program` is the control module's own, whatever it keeps.
    `handlers` maps names of SOURCES to functions. `bus` is all that the XScale addresses, by physical address.
    """

    def __init__(
        self, chip: Chip, *, tables: Mapping[str, Path] | None = None, ports: Sequence[Any] = (),
        handlers: Mapping[str, Handler] | None = None,
    ) -> None:
        self.chip = chip
        self.tables = dict(tables or {})
        self.ports = tuple(ports)
        self.images: dict[int, Image] = {}
        self.handlers: dict[str, Handler] = dict(handlers or {})
        self.program: Any = None
        self.hooks: tuple[Callable[[XScale], Any], Callable[[XScale, Any], None]] | None = None
        """The control module's `snapshot` and `restore`, for what it keeps."""
        self.sram = Memory(self)
        self.dram = Dram(self)
        self.msf = Registers(self, "msf")
        self.cap = Registers(self, "cap")
        self.queues = SramQueues(self)
        self.bus = Registers(self, "bus")
        self.interrupts = 0                             # handlers entered
        self._running = False
        self._inside = False
        self._time = 0                                  # up to where this side is busy
        self._writes: deque[Write] = deque()
        self._timers: list[tuple[int, int, Callable[[], None]]] = []
        self._timer_count = 0
        self._raised: dict[str, int] = {}               # sources waiting for their handler, with the cycle of the first interrupt
        chip.attach(self)

    @property
    def running(self) -> bool:
        """Whether the microengines have been started, from when on everything here takes time."""
        return self._running

    # -- what the chip calls

    def due(self) -> int:
        """The next cycle at which this side acts by itself."""
        first = self._writes[0].cycle if self._writes else NEVER
        if self._timers:
            first = min(first, self._timers[0][0])
        for raised in self._raised.values():
            first = min(first, self._entry(raised))
        return first

    def busy(self) -> bool:
        """Whether an interrupt or a write is still to be dealt with; timers do not count."""
        return bool(self._raised or self._writes)

    def act(self, cycle: int) -> None:
        """Everything that is due by `cycle`: writes, then timers, then a handler."""
        while self._writes and self._writes[0].cycle <= cycle:
            self._commit(self._writes.popleft())
        while self._timers and self._timers[0][0] <= cycle:
            _, _, function = heapq.heappop(self._timers)
            self._call(cycle, function)
        for source, raised in list(self._raised.items()):
            if self._entry(raised) <= cycle:
                del self._raised[source]
                self.interrupts += 1
                self._time = max(self._time, cycle) + self._cost("handler_cycles")
                self._call(cycle, partial(self.handlers[source], self))
                self._time += self._cost("exit_cycles")

    def interrupt(self, cycle: int, source: str) -> bool:
        """`source` was raised at `cycle`. Without a handler it is only remembered by the chip."""
        if source not in self.handlers:
            return False
        self._raised.setdefault(source, cycle)
        return True

    def _entry(self, raised: int) -> int:
        return max(raised + self._cost("entry_cycles"), self._time)

    def _call(self, cycle: int, function: Callable[[], None]) -> None:
        self._time = max(self._time, cycle)
        self._inside = True
        try:
            function()
        finally:
            self._inside = False

    def snapshot(self) -> SavedXScale:
        """What decides what this side does next. The control module's own state is in it if its `snapshot` gives it."""
        return SavedXScale(
            self._running, self._time, tuple(self._writes), tuple(self._timers), self._timer_count, dict(self._raised),
            self.interrupts, self.hooks[0](self) if self.hooks is not None else None,
        )

    def restore(self, saved: SavedXScale | Mapping[str, Any]) -> None:
        """Go back to `saved`. Timers go off as they were set: their functions are kept, and what those know is not."""
        saved = SavedXScale.of(saved)
        self._running, self._time, self.interrupts = saved.running, saved.time, saved.interrupts
        self._writes, self._timers = deque(saved.writes), list(saved.timers)
        self._timer_count, self._raised = saved.timer_count, dict(saved.raised)
        if self.hooks is not None:
            self.hooks[1](self, saved.program)

    # -- time

    @property
    def cycle(self) -> int:
        """Where this side is in time: the cycle at which its next access would commit, less the access's cost."""
        return self._time if self._inside else max(self._time, self.chip.cycle)

    def spend(self, cycles: int) -> None:
        """Work that is no access."""
        if cycles < 0:
            raise user_error(codes.RUN_ARGUMENT, f"work of {cycles} cycles", help="time does not go back: 0 or more")
        if self._running:
            self._time = self.cycle + cycles

    def after(self, cycles: int, function: Callable[[], None]) -> None:
        """Calls `function` `cycles` after now. Timers of the same cycle go off in the order in which they were set."""
        if cycles < 0 or not callable(function):
            raise user_error(
                codes.RUN_ARGUMENT, f"nothing can be done {cycles} cycles from now: {function!r:.60}",
                help="give a number of cycles, 0 or more, and a function without arguments",
            )
        self._timer_count += 1
        heapq.heappush(self._timers, (self.cycle + cycles, self._timer_count, function))

    # -- accesses

    def read_words(self, place: str, address: int, count: int) -> list[int]:
        """Words of "sram", "msf" or "cap" from byte `address` on."""
        self._check(place, address, count)
        self.spend(count * self._cost("sram_cycles" if place == "sram" else "csr_cycles"))
        words = [self._word(place, address + 4 * index) for index in range(count)]
        self._touched(place, address, count, False)
        for queued in self._writes:
            if queued.place == place and isinstance(queued.words, tuple):
                for index, word in enumerate(queued.words):
                    at = queued.address + 4 * index - address
                    if 0 <= at < 4 * count:
                        words[at // 4] = word
        return words

    def read_dram(self, address: int, count: int) -> bytes:
        """`count` bytes of DRAM from byte `address` on."""
        self.spend(_lines(address, count) * self._cost("dram_cycles"))
        octets = bytearray(self.chip.dram.read_bytes(address, count))
        self._touched_bytes(address, count, False)
        for queued in self._writes:
            if isinstance(queued.words, bytes):
                start = queued.address - address
                for index in range(max(0, -start), min(len(queued.words), count - start)):
                    octets[start + index] = queued.words[index]
        return bytes(octets)

    def write(self, place: str, address: int, words: tuple[int, ...] | bytes) -> None:
        """One write, to "sram", "dram", "msf", "cap", "bus", "ring" (the address is its number) or the local CSRs
        "csr 0" .. "csr 7"."""
        if isinstance(words, bytes):
            self.chip.dram.check(address, len(words))
            self.spend(_lines(address, len(words)) * self._cost("dram_cycles"))
        else:
            self._check(place, address, len(words))
            words = tuple(int(word) & 0xFFFF_FFFF for word in words)
            self.spend(self._cost({"sram": "sram_cycles", "ring": "scratch_cycles"}.get(place, "csr_cycles")))
        self.post(place, address, words)

    def post(self, place: str, address: int, words: tuple[int, ...] | bytes) -> None:
        """A write that has been checked and paid for: it commits when its time has come."""
        write = Write(self.cycle, place, address, words)
        if self._running:
            self._writes.append(write)
        else:
            self._commit(write)

    def spend_accesses(self, cost: str, count: int = 1) -> None:
        """The time of `count` accesses, by the name of their cost in [xscale]."""
        self.spend(count * self._cost(cost))

    def _check(self, place: str, address: int, count: int) -> None:
        """UserError for what is not there: when an access is made, not when it commits and nobody knows whose it was."""
        if place == "sram":
            if not 0 <= address >> 30 < len(self.chip.sram):
                raise user_error(
                    codes.MEMORY_ADDRESS, f"no SRAM channel has the address {address:#x}",
                    help=f"the channel, 0 to {len(self.chip.sram) - 1}, is in bits 31 and 30",
                )
            self.chip.sram[address >> 30].check(address & 0x3FFF_FFFF, 4 * count)
        elif place == "ring":
            self.chip.scratch.ring(address)
        elif place == "bus":
            self.chip.xscale.window(address)
        else:
            csr_address(address, place if place in ("msf", "cap") else "local")

    def _word(self, place: str, address: int) -> int:
        if place == "sram":
            return int(self.chip.sram[address >> 30].read(address & 0x3FFF_FFFF, 1)[0])
        if place == "msf":
            return int(self.chip.msf.csr[address])
        if place == "bus":
            return self.chip.xscale.read(address)
        return int(self.chip.cap.read(address))

    def _commit(self, write: Write) -> None:
        chip, address, words = self.chip, write.address, write.words
        if isinstance(words, bytes):
            self._touched_bytes(address, len(words), True)
        else:
            self._touched(write.place, address, len(words), True)
        if isinstance(words, bytes):
            chip.dram.write_bytes(address, words)
        elif write.place == "sram":
            chip.sram[address >> 30].write(address & 0x3FFF_FFFF, list(words))
        elif write.place == "msf":
            chip.msf.csr[address] = words[0]
        elif write.place == "ring":
            chip.scratch.ring(address).put(words[0])
        elif write.place in PLACES:
            self.queues.commit(write)
        elif write.place == "packet":
            chip.originate(address, words[0])
        elif write.place == "bus":
            chip.xscale.write(address, words[0])
        elif write.place == "cap":
            chip.cap.write(address, words[0])
        else:
            chip.me[int(write.place.removeprefix("csr "))].csr[address] = words[0]

    def _touched(self, place: str, address: int, count: int, writes: bool) -> None:
        """Tell the chip of an access to memory. Before the microengines run there is nobody whom it could concern."""
        if not self._running:
            return
        if place == "sram":
            self.chip.touched(UNIT_SRAM0 + (address >> 30), address & 0x3FFF_FFFF, count, writes)
        elif place == "bus":
            window = self.chip.xscale.window(address)
            if window.unit is not None:
                self.chip.touched(window.unit, address - window.first, count, writes)

    def _touched_bytes(self, address: int, count: int, writes: bool) -> None:
        """The same for bytes of DRAM: the words at the ends in part."""
        first, end = -(-address // 4) * 4, (address + count) // 4 * 4
        if not self._running or not count:
            return
        if first > end:                                 # inside one word
            self.chip.touched(UNIT_DRAM, end, 1, writes, _bytes(address - end, address + count - end))
            return
        if address < first:
            self.chip.touched(UNIT_DRAM, first - 4, 1, writes, _bytes(address - first + 4, 4))
        if first < end:
            self.chip.touched(UNIT_DRAM, first, (end - first) // 4, writes)
        if end < address + count:
            self.chip.touched(UNIT_DRAM, end, 1, writes, _bytes(0, address + count - end))

    def _cost(self, name: str) -> int:
        return self.chip.parameters[f"xscale.{name}"] if self._running else 0

    # -- scratch rings

    def ring_setup(self, ring: int, address: int, words: int, *, empty_flag: bool) -> None:
        """Places an empty ring of 128, 256, 512 or 1,024 words at scratch byte `address`, a multiple of its length and of 512.

        `empty_flag`: its status says "empty" to microengines, else "nearly full".
        """
        self.chip.scratch.ring(ring)
        if words not in RING_SIZES or address % (4 * words) or address % 512:
            raise user_error(
                codes.RING_SETUP, f"scratch ring {ring} cannot have {words} words at {address:#x}",
                help=f"{', '.join(str(size) for size in RING_SIZES)} words, at a multiple of the length and of 512 bytes",
            )
        self.chip.scratch.check(address, 4 * words)
        base = RING_SIZES[words] << 30 | (RING_EMPTY_FLAG if empty_flag else 0) | address // 512 << 9
        self.cap.write(RING_BASE + RING_SPAN * ring, base)
        self.cap.write(RING_BASE + RING_SPAN * ring + 4, 0)
        self.cap.write(RING_BASE + RING_SPAN * ring + 8, 0)

    def ring_put(self, ring: int, word: int) -> None:
        """Puts a word on a ring."""
        self.write("ring", ring, (word,))

    def originate(self, handle: int, length: int) -> None:
        """Has the frame of `length` bytes that this side has put into buffer `handle` followed like a packet that has arrived."""
        write = Write(self.cycle, "packet", handle, (length,))
        if self._running:
            self._writes.append(write)

    def ring_get(self, ring: int) -> int:
        """Takes the oldest word off a ring, 0 where there is none. Words of this side that are still queued do not count."""
        self.spend(self._cost("scratch_cycles"))
        return int(self.chip.scratch.ring(ring).get())

    def ring_nearly_full(self, ring: int) -> bool:
        """Whether three quarters of a ring are in use, this side's queued words counted."""
        self.spend(2 * self._cost("csr_cycles"))
        queued = sum(1 for write in self._writes if write.place == "ring" and write.address == ring)
        view = self.chip.scratch.ring(ring)
        used, of = RING_NEARLY_FULL
        return of * (int(view.used) + queued) >= used * int(view.words)

    # -- microengines

    def load(self, me: int, image: Image) -> None:
        """Puts an image into a microengine at once, without starting it (the fast path)."""
        self.chip.load(me, image, start=False)
        self.images[me] = image

    def load_through_store(self, me: int, image: Image) -> None:
        """The same through the microengine's CSRs, as a loader on silicon does; see `ixpemu.xscale.loader`."""
        from ixpemu.xscale.loader import load_through_store

        load_through_store(self, me, image)
        self.images[me] = image

    def start(self) -> None:
        """Starts the loaded microengines. From here on this side's work takes time."""
        for me in sorted(self.images):
            self.chip.start(me)
        self._running = True
        self._time = self.chip.cycle


def _bytes(first: int, end: int) -> int:
    """The mask of bytes `first` to before `end` of a word."""
    return (1 << end) - (1 << first)


def _lines(address: int, count: int) -> int:
    """Cache lines that `count` bytes from `address` on touch."""
    return (address + count - 1) // CACHE_LINE - address // CACHE_LINE + 1 if count else 0
