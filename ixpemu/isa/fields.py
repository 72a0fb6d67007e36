"""Columns of a word: a layout of 40 characters to fixed bits and named fields.

The one place where bits of an instruction word are shifted and masked.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

WORD_BITS = 40
WORD_MASK = (1 << WORD_BITS) - 1


@dataclass(frozen=True, slots=True)
class Field:
    """A value that travels in a word in one or several runs of bits.

    `runs`: (lowest bit in the word, lowest bit in the value, mask of the run's width), most significant run first.
    """

    letter: str
    width: int
    mask: int                                   # of the word
    runs: tuple[tuple[int, int, int], ...]

    def get(self, word: int) -> int:
        """The field's value in `word`."""
        value = 0
        for at, low, mask in self.runs:
            value |= (word >> at & mask) << low
        return value

    def put(self, value: int) -> int:
        """The bits of a word that hold `value`, which must fit."""
        word = 0
        for at, low, mask in self.runs:
            word |= (value >> low & mask) << at
        return word


@dataclass(frozen=True, slots=True)
class Layout:
    """A `word` line: the bits that are always the same, and the fields by letter."""

    columns: str
    fixed_mask: int
    fixed_bits: int
    fields: dict[str, Field]


def layout(columns: str) -> Layout:
    """Read the columns of a `word` line, blanks removed, bit 39 first. Raises `ValueError` if there are not 40."""
    if len(columns) != WORD_BITS:
        raise ValueError(f"{len(columns)} columns where a word has {WORD_BITS}")
    fixed_mask = fixed_bits = 0
    pieces: dict[str, list[tuple[int, int]]] = {}           # letter -> (lowest bit in the word, width) of each run
    at = WORD_BITS
    for letter, group in groupby(columns):
        width = len(list(group))
        at -= width
        if letter in "01":
            run = ((1 << width) - 1) << at
            fixed_mask |= run
            fixed_bits |= run if letter == "1" else 0
        else:
            pieces.setdefault(letter, []).append((at, width))
    return Layout(columns, fixed_mask, fixed_bits, {letter: _field(letter, runs) for letter, runs in pieces.items()})


def _field(letter: str, pieces: list[tuple[int, int]]) -> Field:
    total = low = sum(width for _, width in pieces)
    runs: list[tuple[int, int, int]] = []
    mask = 0
    for at, width in pieces:
        low -= width
        runs.append((at, low, (1 << width) - 1))
        mask |= ((1 << width) - 1) << at
    return Field(letter, total, mask, tuple(runs))
