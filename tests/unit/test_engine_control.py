"""Starting, stopping and changing microengines while they run: breakpoints and attention, enables and modes from microcode and
from other agents, the control store written by microcode, collisions on local CSRs, and the timers."""

import pytest

from ixpemu import Chip
from ixpemu.engine.host import HOST_BUS_READ, HOST_BUS_WRITE
from ixpemu.xscale import XScale
from tests.support.machine import chip_with, issues, run_lines, words_of

COUNT = "l#:\nalu[a0, a0, +, 1]\nctx_arb[voluntary]\nbr[l#]"


# Every combination of ctx_arb

FORMS = ["s1", "s1, s2", "voluntary", "--"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("any_token", ["", ", any"])
@pytest.mark.parametrize("label", ["", ", br[on#]"])
@pytest.mark.parametrize("slots", range(3))
def test_every_legal_form_of_ctx_arb(form: str, any_token: str, label: str, slots: int) -> None:
    """With its signals set beforehand each goes on at once, behind it or at its label, its slots executed."""
    if any_token and form != "s1, s2":
        return
    defer = f", defer[{slots}]" if slots else ""
    text = ["local_csr_wr[ACTIVE_CTX_WAKEUP_EVENTS, 2]", f"ctx_arb[{form}]{any_token}{label}{defer}",
            *[f"immed[a{k}, 1]" for k in (1, 2)][:slots], "immed[a3, 1]", "on#:",
            "local_csr_rd[ACTIVE_CTX_SIG_EVENTS]", "immed[a4, 0]", "ctx_arb[kill]"]
    chip = chip_with("\n".join(text), contexts=1)
    for signal in (1, 2, 5):
        chip.me[0].ctx[0].signal(signal)
    assert chip.run().reason == "quiet"
    thread = chip.me[0].ctx[0]
    assert thread.gpr_a[1:4].tolist() == [int(slots > 0), int(slots > 1), int(not label)]
    taken = {"s1": 2, "s1, s2": 0 if any_token else 6, "voluntary": 0, "--": 2}[form]
    assert int(thread.gpr_a[4]) & 0xFFFE == 0b100110 & ~taken
    assert chip.reserved == {}


@pytest.mark.parametrize("line", ["ctx_arb[s1], any", "ctx_arb[kill], br[on#]", "ctx_arb[bpt], defer[1]",
                                  "ctx_arb[voluntary], any", "ctx_arb[--], any", "ctx_arb[s1], defer[3]", "ctx_arb[kill], any",
                                  "ctx_arb[bpt], br[on#]",
                                  "ctx_arb[voluntary, s1]", "ctx_arb[--, s1]"])
def test_what_ctx_arb_cannot_say_is_refused(line: str) -> None:
    from ixpemu import UserError

    with pytest.raises(UserError):
        words_of(f"on#:\n{line}\nnop\nnop\nnop")


# Breakpoint and attention


def test_a_breakpoint_stops_all_contexts_and_the_next_enable_goes_on_behind_it() -> None:
    chip = chip_with("br=ctx[0, first#]\nl#:\nalu[a1, a1, +, 1]\nctx_arb[voluntary]\nbr[l#]\n"
                     "first#:\nctx_arb[bpt]\nimmed[a0, 7]\nctx_arb[kill]", contexts=0b11)
    stop = chip.run(cycles=300)
    assert (stop.reason, stop.me, stop.ctx, stop.pc) == ("halt", 0, 0, 4)
    csr = chip.me[0].csr
    assert csr["CTX_ENABLES"] & 0x0800FF00 == 1 << 27
    assert int(chip.state.attention) == 1
    before = int(chip.me[0].ctx[1].gpr_a[1])
    chip.run(cycles=100)
    assert int(chip.me[0].ctx[1].gpr_a[1]) == before
    csr["CTX_ENABLES"] = 1 << 27 | 0b11 << 8
    assert csr["CTX_ENABLES"] == 0b11 << 8 and int(chip.state.attention) == 0
    chip.run(cycles=100)
    assert int(chip.me[0].ctx[0].gpr_a[0]) == 7
    assert int(chip.me[0].ctx[1].gpr_a[1]) > before


def test_an_xscale_handler_deals_with_a_breakpoint_and_the_run_goes_on() -> None:
    chip = Chip()
    words = words_of("l#:\nalu[a0, a0, +, 1]\nctx_arb[bpt]\nbr[l#]")
    chip.load_words(3, words, start=False)
    seen: list[int] = []

    def attention(xscale: XScale) -> None:
        seen.append(xscale.cycle)
        if len(seen) < 3:
            xscale.write("csr 3", 0x018, (1 << 27 | 1 << 8,))

    xscale = XScale(chip, handlers={"attention": attention})
    xscale.start()
    chip.start(3, 1)
    stop = chip.run(cycles=20_000)
    assert stop.reason in ("cycles", "quiet") and len(seen) == 3
    assert int(chip.me[3].ctx[0].gpr_a[0]) == 3


# Enables and modes from elsewhere


def test_a_microengine_starts_and_stops_another_through_the_reflector() -> None:
    chip = Chip()
    chip.load_words(5, words_of(COUNT), start=False)
    address = 0x18000 | 1 << 14 | 1 << 10 | 0x18
    lines = [f"immed[a0, {address & 0xFFFF}]", f"immed_w1[a0, {address >> 16}]", "immed[$0, 0x100]",
             "cap[write, $0, a0, 0, 1], ctx_swap[s1]", *["nop"] * 100, "immed[$0, 0]", "cap[write, $0, a0, 0, 1], ctx_swap[s1]",
             "ctx_arb[kill]"]
    chip.start(5, 0)
    chip.load_words(0, words_of("\n".join(lines)), start=False)
    chip.start(0, 1)
    chip.run(cycles=1000)
    turns = int(chip.me[5].ctx[0].gpr_a[0])
    assert 10 < turns < 60 and chip.me[5].ctx[0].state == "inactive"
    chip.run(cycles=500)
    assert int(chip.me[5].ctx[0].gpr_a[0]) == turns


def test_microcode_changes_its_own_mode_and_the_words_are_read_anew() -> None:
    """A read of $20 means $$4 with eight contexts and $20 with four."""
    (word,) = words_of("sram[read, $20, a1, 0, 1], ctx_swap[s1]", 4)
    chip = Chip()
    words = [*words_of("immed[a0, 0x100]\nimmed_w1[a0, 0x8000]\nlocal_csr_wr[CTX_ENABLES, a0]"), word, *words_of("ctx_arb[kill]")]
    chip.sram[0].write(0, 99)
    for enable in (True, False):
        chip.load_words(0, words if enable else words[3:], start=False)
        chip.start(0, 1)
        chip.run(cycles=500)
        assert int(chip.me[0].file[256 + 20]) == (99 if enable else 0)
        assert chip.me[0].contexts == (4 if enable else 8)
        if enable:
            chip.me[0].file[256 + 20] = 0
    assert int(chip.me[0].ctx[0].dram_in[4]) == 99


def test_microcode_writes_a_control_store_word_by_word() -> None:
    """Microengine 0 puts a program into 1, reads it back, and starts it; nothing is reported."""
    program = words_of("immed[a5, 0x1234]\nlocal_csr_rd[ACTIVE_CTX_STS]\nimmed[a6, 0]\nhalt")
    lines = ["immed[a0, 0x8400]", "immed_w1[a0, 1]", "immed[a1, 0]", "immed_w1[a1, 0x8000]", "alu[$0, --, B, a1]",
             "cap[write, $0, a0, 0, 1], ctx_swap[s1]"]
    for word in program:
        lines += [f"immed[a1, {word & 0xFFFF}]", f"immed_w1[a1, {word >> 16 & 0xFFFF}]", "alu[$0, --, B, a1]",
                  f"immed[$1, {word >> 32}]", "cap[write, $0, a0, 4, 2], ctx_swap[s1]"]
    lines += ["immed[$0, 0x100]", "cap[write, $0, a0, 24, 1], ctx_swap[s1]", "cap[read, $4, a0, 0, 3], ctx_swap[s1]",
              "ctx_arb[kill]"]
    chip = Chip()
    chip.load_words(0, words_of("\n".join(lines)), start=False)
    chip.start(1, 0)
    chip.start(0, 1)
    stop = chip.run(cycles=5000)
    assert (stop.reason, stop.me) == ("halt", 1)
    assert chip.me[1].ctx[0].gpr_a[5:7].tolist() == [0x1234, 0x80000108]
    assert chip.me[1].store.tolist() == program
    chip.run(cycles=500)
    assert chip.reserved == {}
    assert int(chip.me[0].ctx[0].sram_in[4]) == 0x80000004
    assert chip.me[0].ctx[0].sram_in[5:7].tolist() == [0, 0], "nothing is stored behind the last word"


# Local CSRs from outside that meet an access from inside


def test_an_access_over_the_bus_that_meets_one_from_inside_is_lost_and_told() -> None:
    chip = chip_with("nop\nnop\nlocal_csr_wr[CSR_CTX_POINTER, 3]\nnop\nnop\nnop\nctx_arb[kill]", contexts=1)
    where = {issue.pc: issue.cycle for issue in issues(chip, 12)}
    for meets in (True, False):
        other = chip_with("nop\nnop\nlocal_csr_wr[CSR_CTX_POINTER, 3]\nnop\nnop\nnop\nctx_arb[kill]", contexts=1)
        other.run(cycles=where[2 if meets else 4])
        other._call(HOST_BUS_WRITE, 0, 0x014C & 0x1FC, 5)
        assert other._call(HOST_BUS_READ, 0, 0x180) == int(meets)
        other.run(cycles=20)
        assert other.me[0].csr["CSR_CTX_POINTER"] == 3
        other._call(HOST_BUS_WRITE, 0, 0x020, 6)
        assert other._call(HOST_BUS_READ, 0, 0x180) == 0, "the next access says how it went itself"
        assert other._call(HOST_BUS_READ, 0, 0x020) == 6


def test_the_retry_of_a_loader_gets_through() -> None:
    """A microengine that does nothing but read CSRs: some accesses are lost, a retry lands."""
    chip = chip_with("l#:\nlocal_csr_rd[CSR_CTX_POINTER]\nimmed[a0, 0]\nbr[l#]", contexts=1)
    lost = 0
    for value in range(1, 30):
        chip.run(cycles=1 + value % 7)
        while True:
            chip._call(HOST_BUS_WRITE, 0, 0x020, value % 8)
            if chip._call(HOST_BUS_READ, 0, 0x180) == 0:
                break
            lost += 1
            chip.run(cycles=1)
        assert chip.me[0].csr["CSR_CTX_POINTER"] == value % 8
    assert lost > 0


# Timers


def test_timestamps_stand_while_they_are_not_enabled_and_are_set_together() -> None:
    """The recipe for one time on all microengines: clear MISC_CONTROL[7], zero them, set it."""
    chip = Chip()
    chip.run(cycles=1000)
    assert chip.me[3].csr["TIMESTAMP_LOW"] == 1000 // 16
    chip.cap.write("MISC_CONTROL", 0)
    for me in chip.me:
        me.csr["TIMESTAMP_LOW"], me.csr["TIMESTAMP_HIGH"] = 0, 0
        chip.run(cycles=37)
    assert {me.csr["TIMESTAMP_LOW"] for me in chip.me} == {0}
    chip.cap.write("MISC_CONTROL", 0x80)
    chip.run(cycles=1600)
    assert {me.csr["TIMESTAMP_LOW"] for me in chip.me} == {100}
    chip.me[2].csr["TIMESTAMP_HIGH"] = 5
    assert (chip.me[2].csr["TIMESTAMP_HIGH"], chip.me[2].csr["TIMESTAMP_LOW"]) == (5, 100)


def test_a_future_count_waits_while_timestamps_stand() -> None:
    lines = "immed[a0, 20]\nlocal_csr_wr[ACTIVE_FUTURE_COUNT, a0]\nlocal_csr_wr[ACTIVE_FUTURE_COUNT_SIGNAL, 6]\nctx_arb[s6]\nhalt"
    chip = chip_with(lines, contexts=1)
    stop = chip.run(cycles=1000)
    assert stop.reason == "halt" and 320 <= stop.cycle <= 326
    chip = chip_with(lines, contexts=1)
    chip.run(cycles=100)
    chip.cap.write("MISC_CONTROL", 0)
    chip.run(cycles=1000)
    assert chip.me[0].ctx[0].state == "sleep"
    chip.cap.write("MISC_CONTROL", 0x80)
    later = chip.run(cycles=1000)
    assert later.reason == "halt" and later.cycle == stop.cycle + 1000


def test_a_future_count_follows_a_timestamp_that_is_set() -> None:
    chip = chip_with("immed[a0, 200]\nlocal_csr_wr[ACTIVE_FUTURE_COUNT, a0]\nlocal_csr_wr[ACTIVE_FUTURE_COUNT_SIGNAL, 6]\n"
                     "ctx_arb[s6]\nhalt", contexts=1)
    chip.run(cycles=160)
    chip.me[0].csr["TIMESTAMP_LOW"] = 195
    stop = chip.run(cycles=10_000)
    assert stop.reason == "halt" and 160 + 4 * 16 < stop.cycle <= 160 + 6 * 16


def test_profile_count_wraps_and_counts_every_cycle() -> None:
    chip = run_lines(["immed[a0, 0xfffe]", "local_csr_wr[PROFILE_COUNT, a0]", "nop", "local_csr_rd[PROFILE_COUNT]",
                      "immed[a1, 0]"])
    assert int(chip.me[0].ctx[0].gpr_a[1]) == 0


def test_random_numbers_move_at_every_read_or_every_cycle() -> None:
    """A maximal shift register: no value twice for a long while, and the same ones from the same seed."""
    chip = Chip()
    csr = chip.me[0].csr
    csr["PSEUDO_RANDOM_NUMBER"] = 1
    first = [csr["PSEUDO_RANDOM_NUMBER"] for _ in range(64)]
    csr["PSEUDO_RANDOM_NUMBER"] = 1
    assert len(set(first)) == 64 and [csr["PSEUDO_RANDOM_NUMBER"] for _ in range(64)] == first
    csr["CTX_ENABLES"] = 1 << 30
    csr["PSEUDO_RANDOM_NUMBER"] = 1
    chip.run(cycles=10)
    assert csr["PSEUDO_RANDOM_NUMBER"] == first[9]


# Pointers of others


def test_indirect_registers_write_the_pointer_of_their_context() -> None:
    chip = Chip()
    csr = chip.me[0].csr
    for pointer in (0, 1):
        csr["CSR_CTX_POINTER"] = 4
        csr[f"INDIRECT_LM_ADDR_{pointer}_BYTE_INDEX"] = 0x123
        assert csr[f"INDIRECT_LM_ADDR_{pointer}"] == 0x120
        csr["CSR_CTX_POINTER"] = 3
        assert csr[f"INDIRECT_LM_ADDR_{pointer}"] == 0


def test_the_arbiter_can_be_told_whom_to_look_at_first() -> None:
    chip = Chip()
    chip.load_words(0, words_of("alu[@a0, @a0, +, 1]\nalu[a1, --, B, @a0]\nctx_arb[kill]"), start=False)
    chip.start(0, 0)
    chip.me[0].csr["CTX_ARB_CNTL"] = 5
    chip.me[0].csr["CTX_ENABLES"] = 0xFF00
    chip.run(cycles=200)
    assert [int(ctx.gpr_a[1]) for ctx in chip.me[0].ctx] == [4, 5, 6, 7, 8, 1, 2, 3]


# Next neighbours


@pytest.mark.parametrize("threshold", range(4))
def test_the_neighbour_ring_says_empty_by_its_threshold(threshold: int) -> None:
    chip = Chip()
    chip.load_words(0, words_of("immed[b0, 0]\nl#:\nalu[*n$index++, --, B, b0]\nalu[b0, b0, +, 1]\nalu[--, b0, -, 6]\nbne[l#]\n"
                                "ctx_arb[kill]"),
                    start=False)
    chip.load_words(1, words_of("immed[a1, 0]\nimmed[a2, 0]\nl#:\nbr_inp_state[NN_EMPTY, e#]\nalu[a1, a1, +, *n$index++]\n"
                                "alu[a2, a2, +, 1]\nbr[l#]\ne#:\nctx_arb[voluntary]\nbr[l#]"), start=False)
    chip.start(1, 0)
    chip.me[1].csr["CTX_ENABLES"] = threshold << 18 | 1 << 8
    chip.start(0, 1)
    chip.run(cycles=600)
    assert int(chip.me[1].ctx[0].gpr_a[2]) == 6 - threshold
    assert int(chip.me[1].engine.neighbor_words) == threshold
    assert chip.reserved == {}


def test_full_is_seen_by_the_one_that_puts() -> None:
    chip = chip_with("immed[b0, 0]\nl#:\nbr_inp_state[NN_FULL, e#]\nalu[*n$index++, --, B, b0]\nalu[b0, b0, +, 1]\nbr[l#]\n"
                     "e#:\nctx_arb[kill]", me=2, contexts=1)
    chip.run(cycles=2000)
    assert 112 <= int(chip.me[2].ctx[0].gpr_b[0]) <= 114
    chip.me[3].csr["NN_GET"] = 100
    chip.run(cycles=1)
    assert chip.reserved == {}


def test_a_word_to_oneself_is_there_for_the_sixth_instruction() -> None:
    for between in (4, 5):
        chip = chip_with("\n".join(["immed[n$3, 9]", *["nop"] * between, "alu[a1, --, B, n$3]", "ctx_arb[kill]"]), contexts=0)
        chip.me[0].csr["CTX_ENABLES"] = 1 << 20 | 1 << 8
        chip.run(cycles=100)
        assert int(chip.me[0].ctx[0].gpr_a[1]) == (9 if between == 5 else 0)


def test_neighbour_registers_of_four_contexts_reach_32() -> None:
    chip = Chip()
    chip.load_words(0, words_of("immed[n$31, 9]\nctx_arb[kill]", 4), contexts=4, start=False)
    chip.start(0, 0b100)
    chip.run(cycles=100)
    assert chip.me[1].file[768 + 2 * 16 + 31] == 9
