"""A chip with a physical program in it, for tests of the engine: started, run to its halt, looked into.

Programs are written with physical registers, so that nothing stands between a line and its word. Not here: models of what should
come out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ixpemu import Chip, Image, assemble

FIRST_CYCLE = 1
"""Cycle of the first instruction of a microengine started at cycle 0: `me.wake_cycles` of the default chip file."""


def program(text: str, contexts: int = 8) -> Image:
    """The image of physical text; `contexts` 4 or 8."""
    return assemble(text=f".physical\n.num_contexts {contexts}\n{text}\n")


def started(text: str, *, contexts: int = 1, me: int = 0, chip: Chip | None = None) -> Chip:
    """A chip (a new one unless given) with `text` in microengine `me`, the contexts of mask `contexts` enabled."""
    chip = Chip() if chip is None else chip
    chip.load(me, program(text), start=False)
    chip.start(me, contexts)
    return chip


def halted(text: str, *, contexts: int = 1, limit: int = 20_000, chip: Chip | None = None) -> Chip:
    """As `started` in microengine 0, run until it has executed its `halt`."""
    chip = started(text, contexts=contexts, chip=chip)
    stop = chip.run(cycles=limit)
    assert stop.reason == "halt", stop
    return chip


def cost(text: str, *, limit: int = 20_000) -> tuple[int, int]:
    """Cycles executing and aborted of a program of one context up to and with its `halt`."""
    cycles = halted(text, limit=limit).me[0].cycles
    return cycles["executing"], cycles["aborted"]


@dataclass(frozen=True, slots=True)
class Issue:
    """One instruction issued: at `cycle`, by context `ctx`, from address `pc`."""

    cycle: int
    ctx: int
    pc: int


def issues(chip: Chip, cycles: int, me: int = 0) -> Iterator[Issue]:
    """Every instruction that microengine `me` issues in the next `cycles` cycles, by stepping one cycle at a time."""
    engine = chip.me[me]
    for _ in range(cycles):
        ctx, retired, cycle = engine.executing, engine.cycles["executing"], chip.cycle
        pc = None if ctx is None else engine.ctx[ctx].pc
        chip.step_cycle()
        if engine.cycles["executing"] != retired:
            assert ctx is not None and pc is not None
            yield Issue(cycle, ctx, pc)


def load_constant(register: str, value: int) -> str:
    """Instructions that put a 32-bit constant into a GPR."""
    return f"immed[{register}, {value & 0xFFFF:#x}]\nimmed_w1[{register}, {value >> 16:#x}]"
