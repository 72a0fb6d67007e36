"""Read-modify-write of one word: swap, set, clear, add, subtract. What a unit does when an atomic's turn comes; times:
operations.py.

Increment and decrement are an add and a subtract of 1. The controller of an SRAM channel, and scratch memory, do one command
after the other here, so that an atomic is atomic against plain reads and writes as well; of real SRAM only atomics among each
other are promised that (HRM, H).
"""

from __future__ import annotations

from numpy import uint32

from ixpemu.engine.jit import jit
from ixpemu.engine.memories import mark_written, memory_index
from ixpemu.engine.observation import SEEN_WRITE, observing, see_word
from ixpemu.engine.operation_numbers import COMMAND_ADD, COMMAND_CLEAR, COMMAND_SET, COMMAND_SUBTRACT


@jit
def changed(command, word, operand):
    """What an atomic makes of a word: the new word."""
    word = uint32(word)
    operand = uint32(operand)
    if command == uint32(COMMAND_SET):
        return uint32(word | operand)
    if command == uint32(COMMAND_CLEAR):
        return uint32(word & ~operand)
    if command == uint32(COMMAND_ADD):
        return uint32(word + operand)
    if command == uint32(COMMAND_SUBTRACT):
        return uint32(word - operand)
    return operand


@jit
def access_atomic(state, memory, entry, operand):
    """The atomic of `entry`: changes its word, and keeps the old one for the push."""
    index = memory_index(state, entry.unit, entry.address, 1, entry.me, entry.ctx, entry.pc, entry.access)
    word = memory[index]
    memory[index] = changed(uint32(entry.command), word, operand)
    if observing():
        see_word(state, SEEN_WRITE, entry, uint32(entry.address & uint32(0xFFFFFFFC)), memory[index], 15, entry.access)
    mark_written(memory, index, 1)
    entry.words[0] = word
