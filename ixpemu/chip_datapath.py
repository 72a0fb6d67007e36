"""Units beside a microengine's datapath as a user holds them: the CAM, the multiplier, the latches of byte_align.

Views of the engine's state: reading takes no time, and writing patches the machine at once, without a journal entry. The CRC
remainder, BYTE_INDEX and T_INDEX are local CSRs and are in `Microengine.csr`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ixpemu import codes
from ixpemu.diagnostics import user_error

ENTRIES = 16
WORD = 1 << 32


@dataclass(frozen=True, slots=True)
class CamEntry:
    """One entry: its number, 32-bit tag and 4-bit state."""

    number: int
    tag: int
    state: int


class Cam:
    """The content-addressable memory: `cam[3]` is an entry, `cam[3] = tag, state` writes one as cam_write does."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def __len__(self) -> int:
        return ENTRIES

    def __iter__(self) -> Iterator[CamEntry]:
        return (self[number] for number in range(ENTRIES))

    def __getitem__(self, number: int) -> CamEntry:
        """An entry. UserError if there is none of that number."""
        _check("CAM entry", number, ENTRIES)
        return CamEntry(number, int(self._engine.cam_tag[number]), int(self._engine.cam_state[number]))

    def __setitem__(self, number: int, value: tuple[int, int]) -> None:
        """Write tag and state; the entry becomes the most recently used one. UserError for what does not fit."""
        tag, state = value
        _check("CAM entry", number, ENTRIES)
        _check("CAM tag", tag, WORD)
        _check("CAM state", state, 16)
        self._engine.cam_tag[number], self._engine.cam_state[number] = tag, state
        self._engine.cam_written = int(self._engine.cam_written) | 1 << number
        self.order = (*(entry for entry in self.order if entry != number), number)

    @property
    def order(self) -> tuple[int, ...]:
        """The numbers of all entries, the least recently used one first. Can be assigned."""
        packed = int(self._engine.cam_order)
        return tuple(packed >> 4 * place & 15 for place in range(ENTRIES))

    @order.setter
    def order(self, entries: Iterable[int]) -> None:
        wanted = tuple(entries)
        if sorted(wanted) != list(range(ENTRIES)):
            raise user_error(codes.ARGUMENT, f"{wanted} is no order of the CAM's entries", help="it names each of 0 to 15 once")
        self._engine.cam_order = sum(entry << 4 * place for place, entry in enumerate(wanted))

    def find(self, tag: int) -> CamEntry | None:
        """The entry that a lookup of `tag` would hit, the lowest of several; None for a miss. It moves nothing."""
        return next((entry for entry in self if entry.tag == tag), None)

    def __repr__(self) -> str:
        return f"<CAM: {', '.join(f'{e.number}: {e.tag:#x} ({e.state})' for e in self if e.tag or e.state) or 'all 0'}>"


@dataclass(frozen=True, slots=True)
class Multiplier:
    """The multiplier between two steps: the product so far (64 bits), its sources, and how many steps were taken."""

    product: int
    a: int
    b: int
    steps: int


@dataclass(frozen=True, slots=True)
class AlignLatches:
    """What the next byte_align joins its word to: `be` for byte_align_be, `le` for byte_align_le."""

    be: int
    le: int


def multiplier_of(engine: Any) -> Multiplier:
    """The multiplier of an engine record."""
    return Multiplier(int(engine.multiply_product), int(engine.multiply_a), int(engine.multiply_b), int(engine.multiply_step))


def latches_of(engine: Any) -> AlignLatches:
    """The latches of an engine record."""
    return AlignLatches(int(engine.align_b), int(engine.align_a))


def _check(what: str, value: int, limit: int) -> None:
    if not 0 <= value < limit:
        raise user_error(codes.ARGUMENT, f"{what} {value:#x} is out of range", help=f"0 to {limit - 1:#x}")
