"""The page of the reference that lists every figure of the default chip file, made from isa/ alone."""

from __future__ import annotations

from ixpemu.isa.chipfile import load_chip
from ixpemu.isa.latencies import LATENCIES
from ixpemu.isa.reference import CONFIDENCE, markdown_table

_MADE = "<!-- Made from isa/chips/ by `make docs`; edit the chip file, not this page. -->"
_HEADS = ("parameter", "value", "unit", "may be", "confidence", "source")
_TEXT = """Figures of the default chip file, with what each may be changed to, in the chip file or by `--set NAME=VALUE` of
`ixpemu run`. `ixpemu isa timing` prints these tables and what each instruction costs."""
_LATENCIES = """What a reference takes on an idle chip, from its issue to its signal. Such a sum can be set as a whole: the first
parameter of its unit then takes up the difference."""


def timing_page() -> str:
    """docs/reference/timing.md."""
    chip = load_chip()
    lines = ["# What things cost", "", _MADE, "", _TEXT, "", CONFIDENCE]
    for section in dict.fromkeys(name.partition(".")[0] for name in chip):
        rows = [
            (f"`{each.name}`", str(each.value), each.unit, "fixed" if each.low == each.high else f"{each.low} to {each.high}",
             each.confidence, each.source)
            for each in chip.parameters.values() if each.name.startswith(f"{section}.")
        ]
        lines += ["", f"## {section}", "", *markdown_table(_HEADS, rows)]
    sums = [(f"`{name}`", str(each.cycles(chip)), each.title, each.formula) for name, each in LATENCIES.items()]
    lines += ["", "## A reference alone", "", _LATENCIES, "",
              *markdown_table(("latency", "cycles", "reference", "sum of"), sums)]
    return "\n".join(lines) + "\n"
