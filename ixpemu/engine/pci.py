"""The PCI unit: its CSRs and configuration registers, a host memory behind it, doorbells, mailboxes and three DMA channels.

Microengines (pci[read], pci[write]) and the XScale use the same addresses: 0xde000000 configuration registers, 0xdf000000 CSRs,
from 0xe0000000 on PCI memory. Offsets are the Linux driver's (H). Which bus address the memory window shows is in PCI_ADDR_EXT
(L). The bits of the DMA registers are those of an older relative of this unit (assumed):

    BYTE_CNT  [31] last of its chain, [30] from DRAM to the bus (0: to DRAM), [23:0] bytes
    CONTROL   [0] run, [2] transfer done, [3] error, [4] first descriptor is in the registers, [7] chain done; 1 clears 2, 3 and 7
    ME_PARAM  [10:7] microengine, [6:4] context, [3:0] signal, as of an inter-thread signal (the project's own choice)

A descriptor in DRAM is BYTE_CNT, bus address, DRAM address, address of the next one. A channel moves its bytes at the end of the
time that they take; then it interrupts and, if ME_PUSH_ENABLE has its bit, signals.
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine.csrs import signal_thread
from ixpemu.engine.jit import jit
from ixpemu.engine.lanes import set_alarm
from ixpemu.engine.layout import ALARM_DMA, IRQ_DMA, IRQ_DOORBELL, NEVER, RESERVED_PCI
from ixpemu.engine.memories import mark_written
from ixpemu.engine.outside import interrupt_due
from ixpemu.engine.parameters import P_PCI_DMA_START, P_PCI_DMA_WORD, P_SIGNAL_INTERTHREAD
from ixpemu.engine.reserved import NOWHERE, OUTSIDE, note_actor, report_actor

# Windows, by the top byte of an address; from 0xe0 on memory.
CONFIGURATION, REGISTERS, WINDOW = 0xDE, 0xDF, 0xE0000000
# Byte offsets of CSRs.
OUT_INTERRUPT_STATUS, OUT_INTERRUPT_MASK, MAILBOX, XSCALE_DOORBELL, XSCALE_SETUP, PCI_DOORBELL, PCI_SETUP = (
    0x30, 0x34, 0x50, 0x60, 0x64, 0x70, 0x74)
DMA, DMA_END, DMA_STEP = 0x80, 0xE0, 0x20
DMA_COUNT, DMA_BUS, DMA_DRAM, DMA_NEXT, DMA_CONTROL, DMA_PARAM = 0, 1, 2, 3, 4, 5         # words of a channel
ADDRESS_EXTENSION, ME_PUSH_STATUS, ME_PUSH_ENABLE = 0x140, 0x148, 0x14C
XSCALE_INTERRUPT_STATUS, XSCALE_INTERRUPT_ENABLE = 0x158, 0x15C
LAST, TO_BUS, LENGTH = 1 << 31, 1 << 30, 0xFFFFFF
RUN, DONE, FAILED, FIRST_HERE, CHAIN_DONE = 1, 1 << 2, 1 << 3, 1 << 4, 1 << 7
READ_ONLY_CONFIGURATION = 2             # words of vendor, device and their status


@jit
def host_index(state, address, length):
    """Index in `memory` of the host memory at a bus address; 0 if `length` bytes there are not all in it."""
    offset = uint32(address) & ~uint32(3)
    if uint64(offset) + uint64(length) > uint64(state.host_words) * uint64(4):
        return uint32(0)
    return uint32(state.host_base + (offset >> uint32(2)))


@jit
def bus_address(state, address):
    """The bus address that an address in the memory window means: its low 29 bits, and above them bits 15..13 of PCI_ADDR_EXT."""
    high = (state.pci[ADDRESS_EXTENSION >> 2] >> uint32(13)) & uint32(7)
    return uint32((high << uint32(29)) | (uint32(address) & uint32(0x1FFFFFFF)))


@jit
def pci_read(state, memory, address, now):
    """One word at an address of a microengine or of the XScale."""
    address = uint32(address)
    if address >= uint32(WINDOW):
        index = host_index(state, bus_address(state, address), uint32(4))
        if index == uint32(0):
            report_actor(state, RESERVED_PCI, address)
            return uint32(0xFFFFFFFF)           # nobody answers on the bus
        return memory[index]
    space = address >> uint32(24)
    word = (address >> uint32(2)) & uint32(127)
    if space == uint32(REGISTERS):
        return uint32(register_read(state, word))
    if space == uint32(CONFIGURATION):
        return state.pci_configuration[word & uint32(15)]
    report_actor(state, RESERVED_PCI, address)
    return uint32(0)


@jit
def register_read(state, word):
    """A CSR by its word offset."""
    if word == uint32(OUT_INTERRUPT_STATUS >> 2):
        return uint32(1 << 2) if state.pci[PCI_DOORBELL >> 2] else uint32(0)
    if word == uint32(XSCALE_SETUP >> 2):
        return state.pci[XSCALE_DOORBELL >> 2]
    if word == uint32(PCI_SETUP >> 2):
        return state.pci[PCI_DOORBELL >> 2]
    return state.pci[word]


@jit
def pci_write(state, memory, address, value, now):
    """Write one word, from the chip's side of the bus."""
    address = uint32(address)
    value = uint32(value)
    if address >= uint32(WINDOW):
        index = host_index(state, bus_address(state, address), uint32(4))
        if index == uint32(0):
            report_actor(state, RESERVED_PCI, address)
        else:
            memory[index] = value
            mark_written(memory, index, uint32(1))
        return
    space = address >> uint32(24)
    word = (address >> uint32(2)) & uint32(127)
    if space == uint32(REGISTERS):
        register_write(state, memory, word, value, uint32(0), now)
    elif space == uint32(CONFIGURATION):
        if word & uint32(15) >= uint32(READ_ONLY_CONFIGURATION):
            state.pci_configuration[word & uint32(15)] = value
    else:
        report_actor(state, RESERVED_PCI, address)


@jit
def register_write(state, memory, word, value, host, now):
    """Write a CSR by its word offset; `host` not 0: from the other side of the bus.

    Each side sets the other one's doorbell bits by ones and clears its own by ones; the SETUP registers write them as they are.
    """
    if uint32(DMA >> 2) <= word < uint32(DMA_END >> 2):
        channel = uint32(word - uint32(DMA >> 2)) >> uint32(3)
        if word & uint32(7) == uint32(DMA_CONTROL):
            control_dma(state, memory, channel, value, now)
        else:
            state.pci[word] = value
        return
    own = uint32(PCI_DOORBELL >> 2) if host else uint32(XSCALE_DOORBELL >> 2)
    if word == uint32(XSCALE_DOORBELL >> 2) or word == uint32(PCI_DOORBELL >> 2):
        state.pci[word] = uint32(state.pci[word] & ~value) if word == own else uint32(state.pci[word] | value)
    elif word == uint32(XSCALE_SETUP >> 2):
        state.pci[XSCALE_DOORBELL >> 2] = value
    elif word == uint32(PCI_SETUP >> 2):
        state.pci[PCI_DOORBELL >> 2] = value
    elif word == uint32(ME_PUSH_STATUS >> 2) or word == uint32(XSCALE_INTERRUPT_STATUS >> 2):
        state.pci[word] = uint32(state.pci[word] & ~value)
    elif word != uint32(OUT_INTERRUPT_STATUS >> 2):
        state.pci[word] = value
    if state.pci[XSCALE_DOORBELL >> 2] == uint32(0):
        state.irq_latched = uint32(state.irq_latched & ~uint32(1 << IRQ_DOORBELL))
    elif (state.irq_latched >> uint32(IRQ_DOORBELL)) & uint32(1) == uint32(0):
        interrupt_due(state, uint32(IRQ_DOORBELL))


@jit
def channel_word(channel, what):
    """Place in `state.pci` of a register of a DMA channel (0 to 2)."""
    return uint32(uint32(DMA >> 2) + (uint32(channel) << uint32(3)) + uint32(what))


@jit
def set_dma(state):
    """Set the alarm to the first channel that is done."""
    first = uint64(NEVER)
    for channel in range(3):
        first = min(first, state.dma_due[channel])
    set_alarm(state, ALARM_DMA, first)


@jit
def control_dma(state, memory, channel, value, now):
    """Write CONTROL: take flags off, start the channel or stop it."""
    place = channel_word(channel, DMA_CONTROL)
    flags = state.pci[place] & uint32(DONE | FAILED | CHAIN_DONE) & ~value
    running = state.dma_due[channel] != uint64(NEVER)
    state.pci[place] = uint32((value & uint32(RUN | FIRST_HERE)) | flags)
    if flags == uint32(0):
        state.irq_latched = uint32(state.irq_latched & ~(uint32(1) << uint32(uint32(IRQ_DMA) + channel)))
    if value & uint32(RUN):
        if not running:
            if (value & uint32(FIRST_HERE)) != uint32(0) or load_descriptor(state, memory, channel):
                start_dma(state, channel, now)
            else:
                end_dma(state, channel, uint32(FAILED), now)
    else:
        state.dma_due[channel] = uint64(NEVER)
    set_dma(state)


@jit
def start_dma(state, channel, now):
    """Work out when a channel will have moved what its registers say."""
    words = uint32(uint32(state.pci[channel_word(channel, DMA_COUNT)] & uint32(LENGTH)) + uint32(3)) >> uint32(2)
    state.dma_due[channel] = uint64(
        now + uint64(state.parameter[P_PCI_DMA_START]) + uint64(words) * uint64(state.parameter[P_PCI_DMA_WORD]))


@jit
def dram_index(state, address, length):
    """Index in `memory` of DRAM at a byte address; 0 if `length` bytes there are not all in it."""
    offset = uint32(address) & ~uint32(3)
    if uint64(offset) + uint64(length) > uint64(state.dram_words) * uint64(4):
        return uint32(0)
    return uint32(state.dram_base + (offset >> uint32(2)))


@jit
def load_descriptor(state, memory, channel):
    """Read the descriptor that DESC_PTR names into the registers; false if it is not in DRAM."""
    index = dram_index(state, state.pci[channel_word(channel, DMA_NEXT)], uint32(16))
    if index == uint32(0):
        return False
    for k in range(4):
        state.pci[channel_word(channel, uint32(k))] = memory[uint32(index + uint32(k))]
    return True


@jit
def end_dma(state, channel, flags, now):
    """A channel stands still: say so, interrupt, and signal a thread if it is to."""
    place = channel_word(channel, DMA_CONTROL)
    state.dma_due[channel] = uint64(NEVER)
    state.pci[place] = uint32((state.pci[place] & ~uint32(RUN)) | flags)
    interrupt_due(state, uint32(uint32(IRQ_DMA) + uint32(channel)))
    bit = uint32(uint32(1) << uint32(channel))
    state.pci[ME_PUSH_STATUS >> 2] = uint32(state.pci[ME_PUSH_STATUS >> 2] | bit)
    if state.pci[ME_PUSH_ENABLE >> 2] & bit:
        told = state.pci[channel_word(channel, DMA_PARAM)]
        note_actor(state, uint32(OUTSIDE), uint32(0), uint32(NOWHERE))
        signal_thread(state, (told >> uint32(7)) & uint32(15), (told >> uint32(4)) & uint32(7), told & uint32(15),
                      uint64(now + uint64(state.parameter[P_SIGNAL_INTERTHREAD])))


@jit
def dma_event(state, memory, now):
    """Channels whose time is over at `now`: move the bytes, in whole words, and go on to the next descriptor or end."""
    for k in range(3):
        channel = uint32(k)
        if state.dma_due[channel] > now:
            continue
        count = state.pci[channel_word(channel, DMA_COUNT)]
        length = count & uint32(LENGTH)
        words = uint32(length + uint32(3)) >> uint32(2)
        host = host_index(state, state.pci[channel_word(channel, DMA_BUS)], length)
        dram = dram_index(state, state.pci[channel_word(channel, DMA_DRAM)], length)
        if host == uint32(0) or dram == uint32(0):
            end_dma(state, channel, uint32(FAILED), now)
            continue
        source = dram if count & uint32(TO_BUS) else host
        target = host if count & uint32(TO_BUS) else dram
        for j in range(words):
            memory[uint32(target + uint32(j))] = memory[uint32(source + uint32(j))]
            mark_written(memory, uint32(target + uint32(j)), uint32(1))
        if count & uint32(LAST):
            end_dma(state, channel, uint32(DONE | CHAIN_DONE), now)
        elif load_descriptor(state, memory, channel):
            place = channel_word(channel, DMA_CONTROL)
            state.pci[place] = uint32(state.pci[place] | uint32(DONE))
            start_dma(state, channel, now)
        else:
            end_dma(state, channel, uint32(FAILED), now)
    set_dma(state)
