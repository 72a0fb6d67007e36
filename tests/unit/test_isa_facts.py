"""What operations read, write and wait for, and where control goes."""

from dataclasses import replace

from ixpemu.isa import Facts, instruction_set, parse_physical_instruction
from ixpemu.isa.blocks import BranchFacts, Transfer
from ixpemu.isa.model import Constant, Operation, Register, RegisterClass, Signal, Token, Word


def facts(text: str) -> Facts:
    return instruction_set().facts(parse_physical_instruction(text))


def test_alu() -> None:
    found = facts("alu[a1, b1, +, a2]")
    assert (found.reads, found.writes, found.pair, found.restricted) == ((1, 3), (0,), (1, 3), frozenset())
    assert found.writes_cc and not found.reads_cc and not found.ends and found.branch is None


def test_constants_and_nothing_are_no_registers() -> None:
    assert facts("alu[--, b1, -, 3]").reads == (1,)
    assert facts("alu[--, b1, -, 3]").writes == ()
    assert facts("alu[--, b1, -, 3]").pair == (1, 3)
    assert facts("alu[a1, --, B, b2]").pair is None


def test_carry_and_indirect_shift_and_asr_use_what_went_before() -> None:
    assert facts("alu[a1, b1, +carry, a2]").reads_cc
    assert facts("alu_shf[a1, --, b, b2, >>indirect]").reads_previous
    assert not facts("alu_shf[a1, --, b, b2, >>3]").reads_previous
    assert facts("asr[a1, b2, >>3]").reads_previous
    assert facts("cap[fast_wr, ALU, XSCALE_INT_A]").reads_previous
    assert facts("sram[read, $1, a2, 0, max_4], sig_done[s1], indirect_ref").reads_previous


def test_modified_registers_are_read_and_written() -> None:
    assert facts("ld_field[a1, 0011, b2]").reads == (0, 2)
    assert facts("ld_field[a1, 0011, b2]").writes == (0,)
    assert facts("ld_field[a1, 0011, b2]").pair == (0, 2)
    assert facts("ld_field_w_clr[a1, 0011, b2]").reads == (2,)
    assert facts("ld_field_w_clr[a1, 0011, b2]").pair == (0, 2)
    assert facts("ld_field[a1, 0011, b2]").restricted == {0, 2}
    assert not facts("ld_field[a1, 0011, b2]").writes_cc
    assert facts("ld_field[a1, 0011, b2], load_cc").writes_cc
    assert facts("immed_w0[b1, 3]").reads == (0,)
    assert facts("immed[b1, 3]").reads == ()


def test_commands() -> None:
    found = facts("sram[read, $2, a2, b3, 4], ctx_swap[s4], defer[2]")
    assert found.transfer == Transfer(1, "in", RegisterClass.SRAM, 4, False)
    assert (found.reads, found.pair, found.signal, found.signal_pair) == ((2, 3), (2, 3), (0, 0), False)
    assert found.swaps and found.waits == ((0, 0),) and (found.defer, found.defer_limit, found.aborted) == (2, 2, 2)
    quiet = facts("sram[write, $2, a2, b3, 4], sig_done[s4]")
    assert quiet.transfer == Transfer(1, "out", RegisterClass.SRAM, 4, False)
    assert not quiet.swaps and quiet.waits == () and (quiet.aborted, quiet.defer_limit) == (0, 0)
    fast = facts("msf[fast_wr, --, b1, 0]")
    assert fast.transfer is None and (fast.reads, fast.aborted, fast.defer_limit) == ((2,), 0, 0)


def test_dram_counts_two_registers_and_raises_a_pair() -> None:
    found = facts("dram[write, $$0, a2, 0, 3], sig_done[s2]")
    assert found.transfer == Transfer(1, "out", RegisterClass.DRAM, 6, False, 2)
    assert found.signal_pair
    assert facts("dram[rbuf_rd, --, a2, 0, max_8], ctx_swap[s4], indirect_ref").transfer is None


def test_hash_counts_by_key_size_and_uses_both_halves() -> None:
    assert facts("hash_48[$0, 3], ctx_swap[s1]").transfer == Transfer(0, "both", RegisterClass.SRAM, 6, False, 2)
    assert facts("hash_128[$0, 3], ctx_swap[s1]").transfer == Transfer(0, "both", RegisterClass.SRAM, 12, False, 4)


def test_maximum_reaches_sixteen() -> None:
    found = facts("sram[read, $0, a2, 0, max_16], ctx_swap[s1], indirect_ref").transfer
    assert found == Transfer(1, "in", RegisterClass.SRAM, 16, True)


def test_branches() -> None:
    assert facts("br[l3#]").branch == BranchFacts(False, (0,), False)
    assert facts("br[l3#]").ends
    assert facts("beq[l3#], defer[2]").branch == BranchFacts(True, (0,), False)
    assert (facts("beq[l3#], defer[2]").defer, facts("beq[l3#]").defer_limit, facts("beq[l3#]").reads_cc) == (2, 3, True)
    assert facts("br_bset[a1, 3, l3#]").branch == BranchFacts(True, (2,), False)
    assert facts("br_bset[a1, 3, l3#]").reads == (0,)
    assert facts("br_signal[s3, l3#]").consumes == 0
    assert facts("br_inp_state[NN_EMPTY, l3#]").branch == BranchFacts(True, (1,), False)
    assert facts("jump[a1, l3#], targets[l4#, l5#]").branch == BranchFacts(False, (1,), True)
    assert facts("rtn[a1]").ends
    assert facts("load_addr[a1, l3#]").branch is None


def test_giving_up_the_microengine() -> None:
    waiting = facts("ctx_arb[s1, s4], any, br[l9#]")
    assert waiting.waits == ((None, 0), (None, 1)) and waiting.waits_any
    assert waiting.swaps and waiting.resume == (1, 0) and waiting.ends
    assert not facts("ctx_arb[s1]").ends
    assert facts("ctx_arb[voluntary]").swaps and facts("ctx_arb[voluntary]").waits == ()
    assert facts("ctx_arb[kill]").ends and facts("halt").ends


def test_registers_need_no_numbers() -> None:
    count = Register(RegisterClass.GPR, name="count")
    operation = Operation("alu", (count, count, Word("+"), Constant(1)))
    assert instruction_set().facts(operation) == replace(facts("alu[a1, a1, +, 1]"))
    command = Operation("sram", (Word("read"), Register(RegisterClass.SRAM, name="$x"), count, Constant(0), Constant(2)),
                        (Token("ctx_swap", (Signal(None, "s"),)),))
    assert instruction_set().facts(command).transfer == Transfer(1, "in", RegisterClass.SRAM, 2, False)


def test_copies() -> None:
    assert facts("alu[a1, --, B, b2]").copies == (0, 3)
    assert facts("alu[a1, a2, B, b3]").copies == (0, 3)
    assert facts("alu[$1, --, B, $2]").copies == (0, 3)
    others = (
        "alu[a1, --, ~B, b2]", "alu[--, --, B, b2]", "alu[a1, --, B, 3]", "alu[a1, b1, OR, a2]", "ld_field_w_clr[a1, 1111, b2]",
        "alu_shf[a1, --, B, b2, <<3]", "immed[a1, 3]", "local_csr_wr[CSR_CTX_POINTER, a1]", "ffs[a1, b2]",
    )
    for text in others:
        assert facts(text).copies is None, text
