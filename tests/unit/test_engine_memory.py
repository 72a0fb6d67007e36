"""Memories against a dictionary, and what a program may rely on between its commands: order, pulls, rings, masks, counts."""

import random
from dataclasses import dataclass, field

import pytest

from ixpemu import Chip
from tests.support.machine import chip_with, run_lines, words_of

UNITS = {"sram": "$", "scratch": "$", "dram": "$$"}


def memory(chip: Chip, unit: str):  # type: ignore[no-untyped-def]
    return {"sram": chip.sram[0], "scratch": chip.scratch, "dram": chip.dram}[unit]


@dataclass
class Model:
    """What a memory holds, by byte address of the word, and what a program of it is."""

    unit: str
    pick: random.Random
    words: dict[int, int] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    expected: list[int] = field(default_factory=list)

    @property
    def step(self) -> int:
        return 8 if self.unit == "dram" else 4

    def write(self, at: int, count: int, mask: int | None) -> None:
        file = UNITS[self.unit]
        values = [self.pick.getrandbits(32) for _ in range(count * self.step // 4)]
        for k, value in enumerate(values):
            self.lines += [f"immed[a1, {value & 0xFFFF:#x}]", f"immed_w1[a1, {value >> 16:#x}]", f"alu[{file}{k}, --, B, a1]"]
        self.lines.append(f"immed[a0, {at:#x}]")
        if mask is None:
            self.lines.append(f"{self.unit}[write, {file}0, a0, 0, {count}], ctx_swap[s2]")
        else:
            override = 1 << 20 | mask << 12
            self.lines += [f"immed[a1, {override & 0xFFFF:#x}]", f"immed_w1[a1, {override >> 16:#x}]", "alu[--, --, B, a1]",
                           f"{self.unit}[write, {file}0, a0, 0, {count}], ctx_swap[s2], indirect_ref"]
        for k, value in enumerate(values):
            octets = value.to_bytes(4, "big")
            old = self.words.get(at + 4 * k, 0).to_bytes(4, "big")
            chosen = 0xFF if mask is None else mask >> (4 * (k % 2) if self.unit == "dram" else 0)
            new = bytes(octets[j] if chosen >> j & 1 else old[j] for j in range(4))
            self.words[at + 4 * k] = int.from_bytes(new, "big")

    def read(self, at: int, count: int, split: int) -> None:
        """Read, by an address that two operands add up to, and keep the words in local memory."""
        file = UNITS[self.unit]
        self.lines += [f"immed[a0, {at - split:#x}]", f"{self.unit}[read, {file}0, a0, {split}, {count}], ctx_swap[s4]"]
        for k in range(count * self.step // 4):
            self.lines.append(f"alu[*l$index0++, --, B, {file}{k}]")
            self.expected.append(self.words.get(at + 4 * k, 0))


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("seed", range(3))
def test_a_memory_is_a_dictionary(unit: str, seed: int) -> None:
    """Reads and writes of all lengths, byte masks among them: what is read, and what is there in the end."""
    pick = random.Random(seed)
    model = Model(unit, pick)
    for _ in range(30):
        at = pick.randrange(16) * model.step + 128
        count = pick.randint(1, 8)
        if pick.random() < 0.5:
            masked = unit != "scratch" and pick.random() < 0.4
            model.write(at, count, pick.getrandbits(8 if unit == "dram" else 4) if masked else None)
        else:
            model.read(at, count, pick.randrange(0, 128, model.step))
    chip = run_lines(model.lines)
    assert chip.me[0].local_memory[: len(model.expected)].tolist() == model.expected
    for at, value in model.words.items():
        assert memory(chip, unit)[at] == value, hex(at)
    assert chip.reserved == {}


def test_addresses_drop_their_low_bits() -> None:
    for unit, step in (("sram", 4), ("scratch", 4), ("dram", 8)):
        file = UNITS[unit]
        chip = chip_with(
            f"immed[a0, {64 + step - 1}]\n{unit}[read, {file}0, a0, 0, 1], ctx_swap[s2]\nalu[a1, --, B, {file}0]\nctx_arb[kill]",
            contexts=1,
        )
        memory(chip, unit).write(64, [0x1234, 0x5678])
        chip.run()
        assert int(chip.me[0].ctx[0].gpr_a[1]) == 0x1234, unit


def test_the_top_bits_of_an_sram_address_choose_the_channel() -> None:
    chip = run_lines(["immed[$0, 5]", "immed[a0, 0x4000, <<16]", "sram[write, $0, a0, 8, 1], ctx_swap[s1]",
                      "sram[read, $1, b0, 8, 1], ctx_swap[s1]", "sram[read, $2, a0, 8, 1], ctx_swap[s1]",
                      "alu[a1, --, B, $1]", "alu[a2, --, B, $2]"])
    assert (chip.sram[0][8], chip.sram[1][8]) == (0, 5)
    assert chip.me[0].ctx[0].gpr_a[1:3].tolist() == [0, 5]


@pytest.mark.parametrize("unit", UNITS)
def test_a_write_is_signalled_after_its_data_is_pulled(unit: str) -> None:
    """Behind a slow read of the same unit, too: once the signal is there the registers are the program's again."""
    file = UNITS[unit]
    chip = run_lines(["immed[a0, 0x40]", f"immed[{file}0, 1]", f"{unit}[read, {file}2, a0, 0, 1], sig_done[s2]",
                      f"{unit}[write, {file}0, a0, 16, 1], ctx_swap[s4]", f"immed[{file}0, 2]",
                      "ctx_arb[s2, s3]" if unit == "dram" else "ctx_arb[s2]"])
    assert memory(chip, unit)[0x50] == 1


@pytest.mark.parametrize("unit", UNITS)
def test_data_of_a_write_is_pulled_behind_the_defer_slots(unit: str) -> None:
    file = UNITS[unit]
    chip = run_lines(["immed[a0, 0x40]", f"immed[{file}0, 1]", f"{unit}[write, {file}0, a0, 0, 1], ctx_swap[s2], defer[2]",
                      f"immed[{file}0, 2]", f"immed[{file}0, 3]", f"immed[{file}0, 4]"])
    assert memory(chip, unit)[0x40] == 3


@pytest.mark.parametrize("unit", UNITS)
def test_a_read_sees_the_write_before_it_and_not_the_one_behind(unit: str) -> None:
    """Three commands at once on one address: order of issue is order of effect, inside one unit."""
    file = UNITS[unit]
    chip = run_lines(
        [
            "immed[a0, 0x40]",
            f"immed[{file}0, 7]",
            f"immed[{file}2, 9]",
            f"{unit}[write, {file}0, a0, 0, 1], sig_done[s2]",
            f"{unit}[read, {file}4, a0, 0, 1], sig_done[s4]",
            f"{unit}[write, {file}2, a0, 0, 1], sig_done[s6]",
            "ctx_arb[s2, s3, s4, s5, s6, s7]" if unit == "dram" else "ctx_arb[s2, s4, s6]",
            f"alu[a1, --, B, {file}4]",
        ]
    )
    assert int(chip.me[0].ctx[0].gpr_a[1]) == 7
    assert memory(chip, unit)[0x40] == 9


def test_words_land_in_ascending_registers_of_the_context() -> None:
    chip = chip_with("immed[a0, 0x40]\nsram[read, $3, a0, 0, 8], ctx_swap[s1]\nctx_arb[kill]", contexts=0b101)
    chip.sram[0].write(0x40, range(100, 108))
    chip.run()
    for ctx in (0, 2):
        assert chip.me[0].ctx[ctx].sram_in.tolist() == [0] * 3 + list(range(100, 108)) + [0] * 5
    assert not chip.me[0].ctx[1].sram_in.any()


def test_a_count_from_the_previous_result_goes_to_sixteen() -> None:
    override = 1 << 25 | 15 << 21
    chip = chip_with(f"immed[a0, 0x40]\nimmed[a1, {override >> 16:#x}, <<16]\nalu[--, --, B, a1]\n"
                     "sram[read, $0, a0, 0, max_8], ctx_swap[s1], indirect_ref\nctx_arb[kill]", contexts=1)
    chip.sram[0].write(0x40, range(1, 20))
    chip.run()
    assert chip.me[0].ctx[0].sram_in.tolist() == list(range(1, 17))


RING_SIZES = (128, 256, 512, 1024)


@pytest.mark.parametrize("size", RING_SIZES)
def test_a_ring_wraps_and_keeps_its_order(size: int) -> None:
    """Three times round, by microcode: puts of 3 words and gets of 3, of which one in five finds fewer and gets zeros."""
    text = (
        "turn#:\nalu[$0, --, B, a2]\nalu[a2, a2, +, 1]\nalu[$1, --, B, a2]\nalu[a2, a2, +, 1]\n"
        "alu[$2, --, B, a2]\nalu[a2, a2, +, 1]\n"
        "scratch[put, $0, b0, 16, 3], ctx_swap[s1]\nscratch[get, $4, b0, 16, 3], ctx_swap[s1]\n"
        "alu[a3, a3, +, 1]\nalu[--, $4, -, b4]\nbne[bad#]\nalu[b4, b4, +, 3]\nalu[--, a2, -, b3]\nblo[turn#]\nctx_arb[kill]\n"
        "bad#:\nimmed[a4, 1]\nctx_arb[kill]"
    )
    chip = chip_with(text, contexts=1)
    ring = chip.scratch.ring(4)
    ring.setup(0x1000, size)
    registers = chip.me[0].ctx[0]
    # Five words lie on it already: what a get finds is what was put two puts before.
    for value in range(1, 6):
        ring.put(value)
    registers.gpr_a[2], registers.gpr_b[4], registers.gpr_b[3] = 6, 1, 3 * size
    chip.run(cycles=2_000_000)
    assert (int(registers.gpr_a[4]), ring.used) == (0, 5)
    assert int(registers.gpr_a[3]) >= size - 2
    assert [ring.get() for _ in range(6)] == [*range(int(registers.gpr_a[2]) - 5, int(registers.gpr_a[2])), 0]
    # The ring's words lie inside its place and nowhere else.
    assert not chip.scratch.read(0, 0x1000 // 4).any()
    assert not chip.scratch.read(0x1000 + 4 * size, 16).any()


def test_an_empty_ring_gives_zeros_and_signals() -> None:
    chip = chip_with("scratch[get, $0, a0, 0, 4], ctx_swap[s1]\nimmed[a1, 1]\nctx_arb[kill]", contexts=1)
    ring = chip.scratch.ring(0)
    ring.setup(0, 128)
    ring.put(77)
    chip.me[0].ctx[0].sram_in[:] = 9
    chip.run()
    assert chip.me[0].ctx[0].sram_in[:5].tolist() == [77, 0, 0, 0, 9]
    assert int(chip.me[0].ctx[0].gpr_a[1]) == 1
    assert ring.used == 0


def test_sixteen_rings_do_not_meet() -> None:
    chip = Chip()
    for number in range(16):
        chip.scratch.ring(number).setup(0x400 * number, 128)
        for k in range(100):
            chip.scratch.ring(number).put(1000 * number + k + 1)
    for number in range(16):
        assert [chip.scratch.ring(number).get() for _ in range(101)] == [*range(1000 * number + 1, 1000 * number + 101), 0]


def test_many_threads_share_a_ring_without_loss_or_doubling() -> None:
    """Sixteen threads on two microengines put numbers of their own, sixteen on two others take them: each arrives once, in
    order."""
    put = ("turn#:\nalu[$0, --, B, a2]\nscratch[put, $0, b0, 8, 1], ctx_swap[s1]\nalu[a2, a2, +, 1]\nalu[b3, b3, -, 1]\n"
           "bne[turn#]\n"
           "ctx_arb[kill]")
    take = ("turn#:\nscratch[get, $0, b0, 8, 1], ctx_swap[s1]\nalu[a1, $0, -, b0]\nbeq[turn#]\n"
            "alu[*l$index0++, --, B, a1]\nalu[b2, b2, +, 1]\nbr[turn#]")
    chip = Chip()
    chip.scratch.ring(2).setup(0x1000, 1024)
    for me in range(4):
        chip.load_words(me, words_of(put if me < 2 else take), start=False)
        for ctx in chip.me[me].ctx:
            ctx.gpr_a[2], ctx.gpr_b[3] = (8 * me + ctx.number + 1) << 16, 9
            chip.me[me].engine.lm_addr[2 * ctx.number] = 64 * ctx.number
    for me in (3, 0, 2, 1):
        chip.start(me)
    chip.run(cycles=20_000)
    found = []
    for me in (2, 3):
        for ctx in chip.me[me].ctx:
            mine = chip.me[me].local_memory[64 * ctx.number : 64 * ctx.number + int(ctx.gpr_b[2])].tolist()
            for source in {value >> 16 for value in mine}:
                theirs = [value & 0xFFFF for value in mine if value >> 16 == source]
                assert theirs == sorted(theirs)
            found += mine
    assert sorted(found) == [source << 16 | k for source in range(1, 17) for k in range(9)]


def test_status_flags_follow_the_ring_with_their_lag() -> None:
    """Empty: set below one word; nearly full: from three quarters on. A microengine sees the change `scratch.status_lag`
    later."""
    text = ("alu[$0, --, B, 1]\nscratch[put, $0, b0, {ring}, 1], sig_done[s1]\nwait#:\nalu[a1, a1, +, 1]\n"
            "br_{state}inp_state[SCR_RING{number}_STATUS, wait#]\nctx_arb[s1]\nctx_arb[kill]")
    for number, empty, before in ((1, True, 0), (2, False, 95)):
        chip = chip_with(text.format(ring=4 * number, number=number, state="" if empty else "!"), contexts=1)
        ring = chip.scratch.ring(number)
        ring.setup(0x400 * number, 128, empty_flag=empty)
        for k in range(before):
            ring.put(k)
        chip.run(cycles=chip.parameters["scratch.status_lag"])      # until the flag of what was put here is seen
        chip.start(0, 1)
        chip.run(cycles=200)
        access = 2 + chip.parameters["command.path_cycles"] + chip.parameters["scratch.write_cycles"]
        shown = access + chip.parameters["scratch.status_lag"]
        # A turn of the loop is an addition and a branch of 1 + 3 cycles, started two cycles after the first instruction.
        turns = int(chip.me[0].ctx[0].gpr_a[1])
        assert 2 + 5 * (turns - 2) + 1 < shown + 1 <= 2 + 5 * (turns - 1) + 2, (number, turns, shown)
