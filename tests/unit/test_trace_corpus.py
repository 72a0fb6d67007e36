"""Golden traces: small programs, and everything that happens when they run, compared line by line."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from ixpemu import Chip, assemble
from ixpemu.trace.text import Describer, TextTrace, Window
from tests.support.corpus import cases, check, load

CYCLES = 1200


@pytest.mark.parametrize("path", cases("trace"), ids=lambda path: path.stem)
def test_case(path: Path, update_goldens: bool) -> None:
    case = load(path)
    images = {int(name.removeprefix("me ")): assemble(text=text, path=f"me{name.removeprefix('me ')}.uc")
              for name, text in case.sections.items() if name.startswith("me ")}
    chip = Chip()
    chip.scratch.ring(3).setup(0x1000, 128)
    for me, image in images.items():
        chip.load(me, image, start=False)
        chip.start(me, contexts=1)
    stream = io.StringIO()
    chip.observe(TextTrace(stream, Describer(chip, images).line, Window(), [path.stem]))
    stop = chip.run(cycles=CYCLES)
    assert stop.reason == "quiet"
    check(case, "trace", stream.getvalue(), update_goldens)
