"""An assembled program: its 40-bit words, and what a debugger wants to know about them.

The only thing the assembler and the chip share. It holds no machine state and knows no instruction. How images become files is
`ixpemu.image_formats`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

CONTROL_STORE_WORDS = 4096      # one IXP2400 microengine; size from the part's public literature, confidence H
WORD_BYTES = 5
WORD_LIMIT = 1 << 40            # first value that is not a word


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a source file; `line` counts from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class WordOrigin:
    """Where one word came from: its source line, its text, and the macro calls around it as (macro, call), innermost first."""

    place: Place
    source: str = ""
    macros: tuple[tuple[str, Place], ...] = ()


@dataclass(frozen=True, slots=True)
class Probe:
    """A `.probe`: before the word at `address` executes, the context works on the packet whose handle is in `key`.

    `key` is a physical register, `a3`, `@b16`; empty where the directive names none."""

    name: str
    address: int
    key: str


@dataclass(frozen=True, slots=True)
class LiveRange:
    """The words `first` to `last`, both included, in which `name` lives in the physical register or signal `register`."""

    name: str
    register: str
    first: int
    last: int


@dataclass(frozen=True, eq=False)       # no slots: the array of words is kept in the object once somebody wants it
class Image:
    """A program for one microengine.

    `values`: the 40-bit words; a control store holds 4,096. `contexts`: 8 or 4. `labels`: name, with its `#`, to word address.
    `registers`: unique name (`l0000!count`) to physical register (`a5`); a name that lives in several has them separated by
    blanks, in order of the text. `ranges`: where each name lives. `debug`: one entry per word, or empty.
    """

    values: tuple[int, ...]
    contexts: int = 8
    labels: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    registers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    debug: tuple[WordOrigin, ...] = ()
    probes: tuple[Probe, ...] = ()
    ranges: tuple[LiveRange, ...] = ()

    @classmethod
    def from_words(cls, words: Iterable[int], contexts: int = 8) -> Image:
        """An image of bare words, with no labels and no debug information."""
        values = tuple(int(word) for word in words)
        for address, value in enumerate(values):
            if not 0 <= value < WORD_LIMIT:
                raise ValueError(f"word {address} is {value:#x}: a word has 40 bits")
        if contexts not in (4, 8):
            raise ValueError(f"{contexts} contexts: a microengine runs 4 or 8")
        return cls(values, contexts)

    @cached_property
    def words(self) -> npt.NDArray[np.uint64]:
        """The words as an array that cannot be changed. Made when it is wanted: an assembly does without numpy."""
        import numpy as np

        words = np.array(self.values, dtype=np.uint64)
        words.flags.writeable = False
        return words

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"<image of {len(self.values):,} words for {self.contexts} contexts>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Image):
            return NotImplemented
        return self._described() == other._described()

    __hash__ = None  # type: ignore[assignment]     # holds mappings

    def _described(self) -> tuple[object, ...]:
        return self.values, self.contexts, dict(self.labels), dict(self.registers), self.debug, self.probes, self.ranges

    def save(self, path: str | Path, format: str | None = None) -> None:
        """Write the image to `path` as `ixp`, `words`, `ucode-c` or `bin`; by default as the suffix says, else as `ixp`."""
        from ixpemu.image_formats import save

        save(self, path, format)

    @classmethod
    def load(cls, path: str | Path, format: str | None = None, contexts: int = 8) -> Image:
        """Read an image. `contexts` counts only for formats that do not record it. `UserError` for anything not well formed."""
        from ixpemu.image_formats import load

        return load(path, format, contexts)
