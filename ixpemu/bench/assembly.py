"""How fast the assembler is: its start, lines parsed, lines from text to words, a full control store, growth with size.

What is assembled is made here, every line different from all others, so that nothing that the assembler remembers of lines it has
seen makes the figures better than a first assembly is. Seconds are of the processor. Nothing here prints.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ixpemu import resources

STARTS = 5
FULL = 4096                     # words of the control store
SMALL, LARGE = 10_000, 100_000  # expanded lines between which growth is looked at
_BODY = 25                      # expanded lines of one call in `expanded`, one word among them


def full_program(words: int = FULL) -> str:
    """A program of so many words, at least 40: a dozen registers, memory commands, branches to labels near and far, comments."""
    names = [f"r{number}" for number in range(12)]
    text = [
        ".reg " + " ".join(names), ".reg $in[2] $out[2]", ".xfer_order $in", ".xfer_order $out", ".sig arrived",
        *(f"immed[{name}, {number}]" for number, name in enumerate(names)),
        "immed[$out[0], 1]", "immed[$out[1], 2]",
    ]
    made = len(names) + 2
    number = 0
    while made + 6 < words:
        left, right = names[number % 6], names[6 + number * 5 % 6]
        text += [
            "", f"; step {number}: {left} and {right}",
            f"step{number}#: alu[{left}, {left}, +, {number % 200}]         ; a constant of step {number}",
            f"    alu_shf[{right}, {left}, AND~, {right}, <<{1 + number % 31}]   // shifted by {1 + number % 31}, {number}",
            f"    sram[read, $in[0], {left}, {4 * (number % 16)}, 2], ctx_swap[arrived]     ; {number}",
            f"    alu[{right}, {right}, XOR, $in[{number % 2}]]     ; what came in step {number}",
            f"    br_bset[{left}, {number % 32}, step{number // 2}#]",
        ]
        made += 5
        number += 1
    text += [*(f"    alu[{names[one]}, {names[one]}, +, {names[6 + one]}]" for one in range(words - made - 1)), "ctx_arb[kill]"]
    return "\n".join(text) + "\n"


def expanded(lines: int) -> str:
    """A program of about so many lines once its macros are expanded, of which one in 25 becomes a word."""
    body = ["#macro step(register, value)", ".begin", "    .reg own other", "#if (value % 2)", "    .set other", "#else",
            "    .set own", "#endif", *(f"    .use register ; {one}" for one in range(_BODY - 5)),
            "    alu[register, register, +, (value & 0x7f)]", ".end", "#endm"]
    names = [f"r{number}" for number in range(12)]
    calls = [f"step({names[one % 12]}, {one})" for one in range(lines // _BODY)]
    return "\n".join([".reg " + " ".join(names), *body, ".set " + " ".join(names), *calls, "ctx_arb[kill]"]) + "\n"


def start() -> float:
    """Seconds of `ixpemu asm` for two lines of text, from start to end: the best of some, with Python's modules compiled."""
    best = float("inf")
    with tempfile.TemporaryDirectory(prefix="ixpemu-bench-") as folder:
        source = Path(folder) / "start.uc"
        source.write_text("nop\nctx_arb[kill]\n", encoding="utf-8")
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "compiled")
        for _ in range(STARTS + 1):         # the first one compiles the modules
            before = _children()
            subprocess.run([sys.executable, "-m", "ixpemu", "asm", str(source)], env=environment, check=True)
            best = min(best, _children() - before)
    return best


def _children() -> float:
    """Processor seconds of all processes that this one has started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(large: int = LARGE) -> dict[str, Any]:
    """All but the start, in this process: lines parsed a second, lines a second from text to words, seconds of a full image, and
    seconds a line of the same kind of text in two sizes, the larger one of `large` expanded lines."""
    from ixpemu.asm import assemble
    from ixpemu.asm.findings import Findings
    from ixpemu.asm.front import parse
    from ixpemu.asm.preprocess import Preprocessed, preprocess

    assemble(resources.folder("microcode") / "bench" / "compute.uc")    # grammar and instruction set are loaded once per process
    text = full_program()
    lines = text.count("\n")
    before = time.process_time()
    parse(preprocess("bench", text.replace("arrived", "came"), Findings(), (), None, Preprocessed()))
    parsing = time.process_time() - before
    before = time.process_time()
    image = assemble(text=text)
    full = time.process_time() - before
    if len(image) != FULL:
        raise RuntimeError(f"the full image has {len(image)} words")
    each = {}
    for size in (SMALL, large):
        text = expanded(size)
        before = time.process_time()
        assemble(text=text)
        each[size] = (time.process_time() - before) / size
    return {
        "parsed_lines_per_second": round(lines / parsing), "lines_per_second": round(lines / full),
        "full_image_seconds": round(full, 3), "full_image_words": FULL, "full_image_lines": lines,
        "microseconds_per_expanded_line": {str(size): round(seconds * 1e6, 2) for size, seconds in each.items()},
        "growth": round(each[large] / each[SMALL], 2),
    }
