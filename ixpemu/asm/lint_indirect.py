"""Words for indirect references that contradict the command they are for.

The word is the result of the instruction before; what is known of it whatever its registers hold is in `ixpemu.isa.known`.
"""

from __future__ import annotations

from ixpemu import codes
from ixpemu.asm.lint_base import Lints
from ixpemu.isa import InstructionSet
from ixpemu.isa.known import Known, known_result, leaves_room


def check(lints: Lints, isa: InstructionSet) -> None:
    """Words before a command with indirect_ref that say another count than there is room for."""
    known: dict[int, Known | None] = {}
    for index, facts in enumerate(lints.flow.facts):
        if facts.transfer is None or not facts.transfer.indirect or not lints.effects[index].takes_result:
            continue
        walk = lints.trails.back(index, 1, lambda _: True)
        if not walk.always:
            continue
        spelled = leaves_room(lints.flow.program.instructions[index].operation)
        room = spelled if spelled is not None else facts.transfer.count // facts.transfer.words
        for one in walk.found:
            if one not in known:
                known[one] = known_result(isa, lints.flow.program.instructions[one].operation)
            word = known[one]
            if word is not None and word.says_count and (spelled is None if word.count is None else word.count > room):
                _count(lints, index, one, word.count, room)
                break


def _count(lints: Lints, index: int, word: int, count: int | None, room: int) -> None:
    note = lints.note("this word says the count", word)
    if count is None:
        lints.findings.warning(
            codes.INDIRECT_COUNT, f"the count of {room} does not hold: the word before it says another one",
            lints.origin(index), notes=(note,),
            help="write max_N in its place, where N is the most that it can be, so that as many registers are kept for it",
        )
    else:
        lints.findings.warning(
            codes.INDIRECT_COUNT, f"the word before it says a count of {count}, and room is kept for {room}",
            lints.origin(index), help=f"write max_{count}, with as many registers in its .xfer_order", notes=(note,),
        )
