"""Watching changes nothing, and what is seen depends on the machine alone: not on slices, or on what else is watched."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ixpemu import App
from ixpemu.chip_observe import Events
from ixpemu.engine.jit import COMPILED
from ixpemu.engine.observation import SEEN_ISSUE, SEEN_NAMES
from ixpemu.trace.digest import TraceHash
from tests.support.comparing import advance, differences, whole
from tests.support.generated_programs import Machine, machines

EXAMPLES = 25 if COMPILED else 2
# A failure is not made smaller: that takes minutes, and a shorter program says little more about an order of records.
MODEST = settings(max_examples=EXAMPLES, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate],
                  suppress_health_check=[HealthCheck.too_slow])


def digest(machine: Machine, cycles: int, length: int) -> tuple[str, int]:
    """The digest of an observed run in slices of `length`, and how many records it is made of."""
    chip = machine.chip()
    seen = TraceHash()
    chip.observe(seen)
    while chip.cycle < cycles:
        chip.run(cycles=min(length, cycles - chip.cycle))
    return seen.hexdigest(), seen.count


@MODEST
@given(machines(), st.sampled_from([1, 7, 1000]))
def test_a_watched_chip_does_what_an_unwatched_one_does(machine: Machine, length: int) -> None:
    chip = machine.chip()
    chip.observe(lambda events: None)
    while chip.cycle < 1200:
        chip.run(cycles=min(length, 1200 - chip.cycle))
    assert differences(chip, whole(machine, 1200)) == []


@MODEST
@given(machines())
def test_slices_of_any_length_give_the_same_records(machine: Machine) -> None:
    seen = digest(machine, 1400, 1000)
    assert seen == digest(machine, 1400, 7) == digest(machine, 1400, 1)
    assert seen[1] > 0


@MODEST
@given(machines(), st.lists(st.integers(1, 60), min_size=1, max_size=20))
def test_watching_may_begin_and_end_anywhere(machine: Machine, lengths: list[int]) -> None:
    """A sink that comes and goes sees what one that stays sees in those cycles, from where nothing was under way yet."""
    chip = machine.chip()
    all_of_it: list[Events] = []
    parts: list[tuple[int, int, list[Events]]] = []
    chip.observe(all_of_it.append)
    for length in lengths:
        part: list[Events] = []
        chip.observe(part.append)
        first = chip.cycle
        chip.run(cycles=length)
        chip.unobserve(part.append)
        parts.append((first, chip.cycle, part))
    whole_of_it = np.concatenate(all_of_it) if all_of_it else np.zeros(0)
    for first, end, part in parts:
        cycles = whole_of_it["cycle"] if len(whole_of_it) else whole_of_it
        expected = whole_of_it[(cycles >= first) & (cycles < end)]
        assert b"".join(events.tobytes() for events in part) == expected.tobytes()
    assert differences(chip, whole(machine, chip.cycle)) == []


@MODEST
@given(machines(), st.sampled_from(SEEN_NAMES[1:]))
def test_one_kind_is_a_part_of_all(machine: Machine, kind: str) -> None:
    chip, other = machine.chip(), machine.chip()
    all_of_it: list[Events] = []
    part: list[Events] = []
    chip.observe(all_of_it.append)
    other.observe(part.append, kinds=[kind])
    advance(chip, 800)
    advance(other, 800)
    wanted = [events[events["kind"] == SEEN_NAMES.index(kind)] for events in all_of_it]
    assert b"".join(events.tobytes() for events in wanted) == b"".join(events.tobytes() for events in part)


@MODEST
@given(machines())
def test_every_instruction_is_seen_once(machine: Machine) -> None:
    chip = machine.chip()
    seen: list[Events] = []
    chip.observe(seen.append, kinds=["issue", "branch"])
    advance(chip, 1000)
    events = np.concatenate(seen)
    assert set(events["kind"]) <= {SEEN_ISSUE, SEEN_ISSUE + 1}
    for me in chip.me:
        assert int((events["me"] == me.number).sum()) == me.cycles["executing"]
    assert (np.diff(events["cycle"].astype(np.int64)) >= 0).all()


def test_the_router_gives_one_digest_for_all_slices() -> None:
    """A whole application, XScale and ports included."""
    cycles = 60_000 if COMPILED else 1_500
    digests = set()
    for length in (cycles, 1000, 7):
        app = App.load("ipv4_forward", capture=False)
        seen = TraceHash()
        app.chip.observe(seen)
        while app.chip.cycle < cycles:
            app.advance(min(length, cycles - app.chip.cycle))
        digests.add((seen.hexdigest(), seen.count))
    assert len(digests) == 1
