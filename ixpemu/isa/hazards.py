"""Which instructions must not follow each other too closely: state that is written by one and may be used by another only when
some instructions lie between.

The delays of local CSRs, their sources and their confidence stand in csrs_local.isa; here is who sets and who uses them, and the
few delays that belong to no single CSR. What is inserted for them, and where, is decided in the assembler.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ixpemu.isa.blocks import Csr, Variant
from ixpemu.isa.instruction_set import InstructionSet
from ixpemu.isa.model import Constant, Operation, Register, RegisterClass, Word


@dataclass(frozen=True, slots=True)
class Piece:
    """State with a delay. `csr`: where its delay stands; `sets`: the CSRs that a write of which sets it."""

    name: str
    csr: str
    sets: tuple[str, ...]


PIECES = (
    Piece("LM_ADDR_0", "ACTIVE_LM_ADDR_0", ("ACTIVE_LM_ADDR_0", "ACTIVE_LM_ADDR_0_BYTE_INDEX")),
    Piece("LM_ADDR_1", "ACTIVE_LM_ADDR_1", ("ACTIVE_LM_ADDR_1", "ACTIVE_LM_ADDR_1_BYTE_INDEX")),
    Piece("T_INDEX", "T_INDEX", ("T_INDEX", "T_INDEX_BYTE_INDEX")),
    Piece("BYTE_INDEX", "BYTE_INDEX", (
        "BYTE_INDEX", "T_INDEX_BYTE_INDEX", "ACTIVE_LM_ADDR_0_BYTE_INDEX", "ACTIVE_LM_ADDR_1_BYTE_INDEX",
        "INDIRECT_LM_ADDR_0_BYTE_INDEX", "INDIRECT_LM_ADDR_1_BYTE_INDEX")),
    Piece("NN_PUT", "NN_PUT", ("NN_PUT",)),
    Piece("NN_GET", "NN_GET", ("NN_GET",)),
    Piece("CRC_REMAINDER", "CRC_REMAINDER", ("CRC_REMAINDER",)),
)
PIECE_OF = {piece.name: piece.name for piece in PIECES}
"""The piece of state that a key of a hazard is about, for those that are about one."""

_SET_BY_CSR = {name: tuple(piece.name for piece in PIECES if name in piece.sets) for piece in PIECES for name in piece.sets}
_CSR_CHOICE, _WAKEUP = "CSR_CTX_POINTER", "ACTIVE_CTX_WAKEUP_EVENTS"
_READ, _WRITE, _CRC, _LOOKUP, _PREPARED = "csr_read", "csr_write", "crc", "cam_lookup", "arbitrate_prepared"
_AFTER_CRC = "CRC result"


@dataclass(frozen=True, slots=True)
class Hazard:
    """`between` instructions have to lie between setting `key` and using it. `title`: what it is, for messages. `old_value`:
    until then the value before may be used on purpose; otherwise nothing is defined."""

    key: str
    title: str
    between: int
    old_value: bool
    source: str
    confidence: str


_GENERAL = 3, "HRM:43 against HRM:174, which says 3 or 4 cycles", "M"


@lru_cache(maxsize=4)
def table(isa: InstructionSet) -> dict[str, Hazard]:
    """All hazards by key: those of the pieces, the CRC result, and one for each other local CSR."""
    found = {_AFTER_CRC: Hazard(_AFTER_CRC, "the remainder of a CRC", 2, False, "the descendant's libraries", "M")}
    for csr in isa.csrs:
        if csr.space == "local" and not csr.shadow:
            found[csr.name] = Hazard(csr.name, csr.name, _GENERAL[0], False, *_GENERAL[1:])
    for piece in PIECES:
        csr_ = isa.csr(piece.csr)
        if csr_ is not None:
            found[piece.name] = Hazard(piece.name, piece.csr, csr_.shadow, csr_.shadow_old, csr_.source, csr_.confidence)
    return found


def pointers_of(register: Register) -> tuple[str, ...]:
    """The keys of the pointers that an indexed register goes through."""
    if register.cls is RegisterClass.LOCAL_MEMORY:
        return (f"LM_ADDR_{register.pointer}",)
    if register.cls in (RegisterClass.SRAM_INDEX, RegisterClass.DRAM_INDEX):
        return ("T_INDEX",)
    if register.cls is RegisterClass.NEIGHBOR_INDEX:
        return ("NN_GET", "NN_PUT")
    return ()


def csr_of(isa: InstructionSet, operation: Operation) -> Csr | None:
    """The local CSR that an operation names, by name or by address."""
    for operand in operation.operands[:1]:
        if isinstance(operand, Word):
            return isa.csr(operand.text)
        if isinstance(operand, Constant):
            return isa.csr_at(operand.value)
    return None


def set_by(isa: InstructionSet, operation: Operation, variant: Variant) -> frozenset[str]:
    """The keys of what an operation sets and what may not be used at once."""
    if variant.action == _WRITE:
        csr = csr_of(isa, operation)
        return frozenset() if csr is None else frozenset(_SET_BY_CSR.get(csr.name, () if csr.shadow else (csr.name,)))
    if variant.action == _LOOKUP:
        named = (token.name.lower() for token in operation.tokens)
        return frozenset(f"LM_ADDR_{name[-1]}" for name in named if name.startswith("lm_addr"))
    return frozenset((_AFTER_CRC,)) if variant.action == _CRC else frozenset()


def used_by(isa: InstructionSet, operation: Operation, variant: Variant) -> frozenset[str]:
    """The keys of what an operation uses."""
    found = {key for one in operation.operands if isinstance(one, Register) for key in pointers_of(one)}
    if "state.byte_index" in variant.reads:
        found.add("BYTE_INDEX")
    if variant.action == _CRC:
        found.add("CRC_REMAINDER")
    elif variant.action == _PREPARED:
        found.add(_WAKEUP)
    elif variant.action in (_READ, _WRITE):
        csr = csr_of(isa, operation)
        if csr is not None and csr.indirect:
            found.add(_CSR_CHOICE)
        if csr is not None and variant.action == _READ:
            found |= set(_SET_BY_CSR.get(csr.name, (csr.name,)))
            found |= {_AFTER_CRC} if csr.name == "CRC_REMAINDER" else set()
    return frozenset(found)
