"""Operands: from the shape of one operand to its value, by the kind that isa/ says belongs in its place.

Names and constant expressions are read by `constants`. Which form an instruction has is `lower`'s; whether a value fits its
field is the encoder's.
"""

from __future__ import annotations

from collections.abc import Iterable

from ixpemu.asm.constants import CONSTANTS, ConstantReader
from ixpemu.asm.operand_place import OperandPlace, Refused
from ixpemu.asm.program import Half, Symbol
from ixpemu.asm.scope import spoken
from ixpemu.asm.source import Line
from ixpemu.asm.suggestions import nearest, replacement
from ixpemu.asm.syntax import Node
from ixpemu.codes import OPERAND_KIND, OPERAND_RANGE, OPERAND_WORD, PHYSICAL, REGISTER_HALF
from ixpemu.diagnostics import Note
from ixpemu.isa import MOST_INDIRECT, OperandSpec, Role, most_of, parse_physical_operand
from ixpemu.isa.model import Constant, Nothing, Operand, Register, RegisterClass, Signal, Word

_REGISTERS = ("name", "member", "indexed")
_WORDS = ("name", "operator", "unary", "binary", "number", "nothing")
_WRITES = (Role.WRITE, Role.MODIFY)
_READABLE_BACK = (RegisterClass.GPR, RegisterClass.ABSOLUTE, RegisterClass.LOCAL_MEMORY)
_TRANSFER = (RegisterClass.SRAM, RegisterClass.DRAM)
_WIDE = 255             # a number that reaches so far is data
_SOURCE = OperandSpec("source", "source", Role.READ)


class OperandReader(ConstantReader):
    """Reads operands."""

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
                return self.number_between(place, spec.low, spec.high, spec.bits, linked=spec.high >= _WIDE)
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
        near = nearest(text.lower(), spelled, 0.5)
        raise self.refuse(
            OPERAND_WORD, f"`{text}` cannot stand here: {place.what} is one of {listed(spec.words)}", place,
            None if near is None else f"did you mean `{spelled[near.name]}`?",
            edits=() if near is None else near.edits(place.origin(), text, spelled[near.name]),
        )

    def _register_or_constant(self, place: OperandPlace, spec: OperandSpec) -> Operand:
        node = place.node
        if node.kind == "nothing":
            return Nothing()
        if node.kind in _REGISTERS:
            operand = self._register(place, spec)
            if isinstance(operand, Register):
                return operand
        if node.kind in CONSTANTS and spec.kind in ("source", "address"):
            return self._constant(place)
        wanted = {
            "source": "a register or a constant", "address": "a register or a constant", "register": "a register",
            "destination": "a register to write, or `--`", "modified": "a register that is read and written",
            "transfer": "a transfer register, `$` or `$$`",
        }[spec.kind]
        help_text = None
        if node.kind in CONSTANTS and spec.kind in ("register", "modified"):
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

    def target(self, place: OperandPlace) -> Operand:
        node = place.node
        if node.kind != "label_address":
            help_text = f"labels end in #: `{node.text}#`" if node.kind == "name" else None
            raise self.refuse(
                OPERAND_KIND, f"`{place.text()}` is no label, and {place.what} is one", place, help_text,
                edits=replacement(place.origin(), node.text, f"{node.text}#") if node.kind == "name" else (),
            )
        return self._label(place.line, node)

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
        symbol = self._scopes.signal(node.text, place.origin(), self.words_instead)
        if symbol is None:
            raise Refused
        if symbol.remote:
            raise self._elsewhere(place)
        return Signal(None, symbol.name)

    def _csr(self, place: OperandPlace, space: str) -> Operand:
        node = place.node
        if node.kind != "name":
            return self._constant(place)
        csr = self._isa.csr(node.text, space)
        if csr is not None:
            return Word(csr.name)
        names = {known.name.lower(): known.name for known in self._isa.csrs if known.space == space}
        near = nearest(node.text.lower(), names)
        raise self.refuse(
            OPERAND_WORD, f"there is no {space} CSR `{node.text}`", place,
            "a CSR can also be given by its address, a constant" if near is None else f"did you mean `{names[near.name]}`?",
            edits=() if near is None else near.edits(place.origin(), node.text, names[near.name]),
        )

    def _shift(self, place: OperandPlace) -> Operand:
        node = place.node
        if node.kind != "shift":
            raise self.refuse(
                OPERAND_KIND, f"`{place.text()}` is no shift, and {place.what} is one", place,
                "a shift is written `<<3`, `>>3`, `<<rot3`, `<<rot(N)`, `<<indirect` or `>>indirect`",
            )
        if len(node.children) == 2:
            word, value = node.children
            if word.text.lower() != "rot":
                raise self.refuse(
                    OPERAND_KIND, f"`{place.text()}` is no shift", place,
                    "before a parenthesis only `rot` can stand: `<<rot(N)`; a shift by N is `<<(N)`",
                )
            return Word(f"{node.text}rot{self._known(place.line, value, 'a shift amount')}")
        amount = self.meant(node.children[0])
        if amount.kind == "name":
            name = amount.text[3:]
            if amount.text[:3].lower() == "rot" and name and not name.isdigit():
                raise self.refuse(
                    OPERAND_KIND, f"`{place.text()}` is no shift: `{amount.text}` is one name", place,
                    f"write `{node.text}rot({name})` where `{name}` is a constant",
                )
            return Word(node.text + amount.text.lower())
        return Word(f"{node.text}{self._known(place.line, amount, 'a shift amount')}")

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
