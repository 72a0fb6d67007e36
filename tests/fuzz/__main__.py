"""`python -m tests.fuzz KIND SEED AMOUNT`: see the package."""

import faulthandler
import json
import sys
from collections.abc import Callable

from ixpemu.bench.worker import compile_all
from tests.fuzz import files, machine

KINDS: dict[str, Callable[[int, int], dict[str, object]]] = {
    "words": lambda seed, amount: machine.run(seed, amount, machine.valid_words, host=False),
    "any": lambda seed, amount: machine.run(seed, amount, machine.any_words, host=False),
    "host": lambda seed, amount: machine.run(seed, amount, machine.valid_words, host=True),
    **files.KINDS,
}

if __name__ == "__main__":
    faulthandler.enable()
    kind, seed, amount = sys.argv[1:]
    compile_all()                   # before any limit of time counts
    print(json.dumps(KINDS[kind](int(seed), int(amount))))
