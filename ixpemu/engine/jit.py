"""The one door to numba: a typed `jit` decorator, and where compiled code is kept between runs.

Every function of the engine is decorated here and nowhere else. With `IXPEMU_JIT=0` in the environment the decorator does
nothing and the same functions run as plain Python (about 10,000 instructions a second): instant start, tracebacks, coverage.
Callers of compiled functions enter through `arithmetic()`, which gives uncompiled unsigned numbers the wrap-around that
compiled ones have.

numba notices edits of a function's own file and not of the functions it calls, so compiled code lives in a folder named after a
hash of everything it depends on: the engine's sources, the instruction set's files and the versions of numba and numpy. This
module knows nothing of the machine.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ixpemu import resources

Function = TypeVar("Function", bound=Callable[..., Any])

COMPILED = os.environ.get("IXPEMU_JIT", "1") != "0"
"""Whether functions are compiled in this process."""

_ENGINE = Path(__file__).resolve().parent


def source_hash() -> str:
    """Name of the cache folder: a digest of engine sources, instruction-set files and library versions."""
    import numba

    digest = hashlib.sha256(f"{numba.__version__} {np.__version__}".encode())
    try:
        described = resources.folder("isa")
    except FileNotFoundError:
        described = _ENGINE
    for root, pattern in ((_ENGINE, "*.py"), (described, "**/*")):
        for path in sorted(root.glob(pattern)):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(path.name.encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()[:20]


def _cache_folder() -> tuple[Path | None, str | None]:
    """The writable folder for this engine's compiled code, or None and the reason why there is none."""
    root = resources.cache_folder()
    if root is None:
        return None, "compiled code cannot be kept (there is no home folder); the engine compiles anew in every run"
    try:
        folder = root / source_hash()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        return None, f"compiled code cannot be kept ({error}); the engine compiles anew in every run"
    return folder, None


CACHE_FOLDER: Path | None = None
CACHE_MESSAGE: str | None = None
"""Why compiled code is not kept between runs, for the command line to show; None when it is kept."""

if COMPILED:
    CACHE_FOLDER, CACHE_MESSAGE = _cache_folder()


def is_cached() -> bool:
    """Whether an earlier run left compiled code for exactly these sources (then nothing is compiled now)."""
    return CACHE_FOLDER is not None and any(CACHE_FOLDER.glob("**/core.run_slice*.nbi"))


def jit(function: Function) -> Function:
    """Compile `function` where compiled code calls it, or return it as it is when compilation is off.

    Arguments are records and plain numeric arrays only. No reference counting (`_nrt=False`): a function must not create or
    slice an array. Division by zero gives what numpy gives. Python cannot call the result when it is compiled: see `entry`. It is
    not kept by itself: the entries that reach it are kept with all they call.
    """
    return _compile(function, "Part", no_cpython_wrapper=True, no_cfunc_wrapper=True)


def inlined(function: Function) -> Function:
    """As `jit`, and always made part of its caller: for what every commit does, where calls would cost as much as the work."""
    return _compile(function, "Part", no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)


def entry(function: Function) -> Function:
    """As `jit`, for the few functions that Python calls. The first call compiles all that it reaches, or finds it in the
    cache."""
    return _compile(function, "Entry", cache=CACHE_FOLDER is not None, no_cfunc_wrapper=True)


def _compile(function: Function, pipeline: str, **options: bool) -> Function:
    if not COMPILED:
        return function
    import numba
    from numba.core import config

    from ixpemu.engine import whole_program

    kept = config.CACHE_DIR
    if CACHE_FOLDER is not None:
        config.CACHE_DIR = str(CACHE_FOLDER)
    try:
        compiled = numba.njit(
            error_model="numpy", _nrt=False, pipeline_class=getattr(whole_program, pipeline), **options)(function)
    finally:
        config.CACHE_DIR = kept
    _share_signatures(compiled)
    return compiled  # type: ignore[no-any-return]     # numba has no types


def _share_signatures(dispatcher: Any) -> None:
    """Make calls with narrower integers or with constants use one compiled version of a function instead of one for each.

    numba compiles a function anew for every constant and every integer width that some call passes: here that was two versions
    of a function on average, up to fifteen, and half of the compile time. Callers convert the argument instead: constants and
    unsigned integers up to 32 bits become uint32, and uint32 may become uint64.
    """
    from numba.core import types as numba_types

    types: Any = numba_types
    original = dispatcher.get_call_template

    def plain(argument: Any) -> Any:
        if isinstance(argument, types.IntegerLiteral):
            value = argument.literal_value
            return types.uint32 if 0 <= value < 1 << 32 else types.uint64 if value > 0 else types.int64
        argument = types.unliteral(argument)
        if isinstance(argument, types.Integer) and not argument.signed and argument.bitwidth < 32:
            return types.uint32
        return argument

    def get_call_template(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        wanted = tuple(plain(argument) for argument in args)
        for known in dispatcher.overloads:
            if len(known) == len(wanted) and all(
                    have == want or (have == types.uint64 and want == types.uint32)
                    for have, want in zip(known, wanted, strict=True)):
                wanted = known
                break
        return original(wanted, kws)

    dispatcher.get_call_template = get_call_template


def arithmetic() -> AbstractContextManager[None]:
    """A context for calls into the engine: unsigned numbers wrap without a warning, compiled or not."""
    return np.errstate(over="ignore")
