"""Control and status registers of a chip as a user holds them: by name or address, of microengines, CAP and MSF, and the hash
multipliers. All of them go through the engine, with everything that a write causes; writes are journalled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ixpemu import arguments, codes
from ixpemu.chip_patch import Patch
from ixpemu.diagnostics import user_error
from ixpemu.engine.host import HOST_CAP_READ, HOST_CAP_WRITE, HOST_MSF_FAST, HOST_MSF_READ, HOST_MSF_WRITE
from ixpemu.isa import instruction_set
from ixpemu.toml_file import closest

Words = npt.NDArray[np.uint32]
Call = Callable[..., int]
_MANY = 1 << 64
# First and last byte address of each space of CSRs.
SPACES = {"local": (0, 0x1FF), "cap": (0x4000, 0x4FFF), "msf": (0, 0x3FFF), "sram": (0, 0x3F)}


def csr_address(key: str | int, space: str) -> int:
    """The address of a CSR given by name (any case) or address. UserError for one that does not exist."""
    if not isinstance(key, str):
        key = arguments.whole(f"a {space} CSR", key, -_MANY, _MANY, code=codes.CSR_UNKNOWN, help="name it, or give its address")
        first, last = SPACES[space]
        if not first <= key <= last:
            raise user_error(
                codes.CSR_UNKNOWN, f"there is no {space} CSR at {key:#x}", help=f"they are from {first:#x} to {last:#x}")
        return key
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
        self._write(csr_address(key, self._space), arguments.word("the value of a CSR", value))

    def __delitem__(self, key: str | int) -> None:
        raise user_error(codes.CSR_UNKNOWN, "a register cannot be deleted", help="write a value to it")

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
        self._call(HOST_CAP_WRITE, csr_address(address, "cap"), arguments.word("the value of a CSR", value))


class Msf:
    """The media and switch fabric: `csr` by name or byte offset, RBUF and TBUF as views of 2,048 words."""

    def __init__(self, state: Any, call: Call, patch: Patch) -> None:
        self._call = call
        self.rbuf: Words = patch.view(state.msf.rbuf)
        self.tbuf: Words = patch.view(state.msf.tbuf)
        self.csr = Registers("msf", self.read, self.write)

    def read(self, address: int) -> int:
        return self._call(HOST_MSF_READ, csr_address(address, "msf"))

    def write(self, address: int, value: int) -> None:
        self._call(HOST_MSF_WRITE, csr_address(address, "msf"), arguments.word("the value of a CSR", value))

    def fast_write(self, address: int, value: int) -> None:
        """What msf[fast_wr] does: 16 bits for a CSR."""
        self._call(HOST_MSF_FAST, csr_address(address, "msf"), arguments.word("the value of a CSR", value) & 0xFFFF)


class Multipliers(MutableMapping[int, int]):
    """The hash unit's multipliers by width: 48, 64, 128."""

    _PLACES: Mapping[int, tuple[int, int]] = {48: (0, 2), 64: (2, 2), 128: (4, 4)}

    def __init__(self, state: Any, call: Call) -> None:
        self._state = state
        self._call = call

    def _place(self, bits: int) -> tuple[int, int]:
        if isinstance(bits, bool) or not isinstance(bits, int) or bits not in self._PLACES:
            raise user_error(
                codes.CSR_UNKNOWN, f"the hash unit has no {arguments.shown(bits)}-bit multiplier", help="48, 64 or 128")
        return self._PLACES[bits]

    def __getitem__(self, bits: int) -> int:
        first, words = self._place(bits)
        return sum(int(self._state.hash_multiplier[first + k]) << 32 * k for k in range(words))

    def __setitem__(self, bits: int, value: int) -> None:
        first, words = self._place(bits)
        base = csr_address("HASH_MULTIPLIER", "cap")
        arguments.whole(f"a {bits}-bit multiplier", value, 0, (1 << bits) - 1, help=f"give a number of {bits} bits")
        for k in range(words):
            self._call(HOST_CAP_WRITE, base + 4 * (first + k), value >> 32 * k & 0xFFFFFFFF)

    def __delitem__(self, bits: int) -> None:
        raise user_error(codes.CSR_UNKNOWN, "a multiplier cannot be deleted", help="write a value to it")

    def __iter__(self) -> Iterator[int]:
        return iter(self._PLACES)

    def __len__(self) -> int:
        return len(self._PLACES)


class Hash:
    """The hash unit; `multiplier[48]` and so on."""

    def __init__(self, state: Any, call: Call) -> None:
        self.multiplier = Multipliers(state, call)
