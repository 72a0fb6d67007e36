"""What `--vnops` and `-O` ask for, behind allocation: no-ops where the hardware needs time, and instructions in other places.

With `--vnops` a program means that every write of a
pointer is seen by the next use; without, a use that comes too early keeps the value that the hardware gives it, and nothing moves
where that could change. Who may pass whom is `regions` and `moves`; this puts it together and keeps account.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ixpemu import codes
from ixpemu.asm import gaps, noops
from ixpemu.asm.allocate import Allocation
from ixpemu.asm.findings import Findings
from ixpemu.asm.gaps import Closed
from ixpemu.asm.noops import Need, Open
from ixpemu.asm.regions import Cut, Model, cut
from ixpemu.asm.reorder import Stretch, reorder
from ixpemu.asm.schedule_report import Report, count, report_of
from ixpemu.asm.slots import Filled, Slots
from ixpemu.diagnostics import Diagnostic, Note, Severity
from ixpemu.isa import InstructionSet, hazards
from ixpemu.isa.effects import effects_of
from ixpemu.isa.hazards import Hazard


def schedule(
    allocation: Allocation, isa: InstructionSet, findings: Findings, *, vnops: bool, optimise: bool, model: Model = effects_of
) -> tuple[Allocation, Report]:
    """The program as it is to be encoded, and an account of what was done.

    `model`: what instructions depend on; another one is for tests.
    """
    program = allocation.program
    if program.physical or not program.instructions:
        if program.physical:
            findings.add(Diagnostic(
                codes.SCHEDULE_NOT_DONE, "a .physical program stays as it is: nothing is inserted and nothing moves",
                Severity.NOTE, program.instructions[0].origin if program.instructions else None,
            ))
        return allocation, Report()
    regions = cut(allocation, isa, model)
    table = hazards.table(isa)
    following = noops.links(regions)
    closed, filled = _optimise(regions, isa, following, table, vnops) if optimise else ([], [])
    entries = noops.entries(regions, following, table, vnops)
    stretches, needs = [], []
    for region, entry in zip(regions.regions, entries, strict=True):
        walked = noops.walk(region, entry, table, vnops)
        needs += walked.needs
        numbers: list[int] = []
        for place, item in enumerate(region.items()):
            numbers += [-1 - item.number] * walked.before.get(place, 0) + [item.number]
        stretches.append(Stretch(region.first, tuple(numbers)))
    for need in needs if vnops else ():
        _tell(need, regions, findings)
    owners = {one.owner for one in filled}
    counts = {
        region.owner.number: len(region.slots) for region in regions.regions
        if region.owner is not None and region.owner.number in owners
    }
    done = reorder(allocation, stretches, counts, isa)
    return done.allocation, report_of(done, needs, closed, filled)


def _optimise(
    regions: Cut, isa: InstructionSet, following: Sequence[Sequence[tuple[int, bool]]], table: Mapping[str, Hazard], vnops: bool
) -> tuple[list[Closed], list[Filled]]:
    """Moves instructions within the regions."""
    entries = noops.entries(regions, following, table, vnops)
    shut = frozenset[int]() if vnops else _hold_shadows(regions, entries, table)

    def cost(number: int) -> int:
        return noops.walk(regions.regions[number], entries[number], table, vnops).count if vnops else 0

    slots, closed = Slots(regions, isa, cost, shut), list[Closed]()
    for number in range(len(regions.regions)):
        if vnops:
            closed += gaps.fill(regions, number, entries[number], table)
        slots.fill(number)
    return closed, slots.filled


def _hold_shadows(regions: Cut, entries: Sequence[Open], table: Mapping[str, Hazard]) -> frozenset[int]:
    """Holds every instruction that may be executed while a written value is not in force yet; the regions behind whose owner, or
    end, that is so."""
    shut = set()
    for number, (region, entry) in enumerate(zip(regions.regions, entries, strict=True)):
        state = entry
        for place, item in enumerate(region.items()):
            item.held = item.held or bool(state)
            state = noops.past(item, state, table)
            if state and place >= len(region.body):
                shut.add(number)
    return frozenset(shut)


def _tell(need: Need, regions: Cut, findings: Findings) -> None:
    """One need as a diagnostic: a note where no-ops have been put in, a warning where they cannot be."""
    instructions = regions.allocation.program.instructions
    user, setter, hazard = instructions[need.user], instructions[need.setter], need.hazard
    between = hazard.between - need.missing
    there = {0: "none does", 1: "1 does"}.get(between, f"{between} do")
    short = f"{count(hazard.between, 'instruction')} have to lie between setting and using {hazard.title}, and {there}"
    notes = (Note("it is set here", setter.origin),)
    if need.mended:
        findings.add(Diagnostic(
            codes.NO_OPS, f"{count(need.missing, 'no-op')} before this: {short}", Severity.NOTE, user.origin, notes=notes,
        ))
        return
    meanwhile = "the old value is used" if hazard.old_value else "what is used is not defined"
    findings.add(Diagnostic(
        codes.NO_OPS_OPEN, f"no no-op can stand before this, and {meanwhile}: {short}", Severity.WARNING, user.origin,
        f"put {count(need.missing, 'other instruction')} between: defer slots, tables of jumps, and instructions that belong "
        "together have no room for one", notes,
    ))
