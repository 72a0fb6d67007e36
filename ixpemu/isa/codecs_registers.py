"""Codecs of register operands: destinations, pairs of sources, addresses, single registers, transfer registers.

The rules for sides and the swap bit are here, once. Which fields they sit in comes from the blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from ixpemu.isa.blocks import OperandSpec, Role
from ixpemu.isa.codec import Codec, FactsBuilder, Given, Reading, Refused, named_arguments, number_of
from ixpemu.isa.model import Constant, Nothing, Operand, Register, RegisterClass
from ixpemu.isa.physical import format_operand
from ixpemu.isa.tables import OperandTable, bank_of, port_of, window

_READ_BACK = (RegisterClass.GPR, RegisterClass.ABSOLUTE, RegisterClass.LOCAL_MEMORY)


def _code(table: OperandTable, name: str, operand: Operand, contexts: int, destination: bool) -> int:
    """The field value of a register or constant. Raises `Refused` that says what the field takes and what to do."""
    if not isinstance(operand, Register | Constant | Nothing):
        expected = "a register or `--`" if destination else "a register or a constant"
        raise Refused(name, f"expected {expected}, found {format_operand(operand)}")
    if isinstance(operand, Register) and bank_of(operand) is None and operand.cls in (RegisterClass.GPR, RegisterClass.ABSOLUTE):
        raise Refused(name, f"register {operand.name or '?'} has no bank and number yet")
    code = table.code(operand, contexts, destination)
    if code is not None:
        return code
    shown = format_operand(operand)
    use = "destination" if destination else "source"
    if isinstance(operand, Constant):
        if destination:
            raise Refused(name, f"constant {operand.text or shown} cannot be a destination", "write to a register or to --")
        limit = 255 if table.width == 10 else 127
        raise Refused(name, f"{operand.text or shown} does not fit the {limit.bit_length()} bits of this constant: 0..{limit}",
                      "load it into a register first, with immed")
    if isinstance(operand, Nothing):
        raise Refused(name, f"`--` cannot be a {use} here")
    if not table.knows(operand, destination) or _beyond(operand, table):
        help = "copy it to a GPR first, e.g. alu[name, --, b, ...]" if not destination else "write to a GPR first and copy it"
        raise Refused(name, f"{shown} cannot be encoded in this operand of {table.width} bits", help)
    last = window(contexts) - 1
    offset = 15 if table.width == 10 else 7
    raise Refused(name, f"{shown} does not exist: context-relative registers go to {last} with {contexts} contexts, absolute ones "
                        f"to 127, offsets to {offset}")


def _beyond(operand: Operand, table: OperandTable) -> bool:
    """Whether a wider field would hold the operand: a local-memory offset over the 8-bit field's 7."""
    if table.width != 8 or not isinstance(operand, Register):
        return False
    return operand.cls is RegisterClass.LOCAL_MEMORY and (operand.number or 0) <= 15


def _not_read_back(name: str, operand: Operand) -> Refused:
    return Refused(name, f"{format_operand(operand)} cannot be read back, and this instruction keeps some of its bits",
                   "use a GPR or local memory and copy it afterwards")


class Destination(Codec):
    """`dest = destination(table, field, bank)`: bank is a field, or A or B where the layout says it. `--` is a destination."""

    modifies = False

    def setup(self, *arguments: tuple[str, ...]) -> None:
        (table,), (letter,), (bank,) = arguments
        self.table = self.around.tables[table]
        self.field = self.own(letter)
        self.side = bank.lower() if bank in ("A", "B") else None
        self.bank = None if self.side else self.own(bank)

    def operand_specs(self) -> Mapping[str, OperandSpec]:
        kind, role = ("modified", Role.MODIFY) if self.modifies else ("destination", Role.WRITE)
        return {self.name: OperandSpec(self.name, kind, role, restricted=self.table.width == 8)}

    def readable(self) -> Sequence[str]:
        return self.names if self.modifies else ()

    def writable(self) -> Sequence[str]:
        return self.names

    def legal(self, letter: str, value: int) -> bool:
        if self.bank is not None and letter == self.bank.letter:
            return True
        bank = self.side or "a"
        operand = self.table.decoder(bank, 4, not self.modifies)[value]
        return operand is not None and self._takes(operand)

    def _takes(self, operand: Operand) -> bool:
        if self.side == "b" and bank_of(operand) != "b":
            return False
        return not self.modifies or (isinstance(operand, Register) and operand.cls in _READ_BACK)

    def encode(self, given: Given) -> int:
        operand = given.operand(self.name)
        code = _code(self.table, self.name, operand, given.contexts, True)
        if self.modifies and not (isinstance(operand, Register) and operand.cls in _READ_BACK):
            raise _not_read_back(self.name, operand)
        bank = bank_of(operand)
        if self.bank is not None:
            return self.field.put(code) | self.bank.put(1 if bank == "b" else 0)
        if (self.side == "b") != (bank == "b"):
            raise Refused(self.name, f"{format_operand(operand)} sits on the other side", side=True)
        return self.field.put(code)

    def decode(self, word: int, reading: Reading) -> bool:
        bank = self.side or ("b" if self.bank is not None and self.bank.get(word) else "a")
        operand = self.table.decoder(bank, reading.contexts, not self.modifies)[self.field.get(word)]
        if operand is None or not self._takes(operand):
            return False
        reading.operands[self.name] = reading.semantic[self.name] = operand
        return True

    def note(self, given: Given, facts: FactsBuilder) -> None:
        if self.table.width == 8:
            facts.add("restricted", self.name)
        if isinstance(given.operands.get(self.name), Register):
            facts.add("writes", self.name)
            if self.modifies:
                facts.add("reads", self.name)


class Modified(Destination):
    """`dest = modified(...)`: as destination, for a register that is read as well."""

    modifies = True


class SingleRegister(Codec):
    """`register = register(table, field, side)`: one source register and no constant, in the field of its own side (A or B).

    Registers without a side take the A layout.
    """

    def setup(self, *arguments: tuple[str, ...]) -> None:
        (table,), (letter,), (side,) = arguments
        self.table = self.around.tables[table]
        self.field = self.own(letter)
        self.side = side.lower()

    def operand_specs(self) -> Mapping[str, OperandSpec]:
        return {self.name: OperandSpec(self.name, "register", Role.READ, restricted=self.table.width == 8)}

    def readable(self) -> Sequence[str]:
        return self.names

    def _takes(self, operand: Operand | None) -> bool:
        return isinstance(operand, Register) and (self.side == "b") == (bank_of(operand) == "b")

    def legal(self, letter: str, value: int) -> bool:
        return self._takes(self.table.decoder(self.side, 4, False)[value])

    def encode(self, given: Given) -> int:
        operand = given.operand(self.name)
        if not isinstance(operand, Register):
            raise Refused(self.name, f"expected a register, found {format_operand(operand)}")
        code = _code(self.table, self.name, operand, given.contexts, False)
        if not self._takes(operand):
            raise Refused(self.name, f"{format_operand(operand)} sits on the other side", side=True)
        return self.field.put(code)

    def decode(self, word: int, reading: Reading) -> bool:
        operand = self.table.decoder(self.side, reading.contexts, False)[self.field.get(word)]
        if operand is None or not self._takes(operand):
            return False
        reading.operands[self.name] = reading.semantic[self.name] = operand
        return True

    def note(self, given: Given, facts: FactsBuilder) -> None:
        if isinstance(given.operands.get(self.name), Register):
            facts.add("reads", self.name)
        if self.table.width == 8:
            facts.add("restricted", self.name)


class Pair(Codec):
    """Two source fields on the A and B ports. Shared by `sources`, `first_source` and `address`."""

    order = 1

    def setup(self, *arguments: tuple[str, ...]) -> None:
        self.table = self.around.tables[arguments[0][0]]
        self.a, self.b = self.own(arguments[1][0]), self.own(arguments[2][0])

    def restricted(self) -> bool:
        return self.table.width == 8

    def _clash(self, first: Operand, second: Operand) -> None:
        if port_of(first) == port_of(second):
            raise Refused(
                self.names[-1],
                f"{format_operand(first)} and {format_operand(second)} are both {port_of(first)} and cannot be read together",
                "move one of them to a register of the other bank first",
            )

    def note(self, given: Given, facts: FactsBuilder) -> None:
        for name in self.names:
            if self.restricted():
                facts.add("restricted", name)
            if isinstance(given.operands.get(name), Register):
                facts.add("reads", name)
        if len(self.names) == 2 and not any(isinstance(given.operands.get(name), Nothing) for name in self.names):
            facts.parts["pair"] = (facts.place[self.names[0]], facts.place[self.names[1]])


class Sources(Pair):
    """`a, b = sources(table, A field, B field, swap field)`; with `wide i` constants reach 255 through the wide bit; with `first
    modified` or `first written` the first one is a register that is written. One name alone is the B operand."""

    def setup(self, *arguments: tuple[str, ...]) -> None:
        super().setup(*arguments)
        self.swap = self.own(arguments[3][0])
        named = named_arguments(arguments[4:])
        self.wide = self.own(named["wide"][0]) if "wide" in named else None
        self.first = named.get("first", ("read",))[0]
        # The loader sets it: the choice and its cases that make no use of the first source, which may then be left out as `--`.
        self.unary: tuple[str, frozenset[str]] = ("", frozenset())
        self.other = self.table.code(Constant(0), 8, False) or 0

    def operand_specs(self) -> Mapping[str, OperandSpec]:
        kinds = {
            "read": ("source", Role.READ), "modified": ("modified", Role.MODIFY), "written": ("destination", Role.WRITE),
        }
        specs = {self.names[-1]: OperandSpec(self.names[-1], "source", Role.READ, restricted=self.restricted())}
        if len(self.names) == 2:
            kind, role = kinds[self.first]
            specs[self.names[0]] = OperandSpec(self.names[0], kind, role, restricted=self.restricted())
        return specs

    def readable(self) -> Sequence[str]:
        if len(self.names) == 1:
            return ("a", self.names[0])
        return self.names if self.first != "written" else self.names[1:]

    def writable(self) -> Sequence[str]:
        return () if self.first == "read" else (self.names[0],)

    def _source(self, name: str, operand: Operand, contexts: int) -> tuple[int, int]:
        """The field value and the wide bit."""
        if self.wide is not None and isinstance(operand, Constant) and 128 <= operand.value <= 255:
            return _code(self.table, name, Constant(operand.value - 128), contexts, False), 1
        if self.wide is not None and isinstance(operand, Constant) and operand.value > 255:
            number_of(name, operand, "the constant of this operand", 0, 255, 8)
        return _code(self.table, name, operand, contexts, False), 0

    def _leaves_out_first(self, given_choices: Mapping[str, str]) -> bool:
        axis, cases = self.unary
        return len(self.names) == 1 or given_choices.get(axis) in cases

    def encode(self, given: Given) -> int:
        second_name = self.names[-1]
        second = given.operand(second_name)
        first = given.operand(self.names[0]) if len(self.names) == 2 else Nothing()
        code, wide = self._source(second_name, second, given.contexts)
        if isinstance(first, Nothing):
            if not self._leaves_out_first(given.choices):
                raise Refused(self.names[0], "this operation needs both sources; only one that ignores the first takes `--`")
            swap = bank_of(second) == "a"
            fields = (code, self.other) if swap else (0, code)
        else:
            first_code, first_wide = self._source(self.names[0], first, given.contexts)
            self._first_is_register(first, given.contexts)
            self._clash(first, second)
            wide |= first_wide
            swap = bank_of(first) == "b" or bank_of(second) == "a"
            fields = (code, first_code) if swap else (first_code, code)
        word = self.a.put(fields[0]) | self.b.put(fields[1]) | self.swap.put(int(swap))
        return word | (self.wide.put(wide) if self.wide is not None else 0)

    def _first_is_register(self, first: Operand, contexts: int) -> None:
        if self.first == "read":
            return
        if not isinstance(first, Register):
            raise Refused(self.names[0], f"expected a register to write to, found {format_operand(first)}")
        if self.first == "modified" and first.cls not in _READ_BACK:
            raise _not_read_back(self.names[0], first)
        _code(self.table, self.names[0], first, contexts, True)

    def decode(self, word: int, reading: Reading) -> bool:
        a_code, b_code = self.a.get(word), self.b.get(word)
        a = self.table.decoder("a", reading.contexts, False)[a_code]
        b = self.table.decoder("b", reading.contexts, False)[b_code]
        if a is None or b is None:
            return False
        wide = self.wide is not None and self.wide.get(word) == 1
        if wide:
            a = Constant(a.value + 128) if isinstance(a, Constant) else a
            b = Constant(b.value + 128) if isinstance(b, Constant) else b
        swap = bool(self.swap.get(word))
        first, second = (b, a) if swap else (a, b)
        if self.first != "read" and not self._writes(first, reading.contexts):
            return False
        reading.semantic["a" if len(self.names) == 1 else self.names[0]] = first
        reading.semantic[self.names[-1]] = reading.operands[self.names[-1]] = second
        if len(self.names) == 2:
            # The unread first source of an operation that ignores it is how `--` is encoded.
            left_out = (a_code == 0 and not swap) or (swap and b_code == self.other and not wide and bank_of(a) == "a")
            if left_out and self._leaves_out_first(reading.choices):
                first = Nothing()
            reading.operands[self.names[0]] = first
        return True

    def _writes(self, first: Operand, contexts: int) -> bool:
        if not isinstance(first, Register) or self.table.code(first, contexts, True) is None:
            return False
        return self.first == "written" or first.cls in _READ_BACK

    def note(self, given: Given, facts: FactsBuilder) -> None:
        super().note(given, facts)
        if self.first != "read":
            facts.add("writes", self.names[0])
        if self.first == "written":
            facts.parts["reads"].remove(facts.place[self.names[0]])


class FirstSource(Pair):
    """`a = first_source(table, A field, B field, swap field)`: one source that is the A operand; the other field holds 0."""

    def setup(self, *arguments: tuple[str, ...]) -> None:
        super().setup(*arguments)
        self.swap = self.own(arguments[3][0])
        self.wide = self.own(named_arguments(arguments[4:])["wide"][0])
        self.other = self.table.code(Constant(0), 8, False) or 0

    def operand_specs(self) -> Mapping[str, OperandSpec]:
        return {self.name: OperandSpec(self.name, "register", Role.READ, restricted=self.restricted())}

    def readable(self) -> Sequence[str]:
        return self.names

    def encode(self, given: Given) -> int:
        operand = given.operand(self.name)
        if not isinstance(operand, Register):
            raise Refused(self.name, f"expected a register, found {format_operand(operand)}")
        code = _code(self.table, self.name, operand, given.contexts, False)
        if bank_of(operand) == "b":
            return self.a.put(self.other) | self.b.put(code) | self.swap.put(1)
        return self.a.put(code) | self.b.put(self.other)

    def decode(self, word: int, reading: Reading) -> bool:
        swap = self.swap.get(word)
        held, other = (self.b, self.a) if swap else (self.a, self.b)
        operand = self.table.decoder("b" if swap else "a", reading.contexts, False)[held.get(word)]
        if not isinstance(operand, Register) or other.get(word) != self.other or self.wide.get(word):
            return False
        reading.operands[self.name] = reading.semantic[self.name] = operand
        return True


class Address(Pair):
    """`x, y = address(table, A field, B field)`: a sum, so the two change places without a swap bit."""

    order: ClassVar[int] = 0

    def operand_specs(self) -> Mapping[str, OperandSpec]:
        return {name: OperandSpec(name, "address", Role.READ, high=127, restricted=True) for name in self.names}

    def readable(self) -> Sequence[str]:
        return self.names

    def encode(self, given: Given) -> int:
        first, second = (given.operand(name) for name in self.names)
        codes = [_code(self.table, name, given.operand(name), given.contexts, False) for name in self.names]
        self._clash(first, second)
        if bank_of(first) == "b" or bank_of(second) == "a":
            codes.reverse()
        return self.a.put(codes[0]) | self.b.put(codes[1])

    def decode(self, word: int, reading: Reading) -> bool:
        a = self.table.decoder("a", reading.contexts, False)[self.a.get(word)]
        b = self.table.decoder("b", reading.contexts, False)[self.b.get(word)]
        if a is None or b is None:
            return False
        if isinstance(a, Constant) and bank_of(b) is not None:
            a, b = b, a
        for name, operand in zip(self.names, (a, b), strict=True):
            reading.operands[name] = reading.semantic[name] = operand
        return True


class RegisterAndConstant(Codec):
    """`register, constant = register_and_constant(table, A field, B field, low..high)`: the register on its side, the constant on
    the other. `plus 1`: the field holds the constant plus one; `wide i`: eight bits through the wide bit."""

    def setup(self, *arguments: tuple[str, ...]) -> None:
        self.table = self.around.tables[arguments[0][0]]
        self.a, self.b = self.own(arguments[1][0]), self.own(arguments[2][0])
        low, high = arguments[3][0].split("..")
        self.low, self.high = int(low), int(high)
        named = named_arguments(arguments[4:])
        self.plus = int(named["plus"][0]) if "plus" in named else 0
        self.wide = self.own(named["wide"][0]) if "wide" in named else None
        self.register_name, self.constant_name = self.names

    def operand_specs(self) -> Mapping[str, OperandSpec]:
        return {
            self.register_name: OperandSpec(self.register_name, "register", Role.READ, restricted=True),
            self.constant_name: OperandSpec(self.constant_name, "number", low=self.low, high=self.high),
        }

    def readable(self) -> Sequence[str]:
        return (self.register_name,)

    def parameters(self) -> Sequence[str]:
        return (self.constant_name,)

    def encode(self, given: Given) -> int:
        register = given.operand(self.register_name)
        if not isinstance(register, Register):
            raise Refused(self.register_name, f"expected a register, found {format_operand(register)}")
        code = _code(self.table, self.register_name, register, given.contexts, False)
        value = self.plus + number_of(self.constant_name, given.operand(self.constant_name), f"the {self.constant_name}",
                                      self.low, self.high)
        wide = 0
        if self.wide is not None:
            wide, value = value >> 7, value & 127
        constant = _code(self.table, self.constant_name, Constant(value), given.contexts, False)
        fields = (constant, code) if bank_of(register) == "b" else (code, constant)
        return self.a.put(fields[0]) | self.b.put(fields[1]) | (self.wide.put(wide) if self.wide is not None else 0)

    def decode(self, word: int, reading: Reading) -> bool:
        a = self.table.decoder("a", reading.contexts, False)[self.a.get(word)]
        b = self.table.decoder("b", reading.contexts, False)[self.b.get(word)]
        register, constant = (b, a) if isinstance(a, Constant) else (a, b)
        if not isinstance(register, Register) or not isinstance(constant, Constant):
            return False
        value = constant.value - self.plus + (128 if self.wide is not None and self.wide.get(word) else 0)
        if not self.low <= value <= self.high:
            return False
        reading.operands[self.register_name] = reading.semantic[self.register_name] = register
        reading.operands[self.constant_name] = Constant(value)
        reading.values[self.constant_name] = value
        return True

    def note(self, given: Given, facts: FactsBuilder) -> None:
        facts.add("restricted", self.register_name)
        if isinstance(given.operands.get(self.register_name), Register):
            facts.add("reads", self.register_name)


CODECS: dict[str, type[Codec]] = {
    "destination": Destination,
    "modified": Modified,
    "register": SingleRegister,
    "sources": Sources,
    "first_source": FirstSource,
    "address": Address,
    "register_and_constant": RegisterAndConstant,
}
