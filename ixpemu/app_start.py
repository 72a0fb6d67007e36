"""From checked settings and assembled images to a chip at cycle 0: parameters, XScale, loaded microengines, fed ports, probes.

The order is that of `ixpemu.app`'s opening paragraph. Nothing runs here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ixpemu import codes
from ixpemu.app_file import AppSettings, PortSettings
from ixpemu.app_module import function_of, load_module
from ixpemu.chip import Chip
from ixpemu.diagnostics import Diagnostic, UserError
from ixpemu.net import traffic
from ixpemu.trace.collector import Collector
from ixpemu.xscale import XScale

if TYPE_CHECKING:
    from ixpemu.app import Announce, Wiring
    from ixpemu.image import Image

KINDS_MAX = 255         # types beyond these count as the last one
UNCLASSIFIED = "packet"


class Kinds:
    """Numbers for packet types, given out as the classifier names them: `number(frame)` is what the engine keeps with a packet."""

    def __init__(self, classify: Callable[[bytes], Any] | None) -> None:
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}
        self._classify = classify

    def number(self, frame: bytes) -> int:
        """The number of the frame's type, a new one if need be."""
        name = UNCLASSIFIED if self._classify is None else str(self._classify(frame))
        found = self._numbers.get(name)
        if found is None:
            if len(self.names) >= KINDS_MAX:
                name = "all other types"
                found = self._numbers.get(name, KINDS_MAX)
                if found < KINDS_MAX or len(self.names) > KINDS_MAX:
                    return found
            found = self._numbers[name] = len(self.names)
            self.names.append(name)
        return found
