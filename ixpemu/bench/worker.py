"""One measurement in a process of its own, its result as JSON on standard output: `python -m ixpemu.bench.worker TASK ...`.

Tasks: `compile`, `start`, `speed CASE MODE SECONDS`, `assembler SECONDS`, `assembly LINES`, `peer NAME SECONDS`. Called by
`ixpemu.bench`; not a command for people.
"""

from __future__ import annotations

import json
import re
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ixpemu.chip import Chip
    from ixpemu.isa.chipfile import ChipParameters

from ixpemu.bench import assembly
from ixpemu.bench.peers import Absent, measure

WARM_STEPS = 40            # at most, before programs that run long are machine code
OBSERVED_STEPS = 20         # an observed run is looked at so many times as often


def compile_all(observed: bool = False, parameters: ChipParameters | None = None) -> None:
    """Has numba compile all of the engine, or load it from its cache: what runs microengines, and what Python asks of them.

    `observed`: the variant that watches, too. `parameters`: of the chip whose layout it is compiled for.
    """
    from ixpemu.chip import Chip

    chip = Chip(parameters)
    chip.start(0, contexts=0)
    chip.run(cycles=1)
    if observed:
        chip.observe(lambda events: None)
        chip.run(cycles=1)


def _compile() -> dict[str, Any]:
    started = time.perf_counter()
    compile_all()
    seconds = time.perf_counter() - started
    compile_all(observed=True)          # for the measurements that follow; the first use of it pays, and not the first run
    return {"seconds": seconds}


def _start() -> dict[str, Any]:
    from ixpemu.app import App

    app = App.load("ipv4_forward")
    app.chip.run(cycles=1)
    return {"first_instruction_at": time.time()}


def _speed(case: str, mode: str, seconds: float) -> dict[str, Any]:
    from ixpemu.app_loads import Counters, limit, loads
    from ixpemu.bench.cases import CASES
    from ixpemu.engine.jit import COMPILED

    running = CASES[case](mode)
    step = running.first_step if mode in ("default", "fast") else max(1, running.first_step // OBSERVED_STEPS)
    running.advance(step)           # fills caches, pipelines and queues
    if mode in ("default", "fast") and COMPILED:
        _warm(running.chip, lambda: running.advance(step))
    before, loads_before = running.counters(), Counters.of(running.chip)
    started = time.perf_counter()
    while (elapsed := time.perf_counter() - started) < seconds:
        running.advance(step)
    after = running.counters()
    rates = {f"{name}_per_second": round((after[name] - before[name]) / elapsed, 1) for name in after}
    lost = sum(port.counters.overflow for port in running.chip.ports)
    return {
        "speed": rates, "peak_memory_mb": _peak_memory() / 1e6, "lost": lost,
        "limit": "nothing dropped" if lost == 0 else limit(loads(running.chip, loads_before)),
    }


def _warm(chip: Chip, advance: Callable[[], None]) -> None:
    """Run until all programs are machine code, since that is what a long run is."""
    engines = chip.state.engines
    for _ in range(WARM_STEPS):
        if all(engine.translated for engine in engines if engine.retired):
            return
        advance()


def _peer(name: str, seconds: float) -> dict[str, Any]:
    try:
        return measure(name, seconds)
    except Absent as absent:
        return {"absent": str(absent)}


def _peak_memory() -> int:
    """Bytes of the largest resident set of this process so far."""
    status = Path("/proc/self/status")
    if status.is_file():
        # Linux lets a process inherit getrusage's figure from the one that started it; this one is its own.
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
        if found is not None:
            return int(found[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _assembler(seconds: float) -> dict[str, Any]:
    from ixpemu import resources
    from ixpemu.app_file import load
    from ixpemu.asm import assemble

    sources = [(entry.image, entry.include, entry.define) for entry in load("ipv4_forward").microengines]
    sources.append((resources.folder("microcode") / "bench" / "compute.uc", (), {}))
    for source, include, define in sources:         # grammar and instruction set are loaded once per process
        assemble(source, include=include, define=define)
    lines = 0
    started = time.perf_counter()
    while (elapsed := time.perf_counter() - started) < seconds:
        for source, include, define in sources:
            image = assemble(source, include=include, define=define)
            files = {entry.place.file for entry in image.debug}
            for file in files:
                with open(file, encoding="utf-8") as stream:
                    lines += sum(1 for _ in stream)
    return {"lines_per_second": lines / elapsed}


def main(arguments: list[str]) -> dict[str, Any]:
    """Does the task that the arguments name."""
    task = arguments[0]
    if task == "compile":
        return _compile()
    if task == "start":
        return _start()
    if task == "speed":
        return _speed(arguments[1], arguments[2], float(arguments[3]))
    if task == "peer":
        return _peer(arguments[1], float(arguments[2]))
    if task == "assembly":
        return {"start_seconds": round(assembly.start(), 3), **assembly.measure(int(arguments[1]))}
    return _assembler(float(arguments[1]))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1:])) + "\n")
