"""How processor time grows with program size, packets and memory touched: measured, fitted by a line, drawn.

`python -m tests.growth` measures (about a minute, compiled) and writes docs/growth.svg and docs/growth.md. It needs the extra
`[report]`. Times are of this process alone; each point is the median of several. How far a line is from what was measured is
printed beside it. Not part of the suite: what a busy machine measures proves nothing.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ixpemu import App, Chip, assemble
from tests.support.machine import words_of

DOCS = Path(__file__).parents[1] / "docs"
TIMES = 5


@dataclass(frozen=True, slots=True)
class Growth:
    """One question: seconds by size. `unit` is what is counted."""

    title: str
    unit: str
    sizes: Sequence[float]
    seconds: Sequence[float]

    def line(self) -> tuple[float, float, float]:
        """Slope, intercept, and the largest distance of a point from the line, as a share of the largest time."""
        slope, base = np.polyfit(self.sizes, self.seconds, 1)
        off = np.abs(np.polyval((slope, base), self.sizes) - self.seconds).max() / max(self.seconds)
        return float(slope), float(base), float(off)


def median(action: Callable[[], object], prepare: Callable[[], object] = lambda: None) -> float:
    """Processor seconds, the median of some tries, what prepares each left out."""
    found = []
    for _ in range(TIMES):
        prepare()
        started = time.process_time()
        action()
        found.append(time.process_time() - started)
    return statistics.median(found)


def source(lines: int) -> str:
    """A program of so many instructions over a dozen registers, in blocks that branch."""
    names = [f"r{number}" for number in range(12)]
    text = [".reg " + " ".join(names), *(f"immed[{name}, {number}]" for number, name in enumerate(names))]
    for number in range(lines - len(names) - 1):
        left, right = names[number % 12], names[(number * 5 + 1) % 12]
        text.append(f"alu[{left}, {left}, +, {right if right != left else 1}]" if number % 9 else f"bne[l{number}#]\nl{number}#:")
    return "\n".join([*text, "ctx_arb[kill]"])


def assembly() -> Growth:
    """Source lines into an image."""
    sizes = (250, 500, 1000, 2000, 3000, 4000)
    assemble(text=source(100))
    seconds = [median(lambda size=size: assemble(text=source(size))) for size in sizes]
    return Growth("assembling a program", "instructions", sizes, seconds)


def execution() -> Growth:
    """A loop as long as the store, gone through 2,000 times by eight microengines."""
    sizes, seconds = (256, 512, 1024, 2048, 4000), []
    for size in sizes:
        body = ["alu[a0, a0, +, b0]", "alu_shf[b1, a0, OR, b0, <<3]"] * (size // 2)
        words = words_of("\n".join(["turn#:", *body, "br[turn#]"]))
        chip = Chip(mode="fast")
        for me in range(8):
            chip.load_words(me, words)
        chip.run(cycles=10 * size)
        seconds.append(median(lambda chip=chip, size=size: chip.run(cycles=2_000 * size)))
    return Growth("executing a program 2,000 times on 8 microengines", "instructions", sizes, seconds)


def packets() -> Growth:
    """The router at full rate on three ports, started before."""
    sizes, seconds = (5_000, 10_000, 20_000, 40_000, 80_000), []
    for size in sizes:
        apps: list[App] = []

        def start(apps: list[App] = apps) -> None:
            apps[:] = [App.load("ipv4_forward", traffic="64B", gbps=1.0, capture=False)]
            apps[0].advance(20_000)

        seconds.append(median(lambda apps=apps, size=size: apps[0].run(packets=size), start))
    return Growth("forwarding packets", "packets", sizes, seconds)


def memory() -> Growth:
    """One microengine writes DRAM from its beginning on, 64 bytes at a time; then a snapshot is taken."""
    text = "\n".join(["turn#:", "dram[write, $$0, a0, 0, 8], ctx_swap[s2]", "alu[a0, a0, +, b0]", "br[turn#]"])
    sizes, seconds = (4, 8, 16, 32, 64), []
    for size in sizes:
        chips: list[Chip] = []

        def fresh(chips: list[Chip] = chips) -> None:
            chip = Chip(mode="fast")
            chip.load_words(0, words_of(text), start=False)
            for ctx in chip.me[0].ctx:
                ctx.gpr_a[0], ctx.gpr_b[0] = 64 * ctx.number, 64 * 8
            chip.start(0)
            chip.run(cycles=1)
            chips[:] = [chip]

        def touch(size: int = size, chips: list[Chip] = chips) -> None:
            chip = chips[0]
            while int(chip.me[0].ctx[7].gpr_a[0]) < size << 20:
                chip.run(cycles=20_000)
            chip.snapshot()

        seconds.append(median(touch, fresh))
    return Growth("writing DRAM, then a snapshot", "megabytes", sizes, seconds)


def picture(found: Sequence[Growth], path: Path) -> None:
    """All of them in one drawing, points and lines."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "ixpemu"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 2, figsize=(9, 6.5), layout="constrained")
    for growth, axis in zip(found, axes.flat, strict=True):
        slope, base, _ = growth.line()
        reach = np.array([0, max(growth.sizes)])
        axis.plot(reach, base + slope * reach, color="0.6", linewidth=1)
        axis.plot(growth.sizes, growth.seconds, "o", color="#1f5fa8")
        axis.set(title=growth.title, xlabel=growth.unit, ylabel="seconds", xlim=(0, None), ylim=(0, None))
        axis.title.set_fontsize(10)
    figure.savefig(path, metadata={"Date": None})


def page(found: Sequence[Growth]) -> str:
    """docs/growth.md."""
    lines = [
        "# How time grows", "",
        "Made by `make growth` (`python -m tests.growth`): processor seconds against size, each point the median of",
        f"{TIMES}, with the line that fits best. The seconds are those of one machine, and others will measure others: the page",
        "is not among the generated files that are checked. That the points lie on lines is the same everywhere: an assembly",
        "costs so much an instruction, a run so much a packet whatever came before, a snapshot so much a page that was written.",
        "",
        "![Seconds against program size, packets and megabytes: four straight lines](growth.svg)", "",
        "| what | from | to | each | at 0 | farthest from the line |", "|---|---|---|---|---|---|",
    ]
    for growth in found:
        slope, base, off = growth.line()
        lines.append(f"| {growth.title} | {growth.sizes[0]:,} | {growth.sizes[-1]:,} {growth.unit} | {slope * 1e6:,.2f} us "
                     f"| {base:.2f} s | {off:.1%} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    found = [assembly(), execution(), packets(), memory()]
    for growth in found:
        print(growth.title, list(zip(growth.sizes, np.round(growth.seconds, 3).tolist(), strict=True)), growth.line())
    picture(found, DOCS / "growth.svg")
    (DOCS / "growth.md").write_text(page(found))


if __name__ == "__main__":
    main()
