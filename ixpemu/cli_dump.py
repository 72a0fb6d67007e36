"""`--dump` of `ixpemu run`: words of memory as they are when the run has ended."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ixpemu.cli_support import number, usage_error

if TYPE_CHECKING:
    from ixpemu.chip import Chip

_DEFAULT_BYTES = 64
_LINE_WORDS = 4
_FORM = "REGION:ADDRESS[:BYTES]"
_EXAMPLE = "for instance  --dump scratch:0x100:64 ; regions are scratch, sram0, sram1, dram and local0 to local7"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Bytes of a region, whole words: `local3` is the local memory of microengine 3."""

    region: str
    address: int
    size: int


def wanted(text: str) -> Wanted:
    """What an option asks for."""
    region, *numbers = text.strip().lower().split(":")
    values = [number(part) for part in numbers]
    if not 1 <= len(values) <= 2 or any(value is None or value < 0 for value in values):
        raise usage_error(f"--dump {text!r} is not of the form {_FORM}", _EXAMPLE)
    address, size = values[0] or 0, (values[1] if len(values) == 2 else _DEFAULT_BYTES) or 0
    if re.fullmatch(r"scratch|sram\d|dram|local\d{1,2}", region) is None:
        raise usage_error(f"--dump {text!r}: there is no region {region!r}", _EXAMPLE)
    if address % 4 or size % 4 or not size:
        raise usage_error(f"--dump {text!r}: words are shown", "give an address and a size that are multiples of 4")
    return Wanted(region, address, size)


def words(chip: Chip, asked: Wanted) -> list[int]:
    """The words. UserError where the chip has no such memory."""
    count = asked.size // 4
    name, index = re.fullmatch(r"([a-z]+)(\d*)", asked.region).groups()     # type: ignore[union-attr]    # checked before
    if name == "local":
        if int(index) >= len(chip.me):
            raise usage_error(f"--dump {asked.region}: the chip has microengines 0 to {len(chip.me) - 1}")
        memory = chip.me[int(index)].local_memory
        if asked.address + asked.size > 4 * len(memory):
            raise usage_error(f"--dump {asked.region}: local memory has {4 * len(memory):,} bytes")
        return [int(word) for word in memory[asked.address // 4 : asked.address // 4 + count]]
    if name == "sram" and int(index) >= len(chip.sram):
        raise usage_error(f"--dump {asked.region}: the chip has SRAM channels 0 to {len(chip.sram) - 1}")
    place = chip.sram[int(index)] if name == "sram" else chip.scratch if name == "scratch" else chip.dram
    return [int(word) for word in place.read(asked.address, count)]


def lines(asked: Wanted, found: list[int]) -> str:
    """The words as text, four in a line."""
    rows = (f"  {asked.address + 4 * k:#010x}  " + " ".join(f"{word:08x}" for word in found[k : k + _LINE_WORDS])
            for k in range(0, len(found), _LINE_WORDS))
    return "\n".join((f"\n{asked.region}", *rows, ""))
