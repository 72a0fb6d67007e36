"""Codecs of one register operand: destinations, registers that are modified, single sources, a register beside a constant.

Which fields they sit in comes from the blocks. Two sources at once are `codecs_pairs`, transfer registers `codecs_commands`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ixpemu.isa.blocks import OperandSpec, Role
from ixpemu.isa.codec import Codec, FactsBuilder, Given, Reading, Refused, named_arguments, number_of
from ixpemu.isa.model import Constant, Nothing, Operand, Register, RegisterClass
from ixpemu.isa.physical import format_operand
from ixpemu.isa.tables import OperandTable, bank_of, window

READ_BACK = (RegisterClass.GPR, RegisterClass.ABSOLUTE, RegisterClass.LOCAL_MEMORY)


def register_code(table: OperandTable, name: str, operand: Operand, contexts: int, destination: bool) -> int:
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
            raise Refused(name, f"constant {operand.text or shown} cannot be a destination", table.help.get(use))
        limit = 255 if table.width == 10 else 127
        raise Refused(name, f"{operand.text or shown} does not fit the {limit.bit_length()} bits of this constant: 0..{limit}",
                      table.help.get("constant"))
    if isinstance(operand, Nothing):
        raise Refused(name, f"`--` cannot be a {use} here")
    if not table.knows(operand, destination) or _beyond(operand, table):
        raise Refused(name, f"{shown} does not fit this operand: {_what_fits(operand, table)}", table.help.get(use))
    last = window(contexts) - 1
    offset = 15 if table.width == 10 else 7
    raise Refused(name, f"{shown} does not exist: context-relative registers go to {last} with {contexts} contexts, absolute "
                        f"ones to 127, offsets to {offset}")


def _beyond(operand: Operand, table: OperandTable) -> bool:
    """Whether a wider field would hold the operand: a local-memory offset over the 8-bit field's 7."""
    if table.width != 8 or not isinstance(operand, Register):
        return False
    return operand.cls is RegisterClass.LOCAL_MEMORY and (operand.number or 0) <= 15


def _what_fits(operand: Operand, table: OperandTable) -> str:
    """Why a field holds no operand of this kind, by what it does hold."""
    cls = operand.cls if isinstance(operand, Register) else None
    if cls is RegisterClass.NEIGHBOR_INDEX:
        return "the ring is read with *n$index and *n$index++, and written with *n$index++"
    fits = {
        RegisterClass.ABSOLUTE: "registers of the context, but no `@` registers",
        RegisterClass.NEIGHBOR: "no next-neighbour registers by name",
        RegisterClass.LOCAL_MEMORY: "local memory by *l$index0[0] to [7], and without ++ or --",
    }.get(cls, "no operand of this kind") if cls is not None else "no operand of this kind"
    return f"its {table.width} bits hold {fits}"


def not_read_back(name: str, operand: Operand) -> Refused:
    return Refused(name, f"{format_operand(operand)} cannot be read back, and this instruction keeps some of its bits")


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
        return not self.modifies or (isinstance(operand, Register) and operand.cls in READ_BACK)

    def encode(self, given: Given) -> int:
        operand = given.operand(self.name)
        code = register_code(self.table, self.name, operand, given.contexts, True)
        if self.modifies and not (isinstance(operand, Register) and operand.cls in READ_BACK):
            raise not_read_back(self.name, operand)
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
    """`register = register(table, field, side[, others|own])`: one source register and no constant, in the field of its own side
    (A or B).

    Registers without a side take the layout that says `others`; if none says anything, that of A.
    """

    def setup(self, *arguments: tuple[str, ...]) -> None:
        (table,), (letter,), (side,) = arguments[:3]
        self.table = self.around.tables[table]
        self.field = self.own(letter)
        self.side = side.lower()
        self.others = self.side == "a" if len(arguments) == 3 else {"others": True, "own": False}[arguments[3][0]]

    def operand_specs(self) -> Mapping[str, OperandSpec]:
        return {self.name: OperandSpec(self.name, "register", Role.READ, restricted=self.table.width == 8)}

    def readable(self) -> Sequence[str]:
        return self.names

    def _takes(self, operand: Operand | None) -> bool:
        return isinstance(operand, Register) and (bank_of(operand) == self.side or (self.others and bank_of(operand) is None))

    def legal(self, letter: str, value: int) -> bool:
        return self._takes(self.table.decoder(self.side, 4, False)[value])

    def encode(self, given: Given) -> int:
        operand = given.operand(self.name)
        if not isinstance(operand, Register):
            raise Refused(self.name, f"expected a register, found {format_operand(operand)}")
        code = register_code(self.table, self.name, operand, given.contexts, False)
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
            self.constant_name: OperandSpec(
                self.constant_name, "number", low=self.low, high=self.high, bits=8 if self.wide is not None else 0
            ),
        }

    def readable(self) -> Sequence[str]:
        return (self.register_name,)

    def parameters(self) -> Sequence[str]:
        return (self.constant_name,)

    def encode(self, given: Given) -> int:
        register = given.operand(self.register_name)
        if not isinstance(register, Register):
            raise Refused(self.register_name, f"expected a register, found {format_operand(register)}")
        code = register_code(self.table, self.register_name, register, given.contexts, False)
        value = self.plus + number_of(self.constant_name, given.operand(self.constant_name), f"the {self.constant_name}",
                                      self.low, self.high)
        wide = 0
        if self.wide is not None:
            wide, value = value >> 7, value & 127
        constant = register_code(self.table, self.constant_name, Constant(value), given.contexts, False)
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
    "register_and_constant": RegisterAndConstant,
}
