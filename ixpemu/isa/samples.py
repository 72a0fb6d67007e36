"""Operations to try: a walk over every operand form of every block, for checks and tests.

Each place of a form takes every kind of operand it can hold (each register class, both ends of each range, each word) with the
other places at a base value; places that share the two ports are varied together; options are tried singly and in pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ixpemu.isa.blocks import EncodingError, Form, OperandSpec, TokenSpec
from ixpemu.isa.instruction_set import InstructionSet
from ixpemu.isa.model import Constant, Nothing, Operand, Operation, Register, Signal, Target, Token, Word
from ixpemu.isa.physical import parse_physical_operand
from ixpemu.isa.tables import window

_REGISTERS = (
    "a0 a1 a{top} b0 b2 b{top} @a0 @a127 @b1 @b127 $0 ${top} $$0 $${top} n$0 n${top} *l$index0[0] *l$index0[7] *l$index0[15] "
    "*l$index0++ *l$index0-- *l$index1[0] *l$index1[7] *l$index1[15] *l$index1++ *l$index1-- "
    "*$index *$index++ *$index-- *$$index *$$index++ "
    "*$$index-- *n$index *n$index++"
)
_SHIFTS = "<<1 >>31 >>1 <<31 <<rot1 <<rot31 <<indirect >>indirect"
_REGISTER_KINDS = ("source", "register", "modified", "destination", "address")
_SEVERAL = (tuple(Signal(n) for n in range(1, 16)), (Signal(3), Signal(9)))
_IMMEDIATES = (0, 1, 0x30, 0xFFFF, 0xFFFF0000, 0xFFFF1234, 0x123400, 0x12340000, 0xFF1234FF, 0xEDCBFFFF, 0xFFFFFFFF)


def registers(contexts: int) -> list[Operand]:
    """One or more of every kind of register."""
    return [parse_physical_operand(text.format(top=window(contexts) - 1)) for text in _REGISTERS.split()]


def operands_for(spec: OperandSpec, contexts: int, isa: InstructionSet) -> list[Operand]:
    """Operands of every kind that a place could be thought to take; some may be refused."""
    constants: list[Operand] = [Constant(value) for value in (0, 1, 127, 128, 255)]
    match spec.kind:
        case "source" | "address":
            return [*registers(contexts), *constants, Nothing()]
        case "destination":
            return [*registers(contexts), Nothing()]
        case "register" | "modified":
            return registers(contexts)
        case "transfer":
            return [parse_physical_operand(f"{prefix}{n}") for prefix in ("$", "$$") for n in (0, 1, window(contexts) - 1)]
        case "word":
            return [Nothing() if word == "--" else Word(word) for word in spec.words]
        case "number":
            return [Constant(value) for value in sorted({spec.low, (spec.low + spec.high) // 2, spec.high})]
        case "count":
            return [*(Constant(value) for value in sorted({spec.low, spec.high})), Word(f"max_{spec.high}")]
        case "mask":
            return [Word(f"{value:04b}") for value in range(16)]
        case "immediate":
            return [Constant(value) for value in _IMMEDIATES]
        case "shift":
            return [Word(text) for text in (spec.words or _SHIFTS.split())]
        case "target":
            return [Target(0), Target(11), Target(8191)]
        case "signal":
            return [Signal(n) for n in (1, 4, 15)]
        case "local_csr" | "cap_csr":
            space = spec.kind.removesuffix("_csr")
            return [*(Word(csr.name) for csr in isa.csrs if csr.space == space), Constant(spec.high)]
    raise ValueError(f"no samples for operands of kind {spec.kind}")


def tokens_for(spec: TokenSpec) -> list[Token]:
    """Uses of an option."""
    match spec.argument:
        case None:
            return [Token(spec.name)]
        case "signal":
            return [Token(spec.name, (Signal(n),)) for n in (1, 2, 15)]
        case "number":
            return [Token(spec.name, (Constant(n),)) for n in range(spec.low, spec.high + 1)]
        case "target":
            return [Token(spec.name, (Target(n),)) for n in (0, spec.high)]
        case _:
            return [Token(spec.name, (Target(3), Target(4)))]


def operations(form: Form, contexts: int, isa: InstructionSet) -> Iterator[Operation]:
    """Operations of one form; those that cannot be encoded are among them."""
    columns = [operands_for(spec, contexts, isa) for spec in form.operands]
    base = tuple(_base(form, columns))
    indirect = any(spec.name == "indirect_ref" for spec in form.tokens)
    seen: set[Operation] = set()
    for mnemonic in form.mnemonics:
        pair = isa.facts(Operation(mnemonic, base)).pair
        always = tuple(Token(spec.name) for spec in form.tokens if spec.needed)[:1]
        rows = [(row, _needed_tokens(row) if indirect else always) for row in _operand_rows(form, columns, base, pair)]
        rows += [(base[:form.least_operands], tokens) for tokens in _token_rows(form)]
        if form.most_operands is None:
            rows += [(several, tokens) for several in _SEVERAL for tokens in _token_rows(form)]
        for operands, tokens in rows:
            operation = Operation(mnemonic, operands, tokens)
            if operation not in seen:
                seen.add(operation)
                yield operation


def _base(form: Form, columns: list[list[Operand]]) -> Iterator[Operand]:
    """One operand for each place, registers from alternating banks."""
    sides = 0
    for spec, column in zip(form.operands, columns, strict=True):
        if spec.kind in _REGISTER_KINDS:
            yield column[3 if sides % 2 else 1]
            sides += 1
        else:
            yield column[min(1, len(column) - 1)]


def _needed_tokens(row: tuple[Operand, ...]) -> tuple[Token, ...]:
    """`max_N` goes with indirect_ref."""
    return (Token("indirect_ref"),) if any(isinstance(x, Word) and x.text.startswith("max") for x in row) else ()


def _operand_rows(
    form: Form, columns: list[list[Operand]], base: tuple[Operand, ...], pair: tuple[int, int] | None
) -> Iterator[tuple[Operand, ...]]:
    for length in range(form.least_operands, len(columns) + 1):
        yield base[:length]
        for place in range(length):
            for operand in columns[place]:
                yield (*base[:place], operand, *base[place + 1:length])
    if pair is not None:
        first, second = pair
        for x, y in product(_one_of_each(columns[first]), _one_of_each(columns[second])):
            row = list(base)
            row[first], row[second] = x, y
            yield tuple(row[:form.least_operands])


def _one_of_each(column: list[Operand]) -> list[Operand]:
    """One register of each kind and bank, and every constant: what the rules for pairs can tell apart."""
    found: dict[object, Operand] = {}
    for operand in column:
        if isinstance(operand, Register):
            found.setdefault((operand.cls, operand.bank, operand.pointer, operand.post), operand)
        else:
            found[operand] = operand
    return list(found.values())


def _token_rows(form: Form) -> Iterator[tuple[Token, ...]]:
    yield ()
    by_name = {spec.name: tokens_for(spec) for spec in form.tokens}
    for tokens in by_name.values():
        yield from ((token,) for token in tokens)
    for first, second in product(by_name, repeat=2):
        if first < second:
            yield from product(by_name[first], by_name[second])


def encodable(isa: InstructionSet, form: Form, contexts: int) -> Iterator[tuple[Operation, int]]:
    """The operations of `operations` that have a word, with it."""
    for operation in operations(form, contexts, isa):
        try:
            yield operation, isa.encode(operation, contexts)
        except EncodingError:
            continue
