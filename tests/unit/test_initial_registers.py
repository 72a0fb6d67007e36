"""Registers that `.init` gives a value count as written, whatever the value: nothing is told of reading them."""

from __future__ import annotations

import pytest

from ixpemu import Chip, assemble
from ixpemu.asm.pipeline import assemble_program

SOURCE = """
.reg one {register} $out
.sig done
{init}
    immed[one, 1]
    alu[$out, one, +, {register}]
    sram[write, $out, one, 3, 1], ctx_swap[done]
    ctx_arb[kill]
"""


@pytest.mark.parametrize("register", ["two", "@two", "$two", "$$two"])
@pytest.mark.parametrize("value", [0, 5])
def test_a_register_with_an_initial_value_is_written(register: str, value: int) -> None:
    text = SOURCE.format(register=register, init=f".init {register} {value}")
    assert assemble_program(text=text).diagnostics == ()
    chip = Chip()
    chip.load(0, assemble(text=text))
    chip.run(cycles=1000)
    assert chip.reserved_places == []
    assert chip.sram[0].read(4, 1)[0] == 1 + value


def test_of_one_context_alone_it_is_not_of_the_others() -> None:
    chip = Chip()
    chip.load(0, assemble(text=SOURCE.format(register="two", init=".init_ctx 1 two 0")), start=False)
    chip.start(0, 0b11)
    chip.run(cycles=2000)
    assert [(found.rule.label, found.ctx) for found in chip.reserved_places] == [("IXP7022", 0)]


def test_without_a_value_it_is_told() -> None:
    chip = Chip()
    chip.load(0, assemble(text=SOURCE.format(register="two", init="")))
    chip.run(cycles=1000)
    assert [found.rule.label for found in chip.reserved_places] == ["IXP7022"]


def test_a_replay_knows_it_too() -> None:
    chip = Chip()
    chip.load(0, assemble(text=SOURCE.format(register="two", init=".init two 0")))
    chip.run(cycles=5)
    before = chip.snapshot()
    chip.run(cycles=1000)
    chip.restore(before)
    chip.run(cycles=1000)
    assert chip.reserved_places == []
