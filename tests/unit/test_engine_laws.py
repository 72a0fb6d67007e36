"""The two laws of threads and channels, and every latency as the sum of its parameters; what is measured is in tests/laws.py."""

import random

import pytest

from ixpemu import Chip
from ixpemu.engine.jit import COMPILED
from ixpemu.isa import instruction_set
from ixpemu.isa.chipfile import load_chip
from tests.laws import Loop, Reference, latency_table, loops, measured_latency, points, references, saturation, scaling_table
from tests.support.machine import chip_with, words_of

needs_speed = pytest.mark.skipif(not COMPILED, reason="hundreds of long runs: too slow for the uncompiled engine")


@needs_speed
@pytest.mark.parametrize("loop", loops(), ids=lambda loop: loop.title.partition(":")[0])
def test_the_two_laws(loop: Loop, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(f"\n{loop.title}\n{scaling_table(loop)}", end="")
    assert [point for point in points(loop) if not point.holds] == []
    assert {(point.threads, point.microengines) for point in points(loop)} == {(t, m) for t in range(1, 9) for m in range(1, 9)}


def test_the_loops_reach_both_limits() -> None:
    """Otherwise the comparison would say little: each loop has a knee inside 1 to 8 threads, and one is capped by its channel."""
    chip = load_chip()
    assert all(1 < loop.knee(1, chip) < 8 for loop in loops())
    bound = [loop for loop in loops() if 8 / loop.cycles(chip) > 1 / (loop.count * loop.reference.busy(chip))]
    assert len(bound) == 2


@pytest.mark.parametrize("reference", references(), ids=lambda reference: reference.title)
def test_a_latency_is_the_sum_of_its_parameters(reference: Reference) -> None:
    assert measured_latency(reference) == reference.cycles(load_chip())


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_sum_of_any_parameters(seed: int) -> None:
    """Every figure that a sum names counts as often as it says, and no other does: the chip files are made by chance."""
    pick = random.Random(seed)
    names = sorted({name for reference in references() for name in reference.latency})
    values = {name: pick.randrange(1, 40) for name in names}
    values |= {name: pick.randrange(2, 6) for name in names if "word_cycles" in name}
    # The array has to stay the hash unit's slowest stage, as the sums say.
    values |= {f"hash.array_{bits}_cycles": pick.randrange(24, 40) for bits in (48, 64, 128)}
    other = {"dram.turnaround_cycles": 9, "me.wake_cycles": 3, "signal.same_me_cycles": 9, "scratch.status_lag": 3}
    parameters = load_chip().override(values | other)
    for reference in references():
        assert measured_latency(reference, Chip(parameters)) == reference.cycles(parameters), reference.title


def test_every_command_that_ends_with_a_signal_has_a_latency_to_compare() -> None:
    """Whoever adds a command says in tests/laws.py what its latency is the sum of and what its unit is busy with."""
    isa = instruction_set()
    wanted = {variant.name for block in isa.blocks.values() for form in block.forms for variant in form.variants.values()
              if any(token.name == "sig_done" for token in form.tokens)}
    option = {reference: ", indirect_ref" if "max_" in reference.command else "" for reference in references()}
    there = {isa.decode(words_of(f"{reference.command}, sig_done[s2]{more}")[0]).variant.name      # type: ignore[union-attr]
             for reference, more in option.items()}
    assert wanted <= there, f"add a Reference for {', '.join(sorted(wanted - there))} to tests/laws.py"


@needs_speed
@pytest.mark.parametrize("reference", references(), ids=lambda reference: reference.title)
def test_saturation_is_one_over_the_occupancy(reference: Reference) -> None:
    assert reference.service or reference.octets, "say what its unit is busy with"
    assert saturation([reference]) == pytest.approx(reference.law(load_chip()), rel=0.01)


@needs_speed
@pytest.mark.parametrize("name", sorted({name for reference in references() for name in reference.service}))
def test_each_occupancy_acts(name: str) -> None:
    """Where a unit's figure is larger, exactly so much less goes through."""
    changed = load_chip().override({name: 9})
    for reference in references():
        if name in reference.service:
            assert saturation([reference], {name: 9}) == pytest.approx(reference.law(changed), rel=0.01), reference.title


def dram(command: str, count: int = 1, step: int = 0) -> Reference:
    """A DRAM command whose microengines are `step` bytes apart."""
    side = "push" if command == "read" else "pull"
    text = f"dram[{command}, $$0, a0, 0, {count}]"
    return Reference(command, text, {f"{side}.d_word_cycles": 2 * count}, {}, True, 8 * count, step)


@needs_speed
@pytest.mark.parametrize("command", ["read", "write"])
def test_banks_work_at_the_same_time_and_rows_of_one_bank_do_not(command: str) -> None:
    chip = load_chip()
    row, banks = chip["dram.row_bytes"], chip["dram.banks"]
    assert saturation([dram(command)]) == pytest.approx(1 / 8, rel=0.01), "one open row of one bank"
    assert saturation([dram(command, step=row)]) == pytest.approx(1 / 4, rel=0.01), "an open row in each of four banks"
    assert saturation([dram(command, 8, row)]) == pytest.approx(1 / 16, rel=0.01), "64 bytes fill the bus"
    assert saturation([dram(command, step=banks * row)]) == pytest.approx(1 / (8 + 15), rel=0.01), "a new row every time"
    assert saturation([dram(command, step=row)], {"dram.bytes_per_cycle": 2}) == pytest.approx(1 / 8, rel=0.01)
    assert saturation([dram(command, step=row)], {"dram.minimum_bytes": 32}) == pytest.approx(1 / 8, rel=0.01)
    assert saturation([dram(command)], {"dram.bank_occupancy": 30}) == pytest.approx(1 / 30, rel=0.01)


@needs_speed
@pytest.mark.parametrize("turn", [0, 4, 11])
def test_reads_and_writes_in_turn_cost_a_turn_round_each(turn: int) -> None:
    both = [dram("read", 8), dram("write", 8)]
    assert saturation(both, {"dram.turnaround_cycles": turn}, microengines=1) == pytest.approx(1 / (16 + turn), rel=0.01)


@needs_speed
def test_sram_reads_and_writes_at_once_and_scratch_shares_its_pipe_with_the_hash_unit() -> None:
    by_title = {reference.title: reference for reference in references()}
    both = [by_title["SRAM read of 8 words"], by_title["SRAM write of 8 words"]]
    assert saturation(both) == pytest.approx(2 / 24, rel=0.01)
    mixed = [by_title["scratch read of 8 words"], by_title["scratch write of 8 words"]]
    assert saturation(mixed) == pytest.approx(1 / 8, rel=0.01)
    hashes = by_title["hash_48 of 1 key"], by_title["scratch read of 8 words"]
    # A command of the hash unit takes a place in scratch memory's pipe.
    assert saturation(hashes, {"scratch.command_occupancy": 5}) == pytest.approx(2 / (5 + 8), rel=0.02)


@needs_speed
@pytest.mark.parametrize(("name", "value", "title", "rate"), [
    ("push.s_word_cycles", 3, "MSF read of 8 words", 2 / 24), ("pull.s_word_cycles", 3, "MSF write of 8 words", 2 / 24),
    ("push.d_word_cycles", 2, "DRAM read of 64 bytes", 1 / 32), ("pull.d_word_cycles", 2, "DRAM write of 64 bytes", 1 / 32),
    ("pull.buffer_word_cycles", 3, "DRAM to TBUF, 64 bytes", 1 / 24), ("command.bus_cycles", 8, "scratch read of 1 word", 2 / 8),
])
def test_a_bus_that_is_slower_than_its_unit_sets_the_rate(name: str, value: int, title: str, rate: float) -> None:
    """A unit begins nothing whose words would wait longer for their bus than the parameter says."""
    [reference] = [each for each in references() if each.title == title]
    assert saturation([reference], {name: value}) == pytest.approx(rate, rel=0.02)


@needs_speed
@pytest.mark.parametrize("depth", [1, 2, 4, 16])
def test_a_microengine_stalls_when_its_fifo_is_full(depth: int) -> None:
    """Commands leave for a unit that takes one in nine cycles; what its queue and the FIFO hold is issued at one a cycle."""
    chip = chip_with("\n".join(["cap[read, $0, PRODUCT_ID, 1], sig_done[s2]"] * 60 + ["ctx_arb[kill]"]), contexts=1,
                     overrides={"me.fifo_depth": depth, "cap.queue_depth": 3, "cap.command_occupancy": 9})
    chip.run(cycles=3000)
    counted = chip.me[0].cycles
    # The last command issues when all but those in the FIFO have left, each nine cycles after the one before.
    assert counted["stalled"] == pytest.approx((60 - depth - 3) * 9 - 60, abs=2 * 9)


def test_latencies_recalled_in_the_literature() -> None:
    chip = load_chip()
    by_title = {reference.title: reference.cycles(chip) for reference in references()}
    titles = ("SRAM read of 1 word", "scratch read of 1 word", "DRAM read of 8 bytes")
    assert [by_title[title] for title in titles] == [90, 60, 120]


def test_the_table_has_a_line_for_each() -> None:
    assert len(latency_table().splitlines()) == 1 + len(references())
