"""--repair: where a move may go, what goes to local memory, what it says about it, and where it cannot help."""

from __future__ import annotations

import pytest

from ixpemu import codes
from ixpemu.asm.checker import check
from ixpemu.asm.pipeline import Assembly, assemble_program
from ixpemu.diagnostics import AssemblyError, Severity
from ixpemu.isa import instruction_set

HEAD = ".reg x y z w sum\nimmed[x, 1]\nimmed[y, 2]\nimmed[z, 3]\nimmed[w, 4]\n"
TAIL = "alu[--, x, +, 1]\nalu[--, y, +, 1]\nalu[--, z, +, 1]\nctx_arb[kill]\n"


def mended(text: str) -> Assembly:
    made = assemble_program(text=text, repair=True)
    assert check(made.program, list(made.image.values), instruction_set()) == []
    return made


def lines(made: Assembly) -> list[str]:
    """The statements, `+` for what was inserted."""
    return ["+" if "--repair" in one.source else one.source for one in made.program.instructions]


def moves(made: Assembly) -> list[str]:
    return [one.message for one in made.diagnostics if one.code == codes.REPAIR_MOVE]


def test_a_program_that_fits_stays_as_it_is() -> None:
    text = HEAD + "alu[sum, x, +, y]\nalu[--, --, B, sum]\n" + TAIL
    assert mended(text).image.words.tolist() == assemble_program(text=text).image.words.tolist()


def test_one_source_twice() -> None:
    made = mended(HEAD + "alu[sum, x, +, x]\nalu[--, --, B, sum]\n" + TAIL)
    assert lines(made)[4:6] == ["+", "alu[sum, x, +, x]"]
    assert moves(made) == ["`x` is copied to a register of the other bank for this: 1 cycle each time"]


def test_the_cheapest_pair_of_a_circle_is_parted() -> None:
    text = HEAD + "alu[sum, x, +, y]\nalu[sum, y, +, z]\nagain#:\nalu[sum, sum, +, 1]\nalu[sum, z, +, x]\nbne[again#]\n" + TAIL
    made = mended(text)
    assert len(moves(made)) == 1 and "loop" not in moves(made)[0]
    inside = HEAD + "again#:\nalu[sum, x, +, y]\nalu[sum, y, +, z]\nalu[sum, z, +, x]\nbne[again#]\n" + TAIL
    assert moves(mended(inside))[0].endswith("1 cycle each time, in 1 loop")


def test_a_move_leaves_condition_codes_and_the_previous_result_alone() -> None:
    carry = mended(HEAD + "alu[sum, x, +, 5]\nalu[sum, y, +carry, y]\nalu[--, --, B, sum]\n" + TAIL)
    assert lines(carry)[4:7] == ["alu[sum, x, +, 5]", "+", "alu[sum, y, +carry, y]"]
    assert not instruction_set().facts(carry.program.instructions[5].operation).writes_cc
    shift = mended(HEAD + "alu[--, x, OR, 5]\nalu_shf[sum, y, OR, y, >>indirect]\nalu[--, --, B, sum]\n" + TAIL)
    assert lines(shift)[4:7] == ["+", "alu[--, x, OR, 5]", "alu_shf[sum, y, OR, y, >>indirect]"]


def test_a_move_for_a_defer_slot_comes_before_its_branch() -> None:
    made = mended(HEAD + "beq[on#], defer[1]\nalu[sum, y, +, y]\nalu[sum, x, +, 1]\non#:\nalu[--, --, B, sum]\n" + TAIL)
    assert lines(made)[4:7] == ["+", "beq[on#], defer[1]", "alu[sum, y, +, y]"]


def test_a_move_has_the_label_of_what_it_serves() -> None:
    made = mended(HEAD + "again#:\nalu[sum, y, +, y]\nbne[again#]\nalu[--, --, B, sum]\n" + TAIL)
    assert made.program.labels["again#"] == 4 and lines(made)[4] == "+"


def test_nothing_comes_between_a_pointer_and_its_shadow() -> None:
    text = HEAD + "local_csr_wr[ACTIVE_LM_ADDR_0, w]\nalu[sum, *l$index0[0], +, 1]\nalu[sum, y, +, y]\nnop\nnop\n" \
           "alu[--, --, B, sum]\n" + TAIL
    assert lines(mended(text))[4:7] == ["+", "local_csr_wr[ACTIVE_LM_ADDR_0, w]", "alu[sum, *l$index0[0], +, 1]"]


def test_a_table_of_jumps_keeps_its_distances() -> None:
    text = HEAD + "jump[w, table#], targets[one#, two#]\ntable#:\none#:\nbr[out#]\ntwo#:\nalu[sum, y, +, y]\nout#:\n" + TAIL
    with pytest.raises(AssemblyError) as caught:
        assemble_program(text=text, repair=True)
    assert {one.code for one in caught.value.diagnostics if one.severity is Severity.ERROR} == {codes.BANK_CONFLICT}
    said = next(one.message for one in caught.value.diagnostics if one.code == codes.REPAIR_FAILED)
    assert said == "--repair does not help here: there is no place for a move before line 11, and it has to be there"


def test_an_absolute_source_moves_where_the_codes_are_not_needed() -> None:
    text = ".reg @g x\nimmed[@g, 1]\nimmed[x, 2]\nalu[x, x, +, 5]\nalu[x, @g, +, @g]\nalu[--, x, +, 1]\nctx_arb[kill]\n"
    assert lines(mended(text))[3] == "+"
    text = text.replace("@g, +, @g", "@g, +carry, @g")
    assert lines(mended(text))[2:4] == ["+", "alu[x, x, +, 5]"]
    with pytest.raises(AssemblyError):
        assemble_program(text=text.replace("alu[x, @g", "again#:\nalu[x, @g").replace("ctx", "bne[again#]\nctx"), repair=True)


def crowd(count: int, extra: str = "") -> str:
    names = [f"r{number}" for number in range(count)]
    return "\n".join([f".reg {' '.join(names)}", *(f"immed[{name}, 1]" for name in names), extra,
                      *(f"alu[--, --, B, {name}]" for name in names), "ctx_arb[kill]"]) + "\n"


def spills(made: Assembly) -> list[str]:
    return [one.message for one in made.diagnostics if one.code == codes.REPAIR_SPILL]


def test_values_in_local_memory_cost_a_pointer_and_nothing_else() -> None:
    made = mended(crowd(35))
    assert len(made.image) == len(assemble_program(text=crowd(30)).image) + 5 * 2 + 9
    said = spills(made)
    assert len(said) == 3
    assert said[0].endswith("no cycle more at its 2 places; 9 cycles when a thread begins, for the pointer")
    assert said[1].endswith("no cycle more at its 2 places")


def test_the_pointer_that_is_free_is_taken() -> None:
    made = mended(crowd(34, "local_csr_wr[ACTIVE_LM_ADDR_1, 0]"))
    assert "*l$index0[0]" in spills(made)[0]


@pytest.mark.parametrize(("text", "why"), [
    (crowd(34, "local_csr_wr[ACTIVE_LM_ADDR_1, 0]\nlocal_csr_wr[ACTIVE_LM_ADDR_0, 0]"), "both local memory pointers are in use"),
    (crowd(34).replace(".reg ", ".reg volatile ", 1), "none of the values that are needed at once can be kept in local memory"),
    (crowd(34, ".reentry\nback#:"), "control comes from outside of the text"),
    (".local_mem table local 2052\n" + crowd(34), "the program's own local memory goes beyond byte 2,048"),
    (crowd(60), "16 values are in local memory, no more words behind one pointer will do"),
])
def test_where_local_memory_does_not_help(text: str, why: str) -> None:
    with pytest.raises(AssemblyError) as caught:
        assemble_program(text=text, repair=True)
    assert {one.code for one in caught.value.diagnostics if one.severity is Severity.ERROR} == {codes.OUT_OF_REGISTERS}
    assert why in next(one.message for one in caught.value.diagnostics if one.code == codes.REPAIR_FAILED)


def test_what_is_there_before_the_program_stays_in_its_register() -> None:
    made = mended(".local_mem table local 2048\n" + crowd(34).replace("immed[r0, 1]\n", ".init r0 5\n"))
    assert len(spills(made)) == 2 and not any("`r0`" in one for one in spills(made))


def test_other_mistakes_are_reported_as_ever() -> None:
    with pytest.raises(AssemblyError) as caught:
        assemble_program(text=".reg x\nimmed[x, 1]\nbr[on#], defer[1]\nbr[on#]\non#:\nalu[--, x, +, 1]\nctx_arb[kill]\n",
                         repair=True)
    assert codes.DEFER_SLOT in {one.code for one in caught.value.diagnostics}
