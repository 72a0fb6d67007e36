"""What macros cost: how many words the expansions of each made, of its own text and through the macros that it calls.

Counted from the finished program. What the words take of the processor's time is a run's to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ixpemu.asm.program import Program


@dataclass(frozen=True, slots=True)
class MacroCost:
    """One macro, all numbers of parameters together. `own`: words of its own text; `total`: with those of macros called within, a
    word within several expansions of the same macro counted once. `least` and `most`: of one expansion, of all its words."""

    macro: str
    expansions: int
    own: int
    total: int
    least: int
    most: int

    @property
    def nested(self) -> int:
        """Words of the macros that it calls."""
        return self.total - self.own

    def as_json(self) -> dict[str, object]:
        """The same as plain values."""
        return {
            "macro": self.macro, "expansions": self.expansions, "own": self.own, "nested": self.nested, "total": self.total,
            "least": self.least, "most": self.most,
        }


def macro_costs(program: Program) -> tuple[MacroCost, ...]:
    """The macros that were expanded, the dearest first."""
    expansions = program.expansions
    within = [0] * len(expansions)          # words of each expansion and of those in it
    own: dict[str, int] = {}
    total: dict[str, int] = {}
    for instruction in program.instructions:
        number = instruction.expansion
        if number:
            own[_key(program, number)] = own.get(_key(program, number), 0) + 1
        around: set[str] = set()
        while number:
            within[number - 1] += 1
            around.add(_key(program, number))
            number = expansions[number - 1].parent
        for name in around:
            total[name] = total.get(name, 0) + 1
    of_macro: dict[str, list[int]] = {}
    for number in range(1, len(expansions) + 1):
        of_macro.setdefault(_key(program, number), []).append(number)
    costs = [
        MacroCost(
            expansions[numbers[0] - 1].macro, len(numbers), own.get(name, 0), total.get(name, 0),
            min(within[number - 1] for number in numbers), max(within[number - 1] for number in numbers),
        )
        for name, numbers in of_macro.items()
    ]
    return tuple(sorted(costs, key=lambda cost: (-cost.total, cost.macro)))


def _key(program: Program, number: int) -> str:
    return program.expansions[number - 1].macro.lower()     # case does not count


def cost_text(costs: Sequence[MacroCost], words: int, outside: int) -> str:
    """The table. `words` are all of the program, `outside` those that no macro made."""
    width = max([len(cost.macro) for cost in costs] + [len("outside macros")])
    lines = [f"{'macro':<{width}}  expansions   each        own  nested  total"]
    for cost in costs:
        each = str(cost.least) if cost.least == cost.most else f"{cost.least} to {cost.most}"
        lines.append(f"{cost.macro:<{width}}  {cost.expansions:>10}   {each:<9} {cost.own:>5}  {cost.nested:>6}  {cost.total:>5}")
    lines += [f"{'outside macros':<{width}}  {'':>10}   {'':<9} {outside:>5}", f"{'all':<{width}}  {'':>10}   {'':<9} {words:>5}"]
    return "\n".join(line.rstrip() for line in lines) + "\n"
