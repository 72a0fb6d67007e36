"""The control store of one microengine: whole programs, and the engine's decoded records of what it holds.

Single words come in through the USTORE registers, which the engine itself serves (engine/store.py); it says which records are
stale, and they are made anew here. A word's reading depends on the context mode, so a change of mode makes all of them stale.
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
from ixpemu.engine.layout import MARK_BREAK, MARK_PROBE
from ixpemu.engine.numbers import CSR_NEXT_NEIGHBOR_SIGNAL, CSR_PREV_NEIGHBOR_SIGNAL
from ixpemu.engine.parameters import P_LOOKAHEAD, P_SIGNAL_NEIGHBOR, P_STORE_WORDS
from ixpemu.engine.store import WRITTEN
from ixpemu.engine.timing import COMMAND_REFLECT_READ, COMMAND_REFLECT_WRITE


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
        """A program that may signal another microengine, or look into it: from now on none arbitrates further ahead than such a
        signal takes, or runs further ahead than a reflector command."""
        code = self._code
        csr = code["imm"]
        signals = (code["op"] == OP_CSR_WRITE) & ((csr == CSR_NEXT_NEIGHBOR_SIGNAL) | (csr == CSR_PREV_NEIGHBOR_SIGNAL))
        reflects = (code["op"] == OP_COMMAND) & np.isin(code["command"], (COMMAND_REFLECT_READ, COMMAND_REFLECT_WRITE))
        if reflects.any():
            self._state.far = self._state.parameter[P_LOOKAHEAD]
        if signals.any() or reflects.any():
            self._state.near = min(int(self._state.near), int(self._state.parameter[P_SIGNAL_NEIGHBOR]))

    def refresh(self, contexts: int) -> None:
        """Make the records anew that the engine says are stale, as programs of `contexts` contexts; probes and breakpoints stay.

        A local_csr_rd and the immed behind it are read together, so the records on either side may change too.
        """
        engine = self._engine
        first, end = max(int(engine.stale_first) - 1, 0), min(int(engine.stale_end) + 1, self.room)
        engine.stale_first = engine.stale_end = 0
        start, stop = max(first - 1, 0), min(end + 1, self.room)
        records = empty_store(self.room)[start:stop]
        there = np.flatnonzero(self._raw[start:stop])
        for run in np.split(there, np.flatnonzero(np.diff(there) != 1) + 1):
            words = [int(word) & ((1 << 40) - 1) for word in self._raw[start + run[0] : start + run[-1] + 1]] if len(run) else []
            records[run] = decode_words(words, contexts, self.room)
        fresh = records[first - start : end - start]
        old = self._code[first:end]
        fresh["probe"] = old["probe"]
        fresh["marks"] |= old["marks"] & np.uint8(MARK_PROBE | MARK_BREAK)
        self._code[first:end] = fresh
        self.changed = True
