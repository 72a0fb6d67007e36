"""The table proves itself, and the proofs can fail: each kind of damage to a small set is found."""

from pathlib import Path

import pytest

from ixpemu import codes
from ixpemu.diagnostics import UserError, render
from ixpemu.isa import InstructionSet, instruction_set
from ixpemu.isa.check import check, disjoint
from ixpemu.resources import folder

SMALL = """
instruction copy "copy a register"
  syntax   copy[dest, b]
  word     101 k 00000 s dddddddddd bbbbbbbbbb aaaaaaaaaa
  fields   dest = destination(unrestricted, d, k)
           b    = sources(unrestricted, a, b, s)
  do each  dest = b
  timing   issue 1   by "a test" H
  prose    "A test."
  source   "a test"   confidence H
  example  copy[b3, b3] = b000300c00
end
"""
SECOND = SMALL.replace("copy", "move").replace("00000 s", "00001 s").replace("b000300c00", "b080300c00")


def load(tmp_path: Path, *texts: str) -> InstructionSet:
    (tmp_path / "operands.isa").write_text((folder("isa") / "operands.isa").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "blocks.isa").write_text("\n".join(texts), encoding="utf-8")
    return InstructionSet.from_folder(tmp_path)


def found(tmp_path: Path, *texts: str) -> set[int]:
    return {finding.code for finding in check(load(tmp_path, *texts))}


def refused(tmp_path: Path, *texts: str) -> str:
    with pytest.raises(UserError) as caught:
        load(tmp_path, *texts)
    return "\n".join(render(diagnostic) for diagnostic in caught.value.diagnostics)


def test_the_shipped_set_is_proved() -> None:
    assert check(instruction_set()) == []


def test_the_small_set_is_sound(tmp_path: Path) -> None:
    assert found(tmp_path, SMALL, SECOND) == set()


def test_overlap_is_found(tmp_path: Path) -> None:
    assert codes.ISA_OVERLAP in found(tmp_path, SMALL, SECOND.replace("00001 s", "00000 s").replace("b080300c00", "b000300c00"))


def test_a_field_that_runs_over_anothers_code_is_found(tmp_path: Path) -> None:
    wide = SECOND.replace("00001 s", "0000v s").replace("  do each", "           v = flag(v)\n  do each").replace("b]", "b], v")
    assert codes.ISA_OVERLAP in found(tmp_path, SMALL, wide)


def test_refining_makes_an_overlap_wanted_and_is_refused_when_stale(tmp_path: Path) -> None:
    inside = SECOND.replace("00001 s dddddddddd bbbbbbbbbb aaaaaaaaaa", "00000 0 0000000000 0000000000 0000000000").replace(
        "b080300c00", "a000000000").replace("move[dest, b]", "move").replace("move[b3, b3]", "move").replace("101 k", "101 0")
    lines = [line for line in inside.splitlines() if "fields" not in line and "sources" not in line]
    inside = "\n".join(lines).replace("dest = b", "").replace("do each", "refines copy\n  do each")
    assert found(tmp_path, SMALL, inside) == set()
    stale = SECOND.replace("  do each", "  refines copy\n  do each")
    assert codes.ISA_EXEMPTION in found(tmp_path, SMALL, stale)


def test_what_is_planned_has_no_block(tmp_path: Path) -> None:
    planned = 'words planned "later"\n 0 {} 1 copy.read\n source "a test" confidence H\nend\n'
    assert found(tmp_path, SMALL, planned.format("move")) == set()
    assert codes.ISA_EXEMPTION in found(tmp_path, SMALL, planned.format("copy"))


def test_what_must_follow_is_a_block(tmp_path: Path) -> None:
    assert found(tmp_path, SMALL, SECOND.replace("  do each", "  followed by copy\n  do each")) == set()
    assert codes.ISA_EXEMPTION in found(tmp_path, SMALL, SECOND.replace("  do each", "  followed by nothing\n  do each"))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (("= b000300c00", "= b000300c01"), codes.ISA_EXAMPLE),
        (("  example  copy[b3, b3] = b000300c00\n", ""), codes.ISA_EXAMPLE),
        (("copy[b3, b3] =", "copy[b3, b33] ="), codes.ISA_EXAMPLE),
        (('source   "a test"', 'source   ""'), codes.ISA_PROVENANCE),
        (('by "a test"', 'by ""'), codes.ISA_PROVENANCE),
        (('prose    "A test."', 'prose    ""'), codes.ISA_PROVENANCE),
    ],
)
def test_damage_is_found(tmp_path: Path, change: tuple[str, str], code: int) -> None:
    assert change[0] in SMALL
    assert found(tmp_path, SMALL.replace(*change)) == {code}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("101 k", "101 0 k"), "41 columns where a word has 40"),
        (("101 k", "101 q"), "the word has no field 'k'"),
        (("  do each", "           x = flag(k)\n  do each"), "x is bound but not in the syntax"),
        (("00000 s", "0000v s"), "field 'v' is bound to nothing"),
        (("dest = b", "dest = c"), "reads c, which is no operand"),
        (("dest = b", "b = dest"), "reads dest"),
        (("dest = b", "a = b"), "assigns a, which it must not"),
        (("dest = b", "state.byte_index = b"), "assigns state.byte_index"),
        (("dest = b", "dest = twice(b)"), "there is no function twice"),
        (("dest = b", "dest = ror(b)"), "takes 2 arguments"),
        (("dest = b", "dest = b[32]"), "no run of bits"),
        (("sources(unrestricted", "sources(unheard"), "unheard"),
        (("= sources(", "= sauces("), "there is no operand codec sauces"),
        (("copy[dest, b]", "copy[dest, c]"), "operand c is bound to no field"),
        (("do each", "do op + "), "there is no case +"),
        (("timing   issue 1", "timing   izsue 1"), "timing has no izsue"),
        (("= b000300c00", "= b000"), "ten hexadecimal digits"),
        (("end", ""), "expects"),
        (("syntax ", "syntxa "), "found `syntxa`"),
    ],
)
def test_a_block_that_does_not_hold_together_is_refused(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    assert change[0] in SMALL
    message = refused(tmp_path, SMALL.replace(*change))
    assert said in message
    assert "--> blocks.isa:" in message


def test_two_blocks_of_one_name_are_refused(tmp_path: Path) -> None:
    assert "defined twice; first at blocks.isa:2" in refused(tmp_path, SMALL, SMALL)


def test_missing_folder_is_a_user_error(tmp_path: Path) -> None:
    with pytest.raises(UserError):
        InstructionSet.from_folder(tmp_path / "nothing")


def test_no_two_forms_of_the_shipped_set_share_a_word_by_trial() -> None:
    """Independent of the proof: no word of one form is also of another one, by the bits alone and by trying."""
    isa = instruction_set()
    forms = [form for block in isa.blocks.values() if block.spelling_of is None for form in block.forms if form.primary]
    assert all(not disjoint(form, form) for form in forms)
