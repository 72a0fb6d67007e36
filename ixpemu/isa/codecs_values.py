"""Codecs of operands that are numbers or words: constants, choices, shifts, byte masks. For control see `codecs_control`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ixpemu.isa.blocks import OperandSpec, Role
from ixpemu.isa.codec import Codec, FactsBuilder, Given, Reading, Refused, number_of
from ixpemu.isa.model import Constant, Operand, Register, Word
from ixpemu.isa.physical import format_operand

MASK32 = 0xFFFFFFFF
_SHIFT = re.compile(r"(<<|>>)\s*(rot)?\s*(\d+|indirect)", re.IGNORECASE)


class Choice(Codec):
    """`op = choice(field[, shared words])`: one word of a list. Bound to an operand, or to the mnemonic itself."""

    def setup(self, *arguments: tuple[str, ...]) -> None:
        self.field = self.own(arguments[0][0])
        table = arguments[1][0] if len(arguments) > 1 else self.name
        if table not in self.around.choices:
            raise ValueError(f"there is no choice or list of words named {table!r}")
        self.entries = self.around.choices[table]
        self.by_value = {value: words[0] for value, words in self.entries}
        self.by_word = {word.lower(): (value, words[0]) for value, words in self.entries for word in words}
        too_wide = [value for value, _ in self.entries if value >> self.field.width]
        if too_wide:
            raise ValueError(f"{too_wide[0]} does not fit field {self.field.letter!r} of {self.field.width} bits")

    def words(self) -> tuple[str, ...]:
        """Every spelling, the canonical ones first."""
        return tuple(words[0] for _, words in self.entries) + tuple(w for _, words in self.entries for w in words[1:])

    def operand_specs(self) -> Mapping[str, OperandSpec]:
        return {self.name: OperandSpec(self.name, "word", words=self.words())}

    def axes(self) -> Mapping[str, Mapping[str, str]]:
        return {self.name: {words[0]: words[0] for _, words in self.entries}}

    def parameters(self) -> Sequence[str]:
        return self.names

    def legal(self, letter: str, value: int) -> bool:
        return value in self.by_value

    def encode(self, given: Given) -> int:
        operand = given.operand(self.name)
        # A list of operations has members, such as +8, that a source parser may have read as numbers.
        text = operand.text if isinstance(operand, Word | Constant) else None
        found = self.by_word.get((text or "").lower())
        if found is None:
            words = ", ".join(words[0] for _, words in self.entries)
            raise Refused(self.name, f"{format_operand(operand)} is none of: {words}")
        given.choices[self.name] = found[1]
        return self.field.put(found[0])

    def decode(self, word: int, reading: Reading) -> bool:
        value = self.field.get(word)
        text = self.by_value.get(value)
        if text is None:
            return False
        reading.operands[self.name] = Word(text)
        reading.choices[self.name] = text
        reading.values[self.name] = value
        return True

    def note(self, given: Given, facts: FactsBuilder) -> None:
        operand = given.operands.get(self.name)
        text = operand.text if isinstance(operand, Word | Constant) else None
        found = self.by_word.get((text or "").lower())
        if found is not None:
            given.choices[self.name] = found[1]


class Number(Codec):
    """`value = number(field, low..high)`: a constant as it is."""

    kind = "number"
    bias = 0

    def setup(self, *arguments: tuple[str, ...]) -> None:
        self.field = self.own(arguments[0][0])
        low, high = arguments[1][0].split("..")
        self.low, self.high = int(low), int(high)
        if self.high >> self.field.width and (self.high - self.bias) >> self.field.width:
            raise ValueError(f"{self.high} does not fit field {self.field.letter!r} of {self.field.width} bits")

    def operand_specs(self) -> Mapping[str, OperandSpec]:
        return {self.name: OperandSpec(self.name, self.kind, low=self.low, high=self.high, bits=self.field.width)}

    def parameters(self) -> Sequence[str]:
        return self.names

    def legal(self, letter: str, value: int) -> bool:
        return self.low <= value + self.bias <= self.high

    def encode(self, given: Given) -> int:
        value = number_of(self.name, given.operand(self.name), f"the {self.name}", self.low, self.high, self.field.width)
        return self.field.put(value - self.bias)

    def decode(self, word: int, reading: Reading) -> bool:
        value = self.field.get(word) + self.bias
        if not self.low <= value <= self.high:
            return False
        reading.operands[self.name] = Constant(value)
        reading.values[self.name] = value
        return True


class Twice(Codec):
    """`source = twice(field, field, low..high)`: a constant that stands in two fields."""

    def setup(self, *arguments: tuple[str, ...]) -> None:
        self.first, self.second = self.own(arguments[0][0]), self.own(arguments[1][0])
        low, high = arguments[2][0].split("..")
        self.low, self.high = int(low), int(high)

    def operand_specs(self) -> Mapping[str, OperandSpec]:
        return {self.name: OperandSpec(self.name, "source", Role.READ, low=self.low, high=self.high)}

    def readable(self) -> Sequence[str]:
        return self.names

    def encode(self, given: Given) -> int:
        operand = given.operand(self.name)
        if not isinstance(operand, Constant):
            raise Refused(self.name, f"{format_operand(operand)} is no constant", side=True)
        value = number_of(self.name, operand, "the constant", self.low, self.high, self.first.width)
        return self.first.put(value) | self.second.put(value)

    def decode(self, word: int, reading: Reading) -> bool:
        value = self.first.get(word)
        if value != self.second.get(word):
            return False
        reading.operands[self.name] = reading.semantic[self.name] = Constant(value)
        return True

    def note(self, given: Given, facts: FactsBuilder) -> None:
        # Facts are asked of the first layout of a syntax, whichever of them the operand will need.
        if isinstance(given.operands.get(self.name), Register):
            facts.add("reads", self.name)


class Mask(Codec):
    """`byte_mask = byte_mask(field)`: four digits 0 or 1, the leftmost for the most significant byte."""

    def setup(self, *arguments: tuple[str, ...]) -> None:
        self.field = self.own(arguments[0][0])

    def operand_specs(self) -> Mapping[str, OperandSpec]:
        return {self.name: OperandSpec(self.name, "mask")}

    def parameters(self) -> Sequence[str]:
        return self.names

    def encode(self, given: Given) -> int:
        operand = given.operand(self.name)
        text = operand.text if isinstance(operand, Word | Constant) else None
        if text is None or re.fullmatch("[01]{4}", text) is None:
            raise Refused(self.name, f"{format_operand(operand)} is no byte mask: four digits 0 or 1, the leftmost for byte 3, "
                                     "e.g. 0011")
        return self.field.put(int(text, 2))

    def decode(self, word: int, reading: Reading) -> bool:
        mask = self.field.get(word)
        reading.operands[self.name] = Word(f"{mask:04b}")
        reading.values[self.name] = sum(0xFF << (8 * i) for i in range(4) if mask >> i & 1)
        return True


def _parse_shift(name: str, operand: Operand) -> tuple[str, bool, int | None]:
    """Direction, whether it rotates, and the amount or None for indirect."""
    text = operand.text if isinstance(operand, Word) else None
    match = _SHIFT.fullmatch(text) if text is not None else None
    if match is None:
        raise Refused(name, f"{format_operand(operand)} is no shift: << or >> and 1..31, `rot` and 1..31, or `indirect`")
    amount = None if match[3].lower() == "indirect" else int(match[3])
    if amount is not None and amount > 31:
        raise Refused(name, f"a shift by {amount} does not fit the field of 5 bits: 0..31, 0 meaning no shift")
    if match[2] and amount is None:
        raise Refused(name, "a rotation has no indirect form")
    return match[1], match[2] is not None, amount


class Shift(Codec):
    """`shift = shift(control, amount)`: none, logical right or left by 1..31 or by the previous A operand, or rotation.

    Decoded as `amount` of a right rotation and the `mask` of the bits that stay.
    """

    ROTATE, RIGHT, LEFT = range(3)

    def setup(self, *arguments: tuple[str, ...]) -> None:
        self.control, self.amount = self.own(arguments[0][0]), self.own(arguments[1][0])

    def operand_specs(self) -> Mapping[str, OperandSpec]:
        return {self.name: OperandSpec(self.name, "shift")}

    def axes(self) -> Mapping[str, Mapping[str, str]]:
        return {self.name: {"fixed": "", ">>indirect": ">>indirect", "<<indirect": "<<indirect"}}

    def parameters(self) -> Sequence[str]:
        return ("amount", "mask")

    def legal(self, letter: str, value: int) -> bool:
        return letter != self.control.letter or value != 3

    def encode(self, given: Given) -> int:
        operand = given.operands.get(self.name)
        if operand is None:
            return 0
        direction, rotates, amount = _parse_shift(self.name, operand)
        if amount == 0:
            return 0
        left = direction == "<<"
        stored = 0 if amount is None else 32 - amount if left else amount
        return self.control.put(self.ROTATE if rotates else self.LEFT if left else self.RIGHT) | self.amount.put(stored)

    def decode(self, word: int, reading: Reading) -> bool:
        control, amount = self.control.get(word), self.amount.get(word)
        if control == 3:
            return False
        case, mask = "fixed", MASK32
        if control == self.ROTATE:
            text = f"<<rot{32 - amount}" if amount else None
        elif amount == 0:
            text = case = ">>indirect" if control == self.RIGHT else "<<indirect"
        elif control == self.RIGHT:
            text, mask = f">>{amount}", MASK32 >> amount
        else:
            text, mask = f"<<{32 - amount}", MASK32 << (32 - amount) & MASK32
        if text is not None:
            reading.operands[self.name] = Word(text)
        reading.choices[self.name] = case
        reading.values["amount"], reading.values["mask"] = amount, mask
        return True

    def note(self, given: Given, facts: FactsBuilder) -> None:
        operand = given.operands.get(self.name)
        text = operand.text.lower().replace(" ", "") if isinstance(operand, Word) else ""
        given.choices[self.name] = text if text.endswith("indirect") else "fixed"


class RightShift(Shift):
    """`shift = right_shift(amount)`: right by 1..31 or by the previous A operand; the layout fixes the kind."""

    def setup(self, *arguments: tuple[str, ...]) -> None:
        self.amount = self.own(arguments[0][0])

    def axes(self) -> Mapping[str, Mapping[str, str]]:
        return {self.name: {"fixed": "", ">>indirect": ">>indirect"}}

    def parameters(self) -> Sequence[str]:
        return ("amount",)

    def legal(self, letter: str, value: int) -> bool:
        return True

    def encode(self, given: Given) -> int:
        direction, rotates, amount = _parse_shift(self.name, given.operand(self.name))
        if direction == "<<" or rotates or amount == 0:
            raise Refused(self.name, "this instruction shifts right, by 1..31 or indirect")
        return self.amount.put(amount or 0)

    def decode(self, word: int, reading: Reading) -> bool:
        amount = self.amount.get(word)
        reading.operands[self.name] = Word(f">>{amount}" if amount else ">>indirect")
        reading.choices[self.name] = "fixed" if amount else ">>indirect"
        reading.values["amount"] = amount
        return True


class Immediate(Codec):
    """`value, shift = immediate(field, position, invert)`: 16 bits at bit 0, 8 or 16, the whole complemented or not."""

    POSITIONS = (0, 8, 16)

    def setup(self, *arguments: tuple[str, ...]) -> None:
        self.field, self.position, self.invert = (self.own(words[0]) for words in arguments)
        self.value_name, self.shift_name = self.names

    def operand_specs(self) -> Mapping[str, OperandSpec]:
        return {
            self.value_name: OperandSpec(self.value_name, "immediate"),
            self.shift_name: OperandSpec(self.shift_name, "shift", words=tuple(f"<<{n}" for n in self.POSITIONS)),
        }

    def parameters(self) -> Sequence[str]:
        return (self.value_name,)

    def legal(self, letter: str, value: int) -> bool:
        return letter != self.position.letter or value < len(self.POSITIONS)

    def encode(self, given: Given) -> int:
        operand = given.operand(self.value_name)
        if not isinstance(operand, Constant):
            raise Refused(self.value_name, f"expected a constant, found {format_operand(operand)}")
        shift = given.operands.get(self.shift_name)
        if shift is None:
            return self._any_shape(operand)
        direction, rotates, amount = _parse_shift(self.shift_name, shift)
        if direction != "<<" or rotates or amount not in self.POSITIONS:
            raise Refused(self.shift_name, f"{format_operand(shift)} is no shift of a constant: <<0, <<8 or <<16")
        value = number_of(self.value_name, operand, "the constant before its shift", 0, 0xFFFF, 16)
        return self.field.put(value) | self.position.put(self.POSITIONS.index(amount))

    def _any_shape(self, operand: Constant) -> int:
        for invert in (0, 1):
            value = operand.value ^ MASK32 if invert else operand.value
            for position, shift in enumerate(self.POSITIONS):
                if value & MASK32 ^ (value >> shift & 0xFFFF) << shift == 0:
                    return self.field.put(value >> shift & 0xFFFF) | self.position.put(position) | self.invert.put(invert)
        shown = operand.text or hex(operand.value)
        raise Refused(self.value_name, f"{shown} does not fit: 16 bits at bit 0, 8 or 16 are free, all others must be 0 or all 1")

    def decode(self, word: int, reading: Reading) -> bool:
        field, position = self.field.get(word), self.position.get(word)
        if position >= len(self.POSITIONS):
            return False
        shift = self.POSITIONS[position]
        value = field << shift
        if self.invert.get(word):
            value ^= MASK32
            reading.operands[self.value_name] = Constant(value)
        else:
            reading.operands[self.value_name] = Constant(field)
            if shift:
                reading.operands[self.shift_name] = Word(f"<<{shift}")
        reading.values[self.value_name] = value
        return True


CODECS: dict[str, type[Codec]] = {
    "choice": Choice,
    "number": Number,
    "twice": Twice,
    "byte_mask": Mask,
    "shift": Shift,
    "right_shift": RightShift,
    "immediate": Immediate,
}
