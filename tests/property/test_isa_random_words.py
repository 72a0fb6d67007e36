"""Any 40-bit word: decoding never fails, and what it reads as assembles to the same word or is known not to."""

from hypothesis import given, settings
from hypothesis import strategies as st

from ixpemu.isa import instruction_set, parse_physical_instruction

FORMS = [form for block in instruction_set().blocks.values() for form in block.forms]


@st.composite
def likely_words(draw: st.DrawFn) -> int:
    """A word with the fixed bits of some form and anything in its fields, now and then with a fixed bit wrong."""
    form = draw(st.sampled_from(FORMS))
    word = draw(st.integers(0, 2**40 - 1)) & ~form.fixed_mask | form.fixed_bits
    return word ^ draw(st.sampled_from([0, 0, 0, *(1 << bit for bit in range(40))]))


@settings(max_examples=800, deadline=None)
@given(word=st.one_of(likely_words(), st.integers(0, 2**40 - 1)), contexts=st.sampled_from([8, 4]))
def test_decode_any_word(word: int, contexts: int) -> None:
    isa = instruction_set()
    decoded = isa.decode(word, contexts)
    text = isa.disassemble(word, contexts)
    if decoded is not None and decoded.canonical:
        operation = parse_physical_instruction(text)
        assert isa.encode(operation, contexts) == word
        assert isa.facts(operation) == decoded.facts
        assert isa.variant(operation) is decoded.variant
    else:
        assert text.startswith(f".word 0x{word:010x}")


@settings(max_examples=300, deadline=None)
@given(word=st.integers())
def test_numbers_that_are_no_words(word: int) -> None:
    if not 0 <= word < 2**40:
        assert instruction_set().decode(word) is None
