"""One number for everything that happened on a chip: a digest of the records of an observed run.

Two runs with the same digest did the same at the same cycles, whatever their slices were and whether the engine was compiled.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ixpemu.chip_observe import Events


class TraceHash:
    """A sink for `chip.observe`. `count` records have come so far."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self.count = 0

    def __call__(self, events: Events) -> None:
        self._digest.update(events.tobytes())
        self.count += len(events)

    def hexdigest(self) -> str:
        """The digest of all records so far."""
        return self._digest.hexdigest()
