"""What an operation does to things that no register operand names: pointers, indexes, units with a memory, the previous result.

For tools that look at programs before they run; registers need no numbers. Which instruction is meant never leaves this module.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeGuard

from ixpemu.isa.blocks import Form, Variant
from ixpemu.isa.hazards import csr_of
from ixpemu.isa.instruction_set import InstructionSet
from ixpemu.isa.meaning import meaning_of
from ixpemu.isa.model import Constant, Nothing, Operand, Operation, Register, RegisterClass, Word


class Part(Enum):
    """Something that instructions set and use without naming it as a register. The value is how messages call it."""

    POINTER_0 = "local-memory pointer 0"
    POINTER_1 = "local-memory pointer 1"
    T_INDEX = "T_INDEX"
    BYTE_INDEX = "BYTE_INDEX"
    NEIGHBOR_PUT = "NN_PUT"
    NEIGHBOR_GET = "NN_GET"
    CRC = "CRC_REMAINDER"
    LATCH_A = "the latch of byte_align_le"
    LATCH_B = "the latch of byte_align_be"
    FLAGS = "the condition codes"
    CAM = "the CAM"


_POINTERS = (Part.POINTER_0, Part.POINTER_1)
_LATCHES = {"previous.align_a": Part.LATCH_A, "previous.align_b": Part.LATCH_B}
_INDEXED = {
    RegisterClass.SRAM_INDEX: Part.T_INDEX, RegisterClass.DRAM_INDEX: Part.T_INDEX,
    RegisterClass.NEIGHBOR_INDEX: Part.NEIGHBOR_GET,
}
_WRITES_CSR, _READS_CSR = "csr_write", "csr_read"
_STEPS = {
    "pop_count_1": ("pop_count1", ()), "pop_count_2": ("pop_count2", ("pop_count1",)),
    "pop_count_3": ("pop_count3", ("pop_count2",)),
}
_SHAPES = {"24x8": ("step1",), "16x16": ("step1", "step2"), "32x32": ("step1", "step2", "step3", "step4")}
_START, _LAST, _SECOND_LAST = "start", "last", "last2"


@dataclass(frozen=True, slots=True)
class Unseen:
    """The effects of one operation. How long it takes until what it `sets` is there, is in `ixpemu.isa.hazards`.

    `takes_a`, `takes_result`: it uses the A operand or the result of the instruction just before; `sign_of`: as the sign of this
    operand. `gives_a`, `gives_result`: the instruction just behind can use its own. `pure`: all that it does is
    to its destination, the condition codes and what it gives.
    """

    uses: frozenset[Part] = frozenset()
    sets: frozenset[Part] = frozenset()
    takes_a: bool = False
    takes_result: bool = False
    sign_of: int | None = None
    gives_a: bool = False
    gives_result: bool = False
    pure: bool = False
    nowhere: bool = False               # it has a destination, and that is --
    looks_up: bool = False              # in the CAM
    writes_entry: int | None = None     # operand that says which entry of the CAM gets a new tag
    step: str | None = None             # of several instructions that make one result
    steps_before: tuple[str, ...] = ()  # one of which has to be the step before
    consecutive: bool = False           # and nothing may come between
    shape: bool = False                 # it is a step of a multiplication
    sources: tuple[int, ...] = ()       # operands that the steps have to agree in
    waits_for_good: bool = False        # it stops this context, and nothing else
    puts_on_ring: tuple[int, int] | None = None     # operands that add up to the place of the scratch ring
    tests_input: str | None = None      # the input that it tests


def alike(operation: Operation) -> tuple[object, ...]:
    """What the effects of an operation depend on: operations of which this is equal have equal effects."""
    tokens = tuple((token.name, *map(_kind, token.arguments)) for token in operation.tokens)
    first = operation.operands[0] if operation.operands and isinstance(operation.operands[0], Constant) else None      # a CSR
    return operation.mnemonic, first, *map(_kind, operation.operands), tokens


def _kind(operand: Operand) -> object:
    if isinstance(operand, Register):
        return operand.cls, operand.pointer, operand.post
    return operand if isinstance(operand, Word) else type(operand)


def unseen(isa: InstructionSet, operation: Operation) -> Unseen:
    """The effects of `operation`. Raises `EncodingError` if no form of the instruction has such operands."""
    form, variant = isa.form(operation), isa.variant(operation)
    meaning = meaning_of(variant)
    operands = {spec.name: operand for spec, operand in zip(form.operands, operation.operands, strict=False)}
    facts = isa.facts(operation)
    uses = _operands(operation, variant)
    sets = _csr(isa, operation, variant, uses)
    for token in operation.tokens:
        for number, part in enumerate(_POINTERS):
            if token.name.lower() == f"lm_addr{number}":
                sets.add(part)
    nowhere = isinstance(operands.get("dest"), Nothing)
    latches = {part for name, part in _LATCHES.items() if name in variant.writes}
    sets |= latches
    if latches and not nowhere:
        uses |= {*latches, Part.BYTE_INDEX}
    crc = variant.action == "crc" and not any(isinstance(one, Word) and one.text.lower() == "none" for one in operation.operands)
    if crc:
        uses.add(Part.CRC)
        sets.add(Part.CRC)
    if facts.reads_cc:
        uses.add(Part.FLAGS)
    if facts.writes_cc:
        sets.add(Part.FLAGS)
    takes_result = "previous.alu" in meaning.reads or (facts.reads_previous and variant.external)
    signed = takes_result and not variant.external
    gives_a = meaning.hands_a and not meaning.computes_carry and not isinstance(operands.get("a"), Nothing)
    steps = _step(form, variant, operation)
    return Unseen(
        frozenset(uses), frozenset(sets),
        takes_a="previous.a" in meaning.reads, takes_result=takes_result,
        sign_of=_index(form, "b") if signed and isinstance(operands.get("b"), Register) else None,
        gives_a=gives_a, gives_result="previous.alu" in variant.writes,
        pure=variant.action is None and not latches and facts.branch is None and "dest" in {spec.name for spec in form.operands}
        and not any(isinstance(one, Register) and one.post for one in operation.operands),
        nowhere=nowhere,
        looks_up=variant.action == "cam_lookup",
        writes_entry=_index(form, "entry") if variant.action == "cam_write" else None,
        step=steps[0], steps_before=steps[1], consecutive=steps[2], shape=steps[0] is not None and not steps[2], sources=steps[3],
        waits_for_good=variant.action == "kill",
        puts_on_ring=(_index(form, "address_a"), _index(form, "address_b")) if variant.action == "scratch_put" else None,
        tests_input=next((one.text.upper() for one in operation.operands if _is_input(one, isa)), None),
    )


def _index(form: Form, name: str) -> int:
    return next(index for index, spec in enumerate(form.operands) if spec.name == name)


def _is_input(operand: Operand, isa: InstructionSet) -> TypeGuard[Word]:
    return isinstance(operand, Word) and isa.input_state(operand.text) is not None


def ring_of(place: int) -> int:
    """The number of the scratch ring that a command names by `place`."""
    return place >> 2 & 15


def ring_status(isa: InstructionSet, ring: int) -> str | None:
    """The input that tells of the room on a scratch ring; None for one that has none."""
    name = f"SCR_RING{ring}_STATUS"
    return name if isa.input_state(name) is not None else None


def _operands(operation: Operation, variant: Variant) -> set[Part]:
    """What its operands go through. A next-neighbour register that is written through an index is put on the ring."""
    uses = set()
    for index, operand in enumerate(operation.operands):
        if not isinstance(operand, Register):
            continue
        if operand.cls is RegisterClass.LOCAL_MEMORY:
            uses.add(_POINTERS[operand.pointer])
        elif operand.cls is RegisterClass.NEIGHBOR_INDEX and index == 0 and "dest" in variant.writes:
            uses.add(Part.NEIGHBOR_PUT)
        elif operand.cls in _INDEXED:
            uses.add(_INDEXED[operand.cls])
    return uses


def _csr(isa: InstructionSet, operation: Operation, variant: Variant, uses: set[Part]) -> set[Part]:
    """What a write of a CSR sets; a read adds to `uses`."""
    if variant.action not in (_WRITES_CSR, _READS_CSR):
        return set()
    csr = csr_of(isa, operation)
    if csr is None:
        return set()
    parts = parts_of(csr.name)
    if variant.action == _READS_CSR:
        uses |= parts
        return set()
    return parts


def parts_of(csr: str) -> set[Part]:
    """The parts that a local CSR is, or is a name for two of."""
    if csr.startswith("INDIRECT"):
        return set()
    parts = {part for number, part in enumerate(_POINTERS) if f"LM_ADDR_{number}" in csr}
    parts |= {Part.BYTE_INDEX} if "BYTE_INDEX" in csr else set()
    parts |= {Part.T_INDEX} if csr.startswith("T_INDEX") else set()
    return parts | {part for part in (Part.CRC, Part.NEIGHBOR_GET, Part.NEIGHBOR_PUT) if part.value == csr}


def _step(
    form: Form, variant: Variant, operation: Operation
) -> tuple[str | None, tuple[str, ...], bool, tuple[int, ...]]:
    """Which step it is of several that make one result; the steps that may be before; whether at once; what they agree in."""
    if variant.action in _STEPS:
        return *_STEPS[variant.action], True, (_index(form, "b"),)
    if variant.action not in ("multiply_step", "multiply_last"):
        return None, (), False, ()
    name = next(token.name.lower() for token in operation.tokens)
    shape, _, step = name.partition("_")
    sources = tuple(index for index, spec in enumerate(form.operands) if spec.name in ("a", "b"))
    if step == _START:
        return _START, (), False, sources
    if step == _SECOND_LAST:
        return name, (f"{shape}_{_LAST}",), False, ()
    order = (_START, *_SHAPES[shape], _LAST)
    before = order[order.index(step) - 1]
    return name, (before if before == _START else f"{shape}_{before}",), False, sources if step != _LAST else ()
