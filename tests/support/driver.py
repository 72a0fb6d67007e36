"""One command at a time on a chip: a thread whose registers Python fills, the command, its results.

For models that look at what single commands do. What commands do to each other while they are under way needs programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ixpemu import Chip
from tests.support.machine import words_of


@cache
def program(command: str, override: bool) -> tuple[int, ...]:
    """The words of one command behind a move of a2, which makes it the previous result."""
    option = ", indirect_ref" if override else ""
    return tuple(words_of(f"alu[--, --, B, a2]\n{command}{option}\nctx_arb[kill]"))


class Driver:
    """Commands of context 0 of microengine `me`, whose address operands are a0 and b0."""

    def __init__(self, chip: Chip | None = None, me: int = 0) -> None:
        self.chip = chip or Chip()
        self.me = me

    def do(self, command: str, address: int, words: Sequence[int] = (), override: int | None = None) -> list[int]:
        """Run a command such as "sram[incr, --, a0, b0]" on `address` with `words` in $0 on; what is in $0..$15 afterwards.

        `override`: what indirect_ref finds. UserError as from the chip; AssertionError if it does not end.
        """
        chip, thread = self.chip, self.chip.me[self.me].ctx[0]
        chip.load_words(self.me, program(command, override is not None), start=False)
        thread.gpr_a[0], thread.gpr_b[0] = address & 0xFFFF0000, address & 0xFFFF
        thread.gpr_a[2] = override or 0
        thread.sram_out[: len(words)] = words
        chip.me[self.me].engine.written[:] = 0xFFFFFFFF             # zeros from here are no registers that nobody wrote
        chip.start(self.me, 1)
        stop = chip.run(cycles=5_000)
        assert stop.reason == "quiet", stop
        return [int(word) for word in thread.sram_in]
