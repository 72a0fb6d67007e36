"""Cycles: of branches, swaps and defer slots, of open rows and full FIFOs. Latencies and throughput: test_engine_laws.py."""

from __future__ import annotations

import pytest

from tests.support.machine import chip_with, run_lines


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
    assert other.me[0].clock - 1 - twice == chip.parameters["dram.row_miss_cycles"]


def test_a_full_command_fifo_stalls_the_microengine() -> None:
    lines = ["sram[read, $0, a15, 0, 8], sig_done[s1]"] * 30
    chip = chip_with("\n".join([*lines, "ctx_arb[kill]"]), contexts=1, overrides={"sram.queue_depth": 2})
    chip.run(cycles=5000)
    counted = chip.me[0].cycles
    assert counted["stalled"] > 300
    assert sum(counted.values()) == chip.me[0].clock
