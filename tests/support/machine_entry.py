"""Runs programs of seeds and prints what they came to, as JSON: `python -m tests.support.machine_entry CYCLES SEED...`.

With `IXPEMU_JIT=0` in the environment it does so uncompiled, which a test compares.
"""

import json
import sys

from tests.support.machine import chip_of_seed, digest


def main(arguments: list[str]) -> None:
    cycles, *seeds = [int(argument) for argument in arguments]
    results = []
    for seed in seeds:
        chip = chip_of_seed(seed)
        chip.run(cycles=cycles)
        results.append(digest(chip))
    print(json.dumps(results))


if __name__ == "__main__":
    main(sys.argv[1:])
