"""The values that a run-time condition compares: registers, constants, and what is computed from them on the way.

Constants that no operand holds, and operands that cannot be read together, go through registers of their own. Every instruction
made here stands under the line of the condition. What is done with the values is `conditions`' work.
"""

from __future__ import annotations

from ixpemu.asm.expressions import MASK, AddressKind, AddressOf
from ixpemu.asm.findings import Findings
from ixpemu.asm.operand_place import OperandPlace, Refused
from ixpemu.asm.operands import OperandReader
from ixpemu.asm.output import Output
from ixpemu.asm.program import Deferred, Instruction
from ixpemu.asm.source import Line
from ixpemu.asm.syntax import Node
from ixpemu.codes import CONDITION
from ixpemu.diagnostics import Origin
from ixpemu.isa import conditions as make
from ixpemu.isa.conditions import SMALL
from ixpemu.isa.model import Constant, Nothing, Operand, Operation, Register

_OPERATORS = {"&": "AND", "|": "OR", "^": "XOR", "+": "+", "-": "-"}
_SHIFTS = ("<<", ">>")
_NUMBERED = (AddressKind.REGISTER, AddressKind.SIGNAL)      # small numbers, whatever they are
_CONSTANT_LEAVES = ("number", "label_address", "address", "linked")
_OPERATED = ("unary", "binary", "conditional", "parenthesis")
WIDTH = 32

Value = Register | Constant


def strip(node: Node) -> Node:
    """The node without parentheses around it."""
    while node.kind == "parenthesis":
        node = node.children[0]
    return node


def is_known(value: Operand) -> bool:
    """Whether it is a constant whose number is known already."""
    return isinstance(value, Constant) and not isinstance(value, Deferred)


class Values:
    """Reads and computes the values of one condition, which is on `line`."""

    def __init__(self, line: Line, operands: OperandReader, output: Output, findings: Findings) -> None:
        self.line = line
        self.operands = operands
        self._output = output
        self._findings = findings
        self._origins: dict[Operand, Origin] = {}
        self._leaf = line.whole()
        self._made = 0

    def begin(self, node: Node) -> None:
        """Says which part of the condition the next instructions are for."""
        self._leaf = self.line.origin(node.start, node.end)
        self._origins = {}
        self._made = 0

    @property
    def place(self) -> Origin:
        """The part of the condition that is at hand."""
        return self._leaf

    def emit(self, operation: Operation) -> None:
        """Writes an instruction."""
        origins = tuple([self._origins.get(operand, self._leaf) for operand in operation.operands])
        self._output.add(Instruction(operation, self._leaf, origins, source=" ".join(self.line.text.split())))

    def refuse(self, node: Node, message: str, help: str | None = None) -> Refused:
        """Adds a message about part of a condition; the exception that says so."""
        self._findings.error(CONDITION, message, self.line.origin(node.start, node.end), help=help)
        return Refused()

    def is_constant(self, node: Node) -> bool:
        """Whether no register is in an expression."""
        node = self.operands.meant(node)
        if node.kind in _OPERATED:
            return all(self.is_constant(child) for child in node.children)
        return node.kind in _CONSTANT_LEAVES

    def constant(self, node: Node, what: str = "this part of the condition") -> Constant:
        """The value of an expression without registers."""
        return self.operands.constant_or_refuse(self.line, node, what)

    def known(self, node: Node, low: int, high: int, what: str) -> int:
        """A number between two others that must be known now."""
        if self.is_constant(node):
            constant = self.constant(node, what)
            if is_known(constant) and low <= constant.value <= high:
                return constant.value
        text = self.line.text[node.start:node.end]
        raise self.refuse(node, f"{what} is a number from {low} to {high} that is known here, not `{text}`")

    def value(self, node: Node) -> Value:
        """The register or constant that an expression stands for, computed into a register if need be."""
        node = self.operands.meant(strip(node))
        if self.is_constant(node):
            value: Value = self.constant(node)
        elif node.kind in ("name", "member", "indexed"):
            value = self.operands.source(OperandPlace(self.line, node, "an operand of the condition"))
        else:
            destination = self.new()
            self.compute(node, destination)
            value = destination
        self._origins.setdefault(value, self.line.origin(node.start, node.end))
        return value

    def compute(self, node: Node, destination: Register | None) -> None:
        """Writes the instructions for an expression of registers; the last one sets N and Z by it. None: the flags alone."""
        node = strip(node)
        target: Operand = Nothing() if destination is None else destination
        if node.kind == "unary" and node.text in "~-+":
            value = self.register(self.value(node.children[0]))
            match node.text:
                case "~":
                    self.emit(make.operate("~B", Nothing(), value, target))
                case "-":
                    self.emit(make.operate("B-A", value, Constant(0), target))
                case _:
                    self.emit(make.operate("B", Nothing(), value, target))
            return
        if node.kind == "binary" and node.text in _SHIFTS:
            amount = self.known(node.children[1], 0, WIDTH - 1, "the amount of a shift")
            register = self.register(self.value(node.children[0]))
            if amount:
                self.emit(make.shifted("B", Nothing(), self.restricted(register), f"{node.text}{amount}", target))
            else:
                self.emit(make.operate("B", Nothing(), register, target))
            return
        if node.kind != "binary" or node.text not in _OPERATORS:
            raise self._not_computed(node)
        left, right = (self.value(child) for child in node.children)
        if isinstance(left, Constant) and node.text != "-":
            left, right = right, left
        self.emit(self._operation(node.text, left, right, target))

    def _not_computed(self, node: Node) -> Refused:
        text = self.line.text[node.start:node.end]
        if node.kind == "call":
            return self.refuse(
                node, f"nothing can be computed of `{text}`", "BYTE() and CTX() are compared; the others are true or false"
            )
        if node.kind == "unary" or node.text in ("&&", "||", "==", "!=", "<", "<=", ">", ">="):
            return self.refuse(node, f"`{text}` is true or false and no number", "join comparisons with `&&`, `||` and `!`")
        if node.kind == "nothing" or node.kind == "string":
            return self.refuse(node, f"`{text}` has no value", "a condition compares registers and constants")
        sign = "? :" if node.kind == "conditional" else node.text
        return self.refuse(
            node, f"a condition cannot compute `{sign}` of registers",
            "it knows + - & | ^ ~ and shifts by constants; compute the rest in a register before it",
        )

    def _operation(self, sign: str, left: Value, right: Value, target: Operand) -> Operation:
        """`left sign right` as one instruction, after others that make its operands fit."""
        operator = _OPERATORS[sign]
        if isinstance(left, Constant) and sign == "-":      # constant - register
            return make.operate("B-A", self.register(right), self.small(left), target)
        if is_known(right) and isinstance(right, Constant) and right.value > SMALL:
            if sign == "&" and right.value ^ MASK <= SMALL:
                return make.operate("AND~", left, Constant(right.value ^ MASK), target)
            if sign in "+-" and -right.value & MASK <= SMALL:
                return make.operate("-" if sign == "+" else "+", left, Constant(-right.value & MASK), target)
        return make.operate(operator, *self.together(left, right), target)

    def together(self, left: Value, right: Value) -> tuple[Value, Value]:
        """Two operands of one ALU instruction, at least one of them a register, the constants small."""
        if isinstance(left, Constant):
            return self.small(left), right
        if isinstance(right, Constant):
            return left, self.small(right)
        return (self.copy(left), right) if make.never_together(left, right) else (left, right)

    def small(self, constant: Value) -> Value:
        """A constant that an ALU operand holds, or the register that it has been loaded into."""
        if not isinstance(constant, Constant):
            return constant
        if isinstance(constant, Deferred):
            if isinstance(constant.expression, AddressOf) and constant.expression.kind in _NUMBERED:
                return constant
            register = self.new()
            self.emit(make.load_later(register, constant))
            return register
        return constant if constant.value <= SMALL else self.loaded(constant.value)

    def loaded(self, number: int) -> Register:
        """A register into which a constant has been loaded."""
        register = self.new()
        for operation in make.load(register, number):
            self.emit(operation)
        return register

    def register(self, value: Value) -> Register:
        """The value as a register."""
        if isinstance(value, Register):
            return value
        found = self.small(value)
        return found if isinstance(found, Register) else self.loaded(value.value)

    def copy(self, register: Register) -> Register:
        """A copy in a register of its own, which any instruction can read beside any other."""
        copied = self.new()
        self.emit(make.move(copied, register))
        return copied

    def restricted(self, register: Register) -> Register:
        """The register, or a copy of it that fits the restricted fields."""
        return register if make.fits_restricted(register) else self.copy(register)

    def new(self) -> Register:
        """A register for one more value of this part of the condition."""
        self._made += 1
        return self._output.value(self._made)
