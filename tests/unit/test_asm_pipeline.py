"""The assembler as a whole: published words both ways, disassembly, limits, stages, and what an image knows."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ixpemu
from ixpemu import assemble, codes, disassemble
from ixpemu.asm.pipeline import assemble_program
from ixpemu.asm.stages import STAGES, stage_text
from ixpemu.diagnostics import AssemblyError, Severity, UserError
from ixpemu.image import Image, Probe
from ixpemu.isa import instruction_set
from tests.support.corpus import CORPUS, load

PUBLISHED = load(CORPUS / "asm" / "words_published.txt").sections
ROWS = list(zip(PUBLISHED["source"].splitlines()[1:], PUBLISHED["words"].splitlines(), strict=True))


def errors_of(text: str) -> list[int]:
    with pytest.raises(AssemblyError) as caught:
        assemble(text=text)
    return [one.code for one in caught.value.diagnostics if one.severity is Severity.ERROR]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_published_rows_both_ways(row: tuple[str, str]) -> None:
    source, word = row[0], int(row[1], 16)
    assert assemble(text=f".physical\n{source}\n").words.tolist() == [word]
    text = disassemble([word])
    assert ".word" not in text
    assert assemble(text=text).words.tolist() == [word]


def test_what_is_planned_is_refused_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    """An instruction, or a command of one, that the machine has and that has no block is no unknown one."""
    monkeypatch.setitem(vars(instruction_set()), "planned", frozenset(("dma", "scratch.enqueue")))
    found = ".reg x\n.sig s\nimmed[x, 0]\ndma[x]\nscratch[enqueue, --, x, 0]\nscratch[enqueues, --, x, 0]"
    assert errors_of(found) == [codes.INSTRUCTION_PLANNED, codes.INSTRUCTION_PLANNED, codes.OPERAND_WORD]


@pytest.mark.parametrize("contexts", [8, 4])
def test_computed_rows_as_one_program(contexts: int) -> None:
    table = (line.split("\t") for line in (CORPUS / "words_computed.tsv").read_text(encoding="utf-8").splitlines())
    rows = [(row[0], int(row[1], 16)) for row in table if row[0][0] != "#" and int(row[2]) == contexts]
    text = f".physical\n.num_contexts {contexts}\n" + "\n".join(source for source, _ in rows)
    words = [word for _, word in rows]
    assert assemble(text=text).words.tolist() == words
    assert assemble(text=disassemble(words, contexts)).words.tolist() == words


def test_all_published_words_as_one_program() -> None:
    words = [int(row[1], 16) for row in ROWS]
    image = Image.from_words(words)
    assert assemble(text=disassemble(image)).words.tolist() == words


def some_words() -> st.SearchStrategy[int]:
    """Words near real ones, and any words."""
    real = st.sampled_from([int(row[1], 16) for row in ROWS])
    near = st.builds(lambda word, bits: word ^ sum(1 << bit for bit in bits), real, st.sets(st.integers(0, 39), max_size=4))
    return st.one_of(real, near, st.integers(0, 2**40 - 1))


@given(st.lists(some_words(), max_size=6), st.sampled_from([4, 8]))
@settings(max_examples=150, deadline=None)
def test_any_words_disassemble_to_text_that_gives_them_again(words: list[int], contexts: int) -> None:
    text = disassemble(words, contexts)
    image = assemble(text=text)
    assert image.words.tolist() == words
    assert image.contexts == contexts
    assert disassemble(image) == text


def test_words_the_encoder_would_not_choose_keep_their_reading_as_a_comment() -> None:
    swapped = 0xA0 << 32 | 1 << 31 | 1 << 30 | 1 << 20 | (0x180 + 1) << 10 | (0x1C0 + 2)     # by the field table: a needless swap
    assert f".word 0x{swapped:010x}    ; alu[a1, $1, +, $$2]" in disassemble([swapped])
    assert assemble(text=".physical\nalu[a1, $1, +, $$2]\n").words.tolist() != [swapped]
    assert "no legal instruction" in disassemble([0xFFFFFFFFFF])


def test_labels_of_a_disassembly_are_word_addresses() -> None:
    image = assemble(text=".physical\nnop\nbr[l3#]\nnop\nl3#:\nbr[l0#]\n")
    assert disassemble(image).splitlines() == [
        ".physical", "l0#:", "    nop", "    br[l3#]", "    nop", "l3#:", "    br[l0#]",
    ]


def test_an_image_of_4096_words_is_the_largest() -> None:
    fits = "again#:\n" + "nop\n" * 4095 + "br[again#]\n"
    assert len(assemble(text=fits)) == 4096
    assert errors_of("again#:\n" + "nop\n" * 4096 + "br[again#]\n") == [codes.IMAGE_TOO_LARGE]
    assert errors_of(".physical\n" + "nop\n" * 4097) == [codes.IMAGE_TOO_LARGE]


def test_an_empty_text_is_an_empty_image() -> None:
    assert len(assemble(text="")) == 0
    assert len(assemble(text=".physical\n")) == 0
    assert disassemble([]) == ".physical\n"


def test_undefined_labels_are_refused_in_both_kinds_of_program() -> None:
    assert errors_of("br[nowhere#]\n") == [codes.LABEL_UNDEFINED]
    assert errors_of(".physical\nbr[nowhere#]\n") == [codes.LABEL_UNDEFINED]


def test_an_image_knows_labels_registers_probes_and_lines() -> None:
    text = ".reg handle @total\nimmed[handle, 1]\nstart#:\n.probe rx_done, handle\nimmed[@total, 2]\nctx_arb[kill]\n"
    image = assemble(text=text)
    assert dict(image.labels) == {"start#": 1}
    assert dict(image.registers) == {"l0000!handle": "a1", "@l0000!total": "@a0"}
    assert image.probes == (Probe("rx_done", 1, "a1"),)
    assert [entry.place.line for entry in image.debug] == [2, 5, 6]
    assert image.debug[0].source == "immed[handle, 1]"


def test_macro_calls_are_kept_innermost_first() -> None:
    text = "#macro inner\nnop\n#endm\n#macro outer\ninner\n#endm\nouter\nctx_arb[kill]\n"
    assert [name for name, _ in assemble(text=text).debug[0].macros] == ["inner", "outer"]
    listing = assemble_program(text=text).listing().splitlines()
    assert [line for line in listing if "macro_ref" in line] == [
        ".macro_ref outer", ".macro_ref inner", ".end_macro_ref inner", ".end_macro_ref outer",
    ]


def test_every_stage_is_text(tmp_path: object) -> None:
    path = tmp_path / "x.uc"  # type: ignore[operator]
    path.write_text(".reg a $x\n.sig s\nimmed[a, 1]\nsram[read, $x, a, 0, 1], ctx_swap[s]\nalu[--, a, +, $x]\nctx_arb[kill]\n")
    for stage in STAGES:
        assert stage_text(stage, path).strip()
    assert "l0000!a" in stage_text("allocate", path)
    path.write_text("#define WHERE b\nalu[a, a, +, WHERE]\nalu[a, a, +, a]\n")
    assert "alu[a, a, +, b]" in stage_text("preprocess", path)
    assert stage_text("flow", path)                         # what a later stage refuses is still shown
    with pytest.raises(AssemblyError):
        stage_text("allocate", path)
    with pytest.raises(UserError, match="no stage"):
        stage_text("link", path)


def test_names_of_the_package() -> None:
    assert ixpemu.assemble is assemble
    assert ixpemu.Image is Image


def test_a_full_control_store_assembles_fast() -> None:
    assert len(assemble(text=full_program())) == 4096     # the first time the grammar and the instruction set are loaded
    started = time.process_time()
    assemble(text=full_program())
    elapsed = time.process_time() - started
    assert elapsed < 4, f"{elapsed:.2f} s of processor time; 2 s on an idle machine is the aim"


def full_program() -> str:
    """4,096 instructions with loops, commands and a few dozen live registers."""
    names = [f"r{number}" for number in range(20)]
    lines = [f".reg {' '.join(names)} $in[4] $out[4]", ".sig s", ".xfer_order $in", ".xfer_order $out"]
    lines += [f"immed[{name}, {number}]" for number, name in enumerate(names)]
    for block in range(407):
        a, b, c = (names[(block * step) % 10 + side] for step, side in ((3, 0), (7, 10), (1, 0)))
        lines += [
            f"block{block}#:",
            f"sram[read, $in[0], {a}, 0, 4], ctx_swap[s]",
            f"alu[{c}, {a}, +, {b}]", f"alu[{b}, {a}, XOR, $in[1]]", f"alu[$out[0], --, B, {c}]",
            f"alu_shf[{a}, --, B, {c}, <<3]",
            f"alu[$out[1], --, B, {b}]", f"sram[write, $out[0], {a}, 8, 2], ctx_swap[s]",
            f"br_bset[{b}, 3, block{max(0, block - 3)}#]", f"alu[--, {c}, -, 5]", f"bne[block{max(0, block - 1)}#]",
        ]
    lines += ["nop"] * 5 + ["ctx_arb[kill]"]
    return "\n".join(lines) + "\n"
