"""The macro library of microcode/lib as data: what the comment in front of each macro says, and what its examples cost in fact.

A macro is described by a block of comment lines right in front of its `#macro`: its call, what it does, and rows of a word and a
text (`changes`, `cost`, names of parameters). A row `cost CALL [after STATEMENT | STATEMENT] -> N words, N cycles[, N sram]` is
an example and a claim: `measured` assembles and runs it. Not in here: whether a macro computes the right thing (programs of
microcode/tests, tests/unit/test_microcode_library.py).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ixpemu import Chip, assemble, disassemble, resources

LIB = resources.folder("microcode") / "lib"
UNITS = ("scratch", "sram", "dram", "hash", "cap")
SETUP = """
.reg a b c e d[8]
.reg $x $y
.reg $w[8] $r[8] $$d[16]
.reg @lock
.xfer_order $w
.xfer_order $r
.xfer_order $$d
"""
"""What examples may name: registers, single transfer registers, groups of them."""
INTRODUCTION = """\
# The macro library

Made from the comments in `microcode/lib` by `python -m tests.fresh --write`; a test assembles and runs every example and compares
its cost. `#include "bits.uc"` finds a file of the library without an option.

Words are words of the control store. Cycles are those in which the microengine is at work for the call (executing, aborted
behind branches and swaps, stalled) while nobody else wants anything: waiting for memory comes on top, by command as in
[timing.md](timing.md), and other threads run meanwhile. `elsewhere#` is a label behind the example.

Names that begin with `_` and the file's name belong to the library. Arguments go in as text: expressions in parentheses. Where a
macro needs registers or signals of its own, it declares them in a scope, and they count among the caller's there."""


@dataclass(frozen=True, slots=True)
class Cost:
    """A claim about one call. `references` counts commands by unit; `note` is the text behind, for people."""

    call: str
    before: tuple[str, ...]
    words: int
    cycles: int
    references: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Macro:
    """One documented macro: its call, its text, its rows in their order (costs apart)."""

    call: str
    text: str
    rows: tuple[tuple[str, str], ...]
    costs: tuple[Cost, ...]


@dataclass(frozen=True, slots=True)
class File:
    """One file of the library: its opening comment and its macros."""

    name: str
    text: str
    macros: tuple[Macro, ...]
    undocumented: tuple[str, ...]


_COST = re.compile(
    r"(?P<call>.+?)(?: after (?P<before>.+?))? -> (?P<words>\d+) words?, (?P<cycles>\d+) cycles?(?P<references>(?:, \d+ [a-z]+)*)"
)


def cost(text: str) -> Cost:
    """One `cost` row. ValueError if it is not written as it has to be."""
    found = _COST.fullmatch(text)
    if not found:
        raise ValueError(f"not a cost row: {text}")
    before = tuple((found["before"] or "").split(" | ")) if found["before"] else ()
    references = tuple((unit, int(count)) for count, unit in re.findall(r", (\d+) ([a-z]+)", found["references"]))
    return Cost(found["call"], before, int(found["words"]), int(found["cycles"]), references)


def _macro(lines: list[str]) -> Macro:
    text, rows = [], []
    for line in lines[1:]:
        row = re.match(r";   (\w+) {2,}(.+)", line)
        if row:
            rows.append((row[1], row[2]))
        elif rows and line.startswith(";            "):
            rows[-1] = (rows[-1][0], f"{rows[-1][1]} {line[1:].strip()}")
        else:
            text.append(line[1:].strip())
    costs = tuple(cost(value) for key, value in rows if key == "cost")
    return Macro(lines[0][2:], " ".join(text), tuple(row for row in rows if row[0] != "cost"), costs)


def read(path: Path) -> File:
    """One library file. A macro without a comment, or whose comment names another call, is `undocumented`."""
    block: list[str] = []
    head: list[str] | None = None
    macros, undocumented = [], []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(";"):
            block.append(line)
            continue
        if head is None:
            head = block
        elif line.startswith("#macro "):
            name = line.removeprefix("#macro ").strip()
            if block and block[0] == f"; {name}":
                macros.append(_macro(block))
            else:
                undocumented.append(name)
        block = []
    paragraphs = "\n".join(line[1:].removeprefix(" ") for line in head or [])
    return File(path.name, paragraphs.strip(), tuple(macros), tuple(undocumented))


def files() -> Iterator[File]:
    """The library, by name; words.uc, which the others do not need, is older and says its costs in prose."""
    for path in sorted(LIB.glob("*.uc")):
        if path.name != "words.uc":
            yield read(path)


def page() -> str:
    """docs/reference/library.md, out of the comments."""
    out = [*INTRODUCTION.splitlines(), "", "| file | macros |", "|---|---|"]
    everything = list(files())
    for file in everything:
        out.append(f"| [{file.name}](#{file.name.replace('.', '')}) | {', '.join(_name(macro) for macro in file.macros)} |")
    for file in everything:
        first, _, rest = file.text.removeprefix(f"{file.name}: ").partition("\n")
        out += ["", f"## {file.name}", "", "```", first, *rest.splitlines(), "```"]
        for macro in file.macros:
            out += ["", f"### `{macro.call}`", "", macro.text, "", "| | |", "|---|---|"]
            out += [f"| {key if key == 'changes' else f'`{key}`'} | {_cell(value)} |" for key, value in macro.rows]
            out += ["", "| example | words | cycles | commands |", "|---|---|---|---|"]
            for claim in macro.costs:
                after = f" after {', '.join(f'`{_cell(step)}`' for step in claim.before)}" if claim.before else ""
                commands = ", ".join(f"{count} {unit}" for unit, count in claim.references) or "none"
                out.append(f"| `{_cell(claim.call)}`{after} | {claim.words} | {claim.cycles} | {commands} |")
    return "\n".join(out) + "\n"


def _name(macro: Macro) -> str:
    return f"`{macro.call.split('(')[0]}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def measured(file: str, claim: Cost) -> tuple[int, int, dict[str, int]]:
    """Words, cycles at work (executing, aborted, stalled; not waiting for memory) and commands by unit of one example."""
    text = "\n".join([
        f'#include "{file}"', SETUP, "br=ctx[0, only#]", "ctx_arb[kill]", "only#:", "ctx_arb[voluntary]", *claim.before,
        "nop", "begin_of_example#:", claim.call, "end_of_example#:", "nop", "elsewhere#:", "halt",
    ])
    image = assemble(text=text, include=[LIB])
    begin, end = image.labels["begin_of_example#"], image.labels["end_of_example#"]
    names = [line.strip().split("[")[0] for line in disassemble(image).splitlines() if re.match(r"    \S", line)]
    chip = Chip()
    chip.load(0, image)
    chip.break_at(0, begin)
    chip.run(cycles=100_000, to_break=True)
    chip.clear_break(0, begin)
    before = dict(chip.me[0].cycles)
    commands: Counter[str] = Counter()
    while True:
        at = chip.me[0].ctx[0].pc
        if at in (end, image.labels["elsewhere#"]):
            break
        stop = chip.step(me=0)
        if stop.cycle > 200_000:
            raise AssertionError(f"{claim.call} does not end")
        name = names[at].split("_")[0]
        if name in UNITS:
            commands[name] += 1
    after = dict(chip.me[0].cycles)
    busy = sum(after[part] - before[part] for part in ("executing", "aborted", "stalled"))
    return end - begin, busy, dict(commands)
