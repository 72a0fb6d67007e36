"""The table of `ixpemu run --sensitivity`: a line for each value that a parameter was given."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ixpemu.app_sensitivity import Answer, Question, kind_of
from ixpemu.report.tables import plain_table


def sensitivity_report(asked: Question, answers: Sequence[Answer]) -> RenderableType:
    """Throughput, losses, latency and the busiest part by value; the line marked * is the chip as it is."""
    kind = kind_of(answers)
    table = plain_table(asked.name, "packets/s", "sent", "lost", "dropped", "instr", "min", "median", "p99", "busiest")
    table.columns[0].justify = "right"
    table.columns[-1].justify = "left"
    for answer in answers:
        report, latency = answer.report, answer.latency(kind)
        times = ("-", "-", "-") if latency is None else (f"{latency.minimum:,}", f"{latency.median:,}", f"{latency.p99:,}")
        table.add_row(
            f"{'* ' if answer.now else ''}{answer.value:,}", f"{answer.packets_per_second:,.0f}", f"{report.sent:,}",
            f"{answer.lost:,}", f"{report.dropped - answer.lost:,}", f"{report.instructions:,}", *times, answer.busiest,
        )
    texts = [f"{answers[0].report.application}: {asked.name}, one run for each value; * is the chip as it is"] if answers else []
    notes = ["packets/s in time of the chip. lost: frames that found a receive FIFO full. "
             + (f"Latency in cycles, of the packets of type {kind}. " if kind else "") + "! is busy all the time."]
    return Group(*(Text(text, style="bold") for text in texts), table, *(Text(note) for note in notes))


def sensitivity_json(asked: Question, answers: Sequence[Answer]) -> dict[str, object]:
    """The same as JSON values."""
    kind = kind_of(answers)
    return {
        "parameter": asked.name,
        "latency_of": kind,
        "values": [_one(answer, kind) for answer in answers],
    }


def _one(answer: Answer, kind: str) -> dict[str, object]:
    report, latency = answer.report, answer.latency(kind)
    return {
        "value": answer.value, "now": answer.now, "stop": report.stop, "chip_cycles": report.cycles, "sent": report.sent,
        "packets_per_second": round(answer.packets_per_second, 1), "lost": answer.lost, "dropped": report.dropped - answer.lost,
        "instructions": report.instructions,
        "latency": None if latency is None else {
            "min": latency.minimum, "median": latency.median, "p99": latency.p99, "max": latency.maximum},
        "loads": {load.name: round(load.share, 4) for load in report.loads},
    }
