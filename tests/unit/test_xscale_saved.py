"""A snapshot of a chip takes the XScale with it: its clock, its queue, its timers, and what the control module wants kept."""

from typing import Any

import pytest

from ixpemu import Chip, assemble
from ixpemu.xscale import XScale

TICKS = """
; Interrupts the XScale eight times.
.reg left
    br!=ctx[0, rest#]
    immed[left, 8]
again#:
    cap[fast_wr, 0, XSCALE_INT_A]
.reg wait
    immed[wait, 400]
pause#:
    alu[wait, wait, -, 1]
    bne[pause#]
    alu[left, left, -, 1]
    bne[again#]
rest#:
    ctx_arb[kill]
"""


def served(xscale: XScale) -> None:
    """Counts in Python and in memory, and has a timer count later."""
    xscale.program.append(xscale.cycle)
    xscale.sram.write(0x100, [len(xscale.program), xscale.cycle])
    xscale.after(3_000, lambda: xscale.sram.write(0x200, [xscale.cycle]))


def made() -> tuple[Chip, XScale]:
    chip = Chip()
    xscale = XScale(chip, handlers={"thread_a": served})
    xscale.program = []
    xscale.hooks = (lambda x: tuple(x.program), lambda x, saved: x.program.__setitem__(slice(None), saved))
    xscale.load(0, assemble(text=TICKS))
    xscale.start()
    return chip, xscale


def seen(chip: Chip, xscale: XScale) -> list[Any]:
    return [list(xscale.program), chip.sram[0].read(0x100, 2).tolist(), chip.sram[0][0x200], xscale.interrupts,
            [(entry.cycle, entry.operation, entry.arguments) for entry in chip.journal]]


@pytest.mark.parametrize("cycle", [5, 560, 2_100, 3_333])
def test_the_same_again_after_going_back(cycle: int) -> None:
    chip, xscale = made()
    chip.run(cycles=cycle)
    saved = chip.snapshot()
    chip.run(cycles=20_000)
    first = seen(chip, xscale)
    assert len(first[0]) == 8 and first[2]
    for _ in range(2):
        chip.restore(saved)
        assert chip.snapshot() == saved
        chip.run(cycles=20_000)
        assert seen(chip, xscale) == first


def test_another_chip_with_an_xscale_takes_it_over_and_one_without_leaves_it() -> None:
    chip, xscale = made()
    chip.run(cycles=2_100)
    saved = chip.snapshot()
    twin, other = made()
    twin.restore(saved)
    assert list(other.program) == list(xscale.program) and other.interrupts == xscale.interrupts
    alone = Chip()
    alone.restore(saved)
    assert alone.cycle == 2_100
