"""Where the shipped data folders are, in a checkout or inside an installed wheel, and where results are kept between runs.

The one resolver; nobody else builds a path to shipped data, or to the user's cache.
"""

from __future__ import annotations

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_SHIPPED = _PACKAGE / "_data"       # the wheel puts the folders here; a checkout has them beside the package


def folder(name: str) -> Path:
    """The folder `name` (`explain`, `isa`, `microcode` or `traces`) of this installation."""
    for root in (_SHIPPED, _PACKAGE.parent):
        if (root / name).is_dir():
            return root / name
    raise FileNotFoundError(f"this installation of ixpemu has no {name}/ folder; install it again")


def cache_folder() -> Path | None:
    """The user's folder for what can be computed again: `$IXPEMU_CACHE_DIR`, else the platform's own; it need not exist yet.

    None where the user has no home folder.
    """
    named = os.environ.get("IXPEMU_CACHE_DIR")
    if named:
        return Path(named)
    local = os.environ.get("LOCALAPPDATA") if os.name == "nt" else os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(local) if local else Path.home() / ".cache") / "ixpemu"
    except RuntimeError:
        return None
