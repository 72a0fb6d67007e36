"""What a run leaves behind: packet records by type and reason, and the figures made of them. It draws nothing."""

from __future__ import annotations

from ixpemu.trace.summary import (
    CaptureFigures,
    CycleSums,
    Latency,
    PacketColumns,
    PortFigures,
    RunReport,
    Totals,
    TypeFigures,
    Uncounted,
    Where,
    summarise,
)

__all__ = [
    "CaptureFigures",
    "CycleSums",
    "Latency",
    "PacketColumns",
    "PortFigures",
    "RunReport",
    "Totals",
    "TypeFigures",
    "Uncounted",
    "Where",
    "summarise",
]
