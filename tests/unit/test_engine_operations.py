"""Atomics, queues, rings and journals: what their signals say, when they act, what is reported, what Python may not do."""

from __future__ import annotations

import re

import pytest

from ixpemu import Chip, UserError, assemble
from tests.support.driver import Driver
from tests.support.machine import chip_with, run_lines, words_of

END = 1 << 31


def test_the_even_signal_comes_with_the_pull_and_the_odd_one_with_the_old_word() -> None:
    """Whoever forgets the odd signal wakes too early: the register still holds what it held."""
    chip = chip_with("immed[a0, 0x40]\nimmed[$0, 5]\nsram[test_and_add, $0, a0, 0], sig_done[s2]\nctx_arb[s2]\n"
                     "alu[a1, --, B, $0]\nctx_arb[s3]\nalu[a2, --, B, $0]\nctx_arb[kill]", contexts=1)
    chip.sram[0][0x40] = 77
    chip.run(cycles=2000)
    assert chip.me[0].ctx[0].gpr_a[1:3].tolist() == [0, 77]
    assert chip.sram[0][0x40] == 82


def test_an_operand_is_pulled_behind_the_defer_slots() -> None:
    chip = run_lines(["immed[a0, 0x40]", "immed[$0, 1]", "scratch[add, $0, a0, 0], ctx_swap[s2], defer[2]", "immed[$0, 2]",
                      "immed[$0, 3]", "immed[$0, 4]"])
    assert chip.scratch[0x40] == 3


def test_an_atomic_keeps_its_place_among_plain_commands() -> None:
    chip = run_lines(["immed[a0, 0x40]", "immed[$0, 7]", "sram[write, $0, a0, 0, 1], sig_done[s1]", "sram[incr, --, a0, 0]",
                      "sram[read, $1, a0, 0, 1], sig_done[s3]", "sram[incr, --, a0, 0]", "ctx_arb[s1, s3]",
                      "alu[a1, --, B, $1]"])
    assert int(chip.me[0].ctx[0].gpr_a[1]) == 8
    assert chip.sram[0][0x40] == 9


def test_only_the_first_register_of_a_put_is_overwritten() -> None:
    chip = chip_with("sram[put, $2, a0, 0, 3], ctx_swap[s2]\nctx_arb[kill]", contexts=1)
    chip.sram[0].ring(0).setup(0x1000, 512)
    thread = chip.me[0].ctx[0]
    thread.sram_in[:8] = range(100, 108)
    thread.sram_out[:8] = range(200, 208)
    chip.run(cycles=1000)
    assert thread.sram_in[:8].tolist() == [100, 101, END, 103, 104, 105, 106, 107]
    assert chip.sram[0].ring(0).contents() == [202, 203, 204]


def test_the_assembler_keeps_the_registers_behind_a_put_alive() -> None:
    """The status of a put fills one register: in the second name is still what was read before."""
    image = assemble(text="""
        .reg $a $b place result
        .xfer_order $a $b
        .sig single both
        immed[place, 0]
        sram[read, $a, place, 0, 2], ctx_swap[single]
        alu[$a, --, B, 7]
        alu[$b, --, B, 8]
        sram[put, $a, place, 0, 2], ctx_swap[both]
        alu[result, --, B, $a]
        alu[result, result, +, $b]
        alu[$a, --, B, result]
        sram[write, $a, place, 4, 1], ctx_swap[single]
        ctx_arb[kill]
    """)
    chip = Chip()
    chip.sram[0].ring(0).setup(0x1000, 512)
    chip.sram[0].write(0, [1, 41])
    chip.load(0, image, start=False)
    chip.start(0, 1)
    chip.run(cycles=2000)
    assert chip.sram[0][4] == (END + 41) % (1 << 32)


def test_two_atomics_on_one_word_wait_for_each_other() -> None:
    """And two on different words do not: the second is then one turn of the ports behind."""
    def second(address: str) -> int:
        chip = chip_with(f"immed[a0, 0x40]\nimmed[a1, {address}]\nsram[incr, --, a0, 0]\nsram[test_and_incr, $0, a1, 0], "
                         "ctx_swap[s2]\nctx_arb[kill]", contexts=1)
        chip.run(cycles=2000)
        return chip.me[0].clock

    parameters = Chip().parameters
    assert second("0x40") - second("0x44") == parameters["sram.atomic_word_cycles"] - parameters["sram.read_word_occupancy"]


@pytest.mark.parametrize(("command", "one_word", "name", "factor"), [
    ("sram[incr, --, a0, 0]", True, "sram.atomic_word_cycles", 1),
    ("sram[incr, --, a0, 0]", False, "sram.read_word_occupancy", 1),
    ("scratch[incr, --, a0, 0]", True, "scratch.atomic_occupancy", 1),
    ("sram[enqueue, --, a1, 1]", True, "sram.queue_occupancy", 1),
    ("sram[journal, $0, a2, 0, 8]", True, "sram.write_word_occupancy", 8),
])
def test_the_highest_rate_is_one_over_the_occupancy(command: str, one_word: bool, name: str, factor: int) -> None:
    """Eight microengines that do nothing else, all on one word or each on its own."""
    chip = Chip()
    words = words_of("\n".join(["turn#:", *[command] * 8, "br[turn#]"]))
    for me in range(8):
        chip.load_words(me, words, start=False)
        for ctx in chip.me[me].ctx:
            ctx.gpr_a[:3] = 0x100 if one_word else 0x100 + 4 * me, 2 << 24, 3 << 2
        chip.start(me, 1)
    chip.sram[0].queue(2).setup()
    chip.sram[0].ring(3).setup(0x1000, 512)
    place = 2 if command.startswith("scratch") else 0
    chip.run(cycles=1000)
    before = int(chip.state.commands[place])
    chip.run(cycles=2000)
    assert (int(chip.state.commands[place]) - before) / 2000 == pytest.approx(1 / (factor * chip.parameters[name]), rel=0.02)


@pytest.mark.parametrize("lines", [
    ["sram[get, $0, a3, 0, 8], ctx_swap[s1]"], ["sram[dequeue, $0, a2, 0], ctx_swap[s1]"],
    ["scratch[get, $0, a4, 0, 8], ctx_swap[s1]"], ["sram[put, $0, a3, 0, 8], ctx_swap[s2]"] * 65,
])
def test_what_programs_do_every_day_is_not_reported(lines: list[str]) -> None:
    """Polling an empty ring or queue, and a put that is refused and says so."""
    chip = chip_with("\n".join([*lines, "alu[a0, --, B, $0]", "ctx_arb[kill]"]), contexts=1)
    chip.sram[0].queue(2).setup()
    chip.sram[0].ring(3).setup(0x1000, 512)
    chip.scratch.ring(4).setup(0x1000, 128)
    chip.me[0].ctx[0].gpr_a[2:5] = [2 << 24, 3 << 2, 4 << 2]
    chip.me[0].ctx[0].sram_out[:8] = range(1, 9)
    assert chip.run(cycles=100_000).reason == "quiet"
    assert chip.reserved == {}
    assert int(chip.me[0].ctx[0].gpr_a[0]) == (512 if len(lines) == 65 else 0)


@pytest.mark.parametrize(("act", "message"), [
    (lambda chip: chip.sram[0].queue(64), "SRAM channel 0 has no queue array entry 64"),
    (lambda chip: chip.sram[1].ring(-1), "SRAM channel 1 has no queue array entry -1"),
    (lambda chip: chip.sram[0].ring(3).setup(0x1000, 500), "ring 3 of SRAM channel 0 cannot have 500 words at 0x1000"),
    (lambda chip: chip.sram[0].ring(3).setup(0x1004, 512), "ring 3 of SRAM channel 0 cannot have 512 words at 0x1004"),
    (lambda chip: chip.sram[0].ring(3).setup(1 << 30, 512), "SRAM channel 0 has no bytes 0x40000000 to 0x400007ff"),
    (lambda chip: chip.sram[0].queue(3).enqueue(0), "a buffer at word address 0x0 cannot be enqueued"),
    (lambda chip: chip.sram[0].queue(3).enqueue(16, cells=128), "the cells of a buffer cannot be 128"),
    (lambda chip: chip.sram[0].queue("3"), "the number of an entry cannot be '3'"),
    (lambda chip: chip.sram[0].ring(3).put(1.5), "a word of a ring cannot be 1.5"),
    (lambda chip: chip.sram[0].queue(3).load(0x104), "no queue descriptor can be at 0x104"),
    (lambda chip: chip.sram[0].csr["SRAM_CONTRL"], "there is no sram CSR 'SRAM_CONTRL'"),
    (lambda chip: chip.sram[0].csr[0x100], "there is no sram CSR at 0x100"),
    (lambda chip: chip.scratch.ring(0).setup(0x200, 256), "ring 0 cannot have 256 words at 0x200"),
])
def test_python_is_told_what_cannot_be(act, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UserError, match=re.escape(message)):
        act(Chip())


@pytest.mark.parametrize(("line", "message"), [
    ("sram[add, --, a0, 0]", "this form needs the option indirect_ref"),
    ("sram[add, --, a0, 0], indirect_ref", "this form needs the option no_pull"),
    ("sram[add, $0, a0, 0], sig_done[s1], no_pull", "`sram[add]` takes no option `no_pull`"),
    ("sram[test_and_add, $0, a0, 0], sig_done[s2], no_pull", "no_pull goes with indirect_ref"),
    ("sram[swap, $0, a0, 0], sig_done[s1]", "this command raises a pair of signals, so it needs an even number, not 1"),
    ("scratch[test_and_incr, --, a0, 0], sig_done[s2]", "expected a transfer register"),
    ("sram[incr, $0, a0, 0], sig_done[s2]", "`$0` cannot stand here: operand 2 of this `sram` is `--`"),
    ("sram[put, $0, a0, 0, 9], sig_done[s2]", "operand 5 of `sram` is a number from 1 to 8"),
    ("sram[enqueu, --, a0, 0]", "did you mean `enqueue`?"),
])
def test_the_assembler_refuses(line: str, message: str) -> None:
    with pytest.raises(UserError, match=re.escape(message)):
        assemble(text=f".physical\n{line}\n")


def test_a_snapshot_has_the_queue_array() -> None:
    driver = Driver()
    chip = driver.chip
    chip.sram[1].queue(4).setup()
    driver.do("sram[enqueue, --, a0, b0]", 1 << 30 | 4 << 24 | 0x80)
    chip.sram[1].csr["SRAM_CONTROL"] = 1 << 13
    saved = chip.snapshot()
    assert driver.do("sram[dequeue, $0, a0, b0], ctx_swap[s1]", 1 << 30 | 4 << 24)[0] == END | 0x80
    chip.sram[1].csr["SRAM_CONTROL"] = 0
    assert chip.snapshot() != saved
    chip.restore(saved)
    assert (list(chip.sram[1].queue(4).links()), chip.sram[1].csr["SRAM_CONTROL"]) == ([END | 0x80], 1 << 13)


def test_replaying_a_journal_fills_the_same_queues() -> None:
    chip, other = Chip(), Chip()
    queue, ring = chip.sram[0].queue(9), chip.sram[0].ring(10)
    queue.setup()
    ring.setup(0x1000, 1024)
    for k in range(5):
        queue.enqueue(0x100 + k, cells=k)
        ring.put(k)
        ring.journal(10 + k)
    queue.dequeue()
    ring.get()
    other.replay(chip.journal.entries, 0)
    assert other.snapshot() == chip.snapshot()


def test_what_comes_back_can_go_to_another_microengine_with_both_signals() -> None:
    """indirect_ref with microengine 1 and context 2: its register is filled, its operand taken, and it gets the pair."""
    override = 1 << 31 | 1 << 26 | 1 << 3 | 2
    chip = chip_with("alu[--, --, B, a1]\nsram[test_and_add, $3, a0, 0], sig_done[s2], indirect_ref\nctx_arb[kill]", contexts=1)
    chip.me[0].ctx[0].gpr_a[:2] = 0x40, override
    chip.me[0].ctx[0].sram_out[3], chip.me[1].ctx[2].sram_out[3] = 5, 70
    chip.sram[0][0x40] = 900
    chip.run(cycles=2000)
    assert (chip.sram[0][0x40], int(chip.me[1].ctx[2].sram_in[3]), int(chip.me[0].ctx[0].sram_in[3])) == (970, 900, 0)
    assert (chip.me[1].ctx[2].signals, chip.me[0].ctx[0].signals) == ({2, 3}, set())


def test_a_count_that_leaves_the_registers_of_the_context_ends_there() -> None:
    chip = chip_with("alu[--, --, B, a1]\nsram[put, $12, a0, 0, max_8], ctx_swap[s2], indirect_ref\nctx_arb[kill]", contexts=1)
    chip.sram[0].ring(1).setup(0x1000, 512)
    chip.me[0].ctx[0].gpr_a[:2] = 1 << 2, 1 << 25 | 7 << 21
    chip.me[0].ctx[0].sram_out[12:16] = range(1, 5)
    chip.run(cycles=2000)
    assert chip.sram[0].ring(1).contents() == [1, 2, 3, 4]
    assert chip.reserved == {"count past the transfer registers of a context": 1}


@pytest.mark.parametrize("ring", range(12))
def test_each_of_twelve_flags_is_of_its_own_ring(ring: int) -> None:
    """All twelve are tested; only this ring has a word, and only it says that it is not empty."""
    lines = [line for k in range(12)
             for line in (f"br_inp_state[SCR_RING{k}_STATUS, next{k}#]", f"alu_shf[a1, a1, OR, 1, <<rot{k}]", f"next{k}#:")]
    chip = chip_with("\n".join([*lines, "ctx_arb[kill]"]), contexts=1)
    for k in range(12):
        chip.scratch.ring(k).setup(0x200 * k, 128, empty_flag=True)
    chip.run(cycles=100)
    chip.scratch.ring(ring).put(1)
    chip.run(cycles=100)
    chip.me[0].ctx[0].gpr_a[1] = 0
    chip.start(0, 1)
    chip.run(cycles=1000)
    assert int(chip.me[0].ctx[0].gpr_a[1]) == 1 << ring


@pytest.mark.parametrize("ring", range(12, 16))
def test_the_last_four_rings_have_no_flag(ring: int) -> None:
    with pytest.raises(UserError, match=f"SCR_RING{ring}_STATUS"):
        assemble(text=f".physical\nx#:\nbr_inp_state[SCR_RING{ring}_STATUS, x#]\n")


def test_the_flag_lags_and_a_later_change_hides_an_earlier_one() -> None:
    """Each look is some cycles after the put: before the lag is over the flag still says empty."""
    def seen(nops: int) -> int:
        look = ["br_inp_state[SCR_RING0_STATUS, empty#]", "immed[a1, 1]", "empty#:"]
        text = ["scratch[put, $0, a0, 0, 1]", *["nop"] * nops, *look]
        chip = chip_with("\n".join([*text, "ctx_arb[kill]"]), contexts=1)
        chip.scratch.ring(0).setup(0, 128, empty_flag=True)
        chip.me[0].ctx[0].sram_out[0] = 1
        chip.run(cycles=1000)
        return int(chip.me[0].ctx[0].gpr_a[1])

    parameters = Chip().parameters
    # Issue, path, the write's own time, the lag.
    first = 1 + parameters["command.path_cycles"] + parameters["scratch.write_cycles"] + parameters["scratch.status_lag"]
    assert [seen(nops) for nops in (first - 2, first - 1)] == [0, 1]
