"""Chip files: the parameters of a chip and its board, each with value, unit, source and confidence (isa/chips/*.toml).

A file is complete, or names another one as `base` and holds the differences. What parameters there are is what the shipped
enp2611.toml has: anything else is a mistake. How parameters act is the engine's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from ixpemu import codes, resources
from ixpemu.diagnostics import Diagnostic, UserError, user_error
from ixpemu.toml_file import Table, closest, read

CONFIDENCES = ("H", "M", "L", "assumed")
DEFAULT = "enp2611"
_LARGEST = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class Parameter:
    """One figure. `confidence`: H, M, L or assumed."""

    name: str
    value: int
    unit: str
    source: str
    confidence: str


@dataclass(frozen=True, slots=True)
class ChipParameters:
    """All figures of a chip, by name (`sram.read_cycles`). Immutable; `override` makes changed ones."""

    name: str
    parameters: Mapping[str, Parameter]

    def __getitem__(self, name: str) -> int:
        return self.parameters[name].value

    def __iter__(self) -> Iterator[str]:
        return iter(self.parameters)

    def override(self, values: Mapping[str, int | str]) -> ChipParameters:
        """The same chip with some figures changed by the user. UserError for an unknown name or a value that is no number."""
        changed = dict(self.parameters)
        for name, value in values.items():
            if name not in changed:
                near = closest(name, changed)
                raise user_error(
                    codes.APP_OVERRIDE, f"a chip has no parameter {name!r}",
                    help=f"did you mean {near!r}?" if near else f"known: {', '.join(sorted(changed))}",
                )
            changed[name] = replace(changed[name], value=_number(name, value), source="set by the user", confidence="assumed")
        return replace(self, parameters=changed)


def _number(name: str, value: int | str) -> int:
    if isinstance(value, str):
        text = value.strip().replace("_", "")
        if not re.fullmatch(r"0[xX][0-9a-fA-F]+|\d+", text):
            raise user_error(codes.APP_OVERRIDE, f"{name} = {value!r} is not a whole number", help=f"write  {name}=100")
        value = int(text, 0) if text[:2].lower() == "0x" else int(text)
    if not 0 <= value <= _LARGEST:
        raise user_error(codes.APP_OVERRIDE, f"{name} = {value} is out of range", help=f"0 to {_LARGEST}")
    return value


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
            found[f"{section}.{key}"] = _one(table.table(key), f"{section}.{key}")
    missing = sorted(set(known or ()) - set(found))
    if missing:
        raise UserError(Diagnostic(
            codes.FILE_MISSING_KEY, f"{path.name} lacks {', '.join(missing[:5])}{' and more' if len(missing) > 5 else ''}",
            origin=root.origin(), help=f'add them, or start the file with  base = "{DEFAULT}"',
        ))
    return found


def _one(table: Table, name: str) -> Parameter:
    table.allow("value", "unit", "source", "confidence")
    value = table.need("value", int)
    if not 0 <= value <= _LARGEST:
        raise table.wrong("value", f"{name} is {value}", f"0 to {_LARGEST}")
    confidence = table.need("confidence", str)
    if confidence not in CONFIDENCES:
        raise table.wrong("confidence", f"confidence of {name} is {confidence!r}", f"one of {', '.join(CONFIDENCES)}")
    return Parameter(name, value, table.need("unit", str), table.need("source", str), confidence)
