"""What Python does to the queue array of an SRAM channel: queues, rings, journals, the parts of an entry, the channel's
registers.

Called by host.py for operations from HOST_QUEUES on. An entry is `64 * channel + number`. Nothing here takes time.
"""

from __future__ import annotations

from numpy import uint8, uint32

from ixpemu.engine.jit import jit
from ixpemu.engine.layout import CHANNEL_CSRS, QUEUE_HEAD, QUEUE_TAIL
from ixpemu.engine.queue_array import ADDRESS, dequeue, enqueue, enqueue_tail, expect
from ixpemu.engine.sram_rings import ALL_PARTS, begin_get, put_status, read_word, write_word

HOST_QUEUES = 64
(HOST_ENQUEUE, HOST_ENQUEUE_TAIL, HOST_DEQUEUE, HOST_ENTRY_SET, HOST_ENTRY_PUT, HOST_ENTRY_GET, HOST_JOURNAL, HOST_CHANNEL_READ,
 HOST_CHANNEL_WRITE) = range(HOST_QUEUES, HOST_QUEUES + 9)


@jit
def queue_call(state, memory, operation, k, value, part, now):
    """One access to entry `k`, or to register `k` of all channels' registers; `value` and `part` depend on the operation."""
    nobody = uint32(0)
    if operation == uint32(HOST_ENQUEUE):
        enqueue(state, memory, k, value, nobody, nobody, nobody, now)
    elif operation == uint32(HOST_ENQUEUE_TAIL):
        enqueue_tail(state, k, value, nobody, nobody, nobody, now)
    elif operation == uint32(HOST_DEQUEUE):
        return uint32(dequeue(state, memory, k, nobody, nobody, nobody, now))
    elif operation == uint32(HOST_ENTRY_SET):
        if part == uint32(QUEUE_HEAD):
            state.array_head[k] = value
        elif part == uint32(QUEUE_TAIL):
            state.array_tail[k] = uint32(value & uint32(ADDRESS))
        else:
            state.array_count[k] = uint32(value & uint32(ADDRESS))
        state.array_set[k] = uint8(uint32(state.array_set[k]) | part)
    elif operation == uint32(HOST_ENTRY_PUT):
        status = put_status(state, k, uint32(1), nobody, nobody, nobody, now)
        if status >> uint32(31):
            write_word(state, memory, k, value, nobody, nobody, nobody, now)
        return uint32(status)
    elif operation == uint32(HOST_ENTRY_GET):
        begin_get(state, k, uint32(1), nobody, nobody, nobody, now)
        return uint32(read_word(state, memory, k, nobody, nobody, nobody, now))
    elif operation == uint32(HOST_JOURNAL):
        expect(state, k, ALL_PARTS, nobody, nobody, nobody, now)
        write_word(state, memory, k, value, nobody, nobody, nobody, now)
    elif operation == uint32(HOST_CHANNEL_READ):
        return state.channel_csr[uint32(k) & uint32(2 * CHANNEL_CSRS - 1)]
    elif operation == uint32(HOST_CHANNEL_WRITE):
        state.channel_csr[uint32(k) & uint32(2 * CHANNEL_CSRS - 1)] = value
    return uint32(0)
