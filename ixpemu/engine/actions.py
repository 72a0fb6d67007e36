"""The hand-written actions that instructions name in their semantics, as numbers: what decode.py writes and core.py executes.

`external` actions get operation numbers from OP_EXTERNAL on in code records; `internal` ones are cases of dispatch.py. A name
here is what a `do` line of isa/ says, not a mnemonic.
"""

from __future__ import annotations

from ixpemu.engine.layout import UNIT_CAP, UNIT_DRAM, UNIT_HASH, UNIT_MSF, UNIT_PCI, UNIT_SCRATCH, UNIT_SRAM0
from ixpemu.engine.operation_numbers import (
    COMMAND_ADD,
    COMMAND_CHANNEL_READ,
    COMMAND_CHANNEL_WRITE,
    COMMAND_CLEAR,
    COMMAND_DEQUEUE,
    COMMAND_DESCRIPTOR_COUNT,
    COMMAND_DESCRIPTOR_HEAD,
    COMMAND_DESCRIPTOR_OTHER,
    COMMAND_DESCRIPTOR_TAIL,
    COMMAND_DESCRIPTOR_WRITE,
    COMMAND_ENQUEUE,
    COMMAND_ENQUEUE_TAIL,
    COMMAND_FAST_JOURNAL,
    COMMAND_JOURNAL,
    COMMAND_QUEUE_GET,
    COMMAND_QUEUE_PUT,
    COMMAND_SET,
    COMMAND_SUBTRACT,
    COMMAND_SWAP,
)
from ixpemu.engine.timing import (
    COMMAND_FAST,
    COMMAND_FAST_ALU,
    COMMAND_GET,
    COMMAND_HASH_48,
    COMMAND_HASH_64,
    COMMAND_HASH_128,
    COMMAND_PUT,
    COMMAND_RBUF,
    COMMAND_READ,
    COMMAND_REFLECT_READ,
    COMMAND_REFLECT_WRITE,
    COMMAND_TBUF,
    COMMAND_WRITE,
)

OP_EXTERNAL = 200
(OP_COMMAND, OP_CSR_READ, OP_CSR_WRITE, OP_SIGNAL_SET, OP_SIGNAL_CLEAR, OP_STATE_SET, OP_STATE_CLEAR, OP_ARBITRATE, OP_KILL,
 OP_BREAKPOINT, OP_ILLEGAL, OP_STORE_END, OP_MISSING, OP_OPERATION) = range(OP_EXTERNAL, OP_EXTERNAL + 14)

# Flags of OP_ARBITRATE in CODE.variant.
ARBITRATE_VOLUNTARY, ARBITRATE_PREPARED, ARBITRATE_GO = 1, 2, 4

EXTERNAL = {
    "csr_read": OP_CSR_READ,
    "csr_write": OP_CSR_WRITE,
    "branch_signal_set": OP_SIGNAL_SET,
    "branch_signal_clear": OP_SIGNAL_CLEAR,
    "branch_state_set": OP_STATE_SET,
    "branch_state_clear": OP_STATE_CLEAR,
    "arbitrate_signals": OP_ARBITRATE,
    "arbitrate_voluntary": OP_ARBITRATE,
    "arbitrate_prepared": OP_ARBITRATE,
    "kill": OP_KILL,
    "breakpoint": OP_BREAKPOINT,
}
"""Operation number of each external action that is not a command."""

COMMANDS = {
    "sram_read": (UNIT_SRAM0, COMMAND_READ),
    "sram_write": (UNIT_SRAM0, COMMAND_WRITE),
    "scratch_read": (UNIT_SCRATCH, COMMAND_READ),
    "scratch_write": (UNIT_SCRATCH, COMMAND_WRITE),
    "scratch_get": (UNIT_SCRATCH, COMMAND_GET),
    "scratch_put": (UNIT_SCRATCH, COMMAND_PUT),
    "dram_read": (UNIT_DRAM, COMMAND_READ),
    "dram_write": (UNIT_DRAM, COMMAND_WRITE),
    "dram_rbuf_rd": (UNIT_DRAM, COMMAND_RBUF),
    "dram_tbuf_wr": (UNIT_DRAM, COMMAND_TBUF),
    "msf_read": (UNIT_MSF, COMMAND_READ),
    "msf_write": (UNIT_MSF, COMMAND_WRITE),
    "msf_read64": (UNIT_MSF, COMMAND_READ),
    "msf_write64": (UNIT_MSF, COMMAND_WRITE),
    "msf_fast_wr": (UNIT_MSF, COMMAND_FAST),
    "cap_read": (UNIT_CAP, COMMAND_READ),
    "cap_write": (UNIT_CAP, COMMAND_WRITE),
    "cap_fast_wr": (UNIT_CAP, COMMAND_FAST),
    "cap_fast_wr_alu": (UNIT_CAP, COMMAND_FAST_ALU),
    "hash_48": (UNIT_HASH, COMMAND_HASH_48),
    "hash_64": (UNIT_HASH, COMMAND_HASH_64),
    "hash_128": (UNIT_HASH, COMMAND_HASH_128),
    "reflector_read": (UNIT_CAP, COMMAND_REFLECT_READ),
    "reflector_write": (UNIT_CAP, COMMAND_REFLECT_WRITE),
    "pci_read": (UNIT_PCI, COMMAND_READ),
    "pci_write": (UNIT_PCI, COMMAND_WRITE),
}
"""Unit and command of each external action that sends a command."""

_ATOMICS = {"set": (COMMAND_SET, 0), "clr": (COMMAND_CLEAR, 0), "add": (COMMAND_ADD, 0), "sub": (COMMAND_SUBTRACT, 0),
            "incr": (COMMAND_ADD, 1), "decr": (COMMAND_SUBTRACT, 1)}

UNIT_OPERATIONS = {
    **{f"{name}_{form}{word}": (unit, command, operand) for name, unit in (("sram", UNIT_SRAM0), ("scratch", UNIT_SCRATCH))
       for form in ("", "test_and_") for word, (command, operand) in _ATOMICS.items()},
    "sram_swap": (UNIT_SRAM0, COMMAND_SWAP, 0),
    "scratch_swap": (UNIT_SCRATCH, COMMAND_SWAP, 0),
    "sram_put": (UNIT_SRAM0, COMMAND_QUEUE_PUT, 0),
    "sram_get": (UNIT_SRAM0, COMMAND_QUEUE_GET, 0),
    "sram_journal": (UNIT_SRAM0, COMMAND_JOURNAL, 0),
    "sram_fast_journal": (UNIT_SRAM0, COMMAND_FAST_JOURNAL, 0),
    "sram_enqueue": (UNIT_SRAM0, COMMAND_ENQUEUE, 0),
    "sram_enqueue_tail": (UNIT_SRAM0, COMMAND_ENQUEUE_TAIL, 0),
    "sram_dequeue": (UNIT_SRAM0, COMMAND_DEQUEUE, 0),
    "sram_rd_qdesc_head": (UNIT_SRAM0, COMMAND_DESCRIPTOR_HEAD, 0),
    "sram_rd_qdesc_tail": (UNIT_SRAM0, COMMAND_DESCRIPTOR_TAIL, 0),
    "sram_rd_qdesc_other": (UNIT_SRAM0, COMMAND_DESCRIPTOR_OTHER, 0),
    "sram_wr_qdesc": (UNIT_SRAM0, COMMAND_DESCRIPTOR_WRITE, 0),
    "sram_wr_qdesc_count": (UNIT_SRAM0, COMMAND_DESCRIPTOR_COUNT, 0),
    "sram_csr_rd": (UNIT_SRAM0, COMMAND_CHANNEL_READ, 0),
    "sram_csr_wr": (UNIT_SRAM0, COMMAND_CHANNEL_WRITE, 0),
}
"""Unit, command and operand, where that is fixed, of each external action that is an operation of SRAM or scratch memory."""

DOUBLE = frozenset(("msf_read64", "msf_write64"))
"""Commands whose count is in units of two words although their unit counts words."""
