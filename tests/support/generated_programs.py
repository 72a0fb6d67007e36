"""Hypothesis strategies for whole machines: programs of several microengines that use everything the engine has to keep in order.

A `Machine` is plain data (physical text, contexts, a seed for registers and memories), so that another process can build the same
chip. Programs run to an end or sleep for ever; what they do is often reserved behaviour (transfer registers touched in flight,
signals lost), which has to be just as reproducible. Not here: what a program should compute.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache

from hypothesis import strategies as st

from ixpemu import Chip
from tests.support.machine import words_of

# a0..a5, b0..b5 are computed with; a10, b10 hold a small address of the context, b11 the buffers of the MSF, b12 a reflector
# address; a15 counts the turns of the program's loop.
FREE = 6
COMMAND_SIGNALS = (2, 4, 6)         # even, so that each can be a pair
THREAD_SIGNALS = (9, 10, 11)
MICROENGINES = (0, 1, 4)
RINGS = (0, 1)


@dataclass(frozen=True, slots=True)
class Program:
    """What one microengine runs: `contexts` is 8 or 4, `mask` those enabled."""

    me: int
    contexts: int
    mask: int
    text: str


@dataclass(frozen=True, slots=True)
class Machine:
    """Programs, and the seed of everything that registers and memories hold before."""

    programs: tuple[Program, ...]
    seed: int

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Machine:
        fields = json.loads(text)
        return cls(tuple(Program(**entry) for entry in fields["programs"]), fields["seed"])

    def chip(self) -> Chip:
        """A new chip with everything in place and the contexts enabled."""
        pick = random.Random(self.seed)
        chip = Chip()
        for memory in (*chip.sram, chip.dram, chip.scratch):
            memory.write(0, [pick.getrandbits(32) for _ in range(192)])
        for ring, at in zip(RINGS, (0x2000, 0x2200), strict=True):
            chip.scratch.ring(ring).setup(at, 128, empty_flag=ring == 1)
            for _ in range(pick.randrange(4)):
                chip.scratch.ring(ring).put(pick.getrandbits(32))
        for ring in RINGS:
            chip.sram[0].ring(ring).setup(0x8000 + 0x800 * ring, 512)
        chip.sram[0].queue(9).setup()
        for bits in (48, 64, 128):
            chip.hash.multiplier[bits] = pick.getrandbits(bits)
        for entry in self.programs:
            chip.load_words(entry.me, _words(entry.text, entry.contexts), contexts=entry.contexts, start=False)
            me = chip.me[entry.me]
            me.local_memory[:] = [pick.getrandbits(32) for _ in range(len(me.local_memory))]
            for ctx in me.ctx:
                for bank in (ctx.gpr_a, ctx.gpr_b, ctx.sram_in, ctx.sram_out, ctx.dram_in, ctx.dram_out):
                    bank[:FREE] = [pick.choice((pick.getrandbits(32), pick.getrandbits(6))) for _ in range(FREE)]
                ctx.gpr_a[10], ctx.gpr_b[10], ctx.gpr_b[11] = 8 * ctx.number, 16 * (ctx.number % 3), 0x2000
                ctx.gpr_b[14] = 9 << 24
                there = pick.choice(self.programs)
                enabled = [number for number in range(8) if there.mask >> number & 1]
                ctx.gpr_b[12] = _window(there.me, pick.choice(enabled), pick.randrange(4), pick.randrange(2))
        for entry in self.programs:
            chip.start(entry.me, entry.mask)
        return chip


def _window(me: int, ctx: int, register: int, dram: int) -> int:
    """Reflector address of a transfer register of another microengine."""
    return 0x8000 | me >> 2 << 14 | (me & 3) << 10 | (ctx * 32 + dram * 16 + register) * 4


@cache
def _words(text: str, contexts: int) -> tuple[int, ...]:
    return tuple(words_of(text, contexts))


def _register(bank: str) -> st.SearchStrategy[str]:
    return st.sampled_from([f"{bank}{n}" for n in range(FREE)])


_LEFT_SHORT = st.one_of(_register("a"), _register("a"), st.sampled_from(
    ["$0", "$1", "$3", "$$0", "$$2", "*l$index0[0]", "*l$index0[5]", "*l$index1[2]", "*$index", "*$$index++"]))
_LEFT = st.one_of(
    _LEFT_SHORT, st.sampled_from(["@a70", "n$0", "n$3", "*l$index0++", "*l$index1--", "*l$index1[13]", "*$index++", "*n$index++"])
)
_RIGHT = st.one_of(_register("b"), _register("b"), st.sampled_from(["b10", "0", "1", "77", "127"]))
_TARGET_SHORT = st.one_of(_register("a"), _register("b"), st.sampled_from(
    ["--", "$0", "$1", "$2", "$5", "$$0", "$$1", "$$3", "*l$index0[0]", "*l$index0[5]", "*l$index1[2]", "*$index++", "*$$index"]))
_TARGET = st.one_of(_TARGET_SHORT, st.sampled_from(["@a70", "@b71", "n$0", "*n$index++", "*l$index0++", "*l$index1--"]))
_ALU = st.sampled_from(["+", "-", "B-A", "+8", "+16", "+carry", "-carry", "B", "~B", "AND", "~AND", "AND~", "OR", "XOR"])
_LOGIC = st.sampled_from(["B", "~B", "AND", "~AND", "AND~", "OR"])
_SHIFT = st.sampled_from(["<<1", "<<7", ">>3", ">>31", "<<rot5", ">>rot9", "<<indirect", ">>indirect"])
_RIGHT_SHIFT = st.sampled_from([">>1", ">>8", ">>indirect"])
_CONDITIONS = st.sampled_from(["beq", "bne", "bmi", "bpl", "bhs", "blo", "bvs", "bvc", "bge", "blt", "ble", "bgt"])
# What works with state of the microengine that no operand names: the multiplier, the CRC remainder, the CAM, the latches.
_STEPS = {"24x8": 1, "16x16": 2, "32x32": 4}
_CRC = st.builds(
    "crc_{}[{}, {}, {}]{}{}".format, st.sampled_from(["be", "le"]),
    st.sampled_from(["crc_ccitt", "crc_32", "crc_iscsi", "crc_10", "crc_5", "none"]), _TARGET_SHORT,
    st.one_of(_register("b"), st.sampled_from(["$0", "$2", "$$1"])), st.sampled_from(["", ", bit_swap"]),
    st.sampled_from(["", ", bytes_0_1", ", bytes_2_3", ", byte_0", ", byte_3", ", bytes_0_2", ", bytes_1_3"]))
_CAM = st.one_of(
    st.builds("cam_lookup[{}, {}]{}".format, _TARGET_SHORT, _register("b"),
              st.sampled_from(["", "", ", lm_addr0[0]", ", lm_addr1[2]"])),
    st.builds("cam_lookup[{}, {}]".format, _register("b"), _register("a")),
    st.builds("cam_write[{}, {}, {}]".format, _register("b"), _register("a"), st.integers(0, 15)),
    st.builds("cam_write_state[{}, {}]".format, _register("b"), st.integers(0, 15)),
    st.builds("cam_read_{}[{}, {}]".format, st.sampled_from(["tag", "state"]), _TARGET_SHORT, _register("b")),
    st.just("cam_clear"))
_STEP = st.one_of(*(
    st.one_of(
        st.builds("mul_step[{}, {}], {}_{}".format, _register("a"), _register("b"), st.just(shape),
                  st.sampled_from(["start", *(f"step{k}" for k in range(1, steps + 1))])),
        st.builds("mul_step[{}, --], {}_last{}".format, _register("b"), st.just(shape),
                  st.sampled_from(["", "2"] if shape == "32x32" else [""])))
    for shape, steps in _STEPS.items()))
_COUNTING = st.one_of(
    st.builds("pop_count{}[{}]".format, st.integers(1, 2), _register("b")),
    st.builds("pop_count3[{}, {}]".format, _TARGET_SHORT, _register("b")))
HIDDEN = st.one_of(_CRC, _CAM, _CAM, _STEP, _COUNTING)


def _multiplication(shape: str, left: str, right: str, low: str, between: str | None) -> str:
    """All steps of a multiplication, perhaps with something in between that breaks it."""
    steps = ["start", *(f"step{k}" for k in range(1, _STEPS[shape] + 1))]
    lines = [f"mul_step[{left}, {right}], {shape}_{step}" for step in steps] + [f"mul_step[{low}, --], {shape}_last"]
    if shape == "32x32":
        lines.append(f"mul_step[{low}, --], {shape}_last2")
    if between is not None:
        lines.insert(2, between)
    return "\n".join(lines)


def _counted(right: str, low: str) -> str:
    return f"pop_count1[{right}]\npop_count2[{right}]\npop_count3[{low}, {right}]"


def _remainder(value: int, steps: list[str], low: str) -> str:
    """A CRC over some words, begun and read by way of the CSR."""
    return "\n".join([f"local_csr_wr[CRC_REMAINDER, {value}]", *steps, "nop\nnop\nnop\nnop", "local_csr_rd[CRC_REMAINDER]",
                      f"immed[{low}, 0]"])


PLAIN = st.one_of(
    HIDDEN,
    st.builds("alu[{}, {}, {}, {}]".format, _TARGET, _LEFT, _ALU, _RIGHT),
    st.builds("alu[{}, {}, {}, {}]".format, _TARGET, _LEFT, _ALU, _RIGHT),
    st.builds("alu_shf[{}, {}, {}, {}, {}]".format, _TARGET_SHORT, _LEFT_SHORT, _LOGIC, _register("b"), _SHIFT),
    st.builds("asr[{}, {}, {}]".format, _TARGET_SHORT, _LEFT_SHORT, _RIGHT_SHIFT),
    st.builds("dbl_shf[{}, {}, {}, {}]".format, _TARGET_SHORT, _LEFT_SHORT, _register("b"), _RIGHT_SHIFT),
    st.builds("ld_field[{}, {:04b}, {}, {}]{}".format, _register("a"), st.integers(0, 15), _register("b"), _SHIFT,
              st.sampled_from(["", ", load_cc"])),
    st.builds("ld_field_w_clr[{}, {:04b}, {}]".format, _register("b"), st.integers(0, 15), _LEFT_SHORT),
    st.builds("immed[{}, {:#x}]".format, _TARGET, st.integers(0, 0xFFFF)),
    st.builds("byte_align_{}[{}, {}]".format, st.sampled_from(["be", "le"]), _TARGET_SHORT, _LEFT_SHORT),
    st.builds("ffs[{}, {}]".format, _TARGET, _RIGHT),
)
SEQUENCES = st.one_of(
    st.builds(_multiplication, st.sampled_from(sorted(_STEPS)), _register("a"), _register("b"), _register("b"),
              st.one_of(st.none(), st.none(), PLAIN)),
    st.builds(_counted, _register("b"), _register("b")),
    st.builds(_remainder, st.integers(0, 255), st.lists(_CRC, min_size=1, max_size=3), _register("a")))
POINTERS = st.builds("local_csr_wr[{}, {}]".format, st.sampled_from(
    ["ACTIVE_LM_ADDR_0", "ACTIVE_LM_ADDR_1", "T_INDEX", "BYTE_INDEX", "NN_PUT", "NN_GET"]), st.integers(0, 255))
READS = st.builds("local_csr_rd[{}]\nimmed[{}, 0]".format, st.sampled_from(
    ["ACTIVE_CTX_STS", "TIMESTAMP_LOW", "PROFILE_COUNT", "ACTIVE_CTX_SIG_EVENTS", "CTX_ENABLES", "ACTIVE_LM_ADDR_0", "T_INDEX",
     "PSEUDO_RANDOM_NUMBER"]), st.one_of(_register("a"), _register("b"), st.just("$1")))
TELL = st.one_of(
    st.builds(lambda signal: f"local_csr_wr[SAME_ME_SIGNAL, {0x80 | signal << 3}]", st.sampled_from(THREAD_SIGNALS)),
    st.builds(lambda ctx, signal: f"local_csr_wr[NEXT_NEIGHBOR_SIGNAL, {signal << 3 | ctx}]", st.integers(0, 7),
              st.sampled_from(THREAD_SIGNALS)),
    st.builds(lambda me, ctx, signal: f"cap[fast_wr, {me << 7 | ctx << 4 | signal}, INTERTHREAD_SIGNAL]",
              st.sampled_from(MICROENGINES), st.integers(0, 7), st.sampled_from(THREAD_SIGNALS)),
)
_COMMANDS = [
    "sram[read, $0, a10, {offset}, {count}]",
    "sram[write, $0, b10, {offset}, {count}]",
    "sram[read, $1, a10, b10, {count}]",
    "scratch[read, $2, a10, {offset}, {count}]",
    "scratch[write, $1, b10, {offset}, {count}]",
    "scratch[get, $3, b13, {ring}, {count}]",
    "scratch[put, $0, b13, {ring}, {count}]",
    "dram[read, $$0, a10, {offset}, {pairs}]",
    "dram[write, $$1, b10, {offset}, {pairs}]",
    "hash_48[$0, {pairs}]",
    "hash_64[$1, {pairs}]",
    "hash_128[$0, 1]",
    "msf[read, $2, b11, {offset}, {count}]",
    "msf[write, $0, b11, {offset}, {count}]",
    "cap[read, $1, PRODUCT_ID, 1]",
    "cap[write, $0, SELF_DESTRUCT_0, 1]",
    "cap[read, $4, b12, 0, 1]",
    "cap[write, $3, b12, 0, 1]",
    "sram[test_and_add, $2, a10, {offset}]",
    "sram[swap, $1, b10, {offset}]",
    "sram[decr, --, a10, {offset}]",
    "scratch[test_and_clr, $0, b10, {offset}]",
    "scratch[incr, --, a10, {offset}]",
    "scratch[sub, $3, a10, {offset}]",
    "sram[put, $1, b13, {ring}, {count}]",
    "sram[get, $2, b13, {ring}, {count}]",
    "sram[journal, $0, b13, {ring}, {pairs}]",
    "sram[enqueue, --, b14, {offset}]",
    "sram[dequeue, $3, b14, 0]",
    "sram[rd_qdesc_head, $4, b14, {offset}, {pairs}]",
    "sram[rd_qdesc_other, --, b14, {offset}]",
]
PAIRS = ("dram", "sram[put", "sram[swap", "sram[test_and", "scratch[test_and")
"""How commands begin that raise two signals."""
_COMMAND = st.builds(
    lambda text, offset, count, pairs, ring: text.format(offset=offset, count=count, pairs=pairs, ring=ring),
    st.sampled_from(_COMMANDS), st.integers(0, 15).map(lambda k: 4 * k), st.integers(1, 6), st.integers(1, 2),
    st.sampled_from([4 * ring for ring in RINGS]))


def waits_for(command: str, signal: int) -> list[int]:
    """The signals that a command with `signal` raises."""
    return [signal, signal + 1] if command.startswith(PAIRS) else [signal]


@st.composite
def bodies(draw: st.DrawFn, most: int) -> list[str]:
    """Lines of a program: a few groups of instructions that belong together, every started command waited for at the end."""
    lines: list[str] = []
    started: dict[int, list[int]] = {}
    labels = 0

    def slots(limit: int) -> tuple[str, list[str]]:
        filled = draw(st.lists(PLAIN, max_size=limit))
        return (f", defer[{len(filled)}]" if filled else ""), filled

    def names(signals: Sequence[int]) -> str:
        return ", ".join(f"s{signal}" for signal in signals)

    def wait() -> None:
        some = draw(st.lists(st.sampled_from(sorted(started)), min_size=1, unique=True))
        mask = [signal for key in some for signal in started[key]]
        anyone = draw(st.booleans()) and len(mask) > 1
        defer, filled = slots(2)
        if max(mask) < 8 and not anyone and draw(st.booleans()):
            lines.extend(
                [f"local_csr_wr[ACTIVE_CTX_WAKEUP_EVENTS, {sum(1 << signal for signal in mask)}]", f"ctx_arb[--]{defer}", *filled]
            )
        else:
            lines.extend([f"ctx_arb[{names(mask)}]" + (", any" if anyone else "") + defer, *filled])
        if anyone:          # nothing was taken off: the others are still to come, these may be taken now
            lines.append(f"ctx_arb[{names(mask)}]")
        for key in some:
            del started[key]

    for kind in draw(st.lists(st.integers(0, 12), min_size=1, max_size=most)):
        labels += 1
        if kind <= 3:
            lines.append(draw(PLAIN))
        elif kind == 12:
            lines.extend(draw(SEQUENCES).split("\n"))
        elif kind == 4:
            lines.append(draw(st.one_of(POINTERS, READS, TELL)))
        elif kind == 5:
            branch, limit = draw(
                st.one_of(
                    st.builds("{}[skip{}#]".format, _CONDITIONS, st.just(labels)).map(lambda text: (text, 3)),
                    st.builds(
                        "br_b{}[{}, {}, skip{}#]".format,
                        st.sampled_from(["set", "clr"]),
                        _LEFT_SHORT,
                        st.integers(0, 31),
                        st.just(labels),
                    ).map(lambda text: (text, 3)),
                    st.builds(
                        "br{}byte[{}, {}, {}, skip{}#]".format,
                        st.sampled_from(["=", "!="]),
                        _LEFT_SHORT,
                        st.integers(0, 3),
                        st.integers(0, 127),
                        st.just(labels),
                    ).map(lambda text: (text, 3)),
                    st.builds(
                        "br{}ctx[{}, skip{}#]".format, st.sampled_from(["=", "!="]), st.integers(0, 7), st.just(labels)
                    ).map(lambda text: (text, 2)),
                    st.builds(
                        "br_{}signal[s{}, skip{}#]".format,
                        st.sampled_from(["", "!"]),
                        st.sampled_from(THREAD_SIGNALS),
                        st.just(labels),
                    ).map(lambda text: (text, 3)),
                    st.builds(
                        "br_{}inp_state[{}, skip{}#]".format,
                        st.sampled_from(["", "!"]),
                        st.sampled_from(["NN_EMPTY", "NN_FULL", "SCR_RING0_STATUS", "SCR_RING1_STATUS"]),
                        st.just(labels),
                    ).map(lambda text: (text, 3)),
                )
            )
            defer, filled = slots(limit)
            lines += [branch + defer, *filled, *draw(st.lists(PLAIN, max_size=2)), f"skip{labels}#:"]
        elif kind == 6:
            lines.append(
                draw(st.sampled_from([f"ctx_arb[voluntary], br[skip{labels}#]\nnop\nskip{labels}#:", "ctx_arb[voluntary]"]))
            )
        elif kind <= 10:
            command = draw(_COMMAND)
            free = [signal for signal in COMMAND_SIGNALS if signal not in started]
            if not free:
                wait()
                continue
            signal = draw(st.sampled_from(free))
            if draw(st.booleans()):
                defer, filled = slots(2)
                lines += [f"{command}, ctx_swap[s{signal}]{defer}", *filled]
            else:
                lines.append(f"{command}, sig_done[s{signal}]")
                started[signal] = waits_for(command, signal)
        elif started:
            wait()
    if started:
        lines.append(f"ctx_arb[{names([signal for raised in started.values() for signal in raised])}]")
    return lines


@st.composite
def programs(draw: st.DrawFn, me: int, most: int) -> Program:
    """A program that goes through its body up to nine times and then stops its context."""
    contexts = draw(st.sampled_from([8, 8, 8, 4]))
    mask = draw(st.sampled_from([0xFF, 0x0F, 0x3C, 0x81, 0x01])) & (0x55 if contexts == 4 else 0xFF) or 1
    turns = draw(st.integers(1, 9))
    lines = [f"immed[a15, {turns}]", "turn#:", *draw(bodies(most)), "alu[a15, a15, -, 1]", "bne[turn#]", "ctx_arb[kill]"]
    return Program(me, contexts, mask, "\n".join(lines))


@st.composite
def machines(draw: st.DrawFn, most: int = 16) -> Machine:
    """One to three microengines with programs of up to `most` groups of lines."""
    which = draw(st.lists(st.sampled_from(MICROENGINES), min_size=1, max_size=3, unique=True))
    return Machine(tuple(draw(programs(me, most)) for me in which), draw(st.integers(0, 2**16)))
