"""What moves a chip on in time: slices of the engine, agents at their own cycles, the ports' rings, and why it came to rest.

It knows limits as cycles and reasons as bits (STOP_*); what a user may ask for is `ixpemu.chip`'s, and what happens inside a
slice is the engine's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ixpemu.chip_agents import Agent
from ixpemu.chip_deadlock import SHOWN, deadlock, describe, stuck
from ixpemu.chip_observe import Observation
from ixpemu.chip_ports import Ports
from ixpemu.chip_stop import Stop, places, stopped
from ixpemu.chip_translate import Translations
from ixpemu.chip_views import Microengine
from ixpemu.engine.core import run_slice, run_slice_observed
from ixpemu.engine.jit import arithmetic, passed
from ixpemu.engine.layout import (
    INTERRUPTS,
    KEY_SHIFT,
    NEVER,
    PACKET_DROPPED,
    PACKET_FREE,
    PACKET_SENT,
    STOP_BREAKPOINT,
    STOP_COMMIT,
    STOP_CYCLES,
    STOP_HALT,
    STOP_IDLE,
    STOP_INPUT,
    STOP_INTERNAL,
    STOP_INTERRUPT,
    STOP_OBSERVED,
    STOP_OUTPUT,
    STOP_PACKET_TABLE,
    STOP_PACKETS,
    STOP_QUIET,
    STOP_RESERVED,
    STOP_STORE,
)
from ixpemu.image import Image

SERVICE = (STOP_INPUT, STOP_OUTPUT, STOP_INTERRUPT, STOP_PACKET_TABLE, STOP_OBSERVED, STOP_STORE)
"""Reasons for which the engine returns although the run goes on."""
STOP_FIELDS = ("stop_reason", "stop_me", "stop_ctx", "stop_pc", "stop_value", "stop_kind", "stop_time")
SERVICE_MASK = sum(1 << reason for reason in SERVICE)


def reasons(*, packets: bool, commits: bool, strict: bool, to_break: bool) -> int:
    """The mask of what ends a run besides its limit: some only if they are asked for."""
    wanted = [STOP_HALT, STOP_INTERNAL, STOP_QUIET]
    asked = ((packets, STOP_PACKETS), (commits, STOP_COMMIT), (strict, STOP_RESERVED), (to_break, STOP_BREAKPOINT))
    return sum(1 << reason for reason in wanted + [reason for there, reason in asked if there])


class Drive:
    """The time of one chip: where it stands (`cycle`), and its agents."""

    def __init__(
        self, array: npt.NDArray[Any], memory: npt.NDArray[np.uint32], microengines: Sequence[Microengine], ports: Ports,
        images: Mapping[int, Image],
    ) -> None:
        self.cycle = 0
        self.agents: list[Agent] = []
        self.keep_packets = False
        """Whether a run ends ("packet table") when finished rows of the packet table have to be collected; else they are
        dropped."""
        self.used_up = False            # the engine has found all input used up and nothing inside, and an agent was busy
        self._states = passed(array)
        self._state: Any = array[0]
        self._memory = memory
        self._microengines = microengines
        self._ports = ports
        self._images = images
        # The fields that every slice touches, as plain views: a record's own attributes take a hundred times as long to find.
        plain = array.view(np.ndarray)
        self._limit, self._stop_mask, self._now = plain["limit"], plain["stop_mask"], plain["now"]
        self._observed_kinds = plain["observed_kinds"]
        self.observation = Observation(array)
        self.translations = Translations(array)
        self._engines = plain["engines"][0]
        self.idle_stop: tuple[tuple[int, int], Stop] | None = None
        self._inside, self._input_open, self._stale = plain["packets_inside"], plain["input_open"], plain["stale"]
        self._raised = plain["interrupts_raised"]

    def run(self, target: int, mask: int, until: Callable[[], bool] | None) -> Stop:
        """Run to the cycle `target`, or to a reason in `mask`; `until` is asked after every commit if `mask` has STOP_COMMIT."""
        self._settle()
        self._ports.service()
        stop = self._run(target, mask | SERVICE_MASK, until)
        self._ports.service()
        self._ports.flush()
        return stop

    def _run(self, target: int, mask: int, until: Callable[[], bool] | None) -> Stop:
        while True:
            if self._raised[0]:
                self._interrupts()
            if self.agents:
                self._let_agents_act()
                self._settle()
                if self.used_up and self._quiet():
                    self.used_up = False
                    return self._stopped(STOP_QUIET)
            due = min([target, *(agent.due() for agent in self.agents)])
            limit = due if self.observation.sinks else min(due, self.translations.look(self.cycle))
            if due <= self.cycle:
                return self._stopped(STOP_CYCLES)
            reason = self._slice(limit, mask)
            if reason == STOP_IDLE and limit < due:
                reason = self._slice(due, mask)         # what still arrives wakes nobody, but arrives
            if reason == STOP_CYCLES:
                self.cycle = limit
                if limit == target:
                    return self._stopped(STOP_CYCLES)
            elif reason == STOP_IDLE:
                if due < target:
                    self.cycle = due
                    continue
                self.cycle = (
                    target if target < NEVER else max(self.cycle, int(self._now[0]), int(self._state.engines["clock"].max()))
                )
                return self._idle()
            else:
                if reason == STOP_RESERVED:
                    self._find_first(mask)
                self.cycle = max(self.cycle, int(self._now[0]))
                if reason == STOP_COMMIT:
                    if until is not None and until():
                        return Stop("until", self.cycle, message=f"until at cycle {self.cycle:,}; {places(self._engines)}")
                elif reason == STOP_QUIET:
                    if self._quiet():
                        return self._stopped(reason)
                    self.used_up = True             # the engine asks once; from now on agents may be what is waited for
                elif reason == STOP_HALT and "attention" in self._interrupts():
                    continue                        # a breakpoint that an agent deals with
                elif reason not in SERVICE or (reason == STOP_PACKET_TABLE and self.keep_packets):
                    return self._stopped(reason)
                else:
                    self._serve(reason)

    def step(self, me: Microengine, once: Callable[[int], Stop]) -> Stop:
        """Run until `me` has executed one more instruction; everything else keeps time with it. `once` runs for some cycles."""
        engine = me.engine
        retired = int(engine.retired)
        while int(engine.retired) == retired:
            first = int(self._state.keys.min()) >> KEY_SHIFT
            wanted = int(engine.clock) if int(engine.context) < 0x80 else first
            due = min([NEVER, *(agent.due() for agent in self.agents)])
            if min(wanted, due) >= NEVER:
                where = places(self._engines)
                return Stop("quiet", self.cycle, message=f"microengine {me.number} will never run again; {where}")
            stop = once(max(min(wanted, due), self.cycle) + 1 - self.cycle)
            if stop.reason not in ("cycles", "quiet"):
                return stop
        return Stop("step", self.cycle, me.number, message=f"step at cycle {self.cycle:,}; {places(self._engines)}")

    def _settle(self) -> None:
        """What was written into the control stores, between runs or by agents, is complete for now."""
        for me in self._microengines:
            me.settle()
        self.translations.check()

    def _idle(self) -> Stop:
        """Nothing will happen any more: that is the end, or a deadlock. Asked again with nothing new, it says the same."""
        key = (int(self._state.commits) + int(self._engines["retired"].sum()), int(self._inside[0]))
        if self.idle_stop is None or self.idle_stop[0] != key:
            self.idle_stop = key, self._look_who_waits()
        stop = self.idle_stop[1]
        if stop.reason == "deadlock":
            return replace(stop, cycle=self.cycle)
        quiet = self._stopped(STOP_QUIET)
        return replace(quiet, message=quiet.message + stop.message)

    def _look_who_waits(self) -> Stop:
        found = deadlock(self._state, self._microengines, self._images, int(self._now[0]))
        if found is not None:
            first = stuck(self._state, self._microengines)[0]
            return Stop("deadlock", self.cycle, first.me, first.ctx, first.address, found.message, found)
        waiting = [describe(one, self._microengines, self._images) for one in stuck(self._state, self._microengines)]
        return Stop("quiet", self.cycle, message="".join(f"; {text}" for text in waiting[:SHOWN]))

    def _stopped(self, reason: int) -> Stop:
        return stopped(self._state, self._microengines, self._engines, reason, self.cycle, self._images)

    def _find_first(self, mask: int) -> None:
        """After a stop at reserved behaviour in a private run, which was ahead of its time: let everything else get there, and
        leave in the state whatever came first."""
        state = self._state
        first = self._stop_fields()
        while first["stop_time"] > int(self._now[0]):
            reason = self._slice(first["stop_time"] + 1, mask)
            if reason == STOP_RESERVED:
                first = min(first, self._stop_fields(), key=lambda found: (found["stop_time"], found["stop_me"]))
            elif reason in SERVICE:
                self._serve(reason)
            elif reason != STOP_COMMIT:
                break
        for name, value in first.items():
            setattr(state, name, value)

    def _stop_fields(self) -> dict[str, int]:
        return {name: int(getattr(self._state, name)) for name in STOP_FIELDS}

    def _quiet(self) -> bool:
        """Whether all input is used up, no packet is inside and no agent has anything left to do for one."""
        return not self._inside[0] and not self._input_open[0] and not any(agent.busy() for agent in self.agents)

    def _slice(self, limit: int, mask: int) -> int:
        self._limit[0] = limit
        self._stop_mask[0] = mask
        with arithmetic():
            if not self.observation.sinks:
                reason = int(run_slice(self._states, self._memory))
            else:
                self._observed_kinds[0] = self.observation.kinds
                reason = int(run_slice_observed(self._states, self._memory))
        if self.observation.sinks:
            self.observation.drain(limit if reason in (STOP_CYCLES, STOP_IDLE) else None)
        if self._stale[0]:
            self.refresh()
            self._settle()
        return reason

    def refresh(self) -> None:
        """Make the instruction records anew whose words, or whose microengine's mode, have changed."""
        if stale := int(self._stale[0]):
            self._stale[0] = 0
            for me in self._microengines:
                if stale >> me.number & 1:
                    me.refresh()

    def _serve(self, reason: int) -> None:
        if reason == STOP_PACKET_TABLE:
            status = self._state.packets["status"]
            status[(status == PACKET_SENT) | (status == PACKET_DROPPED)] = PACKET_FREE
        self._ports.service()

    def _interrupts(self) -> set[str]:
        """Tell the agents of the interrupts raised since the last time; those that one of them deals with."""
        raised = int(self._raised[0])
        self._raised[0] = 0
        names = [name for bit, name in INTERRUPTS.items() if raised >> bit & 1]
        return {name for name in names if any([agent.interrupt(self.cycle, name) for agent in self.agents])}

    def _let_agents_act(self) -> None:
        # An agent may make another one due at this very cycle; every act must move its agent on.
        waiting = True
        while waiting:
            waiting = False
            for agent in self.agents:
                if agent.due() <= self.cycle:
                    agent.act(self.cycle)
                    waiting = True
