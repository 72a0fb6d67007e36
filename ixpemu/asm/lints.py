"""All lints of a program: what its paths prove about pointers, units and results that no register name shows.

Registers and signals are looked at in `flow_warnings`. Programs of physical names are looked at too, since nothing here needs to
know who uses which register.
"""

from __future__ import annotations

from ixpemu.asm import (
    flow_builder,
    lint_flights,
    lint_indirect,
    lint_pairs,
    lint_previous,
    lint_requested,
    lint_shadows,
    lint_swaps,
)
from ixpemu.asm.findings import Findings
from ixpemu.asm.flow import Flow
from ixpemu.asm.flow_warnings import in_flight
from ixpemu.asm.lint_base import Lints
from ixpemu.asm.physical_names import with_names
from ixpemu.asm.program import Program
from ixpemu.asm.trails import trails_of
from ixpemu.asm.webs import find
from ixpemu.isa import InstructionSet
from ixpemu.isa.model import Word
from ixpemu.isa.unseen import Unseen, alike, unseen

_MANY = 1 << 30         # errors
_SIGNAL_CSRS = ("SIG_EVENTS", "WAKEUP_EVENTS")


def lint(flow: Flow, isa: InstructionSet, findings: Findings, mended: bool = False) -> None:
    """Adds every warning; `mended`: none of what --vnops is going to mend."""
    lints = Lints(flow, trails_of(flow), _effects(flow.program, isa), findings)
    lint_previous.check(lints)
    if not mended:
        lint_shadows.check(lints, isa)
    for part in (lint_swaps, lint_flights, lint_pairs):
        part.check(lints)
    lint_indirect.check(lints, isa)
    lint_requested.check(lints, isa)


def lint_physical(program: Program, isa: InstructionSet, findings: Findings) -> None:
    """As `lint`, for a program of physical names; not if it has words that are written as numbers, which may be anything."""
    if not program.instructions or any(instruction.word is not None for instruction in program.instructions):
        return
    lint(flow_builder.build(program, isa, Findings(_MANY)), isa, findings)
    if not waits_unseen(program, isa):
        flow = flow_builder.build(with_names(program), isa, Findings(_MANY))
        in_flight(find(flow), findings)
        lint_flights.check(Lints(flow, trails_of(flow), _effects(flow.program, isa), findings))


def waits_unseen(program: Program, isa: InstructionSet) -> bool:
    """Whether signals may be waited for, or cleared, by their bits in a CSR."""
    for instruction in program.instructions:
        for operand in instruction.operation.operands[:1]:
            csr = isa.csr(operand.text) if isinstance(operand, Word) else None
            if csr is not None and csr.name.endswith(_SIGNAL_CSRS):
                return True
    return False


def _effects(program: Program, isa: InstructionSet) -> list[Unseen]:
    """The effects of every instruction."""
    known: dict[tuple[object, ...], Unseen] = {}
    out = []
    for instruction in program.instructions:
        key = alike(instruction.operation)
        if key not in known:
            known[key] = unseen(isa, instruction.operation)
        out.append(known[key])
    return out
