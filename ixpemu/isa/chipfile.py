"""Chip files: the parameters of a chip and its board, each with value, unit, range, source and confidence (isa/chips/*.toml).

A file is complete, or names another one as `base` and holds the differences. What parameters there are, and the range that the
emulator has room for, is what the shipped enp2611.toml says: anything else is a mistake. How parameters act is the engine's.

Latencies of whole references (`sram.latency`) are sums of parameters; they can be set as well (ixpemu/isa/latencies.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from ixpemu import arguments, codes, resources
from ixpemu.diagnostics import Diagnostic, UserError, user_error
from ixpemu.isa.latencies import LATENCIES, Latency
from ixpemu.toml_file import Table, closest, read

CONFIDENCES = ("H", "M", "L", "assumed")
DEFAULT = "enp2611"
_LARGEST = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class Parameter:
    """One figure. `low` and `high`: what the emulator takes. `confidence`: H, M, L or assumed."""

    name: str
    value: int
    unit: str
    low: int
    high: int
    source: str
    confidence: str

    @property
    def range_text(self) -> str:
        """What it may be, in words: `0 to 100,000 cycles`."""
        if self.low == self.high:
            return f"{self.low:,} {self.unit} and nothing else"
        return f"{self.low:,} to {self.high:,}" + ("" if self.unit == "0 or 1" else f" {self.unit}")


@dataclass(frozen=True, slots=True)
class ChipParameters:
    """All figures of a chip, by name (`sram.read_cycles`). Immutable; `override` makes changed ones."""

    name: str
    parameters: Mapping[str, Parameter]

    def __getitem__(self, name: str) -> int:
        return self.parameters[name].value

    def __iter__(self) -> Iterator[str]:
        return iter(self.parameters)

    def latency(self, name: str) -> int:
        """Cycles from issue to signal of a reference that finds the chip idle: `sram.latency` and so on, see LATENCIES."""
        return LATENCIES[name].cycles(self)

    def value(self, name: str) -> int:
        """A parameter or a latency. UserError for an unknown name."""
        _known_name(name, self.parameters)
        return self.latency(name) if name in LATENCIES else self[name]

    def override(self, values: Mapping[str, int | str]) -> ChipParameters:
        """The same chip with some figures changed by the user; a latency changes the parameter that it names.

        UserError for an unknown name, a value that is no number or out of range, and a latency that contradicts another value.
        """
        changed = dict(self.parameters)
        for name in values:
            _known_name(name, changed)
        # Latencies last: they fill up to their sum whatever the other figures are.
        for name in sorted(values, key=lambda name: name in LATENCIES):
            if name in LATENCIES:
                latency = LATENCIES[name]
                if latency.sets in values:
                    raise user_error(codes.APP_OVERRIDE, f"{name} and {latency.sets} are both set, and the first sets the second",
                                     help="leave one out")
                value = _filled_up(name, latency, _number(name, values[name], "cycles"), replace(self, parameters=changed))
                name = latency.sets
            else:
                value = _number(name, values[name], changed[name].unit)
            parameter = changed[name]
            if not parameter.low <= value <= parameter.high:
                raise user_error(codes.APP_OVERRIDE, f"{name} = {value:,} is out of range", help=_may_be(parameter))
            changed[name] = replace(parameter, value=value, source="set by the user", confidence="assumed")
        return replace(self, parameters=changed)


def _may_be(parameter: Parameter) -> str:
    """What a parameter may be, what it is and how sure that is."""
    return f"{parameter.range_text}; it is {parameter.value:,} here ({parameter.source}; {parameter.confidence})"


def _known_name(name: str, known: Iterable[str]) -> None:
    """UserError for what is neither a parameter nor a latency, with what may have been meant."""
    names = (*known, *LATENCIES)
    if name in names:
        return
    section, dot, _ = name.partition(".")
    there = [each for each in names if each.startswith(f"{section}.")]
    sections = dict.fromkeys(each.partition(".")[0] for each in names)
    near = closest(name, names)
    if dot and there:
        advice = f"{section} has {', '.join(each.partition('.')[2] for each in there)}"
    else:
        advice = f"names are SECTION.NAME, sections {', '.join(sections)}"
    raise user_error(
        codes.APP_OVERRIDE, f"a chip has no parameter {name!r}",
        help=(f"did you mean {near!r}? " if near else "") + advice + "; `ixpemu isa timing` prints all",
    )


def _filled_up(name: str, latency: Latency, wanted: int, chip: ChipParameters) -> int:
    """What the parameter that a latency sets has to be. UserError if the others alone are more than `wanted`."""
    parameter = chip.parameters[latency.sets]
    others = latency.cycles(chip) - parameter.value
    if not others + parameter.low <= wanted <= others + parameter.high:
        raise user_error(
            codes.APP_OVERRIDE, f"{name} = {wanted:,} is out of range",
            help=f"{others + parameter.low:,} to {others + parameter.high:,} cycles: it is {latency.formula} "
                 f"({others:,} besides {latency.sets}), and {latency.cycles(chip):,} here",
        )
    return wanted - others


def _number(name: str, value: int | str, unit: str) -> int:
    if isinstance(value, str):
        text = value.strip().replace("_", "")
        if not re.fullmatch(r"0[xX][0-9a-fA-F]{1,16}|\d{1,20}", text):
            raise user_error(codes.APP_OVERRIDE, f"{name} = {value!r} is not a whole number",
                             help=f"its unit is {unit}: write  {name}=NUMBER, decimal or 0x... without the unit")
        value = int(text, 0) if text[:2].lower() == "0x" else int(text)
    return arguments.whole(name, value, code=codes.APP_OVERRIDE, help=f"give a whole number; its unit is {unit}")


def shipped() -> tuple[str, ...]:
    """The names of the chip files that come with this installation."""
    return tuple(sorted(path.stem for path in (resources.folder("isa") / "chips").glob("*.toml")))


def find(name: str | Path) -> Path:
    """The file of a chip: a shipped one by name, or a path."""
    if isinstance(name, str) and name in shipped():
        return resources.folder("isa") / "chips" / f"{name}.toml"
    return Path(name)


@cache
def _known() -> Mapping[str, Parameter]:
    return _parameters(find(DEFAULT), None)


def load_chip(name: str | Path = DEFAULT) -> ChipParameters:
    """The parameters of a shipped chip (by name) or of a chip file. UserError for anything unknown, missing or out of range."""
    path = find(name)
    if not path.suffix and len(path.parts) == 1 and not path.exists():
        near = closest(str(name), shipped())
        advice = f"did you mean {near!r}?" if near else f"shipped: {', '.join(shipped())}; or give the path of a .toml file"
        raise user_error(codes.FILE_UNREADABLE, f"there is no chip {str(name)!r}", help=advice)
    shipped_default = path == find(DEFAULT)
    known = _known()
    return ChipParameters(path.stem, known if shipped_default else _parameters(path, known))


def _parameters(path: Path, known: Mapping[str, Parameter] | None) -> Mapping[str, Parameter]:
    root = read(path, "chip file")
    found: dict[str, Parameter] = {}
    sections = sorted({name.split(".")[0] for name in known}) if known is not None else list(root.values)
    root.allow("base", *sections)
    base = root.get("base", str)
    if base is not None:
        chosen = base if base in shipped() else path.parent / base
        if find(chosen) == path:
            raise root.wrong("base", f"{path.name} names itself as its base")
        found.update(load_chip(chosen).parameters)
    for section in root.values:
        if section == "base":
            continue
        table = root.table(section)
        if known is not None:
            table.allow(*(name.split(".")[1] for name in known if name.startswith(f"{section}.")))
        for key in table.values:
            name = f"{section}.{key}"
            found[name] = _one(table.table(key), name, None if known is None else known[name])
    missing = sorted(set(known or ()) - set(found))
    if missing:
        raise UserError(Diagnostic(
            codes.FILE_MISSING_KEY, f"{path.name} lacks {', '.join(missing[:5])}{' and more' if len(missing) > 5 else ''}",
            origin=root.origin(), help=f'add them, or start the file with  base = "{DEFAULT}"',
        ))
    return found


def _one(table: Table, name: str, known: Parameter | None) -> Parameter:
    """One line of a file. `known`: the same parameter in the default file, unless this is that one."""
    table.allow("value", "unit", "range", "source", "confidence")
    value = table.need("value", int)
    low, high = _range(table, name, known)
    if not low <= value <= high:
        raise table.wrong("value", f"{name} is {value:,}", f"{low:,} to {high:,} {table.need('unit', str)}")
    confidence = table.need("confidence", str)
    if confidence not in CONFIDENCES:
        raise table.wrong("confidence", f"confidence of {name} is {confidence!r}", f"one of {', '.join(CONFIDENCES)}")
    return Parameter(name, value, table.need("unit", str), low, high, table.need("source", str), confidence)


def _range(table: Table, name: str, known: Parameter | None) -> tuple[int, int]:
    if "range" not in table.values and known is not None:
        return known.low, known.high
    limits = table.values.get("range")
    numbers = limits if isinstance(limits, list) and all(type(limit) is int for limit in limits) else []
    if len(numbers) != 2 or not 0 <= numbers[0] <= numbers[1] <= _LARGEST:
        raise table.wrong("range", f"the range of {name} is {limits!r}", f"range = [lowest, highest], from 0 to {_LARGEST}")
    low, high = numbers
    if known is not None and not known.low <= low <= high <= known.high:
        raise table.wrong("range", f"the range of {name} is {low} to {high}",
                          f"the emulator has room for {known.low} to {known.high}: no more than that")
    return low, high
