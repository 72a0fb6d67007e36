"""Registers of a chip as arrays to look into and to patch: numpy views of the engine's state whose writes are in the journal.

A view is read-only for numpy and takes assignments (`view[2] = 5`, `view[:4] = values`) itself: it changes the state and notes
where and what, so that a replay does it again. Everything else that would write into it fails, as into any read-only array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Note = Callable[[int, npt.NDArray[np.uint32]], None]


class Patch:
    """The state record of one chip as bytes, and whom to tell of changes: `note(byte offset, words)`."""

    def __init__(self, array: npt.NDArray[Any], note: Note) -> None:
        self._bytes: npt.NDArray[np.uint8] = array.view(np.ndarray).view(np.uint8)
        self._first = self._bytes.__array_interface__["data"][0]
        self.note = note

    def view(self, field: npt.NDArray[np.uint32]) -> Registers:
        """A field of the record, or a part of one, as registers."""
        made = field.view(Registers)
        made.flags.writeable = False
        made.patch = self
        return made

    def offset(self, view: npt.NDArray[Any]) -> int | None:
        """Where in the record a view begins; None if it is no part of it (a copy, a result)."""
        place = int(view.__array_interface__["data"][0]) - self._first
        return place if 0 <= place < self._bytes.nbytes else None

    def writable(self, view: npt.NDArray[np.uint32], offset: int) -> npt.NDArray[np.uint32]:
        """The same words as a plain array that can be written."""
        return np.ndarray(view.shape, np.uint32, self._bytes.data, offset, view.strides)

    def write(self, offset: int, words: npt.NDArray[np.uint32]) -> None:
        """Write words at a byte offset, and tell."""
        np.ndarray((len(words),), np.uint32, self._bytes.data, offset)[:] = words
        self.note(offset, words)


class Registers(np.ndarray[Any, np.dtype[np.uint32]]):
    """Registers as an array of uint32; see the module."""

    patch: Patch | None = None

    def __array_finalize__(self, source: Any) -> None:
        self.patch = getattr(source, "patch", None)

    def __setitem__(self, key: Any, value: Any) -> None:
        offset = None if self.patch is None else self.patch.offset(self)
        if self.patch is None or offset is None:
            super().__setitem__(key, value)
            return
        target = self.patch.writable(self, offset)
        target[key] = value
        # The part that was written where it is one run of words, else all of the view.
        part = target
        if isinstance(key, int | np.integer):
            part = target[key : key + 1 or None]
        elif isinstance(key, slice):
            part = target[key]
        if part.ndim != 1 or (part.size > 1 and part.strides[0] != 4):
            part = target
        if part.size:
            place = self.patch.offset(part)
            assert place is not None                # it is a part of what lies in the record
            self.patch.note(place, part.copy())

    def __repr__(self) -> str:
        return repr(self.view(np.ndarray))
