"""The chip as a user holds it: load, run, step, look, save. Everything that computes is in `ixpemu.engine`.

A chip stands at a cycle: all that was to happen before it has happened. Microengines may have executed a few private instructions
past it, which nobody else can see. Python acts at the chip's cycle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ixpemu import arguments, chip_snapshot, codes
from ixpemu.chip_agents import LOAD, PATCH, PROBE, STORE, Agent, Entry, Journal, SavingAgent, halves, whole
from ixpemu.chip_bus import XScaleBus
from ixpemu.chip_csrs import Cap, Hash, Msf
from ixpemu.chip_deadlock import deadlock, ended
from ixpemu.chip_drive import Drive, reasons
from ixpemu.chip_initial import apply, check_closed
from ixpemu.chip_memory import Memory, Scratch, flag_pages
from ixpemu.chip_observe import Sink, kinds_of
from ixpemu.chip_parameters import configure
from ixpemu.chip_patch import Patch
from ixpemu.chip_pci import Pci
from ixpemu.chip_ports import Ports
from ixpemu.chip_probes import Probes
from ixpemu.chip_queues import Channel
from ixpemu.chip_replay import checked_journal, replay
from ixpemu.chip_reserved import ReservedPlace, findings, reserved_places
from ixpemu.chip_rules import allowed_kinds
from ixpemu.chip_snapshot import Snapshot
from ixpemu.chip_stop import Stop, places
from ixpemu.chip_views import Microengine, Numbered
from ixpemu.diagnostics import Diagnostic, user_error
from ixpemu.engine.host import HOST_ENABLE, HOST_ORIGINATE, HOST_RESET, changes, host_call
from ixpemu.engine.jit import arithmetic, passed
from ixpemu.engine.layout import (
    CONTEXTS,
    MARK_BREAK,
    MARK_EXTERNAL,
    MARK_PROBE,
    MARK_WATCH,
    NEVER,
    RESERVED_NAMES,
)
from ixpemu.engine.state import layout_for, new_state
from ixpemu.image import Image, checked_words, context_mode
from ixpemu.isa.chipfile import ChipParameters, load_chip

MODES = ("default", "fast", "trace", "races")
OBSERVABLE = 8              # microengines of a chip that can be observed
FAMILIES = {0: "IXP2800", 1: "IXP2850", 2: "IXP2400"}      # bits 15..8 of PRODUCT_ID (the driver, H)


class Chip:
    """An IXP2400 on a board, or what another chip file makes of it.

    `parameters`: of a chip file, the ENP-2611's by default. `mode`: "default", or "fast" without packet accounting and reports of
    reserved behaviour; "trace" and "races" are the default's on the engine that can be observed. `strict`: reserved behaviour
    ends a run. `allow`: codes of reserved behaviour (`IXP7004`) that are not reported and end nothing.
    """

    def __init__(
        self, parameters: ChipParameters | None = None, *, mode: str = "default", strict: bool = False, allow: Iterable[str] = ()
    ) -> None:
        if mode not in MODES:
            raise user_error(codes.CHIP_MODE, f"there is no mode {arguments.shown(mode)}", help=f"one of {', '.join(MODES)}")
        if strict and mode == "fast":
            raise user_error(codes.CHIP_MODE, "the mode fast looks for no reserved behaviour, so that it cannot be strict",
                             help="use the mode default")
        if parameters is not None and not isinstance(parameters, ChipParameters):
            raise arguments.wrong("the parameters of a chip", parameters,
                                  "Chip.from_toml(path) reads a chip file; load_chip().override({...}) changes a few figures")
        self.parameters = parameters if parameters is not None else load_chip()
        self._store_words = self.parameters["chip.control_store_words"]
        self.mode = mode
        self.strict = strict
        self.journal = Journal()
        self._array = new_state(*layout_for(self.parameters["chip.microengines"], self._store_words))
        self.state: Any = self._array[0]
        # What is asked often, as plain views: a record's own attributes take a hundred times as long to find.
        plain = self._array.view(np.ndarray)
        self._engines = plain["engines"][0]
        self._states = passed(self._array)
        self._stop_at_packets = plain["stop_at_packets"]
        self._sent, self._dropped = plain["packets_sent"], plain["packets_dropped"]
        self._memory = configure(self.state, self.parameters)
        self.state.mode = 0 if mode == "fast" else 1
        self._allowed = allowed_kinds(allow)
        self.state.reserved_allowed = self._allowed
        self.images: dict[int, Image] = {}
        """The images that were loaded, by microengine."""
        self._breaks: set[tuple[int, int]] = set()
        state, memory = self.state, self._memory
        self._patch = Patch(self._array, lambda offset, words: self._note(PATCH, (offset,), words))
        self.sram = Numbered("SRAM channel", codes.MEMORY_ADDRESS, (
            Channel(k, memory, self._store, state, self._call) for k in range(2)))
        self.dram = Memory("DRAM", memory, int(state.dram_base), int(state.dram_words), self._store)
        self.scratch = Scratch(memory, int(state.scratch_base), int(state.scratch_words), self._store, state, self._call)
        self.me = Numbered("microengine", codes.ME_UNKNOWN, (
            Microengine(k, state, self._call, self._patch) for k in range(self.parameters["chip.microengines"])))
        self.msf = Msf(state, self._call, self._patch)
        self.cap = Cap(self._call)
        self.hash = Hash(state, self._call)
        host = Memory("host memory", memory, int(state.host_base), int(state.host_words), self._store)
        self.pci = Pci(self._call, host, self.sram, self.dram)
        self.xscale = XScaleBus(self._call, self.dram, self.sram, self.scratch, [me.chip_number for me in self.me])
        self.probes = Probes(state, lambda placed: self._note(PROBE, placed))
        self.ports = Ports(self._array, lambda: self._drive.cycle)
        self._drive = Drive(self._array, memory, self.me, self.ports, self.images)
        if mode in ("trace", "races"):
            self.observe(lambda events: None)
        self.parameter_values = {name: self.parameters[name] for name in self.parameters}

    @classmethod
    def from_toml(cls, path: str | Path, **options: Any) -> Chip:
        """A chip with the parameters of a file, or of a shipped one by name."""
        arguments.path("a chip file", path)
        return cls(load_chip(path), **options)

    # Figures

    @property
    def cycle(self) -> int:
        """Where the chip stands, in cycles since reset."""
        return self._drive.cycle

    @property
    def keep_packets(self) -> bool:
        """Whether a run ends ("packet table") when finished rows of the packet table have to be collected; else they are
        dropped."""
        return self._drive.keep_packets

    @keep_packets.setter
    def keep_packets(self, keep: bool) -> None:
        self._drive.keep_packets = keep

    @property
    def family(self) -> str:
        """What the chip says it is in PRODUCT_ID: "IXP2400", "IXP2800", "IXP2850"."""
        return FAMILIES.get(self.parameters["chip.product_id"] >> 8 & 0xFF, "chip")

    @property
    def clock_hz(self) -> int:
        """Cycles a second."""
        return self.parameters["chip.megahertz"] * 1_000_000

    @property
    def instructions(self) -> int:
        """Instructions that all microengines have executed."""
        return int(self._engines["retired"].sum())

    @property
    def packets_sent(self) -> int:
        return int(self._sent[0])

    @property
    def packets_dropped(self) -> int:
        return int(self._dropped[0])

    @property
    def packets_out(self) -> int:
        """Packets that have left a port."""
        return int(self._sent[0])

    @property
    def reserved(self) -> dict[str, int]:
        """Reserved behaviour seen so far: how often, by kind. See `reserved_events` for places."""
        return {name: int(self.state.reserved_total[k]) for k, name in enumerate(RESERVED_NAMES) if self.state.reserved_total[k]}

    @property
    def reserved_events(self) -> list[tuple[int, str, int, int, int, int]]:
        """The first event of every place that is kept, in order: (cycle, kind, microengine, context, address, value). The
        microengine is 255 where none did it."""
        return [(place.cycle, place.rule.name, 255 if place.me is None else place.me, place.ctx, place.address, place.value)
                for place in self.reserved_places]

    @property
    def reserved_places(self) -> list[ReservedPlace]:
        """Reserved behaviour by place, in the order of the first events: at most 64 places, the earliest."""
        return reserved_places(self.state)

    @property
    def warnings(self) -> list[Diagnostic]:
        """Reserved behaviour as diagnostics: one for each place, with its source line, the rule and what to do."""
        return findings(self.state, self.images)

    @property
    def ended(self) -> bool:
        """Whether no context will run again: none executes, is ready or waits for a signal, and no agent has anything to do."""
        return ended(self.me) and not any(agent.busy() or agent.due() < NEVER for agent in self._drive.agents)

    def deadlock(self) -> Diagnostic | None:
        """If packets are inside, or input waits, while contexts sleep on signals that nobody can raise: who waits for what, and
        who would raise it. A run in which nothing else happens ends by itself with the reason "deadlock"."""
        return deadlock(self.state, self.me, self.images, self.cycle)

    # Programs

    def _me(self, me: int) -> Microengine:
        return self.me[me]

    def load(self, me: int, image: Image, start: bool = True) -> None:
        """Put an image into microengine `me`; with `start`, at address 0 with all contexts enabled."""
        if not isinstance(image, Image):
            raise user_error(
                codes.PROGRAM_UNUSABLE, f"{arguments.shown(image)} is no image",
                help="make one by assemble(path) or Image.load(path); load_words takes bare words",
            )
        check_closed(image)
        self.load_words(me, image.words, contexts=image.contexts, start=False)
        self.images[me] = image
        apply(self, me, image)
        if start:
            self.start(me)
        for probe in image.probes:
            self.probes.attach(me, probe.address, probe.key, probe.name)

    def load_words(self, me: int, words: Iterable[int], contexts: int = 8, start: bool = True) -> None:
        """The same with bare words. UserError for more than the control store has room for."""
        engine = self._me(me)
        checked, contexts = checked_words(words), context_mode(contexts)
        self.probes.forget(engine.number)
        engine.load(checked, contexts)
        self._note(LOAD, (engine.number, contexts), halves(checked))
        self.images.pop(engine.number, None)
        self._break_marks()
        if start:
            self.start(me)

    def start(self, me: int, contexts: int | None = None) -> None:
        """Set the program counters of microengine `me` to 0 and enable its contexts, or those of a mask."""
        engine = self._me(me)
        there = 0x55 if engine.contexts == 4 else 0xFF
        mask = there if contexts is None else arguments.whole("a mask of contexts", contexts, code=codes.ME_UNKNOWN)
        if mask & ~there:
            numbers = "0 to 7" if there == 0xFF else "0, 2, 4 and 6"
            raise user_error(
                codes.ME_UNKNOWN, f"microengine {me} has no contexts of the mask {mask:#x}",
                help=f"one bit a context: it has contexts {numbers}",
            )
        self._call(HOST_RESET, engine.number)
        self._call(HOST_ENABLE, engine.number, mask)

    def break_at(self, me: int, address: int) -> None:
        """Set a breakpoint for `run(to_break=True)`."""
        self._breaks.add(self._instruction(me, address))
        self._break_marks()

    def clear_break(self, me: int, address: int) -> None:
        """Remove a breakpoint if there is one."""
        self._breaks.discard(self._instruction(me, address))
        self._break_marks()

    def _instruction(self, me: int, address: int) -> tuple[int, int]:
        where = arguments.whole("the address of an instruction", address, 0, self._store_words - 1, code=codes.ME_UNKNOWN)
        return self._me(me).number, where

    def _break_marks(self) -> None:
        self.state.code["marks"] &= np.uint8(0xFF ^ MARK_BREAK)
        for me, address in self._breaks:
            self.state.code["marks"][me * self.me[me].store_room + address] |= np.uint8(MARK_BREAK)

    # Python's accesses

    def attach(self, agent: Agent) -> None:
        """Let an agent act on the chip from now on."""
        if not isinstance(agent, Agent):
            raise arguments.wrong("an agent", agent, "it has the methods due, busy, act and interrupt: see ixpemu.chip_agents")
        self._drive.agents.append(agent)

    def originate(self, handle: int, length: int) -> int:
        """Number a packet that Python has put into buffer `handle` for the microengines to send, so that it is accounted for.

        `length` in bytes. Its row says that it came in at no port. Returns its number, 0 without packet accounting.
        """
        arguments.whole("the length of a packet", length, 1, 0xFFFF)
        return self._call(HOST_ORIGINATE, arguments.word("a buffer handle", handle), length)

    def _call(self, operation: int, a: int = 0, b: int = 0, c: int = 0) -> int:
        with arithmetic():
            result = int(host_call(self._states, self._memory, np.uint64(operation), np.uint64(a), np.uint64(b), np.uint64(c),
                                   np.uint64(self._drive.cycle)))
        self._drive.refresh()
        if changes(operation, a, b):
            self.journal.note(Entry(self._drive.cycle, operation, (a, b, c), result=result))
        if self._drive.observation.sinks:
            self._drive.observation.host(self._drive.cycle, operation, a, b, c, result)
        return result

    def _note(self, operation: int, arguments: tuple[int, ...], words: npt.NDArray[np.uint32] | None = None) -> None:
        self.journal.note(Entry(self._drive.cycle, operation, arguments, words))

    def _store(self, index: int, words: npt.NDArray[np.uint32]) -> None:
        self._memory[index : index + len(words)] = words
        flag_pages(self._memory, index, len(words))
        self.journal.note(Entry(self._drive.cycle, STORE, (index,), words))

    # Time

    def run(
        self, cycles: int | None = None, *, packets: int | None = None, until: Callable[[Chip], bool] | None = None,
        to_break: bool = False,
    ) -> Stop:
        """Run until a limit or until nothing is left to do.

        `cycles`: that many from now. `packets`: until so many more have been sent or dropped. `until`: called after every
        committed external operation, ends the run when true. `to_break`: stop at breakpoints. Reasons: "cycles", "packets",
        "until", "break", "halt" (a microengine executed halt), "reserved" (an instruction that cannot be executed; any reserved
        behaviour if strict), "deadlock" (nothing will happen any more, with packets inside that
        threads wait for in vain), "quiet" (nothing will happen any more, or all input is used up and no packet is inside).
        """
        for name, value in (("cycles", cycles), ("packets", packets)):
            if value is not None and (not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 0):
                raise user_error(codes.RUN_ARGUMENT, f"cannot run for {arguments.shown(value)} {name}",
                                 help="a whole number, 0 or more")
        if until is not None:
            arguments.function("what a run is to go on until", until, "until=lambda chip: chip.cycle > 100", codes.RUN_ARGUMENT)
        target = NEVER if cycles is None else min(NEVER, self._drive.cycle + int(cycles))
        done = self.packets_sent + self.packets_dropped
        self._stop_at_packets[0] = NEVER if packets is None else min(NEVER, done + int(packets))
        mask = reasons(packets=packets is not None, commits=until is not None, strict=self.strict, to_break=to_break)
        self._engines["base_marks"] = (
            MARK_EXTERNAL | (MARK_PROBE | MARK_WATCH if self.mode != "fast" else 0) | (MARK_BREAK if to_break else 0)
        )
        return self._drive.run(target, mask, None if until is None else lambda: until(self))

    def observe(self, sink: Sink, kinds: Iterable[str] | None = None) -> None:
        """Call `sink` with what happens from now on: arrays of records (`ixpemu.engine.observation.OBSERVED`), in order of time.

        `kinds`: names of those wanted, all by default (`SEEN_NAMES`). A chip that somebody observes runs an engine of its own,
        which is compiled when it is first wanted and does exactly the same, more slowly. A sink gets what happened at a cycle
        when the chip has left it, at the end of each run at the latest.
        """
        arguments.function("what is called with events", sink, "lambda events: print(len(events))")
        self._check_observable()
        self._drive.observation.add(sink, kinds_of(kinds))

    def touched(self, unit: int, address: int, words: int, writes: bool, mask: int = 15) -> None:
        """Whoever stands for the XScale says what memory it has just read or written, for those who observe: `words` words of a
        unit from byte `address` on, of each the bytes of `mask` (bit 0 for the lowest address)."""
        if self._drive.observation.sinks:
            self._drive.observation.access(self._drive.cycle, unit, address, words, mask, writes)

    def _check_observable(self) -> None:
        """In what is observed, 8 stands for the XScale: there is no room for a ninth microengine."""
        if self.parameters["chip.microengines"] > OBSERVABLE:
            raise user_error(
                codes.CHIP_MODE, f"a chip of {self.parameters['chip.microengines']} microengines cannot be observed",
                help=f"traces and races are of chips of up to {OBSERVABLE} microengines: set chip.microengines={OBSERVABLE}",
            )

    def unobserve(self, sink: Sink) -> None:
        """Stop calling `sink`."""
        self._drive.observation.remove(sink)

    def where(self) -> str:
        """Where the microengines are, as text: the program counter of each one's executing context."""
        return places(self._engines)

    def step(self, me: int) -> Stop:
        """Run until microengine `me` has executed one more instruction; everything else keeps time with it."""
        return self._drive.step(self._me(me), lambda cycles: self.run(cycles=cycles))

    def step_cycle(self) -> Stop:
        """Run one cycle."""
        return self.run(cycles=1)

    # Saving

    def snapshot(self) -> Snapshot:
        """Everything that decides what the chip does next, and what its agents want to have saved with it."""
        agents = tuple(agent.snapshot() if isinstance(agent, SavingAgent) else None for agent in self._drive.agents)
        return chip_snapshot.take(
            self._array, self._memory, self._drive.cycle, self.parameter_values, len(self.journal), self.ports.save(), agents
        )

    def restore(self, saved: Snapshot) -> None:
        """Go back (or forward) to a snapshot of this chip or of one with the same parameters.

        Its agents go back too if there are as many as there were: a chip without any can still replay a journal from there.
        """
        if not isinstance(saved, Snapshot):
            raise arguments.wrong("a saved state", saved, "give what chip.snapshot() returned", codes.SNAPSHOT_FOREIGN)
        chip_snapshot.put_back(saved, self._array, self._memory, self.parameter_values)
        self._drive.translations.restored()
        self._drive.cycle = saved.cycle
        self._drive.used_up = False
        self._drive.idle_stop = None
        # How it looks at the machine is this chip's own business and not the snapshot's.
        self.state.mode = 0 if self.mode == "fast" else 1
        self.state.reserved_allowed = self._allowed
        self._drive.observation.forget()
        self._break_marks()
        del self.journal.entries[saved.journal:]
        self.ports.load(saved.ports)
        if len(saved.agents) == len(self._drive.agents):
            for agent, state in zip(self._drive.agents, saved.agents, strict=True):
                if isinstance(agent, SavingAgent):
                    agent.restore(state)

    def replay(self, journal: Iterable[Entry], cycle: int) -> Stop:
        """Run to `cycle`, doing what a journal says at its cycles and calling no agent. Entries before the chip's cycle are
        skipped."""
        arguments.whole("the cycle to replay to", cycle, code=codes.RUN_ARGUMENT)
        agents, self._drive.agents = self._drive.agents, []
        try:
            return replay(self, checked_journal(journal), cycle, self._again)
        finally:
            self._drive.agents = agents

    def _again(self, entry: Entry) -> None:
        """Do what a journal entry says, now."""
        if entry.operation == PROBE:
            self.probes.place(*entry.arguments)
        elif entry.words is None:
            self._call(entry.operation, *entry.arguments)
        elif entry.operation == LOAD:
            self.load_words(entry.arguments[0], whole(entry.words), entry.arguments[1], start=False)
        elif entry.operation == PATCH:
            self._patch.write(entry.arguments[0], entry.words)
        else:
            self._store(entry.arguments[0], entry.words)

    def __repr__(self) -> str:
        return f"<{self.family} {self.parameters.name} at cycle {self._drive.cycle:,}: {self.where()}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{me.number}</th><td>{me.executing if me.executing is not None else 'idle'}</td>"
            + "".join(f"<td>{ctx.state} {ctx.pc}</td>" for ctx in me.ctx) + "</tr>" for me in self.me)
        heads = "".join(f"<th>ctx {k}</th>" for k in range(CONTEXTS))
        return f"<table><caption>cycle {self._drive.cycle:,}</caption><tr><th>me</th><th>executing</th>{heads}</tr>{rows}</table>"
