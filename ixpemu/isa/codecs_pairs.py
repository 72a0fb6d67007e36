"""Codecs of two register operands on the A and B ports: pairs of sources, single sources that could use either, addresses.

The rules for sides and the swap bit are here, once. Which fields they sit in comes from the blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from ixpemu.isa.blocks import OperandSpec, Role
from ixpemu.isa.codec import Codec, FactsBuilder, Given, Reading, Refused, named_arguments, number_of
from ixpemu.isa.codecs_registers import READ_BACK, not_read_back, register_code
from ixpemu.isa.model import Constant, Nothing, Operand, Register
from ixpemu.isa.physical import format_operand
from ixpemu.isa.tables import bank_of, port_of


class Pair(Codec):
    """Two source fields on the A and B ports. Shared by `sources`, `first_source` and `address`."""

    order = 1

    def setup(self, *arguments: tuple[str, ...]) -> None:
        self.table = self.around.tables[arguments[0][0]]
        self.a, self.b = self.own(arguments[1][0]), self.own(arguments[2][0])

    def restricted(self) -> bool:
        return self.table.width == 8

    def _clash(self, first: Operand, second: Operand) -> None:
        port = port_of(first)
        if port != port_of(second):
            return
        both = f"{format_operand(first)} and {format_operand(second)} are both {port}"
        if bank_of(first) is not None:
            raise Refused(self.names[-1], f"{both}, and an instruction reads one of bank A and one of bank B",
                          "copy one of them to a register of the other bank first: alu[name, --, B, register]")
        advice = (
            "load one of them into a register first: immed[name, constant]" if isinstance(first, Constant)
            else "copy one of them to a GPR first: alu[name, --, B, register]"
        )
        raise Refused(self.names[-1], f"{both}, and an instruction reads only one of these", advice)

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
            return register_code(self.table, name, Constant(operand.value - 128), contexts, False), 1
        if self.wide is not None and isinstance(operand, Constant) and operand.value > 255:
            number_of(name, operand, "the constant of this operand", 0, 255, 8)
        return register_code(self.table, name, operand, contexts, False), 0

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
        if self.first == "modified" and first.cls not in READ_BACK:
            raise not_read_back(self.names[0], first)
        register_code(self.table, self.names[0], first, contexts, True)

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
        return self.first == "written" or first.cls in READ_BACK

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
        code = register_code(self.table, self.name, operand, given.contexts, False)
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
        codes = [register_code(self.table, name, given.operand(name), given.contexts, False) for name in self.names]
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


CODECS: dict[str, type[Codec]] = {"sources": Sources, "first_source": FirstSource, "address": Address}
