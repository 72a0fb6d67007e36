"""Names whose place the text gives: they get it, others keep out of it, and what cannot be is said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ixpemu import codes
from ixpemu.asm import checker
from ixpemu.asm.allocate import Allocation, allocate, physical
from ixpemu.asm.encode import encode
from ixpemu.asm.findings import Findings
from ixpemu.asm.front import read_program
from ixpemu.asm.places import registers
from ixpemu.asm.program import Fixed, Program
from ixpemu.diagnostics import AssemblyError, Severity
from ixpemu.isa import instruction_set

ISA = instruction_set()


def fixed(text: str, **places: Fixed) -> Program:
    """The program with some of its names, those of scope 0, put into places."""
    program = read_program(text=text)
    wanted = {name.replace("at_", "@").replace("x_", "$"): place for name, place in places.items()}
    for table in (program.symbols, program.signals):
        for name, symbol in list(table.items()):
            if symbol.spelling in wanted:
                table[name] = replace(symbol, fixed=wanted[symbol.spelling])  # type: ignore[type-var]
    return program


def placed(program: Program) -> dict[str, str]:
    """Spelling to places, after the checker has agreed."""
    allocation = allocate(program, ISA, Findings())
    words = encode(program, physical(allocation, Findings()), ISA, Findings())
    assert checker.check(program, words, ISA) == []
    spelling = {**program.symbols, **program.signals}
    return {spelling[name].spelling: text for name, text in registers(allocation).items()}


def refused(program: Program) -> tuple[set[int], str]:
    with pytest.raises(AssemblyError) as caught:
        allocate(program, ISA, Findings())
    errors = [one for one in caught.value.diagnostics if one.severity is Severity.ERROR]
    return {one.code for one in errors}, " ".join(one.message for one in errors)


PLAIN = """
.reg a b c @d @e $in $out
.sig s t
immed[a, 1]
immed[b, 2]
immed[@d, 3]
immed[@e, 4]
alu[c, a, +, b]
alu[$out, c, +, @d]
sram[write, $out, a, 0, 1], ctx_swap[s]
sram[read, $in, a, 0, 1], ctx_swap[t]
dram[rbuf_rd, --, a, 0, 1], ctx_swap[t]
alu[--, @e, +, $in]
alu[--, a, +, b]
ctx_arb[kill]
"""


def test_fixed_names_get_their_places() -> None:
    found = placed(fixed(PLAIN, a=Fixed(7, "b"), c=Fixed(bank="a"), b=Fixed(9), x_in=Fixed(5), x_out=Fixed(11), s=Fixed(9)))
    assert (found["a"], found["b"], found["$in"], found["$out"], found["s"]) == ("b7", "a9", "$5", "$11", "s9")
    assert found["c"].startswith("a")


def test_the_others_keep_out_of_a_place_only_while_it_is_used() -> None:
    text = ".reg a b c\nimmed[a, 1]\nalu[--, --, B, a]\nimmed[b, 1]\nimmed[c, 1]\nalu[--, b, +, c]\nctx_arb[kill]\n"
    found = placed(fixed(text, a=Fixed(0, "a"), b=Fixed(0, "a")))
    assert found["a"] == found["b"] == "a0"


@pytest.mark.parametrize("number", [0, 37, 127])
def test_an_absolute_register_takes_its_relative_number_from_everybody(number: int) -> None:
    found = placed(fixed(PLAIN, at_d=Fixed(number, "a")))
    assert found["@d"] == f"@a{number}"
    relative = {found[name] for name in "abc"}
    assert f"a{number % 16}" not in relative
    # The other one is packed into another context's register of the same number.
    assert int(found["@e"][2:]) % 16 == number % 16


def test_an_absolute_register_keeps_off_the_number_of_a_fixed_relative_one() -> None:
    found = placed(fixed(PLAIN, a=Fixed(0, "a"), b=Fixed(0, "b")))
    assert int(found["@d"][2:]) % 16 != 0


@pytest.mark.parametrize(("name", "place"), [
    ("a", Fixed(16, "a")), ("b", Fixed(40)), ("x_in", Fixed(16)), ("s", Fixed(0)), ("s", Fixed(16)),
    ("t", Fixed(3)), ("t", Fixed(15)), ("at_d", Fixed(128, "a")), ("at_d", Fixed(3)),
])
def test_places_that_do_not_exist(name: str, place: Fixed) -> None:
    assert refused(fixed(PLAIN, **{name: place}))[0] == {codes.FIXED_PLACE}


@pytest.mark.parametrize("places", [
    {"a": Fixed(3, "a"), "b": Fixed(3, "a")},
    {"a": Fixed(3, "a"), "at_d": Fixed(19, "a")},
    {"at_e": Fixed(19, "a"), "at_d": Fixed(19, "a")},
])
def test_two_names_in_one_place(places: dict[str, Fixed]) -> None:
    assert refused(fixed(PLAIN, **places))[0] == {codes.FIXED_PLACE}


def test_two_sources_in_one_bank() -> None:
    found, message = refused(fixed(PLAIN, a=Fixed(bank="a"), b=Fixed(4, "a")))
    assert found == {codes.BANK_CONFLICT}
    assert "are given one bank" in message
    chain = ".reg a b c\nimmed[a, 1]\nimmed[b, 1]\nimmed[c, 1]\nalu[--, a, +, b]\nalu[--, b, +, c]\nctx_arb[kill]\n"
    found, message = refused(fixed(chain, a=Fixed(bank="a"), c=Fixed(bank="b")))
    assert found == {codes.BANK_CONFLICT}
    assert "are given two banks, and a chain of 2 pairs" in message


def test_four_contexts() -> None:
    assert placed(fixed(".num_contexts 4\n" + PLAIN, a=Fixed(31, "a"), x_in=Fixed(31)))["a"] == "a31"


def test_an_order_follows_its_fixed_register() -> None:
    text = ".reg $a $b r\n.sig s\n.xfer_order $a $b\nimmed[r, 0]\nsram[read, $a, r, 0, 2], ctx_swap[s]\nalu[--, --, B, $b]\n" \
           "alu[--, --, B, $a]\nctx_arb[kill]\n"
    assert placed(fixed(text, x_b=Fixed(9)))["$a"] == "$8"
    assert refused(fixed(text, x_b=Fixed(0)))[0] == {codes.OUT_OF_TRANSFERS}


def test_nothing_is_fixed_by_itself() -> None:
    allocation = allocate(read_program(text=PLAIN), ISA, Findings())
    assert isinstance(allocation, Allocation)
    assert allocation.webs is not None and all(web.variable.fixed is None for web in allocation.webs.webs)
