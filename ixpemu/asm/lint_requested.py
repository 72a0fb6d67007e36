"""Warnings that are only given on request: habits of other chips, and precautions that a program may take in other ways.

`codes.ON_REQUEST` lists them; `#pragma warning(enable:NUMBER)` asks for one.
"""

from __future__ import annotations

from ixpemu import codes
from ixpemu.asm.lint_base import Lints
from ixpemu.asm.program import Deferred
from ixpemu.isa import InstructionSet
from ixpemu.isa.known import known_result, known_value
from ixpemu.isa.model import Constant, Operand
from ixpemu.isa.unseen import ring_of, ring_status


def check(lints: Lints, isa: InstructionSet) -> None:
    """Adds a warning for each of them that is wanted at its place."""
    for index, effects in enumerate(lints.effects):
        if effects.waits_for_good and lints.findings.wants(codes.KILL_FETCHED, lints.origin(index)):
            _fetched(lints, index)
        if effects.puts_on_ring is not None and lints.findings.wants(codes.RING_UNTESTED, lints.origin(index)):
            _untested(lints, isa, index, effects.puts_on_ring)


def _fetched(lints: Lints, index: int) -> None:
    """Whether it stands where the fetches lie that a taken branch throws away."""
    for before in range(index - 1, max(-1, index - 4), -1):
        facts = lints.flow.facts[before]
        if facts.branch is not None and facts.branch.conditional and index - before <= facts.aborted:
            lints.findings.warning(
                codes.KILL_FETCHED,
                "this is fetched, and thrown away, where the branch before it is taken; an IXP12xx stops all the same",
                lints.origin(index), notes=(lints.note("the branch", before),),
                help=f"put {facts.aborted - (index - before) + 1} nop before it if the program is for such a chip too",
            )
            return


def _untested(lints: Lints, isa: InstructionSet, index: int, places: tuple[int, int]) -> None:
    """Whether no path to a put has tested the status of its ring; of any ring, if its number is not known."""
    address = [_value(lints, isa, one) for one in lints.operands(index, places)]
    known = [value for value in address if value is not None]
    ring = ring_of(sum(known)) if len(known) == len(address) else None
    status = None if ring is None else ring_status(isa, ring)
    if ring is not None and status is None:
        lints.findings.warning(
            codes.RING_UNTESTED, f"ring {ring} has no status that could tell whether there is room", lints.origin(index),
            help="use one of the rings 0 to 11, or count what is on the ring",
        )
        return
    statuses = {ring_status(isa, one) for one in range(16)} - {None} if status is None else {status}
    trails = lints.trails
    gain = [0] * len(trails.nodes)
    for point in range(len(trails.nodes)):
        executed = trails.executes(point)
        if executed is not None and lints.effects[executed].tests_input in statuses:
            gain[point] = 1
    arriving = trails.forward(gain, [0] * len(gain))
    points = trails.of_instruction[index]
    if points and not any(arriving[point] for point in points):
        name = "any ring" if ring is None else f"ring {ring}"
        lints.findings.warning(
            codes.RING_UNTESTED, f"nothing tests whether there is room on {name} before this put", lints.origin(index),
            help=f"test it with br_inp_state[{status or 'SCR_RING0_STATUS'}, label#], and leave room for what other contexts put",
        )


def _value(lints: Lints, isa: InstructionSet, operand: Operand) -> int | None:
    """The value of a constant, or of a register that a single instruction sets, to a constant."""
    if isinstance(operand, Constant):
        return None if isinstance(operand, Deferred) else operand.value
    facts, instructions = lints.flow.facts, lints.flow.program.instructions
    writers = [
        index for index, own in enumerate(facts) if any(lints.operand(index, place) == operand for place in own.writes)
    ]
    if len(writers) != 1 or any(one.name == getattr(operand, "name", None) for item in instructions for one in item.facts):
        return None
    return known_value(known_result(isa, instructions[writers[0]].operation))
