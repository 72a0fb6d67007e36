"""Instructions that take something from the one before them, and one before them that does not give it.

Amounts of indirect shifts, signs of arithmetic shifts, words of indirect references, steps of multiplications and of bit counts;
and, the other way round, results that go nowhere. Values are not looked at.
"""

from __future__ import annotations

from ixpemu import codes
from ixpemu.asm.dataflow import backward
from ixpemu.asm.lint_base import Lints
from ixpemu.asm.trails import End, Walk
from ixpemu.diagnostics import Note
from ixpemu.isa.model import Operand

_NEAR = 4       # instructions behind a lost result among which one that takes a result was likely meant to take it


def check(lints: Lints) -> None:
    """Adds a warning for each of them."""
    for index, effects in enumerate(lints.effects):
        if effects.takes_a:
            _takes_a(lints, index)
        if effects.sign_of is not None:
            _takes_sign(lints, index, lints.operand(index, effects.sign_of))
        elif effects.takes_result:
            _takes_result(lints, index)
        if effects.steps_before:
            _step(lints, index)
    _lost(lints)


def _before(lints: Lints, index: int) -> Walk:
    return lints.trails.back(index, 1, lambda _: True)


def _missing(lints: Lints, index: int, walk: Walk, good: list[bool]) -> tuple[str, tuple[Note, ...]] | None:
    """How often what an instruction takes is not there: "" for always, or " on some path"; with the first place at fault."""
    if (not walk.found and not walk.ends) or End.GUESS in walk.ends:
        return None
    nothing = walk.ends - {End.FOUND}
    if all(good) and not nothing:
        return None
    often = "" if not any(good) else " on some path"
    if often and not lints.trails.sure:
        return None
    notes: tuple[Note, ...] = ()
    bad = [one for one, well in zip(walk.found, good, strict=True) if not well]
    if bad:
        notes = (lints.note("this comes just before it", bad[0]),)
    elif End.SWAP in walk.ends:
        often += ", since the context has just been away"
        notes = (lints.note("the context gives up the microengine here", walk.swaps[0]),)
    else:
        often += ", since the program begins there"
    return often, notes


def _takes_a(lints: Lints, index: int) -> None:
    walk = _before(lints, index)
    missing = _missing(lints, index, walk, [lints.effects[one].gives_a for one in walk.found])
    if missing is not None:
        lints.findings.warning(
            codes.NO_PREVIOUS_A, f"the amount of this shift is not set just before it{missing[0]}", lints.origin(index),
            help="put `alu[--, amount, OR, 0]` directly before it: its amount is the first operand of a logical operation",
            notes=missing[1],
        )


def _takes_result(lints: Lints, index: int) -> None:
    walk = _before(lints, index)
    missing = _missing(lints, index, walk, [lints.effects[one].gives_result for one in walk.found])
    if missing is not None:
        lints.findings.warning(
            codes.NO_PREVIOUS_RESULT, f"this takes the result of the instruction before it, which has none{missing[0]}",
            lints.origin(index), help="let the instruction that computes the word stand directly before it", notes=missing[1],
        )


def _takes_sign(lints: Lints, index: int, register: Operand) -> None:
    walk = _before(lints, index)
    good = []
    for one in walk.found:
        facts = lints.flow.facts[one]
        concerned = any(lints.operand(one, place) == register for place in (*facts.reads, *facts.writes))
        good.append(lints.effects[one].gives_result and concerned)
    missing = _missing(lints, index, walk, good)
    if missing is None:
        return
    spelling = lints.spelling(register)
    lints.findings.warning(
        codes.SIGN_OF_ANOTHER,
        f"the sign that this shifts in is that of the result just before it, which has nothing to do with {spelling}{missing[0]}",
        lints.origin(index), help=f"put `alu[--, --, B, {spelling.strip('`')}]` directly before it", notes=missing[1],
    )


def _step(lints: Lints, index: int) -> None:
    """Whether the step before this one is the one that has to be, with the same sources."""
    own = lints.effects[index]
    walk = _before(lints, index) if own.consecutive else lints.trails.back(index, None, lambda one: lints.effects[one].shape)
    good = []
    for one in walk.found:
        other = lints.effects[one]
        agree = _agree(lints.operands(index, own.sources), lints.operands(one, other.sources))
        good.append(other.step in own.steps_before and agree)
    missing = _missing(lints, index, walk, good)
    if missing is None:
        return
    wanted = f"`{own.steps_before[0]}`" + (" of the same operands" if own.sources else "")
    lints.findings.warning(
        codes.STEP_ORDER, f"the step before this one is not {wanted}{missing[0]}", lints.origin(index),
        help="write the steps directly behind each other, in their order, and with the same operands", notes=missing[1],
    )


def _agree(one: tuple[Operand, ...], other: tuple[Operand, ...]) -> bool:
    return not one or not other or one == other


def _lost(lints: Lints) -> None:
    """Results without a register that neither a condition nor the next instruction takes, where one soon behind takes a result:
    that is no longer this one."""
    flow, effects = lints.flow, lints.effects
    suspects = [
        (index, takers) for index, one in enumerate(effects)
        if one.pure and one.nowhere and not _taken(lints, index) and (takers := _takers(lints, index))
    ]
    if not suspects:
        return
    trails = lints.trails
    gain, lose = [0] * len(trails.nodes), [0] * len(trails.nodes)
    for point in range(len(trails.nodes)):
        executed = trails.executes(point)
        if executed is not None:
            gain[point], lose[point] = int(flow.facts[executed].reads_cc), int(flow.facts[executed].writes_cc)
    live = backward(trails.graph, gain, lose)
    for index, takers in suspects:
        if flow.facts[index].writes_cc and any(live[point] for point in trails.of_instruction[index]):
            continue
        lints.findings.warning(
            codes.RESULT_LOST, "this result is lost: it goes to no register, and something comes between it and what takes one",
            lints.origin(index), help="put it directly before the instruction that takes it, or leave it out",
            notes=(lints.note("this takes the result, or the first operand, of the instruction just before it", takers[0]),),
        )


def _taken(lints: Lints, index: int) -> bool:
    points = lints.trails.of_instruction[index]
    return any(_takes(lints, following) for point in points for following, _ in _next(lints, point))


def _takes(lints: Lints, index: int) -> bool:
    return lints.effects[index].takes_a or lints.effects[index].takes_result


def _takers(lints: Lints, index: int) -> list[int]:
    """The instructions up to `_NEAR` behind one, on any path, that take a result, and get another one."""
    out: dict[int, None] = {}
    places = set(lints.trails.of_instruction[index])
    for _ in range(_NEAR):
        following = {(one, place) for point in places for one, place in _next(lints, point)}
        out |= dict.fromkeys(sorted(one for one, _ in following if _takes(lints, one)))
        places = {place for one, place in following if not lints.effects[one].nowhere}
    return list(out)


def _next(lints: Lints, point: int) -> list[tuple[int, int]]:
    """The instructions that can execute just behind a point, with the points at which they do; none behind a guess."""
    out, seen = [], {point}
    queue = list(lints.trails.graph.successors[point])
    while queue:
        following = queue.pop()
        if following in seen or following in lints.trails.guesses:
            continue
        seen.add(following)
        index = lints.trails.executes(following)
        if index is not None:
            out.append((index, following))
        else:
            queue += lints.trails.graph.successors[following]
    return out
