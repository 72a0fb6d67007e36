"""Counts which way the engine's branches go in the shipped programs, and writes ixpemu/engine/branch_weights.json.

`python -m ixpemu.bench.count_branches`: a minute, most of it the compilation of an engine with counters. Counts do not depend on
the machine: the same sources give the same file.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile

from ixpemu.files import write_atomically

CYCLES = 300_000                # of the chip, each program


def main() -> None:
    """Compile with counters, run, write."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"IXPEMU_COUNT_BRANCHES": "1", "IXPEMU_CACHE_DIR": folder, "IXPEMU_TRANSLATE": "never"}
        from ixpemu.app import App
        from ixpemu.bench.cases import CASES
        from ixpemu.engine.branch_profile import WEIGHTS, counters

        for case in CASES.values():
            case("default").advance(CYCLES)
        for traffic in ("imix", None):
            App.load("ipv4_forward", traffic=traffic, gbps=1.0).advance(CYCLES)
        App.load("echo", traffic="64B", gbps=1.0).advance(CYCLES)
        lines = [f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in sorted(counters.weights().items())]
        write_atomically(WEIGHTS, ("{\n" + ",\n".join(lines) + "\n}\n").encode())
        sys.stdout.write(f"{len(lines)} functions in {WEIGHTS}\n")


if __name__ == "__main__":
    main()
