"""Names whose place the text gives: whether the place exists, and whether two of them are in each other's way.

Only what can be said without allocating the rest; that nothing else is left for a name is said where the names of a file are
placed.
"""

from __future__ import annotations

import itertools

from ixpemu import codes
from ixpemu.asm.findings import Findings
from ixpemu.asm.flow import File, Variable
from ixpemu.asm.limits import Limits
from ixpemu.asm.program import Fixed
from ixpemu.asm.webs import Webs
from ixpemu.diagnostics import Note

Cell = tuple[File, str | None, int]


def check(webs: Webs, limits: Limits, findings: Findings) -> None:
    """Reports each name that cannot have its place, and each two that want one place at one time."""
    known: list[tuple[int, Variable, Fixed]] = []
    said: set[tuple[str, str]] = set()
    for number, web in enumerate(webs.webs):
        fixed = web.variable.fixed
        if fixed is None or fixed.number is None or (web.variable.name, "") in said:
            continue
        if _exists(web.variable, fixed, web.pair, limits, findings):
            known.append((number, web.variable, fixed))
        else:
            said.add((web.variable.name, ""))
    for (left, one, where), (right, other, there) in itertools.combinations(known, 2):
        pair = one.name, other.name
        if one.name == other.name or pair in said or not _meet(webs, left, right, limits):
            continue
        said.add(pair)
        notes = () if where.origin is None else (Note(f"`{one.spelling}` has its place by this", where.origin),)
        findings.error(
            codes.FIXED_PLACE, f"`{one.spelling}` and `{other.spelling}` are given one place and are needed at the same time",
            there.origin, notes=notes, help="give one of them another number, or none",
        )


def _exists(variable: Variable, fixed: Fixed, pair: bool, limits: Limits, findings: Findings) -> bool:
    """Whether there is such a place; a message if not."""
    first, last = _range(variable.file, limits)
    number, problem, advice = fixed.number or 0, "", f"give a number from {first} to {last}"
    if not first <= number <= last:
        problem = f"there is no number {number} for `{variable.spelling}`"
    elif variable.file is File.ABSOLUTE and fixed.bank is None:
        problem = f"`{variable.spelling}` has a number and no bank"
        advice = "an absolute register has both: say bank A or B too"
    elif pair and (number % 2 or number == limits.signals):
        problem = f"`{variable.spelling}` is raised as a pair, which takes an even number and the next: it cannot be {number}"
        advice = f"give an even number from 2 to {limits.signals - 1}"
    if problem:
        findings.error(codes.FIXED_PLACE, problem, fixed.origin, help=advice)
    return not problem


def _range(file: File, limits: Limits) -> tuple[int, int]:
    if file is File.SIGNAL:
        return 1, limits.signals
    if file is File.GPR:
        return 0, limits.gpr - 1
    if file is File.ABSOLUTE:
        return 0, limits.stride * limits.windows - 1
    return 0, (limits.neighbors if file is File.NEIGHBOR else limits.transfers) - 1


def _meet(webs: Webs, left: int, right: int, limits: Limits) -> bool:
    """Whether two webs have one place and hold something at one time; an absolute register always holds something."""
    one, other = webs.webs[left], webs.webs[right]
    if not _cells(one.variable, one.pair, limits) & _cells(other.variable, other.pair, limits):
        return False
    return one.variable.file is not other.variable.file or bool(webs.rivals[left] >> right & 1)


def _cells(variable: Variable, pair: bool, limits: Limits) -> set[Cell]:
    """What a fixed name takes. An absolute register takes its relative number from every context, besides itself."""
    fixed = variable.fixed
    if fixed is None or fixed.number is None or (variable.file in (File.GPR, File.ABSOLUTE) and fixed.bank is None):
        return set()
    if variable.file is File.ABSOLUTE:
        return {(File.ABSOLUTE, fixed.bank, fixed.number), (File.GPR, fixed.bank, fixed.number % limits.stride)}
    return {(variable.file, fixed.bank, fixed.number + second) for second in range(1 + pair)}
