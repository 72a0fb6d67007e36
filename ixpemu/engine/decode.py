"""From instruction words to code records: `ixpemu.isa` reads the word, this writes what the compiled loop wants to know.

Everything that can be worked out before running is: register-file places, shift amounts and masks, wait masks, cycles of a taken
branch, and the marks that say when an instruction concerns others. No bit of an instruction word is looked at here. A word's
record is worked out once and kept; records do not depend on the address, but for the pair local_csr_rd + immed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np

from ixpemu.engine.actions import (
    ARBITRATE_GO,
    ARBITRATE_PREPARED,
    ARBITRATE_VOLUNTARY,
    COMMANDS,
    DOUBLE,
    EXTERNAL,
    OP_ARBITRATE,
    OP_COMMAND,
    OP_ILLEGAL,
    OP_MISSING,
    OP_OPERATION,
    OP_STORE_END,
    UNIT_OPERATIONS,
)
from ixpemu.engine.crc import control
from ixpemu.engine.dispatch import MODIFIES, OPERATIONS
from ixpemu.engine.layout import (
    CODE,
    CONSTANT,
    CSR_VALUE,
    DRAM_IN,
    DRAM_OUT,
    GPR_A,
    GPR_B,
    MARK_EXTERNAL,
    MARK_READS_IN,
    MARK_READS_IN_INDEXED,
    MARK_WRITES_OUT,
    MARK_WRITES_OUT_INDEXED,
    NEIGHBOR,
    POINTER_DRAM,
    POINTER_LM0,
    POINTER_NEIGHBOR,
    POINTER_NEIGHBOR_DIRECT,
    POINTER_SRAM,
    SINK,
    SPECIAL_A,
    SPECIAL_B,
    SPECIAL_D,
    SRAM_IN,
    SRAM_OUT,
    STORE_WORDS,
    UNIT_HASH,
    WAKEUP_ANY,
)
from ixpemu.engine.operation_numbers import COUNT_IN, COUNT_OUT, NO_PULL
from ixpemu.engine.overrides import COMPLETE_DOUBLE, COMPLETE_IN, COMPLETE_INDIRECT, COMPLETE_OUT, COMPLETE_SWAP
from ixpemu.isa import Decoded, instruction_set
from ixpemu.isa.model import Constant, Operand, Register, RegisterClass

RELATIVE = 0xF0
"""Window of a context-relative register: its file index grows by 16 a context, in 4- and 8-context mode alike."""


@dataclass(slots=True)
class _Places:
    """Where the operands of one instruction are, while its record is being filled."""

    marks: int = 0
    special: int = 0
    post: int = 0

    def find(self, operand: Operand, destination: bool, side: int) -> tuple[int, int]:
        """Register-file index for context 0 and window of an operand; notes marks and pointers. `side`: SPECIAL_A, _B or _D."""
        if isinstance(operand, Constant):
            return CONSTANT + (operand.value & 0xFF), 0
        if not isinstance(operand, Register):
            return (SINK, 0) if destination else (CONSTANT, 0)
        number = operand.number or 0
        match operand.cls:
            case RegisterClass.GPR:
                return (GPR_B if operand.bank == "b" else GPR_A) + number, RELATIVE
            case RegisterClass.ABSOLUTE:
                return (GPR_B if operand.bank == "b" else GPR_A) + number, 0
            case RegisterClass.SRAM | RegisterClass.DRAM:
                self.marks |= MARK_WRITES_OUT if destination else MARK_READS_IN
                dram = operand.cls is RegisterClass.DRAM
                if destination:
                    return (DRAM_OUT if dram else SRAM_OUT) + number, RELATIVE
                return (DRAM_IN if dram else SRAM_IN) + number, RELATIVE
            case RegisterClass.NEIGHBOR:
                self.marks |= MARK_EXTERNAL
                if not destination:
                    return NEIGHBOR + number, RELATIVE
                self.special |= side
                return POINTER_NEIGHBOR_DIRECT << 8 | number, 0
            case RegisterClass.LOCAL_MEMORY:
                kind = POINTER_LM0 + operand.pointer
                self._move(2 * operand.pointer, operand.post)
            case RegisterClass.SRAM_INDEX | RegisterClass.DRAM_INDEX:
                self.marks |= MARK_WRITES_OUT_INDEXED if destination else MARK_READS_IN_INDEXED
                kind = POINTER_DRAM if operand.cls is RegisterClass.DRAM_INDEX else POINTER_SRAM
                self._move(4, operand.post)
            case _:
                self.marks |= MARK_EXTERNAL
                kind = POINTER_NEIGHBOR
                if not destination:
                    self._move(6, operand.post)
        self.special |= side
        return kind << 8 | number, 0

    def _move(self, shift: int, post: int) -> None:
        if post:
            self.post |= (1 if post > 0 else 2) << shift


Record = dict[str, int]


def transfer_bit(index: int) -> int | None:
    """The bit of the transfer register at a register-file index of context 0, in the masks of registers.py; None for others."""
    for base, first in ((SRAM_IN, 0), (SRAM_OUT, 0), (DRAM_IN, 32), (DRAM_OUT, 32)):
        if base <= index < base + 32:
            return first + index - base
    return None


def _private(decoded: Decoded, store: int) -> Record:
    record = {"op": OPERATIONS[decoded.variant.name]}
    places = _Places()
    operands = decoded.operands
    first = next((operands[name] for name in ("register", "source_value", "tag", "a") if name in operands), None)
    if record["op"] in MODIFIES:
        first = operands["dest"]
    if first is not None:
        record["a"], record["a_window"] = places.find(first, False, SPECIAL_A)
    else:
        record["a"] = CONSTANT
    second = operands.get("b", operands.get("entry"))
    record["b"], record["b_window"] = places.find(second, False, SPECIAL_B) if second is not None else (CONSTANT, 0)
    record["d"], record["d_window"] = places.find(decoded.operand("dest"), True, SPECIAL_D)
    record["marks"], record["special"], record["post"] = places.marks, places.special, places.post
    used = [transfer_bit(record[operand]) for operand in ("a", "b")]
    record["in_a"], record["in_b"] = (bit if bit is not None else other or 0 for bit, other in zip(used, used[::-1], strict=True))
    record["out_d"] = transfer_bit(record["d"]) or 0
    values = decoded.values
    record["amount"] = values.get("amount", values.get("bit", values.get("byte", 0)))
    record["mask"] = values.get("mask", 0)
    for name in ("value", "byte_mask", "compare", "context", "csr", "state", "pointer", "step", "last"):
        if name in values:
            record["imm"] = values[name] & 0xFFFFFFFF
            break
    if decoded.variant.action == "crc":
        record["imm"] = control(values["type"], values["bytes"], values["bit_swap"], values["order"])
    return record | _branch(decoded, store)


def _branch(decoded: Decoded, store: int) -> Record:
    timing = decoded.variant.timing
    defer = decoded.value("defer")
    early = timing.aborted if timing.early is None else timing.early
    return {"target": decoded.value("target") % store, "defer": defer, "abort": max(timing.aborted - defer, 0),
            "early": max(early - defer, 0)}


def _command(decoded: Decoded, unit: int, command: int) -> Record:
    places = _Places()
    record = {"op": OP_COMMAND, "unit": unit, "command": command}
    record["a"], record["a_window"] = places.find(decoded.operand("address_a"), False, SPECIAL_A)
    record["b"], record["b_window"] = places.find(decoded.operand("address_b"), False, SPECIAL_B)
    facts = decoded.facts
    variant = 0
    if facts.transfer is not None and facts.transfer.operand is not None:
        direction = facts.transfer.direction
        transfer = decoded.operand("transfer")
        record["d"], record["d_window"] = _Places().find(transfer, direction == "out", SPECIAL_D)
        variant |= COMPLETE_IN if direction in ("in", "both") else 0
        variant |= COMPLETE_OUT if direction in ("out", "both") else 0
    signal = decoded.value("signal")
    if signal:
        record["mask"] = ((3 if facts.signal_pair else 1) << signal) & 0xFFFE
    if facts.swaps:
        variant |= COMPLETE_SWAP
    if decoded.value("indirect_ref"):
        variant |= COMPLETE_INDIRECT
    record["total"] = decoded.value("keys") if unit == UNIT_HASH else decoded.value("count")
    if decoded.variant.action in DOUBLE:
        record["total"] *= 2
        variant |= COMPLETE_DOUBLE
    record["imm"] = decoded.value("value") & 0xFFFFFFFF
    record["target"] = decoded.value("address", decoded.value("csr")) & 0xFFFF
    record["defer"] = decoded.value("defer")
    record["variant"] = variant
    record["marks"] = places.marks | MARK_EXTERNAL
    record["special"], record["post"] = places.special, places.post
    return record


def _operation(decoded: Decoded) -> Record:
    """A command of operations.py: as _command, with the words that it pushes and pulls counted apart."""
    unit, command, operand = UNIT_OPERATIONS[decoded.variant.action or ""]
    record = _command(decoded, unit, command)
    record |= {"op": OP_OPERATION, "imm": operand, "total": 0, "amount": 0}
    transfer = decoded.facts.transfer
    counted = "count" in decoded.values
    if transfer is not None:
        if transfer.direction in ("in", "both"):
            record["total"] = transfer.registers(True)
        if transfer.direction in ("out", "both"):
            record["amount"] = transfer.registers(False)
        record["variant"] |= (COUNT_IN if transfer.direction == "in" else COUNT_OUT) if counted else 0
    if decoded.value("no_pull"):
        record["variant"] |= NO_PULL
    return record


def _external(decoded: Decoded, store: int) -> Record:
    action = decoded.variant.action or ""
    if action in COMMANDS:
        return _command(decoded, *COMMANDS[action])
    if action in UNIT_OPERATIONS:
        return _operation(decoded)
    record = {"op": EXTERNAL.get(action, OP_MISSING), "marks": MARK_EXTERNAL}
    record |= _branch(decoded, store)
    if record["op"] == OP_ARBITRATE:
        record["mask"] = decoded.value("signals") | (WAKEUP_ANY if decoded.value("any") else 0)
        record["variant"] = (ARBITRATE_VOLUNTARY if action == "arbitrate_voluntary" else 0) | (
            ARBITRATE_PREPARED if action == "arbitrate_prepared" else 0) | (ARBITRATE_GO if decoded.value("resume") else 0)
    record["imm"] = decoded.value("csr", decoded.value("state", decoded.value("signal")))
    places = _Places()
    source = decoded.operands.get("source_value")
    if source is not None:
        record["a"], record["a_window"] = places.find(source, False, SPECIAL_A)
        record["special"], record["post"] = places.special, places.post
        record["marks"] |= places.marks
    return record


@lru_cache(maxsize=1 << 16)
def read_word(word: int, contexts: int) -> Decoded | None:
    """The reading of a word, kept; None for what is no instruction."""
    return instruction_set().decode(word, contexts)


@cache
def _read(word: int, contexts: int, store: int) -> tuple[Any, str]:
    """The record of a word, and how it takes part in reading a local CSR: "reads", "delivers" or nothing."""
    row = np.zeros((), CODE)
    decoded = read_word(word, contexts)
    if decoded is None:
        record: Record = {"op": OP_ILLEGAL, "marks": MARK_EXTERNAL, "imm": word & 0xFFFFFFFF}
        role = ""
    else:
        record = _private(decoded, store) if decoded.variant.private else _external(decoded, store)
        role = "reads" if decoded.variant.action == "csr_read" else ""
        if record["op"] == OPERATIONS.get(_IMMEDIATE):
            role = "delivers"
    for name, value in record.items():
        row[name] = value
    return row[()], role


_IMMEDIATE = next((name for name in OPERATIONS if name.split(".")[0] == "immed"), "")
_MOVE = next(
    (name for name in OPERATIONS if name.startswith("ld_field.w_clr") and "indirect" not in name and "load_cc" not in name), ""
)


def decode_words(words: Iterable[int], contexts: int = 8, store: int = STORE_WORDS) -> np.ndarray[Any, Any]:
    """Code records of a program, shape (words,), dtype CODE. `store`: words of a control store in the layout; targets wrap."""
    values = [int(word) for word in words]
    out = np.zeros(len(values), CODE)
    pending = -1
    for address, word in enumerate(values):
        row, role = _read(word, contexts, store)
        out[address] = row
        if pending == address - 1 and address > 0 and pending >= 0:
            if role == "delivers":
                _deliver(out[address:address + 1])
            else:
                out[pending]["variant"] = 1
        pending = address if role == "reads" else -1
    if pending >= 0:
        out[pending]["variant"] = 1
    return out


def _deliver(row: np.ndarray[Any, Any]) -> None:
    """Make the immed after a local_csr_rd a move of the value read."""
    row["op"] = OPERATIONS[_MOVE]
    row["b"], row["b_window"] = CSR_VALUE, 0
    row["amount"], row["mask"], row["imm"] = 0, 0xFFFFFFFF, 0xFFFFFFFF


def empty_store(store: int = STORE_WORDS) -> np.ndarray[Any, Any]:
    """A control store in which no word was written: running into it is reported."""
    out = np.zeros(store, CODE)
    out["op"] = OP_STORE_END
    out["marks"] = MARK_EXTERNAL
    return out
