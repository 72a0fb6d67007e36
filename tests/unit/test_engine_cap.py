"""The CSR access proxy: every register of its own, thread messages, resets, and the reflector with its windows."""

import pytest

from ixpemu import Chip
from ixpemu.isa import instruction_set
from tests.support.machine import chip_with, run_lines, words_of

READ_ONLY = {"PRODUCT_ID", "STRAP_OPTIONS"}


def registers(*, plain: bool) -> list[str]:
    """Names of the CAP's registers that only remember, or of the others."""
    special = ("SCRATCH_RING", "HASH_MULTIPLIER", "XSCALE_INT", "INTERTHREAD", "SELF_DESTRUCT", "THREAD_MESSAGE", "IXP_RESET1")
    names = [csr.name for csr in instruction_set().csrs if csr.space == "cap"]
    return [name for name in names if (not name.startswith(special) and name not in READ_ONLY) == plain]


def test_plain_registers_remember_all_32_bits() -> None:
    chip = Chip()
    for k, name in enumerate(registers(plain=True)):
        chip.cap.write(name, 0xDEAD0000 | k)
    assert [chip.cap.read(name) for name in registers(plain=True)] == [0xDEAD0000 | k for k in range(len(registers(plain=True)))]


def test_read_only_registers_keep_what_they_have() -> None:
    chip = Chip()
    for name in READ_ONLY:
        before = chip.cap.read(name)
        chip.cap.write(name, 0xFFFFFFFF)
        assert chip.cap.read(name) == before
    assert chip.cap.read("PRODUCT_ID") == 0x210, "IXP2000 family, IXP2400, revision B0"


@pytest.mark.parametrize("thread", [0, 31, 32, 63])
def test_a_message_is_taken_by_its_clearing_alias(thread: int) -> None:
    """Word and summary bit appear together, stay when read plainly, and go together."""
    chip = run_lines([f"immed[$0, {0x100 + thread}]", f"cap[write, $0, THREAD_MESSAGE_{thread}, 1], ctx_swap[s1]"])
    summary = f"THREAD_MESSAGE_SUMMARY_{thread // 32}"
    other = f"THREAD_MESSAGE_SUMMARY_{1 - thread // 32}"
    assert (chip.cap.read(summary), chip.cap.read(other)) == (1 << thread % 32, 0)
    assert chip.cap.read(f"THREAD_MESSAGE_{thread}") == 0x100 + thread
    assert chip.cap.read(f"THREAD_MESSAGE_CLEAR_{thread}") == 0x100 + thread
    assert (chip.cap.read(summary), chip.cap.read(f"THREAD_MESSAGE_{thread}")) == (0, 0)
    assert chip.cap.read(f"THREAD_MESSAGE_CLEAR_{thread}") == 0


def test_summaries_and_aliases_cannot_be_written() -> None:
    chip = Chip()
    chip.cap.write("THREAD_MESSAGE_7", 5)
    for name in ("THREAD_MESSAGE_SUMMARY_0", "THREAD_MESSAGE_CLEAR_7"):
        chip.cap.write(name, 0xFF)
    assert (chip.cap.read("THREAD_MESSAGE_SUMMARY_0"), chip.cap.read("THREAD_MESSAGE_7")) == (1 << 7, 5)


def test_self_destruct_gathers_bits_until_it_is_read() -> None:
    chip = run_lines(["cap[fast_wr, 5, SELF_DESTRUCT_0]", "cap[fast_wr, 0x48, SELF_DESTRUCT_0]", "immed[a0, 0x8000]",
                      "immed_w1[a0, 0x8000]", "alu[--, --, B, a0]", "cap[fast_wr, ALU, SELF_DESTRUCT_1]",
                      "cap[read, $0, SELF_DESTRUCT_0, 2], ctx_swap[s1]", "cap[read, $2, SELF_DESTRUCT_0, 2], ctx_swap[s1]"])
    assert chip.me[0].ctx[0].sram_in[:4].tolist() == [0x4D, 0x80008000, 0, 0]


@pytest.mark.parametrize(("form", "value"), [("0", 0), ("0x3fff", 0x3FFF)])
def test_fast_wr_carries_14_bits(form: str, value: int) -> None:
    assert run_lines([f"cap[fast_wr, {form}, CCR]"]).cap.read("CCR") == value


def test_thread_interrupts_carry_their_thread() -> None:
    chip = Chip()
    for me, contexts, name in ((0, 0b1001, "A"), (5, 0b10000000, "B")):
        chip.load_words(me, words_of(f"cap[fast_wr, 0, XSCALE_INT_{name}]\nctx_arb[kill]"), start=False)
        chip.start(me, contexts)
    chip.run(cycles=200)
    assert int(chip.state.thread_interrupts) == 0b1001
    assert int(chip.state.thread_interrupts_b) == 1 << 47


def test_a_reset_microengine_stands_at_address_0_until_it_is_released() -> None:
    chip = chip_with("l#:\nalu[a0, a0, +, 1]\nctx_arb[voluntary]\nbr[l#]", me=5, contexts=0b11)
    chip.run(cycles=100)
    chip.cap.write("IXP_RESET1", 1 << 17)
    assert chip.me[5].executing is None
    chip.me[5].csr["CTX_ENABLES"] = 0xFF00
    before = chip.me[5].ctx[0].gpr_a[0]
    chip.run(cycles=100)
    assert chip.me[5].ctx[0].gpr_a[0] == before and chip.me[5].ctx[0].state == "inactive"
    chip.cap.write("IXP_RESET1", 0)
    chip.me[5].csr["CTX_ENABLES"] = 0x100
    assert chip.me[5].ctx[0].pc == 0
    chip.run(cycles=100)
    assert chip.me[5].ctx[0].gpr_a[0] > before


# The reflector


def window(me: int) -> int:
    """Address of a microengine's transfer registers."""
    return 0x8000 | (me >> 2) << 14 | (me & 3) << 10


@pytest.mark.parametrize("me", range(1, 8))
def test_the_reflector_fills_registers_that_others_read_and_reads_what_they_write(me: int) -> None:
    """Context 6: 16 SRAM registers, then 16 DRAM registers."""
    chip = Chip()
    base = window(me) + 4 * 32 * 6
    chip.load_words(0, words_of(f"immed[a0, {base & 0xFFFF}]\nimmed[$0, 11]\nimmed[$1, 22]\n"
                                "cap[write, $0, a0, 20, 2], ctx_swap[s1]\ncap[write, $0, a0, 84, 2], ctx_swap[s2]\n"
                                "cap[read, $8, a0, 12, 2], ctx_swap[s3]\ncap[read, $10, a0, 76, 1], ctx_swap[s4]\nctx_arb[kill]"),
                    start=False)
    chip.start(0, 1)
    chip.me[me].ctx[6].sram_out[3:5] = [33, 44]
    chip.me[me].ctx[6].dram_out[3] = 55
    chip.run(cycles=2000)
    assert chip.me[me].ctx[6].sram_in.tolist() == [0] * 5 + [11, 22] + [0] * 9
    assert chip.me[me].ctx[6].dram_in.tolist() == [0] * 5 + [11, 22] + [0] * 9
    assert chip.me[0].ctx[0].sram_in[8:11].tolist() == [33, 44, 55]
    assert chip.reserved == {}


def test_the_windows_of_four_contexts_are_twice_as_large() -> None:
    chip = Chip()
    chip.me[1].csr["CTX_ENABLES"] = 1 << 31
    base = window(1) + 4 * 32 * 2
    chip.load_words(0, words_of(f"immed[a0, {base}]\nimmed[$0, 11]\ncap[write, $0, a0, 100, 1], ctx_swap[s1]\n"
                                "immed[b1, 228]\ncap[write, $0, a0, b1, 1], ctx_swap[s2]\nctx_arb[kill]"), start=False)
    chip.start(0, 1)
    chip.run(cycles=1000)
    assert [k for k, word in enumerate(chip.me[1].ctx[2].sram_in.tolist()) if word] == [25]
    assert [k for k, word in enumerate(chip.me[1].ctx[2].dram_in.tolist()) if word] == [25]


def test_a_remote_signal_goes_through_the_other_ones_registers() -> None:
    """Data into its transfer register, then a signal by its SAME_ME_SIGNAL: the thread finds the word."""
    chip = Chip()
    chip.load_words(6, words_of("br!=ctx[3, end#]\nctx_arb[s9]\nalu[a0, $2, +, 1]\nhalt\nend#:\nctx_arb[kill]"))
    registers_at, csrs_at = window(6) + 4 * (32 * 3 + 2), window(6) | 0x10000
    chip.load_words(0, words_of(
        f"immed[a0, {registers_at}]\nimmed[a1, {csrs_at & 0xFFFF}]\nimmed_w1[a1, 1]\nimmed[$0, 77]\nimmed[b1, 0x108]\n"
        f"cap[write, $0, a0, 0, 1], ctx_swap[s1]\nimmed[$0, {9 << 3 | 3}]\ncap[write, $0, a1, b1, 1], ctx_swap[s1]\n"
        "ctx_arb[kill]"),
        start=False)
    chip.start(0, 1)
    stop = chip.run(cycles=2000)
    assert (stop.reason, stop.me, stop.ctx) == ("halt", 6, 3)
    assert chip.me[6].ctx[3].gpr_a[0] == 78


def test_pointers_of_others_are_reached_too() -> None:
    chip = Chip()
    chip.load_words(0, words_of("immed[a1, 0x8464]\nimmed_w1[a1, 1]\nimmed[$0, 0x40]\ncap[write, $0, a1, 0, 1], ctx_swap[s1]\n"
                                "cap[read, $3, a1, 0, 1], ctx_swap[s1]\nctx_arb[kill]"), start=False)
    chip.start(0, 1)
    chip.run(cycles=2000)
    assert chip.me[1].csr["ACTIVE_LM_ADDR_0"] == 0x40
    assert int(chip.me[0].ctx[0].sram_in[3]) == 0x40


def test_computed_addresses_reach_the_registers_of_the_proxy() -> None:
    chip = run_lines(["immed[a0, 0x4a00]", "cap[read, $1, a0, 0, 1], ctx_swap[s1]", "immed[$0, 9]",
                      "cap[write, $0, a0, 20, 1], ctx_swap[s1]"])
    assert int(chip.me[0].ctx[0].sram_in[1]) == 0x210
    assert chip.cap.read("CCR") == 9


def test_a_long_reflector_command_stays_with_its_microengine() -> None:
    chip = run_lines([f"immed[a0, {window(1) + 0x3F8}]", "immed[$0, 1]", "immed[$1, 2]", "immed[$2, 3]",
                      "cap[write, $0, a0, 0, 3], ctx_swap[s1]"])
    assert chip.me[1].ctx[7].dram_in[14:].tolist() == [1, 2]
    assert int(chip.me[1].ctx[0].sram_in[0]) == 3
    assert not chip.me[2].file[256:384].any()
