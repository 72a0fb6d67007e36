"""Arithmetic, shifts and flags of the engine against plain Python integers, through words in a chip.

Expectations are written from what the operations mean to a programmer (sums, signed ranges, bit strings), not from isa/.
"""

import random
from collections.abc import Callable

import pytest

from ixpemu import Chip
from tests.support.machine import words_of

WORD = 1 << 32
EDGES = (0, 1, 2, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFF00,
         0xFFFFFFFE, 0xFFFFFFFF)
NUMBERS = random.Random(2400)
RANDOM = tuple(NUMBERS.randrange(WORD) for _ in range(4))
PAIRS = [(x, y) for x in EDGES + RANDOM for y in EDGES + RANDOM]


def signed(value: int) -> int:
    return value - WORD if value & 0x80000000 else value


class Bench:
    """One microengine whose programs work on a0, b0 and a1 and leave the result in a2, run over and over on other values."""

    def __init__(self, text: str) -> None:
        self.chip = Chip()
        self.chip.load_words(0, words_of(text + "\nhalt"), start=False)
        self.engine = self.chip.me[0]
        self.registers = self.engine.ctx[0]

    def __call__(self, a: int, b: int, *, old: int = 0, extra: int = 0, carry: int = 0) -> tuple[int, tuple[int, int, int, int]]:
        """The result and the flags N, Z, V, C; `old` is in a2 before, `extra` in a1."""
        self.registers.gpr_a[:3] = a, extra, old
        self.registers.gpr_b[0] = b
        self.engine.engine.cc_c = carry
        self.chip.start(0, 1)
        stop = self.chip.run(cycles=100)
        assert stop.reason == "halt", stop
        cc = self.engine.cc
        return int(self.registers.gpr_a[2]), (cc.n, cc.z, cc.v, cc.c)


def flags(result: int, *, v: bool = False, c: bool = False) -> tuple[int, int, int, int]:
    return (result >> 31, int(result == 0), int(v), int(c))


def added(x: int, y: int, carry: int = 0) -> tuple[int, tuple[int, int, int, int]]:
    result = (x + y + carry) % WORD
    return result, flags(result, v=not -(2**31) <= signed(x) + signed(y) + carry < 2**31, c=x + y + carry >= WORD)


def subtracted(x: int, y: int, borrow: int = 0) -> tuple[int, tuple[int, int, int, int]]:
    result = (x - y - borrow) % WORD
    return result, flags(result, v=not -(2**31) <= signed(x) - signed(y) - borrow < 2**31, c=x >= y + borrow)


def logical(result: int) -> tuple[int, tuple[int, int, int, int]]:
    return result % WORD, flags(result % WORD)


ALU: dict[str, Callable[[int, int, int], tuple[int, tuple[int, int, int, int]]]] = {
    "+": lambda a, b, c: added(a, b),
    "-": lambda a, b, c: subtracted(a, b),
    "B-A": lambda a, b, c: subtracted(b, a),
    "+8": lambda a, b, c: added(a, b % 256),
    "+16": lambda a, b, c: added(a, b % 65536),
    "+carry": lambda a, b, c: added(a, b, c),
    "-carry": lambda a, b, c: subtracted(a, b, 1 - c),
    "B": lambda a, b, c: logical(b),
    "~B": lambda a, b, c: logical(WORD - 1 - b),
    "AND": lambda a, b, c: logical(a & b),
    "~AND": lambda a, b, c: logical((WORD - 1 - a) & b),
    "AND~": lambda a, b, c: logical(a & (WORD - 1 - b)),
    "OR": lambda a, b, c: logical(a | b),
    "XOR": lambda a, b, c: logical(a ^ b),
}


@pytest.mark.parametrize("operation", ALU)
def test_alu(operation: str) -> None:
    bench = Bench(f"alu[a2, a0, {operation}, b0]")
    for number, (a, b) in enumerate(PAIRS):
        carry = number % 2
        assert bench(a, b, carry=carry) == ALU[operation](a, b, carry), (hex(a), hex(b), carry)


def test_an_operation_without_destination_sets_the_flags_alone() -> None:
    bench = Bench("alu[--, a0, -, b0]")
    for a, b in PAIRS[::7]:
        assert bench(a, b, old=5) == (5, subtracted(a, b)[1])


def test_exchanged_sides_are_no_exchange_of_operands() -> None:
    """A word whose left operand is on bank B subtracts in the order of the text."""
    bench = Bench("alu[a2, b0, -, a0]")
    for a, b in PAIRS[::11]:
        assert bench(a, b) == subtracted(b, a)


def test_carry_chains_of_two_words() -> None:
    """64-bit addition and subtraction, and the unsigned comparison that branches on their carry."""
    add = Bench("alu[a2, a0, +, b0]\nalu[--, --, B, a2]\nalu[--, a0, +, b0]\nalu[a2, a1, +carry, b1]")
    subtract = Bench("alu[--, a0, -, b0]\nalu[a2, a1, -carry, b1]")
    compare = Bench("alu[--, a0, -, b0]\nalu[--, a1, -carry, b1]\nbhs[l5#]\nimmed[a2, 0]\nhalt\nimmed[a2, 1]")
    wide = [0, 1, WORD - 1, WORD, WORD + 1, 2**63 - 1, 2**63, 2**64 - WORD, 2**64 - 1]
    wide += [NUMBERS.randrange(2**64) for _ in range(4)]
    for x in wide:
        for y in wide:
            for bench in (add, subtract, compare):
                bench.registers.gpr_b[1] = y // WORD
            assert add(x % WORD, y % WORD, extra=x // WORD)[0] == (x + y) % 2**64 // WORD
            found, (_, _, _, carry) = subtract(x % WORD, y % WORD, extra=x // WORD)
            assert (found, carry) == ((x - y) % 2**64 // WORD, int(x >= y))
            assert compare(x % WORD, y % WORD, extra=x // WORD)[0] == int(x >= y)


def test_flags_survive_what_has_none() -> None:
    """A carry crosses everything that is said to leave the condition codes alone."""
    quiet = ["nop", "immed[a3, 0]", "immed_w1[a3, 5]", "immed_b2[a3, 1]", "ld_field[a3, 0011, b1]",
             "ld_field_w_clr[a3, 0011, b1, <<8]", "load_addr[a3, l1#]", "local_csr_wr[ACTIVE_LM_ADDR_0, 0]",
             "local_csr_rd[TIMESTAMP_LOW]\nimmed[a3, 0]", "br[next#]\nnext#:", "br=ctx[1, next#]\nnext#:",
             "br_bset[a0, 3, next#]\nnext#:", "br=byte[a0, 1, 7, next#]\nnext#:", "beq[next#]\nnext#:",
             "br_signal[s3, next#]\nnext#:",
             "ctx_arb[voluntary]", "scratch[read, $0, b2, 0, 1], ctx_swap[s1]"]
    for text in quiet:
        bench = Bench(f"alu[a2, a0, +, b0]\n{text}\nalu[a2, b2, +carry, 0]")
        assert bench(WORD - 1, 1)[0] == 1, text
        assert bench(WORD - 2, 1)[0] == 0, text


BITS = [0, 1, 0x80000000, 0xFFFFFFFF, 0x12345678, 0x9ABCDEF0, 0x55555555, *RANDOM]
SHIFTED: dict[str, Callable[[int, int], int]] = {
    "B": lambda a, x: x, "~B": lambda a, x: WORD - 1 - x, "AND": lambda a, x: a & x, "~AND": lambda a, x: (WORD - 1 - a) & x,
    "AND~": lambda a, x: a & (WORD - 1 - x), "OR": lambda a, x: a | x,
}


def rotated(value: int, left: int) -> int:
    text = f"{value:032b}"
    return int(text[left % 32:] + text[: left % 32], 2)


SHIFT: dict[str, Callable[[int, int], int]] = {
    "<<": lambda value, n: value * 2**n % WORD, ">>": lambda value, n: value // 2**n,
    "<<rot": rotated, ">>rot": lambda value, n: rotated(value, 32 - n),
}


@pytest.mark.parametrize("kind", SHIFT)
def test_shifts_of_every_amount(kind: str) -> None:
    """All amounts in one program: 31 shifts, 31 results in local memory."""
    lines = ["local_csr_wr[ACTIVE_LM_ADDR_0, 0]", "nop", "nop", "nop"]
    for n in range(1, 32):
        lines += [f"alu_shf[a2, a0, OR, b0, {kind}{n}]", "alu[*l$index0++, --, B, a2]"]
    bench = Bench("\n".join(lines))
    for value in BITS:
        bench(0, value)
        assert bench.engine.local_memory[:31].tolist() == [SHIFT[kind](value, n) for n in range(1, 32)], hex(value)


@pytest.mark.parametrize("operation", SHIFTED)
def test_logic_with_a_shift(operation: str) -> None:
    for shift, moved in (("<<5", lambda x: x * 32 % WORD), (">>31", lambda x: x >> 31), ("<<rot9", lambda x: rotated(x, 9))):
        bench = Bench(f"alu_shf[a2, a0, {operation}, b0, {shift}]")
        for a in BITS:
            for b in BITS:
                assert bench(a, b) == logical(SHIFTED[operation](a, moved(b))), (shift, hex(a), hex(b))


def test_indirect_shifts_take_their_amount_from_the_previous_a_operand() -> None:
    """From the operand, not from the result, and its low five bits only; 0 leaves the value as it is."""
    for kind in ("<<", ">>"):
        bench = Bench(f"alu[--, a1, AND~, 0xff]\nalu_shf[a2, a0, OR, b0, {kind}indirect]")
        for amount in (*range(33), 0xFFFFFFE5):
            for value in BITS[:6]:
                assert bench(0, value, extra=amount) == logical(SHIFT[kind](value, amount % 32)), (kind, amount, hex(value))


def test_an_indirect_shift_hands_its_own_a_operand_on() -> None:
    bench = Bench("alu[--, a1, B, b0]\nalu_shf[--, a1, B, b0, >>indirect]\nalu_shf[a2, a1, AND~, b0, <<indirect]")
    for amount in range(32):
        assert bench(0, 0xF0F0F0F1, extra=amount)[0] == amount & ~(0xF0F0F0F1 << amount) % WORD


def test_double_shift() -> None:
    for n in (1, 4, 31):
        bench = Bench(f"dbl_shf[a2, a0, b0, >>{n}]")
        for a in BITS:
            for b in BITS:
                assert bench(a, b) == logical((a * WORD + b) >> n)
    bench = Bench("alu[--, a1, OR, 0]\ndbl_shf[a2, a0, b0, >>indirect]")
    for amount in range(32):
        assert bench(0x89ABCDEF, 0x01234567, extra=amount) == logical((0x89ABCDEF * WORD + 0x01234567) >> amount)


def test_arithmetic_shift_takes_its_sign_from_the_previous_result() -> None:
    """Not from its own operand: the classic mistake gives zeros or ones at the top, as on the chip."""
    for n in (1, 4, 16, 31):
        ones = (WORD - 1) << (32 - n) & (WORD - 1)
        right = Bench(f"alu[--, --, B, b0]\nasr[a2, b0, >>{n}]")
        other = Bench(f"alu[--, --, B, a1]\nasr[a2, b0, >>{n}]")
        for value in BITS:
            assert right(0, value) == logical((signed(value) >> n) % WORD)
            for sign in (0, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF):
                wanted = value >> n | (ones if sign >> 31 else 0)
                assert other(0, value, extra=sign) == logical(wanted), (n, hex(value), hex(sign))


def test_arithmetic_shift_by_a_register() -> None:
    bench = Bench("alu[--, a1, B, b0]\nasr[a2, b0, >>indirect]")
    for amount in range(32):
        for value in BITS:
            assert bench(0, value, extra=amount) == logical((signed(value) >> amount) % WORD)


def test_previous_results_come_from_immed_and_fields_too() -> None:
    """The instruction just before counts, whatever it is: immed and ld_field leave a result, and nothing older shines through."""
    for before, sign in (("immed[a3, 0xffff, <<16]", 1), ("immed[a3, 0xffff]", 0), ("ld_field_w_clr[a3, 1000, b1]", 1),
                         ("ld_field_w_clr[a3, 0111, b1]", 0), ("immed_w1[a3, 0x8000]", 1), ("immed_b3[a3, 0x7f]", 0)):
        bench = Bench(f"alu[--, a0, {'+' if sign else '-'}, 1]\n{before}\nasr[a2, b0, >>4]")
        bench.registers.gpr_b[1] = 0xFFFFFFFF
        assert bench(0, 0x12345678)[0] == 0x01234567 + (0xF0000000 if sign else 0), before


FIELDS = [f"{mask:04b}" for mask in range(16)]


def fields(mask: str, new: int, old: int) -> int:
    chosen = [n if bit == "1" else o for bit, n, o in zip(mask, new.to_bytes(4, "big"), old.to_bytes(4, "big"), strict=True)]
    return int.from_bytes(bytes(chosen), "big")


@pytest.mark.parametrize("mask", FIELDS)
def test_byte_fields(mask: str) -> None:
    old, new = 0x11223344, 0xA1B2C3D4
    for shift, moved in (("", new), (", <<8", new << 8 & (WORD - 1)), (", >>12", new >> 12), (", <<rot4", 0x1B2C3D4A)):
        keep = Bench(f"ld_field[a2, {mask}, b0{shift}]")
        clear = Bench(f"ld_field_w_clr[a2, {mask}, b0{shift}]")
        assert keep(0, new, old=old)[0] == fields(mask, moved, old), shift
        assert clear(0, new, old=old)[0] == fields(mask, moved, 0), shift
    indirect = Bench(f"alu[--, a1, OR, 0]\nld_field[a2, {mask}, b0, >>indirect]")
    assert indirect(0, new, old=old, extra=20)[0] == fields(mask, new >> 20, old)


def test_byte_fields_set_flags_only_when_asked() -> None:
    quiet = Bench("alu[--, a0, -, 1]\nld_field_w_clr[a2, 1111, b0]")
    loud = Bench("alu[--, a0, +, b0]\nld_field_w_clr[a2, 1111, b0], load_cc")
    assert quiet(0, 0) == (0, (1, 0, 0, 0))
    assert loud(0, 0x80000000) == (0x80000000, (1, 0, 0, 0))
    assert loud(0x80000000, 0x80000000) == (0x80000000, (1, 0, 0, 0))
    assert loud(1, 0) == (0, (0, 1, 0, 0))


def test_constants() -> None:
    parts = {
        "immed[a2, 0x1234]": 0x1234, "immed[a2, 0x1234, <<8]": 0x123400, "immed[a2, 0x1234, <<16]": 0x12340000,
        "immed[a2, 0xffffedcb]": 0xFFFFEDCB, "immed[a2, 0xedcbffff]": 0xEDCBFFFF, "immed[a2, 0xffedcbff]": 0xFFEDCBFF,
        "immed_w0[a2, 0x9abc]": 0x55559ABC, "immed_w1[a2, 0x9abc]": 0x9ABC6666, "immed_b0[a2, 0x12]": 0x55556612,
        "immed_b1[a2, 0x12]": 0x55551266, "immed_b2[a2, 0x12]": 0x55126666, "immed_b3[a2, 0x12]": 0x12556666,
    }
    for text, wanted in parts.items():
        assert Bench(text)(0, 0, old=0x55556666)[0] == wanted, text


def test_find_first_set() -> None:
    bench = Bench("ffs[a2, b0]")
    for bit in range(32):
        assert bench(0, 1 << bit)[0] == bit
        assert bench(0, WORD - (1 << bit))[0] == bit
    assert bench(0, 0)[0] == 0


def test_alignment_of_a_stream() -> None:
    """Five words through each funnel at each offset give the stream moved by it; other instructions may stand between."""
    octets = bytes(range(0x10, 0x24))
    for offset in range(4):
        for kind, order in (("be", "big"), ("le", "little")):
            words = [int.from_bytes(octets[k:k + 4], order) for k in range(0, 20, 4)]
            lines = [f"local_csr_wr[BYTE_INDEX, {offset}]", "local_csr_wr[ACTIVE_LM_ADDR_0, 0]", "nop", "nop", "nop",
                     f"byte_align_{kind}[--, *l$index0[0]]"]
            lines += [f"byte_align_{kind}[b{k}, *l$index0[{k + 1}]]\nalu[a3, a3, +carry, 1]" for k in range(4)]
            bench = Bench("\n".join(lines))
            bench.engine.local_memory[:5] = words
            bench(0, 0)
            found = b"".join(int(word).to_bytes(4, order) for word in bench.registers.gpr_b[:4])
            assert found == octets[offset:offset + 16], (kind, offset)
