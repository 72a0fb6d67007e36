"""Results and condition codes of every private instruction: against plain integers written here, and against the evaluator of
isa/."""

from __future__ import annotations

import random

import pytest

from ixpemu.chip import Chip
from ixpemu.isa import instruction_set
from ixpemu.isa.semantics import STATE, evaluate
from tests.support.machine import words_of

M = 0xFFFFFFFF
EDGES = (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x12345678, 0xFF, 0xFFFF, 0x8000FFFF)


def _signed(x: int) -> int:
    return x - (1 << 32) if x >> 31 else x


def _add(a: int, b: int, c: int = 0) -> tuple[int, int, int]:
    total = _signed(a) + _signed(b) + c
    return (a + b + c) & M, (a + b + c) >> 32, int(not -(1 << 31) <= total < 1 << 31)


def _sub(a: int, b: int, borrow: int = 0) -> tuple[int, int, int]:
    total = _signed(a) - _signed(b) - borrow
    return (a - b - borrow) & M, int(a >= b + borrow), int(not -(1 << 31) <= total < 1 << 31)


MODEL = {
    "+": lambda a, b, c: _add(a, b),
    "-": lambda a, b, c: _sub(a, b),
    "B-A": lambda a, b, c: _sub(b, a),
    "+8": lambda a, b, c: _add(a, b & 0xFF),
    "+16": lambda a, b, c: _add(a, b & 0xFFFF),
    "+carry": lambda a, b, c: _add(a, b, c),
    "-carry": lambda a, b, c: _sub(a, b, 1 - c),
    "AND": lambda a, b, c: (a & b, 0, 0),
    "OR": lambda a, b, c: (a | b, 0, 0),
    "XOR": lambda a, b, c: (a ^ b, 0, 0),
    "B": lambda a, b, c: (b, 0, 0),
    "~B": lambda a, b, c: (b ^ M, 0, 0),
    "~AND": lambda a, b, c: ((a ^ M) & b, 0, 0),
    "AND~": lambda a, b, c: (a & (b ^ M), 0, 0),
}


@pytest.fixture(scope="module")
def chip() -> Chip:
    return Chip()


def execute(chip: Chip, words: list[int], a: int, b: int, carry: int = 0) -> Chip:
    """Context 0 runs the words with a0 = a, b0 = b and the carry set or clear."""
    chip.load_words(0, words, start=False)
    ctx = chip.me[0].ctx[0]
    ctx.gpr_a[:] = 0
    ctx.gpr_b[:] = 0
    ctx.gpr_a[0], ctx.gpr_b[0] = a, b
    chip.me[0].engine.cc_c = carry
    chip.start(0, 1)
    assert chip.run(cycles=1000).reason == "quiet"
    return chip


@pytest.mark.parametrize("operation", MODEL)
def test_alu(chip: Chip, operation: str) -> None:
    words = words_of(f"alu[a1, a0, {operation}, b0]\nctx_arb[kill]")
    swapped = words_of(f"alu[b1, b0, {operation}, a0]\nctx_arb[kill]")
    for a in EDGES:
        for b in EDGES:
            for carry in (0, 1) if "carry" in operation else (0,):
                result, c, v = MODEL[operation](a, b, carry)
                execute(chip, words, a, b, carry)
                cc = chip.me[0].cc
                assert int(chip.me[0].ctx[0].gpr_a[1]) == result, (a, b, carry)
                assert (cc.n, cc.z, cc.c, cc.v) == (result >> 31, int(result == 0), c, v), (a, b, carry)
        other = MODEL[operation](a, EDGES[5], 0)
        execute(chip, swapped, EDGES[5], a, 0)
        assert int(chip.me[0].ctx[0].gpr_b[1]) == other[0]


@pytest.mark.parametrize(("shift", "model"), [
    *((f"<<{n}", lambda x, n=n: x << n & M) for n in (1, 7, 31)),
    *((f">>{n}", lambda x, n=n: x >> n) for n in (1, 16, 31)),
    *((f"<<rot{n}", lambda x, n=n: (x << n | x >> (32 - n)) & M) for n in (1, 13, 31)),
])
def test_shifts(chip: Chip, shift: str, model) -> None:
    words = words_of(f"alu_shf[a1, --, b, b0, {shift}]\nalu_shf[a2, a0, and, b0, {shift}]\nctx_arb[kill]")
    for b in EDGES:
        execute(chip, words, 0xF0F0F0F0, b)
        assert int(chip.me[0].ctx[0].gpr_a[1]) == model(b)
        assert int(chip.me[0].ctx[0].gpr_a[2]) == model(b) & 0xF0F0F0F0


def test_indirect_shifts_take_the_amount_from_the_instruction_before(chip: Chip) -> None:
    words = words_of("alu[--, a0, or, 0]\nalu_shf[a1, --, b, b0, <<indirect]\nalu[--, a0, or, 0]\n"
                     "alu_shf[a2, --, b, b0, >>indirect]\nctx_arb[kill]")
    for amount in (0, 1, 5, 31, 32 + 3):
        execute(chip, words, amount, 0x80000001)
        assert int(chip.me[0].ctx[0].gpr_a[1]) == 0x80000001 << (amount & 31) & M
        assert int(chip.me[0].ctx[0].gpr_a[2]) == 0x80000001 >> (amount & 31)


def test_asr_takes_its_sign_from_the_result_before(chip: Chip) -> None:
    words = words_of("alu[--, --, b, b0]\nasr[a1, b0, >>4]\nalu[--, --, b, a0]\nasr[a2, b0, >>4]\nctx_arb[kill]")
    execute(chip, words, 1, 0x80000000)
    assert int(chip.me[0].ctx[0].gpr_a[1]) == 0xF8000000
    assert int(chip.me[0].ctx[0].gpr_a[2]) == 0x08000000, "the bit comes from the previous result and not from the operand"


def test_dbl_shf_ld_field_immed(chip: Chip) -> None:
    words = words_of("dbl_shf[a1, a0, b0, >>8]\nimmed[a2, 0xffff, <<16]\nld_field[a2, 0110, b0, >>8]\n"
                     "ld_field_w_clr[a3, 0001, b0]\nimmed_w1[a3, 0x1234]\nimmed_b2[b3, 0xab]\nctx_arb[kill]")
    execute(chip, words, 0x11223344, 0x55667788)
    a = chip.me[0].ctx[0].gpr_a
    assert [int(a[k]) for k in (1, 2, 3)] == [0x44556677, 0xFF556600, 0x12340088]
    assert int(chip.me[0].ctx[0].gpr_b[3]) == 0x00AB0000


def test_multiword_arithmetic(chip: Chip) -> None:
    words = words_of("alu[a2, a0, +, b0]\nalu[a3, a1, +carry, b1]\nalu[a4, a0, -, b0]\nalu[a5, a1, -carry, b1]\nctx_arb[kill]")
    pick = random.Random(1)
    for _ in range(20):
        x, y = pick.getrandbits(64), pick.getrandbits(64)
        chip.load_words(0, words, start=False)
        ctx = chip.me[0].ctx[0]
        ctx.gpr_a[:2] = [x & M, x >> 32]
        ctx.gpr_b[:2] = [y & M, y >> 32]
        chip.start(0, 1)
        chip.run(cycles=1000)
        a = [int(value) for value in ctx.gpr_a]
        assert a[2] | a[3] << 32 == (x + y) & ((1 << 64) - 1)
        assert a[4] | a[5] << 32 == (x - y) & ((1 << 64) - 1)


CASES = [
    "alu[a1, a0, +, b0]",
    "alu[a1, a0, -carry, b0]",
    "alu[a1, a0, +16, b0]",
    "ffs[a1, b0]",
    "alu_shf[a1, a0, ~and, b0, >>3]",
    "alu_shf[a1, a0, or, b0, <<rot9]",
    "alu_shf[a1, a0, and~, b0, <<indirect]",
    "asr[a1, b0, >>7]",
    "asr[a1, b0, >>indirect]",
    "dbl_shf[a1, a0, b0, >>indirect]",
    "ld_field[a0, 1010, b0, <<4], load_cc",
    "ld_field[a0, 0101, b0, >>9]",
    "ld_field_w_clr[a0, 0011, b0, >>indirect]",
    "immed[a1, 0x1234, <<8]",
    "immed_w0[a0, 0x4321]",
    "immed_b1[a0, 0x5a]",
    "byte_align_be[a1, b0]",
    "byte_align_le[a1, a0]",
]


@pytest.mark.parametrize("text", CASES)
def test_agrees_with_the_evaluator(chip: Chip, text: str) -> None:
    """The compiled case and the evaluator walk the same statements; the evaluator is plain Python."""
    isa = instruction_set()
    [word] = words_of(text)
    decoded = isa.decode(word)
    assert decoded is not None
    pick = random.Random(text)
    for _ in range(12):
        a, b = pick.choice(EDGES), pick.getrandbits(32)
        state = {
            "cc.n": 0,
            "cc.z": 1,
            "cc.v": pick.getrandbits(1),
            "cc.c": pick.getrandbits(1),
            "previous.a": pick.getrandbits(32),
            "previous.alu": pick.getrandbits(32),
            "previous.align_a": pick.getrandbits(32),
            "previous.align_b": pick.getrandbits(32),
            "state.byte_index": pick.randrange(4),
            "ctx": 0,
        }
        operands = {"a": a, "b": b, "dest": a}
        names = {name: operands[name] for name in ("a", "b", "dest") if name in decoded.operands}
        expected = evaluate(decoded.variant.statements, names | dict(decoded.values) | state)
        chip.load_words(0, [word, *words_of("ctx_arb[kill]")], start=False)
        engine = chip.me[0].engine
        chip.me[0].ctx[0].gpr_a[:2] = [a, 0]
        chip.me[0].ctx[0].gpr_b[0] = b
        engine.cc_result, engine.cc_v, engine.cc_c = 0, state["cc.v"], state["cc.c"]
        engine.previous_a, engine.previous_alu = state["previous.a"], state["previous.alu"]
        engine.align_a, engine.align_b, engine.byte_index = (
            state["previous.align_a"], state["previous.align_b"], state["state.byte_index"])
        chip.start(0, 1)
        chip.run(cycles=100)
        where = decoded.operands["dest"].number
        assert int(chip.me[0].ctx[0].gpr_a[where]) == expected.dest, (a, b, state)
        cc = chip.me[0].cc
        seen = {
            "cc.n": cc.n,
            "cc.z": cc.z,
            "cc.v": cc.v,
            "cc.c": cc.c,
            "previous.align_a": int(engine.align_a),
            "previous.align_b": int(engine.align_b),
            "previous.a": int(engine.previous_a),
            "previous.alu": int(engine.previous_alu),
        }
        for name, value in (state | dict(expected.state)).items():
            if name in seen:
                assert seen[name] == value, (name, a, b, state)


def test_all_expression_state_is_known_to_the_engine() -> None:
    from ixpemu.isa.emit import READS

    assert set(READS) == set(STATE)
