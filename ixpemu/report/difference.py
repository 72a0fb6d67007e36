"""Where two traces part, as text for people. What is shown is `ixpemu.trace.difference`'s."""

from __future__ import annotations

from ixpemu.trace.difference import Divergence, Line
from ixpemu.trace.text import HEAD

REGISTERS_A_LINE = 6


def difference_text(found: Divergence, names: tuple[str, str]) -> str:
    """The report: both events with what follows them, then for each thread what came before, and its registers."""
    lines = [f"the first {found.common:,} events are the same" if found.common else "the first events differ", "", " " + HEAD[1:]]
    for sign, name, events in (("-", names[0], found.first), ("+", names[1], found.second)):
        where = f"line {events[0].number}" if events else "has ended"
        lines += [f"{sign} {name}, {where}", *_shown(events, sign)]
    for thread, history in found.histories.items():
        lines += ["", f"microengine {thread[0]} context {thread[1]} before that, in both"]
        lines += _shown(history, " ") or ["  nothing"]
        lines += _registers(found.registers[thread])
    return "\n".join(lines) + "\n"


def _shown(events: tuple[Line, ...], sign: str) -> list[str]:
    return [f"{sign}{event.text}" for event in events]


def _registers(registers: dict[str, str]) -> list[str]:
    if not registers:
        return ["  no register has been written"]
    entries = [f"{name} = {value}" for name, value in registers.items()]
    width = max(map(len, entries)) + 3
    rows = [entries[at : at + REGISTERS_A_LINE] for at in range(0, len(entries), REGISTERS_A_LINE)]
    return ["  registers written so far", *("    " + "".join(entry.ljust(width) for entry in row).rstrip() for row in rows)]
