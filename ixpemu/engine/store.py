"""The control store of a microengine, word by word through its USTORE registers, from outside or by a microengine itself.

USTORE_ADDRESS with bit 31 (access from outside) says where; USTORE_DATA_LOWER holds 32 bits; writing USTORE_DATA_UPPER stores the
word and moves the address on, back to 0 behind the last (facts H). Instructions are executed from decoded records, which only the
host can make: what was written is noted as a range of addresses, the slice stops (STOP_STORE), and the host reads these words
anew before anything else happens.
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine import numbers as n
from ixpemu.engine.jit import jit
from ixpemu.engine.lanes import request_stop
from ixpemu.engine.layout import RESERVED_STORE_CLOSED, RESERVED_STORE_RUNNING, STOP_STORE
from ixpemu.engine.parameters import P_STORE_WORDS
from ixpemu.engine.reserved import report_actor
from ixpemu.engine.sizes import store_words

WRITTEN = 1 << 63           # beside a word in `state.store`: there is one
LOW_BITS = 0xFFFFF
ADDRESSES = 1 << 13         # of USTORE_ADDRESS[12:0]


@jit
def parity(bits):
    """1 if an odd number of the bits is set."""
    bits = uint64(bits)
    count = uint32(0)
    while bits != uint64(0):
        bits = uint64(bits & uint64(bits - uint64(1)))
        count = uint32(count + uint32(1))
    return count & uint32(1)


@jit
def note_stale(state, engine, first, last):
    """The records of these addresses have to be made anew, from the words or for another number of contexts."""
    if engine.stale_end == uint32(0):
        engine.stale_first = uint32(first)
        engine.stale_end = uint32(last + uint32(1))
    else:
        engine.stale_first = min(engine.stale_first, uint32(first))
        engine.stale_end = max(engine.stale_end, uint32(last + uint32(1)))
    state.stale = uint32(state.stale | (uint32(1) << engine.number))
    request_stop(state, STOP_STORE, engine.number, 0)


@jit
def store_place(state, engine):
    """The address that USTORE_ADDRESS names, inside the control store that there is."""
    return uint32(uint32(engine.ustore_address & uint32(ADDRESSES - 1)) % state.parameter[P_STORE_WORDS])


@jit
def read_store(state, engine, address):
    """A USTORE register: the address, or a half of the word there with its parity bits."""
    if uint32(address) == uint32(n.CSR_USTORE_ADDRESS):
        return engine.ustore_address
    at = store_place(state, engine)
    word = uint64(state.store[uint32(engine.number * store_words(state) + at)] & ~uint64(WRITTEN))
    if uint32(address) == uint32(n.CSR_USTORE_DATA_LOWER):
        return uint32(word & uint64(0xFFFFFFFF))
    low = parity(word & uint64(LOW_BITS))
    high = parity(word >> uint64(20))
    return uint32(uint32(word >> uint64(32)) | (low << uint32(8)) | (high << uint32(9)))


@jit
def write_store(state, engine, address, value):
    """Write a USTORE register. Without bit 31 of the address nothing is stored, and what a running microengine fetches from a
    store that is written is nobody's promise: both are reported."""
    address = uint32(address)
    if address == uint32(n.CSR_USTORE_ADDRESS):
        engine.ustore_address = uint32(value)
    elif address == uint32(n.CSR_USTORE_DATA_LOWER):
        engine.ustore_lower = uint32(value)
    else:
        at = store_place(state, engine)
        running = engine.context < uint32(0x80) or engine.enabled != uint32(0)
        if running:
            report_actor(state, RESERVED_STORE_RUNNING, at)
        if engine.ustore_address >> uint32(31):
            store_word(state, engine, at, value)
        elif not running:
            report_actor(state, RESERVED_STORE_CLOSED, value)


@jit
def store_word(state, engine, at, upper):
    """Store the word of which `upper` and USTORE_DATA_LOWER are the halves, and move on."""
    state.store[uint32(engine.number * store_words(state) + at)] = uint64(
        uint64(WRITTEN) | (uint64(uint32(upper) & uint32(0xFF)) << uint64(32)) | uint64(engine.ustore_lower))
    note_stale(state, engine, at, at)
    following = uint32(at + uint32(1))
    if following >= state.parameter[P_STORE_WORDS]:
        following = uint32(0)
    engine.ustore_address = uint32((engine.ustore_address & ~uint32(ADDRESSES - 1)) | following)
