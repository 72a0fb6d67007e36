"""What an assembly looks like on paper: the listing, where every name lives, and the later stages as text.

A listing has one block a word: `.ADDRESS WORD`, the instruction in physical registers, the source statement as a comment; label
lines, `.%line N "FILE"` where the source line changes, `.macro_ref NAME` and `.end_macro_ref NAME` around what a macro made, and
`ucode_end` behind the last word. Nothing is computed here that the stages have not decided.
"""

from __future__ import annotations

from collections.abc import Sequence

from ixpemu.asm.allocate import Allocation
from ixpemu.asm.banks import Place
from ixpemu.asm.flow import File, Kind
from ixpemu.asm.numbers import cells_of
from ixpemu.asm.webs import Webs
from ixpemu.image import Image, LiveRange, WordOrigin
from ixpemu.isa import InstructionSet
from ixpemu.isa.model import Operation

_PREFIX = {
    File.GPR: "", File.ABSOLUTE: "@", File.NEIGHBOR: "n$", File.SRAM_READ: "$", File.SRAM_WRITE: "$",
    File.DRAM_READ: "$$", File.DRAM_WRITE: "$$", File.SIGNAL: "s",
}
_HALF = {File.SRAM_READ: " read", File.SRAM_WRITE: " write", File.DRAM_READ: " read", File.DRAM_WRITE: " write"}


def place_text(place: Place, file: File) -> str:
    """A physical place as `.physical` text spells it: `a5`, `@b16`, `$3`, `s4`."""
    return f"{_PREFIX[file]}{place.bank or ''}{place.number}"


def live_ranges(allocation: Allocation) -> tuple[LiveRange, ...]:
    """For every name the runs of words in which it holds its place, in program order."""
    webs = allocation.webs
    if webs is None:
        return ()
    held = _held(webs, len(allocation.program.instructions))
    started: dict[int, int] = {}
    out: list[tuple[int, LiveRange]] = []
    before = 0
    for address, mask in enumerate([*held, 0]):
        for web in cells_of(before & ~mask):
            variable = webs.webs[web].variable
            text = place_text(allocation.places[web], variable.file)
            out.append((started[web], LiveRange(variable.name, text, started.pop(web), address - 1)))
        for web in cells_of(mask & ~before):
            started[web] = address
        before = mask
    return tuple(entry for _, entry in sorted(out, key=lambda pair: (pair[0], pair[1].name, pair[1].register)))


def _held(webs: Webs, instructions: int) -> list[int]:
    """The webs that have their place at each instruction, as masks: read, written, or kept across it."""
    held = [0] * instructions
    pinned = sum(1 << number for number, web in enumerate(webs.webs) if web.variable.pinned)
    for node, point in enumerate(webs.flow.nodes):
        if point.instruction < instructions:
            mask = webs.occupied[node] | pinned
            for number in (*point.reads, *point.writes):
                mask |= 1 << webs.of_occurrence[number]
            held[point.instruction] |= mask
    return held


def registers(allocation: Allocation) -> dict[str, str]:
    """Unique name to physical places, in order of the text."""
    places: dict[str, dict[str, None]] = {}
    if allocation.webs is not None:
        for number, web in enumerate(allocation.webs.webs):
            text = place_text(allocation.places[number], web.variable.file)
            places.setdefault(web.variable.name, {})[text] = None
    return {name: " ".join(texts) for name, texts in places.items()}


def listing(image: Image, operations: Sequence[Operation], isa: InstructionSet) -> str:
    """The listing of an image, with the operations its words were made from."""
    labels: dict[int, list[str]] = {}
    for name, address in image.labels.items():
        labels.setdefault(address, []).append(name)
    lines = [f"; {len(image)} words, {image.contexts} contexts"]
    open_macros: list[str] = []
    line: object = None
    for address, (word, operation) in enumerate(zip(image.values, operations, strict=True)):
        origin = image.debug[address] if image.debug else None
        if origin is not None:
            lines += _macro_lines(open_macros, [macro for macro, _ in reversed(origin.macros)])
            if origin.place != line:
                line = origin.place
                lines.append(f'.%line {origin.place.line} "{origin.place.file}"')
        lines += [f"{name}:" for name in labels.get(address, ())]
        lines += _word_lines(address, word, operation, origin, isa.decode(word, image.contexts) is not None, isa)
    lines += _macro_lines(open_macros, [])
    lines += [f"{name}:" for name in labels.get(len(image), ())]
    lines += ["ucode_end", "", "; where names live: name, place, words"]
    lines += [f"; {entry.name:<28} {entry.register:<6} {entry.first}..{entry.last}" for entry in image.ranges]
    return "\n".join(lines) + "\n"


def _word_lines(
    address: int, word: int, operation: Operation, origin: WordOrigin | None, legal: bool, isa: InstructionSet
) -> list[str]:
    text = f".word {word:#012x}" if operation.mnemonic == ".word" else isa.format(operation)
    if not legal:
        text += "    ; not a legal word"
    source = [] if origin is None or not origin.source else [f"    ; {origin.source}"]
    return [f".{address} {word:010x}", f"    {text}", *source]


def _macro_lines(opened: list[str], wanted: list[str]) -> list[str]:
    """The lines that close and open macros so that `wanted` (outermost first) are open; keeps `opened` up to date."""
    common = 0
    while common < min(len(opened), len(wanted)) and opened[common] == wanted[common]:
        common += 1
    lines = [f".end_macro_ref {name}" for name in reversed(opened[common:])] + [f".macro_ref {name}" for name in wanted[common:]]
    opened[:] = wanted
    return lines


def flow_text(webs: Webs) -> str:
    """The flow graph: one line a point, with what it reads, writes, and where control goes."""
    flow = webs.flow
    lines = []
    for number, point in enumerate(flow.nodes):
        parts = [f"{number:5} {point.instruction:5} {point.kind.value:<11}"]
        for word, occurrences in (("reads", point.reads), ("writes", point.writes)):
            if occurrences:
                names = (flow.occurrences[one].variable for one in occurrences)
                parts.append(f"{word} " + " ".join(flow.variables[name].name for name in names))
        if point.consumes:
            parts.append("done " + " ".join(flow.variables[one].name for one in point.consumes))
        parts.append("-> " + (" ".join(str(one) for one in flow.successors[number]) or "nowhere"))
        if point.kind is Kind.INSTRUCTION:
            parts.append(f"; {flow.program.instructions[point.instruction].source}")
        lines.append("  ".join(parts))
    return "\n".join(lines) + "\n"


def allocation_text(allocation: Allocation) -> str:
    """One line a live range: name, half, place, and the lines of the source where it is set and used."""
    if allocation.webs is None:
        return "; a .physical program: nothing to place\n"
    webs, lines = allocation.webs, []
    for number, web in enumerate(webs.webs):
        file = web.variable.file
        name = web.variable.name + _HALF.get(file, "") + (" pair" if web.pair else "")
        occurrences = [webs.flow.occurrences[one] for one in web.occurrences]
        where = " ".join(f"{'=' if one.writes else ''}{one.origin.span.line}" for one in occurrences)
        lines.append(f"{name:<34} {place_text(allocation.places[number], file):<6} {where}".rstrip())
    return "\n".join(lines) + "\n"
