"""Small programs on a chip: assembling physical text, running it, and following what a microengine issues.

Programs are written with physical registers, so that nothing stands between a line and its word. Not here: programs made by
chance (generated_programs.py), and models of what should come out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ixpemu import assemble
from ixpemu.chip import Chip
from ixpemu.isa.chipfile import load_chip


def words_of(text: str, contexts: int = 8) -> list[int]:
    """The words of physical text, one instruction a line."""
    head = ".physical\n" if contexts == 8 else ".physical\n.num_contexts 4\n"
    return [int(word) for word in assemble(text=head + text + "\n").words]


def chip_with(
    text: str, *, me: int = 0, contexts: int = 0xFF, overrides: dict[str, int] | None = None, mode: str = "default"
) -> Chip:
    """A chip with a program in one microengine and the contexts of a mask enabled."""
    parameters = load_chip()
    chip = Chip(parameters.override(overrides) if overrides else parameters, mode=mode)
    chip.load_words(me, words_of(text), start=False)
    chip.start(me, contexts)
    return chip


def run_lines(lines: Sequence[str], **options: object) -> Chip:
    """Context 0 runs the lines and stops; the chip afterwards."""
    chip = chip_with("\n".join([*lines, "ctx_arb[kill]"]), contexts=1, **options)  # type: ignore[arg-type]
    stop = chip.run(cycles=100_000)
    assert stop.reason == "quiet", stop
    return chip


@dataclass(frozen=True, slots=True)
class Issue:
    """One instruction issued: at `cycle`, by context `ctx`, from address `pc`."""

    cycle: int
    ctx: int
    pc: int


def issues(chip: Chip, cycles: int, me: int = 0) -> list[Issue]:
    """Every instruction that microengine `me` issues in the next `cycles` cycles, by stepping one cycle at a time."""
    engine = chip.me[me].engine
    found = []
    for _ in range(cycles):
        cycle, issued, addresses = chip.cycle, engine.instructions.copy(), engine.pc.copy()
        chip.step_cycle()
        # Whoever executed before may have swapped out in this cycle: the counters say who issued.
        found += [Issue(cycle, int(ctx), int(addresses[ctx])) for ctx in (engine.instructions - issued).nonzero()[0]]
    return found
