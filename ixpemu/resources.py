"""Where the shipped data folders are: `isa/`, `microcode/` and `traces/`, in a checkout or inside an installed wheel.

The one resolver; nobody else builds a path to shipped data.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_SHIPPED = _PACKAGE / "_data"       # the wheel puts the folders here; a checkout has them beside the package


def folder(name: str) -> Path:
    """The folder `name` (`isa`, `microcode` or `traces`) of this installation."""
    for root in (_SHIPPED, _PACKAGE.parent):
        if (root / name).is_dir():
            return root / name
    raise FileNotFoundError(f"this installation of ixpemu has no {name}/ folder; install it again")
