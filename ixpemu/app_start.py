"""From checked settings and assembled images to a chip at cycle 0: parameters, XScale, loaded microengines, fed ports, probes.

The order is that of `ixpemu.app`'s opening paragraph. Nothing runs here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ixpemu import codes
from ixpemu.app_file import AppSettings
from ixpemu.app_module import function_of, handlers_of, hooks_of, load_module
from ixpemu.chip import Chip
from ixpemu.chip_rules import allowed_kinds
from ixpemu.diagnostics import Diagnostic, UserError
from ixpemu.image import Image
from ixpemu.isa.chipfile import load_chip
from ixpemu.net import Traffic, traffic
from ixpemu.trace.collector import Collector
from ixpemu.wire import FrameSource, read_capture
from ixpemu.xscale import SOURCES, XScale

Streams = Callable[[int], Traffic | None]
KINDS_MAX = 256         # the engine keeps a type in a byte
UNCLASSIFIED, OTHERS = "packet", "all other types"


@dataclass(frozen=True, slots=True)
class Wiring:
    """What of a run is not in `app.toml`: given on the command line or by a caller.

    `feeds` replaces the application's own inputs, all of them, and `captures` the outputs of the ports it names. `traffic`
    replaces inputs and outputs: a stream without end is kept only where `captures` asks for it; it is a name, or gives the stream
    of each port number, or None for a port that gets nothing. `capture`: whether outputs are kept at all.
    """

    feeds: Mapping[int, Path] = field(default_factory=dict)
    captures: Mapping[int, Path] = field(default_factory=dict)
    traffic: str | Streams | None = None
    gbps: float | None = None
    capture: bool = True


class Kinds:
    """Numbers for packet types, given out as the classifier names them. `names` grows with the packets."""

    def __init__(self, classify: Callable[[bytes], Any] | None) -> None:
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}
        self._classify = classify

    def number(self, frame: bytes) -> int:
        """The number of the frame's type; types beyond the 255th are counted together."""
        name = UNCLASSIFIED if self._classify is None else str(self._classify(frame))
        found = self._numbers.get(name)
        if found is None:
            if len(self.names) == KINDS_MAX:
                return KINDS_MAX - 1
            found = len(self.names)
            self.names.append(name if found < KINDS_MAX - 1 else OTHERS)
            self._numbers[name] = found
        return found


@dataclass(frozen=True, slots=True)
class Started:
    """A chip at cycle 0 and what runs with it. `frames`: how many will arrive, None if without end.

    `captures` are the files for what the ports with these numbers send.
    """

    chip: Chip
    xscale: XScale
    collector: Collector
    frames: int | None
    captures: Mapping[int, Path]


def start(
    settings: AppSettings, images: Mapping[int, Image], wiring: Wiring, overrides: Mapping[str, str], mode: str,
    strict: bool | None = None, allow: tuple[str, ...] = (),
) -> Started:
    """The application on a chip. UserError for whatever is wrong with its files."""
    _check_codes(settings)
    if strict is None:
        strict = settings.reserved.strict and mode != "fast"
    chip = Chip(load_chip(settings.chip).override(overrides), mode=mode, strict=strict, allow=(*settings.reserved.allow, *allow))
    path = settings.module
    module = None if path is None else load_module(path)
    handlers = {} if module is None or path is None else handlers_of(module, path, SOURCES)
    xscale = XScale(chip, tables=settings.tables, ports=settings.ports, handlers=handlers)
    if module is not None and path is not None:
        xscale.hooks = hooks_of(module, path)
    for index, image in images.items():
        xscale.load(index, image)
    if module is not None and path is not None and hasattr(module, "setup"):
        function_of(module, path, "setup", "xscale")(xscale)
    kinds = Kinds(_classifier(settings, module))
    frames = _connect(settings, wiring, chip, kinds)
    captures = _captures(settings, wiring, chip) if wiring.capture else {}
    reasons = _probes(settings, chip)
    xscale.start()
    return Started(chip, xscale, Collector(chip.state, kinds.names, reasons), frames, captures)


def _check_codes(settings: AppSettings) -> None:
    """Refuses codes of the file that are none."""
    for code, origin in zip(settings.reserved.allow, settings.reserved.origins, strict=True):
        try:
            allowed_kinds((code,))
        except UserError as error:
            raise UserError(*(replace(found, code=codes.FILE_BAD_VALUE, origin=origin) for found in error.diagnostics)) from None


def _classifier(settings: AppSettings, module: Any) -> Callable[[bytes], Any] | None:
    named = settings.packets.classifier
    if named is None:
        return None
    path, function = named
    if path != settings.module:
        module = load_module(path)
    return function_of(module, path, function, "frame", settings.packets.classifier_origin)


def _connect(settings: AppSettings, wiring: Wiring, chip: Chip, kinds: Kinds) -> int | None:
    """Feeds the ports; returns how many frames will arrive, None for traffic without end."""
    ports = {entry.number: entry for entry in settings.ports}
    total: int | None = 0
    for number, port in enumerate(chip.ports):
        entry = ports.get(number)
        port.classify = kinds.number
        gbps = wiring.gbps if wiring.gbps is not None or entry is None else entry.gbps
        source: FrameSource | None = None
        if wiring.traffic is not None:
            stream = None
            if entry is not None or not ports:
                stream = traffic(wiring.traffic, port=number) if isinstance(wiring.traffic, str) else wiring.traffic(number)
            if stream is not None:
                source, total = stream, None if stream.count is None or total is None else total + stream.count
                gbps = port.line.speed / 1e9 if gbps is None else gbps
        else:
            own = entry.feed if entry is not None and not wiring.feeds else None
            path = wiring.feeds.get(number, own)
            if path is not None:
                held = read_capture(path)
                source, total = held, None if total is None else total + len(held)
        if source is not None:
            try:
                port.feed(source, gbps=gbps)
            except UserError as error:
                if entry is None or gbps is None or gbps != entry.gbps or wiring.gbps is not None:
                    raise
                raise UserError(*(replace(found, origin=entry.gbps_origin) for found in error.diagnostics)) from None
    return total


def _captures(settings: AppSettings, wiring: Wiring, chip: Chip) -> dict[int, Path]:
    """Lets ports keep what they send where a file is wanted. What cannot be written is told now and not after the run."""
    own = {} if wiring.traffic is not None else {port.number: port.capture for port in settings.ports}
    origins = {port.number: port.capture_origin for port in settings.ports if port.number not in wiring.captures}
    found = {number: path for number, path in {**own, **wiring.captures}.items() if path is not None}
    made = (Path(wiring.traffic),) if isinstance(wiring.traffic, str) else ()
    inputs = {os.path.realpath(path) for path in (*settings.inputs, *wiring.feeds.values(), *made)}
    taken: dict[str, int] = {}
    for number, path in found.items():
        problem = _refused(path, inputs, taken)
        if problem is not None:
            raise UserError(Diagnostic(
                codes.FILE_UNWRITABLE, f"port {number} cannot be captured to {path}: {problem[0]}", origin=origins.get(number),
                help=problem[1],
            ))
        taken[os.path.realpath(path)] = number
        chip.ports[number].capture()
    return found


def _refused(path: Path, inputs: set[str], taken: Mapping[str, int]) -> tuple[str, str] | None:
    """What speaks against writing a capture to `path`, and what to do about it."""
    real = os.path.realpath(path)
    if os.path.exists(real) and not os.path.isfile(real) and not os.path.isdir(real):
        return None                         # a device or a pipe: any number of ports may write to it
    if not os.path.isdir(os.path.dirname(real)):
        return "its folder is not there", "make the folder first"
    if os.path.isdir(real):
        return "this is a folder", "name a file in it"
    if real in inputs:
        return "the run reads this file", "name another one"
    if real in taken:
        return f"port {taken[real]} is captured there already", "each port needs a file of its own"
    if not os.access(real if os.path.exists(real) else os.path.dirname(real), os.W_OK):
        return "it may not be written", "choose a place that you may write to"
    return None


def _probes(settings: AppSettings, chip: Chip) -> dict[int, str]:
    """Tells the chip what its probes do; returns the reason that each drop probe stands for, by the probe's number."""
    for name in settings.packets.begin:
        chip.probes.action(name, "begin")
    for name in settings.packets.end:
        chip.probes.action(name, "end")
    reasons: dict[int, str] = {}
    for reason, name in settings.packets.drop.items():
        reasons |= dict.fromkeys(chip.probes.action(name, "drop"), reason.replace("_", " "))
    chip.keep_packets = True
    return reasons
