"""The numbers of all diagnostics, one line each: a number never changes its meaning and is never used again.

Families: 1xxx preprocessor, 2xxx syntax, 3xxx operands and encoding, 4xxx flow and registers, 5xxx transfers and signals,
6xxx files, applications and arguments, 7xxx reserved behaviour of the running chip, 8xxx the isa/ files themselves.
"""

from __future__ import annotations

TITLES: dict[int, str] = {}


def _code(number: int, title: str) -> int:
    if number in TITLES:
        raise ValueError(f"diagnostic number {number} is taken by {TITLES[number]!r}")
    TITLES[number] = title
    return number


# 1xxx preprocessor

# 2xxx syntax

# 3xxx operands and encoding

# 4xxx flow and registers

# 5xxx transfers and signals

# 6xxx files, applications and arguments
FILE_UNREADABLE = _code(6001, "a file cannot be read")
FILE_UNWRITABLE = _code(6002, "a file cannot be written")

# 7xxx reserved behaviour of the running chip

# 8xxx the isa/ files
