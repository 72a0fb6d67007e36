"""The account of what `--vnops` and `-O` did to a program: how many no-ops and slots, and what is to be said of single words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ixpemu.asm.gaps import Closed
from ixpemu.asm.noops import Need
from ixpemu.asm.reorder import Reordered
from ixpemu.asm.slots import Filled, Way


@dataclass(slots=True)
class Report:
    """What was done. `remarks`: for the listing, by word. `no_ops`: inserted; `closed`: no-ops that useful instructions took the
    place of; `filled`: defer slots; `saved`: cycles that those save, if each is taken once."""

    no_ops: int = 0
    closed: int = 0
    filled: int = 0
    saved: int = 0
    remarks: dict[int, list[str]] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """The account, as lines of a listing."""
        return [
            f"no-ops inserted: {self.no_ops}, a word and a cycle each",
            f"no-ops that useful instructions took the place of: {self.closed}",
            f"defer slots filled: {self.filled}, which save {self.saved} cycles if each branch and swap happens once",
        ]

    def as_json(self) -> dict[str, int]:
        """The account as numbers."""
        return {"no_ops": self.no_ops, "no_ops_replaced": self.closed, "slots_filled": self.filled, "cycles_saved": self.saved}


def report_of(done: Reordered, needs: Sequence[Need], closed: Sequence[Closed], filled: Sequence[Filled]) -> Report:
    """The account, with remarks at the words it is about."""
    report = Report(done.old_of.count(None), sum(one.saved for one in closed), len(filled), sum(one.saved for one in filled))
    word_of = {old: word for word, old in enumerate(done.old_of) if old is not None}
    lines = done.allocation.program.instructions
    why = {need.user: need for need in needs if need.mended}

    def line(old: int) -> int:
        return lines[word_of[old]].origin.span.line

    def remark(word: int, text: str) -> None:
        report.remarks.setdefault(word, []).append(text)

    for gap in closed:
        remark(word_of[gap.moved], f"moved: in place of a no-op before line {line(gap.user)}")
    for one in filled:
        moved = "moved" if one.way is Way.BEFORE else "where it was"
        saved = count(one.saved, "cycle")
        remark(word_of[one.moved], f"{moved}: in a defer slot of line {line(one.owner)}, saves {saved} each time")
    for word, old in enumerate(done.old_of):
        if old is None:
            user = next(number for number in done.old_of[word:] if number is not None)
            need = why.get(user)
            because = "" if need is None else f": {need.hazard.title} is set in line {line(need.setter)}"
            remark(word, f"no-op{because}")
    return report


def count(number: int, what: str) -> str:
    """A number of things, in words."""
    return f"{number} {what}{'' if number == 1 else 's'}"
