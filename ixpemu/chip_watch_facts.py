"""What one instruction does to everything that reserved behaviour is about, worked out from its block in isa/.

Registers are numbered as the register file's words: those of a context as context 0 has them, absolute ones from ABSOLUTE on.
Which instruction is meant is never asked: what it reads, writes and sets says all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ixpemu.engine import numbers as n
from ixpemu.engine.decode import read_word
from ixpemu.engine.layout import DRAM_IN, DRAM_OUT, GPR_A, GPR_B, SRAM_IN, SRAM_OUT
from ixpemu.isa import Decoded, instruction_set
from ixpemu.isa.meaning import Meaning, meaning_of
from ixpemu.isa.model import Operand, Register, RegisterClass

ABSOLUTE = 1024
INPUTS = (1 << SRAM_OUT) - (1 << SRAM_IN) | (1 << DRAM_OUT) - (1 << DRAM_IN)
_INDEXED = (RegisterClass.SRAM_INDEX, RegisterClass.DRAM_INDEX)
_FILES = {RegisterClass.SRAM: (SRAM_IN, SRAM_OUT), RegisterClass.DRAM: (DRAM_IN, DRAM_OUT)}
_BYTE_INDEX = frozenset((
    n.CSR_BYTE_INDEX, n.CSR_T_INDEX_BYTE_INDEX, n.CSR_ACTIVE_LM_ADDR_0_BYTE_INDEX, n.CSR_ACTIVE_LM_ADDR_1_BYTE_INDEX))
_T_INDEX = (n.CSR_T_INDEX, n.CSR_T_INDEX_BYTE_INDEX)


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction. Masks have a bit for each register.

    `reads_a`, `reads_b`: what its two operands read that counts: not a register of which it writes only a part, and not an
    operand that is named only for the next instruction's shift. `neighbor_a`, `neighbor_b`: they are next-neighbour registers.
    `writes`: written behind it, by a command too; `written_as`: its destination by all names that the register may have.
    `pulls`: registers that a command takes, none if its own defer slots write some of them. `doubtful`: C and V that it sets are
    inferred. `takes_sign`: it needs the sign of `sign_of` in the previous result; `leaves_sign_of`: registers whose sign its
    result has.
    """

    decoded: Decoded
    reads_a: int = 0
    reads_b: int = 0
    neighbor_a: bool = False
    neighbor_b: bool = False
    writes: int = 0
    written_as: int = 0
    pulls: int = 0
    sets_flags: bool = False
    doubtful: bool = False
    uses_flags: bool = False
    uses_carry: bool = False
    sets_t_index: bool = False
    uses_t_index: bool = False
    uses_previous_a: bool = False
    gives_previous_a: bool = False
    uses_previous_result: bool = False
    gives_previous_result: bool = False
    takes_sign: bool = False
    sign_of: int | None = None
    leaves_sign_of: frozenset[int] = frozenset()
    uses_csr: frozenset[int] = frozenset()
    writes_csr: int | None = None

    @property
    def reads_input(self) -> bool:
        """Whether it reads a transfer-in register by number."""
        return bool((self.reads_a | self.reads_b) & INPUTS)


def steps_of(words: tuple[int, ...], contexts: int) -> list[Step | None]:
    """The program's instructions; None for a word that is none."""
    steps = [None if (decoded := read_word(word, contexts)) is None else _step(decoded, contexts) for word in words]
    if any(step is not None and _is_indexed(step.decoded.operand("dest")) for step in steps):
        # Transfer-out registers are written through T_INDEX: nobody can say which.
        return [None if step is None else replace(step, pulls=0) for step in steps]
    for address, step in enumerate(steps):
        slots = 0 if step is None else step.decoded.value("defer")
        if step is not None and step.pulls and slots:
            late = 0
            for other in steps[address + 1:address + 1 + slots]:
                late |= 0 if other is None else other.writes
            if step.pulls & late:
                steps[address] = replace(step, pulls=0)
    return steps


def _is_indexed(operand: Operand) -> bool:
    return isinstance(operand, Register) and operand.cls in _INDEXED


def _number(operand: Operand | None, destination: bool = False) -> int | None:
    """The number of a register operand that has one: neither local memory nor a neighbour's, nor anything through a pointer."""
    if not isinstance(operand, Register) or operand.number is None:
        return None
    if operand.cls in (RegisterClass.GPR, RegisterClass.ABSOLUTE):
        base = (GPR_B if operand.bank == "b" else GPR_A) + operand.number
        return base + (ABSOLUTE if operand.cls is RegisterClass.ABSOLUTE else 0)
    files = _FILES.get(operand.cls)
    return None if files is None else files[destination] + operand.number


def _bit(operand: Operand | None, destination: bool = False) -> int:
    number = _number(operand, destination)
    return 0 if number is None else 1 << number


def _is_neighbor(operand: Operand | None) -> bool:
    return isinstance(operand, Register) and operand.cls is RegisterClass.NEIGHBOR


def _other_names(written: int, contexts: int) -> int:
    """A written register by all names: what is relative in one context is some absolute one, and the other way round."""
    if not written:
        return 0
    number = written.bit_length() - 1
    window = 16 if contexts == 8 else 32
    if number >= ABSOLUTE:
        bank, place = divmod(number - ABSOLUTE, 128)
        return written | 1 << bank * 128 + place % window
    if number >= SRAM_IN:
        return written
    bank, place = divmod(number, 128)
    return written | sum(1 << ABSOLUTE + bank * 128 + at for at in range(place, 128, window))


def _step(decoded: Decoded, contexts: int) -> Step:
    operands, values, variant, facts = decoded.operands, decoded.values, decoded.variant, decoded.facts
    meaning = meaning_of(variant)
    # An action works on the operands that are written down, whatever the rest of its semantics names.
    reads = meaning.reads | ({spec.name for spec in decoded.form.operands} if variant.action is not None else set())
    first = operands.get("source_value", operands.get("register", operands.get("tag")))
    first = operands.get("a") if first is None and "a" in reads else first
    second = operands.get("b") if "b" in reads else operands.get("entry")
    if variant.action is not None and variant.external:
        first, second = operands.get("address_a", first), operands.get("address_b")
    destination = operands.get("dest")
    writes = _bit(destination, True)
    filled = _moved(decoded, "in")
    signed = "previous.alu" in meaning.reads
    result = "previous.alu" in variant.writes
    same = {_number(destination, True), *(_number(operands.get(name)) for name in meaning.moves)} if result else set()
    if signed:
        same.add(_number(operands.get("b")))
    csr = values.get("csr") if variant.action in ("csr_read", "csr_write") else None
    writing = variant.action == "csr_write"
    return Step(
        decoded, _bit(first), _bit(second), _is_neighbor(first), _is_neighbor(second),
        writes | filled, _other_names(writes, contexts), pulls=_moved(decoded, "out"),
        sets_flags=facts.writes_cc, doubtful=facts.writes_cc and not meaning.computes_carry, uses_flags=facts.reads_cc,
        uses_carry=bool(meaning.reads & {"cc.c", "cc.v"}), sets_t_index=writing and csr in _T_INDEX,
        uses_t_index=any(_is_indexed(each) for each in operands.values()),
        uses_previous_a="previous.a" in meaning.reads, gives_previous_a=meaning.hands_a and not meaning.computes_carry,
        uses_previous_result=variant.external and facts.reads_previous, gives_previous_result=result,
        takes_sign=signed, sign_of=_number(operands.get("b")) if signed else None,
        leaves_sign_of=frozenset(number for number in same if number is not None),
        uses_csr=_used_csrs(decoded, meaning, None if writing else csr), writes_csr=csr if writing else None,
    )


def _moved(decoded: Decoded, direction: str) -> int:
    """The transfer registers that a command fills ("in") or takes ("out"); none where that is known only when it executes."""
    transfer = decoded.facts.transfer
    operand = decoded.operands.get("transfer")
    if transfer is None or transfer.direction not in (direction, "both") or transfer.indirect:
        return 0
    first = _number(operand, direction == "out")
    return 0 if first is None else ((1 << transfer.registers(direction == "in")) - 1) << first


def _used_csrs(decoded: Decoded, meaning: Meaning, read: int | None) -> frozenset[int]:
    """The CSRs of which a write has to be so many instructions back, because until then nothing is defined."""
    if decoded.variant.action == "crc" and decoded.value("type"):
        return frozenset((n.CSR_CRC_REMAINDER,))
    if "state.byte_index" in meaning.reads or read == n.CSR_BYTE_INDEX:
        return _BYTE_INDEX
    csr = None if read is None else instruction_set().csr_at(read)
    return frozenset((read,)) if read is not None and csr is not None and csr.shadow and not csr.shadow_old else frozenset()
