"""Latencies of one reference that finds the chip idle, as sums of chip parameters: what `--set dram.latency=150` means.

From the issue of the command to the signal that ends it. Each sum names the one parameter that changes when the whole is set.
Not here: what a loaded chip adds (queues, buses, banks).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


class Figures(Protocol):
    """Whatever knows the value of a parameter by its name."""

    def __getitem__(self, name: str) -> int: ...


@dataclass(frozen=True, slots=True)
class Latency:
    """The sum of 1 (the issue cycle) and of parameters, each as often as its factor says. `sets` is one of them."""

    title: str
    sets: str
    terms: Mapping[str, int]

    def cycles(self, chip: Figures) -> int:
        """The sum on a chip."""
        return 1 + sum(factor * chip[name] for name, factor in self.terms.items())

    @property
    def formula(self) -> str:
        """The sum in words."""
        return " + ".join(["1", *(name if factor == 1 else f"{factor} x {name}" for name, factor in self.terms.items())])


def _sum(title: str, sets: str, bus: str, words: int, **others: int) -> Latency:
    """Command path, the unit, and `words` over a bus such as `push.s`."""
    more = {name.replace("__", "."): factor for name, factor in others.items()}
    return Latency(title, sets, {"command.path_cycles": 1, sets: 1, **more, f"{bus}_cycles": 1, f"{bus}_word_cycles": words})


LATENCIES: Mapping[str, Latency] = {
    "sram.latency": _sum("SRAM read of one word", "sram.read_cycles", "push.s", 1),
    "sram.write_latency": _sum("SRAM write of one word", "sram.write_cycles", "pull.s", 1),
    "scratch.latency": _sum("scratch read or get of one word", "scratch.read_cycles", "push.s", 1),
    "scratch.write_latency": _sum("scratch write or put of one word", "scratch.write_cycles", "pull.s", 1),
    "hash.latency": _sum("hash of one key of 48 bits", "hash.operand_cycles", "push.s", 2,
                         hash__word_cycles=2, hash__array_48_cycles=1),
    "dram.latency": _sum("DRAM read of 8 bytes, row not open", "dram.read_cycles", "push.d", 2, dram__row_miss_cycles=1),
    "dram.write_latency": _sum("DRAM write of 8 bytes, row not open", "dram.write_cycles", "pull.d", 2, dram__row_miss_cycles=1),
    "msf.latency": _sum("MSF read of one word", "msf.read_cycles", "push.s", 1),
    "msf.write_latency": _sum("MSF write of one word", "msf.write_cycles", "pull.s", 1),
    "cap.latency": _sum("CAP read of one word", "cap.read_cycles", "push.s", 1),
    "cap.write_latency": _sum("CAP write of one word", "cap.write_cycles", "pull.s", 1),
}
"""By name; a name is never that of a parameter."""
