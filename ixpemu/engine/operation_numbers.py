"""Numbers of the operations of SRAM and scratch memory, and their flags in code records. What they are: operations.py."""

from __future__ import annotations

# CODE.command and EVENT.command of operations; plain commands have smaller numbers.
OPERATION = 64
(COMMAND_SWAP, COMMAND_SET, COMMAND_CLEAR, COMMAND_ADD, COMMAND_SUBTRACT) = range(OPERATION, OPERATION + 5)
(COMMAND_QUEUE_GET, COMMAND_DEQUEUE, COMMAND_DESCRIPTOR_HEAD, COMMAND_DESCRIPTOR_TAIL, COMMAND_DESCRIPTOR_OTHER,
 COMMAND_CHANNEL_READ) = range(80, 86)
(COMMAND_QUEUE_PUT, COMMAND_JOURNAL, COMMAND_FAST_JOURNAL, COMMAND_ENQUEUE, COMMAND_ENQUEUE_TAIL, COMMAND_DESCRIPTOR_WRITE,
 COMMAND_DESCRIPTOR_COUNT, COMMAND_CHANNEL_WRITE) = range(96, 104)
LAST_ATOMIC = COMMAND_SUBTRACT
FIRST_WRITING = COMMAND_QUEUE_PUT
"""Queue array operations from here on use the channel's write port, those before its read port."""

# CODE.variant of an operation, besides COMPLETE_*.
COUNT_IN, COUNT_OUT = 32, 64        # indirect_ref overrides how many words it pushes, or pulls
NO_PULL = 128                       # the operand is in the previous ALU result
