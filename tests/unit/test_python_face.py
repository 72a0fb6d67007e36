"""What someone at a Python prompt sees: objects in one line, mistakes with their place, no values that make no sense later."""

import pytest

from ixpemu import AssemblyError, Chip, Image, UserError, assemble


def test_objects_are_shown_in_a_line() -> None:
    image = assemble(text="loop#:\nimmed[a, 1]\nbr[loop#]\n")
    assert repr(image) == "<image of 2 words for 8 contexts>"
    chip = Chip()
    chip.sram[0].write(0x100, 1)
    assert repr(chip.snapshot()) == "<snapshot of a chip at cycle 0: 1 pages of memory written>"


def test_an_error_that_nobody_catches_says_where_and_what_to_do_and_leaves_warnings_out() -> None:
    with pytest.raises(AssemblyError) as caught:
        assemble(text="immed[a, 1]\nimmed[b, 0x12345678]\n")
    assert len(caught.value.diagnostics) > 1
    text = str(caught.value)
    assert text.startswith("error IXP3020: 0x12345678 ")
    assert ":2:10" in text and "help: load the lower half" in text
    assert "warning" not in text


@pytest.mark.parametrize("keyword", ["cycles", "packets"])
@pytest.mark.parametrize("value", [1.5, 1e6, -1])
def test_a_run_is_for_a_whole_number(keyword: str, value: float) -> None:
    chip = Chip()
    with pytest.raises(UserError, match="cannot run for"):
        chip.run(**{keyword: value})  # type: ignore[arg-type]
    assert chip.cycle == 0


def test_what_is_no_program_is_not_loaded() -> None:
    chip = Chip()
    chip.load_words(0, [1])
    with pytest.raises(UserError, match="is no image"):
        chip.load(0, "program.uc")  # type: ignore[arg-type]
    with pytest.raises(UserError, match="word 1 is 0x10000000000, and an instruction has 40 bits"):
        chip.load_words(0, [1, 1 << 40])
    assert list(chip.me[0].store) == [1]
    chip.load(1, Image.from_words([(1 << 40) - 1]))


def test_every_stop_says_where_the_chip_is() -> None:
    chip = Chip()
    chip.load(0, assemble(text="loop#:\nnop\nbr[loop#]\n"))
    assert chip.step(0).message == "step at cycle 2; me0 ctx0 at 1"
    assert chip.run(cycles=7).message.startswith("cycles at cycle 9; me0 ctx0 at ")
