"""Registers of a chip as a user holds them: microengines, contexts, local CSRs, the MSF's and the CAP's, the hash multipliers.

Register files are numpy views of the engine's state: reading and writing them is looking into and patching the machine, at once
and without a journal entry. CSRs go through the engine, with all that a write causes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, SupportsIndex, TypeVar

import numpy as np
import numpy.typing as npt

from ixpemu import codes
from ixpemu.chip_store import USTORE_LAST, Store
from ixpemu.diagnostics import user_error
from ixpemu.engine.host import (
    HOST_CAP_READ,
    HOST_CAP_WRITE,
    HOST_CSR_READ,
    HOST_CSR_WRITE,
    HOST_MSF_FAST,
    HOST_MSF_READ,
    HOST_MSF_WRITE,
    HOST_SIGNAL,
)
from ixpemu.engine.layout import (
    CONTEXTS,
    DRAM_IN,
    DRAM_OUT,
    GPR_A,
    GPR_B,
    LOCAL_MEMORY,
    LOCAL_MEMORY_WORDS,
    NEIGHBOR,
    SIGNAL_BITS,
    SRAM_IN,
    SRAM_OUT,
)
from ixpemu.isa import instruction_set
from ixpemu.toml_file import closest

Words = npt.NDArray[np.uint32]
Call = Callable[..., int]
BANK = 128
# First and last byte address of each space of CSRs.
SPACES = {"local": (0, 0x1FF), "cap": (0x4000, 0x4FFF), "msf": (0, 0x3FFF)}
Part = TypeVar("Part")


class Numbered(tuple[Part, ...]):
    """Parts of a chip by number. UserError for a number that none has; negative ones count from no end."""

    what: str
    code: int

    def __new__(cls, what: str, code: int, parts: Iterable[Part]) -> Numbered[Part]:
        made = super().__new__(cls, tuple(parts))
        made.what, made.code = what, code
        return made

    def __getitem__(self, number: SupportsIndex) -> Part:  # type: ignore[override]     # a number only; tuples also slice
        if not 0 <= (index := number.__index__()) < len(self):
            raise user_error(self.code, f"there is no {self.what} {index}", help=f"they are numbered 0 to {len(self) - 1}")
        return super().__getitem__(index)


def csr_address(key: str | int, space: str) -> int:
    """The address of a CSR given by name (any case) or address. UserError for one that does not exist."""
    if isinstance(key, int | np.integer):
        first, last = SPACES[space]
        if not first <= key <= last:
            raise user_error(
                codes.CSR_UNKNOWN, f"there is no {space} CSR at {int(key):#x}", help=f"they are from {first:#x} to {last:#x}")
        return int(key)
    found = instruction_set().csr(key, space)
    if found is None:
        near = closest(key, [csr.name.lower() for csr in instruction_set().csrs if csr.space == space])
        raise user_error(codes.CSR_UNKNOWN, f"there is no {space} CSR {key!r}",
                         help=f"did you mean {near.upper()}?" if near else "docs/reference/csrs.md has them all")
    return found.address


class Registers(MutableMapping[str | int, int]):
    """CSRs of one space by name or byte address: `chip.msf.csr["RX_CONTROL"] = 1`."""

    def __init__(self, space: str, read: Callable[[int], int], write: Callable[[int, int], None]) -> None:
        self._space = space
        self._read = read
        self._write = write

    def __getitem__(self, key: str | int) -> int:
        return self._read(csr_address(key, self._space))

    def __setitem__(self, key: str | int, value: int) -> None:
        self._write(csr_address(key, self._space), int(value) & 0xFFFFFFFF)

    def __delitem__(self, key: str | int) -> None:
        raise TypeError("a register cannot be deleted")

    def __iter__(self) -> Iterator[str | int]:
        return (csr.name for csr in instruction_set().csrs if csr.space == self._space)

    def __len__(self) -> int:
        return sum(csr.space == self._space for csr in instruction_set().csrs)

    def __repr__(self) -> str:
        return f"<{self._space} CSRs>"


class Cap:
    """The CSR access proxy: `read` and `write` by address (0x4000..0x4fff) or name; `csr` the same as a mapping."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self.csr = Registers("cap", self.read, self.write)

    def read(self, address: int | str) -> int:
        return self._call(HOST_CAP_READ, csr_address(address, "cap"))

    def write(self, address: int | str, value: int) -> None:
        self._call(HOST_CAP_WRITE, csr_address(address, "cap"), value & 0xFFFFFFFF)


class Msf:
    """The media and switch fabric: `csr` by name or byte offset, RBUF and TBUF as views of 2,048 words."""

    def __init__(self, state: Any, call: Call) -> None:
        self._call = call
        self.rbuf: Words = state.msf.rbuf
        self.tbuf: Words = state.msf.tbuf
        self.csr = Registers("msf", self.read, self.write)

    def read(self, address: int) -> int:
        return self._call(HOST_MSF_READ, csr_address(address, "msf"))

    def write(self, address: int, value: int) -> None:
        self._call(HOST_MSF_WRITE, csr_address(address, "msf"), value & 0xFFFFFFFF)

    def fast_write(self, address: int, value: int) -> None:
        """What msf[fast_wr] does: 16 bits for a CSR."""
        self._call(HOST_MSF_FAST, csr_address(address, "msf"), value & 0xFFFF)


class Multipliers(MutableMapping[int, int]):
    """The hash unit's multipliers by width: 48, 64, 128."""

    _PLACES: Mapping[int, tuple[int, int]] = {48: (0, 2), 64: (2, 2), 128: (4, 4)}

    def __init__(self, state: Any, call: Call) -> None:
        self._state = state
        self._call = call

    def _place(self, bits: int) -> tuple[int, int]:
        if bits not in self._PLACES:
            raise user_error(codes.CSR_UNKNOWN, f"the hash unit has no {bits}-bit multiplier", help="48, 64 or 128")
        return self._PLACES[bits]

    def __getitem__(self, bits: int) -> int:
        first, words = self._place(bits)
        return sum(int(self._state.hash_multiplier[first + k]) << 32 * k for k in range(words))

    def __setitem__(self, bits: int, value: int) -> None:
        first, words = self._place(bits)
        base = csr_address("HASH_MULTIPLIER", "cap")
        value &= (1 << bits) - 1
        for k in range(words):
            self._call(HOST_CAP_WRITE, base + 4 * (first + k), value >> 32 * k & 0xFFFFFFFF)

    def __delitem__(self, bits: int) -> None:
        raise TypeError("a multiplier cannot be deleted")

    def __iter__(self) -> Iterator[int]:
        return iter(self._PLACES)

    def __len__(self) -> int:
        return len(self._PLACES)


class Hash:
    """The hash unit; `multiplier[48]` and so on."""

    def __init__(self, state: Any, call: Call) -> None:
        self.multiplier = Multipliers(state, call)


@dataclass(frozen=True, slots=True)
class ConditionCodes:
    """The four condition codes, each 0 or 1."""

    n: int
    z: int
    v: int
    c: int


class Context:
    """One context of a microengine. Registers are views; with 4 contexts a microengine has 32 of each kind for each."""

    def __init__(self, me: Microengine, number: int) -> None:
        self._me = me
        self.number = number

    def _window(self, base: int) -> Words:
        count = 32 if self._me.contexts == 4 else 16
        start = base + 16 * self.number
        return self._me.file[start : min(start + count, base + BANK)]

    @property
    def gpr_a(self) -> Words:
        return self._window(GPR_A)

    @property
    def gpr_b(self) -> Words:
        return self._window(GPR_B)

    @property
    def sram_in(self) -> Words:
        return self._window(SRAM_IN)

    @property
    def sram_out(self) -> Words:
        return self._window(SRAM_OUT)

    @property
    def dram_in(self) -> Words:
        return self._window(DRAM_IN)

    @property
    def dram_out(self) -> Words:
        return self._window(DRAM_OUT)

    @property
    def neighbor(self) -> Words:
        return self._window(NEIGHBOR)

    @property
    def pc(self) -> int:
        """Address of its next instruction."""
        return int(self._me.engine.pc[self.number])

    @pc.setter
    def pc(self, address: int) -> None:
        self._me.engine.pc[self.number] = address & 0xFFF

    @property
    def state(self) -> str:
        """"executing", "ready", "sleep" or "inactive"."""
        engine = self._me.engine
        if int(engine.context) == self.number:
            return "executing"
        if not int(engine.enabled) >> self.number & 1:
            return "inactive"
        return "ready" if int(engine.ready) >> self.number & 1 else "sleep"

    @property
    def signals(self) -> frozenset[int]:
        """Numbers of the event signals that have arrived and were not consumed."""
        mask = int(self._me.engine.signals[self.number]) & SIGNAL_BITS
        return frozenset(k for k in range(1, 16) if mask >> k & 1)

    @property
    def waiting_for(self) -> frozenset[int]:
        """Numbers of the event signals it sleeps on."""
        mask = int(self._me.engine.wakeup[self.number]) & SIGNAL_BITS
        return frozenset(k for k in range(1, 16) if mask >> k & 1)

    @property
    def packet(self) -> int:
        """Number of the packet it works on, 0 for none."""
        return int(self._me.engine.packet[self.number])

    def signal(self, number: int) -> None:
        """Set an event signal, 1 to 15, as another thread would."""
        if not 1 <= number <= 15:
            raise user_error(codes.ME_UNKNOWN, f"there is no event signal {number}", help="they are numbered 1 to 15")
        self._me.call(HOST_SIGNAL, self._me.number, self.number, 1 << number)

    def __repr__(self) -> str:
        return f"<microengine {self._me.number} context {self.number}: {self.state} at {self.pc}>"


class Microengine:
    """One microengine: `ctx[0..7]`, absolute GPRs, local memory, CSRs. Numbers 0..7; the chip's own are `chip_number`."""

    def __init__(self, number: int, state: Any, call: Call) -> None:
        self.number = number
        self.engine = state.engines[number]
        self.file: Words = self.engine.file
        self.call = call
        self.ctx = Numbered("context", codes.ME_UNKNOWN, (Context(self, k) for k in range(CONTEXTS)))
        self.csr = Registers("local", self._read, self._write)
        self._store = Store(number, state)

    def _read(self, address: int) -> int:
        if address <= USTORE_LAST:
            return self._store.read(address)
        return self.call(HOST_CSR_READ, self.number, address)

    def _write(self, address: int, value: int) -> None:
        if address <= USTORE_LAST:
            self._store.write(address, value)
            return
        before = self.contexts
        self.call(HOST_CSR_WRITE, self.number, address, value)
        if self.contexts != before:
            self._store.decode_again(self.contexts)

    @property
    def contexts(self) -> int:
        """8, or 4 in the mode with twice the registers (CTX_ENABLES bit 31)."""
        return 4 if int(self.engine.ctx_enables) >> 31 else 8

    def load(self, words: Sequence[int], contexts: int) -> None:
        """Put a program into the control store, from address 0; the rest is not written. Starts nothing."""
        self.engine.ctx_enables = (int(self.engine.ctx_enables) & 0x7FFFFFFF) | (1 << 31 if contexts == 4 else 0)
        self._store.load(words, contexts)

    @property
    def store(self) -> npt.NDArray[np.uint64]:
        """The instruction words in the control store."""
        return self._store.words

    @property
    def chip_number(self) -> int:
        """0x00..0x03 in the first cluster, 0x10..0x13 in the second."""
        return (self.number >> 2) << 4 | self.number & 3

    @property
    def gpr_a_abs(self) -> Words:
        return self.file[GPR_A : GPR_A + BANK]

    @property
    def gpr_b_abs(self) -> Words:
        return self.file[GPR_B : GPR_B + BANK]

    @property
    def local_memory(self) -> Words:
        return self.file[LOCAL_MEMORY : LOCAL_MEMORY + LOCAL_MEMORY_WORDS]

    @property
    def cam(self) -> Words:
        """Tags of the content-addressable memory. It has no instructions yet and stays empty."""
        return np.zeros(16, np.uint32)

    @property
    def cc(self) -> ConditionCodes:
        engine = self.engine
        result = int(engine.cc_result)
        return ConditionCodes(result >> 31, int(result == 0), int(engine.cc_v), int(engine.cc_c))

    @property
    def executing(self) -> int | None:
        """The executing context, None while it is idle."""
        context = int(self.engine.context)
        return None if context >= 0x80 else context

    @property
    def clock(self) -> int:
        """Cycle of its next instruction: at the chip's cycle or a few beyond, or when it went idle."""
        return int(self.engine.clock)

    @property
    def cycles(self) -> dict[str, int]:
        """Cycles since reset by what was done in them: executing, aborted, stalled, idle."""
        engine = self.engine
        return {"executing": int(engine.retired), "aborted": int(engine.aborted), "stalled": int(engine.stalled),
                "idle": int(engine.idle)}

    def __repr__(self) -> str:
        doing = f"context {self.executing}" if self.executing is not None else "idle"
        return f"<microengine {self.number} ({self.chip_number:#04x}): {doing}, cycle {self.clock}>"
