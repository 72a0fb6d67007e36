"""Initial values of an image on a chip: memory, registers and CSRs as its `.init` directives say, before its program starts.

What is still open, because no linker has seen the image, is refused here: a program with 0 in its place would run and be wrong.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ixpemu import codes
from ixpemu.diagnostics import user_error
from ixpemu.engine.layout import DRAM_IN, GPR_A, GPR_B, SRAM_IN
from ixpemu.image import Image
from ixpemu.image_links import LOCAL_MEMORY, Initial, NamedMemory, channel_base, evaluate

if TYPE_CHECKING:
    from ixpemu.chip import Chip

_PLACE = re.compile(r"(@?[ab]|\$\$?)(\d+)")
_WORD = 4
_FILES = {"a": GPR_A, "b": GPR_B, "$": SRAM_IN, "$$": DRAM_IN}


def check_closed(image: Image) -> None:
    """UserError for an image with names that have no value."""
    names = image.links.unresolved()
    if names:
        shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        raise user_error(
            codes.LINK_OPEN, f"the image leaves {len(names)} name{'s' * (len(names) != 1)} open: {shown}",
            help="link it: ixpemu link; or, from Python, ixpemu.link_values.resolve(image, {name: value})",
        )


def apply(chip: Chip, me: int, image: Image) -> None:
    """Writes the initial values of an image in microengine `me`, in the order of the text."""
    for initial in image.links.initial:
        values = [evaluate(value, {}) or 0 for value in initial.values]
        if initial.kind == "memory":
            _memory(chip, me, image.links.memory(initial.target), initial.offset, values)
        elif initial.kind == "csr":
            chip.me[me].csr[initial.target] = values[0]
        else:
            _register(chip, me, image.contexts, initial, values[0])


def _memory(chip: Chip, me: int, memory: NamedMemory, offset: int, values: list[int]) -> None:
    start = (memory.address or 0) + offset
    if memory.region == LOCAL_MEMORY:
        for index, value in enumerate(values):
            chip.me[me].local_memory[start // _WORD + index] = value
    elif memory.region == "scratch":
        chip.scratch.write(start, values)
    elif memory.region == "dram":
        chip.dram.write(start, values)
    else:
        channel = int(memory.region.removeprefix("sram"))
        if channel >= len(chip.sram):
            raise user_error(
                codes.MEMORY_ADDRESS, f"{memory.name} is in SRAM channel {channel}, which this chip does not have",
                help=f"it has {len(chip.sram)}",
            )
        chip.sram[channel].write(start - channel_base(memory.region), values)


def _register(chip: Chip, me: int, contexts: int, initial: Initial, value: int) -> None:
    match = _PLACE.fullmatch(initial.target)
    if match is None:
        raise user_error(codes.LINK_VALUE, f"there is no register {initial.target!r} that could have an initial value")
    prefix, number = match[1], int(match[2])
    engine = chip.me[me]
    base = _FILES[prefix.lstrip("@")]
    if prefix.startswith("@"):
        (engine.gpr_a_abs if prefix == "@a" else engine.gpr_b_abs)[number] = value
        engine.note_written(base + number)
        return
    for context in range(0, 8, 2 if contexts == 4 else 1) if initial.context < 0 else (initial.context,):
        own = engine.ctx[context]
        {"a": own.gpr_a, "b": own.gpr_b, "$": own.sram_in, "$$": own.dram_in}[prefix][number] = value
        engine.note_written(base + 16 * context + number)
