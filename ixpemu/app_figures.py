"""The report of a run out of what the chip and the collector hold. Adds up; decides nothing and draws nothing."""

from __future__ import annotations

from collections.abc import Mapping

from ixpemu import codes
from ixpemu.app_file import AppSettings
from ixpemu.app_loads import limit, loads
from ixpemu.chip import Chip
from ixpemu.chip_deadlock import SHOWN, describe, stuck
from ixpemu.diagnostics import Diagnostic
from ixpemu.image import Image, of_structure
from ixpemu.trace.collector import Collector, engine_sums, inside
from ixpemu.trace.summary import CaptureFigures, CycleSums, PortFigures, RunReport, Uncounted, Where, line_gbps, merge_drops

QUIET = "quiet"
NOT_FOLLOWED = (
    "in the mode fast packets are not followed: there are no costs by type, and what the program dropped counts as still inside"
)
REFUSED = {"runts": "runt", "oversize": "frame too long", "overflow": "receive FIFO full"}


def figures(
    settings: AppSettings, chip: Chip, images: Mapping[int, Image], collector: Collector, stop: str, wall: float,
    captures: tuple[CaptureFigures, ...] = (),
    failure: Diagnostic | None = None,
) -> RunReport:
    """Everything since the chip's reset. `stop` says why the run ended, `failure` by what reserved behaviour if it did; `wall` is
    how long it took, in seconds."""
    state = chip.state
    # A chip on which nothing happens any more is taken to the end of the slice; that is no property of the run.
    last = max(int(state.now), *(int(engine["clock"]) for engine in state.engines))
    cycles = min(chip.cycle, last) if stop == QUIET or _is_deadlock(failure) else chip.cycle
    totals = collector.totals()
    followed = chip.mode != "fast"
    types = totals.types() if followed else ()
    loaded = sorted(images)
    done, idle, instructions = engine_sums(state, loaded)
    # An idle microengine's clock stands still until something wakes it.
    waiting = sum(max(0, cycles - int(state.engines[me]["clock"])) for me in loaded)
    in_packets = sum((kind.cycles for kind in types), CycleSums())
    outside = Uncounted(
        CycleSums(done.executing - in_packets.executing, done.aborted - in_packets.aborted, done.stalled - in_packets.stalled),
        instructions - sum(kind.instructions for kind in types), idle + waiting,
    )
    clocks = sum(max(cycles, int(state.engines[me]["clock"])) for me in loaded)
    ports = tuple(_port(chip, number, cycles) for number in range(len(chip.ports)))
    sent, arrived = sum(port.sent[0] for port in ports), sum(port.offered[0] for port in ports)
    drops = merge_drops(totals.drops if followed else {}, *(port.refused for port in ports))
    busy = loads(chip)
    refused = sum(port.refused.get(REFUSED["overflow"], 0) for port in ports)
    overload = [f"{refused:,} frames found a receive FIFO full: {limit(busy)}"] if refused else []
    where = tuple(_where(chip, images[me], me, ctx) for me in loaded for ctx in range(0, 8, 8 // images[me].contexts))
    return RunReport(
        application=settings.name, clock_hz=chip.clock_hz, cycles=cycles, clocks=clocks, stop=stop, types=types,
        outside=outside, ports=ports if settings.ports else (), arrived=arrived, sent=sent,
        generated=sent - chip.packets_sent + collector.originated if followed else 0,
        inside=inside(state) if followed else arrived - sum(drops.values()) - sent,
        drops=drops, wall_seconds=wall, notes=(*overload, *_waiting(chip, stop), *(() if followed else (NOT_FOLLOWED,))),
        loads=busy, where=where,
        warnings=_warnings(chip, failure), failure=failure, captures=captures,
    )


def _waiting(chip: Chip, stop: str) -> list[str]:
    """Which contexts wait for what nobody can raise, after a run that ended by itself."""
    if stop != QUIET:
        return []
    return [f"{describe(one, chip.me, chip.images)}; it sleeps for good" for one in stuck(chip.state, chip.me)[:SHOWN]]


def _warnings(chip: Chip, failure: Diagnostic | None) -> tuple[Diagnostic, ...]:
    """The reserved behaviour that was seen, without what ended the run."""
    if failure is None:
        return tuple(chip.warnings)
    code, start = failure.code, failure.message.partition(":")[2]
    return tuple(found for found in chip.warnings if found.code != code or not found.message.partition(":")[2].startswith(start))


def _is_deadlock(failure: Diagnostic | None) -> bool:
    return failure is not None and failure.code == codes.DEADLOCK


def _where(chip: Chip, image: Image, me: int, ctx: int) -> Where:
    """Where a context stands, in the terms of its source."""
    context = chip.me[me].ctx[ctx]
    address = context.pc
    before = [(at, name) for name, at in image.labels.items() if at <= address and not of_structure(name)]
    label = ""
    if before:
        at, name = max(before)
        label = f"{name.rstrip('#')}#" + (f" + {address - at}" if address > at else "")
    place = str(image.debug[address].place) if address < len(image.debug) else ""
    return Where(me, ctx, address, context.state, label, place)


def _port(chip: Chip, number: int, cycles: int) -> PortFigures:
    port = chip.ports[number]
    counters = port.counters
    refused = {words: getattr(counters, name) for name, words in REFUSED.items() if getattr(counters, name)}
    clock_hz = chip.clock_hz
    return PortFigures(
        number=number, line_gbps=port.line.speed / 1e9,
        offered=(counters.received + counters.dropped, counters.received_bytes),
        sent=(counters.sent, counters.sent_bytes), refused=refused,
        receive_gbps=line_gbps(counters.received, counters.received_bytes, cycles, clock_hz),
        transmit_gbps=line_gbps(counters.sent, counters.sent_bytes, cycles, clock_hz),
    )
