"""What byte_align asks of BYTE_INDEX and its latches before it moves bytes; the moving itself is an expression of its block.

Each direction has a latch of its own, loaded by byte_align alone. A result that is made of a latch, or with a BYTE_INDEX, of
before a swap is reported: the latches are not known to survive one (M). An instruction without destination only fills the
latch and asks for neither. While a new BYTE_INDEX has not taken effect the old one is used; that it is too early is told by
watch.py.
"""

from __future__ import annotations

from numpy import uint32

from ixpemu.engine.hidden import is_own, note_own, report_here
from ixpemu.engine.jit import jit
from ixpemu.engine.layout import (
    OWN_ALIGN_A,
    OWN_ALIGN_B,
    OWN_BYTE_INDEX,
    RESERVED_ALIGN_SWAP,
    SINK,
)
from ixpemu.engine.pointers import apply_due_shadows


@jit
def align_a(state, engine, i, ctx, a, b, pc, order, clock):
    """byte_align_le is about to use BYTE_INDEX and the latch of the A side."""
    align(state, engine, i, ctx, OWN_ALIGN_A, pc, order, clock)


@jit
def align_b(state, engine, i, ctx, a, b, pc, order, clock):
    """byte_align_be is about to use BYTE_INDEX and the latch of the B side."""
    align(state, engine, i, ctx, OWN_ALIGN_B, pc, order, clock)


@jit
def align(state, engine, i, ctx, latch, pc, order, clock):
    """Bring BYTE_INDEX up to date; report what the result must not hang on. The latch is the executing context's from here on."""
    if engine.shadow_count:
        apply_due_shadows(engine, ctx, order)
    if uint32(i.d) != uint32(SINK) and not (is_own(engine, latch) and is_own(engine, OWN_BYTE_INDEX)):
        report_here(state, RESERVED_ALIGN_SWAP, engine, ctx, pc, engine.byte_index, clock)
    note_own(engine, latch)
