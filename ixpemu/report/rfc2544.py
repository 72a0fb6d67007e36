"""The table of `ixpemu experiment rfc2544`, and the same as JSON and CSV values."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ixpemu.app_rfc2544 import Plan, Point
from ixpemu.report.tables import plain_table

CSV_COLUMNS = (
    "frame_bytes", "line_frames_per_second", "zero_loss_frames_per_second", "share_of_line", "gbps", "latency_min_us",
    "latency_mean_us", "latency_max_us", "trials", "limit",
)


def _time(microseconds: float) -> str:
    return f"{microseconds:,.2f}"


def rfc2544_report(name: str, ports: Sequence[int], plan: Plan, points: Sequence[Point]) -> RenderableType:
    """Rates and latencies by frame size, and below what each size is limited by."""
    table = plain_table("frame", "line frames/s", "zero loss frames/s", "of line", "Gb/s", "min us", "mean us", "max us")
    for point in points:
        times = ("-",) * 3 if point.latency_us is None else tuple(_time(each) for each in point.latency_us)
        table.add_row(f"{point.size:,}", f"{point.line_frames:,.0f}", f"{point.frames_per_second:,.0f}", f"{point.share:.1%}",
                      f"{point.gbps:.3f}", *times)
    table.columns[0].justify = "right"
    lines = [Text(f"{point.size:,} bytes: {point.limit}" + (f"; a step higher: {point.loss}" if point.loss else ""))
             for point in points]
    which = f"port {ports[0]}" if len(ports) == 1 else f"ports {', '.join(map(str, ports))}"
    note = (
        f"Rates are of all these ports together, to {1 / plan.steps:.2%} of the line; {plan.seconds * 1e3:g} ms of frames a "
        "trial on the chip.\nSizes with check sequence. Latency from the last bit in to the last bit out."
    )
    title = Text(f"{name}: RFC 2544 throughput and latency, {which} offered frames together", style="bold")
    return Group(title, table, Text(""), *lines, Text(""), Text(note))


def _values(point: Point) -> tuple[object, ...]:
    rates = (round(point.line_frames, 1), round(point.frames_per_second, 1), round(point.share, 6), round(point.gbps, 6))
    times = (None, None, None) if point.latency_us is None else tuple(round(each, 4) for each in point.latency_us)
    return (point.size, *rates, *times, point.trials, point.limit)


def rfc2544_rows(points: Sequence[Point]) -> list[list[str]]:
    """Header and one row a size, for a CSV file; what there is not is empty."""
    return [list(CSV_COLUMNS), *(["" if value is None else str(value) for value in _values(point)] for point in points)]


def rfc2544_json(name: str, ports: Sequence[int], plan: Plan, points: Sequence[Point]) -> dict[str, object]:
    """The same as JSON values."""
    return {
        "application": name, "ports": list(ports), "trial_seconds": plan.seconds, "resolution": 1 / plan.steps,
        "overrides": dict(plan.overrides), "traffic": plan.like,
        "sizes": [
            dict(zip(CSV_COLUMNS, _values(point), strict=True))
            | {
                "latency_cycles": None if point.best is None or point.best.latency is None else list(point.best.latency),
                "offered": None if point.best is None else point.best.offered,
                "overstated_by_at_most": None if point.best is None else round(point.best.doubt, 6),
                "above": None if point.failed is None else {
                    "share_of_line": point.failed.step / point.steps, "offered": point.failed.offered, "lost": point.failed.lost,
                    "held": point.failed.held, "drops": dict(point.failed.drops),
                    "loads": {load.name: round(load.share, 4) for load in point.failed.loads},
                },
            }
            for point in points
        ],
    }
