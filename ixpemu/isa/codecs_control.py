"""Codecs of what steers control and state: targets, CSR names, option tokens, defer slots, where a context resumes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ixpemu.isa.blocks import BranchFacts, OperandSpec, Role, TokenSpec
from ixpemu.isa.codec import Codec, FactsBuilder, Given, Reading, Refused, named_arguments, number_of
from ixpemu.isa.model import Constant, Operand, Target, Token, Word
from ixpemu.isa.physical import format_operand


class TargetField(Codec):
    """`target = target(field)`: an address of the control store in words."""

    def setup(self, *arguments: tuple[str, ...]) -> None:
        self.field = self.own(arguments[0][0])

    def operand_specs(self) -> Mapping[str, OperandSpec]:
        return {self.name: OperandSpec(self.name, "target", Role.TARGET, high=(1 << self.field.width) - 1)}

    def parameters(self) -> Sequence[str]:
        return self.names

    def encode(self, given: Given) -> int:
        return self.field.put(address_of(self.name, given.operand(self.name), self.field.width))

    def decode(self, word: int, reading: Reading) -> bool:
        address = self.field.get(word)
        reading.operands[self.name] = Target(address)
        reading.values[self.name] = address
        return True


def address_of(name: str, operand: Operand, width: int) -> int:
    """The address of a target operand. Raises `Refused` if it is none, unresolved or too far."""
    if not isinstance(operand, Target):
        raise Refused(name, f"expected a label, found {format_operand(operand)}")
    if operand.address is None:
        raise Refused(name, f"label {operand.name} has no address")
    if not 0 <= operand.address < 1 << width:
        raise Refused(name, f"target {operand.address} does not fit the field of {width} bits: 0..{(1 << width) - 1}")
    return operand.address


class LocalCsr(Codec):
    """`csr = local_csr(field)`: a local CSR by name, or by byte address where it has none. The field holds the word address."""

    space = "local"
    unit = 4

    def setup(self, *arguments: tuple[str, ...]) -> None:
        self.field = self.own(arguments[0][0])
        known = [csr for csr in self.around.csrs.values() if csr.space == self.space]
        self.by_address = {csr.address: csr for csr in known}
        self.by_name = {name.lower(): csr for csr in known for name in (csr.name, *csr.aliases)}

    def operand_specs(self) -> Mapping[str, OperandSpec]:
        limit = (1 << self.field.width) * self.unit - self.unit
        return {self.name: OperandSpec(self.name, f"{self.space}_csr", high=limit)}

    def axes(self) -> Mapping[str, Mapping[str, str]]:
        return {self.name: {"private": "private", "shared": ""}}

    def parameters(self) -> Sequence[str]:
        return self.names

    def _address(self, operand: Operand) -> int:
        if isinstance(operand, Word):
            found = self.by_name.get(operand.text.lower())
            if found is None:
                raise Refused(self.name, f"there is no {self.space} CSR named {operand.text}", self._suggestion(operand.text))
            return int(found.address)
        limit = ((1 << self.field.width) - 1) * self.unit
        address = number_of(self.name, operand, "the CSR's byte address", 0, limit)
        if address % self.unit:
            raise Refused(self.name, f"CSR address {hex(address)} is not a multiple of {self.unit}")
        return address

    def _suggestion(self, name: str) -> str | None:
        from difflib import get_close_matches

        close = get_close_matches(name.lower(), self.by_name, n=1)
        return f"did you mean {self.by_name[close[0]].name}?" if close else None

    def _case(self, address: int) -> str:
        csr = self.by_address.get(address)
        return "private" if csr is not None and csr.private else "shared"

    def encode(self, given: Given) -> int:
        return self.field.put(self._address(given.operand(self.name)) // self.unit)

    def decode(self, word: int, reading: Reading) -> bool:
        address = self.field.get(word) * self.unit
        csr = self.by_address.get(address)
        reading.operands[self.name] = Word(csr.name) if csr is not None else Constant(address)
        reading.choices[self.name] = self._case(address)
        reading.values[self.name] = address
        return True

    def note(self, given: Given, facts: FactsBuilder) -> None:
        try:
            given.choices[self.name] = self._case(self._address(given.operand(self.name)))
        except Refused:
            given.choices[self.name] = "shared"


class CapCsr(LocalCsr):
    """`csr = cap_csr(field)`: a CSR behind the CAP, by name or address."""

    space = "cap"
    unit = 1

    def axes(self) -> Mapping[str, Mapping[str, str]]:
        return {}


class Flag(Codec):
    """`load_cc = flag(field)`: an option token without argument, one bit."""

    def setup(self, *arguments: tuple[str, ...]) -> None:
        self.field = self.own(arguments[0][0])

    def token_specs(self) -> Sequence[TokenSpec]:
        return (TokenSpec(self.name),)

    def axes(self) -> Mapping[str, Mapping[str, str]]:
        return {self.name: {"off": "", "on": self.name}}

    def parameters(self) -> Sequence[str]:
        return self.names

    def encode(self, given: Given) -> int:
        return self.field.put(int(self.name in given.tokens))

    def decode(self, word: int, reading: Reading) -> bool:
        on = self.field.get(word)
        if on:
            reading.tokens[self.name] = Token(self.name)
        reading.choices[self.name] = "on" if on else "off"
        reading.values[self.name] = on
        return True

    def note(self, given: Given, facts: FactsBuilder) -> None:
        on = self.name in given.tokens
        given.choices[self.name] = "on" if on else "off"
        facts.parts.setdefault("flags", {})[self.name] = on


class OneOf(Codec):
    """`step = one_of(field[, absent n])`: one of several option tokens, by the choice of the same name.

    With `absent n` the option may be left out, which is the value n; it is not printed then.
    """

    def setup(self, *arguments: tuple[str, ...]) -> None:
        self.field = self.own(arguments[0][0])
        if self.name not in self.around.choices:
            raise ValueError(f"there is no choice named {self.name!r}")
        entries = self.around.choices[self.name]
        self.by_value = {value: words[0] for value, words in entries}
        self.by_word = {word: value for value, words in entries for word in words}
        named = named_arguments(arguments[1:])
        self.absent = int(named["absent"][0]) if "absent" in named else None

    def token_specs(self) -> Sequence[TokenSpec]:
        return tuple(TokenSpec(word, needed=self.absent is None) for word in self.by_word)

    def parameters(self) -> Sequence[str]:
        return self.names

    def legal(self, letter: str, value: int) -> bool:
        return value in self.by_value

    def encode(self, given: Given) -> int:
        found = [word for word in self.by_word if word in given.tokens]
        if len(found) > 1:
            raise Refused(found[1], f"{found[0]} and {found[1]} cannot stand together")
        if found:
            return self.field.put(self.by_word[found[0]])
        if self.absent is None:
            raise Refused(self.name, f"the option that says which {self.name} is missing",
                          f"one of: {', '.join(self.by_value.values())}")
        return self.field.put(self.absent)

    def decode(self, word: int, reading: Reading) -> bool:
        value = self.field.get(word)
        text = self.by_value.get(value)
        if text is None:
            return False
        if value != self.absent:
            reading.tokens[text] = Token(text)
        reading.values[self.name] = value
        return True


class PointerOfEntry(Codec):
    """`pointer = pointer_of_entry(which, page)`: the token `lm_addr0[k]` or `lm_addr1[k]`, or neither (0 in both fields).

    Decoded as one number: 0 for neither, else the pointer plus one, and the page in the bits above it.
    """

    TOKENS = ("lm_addr0", "lm_addr1")

    def setup(self, *arguments: tuple[str, ...]) -> None:
        self.which, self.page = self.own(arguments[0][0]), self.own(arguments[1][0])

    def token_specs(self) -> Sequence[TokenSpec]:
        return tuple(TokenSpec(name, "number", 0, (1 << self.page.width) - 1) for name in self.TOKENS)

    def parameters(self) -> Sequence[str]:
        return self.names

    def legal(self, letter: str, value: int) -> bool:
        return letter != self.which.letter or value <= len(self.TOKENS)

    def encode(self, given: Given) -> int:
        found = [name for name in self.TOKENS if name in given.tokens]
        if len(found) > 1:
            raise Refused(found[1], f"{found[0]} and {found[1]} cannot stand together")
        if not found:
            return 0
        token = given.tokens[found[0]]
        if len(token.arguments) != 1:
            raise Refused(found[0], f"{found[0]} takes one number, e.g. {found[0]}[0]")
        page = number_of(found[0], token.arguments[0], f"the number of {found[0]}", 0, (1 << self.page.width) - 1)
        return self.which.put(self.TOKENS.index(found[0]) + 1) | self.page.put(page)

    def decode(self, word: int, reading: Reading) -> bool:
        which, page = self.which.get(word), self.page.get(word)
        if which > len(self.TOKENS) or (which == 0 and page):
            return False
        if which:
            name = self.TOKENS[which - 1]
            reading.tokens[name] = Token(name, (Constant(page),))
        reading.values[self.name] = page << self.which.width | which
        return True


class Defer(Codec):
    """`defer = defer(field)`: the token `defer[n]`, 0 to the most that the block's `timing` allows."""

    def setup(self, *arguments: tuple[str, ...]) -> None:
        self.field = self.own(arguments[0][0])
        self.limit = 0          # set by the loader from `timing`

    def token_specs(self) -> Sequence[TokenSpec]:
        return (TokenSpec(self.name, "number", 1, self.limit),)

    def parameters(self) -> Sequence[str]:
        return self.names

    def legal(self, letter: str, value: int) -> bool:
        return value <= self.limit

    def encode(self, given: Given) -> int:
        return self.field.put(defer_of(given, self.name, self.limit))

    def decode(self, word: int, reading: Reading) -> bool:
        slots = self.field.get(word)
        if slots > self.limit:
            return False
        if slots:
            reading.tokens[self.name] = Token(self.name, (Constant(slots),))
        reading.values[self.name] = slots
        return True

    def note(self, given: Given, facts: FactsBuilder) -> None:
        token = given.tokens.get(self.name)
        if token is not None and token.arguments and isinstance(token.arguments[0], Constant):
            facts.parts["defer"] = token.arguments[0].value


def defer_of(given: Given, name: str, limit: int) -> int:
    """The number of defer slots an operation asks for. Raises `Refused` over the limit."""
    token = given.tokens.get(name)
    if token is None:
        return 0
    if len(token.arguments) != 1:
        raise Refused(name, f"{name} takes one number, e.g. {name}[1]")
    return number_of(name, token.arguments[0], f"the number of {name} slots of this instruction", 1, limit)


class MayGoTo(Codec):
    """`targets = may_go_to(any field)`: the token `targets[l1#, l2#]`, for flow analysis; it leaves nothing in the word."""

    def token_specs(self) -> Sequence[TokenSpec]:
        return (TokenSpec(self.name, "targets"),)

    def encode(self, given: Given) -> int:
        return 0

    def decode(self, word: int, reading: Reading) -> bool:
        return True


class Resume(Codec):
    """`br = resume(flag, field)`: the token `br[label#]`, where a context goes on after a swap."""

    def setup(self, *arguments: tuple[str, ...]) -> None:
        self.flag, self.field = self.own(arguments[0][0]), self.own(arguments[1][0])

    def token_specs(self) -> Sequence[TokenSpec]:
        return (TokenSpec(self.name, "target", high=(1 << self.field.width) - 1),)

    def parameters(self) -> Sequence[str]:
        return ("resume", "target")

    def encode(self, given: Given) -> int:
        token = given.tokens.get(self.name)
        if token is None:
            return 0
        if len(token.arguments) != 1:
            raise Refused(self.name, f"{self.name} takes one label, e.g. {self.name}[next#]")
        return self.flag.put(1) | self.field.put(address_of(self.name, token.arguments[0], self.field.width))

    def decode(self, word: int, reading: Reading) -> bool:
        resume, address = self.flag.get(word), self.field.get(word)
        if address and not resume:
            return False
        if resume:
            reading.tokens[self.name] = Token(self.name, (Target(address),))
        reading.values["resume"], reading.values["target"] = resume, address
        return True

    def note(self, given: Given, facts: FactsBuilder) -> None:
        token = given.tokens.get(self.name)
        if token is not None and token.arguments:
            facts.parts["resume"] = (facts.token_place[self.name], 0)
            facts.parts["branch"] = BranchFacts(conditional=False, targets=(), indirect=False, resume=True)


CODECS: dict[str, type[Codec]] = {
    "target": TargetField,
    "local_csr": LocalCsr,
    "cap_csr": CapCsr,
    "flag": Flag,
    "one_of": OneOf,
    "pointer_of_entry": PointerOfEntry,
    "defer": Defer,
    "may_go_to": MayGoTo,
    "resume": Resume,
}
