"""Short sequences of instructions that tools put into programs, and what a program must not be interrupted in.

Here because no mnemonic is named outside of this package. What is to be inserted, and where, is decided elsewhere.
"""

from __future__ import annotations

from dataclasses import replace

from ixpemu.isa.instruction_set import InstructionSet
from ixpemu.isa.model import Constant, Nothing, Operation, Register, RegisterClass, Token, Word

SHADOW = 3                      # instructions between a write of a local memory pointer and its first use
_CONTINUING = frozenset(("pop_count_2", "pop_count_3"))


def quiet_move(target: Register, source: Register) -> Operation:
    """Copies a register that a restricted field can hold and leaves the condition codes alone. The two need different banks."""
    return Operation("ld_field_w_clr", (target, Word("1111"), source))


def move(target: Register, source: Register) -> Operation:
    """Copies any register, and sets the condition codes."""
    return Operation("alu", (target, Nothing(), Word("B"), source))


def memory_word(pointer: int, number: int) -> Register:
    """A word of local memory behind a pointer, 0..15; up to 7 in every field."""
    return Register(RegisterClass.LOCAL_MEMORY, number, pointer=pointer)


def point_per_context(temporary: Register, pointer: int, first: int) -> list[Operation]:
    """Sets a local memory pointer to byte `first` + 64 times the number of the context. `first` is a multiple of 512."""
    return [
        Operation("local_csr_rd", (Word("ACTIVE_CTX_STS"),)),
        Operation("immed", (temporary, Constant(0))),
        Operation("alu", (temporary, temporary, Word("AND"), Constant(7))),
        Operation("alu", (temporary, temporary, Word("OR"), Constant(first >> 6))),
        Operation("alu_shf", (temporary, Nothing(), Word("B"), temporary, Word("<<6"))),
        Operation("local_csr_wr", (Word(f"ACTIVE_LM_ADDR_{pointer}"), temporary)),
        *[Operation("nop")] * SHADOW,
    ]


def no_operation() -> Operation:
    """Does nothing, for one cycle. What the instruction before it left for the next one is gone behind it."""
    return Operation("nop")


def with_slots(operation: Operation, slots: int) -> Operation:
    """The branch or swap with that many defer slots."""
    token = Token("defer", (Constant(slots),))
    if any(one.name.lower() == token.name for one in operation.tokens):
        return replace(operation, tokens=tuple(token if one.name.lower() == token.name else one for one in operation.tokens))
    return replace(operation, tokens=(*operation.tokens, token))


def uses_pointer(operation: Operation, pointer: int) -> bool:
    """Whether an operation reads, sets or goes through a local memory pointer."""
    words = [one.text.lower() for one in operation.operands if isinstance(one, Word)]
    words += [token.name.lower() for token in operation.tokens]
    if any(f"lm_addr_{pointer}" in word or word == f"lm_addr{pointer}" for word in words):
        return True
    return any(
        isinstance(one, Register) and one.cls is RegisterClass.LOCAL_MEMORY and one.pointer == pointer
        for one in operation.operands
    )


def opens_shadow(isa: InstructionSet, operation: Operation) -> bool:
    """Whether the instructions behind it may use an old value on purpose, so that nothing may be put between."""
    named = (isa.csr(one.text) for one in operation.operands if isinstance(one, Word))
    loads = any(token.name.lower().startswith("lm_addr") for token in operation.tokens)
    return loads or any(csr is not None and csr.shadow_old for csr in named)


def continues(isa: InstructionSet, operation: Operation) -> bool:
    """Whether it must follow the instruction before it at once."""
    return isa.variant(operation).action in _CONTINUING
