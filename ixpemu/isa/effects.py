"""What an instruction depends on and what depends on it: the one model by which instructions may change places.

Registers, and everything that no operand names: condition codes, latches, pointers, the units that all contexts share. Every
piece of it is a bit of a mask. What an instruction does is asked of its block (`Facts`, the state that its statements read and
assign, its action), never of its name; an action that is not listed here is taken to touch everything. How long a written
register needs before it may be used is in `hazards`. Where instructions go is decided in the assembler.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ixpemu.isa import hazards
from ixpemu.isa.blocks import Facts, Variant
from ixpemu.isa.instruction_set import InstructionSet
from ixpemu.isa.model import Operand, Operation, Register, RegisterClass

_MOST = 32                      # registers of a file that a context has, at most
_REGISTER_FILES = ("gpr_a", "gpr_b", "sram_in", "sram_out", "dram_in", "dram_out")
_BASE = {name: place * _MOST for place, name in enumerate(_REGISTER_FILES)}
_HIDDEN = (
    "cc.n", "cc.z", "cc.v", "cc.c", "previous.align_a", "previous.align_b",
    *(piece.name for piece in hazards.PIECES), "local_memory", "neighbor", "cam", "multiplier", "counter", "outside",
)
BITS = {name: 1 << len(_REGISTER_FILES) * _MOST + place for place, name in enumerate(_HIDDEN)}
"""The bit of every piece of state that is no numbered register. "outside": what others see, in the order in which they see it."""

EVERYTHING = (1 << len(_REGISTER_FILES) * _MOST + len(_HIDDEN)) - 1
REGISTERS = (1 << len(_REGISTER_FILES) * _MOST) - 1
CODES = BITS["cc.n"] | BITS["cc.z"] | BITS["cc.v"] | BITS["cc.c"]
TRANSFERS = REGISTERS & ~((1 << 2 * _MOST) - 1)
GPRS = (1 << 2 * _MOST) - 1
OWN = GPRS | CODES              # what only the executing context can change, and what a swap leaves or nobody may rely on
SHOWN = REGISTERS | BITS["local_memory"]
"""What somebody may look at when a context has stopped for good."""

# What the hand-written actions that stay within the microengine do beyond their operands: state read, and state written.
_ACTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "find_first": ((), ()), "align_a": ((), ()), "align_b": ((), ()),
    "cam_clear": (("cam",), ("cam",)), "cam_lookup": (("cam",), ("cam",)), "cam_write": (("cam",), ("cam",)),
    "cam_write_state": (("cam",), ("cam",)), "cam_read_tag": (("cam",), ()), "cam_read_state": (("cam",), ()),
    "multiply_step": (("multiplier",), ("multiplier",)), "multiply_last": (("multiplier",), ("multiplier",)),
    "pop_count_1": (("counter",), ("counter",)), "pop_count_2": (("counter",), ("counter",)),
    "pop_count_3": (("counter",), ("counter",)),
    "crc": (("CRC_REMAINDER",), ("CRC_REMAINDER",)), "csr_read": ((), ()), "csr_write": ((), ()),
}
_STEPS = frozenset(("multiply_step", "multiply_last", "pop_count_1", "pop_count_2", "pop_count_3"))
_IN = {RegisterClass.SRAM: "sram_in", RegisterClass.DRAM: "dram_in", RegisterClass.SRAM_INDEX: "sram_in",
       RegisterClass.DRAM_INDEX: "dram_in"}
_OUT = {RegisterClass.SRAM: "sram_out", RegisterClass.DRAM: "dram_out", RegisterClass.SRAM_INDEX: "sram_out",
        RegisterClass.DRAM_INDEX: "dram_out"}


@dataclass(frozen=True, slots=True)
class Effects:
    """One instruction's part in the order of instructions. Masks of what it reads and writes; `kills`: of what it certainly
    gives a new value. `sends`: registers that its unit takes when it comes for them, behind the defer slots.

    `plain`: it may change its place at all. `shared`: it touches what other contexts reach too. `joined`: it has to stay directly
    behind the instruction before it; `latches`: it leaves a result or an operand for such a one. `sets`, `uses`: hazards, by the
    keys of `hazards`.
    """

    reads: int = 0
    writes: int = 0
    kills: int = 0
    sends: int = 0
    plain: bool = False
    shared: bool = False
    joined: bool = False
    latches: bool = False
    step: bool = False              # one of several that have to follow each other
    sets: frozenset[str] = frozenset()
    uses: frozenset[str] = frozenset()


def effects_of(isa: InstructionSet, operation: Operation, contexts: int = 8) -> Effects:
    """The effects of an operation with physical registers. Raises `EncodingError` if no form of the instruction is like it."""
    variant, facts = isa.variant(operation), isa.facts(operation)
    sets, uses = hazards.set_by(isa, operation, variant), hazards.used_by(isa, operation, variant)
    joined = facts.reads_previous
    step = variant.action in _STEPS
    if not _within(variant) or _is_neighbor(operation.operands):
        if not _orderly(variant, facts):
            return Effects(
                EVERYTHING, EVERYTHING, shared=True, joined=joined, latches=facts.writes_previous, sets=sets, uses=uses)
        outside = BITS["outside"]
    else:
        outside = 0
    reads, writes, kills, shared = outside, outside, 0, bool(outside)
    for index in facts.reads:
        reads |= _mask(operation.operands[index], _IN, contexts)
    for index in facts.writes:
        mask = _mask(operation.operands[index], _OUT, contexts)
        writes |= mask
        kills |= mask if mask & mask - 1 == 0 and mask & REGISTERS else 0      # local memory is one bit for all its words
    for operand in operation.operands:
        if isinstance(operand, Register):
            shared = shared or operand.cls is RegisterClass.ABSOLUTE
            if operand.post:
                writes |= _pointer(operand)
    for name in variant.reads:
        reads |= _state(name)
    for name in variant.writes:
        writes |= _state(name)
        kills |= _state(name)
    state_read, state_written = _ACTIONS.get(variant.action or "", ((), ()))
    reads |= _bits(state_read)
    writes |= _bits(state_written)
    reads |= _bits(hazards.PIECE_OF[key] for key in uses if key in hazards.PIECE_OF)
    set_pieces = _bits(hazards.PIECE_OF[key] for key in sets if key in hazards.PIECE_OF)
    writes |= set_pieces
    sends, fills = _moved(operation, facts)
    shared = shared or bool((reads | writes) & ~(OWN | TRANSFERS))
    plain = not (outside or sets or step or facts.swaps or facts.ends or facts.branch is not None
                 or facts.followed_by is not None or facts.transfer is not None)
    return Effects(reads | sends, writes | fills, kills, sends, plain, shared, joined, facts.writes_previous, step, sets, uses)


def _within(variant: Variant) -> bool:
    """Whether nobody outside of the microengine sees it, and everything that it does inside is known here."""
    return variant.action is None or (not variant.external and variant.action in _ACTIONS)


def _orderly(variant: Variant, facts: Facts) -> bool:
    """Whether what it does outside is done in order with its like, and touches nothing inside but what its operands say."""
    if not variant.external or variant.action is None:
        return variant.action is None
    return facts.transfer is not None or facts.branch is not None or facts.swaps or facts.signal is not None or facts.ends


def _is_neighbor(operands: Iterable[Operand]) -> bool:
    classes = (RegisterClass.NEIGHBOR, RegisterClass.NEIGHBOR_INDEX)
    return any(isinstance(one, Register) and one.cls in classes for one in operands)


def _bits(names: Iterable[str]) -> int:
    mask = 0
    for name in names:
        mask |= BITS[name]
    return mask


def _state(name: str) -> int:
    return BITS.get("BYTE_INDEX" if name == "state.byte_index" else name, 0)


def _pointer(register: Register) -> int:
    """The pointer that an indexed register goes through."""
    return _bits(hazards.PIECE_OF[key] for key in hazards.pointers_of(register))


def _mask(operand: Operand, files: dict[RegisterClass, str], contexts: int) -> int:
    """The registers that an operand may mean. An absolute one counts as the relative one that it is in some context."""
    if not isinstance(operand, Register):
        return 0
    if operand.cls in (RegisterClass.GPR, RegisterClass.ABSOLUTE):
        number = (operand.number or 0) % (128 // contexts)
        return 1 << _BASE[f"gpr_{operand.bank}"] + number
    if operand.cls is RegisterClass.LOCAL_MEMORY:
        return BITS["local_memory"]
    if operand.cls in (RegisterClass.NEIGHBOR, RegisterClass.NEIGHBOR_INDEX):
        return BITS["neighbor"]
    base = _BASE[files[operand.cls]]
    if operand.cls in (RegisterClass.SRAM_INDEX, RegisterClass.DRAM_INDEX):
        return (1 << _MOST) - 1 << base
    return 1 << base + (operand.number or 0)


def _moved(operation: Operation, facts: Facts) -> tuple[int, int]:
    """The transfer registers that a command takes, and those that it fills; whole files where the result before it may say so."""
    transfer = facts.transfer
    if transfer is None or transfer.operand is None:
        return 0, 0
    register = operation.operands[transfer.operand]
    if not isinstance(register, Register) or register.cls not in _IN:
        return 0, 0
    moved = []
    for files, fills, wanted in ((_OUT, False, "out"), (_IN, True, "in")):
        if transfer.direction not in (wanted, "both"):
            moved.append(0)
        elif transfer.indirect:
            moved.append((1 << _MOST) - 1 << _BASE[files[register.cls]])
        else:
            run = (1 << transfer.registers(fills)) - 1 << (register.number or 0)
            moved.append((run & (1 << _MOST) - 1) << _BASE[files[register.cls]])
    return moved[0], moved[1]
