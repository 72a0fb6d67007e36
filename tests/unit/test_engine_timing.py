"""Cycles: of branches, swaps and defer slots, of one reference, and of many threads and microengines on one channel."""

from __future__ import annotations

import pytest

from ixpemu.chip import Chip
from ixpemu.engine.jit import COMPILED
from ixpemu.isa.chipfile import load_chip
from tests.support.machine import chip_with, run_lines, words_of


def cycles_of(*lines: str, **options: object) -> int:
    """Cycles executing and aborted of the lines, without the ones that ending takes."""
    spent = [sum(run_lines(text, **options).me[0].cycles[name] for name in ("executing", "aborted")) for text in (lines, ())]
    return spent[0] - spent[1]


@pytest.mark.parametrize(("lines", "cycles"), [
    (["alu[a0, a0, +, 1]"], 1),
    (["br[x#]", "x#:"], 3),
    (["br[x#], defer[1]", "nop", "nop", "x#:"], 3),
    (["br[x#], defer[2]", "nop", "nop", "x#:"], 3),
    (["alu[--, a0, -, 0]", "beq[x#]", "x#:"], 1 + 4),
    (["alu[--, a0, -, 0]", "nop", "beq[x#]", "x#:"], 2 + 3),
    (["alu[--, a0, -, 1]", "beq[x#]", "x#:"], 1 + 1),
    (["alu[--, a0, -, 0]", "beq[x#], defer[3]", "nop", "nop", "nop", "x#:"], 1 + 4),
    (["alu[--, a0, -, 0]", "nop", "beq[x#], defer[3]", "nop", "nop", "nop", "x#:"], 2 + 4),
    (["br_bclr[a0, 3, x#]", "x#:"], 4),
    (["br=byte[a0, 0, 0, x#]", "x#:"], 4),
    (["br=ctx[0, x#]", "x#:"], 3),
    (["ctx_arb[voluntary]"], 3),
    (["ctx_arb[voluntary], defer[2]", "nop", "nop"], 3),
    (["br_signal[s3, x#]", "x#:"], 1),
])
def test_cycles(lines: list[str], cycles: int) -> None:
    assert cycles_of(*lines) == cycles


def test_early_branch_is_a_switch() -> None:
    lines = ["alu[--, a0, -, 0]", "nop", "beq[x#]", "x#:"]
    assert cycles_of(*lines, overrides={"me.early_branch": 0}) == 2 + 4


def latency(command: str, overrides: dict[str, int] | None = None) -> int:
    """Cycles from issue to signal of one command on an idle chip: what an idle microengine waits, less the wake-up."""
    chip = chip_with(f"immed[a0, 0x40]\n{command}\nctx_arb[kill]", contexts=1, overrides=overrides)
    chip.hash.multiplier[64] = 3
    issue = 0
    while chip.me[0].ctx[0].pc < 2:
        issue = chip.me[0].clock
        chip.step(0)
    assert chip.run(cycles=2000).reason == "quiet"
    # The last commit was the kill, two aborted cycles later the clock stands.
    return chip.me[0].clock - 3 - chip.parameters["me.wake_cycles"] - issue


P = load_chip()


@pytest.mark.parametrize(
    ("command", "unit", "words"),
    [
        ("sram[read, $0, a0, 0, 1], ctx_swap[s1]", ("sram.read_cycles", "push.s_cycles", "push.s_word_cycles"), 1),
        ("sram[read, $0, a0, 0, 8], ctx_swap[s1]", ("sram.read_cycles", "push.s_cycles", "push.s_word_cycles"), 8),
        ("sram[write, $0, a0, 0, 4], ctx_swap[s1]", ("sram.write_cycles", "pull.s_cycles", "pull.s_word_cycles"), 4),
        ("scratch[read, $0, a0, 0, 2], ctx_swap[s1]", ("scratch.read_cycles", "push.s_cycles", "push.s_word_cycles"), 2),
        ("scratch[put, $0, a0, 0, 1], ctx_swap[s1]", ("scratch.write_cycles", "pull.s_cycles", "pull.s_word_cycles"), 1),
        (
            "dram[read, $$0, a0, 0, 1], ctx_swap[s2]",
            ("dram.read_cycles", "dram.row_miss_cycles", "push.d_cycles", "push.d_word_cycles"),
            2,
        ),
        (
            "dram[read, $$0, a0, 0, 4], ctx_swap[s2]",
            ("dram.read_cycles", "dram.row_miss_cycles", "push.d_cycles", "push.d_word_cycles"),
            8,
        ),
        (
            "dram[write, $$0, a0, 0, 2], ctx_swap[s2]",
            ("dram.write_cycles", "dram.row_miss_cycles", "pull.d_cycles", "pull.d_word_cycles"),
            4,
        ),
        ("cap[read, $0, PRODUCT_ID, 1], ctx_swap[s1]", ("cap.read_cycles", "push.s_cycles", "push.s_word_cycles"), 1),
    ],
)
def test_unloaded_latency_is_the_sum_of_its_parameters(command: str, unit: tuple[str, ...], words: int) -> None:
    total = 1 + P["command.path_cycles"] + sum(P[name] for name in unit[:-1]) + words * P[unit[-1]]
    assert latency(command) == total


def test_recalled_latencies_are_those_of_the_chip_file() -> None:
    assert latency("sram[read, $0, a0, 0, 1], ctx_swap[s1]") == 90
    assert latency("scratch[read, $0, a0, 0, 1], ctx_swap[s1]") == 60
    assert latency("dram[read, $$0, a0, 0, 1], ctx_swap[s2]") == 120


def test_parameters_act() -> None:
    command = "sram[read, $0, a0, 0, 1], ctx_swap[s1]"
    assert latency(command, {"sram.read_cycles": 172}) == 190
    assert latency(command, {"push.s_word_cycles": 3}) == 92


def test_an_open_row_is_faster() -> None:
    command = "dram[read, $$0, a0, 0, 1], ctx_swap[s2]"
    chip = chip_with("\n".join(["immed[a0, 0x40]", command, command, "ctx_arb[kill]"]), contexts=1)
    chip.run(cycles=2000)
    twice = chip.me[0].clock
    other = chip_with(
        "\n".join(["immed[a0, 0x40]", command, "alu_shf[a0, --, b, 1, <<20]", command, "ctx_arb[kill]"]), contexts=1
    )
    other.run(cycles=2000)
    assert other.me[0].clock - 1 - twice == P["dram.row_miss_cycles"]


WORK, REFERENCES = 40, 2
LOOP = "loop#:\n" + "\n".join(
    ["alu[a1, a1, +, 1]"] * (WORK // 2) + ["sram[read, $0, a15, 0, 1], ctx_swap[s1]"]
    + ["alu[a1, a1, +, 1]"] * (WORK // 2) + ["sram[read, $1, a15, 4, 1], ctx_swap[s2]", "br[loop#]"])
# Issue and aborted cycles of one turn: the work, two commands that swap, a branch. The latency that a law means is what a thread
# waits beyond its own swap: from the end of the aborted cycles to its next instruction.
COST = WORK + REFERENCES * 3 + 3


def turns_per_cycle(threads: int, microengines: int, cycles: int) -> float:
    chip = Chip()
    words = words_of(LOOP)
    for me in range(microengines):
        chip.load_words(me, words, start=False)
        chip.start(me, (1 << threads) - 1)
    chip.run(cycles=1000)
    before = chip.instructions
    chip.run(cycles=cycles)
    return (chip.instructions - before) / (WORK + REFERENCES + 1) / cycles


@pytest.mark.skipif(not COMPILED, reason="takes 50 million cycles' worth of loops; the uncompiled engine is for small programs")
def test_the_two_laws(capsys: pytest.CaptureFixture[str]) -> None:
    """throughput(T) = min(T / (C + A L), 1 / C) for each microengine, and 1 / (A S) for all on one channel."""
    service = P["sram.read_word_occupancy"]
    waited = 90 + P["me.wake_cycles"] - 3
    knee = 1 + REFERENCES * waited / COST
    rows = []
    for microengines in range(1, 9):
        for threads in range(1, 9):
            expected = microengines * min(threads / (COST + REFERENCES * waited), 1 / COST)
            cap = 1 / (REFERENCES * service)
            measured = turns_per_cycle(threads, microengines, 20_000)
            rows.append((microengines, threads, min(expected, cap), measured))
            near = abs(threads - knee) <= 1 or abs(expected / cap - 1) < 0.15
            assert measured == pytest.approx(min(expected, cap), rel=0.10 if near else 0.05), rows[-1]
    with capsys.disabled():
        print(f"\nturns per 1,000 cycles, law / measured ({COST} cycles and {REFERENCES} references of {waited} a turn)")
        print("MEs " + "".join(f"{f'{threads} threads':>15}" for threads in range(1, 9)))
        for microengines in range(1, 9):
            cells = [row for row in rows if row[0] == microengines]
            print(
                f"{microengines:3} "
                + "".join(f"{f'{1000 * law:.2f} / {seen:.2f}':>15}" for _, _, law, s in cells for seen in [1000 * s])
            )


@pytest.mark.skipif(not COMPILED, reason="needs a long run")
def test_one_channel_caps_the_whole() -> None:
    """Eight microengines that do little but read one channel: one reference every S cycles."""
    chip = Chip()
    words = words_of("loop#:\nsram[read, $0, a15, 0, 4], ctx_swap[s1]\nbr[loop#]")
    for me in range(8):
        chip.load_words(me, words)
    chip.run(cycles=5000)
    before = int(chip.state.commands[0])
    chip.run(cycles=60_000)
    service = 4 * P["sram.read_word_occupancy"]
    assert (int(chip.state.commands[0]) - before) / 60_000 == pytest.approx(1 / service, rel=0.05)


def test_a_full_command_fifo_stalls_the_microengine() -> None:
    lines = ["sram[read, $0, a15, 0, 8], sig_done[s1]"] * 30
    chip = chip_with("\n".join([*lines, "ctx_arb[kill]"]), contexts=1, overrides={"sram.queue_depth": 2})
    chip.run(cycles=5000)
    counted = chip.me[0].cycles
    assert counted["stalled"] > 300
    assert sum(counted.values()) == chip.me[0].clock
