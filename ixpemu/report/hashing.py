"""The tables of `ixpemu experiment hashing`, and the same as JSON and CSV values."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ixpemu.app_hashing import Cost, Rate
from ixpemu.report.tables import plain_table

COST_COLUMNS = ("hash", "operation", "instructions", "hash_references", "sram_references", "busy_cycles", "elapsed_cycles")
RATE_COLUMNS = ("hash", "flows", "microengines", "finds_per_second", "cycles_per_find")
PUBLISHED = "Published for a hash probe of careful hand-written fast paths: 11 to 19 instructions."


def _cost(cost: Cost) -> tuple[str | int, ...]:
    return (cost.variant.name, cost.operation.name, cost.instructions, cost.hashes, cost.sram, cost.busy, cost.elapsed)


def _rate(rate: Rate) -> tuple[str | int | float, ...]:
    return (rate.variant.name, rate.flows, rate.microengines, round(rate.finds_per_second), round(rate.cycles, 2))


def hashing_report(costs: Sequence[Cost], rates: Sequence[Rate]) -> RenderableType:
    """What operations cost alone, and finds a second by microengines."""
    table = plain_table("operation", "found by", "instructions", "hash", "SRAM", "busy", "elapsed", left=1)
    for cost in costs:
        name, operation, *figures = _cost(cost)
        table.add_row(str(operation), str(name), *(f"{figure:,}" for figure in figures))
    parts: list[RenderableType] = [
        Text("microcode/hashing: one thread alone on the chip", style="bold"), table, Text(""),
        Text("hash and SRAM: references. busy: cycles executing and aborted; elapsed: until it is done.\n" + PUBLISHED),
    ]
    if rates:
        counts = sorted({rate.microengines for rate in rates})
        speeds = plain_table("found by", "flows", *(f"{count} ME" for count in counts))
        found = {(rate.variant.name, rate.flows, rate.microengines): rate.finds_per_second for rate in rates}
        for name, flows in dict.fromkeys((rate.variant.name, rate.flows) for rate in rates):
            speeds.add_row(name, f"{flows:,}", *(f"{found[name, flows, count] / 1e6:,.2f}" for count in counts))
        title = Text("Finds in millions a second, 8 threads a microengine that do nothing else", style="bold")
        parts += [Text(""), title, speeds]
    return Group(*parts)


def hashing_rows(costs: Sequence[Cost], rates: Sequence[Rate]) -> list[list[str]]:
    """For a CSV file: the costs, and below an empty row the rates, each with a header."""
    rows = [list(COST_COLUMNS), *([str(value) for value in _cost(cost)] for cost in costs)]
    if rates:
        rows += [[], list(RATE_COLUMNS), *([str(value) for value in _rate(rate)] for rate in rates)]
    return rows


def hashing_json(costs: Sequence[Cost], rates: Sequence[Rate]) -> dict[str, object]:
    """The same as JSON values."""
    return {
        "costs": [dict(zip(COST_COLUMNS, _cost(cost), strict=True)) for cost in costs],
        "rates": [dict(zip(RATE_COLUMNS, _rate(rate), strict=True)) for rate in rates],
    }
