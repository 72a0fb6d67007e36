"""The report of `ixpemu bench`."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from ixpemu.bench import OFFERED, BenchResult
from ixpemu.bench.peers import PEERS
from ixpemu.report.tables import plain_table

ASSEMBLY = (
    ("ixpemu asm, start to end of two lines", "start_seconds", "s"),
    ("assembler, lines parsed", "parsed_lines_per_second", "lines/s"),
    ("assembler, lines from text to words", "lines_per_second", "lines/s"),
    ("a full control store, 4,096 words", "full_image_seconds", "s"),
    ("a line of 100,000 expanded lines to one of 10,000", "growth", "times"),
)


def _rate(value: float) -> str:
    """Three digits with a word for the size: `138 M`, `9.51 k`."""
    for limit, scale, word in ((1e6, 1e6, " M"), (1e3, 1e3, " k")):
        if value >= limit:
            scaled = value / scale
            return f"{scaled:.{max(0, 2 - (scaled >= 10) - (scaled >= 100))}f}{word}"
    return f"{value:.0f}"


def bench_report(result: BenchResult) -> RenderableType:
    """Speeds by case and mode, then the single figures; what is not measured is named with its reason."""
    table = plain_table("case", "mode", "instructions/s", "chip cycles/s", "packets/s", left=1)
    for case, modes in result.speeds.items():
        for mode, figures in modes.items():
            table.add_row(
                case, mode, _rate(figures["instructions_per_second"]), _rate(figures["chip_cycles_per_second"]),
                _rate(figures["packets_per_second"]) if figures["packets_per_second"] else "-",
            )
    for case in result.absent:
        table.add_row(case, "absent", "-", "-", "-")
    single = plain_table("", "")
    for case in result.speeds:
        ratio = result.ratio(case)
        if ratio is not None:
            single.add_row(f"compiled to uncompiled, {case}", f"{ratio:,.0f} times")
        for mode, cost in result.observation(case).items():
            single.add_row(f"slower in mode {mode}, {case}", f"{cost:,.1f} times")
    for name, value, unit in (
        ("first compile", result.first_compile_seconds, "s"),
        ("warm start to first instruction", result.warm_start_seconds, "s"),
        ("assembler, shipped programs again and again", result.assembler_lines_per_second, "lines/s"),
        *((what, result.assembly.get(key), unit) for what, key, unit in ASSEMBLY),
        ("peak memory, ipv4_forward_64B", result.peak_memory_mb, "MB"),
    ):
        if value is not None:
            single.add_row(name, f"{value:,g} {unit}")
    parts: list[RenderableType] = [table, Text(), single]
    if result.peers:
        others = plain_table("others, in the same run", "instructions/s", "compute is")
        for name, rate in result.peers.items():
            ratio = result.against(name)
            times = "-" if ratio is None else f"{ratio:,.2f} times" if ratio < 10 else f"{ratio:,.0f} times"
            others.add_row(PEERS[name], _rate(rate), times)
        parts += [Text(), others]
    notes = [Text(f"{case}, {OFFERED[case]} offered: {text}") for case, text in result.limits.items()]
    notes += [Text(f"{case}: {why}") for case, why in result.absent.items()]
    return Group(*parts, *([Text(), *notes] if notes else []))
