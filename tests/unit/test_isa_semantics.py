"""The semantics of isa/ against plain integers: wide sums for carries, signed sums for overflows, bytes and bits by hand."""

import random
from itertools import product

import pytest

from ixpemu.isa import Variant, instruction_set
from ixpemu.isa.semantics import Outputs, evaluate

M = 0xFFFFFFFF
EDGES = (0, 1, 2, 0x7F, 0x80, 0xFF, 0x100, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, M)
VARIANTS = {variant.name: variant for variant in instruction_set().variants()}
STATE = {"cc.n": 0, "cc.z": 0, "cc.v": 0, "cc.c": 0, "previous.a": 0, "previous.alu": 0, "previous.align_a": 0,
         "previous.align_b": 0, "state.byte_index": 0, "ctx": 0}


def run(name: str, **inputs: int) -> Outputs:
    given = {key.replace("__", "."): value for key, value in inputs.items()}
    return evaluate(VARIANTS[name].statements, STATE | given)


def signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


def pairs() -> list[tuple[int, int]]:
    generator = random.Random(2400)
    return [*product(EDGES, EDGES), *((generator.getrandbits(32), generator.getrandbits(32)) for _ in range(300))]


# Exact sum of two numbers and a carry for each operation that has one: (x, y, carry in) of x + y + carry.
SUMS = {
    "+": lambda a, b, c: (a, b, 0),
    "+carry": lambda a, b, c: (a, b, c),
    "+8": lambda a, b, c: (a, b & 0xFF, 0),
    "+16": lambda a, b, c: (a, b & 0xFFFF, 0),
}
DIFFERENCES = {"-": lambda a, b, c: (a, b, 0), "B-A": lambda a, b, c: (b, a, 0), "-carry": lambda a, b, c: (a, b, 1 - c)}
LOGIC = {
    "B": lambda a, b: b, "~B": lambda a, b: M - b, "AND": lambda a, b: a & b, "~AND": lambda a, b: (M - a) & b,
    "AND~": lambda a, b: a & (M - b), "OR": lambda a, b: a | b, "XOR": lambda a, b: a ^ b,
}


def assert_flags(found: Outputs, result: int, carry: int, overflow: int) -> None:
    assert found.dest == result
    assert [found.state[f"cc.{flag}"] for flag in "nzvc"] == [result >> 31, int(result == 0), overflow, carry]


@pytest.mark.parametrize("operation", [*SUMS, *DIFFERENCES, *LOGIC])
def test_alu(operation: str) -> None:
    for (a, b), c in product(pairs(), (0, 1)):
        found = run(f"alu.{operation}", a=a, b=b, cc__c=c)
        if operation in SUMS:
            x, y, carried = SUMS[operation](a, b, c)
            exact, exact_signed = x + y + carried, signed(x) + signed(y) + carried
            assert_flags(found, exact & M, exact >> 32, int(exact_signed != signed(exact & M)))
        elif operation in DIFFERENCES:
            x, y, borrowed = DIFFERENCES[operation](a, b, c)
            exact, exact_signed = x - y - borrowed, signed(x) - signed(y) - borrowed
            assert_flags(found, exact & M, int(exact >= 0), int(exact_signed != signed(exact & M)))
        else:
            assert_flags(found, LOGIC[operation](a, b), 0, 0)
        assert found.state["previous.a"] == a
        assert found.state["previous.alu"] == found.dest


def test_every_alu_operation_is_tried() -> None:
    assert {name for name in VARIANTS if name.startswith("alu.")} == {f"alu.{op}" for op in [*SUMS, *DIFFERENCES, *LOGIC]}


@pytest.mark.parametrize("text", ["<<1", "<<31", ">>1", ">>31", "<<rot1", "<<rot31", ">>rot8", "<<0", "<<13", ">>13"])
def test_fixed_shifts_as_decoded(text: str) -> None:
    isa = instruction_set()
    from ixpemu.isa import parse_physical_instruction

    decoded = isa.decode(isa.encode(parse_physical_instruction(f"alu_shf[a1, --, b, b2, {text}]")))
    assert decoded is not None
    amount = int(text.lstrip("<>rot") or 0)
    for b in EDGES:
        bits = f"{b:032b}"
        if "rot" in text:
            turn = amount if text.startswith("<<") else 32 - amount
            expected = int((bits + bits)[turn:turn + 32], 2)
        elif text.startswith("<<"):
            expected = int((bits + "0" * amount)[-32:], 2)
        else:
            expected = int(("0" * amount + bits)[:32], 2)
        found = evaluate(decoded.variant.statements, STATE | {"a": 0, "b": b} | dict(decoded.values))
        assert found.dest == expected


@pytest.mark.parametrize("amount", range(32))
def test_indirect_shifts_take_the_previous_a_operand(amount: int) -> None:
    high = 0xABCDEF60 << 5 & M
    for b in EDGES:
        assert run("alu_shf.B.>>indirect", a=0, b=b, previous__a=high | amount).dest == b // 2**amount
        assert run("alu_shf.B.<<indirect", a=0, b=b, previous__a=high | amount).dest == b * 2**amount % 2**32
        double = 0x12345678 * 2**32 + b
        assert run("dbl_shf.>>indirect", a=0x12345678, b=b, previous__a=high | amount).dest == double // 2**amount % 2**32
        for sign in (0, 0x80000000):
            shifted = ((M if sign else 0) * 2**32 + b) // 2**amount % 2**32
            assert run("asr.>>indirect", a=0, b=b, previous__a=amount, previous__alu=sign | 5).dest == shifted


def test_asr_shifts_in_the_sign_of_the_previous_result_and_not_of_its_own_source() -> None:
    assert run("asr", a=0, b=0x80000000, amount=4, previous__alu=0).dest == 0x08000000
    assert run("asr", a=0, b=0x00000010, amount=4, previous__alu=0x80000000).dest == 0xF0000001


@pytest.mark.parametrize("mask", range(16))
def test_ld_field_takes_bytes_by_mask(mask: int) -> None:
    old, new = 0x11223344, 0xAABBCCDD
    wide = int.from_bytes(bytes(255 if mask >> i & 1 else 0 for i in reversed(range(4))), "big")
    expected = bytes((new if mask >> i & 1 else old) >> 8 * i & 255 for i in reversed(range(4)))
    cleared = bytes(new >> 8 * i & 255 if mask >> i & 1 else 0 for i in reversed(range(4)))
    found = run("ld_field.keep", dest=old, b=new, amount=0, mask=M, byte_mask=wide)
    assert found.dest == int.from_bytes(expected, "big")
    assert not any(name.startswith("cc.") for name in found.state)
    assert run("ld_field.w_clr.load_cc", b=new, amount=0, mask=M, byte_mask=wide).dest == int.from_bytes(cleared, "big")


# Hardware manual's own example: (BYTE_INDEX, big-endian result, little-endian result).
ALIGNED = [(0, 0x00112233, 0x33221100), (1, 0x11223344, 0x44332211), (2, 0x22334455, 0x55443322), (3, 0x33445566, 0x66554433)]


@pytest.mark.parametrize(("index", "big", "little"), ALIGNED)
def test_byte_align(index: int, big: int, little: int) -> None:
    found = run("byte_align.be", a=0, b=0x44556677, previous__align_b=0x00112233, state__byte_index=index)
    assert (found.dest, found.state["previous.align_b"]) == (big, 0x44556677)
    found = run("byte_align.le", a=0x77665544, previous__align_a=0x33221100, state__byte_index=index)
    assert (found.dest, found.state["previous.align_a"]) == (little, 0x77665544)


def test_ffs() -> None:
    assert [run("ffs", a=0, b=1 << i | 1 << 31).dest for i in range(32)] == list(range(32))
    assert run("ffs", a=0, b=0).dest == 0


def test_immed_parts() -> None:
    assert run("immed", value=0x1234).dest == 0x1234
    assert run("immed_w0", dest=0xAAAABBBB, value=0x1234).dest == 0xAAAA1234
    assert run("immed_w1", dest=0xAAAABBBB, value=0x1234).dest == 0x1234BBBB
    assert [run(f"immed_b{i}", dest=M, value=0).dest for i in range(4)] == [0xFFFFFF00, 0xFFFF00FF, 0xFF00FFFF, 0x00FFFFFF]


# When each conditional branch is taken, by what it means after `alu[--, x, -, y]`.
COMPARED = {
    "beq": lambda x, y: x == y, "bne": lambda x, y: x != y, "bhs": lambda x, y: x >= y, "blo": lambda x, y: x < y,
    "bge": lambda x, y: signed(x) >= signed(y), "blt": lambda x, y: signed(x) < signed(y),
    "ble": lambda x, y: signed(x) <= signed(y), "bgt": lambda x, y: signed(x) > signed(y),
    "bmi": lambda x, y: (x - y) % 2**32 >= 2**31, "bpl": lambda x, y: (x - y) % 2**32 < 2**31,
    "bvs": lambda x, y: not -(2**31) <= signed(x) - signed(y) < 2**31,
    "bvc": lambda x, y: -(2**31) <= signed(x) - signed(y) < 2**31,
}


@pytest.mark.parametrize("branch", COMPARED)
def test_conditional_branches_after_a_subtraction(branch: str) -> None:
    for x, y in pairs():
        flags = run("alu.-", a=x, b=y).state
        assert evaluate(VARIANTS[branch].statements, STATE | dict(flags)).taken == COMPARED[branch](x, y), (x, y)


def test_other_branches() -> None:
    assert run("br").taken is True
    assert run("br=ctx", ctx=3, context=3).taken is True
    assert run("br!=ctx", ctx=3, context=3).taken is False
    for bit in range(32):
        assert run("br_bset", register=1 << bit, bit=bit).taken is True
        assert run("br_bset", register=M ^ 1 << bit, bit=bit).taken is False
        assert run("br_bclr", register=M ^ 1 << bit, bit=bit).taken is True
    for byte in range(4):
        assert run("br=byte", register=0x44332211, byte=byte, compare=0x11 * (byte + 1)).taken is True
        assert run("br!=byte", register=0x44332211, byte=byte, compare=0x11 * (byte + 1)).taken is False
    assert run("jump", register=5, target=16).jump == 21
    assert run("rtn", register=5).jump == 5


def test_external_variants_name_their_action() -> None:
    names = {variant.name: variant.action for variant in VARIANTS.values() if variant.external}
    assert names["sram.read"] == "sram_read"
    assert names["halt"] == "breakpoint"
    assert all(names.values())
    private = [variant for variant in VARIANTS.values() if variant.private]
    assert {variant.action for variant in private} == {
        None, "align_a", "align_b", "cam_clear", "cam_lookup", "cam_write", "cam_write_state", "cam_read_tag",
        "cam_read_state", "crc", "csr_read", "csr_write", "find_first", "pop_count_1", "pop_count_2", "pop_count_3",
        "multiply_step", "multiply_last"}


def test_variants_declare_what_they_use() -> None:
    """Evaluating with the declared names only must work."""
    def declared(variant: Variant) -> dict[str, int]:
        return dict.fromkeys((*variant.reads, *variant.parameters), 1)

    for variant in VARIANTS.values():
        outputs = evaluate(variant.statements, declared(variant))
        assert set(outputs.state) <= variant.writes
        assert (outputs.dest is not None) == ("dest" in variant.writes)
