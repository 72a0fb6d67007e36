"""What the assembler takes for granted about a command with indirect_ref: it may fill fewer registers, or others."""

from ixpemu import assemble
from ixpemu.asm.checker import check
from ixpemu.asm.pipeline import assemble_program
from ixpemu.isa import instruction_set

TEXT = """
.reg base other sum
.reg read $first $second
.xfer_order $first $second
.reg read $between
.sig done
immed[base, 0x100]
sram[read, $first, base, 0, 2], ctx_swap[done]
alu[sum, $first, +, 0]
sram[read, $between, base, 16, 1], ctx_swap[done]
alu[sum, sum, +, $between]
alu[--, --, B, sum]
sram[read, $first, base, 32, {count}], ctx_swap[done]{option}
alu[sum, sum, +, $first]
alu[sum, sum, +, $second]
halt
"""


def place(image: object, name: str) -> int:
    """The number of a read transfer register."""
    return int(image.registers[f"$l0000!{name}"].lstrip("$"))  # type: ignore[attr-defined]


def test_a_register_that_a_command_may_fill_keeps_its_value() -> None:
    """`$second` holds the first read's word if the count asked for is 1: nothing else may use its register meanwhile."""
    image = assemble(text=TEXT.format(count="max_2", option=", indirect_ref"))
    assert place(image, "between") != place(image, "second")


def test_without_the_option_the_value_is_replaced() -> None:
    image = assemble(text=TEXT.format(count="2", option=""))
    assert place(image, "between") in (place(image, "first"), place(image, "second"))


def test_a_first_value_makes_no_warning_and_binds_nothing_before_it() -> None:
    """What an indirect read alone fills is no value before it: another register may be there."""
    text = TEXT.replace("sram[read, $first, base, 0, 2], ctx_swap[done]\nalu[sum, $first, +, 0]\n", "immed[sum, 0]\n")
    image = assemble(text=text.format(count="max_2", option=", indirect_ref"))
    assert place(image, "between") in (place(image, "first"), place(image, "second"))


def test_the_checker_sees_an_allocation_that_would_lose_it() -> None:
    """The words of the program without the option, with the option's bit set, put `$between` where `$second` may stay."""
    isa = instruction_set()
    loose = assemble_program(text=TEXT.format(count="2", option=""))
    kept = assemble_program(text=TEXT.format(count="max_2", option=", indirect_ref"))
    words = loose.image.words.tolist()
    words[6] = kept.image.words.tolist()[6]
    assert check(kept.program, kept.image.words.tolist(), isa) == []
    assert place(loose.image, "between") == place(loose.image, "second") or place(loose.image, "between") == 0
    found = check(kept.program, words, isa)
    assert found == ["word 7: $l0000!first is not where this reads it"]
