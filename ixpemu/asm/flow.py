"""What happens when: the program as a graph of points at which names are read, written, raised and waited for.

A point is an instruction; or the moment behind the defer slots at which its wait is over (`WAIT`); or the side of a branch on
which a tested signal is known to have come (`ARRIVED`); or a flow directive (`FACT`). Defer slots execute before the branch
target. Only what is certain is left out of the graph: a jump without `targets[...]` may lead to any label. No allocation
happens here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from ixpemu.asm.program import Fixed, Half, Program
from ixpemu.diagnostics import Origin
from ixpemu.isa import Facts
from ixpemu.isa.model import RegisterClass


class File(Enum):
    """The register files that names are allocated in."""

    GPR = "general purpose"
    ABSOLUTE = "absolute"
    NEIGHBOR = "next neighbour"
    SRAM_READ = "SRAM read transfer"
    SRAM_WRITE = "SRAM write transfer"
    DRAM_READ = "DRAM read transfer"
    DRAM_WRITE = "DRAM write transfer"
    SIGNAL = "signal"


_FILES = {
    (RegisterClass.SRAM, False): File.SRAM_READ, (RegisterClass.SRAM, True): File.SRAM_WRITE,
    (RegisterClass.DRAM, False): File.DRAM_READ, (RegisterClass.DRAM, True): File.DRAM_WRITE,
    (RegisterClass.GPR, False): File.GPR, (RegisterClass.GPR, True): File.GPR,
    (RegisterClass.ABSOLUTE, False): File.ABSOLUTE, (RegisterClass.ABSOLUTE, True): File.ABSOLUTE,
    (RegisterClass.NEIGHBOR, False): File.NEIGHBOR, (RegisterClass.NEIGHBOR, True): File.NEIGHBOR,
}


def file_of(cls: RegisterClass, write_half: bool) -> File:
    """The file in which a register of class `cls` is; `write_half` tells the two files of transfer registers apart."""
    return _FILES[cls, write_half]


@dataclass(frozen=True, slots=True)
class Variable:
    """A name in one register file. `pinned`: it keeps one number that nobody else gets. `fixed`: the place that the text gives
    it, which others may have while it holds nothing."""

    name: str
    spelling: str
    file: File
    pinned: bool
    fixed: Fixed | None = None


@dataclass(frozen=True, slots=True)
class Site:
    """A place in the text that gets a number: operand `operand` of an instruction, or that argument of its token `token`.
    `offset`: how many registers behind the one that is written there."""

    instruction: int
    operand: int
    token: int | None = None
    offset: int = 0


def probe_site(instruction: int, probe: int) -> Site:
    """The place of the key of probe number `probe`, which stands before an instruction and is no operand of it."""
    return Site(instruction, -1 - probe)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A variable read or written at a point. `site` is None for directives. `certain` false: it may be written and may keep its
    value, as what a command with an indirect reference fills."""

    node: int
    variable: int
    writes: bool
    site: Site | None
    origin: Origin
    certain: bool = True


class Kind(Enum):
    """What a point is."""

    INSTRUCTION = "instruction"
    WAIT = "wait"
    ARRIVED = "arrived"
    FACT = "fact"


@dataclass(slots=True)
class Node:
    """A point. `consumes`: variables of signals that are known to have come once it is passed."""

    instruction: int
    kind: Kind
    reads: list[int] = field(default_factory=list)      # occurrence indexes
    writes: list[int] = field(default_factory=list)
    consumes: list[int] = field(default_factory=list)
    polled: bool = False                                # the signal was tested, not waited for: only one of a pair is known


@dataclass(frozen=True, slots=True)
class Flight:
    """A command on its way: from its point `node` on, until its signal is consumed, `registers` belong to a unit.

    `signal` and `registers` are occurrence indexes; `signal` is None where the program will not be told. `pair`: it raises two.
    """

    node: int
    instruction: int
    signal: int | None
    registers: tuple[int, ...]
    pair: bool


@dataclass(slots=True)
class Flow:
    """The graph. `successors[n]` of point n; `entry[i]`: where control arrives at instruction i, behind the last one too."""

    program: Program
    facts: list[Facts]
    nodes: list[Node] = field(default_factory=list)
    successors: list[list[int]] = field(default_factory=list)
    entry: list[int] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    occurrences: list[Occurrence] = field(default_factory=list)
    flights: list[Flight] = field(default_factory=list)
    guessed_jumps: list[int] = field(default_factory=list)     # instructions whose destinations are not known
    ends_open: list[int] = field(default_factory=list)         # instructions behind which the program ends without stopping
    reentries: list[int] = field(default_factory=list)         # points at which control comes from outside of the text
    anywhere: int | None = None         # the point from which a jump to nobody knows where goes to every label
    addressed: frozenset[str] = frozenset()
    _numbers: dict[tuple[str, File], int] = field(default_factory=dict)

    @property
    def starts(self) -> list[int]:
        """The points at which control can come from nowhere: address 0, and each `.reentry`."""
        return [*self.entry[:1], *self.reentries]

    def variable(self, name: str, file: File) -> int:
        """The number of a variable, made on first use."""
        number = self._numbers.get((name, file))
        if number is None:
            number = self._numbers[name, file] = len(self.variables)
            self.variables.append(self._make(name, file))
        return number

    def _make(self, name: str, file: File) -> Variable:
        if file is File.SIGNAL:
            signal = self.program.signals[name]
            return Variable(name, signal.spelling, file, signal.volatile or signal.address_taken, signal.fixed)
        symbol = self.program.symbols[name]
        shared = file in (File.ABSOLUTE, File.NEIGHBOR)     # other contexts, and the neighbour, use these when they like
        pinned = shared or symbol.volatile or symbol.address_taken or name in self.addressed
        return Variable(name, symbol.spelling, file, pinned, symbol.fixed)

    def reachable(self, others: list[int] | None = None) -> list[bool]:
        """For every point whether control can come there from address 0, or from one of `others`."""
        seen = [False] * len(self.nodes)
        queue = [*(self.starts if self.nodes else []), *(others or [])]
        for node in queue:
            seen[node] = True
        while queue:
            for following in self.successors[queue.pop()]:
                if not seen[following]:
                    seen[following] = True
                    queue.append(following)
        return seen



def addressed_names(program: Program) -> frozenset[str]:
    """Transfer registers that somebody may reach by number: those in one order with a register whose address is taken."""
    orders = (order.names for order in program.xfer_orders)
    return frozenset(name for names in orders if any(program.symbols[n].address_taken for n in names) for name in names)


def transfer_run(program: Program, name: str, write_half: bool, count: int) -> list[str] | None:
    """The names of `count` consecutive transfer registers from `name` on, as `.xfer_order` says; None if nothing says so."""
    if count <= 1:
        return [name]
    unwanted = Half.READ if write_half else Half.WRITE
    for order in program.xfer_orders:
        if order.half is not unwanted and name in order.names:
            run = order.names[order.names.index(name) :][:count]
            if len(run) == count:
                return list(run)
    return None
