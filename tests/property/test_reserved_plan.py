"""What is marked at load loses nothing: a chip that looks at every instruction every time finds the same reserved behaviour, at
the same cycles."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings

from ixpemu import Chip
from ixpemu.chip_watch_facts import steps_of
from ixpemu.engine.jit import COMPILED
from ixpemu.engine.layout import (
    LOCAL_MEMORY,
    MARK_WATCH,
    RESERVED_FLAGS_DOUBTFUL,
    RESERVED_FLAGS_SWAPPED,
    RESERVED_SIGN,
    RESERVED_UNWRITTEN,
    STORE_WORDS,
)
from ixpemu.engine.watch import (
    WATCH_FLAGS,
    WATCH_FLAGS_DOUBT,
    WATCH_NOTE_DOUBT,
    WATCH_PULL,
    WATCH_READ_A,
    WATCH_READ_B,
    WATCH_SIGN,
    WATCH_WRITE,
)
from tests.support.comparing import advance
from tests.support.generated_programs import Machine, machines

EXAMPLES = 200 if COMPILED else 10
CYCLES = 1200
COMPARED = (RESERVED_UNWRITTEN, RESERVED_FLAGS_SWAPPED, RESERVED_FLAGS_DOUBTFUL, RESERVED_SIGN)
MODEST = settings(max_examples=EXAMPLES, deadline=None, derandomize=True, phases=(Phase.generate,),
                  suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example])


def blank(machine: Machine) -> Chip:
    """The machine with registers that nobody has written."""
    chip = machine.chip()
    chip.state.engines["file"][:, :LOCAL_MEMORY] = 0
    return chip


def watch_everything(chip: Chip) -> None:
    """Every rule on every instruction that it could concern, and nothing known beforehand."""
    state = chip.state
    for me in chip.me:
        inputs = 0
        for address, step in enumerate(steps_of(tuple(me.store.tolist()), me.contexts)):
            if step is None:
                continue
            rules = (WATCH_READ_A if step.reads_a or step.neighbor_a else 0) | (
                WATCH_READ_B if step.reads_b or step.neighbor_b else 0)
            inputs += bool(rules and step.reads_input)
            rules |= WATCH_WRITE if step.written_as else 0
            rules |= WATCH_PULL if step.pulls else 0
            rules |= WATCH_FLAGS if step.uses_flags else 0
            rules |= WATCH_FLAGS_DOUBT if step.uses_carry else 0
            rules |= WATCH_NOTE_DOUBT if step.sets_flags and step.doubtful else 0
            rules |= WATCH_SIGN if step.takes_sign else 0
            at = me.number * STORE_WORDS + address
            state.watch_rules[at], state.watch_kind[at], state.watch_left[at] = rules, 0, 0xFF
            state.code[at]["marks"] = np.uint8((int(state.code[at]["marks"]) & ~MARK_WATCH) | (MARK_WATCH if rules else 0))
        me.engine.watch_inputs = inputs


def found(chip: Chip) -> set[tuple[int, int | None, int, int]]:
    """Kind, microengine, address and cycle. Doubts about condition codes that a swap has lost anyway do not count."""
    swapped = {(place.me, place.address) for place in chip.reserved_places if place.rule.kind == RESERVED_FLAGS_SWAPPED}
    return {(place.rule.kind, place.me, place.address, place.cycle) for place in chip.reserved_places
            if place.rule.kind in COMPARED
            and not (place.rule.kind == RESERVED_FLAGS_DOUBTFUL and (place.me, place.address) in swapped)}


@MODEST
@given(machines(most=8))
def test_marks_lose_nothing_and_invent_nothing(machine: Machine) -> None:
    planned, whole = blank(machine), blank(machine)
    watch_everything(whole)
    for chip in (planned, whole):
        advance(chip, CYCLES)
    assert planned.instructions == whole.instructions
    if max(len(planned.reserved_places), len(whole.reserved_places)) < 64:
        assert found(planned) == found(whole)
