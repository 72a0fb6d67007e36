"""What a finished assembly looks like, as values: a row a word, with source, registers, defer slots, targets and macros.

`listing_text` writes them on paper and `as_json` for programs. Nothing is decided here; what is shown was decided by the stages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ixpemu.asm.allocate import Allocation
from ixpemu.asm.flow import File
from ixpemu.asm.macro_cost import MacroCost, macro_costs
from ixpemu.asm.places import place_text
from ixpemu.asm.program import Expansion, Instruction
from ixpemu.asm.webs import Webs
from ixpemu.image import Image, LiveRange
from ixpemu.isa import InstructionSet
from ixpemu.isa.model import Operation, Target

if TYPE_CHECKING:
    from ixpemu.asm.schedule_report import Report

_HALF = {File.SRAM_READ: "in", File.SRAM_WRITE: "out", File.DRAM_READ: "in", File.DRAM_WRITE: "out"}


@dataclass(frozen=True, slots=True)
class Use:
    """A name that a word reads or writes, and the register or signal it is in (both, `s4 s5`, for a pair).

    `half`: "in" or "out" of a transfer register. A signal is written by what raises it and read by what waits for it. `last`: it
    is read, and on no way onwards is this value read again. `unread`: it is written, and on no way onwards is the value read.
    """

    name: str
    place: str
    half: str
    signal: bool
    reads: bool
    writes: bool
    last: bool
    unread: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One word. `text` is the instruction in physical registers, `source` the statement; `file` and `line` are where it stands,
    and `expansion` the number of the macro expansion that it stands in, 0 for none.

    `targets`: the labels that it names, with addresses. `defer` slots of at most `defer_limit` follow before control leaves;
    `slot_of`: the address of the word in whose defer slot this one is. `remarks`: what else is to be said about it.
    """

    address: int
    word: int
    text: str
    source: str = ""
    file: str = ""
    line: int = 0
    labels: tuple[str, ...] = ()
    expansion: int = 0
    uses: tuple[Use, ...] = ()
    targets: tuple[tuple[str, int], ...] = ()
    defer: int = 0
    defer_limit: int = 0
    slot_of: int | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """All rows, and what holds for the program as a whole. `store`: words of the control store. `end_labels`: those behind the
    last word."""

    rows: tuple[Row, ...]
    contexts: int
    store: int
    expansions: tuple[Expansion, ...] = ()
    ranges: tuple[LiveRange, ...] = ()
    end_labels: tuple[str, ...] = ()
    macros: tuple[MacroCost, ...] = field(default=())
    schedule: Report | None = None

    def chain(self, expansion: int) -> tuple[int, ...]:
        """The numbers of the expansions around a word in expansion `expansion`, outermost first."""
        out: list[int] = []
        while expansion:
            out.append(expansion)
            expansion = self.expansions[expansion - 1].parent
        return tuple(reversed(out))

    @property
    def slots(self) -> tuple[int, int]:
        """Defer slots that are used, and that there could be."""
        return sum(row.defer for row in self.rows), sum(row.defer_limit for row in self.rows)

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        used, possible = self.slots
        return {
            "words": [self._row(row) for row in self.rows],
            "contexts": self.contexts,
            "control_store": {"used": len(self.rows), "words": self.store},
            "defer_slots": {"used": used, "possible": possible},
            "end_labels": list(self.end_labels),
            "expansions": [
                {"macro": one.macro, "file": one.call.file, "line": one.call.line, "parent": one.parent}
                for one in self.expansions
            ],
            "live_ranges": [
                {"name": one.name, "register": one.register, "first": one.first, "last": one.last} for one in self.ranges
            ],
            "macros": [cost.as_json() for cost in self.macros],
            **({} if self.schedule is None else {"schedule": self.schedule.as_json()}),
        }

    def _row(self, row: Row) -> dict[str, Any]:
        return {
            "address": row.address, "word": f"{row.word:010x}", "text": row.text, "source": row.source,
            "file": row.file, "line": row.line, "labels": list(row.labels), "expansion": row.expansion,
            "registers": [
                {"name": use.name, "register": use.place, "half": use.half or None, "reads": use.reads, "writes": use.writes,
                 "last": use.last, "unread": use.unread} for use in row.uses
            ],
            "targets": [{"label": name, "address": address} for name, address in row.targets],
            "defer": row.defer, "defer_limit": row.defer_limit, "slot_of": row.slot_of, "remarks": list(row.remarks),
        }


def make_listing(
    image: Image, operations: Sequence[Operation], allocation: Allocation, isa: InstructionSet, store: int,
    account: Report | None = None,
) -> Listing:
    """The listing of an image, with the operations that its words were made from, and what --vnops and -O did."""
    said: Mapping[int, Sequence[str]] = {} if account is None else account.remarks
    labels: dict[int, list[str]] = {}
    for name, address in image.labels.items():
        labels.setdefault(address, []).append(name)
    uses = _uses(allocation.webs, allocation) if allocation.webs is not None else {}
    program = allocation.program
    rows: list[Row] = []
    slots: dict[int, int] = {}
    for address, (word, operation) in enumerate(zip(image.values, operations, strict=True)):
        instruction = program.instructions[address]
        defer, limit = _deferred(operation, instruction, isa)
        slots.update({address + distance: address for distance in range(1, defer + 1)})
        legal = isa.decode(word, image.contexts) is not None
        rows.append(Row(
            address, word, f".word {word:#012x}" if instruction.word is not None else isa.format(operation), instruction.source,
            instruction.origin.span.file, instruction.origin.span.line, tuple(labels.get(address, ())), instruction.expansion,
            tuple(uses.get(address, ())), tuple(dict.fromkeys(_targets(operation, program.labels))), defer, limit,
            slots.get(address), (*(() if legal else ("not a legal word",)), *said.get(address, ())),
        ))
    return Listing(
        tuple(rows), image.contexts, store, tuple(program.expansions), image.ranges, tuple(labels.get(len(image), ())),
        macro_costs(program), account,
    )


def _deferred(operation: Operation, instruction: Instruction, isa: InstructionSet) -> tuple[int, int]:
    """The defer slots of an operation, and the most it may have."""
    if instruction.word is not None:
        return 0, 0
    facts = isa.facts(operation)
    return facts.defer, facts.defer_limit


def _targets(operation: Operation, labels: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    arguments = (argument for token in operation.tokens for argument in token.arguments)
    for operand in (*operation.operands, *arguments):
        if isinstance(operand, Target) and operand.name is not None and operand.name in labels:
            yield operand.name, labels[operand.name]


def _uses(webs: Webs, allocation: Allocation) -> dict[int, list[Use]]:
    """By word, the names that it uses, in the order of its operands."""
    found: dict[int, dict[int, list[bool]]] = {}        # word -> web -> read, written, read for the last time, never read
    for node, point in enumerate(webs.flow.nodes):
        for number in (*point.reads, *point.writes):
            occurrence = webs.flow.occurrences[number]
            if occurrence.site is None:
                continue                                # of a directive
            web = webs.of_occurrence[number]
            state = found.setdefault(occurrence.site.instruction, {}).setdefault(web, [False, False, False, False])
            kept = bool(webs.occupied[node] >> web & 1) or webs.webs[web].variable.pinned
            state[1 if occurrence.writes else 0] = True
            state[3 if occurrence.writes else 2] |= not kept
    return {
        address: [_use(webs, allocation, web, *states[web]) for web in sorted(states, key=lambda web: (not states[web][0], web))]
        for address, states in found.items()
    }


def _use(webs: Webs, allocation: Allocation, web: int, reads: bool, writes: bool, last: bool, unread: bool) -> Use:
    variable, place = webs.webs[web].variable, allocation.places[web]
    text = place_text(place, variable.file)
    if webs.webs[web].pair:
        text += f" s{place.number + 1}"
    return Use(
        variable.spelling, text, _HALF.get(variable.file, ""), variable.file is File.SIGNAL, reads, writes,
        reads and last and not writes, writes and unread,
    )
