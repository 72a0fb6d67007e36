"""The engine as plain Python in another process, asked for the same runs: `python -m tests.support.uncompiled` answers line by
line.

A question is a JSON line [machine, cycles, slice length or 0, watched]; the answer is the fingerprint of the chip after it. The
tests' side is `Uncompiled`.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType

from ixpemu import Chip
from ixpemu.chip_snapshot import ENGINE_HOUSEKEEPING, HOUSEKEEPING
from ixpemu.trace.digest import TraceHash
from tests.support.comparing import advance
from tests.support.generated_programs import Machine

ROOT = Path(__file__).parents[2]


def fingerprint(chip: Chip) -> dict[str, str | int]:
    """A digest of every part of a chip's state that decides what it does next, by name, and of its memories."""
    saved = chip.snapshot()
    parts: dict[str, str | int] = {"cycle": saved.cycle, "reserved": json.dumps(sorted(chip.reserved_events))}
    for name in saved.state.dtype.names or ():
        if name in HOUSEKEEPING:
            continue
        if name == "engines":
            for me in range(saved.state[name].shape[1]):
                for field in saved.state[name].dtype.names or ():
                    if field not in ENGINE_HOUSEKEEPING:
                        parts[f"engines[{me}].{field}"] = _digest(saved.state[name][0, me][field].tobytes())
        else:
            parts[name] = _digest(saved.state[name].tobytes())
    for page, words in saved.pages.items():
        parts[f"memory page {page}"] = _digest(words.tobytes())
    return parts


def _digest(octets: bytes) -> str:
    return hashlib.sha1(octets, usedforsecurity=False).hexdigest()


def outcome(machine: Machine, cycles: int, length: int, watched: bool = False) -> dict[str, str | int]:
    """The fingerprint after `cycles`, in slices of `length` or in one; `watched`: with the digest of all that happened."""
    chip = machine.chip()
    seen = TraceHash()
    if watched:
        chip.observe(seen)
    if length:
        while chip.cycle < cycles:
            chip.run(cycles=min(length, cycles - chip.cycle))
    else:
        advance(chip, cycles)
    return fingerprint(chip) | {"instructions": chip.instructions, "trace": seen.hexdigest(), "records": seen.count}


class Uncompiled:
    """A process without compiled code; a context manager."""

    def __enter__(self) -> Uncompiled:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.uncompiled"],
            cwd=ROOT,
            env=os.environ | {"IXPEMU_JIT": "0", "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(timeout=30)

    def outcome(self, machine: Machine, cycles: int, length: int, watched: bool = False) -> dict[str, str | int]:
        """As the function, in that process."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps([machine.to_json(), cycles, length, watched]) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the uncompiled process has ended"
        parts: dict[str, str | int] = json.loads(answer)
        return parts


def main() -> None:
    from ixpemu.engine.jit import COMPILED

    if COMPILED:
        raise SystemExit("set IXPEMU_JIT=0")
    for line in sys.stdin:
        text, cycles, length, watched = json.loads(line)
        print(json.dumps(outcome(Machine.from_json(text), cycles, length, watched)), flush=True)


if __name__ == "__main__":
    main()
