"""What a context has set, and finds changed: things that all contexts of a microengine share, used after it was given up.

Found where on every path, or on some, the last thing that happened to such a thing is that other contexts may have run, and where
nothing has set it on any. Who else uses it is not known: all contexts execute the same program, so whoever sets it here sets it
there too.
"""

from __future__ import annotations

from dataclasses import dataclass

from ixpemu import codes
from ixpemu.asm.lint_base import Lints
from ixpemu.asm.numbers import cells_of
from ixpemu.isa.model import Register
from ixpemu.isa.unseen import Part, parts_of


@dataclass(frozen=True, slots=True)
class _Rule:
    """A shared thing. `what` is used, and by then another one's. `at_first`: what to do where it was never set; empty if it
    has a value at first that one may use."""

    part: Part
    code: int
    what: str
    advice: str
    at_first: str = ""


_LATCH = "the latch is the microengine's: begin anew behind the swap, with the word before and `--` as the destination"
_FILL = "begin with the first word and `--` as the destination, in the same direction"
_RULES = (
    _Rule(Part.T_INDEX, codes.STALE_INDEX, "T_INDEX is used here",
          "there is one T_INDEX for all contexts: write it again behind the swap, and three instructions before this",
          "write it, three instructions before this"),
    _Rule(Part.LATCH_A, codes.STALE_ALIGN, "byte_align goes on here", _LATCH, _FILL),
    _Rule(Part.LATCH_B, codes.STALE_ALIGN, "byte_align goes on here", _LATCH, _FILL),
    _Rule(Part.BYTE_INDEX, codes.STALE_ALIGN, "BYTE_INDEX is used here",
          "there is one BYTE_INDEX for all contexts: write it again behind the swap, and three instructions before this",
          "write it, three instructions before this"),
    _Rule(Part.CRC, codes.STALE_CRC, "CRC_REMAINDER is used here",
          "the remainder is the microengine's: read it before the swap, and write it again behind",
          "write the first remainder to it, three instructions before this"),
    _Rule(Part.FLAGS, codes.STALE_FLAGS, "the condition codes are tested here",
          "test them before the swap, or compute them again behind it", "compute something that sets them first"),
    _Rule(Part.CAM, codes.STALE_ENTRY, "an entry that a lookup gave is written here",
          "another context may have been given the same entry: write it before the swap, or look up again behind it"),
)
# The bits of each rule: never set; set since the last swap; set at any time; then one for each swap that came since.
_UNTOUCHED, _FRESH, _EVER, _FIRST = 1, 2, 4, 3


def check(lints: Lints) -> None:
    """Adds a warning for each use of something that other contexts may have changed."""
    swaps = sorted(set(lints.trails.swaps.values()))
    said: set[int] = set()
    for rule in _RULES:
        uses = [index for index in range(len(lints.effects)) if _uses(lints, rule.part, index) and index not in said]
        if uses and (rule.at_first or any(_sets(lints, rule.part, index) for index in range(len(lints.effects)))):
            said |= _rule(lints, rule, uses, swaps)


def _rule(lints: Lints, rule: _Rule, uses: list[int], swaps: list[int]) -> set[int]:
    """Adds what one rule finds; the instructions that it was found at."""
    trails = lints.trails
    bit = {swap: 1 << _FIRST + number for number, swap in enumerate(swaps)}
    stale = sum(bit.values())
    gain, lose = [0] * len(trails.nodes), [0] * len(trails.nodes)
    for point in range(len(trails.nodes)):
        index = trails.executes(point)
        if index is not None and _claims(lints, rule.part, index):
            gain[point], lose[point] = _UNTOUCHED | _EVER, _FRESH | stale
        elif index is not None and _sets(lints, rule.part, index):
            gain[point], lose[point] = _FRESH | _EVER, _UNTOUCHED | stale
        if point in trails.swaps:
            swapped = bit[trails.swaps[point]]
            lose[point] |= _FRESH | stale
            gain[point] = gain[point] & ~(_FRESH | stale) | swapped
    arriving = trails.forward(gain, lose, _FRESH | _EVER if _initial(lints, rule.part) else _UNTOUCHED)
    found = set()
    for index in uses:
        masks = [arriving[point] for point in trails.of_instruction[index]]
        mask = 0
        for one in masks:
            mask |= one
        always = bool(masks) and not mask & (_UNTOUCHED | _FRESH)
        if mask & _UNTOUCHED and rule.at_first and trails.sure:
            found.add(index)
            some = "some" if mask & _EVER else "any"
            lints.findings.warning(
                rule.code, f"{rule.what}, and nothing has set {_it(rule.part)} on {some} path", lints.origin(index),
                help=rule.at_first,
            )
        if not mask & stale or mask & _UNTOUCHED or not (always or trails.sure):
            continue
        found.add(index)
        swap = swaps[next(iter(cells_of((mask & stale) >> _FIRST)))]
        some = "" if always else " on some path"
        lints.findings.warning(
            rule.code, f"{rule.what}{some} after other contexts may have run", lints.origin(index), help=rule.advice,
            notes=(lints.note("the context gives up the microengine here", swap),),
        )
    return found


def _it(part: Part) -> str:
    return {Part.FLAGS: "them", Part.LATCH_A: "its latch", Part.LATCH_B: "its latch"}.get(part, "it")


def _initial(lints: Lints, part: Part) -> bool:
    """Whether the program says what the part holds at first."""
    return any(part in parts_of(one.target) for one in lints.flow.program.initial if one.kind == "csr")


def _uses(lints: Lints, part: Part, index: int) -> bool:
    effects = lints.effects[index]
    if part is Part.CAM:
        return effects.writes_entry is not None and _looked_up(lints, index, effects.writes_entry)
    return part in effects.uses


def _sets(lints: Lints, part: Part, index: int) -> bool:
    effects = lints.effects[index]
    return effects.looks_up if part is Part.CAM else part in effects.sets


def _claims(lints: Lints, part: Part, index: int) -> bool:
    """Whether it makes an entry of the CAM this context's own."""
    return part is Part.CAM and lints.effects[index].writes_entry is not None


def _looked_up(lints: Lints, index: int, operand: int) -> bool:
    """Whether the entry that is written comes from a lookup, as far as the names of registers say."""
    instructions, facts = lints.flow.program.instructions, lints.flow.facts
    wanted, seen = [instructions[index].operation.operands[operand]], set()
    for register in wanted:
        if not isinstance(register, Register) or register in seen:
            continue
        seen.add(register)
        for other, instruction in enumerate(instructions):
            operands = instruction.operation.operands
            if all(operands[place] != register for place in facts[other].writes):
                continue
            if lints.effects[other].looks_up:
                return True
            wanted += [operands[place] for place in facts[other].reads]
    return False
