"""What has no encoding: the message names the operand, the field and its range, and says what to do."""

import pytest

from ixpemu.isa import EncodingError, instruction_set, parse_physical_instruction


def refusal(text: str, contexts: int = 8) -> EncodingError:
    with pytest.raises(EncodingError) as caught:
        instruction_set().encode(parse_physical_instruction(text), contexts)
    return caught.value


@pytest.mark.parametrize(
    ("text", "operand", "said"),
    [
        ("alu[a1, b1, +, b2]", 3, "both registers of bank B"),
        ("alu[a1, a1, +, a2]", 3, "both registers of bank A"),
        ("alu[a1, $1, +, $2]", 3, "both SRAM transfer registers"),
        ("alu[a1, $$1, +, *$$index]", 3, "both DRAM transfer registers"),
        ("alu[a1, *l$index0[1], +, *l$index1[2]]", 3, "both local memory"),
        ("alu[a1, n$1, +, *n$index]", 3, "both next-neighbour"),
        ("alu[a1, 1, +, 2]", 3, "both constants"),
        ("alu[a1, --, +, b2]", 1, "needs both sources"),
        ("alu[a1, b1, plus, a2]", 2, "none of"),
        ("alu[a1, b1, +, 256]", 3, "0..255"),
        ("alu[a16, b1, +, a2]", 0, "go to 15 with 8 contexts"),
        ("alu[5, b1, +, a2]", 0, "cannot be a destination"),
        ("alu[*n$index, b1, +, a2]", 0, "written with *n$index++"),
        ("alu_shf[@a1, b1, or, a2]", 0, "its 8 bits hold"),
        ("alu_shf[a1, b1, or, n$2]", 3, "its 8 bits hold"),
        ("alu_shf[a1, b1, or, *l$index0++]", 3, "its 8 bits hold"),
        ("alu_shf[a1, b1, or, *l$index0[8]]", 3, "its 8 bits hold"),
        ("alu_shf[a1, b1, xor, a2]", 2, "none of"),
        ("alu_shf[a1, b1, or, a2, <<32]", 4, "0..31"),
        ("alu_shf[a1, b1, or, a2, <<rotindirect]", 4, "no indirect form"),
        ("alu_shf[a1, b1, or, 256]", 3, "0..255"),
        ("dbl_shf[a1, b1, a2, <<4]", 3, "shifts right"),
        ("ld_field[a1, 0012, b2]", 1, "byte mask"),
        ("ld_field[$1, 0011, b2]", 0, "read back"),
        ("immed[a1, 0x12345]", 1, "16 bits at bit 0, 8 or 16"),
        ("immed[a1, 0x12345, <<8]", 1, "0..65535"),
        ("immed[a1, 1, <<4]", 2, "<<0, <<8 or <<16"),
        ("immed_w0[b1, 0x10000]", 1, "0..65535"),
        ("immed_w1[$1, 3]", 0, "read back"),
        ("immed_b2[a1, 256]", 1, "0..255"),
        ("br[l8192#]", 0, "13 bits: 0..8191"),
        ("br[somewhere#]", 0, "has no address"),
        ("br_bset[a1, 32, l3#]", 1, "0..31"),
        ("br=byte[a1, 4, 5, l3#]", 1, "0..3"),
        ("br=byte[a1, 0, 256, l3#]", 2, "0..255"),
        ("br=ctx[8, l3#]", 0, "0..7"),
        ("br_signal[s16, l3#]", 0, "1..15"),
        ("br_inp_state[SCR_RING12_STATUS, l3#]", 0, "none of"),
        ("jump[5, l3#]", 0, "expected a register"),
        ("local_csr_wr[NO_SUCH, a1]", 0, "no local CSR"),
        ("local_csr_wr[0x102, a1]", 0, "multiple of 4"),
        ("local_csr_wr[T_INDEX, 256]", 1, "0..255"),
        ("sram[read, $1, a2, 128, 2], ctx_swap[s4]", 3, "0..127"),
        ("sram[read, $1, a2, a3, 2], ctx_swap[s4]", 3, "both registers of bank A"),
        ("sram[read, $1, 4, 8, 2], ctx_swap[s4]", 3, "both constants"),
        ("sram[read, $1, @a2, 0, 2], ctx_swap[s4]", 2, "its 8 bits hold"),
        ("sram[read, $1, a2, 0, 9], ctx_swap[s4]", 4, "1..8"),
        ("sram[read, $1, a2, 0, 0], ctx_swap[s4]", 4, "1..8"),
        ("sram[read, $1, a2, 0, max_4], ctx_swap[s4]", 4, "needs the option indirect_ref"),
        ("sram[read, a1, a2, 0, 1], ctx_swap[s4]", 1, "transfer register"),
        ("sram[read, $16, a2, 0, 1], ctx_swap[s4]", 1, "0..15 with 8 contexts"),
        ("sram[rxead, $1, a2, 0, 1], ctx_swap[s4]", 0, "no command rxead"),
        ("hash_48[$0, 4], ctx_swap[s1]", 1, "1..3"),
        ("cap[fast_wr, 16384, XSCALE_INT_A]", 1, "0..16383"),
    ],
)
def test_refused_operand(text: str, operand: int, said: str) -> None:
    error = refusal(text)
    assert said in error.message
    assert error.operand_index == operand


@pytest.mark.parametrize(
    ("text", "token", "said"),
    [
        ("br[l3#], defer[3]", 0, "1..2"),
        ("beq[l3#], defer[4]", 0, "1..3"),
        ("ctx_arb[s1], defer[3]", 0, "1..2"),
        ("ctx_arb[s1], any", 0, "two or more"),
        ("sram[read, $1, a2, 0, 2], defer[1]", 0, "goes with ctx_swap"),
        ("sram[read, $1, a2, 0, 2], ctx_swap[s1], sig_done[s2]", 1, "either ctx_swap or sig_done"),
        ("dram[read, $$0, a2, 0, 2], ctx_swap[s3]", 0, "even number"),
        ("alu[a1, b1, +, a2], no_cc", 0, "no option no_cc"),
        ("beq[l3#], defer[1], defer[1]", 1, "twice"),
    ],
)
def test_refused_option(text: str, token: int, said: str) -> None:
    error = refusal(text)
    assert said in error.message
    assert error.token_index == token


@pytest.mark.parametrize(
    ("text", "help"),
    [
        ("alu_sfh[a1, b1, or, a2]", "did you mean alu_shf?"),
        ("sram[rxead, $1, a2, 0, 1]", "did you mean read?"),
        ("local_csr_rd[ACTIVE_CTX_ST]", "did you mean ACTIVE_CTX_STS?"),
        ("immed[a1, 0x12345]", "load the lower half with immed and the upper one with immed_w1"),
        ("sram[read, $1, a2, 0, 9]", "max_9"),
        ("br[]", "expected br[target]"),
        ("scratch[get, $1, 0]", "scratch[get, transfer, address_a, address_b, count]"),
    ],
)
def test_help_says_what_to_do(text: str, help: str) -> None:
    text = text.replace("[]", "")
    error = refusal(text)
    assert error.help is not None
    assert help in error.help


def test_four_contexts_have_one_class_of_transfer_register() -> None:
    assert "own class" in refusal("sram[read, $$1, a2, 0, 1]", contexts=4).message
