"""How many registers and signals each word needs at once, and where most are needed: by file, and by bank once there are banks.

A register is needed behind an instruction if its value will be read or a unit may still use it; and by the instruction that
writes it, read or not. It can be said without an allocation, and is most wanted where there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ixpemu.asm.banks import Place
from ixpemu.asm.flow import File
from ixpemu.asm.limits import Limits
from ixpemu.asm.numbers import cells_of
from ixpemu.asm.webs import Webs
from ixpemu.diagnostics import Origin

_NAMES = {
    File.GPR: "GPR", File.ABSOLUTE: "@", File.NEIGHBOR: "n$", File.SRAM_READ: "$ read", File.SRAM_WRITE: "$ write",
    File.DRAM_READ: "$$ read", File.DRAM_WRITE: "$$ write", File.SIGNAL: "signals",
}


@dataclass(frozen=True, slots=True)
class Line:
    """One word: its address, source, and how many of each column it needs."""

    address: int
    origin: Origin
    source: str
    needs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pressure:
    """All words. `columns`: those of which the program uses any; `room`: how many of each there are."""

    columns: tuple[str, ...]
    room: tuple[int, ...]
    lines: tuple[Line, ...]

    def peak(self, column: int) -> tuple[int, Line | None]:
        """The most that are needed of a column, and the first word that needs so many."""
        most = max((line.needs[column] for line in self.lines), default=0)
        return most, next((line for line in self.lines if line.needs[column] == most), None)

    def text(self) -> str:
        """The table, its peaks first."""
        out = ["where most are needed at once:"]
        for column, name in enumerate(self.columns):
            most, line = self.peak(column)
            where = "" if line is None or not most else f"   word {line.address}, line {line.origin.span.line}: {line.source}"
            over = " !" if most > self.room[column] else "  "
            out.append(f"  {name:<9}{most:>4} of {self.room[column]:<4}{over}{where}".rstrip())
        widths = [max(len(name), 3) for name in self.columns]
        out += ["", " word   line  " + "  ".join(name.rjust(width) for name, width in zip(self.columns, widths, strict=True))]
        for one in self.lines:
            cells = (
                (f"{need}!" if need > room else str(need) if need else ".").rjust(width)
                for need, room, width in zip(one.needs, self.room, widths, strict=True)
            )
            out.append(f"{one.address:>5}  {one.origin.span.line:>5}  {'  '.join(cells)}  {one.source}".rstrip())
        return "\n".join(out) + "\n"

    def as_json(self) -> dict[str, object]:
        """The same as plain values."""
        return {
            "columns": list(self.columns), "room": list(self.room),
            "peaks": [
                {"column": name, "needed": self.peak(column)[0],
                 "word": None if (line := self.peak(column)[1]) is None else line.address}
                for column, name in enumerate(self.columns)
            ],
            "words": [
                {"address": line.address, "file": line.origin.span.file, "line": line.origin.span.line, "needs": list(line.needs)}
                for line in self.lines
            ],
        }


def measure(webs: Webs, limits: Limits, places: Mapping[int, Place] | None) -> Pressure:
    """What every word of a program needs; with `places`, how its general purpose registers are divided between the banks."""
    masks: dict[str, int] = {}
    room: dict[str, int] = {}
    absolutes = webs.members.get(File.ABSOLUTE, 0).bit_count()
    # What absolute registers take of each context's numbers: as they lie, or as few as can be.
    given = (0, -(-absolutes // limits.windows)) if places is None else _given(webs, limits, places)
    for file, mask in webs.members.items():
        if file is not File.GPR or places is None:
            masks[_NAMES[file]] = mask
            room[_NAMES[file]] = 2 * limits.gpr - sum(given) if file is File.GPR else _room(file, limits)
            continue
        for bank, number in (("a", 0), ("b", 1)):
            masks[f"GPR {bank.upper()}"] = sum(1 << web for web in cells_of(mask) if places[web].bank == bank)
            room[f"GPR {bank.upper()}"] = limits.gpr - given[number]
    pairs = sum(1 << number for number, web in enumerate(webs.webs) if web.pair)
    always = sum(1 << number for number, web in enumerate(webs.webs) if web.variable.pinned)
    held = [always] * len(webs.flow.program.instructions)
    columns = tuple(name for file in _NAMES.values() for name in masks if name == file or name.startswith(f"{file} "))
    columns = tuple(dict.fromkeys(columns))
    best = [[0] * len(columns) for _ in held]
    for node, point in enumerate(webs.flow.nodes):
        if point.instruction >= len(held):
            continue
        occupied = webs.occupied[node] | always
        for number in point.writes:
            occupied |= 1 << webs.of_occurrence[number]
        row = best[point.instruction]
        for column, name in enumerate(columns):
            found = occupied & masks[name]
            need = _distinct(found, places) + (found & pairs).bit_count()
            row[column] = max(row[column], need)
    lines = tuple(
        Line(address, instruction.origin, instruction.source, tuple(best[address]))
        for address, instruction in enumerate(webs.flow.program.instructions)
    )
    return Pressure(columns, tuple(room[name] for name in columns), lines)


def _distinct(mask: int, places: Mapping[int, Place] | None) -> int:
    """How many registers some webs of one file lie in: less than there are webs where a copy makes some equal."""
    return mask.bit_count() if places is None else len({places[web] for web in cells_of(mask)})


def _given(webs: Webs, limits: Limits, places: Mapping[int, Place]) -> tuple[int, int]:
    """The relative numbers of each bank that absolute registers take."""
    taken = {
        (places[web].bank, places[web].number % limits.stride) for web in cells_of(webs.members.get(File.ABSOLUTE, 0))
    }
    return sum(bank == "a" for bank, _ in taken), sum(bank == "b" for bank, _ in taken)


def _room(file: File, limits: Limits) -> int:
    if file is File.SIGNAL:
        return limits.signals
    if file is File.ABSOLUTE:
        return 2 * limits.gpr * limits.windows
    return limits.neighbors if file is File.NEIGHBOR else limits.transfers
