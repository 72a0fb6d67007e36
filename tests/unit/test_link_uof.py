"""UOF files: bytes put together by hand from the published structures, round trips, and every way to damage one."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from ixpemu import Chip, assemble, codes
from ixpemu.cli_application import application
from ixpemu.diagnostics import UserError
from ixpemu.image import Image
from ixpemu.image_links import evaluate
from ixpemu.isa.chipfile import load_chip
from ixpemu.link import link
from ixpemu.link_file import Program, is_program, load
from ixpemu.link_settings import Given, LinkSettings
from ixpemu.link_uof import left_out, to_uof
from ixpemu.link_uof_read import from_uof

A = """
.import_var PORTS
.global_mem table sram1 64 16
.local_mem counters scratch 16
.local_mem cache 32
.reg @total b c $x
.sig done
.init table 1 2 (PORTS << 8)
.init counters+4 0xdeadbeef
.init cache 5
.init b 7
.init @total 9
.init_ctx 3 c 11
    immed[c, (table & 0xffff)]
    immed_w1[c, (table >> 16)]
    sram[read, $x, c, 4, 1], ctx_swap[done]
    alu[b, b, +, $x]
    alu[@total, @total, +, b]
    immed[b, counters]
    immed[c, cache]
    ctx_arb[kill]
.use @total b c
"""
B = ".num_contexts 4\n.local_mem counters scratch 8\n.global_mem table sram1 64\n.reg b\n.init table+12 3\n.init counters 6\n" \
    "immed[b, counters]\nctx_arb[kill]\n.use b\n"


def program() -> Program:
    images = {0: assemble(text=A), 1: assemble(text=B), 5: assemble(text=A)}
    names = {0: "a.uc", 1: "b.uc", 5: "a.uc"}
    made = link(images, load_chip(), LinkSettings({"ports": Given(3, "the test")}), names)
    return Program(made.images, made.names, "enp2611")


def crc(content: bytes) -> int:
    """CRC-16, polynomial 0x1021, from 0, bit by bit."""
    register = 0
    for byte in content:
        register ^= byte << 8
        for _ in range(8):
            register = (register << 1 ^ 0x1021 if register & 0x8000 else register << 1) & 0xFFFF
    return register


def meaning(image: Image) -> object:
    """What an image does to a chip: its words, mode, and each first value, where it goes and what it is."""
    values: dict[object, int | None] = {}
    for initial in image.links.initial:
        for k, value in enumerate(initial.values):
            if initial.kind == "memory":
                memory = image.links.memory(initial.target)
                values[memory.region, (memory.address or 0) + initial.offset + 4 * k] = evaluate(value, {})
            else:
                values[initial.kind, initial.target, initial.context] = evaluate(value, {})
    memories = {(m.name, m.region, m.size, m.align, m.shared, m.address) for m in image.links.memories}
    return image.values, image.contexts, dict(image.registers), values, memories


def test_a_file_says_all_that_the_program_does() -> None:
    before = program()
    after = from_uof(to_uof(before), "x")
    assert (after.chip, after.names) == (before.chip, before.names)
    # Shared memory gets all of its values with the first image.
    chips = []
    for each in (before, after):
        chip = Chip()
        for me, image in each.images.items():
            chip.load(me, image, start=False)
        chips.append(chip)
    first, second = chips
    assert list(first.sram[1].read(0, 64)) == list(second.sram[1].read(0, 64))
    assert list(first.scratch.read(0, 4096)) == list(second.scratch.read(0, 4096))
    for me in before.images:
        assert before.images[me].values == after.images[me].values and before.images[me].contexts == after.images[me].contexts
        assert dict(before.images[me].registers) == dict(after.images[me].registers)
        assert [(m.name, m.region, m.size, m.align, m.shared, m.address) for m in after.images[me].links.memories
                if not m.shared] == [(m.name, m.region, m.size, m.align, m.shared, m.address)
                                     for m in before.images[me].links.memories if not m.shared]
        assert first.me[me].local_memory.tolist() == second.me[me].local_memory.tolist()
        assert first.me[me].gpr_a_abs.tolist() == second.me[me].gpr_a_abs.tolist()
        assert first.me[me].gpr_b_abs.tolist() == second.me[me].gpr_b_abs.tolist()
    assert 9 in [*first.me[0].gpr_a_abs.tolist(), *first.me[0].gpr_b_abs.tolist()]
    assert to_uof(after) == to_uof(from_uof(to_uof(after), "y"))


def test_headers_as_they_are_published() -> None:
    """The structures written out with `struct`, field by field, from their description and not from the writer's."""
    image = Image.from_words([0xF0000C0300, 0xFC00000001], 8)
    data = to_uof(Program({2: image, 6: image}, {2: "w", 6: "w"}, "enp2611"))
    assert data[:12] == struct.pack("<HHBBHHH", 0xC6C2, 0, 0x11, 4, 0, 1, 1)
    name, check, offset, size = struct.unpack_from("<8sIII", data, 12)
    assert (name, offset, size) == (b"UOF_OBJS", 32, len(data) - 32)
    body = data[32:]
    assert check == crc(body)
    cpu, _, _, most, count, *_ = struct.unpack_from("<IHHHHII", body)
    assert (cpu, most, count) == (2, 5, 5)
    chunks = {}
    for number in range(count):
        kind, at, length = struct.unpack_from("<8sII", body, 20 + 16 * number)
        chunks[kind] = body[at : at + length], at
    assert set(chunks) == {b"UOF_STRT", b"UOF_IMAG", b"UOF_MSEG", b"UOF_IMEM", b"UOF_GTID"}
    strings = chunks[b"UOF_STRT"][0]
    assert strings == struct.pack("<I", 3) + b"\0w\0"
    assert chunks[b"UOF_IMEM"][0] == bytes(4) and chunks[b"UOF_MSEG"][0] == bytes(48)
    found, _ = chunks[b"UOF_IMAG"]
    # Microengine 2 is bit 2; 6 is the third of the second cluster, bit 18.
    assert struct.unpack_from("<II8sBBHI", found) == (1, 1 << 2 | 1 << 18, bytes(8), 0, 0, 8, 2)
    assert found.endswith(struct.pack("<I", 2) + bytes.fromhex("00030c00f0") + bytes.fromhex("01000000fc"))


def test_memory_as_it_is_published() -> None:
    """A word of memory stands in the file as its bytes do in memory."""
    image = link({0: assemble(text=".global_mem t sram1 8\n.init t+4 0x01020304\nctx_arb[kill]\n")}, load_chip(), LinkSettings(),
                 {0: "t"})
    data = to_uof(Program(image.images, image.names, "enp2611"))
    at = data.index(b"UOF_IMEM")
    offset, size = struct.unpack_from("<II", data, at + 8)
    entry = data[32 + offset : 32 + offset + size]
    count, _, region, scope, _, address, length, values, place = struct.unpack_from("<IIBBHIIII", entry)
    assert (count, region, scope, address, length, values, place) == (1, 1, 1, 0x40000000, 8, 1, 4)
    assert entry[-4:] == bytes((1, 2, 3, 4))


def test_sixteen_microengines() -> None:
    image = Image.from_words([0xF0000C0300], 4)
    made = from_uof(to_uof(Program({0: image, 15: image}, {0: "w", 15: "w"}, "ixp2800")), "x")
    assert list(made.images) == [0, 15] and made.chip == "ixp2800" and made.images[15].contexts == 4


def test_what_it_cannot_say() -> None:
    assert left_out(program()) == "labels, source lines, live ranges" or "source lines" in left_out(program())
    assert left_out(Program({0: Image.from_words([0xF0000C0300])}, {0: "w"}, "enp2611")) == ""
    with pytest.raises(UserError) as error:
        to_uof(Program({0: assemble(text=".init_csr NN_PUT 3\nctx_arb[kill]\n")}, {0: "w"}, "enp2611"))
    assert error.value.diagnostics[0].code == codes.LINK_VALUE
    with pytest.raises(UserError) as error:
        to_uof(Program({}, {}, "mine"))
    assert error.value.diagnostics[0].code == codes.LINK_CHIP
    shared = assemble(text=".init_csr CTX_ENABLES (3 << 16)\nctx_arb[kill]\n")
    made = from_uof(to_uof(Program({0: shared}, {0: "w"}, "enp2611")), "x")
    assert [evaluate(value, {}) for one in made.images[0].links.initial for value in one.values] == [3 << 16]


FILE = to_uof(program())


def with_check_sum(data: bytes) -> bytes:
    """The file with the check sum that goes with its object, so that damage is found by what it does."""
    return data[:20] + struct.pack("<I", crc(data[32:])) + data[24:]


def read(data: bytes) -> UserError | None:
    try:
        made = from_uof(data, "x.uof")
        for me, image in made.images.items():
            if me < 8:
                Chip().load(me, image, start=False)
    except UserError as error:
        return error
    return None


@pytest.mark.parametrize("length", range(0, len(FILE), 7))
def test_cut_short(length: int) -> None:
    for data in (FILE[:length], with_check_sum(FILE[:length]) if length > 32 else FILE[:length]):
        error = read(data)
        assert error is not None and error.diagnostics[0].code == codes.IMAGE_DAMAGED
        assert "x.uof, byte 0x" in error.diagnostics[0].message and error.diagnostics[0].help


@settings(max_examples=400, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(FILE) - 1), st.integers(0, 255)), min_size=1, max_size=6), st.booleans())
def test_damaged(changes: list[tuple[int, int]], mended: bool) -> None:
    data = bytearray(FILE)
    for place, value in changes:
        data[place] = value
    error = read(with_check_sum(bytes(data)) if mended else bytes(data))
    if error is None:
        # Only what nothing depends on may change unseen: reserved fields, names, values, words.
        assert mended or len(changes) > 1 or all(FILE[place] == value or place < 32 for place, value in changes)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, (len(FILE) - 36) // 4), st.sampled_from([0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 0x10000, 255, 1]))
def test_forged_counts_and_offsets(place: int, value: int) -> None:
    at = 32 + 4 * place
    read(with_check_sum(FILE[:at] + struct.pack("<I", value) + FILE[at + 4 :]))


def test_a_file_of_the_other_byte_order_and_of_another_kind() -> None:
    assert "big-endian" in str(read(b"\xc6\xc2" + FILE[2:]))
    assert "this is no UOF file" in str(read(b"ELF!" + FILE[4:]))


def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assemble(text="immed[a, 5]\n.use a\nctx_arb[kill]\n").save("a.ixp")
    linked = CliRunner().invoke(application(), ["link", "1,4=a.ixp", "-o", "a.uof"])
    assert linked.exit_code == 0 and "no place for source lines" in linked.stderr.replace("labels, ", "")
    assert is_program("a.uof") and list(load("a.uof").images) == [1, 4]
    shown = CliRunner().invoke(application(), ["dis", "a.uof"])
    assert shown.exit_code == 0 and "; microengine 1, 4: a.ixp" in shown.stdout and "immed[a0, 5]" in shown.stdout
    assert "error" not in CliRunner().invoke(application(), ["run", "a.uof", "--cycles", "20"]).output
    Path("bad.uof").write_bytes(FILE[:99])
    wrong = CliRunner().invoke(application(), ["run", "bad.uof", "--cycles", "20"])
    assert isinstance(wrong.exception, UserError) and "bad.uof, byte" in str(wrong.exception)
