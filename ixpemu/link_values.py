"""Gives values to the names that an image leaves open, and puts them into its words and initial values.

Where the values come from, an allocation of memory, other images or the user, is somebody else's matter: `resolve` takes them as
numbers. What it is not given stays open.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ixpemu import codes
from ixpemu.diagnostics import user_error
from ixpemu.image import Image
from ixpemu.image_links import MASK, Check, Fixup, Initial, Links, evaluate, names_in, unknown_names
from ixpemu.isa import EncodingError, instruction_set, parse_physical_instruction
from ixpemu.isa.model import Constant, Operation


def resolve(image: Image, values: Mapping[str, int]) -> Image:
    """The image with `values` put in: imports, addresses of named memory in bytes, `remote:name@me` numbers. UserError for names
    that the image does not have, and for a value that does not fit the word that it belongs in, with the line of the source."""
    links = image.links
    for name in unknown_names(values, links):
        names = [*links.imports, *(one.name for one in links.memories), *links.unresolved()]
        near = difflib.get_close_matches(name, names, 1)
        advice = f"did you mean {near[0]!r}?" if near else None
        raise user_error(codes.LINK_NAME, f"the image has no open name {name!r}", help=advice)
    for name, value in values.items():
        if not -(1 << 31) <= value <= MASK:
            raise user_error(codes.LINK_VALUE, f"{name} is {value}, and a value has 32 bits")
    memories = tuple(replace(one, address=values.get(one.name, one.address)) for one in links.memories)
    for memory in memories:
        if memory.address is not None and memory.address % memory.align:
            raise user_error(
                codes.LINK_VALUE, f"{memory.name} is at {memory.address:#x}, which is no multiple of {memory.align}",
                help="its declaration asks for that",
            )
    known = {one.name: one.address for one in memories if one.address is not None} | dict(values)
    words, left = list(image.values), []
    for fixup in links.fixups:
        found = [(operand, _value(image, fixup.address, expression, known)) for operand, expression in fixup.values]
        numbers = [(operand, value) for operand, value in found if value is not None]
        if len(numbers) == len(found):
            words[fixup.address] = _word(image, fixup, numbers)
        else:
            left.append(fixup)
    initial = tuple(_known_values(image, one, known) for one in links.initial)
    found_links = Links(links.imports, memories, links.exports, tuple(left), initial, _checks(links.checks, known))
    return replace(image, values=tuple(words), links=found_links)


def _checks(checks: Sequence[Check], known: Mapping[str, int]) -> tuple[Check, ...]:
    """The assertions that cannot be checked yet. UserError for one that does not hold."""
    left = []
    for check in checks:
        try:
            value = evaluate(check.expression, known)
        except ZeroDivisionError:
            value = 0
        if value is None:
            left.append(check)
        elif not value:
            shown = ", ".join(f"{name} = {known[name]:#x}" for name in dict.fromkeys(names_in(check.expression)))
            raise user_error(
                codes.ASSERTION, f"this does not hold: {check.message}", file=check.file, line=check.line, help=f"here {shown}"
            )
    return tuple(left)


def _file_and_line(image: Image, address: int | None) -> tuple[str | None, int]:
    if address is None or address >= len(image.debug):
        return None, 1
    return image.debug[address].place.file, image.debug[address].place.line


def _value(image: Image, address: int | None, expression: str, known: Mapping[str, int]) -> int | None:
    try:
        return evaluate(expression, known)
    except ZeroDivisionError:
        file, line = _file_and_line(image, address)
        text = f"`{expression}` divides by zero with these values"
        raise user_error(codes.LINK_VALUE, text, file=file, line=line) from None


def _known_values(image: Image, initial: Initial, known: Mapping[str, int]) -> Initial:
    values = []
    for expression in initial.values:
        value = _value(image, None, expression, known)
        values.append(expression if value is None else str(value))
    return replace(initial, values=tuple(values))


def _word(image: Image, fixup: Fixup, numbers: list[tuple[int, int]]) -> int:
    """The word of an instruction with its constants."""
    operation = parse_physical_instruction(fixup.text)
    operands = list(operation.operands)
    for operand, value in numbers:
        operands[operand] = Constant(value)
    try:
        return instruction_set().encode(Operation(operation.mnemonic, tuple(operands), operation.tokens), image.contexts)
    except EncodingError as error:
        expressions = dict(fixup.values)
        which = ", ".join(f"`{expressions[operand]}` is {value:#x}" for operand, value in numbers)
        file, line = _file_and_line(image, fixup.address)
        raise user_error(codes.LINK_VALUE, f"{which}: {error.message}", file=file, line=line, help=error.help) from error
