"""Images and their file formats: what is written is read back, and what is damaged is refused with its place."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ixpemu import Chip, assemble
from ixpemu.diagnostics import UserError
from ixpemu.image import Image, LiveRange, Place, Probe, WordOrigin
from ixpemu.image_formats import FORMATS, from_bytes, to_bytes

TEXT = st.text(max_size=20)
PLACE = st.builds(Place, TEXT, st.integers(0, 10**6))
ORIGIN = st.builds(WordOrigin, PLACE, TEXT, st.lists(st.tuples(TEXT, PLACE), max_size=2).map(tuple))

@st.composite
def images(draw: st.DrawFn) -> Image:
    words = draw(st.lists(st.integers(0, 2**40 - 1), max_size=12))
    debug = tuple(draw(ORIGIN) for _ in words) if draw(st.booleans()) else ()
    address = st.integers(0, len(words))
    word = st.integers(0, max(0, len(words) - 1))
    return Image(
        tuple(words),
        draw(st.sampled_from([4, 8])),
        draw(st.dictionaries(TEXT, address, max_size=3)),
        draw(st.dictionaries(TEXT, TEXT, max_size=3)),
        debug,
        tuple(draw(st.lists(st.builds(Probe, TEXT, address, TEXT), max_size=2))),
        tuple(draw(st.lists(st.builds(LiveRange, TEXT, TEXT, word, word), max_size=2 if words else 0))),
    )


def sample() -> Image:
    calls = (("copy", Place("m.uc", 7)),)
    origins = tuple(WordOrigin(Place("dir/a file.uc", line), f'alu["{line}", x]', calls) for line in (1, 2, 3))
    return Image(
        (0xF0000C0300, 0xE000020000, 0x1234567890), 8, {"loop": 1}, {"l0000!count": "a5 b0"}, origins,
        (Probe("rx_done", 2, "a3"),), (LiveRange("l0000!count", "a5", 0, 2),),
    )


@given(images())
def test_ixp_keeps_everything(image: Image) -> None:
    assert from_bytes(to_bytes(image, "ixp"), "ixp") == image


@pytest.mark.parametrize("format", FORMATS)
@given(image=images())
def test_every_format_keeps_the_words(format: str, image: Image) -> None:
    again = from_bytes(to_bytes(image, format), format, contexts=image.contexts)
    assert again.words.dtype == np.uint64
    assert again.words.tolist() == image.words.tolist()
    assert again.contexts == image.contexts


def test_published_shapes_of_the_plain_formats() -> None:
    image = Image.from_words([0xF0000C0300, 0xE000020000])
    assert to_bytes(image, "bin") == bytes.fromhex("f0000c0300e000020000")
    assert to_bytes(image, "words").decode().splitlines()[1:] == ["f0000c0300", "e000020000"]
    assert b"0xf0, 0x00, 0x0c, 0x03, 0x00," in to_bytes(image, "ucode-c")


def test_words_are_read_with_comments_and_prefixes() -> None:
    content = b"# head\n\nF0000C0300  # nop\n  0xe000020000\n"
    assert from_bytes(content, "words").words.tolist() == [0xF0000C0300, 0xE000020000]


def test_a_c_initialiser_by_another_hand_is_read() -> None:
    content = b"/* one\n word */\nunsigned char ucode[] = { // five\n240, 0x00,0x0C,\n3, 0x00 };\n"
    assert from_bytes(content, "ucode-c").words.tolist() == [0xF0000C0300]


@pytest.mark.parametrize(
    ("format", "content", "line", "part"),
    [
        ("words", b"f0000c0300\nf0000c03\n", 2, "not a word"),
        ("words", b"f0000c0300\nhello\n", 2, "not a word"),
        ("words", b"f0000c0300\n\n\xff\xfe\n", 3, "not text"),
        ("ucode-c", b"int x;\n", 1, "no {"),
        ("ucode-c", b"{ 1, 2,\n 3, 0x100, 4 }", 2, "not a byte"),
        ("ucode-c", b"{ 1, 2,\n 3, 4 }", 2, "4 bytes"),
        ("ucode-c", b"{ 1, 2,\n " + b"9" * 5000 + b" }", 2, "not a byte"),
        ("ucode-c", "{ 1, 2,\n \u0663, 4, 5 }".encode(), 2, "not a byte"),
        ("ucode-c", b"{ 1, 2, 3,\n 010, 5 }", 2, "not a byte"),
        ("ucode-c", b"{ 1, 2, 3,\n 4, 5 };\nint x;", 2, "goes on"),
        ("bin", b"\0\0\0\0", 1, "4 bytes"),
        ("ixp", b"", 1, "not an ixp image"),
        ("ixp", b"ixp 9\n", 1, "reads 'ixp 1'"),
        ("ixp", b"ixp 1\ncontexts 5\n", 2, "4 or 8"),
        ("ixp", b"ixp 1\ncontexts 8\nwords 1\n", 3, "ends here"),
    ],
)
def test_malformed_files_are_refused_with_their_line(format: str, content: bytes, line: int, part: str) -> None:
    with pytest.raises(UserError) as caught:
        from_bytes(content, format, "file.x")
    diagnostic = caught.value.diagnostics[0]
    assert part in diagnostic.message
    assert diagnostic.origin is not None and diagnostic.origin.span.line == line
    assert diagnostic.help


def test_every_truncation_of_an_ixp_image_is_refused() -> None:
    content = to_bytes(sample(), "ixp")
    for size in range(len(content)):
        with pytest.raises(UserError):
            from_bytes(content[:size], "ixp")


def test_every_changed_byte_of_an_ixp_image_is_refused() -> None:
    content = to_bytes(sample(), "ixp")
    for position in range(len(content)):
        for change in (0x01, 0x20, 0x80):
            damaged = bytearray(content)
            damaged[position] ^= change
            with pytest.raises(UserError):
                from_bytes(bytes(damaged), "ixp")


def test_consistent_check_sum_does_not_excuse_a_wrong_record() -> None:
    body = b'ixp 1\ncontexts 8\nwords 0\nlabels 1\n"x" y\n'
    with pytest.raises(UserError, match="not a row of 'labels'"):
        from_bytes(body + f"end {zlib.crc32(body):08x}\n".encode(), "ixp")


@given(st.binary(max_size=80), st.sampled_from(FORMATS))
def test_any_bytes_give_an_image_or_a_diagnostic(content: bytes, format: str) -> None:
    try:
        from_bytes(content, format)
    except UserError as error:
        assert error.diagnostics[0].origin is not None


def test_files_are_written_whole_and_leave_nothing_behind(tmp_path: Path) -> None:
    sample().save(tmp_path / "out.ixp")
    assert Image.load(tmp_path / "out.ixp") == sample()
    sample().save(tmp_path / "out.words")
    assert (tmp_path / "out.words").read_text().startswith("# 3 words")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.ixp", "out.words"]
    with pytest.raises(UserError, match="cannot write"):
        sample().save(tmp_path / "nowhere" / "out.ixp")
    with pytest.raises(UserError, match="cannot read"):
        Image.load(tmp_path / "missing.ixp")
    with pytest.raises(UserError, match="no image format 'elf'"):
        sample().save(tmp_path / "out.ixp", "elf")


def test_words_wider_than_40_bits_are_refused() -> None:
    with pytest.raises(UserError, match="40 bits"):
        Image.from_words([1 << 40])


LINES = """\
#macro one(r)
    alu[r, r, +, 1]
#endm
#macro two(r)
    one(r)
    ; a remark
    one(r)
#endm
.reg a b

begin#:
    immed[a, 1]
    .if (a == 0x12345)
        two(a)
    .endif
end#: also#:
    ; of this label
    ctx_arb[kill]
last#:
"""


def test_lines_and_the_words_where_they_begin() -> None:
    image = assemble("folder/lines.uc", text=LINES)
    at = {line: image.addresses("lines.uc", line) for line in range(1, LINES.count("\n") + 2)}
    labels = image.labels
    assert at[12] == (0,) and at[11] == at[10] == at[9] == (0,)             # a label's line is that of the word behind it
    assert at[13] == (1,)                                                   # four words, one beginning
    first = labels["end#"] - 2
    assert at[14] == (first,) and at[2] == (first, first + 1) == at[1]      # the call, and the macro's line in each expansion
    assert at[5] == (first,) and at[6] == at[7] == (first + 1,)
    assert at[16] == at[17] == at[18] == (labels["end#"],) == (labels["also#"],)
    assert at[19] == at[20] == ()
    assert image.addresses("folder/lines.uc", 12) == (0,)
    with pytest.raises(UserError, match=r"no word comes from a file 'line.uc'"):
        image.addresses("line.uc", 1)
    with pytest.raises(UserError, match="says nothing of its source"):
        Image.from_words([0]).addresses("lines.uc", 1)


def test_a_breakpoint_on_the_line_of_a_label_stops_at_its_word() -> None:
    image = assemble("p.uc", text=".reg a\nimmed[a, 1]\nloop#:\n\nalu[a, a, +, 1]\nbr[loop#]\n")
    chip = Chip()
    chip.load(0, image)
    (address,) = image.addresses("p.uc", 3)
    chip.break_at(0, address)
    assert chip.run(cycles=100, to_break=True).reason == "break" and address == image.labels["loop#"]
