"""Names and constants: which register a name means, what an expression is worth, or what of it is known only later.

Names are looked up in the scopes; constant expressions are evaluated, or kept as `Deferred` where an address or a name of the
linker is in them. Which kind of operand belongs in a place is `operands`' business.
"""

from __future__ import annotations

from collections.abc import Sequence

from ixpemu.asm.expressions import (
    AddressKind,
    AddressOf,
    Expression,
    ExpressionError,
    Literal,
    addresses,
    evaluate,
    from_node,
    is_linked,
    number,
    signed,
)
from ixpemu.asm.findings import Findings
from ixpemu.asm.operand_place import OperandPlace, Refused
from ixpemu.asm.program import Deferred, Symbol
from ixpemu.asm.scope import Kind, Labels, Scopes, register_class
from ixpemu.asm.source import Line
from ixpemu.asm.syntax import Node
from ixpemu.codes import EXPRESSION, OPERAND_KIND, OPERAND_RANGE, PHYSICAL, REMOTE_NAME
from ixpemu.diagnostics import Edit, Note
from ixpemu.isa import InstructionSet, parse_physical_operand
from ixpemu.isa.model import Constant, Register, RegisterClass, Target

CONSTANTS = ("number", "unary", "binary", "conditional", "parenthesis", "address", "label_address", "linked")


class ConstantReader:
    """Reads names and constants. `physical`: registers and signals are physical ones, nothing is declared."""

    def __init__(self, isa: InstructionSet, scopes: Scopes, labels: Labels, findings: Findings, physical: bool) -> None:
        self._isa = isa
        self._scopes = scopes
        self._labels = labels
        self._findings = findings
        self._physical = physical
        self.words_instead: Sequence[str] = ()
        """Words that other forms of the instruction have where a name stands, for suggestions."""
        self.memory_addresses: dict[str, Literal] = {}      # of named local memory, by name in lower case

    def refuse(
        self, code: int, message: str, place: OperandPlace, help: str | None = None, notes: tuple[Note, ...] = (),
        edits: tuple[Edit, ...] = (),
    ) -> Refused:
        advice = help if help is not None else place.advice
        self._findings.error(code, message, place.origin(), help=advice, notes=notes, edits=edits)
        return Refused()

    def meant(self, node: Node) -> Node:
        """The operand itself, or what it is a synonym of, at the same place."""
        return self._scopes.meant(node)

    def is_register(self, spelling: str) -> bool:
        """Whether a register of this name is declared here."""
        return self._scopes.is_declared(Kind.REGISTER, spelling)

    def constant(self, line: Line, node: Node, what: str) -> Constant | None:
        """A constant, or None after a message; for directives."""
        try:
            return self._constant(OperandPlace(line, node, what))
        except Refused:
            return None

    def known(self, line: Line, node: Node, what: str) -> int | None:
        """A constant that has its value now, or None after a message; for directives."""
        try:
            return self._known(line, node, what)
        except Refused:
            return None

    def constant_or_refuse(self, line: Line, node: Node, what: str) -> Constant:
        """A constant; raises `Refused` after a message."""
        return self._constant(OperandPlace(line, node, what))

    def number_between(
        self, place: OperandPlace, low: int, high: int, bits: int = 0, help: str | None = None, linked: bool = False
    ) -> Constant:
        """A constant within a range, that of a field of `bits` bits if that is known. `linked`: the linker may give it."""
        constant = self._constant(place)
        if not linked and isinstance(constant, Deferred) and is_linked(constant.expression):
            raise self.refuse(
                REMOTE_NAME, f"{place.what} must be known when the program is assembled, and `{place.text()}` is not", place,
                "operands of an ALU operation, addresses and what immed loads may be left to the linker",
            )
        if not isinstance(constant, Deferred) and not low <= constant.value <= high:
            width = f", in a field of {bits} bits" if bits else ""
            written = place.text()
            value = "" if number(written.removeprefix("-")) is not None else f", which is {signed(constant.value)}"
            message = f"{place.what} is a number from {low} to {high}{width}, not `{written}`{value}"
            raise self.refuse(OPERAND_RANGE, message, place, help)
        return constant

    def _register_operand(self, place: OperandPlace) -> tuple[Register, Symbol | None]:
        node = place.node
        if node.kind == "indexed":
            return self._indexed(place), None
        if self._physical:
            operand = parse_physical_operand(node.text) if node.kind == "name" else None
            if not isinstance(operand, Register):
                raise self.refuse(
                    PHYSICAL, f"`{place.text()}` is no physical register", place,
                    "a `.physical` program names a0, b3, @a0, @b17, $0, $$1 and n$2",
                )
            return operand, None
        symbol = self._named(place)
        if symbol is None:
            raise Refused
        if symbol.remote:
            raise self._elsewhere(place)
        return Register(symbol.cls, name=symbol.name), symbol

    def _named(self, place: OperandPlace) -> Symbol | None:
        """The symbol of a name or member; None after a message."""
        index = None
        if place.node.kind == "member":
            index = self._known(place.line, place.node.children[0], "the index of an aggregate")
        return self._scopes.register(place.node.text, index, place.origin())

    def _elsewhere(self, place: OperandPlace) -> Refused:
        text = place.text()
        return self.refuse(
            REMOTE_NAME, f"`{text}` belongs to another microengine, and no instruction of this one can name it", place,
            f"`&{text}` is its number there, as a constant",
        )

    def _remote(self, place: OperandPlace) -> Expression:
        """The number that a name has in another microengine: `&remote(name, 3)`."""
        node = place.node
        form = "`&remote(name, me)` is the number of a name in another microengine"
        if node.text.lower() != "remote" or not 1 <= len(node.children) <= 2 or node.children[0].kind not in ("name", "member"):
            raise self.refuse(OPERAND_KIND, f"`&{place.text()}` is no address", place, form)
        named = OperandPlace(place.line, node.children[0], "the first operand of `remote`")
        is_signal = named.node.kind == "name" and self._scopes.is_declared(Kind.SIGNAL, named.node.text)
        symbol = self._scopes.signal(named.node.text, named.origin()) if is_signal else self._named(named)
        if symbol is None:
            raise Refused
        if not symbol.remote:
            raise self.refuse(
                REMOTE_NAME, f"`{named.text()}` is not declared as another microengine's", named,
                f"declare it so: `.{'sig' if is_signal else 'reg'} remote {named.text()}`",
            )
        me = f"@{self._known(place.line, node.children[1], 'the number of a microengine')}" if len(node.children) == 2 else ""
        return AddressOf(AddressKind.LINK, f"remote:{symbol.spelling}{me}")

    def _indexed(self, place: OperandPlace) -> Register:
        text = place.node.text.lower()
        if place.node.children:
            text += f"[{self._known(place.line, place.node.children[0], 'the offset of a local memory operand')}]"
        operand = parse_physical_operand(text)
        if not isinstance(operand, Register):
            raise self.refuse(
                OPERAND_KIND, f"`{place.text()}` is no register", place, "only *l$index0 and *l$index1 take [offset]"
            )
        return operand

    def _label(self, line: Line, node: Node) -> Target:
        level = line.level(node.end - 1)
        if self._physical and self._labels.find(node.text, level) is None:
            numbered = parse_physical_operand(node.text)
            if isinstance(numbered, Target) and numbered.address is not None:
                return Target(numbered.address, node.text)
        name = self._labels.resolve(node.text, level, line.origin(node.start, node.end))
        if name is None:
            raise Refused
        return Target(None, name)

    def _known(self, line: Line, node: Node, what: str) -> int:
        """A constant that must have its value now."""
        constant = self._constant(OperandPlace(line, node, what))
        if isinstance(constant, Deferred):
            when = "when the program is assembled" if is_linked(constant.expression) else "before registers get their numbers"
            raise self.refuse(EXPRESSION, f"{what} must be known {when}", OperandPlace(line, node, what))
        return constant.value

    def _constant(self, place: OperandPlace) -> Constant:
        node = self.meant(place.node)
        text = place.text()
        if node.kind == "number" and (value := number(node.text)) is not None and value <= 0xFFFFFFFF:
            return Constant(value, text)
        if node.kind not in CONSTANTS:
            raise self.refuse(
                OPERAND_KIND, f"`{text}` is no constant, and {place.what} is one", place,
                place.advice or "a constant is a number, an expression in parentheses, or a name that #define gives a value",
            )
        line = place.line
        try:
            tree = from_node(node, lambda inner: self._address(line, inner))
            if any(True for _ in addresses(tree)):
                return Deferred(0, text, expression=tree)
            return Constant(evaluate(tree), text)
        except ExpressionError as error:
            where = error.node if error.node is not None else node
            raise self.refuse(EXPRESSION, error.message, OperandPlace(line, where, place.what)) from error

    def _address(self, line: Line, node: Node) -> Expression:
        """The tree of `&name`, of `label#`, or a message for a name that has no value."""
        if node.kind == "linked":
            return self.memory_addresses.get(node.text.lower()) or AddressOf(AddressKind.LINK, node.text)
        if node.kind == "label_address":
            target = self._label(line, node)
            if target.address is not None:
                return Literal(target.address)
            return AddressOf(AddressKind.LABEL, target.name or "")
        other = self.meant(node)
        if other is not node:
            return from_node(other, lambda inner: self._address(line, inner))
        if node.kind != "address":
            raise ExpressionError(f"`{line.text[node.start:node.end]}` has no value: only constants have", node)
        inner = self.meant(node.children[0])
        place = OperandPlace(line, inner, "the operand of `&`")
        if inner.kind == "call":
            return self._remote(place)
        if inner.kind == "linked":
            return self._address(line, inner)
        # A bare name is a signal's, unless only a register of that name is declared.
        signal_meant = (
            inner.kind == "name" and register_class(inner.text) is RegisterClass.GPR
            and (self._scopes.is_declared(Kind.SIGNAL, inner.text) or not self._scopes.is_declared(Kind.REGISTER, inner.text))
        )
        if self._physical or inner.kind == "indexed":
            raise self.refuse(OPERAND_KIND, f"`&` needs a named register or signal, not `{place.text()}`", place)
        if signal_meant:
            signal = self._scopes.signal(inner.text, place.origin())
            if signal is None:
                raise Refused
            if signal.remote:
                return AddressOf(AddressKind.LINK, f"remote:{signal.spelling}")
            self._scopes.take_address(signal)
            return AddressOf(AddressKind.SIGNAL, signal.name)
        symbol = self._named(place)
        if symbol is None:
            raise Refused
        if symbol.remote:
            return AddressOf(AddressKind.LINK, f"remote:{symbol.spelling}")
        if symbol.cls in (RegisterClass.GPR, RegisterClass.ABSOLUTE):
            raise self.refuse(
                OPERAND_KIND, f"`{place.text()}` has no number of its own: it is in either of two banks", place,
                "`&` takes the number of a transfer register, a next-neighbour register or a signal",
            )
        self._scopes.take_address(symbol)
        return AddressOf(AddressKind.REGISTER, symbol.name)
