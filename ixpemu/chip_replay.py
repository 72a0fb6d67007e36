"""Going through a journal again: the same accesses at the same cycles, nobody asked anew. What one does is the chip's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from ixpemu import arguments, codes
from ixpemu.chip_agents import Entry
from ixpemu.chip_stop import Stop

if TYPE_CHECKING:
    from ixpemu.chip import Chip


def checked_journal(journal: Iterable[Entry]) -> Sequence[Entry]:
    """The entries of what should be a journal. UserError for anything else."""
    entries = list(journal) if isinstance(journal, Iterable) else [journal]
    if wrong := [entry for entry in entries if not isinstance(entry, Entry)]:
        raise arguments.wrong("a journal entry", wrong[0], "give the journal of a chip: chip.journal", codes.RUN_ARGUMENT)
    return entries


def replay(chip: Chip, journal: Sequence[Entry], cycle: int, again: Callable[[Entry], None]) -> Stop:
    """Run to `cycle`; `again` does what an entry says when its cycle has come. Entries before the chip's cycle are skipped."""
    stop = Stop("cycles", chip.cycle)
    for entry in journal:
        if entry.cycle < chip.cycle or entry.cycle > cycle:
            continue
        while chip.cycle < entry.cycle:
            stop = chip.run(cycles=entry.cycle - chip.cycle)
        again(entry)
    while chip.cycle < cycle:
        stop = chip.run(cycles=cycle - chip.cycle)
    return stop
