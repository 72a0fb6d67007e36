"""What threads, microengines and references cost, measured on the emulated chip and set beside what it must be.

Two laws. A packet of C issue and aborted cycles and A memory references of unloaded latency L, on one microengine with T
threads, goes through at min(T / (C + A L), 1 / C): the knee is at T = 1 + A L / C. A channel that serves one reference in S
cycles for all microengines caps the whole at 1 / (A S). And the latency of one reference alone is the sum of its parameters in
the chip file.

`python -m tests.laws` prints the tables; docs/laws.md is made of them by `python -m tests.fresh --write`. The laws are written
here a second time, without a line of the engine: nothing in this file looks at how the engine reckons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from ixpemu import Chip
from ixpemu.chip_views import Context
from ixpemu.isa.chipfile import ChipParameters, load_chip
from tests.support.machine import words_of

THREADS = MICROENGINES = range(1, 9)
WARM_UP, WINDOW = 6_000, 30_000
FAR, NEAR = 0.05, 0.10      # how far a measurement may be off, away from the knee and within one thread of it


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """A command, the parameters that its latency is made of with their factors, and those that its unit is busy with.

    `octets`: what it moves to or from DRAM, whose occupancy is no sum. `pair`: it ends with two signals. `step`: how far apart
    the addresses of two microengines are where they saturate the unit: none, a row of DRAM, or as many rows as it has banks.
    """

    title: str
    command: str
    latency: Mapping[str, int]
    service: Mapping[str, int]
    pair: bool = False
    octets: int = 0
    step: int = 0

    def cycles(self, chip: ChipParameters) -> int:
        """Unloaded latency: from its issue to its signal."""
        return 1 + sum(factor * chip[name] for name, factor in self.latency.items())

    def busy(self, chip: ChipParameters) -> int:
        """Cycles of its channel."""
        busy = sum(factor * chip[name] for name, factor in self.service.items())
        if self.octets:
            busy += -(-max(self.octets, chip["dram.minimum_bytes"]) // chip["dram.bytes_per_cycle"])
            if not self.step:
                busy = max(busy, chip["dram.bank_occupancy"])
            elif self.step == chip["dram.banks"] * chip["dram.row_bytes"]:      # another row of the same bank every time
                busy = max(busy, chip["dram.bank_occupancy"]) + chip["dram.row_miss_cycles"]
        return busy

    def law(self, chip: ChipParameters) -> float:
        """References a cycle, when both clusters issue all that the chip takes: the unit, a bus or the command buses bound it."""
        buses = {name: factor * chip[name] for name, factor in self.latency.items() if name.endswith("word_cycles")}
        slowest = [float(self.busy(chip)), chip["command.bus_cycles"] / 2]
        slowest += [cycles / (2 if ".s_" in name else 1) for name, cycles in buses.items() if name.startswith(("push.", "pull."))]
        return 1 / max(slowest)

    def formula(self) -> str:
        """The sum in words."""
        terms = [name if factor == 1 else f"{factor} x {name}" for name, factor in self.latency.items()]
        return " + ".join(["1", *terms])


def _reference(
    title: str, command: str, unit: Mapping[str, int], words: int, *, way: str, service: Mapping[str, int] | None = None,
    pair: bool = False, octets: int = 0,
) -> Reference:
    bus, side = way.split(".")
    latency = {"command.path_cycles": 1, **unit, f"{bus}.{side}_cycles": 1, f"{bus}.{side}_word_cycles": words}
    return Reference(title, command, latency, service or {}, pair, octets)


def _hash(bits: int, keys: int) -> Reference:
    """Keys follow each other through the unit; the array is the slower stage in the default chip file, as here."""
    words = 4 if bits == 128 else 2
    return Reference(
        f"hash_{bits} of {keys} key{'s' * (keys > 1)}", f"hash_{bits}[$0, {keys}]",
        {"command.path_cycles": 1, "hash.operand_cycles": 1, "hash.word_cycles": words, f"hash.array_{bits}_cycles": keys,
         "push.s_cycles": 1, "push.s_word_cycles": words * keys}, {f"hash.array_{bits}_cycles": keys})


def _operations() -> list[Reference]:
    """Atomics, queues and rings. One that takes words and returns others waits for the first to return the second. Atomics are
    saturated on one word."""
    found = []
    for unit, name, busy in (("SRAM", "sram", "sram.atomic_word_cycles"), ("scratch", "scratch", "scratch.atomic_occupancy")):
        write, read = {f"{name}.write_cycles": 1}, {f"{name}.read_cycles": 1, f"{name}.atomic_cycles": 1}
        both = read | {"pull.s_cycles": 1, "pull.s_word_cycles": 1}
        changes = ("set", "clr", "add") if name == "sram" else ("set", "clr", "add", "sub")
        for word in changes:
            found.append(_atomic(f"{unit} {word}", f"{name}[{word}, $0, a0, 0]", write, 1, busy))
        for word in ("incr", "decr"):
            found.append(_atomic(f"{unit} {word}", f"{name}[{word}, --, a0, 0]", write, 0, busy))
            found.append(_atomic(f"{unit} test_and_{word}", f"{name}[test_and_{word}, $0, a0, 0]", read, 1, busy, True))
        for word in ("swap", *(f"test_and_{word}" for word in changes)):
            found.append(_atomic(f"{unit} {word}", f"{name}[{word}, $0, a0, 0]", both, 1, busy, True))
    for word in ("set", "clr", "add"):
        found.append(_atomic(f"SRAM {word} without pull", f"sram[{word}, --, a0, 0], indirect_ref, no_pull",
                             {"sram.write_cycles": 1}, 0, "sram.atomic_word_cycles"))
    return found + _queues()


def _atomic(title: str, command: str, unit: Mapping[str, int], words: int, busy: str, returns: bool = False) -> Reference:
    return _reference(title, command, unit, words, way="push.s" if returns else "pull.s", service={busy: 1}, pair=returns)


def _queues() -> list[Reference]:
    """The queue array of an SRAM channel."""
    write, read = {"sram.write_cycles": 1, "sram.queue_cycles": 1}, {"sram.read_cycles": 1, "sram.queue_cycles": 1}
    busy, reading, writing = {"sram.queue_occupancy": 1}, "sram.read_word_occupancy", "sram.write_word_occupancy"
    put = write | {"pull.s_cycles": 1, "pull.s_word_cycles": 8}
    return [
        _reference("SRAM enqueue", "sram[enqueue, --, a3, 1]", write, 0, way="pull.s", service=busy),
        _reference("SRAM enqueue_tail", "sram[enqueue_tail, --, a3, 1]", write, 0, way="pull.s", service=busy),
        _reference("SRAM dequeue", "sram[dequeue, $0, a3, 0]", read, 1, way="push.s", service=busy),
        _reference("SRAM rd_qdesc_head, 4 words", "sram[rd_qdesc_head, $0, a3, 0, 4]", read, 4, way="push.s",
                   service={reading: 4}),
        _reference("SRAM rd_qdesc_tail, 1 word", "sram[rd_qdesc_tail, $0, a3, 0, 1]", read, 1, way="push.s",
                   service={reading: 2}),
        _reference("SRAM rd_qdesc_other", "sram[rd_qdesc_other, --, a3, 0]", read, 0, way="pull.s", service=busy),
        _reference("SRAM wr_qdesc", "sram[wr_qdesc, --, a3, 0]", write, 0, way="pull.s", service={writing: 2}),
        _reference("SRAM wr_qdesc_count", "sram[wr_qdesc_count, --, a3, 0]", write, 0, way="pull.s", service=busy),
        _reference("SRAM get of 8 words", "sram[get, $0, b3, 0, 8]", read, 8, way="push.s", service={reading: 8}),
        _reference("SRAM put of 8 words", "sram[put, $0, b3, 0, 8]", put, 1, way="push.s", service={writing: 8}, pair=True),
        _reference("SRAM journal of 8 words", "sram[journal, $0, b3, 0, 8]", write, 8, way="pull.s", service={writing: 8}),
        _reference("SRAM fast_journal", "sram[fast_journal, --, a4, 0]", write, 0, way="pull.s", service=busy),
        _reference("SRAM csr_rd", "sram[csr_rd, $0, b0, 4]", read, 1, way="push.s", service=busy),
        _reference("SRAM csr_wr", "sram[csr_wr, $0, b0, 4]", write, 1, way="pull.s", service=busy),
    ]


@cache
def references() -> tuple[Reference, ...]:
    """Every unit and direction, short and long."""
    found = []
    for count in (1, 8):
        words, octets = f"{count} word" + "s" * (count > 1), f"{8 * count} bytes"
        pipe, msf = {"scratch.word_occupancy": count}, {"msf.command_occupancy": 1}
        for title, command, unit, way, service in (
            ("SRAM read", "sram[read, $0, a0, 0, {}]", "sram.read_cycles", "push.s", {"sram.read_word_occupancy": count}),
            ("SRAM write", "sram[write, $0, a0, 0, {}]", "sram.write_cycles", "pull.s", {"sram.write_word_occupancy": count}),
            ("scratch read", "scratch[read, $0, a0, 0, {}]", "scratch.read_cycles", "push.s", pipe),
            ("scratch write", "scratch[write, $0, a0, 0, {}]", "scratch.write_cycles", "pull.s", pipe),
            ("scratch get", "scratch[get, $0, b0, 8, {}]", "scratch.read_cycles", "push.s", pipe),
            ("scratch put", "scratch[put, $0, b0, 8, {}]", "scratch.write_cycles", "pull.s", pipe),
            ("MSF read", "msf[read, $0, b1, 0, {}]", "msf.read_cycles", "push.s", msf),
            ("MSF write", "msf[write, $0, b1, 0, {}]", "msf.write_cycles", "pull.s", msf),
        ):
            found.append(_reference(f"{title} of {words}", command.format(count), {unit: 1}, count, way=way, service=service))
        for title, command, side, way in (("DRAM read", "read", "read", "push.d"), ("DRAM write", "write", "write", "pull.d")):
            found.append(_reference(
                f"{title} of {octets}", f"dram[{command}, $$0, a0, 0, {count}]",
                {f"dram.{side}_cycles": 1, "dram.row_miss_cycles": 1}, 2 * count, way=way, pair=True, octets=8 * count))
        for title, command, side in (("DRAM to TBUF", "tbuf_wr", "read"), ("RBUF to DRAM", "rbuf_rd", "write")):
            found.append(Reference(f"{title}, {octets}", f"dram[{command}, --, a0, 0, max_{count}]",
                                   {"command.path_cycles": 1, f"dram.{side}_cycles": 1, "dram.row_miss_cycles": 1,
                                    "pull.d_cycles": 1, "pull.buffer_word_cycles": count}, {}, True, 8 * count))
    found += _operations()
    cap, pci = {"cap.command_occupancy": 1}, {"pci.command_occupancy": 1}
    found += [
        _reference("MSF read of 8 bytes", "msf[read64, $0, b1, 0, 1]", {"msf.read_cycles": 1}, 2, way="push.s", service=msf),
        _reference("MSF write of 8 bytes", "msf[write64, $0, b1, 0, 1]", {"msf.write_cycles": 1}, 2, way="pull.s", service=msf),
        _reference("CAP read", "cap[read, $0, PRODUCT_ID, 1]", {"cap.read_cycles": 1}, 1, way="push.s", service=cap),
        _reference("CAP write", "cap[write, $0, SELF_DESTRUCT_0, 1]", {"cap.write_cycles": 1}, 1, way="pull.s", service=cap),
        _reference("reflector read", "cap[read, $0, b2, 0, 1]", {"cap.read_cycles": 1}, 1, way="push.s", service=cap),
        _reference("reflector write", "cap[write, $0, b2, 0, 1]", {"cap.write_cycles": 1}, 1, way="pull.s", service=cap),
        _reference("PCI read", "pci[read, $0, a5, 0, 1]", {"pci.read_cycles": 1}, 1, way="push.s", service=pci),
        _reference("PCI write", "pci[write, $0, a5, 0, 1]", {"pci.write_cycles": 1}, 1, way="pull.s", service=pci),
        *(_hash(bits, keys) for bits, keys in ((48, 1), (48, 3), (64, 1), (64, 3), (128, 1), (128, 2))),
    ]
    return tuple(found)


def measured_latency(reference: Reference, chip: Chip | None = None) -> int:
    """Cycles from the issue of one command on an idle chip to its (last) signal."""
    chip = chip or Chip()
    option = ", indirect_ref" if "max_" in reference.command else ""
    text = f"alu[--, --, B, a1]\n{reference.command}, sig_done[s2]{option}\nctx_arb[kill]"
    chip.load_words(0, words_of(text), start=False)
    thread = chip.me[0].ctx[0]
    prepare(thread, option=bool(option))
    chip.scratch.ring(2).setup(0x800, 128)
    chip.sram[0].queue(5).setup()
    for entry in (6, 7):
        chip.sram[0].ring(entry).setup(0x1000, 512)
    chip.run(cycles=100)                        # past what a unit would have to wait for after reset
    chip.start(0, 1)
    while thread.pc < 2:
        issued = chip.cycle
        chip.step_cycle()
    wanted = {2, 3} if reference.pair else {2}
    while not wanted <= thread.signals:
        signalled = chip.cycle
        chip.step_cycle()
        if chip.cycle > 100_000:
            raise RuntimeError(f"{reference.title} does not end")
    return signalled - issued


def prepare(thread: Context, address: int = 0x40, option: bool = False) -> None:
    """Registers that commands of references use: a0 the address, a1 overrides, and so on."""
    thread.gpr_a[:2] = address, 1 << 4 | 0x2000 << 5 if option else 0
    thread.gpr_a[3:6] = 5 << 24, 6 << 24, 0xE0000000        # a queue and a journal of SRAM channel 0; the PCI bus
    thread.gpr_b[:4] = 0, 0x2000, 0x8400, 7 << 2        # b2: a transfer register of microengine 1; b3: a ring of SRAM


def saturation(references: Sequence[Reference], overrides: Mapping[str, int] | None = None, microengines: int = 8) -> float:
    """References a cycle when microengines do nothing but issue these, one after the other, and wait for none."""
    parameters = load_chip().override(overrides or {})
    chip = Chip(parameters, mode="fast")
    lines, options = [], False
    for reference in references:
        option = ", indirect_ref" if "max_" in reference.command else ""
        options = options or bool(option)
        lines += (["alu[--, --, B, a1]"] if option else []) + [f"{reference.command}, sig_done[s2]{option}"]
    words = words_of("\n".join(["turn#:", *(lines * 24), "br[turn#]"]))
    chip.scratch.ring(2).setup(0x800, 128)
    for me in range(microengines):
        chip.load_words(me, words, start=False)
        bank = parameters["dram.banks"]
        step = references[0].step
        # Both clusters issue at once: their commands come to different banks too.
        place = (me + me // 4 * 2) % bank if step < bank * parameters["dram.row_bytes"] else me
        prepare(chip.me[me].ctx[0], 0x40 + step * place, options)
        chip.start(me, 1)
    chip.run(cycles=WARM_UP)
    before = int(chip.state.commands.sum())
    chip.run(cycles=WINDOW // 3)
    return (int(chip.state.commands.sum()) - before) / (WINDOW // 3)


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """A packet's work over and over: `work` plain instructions and `count` references, each of which swaps out."""

    title: str
    reference: Reference
    count: int
    work: int
    unit: int                   # of `state.commands`

    @property
    def text(self) -> str:
        """One turn. Every thread reads an address of its own in one DRAM row or SRAM channel."""
        plain = ["alu[a1, a1, +, 1]"] * (self.work // self.count)
        return "\n".join(["turn#:", *([*plain, f"{self.reference.command}, ctx_swap[s2]"] * self.count), "br[turn#]"])

    def cycles(self, chip: ChipParameters) -> int:
        """C: the work, each command with what its swap aborts, and the branch back with what it aborts."""
        swap = 1 + chip["me.swap_abort"]
        branch = 1 + 2
        return self.work // self.count * self.count + self.count * swap + branch

    def law(self, threads: int, microengines: int, chip: ChipParameters) -> float:
        """Turns a cycle of all microengines together."""
        c, a, latency, busy = self.cycles(chip), self.count, self.reference.cycles(chip), self.reference.busy(chip)
        return min(microengines * min(threads / (c + a * latency), 1 / c), 1 / (a * busy))

    def knee(self, microengines: int, chip: ChipParameters) -> float:
        """The number of threads at which more threads stop to help."""
        c, a, latency, busy = self.cycles(chip), self.count, self.reference.cycles(chip), self.reference.busy(chip)
        return min(1 + a * latency / c, (c + a * latency) / (microengines * a * busy))

    def tolerance(self, threads: int, microengines: int, chip: ChipParameters) -> float:
        """How far a measurement may be off."""
        return NEAR if abs(threads - self.knee(microengines, chip)) <= 1 else FAR


@cache
def loops() -> tuple[Loop, ...]:
    """One loop that microengines bound, and one that its memory channel bounds."""
    by_title = {reference.title: reference for reference in references()}
    return (
        Loop("Bound by the microengine: two SRAM reads of one word and 40 instructions",
             by_title["SRAM read of 1 word"], 2, 40, 0),
        Loop("Bound by the channel: one SRAM read of eight words and 20 instructions",
             by_title["SRAM read of 8 words"], 1, 20, 0),
        Loop("Bound by the pipe: two scratch reads of eight words and 20 instructions",
             by_title["scratch read of 8 words"], 2, 20, 2),
    )


def throughput(loop: Loop, threads: int, microengines: int) -> float:
    """Turns a cycle, measured over WINDOW cycles in which the loops run undisturbed."""
    chip = Chip(mode="fast")
    words = words_of(loop.text)
    for me in range(microengines):
        chip.load_words(me, words, start=False)
        for ctx in chip.me[me].ctx:
            ctx.gpr_a[0] = 0x800 + 0x40 * (8 * me + ctx.number)
        chip.start(me, (1 << threads) - 1)
    chip.run(cycles=WARM_UP)
    before = int(chip.state.commands[loop.unit])
    chip.run(cycles=WINDOW)
    return (int(chip.state.commands[loop.unit]) - before) / loop.count / WINDOW


@dataclass(frozen=True, slots=True)
class Point:
    """One measurement beside the law, in turns per 1,000 cycles."""

    threads: int
    microengines: int
    law: float
    measured: float
    tolerance: float

    @property
    def error(self) -> float:
        return self.measured / self.law - 1

    @property
    def holds(self) -> bool:
        return abs(self.error) <= self.tolerance


@cache
def points(loop: Loop) -> tuple[Point, ...]:
    """All threads and microengines, 1 to 8 of each."""
    chip = load_chip()
    return tuple(
        Point(threads, microengines, 1000 * loop.law(threads, microengines, chip), 1000 * throughput(loop, threads, microengines),
              loop.tolerance(threads, microengines, chip))
        for microengines in MICROENGINES for threads in THREADS)


def scaling_table(loop: Loop) -> str:
    """Measured turns per 1,000 cycles and how far they are from the law, as plain text of fixed width."""
    chip = load_chip()
    reference = loop.reference
    busy = reference.busy(chip)
    rows = [f"C = {loop.cycles(chip)}, A = {loop.count}, L = {reference.cycles(chip)}, S = {busy}; "
            f"cap 1 / (A S) = {1000 / (loop.count * busy):.2f} turns per 1,000 cycles"]
    heads = [f"{threads} thread" + "s" * (threads > 1) for threads in THREADS]
    rows.append("MEs  knee" + "".join(f"{head:>16}" for head in heads))
    for microengines in MICROENGINES:
        cells = [f"{point.measured:.2f} ({round(point.error, 3) + 0:+.1%})" for point in points(loop)
                 if point.microengines == microengines]
        rows.append(f"{microengines:3}  {loop.knee(microengines, chip):4.1f}" + "".join(f"{cell:>16}" for cell in cells))
    return "\n".join(rows) + "\n"


def latency_table() -> str:
    """Each reference alone: the sum of its parameters, and what was measured."""
    chip = load_chip()
    rows = [f"{'reference':26} {'sum':>4} {'measured':>8}  parameters"]
    for reference in references():
        rows.append(f"{reference.title:26} {reference.cycles(chip):4} {measured_latency(reference):8}  {reference.formula()}")
    return "\n".join(rows) + "\n"


def page() -> str:
    """docs/laws.md."""
    parts = [PREFACE, f"## One reference alone\n\n{LATENCY_TEXT}\n```\n{latency_table()}```\n",
             f"## Threads and microengines\n\n{LAW_TEXT}"]
    parts += [f"### {loop.title}\n\n```\n{scaling_table(loop)}```\n" for loop in loops()]
    return "\n".join(parts)


PREFACE = """# What a reference costs, and what threads buy

Made by `python -m tests.laws` on the default chip file (`isa/chips/enp2611.toml`), whose figures are recollections or
assumptions where it says so. The tables show that the emulator adds up what that file says, not that the file is right; a test
compares every row.
"""
LATENCY_TEXT = """Cycles from the issue of a command to its signal, on an idle chip. The 1 is the issue cycle. An idle
microengine executes its next instruction `me.wake_cycles` after the signal.
"""
LAW_TEXT = """With C cycles of issue and aborted slots and A references of unloaded latency L a turn, T threads on one
microengine make min(T / (C + A L), 1 / C) turns a cycle, and a channel that takes S cycles for a reference lets at most
1 / (A S) through for all of them. Each cell: measured turns per 1,000 cycles, and the distance from the law. The law leaves out
that the cycles of a swap lie inside the latency (about 2 of L) and that threads get in each other's way where both limits are
near. Within one thread of the knee 10 % is allowed, elsewhere 5 %.
"""


def main() -> None:
    print(page(), end="")


if __name__ == "__main__":
    main()
