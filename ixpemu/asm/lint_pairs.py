"""Waits for one signal of a pair, where the text gives signals their numbers: a name stands for both, a number only for itself.

In a program of names the allocator makes one wait for both; see `flow_warnings` for what can still go wrong there.
"""

from __future__ import annotations

from ixpemu import codes
from ixpemu.asm.lint_base import Lints
from ixpemu.isa.model import Signal


def check(lints: Lints) -> None:
    """Adds a warning for each wait that one signal of a pair ends too early."""
    alone, pairs = _raised(lints)
    waits = {index: _looked_at(lints, index) for index in range(len(lints.flow.facts))}
    anywhere = set().union(*waits.values())     # the two may be waited for one after the other
    for index, facts in enumerate(lints.flow.facts):
        for number in sorted(waits[index]) if facts.waits else ():
            half = number & ~1
            command = pairs.get(half)
            if command is None or {half, half + 1} & alone or number ^ 1 in anywhere:
                continue
            lints.findings.warning(
                codes.PAIR_HALF, f"this waits for s{number} alone, and s{half} and s{half + 1} come as a pair",
                lints.origin(index), help=f"wait for both, `s{half}, s{half + 1}`: the command is done when both have come",
                notes=(lints.note("this command raises both", command),),
            )


def _looked_at(lints: Lints, index: int) -> set[int]:
    """The numbers of the signals that an instruction waits for by name of its own, or tests."""
    facts = lints.flow.facts[index]
    places = [place for token, place in facts.waits if token is None] + ([facts.consumes] if facts.consumes is not None else [])
    signals = (lints.operand(index, place) for place in places)
    return {one.number for one in signals if isinstance(one, Signal) and one.number is not None and one.name is None}


def _raised(lints: Lints) -> tuple[set[int], dict[int, int]]:
    """The numbers of signals that commands raise alone; the even numbers of pairs, each with a command that raises it."""
    alone: set[int] = set()
    pairs: dict[int, int] = {}
    for index, facts in enumerate(lints.flow.facts):
        if facts.signal is None:
            continue
        token, argument = facts.signal
        signal = lints.flow.program.instructions[index].operation.tokens[token].arguments[argument]
        if isinstance(signal, Signal) and signal.number is not None and not facts.waits:
            if facts.signal_pair:
                pairs.setdefault(signal.number, index)
            else:
                alone.add(signal.number)
    return alone, pairs
