"""Why a run of the chip ended, and where its microengines are, as values and as text for people. Nothing is decided here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ixpemu.chip_views import Microengine
from ixpemu.engine.layout import (
    RESERVED_ILLEGAL,
    RESERVED_NAMES,
    STOP_CYCLES,
    STOP_NAMES,
    STOP_PACKET_TABLE,
    STOP_PACKETS,
    STOP_QUIET,
    STOP_RESERVED,
)

WITHOUT_PLACE = (STOP_CYCLES, STOP_QUIET, STOP_PACKETS, STOP_PACKET_TABLE)
"""Reasons that are no one thread's."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a run ended and where. `me`, `ctx`, `pc` where one thread was the cause; `message` for people."""

    reason: str
    cycle: int
    me: int | None = None
    ctx: int | None = None
    pc: int | None = None
    message: str = ""


def stopped(state: Any, microengines: Sequence[Microengine], reason: int, cycle: int) -> Stop:
    """The stop that the engine has noted in `state` with `reason` (STOP_*)."""
    name = STOP_NAMES[reason]
    if reason in WITHOUT_PLACE:
        return Stop(name, cycle, message=f"{name} at cycle {cycle:,}; {places(microengines)}")
    me, ctx, pc = int(state.stop_me), int(state.stop_ctx), int(state.stop_pc)
    what = name
    if reason == STOP_RESERVED:
        kind, value = int(state.stop_kind), int(state.stop_value)
        if kind == RESERVED_ILLEGAL:
            value = int(microengines[me].store[pc])
        what = f"{RESERVED_NAMES[kind]} ({value:#x})"
    return Stop(name, cycle, me, ctx, pc, f"{what}: microengine {me} context {ctx} at {pc}, cycle {cycle:,}")


def places(microengines: Iterable[Microengine]) -> str:
    """Where they are: the program counter of each one's executing context."""
    found = []
    for me in microengines:
        if int(me.engine.enabled):
            ctx = me.executing
            found.append(f"me{me.number} " + ("idle" if ctx is None else f"ctx{ctx} at {me.ctx[ctx].pc}"))
    return ", ".join(found) if found else "no microengine is enabled"
