"""The same program with its instructions in another order, and no-ops between them: labels, probes, facts and places follow.

Places stay what allocation gave them; which live range has which is found again by where it is named. Nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ixpemu.asm import flow_builder
from ixpemu.asm import webs as live_ranges
from ixpemu.asm.allocate import Allocation
from ixpemu.asm.banks import Place
from ixpemu.asm.findings import Findings
from ixpemu.asm.flow import File, Site
from ixpemu.asm.program import Instruction, Program
from ixpemu.asm.webs import Webs
from ixpemu.isa import InstructionSet, idioms


@dataclass(frozen=True, slots=True)
class Stretch:
    """Part of the new order. `first`: the instruction of the old program whose labels, facts and probes stand before it.
    `numbers`: old instructions; -1 - n is a no-op before old instruction n."""

    first: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reordered:
    """`old_of[i]`: the old number of instruction i, None for a no-op."""

    allocation: Allocation
    old_of: tuple[int | None, ...]


def reorder(allocation: Allocation, stretches: Sequence[Stretch], slots: Mapping[int, int], isa: InstructionSet) -> Reordered:
    """The allocation of the program in the order of `stretches`, which cover it. `slots`: defer counts, by old instruction."""
    old = allocation.program
    instructions: list[Instruction] = []
    old_of: list[int | None] = []
    place_of: dict[int, int] = {}
    for stretch in stretches:
        place_of[stretch.first] = len(instructions)
        labels, facts = old.instructions[stretch.first].labels, old.instructions[stretch.first].facts
        for number in stretch.numbers:
            user = old.instructions[-1 - number if number < 0 else number]
            made = _no_op(user) if number < 0 else _with_slots(user, slots.get(number))
            instructions.append(replace(made, labels=labels, facts=facts))
            old_of.append(None if number < 0 else number)
            labels, facts = (), ()
    place_of[len(old.instructions)] = len(instructions)
    program = replace(
        old, instructions=instructions, labels={name: place_of[place] for name, place in old.labels.items()},
        probes=[replace(probe, index=place_of[probe.index]) for probe in old.probes],
        subroutines=[replace(one, first=place_of[one.first], behind=place_of[one.behind]) for one in old.subroutines],
    )
    findings = Findings()
    webs = live_ranges.find(flow_builder.build(program, isa, findings))
    findings.raise_if_errors()
    return Reordered(Allocation(program, webs, _places(allocation, program, webs, old_of)), tuple(old_of))


def _with_slots(instruction: Instruction, slots: int | None) -> Instruction:
    if slots is None:
        return instruction
    operation = idioms.with_slots(instruction.operation, slots)
    more = len(operation.tokens) - len(instruction.token_origins)
    return replace(
        instruction, operation=operation, token_origins=(*instruction.token_origins, *[instruction.origin] * more)
    )


def _no_op(user: Instruction) -> Instruction:
    """A no-op; it has the origin of the instruction that needs it."""
    return replace(
        user, operation=idioms.no_operation(), operand_origins=(), token_origins=(), source="inserted by --vnops", word=None
    )


def _places(allocation: Allocation, program: Program, webs: Webs, old_of: Sequence[int | None]) -> dict[int, Place]:
    """The place of each live range: the one that it had where it is named."""
    known = allocation.webs
    if known is None:
        return {}
    unnamed: dict[tuple[str, File], Place] = {}
    for number, web in enumerate(known.webs):
        unnamed.setdefault((web.variable.name, web.variable.file), allocation.places[number])
    places = {}
    for number, web in enumerate(webs.webs):
        file = web.variable.file
        sites = [site for one in web.occurrences if (site := webs.flow.occurrences[one].site) is not None]
        found = {
            allocation.places[known.at[_old_site(site, allocation.program, old_of), file]] for site in sites
        } or {unnamed[web.variable.name, file]}
        if len(found) > 1:
            raise RuntimeError(f"{web.variable.name} would have several places after its instructions have moved")
        places[number] = found.pop()
    return places


def _old_site(site: Site, old: Program, old_of: Sequence[int | None]) -> Site:
    """The same place in the old program. Probes keep their numbers."""
    if site.operand < 0:
        return replace(site, instruction=old.probes[-1 - site.operand].index)
    number = old_of[site.instruction]
    if number is None:
        raise RuntimeError("a no-op names nothing")
    return replace(site, instruction=number)
