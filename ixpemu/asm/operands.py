"""Operands: from the shape of one operand to its value, by the kind that isa/ says belongs in its place.

Names are looked up in the scopes; constant expressions are evaluated, or kept as `Deferred` where an address is in them. Which
form an instruction has is `lower`'s; whether a value fits its field is the encoder's.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from ixpemu.asm.expressions import (
    AddressKind,
    AddressOf,
    Expression,
    ExpressionError,
    Literal,
    addresses,
    evaluate,
    from_node,
    number,
    signed,
)
from ixpemu.asm.findings import Findings
from ixpemu.asm.operand_place import OperandPlace, Refused
from ixpemu.asm.program import Deferred, Half, Symbol
from ixpemu.asm.scope import Kind, Labels, Scopes, register_class, spoken
from ixpemu.asm.source import Line
from ixpemu.asm.syntax import Node
from ixpemu.codes import EXPRESSION, OPERAND_KIND, OPERAND_RANGE, OPERAND_WORD, PHYSICAL, REGISTER_HALF
from ixpemu.diagnostics import Note
from ixpemu.isa import MOST_INDIRECT, InstructionSet, OperandSpec, Role, most_of, parse_physical_operand
from ixpemu.isa.model import Constant, Nothing, Operand, Register, RegisterClass, Signal, Target, Word

_REGISTERS = ("name", "member", "indexed")
_WORDS = ("name", "operator", "unary", "binary", "number", "nothing")
_CONSTANTS = ("number", "unary", "binary", "conditional", "parenthesis", "address", "label_address")
_WRITES = (Role.WRITE, Role.MODIFY)
_READABLE_BACK = (RegisterClass.GPR, RegisterClass.ABSOLUTE, RegisterClass.LOCAL_MEMORY)
_TRANSFER = (RegisterClass.SRAM, RegisterClass.DRAM)
_SOURCE = OperandSpec("source", "source", Role.READ)


class OperandReader:
    """Reads operands. `physical`: registers and signals are physical ones, nothing is declared."""

    def __init__(self, isa: InstructionSet, scopes: Scopes, labels: Labels, findings: Findings, physical: bool) -> None:
        self._isa = isa
        self._scopes = scopes
        self._labels = labels
        self._findings = findings
        self._physical = physical

    def refuse(
        self, code: int, message: str, place: OperandPlace, help: str | None = None, notes: tuple[Note, ...] = ()
    ) -> Refused:
        self._findings.error(code, message, place.origin(), help=help if help is not None else place.advice, notes=notes)
        return Refused()

    def operand(self, place: OperandPlace, spec: OperandSpec) -> Operand:
        node = place.node
        match spec.kind:
            case "word" | "input_state":
                return self._word(place, spec)
            case "source" | "register" | "address" | "destination" | "modified" | "transfer":
                return self._register_or_constant(place, spec)
            case "count":
                return self._count(place, spec)
            case "number":
                return self.number_between(place, spec.low, spec.high, spec.bits)
            case "immediate":
                return self._constant(place)
            case "mask":
                if node.kind != "number" or len(node.text) != 4 or set(node.text) - {"0", "1"}:
                    raise self.refuse(
                        OPERAND_KIND, f"{place.what} is a byte mask: four digits 0 or 1, not `{place.text()}`", place,
                        "the leftmost digit is the most significant byte, e.g. 0011 for the low half",
                    )
                return Constant(int(node.text), node.text)
            case "shift":
                return self._shift(place)
            case "target":
                return self.target(place)
            case "signal":
                return self.signal(place)
            case _:
                return self._csr(place, "cap" if spec.kind == "cap_csr" else "local")

    def _count(self, place: OperandPlace, spec: OperandSpec) -> Operand:
        """A number, or `max_N`, the most that an indirect reference may ask for."""
        text = place.node.text.lower() if place.node.kind == "name" else ""
        most = most_of(Word(text))
        if most is None:
            try_indirect = f"up to {MOST_INDIRECT} with max_N and the option indirect_ref, the count being in the result before"
            return self.number_between(place, spec.low, spec.high, spec.bits, try_indirect)
        if not spec.low <= most <= MOST_INDIRECT:
            message = f"`{place.text()}`: N of max_N is a number from {spec.low} to {MOST_INDIRECT}"
            raise self.refuse(OPERAND_RANGE, message, place)
        return Word(text)

    def _word(self, place: OperandPlace, spec: OperandSpec) -> Operand:
        if place.node.kind == "nothing":
            return Nothing()
        text = as_word(place.line, place.node)
        if text is None:
            raise self.refuse(
                OPERAND_WORD, f"`{place.text()}` cannot stand here: {place.what} is one of {listed(spec.words)}", place
            )
        for word in spec.words:
            if word.lower() == text.lower():
                return Word(word)
        spelled = {word.lower(): word for word in spec.words}
        close = difflib.get_close_matches(text.lower(), spelled, 1, 0.5)
        raise self.refuse(
            OPERAND_WORD, f"`{text}` cannot stand here: {place.what} is one of {listed(spec.words)}", place,
            f"did you mean `{spelled[close[0]]}`?" if close else None,
        )

    def _register_or_constant(self, place: OperandPlace, spec: OperandSpec) -> Operand:
        node = place.node
        if node.kind == "nothing":
            return Nothing()
        if node.kind in _REGISTERS:
            operand = self._register(place, spec)
            if isinstance(operand, Register):
                return operand
        if node.kind in _CONSTANTS and spec.kind in ("source", "address"):
            return self._constant(place)
        wanted = {
            "source": "a register or a constant", "address": "a register or a constant", "register": "a register",
            "destination": "a register to write, or `--`", "modified": "a register that is read and written",
            "transfer": "a transfer register, `$` or `$$`",
        }[spec.kind]
        help_text = None
        if node.kind in _CONSTANTS and spec.kind in ("register", "modified"):
            help_text = "load the constant into a register first"
        raise self.refuse(OPERAND_KIND, f"`{place.text()}` cannot stand here: {place.what} is {wanted}", place, help_text)

    def _register(self, place: OperandPlace, spec: OperandSpec) -> Operand:
        register, symbol = self._register_operand(place)
        if spec.kind == "transfer" and register.cls not in _TRANSFER:
            raise self.refuse(
                OPERAND_KIND, f"{place.what} is a transfer register, and `{place.text()}` is a {spoken(register.cls)}", place,
                "data moves through `$` (SRAM) or `$$` (DRAM) registers",
            )
        if spec.kind == "modified" and register.cls not in _READABLE_BACK:
            raise self.refuse(
                OPERAND_KIND, f"`{place.text()}` cannot be read back, and {place.what} is read and written", place,
                "build the value in a plain register and copy it",
            )
        if symbol is not None and symbol.half is not Half.BOTH:
            self._check_half(place, spec, symbol)
        return register

    def _check_half(self, place: OperandPlace, spec: OperandSpec, symbol: Symbol) -> None:
        """A name declared `read` is filled by commands and read by instructions, one declared `write` the other way round."""
        match spec.role:
            case Role.READ | Role.TRANSFER_IN:
                needed = "read"
            case Role.WRITE | Role.TRANSFER_OUT:
                needed = "write"
            case Role.TRANSFER_BOTH:
                needed = "read and write"
            case _:
                return
        if symbol.half.value == needed:
            return
        does = {
            Role.READ: "reads it", Role.WRITE: "writes it", Role.TRANSFER_IN: "has it filled by a unit",
            Role.TRANSFER_OUT: "has a unit take it",
        }.get(spec.role, "needs both of its halves")
        notes = (Note("it was declared here", symbol.origin),)
        raise self.refuse(
            REGISTER_HALF, f"`{symbol.spelling}` is declared `{symbol.half.value}`, and this instruction {does}", place,
            "without `read` or `write` the name stands for both halves", notes,
        )

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
        index = None
        if node.kind == "member":
            index = self._known(place.line, node.children[0], "the index of an aggregate")
        symbol = self._scopes.register(node.text, index, place.origin())
        if symbol is None:
            raise Refused
        return Register(symbol.cls, name=symbol.name), symbol

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

    def target(self, place: OperandPlace) -> Operand:
        node = place.node
        if node.kind != "label_address":
            help_text = f"labels end in #: `{node.text}#`" if node.kind == "name" else None
            raise self.refuse(OPERAND_KIND, f"`{place.text()}` is no label, and {place.what} is one", place, help_text)
        return self._label(place.line, node)

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

    def signal(self, place: OperandPlace) -> Operand:
        node = place.node
        if node.kind != "name":
            raise self.refuse(
                OPERAND_KIND, f"`{place.text()}` is no signal, and {place.what} is one", place,
                None if self._physical else "signals have names: `.sig name` declares one, and it gets its number by itself",
            )
        if self._physical:
            operand = parse_physical_operand(node.text)
            if not isinstance(operand, Signal):
                raise self.refuse(
                    PHYSICAL, f"`{node.text}` is no physical signal", place, "a `.physical` program names s1 to s15"
                )
            return operand
        symbol = self._scopes.signal(node.text, place.origin())
        if symbol is None:
            raise Refused
        return Signal(None, symbol.name)

    def _csr(self, place: OperandPlace, space: str) -> Operand:
        node = place.node
        if node.kind != "name":
            return self._constant(place)
        csr = self._isa.csr(node.text, space)
        if csr is not None:
            return Word(csr.name)
        names = {known.name.lower(): known.name for known in self._isa.csrs if known.space == space}
        close = difflib.get_close_matches(node.text.lower(), names, 1)
        raise self.refuse(
            OPERAND_WORD, f"there is no {space} CSR `{node.text}`", place,
            f"did you mean `{names[close[0]]}`?" if close else "a CSR can also be given by its address, a constant",
        )

    def _shift(self, place: OperandPlace) -> Operand:
        node = place.node
        if node.kind != "shift":
            raise self.refuse(
                OPERAND_KIND, f"`{place.text()}` is no shift, and {place.what} is one", place,
                "a shift is written `<<3`, `>>3`, `<<rot3`, `<<indirect` or `>>indirect`",
            )
        amount = node.children[0]
        if amount.kind == "name":
            return Word(node.text + amount.text.lower())
        return Word(f"{node.text}{self._known(place.line, amount, 'a shift amount')}")

    def number_between(self, place: OperandPlace, low: int, high: int, bits: int = 0, help: str | None = None) -> Constant:
        """A constant within a range, that of a field of `bits` bits if that is known."""
        constant = self._constant(place)
        if not isinstance(constant, Deferred) and not low <= constant.value <= high:
            width = f", in a field of {bits} bits" if bits else ""
            written = place.text()
            value = "" if number(written.removeprefix("-")) is not None else f", which is {signed(constant.value)}"
            message = f"{place.what} is a number from {low} to {high}{width}, not `{written}`{value}"
            raise self.refuse(OPERAND_RANGE, message, place, help)
        return constant

    def _known(self, line: Line, node: Node, what: str) -> int:
        """A constant that must have its value now."""
        constant = self._constant(OperandPlace(line, node, what))
        if isinstance(constant, Deferred):
            raise self.refuse(
                EXPRESSION, f"{what} must be known before registers get their numbers", OperandPlace(line, node, what)
            )
        return constant.value

    def constant(self, line: Line, node: Node, what: str) -> Constant | None:
        """A constant, or None after a message; for directives."""
        try:
            return self._constant(OperandPlace(line, node, what))
        except Refused:
            return None

    def _constant(self, place: OperandPlace) -> Constant:
        node = self.meant(place.node)
        text = place.text()
        if node.kind == "number" and (value := number(node.text)) is not None and value <= 0xFFFFFFFF:
            return Constant(value, text)
        if node.kind not in _CONSTANTS:
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
            self._scopes.take_address(signal)
            return AddressOf(AddressKind.SIGNAL, signal.name)
        _, symbol = self._register_operand(place)
        if symbol is None:
            raise Refused
        if symbol.cls in (RegisterClass.GPR, RegisterClass.ABSOLUTE):
            raise self.refuse(
                OPERAND_KIND, f"`{place.text()}` has no number of its own: it is in either of two banks", place,
                "`&` takes the number of a transfer register, a next-neighbour register or a signal",
            )
        self._scopes.take_address(symbol)
        return AddressOf(AddressKind.REGISTER, symbol.name)

    def meant(self, node: Node) -> Node:
        """The operand itself, or what it is a synonym of, at the same place."""
        return self._scopes.meant(node)

    def is_register(self, spelling: str) -> bool:
        """Whether a register of this name is declared here."""
        return self._scopes.is_declared(Kind.REGISTER, spelling)

    def constant_or_refuse(self, line: Line, node: Node, what: str) -> Constant:
        """A constant; raises `Refused` after a message."""
        return self._constant(OperandPlace(line, node, what))

    def source(self, place: OperandPlace) -> Register:
        """A register that an instruction reads; raises `Refused` after a message."""
        register, symbol = self._register_operand(place)
        if symbol is not None and symbol.half is not Half.BOTH:
            self._check_half(place, _SOURCE, symbol)
        return register

    def input_state(self, place: OperandPlace) -> Word:
        """The name of a state input; raises `Refused` after a message."""
        word = self._word(place, OperandSpec("state", "input_state", words=self._isa.input_states))
        return word if isinstance(word, Word) else Word("")

    def register(self, line: Line, node: Node, what: str) -> Register | None:
        """A register, or None after a message; for directives."""
        place = OperandPlace(line, node, what)
        if node.kind not in _REGISTERS:
            self._findings.error(OPERAND_KIND, f"`{place.text()}` is no register, and {what} is one", place.origin())
            return None
        try:
            return self._register_operand(place)[0]
        except Refused:
            return None


def as_word(line: Line, node: Node) -> str | None:
    """The operand as a word of the language: its text without blanks; None for what can be none."""
    if node.kind == "name":
        return node.text
    return "".join(line.text[node.start:node.end].split()) if node.kind in _WORDS else None


def listed(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)
