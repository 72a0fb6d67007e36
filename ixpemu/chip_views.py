"""Microengines and contexts of a chip as a user holds them: registers, state, signals. CSRs are in `ixpemu.chip_csrs`.

Register files are numpy views of the engine's state: reading and writing them is looking into and patching the machine, at once;
what is written is in the journal (chip_patch.py). CSRs go through the engine, with all that a write causes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, SupportsIndex, TypeVar

import numpy as np
import numpy.typing as npt

from ixpemu import arguments, codes
from ixpemu.chip_csrs import Registers
from ixpemu.chip_datapath import AlignLatches, Cam, Multiplier, latches_of, multiplier_of
from ixpemu.chip_patch import Patch
from ixpemu.chip_store import Store
from ixpemu.diagnostics import user_error
from ixpemu.engine.host import HOST_CSR_READ, HOST_CSR_WRITE, HOST_SIGNAL
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
    WATCHED_WORDS,
)

Words = npt.NDArray[np.uint32]
Call = Callable[..., int]
BANK = 128
_MANY = 1 << 64
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
        help = f"they are numbered 0 to {len(self) - 1}"
        index = arguments.whole(f"the number of a {self.what}", number, -_MANY, _MANY, code=self.code, help=help)
        if not 0 <= index < len(self):
            raise user_error(self.code, f"there is no {self.what} {index}", help=help)
        return super().__getitem__(index)


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
        self._me.counters[self.number] = arguments.whole(
            "a program counter", address, 0, self._me.store_size - 1, code=codes.ME_UNKNOWN)

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
        arguments.whole("the number of an event signal", number, 1, 15, code=codes.ME_UNKNOWN)
        self._me.call(HOST_SIGNAL, self._me.number, self.number, 1 << number)

    def __repr__(self) -> str:
        return f"<microengine {self._me.number} context {self.number}: {self.state} at {self.pc}>"


class Microengine:
    """One microengine: `ctx[0..7]`, absolute GPRs, local memory, CSRs. Numbers from 0; the chip's own are `chip_number`."""

    def __init__(self, number: int, state: Any, call: Call, patch: Patch) -> None:
        self.number = number
        self.engine = state.engines[number]
        self.file: Words = patch.view(self.engine.file)
        self.counters: Words = patch.view(self.engine.pc)
        self._written: Words = patch.view(self.engine.written)
        self.call = call
        self.ctx = Numbered("context", codes.ME_UNKNOWN, (Context(self, k) for k in range(CONTEXTS)))
        self.csr = Registers("local", self._read, self._write)
        self._store = Store(number, state)
        self._cluster_shift = int(state.cluster_shift)

    def _read(self, address: int) -> int:
        return self.call(HOST_CSR_READ, self.number, address)

    def _write(self, address: int, value: int) -> None:
        self.call(HOST_CSR_WRITE, self.number, address, value)

    def refresh(self) -> None:
        """Read those words of the control store anew that the engine says have changed."""
        self._store.refresh(self.contexts)

    @property
    def contexts(self) -> int:
        """8, or 4 in the mode with twice the registers (CTX_ENABLES bit 31)."""
        return 4 if int(self.engine.ctx_enables) >> 31 else 8

    def load(self, words: Sequence[int], contexts: int) -> None:
        """Put a program into the control store, from address 0; the rest is not written. Starts nothing."""
        self.engine.ctx_enables = (int(self.engine.ctx_enables) & 0x7FFFFFFF) | (1 << 31 if contexts == 4 else 0)
        self._store.load(words, contexts)

    def settle(self) -> None:
        """Before the chip runs: what was written into the control store is complete for now."""
        self._store.settle()

    def note_written(self, index: int) -> None:
        """The register at `index` of `file` counts as written, even if it holds 0."""
        if index < WATCHED_WORDS:
            self._written[index >> 5] = int(self._written[index >> 5]) | 1 << (index & 31)

    @property
    def store_size(self) -> int:
        """Words that its control store has."""
        return self._store.size

    @property
    def store_room(self) -> int:
        """Words that the state has for it: `state.code` holds so many records for each microengine."""
        return self._store.room

    @property
    def store(self) -> npt.NDArray[np.uint64]:
        """The instruction words in the control store."""
        return self._store.words

    @property
    def chip_number(self) -> int:
        """0x00..0x03 in the first cluster, 0x10..0x13 in the second; to 0x07 and 0x17 on an IXP2800."""
        cluster, number = divmod(self.number, 1 << self._cluster_shift)
        return cluster << 4 | number

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
    def cam(self) -> Cam:
        """The content-addressable memory: entries, and their order of use."""
        return Cam(self.engine)

    @property
    def multiplier(self) -> Multiplier:
        """The multiplier between two steps."""
        return multiplier_of(self.engine)

    @property
    def align(self) -> AlignLatches:
        """The latches of byte_align."""
        return latches_of(self.engine)

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
