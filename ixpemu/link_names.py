"""Values for the names that images leave open: imports from those who give them, names of other microengines from their images.

Each name that has none is told once, at the first line that needs it. Addresses of named memory are `ixpemu.link_memory`'s.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ixpemu import codes
from ixpemu.diagnostics import Diagnostic, Note, Origin, Span
from ixpemu.image import Image
from ixpemu.image_links import Export, names_in
from ixpemu.link_settings import Given, LinkSettings
from ixpemu.toml_file import closest

REMOTE = "remote:"
_KINDS = {"register": "a register", "read": "a read register", "write": "a write register", "signal": "a signal"}


@dataclass(frozen=True, slots=True)
class Import:
    """An import with its value, who gave it, and the microengines whose images ask for it."""

    name: str
    value: int
    by: str
    users: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Crossing:
    """A name that one microengine uses of another: `number` is that of the register or signal in microengine `owner`."""

    name: str
    kind: str
    user: int
    owner: int
    number: int


def uses(image: Image) -> Iterator[tuple[str, Origin | None]]:
    """The open names, each once, and the line of the source that first needs it, as far as that is known."""
    seen: set[str] = set()
    where: list[tuple[str, Origin | None]] = []
    for fixup in image.links.fixups:
        place = image.debug[fixup.address].place if fixup.address < len(image.debug) else None
        origin = None if place is None else Origin(Span(place.file, place.line))
        where += [(name, origin) for _, value in fixup.values for name in names_in(value)]
    where += [(name, None) for one in image.links.initial for value in one.values for name in names_in(value)]
    where += [(name, Origin(Span(one.file, one.line))) for one in image.links.checks for name in names_in(one.expression)]
    for name, origin in where:
        if name not in seen:
            seen.add(name)
            yield name, origin


def imports(images: Mapping[int, Image], settings: LinkSettings) -> tuple[list[Import], list[Diagnostic]]:
    """The values of all imports. Those that no instruction uses need none, and are left out where they have none."""
    problems: list[Diagnostic] = []
    users: dict[str, list[int]] = {}
    spelled: dict[str, str] = {}
    told: set[str] = set()
    for index, image in images.items():
        open_names = dict(uses(image))
        for name in image.links.imports:
            key = name.lower()
            spelled.setdefault(key, name)
            users.setdefault(key, []).append(index)
            if name in open_names and key not in settings.imports and key not in told:
                told.add(key)
                near = closest(key, settings.imports)
                advice = f"give it one: --import {name}=VALUE, or  link.import = {{ {name} = VALUE }}  in app.toml"
                problems.append(Diagnostic(
                    codes.LINK_IMPORT, f"`{name}` has no value, and microengine {index} imports it", origin=open_names[name],
                    help=advice if near is None else f"did you mean `{name}` where {settings.imports[near].by} says {near!r}?",
                ))
    problems += [_stray(name, given, spelled, "imports") for name, given in settings.imports.items() if name not in users]
    found = [
        Import(spelled[key], settings.imports[key].value, settings.imports[key].by, tuple(indexes))
        for key, indexes in sorted(users.items()) if key in settings.imports
    ]
    return found, problems


def _stray(name: str, given: Given, known: Mapping[str, str], verb: str) -> Diagnostic:
    """A value for a name that no image has. `known` are those that they have, as they spell them, by the name in lower case."""
    near = closest(name, known)
    there = f"they have {', '.join(known[each] for each in sorted(known))}" if known else "they have none; leave it out"
    advice = f"did you mean {known[near]!r}?" if near else there
    return Diagnostic(codes.LINK_NAME, f"{given.by}: no image {verb} {name!r}", origin=given.origin, help=advice)


def stray_places(settings: LinkSettings, known: Mapping[str, str]) -> list[Diagnostic]:
    """Fixed addresses for memory that no image names."""
    return [_stray(name, given, known, "has memory called") for name, given in settings.places.items() if name not in known]


def crossings(images: Mapping[int, Image]) -> tuple[list[Crossing], dict[int, dict[str, int]], list[Diagnostic]]:
    """What microengines use of each other; the values by microengine and by name as the images spell it, `remote:x@3`."""
    found: list[Crossing] = []
    values: dict[int, dict[str, int]] = {index: {} for index in images}
    problems: list[Diagnostic] = []
    for index, image in images.items():
        for written, origin in uses(image):
            if not written.startswith(REMOTE):
                continue
            name, at, number = written.removeprefix(REMOTE).rpartition("@")
            if not at or not number.isdecimal():        # `@shared` of no microengine in particular
                name, number = written.removeprefix(REMOTE), ""
            made = _crossing(images, index, name, int(number) if number else None)
            if isinstance(made, Crossing):
                found.append(made)
                values[index][written] = made.number
            else:
                problems.append(Diagnostic(made.code, made.message, origin=origin, help=made.help, notes=made.notes))
    return found, values, problems


def _crossing(images: Mapping[int, Image], user: int, name: str, owner: int | None) -> Crossing | Diagnostic:
    """The number of a name of another microengine, or why there is none."""
    if owner is not None and owner not in images:
        loaded = ", ".join(map(str, images))
        return Diagnostic(codes.LINK_REMOTE, f"microengine {user} uses `{name}` of microengine {owner}, which has no image",
                          help=f"microengines with an image: {loaded}")
    asked = (owner,) if owner is not None else tuple(index for index in images if index != user)
    having = [(index, one) for index in asked for one in images[index].links.exports if one.name.lower() == name.lower()]
    if not having:
        known = [one.name for index in asked for one in images[index].links.exports]
        near = closest(name, known)
        where = "no other microengine" if owner is None else f"microengine {owner} does not"
        verb = "makes it visible" if owner is None else "make it visible"
        return Diagnostic(
            codes.LINK_REMOTE, f"microengine {user} uses `{name}` of another, and {where} {verb}",
            help=f"did you mean `{near}`?" if near else f"declare it there: .sig visible {name}, or .reg visible {name}",
        )
    numbers = {(one.kind, _number(one)) for _, one in having}
    if len(numbers) > 1:
        notes = tuple(Note(f"in microengine {index} it is {_KINDS[one.kind]}, {one.place}") for index, one in having)
        several = len(having) > 1
        return Diagnostic(
            codes.LINK_REMOTE, f"`{name}` is visible in {len(having)} microengines, and not the same in all", notes=notes,
            help=f"say which is meant: &remote({name}, {having[0][0]})" if several else None,
        )
    index, export = having[0]
    number = _number(export)
    if number is None:
        return Diagnostic(
            codes.LINK_REMOTE, f"`{name}` of microengine {index} has no one place: {export.place or 'nothing there uses it'}",
            help="declare it volatile there, so that it keeps one register",
        )
    return Crossing(export.name, export.kind, user, index, number)


def _number(export: Export) -> int | None:
    """The number of a visible name; None for one that lives in several places, or in none."""
    numbers = {re.sub(r"\D", "", place) for place in export.place.split()}
    return int(numbers.pop() or 0) if len(numbers) == 1 else None
