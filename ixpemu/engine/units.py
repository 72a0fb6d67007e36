"""What units do when a command's turn comes: memories, rings, hash unit, CAP, and the calls into the MSF.

Called at the access time of a command, in time order. Reads capture memory and send words on the push bus; writes take the
transfer-out registers now, behind the defer slots of the instruction, write memory and end on the pull bus. When: commands.py.
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine.cap import cap_read, cap_write, reflect_read, reflect_write
from ixpemu.engine.commands import (
    COMMAND_FAST,
    COMMAND_FAST_ALU,
    COMMAND_GET,
    COMMAND_HASH_48,
    COMMAND_HASH_128,
    COMMAND_PUT,
    COMMAND_RBUF,
    COMMAND_READ,
    COMMAND_REFLECT_READ,
    COMMAND_REFLECT_WRITE,
    COMMAND_TBUF,
    COMMAND_WRITE,
    command_ended,
    end_pull,
    push_words,
)
from ixpemu.engine.hashing import hash_long, hash_words
from ixpemu.engine.jit import jit
from ixpemu.engine.layout import (
    DRAM_OUT,
    RESERVED_COMMAND,
    SRAM_IN,
    SRAM_OUT,
    UNIT_CAP,
    UNIT_HASH,
    UNIT_MSF,
    UNIT_SCRATCH,
)
from ixpemu.engine.memories import mark_written, memory_index, merge_word
from ixpemu.engine.msf import dram_to_tbuf, msf_fast_write, msf_read, msf_write, rbuf_to_dram
from ixpemu.engine.parameters import P_PULL_BUFFER_WORD
from ixpemu.engine.reserved import report
from ixpemu.engine.rings import get_word, put_word, update_flag


@jit
def pulled(state, entry):
    """The unit has read the transfer-out registers of a command."""
    engine = state.engines[entry.me]
    ctx = entry.ctx
    engine.out_pending[ctx] = uint32(engine.out_pending[ctx] - uint32(1))
    engine.out_total = uint32(engine.out_total - uint32(1))


@jit
def access_memory(state, memory, entry, now):
    """A read or write of SRAM, scratch memory or DRAM."""
    words = uint32(entry.total)
    unit = uint32(entry.unit)
    first = uint32(entry.first)
    index = memory_index(state, unit, entry.address, words, entry.me, entry.ctx)
    if entry.command == COMMAND_READ:
        slot = push_words(state, entry.me, entry.ctx, first, words, entry.signals, unit, 0, now)
        out = state.pushes[slot].words
        for k in range(words):
            out[k] = memory[uint32(index + uint32(k))]
        return
    file = state.engines[entry.me].file
    if entry.byte_mask == 0xFF:
        for k in range(words):
            memory[uint32(index + uint32(k))] = file[uint32(first + uint32(k))]
    else:
        wide = first >= uint32(DRAM_OUT)
        for k in range(words):
            shift = uint32(4) if wide and (k & 1) else uint32(0)
            merge_word(memory, uint32(index + uint32(k)), file[uint32(first + uint32(k))],
                       (uint32(entry.byte_mask) >> shift) & uint32(15))
    mark_written(memory, index, words)
    pulled(state, entry)
    end_pull(state, entry.me, entry.ctx, words, 0, entry.signals, unit, now)


@jit
def access_ring(state, memory, entry, now):
    """scratch[get] or scratch[put]."""
    ring = uint32((entry.address >> uint32(2)) & uint32(15))
    words = uint32(entry.total)
    first = uint32(entry.first)
    if entry.command == COMMAND_GET:
        slot = push_words(state, entry.me, entry.ctx, first, words, entry.signals, UNIT_SCRATCH, 0, now)
        out = state.pushes[slot].words
        for k in range(words):
            out[k] = get_word(state, memory, ring)
    else:
        file = state.engines[entry.me].file
        for k in range(words):
            put_word(state, memory, ring, file[uint32(first + uint32(k))], entry.me, entry.ctx)
        pulled(state, entry)
        end_pull(state, entry.me, entry.ctx, words, 0, entry.signals, UNIT_SCRATCH, now)
    update_flag(state, ring, now)


@jit
def access_buffers(state, memory, entry, now):
    """dram[rbuf_rd] or dram[tbuf_wr]: `value` is the byte address in the RBUF/TBUF window at 0x2000."""
    words = uint32(entry.total)
    index = memory_index(state, entry.unit, entry.address, words, entry.me, entry.ctx)
    offset = uint32(entry.value & uint32(0x1FFF))
    if entry.command == COMMAND_RBUF:
        rbuf_to_dram(state, memory, offset, index, words, now)
        mark_written(memory, index, words)
    else:
        dram_to_tbuf(state, memory, offset, index, words, now)
    cycles = uint32(((words + uint32(1)) >> uint32(1)) * state.parameter[P_PULL_BUFFER_WORD])
    end_pull(state, entry.me, entry.ctx, words, cycles, entry.signals, entry.unit, now)


@jit
def access_hash(state, entry, now):
    """hash_48, hash_64, hash_128: keys come from transfer-out registers, results go to transfer-in registers of the same number."""
    words = uint32(entry.total)
    first = uint32(entry.first)
    file = state.engines[entry.me].file
    # Operands are numbered as the transfer-in registers they return to.
    source = uint32(first - uint32(SRAM_IN) + uint32(SRAM_OUT))
    slot = push_words(state, entry.me, entry.ctx, first, words, entry.signals, UNIT_HASH, 0, now)
    if entry.command == COMMAND_HASH_128:
        for k in range(0, words, 4):
            at = uint32(source + uint32(k))
            hash_long(state, slot, uint64(file[at]) | (uint64(file[at + 1]) << uint64(32)),
                      uint64(file[at + 2]) | (uint64(file[at + 3]) << uint64(32)), k)
    else:
        bits = 48 if entry.command == COMMAND_HASH_48 else 64
        for k in range(0, words, 2):
            at = uint32(source + uint32(k))
            hash_words(state, slot, file[at], file[at + 1], bits, k)
    pulled(state, entry)


@jit
def access_msf(state, memory, entry, now):
    """msf[read], msf[write], msf[fast_wr]."""
    words = uint32(entry.total)
    first = uint32(entry.first)
    if entry.command == COMMAND_READ:
        slot = push_words(state, entry.me, entry.ctx, first, words, entry.signals, UNIT_MSF, 0, now)
        for k in range(words):
            state.pushes[slot].words[k] = msf_read(state, memory, uint32(entry.address + uint32(4) * uint32(k)), now)
    elif entry.command == COMMAND_WRITE:
        file = state.engines[entry.me].file
        for k in range(words):
            msf_write(state, memory, uint32(entry.address + uint32(4) * uint32(k)), file[uint32(first + uint32(k))],
                      entry.me, entry.ctx, now)
        pulled(state, entry)
        end_pull(state, entry.me, entry.ctx, words, 0, entry.signals, UNIT_MSF, now)
    else:
        # The two address operands add up to a CSR address in [15:0] and its data in [31:16].
        msf_fast_write(state, memory, uint32(entry.address & uint32(0xFFFF)), uint32(entry.address >> uint32(16)), entry.me, entry.ctx, now)
        command_ended(state, entry.me)


@jit
def access_cap(state, memory, entry, now):
    """cap[read], cap[write], cap[fast_wr], and the reflector."""
    words = uint32(entry.total)
    first = uint32(entry.first)
    command = uint32(entry.command)
    if command == uint32(COMMAND_READ) or command == uint32(COMMAND_REFLECT_READ):
        slot = push_words(state, entry.me, entry.ctx, first, words, entry.signals, UNIT_CAP, 0, now)
        for k in range(words):
            address = uint32(entry.address + uint32(4) * uint32(k))
            if command == uint32(COMMAND_READ):
                state.pushes[slot].words[k] = cap_read(state, memory, address, now)
            else:
                state.pushes[slot].words[k] = reflect_read(state, address, now)
    elif command == uint32(COMMAND_WRITE) or command == uint32(COMMAND_REFLECT_WRITE):
        file = state.engines[entry.me].file
        for k in range(words):
            address = uint32(entry.address + uint32(4) * uint32(k))
            if command == uint32(COMMAND_WRITE):
                cap_write(state, memory, address, file[uint32(first + uint32(k))], entry.me, entry.ctx, now)
            else:
                reflect_write(state, address, file[uint32(first + uint32(k))], now)
        pulled(state, entry)
        end_pull(state, entry.me, entry.ctx, words, 0, entry.signals, UNIT_CAP, now)
    else:
        cap_write(state, memory, entry.address, entry.value, entry.me, entry.ctx, now)
        command_ended(state, entry.me)


@jit
def access(state, memory, entry, now):
    """Do what the command in `entry` asks of its unit."""
    command = uint32(entry.command)
    unit = uint32(entry.unit)
    if unit == uint32(UNIT_MSF):
        access_msf(state, memory, entry, now)
    elif unit == uint32(UNIT_CAP):
        access_cap(state, memory, entry, now)
    elif unit == uint32(UNIT_HASH):
        access_hash(state, entry, now)
    elif command == uint32(COMMAND_READ) or command == uint32(COMMAND_WRITE):
        access_memory(state, memory, entry, now)
    elif command == uint32(COMMAND_GET) or command == uint32(COMMAND_PUT):
        access_ring(state, memory, entry, now)
    elif command == uint32(COMMAND_RBUF) or command == uint32(COMMAND_TBUF):
        access_buffers(state, memory, entry, now)
    else:
        report(state, RESERVED_COMMAND, entry.me, entry.ctx, state.engines[entry.me].pc[entry.ctx], command)


FAST_COMMANDS = (COMMAND_FAST, COMMAND_FAST_ALU)
"""Commands that carry their data and use no transfer register."""
