"""What instructions, units and references cost, as tables and as JSON. The facts are the blocks' and the chip file's; none is
written here."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ixpemu.isa import InstructionSet
from ixpemu.isa.blocks import Form
from ixpemu.isa.chipfile import ChipParameters
from ixpemu.isa.latencies import LATENCIES
from ixpemu.report.tables import plain_table

LEGEND = (
    "issue: cycles that it executes. aborted: cycles lost when it branches or swaps out, one less for each defer slot that is "
    "used. early: the same where the instruction just before did not set the flags. defer: most defer slots. "
    "sure: H observed or published, M inferred, L recollected, assumed."
)


def timing_json(isa: InstructionSet, chip: ChipParameters) -> dict[str, object]:
    """Instructions by syntax form, parameters by name, and the latencies that are sums of them."""
    return {
        "instructions": [
            {
                "mnemonic": form.mnemonics[0], "syntax": form.syntax, "issue": form.timing.issue,
                "aborted": form.timing.aborted, "aborted_early": form.timing.early, "defer": form.timing.defer,
                "source": form.timing.source, "confidence": form.timing.confidence,
            }
            for block in isa.blocks.values()
            for form in block.forms
        ],
        "chip": chip.name,
        "parameters": [
            {
                "name": each.name, "value": each.value, "unit": each.unit, "range": [each.low, each.high],
                "source": each.source, "confidence": each.confidence,
            }
            for each in chip.parameters.values()
        ],
        "latencies": [
            {
                "name": name, "cycles": latency.cycles(chip), "reference": latency.title, "terms": {"1": 1, **latency.terms},
                "sets": latency.sets,
            }
            for name, latency in LATENCIES.items()
        ],
    }


def timing_report(isa: InstructionSet, chip: ChipParameters) -> RenderableType:
    """Instructions, then the chip file's parameters, then the latencies of whole references."""
    heading = f"Parameters of {chip.name}; --set NAME=VALUE changes one for a run"
    return Group(
        Text("Instructions", style="bold"), instruction_table(isa), Text(LEGEND), Text(),
        Text(heading, style="bold"), parameter_table(chip), Text(),
        Text("A reference alone, from issue to signal, in cycles; --set NAME=VALUE changes the parameter of its unit",
             style="bold"),
        latency_table(chip),
    )


def instruction_table(isa: InstructionSet) -> Table:
    """Issue slots, cycles aborted when it branches or swaps (and with flags that are older), most defer slots, confidence."""
    table = plain_table("instruction", "issue", "aborted", "early", "defer", "sure")
    for block in isa.blocks.values():
        costs: dict[tuple[str, ...], tuple[str, ...]] = {}
        for form in block.forms:
            timing = form.timing
            early = "-" if timing.early is None else str(timing.early)
            cost: tuple[str, ...] = (str(timing.issue), str(timing.aborted), early, str(timing.defer), timing.confidence)
            names = costs.get(cost, ())
            costs[cost] = tuple(dict.fromkeys((*names, *_names(isa, block.name, form))))
        for cost, names in costs.items():
            table.add_row(Text(" ".join(names)), *cost)
    return table


def _names(isa: InstructionSet, block: str, form: Form) -> tuple[str, ...]:
    """What to call a form: its mnemonics, or its syntax where its mnemonic is another block's own."""
    return tuple(form.syntax if name != block and name in isa.blocks else name for name in form.mnemonics)


def parameter_table(chip: ChipParameters) -> Table:
    """Every figure of a chip file with what it may be, how sure it is and where it comes from."""
    table = plain_table("parameter", "value", "may be", "sure", "unit; source", left=0)
    table.columns[4].justify = "left"
    table.columns[4].no_wrap = False
    for each in chip.parameters.values():
        limits = "fixed" if each.low == each.high else f"{each.low} to {each.high}"
        table.add_row(each.name, str(each.value), limits, each.confidence, f"{each.unit}; {each.source}")
    return table


def latency_table(chip: ChipParameters) -> Table:
    """What one reference takes on an idle chip, and the parameters that it is the sum of."""
    table = plain_table("latency", "cycles", "reference", "sum of", left=0)
    for column in table.columns[2:]:
        column.justify = "left"
    table.columns[3].no_wrap = False
    for name, latency in LATENCIES.items():
        table.add_row(name, str(latency.cycles(chip)), latency.title, latency.formula)
    return table
