"""What the lints of programs share: the paths, the effects of every instruction, and how places are named in messages."""

from __future__ import annotations

from dataclasses import dataclass

from ixpemu.asm.findings import Findings
from ixpemu.asm.flow import Flow
from ixpemu.asm.trails import Trails
from ixpemu.diagnostics import Note, Origin
from ixpemu.isa.model import Operand, Register
from ixpemu.isa.physical import format_operand
from ixpemu.isa.unseen import Unseen


@dataclass(frozen=True, slots=True)
class Lints:
    """The program that is looked at. `effects[i]` are those of instruction i."""

    flow: Flow
    trails: Trails
    effects: list[Unseen]
    findings: Findings

    def origin(self, index: int) -> Origin:
        """Where an instruction stands."""
        return self.flow.program.instructions[index].origin

    def note(self, text: str, index: int) -> Note:
        """A second place of a finding."""
        return Note(text, self.origin(index))

    def operand(self, index: int, place: int) -> Operand:
        """One operand of an instruction."""
        return self.flow.program.instructions[index].operation.operands[place]

    def operands(self, index: int, places: tuple[int, ...]) -> tuple[Operand, ...]:
        """Several operands of an instruction."""
        return tuple(self.operand(index, place) for place in places)

    def spelling(self, operand: Operand) -> str:
        """A register as the text has it."""
        symbol = self.flow.program.symbols.get((isinstance(operand, Register) and operand.name) or "")
        return f"`{symbol.spelling if symbol is not None else format_operand(operand)}`"
