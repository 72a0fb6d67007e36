"""Memories of a chip as a user holds them: SRAM channels, DRAM, scratch memory and its rings, by byte address.

Reads and writes act at the chip's current cycle and cost no time; writes are journalled. Word addresses are rounded down to four
bytes. In bytes, the one at the lowest address is the most significant of its word, as packet data lie.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ixpemu import arguments, codes
from ixpemu.diagnostics import user_error
from ixpemu.engine.host import HOST_CAP_WRITE, HOST_RING_GET, HOST_RING_PUT
from ixpemu.engine.memories import PAGE_SHIFT

Words = npt.NDArray[np.uint32]
Store = Callable[[int, Words], None]
Call = Callable[..., int]
_MANY = 1 << 64
RING_CSRS, RING_SPAN = 0x4800, 0x10


class Memory:
    """One memory. `words` is its contents as a numpy view (uint32), for looking; write through the methods."""

    def __init__(self, name: str, memory: Words, base: int, words: int, store: Store) -> None:
        self.name = name
        self.words: Words = memory[base : base + words]
        self._base = base
        self._store = store

    @property
    def length(self) -> int:
        """How large it is, in bytes."""
        return len(self.words) * 4

    def check(self, address: int, length: int) -> None:
        """UserError unless the memory has the `length` bytes from `address` on."""
        for what, value in (("an address", address), ("a length", length)):
            arguments.whole(f"{what} in {self.name}", value, -_MANY, _MANY, code=codes.MEMORY_ADDRESS, help="give a whole number")
        if address < 0 or length < 0 or address + length > self.length:
            raise user_error(
                codes.MEMORY_ADDRESS, f"{self.name} has no bytes {address:#x} to {address + max(length, 1) - 1:#x}",
                help=f"it is populated from 0 to {self.length - 1:#x}",
            )

    def read(self, address: int, count: int = 1) -> Words:
        """`count` words from byte `address` on, as a view."""
        self.check(address, 4 * arguments.whole("a number of words", count, code=codes.MEMORY_ADDRESS))
        return self.words[address >> 2 : (address >> 2) + count]

    def write(self, address: int, words: Iterable[int] | int) -> None:
        """Words (a single one, or several) from byte `address` on; each modulo 2**32."""
        if isinstance(words, np.ndarray) and words.dtype == np.uint32 and words.ndim == 1:
            values = words.copy()
        else:
            what = f"a word of {self.name}"
            found = [arguments.word(what, words)] if isinstance(words, int | np.integer) else arguments.words(what, words)
            values = np.array(found, np.uint32)
        self.check(address, len(values) * 4)
        self._store(self._base + (address >> 2), values)

    def read_bytes(self, address: int, length: int) -> bytes:
        """`length` bytes from `address` on; any alignment."""
        self.check(address, length)
        first = address >> 2
        last = (address + length + 3) >> 2
        return self.words[first:last].astype(">u4").tobytes()[address & 3 : (address & 3) + length]

    def write_bytes(self, address: int, octets: bytes) -> None:
        """Bytes from `address` on; any alignment."""
        octets = arguments.octets(f"what is written to {self.name}", octets)
        self.check(address, len(octets))
        if not octets:
            return
        first = address >> 2
        last = (address + len(octets) + 3) >> 2
        whole = bytearray(self.words[first:last].astype(">u4").tobytes())
        whole[address & 3 : (address & 3) + len(octets)] = octets
        self._store(self._base + first, np.frombuffer(bytes(whole), ">u4").astype(np.uint32))

    def __getitem__(self, address: int) -> int:
        """The word at byte `address`."""
        return int(self.read(address)[0])

    def __setitem__(self, address: int, value: int) -> None:
        self.write(address, value)

    def __repr__(self) -> str:
        return f"<{self.name}: {self.length:,} bytes>"


class Ring:
    """One of the 16 scratch rings."""

    def __init__(self, number: int, state: Any, call: Call) -> None:
        self.number = number
        self._state = state
        self._call = call

    def setup(self, address: int, words: int, *, empty_flag: bool = False) -> None:
        """Place an empty ring of 128, 256, 512 or 1,024 words at scratch byte `address`, a multiple of its length.

        `empty_flag`: its status tells microengines "empty", else "nearly full".
        """
        sizes = {128: 0, 256: 1, 512: 2, 1024: 3}
        arguments.whole("the address of a ring", address, code=codes.RING_SETUP)
        arguments.whole("the length of a ring", words, code=codes.RING_SETUP, help="128, 256, 512 or 1024 words")
        if words not in sizes or address % (4 * words) or address < 0 or address + 4 * words > 4 * int(self._state.scratch_words):
            raise user_error(
                codes.RING_SETUP, f"ring {self.number} cannot have {words} words at {address:#x}",
                help="128, 256, 512 or 1024 words, at a multiple of the length, inside scratch memory",
            )
        self._call(HOST_CAP_WRITE, RING_CSRS + RING_SPAN * self.number,
                   sizes[words] << 30 | (1 << 26 if empty_flag else 0) | address // 512 << 9)

    def put(self, value: int) -> None:
        """Put a word behind the others; a full ring loses its contents, as on the chip. UserError for a ring that is not set
        up."""
        self._there()
        self._call(HOST_RING_PUT, self.number, arguments.word("a word of a ring", value))

    def get(self) -> int:
        """Take the oldest word off, 0 if there is none. UserError for a ring that is not set up."""
        self._there()
        return self._call(HOST_RING_GET, self.number)

    def _there(self) -> None:
        if not self.words:
            raise user_error(
                codes.RING_SETUP, f"scratch ring {self.number} is not set up",
                help=f"chip.scratch.ring({self.number}).setup(address, words), or write its SCRATCH_RING_BASE",
            )

    @property
    def used(self) -> int:
        """Words on the ring."""
        return int(self._state.ring_used[self.number])

    @property
    def words(self) -> int:
        """Its length in words; 0 while it is not set up."""
        return int(self._state.ring_words[self.number])

    @property
    def status(self) -> bool:
        """The flag that microengines test, without its lag."""
        return bool(self._state.ring_flag[self.number])

    def __len__(self) -> int:
        return self.used

    def __repr__(self) -> str:
        return f"<ring {self.number}: {self.used} of {self.words} words>"


class Scratch(Memory):
    """Scratch memory, and the rings in it."""

    def __init__(self, memory: Words, base: int, words: int, store: Store, state: Any, call: Call) -> None:
        super().__init__("scratch memory", memory, base, words, store)
        self._state = state
        self._call = call

    def ring(self, number: int) -> Ring:
        """Ring 0 to 15."""
        arguments.whole("the number of a scratch ring", number, 0, 15, code=codes.RING_SETUP)
        return Ring(number, self._state, self._call)


def flag_pages(memory: Words, index: int, count: int) -> None:
    """Mark the pages of `count` words from `index` on as written."""
    if count:
        memory[index >> PAGE_SHIFT : ((index + count - 1) >> PAGE_SHIFT) + 1] = 1
