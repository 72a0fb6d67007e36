"""Where compiled code is kept between runs, and numba's cache made to look there.

numba looks at a function's own file and not at the functions it calls, and keeps code apart by the path of that file. Here the
folder is named after a hash of all that the code depends on: the engine's sources, the instruction set's files, the versions of
Python, numba and numpy, the processor. Two installations of the same engine share it, and what is in it is right.

Imported only where functions are compiled. Nothing here knows the machine or what is compiled.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite import binding
from numba.core import caching

from ixpemu import resources

KEPT_SECONDS = 30 * 24 * 3600       # code that no run has used for so long is removed
MARKS = "*.nbi"                     # numba's lists of what it has kept, one a function
_ENGINE = Path(__file__).resolve().parent


def source_hash() -> str:
    """Name of the folder: a digest of everything that the compiled code depends on."""
    digest = hashlib.sha256(f"{sys.version_info[:2]} {numba.__version__} {np.__version__}".encode())
    digest.update(f"{binding.get_host_cpu_name()} {binding.get_host_cpu_features().flatten()}".encode())
    try:
        described = resources.folder("isa")
    except FileNotFoundError:
        described = _ENGINE
    for root, pattern in ((_ENGINE, "*.py"), (_ENGINE, "*.json"), (described, "**/*")):
        for path in sorted(root.glob(pattern)):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(path.name.encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()[:20]


def _folder() -> tuple[Path | None, str | None]:
    """The writable folder for this engine's compiled code, or None and the reason why there is none."""
    root = resources.cache_folder()
    if root is None:
        return None, "compiled code cannot be kept (there is no home folder); the engine compiles anew in every run"
    try:
        folder = root / source_hash()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        os.utime(folder)
    except OSError as error:
        return None, f"compiled code cannot be kept ({error}); the engine compiles anew in every run"
    _forget_old(folder)
    return folder, None


def _forget_old(used: Path) -> None:
    """Remove the folders of other versions that no run has used for a month; what is no such folder is left alone."""
    try:
        folders = [folder for folder in used.parent.iterdir() if folder != used and len(folder.name) == len(used.name)]
    except OSError:
        return
    for folder in folders:
        try:
            old = folder.is_dir() and time.time() - folder.stat().st_mtime > KEPT_SECONDS
            if old and next(folder.rglob(MARKS), None) is not None:
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:         # another process has just removed it
            continue


FOLDER, MESSAGE = _folder()
"""The folder, and why there is none, for the command line to show; one of them is None."""


def holds(function: str) -> bool:
    """Whether an earlier run has left the code of `function` (`module.name`), so that it will not be compiled now."""
    return FOLDER is not None and next(FOLDER.glob(f"{function}-{MARKS}"), None) is not None


def noted(what: str) -> bool:
    """Whether an earlier run has left a note, such as that the entries are kept for another type of state as well."""
    return FOLDER is not None and (FOLDER / what).is_file()


def note(what: str) -> None:
    """Leave a note for runs to come, if there is room for it."""
    if FOLDER is not None:
        with contextlib.suppress(OSError):
            (FOLDER / what).touch()


class _Place(caching._CacheLocator):  # type: ignore[misc]     # numba has no types
    """Says that a function of the engine is kept in `FOLDER`, whose name is all that has to be the same."""

    def __init__(self, function: Any) -> None:
        self._line = function.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        return str(FOLDER)

    def get_source_stamp(self) -> str:
        return FOLDER.name if FOLDER is not None else ""

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, function: Any, file: str) -> _Place | None:
        """None for functions of other files, on which the name of the folder says nothing: numba keeps those in its own way."""
        return cls(function) if FOLDER is not None and Path(file).resolve().parent == _ENGINE else None


class _Results(caching.FunctionCache._impl_class):  # type: ignore[misc]
    _locator_classes = (_Place, *caching.FunctionCache._impl_class._locator_classes)


class KeptCode(caching.FunctionCache):  # type: ignore[misc]
    """numba's cache of one function, in its place. A damaged file, or no room for one, costs time and nothing else."""

    _impl_class = _Results

    def load_overload(self, signature: Any, target: Any) -> Any:
        try:
            return super().load_overload(signature, target)
        except Exception:       # noqa: BLE001     damaged bytes raise whatever they happen to mean
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self, signature: Any, result: Any) -> None:
        with contextlib.suppress(OSError):      # no room: `holds` says so
            super().save_overload(signature, result)


def keep(dispatcher: Any) -> None:
    """Keep the code of a compiled function between runs."""
    if FOLDER is not None and inspect.isfunction(dispatcher.py_func):
        dispatcher._cache = KeptCode(dispatcher.py_func)
