"""Copies: what they make equal shares a register where nothing else is lost by it, and the instruction stays."""

from __future__ import annotations

import pytest

from ixpemu.asm import checker
from ixpemu.asm.loops import depths
from ixpemu.asm.pipeline import assemble_program
from ixpemu.isa import instruction_set

HEAD = ".reg a b c d\nimmed[a, 1]\n"
TAIL = "ctx_arb[kill]\n"


def places(text: str) -> dict[str, str]:
    """The registers of a program that the checker accepts, each word one line."""
    made = assemble_program(text=HEAD + text + TAIL)
    words = list(made.image.values)
    assert checker.check(made.program, words, instruction_set()) == []
    assert len(words) == text.count("[") + 2
    return {name.split("!")[1]: place for name, place in made.image.registers.items()}


def test_a_copy_of_what_is_not_needed_any_more() -> None:
    found = places("alu[b, --, B, a]\nalu[--, b, +, 1]\n")
    assert found["a"] == found["b"]


def test_both_are_needed_and_neither_changes() -> None:
    found = places("alu[b, --, B, a]\nalu[--, b, +, 1]\nalu[--, a, +, 1]\n")
    assert found["a"] == found["b"]


@pytest.mark.parametrize("changed", ["a", "b"])
def test_one_changes_while_the_other_is_needed(changed: str) -> None:
    other = "ab".replace(changed, "")
    found = places(f"alu[b, --, B, a]\nld_field[{changed}, 0001, 5]\nalu[--, {other}, +, 1]\nalu[--, {changed}, +, 1]\n")
    assert found["a"] != found["b"]


def test_equal_to_what_is_copied_though_no_copy_of_each_other() -> None:
    found = places("alu[b, --, B, a]\nalu[c, --, B, b]\nalu[--, a, +, 1]\nalu[--, b, +, 1]\nalu[--, c, +, 1]\n")
    assert found["a"] == found["b"] == found["c"]


def test_a_copy_on_one_path_only_makes_nothing_equal() -> None:
    text = "immed[b, 2]\nbeq[on#]\nalu[b, --, B, a]\non#:\nalu[c, --, B, b]\nalu[--, a, +, 1]\nalu[--, c, +, 1]\n"
    made = assemble_program(text=HEAD + text + TAIL)
    found = {name.split("!")[1]: place for name, place in made.image.registers.items()}
    assert found["a"] != found["c"]
    assert checker.check(made.program, list(made.image.values), instruction_set()) == []


def test_the_banks_have_the_last_word() -> None:
    found = places("alu[b, --, B, a]\nalu[--, a, +, b]\n")
    assert found["a"] != found["b"]


def test_volatile_names_share_with_nobody() -> None:
    text = ".reg volatile v\n.reg w\nimmed[v, 1]\nalu[w, --, B, v]\nalu[--, w, +, 1]\nctx_arb[kill]\n"
    found = assemble_program(text=text).image.registers
    assert found["l0000!v"] != found["l0000!w"]


def test_nested_loops_are_told_apart() -> None:
    # 0 -> 1 -> 2 -> 3, back from 2 to 2, from 3 to 1; 4 behind.
    assert depths([[1], [2], [2, 3], [1, 4], []]) == [0, 1, 2, 1, 0]
    assert depths([[1], [0]]) == [1, 1]
    assert depths([]) == []
