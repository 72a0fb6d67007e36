"""Which programs of a chip run as machine code of their own, and when one is translated.

A program is translated (`ixpemu.engine.translation`) when its microengine has executed so many instructions that translating
pays. The interpreter does exactly the same, so nobody can tell but by the time that passes. A translation holds for the
instructions and marks that it was made from; what has changed in a control store since is looked for before every run.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ixpemu.engine.actions import OP_STORE_END
from ixpemu.engine.jit import COMPILED
from ixpemu.engine.layout import CODE, MARK_BREAK, MARK_EXTERNAL, MARK_PROBE, MARK_WATCH, NEVER

WORTH = 2_000_000           # instructions of a microengine before its program is translated, or translated anew
LOOK = 1_000_000            # cycles between two looks at how many it has executed
KEPT = 64                   # translations kept for programs that come back
WHEN = os.environ.get("IXPEMU_TRANSLATE", "")
"""Empty for the rule above; "always" translates before the first instruction, "never" not at all. For tests."""


@dataclass(frozen=True, slots=True)
class _Made:
    """A translation: the machine code, and what it is right for: records, byte by byte, and marks."""

    machine: Any
    code: bytes
    held: int


_made: OrderedDict[tuple[bytes, int], _Made] = OrderedDict()       # by instruction records and marks that count


class Translations:
    """The translations of one chip's programs. `array`: its state."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        plain = array.view(np.ndarray)
        self._engines = plain["engines"][0]
        self._base_marks, self._retired = self._engines["base_marks"], self._engines["retired"]
        self._code = plain["code"][0]
        self._room = len(self._code) // len(self._engines)
        # Bytes and not records: a copy of records leaves what lies between their fields to chance.
        self._bytes = memoryview(self._code.view(np.uint8)).cast("B")
        self._used: dict[int, _Made] = {}
        self._since = [0] * len(self._engines)
        self._looked = 0
        self._due = 0 if COMPILED and WHEN != "never" else NEVER

    def check(self) -> None:
        """Give up translations of programs that are no longer what they were; for whenever Python may have changed something."""
        if COMPILED and WHEN != "never":
            self._due = min(self._due, self._looked + LOOK)         # there may be another program
        for me, made in list(self._used.items()):
            held, now = self._held(me), self._program(me, len(made.code))
            if held != made.held or (now != made.code and not _only_watched(made.code, bytes(now))):
                self._drop(me)

    def restored(self) -> None:
        """The state is another one: whatever is known of its programs is put to use."""
        for me in list(self._used):
            self._drop(me)
        self._engines["translated"] = 0
        for me in range(len(self._engines)):
            self._since[me] = int(self._retired[me])
            self._use(me, _made.get(self._key(me)))

    def look(self, cycle: int) -> int:
        """Translate what has run long enough; returns the cycle at which to come again."""
        if cycle < self._due:
            return self._due
        waiting = False
        self._looked = cycle
        for me in range(len(self._engines)):
            if int(self._code[me * self._room]["op"]) == OP_STORE_END:
                continue
            made = self._used.get(me)
            if made is not None and self._program(me, len(made.code)) == made.code:
                continue
            retired = int(self._retired[me])
            if retired - self._since[me] >= WORTH or WHEN == "always":
                self._since[me] = retired
                self._use(me, self._translated(me))
            else:
                waiting = True
        self._due = cycle + LOOK if waiting else NEVER
        return self._due

    def _translated(self, me: int) -> _Made:
        key = self._key(me)
        if key in _made:
            _made.move_to_end(key)
            return _made[key]
        from ixpemu.engine.machine_code import MachineCode
        from ixpemu.engine.translation import NAME, translate

        text = translate(np.frombuffer(key[0], CODE), self._room, key[1])
        _made[key] = _Made(MachineCode(text, NAME), *key)
        if len(_made) > KEPT:
            _made.popitem(last=False)
        return _made[key]

    def _use(self, me: int, made: _Made | None) -> None:
        if made is not None:
            self._used[me] = made                   # keeps the machine code
            self._engines["translated"][me] = made.machine.address

    def _drop(self, me: int) -> None:
        self._engines["translated"][me] = 0
        self._used.pop(me, None)
        self._since[me] = int(self._retired[me])
        self._due = 0

    def _held(self, me: int) -> int:
        """The marks of an instruction at which a microengine stops, whatever the registers: those of breakpoints always."""
        return MARK_EXTERNAL | MARK_BREAK | (int(self._base_marks[me]) & (MARK_PROBE | MARK_WATCH))

    def _program(self, me: int, length: int) -> memoryview:
        """The first `length` bytes of the records of a microengine."""
        start = me * self._room * CODE.itemsize
        return self._bytes[start : start + length]

    def _key(self, me: int) -> tuple[bytes, int]:
        """The records up to the last that is not empty, and the marks that count."""
        written = np.flatnonzero(self._code["op"][me * self._room : (me + 1) * self._room] != OP_STORE_END)
        words = int(written[-1]) + 1 if len(written) else 0
        return bytes(self._program(me, words * CODE.itemsize)), self._held(me)


def _only_watched(before: bytes, now: bytes) -> bool:
    """Whether nothing has changed but that some instructions need no look any more: a translation stops there in vain."""
    old, new = np.frombuffer(before, CODE), np.frombuffer(now, CODE)
    allowed = bytearray(before)
    marks = np.frombuffer(allowed, CODE)["marks"]
    marks &= ~(old["marks"] & ~new["marks"] & np.uint8(MARK_WATCH))
    return bytes(allowed) == now
