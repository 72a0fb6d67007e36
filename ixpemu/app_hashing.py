"""What the operations of microcode/hashing cost, alone and with many threads: by hash, by place in the chain, by the CAM.

Each figure comes from a program that is made for it around the macros of flow_table.uc and runs on a chip of its own. Nothing
here draws. Cycles are the chip's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ixpemu import resources
from ixpemu.asm import assemble
from ixpemu.chip import Chip
from ixpemu.engine.layout import UNIT_HASH, UNIT_SRAM0
from ixpemu.image import Image

MULTIPLIER = 0x94D049BB_BF58476D_7F4A7C15_9E3779B9
ENTRY_BASE, ENTRY_BYTES, KEY_BASE = 0x40000, 32, 0x80000
STRANGER = 99                       # number of a flow that is in no table
FEW, MANY = 8, 1024              # flows
WARM_CYCLES, MEASURED_CYCLES = 20_000, 100_000
LIMIT = 200_000
MICROENGINES = (1, 2, 4, 8)
Progress = Callable[[float, str], None]


@dataclass(frozen=True, slots=True)
class Variant:
    """How a flow's chain is found, and whether the CAM stands in front of it."""

    name: str
    software: int
    cached: int

    @property
    def define(self) -> dict[str, int]:
        """The names that flow_table.uc looks at."""
        return {"SOFTWARE_HASH": self.software, "CACHED": self.cached}


UNIT, SOFTWARE = Variant("hash unit", 0, 0), Variant("software hash", 1, 0)
UNIT_CACHED, SOFTWARE_CACHED = Variant("hash unit, CAM", 0, 1), Variant("software hash, CAM", 1, 1)


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation to be measured: `call` after the operations `before`; flows are numbers, those inserted later come first."""

    name: str
    before: tuple[str, ...]
    flow: int
    call: str


FIND = "flow_find(elsewhere#)"
INSERT = "flow_insert(free_entries, elsewhere#, elsewhere#)"
DELETE = "flow_delete(0, elsewhere#)"


def _chain(length: int) -> tuple[str, ...]:
    return tuple(line for flow in range(length) for line in (f"the_flow({flow})", "flow_insert(free_entries, never#, never#)"))


OPERATIONS = (
    *(Operation(f"find, number {place} of its chain", _chain(place), 0, FIND) for place in (1, 2, 3, 4)),
    Operation("find, not there, chain empty", (), STRANGER, FIND),
    Operation("find, not there, chain of 1", _chain(1), STRANGER, FIND),
    Operation("insert", (), 0, INSERT),
    Operation("insert, there already", _chain(1), 0, INSERT),
    Operation("delete, number 1", _chain(1), 0, DELETE),
)
CACHED_OPERATIONS = (
    Operation("find, in the CAM", (*_chain(3), "the_flow(0)", "flow_find(never#)"), 0, FIND),
    Operation("find, number 1, not in the CAM", _chain(1), 0, FIND),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """What an operation took one thread that had the chip for itself. `busy`: cycles executing and aborted; `elapsed`: all."""

    variant: Variant
    operation: Operation
    instructions: int
    hashes: int
    sram: int
    busy: int
    elapsed: int


@dataclass(frozen=True, slots=True)
class Rate:
    """Finds a second of threads that do nothing else, over `flows` flows in turn."""

    variant: Variant
    flows: int
    microengines: int
    finds_per_second: float
    cycles: float
    """Of the microengine, for each find."""


DECLARATIONS = """
#include "flow_table.uc"
.num_contexts 8
.reg flow_source flow_destination flow_ports flow_protocol entry value chain link table locks mask now free_entries at end
.reg @finds
.reg read $found[7] $key[4]
.reg write $new[7]
.xfer_order $found
.xfer_order $new
.xfer_order $key
.sig flow_done flow_touched got
#macro the_flow(NUMBER)
    load32(flow_source, (0x0a000000 + (NUMBER)))
    load32(flow_destination, 0xc0a80001)
    load32(flow_ports, (0x04000050 + ((NUMBER) << 16)))
    immed[flow_protocol, (LIVE_BIT | 6)]
#endm
#macro take_key()
    sram[read, $key[0], at, 0, 4], ctx_swap[got]
    alu[flow_source, --, B, $key[0]]
    alu[flow_destination, --, B, $key[1]]
    alu[flow_ports, --, B, $key[2]]
    alu[flow_protocol, --, B, $key[3]]
#endm
"""
SETUP = """
#if (CACHED)
    fold_start()
#endif
    flow_setup()
    free_list(free_entries, 0, FREE_QUEUE)
"""


def _image(text: str, define: Mapping[str, int]) -> Image:
    folder = resources.folder("microcode")
    return assemble(text=DECLARATIONS + text, include=[folder / "hashing", folder / "lib"], define=dict(define))


def _chip(entries: int) -> Chip:
    """A chip with free entries, the multiplier and the ring of deleted entries, as control.py sets them up."""
    chip = Chip()
    queue = chip.sram[0].queue(0)
    queue.setup()
    for number in range(entries):
        queue.enqueue((ENTRY_BASE + ENTRY_BYTES * number) // 4)
    chip.hash.multiplier[128] = MULTIPLIER
    chip.scratch.ring(2).setup(0x1000, 1024)
    return chip


def cost(variant: Variant, operation: Operation) -> Cost:
    """Measure one operation."""
    image = _image("\n".join((
        "br=ctx[0, only#]", "ctx_arb[kill]", "only#:", SETUP, *operation.before, f"the_flow({operation.flow})",
        "ctx_arb[voluntary]", "begin#:", operation.call, "end#:", "nop", "elsewhere#:", "halt", "never#:", "halt",
        ".use entry value",
    )), variant.define | {"CHAINS": 1})
    chip = _chip(8)
    chip.load(0, image)
    begin, ends = image.labels["begin#"], (image.labels["end#"], image.labels["elsewhere#"])

    def figures() -> tuple[int, int, int, int, int]:
        engine = chip.state.engines[0]
        busy = chip.me[0].cycles
        return (int(engine.retired), int(engine.refs[UNIT_HASH]), int(engine.refs[UNIT_SRAM0]),
                busy["executing"] + busy["aborted"], chip.cycle)

    chip.break_at(0, begin)
    chip.run(cycles=LIMIT, to_break=True)
    first = figures()
    chip.clear_break(0, begin)
    for address in ends:
        chip.break_at(0, address)
    chip.run(cycles=LIMIT, to_break=True)
    return Cost(variant, operation, *(after - before for before, after in zip(first, figures(), strict=True)))


def rate(variant: Variant, flows: int, microengines: int) -> Rate:
    """Let all threads of some microengines find `flows` flows, one after the other, and count."""
    keys = f"load32(at, {KEY_BASE})\nload32(end, {KEY_BASE + 16 * flows})"
    insert = _image("\n".join((
        "br=ctx[0, only#]", "ctx_arb[kill]", "only#:", SETUP, keys, "immed[value, 1]",
        "next#:", "take_key()", "flow_insert(free_entries, never#, never#)", "alu[at, at, +, 16]", "alu[--, end, -, at]",
        "bne[next#]", "ctx_arb[kill]", "never#:", "halt",
    )), variant.define)
    # Context 0 comes first, and gives way to nobody before the CAM is ready.
    search = _image("\n".join((
        "br!=ctx[0, others#]", "immed[@finds, 0]", "fold_start()" if variant.cached else "", "others#:", "flow_setup()", keys,
        "next#:", "take_key()", "flow_find(never#)", "alu[@finds, @finds, +, 1]", "alu[at, at, +, 16]", "alu[--, end, -, at]",
        "bne[next#]", f"load32(at, {KEY_BASE})", "br[next#]", "never#:", "halt", ".use entry value",
    )), variant.define)
    chip = _chip(flows)
    for number in range(flows):
        chip.sram[0].write(KEY_BASE + 16 * number, [0x0A000000 + 7919 * number, 0xC0A80001, 0x04000050 + number, 0x106])
    chip.load(0, insert)
    if chip.run(cycles=20_000_000).reason != "quiet":
        raise RuntimeError("the table could not be filled")
    for me in range(microengines):
        chip.load(me, search)
    counter = search.registers["@finds"]

    def counted() -> int:
        engines = (chip.me[me] for me in range(microengines))
        return sum(int((me.gpr_a_abs if counter[1] == "a" else me.gpr_b_abs)[int(counter[2:])]) for me in engines)

    chip.run(cycles=WARM_CYCLES)
    before = counted()
    if chip.run(cycles=MEASURED_CYCLES).reason != "cycles":
        raise RuntimeError("a flow that is in the table was not found")
    found = counted() - before
    hertz = chip.parameters["chip.megahertz"] * 1e6
    return Rate(variant, flows, microengines, found * hertz / MEASURED_CYCLES, microengines * MEASURED_CYCLES / found)


def costs(progress: Progress) -> Iterator[Cost]:
    """All operations, with all hashes."""
    wanted = [(variant, operation) for variant in (UNIT, SOFTWARE) for operation in OPERATIONS]
    wanted += [(variant, operation) for variant in (UNIT_CACHED, SOFTWARE_CACHED) for operation in CACHED_OPERATIONS]
    for number, (variant, operation) in enumerate(wanted):
        progress(number / len(wanted), f"{variant.name}: {operation.name}")
        yield cost(variant, operation)


def rates(progress: Progress, microengines: Sequence[int] = MICROENGINES) -> Iterator[Rate]:
    """All hashes with 1 to 8 microengines: over FEW flows, which fit into a CAM, and over MANY, which do not."""
    wanted = [(variant, flows, count) for flows in (FEW, MANY) for variant in (UNIT, SOFTWARE, UNIT_CACHED, SOFTWARE_CACHED)
              for count in microengines]
    for number, (variant, flows, count) in enumerate(wanted):
        progress(number / len(wanted), f"{variant.name}, {flows} flows, {count} microengines")
        yield rate(variant, flows, count)
