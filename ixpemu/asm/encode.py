"""From physical operations to 40-bit words, every refusal a diagnostic at the operand it is about.

The word layouts are isa/'s; here is only the way from a program's instructions to its words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ixpemu import codes
from ixpemu.asm.findings import Findings
from ixpemu.asm.program import Instruction, Program
from ixpemu.diagnostics import Diagnostic, Origin, Severity
from ixpemu.image import CONTROL_STORE_WORDS
from ixpemu.isa import EncodingError, InstructionSet
from ixpemu.isa.model import Operation, Register
from ixpemu.isa.physical import format_operand


def encode(
    program: Program, operations: Sequence[Operation], isa: InstructionSet, findings: Findings, store: int = CONTROL_STORE_WORDS
) -> list[int]:
    """The words of a program, one for each instruction in source order. Errors go to `findings`, with 0 as the word.

    `store`: words of the control store it has to fit.
    """
    _check_size(program, findings, store)
    words = []
    for instruction, operation in zip(program.instructions, operations, strict=True):
        if instruction.word is not None:
            words.append(instruction.word)
            continue
        try:
            words.append(isa.encode(operation, program.contexts))
        except EncodingError as error:
            findings.add(_refusal(error, program, instruction, operation))
            words.append(0)
    return words


def _check_size(program: Program, findings: Findings, store: int) -> None:
    excess = len(program.instructions) - store
    if excess > 0:
        findings.error(
            codes.IMAGE_TOO_LARGE,
            f"the program has {len(program.instructions):,} instructions and the control store {store:,} words",
            program.instructions[store].origin,
            help=f"this is the first of {excess:,} that do not fit: shorten it, or divide the work between microengines",
        )


def _refusal(error: EncodingError, program: Program, instruction: Instruction, operation: Operation) -> Diagnostic:
    """The encoder's message at the place in the source that it is about, in the source's own names."""
    origin: Origin = instruction.origin
    if error.token_index is not None and error.token_index < len(instruction.token_origins):
        origin = instruction.token_origins[error.token_index]
    elif error.operand_index is not None and instruction.operand_origins:
        # A wait widened to a pair has more operands than the text.
        origin = instruction.operand_origins[min(error.operand_index, len(instruction.operand_origins) - 1)]
    message = error.message
    for operand in operation.operands:
        if isinstance(operand, Register) and operand.name in program.symbols:
            place = re.escape(format_operand(operand))
            message = re.sub(rf"(?<![\w@$]){place}(?!\w)", f"`{program.symbols[operand.name].spelling}`", message)
    return Diagnostic(codes.ENCODING_REFUSED, message, Severity.ERROR, origin, error.help)
