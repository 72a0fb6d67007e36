"""ixpemu: an assembler and an emulator of Intel's IXP2400 network processor.

The names below are the public ones; each is imported when it is first used, so that `import ixpemu` costs nothing and an
assembly never loads the compiled engine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ixpemu.app import App
    from ixpemu.asm import assemble, disassemble
    from ixpemu.chip import Chip
    from ixpemu.chip_snapshot import Snapshot
    from ixpemu.diagnostics import AssemblyError, UserError
    from ixpemu.image import Image

__version__ = "0.1.0"
__all__ = ["App", "AssemblyError", "Chip", "Image", "Snapshot", "UserError", "__version__", "assemble", "disassemble"]

_HOMES = {
    "App": "ixpemu.app",
    "AssemblyError": "ixpemu.diagnostics",
    "Chip": "ixpemu.chip",
    "Image": "ixpemu.image",
    "Snapshot": "ixpemu.chip_snapshot",
    "UserError": "ixpemu.diagnostics",
    "assemble": "ixpemu.asm",
    "disassemble": "ixpemu.asm",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'ixpemu' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
