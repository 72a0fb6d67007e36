"""The programs whose speed is measured, each as something that can be advanced and counted.

A case is a whole chip with everything on that its mode has. `advance` takes chip cycles; `counters` are totals since reset.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ixpemu import resources

if TYPE_CHECKING:
    from ixpemu.chip import Chip

COMPILED_STEP, PLAIN_STEP = 1_000_000, 2_000        # chip cycles between two looks at the clock


@dataclass(frozen=True, slots=True)
class Case:
    """A running case. `first_step` is a good number of cycles to advance by."""

    first_step: int
    advance: Callable[[int], None]
    counters: Callable[[], dict[str, int]]
    chip: Chip


def _step() -> int:
    from ixpemu.engine.jit import COMPILED

    return COMPILED_STEP if COMPILED else PLAIN_STEP


def _counters(chip: Chip) -> dict[str, int]:
    """Totals since reset; packets are frames that have left a port, which every mode counts."""
    sent = sum(port.counters.sent for port in chip.ports)
    return {"instructions": chip.instructions, "chip_cycles": chip.cycle, "packets": sent}


def compute(mode: str) -> Case:
    """Arithmetic without memory on eight microengines of eight threads."""
    from ixpemu.asm import assemble
    from ixpemu.chip import Chip

    image = assemble(resources.folder("microcode") / "bench" / "compute.uc")
    chip = Chip(mode=mode)
    for index in range(8):
        chip.load(index, image)

    def advance(cycles: int) -> None:
        chip.run(cycles=cycles)

    return Case(_step(), advance, lambda: _counters(chip), chip)


def ipv4_forward_64b(mode: str) -> Case:
    """The router with all three ports fed 64-byte frames as fast as the lines carry them."""
    from ixpemu.app import App

    app = App.load("ipv4_forward", traffic="64B", gbps=1.0, mode=mode)

    def advance(cycles: int) -> None:
        app.advance(cycles)

    return Case(_step(), advance, lambda: _counters(app.chip), app.chip)


CASES: dict[str, Callable[[str], Case]] = {"compute": compute, "ipv4_forward_64B": ipv4_forward_64b}
