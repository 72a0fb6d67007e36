"""Which instructions of a program could offend at run time, found once when it is loaded, so that all others cost nothing.

The paths through the program (`ixpemu.chip_flow`) say for each instruction what has certainly happened before it and what may
have: registers written, condition codes set since the context started, by which kind of instruction. What that leaves open is
marked for `ixpemu.engine.watch` to look at when it executes; what certainly offends is marked with its kind. Not here: anything
that only a unit or an address can tell.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ixpemu.chip_flow import RETURNS, TABLES, Paths, Place, depends_on_context
from ixpemu.chip_watch_facts import Step, steps_of
from ixpemu.engine.layout import (
    CONTEXTS,
    MARK_WATCH,
    RESERVED_FLAGS_DOUBTFUL,
    RESERVED_NO_PREVIOUS_A,
    RESERVED_NO_PREVIOUS_RESULT,
    RESERVED_SHADOW,
)
from ixpemu.engine.watch import (
    WATCH_ALWAYS,
    WATCH_FLAGS,
    WATCH_FLAGS_DOUBT,
    WATCH_NOTE_DOUBT,
    WATCH_NOTE_T_INDEX,
    WATCH_PULL,
    WATCH_READ_A,
    WATCH_READ_B,
    WATCH_SIGN,
    WATCH_T_INDEX,
    WATCH_WRITE,
)

FLAGS, T_INDEX = 1 << 0, 1 << 1         # certain since the context started; lost when the microengine is given up
KEPT = ~(FLAGS | T_INDEX)
REGISTERS = 2                           # bits from here on: registers, by `Step`'s numbers
NO_DOUBT = 1 << 13                      # behind the addresses of the largest control store
SHADOW = 3                              # instructions that have to lie between writing a CSR and using it


@dataclass(slots=True)
class Plan:
    """What to look at. `rules` (WATCH_*) and `kinds` (RESERVED_* of what certainly offends) by address; `contexts`: masks of
    those that can get there. `inputs`: how many addresses look at transfer-in registers, which others may fill."""

    rules: npt.NDArray[np.uint32]
    kinds: npt.NDArray[np.uint8]
    contexts: npt.NDArray[np.uint8]
    inputs: int = 0


@dataclass(frozen=True, slots=True)
class _Known:
    """What holds before an instruction. `certain`: bits of what has happened on all paths. `setters`: a mask of addresses whose
    condition codes may be in force; bit NO_DOUBT stands for those of instructions that leave no doubt."""

    certain: int
    setters: int


@lru_cache(maxsize=32)
def plan(words: tuple[int, ...], contexts: int) -> Plan:
    """The plan of a program for a context mode (8 or 4 contexts)."""
    steps = steps_of(words, contexts)
    program = [None if step is None else step.decoded for step in steps]
    count = len(words)
    made = Plan(np.zeros(count, np.uint32), np.zeros(count, np.uint8), np.zeros(count, np.uint8))
    numbers = range(0, CONTEXTS, CONTEXTS // contexts)
    groups = [[number] for number in numbers] if depends_on_context(program) else [list(numbers)]
    doubts, late = _Doubts(), 0
    unwritten = 0
    for group in groups:
        known, before = _follow(Paths(program, group[0]), steps)
        mask = sum(1 << number for number in group)
        late |= _late_index(known, steps)
        for place, what in known.items():
            step = _at(steps, place[0])
            if step is None:
                continue
            made.contexts[place[0]] |= mask
            unwritten |= _registers(made, step, what, place)
            _flags(made, step, what, place, doubts)
            _just_before(made, step, place, before, steps)
    _writers(made, steps, unwritten)
    doubts.mark(made)
    if late:
        for address, step in enumerate(steps):
            if step is not None and (step.sets_t_index or step.uses_t_index):
                made.rules[address] |= WATCH_NOTE_T_INDEX if step.sets_t_index else WATCH_T_INDEX
    made.inputs = sum(1 for address, step in enumerate(steps) if step is not None and step.reads_input
                      and made.rules[address] & (WATCH_READ_A | WATCH_READ_B))
    for array in (made.rules, made.kinds, made.contexts):
        array.flags.writeable = False
    return made


def apply_plan(state: Any, me: int, words: tuple[int, ...], contexts: int) -> None:
    """Have the engine of `state` watch the program in the store of microengine `me`. A gap in the store is -1, no instruction."""
    made = plan(words, contexts)
    room = len(state.code) // len(state.engines)
    first, used = me * room, len(words)
    for array, planned in ((state.watch_rules, made.rules), (state.watch_kind, made.kinds), (state.watch_left, made.contexts)):
        array[first : first + used], array[first + used : first + room] = planned, 0
    marks = state.code["marks"][first : first + room]
    marks &= np.uint8(0xFF ^ MARK_WATCH)
    marks[:used][made.rules != 0] |= np.uint8(MARK_WATCH)
    engine = state.engines[me]
    engine.watch_inputs, engine.watch_hidden = made.inputs, 0


def _follow(paths: Paths, steps: Sequence[Step | None]) -> tuple[dict[Place, _Known], dict[Place, set[tuple[int, bool]]]]:
    """What is known before every place that can be reached, and the addresses just before it with whether a swap lies between."""
    known = {paths.entry: _Known(0, 0)}
    before: dict[Place, set[tuple[int, bool]]] = {paths.entry: {(-1, True)}}
    waiting = deque([paths.entry])
    queued = {paths.entry}
    while waiting:
        place = waiting.popleft()
        queued.discard(place)
        step = _at(steps, place[0])
        after = known[place] if step is None else _past(step, place[0], known[place])
        for edge in paths.after(place):
            arriving = _Known(after.certain & KEPT, 0) if edge.swapped else after
            before.setdefault(edge.place, set()).add((place[0], edge.swapped))
            had = known.get(edge.place)
            merged = arriving if had is None else _Known(had.certain & arriving.certain, had.setters | arriving.setters)
            if merged != had:
                known[edge.place] = merged
                if edge.place not in queued:
                    queued.add(edge.place)
                    waiting.append(edge.place)
    return known, before


def _at(steps: Sequence[Step | None], address: int) -> Step | None:
    """The instruction at an address; None where there is none."""
    return steps[address] if 0 <= address < len(steps) else None


def _past(step: Step, address: int, known: _Known) -> _Known:
    """What holds behind an instruction."""
    certain = known.certain | step.writes << REGISTERS
    setters = known.setters
    if step.sets_flags:
        certain |= FLAGS
        setters = 1 << (address if step.doubtful else NO_DOUBT)
    if step.sets_t_index:
        certain |= T_INDEX
    return _Known(certain, setters)


def _registers(made: Plan, step: Step, what: _Known, place: Place) -> int:
    """Marks reads of what may be unwritten; returns those registers."""
    written = what.certain >> REGISTERS
    found = 0
    for rule, bits, neighbor in ((WATCH_READ_A, step.reads_a, step.neighbor_a), (WATCH_READ_B, step.reads_b, step.neighbor_b)):
        if bits & ~written or neighbor:
            made.rules[place[0]] |= rule
            found |= bits
    missing = step.pulls & ~written
    if missing:
        made.rules[place[0]] |= WATCH_PULL
        found |= step.pulls
    return found


def _writers(made: Plan, steps: Sequence[Step | None], unwritten: int) -> None:
    """Marks whoever writes one of the registers that some read may find unwritten, by this or by another name."""
    for address, step in enumerate(steps):
        if step is not None and step.written_as & unwritten:
            made.rules[address] |= WATCH_WRITE


def _late_index(known: dict[Place, _Known], steps: Sequence[Step | None]) -> int:
    """1 if T_INDEX may be used without having been written since the context started."""
    return int(any(step.uses_t_index and not what.certain & T_INDEX for place, what in known.items()
                   if (step := _at(steps, place[0])) is not None))


class _Doubts:
    """Uses of C and V that may see those of a logical operation, collected over the contexts."""

    def __init__(self) -> None:
        self._uses: dict[int, int] = {}         # address of a use: mask of setters

    def add(self, address: int, setters: int) -> None:
        self._uses[address] = self._uses.get(address, 0) | setters

    def mark(self, made: Plan) -> None:
        exact = 1 << NO_DOUBT
        for address, setters in self._uses.items():
            doubtful = setters & ~exact
            if not doubtful:
                continue
            if setters & exact or made.rules[address] & WATCH_FLAGS:
                made.rules[address] |= WATCH_FLAGS_DOUBT
                while doubtful:
                    lowest = doubtful & -doubtful
                    made.rules[lowest.bit_length() - 1] |= WATCH_NOTE_DOUBT
                    doubtful ^= lowest
            else:
                made.rules[address] |= WATCH_ALWAYS
                made.kinds[address] = RESERVED_FLAGS_DOUBTFUL


def _flags(made: Plan, step: Step, what: _Known, place: Place, doubts: _Doubts) -> None:
    if step.uses_flags and not what.certain & FLAGS:
        made.rules[place[0]] |= WATCH_FLAGS
    if step.uses_carry:
        doubts.add(place[0], what.setters)


def _just_before(
    made: Plan, step: Step, place: Place, before: dict[Place, set[tuple[int, bool]]], steps: Sequence[Step | None]
) -> None:
    """What depends on the instruction just before, or on the three before, and offends on every path."""
    address = place[0]
    if step.uses_previous_a and not any(_gives(steps, one, "gives_previous_a") for one in before[place]):
        made.rules[address] |= WATCH_ALWAYS
        made.kinds[address] = RESERVED_NO_PREVIOUS_A
    if step.uses_previous_result and not any(_gives(steps, one, "gives_previous_result") for one in before[place]):
        made.rules[address] |= WATCH_ALWAYS
        made.kinds[address] = RESERVED_NO_PREVIOUS_RESULT
    if step.takes_sign and not all(_has_sign(steps, one, step) for one in before[place]):
        made.rules[address] |= WATCH_SIGN
    if step.uses_csr and _in_shadow(place, step.uses_csr, before, steps):
        made.rules[address] |= WATCH_ALWAYS
        made.kinds[address] = RESERVED_SHADOW


def _gives(steps: Sequence[Step | None], one: tuple[int, bool], what: str) -> bool:
    address, swapped = one
    if address in (RETURNS, TABLES):
        return True                     # nobody can say
    step = _at(steps, address)
    return step is not None and not swapped and bool(getattr(step, what))


def _has_sign(steps: Sequence[Step | None], one: tuple[int, bool], user: Step) -> bool:
    """Whether the result of the instruction just before is what the user shifts, or has its sign."""
    address, swapped = one
    step = _at(steps, address)
    return step is not None and not swapped and user.sign_of in step.leaves_sign_of


def _in_shadow(
    place: Place, csrs: frozenset[int], before: dict[Place, set[tuple[int, bool]]], steps: Sequence[Step | None]
) -> bool:
    """Whether one of the CSRs was written by one of the three instructions before, on the only path there is."""
    at = place
    for _ in range(SHADOW):
        if len(before[at]) != 1:
            return False
        [(address, swapped)] = before[at]
        step = _at(steps, address)
        if step is None or swapped:
            return False
        if step.writes_csr in csrs:
            return True
        places = [known for known in before if known[0] == address]
        if len(places) != 1:
            return False
        at = places[0]
    return False
