"""What units do when a command's turn comes: memories, rings, hash unit, CAP, and the calls into the MSF.

Reads capture memory for the event that ends the command; writes take the transfer-out registers, behind the defer slots of the
instruction, and write memory. When each access is: commands.py. SRAM, scratch memory, hash unit and DRAM work through their
queues only when somebody could see it; the MSF and the CAP act at their exact times.
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine.cap import cap_read, cap_write, reflect_engine, reflect_read, reflect_write
from ixpemu.engine.commands import end_pull, push_words
from ixpemu.engine.hashing import hash_long, hash_words, no_multiplier
from ixpemu.engine.jit import jit
from ixpemu.engine.layout import (
    DRAM_OUT,
    EVENTS,
    QUEUE_UNITS,
    RESERVED_BUFFER_ALIGNMENT,
    RESERVED_MULTIPLIER,
    RESERVED_SHORT_GET,
    SRAM_IN,
    SRAM_OUT,
    UNIT_DRAM,
    UNIT_HASH,
    UNIT_PCI,
    UNIT_SCRATCH,
)
from ixpemu.engine.memories import mark_written, memory_index, merge_word
from ixpemu.engine.msf import dram_to_tbuf, msf_fast_write, msf_read, msf_write, rbuf_to_dram
from ixpemu.engine.observation import (
    BUFFER_READ,
    BUFFER_WRITE,
    SEEN_RING,
    observing,
    see_access,
    see_buffer,
    see_word,
    see_words,
)
from ixpemu.engine.operation_access import access_operation
from ixpemu.engine.operation_numbers import OPERATION
from ixpemu.engine.overrides import part_push, signal_context
from ixpemu.engine.pci import pci_read, pci_write
from ixpemu.engine.registers import pulled
from ixpemu.engine.reserved import note_actor, report_at
from ixpemu.engine.rings import get_word, put_word, update_flag
from ixpemu.engine.timing import (
    COMMAND_GET,
    COMMAND_HASH_48,
    COMMAND_HASH_128,
    COMMAND_PUT,
    COMMAND_RBUF,
    COMMAND_READ,
    COMMAND_REFLECT_READ,
    COMMAND_REFLECT_WRITE,
    COMMAND_WRITE,
)


@jit
def access_memory(state, memory, entry):
    """A read or write of SRAM, scratch memory or DRAM."""
    words = uint32(entry.total)
    first = uint32(entry.first)
    index = memory_index(state, entry.unit, entry.address, words, entry.me, entry.ctx, entry.pc, entry.access)
    if entry.command == COMMAND_READ:
        out = entry.words
        for k in range(words):
            out[k] = memory[uint32(index + uint32(k))]
        return
    engine = state.engines[entry.me]
    file = engine.file
    if observing():
        see_words(state, entry, file, first, words)
    if entry.byte_mask == 0xFF:
        for k in range(words):
            memory[uint32(index + uint32(k))] = file[uint32(first + uint32(k))]
    else:
        wide = first >= uint32(DRAM_OUT)
        for k in range(words):
            shift = uint32(4) if wide and (k & 1) else uint32(0)
            merge_word(memory, uint32(index + uint32(k)), file[uint32(first + uint32(k))],
                       uint32((uint32(entry.byte_mask) >> shift) & uint32(15)))
    mark_written(memory, index, words)
    pulled(engine, entry.ctx, first, words)


@jit
def access_ring(state, memory, entry):
    """scratch[get] or scratch[put]."""
    ring = uint32((entry.address >> uint32(2)) & uint32(15))
    words = uint32(entry.total)
    first = uint32(entry.first)
    if entry.command == COMMAND_GET:
        if uint32(0) < state.ring_used[ring] < words:
            report_at(state, RESERVED_SHORT_GET, entry.me, entry.ctx, entry.pc, ring, entry.access)
        out = entry.words
        for k in range(words):
            out[k] = get_word(state, memory, ring)
            if observing():
                see_word(state, SEEN_RING, entry, ring, out[k], 0, entry.access)
    else:
        engine = state.engines[entry.me]
        file = engine.file
        for k in range(words):
            put_word(state, memory, ring, file[uint32(first + uint32(k))], entry.me, entry.ctx, entry.pc, entry.access)
            if observing():
                see_word(state, SEEN_RING, entry, ring, file[uint32(first + uint32(k))], 1, entry.access)
        pulled(engine, entry.ctx, first, words)
    update_flag(state, ring, entry.access)


@jit
def access_buffers(state, memory, entry):
    """dram[rbuf_rd] or dram[tbuf_wr]: `value` is the byte address in the RBUF/TBUF window at 0x2000."""
    words = uint32(entry.total)
    index = memory_index(state, entry.unit, entry.address, words, entry.me, entry.ctx, entry.pc, entry.access)
    offset = uint32(entry.value & uint32(0x1FFF))
    if offset & uint32(7):
        report_at(state, RESERVED_BUFFER_ALIGNMENT, entry.me, entry.ctx, entry.pc, entry.value, entry.access)
        offset = uint32(offset & uint32(0x1FF8))
    if observing():
        what = BUFFER_READ if entry.command == COMMAND_RBUF else BUFFER_WRITE
        see_buffer(state, UNIT_DRAM, entry.me, entry.ctx, entry.pc, offset, uint32(uint32(4) * words), what, entry.access)
    if entry.command == COMMAND_RBUF:
        rbuf_to_dram(state, memory, offset, index, words, entry.access)
        mark_written(memory, index, words)
    else:
        dram_to_tbuf(state, memory, offset, index, words, entry.access)


@jit
def access_hash(state, entry):
    """hash_48, hash_64, hash_128: keys come from transfer-out registers, results go to transfer-in registers of the same
    number."""
    words = uint32(entry.total)
    first = uint32(entry.first)
    engine = state.engines[entry.me]
    file = engine.file
    # Operands are numbered as the transfer-in registers they return to.
    source = uint32(first - uint32(SRAM_IN) + uint32(SRAM_OUT))
    bits = uint32(128) if entry.command == COMMAND_HASH_128 else uint32(48) if entry.command == COMMAND_HASH_48 else uint32(64)
    if no_multiplier(state, bits):
        report_at(state, RESERVED_MULTIPLIER, entry.me, entry.ctx, entry.pc, bits, entry.access)
    if entry.command == COMMAND_HASH_128:
        for k in range(0, words, 4):
            at = uint32(source + uint32(k))
            hash_long(state, entry, uint64(file[at]) | (uint64(file[at + 1]) << uint64(32)),
                      uint64(file[at + 2]) | (uint64(file[at + 3]) << uint64(32)), k)
    else:
        for k in range(0, words, 2):
            at = uint32(source + uint32(k))
            hash_words(state, entry, file[at], file[at + 1], bits, k)
    pulled(engine, entry.ctx, first, words)


@jit
def access_queued(state, memory, entry):
    """Do what the next command of a unit's queue asks."""
    if observing():
        see_access(state, entry, entry.access)
    command = uint32(entry.command)
    if uint32(entry.unit) == uint32(UNIT_HASH):
        access_hash(state, entry)
    elif command == uint32(COMMAND_READ) or command == uint32(COMMAND_WRITE):
        access_memory(state, memory, entry)
    elif command >= uint32(OPERATION):
        access_operation(state, memory, entry)
    elif command == uint32(COMMAND_GET) or command == uint32(COMMAND_PUT):
        access_ring(state, memory, entry)
    else:
        access_buffers(state, memory, entry)


@jit
def flush_unit(state, memory, unit, until):
    """Let a unit do everything whose access time is `until` or earlier.

    Its queue is in order and nobody else touches its memory, so that it makes no difference when this is called, as long as it
    is before somebody looks: at the end of a command, before a register that a write will pull changes, before a state input or
    CSR of the unit is read, before Python acts, at the end of a slice.
    """
    unit = uint32(unit)
    first = uint32(state.queue_first[unit])
    while first != uint32(0):
        slot = uint32(first - uint32(1))
        entry = state.events[slot]
        if entry.access > until:
            break
        access_queued(state, memory, entry)
        first = uint32(entry.queued)
        entry.queued = 0                # so that whether another one came before the unit got here leaves no trace
        if slot >= uint32(EVENTS):
            state.silent_done[unit] = uint32(state.silent_done[unit] + uint32(1))
    state.queue_first[unit] = first
    if first == uint32(0):
        state.queue_end[unit] = 0


@jit
def flush_units(state, memory, until):
    """The same for all units with a queue."""
    for unit in range(QUEUE_UNITS):
        if state.queue_first[unit] != 0:
            flush_unit(state, memory, uint32(unit), until)


@jit
def push_answer(state, entry, now):
    """A unit that acts at its exact time answers a read; returns the slot, whose words the caller fills in."""
    slot = push_words(state, entry.me, entry.ctx, entry.first, entry.total, entry.signals, entry.unit, 0, now)
    if entry.flag:
        part_push(state, slot, entry.flag)
    return slot


@jit
def end_write(state, entry, now):
    """Such a unit has read the registers of a write."""
    pulled(state.engines[entry.me], entry.ctx, entry.first, entry.total)
    end_pull(state, entry.me, signal_context(entry), entry.total, entry.signals, entry.unit, now)


@jit
def access_msf(state, memory, entry, now):
    """msf[read], msf[write], msf[fast_wr]."""
    state.msf.writer_pc = uint32(entry.pc)
    state.msf.writer_packet = uint32(entry.packet)
    note_actor(state, entry.me, entry.ctx, entry.pc)
    if observing():
        see_access(state, entry, now)
    words = uint32(entry.total)
    first = uint32(entry.first)
    if entry.command == COMMAND_READ:
        slot = push_answer(state, entry, now)
        for k in range(words):
            state.events[slot].words[k] = msf_read(state, memory, uint32(entry.address + uint32(4) * uint32(k)), now)
    elif entry.command == COMMAND_WRITE:
        engine = state.engines[entry.me]
        for k in range(words):
            msf_write(state, memory, uint32(entry.address + uint32(4) * uint32(k)), engine.file[uint32(first + uint32(k))],
                      entry.me, entry.ctx, now)
        end_write(state, entry, now)
    else:
        # The two address operands add up to a CSR address in [15:0] and its data in [31:16].
        msf_fast_write(
            state, memory, uint32(entry.address & uint32(0xFFFF)), uint32(entry.address >> uint32(16)), entry.me, entry.ctx, now
        )


@jit
def access_pci(state, memory, entry, now):
    """pci[read] and pci[write]."""
    if observing():
        see_access(state, entry, now)
    words = uint32(entry.total)
    first = uint32(entry.first)
    note_actor(state, entry.me, entry.ctx, entry.pc)
    if entry.command == COMMAND_READ:
        slot = push_answer(state, entry, now)
        for k in range(words):
            state.events[slot].words[k] = pci_read(state, memory, uint32(entry.address + uint32(4) * uint32(k)), now)
        return
    engine = state.engines[entry.me]
    for k in range(words):
        pci_write(state, memory, uint32(entry.address + uint32(4) * uint32(k)), engine.file[uint32(first + uint32(k))], now)
    end_write(state, entry, now)


@jit
def reflector_address(entry, k):
    """Address of word `k` of a command of the CAP."""
    address = uint32(entry.address + uint32(4) * uint32(k))
    if entry.command == COMMAND_REFLECT_READ or entry.command == COMMAND_REFLECT_WRITE:
        return uint32((entry.address & uint32(0xFFFFFC00)) | (address & uint32(0x3FF)))
    return address


@jit
def access_cap(state, memory, entry, now):
    """cap[read], cap[write], cap[fast_wr], and the reflector; the PCI unit's commands come this way too."""
    if entry.unit == UNIT_PCI:
        access_pci(state, memory, entry, now)
        return
    if observing():
        see_access(state, entry, now)
    words = uint32(entry.total)
    first = uint32(entry.first)
    command = uint32(entry.command)
    flush_unit(state, memory, UNIT_SCRATCH, now)        # its ring CSRs and the hash multipliers may be read or written
    flush_unit(state, memory, UNIT_HASH, now)
    note_actor(state, entry.me, entry.ctx, entry.pc)
    # A reflector command stays inside the 1,024 bytes of its first word, which are one microengine's.
    target = state.engines[reflect_engine(state, entry.address)]
    if command == uint32(COMMAND_REFLECT_READ) or command == uint32(COMMAND_REFLECT_WRITE):
        target.watched = uint32(target.watched - uint32(1))
    if command == uint32(COMMAND_READ) or command == uint32(COMMAND_REFLECT_READ):
        slot = push_answer(state, entry, now)
        for k in range(words):
            address = reflector_address(entry, k)
            if command == uint32(COMMAND_READ):
                state.events[slot].words[k] = cap_read(state, memory, address, now)
            else:
                state.events[slot].words[k] = reflect_read(state, memory, entry, address, now)
    elif command == uint32(COMMAND_WRITE) or command == uint32(COMMAND_REFLECT_WRITE):
        engine = state.engines[entry.me]
        for k in range(words):
            address = reflector_address(entry, k)
            if command == uint32(COMMAND_WRITE):
                cap_write(state, memory, address, engine.file[uint32(first + uint32(k))], entry.me, entry.ctx, entry.pc, now)
            else:
                reflect_write(state, memory, entry, address, engine.file[uint32(first + uint32(k))], now)
        end_write(state, entry, now)
    else:
        cap_write(state, memory, entry.address, entry.value, entry.me, entry.ctx, entry.pc, now)
