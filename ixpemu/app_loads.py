"""How busy the parts of a chip have been, and which of them a run was limited by.

A load is the share of the time in which a part served something: a port of a unit its commands, a microengine its threads
(executing, aborted or stalled), a line its frames. What commands wait for in buses and queues is not in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ixpemu.engine.layout import UNIT_CAP, UNIT_DRAM, UNIT_HASH, UNIT_MSF, UNIT_PCI, UNIT_SCRATCH, UNIT_SRAM0, UNIT_SRAM1
from ixpemu.trace.summary import Load, line_gbps

if TYPE_CHECKING:
    from ixpemu.chip import Chip

# The ports of the units that serve anything, by their row in the engine's tables (2 * unit for reads, + 1 for writes).
_PORTS = {
    2 * UNIT_SRAM0: "SRAM channel 0, reads", 2 * UNIT_SRAM0 + 1: "SRAM channel 0, writes",
    2 * UNIT_SRAM1: "SRAM channel 1, reads", 2 * UNIT_SRAM1 + 1: "SRAM channel 1, writes",
    2 * UNIT_SCRATCH: "scratch memory", 2 * UNIT_HASH: "hash unit", 2 * UNIT_DRAM: "DRAM", 2 * UNIT_MSF: "MSF, reads",
    2 * UNIT_MSF + 1: "MSF, writes",
    2 * UNIT_CAP: "CAP", 2 * UNIT_PCI: "PCI",
}
LIMIT = 0.95                # from this load on a part is taken to be what limits


@dataclass(frozen=True, slots=True)
class Counters:
    """What loads are made of, at one moment: two of them give the loads between. Cycles, but frames and bytes of `sent`."""

    cycle: int
    busy: tuple[int, ...]
    working: tuple[int, ...]
    sent: tuple[tuple[int, int], ...]

    @classmethod
    def zero(cls, chip: Chip) -> Counters:
        """Those of a chip at its reset."""
        return cls(0, (0,) * len(chip.state.busy), (0,) * len(chip.state.engines), ((0, 0),) * len(chip.ports))

    @classmethod
    def of(cls, chip: Chip) -> Counters:
        """Those of a chip as it stands."""
        engines = chip.state.engines
        working = engines["retired"] + engines["aborted"] + engines["stalled"]
        sent = tuple((port.counters.sent, port.counters.sent_bytes) for port in chip.ports)
        return cls(chip.cycle, tuple(map(int, chip.state.busy)), tuple(map(int, working)), sent)


def loads(chip: Chip, since: Counters | None = None) -> tuple[Load, ...]:
    """Every part that did anything since then (or since reset), the busiest first."""
    before, now = since or Counters.zero(chip), Counters.of(chip)
    cycles = now.cycle - before.cycle
    if cycles <= 0:
        return ()
    found = [Load(name, (now.busy[row] - before.busy[row]) / cycles) for row, name in _PORTS.items()]
    found += [Load(f"microengine {me}", (after - first) / cycles)
              for me, (after, first) in enumerate(zip(now.working, before.working, strict=True))]
    for number, (after, first) in enumerate(zip(now.sent, before.sent, strict=True)):
        rate = line_gbps(after[0] - first[0], after[1] - first[1], cycles, chip.clock_hz) or 0.0
        found.append(Load(f"line of port {number}, out", rate / (chip.ports[number].line.speed / 1e9)))
    return tuple(sorted((load for load in found if load.share > 0), key=lambda load: -load.share))


def limit(found: Sequence[Load]) -> str:
    """What limited a run that could not keep up, in words."""
    full = [load for load in found if load.share >= LIMIT]
    if full:
        return f"limited by {_listed(full)}"
    if not found:
        return "nothing was busy"
    return f"no part is busy all the time ({_listed(found[:3])}): its threads wait too long for so much work"


def _listed(found: Iterable[Load]) -> str:
    return ", ".join(f"{load.name} ({load.share:.0%} busy)" for load in found)
