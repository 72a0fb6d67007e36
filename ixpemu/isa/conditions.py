"""The instructions that tests at run time are made of, by what they do: compare, test a bit, branch on what was found.

Structured control (`.if`, `.while`) is written in terms of these, so that no mnemonic is known outside isa/. Which of them a
condition needs is decided in the assembler; what each does is said in the blocks of isa/.
"""

from __future__ import annotations

from enum import Enum

from ixpemu.isa.codecs_values import MASK32
from ixpemu.isa.model import Constant, Nothing, Operand, Operation, Register, RegisterClass, Signal, Target, Word
from ixpemu.isa.tables import port_of

SMALL = 255             # the largest constant of an ALU operand
MOST_RESTRICTED_OFFSET = 7      # of local memory in a restricted field
_NOWHERE = Nothing()
_UNRESTRICTED_ONLY = (RegisterClass.ABSOLUTE, RegisterClass.NEIGHBOR)


class Relation(Enum):
    """How two values compare."""

    EQUAL = "=="
    NOT_EQUAL = "!="
    LESS = "<"
    LESS_EQUAL = "<="
    GREATER = ">"
    GREATER_EQUAL = ">="

    def opposite(self) -> Relation:
        """What holds when this does not."""
        return _OPPOSITE[self]

    def exchanged(self) -> Relation:
        """What holds of b and a when this holds of a and b."""
        return _EXCHANGED.get(self, self)


_OPPOSITE = {
    Relation.EQUAL: Relation.NOT_EQUAL, Relation.NOT_EQUAL: Relation.EQUAL,
    Relation.LESS: Relation.GREATER_EQUAL, Relation.GREATER_EQUAL: Relation.LESS,
    Relation.LESS_EQUAL: Relation.GREATER, Relation.GREATER: Relation.LESS_EQUAL,
}
_EXCHANGED = {
    Relation.LESS: Relation.GREATER, Relation.GREATER: Relation.LESS,
    Relation.LESS_EQUAL: Relation.GREATER_EQUAL, Relation.GREATER_EQUAL: Relation.LESS_EQUAL,
}
_SIGNED = {
    Relation.EQUAL: "beq", Relation.NOT_EQUAL: "bne", Relation.LESS: "blt", Relation.GREATER_EQUAL: "bge",
    Relation.LESS_EQUAL: "ble", Relation.GREATER: "bgt",
}
# After a subtraction C is 1 if nothing was borrowed. There is no branch for the other two: the operands are exchanged.
_UNSIGNED = {
    Relation.EQUAL: "beq", Relation.NOT_EQUAL: "bne", Relation.LESS: "blo", Relation.GREATER_EQUAL: "bhs",
}


def branch(target: Target) -> Operation:
    """A branch always taken."""
    return Operation("br", (target,))


def branch_on(relation: Relation, signed: bool, target: Target) -> Operation:
    """A branch on the flags of the subtraction before it. Unsigned, only what `_UNSIGNED` holds can be asked."""
    return Operation((_SIGNED if signed else _UNSIGNED)[relation], (target,))


def branch_on_sign(negative: bool, target: Target) -> Operation:
    """A branch on the sign of the result before it."""
    return Operation("bmi" if negative else "bpl", (target,))


def branch_on_carry(carry: bool, target: Target) -> Operation:
    """A branch on the carry of the result before it."""
    return Operation("bcs" if carry else "bcc", (target,))


def branch_on_bit(register: Register, bit: int, is_set: bool, target: Target) -> Operation:
    """A branch on one bit of a register that fits a restricted field."""
    return Operation("br_bset" if is_set else "br_bclr", (register, Constant(bit), target))


def branch_on_byte(register: Register, byte: int, value: int, equal: bool, target: Target) -> Operation:
    """A branch on one byte of a register that fits a restricted field."""
    return Operation("br=byte" if equal else "br!=byte", (register, Constant(byte), Constant(value), target))


def branch_on_context(context: int, equal: bool, target: Target) -> Operation:
    """A branch on the number of the executing context."""
    return Operation("br=ctx" if equal else "br!=ctx", (Constant(context), target))


def branch_on_signal(signal: Signal, arrived: bool, target: Target) -> Operation:
    """A branch on a signal, which is cleared if it has arrived."""
    return Operation("br_signal" if arrived else "br_!signal", (signal, target))


def branch_on_input(state: Word, is_set: bool, target: Target) -> Operation:
    """A branch on a state input."""
    return Operation("br_inp_state" if is_set else "br_!inp_state", (state, target))


def operate(operator: str, first: Operand, second: Operand, destination: Operand = _NOWHERE) -> Operation:
    """An ALU operation that sets the flags: `+ - B-A AND AND~ OR XOR`, or `B` and `~B`, which have no first operand."""
    return Operation("alu", (destination, first, Word(operator), second))


def shifted(operator: str, first: Operand, second: Register, shift: str, destination: Operand = _NOWHERE) -> Operation:
    """A logical operation on restricted operands, the second one shifted first. It sets the flags."""
    return Operation("alu_shf", (destination, first, Word(operator), second, Word(shift)))


def move(destination: Register, source: Operand) -> Operation:
    """A copy; N and Z say what it was."""
    return operate("B", _NOWHERE, source, destination)


def test(source: Operand) -> Operation:
    """The flags N and Z of a value that goes nowhere."""
    return operate("B", _NOWHERE, source)


def load(destination: Register, value: int) -> tuple[Operation, ...]:
    """The one or two instructions that load a constant of 32 bits; flags stay."""
    value &= MASK32
    if any(wanted == wanted & 0xFFFF << position for wanted in (value, value ^ MASK32) for position in (0, 8, 16)):
        return (Operation("immed", (destination, Constant(value))),)
    return (
        Operation("immed", (destination, Constant(value & 0xFFFF))),
        Operation("immed_w1", (destination, Constant(value >> 16))),
    )


def load_later(destination: Register, constant: Constant) -> Operation:
    """The instruction that loads a constant whose value is not known yet."""
    return Operation("immed", (destination, constant))


def fits_restricted(register: Register) -> bool:
    """Whether a register can stand in the restricted fields of shifts and of branches on a bit or a byte."""
    if register.cls is RegisterClass.LOCAL_MEMORY:
        return not register.post and (register.number or 0) <= MOST_RESTRICTED_OFFSET
    return register.cls not in _UNRESTRICTED_ONLY


def never_together(first: Register, second: Register) -> bool:
    """Whether no allocation lets one instruction read both: they come through one port, or are one register."""
    if first.cls in (RegisterClass.GPR, RegisterClass.ABSOLUTE):
        return first == second
    return port_of(first) == port_of(second)
