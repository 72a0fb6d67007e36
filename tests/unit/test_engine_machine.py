"""What programs can see of the machine: contexts and signals, pointers and their delay, CSRs, memories, rings, hash, reserved
behaviour."""

from __future__ import annotations

import pytest

from ixpemu.chip import Chip
from ixpemu.diagnostics import UserError
from ixpemu.engine import msf_layout, state
from tests.support.machine import chip_with, run_lines, words_of


def a(chip: Chip, *numbers: int, ctx: int = 0) -> list[int]:
    return [int(chip.me[0].ctx[ctx].gpr_a[number]) for number in numbers]


# Contexts and signals


def test_contexts_take_turns() -> None:
    """Each context notes in which turn it ran; voluntary arbitration goes round robin."""
    chip = chip_with("alu[@a100, @a100, +, 1]\nalu[a0, @a100, or, 0]\nctx_arb[voluntary]\nalu[@a100, @a100, +, 1]\n"
                     "alu[a1, @a100, or, 0]\nctx_arb[kill]")
    chip.run()
    assert [a(chip, 0, 1, ctx=k) for k in range(8)] == [[k + 1, k + 9] for k in range(8)]


def test_four_contexts_have_twice_the_registers() -> None:
    chip = Chip()
    chip.load_words(0, words_of("local_csr_rd[ACTIVE_CTX_STS]\nimmed[a31, 0]\nctx_arb[kill]", contexts=4), contexts=4)
    chip.run()
    assert [int(chip.me[0].ctx[k].gpr_a[31]) & 7 for k in (0, 2, 4, 6)] == [0, 2, 4, 6]
    assert chip.me[0].ctx[1].state == "inactive"


def test_a_ring_of_signals() -> None:
    """Each context wakes the next one; the first is primed by another's write."""
    chip = chip_with("br!=ctx[7, wait#]\nlocal_csr_wr[SAME_ME_SIGNAL, 0x10]\nwait#:\nctx_arb[s2]\nalu[@a100, @a100, +, 1]\n"
                     "alu[a0, @a100, or, 0]\nlocal_csr_wr[SAME_ME_SIGNAL, 0x90]\nctx_arb[kill]")
    chip.run()
    assert [a(chip, 0, ctx=k)[0] for k in range(8)] == list(range(1, 9))


def test_halt_stops_the_microengine() -> None:
    chip = chip_with("immed[a0, 1]\nhalt\nimmed[a0, 2]\nctx_arb[kill]")
    stop = chip.run()
    assert (stop.reason, stop.me, stop.ctx, stop.pc) == ("halt", 0, 0, 1)
    assert a(chip, 0) == [1]
    assert chip.me[0].csr["CTX_ENABLES"] & 0x0800FF00 == 0x08000000


# Pointers


def test_a_new_pointer_is_used_by_the_fourth_instruction() -> None:
    chip = chip_with("local_csr_wr[ACTIVE_LM_ADDR_0, 40]\nalu[a0, --, b, *l$index0[0]]\nalu[a1, --, b, *l$index0[0]]\n"
                     "alu[a2, --, b, *l$index0[0]]\nalu[a3, --, b, *l$index0[0]]\nctx_arb[kill]", contexts=1)
    chip.me[0].local_memory[0], chip.me[0].local_memory[10] = 111, 222
    chip.run()
    assert a(chip, 0, 1, 2, 3) == [111, 111, 111, 222]


def test_pointer_writes_follow_each_other() -> None:
    chip = chip_with("\n".join([f"local_csr_wr[ACTIVE_LM_ADDR_0, {4 * k}]" for k in (1, 2, 3, 4)]
                               + [f"alu[a{k}, --, b, *l$index0[0]]" for k in (1, 2, 3, 4)] + ["ctx_arb[kill]"]), contexts=1)
    chip.me[0].local_memory[:8] = range(100, 108)
    chip.run()
    assert a(chip, 1, 2, 3, 4) == [101, 102, 103, 104]


def test_offsets_are_or_ed_and_post_modify_moves_by_a_word() -> None:
    chip = chip_with(
        "local_csr_wr[ACTIVE_LM_ADDR_0, 4]\nnop\nnop\nnop\nalu[a0, --, b, *l$index0[3]]\nalu[a1, --, b, *l$index0++]\n"
        "alu[a2, --, b, *l$index0++]\nalu[*l$index0--, --, b, 7]\nalu[a3, --, b, *l$index0[0]]\nctx_arb[kill]",
        contexts=1,
    )
    chip.me[0].local_memory[:8] = range(100, 108)
    chip.run()
    assert a(chip, 0, 1, 2, 3) == [103, 101, 102, 102]
    assert int(chip.me[0].local_memory[3]) == 7


def test_read_modify_write_of_local_memory() -> None:
    chip = chip_with("alu[*l$index0[1], *l$index0[1], +, b0]\nld_field[*l$index0[2], 0001, b0]\nctx_arb[kill]", contexts=1)
    chip.me[0].local_memory[:3] = [1, 2, 0x11111111]
    chip.me[0].ctx[0].gpr_b[0] = 0x55
    chip.run()
    assert [int(word) for word in chip.me[0].local_memory[:3]] == [1, 0x57, 0x11111155]


def test_transfer_registers_through_t_index() -> None:
    chip = chip_with("local_csr_wr[T_INDEX, 8]\nnop\nnop\nnop\nalu[a0, --, b, *$index++]\nalu[a1, --, b, *$index]\n"
                     "alu[*$index, --, b, a0]\nctx_arb[kill]", contexts=1)
    chip.me[0].ctx[0].sram_in[:4] = [10, 11, 12, 13]
    chip.run()
    assert a(chip, 0, 1) == [12, 13]
    assert int(chip.me[0].ctx[0].sram_out[3]) == 12


def test_unpopulated_local_memory_is_reported() -> None:
    chip = run_lines(
        ["immed[a0, 0xa00]", "local_csr_wr[ACTIVE_LM_ADDR_0, a0]", "nop", "nop", "nop", "alu[a1, --, b, *l$index0[0]]"]
    )
    [event] = chip.reserved_events
    assert event[1] == "unpopulated local memory"
    assert event[5] == 640


# Next neighbour


def test_next_neighbour_registers_and_ring() -> None:
    chip = Chip()
    chip.load_words(
        0,
        words_of("immed[a0, 0x77]\nalu[n$3, --, b, a0]\nalu[*n$index++, --, b, 5]\nalu[*n$index++, --, b, 6]\nctx_arb[kill]"),
        start=False,
    )
    chip.load_words(1, words_of("wait#:\nbr_inp_state[NN_EMPTY, wait#]\nnop\nnop\nnop\nalu[a0, --, b, *n$index++]\n"
                                "alu[a1, --, b, *n$index++]\nalu[a2, --, b, n$3]\nctx_arb[kill]"), start=False)
    chip.start(0, 1)
    chip.start(1, 1)
    chip.run(cycles=500)
    # The ring's first words lie over context 0's registers, as in the hardware's one file.
    assert [int(value) for value in chip.me[1].ctx[0].gpr_a[:3]] == [5, 6, 0x77]


# CSRs


def test_own_number_and_context() -> None:
    chip = Chip()
    words = words_of("local_csr_rd[ACTIVE_CTX_STS]\nimmed[a0, 0]\nctx_arb[kill]")
    for me in range(8):
        chip.load_words(me, words)
    chip.run()
    for me in range(8):
        for ctx in range(8):
            value = int(chip.me[me].ctx[ctx].gpr_a[0])
            assert value & 0xFF == (me >> 2) << 7 | (me & 3) << 3 | ctx
            assert value >> 31 == 1


def test_timestamp_and_profile_count() -> None:
    chip = run_lines(["local_csr_wr[PROFILE_COUNT, 0]", "local_csr_rd[TIMESTAMP_LOW]", "immed[a0, 0]", *["nop"] * 158,
                      "local_csr_rd[TIMESTAMP_LOW]", "immed[a1, 0]", "local_csr_rd[PROFILE_COUNT]", "immed[a2, 0]"])
    first, second, profile = a(chip, 0, 1, 2)
    assert second - first == 10
    assert profile == 163


def test_future_count_raises_its_signal() -> None:
    chip = run_lines(["local_csr_wr[ACTIVE_FUTURE_COUNT_SIGNAL, 9]", "local_csr_wr[ACTIVE_FUTURE_COUNT, 20]", "ctx_arb[s9]",
                      "local_csr_rd[TIMESTAMP_LOW]", "immed[a0, 0]"])
    assert a(chip, 0) == [20]


def test_a_csr_read_needs_its_immed() -> None:
    chip = run_lines(["local_csr_rd[TIMESTAMP_LOW]", "alu[a0, a0, +, 1]"])
    assert chip.reserved["local_csr_rd without its immed"] == 1


def test_csrs_from_outside() -> None:
    chip = Chip()
    assert chip.me[5].chip_number == 0x11
    chip.me[5].csr["T_INDEX"] = 0x10
    assert chip.me[5].csr["t_index"] == 0x10
    with pytest.raises(UserError, match="there is no local CSR"):
        chip.me[0].csr["T_INDEXX"]
    chip.cap.csr["MISC_CONTROL"] = 5
    assert chip.cap.read("MISC_CONTROL") == 5
    assert chip.cap.read("PRODUCT_ID") >> 8 & 0xFF == 2


# Memories and rings


def test_sram_channels_and_bytes() -> None:
    chip = Chip()
    chip.sram[0].write(0x100, [1, 2])
    chip.sram[1].write(0x100, [0xAABBCCDD])
    assert [int(word) for word in chip.sram[0].read(0x100, 2)] == [1, 2]
    assert chip.sram[1].read_bytes(0x101, 2) == b"\xbb\xcc"
    chip.dram.write_bytes(0x1001, b"packet")
    assert chip.dram.read_bytes(0x1000, 8) == b"\0packet\0"
    with pytest.raises(UserError, match="no bytes"):
        chip.sram[0].read(chip.sram[0].length, 1)
    chip = chip_with(
        "immed[a0, 0x4000, <<16]\nsram[read, $0, a0, b15, 1], ctx_swap[s1]\nalu[a1, --, b, $0]\nctx_arb[kill]", contexts=1
    )
    chip.sram[1].write(0, [99])
    chip.run()
    assert a(chip, 1) == [99]


def test_unpopulated_memory_is_reported() -> None:
    chip = run_lines(["immed[a0, 0x80, <<16]", "sram[read, $0, a0, 0, 1], ctx_swap[s1]"])
    assert chip.reserved == {"unpopulated memory": 1}


def test_scratch_ring() -> None:
    chip = chip_with("alu[$0, --, b, 5]\nalu[$1, --, b, 6]\nscratch[put, $0, a15, 8, 2], ctx_swap[s1]\n"
                     "scratch[get, $2, a15, 8, 1], ctx_swap[s1]\nalu[a0, --, b, $2]\nscratch[get, $2, a15, 8, 2], ctx_swap[s1]\n"
                     "alu[a1, --, b, $2]\nalu[a2, --, b, $3]\nctx_arb[kill]", contexts=1)
    chip.scratch.ring(2).setup(0x400, 128)
    chip.run()
    assert a(chip, 0, 1, 2) == [5, 6, 0], "what is not there comes as zero"


def test_ring_status_flags() -> None:
    chip = chip_with(
        "br_inp_state[SCR_RING1_STATUS, on#]\nimmed[a0, 1]\non#:\nbr_!inp_state[SCR_RING2_STATUS, off#]\nimmed[a1, 1]\noff#:\n"
        "ctx_arb[kill]",
        contexts=1,
    )
    chip.scratch.ring(1).setup(0, 128)
    chip.scratch.ring(2).setup(0x200, 128, empty_flag=True)
    for _ in range(95):
        chip.scratch.ring(1).put(1)
    assert not chip.scratch.ring(1).status
    chip.scratch.ring(1).put(1)
    assert chip.scratch.ring(1).status
    chip.run(cycles=100)
    assert a(chip, 0, 1) == [1, 0], "both flags lag behind"
    chip.start(0, 1)
    chip.me[0].ctx[0].gpr_a[:2] = 0
    chip.run(cycles=100)
    assert a(chip, 0, 1) == [0, 1]


def test_a_full_ring_loses_its_words_and_says_so() -> None:
    chip = Chip()
    ring = chip.scratch.ring(3)
    ring.setup(0, 128)
    for value in range(129):
        ring.put(value)
    assert chip.reserved == {"put on a full ring": 1}


def test_byte_mask_and_count_from_the_previous_result() -> None:
    chip = chip_with("immed[a0, 0x40]\nalu[$0, --, b, a1]\nalu[$1, --, b, a1]\nalu[--, --, b, a2]\n"
                     "sram[write, $0, a0, 0, max_2], indirect_ref, ctx_swap[s1]\nctx_arb[kill]", contexts=1)
    chip.me[0].ctx[0].gpr_a[1] = 0x11223344
    chip.me[0].ctx[0].gpr_a[2] = 1 << 25 | 1 << 21 | 1 << 20 | 0b0110 << 12
    chip.sram[0].write(0x40, [0xFFFFFFFF] * 3)
    chip.run()
    assert [int(word) for word in chip.sram[0].read(0x40, 3)] == [0xFF2233FF, 0xFF2233FF, 0xFFFFFFFF]


def test_cap_and_interrupts() -> None:
    chip = chip_with(
        "alu[--, --, b, 0x55]\ncap[fast_wr, ALU, MISC_CONTROL]\ncap[fast_wr, 0, XSCALE_INT_A]\nctx_arb[kill]", contexts=4
    )
    seen: list[tuple[int, str]] = []

    class Watcher:
        def due(self) -> int:
            return 1 << 59

        def busy(self) -> bool:
            return False

        def act(self, cycle: int) -> None:
            raise AssertionError

        def interrupt(self, cycle: int, source: str) -> None:
            seen.append((cycle, source))

    chip.attach(Watcher())
    chip.run(cycles=500)
    assert chip.cap.read("MISC_CONTROL") == 0x55
    # Issued in cycle 3 it arrives in 12; the CAP takes it in 13, two cycles after the other one, and writes 20 cycles later.
    assert seen == [(13 + 20, "thread_a")]
    assert int(chip.state.thread_interrupts) == 1 << 2


# Ways to stop


def test_breakpoints_until_and_packets() -> None:
    chip = chip_with("loop#:\nalu[a0, a0, +, 1]\nbr[loop#]", contexts=1)
    chip.break_at(0, 1)
    stop = chip.run(to_break=True)
    assert (stop.reason, stop.pc, a(chip, 0)) == ("break", 1, [1])
    stop = chip.run(to_break=True)
    assert (stop.reason, a(chip, 0)) == ("break", [2])
    assert chip.run(until=lambda chip: chip.instructions > 100).reason == "until"


# The loader's way in


def test_loading_through_the_control_store_registers() -> None:
    chip = Chip()
    words = words_of("local_csr_rd[ACTIVE_CTX_STS]\nimmed[a0, 0]\nalu[a1, a1, +, 7]\nctx_arb[kill]")
    csr = chip.me[3].csr
    csr["USTORE_ADDRESS"] = 1 << 31
    for word in words:
        csr["USTORE_DATA_LOWER"] = word & 0xFFFFFFFF
        csr["USTORE_DATA_UPPER"] = word >> 32
    assert [int(word) for word in chip.me[3].store] == words
    for ctx in range(8):
        csr["CSR_CTX_POINTER"] = ctx
        csr["INDIRECT_CTX_STS"] = 0
        csr["INDIRECT_CTX_SIG_EVENTS"] = 1
        csr["INDIRECT_CTX_WAKEUP_EVENTS"] = 1
    csr["CTX_ENABLES"] = 0xFF00
    chip.run()
    assert [int(chip.me[3].ctx[k].gpr_a[1]) for k in range(8)] == [7] * 8


def test_no_field_is_called_like_an_attribute_of_records() -> None:
    import numpy as np

    taken = set(dir(np.record)) | set(dir(np.recarray((1,), dtype="u4")))

    def names(dtype: np.dtype) -> set[str]:
        found: set[str] = set()
        for name in dtype.names or ():
            found |= {name} | names(dtype.fields[name][0].base)
        return found

    assert not (names(state.STATE) | names(msf_layout.MSF)) & taken
