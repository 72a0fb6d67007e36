"""Which way branches of the engine go when programs run: counted once, kept in `branch_weights.json`, told to LLVM.

The engine is one large function of which a packet executes a tenth. Told how often each branch is taken, LLVM lays what is
executed side by side and the rest out of the way, so that it stays in the processor's first-level instruction cache. Weights
say nothing about what a function does; one whose source has changed since they were counted goes without.

`python -m ixpemu.bench.count_branches` compiles the engine with counters (`IXPEMU_COUNT_BRANCHES`) and writes the file. Imported
only where functions are compiled.
"""

from __future__ import annotations

import ctypes
import inspect
import json
import os
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

from llvmlite import ir
from numba.core import ir as numba_ir
from numba.core.lowering import Lower

WEIGHTS = Path(__file__).with_name("branch_weights.json")
COUNTING = "IXPEMU_COUNT_BRANCHES" in os.environ
_ROOM = 20_000                                  # branches that can be counted
_LARGEST = (1 << 31) - 1                        # a weight has 32 bits

# {"module.function": {"source": checksum, "branches": {"line:number": [taken, not taken]}}}; `line` counts from the function's
# first, `number` from 0 in a line. A list of two counts, so that the file can be read beside the source.
Weights = dict[str, dict[str, Any]]


def read_weights(path: Path = WEIGHTS) -> Weights:
    """What has been counted; nothing if there is no such file or it is not what it should be."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def function_key(function: Any) -> str:
    """Name of a function in the file."""
    return f"{function.__module__.rpartition('.')[2]}.{function.__name__}"


def source_checksum(function: Any) -> int:
    """What a function's weights go with."""
    return zlib.crc32(inspect.getsource(function).encode())


class _Counters:
    """Room for two counts of every branch, and whose they are."""

    def __init__(self) -> None:
        self.values = (ctypes.c_uint64 * (2 * _ROOM))()
        self.owners: list[tuple[str, str]] = []
        self.sources: dict[str, int] = {}

    def place(self, function: Any, branch: str) -> int:
        """The address of the two counts of a branch."""
        self.sources[function_key(function)] = source_checksum(function)
        self.owners.append((function_key(function), branch))
        return ctypes.addressof(self.values) + 16 * (len(self.owners) - 1)

    def weights(self) -> Weights:
        """What has been counted, for the file: branches that were executed; versions of one function together."""
        taken: Counter[tuple[str, str]] = Counter()
        passed: Counter[tuple[str, str]] = Counter()
        for number, owner in enumerate(self.owners):
            taken[owner] += self.values[2 * number]
            passed[owner] += self.values[2 * number + 1]
        found: Weights = {}
        for owner in sorted(taken):
            if taken[owner] or passed[owner]:
                entry = found.setdefault(owner[0], {"source": self.sources[owner[0]], "branches": {}})
                entry["branches"][owner[1]] = [taken[owner], passed[owner]]
        return found


counters = _Counters()
_known = {} if COUNTING else read_weights()


class WeightedLower(Lower):  # type: ignore[misc]     # numba has no types
    """numba's translation of a function into LLVM's language, with weights at its branches or, when counting, counters."""

    def pre_lower(self) -> None:
        super().pre_lower()
        self._branches: Counter[int] = Counter()
        function = self.func_ir.func_id.func
        known = _known.get(function_key(function))
        fits = known is not None and known["source"] == source_checksum(function)
        self._weights: dict[str, list[int]] = known["branches"] if known is not None and fits else {}

    def lower_inst(self, inst: Any) -> None:
        if not isinstance(inst, numba_ir.Branch):
            super().lower_inst(inst)
            return
        function = self.func_ir.func_id.func
        line = inst.loc.line - function.__code__.co_firstlineno
        branch = f"{line}:{self._branches[line]}"
        self._branches[line] += 1
        if COUNTING:
            self._count(inst, counters.place(function, branch))
        super().lower_inst(inst)
        weights = self._weights.get(branch)
        if weights is not None:
            scale = max(1, max(weights) // _LARGEST + 1)
            self.builder.block.terminator.set_weights([count // scale for count in weights])

    def _count(self, inst: Any, address: int) -> None:
        """Add one to the first or second of the counts at an address, before the branch."""
        builder, wide = self.builder, ir.IntType(64)
        taken = self.context.cast(builder, self.loadvar(inst.cond.name), self.typeof(inst.cond.name), _boolean())
        place = builder.inttoptr(
            builder.select(taken, ir.Constant(wide, address), ir.Constant(wide, address + 8)), wide.as_pointer())
        builder.store(builder.add(builder.load(place), ir.Constant(wide, 1)), place)


def _boolean() -> Any:
    from numba import types

    return types.boolean
