"""State of a microengine that its contexts share and no operand names: what the executing context may rely on, and reports of it.

BYTE_INDEX, the latches of byte_align, the CRC remainder, the multiplier: after a context has slept they may be
another's. `ENGINE.own` has a bit for each that the executing context has set since it was started. The units themselves are
align.py, cam.py, count.py, crc.py and multiply.py; they are called from dispatch.py, all with the same arguments:

    i       the code record of the instruction              a, b    its operands
    pc      the address behind it                           order   how many instructions of this microengine went before
    clock   the cycle behind it
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine.jit import jit
from ixpemu.engine.reserved import report_at
from ixpemu.engine.sizes import store_words


@jit
def report_here(state, kind, engine, ctx, pc, value, clock):
    """Report an event of the instruction before address `pc` and cycle `clock`."""
    address = uint32(pc - uint32(1)) & uint32(store_words(state) - uint32(1))
    report_at(state, kind, engine.number, ctx, address, value, uint64(clock - uint64(1)))


@jit
def note_own(engine, what):
    """The executing context has set the state OWN_* `what`."""
    engine.own = uint32(engine.own | uint32(what))


@jit
def is_own(engine, what):
    """Whether the executing context has set the state OWN_* `what` since it was started."""
    return (engine.own & uint32(what)) != uint32(0)
