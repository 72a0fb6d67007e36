"""Registers of the microengine that are used before what was written to them is there.

A write of a pointer, an index or a remainder takes some instructions. Until then a use gets the old value, or nothing that is
defined. Instructions between are counted, not cycles; giving up the microengine takes longer than any such delay.
"""

from __future__ import annotations

from ixpemu import codes
from ixpemu.asm.lint_base import Lints
from ixpemu.asm.trails import End
from ixpemu.isa.unseen import Part

_REMAINDER_LATE = 2     # instructions that must lie between the last crc and reading its remainder


def check(lints: Lints) -> None:
    """Adds a warning for each use that comes too early, on every path or on some."""
    shadows: dict[Part, int] = {}
    for effects in lints.effects:
        for part in effects.delayed:
            shadows[part] = max(shadows.get(part, 0), effects.shadow)
    for index, effects in enumerate(lints.effects):
        for part, shadow in shadows.items():
            if part in effects.uses:
                _use(lints, index, part, shadow)
        if effects.reads_crc:
            _remainder(lints, index)


def _use(lints: Lints, index: int, part: Part, shadow: int) -> None:
    """One use of a part that something writes with a delay."""
    walk = lints.trails.back(index, shadow, lambda one: part in lints.effects[one].delayed)
    if End.FOUND not in walk.ends or not (walk.always or lints.trails.sure):
        return
    some = "" if walk.always else " on some path"
    undefined = part in lints.effects[walk.found[0]].undefined
    between = _between(lints, index, walk.found[0])
    missing = shadow - between
    what = f"{part.value} is used{some} before what was written to it is there"
    if undefined:
        code, got = codes.SHADOW_UNDEFINED, "what it holds until then is not defined"
    else:
        code, got = codes.SHADOW_OLD, "this still uses the old value"
    lints.findings.warning(
        code, f"{what}: {got}", lints.origin(index),
        help=f"{shadow} instructions have to lie between, and here {_are(between)}: "
        f"move the write up, or put {missing} more behind it, other work or nop",
        notes=(lints.note("it is written here", walk.found[0]),),
    )


def _are(count: int) -> str:
    return {0: "there is none", 1: "there is one"}.get(count, f"there are {count}")


def _between(lints: Lints, index: int, written: int) -> int:
    """How many instructions lie between the write and the use on the shortest path."""
    for most in range(1, 8):
        if written in lints.trails.back(index, most, lambda one: one == written).found:
            return most - 1
    return 0


def _remainder(lints: Lints, index: int) -> None:
    walk = lints.trails.back(index, _REMAINDER_LATE, lambda one: lints.effects[one].feeds_crc)
    if End.FOUND not in walk.ends or not (walk.always or lints.trails.sure):
        return
    some = "" if walk.always else " on some path"
    between = _between(lints, index, walk.found[0])
    lints.findings.warning(
        codes.CRC_EARLY, f"the remainder is read{some} before the last crc is done", lints.origin(index),
        help=f"{_REMAINDER_LATE} instructions have to lie between, and here {_are(between)}: "
        f"put {_REMAINDER_LATE - between} more there, other work or nop",
        notes=(lints.note("this crc comes before it", walk.found[0]),),
    )
