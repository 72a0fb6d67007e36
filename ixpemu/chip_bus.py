"""The chip as its XScale addresses it: one space of 32-bit physical addresses, and the interrupt controller by register name.

Reads and writes act at the chip's cycle and cost no time; the control side's own accesses, which do, are `ixpemu.xscale`'s. What
memories and registers are where is the Linux driver's (H), but for scratch memory (L). Accesses are of aligned 32-bit words.
A local CSR that is reached this way while its microengine accesses one is lost, as on the chip: LOCAL_CSR_STATUS then reads 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ixpemu import arguments, codes
from ixpemu.chip_memory import Memory, Scratch
from ixpemu.diagnostics import user_error
from ixpemu.engine.host import (
    HOST_BUS_READ,
    HOST_BUS_WRITE,
    HOST_CAP_READ,
    HOST_CAP_WRITE,
    HOST_INTERRUPT_READ,
    HOST_INTERRUPT_WRITE,
    HOST_MSF_READ,
    HOST_MSF_WRITE,
    HOST_PCI_READ,
    HOST_PCI_WRITE,
    HOST_RING_GET,
    HOST_RING_PUT,
    HOST_TIMER_READ,
    HOST_TIMER_WRITE,
)
from ixpemu.engine.layout import INTERRUPTS, UNIT_DRAM, UNIT_SCRATCH, UNIT_SRAM0

Call = Callable[..., int]
INTERRUPT_REGISTERS: Mapping[str, int] = MappingProxyType({
    "RAW_STATUS": 0x00, "SOFT": 0x04, "STATUS": 0x08, "FIQ_STATUS": 0x0C, "ENABLE_SET": 0x10, "FIQ_CLEAR": 0x14,
    "ENABLE_CLEAR": 0x18, "FIQ_SET": 0x1C,
    **{f"THREAD_RAW_{letter}{k}": base + 4 * k for letter, base in (("A", 0x60), ("B", 0x80)) for k in range(4)},
    **{f"THREAD_STATUS_{letter}{k}": base + 4 * k for letter, base in (("A", 0xE0), ("B", 0x100)) for k in range(4)},
    **{f"THREAD_ENABLE_SET_{letter}{k}": base + 4 * k for letter, base in (("A", 0x160), ("B", 0x180)) for k in range(4)},
    **{f"THREAD_ENABLE_CLEAR_{letter}{k}": base + 4 * k for letter, base in (("A", 0x1E0), ("B", 0x200)) for k in range(4)},
})
"""Byte offsets of the interrupt controller's registers, from 0xd6000000 on. RAW_STATUS, SOFT, FIQ_STATUS and FIQ_SET are
recalled or assumed."""


@dataclass(frozen=True, slots=True)
class Window:
    """A part of the address space: `read(offset)` and `write(offset, value)` of words, by byte offset from `first`."""

    name: str
    first: int
    length: int
    read: Callable[[int], int]
    write: Callable[[int, int], None]
    unit: int | None = None
    """The unit whose memory it is."""


class Interrupts:
    """The interrupt controller: registers by name, and what is pending in words."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def _offset(self, name: str) -> int:
        if not isinstance(name, str) or name.upper() not in INTERRUPT_REGISTERS:
            raise user_error(codes.CSR_UNKNOWN, f"the interrupt controller has no register {arguments.shown(name)}",
                             help=f"one of {', '.join(sorted(INTERRUPT_REGISTERS))}")
        return INTERRUPT_REGISTERS[name.upper()]

    def __getitem__(self, name: str) -> int:
        return self._call(HOST_INTERRUPT_READ, self._offset(name))

    def __setitem__(self, name: str, value: int) -> None:
        self._call(HOST_INTERRUPT_WRITE, self._offset(name), arguments.word("the value of a register", value))

    @property
    def pending(self) -> list[str]:
        """Names of the interrupts whose raw status is set, enabled or not."""
        raw = self["RAW_STATUS"]
        threads = {16: 0xF << 16, 24: 0xF << 24}
        return [name for bit, name in INTERRUPTS.items() if raw & threads.get(bit, 1 << bit)]

    def mask(self, *names: str) -> None:
        """Disable interrupts by name ("thread_a", "attention", "timer1", ...): no handler hears of them."""
        self["ENABLE_CLEAR"] = self._bits(names)

    def unmask(self, *names: str) -> None:
        """Enable them again; what has come meanwhile is told then."""
        self["ENABLE_SET"] = self._bits(names)

    def _bits(self, names: Sequence[str]) -> int:
        known = {name: bit for bit, name in INTERRUPTS.items()}
        bits = 0
        for name in names:
            if name not in known:
                raise user_error(codes.ARGUMENT, f"there is no interrupt {arguments.shown(name)}",
                                 help=f"one of {', '.join(known)}")
            bits |= (0xF if known[name] in (16, 24) else 1) << known[name]
        return bits

    def __repr__(self) -> str:
        return f"<interrupt controller: {', '.join(self.pending) or 'nothing'} pending>"


class XScaleBus:
    """Physical memory as the XScale sees it: `chip.xscale.read(0x80000100)`; `chip.xscale.interrupts["STATUS"]`."""

    def __init__(
        self, call: Call, dram: Memory, sram: Sequence[Memory], scratch: Scratch, microengines: Sequence[int]
    ) -> None:
        """`microengines`: the chip's own numbers of them."""
        self._call = call
        self.interrupts = Interrupts(call)
        memories = [Window("DRAM", 0, dram.length, *_words(dram), UNIT_DRAM)]
        memories += [
            Window(f"SRAM channel {k}", 0x80000000 + (k << 28), one.length, *_words(one), UNIT_SRAM0 + k)
            for k, one in enumerate(sram)]
        self.windows: tuple[Window, ...] = (
            *memories,
            self._device("CSR access proxy", 0xC0004000, 0x1000, HOST_CAP_READ, HOST_CAP_WRITE, 0x4000),
            *(Window(f"CSRs of microengine {me}", 0xC0018000 + ((number >> 4) << 14) + ((number & 15) << 10), 0x200,
                     *self._local(me)) for me, number in enumerate(microengines)),
            self._device("timers", 0xC0020000, 0x40, HOST_TIMER_READ, HOST_TIMER_WRITE, 0),
            self._device("MSF", 0xC8000000, 0x4000, HOST_MSF_READ, HOST_MSF_WRITE, 0),
            Window("scratch memory", 0xCA000000, scratch.length, *_words(scratch), UNIT_SCRATCH),
            Window("scratch rings", 0xCB400000, 64, self._get, self._put),
            self._device("interrupt controller", 0xD6000000, 0x210, HOST_INTERRUPT_READ, HOST_INTERRUPT_WRITE, 0),
            self._device("PCI configuration", 0xDE000000, 0x40, HOST_PCI_READ, HOST_PCI_WRITE, 0xDE000000),
            self._device("PCI CSRs", 0xDF000000, 0x200, HOST_PCI_READ, HOST_PCI_WRITE, 0xDF000000),
            self._device("PCI memory", 0xE0000000, 0x20000000, HOST_PCI_READ, HOST_PCI_WRITE, 0xE0000000),
        )

    def window(self, address: int) -> Window:
        """What is at an address. UserError where nothing is, or not a whole word."""
        arguments.whole("a physical address", address, 0, 0xFFFFFFFF)
        for window in self.windows:
            if window.first <= address < window.first + window.length:
                if address & 3:
                    raise user_error(codes.MEMORY_ADDRESS, f"{address:#x} is in the middle of a word",
                                     help="words lie at multiples of 4; chip.dram.read_bytes reads bytes")
                return window
        near = min(self.windows, key=lambda one: min(abs(address - one.first), abs(address - one.first - one.length + 1)))
        raise user_error(codes.MEMORY_ADDRESS, f"the XScale has nothing at {address:#x}",
                         help=f"nearest is {near.name}, from {near.first:#x} to {near.first + near.length - 1:#x}")

    def read(self, address: int) -> int:
        """The word at a physical address, with all that reading it causes."""
        window = self.window(address)
        return window.read(address - window.first)

    def write(self, address: int, value: int) -> None:
        """Write it."""
        window = self.window(address)
        window.write(address - window.first, arguments.word("a word", value))

    def _device(self, name: str, first: int, length: int, reading: int, writing: int, base: int) -> Window:
        def read(offset: int) -> int:
            return self._call(reading, base + offset)

        def write(offset: int, value: int) -> None:
            self._call(writing, base + offset, value)

        return Window(name, first, length, read, write)

    def _local(self, me: int) -> tuple[Callable[[int], int], Callable[[int, int], None]]:
        def read(offset: int) -> int:
            return self._call(HOST_BUS_READ, me, offset)

        def write(offset: int, value: int) -> None:
            self._call(HOST_BUS_WRITE, me, offset, value)

        return read, write

    def _get(self, offset: int) -> int:
        return self._call(HOST_RING_GET, offset >> 2)

    def _put(self, offset: int, value: int) -> None:
        self._call(HOST_RING_PUT, offset >> 2, value)

    def __repr__(self) -> str:
        return f"<the XScale's address space: {len(self.windows)} windows>"


def _words(memory: Memory) -> tuple[Callable[[int], int], Callable[[int, int], None]]:
    def read(offset: int) -> int:
        return memory[offset]

    def write(offset: int, value: int) -> None:
        memory[offset] = value

    return read, write
