"""The PCI unit as a user holds it: its registers from either side of the bus, the host's memory, and the host as a bus master.

`chip.pci.host` is the memory that answers on the bus from address 0 on. `csr` and `configuration` are what the XScale reads and
writes; `host_csr` is the other side, which sets the XScale's doorbell and clears its own. `read` and `write` are what a host does
to the chip through its base address registers: CSRs, SRAM channel 0 and 1 one behind the other, DRAM.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from ixpemu import arguments, codes
from ixpemu.chip_memory import Memory
from ixpemu.diagnostics import user_error
from ixpemu.engine.host import HOST_PCI_READ, HOST_PCI_REGISTER, HOST_PCI_WRITE
from ixpemu.toml_file import closest

Call = Callable[..., int]
REGISTERS: Mapping[str, int] = MappingProxyType({
    "OUT_INT_STATUS": 0x30, "OUT_INT_MASK": 0x34, **{f"MAILBOX_{k}": 0x50 + 4 * k for k in range(4)},
    "XSCALE_DOORBELL": 0x60, "XSCALE_DOORBELL_SETUP": 0x64, "PCI_DOORBELL": 0x70, "PCI_DOORBELL_SETUP": 0x74,
    **{f"DMA_{name}_{channel + 1}": 0x80 + 0x20 * channel + 4 * k for channel in range(3)
       for k, name in enumerate(("BYTE_CNT", "PCI_ADDR", "DRAM_ADDR", "DESC_PTR", "CONTROL", "ME_PARAM"))},
    "DMA_INF_MODE": 0xE0, "SRAM_BAR_MASK": 0xFC, "DRAM_BAR_MASK": 0x100, "CONTROL": 0x13C, "ADDR_EXT": 0x140,
    "ME_PUSH_STATUS": 0x148, "ME_PUSH_ENABLE": 0x14C, "ERROR_STATUS": 0x150, "ERROR_ENABLE": 0x154,
    "XSCALE_INT_STATUS": 0x158, "XSCALE_INT_ENABLE": 0x15C,
})
"""Byte offsets of the CSRs, from 0xdf000000 on (the Linux driver's, H)."""
CONFIGURATION: Mapping[str, int] = MappingProxyType({
    "VENDOR_DEVICE": 0x00, "COMMAND_STATUS": 0x04, "CLASS_REVISION": 0x08, "CSR_BAR": 0x10, "SRAM_BAR": 0x14, "DRAM_BAR": 0x18,
})
"""Byte offsets of the configuration registers, from 0xde000000 on (H)."""
CSR_BYTES = 0x100000            # what the first base address register shows
BAR_MASK = 0xFFFFFFF0


class PciRegisters:
    """One set of registers, by name or byte offset."""

    def __init__(
        self, what: str, names: Mapping[str, int], length: int, read: Callable[[int], int], write: Callable[[int, int], None]
    ) -> None:
        self._what, self._names, self._length, self._read, self._write = what, names, length, read, write

    def _offset(self, key: str | int) -> int:
        if isinstance(key, str):
            if key.upper() in self._names:
                return self._names[key.upper()]
            near = closest(key, [name.lower() for name in self._names])
            raise user_error(codes.CSR_UNKNOWN, f"PCI has no {self._what} {arguments.shown(key)}",
                             help=f"did you mean {near.upper()}?" if near else f"one of {', '.join(self._names)}")
        return arguments.whole(f"the offset of a PCI {self._what}", key, 0, self._length - 4, code=codes.CSR_UNKNOWN)

    def __getitem__(self, key: str | int) -> int:
        return self._read(self._offset(key))

    def __setitem__(self, key: str | int, value: int) -> None:
        self._write(self._offset(key), arguments.word("the value of a register", value))

    def __repr__(self) -> str:
        return f"<PCI {self._what}s>"


class Pci:
    """The unit and what is on its bus."""

    def __init__(self, call: Call, host: Memory, sram: Sequence[Memory], dram: Memory) -> None:
        self._call = call
        self.host = host
        self._sram, self._dram = sram, dram

        def register(offset: int) -> int:
            return call(HOST_PCI_READ, 0xDF000000 + offset)

        self.csr = PciRegisters("CSR", REGISTERS, 0x200, register,
                                lambda offset, value: _nothing(call(HOST_PCI_WRITE, 0xDF000000 + offset, value)))
        self.host_csr = PciRegisters("CSR", REGISTERS, 0x200, register,
                                     lambda offset, value: _nothing(call(HOST_PCI_REGISTER, offset, value)))
        self.configuration = PciRegisters("configuration register", CONFIGURATION, 0x40,
                                          lambda offset: call(HOST_PCI_READ, 0xDE000000 + offset),
                                          lambda offset, value: _nothing(call(HOST_PCI_WRITE, 0xDE000000 + offset, value)))

    @property
    def interrupt(self) -> bool:
        """Whether the chip interrupts the host: a doorbell rings and OUT_INT_MASK lets it."""
        return bool(self.csr["OUT_INT_STATUS"] & ~self.csr["OUT_INT_MASK"])

    def read(self, address: int) -> int:
        """The word that a host gets at a bus address of the chip."""
        place, offset = self._target(address)
        return self.host_csr[offset] if place is None else int(place[offset])

    def write(self, address: int, value: int) -> None:
        """What a host writes there."""
        place, offset = self._target(address)
        if place is None:
            self.host_csr[offset] = value
        else:
            place[offset] = arguments.word("a word", value)

    def _target(self, address: int) -> tuple[Memory | None, int]:
        """The memory (None: the CSRs) and the offset in it behind a bus address. UserError where no base address register is."""
        arguments.whole("a bus address", address, 0, 0xFFFFFFFF)
        if address & 3:
            raise user_error(codes.MEMORY_ADDRESS, f"{address:#x} is in the middle of a word", help="words lie at multiples of 4")
        bars = {name: self.configuration[name] & BAR_MASK for name in ("CSR_BAR", "SRAM_BAR", "DRAM_BAR")}
        sizes = {"CSR_BAR": CSR_BYTES - 1, "SRAM_BAR": self.csr["SRAM_BAR_MASK"], "DRAM_BAR": self.csr["DRAM_BAR_MASK"]}
        for name, base in bars.items():
            if base and base <= address <= base + (sizes[name] | 3):
                offset = address - base
                if name == "CSR_BAR":
                    return None, offset & 0x1FC
                if name == "DRAM_BAR":
                    return self._dram, offset
                first = self._sram[0].length
                return (self._sram[0], offset) if offset < first else (self._sram[1], offset - first)
        raise user_error(
            codes.MEMORY_ADDRESS, f"the chip does not answer at bus address {address:#x}",
            help="set SRAM_BAR or DRAM_BAR of chip.pci.configuration, and their masks (size less one) in chip.pci.csr",
        )

    def __repr__(self) -> str:
        return f"<PCI: host memory of {self.host.length:,} bytes>"


def _nothing(_: int) -> None:
    return None
