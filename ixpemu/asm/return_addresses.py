"""Returns by a register that cannot hold an address: nothing that gets into it has to do with a label.

Only what is certain: a value that a command, a directive or another register gives may be an address.
"""

from __future__ import annotations

from ixpemu import codes
from ixpemu.asm.findings import Findings
from ixpemu.asm.flow import File, Site
from ixpemu.asm.program import Deferred
from ixpemu.asm.webs import Webs
from ixpemu.diagnostics import Note
from ixpemu.isa.model import Register, Target


def check(webs: Webs, findings: Findings) -> None:
    """Adds a warning for each return of which that is proven."""
    flow = webs.flow
    for index, facts in enumerate(flow.facts):
        if facts.branch is None or not facts.branch.indirect or facts.branch.targets:
            continue
        web = webs.at.get((Site(index, 0), File.GPR))
        if web is None or webs.webs[web].variable.pinned:
            continue
        writes = [flow.occurrences[one] for one in webs.webs[web].occurrences if flow.occurrences[one].writes]
        if not writes or not all(_is_constant(webs, one.site) for one in writes):
            continue
        spelling = webs.webs[web].variable.spelling
        findings.warning(
            codes.RETURN_ADDRESS, f"`{spelling}` holds no address here: it only ever gets constants",
            flow.program.instructions[index].operand_origins[0],
            help=f"let the caller load it: load_addr[{spelling}, label#]",
            notes=tuple(Note("it gets one here", one.origin) for one in writes[:1]),
        )


def _is_constant(webs: Webs, site: Site | None) -> bool:
    """Whether an instruction gives the same value at each execution, and no label's."""
    if site is None:
        return False
    flow = webs.flow
    facts, operands = flow.facts[site.instruction], flow.program.instructions[site.instruction].operation.operands
    collects = site.instruction > 0 and flow.facts[site.instruction - 1].followed_by is not None
    others = [operand for place, operand in enumerate(operands) if place not in facts.writes]
    return not facts.reads and not collects and facts.transfer is None and not facts.reads_previous and not any(
        isinstance(operand, (Register, Target, Deferred)) for operand in others
    )
