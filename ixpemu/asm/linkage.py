"""What an image says to the linker and the loader: open constants, named memory, visible names and initial values, in their form
of `ixpemu.image_links`. It is put together from a finished allocation, and decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ixpemu.asm.allocate import Allocation, LeftOpen, address_of
from ixpemu.asm.expressions import evaluate, is_linked, postfix
from ixpemu.asm.findings import Findings
from ixpemu.asm.flow import file_of
from ixpemu.asm.places import place_text, registers
from ixpemu.asm.program import Half, InitialValues, Program
from ixpemu.codes import ASSERTION
from ixpemu.image_links import Check, Export, Fixup, Initial, Links
from ixpemu.isa import InstructionSet
from ixpemu.isa.model import Operation, Target


def links_of(
    allocation: Allocation, operations: Sequence[Operation], left_open: LeftOpen, isa: InstructionSet, findings: Findings
) -> Links:
    """All that is left to the linker and the loader."""
    program = allocation.program
    fixups = tuple(
        Fixup(index, isa.format(_numbered(operations[index])), tuple(values)) for index, values in sorted(left_open.items())
    )
    initial = tuple(one for values in program.initial for one in _initial(allocation, values))
    exports, checks = _exports(allocation, program), _checks(allocation, findings)
    return Links(tuple(program.imports), tuple(program.memories), exports, fixups, initial, checks)


def _checks(allocation: Allocation, findings: Findings) -> tuple[Check, ...]:
    """The assertions that the linker has to check; those that are known now are checked here."""
    number_of, out = address_of(allocation), []
    for check in allocation.program.checks:
        expression, span = postfix(check.expression, number_of), check.origin.span
        if is_linked(check.expression):
            out.append(Check(expression, check.message, span.file, span.line))
        elif not evaluate(check.expression, number_of):
            findings.error(ASSERTION, f"this does not hold: {check.message}", check.origin)
    return tuple(out)


def _numbered(operation: Operation) -> Operation:
    """The operation with addresses in place of labels, which nobody knows any more when it is read again."""
    operands = tuple(replace(one, name=None) if isinstance(one, Target) else one for one in operation.operands)
    return replace(operation, operands=operands)


def _exports(allocation: Allocation, program: Program) -> tuple[Export, ...]:
    """The visible names with their places."""
    places = registers(allocation)
    out = []
    for symbol in program.symbols.values():
        if symbol.visible:
            kind = "register" if symbol.half is Half.BOTH else symbol.half.value
            out.append(Export(symbol.spelling, kind, places[symbol.name]))
    out += [Export(one.spelling, "signal", places[one.name]) for one in program.signals.values() if one.visible]
    return tuple(out)


def _initial(allocation: Allocation, given: InitialValues) -> list[Initial]:
    """Initial values with the place of their register; none for a register that nothing reads."""
    values = tuple(postfix(value, address_of(allocation)) for value in given.values)
    if given.kind != "register":
        return [Initial(given.kind, given.target, values, given.offset, given.context)]
    webs = allocation.webs
    if webs is None:
        return []
    symbol = allocation.program.symbols[given.target]
    file = file_of(symbol.cls, given.half is Half.WRITE)
    found: dict[str, None] = {}
    for number, occurrence in enumerate(webs.flow.occurrences):
        variable = webs.flow.variables[occurrence.variable]
        if occurrence.writes and occurrence.origin == given.origin and variable.name == given.target and variable.file is file:
            found[place_text(allocation.places[webs.of_occurrence[number]], file)] = None
    return [Initial("register", place, values, given.offset, given.context) for place in found]
