"""Running machines to a cycle and comparing chips, for tests of what must not change a run."""

from __future__ import annotations

from ixpemu import Chip
from ixpemu.chip_stop import Stop
from ixpemu.engine.layout import RESERVED_ROWS
from tests.support.generated_programs import Machine


def advance(chip: Chip, cycles: int) -> Stop:
    """Run to `cycles` from reset, through whatever stops a run early."""
    while True:
        stop = chip.run(cycles=cycles - chip.cycle)
        if chip.cycle >= cycles:
            return stop


def whole(machine: Machine, cycles: int) -> Chip:
    """The machine's chip after one run of `cycles`."""
    chip = machine.chip()
    advance(chip, cycles)
    return chip


def differences(one: Chip, other: Chip) -> list[str]:
    """What differs between two chips: cycle, state, memories, and the reserved events if all are kept."""
    found = one.snapshot().differences(other.snapshot())
    if sum(one.reserved.values()) < RESERVED_ROWS and sorted(one.reserved_events) != sorted(other.reserved_events):
        found.append("reserved events")
    return found


def trace(chip: Chip, commits: int) -> list[tuple[int, tuple[object, ...]]]:
    """What happens in the next commits: their cycles, and after each where every microengine stands."""
    seen: list[tuple[int, tuple[object, ...]]] = []

    def note(chip: Chip) -> bool:
        engines = chip.state.engines
        seen.append((int(chip.state.now), (engines["clock"].tolist(), engines["context"].tolist(), engines["pc"].tolist(),
                                           engines["signals"].tolist(), engines["ready"].tolist())))
        return len(seen) >= commits

    chip.run(cycles=100_000, until=note)
    return seen
