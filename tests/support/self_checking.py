"""Runs the self-checking programs of microcode/tests: which there are, and what each one says. check.uc there has the agreement.

`python -m tests.support.self_checking` runs all of them, one line of JSON each: that is how tests run them on the engine that is
not compiled.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ixpemu import Chip, Image, UserError, assemble, resources
from ixpemu.chip_stop import Stop

FOLDER = resources.folder("microcode") / "tests"
INCLUDE = [FOLDER, FOLDER.parent / "lib"]
SHARED = ("check.uc", "check_end.uc")
CYCLES = 2_000_000
"""A program that has not halted by then fails."""


def names() -> list[str]:
    """The programs: files NAME.uc, and folders NAME with a file for each microengine."""
    files = [path.stem for path in FOLDER.glob("*.uc") if path.name not in SHARED]
    return sorted(files + [path.parent.name for path in FOLDER.glob("*/me0.uc")])


def sources(name: str) -> dict[int, Path]:
    """The source of each microengine that a program uses."""
    single = FOLDER / f"{name}.uc"
    if single.is_file():
        return {0: single}
    return {int(path.stem[2:]): path for path in sorted((FOLDER / name).glob("me*.uc"))}


def expected_reports(paths: Sequence[Path]) -> set[str]:
    """What the sources announce with `; expects:`."""
    return {line for path in paths for line in re.findall(r"^; expects: (.+?)\s*$", path.read_text(encoding="utf-8"), re.M)}


def feeds(paths: Sequence[Path]) -> dict[int, list[bytes]]:
    """The frames that the sources ask for with `; feeds PORT: LENGTH LENGTH ...`; byte j of frame k is 16 * k + j."""
    found: dict[int, list[bytes]] = {}
    for path in paths:
        for port, lengths in re.findall(r"^; feeds (\d): ([\d ]+)$", path.read_text(encoding="utf-8"), re.M):
            found[int(port)] = [bytes(16 * k + j & 0xFF for j in range(int(n))) for k, n in enumerate(lengths.split())]
    return found


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a program ended: `problem` is "" if it passed, else a text for people. `cycle` and `instructions` are when."""

    problem: str
    cycle: int
    instructions: int


def outcome(name: str, mode: str, **options: bool) -> Outcome:
    """Assemble one program, with `options` of `assemble`, and run it on a fresh chip."""
    paths = sources(name)
    chip = Chip(mode=mode)
    images: dict[int, Image] = {}
    for me, path in paths.items():
        images[me] = assemble(path, include=[*INCLUDE, path.parent], **options)
        chip.load(me, images[me])
    for port, frames in feeds(list(paths.values())).items():
        chip.ports[port].feed(frames)
    stop = chip.run(cycles=CYCLES)
    return Outcome(_problem(chip, stop, images, expected_reports(list(paths.values())), mode), chip.cycle, chip.instructions)


def _problem(chip: Chip, stop: Stop, images: dict[int, Image], announced: set[str], mode: str) -> str:
    if stop.reason != "halt" or stop.me is None or stop.ctx is None or stop.pc is None:
        return f"it did not halt: {stop.message}"
    me, ctx, pc = stop.me, stop.ctx, stop.pc
    image = images[me]
    where = {address: label for label, address in image.labels.items()}
    if image.labels.get("failed#") == pc:
        values = {part: _register(chip, image, me, ctx, part) for part in ("failed_check", "found", "expected")}
        return f"check {values['failed_check']}: found {values['found']:#x}, expected {values['expected']:#x}"
    if image.labels.get("passed#") != pc:
        return f"it halted at {pc} ({where.get(pc, 'no label')}), which is neither passed# nor failed#"
    reported = {kind for kind, count in chip.reserved.items() if count}
    if mode != "fast" and reported != announced:
        return f"reserved behaviour: {sorted(reported)}, announced: {sorted(announced)}"
    return ""


def _register(chip: Chip, image: Image, me: int, ctx: int, name: str) -> int:
    place = next(found for key, found in image.registers.items() if key.split("!")[-1] == name)
    bank = chip.me[me].ctx[ctx].gpr_a if place[0] == "a" else chip.me[me].ctx[ctx].gpr_b
    return int(bank[int(place[1:])])


def main() -> None:
    for name in names():
        try:
            found = outcome(name, "default")
        except UserError as error:
            found = Outcome(str(error), 0, 0)
        print(json.dumps({"name": name, "problem": found.problem, "cycle": found.cycle, "instructions": found.instructions}))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
