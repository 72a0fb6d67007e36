"""The loaded instruction set kept between runs, so that a start neither parses nor builds it.

What is kept lies in the user's cache folder, in a file named after a hash of all that it was made from: the `.isa` files, the
code of this package, Python itself. A changed file therefore has another name and nothing is ever out of date. A digest at the
start of the file tells a damaged one, which is made anew. Without a writable folder everything is made at each start.

Loading proper is `loader`, imported only where nothing was kept.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import tempfile
from pathlib import Path

from ixpemu import resources
from ixpemu.isa.blocks import Loaded

_HERE = Path(__file__).parent
_DIGEST = hashlib.sha256().digest_size


def load_kept(folder: Path) -> Loaded:
    """As `loader.load`, from the cache where it is there, and into it where it is not."""
    place = _place(folder)
    found = None if place is None else _read(place)
    if found is None:
        from ixpemu.isa.loader import load

        found = load(folder)
        if place is not None:
            _write(place, found)
    return found


def _place(folder: Path) -> Path | None:
    """The file for what is made from the folder; None where there is no cache or the folder cannot be read."""
    cache = resources.cache_folder()
    if cache is None:
        return None
    digest = hashlib.sha256(sys.version.encode())
    code = (*_HERE.glob("*.py"), *_HERE.glob("*.lark"), _HERE.parent / "diagnostics.py")
    try:
        for path in (*sorted(folder.glob("*.isa")), *sorted(code)):
            content = path.read_bytes()
            digest.update(f"{path.name} {len(content)} ".encode())
            digest.update(content)
    except OSError:
        return None
    return cache / f"isa-{digest.hexdigest()[:24]}.kept"


def _read(place: Path) -> Loaded | None:
    try:
        content = place.read_bytes()
    except OSError:
        return None
    # Only bytes that `_write` made are unpickled: the folder is the user's own, like that of Python's compiled modules.
    if hashlib.sha256(content[_DIGEST:]).digest() != content[:_DIGEST]:
        return None
    found = pickle.loads(content[_DIGEST:])
    return found if isinstance(found, Loaded) else None


def _write(place: Path, loaded: Loaded) -> None:
    content = pickle.dumps(loaded, protocol=5)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=place.parent, suffix=".tmp")
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(content).digest() + content)
        os.replace(temporary, place)
    except OSError:
        return                      # not kept: the next start makes it again
