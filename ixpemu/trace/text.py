"""A trace as text: one event a line, in fixed columns. What a file of it looks like, and how it is written and read back.

    #ixpemu trace 1
         cycle me ctx   pc kind      what                                            source
            12  0   3   45 issue     a3 = 0x00000010                                 forward.uc:45 alu[sum, sum, +, 1]

Columns are separated by blanks; the first five have none inside. Microengine 8 stands for the XScale. Lines that begin with `#`
are comments. File names are without their folders, so that two machines write the same. Registers are those of the event's
context, as `.physical` names them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from ixpemu.engine import observation as seen
from ixpemu.engine.actions import COMMANDS, UNIT_OPERATIONS
from ixpemu.engine.layout import (
    CONSTANT,
    DRAM_IN,
    DRAM_OUT,
    GPR_A,
    GPR_B,
    LOCAL_MEMORY,
    NEIGHBOR,
    SINK,
    SRAM_IN,
    SRAM_OUT,
    UNIT_NAMES,
    UNIT_SRAM0,
    UNIT_SRAM1,
    WAKEUP_ANY,
)
from ixpemu.image import WORD_LIMIT
from ixpemu.isa import instruction_set

if TYPE_CHECKING:
    from ixpemu.chip import Chip
    from ixpemu.chip_observe import Events
    from ixpemu.image import Image

MAGIC = "#ixpemu trace 1"
HEAD = f"#{'cycle':>11} me ctx   pc {'kind':<9} {'what':<47} source"
FORM = "{:>12} {:>2} {:>3} {:>4} {:<9} {:<47} {}"
FIRST_COLUMNS = 5
_BANKS = ((GPR_A, "a"), (GPR_B, "b"), (SRAM_IN, "$"), (SRAM_OUT, "$"), (DRAM_IN, "$$"), (DRAM_OUT, "$$"), (NEIGHBOR, "n$"))
_PLACED = {seen.SEEN_ISSUE, seen.SEEN_BRANCH, seen.SEEN_COMMAND, seen.SEEN_ACCESS, seen.SEEN_WRITE, seen.SEEN_RING,
           seen.SEEN_PROBE, seen.SEEN_STALL, seen.SEEN_CSR, seen.SEEN_TEST, seen.SEEN_CAM, seen.SEEN_BUFFER}
"""Kinds whose address is that of the instruction that did it."""
_CAM = {seen.CAM_MISS: "missed", seen.CAM_HIT: "found", seen.CAM_READ: "read", seen.CAM_WRITE: "written",
        seen.CAM_STATE: "given a state"}
_BUFFER = {seen.BUFFER_READ: "copied from RBUF", seen.BUFFER_WRITE: "copied to TBUF", seen.BUFFER_FREE: "given back of RBUF",
           seen.BUFFER_SEND: "valid of TBUF"}


@dataclass(frozen=True, slots=True)
class Window:
    """What of a run is wanted: microengines, cycles from `first` to before `end`, kinds by name, packets; None for all."""

    engines: frozenset[int] | None = None
    first: int = 0
    end: int | None = None
    packets: frozenset[int] | None = None
    kinds: frozenset[str] | None = None

    @property
    def observed(self) -> frozenset[str] | None:
        """The kinds that have to be observed for it: packets are followed by what says who works on which."""
        return self.kinds if self.kinds is None or self.packets is None else self.kinds | {"probe", "packet"}


@cache
def register_name(place: int, ctx: int, relative: bool) -> str:
    """The register of a register-file index, as context `ctx` calls it (`relative`) or as an absolute one."""
    if LOCAL_MEMORY <= place < CONSTANT:
        return f"l[{place - LOCAL_MEMORY}]"
    if place >= CONSTANT:
        return ""
    base, letter = max(bank for bank in _BANKS if bank[0] <= place)
    number = place - base
    if relative and 0 <= number - 16 * ctx < 32:
        return f"{letter}{number - 16 * ctx}"
    return f"@{letter}{number}"


def signal_names(mask: int) -> str:
    """`s2 s3` for a mask of event signals."""
    return " ".join(f"s{k}" for k in range(1, 16) if mask >> k & 1)


def wakeup_text(mask: int) -> str:
    """What a context waits for, ENGINE.wakeup, in words."""
    names = signal_names(mask)
    if mask & WAKEUP_ANY:
        return f"any of {names}" if names else "nothing"
    return names if names else "its turn"


_COMMAND_WORDS: dict[tuple[int, int], str] = {}
for _name, _key in (*COMMANDS.items(), *((_name, _key[:2]) for _name, _key in UNIT_OPERATIONS.items())):
    _COMMAND_WORDS.setdefault(_key, _name.partition("_")[2].replace("_", " "))


def command_text(unit: int, command: int) -> str:
    """A unit and what it is asked to do: `sram1 read`."""
    key = UNIT_SRAM0 if unit == UNIT_SRAM1 else unit
    return f"{UNIT_NAMES[unit]} {_COMMAND_WORDS.get((key, command), f'command {command}')}"


class Program:
    """The instructions of one microengine: the window of each destination, and its source line or disassembly."""

    def __init__(self, chip: Chip, me: int, image: Image | None) -> None:
        room = chip.me[me].store_room
        first = me * room
        self._windows = chip.state.code["d_window"][first : first + room]
        self._words = chip.state.store[first : first + room]
        self._image = image
        self._contexts = chip.me[me].contexts
        self._sources: dict[int, str] = {}

    def relative(self, pc: int) -> bool:
        """Whether the instruction at `pc` writes a register of its context."""
        return bool(self._windows[pc])

    def source(self, pc: int) -> str:
        """`forward.uc:45 alu[sum, sum, +, 1]`, or the disassembly of the word where there is no source."""
        found = self._sources.get(pc)
        if found is None:
            found = self._sources[pc] = self._find(pc)
        return found

    def _find(self, pc: int) -> str:
        if self._image is not None and pc < len(self._image.debug):
            origin = self._image.debug[pc]
            return f"{PurePath(origin.place.file).name}:{origin.place.line} {' '.join(origin.source.split())}"
        word = int(self._words[pc]) & (WORD_LIMIT - 1)     # above them is whether it was ever written
        decoded = instruction_set().decode(word, self._contexts)
        return f"0x{word:010x}" if decoded is None else instruction_set().format(decoded.operation)


class Describer:
    """Turns records into lines of text, for one chip and the images that its microengines run."""

    def __init__(self, chip: Chip, images: Mapping[int, Image] | None = None) -> None:
        images = images or {}
        self._programs = {me.number: Program(chip, me.number, images.get(me.number)) for me in chip.me}
        self._probes = {probe.number: probe.name for probe in chip.probes}

    def line(self, event: Any) -> str:
        """One line, without its end."""
        cycle, kind, me, ctx, unit, pc, place, value, a, b, address, extra = event
        what = self._what(kind, cycle, me, ctx, unit, pc, place, value, a, b, address, extra)
        if kind in _PLACED and me in self._programs:
            return FORM.format(cycle, me, ctx, pc, seen.SEEN_NAMES[kind], what, self._programs[me].source(pc)).rstrip()
        return FORM.format(cycle, me, ctx, "-", seen.SEEN_NAMES[kind], what, "").rstrip()

    def _what(
        self, kind: int, cycle: int, me: int, ctx: int, unit: int, pc: int, place: int, value: int, a: int, b: int, address: int,
        extra: int,
    ) -> str:
        match kind:
            case seen.SEEN_ISSUE:
                name = register_name(place, ctx, self._programs[me].relative(pc))
                return f"{name} = 0x{value:08x}" if name else "-" if place == SINK and not value else f"0x{value:08x}"
            case seen.SEEN_BRANCH:
                if not value:
                    return "not taken"
                return f"to {address}" + (f" after {extra}" if extra else "")
            case seen.SEEN_ABORT | seen.SEEN_STALL:
                return f"{value} cycle" + ("s" if value != 1 else "")
            case seen.SEEN_SWAP:
                return f"waits for {wakeup_text(value)}"
            case seen.SEEN_START:
                return f"had waited for {wakeup_text(value)}"
            case seen.SEEN_COMMAND:
                whose = "" if b == me * 8 + ctx else f" of {b >> 3}.{b & 7}"
                register = register_name(place, b & 7, True)
                text = f"{command_text(unit, a)} 0x{address:x}, {value}" + (f" at {register}{whose}" if register else "")
                return text + (f", {signal_names(extra)}" if extra else "")
            case seen.SEEN_ACCESS:
                return f"{command_text(unit, a)} 0x{address:x}, {value}"
            case seen.SEEN_WRITE:
                return f"{UNIT_NAMES[unit]} 0x{address:x} = 0x{value:08x}" + (f", bytes {extra:04b}" if extra != 15 else "")
            case seen.SEEN_REGISTER:
                return f"{register_name(place, ctx, True)} = 0x{value:08x}"
            case seen.SEEN_DONE:
                return f"{UNIT_NAMES[unit]}, {signal_names(value)}"
            case seen.SEEN_SIGNAL:
                return signal_names(value)
            case seen.SEEN_SEND:
                return f"{signal_names(value)} to {address >> 3}.{address & 7}, there at {cycle + extra}"
            case seen.SEEN_RING:
                return f"{UNIT_NAMES[unit]} ring {address} {'<-' if extra else '->'} 0x{value:08x}"
            case seen.SEEN_PROBE:
                what = f"packet {value}" if value else "no packet"
                return f"{self._probes.get(extra, extra)}: {what}"
            case seen.SEEN_CSR:
                csr = instruction_set().csr_at(address)
                return f"{csr.name if csr is not None else f'{address:#x}'} = 0x{value:08x}"
            case seen.SEEN_TEST:
                return f"s{address} {'has come' if value else 'has not come'}"
            case seen.SEEN_NEIGHBOR:
                return f"n${address & 127} of {address >> 7} = 0x{value:08x}, there at {cycle + extra}"
            case seen.SEEN_CAM:
                said = f"tag 0x{value:08x}" if extra == seen.CAM_MISS else f"tag 0x{value:08x}, state {a}"
                return "cleared" if extra == seen.CAM_CLEAR else f"entry {address} {_CAM[extra]}: {said}"
            case seen.SEEN_BUFFER:
                return f"{_BUFFER[extra]} 0x{address:x}, {value} bytes"
            case _:
                return f"packet {value}"


class TextTrace:
    """A sink for `chip.observe` that writes lines. `lines` have been written so far."""

    def __init__(self, stream: TextIO, describe: Callable[[Any], str], window: Window, title: Iterable[str] = ()) -> None:
        self._stream = stream
        self._describe = describe
        self._window = window
        self._packet: dict[int, int] = {}       # which packet each context works on
        self.lines = 0
        stream.write("\n".join([MAGIC, *(f"# {text}" for text in title), HEAD]) + "\n")

    def __call__(self, events: Events) -> None:
        window = self._window
        wanted = events["cycle"] >= window.first
        if window.end is not None:
            wanted &= events["cycle"] < window.end
        if window.engines is not None:
            wanted &= np.isin(events["me"], list(window.engines))
        if window.kinds is not None:
            numbers = np.array([name in window.kinds for name in seen.SEEN_NAMES])
            wanted &= numbers[events["kind"]]
        if window.packets is None:
            self._write(events[wanted].tolist())
            return
        self._write([event for event, inside in zip(events.tolist(), wanted.tolist(), strict=True)
                     if self._works_on(event, window.packets) and inside])

    def _works_on(self, event: Any, packets: frozenset[int]) -> bool:
        """Whether the context of an event works on one of `packets`; events have to come in order."""
        kind, thread = event[1], event[2] * 8 + event[3]
        if kind in (seen.SEEN_PACKET, seen.SEEN_PROBE):
            before = self._packet.get(thread, 0)
            self._packet[thread] = event[7]
            return before in packets or event[7] in packets
        return self._packet.get(thread, 0) in packets

    def _write(self, events: list[Any]) -> None:
        describe = self._describe
        self._stream.write("".join(f"{describe(event)}\n" for event in events))
        self.lines += len(events)
