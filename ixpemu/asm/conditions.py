"""Run-time conditions, from their expression to the shortest instructions that branch on it.

A condition is read from left to right and left as soon as it is decided. What one branch can test is tested by it (a bit, a
byte, the context, a signal, an input); the rest is an ALU operation and a branch on its flags. Where the branches lead, and what
stands between them, is `control`'s; how values are read and computed, `condition_values`'.
"""

from __future__ import annotations

from ixpemu.asm.condition_values import WIDTH, Value, Values, is_known, strip
from ixpemu.asm.expressions import MASK, signed
from ixpemu.asm.findings import Findings
from ixpemu.asm.operand_place import OperandPlace
from ixpemu.asm.operands import OperandReader
from ixpemu.asm.output import Output
from ixpemu.asm.source import Line
from ixpemu.asm.syntax import Node
from ixpemu.codes import CONDITION_ALWAYS
from ixpemu.isa import conditions as make
from ixpemu.isa.conditions import SMALL, Relation
from ixpemu.isa.model import Constant, Nothing, Register, Signal, Target

_RELATIONS = {relation.value: relation for relation in Relation}
_ORDERS = (Relation.LESS, Relation.LESS_EQUAL, Relation.GREATER, Relation.GREATER_EQUAL)
_CONTEXTS = 8
_SIGN = WIDTH - 1
_BYTE = 0xFF
# What is written like a function: how many arguments it has, and how it is written.
_PREDICATES = {
    "ctx": (0, "CTX() == n"), "cout": (0, "COUT"), "signal": (1, "SIGNAL(signal)"), "inp_state": (1, "INP_STATE(state)"),
    "bit": (2, "BIT(register, n)"), "byte": (2, "BYTE(register, n) == value"),
}
_NUMBERS = ("ctx", "byte")          # these are compared; the others are true or false


class Condition:
    """Writes the branches of the condition of one line. `signed`: how its comparisons read numbers."""

    def __init__(self, line: Line, signed: bool, operands: OperandReader, output: Output, findings: Findings) -> None:
        self._values = Values(line, operands, output, findings)
        self._line = line
        self._signed = signed
        self._operands = operands
        self._output = output
        self._findings = findings

    def branch(self, node: Node, when: bool, label: str) -> None:
        """Writes a branch to `label`, taken if the condition is `when`. Raises `Refused` after a message."""
        node = self._operands.meant(strip(node))
        if node.kind == "unary" and node.text == "!":
            self.branch(node.children[0], not when, label)
        elif node.kind == "binary" and node.text in ("&&", "||"):
            left, right = node.children
            if (node.text == "||") is when:         # either decides it
                self.branch(left, when, label)
                self.branch(right, when, label)
            else:
                otherwise = self._output.new_label("decided")
                self.branch(left, not when, otherwise)
                self.branch(right, when, label)
                self._output.place(otherwise)
        else:
            self._values.begin(node)
            self._leaf(node, when, Target(None, label))

    def _leaf(self, node: Node, when: bool, target: Target) -> None:
        """What has no `!`, `&&` or `||` outside."""
        if node.kind == "binary" and node.text in _RELATIONS:
            relation = _RELATIONS[node.text]
            self._relation(node, relation if when else relation.opposite(), target)
            return
        name = self._predicate(node)
        if name is not None and name not in _NUMBERS:
            self._test(name, node, when, target)
        elif name is None and self._values.is_constant(node) and is_known(constant := self._values.constant(node)):
            self._always(bool(constant.value) is when, target)
        else:
            zero = node._replace(kind="number", text="0", children=())
            self._compare(node, Relation.NOT_EQUAL if when else Relation.EQUAL, zero, target)

    def _always(self, taken: bool, target: Target) -> None:
        if taken and self._output.reached:
            self._values.emit(make.branch(target))

    # Predicates

    def _predicate(self, node: Node) -> str | None:
        """The name of the predicate that a node is, in lower case, its arguments checked."""
        name = node.text.lower()
        if node.kind == "name" and name == "cout" and not self._operands.is_register(node.text):
            return name
        if node.kind != "call":
            return None
        if name not in _PREDICATES:
            forms = ", ".join(f"`{form}`" for _, form in _PREDICATES.values())
            raise self._values.refuse(node, f"there is no predicate `{node.text}`", f"conditions know {forms}")
        count, form = _PREDICATES[name]
        if len(node.children) != count:
            takes = {0: "no argument", 1: "one argument"}.get(count, f"{count} arguments")
            raise self._values.refuse(node, f"`{node.text}` takes {takes}, not {len(node.children)}", f"it is written `{form}`")
        return name

    def _test(self, name: str, node: Node, when: bool, target: Target) -> None:
        """A branch on a predicate that is true or false."""
        if name == "cout":
            self._values.emit(make.branch_on_carry(when, target))
        elif name == "bit":
            register = self._register_of(node)
            bit = self._values.known(node.children[1], 0, _SIGN, "the number of a bit")
            self._values.emit(make.branch_on_bit(self._values.restricted(register), bit, when, target))
        else:
            place = OperandPlace(self._line, self._operands.meant(node.children[0]), f"the argument of `{node.text}`")
            if name == "signal":
                signal = self._operands.signal(place)
                if isinstance(signal, Signal):
                    self._values.emit(make.branch_on_signal(signal, when, target))
            else:
                self._values.emit(make.branch_on_input(self._operands.input_state(place), when, target))

    def _register_of(self, node: Node) -> Register:
        """The first argument of BIT or BYTE, which may be computed."""
        value = self._values.value(node.children[0])
        if isinstance(value, Constant):
            raise self._values.refuse(node.children[0], f"the first argument of `{node.text}` is a register")
        return value

    # Comparisons

    def _relation(self, node: Node, relation: Relation, target: Target) -> None:
        """A comparison, whose sides may be exchanged, or be true or false themselves."""
        left, right = (self._operands.meant(strip(child)) for child in node.children)
        if self._is_boolean(right):
            left, right, relation = right, left, relation.exchanged()
        if self._is_boolean(left):
            self._against_truth(node, left, relation, right, target)
        elif self._predicate(right) == "ctx" or (self._values.is_constant(left) and not self._values.is_constant(right)):
            self._compare(right, relation.exchanged(), left, target)
        else:
            self._compare(left, relation, right, target)

    def _is_boolean(self, node: Node) -> bool:
        if node.kind == "unary":
            return node.text == "!"
        if node.kind == "binary":
            return node.text in _RELATIONS or node.text in ("&&", "||")
        return self._predicate(node) not in (None, *_NUMBERS)

    def _against_truth(self, node: Node, truth: Node, relation: Relation, other: Node, target: Target) -> None:
        """`SIGNAL(s) == 0` and its like."""
        number = self._values.constant(other).value if self._values.is_constant(other) else None
        if relation in _ORDERS or number not in (0, 1):
            raise self._values.refuse(
                node, f"`{self._text(truth)}` is true or false, and `{self._text(node)}` takes it for a number",
                "compare it with nothing, or with 0 or 1 by == or !=",
            )
        when = bool(number) is (relation is Relation.EQUAL)
        if target.name is not None:
            self.branch(truth, when, target.name)

    def _text(self, node: Node) -> str:
        return self._line.text[node.start:node.end]

    def _compare(self, left: Node, relation: Relation, right: Node, target: Target) -> None:
        """A branch taken if two values compare so; a constant is on the right if there is one."""
        name = self._predicate(left)
        if name == "ctx":
            self._context(left, relation, right, target)
            return
        constant = self._values.constant(right) if self._values.is_constant(right) else None
        if constant is not None and is_known(constant) and self._with_known(left, relation, constant.value, target):
            return
        first = self._extracted(left) if name == "byte" else self._values.value(left)
        if constant is not None and is_known(constant) and isinstance(first, Register):
            self._with_number(left, first, relation, constant.value, target)
            return
        second = self._extracted(right) if self._predicate(right) == "byte" else self._values.value(right)
        if isinstance(first, Constant) and isinstance(second, Constant):
            first = self._values.register(first)
        self._values_compared(first, relation, second, target)

    def _with_known(self, left: Node, relation: Relation, number: int, target: Target) -> bool:
        """Whether the left side is of a kind that is compared with a number in a way of its own, and was."""
        if self._values.is_constant(left):
            known = self._values.constant(left)
            if is_known(known):
                self._always(self._holds(known.value, relation, number), target)
            return is_known(known)
        if self._predicate(left) == "byte":
            self._byte(left, relation, number, target)
            return True
        if self._masked(left, relation, number, target):
            return True
        return number == 0 and left.kind in ("binary", "unary") and self._by_sign(left, relation, target)

    def _holds(self, left: int, relation: Relation, right: int) -> bool:
        a, b = (signed(left), signed(right)) if self._signed else (left, right)
        return {
            Relation.EQUAL: a == b, Relation.NOT_EQUAL: a != b, Relation.LESS: a < b, Relation.LESS_EQUAL: a <= b,
            Relation.GREATER: a > b, Relation.GREATER_EQUAL: a >= b,
        }[relation]

    def _values_compared(self, first: Value, relation: Relation, second: Value, target: Target) -> None:
        """A subtraction and a branch on its flags."""
        first, second = self._values.together(first, second)
        operator = "-"
        if not self._signed and relation in (Relation.GREATER, Relation.LESS_EQUAL):
            operator, relation = "B-A", relation.exchanged()
        self._values.emit(make.operate(operator, first, second))
        self._values.emit(make.branch_on(relation, self._signed, target))

    def _with_number(self, node: Node, register: Register, relation: Relation, number: int, target: Target) -> None:
        """A comparison with a known number."""
        if not self._signed:
            if number == 0 and relation in (Relation.LESS, Relation.GREATER_EQUAL):
                self._decided(node, relation is Relation.GREATER_EQUAL, register, target)
                return
            if number == MASK and relation in (Relation.GREATER, Relation.LESS_EQUAL):
                self._decided(node, relation is Relation.LESS_EQUAL, register, target)
                return
            if number == 0 and relation in _ORDERS:
                relation = Relation.NOT_EQUAL if relation is Relation.GREATER else Relation.EQUAL
        elif (number, relation) in _BY_SIGN and make.fits_restricted(register):
            self._values.emit(make.branch_on_bit(register, _SIGN, _BY_SIGN[number, relation], target))
            return
        if number == 0 and relation not in _ORDERS:
            self._values.emit(make.test(register))
            self._values.emit(make.branch_on(relation, True, target))
            return
        relation, number = self._nearest(relation, number)
        if number <= SMALL or -number & MASK > SMALL:
            self._values_compared(register, relation, Constant(number), target)
            return
        # Of a negative number its opposite is added; carry and overflow come out the same.
        if not self._signed and relation in (Relation.GREATER, Relation.LESS_EQUAL):
            relation = Relation.GREATER_EQUAL if relation is Relation.GREATER else Relation.LESS
            number += 1
        self._values.emit(make.operate("+", register, Constant(-number & MASK)))
        self._values.emit(make.branch_on(relation, self._signed, target))

    def _nearest(self, relation: Relation, number: int) -> tuple[Relation, int]:
        """The same comparison with a number beside, where that one is small: `x < 256` is `x <= 255`."""
        beside = {
            Relation.LESS: (Relation.LESS_EQUAL, -1), Relation.GREATER_EQUAL: (Relation.GREATER, -1),
            Relation.LESS_EQUAL: (Relation.LESS, 1), Relation.GREATER: (Relation.GREATER_EQUAL, 1),
        }.get(relation)
        if beside is None or number <= SMALL or -number & MASK <= SMALL:
            return relation, number
        other = number + beside[1] & MASK
        if other == SMALL or (-other & MASK == SMALL and self._signed):
            return beside[0], other
        return relation, number

    def _by_sign(self, node: Node, relation: Relation, target: Target) -> bool:
        """Whether an expression could be compared with 0 by the flags of its last instruction, and was."""
        if relation not in _ORDERS:
            self._values.compute(node, None)
            self._values.emit(make.branch_on(relation, True, target))
        elif self._signed and relation in (Relation.LESS, Relation.GREATER_EQUAL):
            self._values.compute(node, None)
            self._values.emit(make.branch_on_sign(relation is Relation.LESS, target))
        else:
            return False
        return True

    def _masked(self, node: Node, relation: Relation, number: int, target: Target) -> bool:
        """Whether some bits of a register were compared with a number in one go: `(x & mask) == n`, `(x >> k & mask) == n`."""
        parts = self._bits(node)
        if parts is None or relation in _ORDERS:
            return False
        inner, mask, shift = parts
        number_in_place = number << shift
        if number_in_place & ~mask:
            value = self._values.value(inner)
            self._decided(node, relation is Relation.NOT_EQUAL, value if isinstance(value, Register) else None, target)
            return True
        lowest = (mask & -mask).bit_length() - 1
        few = mask >> lowest
        if few == 1:
            register = self._restricted_value(inner)
            self._values.emit(make.branch_on_bit(register, lowest, (relation is Relation.EQUAL) is (number != 0), target))
        elif few == _BYTE and lowest % 8 == 0:
            register = self._restricted_value(inner)
            equal = relation is Relation.EQUAL
            self._values.emit(make.branch_on_byte(register, lowest // 8, number_in_place >> lowest, equal, target))
        elif few <= SMALL and lowest:
            register = self._restricted_value(inner)
            destination = Nothing() if number == 0 else self._values.new()
            self._values.emit(make.shifted("AND", Constant(few), register, f">>{lowest}", destination))
            if isinstance(destination, Register):
                self._values.emit(make.operate("-", destination, Constant(number_in_place >> lowest)))
            self._values.emit(make.branch_on(relation, True, target))
        else:
            return False
        return True

    def _bits(self, node: Node) -> tuple[Node, int, int] | None:
        """What is masked, the mask where the bits are in it, and how far right they are shifted; None for other expressions."""
        if node.kind != "binary" or node.text != "&":
            return None
        left, right = (self._operands.meant(strip(child)) for child in node.children)
        if self._values.is_constant(left):
            left, right = right, left
        if self._values.is_constant(left) or not self._values.is_constant(right):
            return None
        mask, shift = self._values.constant(right), 0
        if not is_known(mask):
            return None
        if left.kind == "binary" and left.text == ">>" and self._values.is_constant(left.children[1]):
            shift = self._values.known(left.children[1], 0, _SIGN, "the amount of a shift")
            left = self._operands.meant(strip(left.children[0]))
        in_place = mask.value << shift & MASK
        return (left, in_place, shift) if in_place else None

    def _restricted_value(self, node: Node) -> Register:
        return self._values.restricted(self._values.register(self._values.value(node)))

    def _byte(self, node: Node, relation: Relation, number: int, target: Target) -> None:
        """BYTE(register, n) against a number."""
        if relation in _ORDERS:
            self._with_number(node, self._extracted(node), relation, number, target)
            return
        register = self._register_of(node)
        byte = self._values.known(node.children[1], 0, 3, "the number of a byte")
        if number > _BYTE:
            self._decided(node, relation is Relation.NOT_EQUAL, register, target)
            return
        register = self._values.restricted(register)
        self._values.emit(make.branch_on_byte(register, byte, number, relation is Relation.EQUAL, target))

    def _extracted(self, node: Node) -> Register:
        """BYTE(register, n) as a value."""
        register = self._register_of(node)
        byte = self._values.known(node.children[1], 0, 3, "the number of a byte")
        destination = self._values.new()
        if byte:
            register = self._values.restricted(register)
            self._values.emit(make.shifted("AND", Constant(_BYTE), register, f">>{byte * 8}", destination))
        else:
            self._values.emit(make.operate("AND", register, Constant(_BYTE), destination))
        return destination

    def _context(self, node: Node, relation: Relation, right: Node, target: Target) -> None:
        """CTX() against a number: one branch for each context that it holds for, or does not, whichever are fewer."""
        number = self._values.known(right, 0, MASK, "what `CTX()` is compared with")
        holds = [context for context in range(_CONTEXTS) if self._holds(context, relation, number)]
        others = [context for context in range(_CONTEXTS) if context not in holds]
        if not holds or not others:
            self._decided(node, bool(holds), None, target)
        elif len(others) == 1:
            self._values.emit(make.branch_on_context(others[0], False, target))
        elif len(holds) <= len(others):
            for context in holds:
                self._values.emit(make.branch_on_context(context, True, target))
        else:
            otherwise = self._output.new_label("decided")
            for context in others:
                self._values.emit(make.branch_on_context(context, True, Target(None, otherwise)))
            self._values.emit(make.branch(target))
            self._output.place(otherwise)

    def _decided(self, node: Node, taken: bool, register: Register | None, target: Target) -> None:
        """A comparison that comes out the same whatever the register holds; a pointer that it moves is moved all the same."""
        advice = None if self._signed else "read as unsigned numbers, nothing is below 0: is a signed comparison meant?"
        self._findings.warning(
            CONDITION_ALWAYS, f"whatever `{self._text(node)}` is, this comparison comes out the same", self._values.place,
            help=advice,
        )
        if register is not None and register.post:
            self._values.emit(make.test(register))
        self._always(taken, target)


# Signed comparisons that ask for the sign alone: whether bit 31 is then set.
_BY_SIGN = {
    (0, Relation.LESS): True, (0, Relation.GREATER_EQUAL): False,
    (MASK, Relation.LESS_EQUAL): True, (MASK, Relation.GREATER): False,
}
