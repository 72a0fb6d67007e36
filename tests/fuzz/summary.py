"""What all fuzz processes of a session did together, in a few lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any


def lines(results: Iterable[Mapping[str, Any]]) -> list[str]:
    """A line for each kind of input and one for all. `results`: what the processes printed, with their `kind`."""
    kinds: dict[str, Counter[str]] = {}
    stops: dict[str, Counter[str]] = {}
    reserved: set[str] = set()
    for result in results:
        counts = kinds.setdefault(result["kind"], Counter())
        counts["processes"] += 1
        for name, value in result.items():
            if isinstance(value, int):
                counts[name] += value
        stops.setdefault(result["kind"], Counter()).update(result.get("stops", {}))
        reserved |= set(result.get("reserved", ()))
    found = []
    for kind, counts in kinds.items():
        said = ", ".join(f"{value:,} {name}" for name, value in counts.items())
        ends = ", ".join(f"{value:,} {name}" for name, value in stops[kind].most_common())
        found.append(f"{kind}: {said}" + (f"; runs ended by {ends}" if ends else ""))
    total = sum(counts["instructions"] for counts in kinds.values())
    if total:
        found.append(f"together {total:,} instructions, {len(reserved)} kinds of reserved behaviour")
    return found
