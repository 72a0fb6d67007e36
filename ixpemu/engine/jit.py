"""The one door to numba: a typed `jit` decorator and its kin.

Every function of the engine is decorated here and nowhere else. With `IXPEMU_JIT=0` in the environment the decorator does
nothing and the same functions run as plain Python (about 10,000 instructions a second): instant start, tracebacks, coverage.
Callers of compiled functions enter through `arithmetic()`, which gives uncompiled unsigned numbers the wrap-around that
compiled ones have.

Where compiled code is kept between runs is `ixpemu.engine.kept_code`'s. This module knows nothing of the machine.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])

COMPILED = os.environ.get("IXPEMU_JIT", "1") != "0"
"""Whether functions are compiled in this process."""


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
    """As `jit`, for the few functions that Python calls, with every switch off. The first call compiles all that it reaches, or
    finds it in the cache."""
    if not COMPILED:
        return function
    from numba.core import config

    from ixpemu.engine import kept_code

    before = config.CACHE_DIR
    if kept_code.FOLDER is not None:
        config.CACHE_DIR = str(kept_code.FOLDER)        # for functions of other files, tests for instance
    try:
        compiled = _compile(function, "Entry", no_cfunc_wrapper=True)
        kept_code.keep(compiled)
    finally:
        config.CACHE_DIR = before
    return compiled


_ON: set[str] = set()           # the switches of the entry that runs, uncompiled


def switch(name: str) -> Callable[[], bool]:
    """A function without arguments that is a constant in every entry: true in those that `variant` makes with this name.

    What stands behind `if observing():` is then in the machine code of the entries that want it, and no other entry pays even for
    the question. To be called from compiled functions, or uncompiled.
    """
    if not COMPILED:
        return lambda: name in _ON
    from ixpemu.engine import whole_program

    return whole_program.switch(name)


def _no_code(address: int, first: Any, second: Any, number: int, other: int) -> int:
    raise NotImplementedError("there is no machine code where nothing is compiled")


call_at: Callable[..., int] = _no_code
"""Calls the function at an address with two records and two uint64; from compiled functions only."""
if COMPILED:
    from ixpemu.engine import machine_code

    call_at = machine_code.call_at


def variant(*names: str) -> Callable[[Function], Function]:
    """As `entry`, with these switches on: the same sources as the plain entry, compiled by themselves when first called."""

    def decorate(function: Function) -> Function:
        if COMPILED:
            function.switches = names  # type: ignore[attr-defined]     # for whole_program.py, which knows the function alone
            return entry(function)

        @functools.wraps(function)
        def switched(*arguments: Any) -> Any:
            before = set(_ON)
            _ON.update(names)
            try:
                return function(*arguments)
            finally:
                _ON.clear()
                _ON.update(before)

        return switched  # type: ignore[return-value]

    return decorate


def _compile(function: Function, pipeline: str, **options: bool) -> Function:
    if not COMPILED:
        return function
    import numba

    from ixpemu.engine import whole_program

    compiled = numba.njit(
        error_model="numpy", _nrt=False, pipeline_class=getattr(whole_program, pipeline), **options)(function)
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


def passed(states: Any) -> Any:
    """The array of one state record as an entry takes it, for calls that are made often.

    An array and not its record: Python describes a record of a thousand fields anew whenever somebody asks where it is, which
    takes longer than a short slice. Compiled, it is a plain array, which numba knows at a glance.
    """
    return states.view(np.ndarray) if COMPILED else states


def arithmetic() -> AbstractContextManager[None]:
    """A context for calls into the engine: unsigned numbers wrap without a warning, compiled or not."""
    return np.errstate(over="ignore")
