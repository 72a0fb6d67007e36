"""What instructions cost, as a table and as JSON. The facts are the blocks' own; none is written here."""

from __future__ import annotations

from rich.table import Table

from ixpemu.isa import InstructionSet
from ixpemu.report.tables import plain_table

LEGEND = (
    "issue: cycles that it executes. aborted: cycles lost when it branches or swaps out, one less for each defer slot that is "
    "used. early: the same where the instruction just before did not set the flags. defer: most defer slots. "
    "sure: H observed or published, M inferred, L recollected, assumed."
)


def timing_json(isa: InstructionSet) -> list[dict[str, object]]:
    """One object per syntax form: what it costs and how sure that is."""
    return [
        {
            "mnemonic": form.mnemonics[0], "syntax": form.syntax, "issue": form.timing.issue, "aborted": form.timing.aborted,
            "aborted_early": form.timing.early, "defer": form.timing.defer, "source": form.timing.source,
            "confidence": form.timing.confidence,
        }
        for block in isa.blocks.values()
        for form in block.forms
    ]


def timing_table(isa: InstructionSet) -> Table:
    """Issue slots, cycles aborted when it branches or swaps (and with flags that are older), most defer slots, confidence."""
    table = plain_table("instruction", "issue", "aborted", "early", "defer", "sure")
    seen: set[tuple[object, ...]] = set()
    for block in isa.blocks.values():
        for form in block.forms:
            timing = form.timing
            early = "-" if timing.early is None else str(timing.early)
            row = (" ".join(form.mnemonics), str(timing.issue), str(timing.aborted), early, str(timing.defer), timing.confidence)
            if row not in seen:         # several forms of one mnemonic that cost the same
                seen.add(row)
                table.add_row(*row)
    table.caption = LEGEND
    table.caption_justify = "left"
    return table
