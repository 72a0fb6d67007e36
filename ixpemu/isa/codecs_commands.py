"""Codecs of memory and I/O commands and of waiting: transfer registers, counts, completion, event signals."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ixpemu.isa.blocks import OperandSpec, Role, TokenSpec, Transfer
from ixpemu.isa.codec import Codec, FactsBuilder, Given, Reading, Refused
from ixpemu.isa.codecs_control import Flag, defer_of
from ixpemu.isa.codecs_values import Number
from ixpemu.isa.model import Constant, Operand, Register, RegisterClass, Signal, Token, Word
from ixpemu.isa.physical import format_operand
from ixpemu.isa.tables import window

_CLASSES = {"sram": RegisterClass.SRAM, "dram": RegisterClass.DRAM}
_ROLES = {"in": Role.TRANSFER_IN, "out": Role.TRANSFER_OUT, "both": Role.TRANSFER_BOTH}
_MAXIMUM = re.compile(r"max(?:_(\d+))?", re.IGNORECASE)
MOST_INDIRECT = 16              # registers that a command may touch whose count is in the result before it


def signal_of(name: str, operand: Operand) -> int:
    """The number of a signal operand. Raises `Refused`."""
    if not isinstance(operand, Signal):
        raise Refused(name, f"expected an event signal, found {format_operand(operand)}")
    if operand.number is None:
        raise Refused(name, f"signal {operand.name or '?'} has no number yet")
    if not 1 <= operand.number <= 15:
        raise Refused(name, f"there is no signal {operand.number}: 1..15")
    return operand.number


class TransferRegister(Codec):
    """`transfer = transfer(field, class, direction[, words n][, fills n])`: the first of a run of transfer registers.

    `class`: sram or dram, what the unit uses; with eight contexts bit 4 of the field picks the other one. `words`: registers that
    one of the count takes (2 for dram). `fills`: registers that it fills where those are not as many as it takes.
    """

    def setup(self, *arguments: tuple[str, ...]) -> None:
        self.field = self.own(arguments[0][0])
        self.cls = _CLASSES[arguments[1][0]]
        self.other = next(cls for cls in _CLASSES.values() if cls is not self.cls)
        self.direction = arguments[2][0]
        named = {words[0]: words[1:] for words in arguments[3:]}
        self.words = int(named["words"][0]) if "words" in named else 1
        self.fills = int(named["fills"][0]) if "fills" in named else None

    def operand_specs(self) -> Mapping[str, OperandSpec]:
        return {self.name: OperandSpec(self.name, "transfer", _ROLES[self.direction])}

    def parameters(self) -> Sequence[str]:
        return ()

    def encode(self, given: Given) -> int:
        operand = given.operand(self.name)
        if not isinstance(operand, Register) or operand.cls not in (self.cls, self.other):
            raise Refused(self.name, f"expected a transfer register `$` or `$$`, found {format_operand(operand)}")
        if operand.number is None:
            raise Refused(self.name, f"transfer register {operand.name or '?'} has no number yet")
        count = window(given.contexts)
        if not 0 <= operand.number < count:
            raise Refused(self.name, f"{format_operand(operand)} does not exist: 0..{count - 1} with {given.contexts} contexts")
        if operand.cls is self.other:
            if given.contexts != 8:
                raise Refused(self.name, f"with four contexts this unit reaches only its own class of transfer register, not "
                                         f"{format_operand(operand)}")
            return self.field.put(operand.number + 16)
        return self.field.put(operand.number)

    def decode(self, word: int, reading: Reading) -> bool:
        number = self.field.get(word)
        cls = self.cls
        if reading.contexts == 8 and number >= 16:
            cls, number = self.other, number - 16
        reading.operands[self.name] = reading.semantic[self.name] = Register(cls, number)
        return True

    def note(self, given: Given, facts: FactsBuilder) -> None:
        operand = given.operands.get(self.name)
        cls = operand.cls if isinstance(operand, Register) else None
        facts.parts["transfer"] = (facts.place.get(self.name), self.direction, cls, self.words, self.fills)


class Count(Number):
    """`count = count(field, low..high)`: units of the command less one; with `indirect_ref` also `max_N`, up to 16."""

    kind = "count"
    bias = 1

    def encode(self, given: Given) -> int:
        operand = given.operand(self.name)
        maximum = most_of(operand)
        if maximum is None:
            try:
                return super().encode(given)
            except Refused as refused:
                if isinstance(operand, Constant) and self.high < operand.value <= MOST_INDIRECT:
                    refused.help = (f"more than {self.high} take max_{operand.value} and indirect_ref, with the count in the "
                                    "result of the instruction before")
                raise
        if "indirect_ref" not in given.tokens:
            raise Refused(self.name, f"{format_operand(operand)} needs the option indirect_ref")
        if not self.low <= maximum <= MOST_INDIRECT:
            raise Refused(self.name, f"{format_operand(operand)} is not within max_{self.low}..max_{MOST_INDIRECT}")
        # Three bits hold 8 at most; what a word of a larger maximum holds is assumed, the hardware uses the override.
        return self.field.put(min(maximum, self.high) - self.bias)

    def decode(self, word: int, reading: Reading) -> bool:
        super().decode(word, reading)
        if reading.values.get("indirect_ref"):
            reading.operands[self.name] = Word(f"max_{reading.values[self.name]}")
        return True

    order = 1           # behind indirect_ref

    def note(self, given: Given, facts: FactsBuilder) -> None:
        operand = given.operands.get(self.name)
        facts.parts["count"] = most_of(operand) or (operand.value if isinstance(operand, Constant) else 1)


class Keys(Number):
    """`keys = keys(field, low..high)`: how many keys a command works on, stored as it is."""

    def note(self, given: Given, facts: FactsBuilder) -> None:
        operand = given.operands.get(self.name)
        facts.parts["count"] = operand.value if isinstance(operand, Constant) else 1


def most_of(operand: Operand | None) -> int | None:
    """N of `max_N`, 16 for `max`, None for anything else."""
    match = _MAXIMUM.fullmatch(operand.text) if isinstance(operand, Word) else None
    if match is None:
        return None
    return int(match[1]) if match[1] else MOST_INDIRECT


class Completion(Codec):
    """`completion = completion(kind, signal, single|pair)`: `ctx_swap[s]` with up to 2 defer slots, `sig_done[s]`, or neither."""

    SIG_DONE = 3
    SLOTS = 2

    def setup(self, *arguments: tuple[str, ...]) -> None:
        self.kind, self.signal = self.own(arguments[0][0]), self.own(arguments[1][0])
        self.pair = arguments[2][0] == "pair"

    def token_specs(self) -> Sequence[TokenSpec]:
        return (TokenSpec("ctx_swap", "signal"), TokenSpec("sig_done", "signal"), TokenSpec("defer", "number", 1, self.SLOTS))

    def parameters(self) -> Sequence[str]:
        return ()

    def encode(self, given: Given) -> int:
        swap, done = given.tokens.get("ctx_swap"), given.tokens.get("sig_done")
        if swap is not None and done is not None:
            raise Refused("sig_done", "a command has either ctx_swap or sig_done",
                          "ctx_swap waits here for its signal, sig_done goes on and something later waits")
        slots = defer_of(given, "defer", self.SLOTS)
        token = swap or done
        if slots and swap is None:
            raise Refused("defer", "defer on a command goes with ctx_swap", "without a swap nothing is deferred: leave it out")
        if token is None:
            return self.kind.put(self.SIG_DONE)
        if len(token.arguments) != 1:
            raise Refused(token.name, f"{token.name} takes one event signal, e.g. {token.name}[s]")
        number = signal_of(token.name, token.arguments[0])
        if self.pair and number % 2:
            raise Refused(token.name, f"this command raises a pair of signals, so it needs an even number, not {number}")
        return self.kind.put(slots if swap is not None else self.SIG_DONE) | self.signal.put(number)

    def decode(self, word: int, reading: Reading) -> bool:
        kind, number = self.kind.get(word), self.signal.get(word)
        if kind != self.SIG_DONE and number == 0:
            return False
        if number:
            name = "sig_done" if kind == self.SIG_DONE else "ctx_swap"
            reading.tokens[name] = Token(name, (Signal(number),))
        slots = kind if kind != self.SIG_DONE else 0
        if slots:
            reading.tokens["defer"] = Token("defer", (Constant(slots),))
        reading.values |= {"signal": number, "completion": int(kind == self.SIG_DONE), "defer": slots}
        return True

    def note(self, given: Given, facts: FactsBuilder) -> None:
        for name in ("ctx_swap", "sig_done"):
            if name in given.tokens:
                facts.parts["signal"] = (facts.token_place[name], 0)
                facts.parts["signal_pair"] = self.pair
        if "ctx_swap" in given.tokens:
            facts.parts["swaps"] = True
            facts.parts["waits"].append((facts.token_place["ctx_swap"], 0))
            token = given.tokens.get("defer")
            if token is not None and token.arguments and isinstance(token.arguments[0], Constant):
                facts.parts["defer"] = token.arguments[0].value


class TestedSignal(Codec):
    """`signal = signal(field, at target of word)`: an event signal of this context that a branch tests. In the case `word` of the
    mnemonic the signal has come where the branch is taken to, in the others where it is not taken."""

    def setup(self, *arguments: tuple[str, ...]) -> None:
        self.field = self.own(arguments[0][0])
        self.comes_at_target = arguments[1][-1]

    def operand_specs(self) -> Mapping[str, OperandSpec]:
        return {self.name: OperandSpec(self.name, "signal", Role.SIGNAL)}

    def parameters(self) -> Sequence[str]:
        return self.names

    def legal(self, letter: str, value: int) -> bool:
        return value != 0

    def encode(self, given: Given) -> int:
        return self.field.put(signal_of(self.name, given.operand(self.name)))

    def decode(self, word: int, reading: Reading) -> bool:
        number = self.field.get(word)
        if number == 0:
            return False
        reading.operands[self.name] = Signal(number)
        reading.values[self.name] = number
        return True

    def note(self, given: Given, facts: FactsBuilder) -> None:
        facts.parts["consumes"] = facts.place[self.name]
        facts.parts["arrived_when_taken"] = self.comes_at_target in given.choices.values()


class Wake(Codec):
    """`signals, any = wake(mask, any)`: one or more signals to wait for; all of them, or any of two or more with the token."""

    def setup(self, *arguments: tuple[str, ...]) -> None:
        self.mask, self.any = self.own(arguments[0][0]), self.own(arguments[1][0])
        self.any_name = self.names[1]

    def operand_specs(self) -> Mapping[str, OperandSpec]:
        return {self.name: OperandSpec(self.name, "signal", Role.SIGNAL, variadic=True)}

    def token_specs(self) -> Sequence[TokenSpec]:
        return (TokenSpec(self.any_name), TokenSpec("all"), TokenSpec("and"))

    def parameters(self) -> Sequence[str]:
        return self.names

    def legal(self, letter: str, value: int) -> bool:
        return letter != self.mask.letter or value != 0

    def encode(self, given: Given) -> int:
        mask = 0
        for operand in given.several:
            mask |= 1 << signal_of(self.name, operand) - 1
        if mask == 0:
            raise Refused(self.name, "expected at least one signal")
        wants_any = self.any_name in given.tokens
        if wants_any and mask & mask - 1 == 0:
            raise Refused(self.any_name, f"{self.any_name} needs two or more signals")
        if wants_any and ("all" in given.tokens or "and" in given.tokens):
            raise Refused(self.any_name, "wake on any signal or on all, not both")
        return self.mask.put(mask) | self.any.put(int(wants_any))

    def decode(self, word: int, reading: Reading) -> bool:
        mask, wants_any = self.mask.get(word), self.any.get(word)
        if mask == 0 or (wants_any and mask & mask - 1 == 0):
            return False
        reading.several = tuple(Signal(i + 1) for i in range(15) if mask >> i & 1)
        if wants_any:
            reading.tokens[self.any_name] = Token(self.any_name)
        reading.values[self.name], reading.values[self.any_name] = mask << 1, wants_any
        return True

    def note(self, given: Given, facts: FactsBuilder) -> None:
        first = facts.place[self.name]
        facts.parts["waits"] += [(None, first + i) for i in range(len(given.several))]
        facts.parts["waits_any"] = self.any_name in given.tokens


def transfer_facts(facts: FactsBuilder) -> Transfer | None:
    """The run of transfer registers, from what the codecs of one command noted."""
    noted = facts.parts.pop("transfer", None)
    count = facts.parts.pop("count", 1)
    flags = facts.parts.get("flags", {})
    if noted is None:
        return None
    operand, direction, cls, words, fills = noted
    if flags.get(Unpulled.NAME):
        direction = "in"
    return Transfer(operand, direction, cls, count * words, bool(flags.get("indirect_ref")), words, fills)


class Required(Flag):
    """`no_pull = required(field)`: an option that this form cannot do without; its bit is 1."""

    def axes(self) -> Mapping[str, Mapping[str, str]]:
        return {}

    def legal(self, letter: str, value: int) -> bool:
        return value == 1

    def encode(self, given: Given) -> int:
        if self.name not in given.tokens:
            raise Refused(self.name, f"this form needs the option {self.name}")
        return super().encode(given)

    def decode(self, word: int, reading: Reading) -> bool:
        return super().decode(word, reading) and self.name in reading.tokens


class Unpulled(Flag):
    """`no_pull = unpulled(field)`: the operand travels in the command, taken from the result before it, and not from the transfer
    register, which then is only filled. It goes with indirect_ref."""

    NAME = "no_pull"
    order = 1           # behind indirect_ref

    def setup(self, *arguments: tuple[str, ...]) -> None:
        super().setup(*arguments)
        if self.name != self.NAME:
            raise ValueError(f"it is bound to {self.NAME}")

    def encode(self, given: Given) -> int:
        if self.name in given.tokens and "indirect_ref" not in given.tokens:
            raise Refused(self.name, f"{self.name} goes with indirect_ref",
                          "the operand is in bits 22:12 of the result of the instruction before")
        return super().encode(given)

    def decode(self, word: int, reading: Reading) -> bool:
        super().decode(word, reading)
        return self.name not in reading.tokens or bool(reading.values.get("indirect_ref"))


CODECS: dict[str, type[Codec]] = {
    "required": Required,
    "unpulled": Unpulled,
    "transfer": TransferRegister,
    "count": Count,
    "keys": Keys,
    "completion": Completion,
    "signal": TestedSignal,
    "wake": Wake,
}
