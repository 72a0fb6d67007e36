"""Programs that fit only with --repair, executed: they leave in SRAM what a model in plain Python says.

The model knows names alone. Most of the programs cannot be divided between the banks, and those of 42 names fit no context.
"""

from __future__ import annotations

import pytest

from ixpemu import codes
from ixpemu.asm.checker import check
from ixpemu.asm.pipeline import Assembly, assemble_program
from ixpemu.chip import Chip
from ixpemu.diagnostics import AssemblyError
from ixpemu.isa import instruction_set
from tests.support.named_model import program

MANY = 42


def left_in_sram(made: Assembly, wanted: dict[int, int], contexts: int) -> dict[int, int]:
    """What the program leaves where the model expects something; every enabled context leaves the same."""
    chip = Chip(mode="fast")
    chip.load(0, made.image, start=False)
    chip.start(0, contexts)
    assert chip.run(cycles=1_000_000).reason == "quiet"
    return {address: int(chip.sram[0].read(address, 1)[0]) for address in wanted}


def repaired(seeds: range, names: int, absolutes: int, contexts: int) -> int:
    """How often something was mended."""
    mended = 0
    for seed in seeds:
        text, wanted = program(seed, names, absolutes)
        made = assemble_program(text=text, repair=True)
        assert check(made.program, list(made.image.values), instruction_set()) == [], f"seed {seed}"
        assert left_in_sram(made, wanted, contexts) == wanted, f"seed {seed}"
        done = {one.code for one in made.diagnostics}
        if not done & {codes.REPAIR_MOVE, codes.REPAIR_SPILL}:
            assemble_program(text=text)
            continue
        mended += 1
        with pytest.raises(AssemblyError):
            assemble_program(text=text)
    return mended


def test_moves_between_the_banks_change_nothing() -> None:
    assert repaired(range(10), 10, 0, 0xFF) >= 8


def test_moves_of_absolute_registers_change_nothing() -> None:
    assert repaired(range(100, 105), 8, 2, 1) >= 4


def test_values_in_local_memory_change_nothing() -> None:
    assert repaired(range(3), MANY, 0, 0xA5) == 3


@pytest.mark.soak
@pytest.mark.parametrize(("names", "absolutes", "contexts"), [(10, 0, 0xFF), (8, 2, 1), (20, 0, 0x42), (MANY, 0, 0xA5)])
def test_repaired_programs_at_length(names: int, absolutes: int, contexts: int) -> None:
    assert repaired(range(1000, 1060), names, absolutes, contexts) > 30
