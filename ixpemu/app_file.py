"""`app.toml` as values: which images on which microengines, which captures on which ports, what begins and ends a packet.

Reads and checks the file and the existence of what it names; it assembles nothing and makes no chip (that is `ixpemu.app`).

Paths: an input is looked for in the application's folder, then in the shipped traces/; an output is relative to the directory
the program was started in, since an installed application's folder need not be writable.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from ixpemu import codes, link_file, resources
from ixpemu.diagnostics import Diagnostic, Origin, UserError, user_error
from ixpemu.files import SOURCE_SUFFIXES
from ixpemu.link_settings import LinkSettings, read_settings
from ixpemu.toml_file import Table, closest, read

MICROENGINES = 16           # of the largest chip there is; what the application's own has is checked when that is made
PORTS = 3
FILE_NAME = "app.toml"


@dataclass(frozen=True, slots=True)
class MicroengineSettings:
    """One entry of `me`: the source file of a microengine. `contexts` None leaves the choice to the source. `vnops`, `optimise`:
    insert the no-ops that the hardware needs, move instructions."""

    index: int
    image: Path
    contexts: int | None
    define: dict[str, int | str]
    include: tuple[Path, ...]
    contexts_origin: Origin
    index_origin: Origin
    vnops: bool = False
    optimise: bool = False


@dataclass(frozen=True, slots=True)
class PortSettings:
    """One entry of `port`.

    `gbps` is the rate at which frames arrive, in gigabits a second, preamble and gap included; None keeps the
    capture's own times. `mac` is six bytes or None. `feed` and `capture` are the input and output captures, None for none.
    """

    number: int
    gbps: float | None
    mac: bytes | None
    feed: Path | None
    capture: Path | None
    gbps_origin: Origin
    capture_origin: Origin


@dataclass(frozen=True, slots=True)
class PacketSettings:
    """The section `packets`: which probes bind a handle to the arriving packet, which end it, which drop it and why.

    `drop` maps a reason to the probe that stands for it. `classifier` is (file, function) or None.
    """

    classifier: tuple[Path, str] | None = None
    classifier_origin: Origin | None = None
    begin: tuple[str, ...] = ()
    end: tuple[str, ...] = ()
    drop: dict[str, str] = field(default_factory=dict)
    origins: dict[str, Origin] = field(default_factory=dict)     # by probe name


@dataclass(frozen=True, slots=True)
class ReservedSettings:
    """The section `reserved`: whether reserved behaviour ends a run, and which codes are not reported. `origins` of those."""

    strict: bool = False
    allow: tuple[str, ...] = ()
    origins: tuple[Origin, ...] = ()


@dataclass(frozen=True, slots=True)
class AppSettings:
    """A checked `app.toml`. `chip` is a chip file's path, or the name of a shipped one."""

    folder: Path
    file: Path
    chip: str | Path
    microengines: tuple[MicroengineSettings, ...]
    ports: tuple[PortSettings, ...]
    tables: dict[str, Path]
    module: Path | None
    packets: PacketSettings
    reserved: ReservedSettings = ReservedSettings()
    link: LinkSettings = field(default_factory=LinkSettings)
    program: Path | None = None             # a linked program in place of `microengines`, where that is all there is

    @property
    def inputs(self) -> tuple[Path, ...]:
        """Every file that `app.toml` names for reading, and itself."""
        named = (
            self.file, self.program, self.chip, self.module, *(each.image for each in self.microengines),
            *(each.feed for each in self.ports), *self.tables.values(),
            self.packets.classifier[0] if self.packets.classifier is not None else None,
        )
        return tuple(path for path in named if isinstance(path, Path))

    @property
    def name(self) -> str:
        """The application's name: that of its folder, or of its file if that is a linked program."""
        return self.folder.resolve().name if self.program is None else self.program.stem


def is_file(path: Path) -> bool:
    """Whether there is a file; unlike `Path.is_file` also for a name that no file can have."""
    return os.path.isfile(path)


def find(application: str | Path) -> Path:
    """The folder of an application: a path, or the name of a shipped one such as `ipv4_forward`."""
    path = Path(application)
    if path.name == FILE_NAME and is_file(path):
        return path.parent
    if is_file(path / FILE_NAME):
        return path
    shipped = resources.folder("microcode")
    if len(path.parts) == 1 and is_file(shipped / path / FILE_NAME):
        return shipped / path
    # A path of the repository, typed where only the installed package is.
    if path.parts[:1] == ("microcode",) and is_file(shipped.parent / path / FILE_NAME) and not path.exists():
        return shipped.parent / path
    if os.path.isdir(path):
        raise user_error(
            codes.APP_NOT_FOUND, f"{path} holds no {FILE_NAME}", help="an application is a folder with an app.toml in it"
        )
    if path.suffix or is_file(path):
        what, advice = _no_application(path)
        raise user_error(codes.APP_NOT_FOUND, what, help=advice)
    names = sorted(entry.parent.name for entry in shipped.glob(f"*/{FILE_NAME}"))
    near = closest(path.name, names)
    advice = f"did you mean {near!r}?" if near else f"shipped applications: {', '.join(names) or 'none'}"
    raise user_error(codes.APP_NOT_FOUND, f"there is no application {str(application)!r}", help=advice)


# What others would call the keys of an app.toml.
_MEANT = {"microengine": "me", "microengines": "me", "engine": "me", "engines": "me", "mes": "me", "app": "me",
          "application": "me", "ports": "port", "table": "tables", "control": "xscale", "linker": "link"}


def _no_application(path: Path) -> tuple[str, str]:
    """What a file is that is no application, and what to do with it."""
    if not is_file(path):
        return f"there is no file {path}", "an application is a folder with an app.toml, or a linked program (.ixl)"
    with open(path, "rb") as stream:
        beginning = stream.read(4)
    if path.suffix.lower() in SOURCE_SUFFIXES:
        return f"{path} is a source and no application", "assemble it (ixpemu asm), link the image (ixpemu link) and run that"
    if beginning == b"ixp " or path.suffix.lower() == ".ixp":
        linked = path.with_suffix(".ixl")
        return f"{path} is an image and no application", f"link it: ixpemu link 0={path} -o {linked}; and run that"
    return f"{path} is no application", "an application is a folder with an app.toml, or a linked program (.ixl)"


def load(application: str | Path) -> AppSettings:
    """Reads and checks the application's `app.toml`. Raises UserError with the place of what is wrong.

    A file with a linked program is an application too, of nothing but its microengines: on the chip that it was linked for, with
    nobody at the ports and no program on the XScale.
    """
    path = Path(application)
    if is_file(path) and link_file.is_program(path):
        return _linked(path)
    folder = find(application)
    root = read(folder / FILE_NAME, "the application file")
    root.allow("chip", "me", "port", "tables", "xscale", "packets", "reserved", "link", meant=_MEANT)
    chip = root.table("chip")
    chip.allow("file")
    xscale = root.table("xscale")
    xscale.allow("module")
    module = None if xscale.get("module", str) is None else _input(xscale, "module", folder)
    if module is not None and module.suffix != ".py":
        raise xscale.wrong("module", f"{module.name} is no Python file", "its name has to end in .py")
    tables = root.table("tables")
    return AppSettings(
        folder=folder,
        file=folder / FILE_NAME,
        chip=_chip(chip, folder),
        microengines=_microengines(root, folder),
        ports=_ports(root, folder),
        tables={name: _input(tables, name, folder) for name in tables.values},
        module=module,
        packets=_packets(root.table("packets"), folder),
        reserved=_reserved(root.table("reserved")),
        link=read_settings(root.table("link")),
    )


def _linked(path: Path) -> AppSettings:
    program = link_file.load(path)
    return AppSettings(path.parent, path, program.chip, (), (), {}, None, PacketSettings(), program=path)


def _input(table: Table, key: str, folder: Path, *others: Path) -> Path:
    """The file that `key` names, which has to be there."""
    text = table.need(key, str)
    for place in (folder, *others):
        if is_file(place / text):
            return place / text
    looked = " or ".join(str(place / text) for place in (folder, *others))
    near = closest(Path(text).name, [entry.name for entry in folder.iterdir() if entry.is_file()])
    raise table.wrong(
        key, f"{table.name()} names {text!r}, which is not there",
        f"looked for {looked}" + (f"; did you mean {near!r}?" if near else ""), codes.APP_FILE_MISSING,
    )


def _chip(table: Table, folder: Path) -> str | Path:
    text = table.get("file", str)
    if text is None:
        return "enp2611"
    if text.endswith(".toml") or "/" in text:
        return _input(table, "file", folder)
    shipped = sorted(entry.stem for entry in (resources.folder("isa") / "chips").glob("*.toml"))
    if text not in shipped:
        near = closest(text, shipped)
        raise table.wrong(
            "file", f"there is no chip file {text!r}",
            f"did you mean {near!r}?" if near else f"shipped: {', '.join(shipped)}; or give the path of a .toml file",
            codes.APP_FILE_MISSING,
        )
    return text


def _number(table: Table, limit: int, key: str, taken: set[int]) -> int:
    number = table.need(key, int)
    if not 0 <= number < limit:
        raise table.wrong(key, f"{key} {number} is out of range", f"0 to {limit - 1}")
    if number in taken:
        raise table.wrong(key, f"{key} {number} is given twice", "each has one entry")
    taken.add(number)
    return number


def _microengines(root: Table, folder: Path) -> tuple[MicroengineSettings, ...]:
    found: list[MicroengineSettings] = []
    taken: set[int] = set()
    for table in root.tables("me"):
        table.allow("index", "image", "contexts", "define", "include", "vnops", "optimise")
        index = _number(table, MICROENGINES, "index", taken)
        contexts = table.get("contexts", int)
        if contexts not in (None, 4, 8):
            raise table.wrong("contexts", f"a microengine runs 4 or 8 contexts, not {contexts}", "contexts = 4 or contexts = 8")
        define = table.table("define")
        for name, value in define.values.items():
            if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
                raise define.wrong(name, f"{name!r} is no name that a source could use", "letters, digits and _")
            if isinstance(value, bool) or not isinstance(value, int | str):
                raise define.wrong(name, f"{name} must be a whole number or a string", f"{name} = 0")
        found.append(
            MicroengineSettings(
                index=index, image=_input(table, "image", folder), contexts=contexts, define=dict(define.values),
                include=(folder, *(folder / text for text in table.words("include"))),
                contexts_origin=table.origin("contexts"), index_origin=table.origin("index"),
                vnops=bool(table.get("vnops", bool)), optimise=bool(table.get("optimise", bool)),
            )
        )
    if not found:
        raise root.wrong(None, "the application has no microengine", 'add  me = [ { index = 0, image = "..." } ]',
                         codes.FILE_MISSING_KEY)
    return tuple(found)


def mac_address(text: str) -> bytes | None:
    """Six bytes from `02:00:00:00:00:01`, or None where the text is no such address."""
    if not re.fullmatch(r"[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){5}", text):
        return None
    return bytes.fromhex(text.replace(":", "").replace("-", ""))


def _ports(root: Table, folder: Path) -> tuple[PortSettings, ...]:
    found: list[PortSettings] = []
    taken: set[int] = set()
    for table in root.tables("port"):
        table.allow("number", "gbps", "mac", "in", "out")
        number = _number(table, PORTS, "number", taken)
        gbps = table.get("gbps", float)
        if gbps is not None and not 0 < gbps <= 10:
            raise table.wrong("gbps", f"gbps {gbps:g} is out of range", "more than 0, at most 10, absent for the capture's times")
        text = table.get("mac", str)
        mac = None if text is None else mac_address(text)
        if text is not None and mac is None:
            raise table.wrong("mac", f"{text!r} is no MAC address", 'six bytes in hex: "02:00:00:00:00:01"')
        capture = table.get("out", str)
        if capture == "":
            raise table.wrong("out", "out names no file", "leave it out, and what the port sends is kept nowhere")
        found.append(
            PortSettings(
                number=number, gbps=gbps, mac=mac,
                feed=_input(table, "in", folder, resources.folder("traces")) if "in" in table.values else None,
                capture=None if capture is None else Path(capture), gbps_origin=table.origin("gbps"),
                capture_origin=table.origin("out"),
            )
        )
    return tuple(found)


def _packets(table: Table, folder: Path) -> PacketSettings:
    table.allow("classifier", "begin", "end", "drop")
    text = table.get("classifier", str)
    classifier = None
    if text is not None:
        module, colon, function = text.partition(":")
        path = folder / f"{module}.py"
        if not colon or not function.isidentifier():
            raise table.wrong("classifier", f"{text!r} does not name a function", 'write  classifier = "control:classify"')
        if not path.is_file():
            raise table.wrong("classifier", f"there is no {path}", "a file of the application's folder, without .py",
                              codes.APP_FILE_MISSING)
        classifier = (path, function)
    drops = table.table("drop")
    drop = {reason: drops.need(reason, str) for reason in drops.values}
    origins = {probe: drops.origin(reason) for reason, probe in drop.items()}
    for key in ("end", "begin"):
        origins |= {probe: table.origin(key, index) for index, probe in enumerate(table.words(key))}
    return PacketSettings(classifier, table.origin("classifier"), table.words("begin"), table.words("end"), drop, origins)


def _reserved(table: Table) -> ReservedSettings:
    table.allow("strict", "allow")
    allow = table.words("allow")
    return ReservedSettings(bool(table.get("strict", bool)), allow, tuple(table.origin("allow", k) for k in range(len(allow))))


def check_probes(settings: AppSettings, known: set[str]) -> None:
    """Refuses probe names of `packets` that no image defines. `known` are the names the images have."""
    found = []
    for name, origin in settings.packets.origins.items():
        if name not in known:
            near = closest(name, known)
            advice = f"did you mean {near!r}?" if near else f"probes of the images: {', '.join(sorted(known)) or 'none'}"
            found.append(Diagnostic(codes.APP_PROBE, f"no image has a probe {name!r}", origin=origin, help=advice))
    if found:
        raise UserError(*found)
