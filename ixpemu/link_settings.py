"""What a linker is told beside the images: values of imports, fixed addresses, and memory that is somebody else's.

Read from the table `link` of an app.toml, or made from a command line's arguments. Whether any of it fits the images and the chip
is the linker's matter (`ixpemu.link`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ixpemu import codes
from ixpemu.diagnostics import Diagnostic, Origin, UserError
from ixpemu.image_links import LOCAL_MEMORY, MASK, REGIONS
from ixpemu.toml_file import Table

SHARED_REGIONS = tuple(region for region in REGIONS if region != LOCAL_MEMORY)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Given:
    """A value and who gave it: `app.toml:12`, `--import`. `origin` is the place in a file, None for an argument."""

    value: int
    by: str
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class Reserved:
    """`size` bytes of `region` from `start` on (an offset within the region) that hold something of `owner`'s."""

    region: str
    start: int
    size: int
    owner: str
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """Names are in lower case: case does not count in microcode. `places` are addresses as a program uses them."""

    imports: Mapping[str, Given] = field(default_factory=dict)
    places: Mapping[str, Given] = field(default_factory=dict)
    reserved: tuple[Reserved, ...] = ()

    def joined(self, imports: Mapping[str, Given], places: Mapping[str, Given]) -> LinkSettings:
        """These settings, with values of the command line in place of the file's."""
        return LinkSettings({**self.imports, **imports}, {**self.places, **places}, self.reserved)


def read_settings(table: Table) -> LinkSettings:
    """The table `link`: `import = { NAME = value }`, `place = { name = address }`, `reserve = [ { region, start, size, for } ]`.
    """
    table.allow("import", "place", "reserve")
    reserved = []
    for entry in table.tables("reserve"):
        entry.allow("region", "start", "size", "for")
        region, start, size = entry.need("region", str), entry.need("start", int), entry.need("size", int)
        if region not in SHARED_REGIONS:
            raise entry.wrong("region", f"{region!r} is no region that images share", f"one of {', '.join(SHARED_REGIONS)}")
        if not 0 <= start <= MASK:
            raise entry.wrong("start", f"start {start} is no offset in a memory", "bytes from its beginning, 0 or more")
        if not 1 <= size <= MASK:
            raise entry.wrong("size", f"size {size} is no number of bytes", "at least 1")
        reserved.append(Reserved(region, start, size, entry.need("for", str), entry.origin()))
    return LinkSettings(_values(table, "import"), _values(table, "place"), tuple(reserved))


def _values(table: Table, key: str) -> dict[str, Given]:
    values = table.table(key)
    found: dict[str, Given] = {}
    for name in values.values:
        number, origin = values.need(name, int), values.origin(name)
        problem = refusal(name, number)
        if problem is not None:
            raise values.wrong(name, *problem)
        if name.lower() in found:
            raise values.wrong(name, f"{key} gives {name!r} a second value: case does not count", "leave one out")
        found[name.lower()] = Given(number & MASK, f"{origin.span.file.rpartition('/')[2]}:{origin.span.line}", origin)
    return found


def refusal(name: str, value: int) -> tuple[str, str] | None:
    """What speaks against a name and its value, and what to do about it."""
    if _NAME.fullmatch(name) is None:
        return f"{name!r} is no name that a source could use", "letters, digits and _, no digit first"
    if not -(1 << 31) <= value <= MASK:
        return f"{name} is {value}, and a value has 32 bits", "from -0x80000000 to 0xffffffff"
    return None


def from_arguments(option: str, pairs: Mapping[str, str]) -> dict[str, Given]:
    """`NAME=VALUE` arguments of `option`. UserError for what is no name or no number."""
    found: dict[str, Given] = {}
    for name, text in pairs.items():
        try:
            number = int(text, 0)
        except ValueError:
            raise _usage(f"{option} {name}={text}: {text!r} is no whole number", f"write  {option} {name}=0x100") from None
        problem = refusal(name, number)
        if problem is not None:
            raise _usage(f"{option} {problem[0]}", problem[1])
        if name.lower() in found:
            raise _usage(f"{option} gives {name!r} twice: case does not count", "leave one out")
        found[name.lower()] = Given(number & MASK, option)
    return found


def _usage(message: str, help: str) -> UserError:
    return UserError(Diagnostic(codes.ARGUMENT, message, help=help))
