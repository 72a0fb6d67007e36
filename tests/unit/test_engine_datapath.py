"""The units beside the datapath through words in a chip: multiplier, CRC, pop_count, byte_align, CAM views.

They are compared with Python integers, published values and bit strings. What is reserved about them is in tests/corpus/reserved.
"""

import random
from pathlib import Path

import pytest

from ixpemu import Chip, UserError
from tests.support.machine import run_lines, words_of

WORD = 1 << 32
EDGES = (0, 1, 2, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0xFFFF, 0x10000, 0xFFFFFF, 0x1000000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
PICK = random.Random(41)
VALUES = EDGES + tuple(PICK.randrange(WORD) for _ in range(6))
CORPUS = Path(__file__).parents[1] / "corpus"


class Bench:
    """A program that works on a0 and b0 and leaves results in a2 and a3, run over and over on other values."""

    def __init__(self, text: str) -> None:
        self.chip = Chip(allow=["IXP7022"])     # a register that Python sets to 0 counts as not written
        self.chip.load_words(0, words_of(text + "\nhalt"), start=False)
        self.me = self.chip.me[0]

    def __call__(self, a: int, b: int = 0) -> tuple[int, int]:
        registers = self.me.ctx[0]
        registers.gpr_a[0], registers.gpr_b[0] = a, b
        self.chip.start(0, 1)
        stop = self.chip.run(cycles=1000)
        assert stop.reason == "halt", stop
        return int(registers.gpr_a[2]), int(registers.gpr_a[3])


def steps(shape: str, count: int, left: str, right: str, lasts: tuple[str, ...]) -> str:
    lines = [f"mul_step[{left}, {right}], {shape}_start"]
    lines += [f"mul_step[{left}, {right}], {shape}_step{k + 1}" for k in range(count)]
    return "\n".join(lines + [f"mul_step[{dest}, --], {shape}_{last}" for dest, last in zip(("a2", "a3"), lasts, strict=False)])


@pytest.mark.parametrize(("shape", "count", "bits_a", "bits_b", "lasts"), [
    ("24x8", 1, 24, 8, ("last",)), ("16x16", 2, 16, 16, ("last",)), ("32x32", 4, 32, 32, ("last",)),
    ("32x32", 4, 32, 32, ("last", "last2")),
])
def test_products(shape: str, count: int, bits_a: int, bits_b: int, lasts: tuple[str, ...]) -> None:
    """Against Python's product; exchanged sides are no exchange of operands."""
    straight = Bench(steps(shape, count, "a0", "b0", lasts))
    exchanged = Bench(steps(shape, count, "b0", "a0", lasts))
    pairs = [(a & (1 << bits_a) - 1, b & (1 << bits_b) - 1) for a in VALUES for b in VALUES]
    for a, b in PICK.sample(sorted(set(pairs)), 60):
        for found in (straight(a, b), exchanged(b, a)):
            assert found[0] == a * b % WORD, (hex(a), hex(b))
            assert len(lasts) == 1 or found[1] == a * b >> 32
        assert straight.me.multiplier.product == a * b
    assert not straight.chip.reserved and not exchanged.chip.reserved


def test_flags_of_a_product() -> None:
    bench = Bench(steps("16x16", 2, "a0", "b0", ("last",)))
    for a, b in ((0, 5), (3, 4), (0xFFFF, 0xFFFF)):
        bench(a, b)
        cc = bench.me.cc
        assert (cc.n, cc.z, cc.v, cc.c) == (a * b >> 31, int(a * b == 0), 0, 0)


def test_steps_leave_flags_alone() -> None:
    bench = Bench("alu[--, a0, -, b0]\nmul_step[a0, b0], 24x8_start\nmul_step[a0, b0], 24x8_step1\n"
                  "pop_count1[a0]\npop_count2[a0]\ncam_write[1, a0, 2]\ncam_write_state[1, 3]")
    bench(5, 3)
    before = bench.me.cc
    assert (before.n, before.z, before.c) == (0, 0, 1)


def test_population_count() -> None:
    bench = Bench("pop_count1[a0]\npop_count2[a0]\npop_count3[a2, a0]")
    for value in (*VALUES, *(1 << k for k in range(0, 32, 3)), *(WORD - (1 << k) for k in range(0, 32, 5))):
        assert bench(value)[0] == f"{value:b}".count("1")
        assert bench.me.cc.z == int(value == 0)
    assert not bench.chip.reserved


def test_byte_index_is_seen_by_registers_too() -> None:
    """The table of the hardware manual at all four offsets; operands are GPRs, so nothing but BYTE_INDEX itself is indexed."""
    big, little = (0x00112233, 0x11223344, 0x22334455, 0x33445566), (0x33221100, 0x44332211, 0x55443322, 0x66554433)
    for index in range(4):
        for kind, first, second, table in (("be", 0x00112233, 0x44556677, big), ("le", 0x33221100, 0x77665544, little)):
            bench = Bench(f"local_csr_wr[BYTE_INDEX, {index}]\nnop\nnop\nnop\nbyte_align_{kind}[--, a0]\n"
                          f"alu[a3, a3, +carry, 1]\nbyte_align_{kind}[a2, b0]")
            assert bench(first, second)[0] == table[index], (kind, index)
            assert getattr(bench.me.align, kind) == second


def bitwise(kind: str, octets: bytes, remainder: int, swapped: bool) -> int:
    """The definition: a shift register, a bit at a time."""
    powers, width = {"crc_ccitt": (0x1021, 16), "crc_32": (0x04C11DB7, 32), "crc_iscsi": (0x1EDC6F41, 32), "crc_10": (0x233, 10),
                     "crc_5": (0x05, 5)}[kind]
    for octet in octets:
        for bit in (f"{octet:08b}"[::-1] if swapped else f"{octet:08b}"):
            out = remainder >> width - 1 & 1
            remainder = (remainder << 1) % (1 << width) ^ (powers if int(bit) != out else 0)
    return remainder


def crc_program(kind: str, words: list[tuple[int, str]], start: int, order: str, swapped: bool) -> list[str]:
    """Lines that take words, each with a byte subset, into a remainder."""
    lines = [f"immed[a0, {start & 0xFFFF:#x}]", f"immed_w1[a0, {start >> 16:#x}]", "local_csr_wr[CRC_REMAINDER, a0]",
             "nop", "nop", "nop"]
    for value, subset in words:
        lines += [f"immed[b0, {value & 0xFFFF:#x}]", f"immed_w1[b0, {value >> 16:#x}]",
                  f"crc_{order}[{kind}, a1, b0]{', bit_swap' if swapped else ''}{f', {subset}' if subset else ''}"]
    return [*lines, "nop", "nop", "local_csr_rd[CRC_REMAINDER]", "immed[a2, 0]"]


WIDTH = {"crc_ccitt": 16, "crc_32": 32, "crc_iscsi": 32, "crc_10": 10, "crc_5": 5}
PUBLISHED = [line.split("\t") for line in (CORPUS / "crc.tsv").read_text(encoding="utf-8").splitlines()
             if not line.startswith("#")]


@pytest.mark.parametrize("order", ["be", "le"])
@pytest.mark.parametrize("row", PUBLISHED, ids=lambda row: f"{row[0]}-{row[5]}")
def test_published_remainders(row: list[str], order: str) -> None:
    kind, octets, start, swapped, final, wanted, _ = row
    stream = bytes.fromhex(octets)
    names = {1: "byte_0", 2: "bytes_0_1", 3: "bytes_0_2", 4: ""}
    pieces = [stream[k:k + 4] for k in range(0, len(stream), 4)]
    ends = "big" if order == "be" else "little"
    words = [(int.from_bytes(piece.ljust(4, b"\xa5"), ends), names[len(piece)]) for piece in pieces]
    chip = run_lines(crc_program(kind, words, int(start, 16), order, swapped == "1"))
    remainder = int(chip.me[0].ctx[0].gpr_a[2])
    if swapped == "1":
        remainder = int(f"{remainder:0{WIDTH[kind]}b}"[::-1], 2)
    assert remainder ^ int(final, 16) == int(wanted, 16)
    assert chip.me[0].csr["CRC_REMAINDER"] == int(chip.me[0].ctx[0].gpr_a[2])
    assert not chip.reserved


@pytest.mark.parametrize("kind", WIDTH)
def test_byte_subsets(kind: str) -> None:
    """Every subset in both orders, bits as they are and turned round, and the word itself passes unchanged."""
    subsets = {"": (0, 3), "bytes_0_3": (0, 3), "bytes_1_3": (1, 3), "bytes_2_3": (2, 3), "byte_3": (3, 3), "bytes_0_2": (0, 2),
               "bytes_0_1": (0, 1), "byte_0": (0, 0)}
    for subset, (first, last) in subsets.items():
        for order in ("be", "le"):
            for swapped in (False, True):
                value, start = PICK.randrange(WORD), PICK.randrange(1 << WIDTH[kind])
                octets = value.to_bytes(4, "big" if order == "be" else "little")[first:last + 1]
                chip = run_lines(crc_program(kind, [(value, subset)], start, order, swapped))
                found = chip.me[0].ctx[0].gpr_a
                assert int(found[2]) == bitwise(kind, octets, start, swapped), (subset, order, swapped)
                assert int(found[1]) == value


def test_no_type_keeps_the_remainder() -> None:
    chip = run_lines(crc_program("none", [(0x12345678, "")], 0xABCDEF01, "be", False))
    assert int(chip.me[0].ctx[0].gpr_a[2]) == 0xABCDEF01 and int(chip.me[0].ctx[0].gpr_a[1]) == 0x12345678


def test_condition_codes_held_still() -> None:
    """With CC_ENABLE[13] clear nothing changes them; results and branches are as always."""
    lines = ["alu[--, a0, +, 1]", "local_csr_wr[CC_ENABLE, a0]", "alu[a1, b0, -, 1]", "alu[--, a1, +, b0]", "beq[equal#]",
             "immed[a2, 5]", "equal#:", "alu[a3, b0, -, 2]"]
    chip = run_lines(lines)
    cc, registers = chip.me[0].cc, chip.me[0].ctx[0].gpr_a
    assert (cc.n, cc.z, cc.v, cc.c) == (0, 0, 0, 0)
    assert [int(registers[k]) for k in (1, 2, 3)] == [WORD - 1, 5, WORD - 2]
    lines[3:3] = ["immed[b1, 0x2000]", "local_csr_wr[CC_ENABLE, b1]"]
    chip = run_lines(lines)
    assert chip.me[0].cc.n == 1 and int(chip.me[0].ctx[0].gpr_a[2]) == 5


def test_saved_pointer_of_the_executing_context_waits_for_its_next_start() -> None:
    lines = ["local_csr_wr[ACTIVE_LM_ADDR_0, 16]", "local_csr_wr[CSR_CTX_POINTER, 0]", "local_csr_wr[INDIRECT_LM_ADDR_0, 32]",
             "nop", "nop",
             "alu[*l$index0[0], --, B, 1]", "ctx_arb[voluntary]", "alu[*l$index0[0], --, B, 2]"]
    memory = run_lines(lines).me[0].local_memory
    assert (int(memory[4]), int(memory[8])) == (1, 2)


def test_a_global_pointer_moves_for_all() -> None:
    """CTX_ENABLES[16] makes LM_ADDR_0 one for all: what one context steps, the next one sees."""
    chip = Chip()
    chip.load_words(0, words_of("alu[*l$index0++, --, B, b0]\nctx_arb[kill]"), start=False)
    for ctx in range(8):
        chip.me[0].ctx[ctx].gpr_b[0] = ctx + 1
    chip.me[0].csr["CTX_ENABLES"] = 0x10000
    chip.start(0, 0xFF)
    chip.run(cycles=1000)
    assert chip.me[0].local_memory[:9].tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 0]


def test_the_cam_as_python_sees_it() -> None:
    chip = run_lines(["immed[a0, 0x123]", "cam_write[5, a0, 9]", "cam_lookup[a1, a0], lm_addr1[1]"])
    me = chip.me[0]
    assert int(me.ctx[0].gpr_a[1]) == 9 << 8 | 1 << 7 | 5 << 3
    assert (me.cam[5].tag, me.cam[5].state) == (0x123, 9) and me.cam.find(0x123) == me.cam[5] and me.cam.find(7) is None
    assert me.cam.order == (0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 5)
    assert me.csr["ACTIVE_LM_ADDR_1"] >> 2 == 256 + 16 * 5
    me.cam[2] = 0x77, 4
    assert me.cam.order[-1] == 2 and len(me.cam) == 16 and [entry.number for entry in me.cam] == list(range(16))
    me.cam.order = range(15, -1, -1)
    assert me.cam.order[0] == 15
    for wrong in (lambda: me.cam[16], lambda: me.cam.__setitem__(0, (WORD, 0)), lambda: me.cam.__setitem__(0, (0, 16)),
                  lambda: setattr(me.cam, "order", (0,) * 16)):
        with pytest.raises(UserError):
            wrong()


def test_random_numbers_move_by_cycles() -> None:
    """With CTX_ENABLES[30] a read after n cycles gives what n single steps give."""
    chip = Chip()
    chip.me[0].csr["PSEUDO_RANDOM_NUMBER"] = 12345
    single = [chip.me[0].csr["PSEUDO_RANDOM_NUMBER"] for _ in range(300)]
    value = 12345
    for found in single:
        value = value >> 1 ^ (0xA3000000 if value & 1 else 0)
        assert found == value
    chip = Chip()
    chip.me[0].csr["CTX_ENABLES"] = 1 << 30
    chip.me[0].csr["PSEUDO_RANDOM_NUMBER"] = 12345
    chip.run(cycles=300)
    assert chip.me[0].csr["PSEUDO_RANDOM_NUMBER"] == single[299]
