"""Names that nobody defines in the source: the predefined ones of a chip, and those whose values only the linker knows.

Which `.` directives there are is `directives`' business; here they are only seen going by, because `isimport` asks for them.
"""

from __future__ import annotations

import re

from ixpemu.codes import ARGUMENT
from ixpemu.diagnostics import user_error

# The chips of the family by the names of the original tool's options, and the names that say so to a program. Only the names of
# the chip that is assembled for are defined: `#ifdef __IXP2400` and `IS_IXPTYPE(__IXP2400)` mean the same.
_CHIPS = {
    "ixp2400": ("__IXP2400", "__IXP24XX", "__IXP2XXX"),
    "ixp2800": ("__IXP2800", "__IXP28XX", "__IXP2XXX"),
    "ixp2850": ("__IXP2850", "__IXP28XX", "__IXP2XXX"),
    "ixp2xxx": ("__IXP2XXX",),
}
CHIPS = tuple(_CHIPS)
DEFAULT_CHIP = "ixp2400"
HIGHEST_REVISION = 0xFF

_DECLARES_LINKED = re.compile(r"\s*\.(?:(import_var)|(?:global|local)_mem)\s+(.*)", re.IGNORECASE | re.DOTALL)
_NAMES = re.compile(r"[A-Za-z_]\w*")
_STEPPING = re.compile(r"([A-Pa-p])(\d)")


def predefined(chip: str = DEFAULT_CHIP, revisions: tuple[int, int] = (0, HIGHEST_REVISION)) -> dict[str, str | int | None]:
    """The names that every program for a chip (one of `CHIPS`) can test, for silicon from the first revision to the last."""
    names: dict[str, str | int | None] = dict.fromkeys(_CHIPS[DEFAULT_CHIP])
    names |= dict.fromkeys(_CHIPS[chip], 1)
    # Arithmetic is 32 bits wide.
    return names | {"__IXPEMU": 1, "__PREPROC32": 1, "__REVISION_MIN": revisions[0], "__REVISION_MAX": revisions[1]}


def revision_number(text: str) -> int:
    """A stepping as people write it, `A0`, `B1`, or as a number: the letter is bits 7:4, A for 0, and the digit bits 3:0."""
    stepping = _STEPPING.fullmatch(text)
    if stepping is not None:
        return (ord(stepping.group(1).upper()) - ord("A")) << 4 | int(stepping.group(2))
    try:
        value = int(text, 0)
    except ValueError:
        value = -1
    if not 0 <= value <= HIGHEST_REVISION:
        raise user_error(ARGUMENT, f"`{text}` is no revision of a chip", help="write a stepping such as A0 or B1, or 0 to 255")
    return value


def linked_names(text: str) -> frozenset[str]:
    """The names, in lower case, that a statement declares as values of the linker: imports, and addresses of named memory."""
    match = _DECLARES_LINKED.match(text)
    if match is None:
        return frozenset()
    names = [name.lower() for name in _NAMES.findall(match.group(2))]
    return frozenset(names if match.group(1) else names[:1])
