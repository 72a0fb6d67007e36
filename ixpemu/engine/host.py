"""What Python does to a running chip beyond memory: one compiled entry for register accesses, rings, enables and signals.

Used for the XScale's and a user's accesses alike; each happens at cycle `now`. Plain memory needs no code: see chip_memory.py.
"""

from __future__ import annotations

from numpy import uint32

from ixpemu.engine import numbers as n
from ixpemu.engine.accounting import bind_handle, new_packet
from ixpemu.engine.cap import MESSAGE_CLEAR, cap_read, cap_write
from ixpemu.engine.contexts import enable_contexts, reset_contexts, set_signals, stop_engine_key
from ixpemu.engine.csrs import access_from_outside, access_over_bus
from ixpemu.engine.host_queues import HOST_CHANNEL_READ, HOST_QUEUES, queue_call
from ixpemu.engine.jit import entry, jit
from ixpemu.engine.layout import ORIGINATED, UNIT_SIGNAL
from ixpemu.engine.msf import msf_fast_write, msf_read, msf_write
from ixpemu.engine.outside import interrupt_read, interrupt_write, timer_read, timer_write
from ixpemu.engine.pci import pci_read, pci_write, register_write
from ixpemu.engine.reserved import NOWHERE, OUTSIDE, note_actor, report_at
from ixpemu.engine.rings import get_word, put_word, update_flag

(HOST_CAP_READ, HOST_CAP_WRITE, HOST_CSR_READ, HOST_CSR_WRITE, HOST_MSF_READ, HOST_MSF_WRITE, HOST_MSF_FAST, HOST_RING_GET,
 HOST_RING_PUT, HOST_ENABLE, HOST_RESET, HOST_SIGNAL, HOST_ORIGINATE, HOST_REPORT, HOST_BUS_READ, HOST_BUS_WRITE,
 HOST_INTERRUPT_READ, HOST_INTERRUPT_WRITE, HOST_TIMER_READ, HOST_TIMER_WRITE, HOST_PCI_READ, HOST_PCI_WRITE,
 HOST_PCI_REGISTER) = range(1, 24)
READS = frozenset((HOST_CAP_READ, HOST_CSR_READ, HOST_MSF_READ, HOST_INTERRUPT_READ, HOST_TIMER_READ, HOST_PCI_READ,
                   HOST_CHANNEL_READ))
"""Operations that change nothing, but for registers that change when they are read."""


def changes(operation: int, a: int, b: int) -> bool:
    """Whether an operation with these arguments changes anything, so that a journal has to hold it."""
    if operation == HOST_CAP_READ:
        return MESSAGE_CLEAR <= a < MESSAGE_CLEAR + 256 or a in (n.CAP_SELF_DESTRUCT_0, n.CAP_SELF_DESTRUCT_1)
    if operation == HOST_CSR_READ:
        return b == n.CSR_PSEUDO_RANDOM_NUMBER
    return operation not in READS


@jit
def outside_call(state, memory, operation, first, second, now):
    """The part of host_call that is the XScale's own and the PCI unit's; addresses of the latter are physical ones."""
    if operation == uint32(HOST_INTERRUPT_READ):
        return uint32(interrupt_read(state, first))
    if operation == uint32(HOST_INTERRUPT_WRITE):
        interrupt_write(state, first, second)
    elif operation == uint32(HOST_TIMER_READ):
        return uint32(timer_read(state, first, now))
    elif operation == uint32(HOST_TIMER_WRITE):
        timer_write(state, first, second, now)
    elif operation == uint32(HOST_PCI_READ):
        return uint32(pci_read(state, memory, first, now))
    elif operation == uint32(HOST_PCI_WRITE):
        pci_write(state, memory, first, second, now)
    elif operation == uint32(HOST_PCI_REGISTER):
        register_write(state, memory, (first >> uint32(2)) & uint32(127), second, uint32(1), now)
    return uint32(0)


@entry
def host_call(states, memory, operation, a, b, c, now):
    """One access at cycle `now`; what `a`, `b`, `c` (all uint64) are depends on `operation` (HOST_*). Returns a word."""
    state = states[0]
    first = uint32(a)
    second = uint32(b)
    third = uint32(c)
    operation = uint32(operation)
    note_actor(state, uint32(OUTSIDE), uint32(0), uint32(NOWHERE))
    if operation == uint32(HOST_CAP_READ):
        return uint32(cap_read(state, memory, first, now))
    if operation == uint32(HOST_CAP_WRITE):
        cap_write(state, memory, first, second, uint32(0), uint32(0), uint32(0), now)
    elif operation == uint32(HOST_CSR_READ):
        return uint32(access_from_outside(state, state.engines[first], second, uint32(0), uint32(0), now))
    elif operation == uint32(HOST_CSR_WRITE):
        access_from_outside(state, state.engines[first], second, third, uint32(1), now)
    elif operation == uint32(HOST_MSF_READ):
        return uint32(msf_read(state, memory, first, now))
    elif operation == uint32(HOST_MSF_WRITE):
        state.msf.writer_pc = state.msf.writer_packet = uint32(0)
        msf_write(state, memory, first, second, uint32(255), uint32(0), now)
    elif operation == uint32(HOST_MSF_FAST):
        state.msf.writer_pc = state.msf.writer_packet = uint32(0)
        msf_fast_write(state, memory, first, second, uint32(255), uint32(0), now)
    elif operation == uint32(HOST_RING_GET):
        value = get_word(state, memory, first)
        update_flag(state, first, now)
        return uint32(value)
    elif operation == uint32(HOST_RING_PUT):
        put_word(state, memory, first, second, uint32(0), uint32(0), uint32(0), now)
        update_flag(state, first, now)
    elif operation == uint32(HOST_ENABLE):
        enable_contexts(state, state.engines[first], second, now)
        stop_engine_key(state, state.engines[first])
    elif operation == uint32(HOST_RESET):
        reset_contexts(state.engines[first])
        stop_engine_key(state, state.engines[first])
    elif operation == uint32(HOST_SIGNAL):
        set_signals(state, state.engines[first], second, third, UNIT_SIGNAL, now)
        stop_engine_key(state, state.engines[first])
    elif operation == uint32(HOST_REPORT):
        report_at(state, first, uint32(255), uint32(0), uint32(0), second, now)
    elif operation >= uint32(HOST_QUEUES):
        return uint32(queue_call(state, memory, operation, first, second, third, now))
    elif operation == uint32(HOST_BUS_READ):
        return uint32(access_over_bus(state, state.engines[first], second, uint32(0), uint32(0), now))
    elif operation == uint32(HOST_BUS_WRITE):
        access_over_bus(state, state.engines[first], second, third, uint32(1), now)
    elif operation >= uint32(HOST_INTERRUPT_READ):
        return uint32(outside_call(state, memory, operation, first, second, now))
    elif operation == uint32(HOST_ORIGINATE) and state.mode != uint32(0):
        number = new_packet(state, uint32(ORIGINATED), second, now)
        bind_handle(state, first, number)
        return uint32(number)
    return uint32(0)
