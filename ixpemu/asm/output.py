"""Where the instructions of a program are collected while its text is read: each takes the labels and flow facts before it.

It also gives names to the labels and registers that structured control needs, and can say whether control comes to the place
where the next instruction will be. What instructions mean is not known here but to isa/.
"""

from __future__ import annotations

from ixpemu.asm.program import FlowFact, Instruction, Program, Symbol
from ixpemu.asm.scope import Labels, Scopes
from ixpemu.isa import InstructionSet
from ixpemu.isa.model import Register, RegisterClass, Target

_MOST_SLOTS = 3


class Output:
    """The instructions so far. `facts` collects flow facts until the next instruction takes them."""

    def __init__(self, program: Program, labels: Labels, scopes: Scopes, isa: InstructionSet) -> None:
        self.facts: list[FlowFact] = []
        self.expansion = 0                  # of the statement that instructions come from
        self._program = program
        self._labels = labels
        self._scopes = scopes
        self._isa = isa
        self._pending: list[str] = []
        self._made = 0
        self._used: set[str] = set()

    def add(self, instruction: Instruction) -> None:
        """Appends an instruction."""
        instruction.labels, instruction.facts = tuple(self._pending), tuple(self.facts)
        instruction.expansion = self.expansion
        self._pending, self.facts = [], []
        self._program.instructions.append(instruction)
        self._used |= {operand.name for operand in instruction.operation.operands if isinstance(operand, Target) and operand.name}

    def place(self, label: str) -> None:
        """Puts a label, by its unique name, before the next instruction."""
        self._labels.place(label, len(self._program.instructions))
        self._pending.append(label)

    def place_if_used(self, label: str) -> None:
        """`place`, for a label that is good for nothing if no instruction so far names it."""
        if label in self._used:
            self.place(label)

    def new_label(self, word: str) -> str:
        """The unique name of a label that no text can name: `s0004!else#`. `place` puts it somewhere."""
        self._made += 1
        label = f"s{self._made:04d}!{word}#"
        self._program.made_labels.add(label)
        return label

    def value(self, number: int) -> Register:
        """The register for intermediate value `number`, counted from 1: one name, and a live range for each use of it."""
        spelling = f"(value {number})"
        name = f"l0000!{spelling}"
        self._scopes.symbols.setdefault(name, Symbol(name, spelling, RegisterClass.GPR, declared=False))
        return Register(RegisterClass.GPR, name=name)

    @property
    def reached(self) -> bool:
        """Whether control may come here: a label is here, or nothing before it leads elsewhere for good."""
        instructions = self._program.instructions
        last = len(instructions) - 1
        if self._pending or last < 0:
            return True
        for index in range(max(0, last - _MOST_SLOTS), last + 1):
            facts = self._isa.facts(instructions[index].operation) if instructions[index].word is None else None
            if facts is None or not facts.ends or index + facts.defer != last:
                continue
            return any(slot.labels for slot in instructions[index + 1:])    # whoever jumps into the slots goes on behind them
        return True
