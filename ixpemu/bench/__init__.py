"""How fast this installation is: instructions, chip cycles and packets a second, and compile time, start, assembler, memory.

Every figure comes from a process of its own (`ixpemu.bench.worker`), so that one measurement does not warm another one up.
Figures depend on the machine; what is measured and how does not. Nothing here prints.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ixpemu.bench.assembly import LARGE
from ixpemu.bench.peers import PEERS

CASES = ("ipv4_forward_64B", "compute", "content_switch")
ABSENT = {"content_switch": "the application is not part of this version"}
OBSERVED = ("trace", "races")     # modes of the engine that watches: everything noted, data races looked for
MODES = ("default", "fast", *OBSERVED)
UNCOMPILED = "uncompiled"
OFFERED = {"ipv4_forward_64B": "3 x 1 Gb/s"}
Announce = Callable[[str], None]


@dataclass(slots=True)
class BenchResult:
    """What was measured. `speeds`: case to mode to figures; in the mode "uncompiled" the same engine runs as plain Python.

    `first_compile_seconds` is into an empty cache folder, `warm_start_seconds` from the start of the process to the first
    instruction executed with a filled one, both with assembly. `peak_memory_mb` is that of the packet case in default mode, in
    10^6 bytes. `peers`: instructions a second of others. `assembly`: speed of the assembler on texts it has not seen, by
    `ixpemu.bench.assembly`; `assembler_lines_per_second` is that of the shipped programs over and over, where lines it knows cost
    less. `limits`: for cases with packets, whether any were lost in default mode, and what limited them.
    """

    speeds: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    peers: dict[str, float] = field(default_factory=dict)
    limits: dict[str, str] = field(default_factory=dict)
    first_compile_seconds: float | None = None
    warm_start_seconds: float | None = None
    assembler_lines_per_second: float | None = None
    assembly: dict[str, Any] = field(default_factory=dict)
    peak_memory_mb: float | None = None

    def ratio(self, case: str) -> float | None:
        """How many times more instructions a second the compiled engine executes, in default mode."""
        modes = self.speeds.get(case, {})
        if "default" not in modes or UNCOMPILED not in modes:
            return None
        return modes["default"]["instructions_per_second"] / modes[UNCOMPILED]["instructions_per_second"]

    def observation(self, case: str) -> dict[str, float]:
        """How many times slower the case is while it is observed, by mode, against default mode."""
        modes = self.speeds.get(case, {})
        rates = {mode: figures["chip_cycles_per_second"] for mode, figures in modes.items()}
        return {mode: rates["default"] / rates[mode] for mode in OBSERVED if rates.get(mode) and "default" in rates}

    def against(self, peer: str) -> float | None:
        """How many times more instructions a second the compute case executes than a peer: in default mode, and in fast mode
        against the same loop in C, which counts nothing either."""
        modes = self.speeds.get("compute", {})
        mode = "fast" if peer == "c_loop" else "default"
        if mode not in modes or peer not in self.peers:
            return None
        return modes[mode]["instructions_per_second"] / self.peers[peer]

    def as_json(self) -> dict[str, Any]:
        """{case: {mode: figures}}, and beside the cases what else was measured."""
        ratios = {case: round(ratio, 1) for case in self.speeds if (ratio := self.ratio(case)) is not None}
        return {
            **self.speeds, **{case: {"absent": why} for case, why in self.absent.items()},
            "compiled_to_uncompiled": ratios,
            "cost_of_observation": {case: {mode: round(ratio, 1) for mode, ratio in self.observation(case).items()}
                                    for case in self.speeds},
            "peers": {
                name: {"instructions_per_second": rate, "what": PEERS[name], "compute_to_peer": self.against(name)}
                for name, rate in self.peers.items()
            },
            "offered": {case: {"rate": OFFERED[case], "limit": text} for case, text in self.limits.items()},
            "first_compile_seconds": self.first_compile_seconds,
            "warm_start_seconds": self.warm_start_seconds,
            "assembler_lines_per_second": self.assembler_lines_per_second,
            "assembly": self.assembly,
            "peak_memory_mb": self.peak_memory_mb,
        }


def _worker(arguments: list[str], **environment: str) -> dict[str, Any]:
    """Runs the worker in a process of its own and reads what it measured."""
    done = subprocess.run(
        [sys.executable, "-m", "ixpemu.bench.worker", *arguments],
        env=os.environ | environment, stdout=subprocess.PIPE, check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"the measurement {' '.join(arguments)} failed with exit code {done.returncode}")
    values: dict[str, Any] = json.loads(done.stdout)
    return values


def first_compile() -> float:
    """Seconds that compiling the engine takes, into a cache folder that is empty."""
    with tempfile.TemporaryDirectory(prefix="ixpemu-bench-") as folder:
        return float(_worker(["compile"], IXPEMU_CACHE_DIR=folder)["seconds"])


def warm_start() -> float:
    """Seconds from the start of a process to the first executed instruction, the best of three; the cache must be filled."""
    best = float("inf")
    for _ in range(3):
        started = time.time()
        best = min(best, float(_worker(["start"])["first_instruction_at"]) - started)
    return best


def run_bench(
    cases: tuple[str, ...] = CASES, seconds: float = 3.0, announce: Announce = lambda text: None,
    peers: tuple[str, ...] = tuple(PEERS),
) -> BenchResult:
    """Measures everything. `seconds` is how long each speed is measured for; about two minutes altogether.

    `peers`: of PEERS, those to compare with.
    """
    result = BenchResult()
    announce("first compile, into an empty cache")
    result.first_compile_seconds = round(first_compile(), 2)
    announce("compile for the measurements, or nothing if that is done")
    _worker(["compile"])
    announce("warm start")
    result.warm_start_seconds = round(warm_start(), 3)
    for case in cases:
        if case in ABSENT:
            result.absent[case] = ABSENT[case]
            continue
        figures: dict[str, dict[str, float]] = {}
        for mode in MODES:
            announce(f"{case}, {mode}")
            measured = _worker(["speed", case, mode, str(seconds)])
            figures[mode] = measured["speed"]
            if case in OFFERED and mode == "default":
                result.peak_memory_mb = round(measured["peak_memory_mb"], 1)
                result.limits[case] = measured["limit"]
        announce(f"{case}, uncompiled")
        figures[UNCOMPILED] = _worker(["speed", case, "default", str(seconds)], IXPEMU_JIT="0")["speed"]
        result.speeds[case] = figures
    for name in peers:
        announce(f"peer: {name}")
        measured = _worker(["peer", name, str(seconds)])
        if "absent" in measured:
            result.absent[f"peer {name}"] = measured["absent"]
        else:
            result.peers[name] = measured["instructions_per_second"]
    announce("assembler")
    result.assembler_lines_per_second = round(_worker(["assembler", str(seconds)])["lines_per_second"])
    result.assembly = _worker(["assembly", str(LARGE)])
    return result
