"""Contexts: what a swap costs, who runs next, every form of ctx_arb, and what signals do and do not remember."""

import pytest

from ixpemu import Chip
from ixpemu.isa.chipfile import load_chip
from tests.support.machine import chip_with, issues, run_lines, words_of

BOARD = load_chip()
WAKE = BOARD["me.wake_cycles"]
READ = "sram[read, $0, b15, 0, 1]"


def order(chip: Chip, cycles: int) -> list[int]:
    """The contexts in the order in which they execute, each stay once."""
    found: list[int] = []
    for issue in issues(chip, cycles):
        if not found or found[-1] != issue.ctx:
            found.append(issue.ctx)
    return found


# What a swap costs


@pytest.mark.parametrize("slots", range(3))
@pytest.mark.parametrize("form", ["ctx_arb[voluntary]", f"{READ}, ctx_swap[s1]"])
def test_a_swap_costs_two_cycles_less_its_slots(form: str, slots: int) -> None:
    """As a taken branch: the next context issues three cycles after the swap, whoever is ready then."""
    defer = f", defer[{slots}]" if slots else ""
    chip = chip_with("\n".join([form + defer, *["nop"] * 8, "ctx_arb[kill]"]), contexts=0b11)
    first = issues(chip, 8)
    assert [(issue.cycle - WAKE, issue.ctx, issue.pc) for issue in first[: slots + 2]] == [
        *((k, 0, k) for k in range(slots + 1)), (3, 1, 0)]


def test_a_context_alone_comes_back_after_its_swap() -> None:
    chip = chip_with("ctx_arb[voluntary]\nnop\nctx_arb[kill]", contexts=1)
    assert [(issue.cycle - WAKE, issue.pc) for issue in issues(chip, 8)] == [(0, 0), (3, 1), (4, 2)]


def test_an_idle_microengine_starts_wake_cycles_after_the_signal() -> None:
    for wake in (0, 1, 3):
        chip = chip_with(f"{READ}, ctx_swap[s1]\nhalt", contexts=1, overrides={"me.wake_cycles": wake})
        found = issues(chip, 120)
        latency = sum(BOARD[name] for name in ("command.path_cycles", "sram.read_cycles", "push.s_cycles", "push.s_word_cycles"))
        assert found[1].cycle - found[0].cycle == 1 + latency + wake


def test_a_signal_that_came_before_costs_no_wait() -> None:
    """Waiting for what has arrived is a swap like a voluntary one."""
    chip = chip_with("\n".join([f"{READ}, sig_done[s1]", *["nop"] * 100, "ctx_arb[s1]", "nop", "ctx_arb[kill]"]), contexts=1)
    found = issues(chip, 130)
    assert found[102].cycle - found[101].cycle == 3


# Who runs next


def test_round_robin_starts_behind_the_one_that_ran() -> None:
    chip = chip_with("l#:\nctx_arb[voluntary]\nbr[l#]", contexts=0b10110010)
    assert order(chip, 60)[:9] == [1, 4, 5, 7, 1, 4, 5, 7, 1]


def test_four_contexts_are_the_even_ones() -> None:
    chip = Chip()
    chip.load_words(0, words_of("l#:\nctx_arb[voluntary]\nbr[l#]", contexts=4), contexts=4)
    assert order(chip, 60)[:6] == [0, 2, 4, 6, 0, 2]


def test_a_sleeping_context_is_passed_over() -> None:
    """Context 2 waits for its read and takes its place in the turn when it has come."""
    chip = chip_with(f"br!=ctx[2, turn#]\n{READ}, ctx_swap[s1]\nturn#:\nctx_arb[voluntary]\nbr[turn#]", contexts=0b111)
    seen = order(chip, 200)
    away = seen.index(2)
    back = seen.index(2, away + 1)
    assert seen[:5] == [0, 1, 2, 0, 1]
    assert set(seen[away + 1 : back]) == {0, 1}
    assert seen[back - 1 : back + 3] == [1, 2, 0, 1]


def test_nobody_is_taken_off_before_it_swaps() -> None:
    chip = chip_with("br=ctx[0, busy#]\nctx_arb[s1]\nimmed[@a0, 9]\nctx_arb[kill]\nbusy#:\nlocal_csr_wr[SAME_ME_SIGNAL, 0x9]\n"
                     + "nop\n" * 50 + "alu[a1, @a0, +, 1]\nctx_arb[kill]", contexts=0b11)
    chip.me[0].ctx[1].signal(1)
    chip.run()
    assert int(chip.me[0].ctx[0].gpr_a[1]) == 1, "context 1 was ready all the time"
    assert int(chip.me[0].gpr_a_abs[0]) == 9


def test_a_disabled_context_finishes_its_turn_and_stays_away() -> None:
    chip = chip_with("br!=ctx[0, other#]\nimmed[a1, 0x200]\nlocal_csr_wr[CTX_ENABLES, a1]\n"
                     "immed[a3, 3]\nctx_arb[voluntary]\nimmed[a3, 4]\nother#:\nalu[a4, a4, +, 1]\nctx_arb[voluntary]\nbr[other#]",
                     contexts=0b11)
    chip.run(cycles=200)
    assert chip.me[0].ctx[0].gpr_a[3:5].tolist() == [3, 0]
    assert int(chip.me[0].ctx[1].gpr_a[4]) > 10
    assert (chip.me[0].ctx[0].state, chip.me[0].ctx[2].state) == ("inactive", "inactive")


# Forms of ctx_arb


def test_voluntary_with_a_label() -> None:
    chip = run_lines(["ctx_arb[voluntary], br[on#]", "immed[a1, 1]", "on#:", "immed[a2, 2]"])
    assert chip.me[0].ctx[0].gpr_a[1:3].tolist() == [0, 2]


def test_signals_with_a_label_and_slots() -> None:
    chip = run_lines([f"{READ}, sig_done[s1]", "ctx_arb[s1], br[on#], defer[2]", "immed[a3, 3]", "immed[a4, 4]", "immed[a1, 1]",
                      "on#:", "immed[a2, 2]"])
    assert chip.me[0].ctx[0].gpr_a[1:5].tolist() == [0, 2, 3, 4]


def test_a_prepared_mask_waits_for_what_it_says() -> None:
    """ctx_arb[--] sleeps on ACTIVE_CTX_WAKEUP_EVENTS, all of it or, with bit 16, any."""
    both = [f"{READ}, sig_done[s2]", "dram[read, $$0, b15, 0, 1], sig_done[s4]"]
    end = ["local_csr_rd[ACTIVE_CTX_SIG_EVENTS]", "immed[a1, 0]"]
    chip = run_lines([*both, "immed[a0, 0x34]", "local_csr_wr[ACTIVE_CTX_WAKEUP_EVENTS, a0]", "ctx_arb[--]", *end])
    assert int(chip.me[0].ctx[0].gpr_a[1]) & 0xFFFE == 0
    chip = run_lines([*both, "immed[a0, 0x34]", "immed_w1[a0, 1]", "local_csr_wr[ACTIVE_CTX_WAKEUP_EVENTS, a0]", "ctx_arb[--]",
                      *end])
    assert int(chip.me[0].ctx[0].gpr_a[1]) & 0xFFFE == 1 << 2, "the SRAM read is sooner, and its signal stays"


def test_kill_is_for_good() -> None:
    chip = chip_with("ctx_arb[kill]\nimmed[a1, 1]\nhalt", contexts=1)
    for signal in range(1, 16):
        chip.me[0].ctx[0].signal(signal)
    assert chip.run(cycles=1000).reason == "quiet"
    assert int(chip.me[0].ctx[0].gpr_a[1]) == 0


# Signals


def test_waiting_for_all_takes_all_and_no_other() -> None:
    chip = chip_with("ctx_arb[s1, s3]\nlocal_csr_rd[ACTIVE_CTX_SIG_EVENTS]\nimmed[a1, 0]\nctx_arb[kill]", contexts=1)
    thread = chip.me[0].ctx[0]
    chip.run(cycles=50)
    for signal in (1, 2):
        thread.signal(signal)
    chip.run(cycles=50)
    assert thread.state == "sleep"
    thread.signal(3)
    chip.run(cycles=50)
    assert int(thread.gpr_a[1]) & 0xFFFE == 1 << 2


def test_waiting_for_any_takes_none() -> None:
    chip = chip_with("ctx_arb[s1, s3], any\nlocal_csr_rd[ACTIVE_CTX_SIG_EVENTS]\nimmed[a1, 0]\nctx_arb[kill]", contexts=1)
    chip.me[0].ctx[0].signal(3)
    chip.run(cycles=50)
    assert int(chip.me[0].ctx[0].gpr_a[1]) & 0xFFFE == 1 << 3


def test_a_second_signal_before_the_first_is_taken_is_lost() -> None:
    """Two reads raise s1, one wait takes both: the second wait sleeps for ever."""
    lines = [f"{READ}, sig_done[s1]", f"{READ}, sig_done[s1]", *["nop"] * 120, "ctx_arb[s1]", "immed[a1, 1]", "ctx_arb[s1]",
             "immed[a1, 2]", "ctx_arb[kill]"]
    chip = chip_with("\n".join(lines), contexts=1)
    chip.run(cycles=2000)
    assert int(chip.me[0].ctx[0].gpr_a[1]) == 1
    assert chip.me[0].ctx[0].waiting_for == {1}
    # Taken in between, each one counts.
    spread = lines[:1] + lines[2:124] + lines[1:2] + lines[124:]
    chip = chip_with("\n".join(spread), contexts=1)
    chip.run(cycles=2000)
    assert int(chip.me[0].ctx[0].gpr_a[1]) == 2


def test_polling_takes_a_signal_either_way() -> None:
    """br_signal branches on it and br_!signal does not; both take it off."""
    for branch, there, gone in (("br_signal", 1, 2), ("br_!signal", 2, 1)):
        text = f"{branch}[s5, yes#]\nimmed[{{}}, 2]\nbr[on#]\nyes#:\nimmed[{{}}, 1]\non#:\n"
        names = [text.replace("yes", f"yes{k}").replace("on#", f"on{k}#").replace("{}", f"a{k}") for k in (1, 2)]
        chip = chip_with("".join(names) + "ctx_arb[kill]", contexts=1)
        chip.me[0].ctx[0].signal(5)
        chip.run()
        assert chip.me[0].ctx[0].gpr_a[1:3].tolist() == [there, gone]
        assert chip.me[0].ctx[0].signals == frozenset()


@pytest.mark.parametrize("command", ["dram[read, $$0, b15, 0, 1]", "dram[write, $$0, b15, 0, 1]"])
def test_a_dram_reference_raises_a_pair(command: str) -> None:
    for waits, left in (("s6, s7", 0), ("s6", 1 << 7), ("s7", 1 << 6)):
        chip = run_lines([f"{command}, sig_done[s6]", f"ctx_arb[{waits}]", "local_csr_rd[ACTIVE_CTX_SIG_EVENTS]", "immed[a1, 0]"])
        assert int(chip.me[0].ctx[0].gpr_a[1]) & 0xFFFE == left
    chip = run_lines([f"{command}, ctx_swap[s6]", "local_csr_rd[ACTIVE_CTX_SIG_EVENTS]", "immed[a1, 0]"])
    assert int(chip.me[0].ctx[0].gpr_a[1]) & 0xFFFE == 0


def test_other_references_raise_one() -> None:
    for command in (READ, "sram[write, $0, b15, 0, 1]", "scratch[read, $0, b15, 0, 1]", "scratch[put, $0, b15, 0, 1]",
                    "hash_48[$0, 1]", "cap[read, $0, PRODUCT_ID, 1]", "msf[read, $0, b15, 0, 1]"):
        chip = chip_with(f"{command}, sig_done[s6]\nctx_arb[kill]", contexts=1)
        chip.scratch.ring(0).setup(0x1000, 128)
        chip.run(cycles=500)
        assert chip.me[0].ctx[0].signals == {6}, command


def arrival(lines: list[str], me: int, ctx: int, to: tuple[int, int], overrides: dict[str, int]) -> int:
    """Cycles from the issue of the last line in microengine `me` to signal 5 at (microengine, context) `to`."""
    chip = chip_with("\n".join([*lines, "ctx_arb[kill]"]), me=me, contexts=1 << ctx, overrides=overrides)
    target = chip.me[to[0]].ctx[to[1]]
    issued = 0
    while 5 not in target.signals:
        if chip.me[me].ctx[ctx].pc == len(lines) - 1:
            issued = chip.cycle
        cycle = chip.cycle
        chip.step_cycle()
        assert chip.cycle < 200
    return cycle - issued


@pytest.mark.parametrize("cycles", [1, 5, 40])
def test_signals_between_threads_take_their_parameters(cycles: int) -> None:
    same, neighbor = {"signal.same_me_cycles": cycles}, {"signal.neighbor_cycles": cycles}
    assert arrival(["local_csr_wr[SAME_ME_SIGNAL, 0x2b]"], 0, 1, (0, 3), same) == cycles
    assert arrival(["local_csr_wr[NEXT_NEIGHBOR_SIGNAL, 0x2b]"], 3, 1, (4, 3), neighbor) == cycles
    assert arrival(["local_csr_wr[PREV_NEIGHBOR_SIGNAL, 0x2b]"], 3, 1, (2, 3), neighbor) == cycles
    assert arrival(["local_csr_wr[NEXT_NEIGHBOR_SIGNAL, 0xa8]"], 3, 1, (4, 1), neighbor) == cycles     # [7]: its own number
    through = 1 + BOARD["command.path_cycles"] + BOARD["cap.write_cycles"] + cycles
    word, thread = 6 << 7 | 2 << 4 | 5, {"signal.interthread_cycles": cycles}
    assert arrival([f"cap[fast_wr, {word}, INTERTHREAD_SIGNAL]"], 0, 0, (6, 2), thread) == through
    lines = [f"immed[a0, {word}]", "alu[--, --, B, a0]", "cap[fast_wr, ALU, INTERTHREAD_SIGNAL]"]
    assert arrival(lines, 0, 0, (6, 2), thread) == through


def test_the_next_context_is_the_next_one_in_use() -> None:
    for contexts, pairs in ((8, {0: 1, 6: 7, 7: 0}), (4, {0: 2, 4: 6, 6: 0})):
        for ctx, following in pairs.items():
            chip = Chip()
            words = words_of("local_csr_wr[SAME_ME_SIGNAL, 0x98]\nctx_arb[kill]", contexts)
            chip.load_words(0, words, contexts=contexts, start=False)
            chip.start(0, 1 << ctx)
            chip.run(cycles=50)
            assert [number for number in range(8) if chip.me[0].ctx[number].signals == {3}] == [following]


def test_the_ends_of_the_chain_have_no_neighbour() -> None:
    for me, name in ((0, "PREV"), (7, "NEXT")):
        chip = chip_with(f"local_csr_wr[{name}_NEIGHBOR_SIGNAL, 0x28]\nctx_arb[kill]", me=me, contexts=1)
        chip.run(cycles=100)
        assert all(ctx.signals == frozenset() for engine in chip.me for ctx in engine.ctx)


# Reading a local CSR


def test_a_csr_and_its_immed_are_a_pair() -> None:
    """The value takes the place of the constant, in any destination; an immed that stands alone is one."""
    chip = run_lines(["local_csr_rd[PROFILE_COUNT]", "immed[b1, 0]", "local_csr_rd[PROFILE_COUNT]", "immed[*l$index0[3], 0]",
                      "immed[a2, 0]", "local_csr_rd[CTX_ENABLES]", "immed[$4, 0]"])
    thread = chip.me[0].ctx[0]
    first, second = int(thread.gpr_b[1]), int(chip.me[0].local_memory[3])
    assert (first, second - first) == (WAKE, 2), "the count is of the cycle in which local_csr_rd issues"
    assert int(thread.gpr_a[2]) == 0
    assert int(thread.sram_out[4]) == 0x100
    assert chip.reserved == {}


def test_the_value_read_is_the_previous_result() -> None:
    chip = run_lines(["immed[a0, 0x8000]", "immed_w1[a0, 0x8000]", "local_csr_wr[CRC_REMAINDER, a0]", "nop", "nop", "nop",
                      "local_csr_rd[CRC_REMAINDER]", "immed[a1, 0]", "asr[a2, b0, >>4]"])
    assert chip.me[0].ctx[0].gpr_a[1:3].tolist() == [0x80008000, 0xF0000000]
