"""The benchmark of RFC 2544 on the emulated chip: by frame size the highest rate without loss, and the latency at it.

A trial is a run from reset in which every port is offered frames of one size at one rate for a time on the chip, and then
nothing until all of them are out. It passes if none is lost and the chip kept up: the frames that it held grew in the second
half of the offering by no more than chance and half a step of the rate explain. Without that a trial so much shorter than the
minute of the RFC would take what fits into buffers for throughput. The rate is searched for by halving, in equal steps of the
line rate; that a chip which loses at one rate loses at any higher one is assumed, as by everybody.

Nothing here draws. Figures of time are the chip's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ixpemu import app_file, codes
from ixpemu.app import INTERRUPTED, App
from ixpemu.app_loads import LIMIT, Counters, limit, loads
from ixpemu.diagnostics import UserError, user_error
from ixpemu.isa.chipfile import load_chip
from ixpemu.net import Line, Traffic, traffic
from ixpemu.trace.summary import Load
from ixpemu.wire.line import CHECK_BYTES, GAP_BYTES, wire_length

SIZES = (64, 128, 256, 512, 1024, 1280, 1518)       # RFC 2544, section 9.1: with check sequence
QUICK_SIZES = (64, 512, 1518)
HELD_BY_CHANCE = 2                                  # frames a port by which the slope of what is held may be off
LOOKS = 16                                          # in the second half of an offering
SECONDS, STEPS = 0.02, 200
QUICK_SECONDS, QUICK_STEPS = 0.002, 50
MEGA = 1_000_000
Progress = Callable[[float, str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be measured. `seconds` is how long frames are offered, on the chip; rates are multiples of line rate / `steps`.

    `ports` are offered frames, all that the application has by default. `like` names made traffic whose addresses, protocols and
    ports the frames have.
    """

    application: str | Path
    sizes: tuple[int, ...] = SIZES
    ports: tuple[int, ...] | None = None
    seconds: float = SECONDS
    steps: int = STEPS
    overrides: Mapping[str, str] = field(default_factory=dict)
    like: str = "64B"


@dataclass(frozen=True, slots=True)
class Trial:
    """One offering. `held` is by how much the frames inside grew in its second half; there are latencies if it passed."""

    step: int
    passed: bool
    offered: int
    lost: int
    held: int
    drops: Mapping[str, int]
    loads: tuple[Load, ...]
    latency: tuple[int, float, int] | None = None
    """Least, mean and most cycles from the last bit in to the last bit out."""
    doubt: float = 0.0
    """Share of the rate that may have gone into buffers unseen."""


@dataclass(frozen=True, slots=True)
class Point:
    """What came out for one frame size. `best` is the highest step that passed, `failed` the one above it."""

    size: int
    line_frames: float
    """Frames a second that the lines of all offered ports carry."""
    clock_hz: int
    steps: int
    trials: int
    best: Trial | None
    failed: Trial | None

    @property
    def share(self) -> float:
        """The zero-loss rate as a share of the line rate."""
        return self.best.step / self.steps if self.best is not None else 0.0

    @property
    def frames_per_second(self) -> float:
        return self.line_frames * self.share

    @property
    def gbps(self) -> float:
        """The rate on the wire, preamble and gap included, over all offered ports."""
        return self.frames_per_second * (wire_length(self.size - CHECK_BYTES) + GAP_BYTES) * 8 / 1e9

    @property
    def latency_us(self) -> tuple[float, float, float] | None:
        """Least, mean and most microseconds at the zero-loss rate."""
        if self.best is None or self.best.latency is None:
            return None
        low, mean, high = self.best.latency
        return low * MEGA / self.clock_hz, mean * MEGA / self.clock_hz, high * MEGA / self.clock_hz

    @property
    def limit(self) -> str:
        """Why it does not go faster."""
        if self.failed is None:
            return "the lines: nothing was lost at their full rate"
        # A line that is not full says nothing: it is as busy as the rate offered.
        return limit([load for load in self.failed.loads if load.share >= LIMIT or not load.name.startswith("line ")])

    @property
    def loss(self) -> str:
        """What happened one step higher."""
        trial = self.failed
        if trial is None:
            return ""
        if trial.lost:
            reasons = ", ".join(f"{count:,} {reason}" for reason, count in trial.drops.items())
            return f"{trial.lost:,} lost" + (f" ({reasons})" if reasons else "")
        return f"{trial.held:,} more held at the end than in the middle"


def check(plan: Plan) -> tuple[int, ...]:
    """The ports that a plan offers frames to. UserError for a plan that the application's chip cannot follow."""
    settings = app_file.load(plan.application)
    chip = load_chip(settings.chip).override(plan.overrides)
    there = tuple(sorted(port.number for port in settings.ports)) or tuple(range(chip["port.count"]))
    longest = chip["port.longest_frame"] + CHECK_BYTES
    for size in plan.sizes:
        if not 64 <= size <= longest:
            raise user_error(codes.ARGUMENT, f"no port of {settings.name} takes frames of {size} bytes",
                             help=f"64 to {longest} bytes, check sequence included (port.longest_frame)")
    for port in plan.ports or ():
        if port not in there:
            raise user_error(codes.ARGUMENT, f"{settings.name} has no port {port}",
                             help=f"ports: {', '.join(map(str, there))}")
    if not 0 < plan.seconds <= 60:
        raise user_error(codes.ARGUMENT, f"a trial of {plan.seconds:g} s", help="more than 0, at most 60 s on the chip")
    if not 1 <= plan.steps <= 100_000:
        raise user_error(codes.ARGUMENT, f"{plan.steps} steps up to the line rate", help="1 to 100,000")
    traffic(plan.like)
    return plan.ports or there


def trial(plan: Plan, ports: tuple[int, ...], size: int, step: int) -> Trial:
    """Offer frames of `size` bytes at `step` / `plan.steps` of the line rate to each of `ports`."""
    line = _line(plan)
    share = step / plan.steps
    count = max(1, int(line.frames_per_second(size - CHECK_BYTES) * share * plan.seconds))

    def stream(port: int) -> Traffic | None:
        if port not in ports:
            return None
        return replace(traffic(plan.like, port=port), sizes=(size,), count=count, _templates={})

    app = App.load(
        plan.application, traffic=stream, gbps=line.speed / 1e9 * share, overrides=plan.overrides, capture=False)
    chip = app.chip
    length = math.ceil(count * line.cycles_between(size - CHECK_BYTES) / share)
    _advance(app, length // 2)
    middle, inside = Counters.of(chip), [int(chip.state.packets_inside)]
    for k in range(1, LOOKS + 1):
        if _refused(app):
            break
        _advance(app, length // 2 + k * (length - length // 2) // LOOKS - chip.cycle)
        inside.append(int(chip.state.packets_inside))
    held = _growth(inside)
    busy = loads(chip, middle)
    offered = count * len(ports)
    allowed = HELD_BY_CHANCE * len(ports) + offered / 2 / (2 * step)
    if not _refused(app):
        report = app.run()
        if report.stop == INTERRUPTED:
            raise KeyboardInterrupt             # half a trial says nothing
        lost = report.arrived - (report.sent - report.generated)
        figures = [(kind.sent, kind.latency) for kind in report.types if kind.latency is not None]
        sent = sum(n for n, _ in figures)
        if not lost and held <= allowed and sent:
            latency = (min(of.minimum for _, of in figures), sum(n * of.mean for n, of in figures) / sent,
                       max(of.maximum for _, of in figures))
            return Trial(step, True, offered, 0, held, {}, busy, latency, allowed / (offered / 2))
        drops = dict(report.drops)
        if report.inside:
            drops["never sent"] = report.inside
        return Trial(step, False, offered, lost, held, drops, busy)
    report = app.report()
    return Trial(step, False, offered, report.dropped, held, dict(report.drops), busy)


def _growth(looks: Sequence[int]) -> int:
    """By how much a count grew from the first of several looks to the last: the straight line through all of them."""
    if len(looks) < 2:
        return 0
    places = np.arange(len(looks))
    return round(float(np.polyfit(places, looks, 1)[0]) * (len(looks) - 1))


def _advance(app: App, cycles: int) -> None:
    stop = app.advance(max(0, cycles))
    if stop.reason in ("halt", "reserved", "internal"):
        raise UserError(*((stop.diagnostic,) if stop.diagnostic is not None else user_error(
            codes.RUN_ARGUMENT, f"the application stopped in a trial: {stop.message}",
            help="ixpemu run shows what it does").diagnostics))


def _refused(app: App) -> bool:
    """Whether a frame has been lost by now."""
    return bool(app.chip.packets_dropped) or any(port.counters.dropped for port in app.chip.ports)


def _line(plan: Plan) -> Line:
    chip = load_chip(app_file.load(plan.application).chip).override(plan.overrides)
    return Line(chip["port.megabits"] * MEGA, chip["chip.megahertz"] * MEGA)


def measure(plan: Plan, ports: tuple[int, ...], size: int, progress: Callable[[int, int], None]) -> Point:
    """Search for the zero-loss rate of one size. `progress` is told the number of the trial and its step before each."""
    line = _line(plan)
    trials = 0
    best: Trial | None = None
    failed: Trial | None = None
    low, high, step = 0, plan.steps + 1, plan.steps
    while high - low > 1:
        progress(trials, step)
        found = trial(plan, ports, size, step)
        trials += 1
        if found.passed:
            low, best = step, found
        else:
            high, failed = step, found
        step = (low + high) // 2
    frames = line.frames_per_second(size - CHECK_BYTES) * len(ports)
    return Point(size, frames, line.clock, plan.steps, trials, best, failed)


def run(plan: Plan, progress: Progress = lambda share, text: None) -> Iterator[Point]:
    """All sizes of a plan, one after the other. UserError for a plan that cannot be."""
    ports = check(plan)
    most = 1 + math.ceil(math.log2(plan.steps)) if plan.steps > 1 else 1
    for index, size in enumerate(plan.sizes):

        def tell(done: int, step: int, index: int = index, size: int = size) -> None:
            share = (index + min(done / most, 1)) / len(plan.sizes)
            progress(share, f"{size} bytes, {step / plan.steps:.1%} of the line rate")

        yield measure(plan, ports, size, tell)
