"""The report of `ixpemu run`: packets by fate, cost per packet type, references and waiting by unit, latency, rate by port.

Renderables and JSON values of a `RunReport`; all figures per packet are means over the packets of the type.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ixpemu.diagnostics import as_json
from ixpemu.report.tables import plain_table
from ixpemu.trace.summary import Latency, RunReport, TypeFigures, unbalanced


def _mean(total: int, packets: int) -> str:
    return f"{total / packets:,.1f}" if packets else "-"


def _gbps(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.3f}"


def summary_line(report: RunReport) -> Text:
    """How far the run got and why it stopped."""
    return Text.assemble(
        (report.application, "bold"),
        f": {report.cycles:,} chip cycles ({report.seconds * 1e3:,.3f} ms at {report.clock_hz / 1e6:,.0f} MHz), "
        f"{report.instructions:,} instructions; stopped: {report.stop}",
    )


def packet_table(report: RunReport) -> Table:
    """Packets in, out and dropped, each reason on a line of its own."""
    table = plain_table("", "")
    table.add_row("in", f"{report.arrived:,}")
    table.add_row("out", f"{report.sent:,}")
    if report.generated:
        table.add_row("  of these made here", f"{report.generated:,}")
    table.add_row("dropped", f"{report.dropped:,}")
    for reason, count in report.drops.items():
        table.add_row(f"  {reason}", f"{count:,}")
    if report.inside:
        table.add_row("still inside", f"{report.inside:,}")
    return table


def cost_table(report: RunReport) -> Table | None:
    """Per packet of each type: instructions, microengine cycles by what was done in them, waiting. None without packets."""
    if not report.types:
        return None
    table = plain_table("type", "packets", "share", "instr", "executing", "aborted", "stalled", "waiting")
    everything = sum(kind.packets for kind in report.types)
    for kind in report.types:
        n = kind.packets
        table.add_row(
            kind.name, f"{n:,}", f"{n / everything:.1%}", _mean(kind.instructions, n), _mean(kind.cycles.executing, n),
            _mean(kind.cycles.aborted, n), _mean(kind.cycles.stalled, n), _mean(sum(kind.waiting.values()), n),
        )
    return table


def _units(kinds: Iterable[TypeFigures], which: str) -> list[str]:
    return list(dict.fromkeys(unit for kind in kinds for unit in getattr(kind, which)))


def unit_table(report: RunReport, which: str) -> Table | None:
    """`which` is "references" (commands) or "waiting" (cycles): per packet of each type, by unit. None where there are none."""
    units = _units(report.types, which)
    if not units:
        return None
    table = plain_table("type", *units)
    for kind in report.types:
        table.add_row(kind.name, *(_mean(getattr(kind, which).get(unit, 0), kind.packets) for unit in units))
    return table


def latency_table(report: RunReport) -> Table | None:
    """Port to port, in cycles and, for the median, in microseconds. None where no packet was sent."""
    if not any(kind.latency for kind in report.types):
        return None
    table = plain_table("type", "sent", "min", "median", "p99", "max", "median us")
    for kind in report.types:
        if kind.latency is not None:
            cycles = kind.latency
            table.add_row(
                kind.name, f"{kind.sent:,}", f"{cycles.minimum:,}", f"{cycles.median:,}", f"{cycles.p99:,}",
                f"{cycles.maximum:,}", f"{cycles.median / report.clock_hz * 1e6:.2f}",
            )
    return table


def port_table(report: RunReport) -> Table | None:
    """Frames and achieved rates against the line's. None where the application has no port."""
    if not report.ports:
        return None
    table = plain_table("port", "line", "in", "refused", "in rate", "out", "out rate", "of line")
    for port in report.ports:
        share = "-" if port.transmit_gbps is None else f"{port.transmit_gbps / port.line_gbps:.1%}"
        table.add_row(
            str(port.number), f"{port.line_gbps:g}", f"{port.offered[0]:,}", f"{sum(port.refused.values()):,}",
            _gbps(port.receive_gbps), f"{port.sent[0]:,}", _gbps(port.transmit_gbps), share,
        )
    return table


def clock_table(report: RunReport) -> Table:
    """Where all microengine cycles went: to packets, to work outside of packets, to nothing."""
    packets = sum((kind.cycles.total for kind in report.types), 0)
    table = plain_table("", "", "")
    rows = (("in packets", packets), ("between packets", report.outside.cycles.total), ("idle", report.outside.idle))
    for name, cycles in rows:
        table.add_row(name, f"{cycles:,}", f"{cycles / max(report.clocks, 1):.1%}")
    table.add_row("together", f"{report.clocks:,}", "")
    return table


def capture_lines(report: RunReport) -> list[Text]:
    """The captures that have been written, a line each, its file name whole however long."""
    return [
        Text(f"port {each.number}  {each.frames:,} frames  {each.path}", no_wrap=True, overflow="ignore")
        for each in report.captures
    ]


def run_report(report: RunReport) -> RenderableType:
    """Everything of a run, one part under the other."""
    parts: list[RenderableType] = [summary_line(report)]
    titled = (
        ("Packets", packet_table(report)),
        ("Cost per packet, in microengine cycles; waiting is a thread's elapsed time", cost_table(report)),
        ("Cycles waiting per packet, by unit", unit_table(report, "waiting")),
        ("References per packet, by unit", unit_table(report, "references")),
        ("Latency of packets sent, in chip cycles", latency_table(report)),
        ("Ports, rates in Gb/s on the wire", port_table(report)),
        ("Microengine cycles", clock_table(report)),
    )
    for title, table in titled:
        if table is not None:
            parts += [Text(), Text(title, style="bold"), table]
    if report.captures:
        parts += [Text(), Text("Captures written", style="bold"), *capture_lines(report)]
    executing = [place for place in report.where if place.state == "executing"]
    if executing and not report.complete:
        parts += [Text(), Text("Program counters", style="bold"), *(Text(str(place)) for place in executing)]
    for note in report.notes:
        parts += [Text(), Text(f"note: {note}")]
    for fault in unbalanced(report):
        parts += [Text(), Text(f"these sums do not hold: {fault}", style="bold red")]
    return Group(*parts)


def _latency_json(latency: Latency | None) -> dict[str, int] | None:
    if latency is None:
        return None
    return {"min": latency.minimum, "median": latency.median, "p99": latency.p99, "max": latency.maximum}


def run_json(report: RunReport) -> dict[str, object]:
    """The report as JSON values: totals, not means, so that a reader can add runs up."""
    return {
        "application": report.application,
        "stop": report.stop,
        "chip_cycles": report.cycles,
        "clock_hz": report.clock_hz,
        "microengine_cycles": report.clocks,
        "instructions": report.instructions,
        "packets": {
            "in": report.arrived, "out": report.sent, "made_here": report.generated, "dropped": report.dropped,
            "inside": report.inside, "dropped_by_reason": report.drops,
        },
        "types": [
            {
                "type": kind.name, "packets": kind.packets, "sent": kind.sent, "dropped": kind.dropped,
                "instructions": kind.instructions, "executing": kind.cycles.executing, "aborted": kind.cycles.aborted,
                "stalled": kind.cycles.stalled, "waiting": kind.waiting, "references": kind.references,
                "latency": _latency_json(kind.latency),
            }
            for kind in report.types
        ],
        "between_packets": {
            "instructions": report.outside.instructions, "executing": report.outside.cycles.executing,
            "aborted": report.outside.cycles.aborted, "stalled": report.outside.cycles.stalled,
        },
        "idle": report.outside.idle,
        "ports": [
            {
                "number": port.number, "line_gbps": port.line_gbps, "frames_in": port.offered[0], "bytes_in": port.offered[1],
                "frames_out": port.sent[0], "bytes_out": port.sent[1], "refused": port.refused,
                "receive_gbps": port.receive_gbps, "transmit_gbps": port.transmit_gbps,
            }
            for port in report.ports
        ],
        "loads": {load.name: round(load.share, 4) for load in report.loads},
        "captures": [{"port": each.number, "file": each.path, "frames": each.frames} for each in report.captures],
        "where": [
            {"me": place.me, "ctx": place.ctx, "address": place.address, "state": place.state, "label": place.label,
             "place": place.place}
            for place in report.where
        ],
        "notes": list(report.notes),
        "diagnostics": as_json([*report.warnings, *report.races, *([report.failure] if report.failure is not None else [])]),
        "faults": list(unbalanced(report)),
        "wall_seconds": round(report.wall_seconds, 3),
    }
