"""An application folder (`app.toml`, microcode, its XScale side in Python) made into a ready chip, and run.

The only module that sees both the assembler and the chip. It reads nothing of `app.toml` itself (that is
`ixpemu.app_file`), makes no figures (`ixpemu.app_figures`) and prints nothing (`ixpemu.report`).

Order of a start, all before cycle 0: every image is assembled; the chip is made from its chip file and the overrides; an
`XScale` is made; `xscale.load(me, image)` puts each image into its microengine without starting it; the module's
`setup(xscale)` lays out rings, free lists and tables; ports get their frames; `xscale.start()` enables the contexts of the
loaded microengines.

What the XScale module of an application (`xscale = { module = "control.py" }`) holds; all of these names are optional:

`setup(xscale)`
    Called once. `xscale.tables` maps each name under `tables` to the path of its file, `xscale.ports` is a tuple of
    `PortSettings` (number, gbps, mac), `xscale.images` maps a microengine index to its `Image`.
`handlers`
    A dict from the name of an interrupt source to a function `handler(xscale)`, called at the interrupt's exact cycle.
`snapshot(xscale)` and `restore(xscale, saved)`
    What the module keeps, as a value that nothing changes afterwards, and how to go back to it: with them a snapshot of the
    chip holds this side as well. Without them it holds the chip, the ports and the XScale's own clock, queue and timers.
`classify(frame)`
    Bytes of a frame as it arrived to the name of its packet type; any function named by `packets.classifier`
    as `module:function` will do, `module` being a file of the folder without its `.py`.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ixpemu import app_file, arguments, codes
from ixpemu.app_file import AppSettings
from ixpemu.app_images import images_of
from ixpemu.app_interrupt import interrupts
from ixpemu.app_module import application_code
from ixpemu.diagnostics import Diagnostic, UserError
from ixpemu.isa.chipfile import load_chip
from ixpemu.link_settings import Given, LinkSettings

if TYPE_CHECKING:
    from ixpemu.app_start import Streams
    from ixpemu.chip import Chip
    from ixpemu.chip_stop import Stop
    from ixpemu.image import Image
    from ixpemu.trace import CaptureFigures, RunReport
    from ixpemu.trace.collector import Collector
    from ixpemu.trace.races import Races
    from ixpemu.xscale import XScale

Progress = Callable[[float, str], None]
SLICE_CYCLES = 1_000_000        # chip cycles between two looks at the progress: a tenth of a second or so
PLAIN_SLICE_CYCLES = 5_000      # the same, uncompiled
ENDED = "every thread has ended"
"""`RunReport.stop` of a run without a limit of time in which nothing can happen any more but that frames arrive."""
INTERRUPTED = "interrupted"     # `RunReport.stop` of a run that the user ended
PATIENCE_CYCLES = 6_000_000     # 10 ms on the chip: when nothing has come, gone or been dropped for so long, nothing will


class CapturesUnwritten(UserError):
    """A run whose captures could not all be written; `report` has its figures."""

    def __init__(self, report: RunReport, *diagnostics: Diagnostic) -> None:
        super().__init__(*diagnostics)
        self.report = report


@dataclass(slots=True)
class App:
    """An application on a chip, ready to run. Made by `load`; `chip` and `xscale` are there to be looked at and changed."""

    settings: AppSettings
    images: dict[int, Image]
    chip: Chip
    xscale: XScale
    warnings: tuple[Diagnostic, ...]
    _collector: Collector
    _frames: int | None             # frames to come, None if without end
    _captures: Mapping[int, Path]
    _wall: float = 0.0
    _written: tuple[CaptureFigures, ...] = ()
    races: Races | None = None
    """In the mode "races": the data races found so far."""

    @classmethod
    def load(
        cls, application: str | Path, *, feeds: Mapping[int, Path] | None = None, captures: Mapping[int, Path] | None = None,
        traffic: str | Streams | None = None, gbps: float | None = None, overrides: Mapping[str, str] | None = None,
        mode: str = "default", capture: bool = True, strict: bool | None = None, allow: Iterable[str] = (),
        imports: Mapping[str, int] | None = None, linked: Path | None = None,
    ) -> App:
        """The application in the folder `application`, or the shipped one of that name.

        `traffic` names a stream, or gives that of each port number. `overrides` are chip parameters by name, as text. Without
        `capture` nothing that ports send is kept or written. `mode`: one of `Chip`'s; "races" looks for data races. `strict`
        and `allow`: whether reserved behaviour ends the run, and which codes of it are not reported, beside the file; None
        leaves it to the file. `imports` are values for `.import_var` names, before those of the file; `linked` is the file of a
        linked program that takes the place of the application's images. UserError for any mistake in any file of the application,
        with its place.
        """
        from ixpemu.app_start import Wiring, start

        settings = app_file.load(arguments.path("an application", application))
        if traffic is not None and not callable(traffic):
            arguments.path("made traffic", traffic)
        if gbps is not None:
            arguments.number("a rate in Gb/s", gbps, "give a number above 0; 1.0 fills a gigabit port", codes.LINE_RATE)
        wiring = Wiring(_by_port("feeds", feeds), _by_port("captures", captures), traffic, gbps, capture)
        overrides = {
            arguments.text("a parameter", name): value for name, value in
            arguments.mapping("overrides", overrides, '{"sram.read_cycles": "90"}').items()
        }
        allowed = tuple(arguments.texts("the codes that are allowed", allow))
        if wiring.feeds and traffic is not None:
            raise UserError(Diagnostic(codes.ARGUMENT, "captures and made traffic exclude each other", help="give one of them"))
        chip = load_chip(settings.chip).override(overrides or {})
        found = images_of(settings, chip, LinkSettings(_imports(imports)), linked)
        images = found.images
        with application_code(settings.folder):
            started = start(settings, images, wiring, overrides, mode, strict, allowed)
        made = cls(
            settings, images, started.chip, started.xscale, found.warnings, started.collector, started.frames, started.captures
        )
        if mode == "races":
            from ixpemu.trace.races import observe_races

            made.races = observe_races(made.chip, images)
        return made

    def advance(self, cycles: int) -> Stop:
        """Runs for `cycles` chip cycles, or until the chip stops for another reason than room for packets."""
        arguments.whole("a number of cycles", cycles, code=codes.RUN_ARGUMENT)
        return self._until(self.chip.cycle + cycles, None)

    def run(
        self, *, packets: int | None = None, cycles: int | None = None, time: float | None = None,
        progress: Progress | None = None,
    ) -> RunReport:
        """Runs until the input is used up and no packet is inside, or to a limit, and reports everything since the chip's reset.

        Without a limit of time it also ends when packets are inside and none has moved for `PATIENCE_CYCLES`, and when every
        thread has ended.
        `packets`: that many more have left or been dropped. `cycles`: chip cycles. `time`: seconds on the chip. `progress` is
        called now and then with the share done and a word about it. An interrupt from the keyboard ends the run after the
        slice under way, with a report and with captures of all that has been sent. `CapturesUnwritten`, a UserError that holds
        the report, where a capture cannot be written.
        """
        if packets is not None and self.chip.mode == "fast":
            raise UserError(Diagnostic(
                codes.ARGUMENT, "packets are not followed in the mode fast, so a run cannot end after so many",
                help="give a number of cycles or a time, or use the mode default",
            ))
        for name, value in (("packets", packets), ("cycles", cycles)):
            if value is not None:
                arguments.whole(f"the number of {name} to run for", value, code=codes.RUN_ARGUMENT)
        if time is not None and time != 0:
            arguments.number("the time to run for", time, "give seconds on the chip, 0 or more", codes.RUN_ARGUMENT)
        if progress is not None:
            arguments.function("a progress display", progress, "lambda share, text: print(text)")
        if time is not None:
            cycles = max(1, round(time * self.chip.clock_hz))
        end = None if cycles is None else self.chip.cycle + cycles
        from ixpemu.engine.jit import COMPILED

        length = SLICE_CYCLES if COMPILED else min(SLICE_CYCLES, PLAIN_SLICE_CYCLES)
        first, first_packets = self.chip.cycle, self.finished
        target = None if packets is None else first_packets + packets
        moved, moved_at = self._moved(), first
        failure: Diagnostic | None = None
        started = clock.perf_counter()
        with interrupts() as interrupted:
            while True:
                now = self.chip.cycle
                stop = self._until(min(now + length, end) if end is not None else now + length, target)
                if stop.reason != "cycles" or self.chip.cycle == end:
                    reason = self._reason(stop, end)
                    break
                if progress is not None:
                    progress(*self._share(first, end, first_packets, packets))
                if interrupted():
                    reason = INTERRUPTED
                    break
                if end is None and self.chip.ended:
                    reason = ENDED
                    break
                if (counts := self._moved()) != moved or any(port.input_left for port in self.chip.ports):
                    moved, moved_at = counts, self.chip.cycle
                elif end is None and self.chip.cycle - moved_at >= PATIENCE_CYCLES:
                    reason = self._reason(stop, end)
                    failure = self.chip.deadlock()
                    break
        failure = failure if stop.diagnostic is None else stop.diagnostic
        self._wall += clock.perf_counter() - started
        try:
            self.write_captures()
        except UserError as error:
            raise CapturesUnwritten(self.report(reason, failure), *error.diagnostics) from None
        return self.report(reason, failure)

    def write_captures(self) -> None:
        """Writes what the ports have sent so far; `run` does so at its end. UserError where some cannot be written; the others
        are."""
        from ixpemu.trace import CaptureFigures
        from ixpemu.wire import write_capture

        self._written = ()
        problems: list[Diagnostic] = []
        for number, path in self._captures.items():
            port = self.chip.ports[number]
            line = port.line
            try:
                frames = write_capture(path, ((line.nanoseconds_of(sent.cycle), sent.frame) for sent in port.sent))
            except UserError as error:
                problems += error.diagnostics
            else:
                self._written += (CaptureFigures(number, str(path), frames),)
        if problems:
            raise UserError(*problems)

    @property
    def finished(self) -> int:
        """Packets that have been sent or dropped since reset; without packet accounting, frames sent."""
        if self.chip.mode == "fast":
            return sum(port.counters.sent for port in self.chip.ports)
        return self.chip.packets_sent + self.chip.packets_dropped

    def report(self, stop: str = "", failure: Diagnostic | None = None) -> RunReport:
        """The figures of everything since reset. `stop` says why the run ended, `failure` by what reserved behaviour."""
        from ixpemu.app_figures import figures

        made = figures(
            self.settings, self.chip, self.images, self._collector, stop, self._wall, self._written, failure)
        return made if self.races is None else replace(made, races=tuple(self.races.diagnostics()))

    def _until(self, end: int, target: int | None) -> Stop:
        """One slice: to the cycle `end`, or until `target` packets have finished since reset."""
        while True:
            left = None if target is None else target - self.finished
            with application_code(self.settings.folder):
                stop = self.chip.run(cycles=end - self.chip.cycle, packets=left)
            self._collector.collect()
            if stop.reason != "packet table":
                return stop

    def _moved(self) -> tuple[int, ...]:
        """Counts that change whenever a frame comes, goes or is dropped."""
        counters = [port.counters for port in self.chip.ports]
        return (self.finished, *(each.received + each.dropped for each in counters), *(each.sent for each in counters))

    def _share(self, first: int, end: int | None, first_packets: int, packets: int | None) -> tuple[float, str]:
        done = self.finished - first_packets
        text = f"{done:,} packets, {self.chip.cycle:,} cycles"
        if packets is not None:
            return done / packets, text
        if end is not None:
            return (self.chip.cycle - first) / (end - first), text
        return done / self._frames if self._frames else 0.0, text

    def _reason(self, stop: Stop, end: int | None) -> str:
        if stop.reason == "cycles":
            return f"the limit of {end:,} cycles" if end is not None else f"nothing has moved for {PATIENCE_CYCLES:,} cycles"
        return stop.reason if stop.me is None and stop.diagnostic is None else stop.message


def _by_port(what: str, files: Mapping[int, Path] | None) -> dict[int, Path]:
    """Files by port number, as a caller gives them."""
    found = arguments.mapping(what, files, "{0: Path('in.pcap')}")
    for number, path in found.items():
        arguments.whole("the number of a port", number, 0, app_file.PORTS - 1, code=codes.PORT_UNKNOWN)
        found[number] = arguments.path(what, path)
    return found


def _imports(values: Mapping[str, int] | None) -> dict[str, Given]:
    """Values of imports as a caller gives them."""
    found = arguments.mapping("the values of imports", values, '{"PORTS": 3}')
    return {
        arguments.text("the name of an import", name).lower():
        Given(arguments.word(f"the value of {name}", value), "the caller") for name, value in found.items()
    }
