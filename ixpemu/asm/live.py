"""Live ranges as a picture: one line a word, one column a physical register or signal, and at the side what begins in which.

    R read, W written, X both, | kept across; what begins in a register is named where it does.

Only what an allocation has decided is shown.
"""

from __future__ import annotations

from ixpemu.asm.allocate import Allocation
from ixpemu.asm.flow import File
from ixpemu.asm.numbers import cells_of
from ixpemu.asm.places import place_text
from ixpemu.asm.webs import Webs

_ORDER = list(File)
_HALF = {File.SRAM_READ: "r", File.SRAM_WRITE: "w", File.DRAM_READ: "r", File.DRAM_WRITE: "w"}


def picture(allocation: Allocation) -> str:
    """The picture of a program, with the moves that came to nothing below it."""
    webs, program = allocation.webs, allocation.program
    if webs is None:
        return "; a .physical program: nothing was placed\n"
    shown = {}
    for number, web in enumerate(webs.webs):
        place, file = allocation.places[number], web.variable.file
        shown[number] = (_ORDER.index(file), place.bank or "", place.number, place_text(place, file) + _HALF.get(file, ""))
    columns = sorted(set(shown.values()))
    width = max((len(text) for *_, text in columns), default=1)
    index = {column: number for number, column in enumerate(columns)}
    states = _states(webs, len(program.instructions))
    out = [" " * 13 + " ".join(text.rjust(width)[letter] for *_, text in columns).rstrip() for letter in range(width)]
    before = 0
    for address, (held, reads, writes) in enumerate(states):
        seen: list[set[str]] = [set() for _ in columns]
        for one in cells_of(held | reads | writes):
            seen[index[shown[one]]] |= {letter for letter, mask in (("R", reads), ("W", writes)) if mask >> one & 1} or {"|"}
        marks = " ".join(_mark(letters) for letters in seen)
        begun = [
            f"{shown[one][3]}={webs.webs[one].variable.spelling}" for one in cells_of((held | reads | writes) & ~before)
        ]
        before = held | reads | writes
        instruction = program.instructions[address]
        names = f"  ; {' '.join(begun)}" if begun else ""
        out.append(f"{address:>5}  {instruction.origin.span.line:>5} {marks}  {instruction.source}{names}".rstrip())
    return "\n".join(out + _needless(allocation)) + "\n"


def _states(webs: Webs, instructions: int) -> list[tuple[int, int, int]]:
    """For each word the webs that are kept behind it, read and written, as masks."""
    held, reads, writes = [0] * instructions, [0] * instructions, [0] * instructions
    always = sum(1 << number for number, web in enumerate(webs.webs) if web.variable.pinned)
    for node, point in enumerate(webs.flow.nodes):
        if point.instruction < instructions:
            held[point.instruction] |= webs.occupied[node] | always
            for table, occurrences in ((reads, point.reads), (writes, point.writes)):
                for number in occurrences:
                    table[point.instruction] |= 1 << webs.of_occurrence[number]
    return list(zip(held, reads, writes, strict=True))


def _mark(seen: set[str]) -> str:
    """The mark of a register: what it ends with may be read where what begins in it is written."""
    if {"R", "W"} <= seen:
        return "X"
    return next((letter for letter in "RW|" if letter in seen), ".")


def _needless(allocation: Allocation) -> list[str]:
    """The instructions that copy a register to itself, since nothing made their names differ."""
    webs = allocation.webs
    if webs is None:
        return []
    out = []
    for copy in webs.copies:
        place = allocation.places[copy.source]
        if place == allocation.places[copy.target]:
            names = webs.webs[copy.target].variable.spelling, webs.webs[copy.source].variable.spelling
            line = allocation.program.instructions[copy.instruction].origin.span.line
            out.append(
                f"; word {copy.instruction}, line {line}: `{names[0]}` and `{names[1]}` share {place_text(place, File.GPR)}, "
                "so that this sets the condition codes and nothing else"
            )
    return out
