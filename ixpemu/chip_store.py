"""The control store of one microengine: whole programs, and word by word through the USTORE registers as a loader writes it.

Keeps the 40-bit words and the engine's decoded records together. A word's reading depends on the context mode, so a change of
mode reads the whole store anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ixpemu import codes
from ixpemu.chip_watch import apply_plan
from ixpemu.diagnostics import user_error
from ixpemu.engine.actions import OP_COMMAND, OP_CSR_WRITE
from ixpemu.engine.decode import decode_words, empty_store
from ixpemu.engine.numbers import CSR_NEXT_NEIGHBOR_SIGNAL, CSR_PREV_NEIGHBOR_SIGNAL
from ixpemu.engine.parameters import P_SIGNAL_NEIGHBOR, P_STORE_WORDS
from ixpemu.engine.timing import COMMAND_REFLECT_WRITE

USTORE_ADDRESS, USTORE_DATA_LOWER, USTORE_DATA_UPPER, USTORE_LAST = 0x000, 0x004, 0x008, 0x008
ADDRESSES = 1 << 13         # of USTORE_ADDRESS[12:0]
WRITTEN = 1 << 63           # beside a word in `state.store`: there is one


class Store:
    """The store of microengine `number` inside a chip's state."""

    def __init__(self, number: int, state: Any) -> None:
        self._engine = state.engines[number]
        self._state, self._number = state, number
        self.changed = False            # written word by word since it was last planned
        self.room = len(state.store) // len(state.engines)
        """Words that the state has for a control store."""
        self.size = int(state.parameter[P_STORE_WORDS])
        """Words that the chip has, no more than that."""
        start = number * self.room
        self._raw: npt.NDArray[np.uint64] = state.store[start : start + self.room]
        self._code = state.code[start : start + self.room]

    @property
    def words(self) -> npt.NDArray[np.uint64]:
        """The words from address 0 to the last one written; 0 where none was."""
        written = np.flatnonzero(self._raw)
        return self._raw[: written[-1] + 1 if len(written) else 0] & np.uint64((1 << 40) - 1)

    def load(self, words: Sequence[int], contexts: int) -> None:
        """Replace the whole store by a program."""
        if len(words) > self.size:
            raise user_error(
                codes.PROGRAM_TOO_LARGE, f"a program of {len(words):,} words: a control store holds {self.size:,}",
                help="split it over several microengines",
            )
        self._raw[:] = 0
        self._raw[: len(words)] = np.array([int(word) for word in words], np.uint64) | np.uint64(WRITTEN)
        self._code[:] = empty_store(self.room)
        self._code[: len(words)] = decode_words(words, contexts, self.room)
        self.plan(contexts)

    def decode_again(self, contexts: int) -> None:
        """Read all words anew for a context mode."""
        self._code[:] = empty_store(self.room)
        written = np.flatnonzero(self._raw)
        if len(written):
            last = int(written[-1]) + 1
            records = decode_words([int(word) for word in self.words], contexts, self.room)
            there = self._raw[:last] != 0
            self._code[:last][there] = records[there]
        self.changed = True

    def plan(self, contexts: int) -> None:
        """Mark the instructions that the engine has to look at for reserved behaviour; see `ixpemu.chip_watch`."""
        self.changed = False
        written = np.flatnonzero(self._raw)
        raw = self._raw[: written[-1] + 1 if len(written) else 0].tolist()
        words = tuple(word & ((1 << 40) - 1) if word else -1 for word in raw)
        apply_plan(self._state, self._number, words, contexts)
        self._look_for_neighbors()

    def settle(self) -> None:
        """Plan it if words were written one by one."""
        if self.changed:
            self.plan(4 if int(self._engine.ctx_enables) >> 31 else 8)

    def _look_for_neighbors(self) -> None:
        """A program that may signal another microengine: from now on none arbitrates further ahead than such a signal takes."""
        code = self._code
        csr = code["imm"]
        signals = (code["op"] == OP_CSR_WRITE) & ((csr == CSR_NEXT_NEIGHBOR_SIGNAL) | (csr == CSR_PREV_NEIGHBOR_SIGNAL))
        reflects = (code["op"] == OP_COMMAND) & (code["command"] == COMMAND_REFLECT_WRITE)
        if signals.any() or reflects.any():
            self._state.near = min(int(self._state.near), int(self._state.parameter[P_SIGNAL_NEIGHBOR]))

    def read(self, address: int) -> int:
        """A USTORE register as the XScale reads it: the word at the address set before, in two halves."""
        if address == USTORE_ADDRESS:
            return int(self._engine.ustore_address)
        word = int(self._raw[int(self._engine.ustore_address) % ADDRESSES % self.size]) & ((1 << 40) - 1)
        if address == USTORE_DATA_LOWER:
            return word & 0xFFFFFFFF
        parity = ((word & 0xFFFFF).bit_count() & 1) << 8 | ((word >> 20).bit_count() & 1) << 9
        return word >> 32 | parity

    def write(self, address: int, value: int) -> None:
        """Write a USTORE register; the upper half stores the word and moves on, back to 0 behind the last."""
        engine = self._engine
        if address == USTORE_ADDRESS:
            engine.ustore_address = value
        elif address == USTORE_DATA_LOWER:
            engine.ustore_lower = value
        elif address == USTORE_DATA_UPPER:
            at = int(engine.ustore_address) % ADDRESSES % self.size
            self._raw[at] = WRITTEN | (value & 0xFF) << 32 | int(engine.ustore_lower)
            contexts = 4 if int(engine.ctx_enables) >> 31 else 8
            first = max(at - 1, 0)      # the word before may be a local_csr_rd, which reads with the one behind it
            if self._raw[first]:
                words = [int(word) & ((1 << 40) - 1) for word in self._raw[first : at + 1]]
                self._code[first : at + 1] = decode_words(words, contexts, self.room)
            else:
                self._code[at : at + 1] = decode_words([int(self._raw[at]) & ((1 << 40) - 1)], contexts, self.room)
            self.changed = True
            engine.ustore_address = (int(engine.ustore_address) & ~(ADDRESSES - 1)) | (at + 1) % self.size
