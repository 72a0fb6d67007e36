"""Known words both ways: those of real IXP2400 microcode (tests/corpus/words.tsv), those computed by hand from the encoding
document (words_computed.tsv), and the examples of the blocks."""

from pathlib import Path

import pytest

from ixpemu.isa import instruction_set, parse_physical_instruction

CORPUS = Path(__file__).parents[1] / "corpus"


def rows(name: str) -> list[list[str]]:
    """The rows of a table of the corpus, by column."""
    lines = (CORPUS / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


PUBLISHED = [(row[0], int(row[1], 16)) for row in rows("words.tsv")]
COMPUTED = [(row[0], int(row[1], 16), int(row[2])) for row in rows("words_computed.tsv")]
EXAMPLES = [example for block in instruction_set().blocks.values() for example in block.examples]


def test_the_corpus_has_its_rows() -> None:
    assert len(PUBLISHED) == 26
    assert len(COMPUTED) == 202


@pytest.mark.parametrize(("text", "word", "contexts"), COMPUTED)
def test_computed_words_both_ways(text: str, word: int, contexts: int) -> None:
    isa = instruction_set()
    assert f"{isa.encode(parse_physical_instruction(text), contexts):010x}" == f"{word:010x}"
    decoded = isa.decode(word, contexts)
    assert decoded is not None and decoded.canonical
    assert isa.encode(parse_physical_instruction(isa.disassemble(word, contexts)), contexts) == word


def test_the_computed_words_reach_every_block() -> None:
    isa = instruction_set()
    decoded = [isa.decode(word, contexts) for text, word, contexts in [*COMPUTED, *((*row, 8) for row in PUBLISHED)]]
    reached = {found.block.name for found in decoded if found is not None}
    assert {block.name for block in isa.blocks.values() if block.spelling_of is None} <= reached


@pytest.mark.parametrize(("text", "word"), [*PUBLISHED, *EXAMPLES])
def test_text_to_word(text: str, word: int) -> None:
    assert f"{instruction_set().encode(parse_physical_instruction(text)):010x}" == f"{word:010x}"


@pytest.mark.parametrize(("text", "word"), [*PUBLISHED, *EXAMPLES])
def test_word_to_text_and_back(text: str, word: int) -> None:
    isa = instruction_set()
    back = isa.disassemble(word)
    assert not back.startswith(".word")
    assert isa.encode(parse_physical_instruction(back)) == word


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("bcs[l1#]", "bhs[l1#]"),
        ("bcc[l1#]", "blo[l1#]"),
        ("ctx_arb[bpt]", "halt"),
        ("jump[a3, l0#]", "rtn[a3]"),
        ("load_addr[a5, l48#]", "immed[a5, 0x30]"),
        ("immed[--, 0]", "nop"),
        ("alu_shf[a1, --, b, b2, <<0]", "alu_shf[a1, --, B, b2]"),
        ("alu_shf[a1, --, b, b2, >>0]", "alu_shf[a1, --, B, b2]"),
        ("alu_shf[a1, --, b, b2, >>rot5]", "alu_shf[a1, --, B, b2, <<rot27]"),
        ("alu[a1, --, b, b2, >>5]", "alu_shf[a1, --, B, b2, >>5]"),
        ("sram[read, $1, 0, a2, 2], ctx_swap[s4]", "sram[read, $1, a2, 0, 2], ctx_swap[s4]"),
        ("ctx_arb[s2, s1], all", "ctx_arb[s1, s2]"),
        ("sram[read, $1, a2, 0, 8], sig_done[s4], indirect_ref", "sram[read, $1, a2, 0, max_8], sig_done[s4], indirect_ref"),
        ("ALU[A1, B2, XOR, A3]", "alu[a1, b2, XOR, a3]"),
        ("immed[a1, 0x120000]", "immed[a1, 0x1200, <<8]"),
        ("immed[a1, -2]", "immed[a1, 0xfffffffe]"),
        ("local_csr_rd[0x44]", "local_csr_rd[ACTIVE_CTX_STS]"),
        ("local_csr_rd[0x1ff0]", "local_csr_rd[0x1ff0]"),
    ],
)
def test_two_texts_one_word(written: str, canonical: str) -> None:
    isa = instruction_set()
    word = isa.encode(parse_physical_instruction(written))
    assert isa.disassemble(word) == canonical
    assert isa.encode(parse_physical_instruction(canonical)) == word


@pytest.mark.parametrize(
    ("word", "text"),
    [
        (0xF0000C0300 | 1 << 28, ".word 0xf0100c0300"),                 # an unlisted bit
        (0xD802C00100 | 12, ".word 0xd802c0010c"),                      # a condition that does not exist
        (0xE000010002, ".word 0xe000010002"),                           # any of one signal
        (0x3600000000, ".word 0x3600000000"),                           # a hash of no key
        (0x0042108002 & ~(0xF << 28), ".word 0x0002108002"),            # ctx_swap without a signal
        (0x8000000000 | 1 << 33 | 3 << 8, ".word 0x8200000300"),        # double shift with another operation than B
    ],
)
def test_illegal_words(word: int, text: str) -> None:
    assert instruction_set().decode(word) is None
    assert instruction_set().disassemble(word) == text


@pytest.mark.parametrize(
    ("word", "reading"),
    [
        (0xB0C0300F01 ^ 1 << 30, "alu[b3, a1, +, b12]"),
        (0x2823008002, "dram[read, $$0, a2, 0, 2], ctx_swap[s2]"),
    ],
)
def test_readings(word: int, reading: str) -> None:
    decoded = instruction_set().decode(word)
    assert decoded is not None
    text = instruction_set().format(decoded.operation)
    assert text.split("[")[0] == reading.split("[")[0]


def test_a_word_no_text_gives_prints_as_word_with_its_reading() -> None:
    isa = instruction_set()
    needless_swap = isa.encode(parse_physical_instruction("alu[a1, $0, +, $$1]")) | 1 << 30
    decoded = isa.decode(needless_swap)
    assert decoded is not None
    assert not decoded.canonical
    assert isa.disassemble(needless_swap) == f".word 0x{needless_swap:010x} ; alu[a1, $$1, +, $0]"


def test_an_odd_signal_of_a_pair_has_a_reading_but_no_text() -> None:
    isa = instruction_set()
    word = isa.encode(parse_physical_instruction("dram[read, $$0, a2, 0, 2], ctx_swap[s4]")) | 1 << 28
    decoded = isa.decode(word)
    assert decoded is not None
    assert not decoded.canonical


def test_four_contexts_see_thirty_two_registers() -> None:
    isa = instruction_set()
    word = isa.encode(parse_physical_instruction("alu[a31, b16, +, $20]"), contexts=4)
    assert isa.disassemble(word, contexts=4) == "alu[a31, b16, +, $20]"
    assert isa.decode(word) is None


def test_transfer_bit_4_is_the_other_class_with_eight_contexts_and_a_number_with_four() -> None:
    isa = instruction_set()
    word = isa.encode(parse_physical_instruction("sram[read, $$3, a2, 0, 1]"))
    assert isa.disassemble(word) == "sram[read, $$3, a2, 0, 1]"
    assert isa.disassemble(word, contexts=4) == "sram[read, $19, a2, 0, 1]"
    assert isa.encode(parse_physical_instruction("sram[read, $19, a2, 0, 1]"), contexts=4) == word
