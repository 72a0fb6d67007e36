"""Why a run of the chip ended, and where its microengines are, as values and as text for people. Nothing is decided here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from ixpemu.chip_reserved import ReservedPlace, origin_of
from ixpemu.chip_rules import RULES
from ixpemu.chip_views import Microengine
from ixpemu.diagnostics import Diagnostic, Severity
from ixpemu.engine.layout import (
    RESERVED_ILLEGAL,
    STOP_CYCLES,
    STOP_NAMES,
    STOP_PACKET_TABLE,
    STOP_PACKETS,
    STOP_QUIET,
    STOP_RESERVED,
)
from ixpemu.image import Image

Engines = npt.NDArray[Any]
"""The engines' rows of the state, as a plain array: a record's own attributes take a hundred times as long to find."""
IDLE = 0x80                 # ENGINE.context from here on: none executes
WITHOUT_PLACE = (STOP_CYCLES, STOP_QUIET, STOP_PACKETS, STOP_PACKET_TABLE)
"""Reasons that are no one thread's."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a run ended and where. `me`, `ctx`, `pc` where one thread was the cause; `message` for people.

    `diagnostic`: for reserved behaviour the same with its code, source line, rule and advice."""

    reason: str
    cycle: int
    me: int | None = None
    ctx: int | None = None
    pc: int | None = None
    message: str = ""
    diagnostic: Diagnostic | None = None


def stopped(
    state: Any, microengines: Sequence[Microengine], engines: Engines, reason: int, cycle: int,
    images: Mapping[int, Image] | None = None,
) -> Stop:
    """The stop that the engine has noted in `state` with `reason` (STOP_*)."""
    name = STOP_NAMES[reason]
    if reason in WITHOUT_PLACE:
        return Stop(name, cycle, message=f"{name} at cycle {cycle:,}; {places(engines)}")
    me, ctx, pc = int(state.stop_me), int(state.stop_ctx), int(state.stop_pc)
    known = {} if images is None else images
    origin = origin_of(known.get(me), pc)
    source = "" if origin is None else f" ({origin.span.file}:{origin.span.line})"
    if reason != STOP_RESERVED:
        return Stop(name, cycle, me, ctx, pc, f"{name}: microengine {me} context {ctx} at {pc}{source}, cycle {cycle:,}")
    kind, value = int(state.stop_kind), int(state.stop_value)
    if kind == RESERVED_ILLEGAL:
        value = int(microengines[me].store[pc])
    when = int(state.stop_time)
    place = ReservedPlace(RULES[kind], when, me if me < len(state.engines) else None, ctx, pc, value, 1)
    found = place.diagnostic(known, Severity.ERROR)
    text = found.message.replace(", cycle", f"{source}, cycle")
    if place.me is None:
        return Stop(name, cycle, message=text, diagnostic=found)
    return Stop(name, cycle, me, ctx, pc, text, found)


def places(engines: Engines) -> str:
    """Where they are: the program counter of each one's executing context."""
    found = []
    columns = (engines["enabled"].tolist(), engines["context"].tolist(), engines["pc"].tolist())
    for number, (enabled, ctx, pc) in enumerate(zip(*columns, strict=True)):
        if enabled:
            found.append(f"me{number} " + ("idle" if ctx >= IDLE else f"ctx{ctx} at {pc[ctx]}"))
    return ", ".join(found) if found else "no microengine is enabled"
