"""State of the microengine that is used before what was written to it is there.

A write of a pointer, an index or another CSR takes some instructions. Until then a use gets the old value, or nothing that is
defined. Instructions between are counted, not cycles; giving up the microengine takes longer than any such delay. What has a
delay is in `ixpemu.isa.hazards`, and `noops` mends what is told here. Of CSRs that are nothing but CSRs nothing is told: sources
do not agree that they have one.
"""

from __future__ import annotations

from ixpemu import codes
from ixpemu.asm.lint_base import Lints
from ixpemu.asm.trails import End
from ixpemu.isa import InstructionSet
from ixpemu.isa.hazards import PIECE_OF, Hazard, set_by, table, used_by
from ixpemu.isa.unseen import Part, alike

_SPARED = {"BYTE_INDEX": Part.BYTE_INDEX, "CRC_REMAINDER": Part.CRC}


def check(lints: Lints, isa: InstructionSet) -> None:
    """Adds a warning for each use that comes too early, on every path or on some."""
    sets, uses = _keys(lints, isa)
    hazards, anything = table(isa), frozenset().union(*sets)
    for index, used in enumerate(uses):
        for key in sorted(used & anything):
            told = key in PIECE_OF or _is_result(hazards[key])
            # A byte_align that only fills its latch, and a crc of the type none, do nothing with it.
            if told and (key not in _SPARED or _SPARED[key] in lints.effects[index].uses):
                _use(lints, index, hazards[key], sets)


def _is_result(hazard: Hazard) -> bool:
    """Whether it is no CSR, but what a unit has computed: the remainder of a CRC."""
    return hazard.key not in PIECE_OF and hazard.key != hazard.title


def _keys(lints: Lints, isa: InstructionSet) -> tuple[list[frozenset[str]], list[frozenset[str]]]:
    """The keys of the hazards that each instruction sets, and that it uses."""
    known: dict[tuple[object, ...], tuple[frozenset[str], frozenset[str]]] = {}
    sets, uses = [], []
    hazards = table(isa)
    for instruction, effects in zip(lints.flow.program.instructions, lints.effects, strict=True):
        operation = instruction.operation
        key = alike(operation)
        if key not in known:
            variant = isa.variant(operation)
            set_here = set_by(isa, operation, variant)
            if Part.CRC not in effects.sets:
                set_here -= {one for one in set_here if _is_result(hazards[one])}
            known[key] = set_here, used_by(isa, operation, variant)
        sets.append(known[key][0])
        uses.append(known[key][1])
    return sets, uses


def _use(lints: Lints, index: int, hazard: Hazard, sets: list[frozenset[str]]) -> None:
    """One use of something that is set with a delay."""
    walk = lints.trails.back(index, hazard.between, lambda one: hazard.key in sets[one])
    if End.FOUND not in walk.ends or not (walk.always or lints.trails.sure):
        return
    some = "" if walk.always else " on some path"
    between = _between(lints, index, walk.found[0])
    note, mend = "it is written here", "move the write up, or put"
    if _is_result(hazard):
        note, mend = "this crc comes before it", "put"
        code, message = codes.CRC_EARLY, f"the remainder is read{some} before the last crc is done"
    elif hazard.old_value:
        code = codes.SHADOW_OLD
        message = f"{hazard.title} is used{some} before what was written to it is there: this still uses the old value"
    else:
        code = codes.SHADOW_UNDEFINED
        message = f"{hazard.title} is used{some} before what was written to it is there: what it holds until then is not defined"
    lints.findings.warning(
        code, message, lints.origin(index), notes=(lints.note(note, walk.found[0]),),
        help=f"{hazard.between} instructions have to lie between, and here {_are(between)}: {mend} {hazard.between - between} "
        f"more behind it, other work or nop{'' if lints.flow.program.physical else '; --vnops does that'}",
    )


def _are(count: int) -> str:
    return {0: "there is none", 1: "there is one"}.get(count, f"there are {count}")


def _between(lints: Lints, index: int, written: int) -> int:
    """How many instructions lie between the write and the use on the shortest path."""
    for most in range(1, 8):
        if written in lints.trails.back(index, most, lambda one: one == written).found:
            return most - 1
    return 0
