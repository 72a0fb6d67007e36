"""The paths through a program in the control store, worked out from its words alone: which instruction may follow which, and
where the microengine is given up between two.

Not the assembler's flow graph, which knows registers by name: this one reads words of any origin. A computed jump may go to every
address that some immed of the program holds, or from the first base of any on to the end; a branch in a defer slot counts as not
taken. A branch on the context number is decided, for the context that the paths are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ixpemu.isa.blocks import Decoded
from ixpemu.isa.semantics import evaluate

Place = tuple[int, int, tuple[int, ...], bool]
"""An instruction as it is reached: its address, how many defer slots are left with it (0: it is in none), where control goes
behind the last one (an empty tuple: on), and whether the microengine is given up there."""

# Where computed jumps meet before they go on to all their targets: without it every one would lead to every target.
RETURNS, TABLES = -2, -3


@dataclass(frozen=True, slots=True)
class Edge:
    """A step to the instruction at `place`; `swapped`: the microengine is given up between."""

    place: Place
    swapped: bool


class Paths:
    """The paths of one context through a program. `program`: its words, read; None for what is no instruction."""

    def __init__(self, program: Sequence[Decoded | None], context: int) -> None:
        self._program = program
        self._context = context
        held = {step.values["value"] for step in program if step is not None and step.variant.private and "value" in step.values}
        computed = sorted(value for value in held if 0 <= value < len(program)) or list(range(len(program)))
        bases = [step.values.get("target", 0) for step in program
                 if step is not None and step.facts.branch is not None and step.facts.branch.indirect]
        first = min((base for base in bases if base), default=len(program))
        self._hubs = {RETURNS: computed, TABLES: list(range(first, len(program)))}

    @property
    def entry(self) -> Place:
        return (0, 0, (), False)

    def at(self, place: Place) -> Decoded | None:
        """The instruction of a place; None behind the end, for what is none, and where paths of computed jumps meet."""
        return self._program[place[0]] if 0 <= place[0] < len(self._program) else None

    def after(self, place: Place) -> Iterator[Edge]:
        """What may follow."""
        for target in self._hubs.get(place[0], ()):
            yield Edge((target, 0, (), False), False)
        step = self.at(place)
        if step is None:
            return
        address, slots, targets, swaps = place
        following = address + 1
        if slots:
            if slots > 1:
                yield Edge((following, slots - 1, targets, swaps), False)
            else:
                for target in targets or (following,):
                    yield Edge((target, 0, (), False), swaps)
            return
        facts, defer = step.facts, step.value("defer")
        if facts.swaps:
            resume = (step.value("target"),) if step.value("resume") else ()
            if defer:
                yield Edge((following, defer, resume, True), False)
            else:
                yield Edge(((resume or (following,))[0], 0, (), False), True)
            return
        if facts.branch is None:
            if not facts.ends:
                yield Edge((following, 0, (), False), False)
            return
        to = step.value("target")
        taken = (to if not facts.branch.indirect else TABLES if to else RETURNS,)
        decided = self._decided(step)
        if decided is not False:
            if defer:
                yield Edge((following, defer, taken, False), False)
            else:
                for target in taken:
                    yield Edge((target, 0, (), False), False)
        if facts.branch.conditional and decided is not True:
            yield Edge((following, 0, (), False), False)

    def _decided(self, step: Decoded) -> bool | None:
        """Whether a branch on the context number is taken; None for any other."""
        if step.variant.reads & {"ctx"} == frozenset() or "context" not in step.values:
            return None
        return evaluate(step.variant.statements, {"ctx": self._context, "context": step.values["context"]}).taken


def depends_on_context(program: Sequence[Decoded | None]) -> bool:
    """Whether contexts may take different paths by their number."""
    return any(step is not None and "context" in step.values for step in program)
