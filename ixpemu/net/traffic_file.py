"""Traffic streams as a file describes them: sizes and protocols in a row or by weight, ranges of addresses, ports, a seed.

Reads and checks; the frames are traffic.py's. docs/traffic.md is the description for users.
"""

from __future__ import annotations

from dataclasses import replace
from math import gcd, lcm
from pathlib import Path
from random import Random

from ixpemu.diagnostics import UserError
from ixpemu.net.traffic import LONGEST, PERIOD, PROTOCOLS, SHORTEST, Addresses, Traffic
from ixpemu.toml_file import Table, closest, read

KEYS = ("sizes", "weights", "protocols", "destinations", "source", "ports", "ttl", "seed", "count")
MOST_WEIGHT = 10_000                # of a row: so many frames until they repeat


def from_file(name: str, stream: Traffic, keep_destinations: bool) -> Traffic:
    """`stream` with what the file says. UserError with its place for anything wrong."""
    path = Path(name)
    table = read(path, "the traffic file")
    table.allow(*KEYS)
    sizes = table.values.get("sizes")
    if not isinstance(sizes, list) or not sizes or not all(type(s) is int and SHORTEST <= s <= LONGEST for s in sizes):
        raise table.wrong(
            "sizes" if "sizes" in table.values else None,
            f"{path.name} needs `sizes`, a list of frame sizes from {SHORTEST} to {LONGEST} bytes", "sizes = [64, 594, 1518]",
        )
    seed, count, ttl = (_number(table, key, low, high) for key, low, high in (
        ("seed", 0, 1 << 63), ("count", 0, 1 << 63), ("ttl", 0, 255)))
    stream = replace(
        stream, seed=stream.seed if seed is None else seed, count=count if stream.count is None else stream.count,
        ttl=stream.ttl if ttl is None else ttl, _templates={},
    )
    protocols = _protocols(table)
    shares = _weights(table, len(sizes))
    whole = lcm(sum(protocols.values()), *([sum(shares)] if shares else []))
    if whole > MOST_WEIGHT:
        raise table.wrong(
            "weights" if shares else "protocols", f"the weights add up to rows of {whole:,} frames",
            f"at most {MOST_WEIGHT:,}: use smaller numbers, such as 7, 4 and 1",
        )
    length = whole * max(1, PERIOD // whole)
    row = tuple(sizes) if shares is None else _shuffled(dict(enumerate(shares)), length, f"{stream.seed} sizes", sizes)
    numbers = list(PROTOCOLS.values())
    kinds = {numbers.index(PROTOCOLS[name]): share for name, share in protocols.items()}
    stream = replace(stream, sizes=row, protocols=_shuffled(kinds, length, f"{stream.seed} protocols", numbers))
    if "ports" in table.values:
        ports = table.values["ports"]
        if not isinstance(ports, list) or not ports or not all(type(p) is int and 0 <= p < 1 << 16 for p in ports):
            raise table.wrong("ports", "ports are a list of destination ports from 0 to 65535", "ports = [53, 80]")
        stream = replace(stream, ports=tuple(ports))
    if "destinations" in table.values and not keep_destinations:
        texts = table.words("destinations")
        if not texts:
            raise table.wrong("destinations", "destinations are a list of networks and ranges", 'destinations = ["10.1.0.0/16"]')
        stream = replace(
            stream, destinations=tuple(_placed(table, text, "destinations", index) for index, text in enumerate(texts)))
    source = table.get("source", str)
    return stream if source is None else replace(stream, source=_placed(table, source, "source"))


def _number(table: Table, key: str, low: int, high: int) -> int | None:
    value = table.get(key, int)
    if value is not None and not low <= value <= high:
        raise table.wrong(key, f"{key} {value} is out of range", f"from {low} to {high}" if high < 1 << 63 else f"{low} or more")
    return value


def _weights(table: Table, sizes: int) -> list[int] | None:
    """How often each size comes, or None for a row as it stands."""
    if "weights" not in table.values:
        return None
    weights = table.values["weights"]
    if not isinstance(weights, list) or len(weights) != sizes or not all(type(w) is int and w > 0 for w in weights):
        raise table.wrong("weights", f"weights are a list of {sizes} whole numbers above 0, one for each size",
                          "sizes = [64, 594, 1518] with weights = [7, 4, 1]")
    divisor = gcd(*weights)
    return [weight // divisor for weight in weights]


def _protocols(table: Table) -> dict[str, int]:
    """Protocols by name with their weights: a list of names, or a table of weights."""
    values = table.values.get("protocols", ["udp"])
    advice = 'protocols = ["udp", "tcp"]  or  protocols = { udp = 8, tcp = 2 }'
    if isinstance(values, list):
        names = table.words("protocols") if "protocols" in table.values else ("udp",)
        if not names or len(set(names)) != len(names):
            raise table.wrong("protocols", "protocols are a list of names, each once", advice)
        shares = dict.fromkeys(names, 1)
    else:
        inner = table.table("protocols")
        shares = {name: inner.need(name, int) for name in inner.values}
        if not shares or any(share <= 0 for share in shares.values()):
            raise table.wrong("protocols", "weights of protocols are whole numbers above 0", advice)
    for index, name in enumerate(shares):
        if name not in PROTOCOLS:
            near = closest(name, PROTOCOLS)
            raise UserError(*(replace(found, origin=table.origin("protocols", index if isinstance(values, list) else name))
                              for found in table.wrong(
                                  "protocols", f"no traffic is made of {name!r}",
                                  f"did you mean {near!r}?" if near else f"one of {', '.join(PROTOCOLS)}").diagnostics))
    divisor = gcd(*shares.values())
    return {name: share // divisor for name, share in shares.items()}


def _shuffled(shares: dict[int, int], length: int, seed: str, values: list[int]) -> tuple[int, ...]:
    """A row of `length` of the values, each as often as its share says (`length` is a multiple of their sum), drawn by `seed`."""
    times = length // sum(shares.values())
    if len(shares) == 1:
        return (values[next(iter(shares))],)
    row = [values[index] for index, share in shares.items() for _ in range(share * times)]
    Random(seed).shuffle(row)
    return tuple(row)


def _placed(table: Table, text: str, *key: str | int) -> Addresses:
    """A network or range named in a file."""
    try:
        return Addresses.of(text)
    except UserError as error:
        raise UserError(*(replace(found, origin=table.origin(*key)) for found in error.diagnostics)) from error
