"""The content-addressable memory: 16 tags with 4-bit states and their order of use; one for the microengine.

A hit makes its entry the most recently used one, and so does a write of the tag; nothing else moves the order (H). There are no
valid bits: what was not written holds the tag 0. Several equal tags have no defined answer (H): the lowest entry answers
(assumed), and it is reported unless none of them was written since the CAM was cleared. After power-up it is as after cam_clear
(assumed).
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine.hidden import report_here
from ixpemu.engine.jit import jit
from ixpemu.engine.layout import (
    CAM_CLEARED_ORDER,
    CAM_ENTRY,
    CAM_FOUND,
    CAM_TAKEN,
    CONTEXTS,
    RESERVED_CAM_EQUAL,
    RESERVED_CAM_TAKEN,
)
from ixpemu.engine.observation import CAM_CLEAR, CAM_HIT, CAM_MISS, CAM_READ, CAM_STATE, CAM_WRITE, observing, see_cam
from ixpemu.engine.pointers import write_shadowed

ENTRIES = 16


@jit
def cam_clear(state, engine, i, ctx, a, b, pc, order, clock):
    """All tags and states 0, entry 0 the least recently used one, 15 the most."""
    for k in range(ENTRIES):
        engine.cam_tag[k] = uint32(0)
        engine.cam_state[k] = uint32(0)
    engine.cam_order = uint64(CAM_CLEARED_ORDER)
    engine.cam_written = uint32(0)
    for other in range(CONTEXTS):
        engine.cam_found[other] = uint32(0)
    if observing():
        see_cam(state, engine, ctx, pc, 0, 0, CAM_CLEAR, clock)


@jit
def make_latest(engine, entry):
    """Make `entry` the most recently used one; the others keep their order."""
    order = engine.cam_order
    at = uint64(0)
    while at < uint64(60) and (order >> at) & uint64(15) != uint64(entry):
        at = uint64(at + uint64(4))
    older = order & ((uint64(1) << at) - uint64(1))
    newer = uint64(order >> uint64(at + uint64(4))) if at < uint64(60) else uint64(0)
    engine.cam_order = uint64(older | (newer << at) | (uint64(entry) << uint64(60)))


@jit
def cam_lookup(state, engine, i, ctx, a, b, pc, order, clock):
    """Look tag `a` up; the result word. `i.imm`: 0, or the local-memory pointer to be set plus one, and the page above bit 1."""
    matches = uint32(0)
    entry = uint32(ENTRIES)
    for k in range(ENTRIES):
        if engine.cam_tag[k] == a:
            matches = uint32(matches | (uint32(1) << uint32(k)))
            if entry == uint32(ENTRIES):
                entry = uint32(k)
    if entry == uint32(ENTRIES):
        entry = uint32(engine.cam_order & uint64(15))
        found = uint32(entry << uint32(3))
        if observing():
            see_cam(state, engine, ctx, pc, entry, a, CAM_MISS, clock)
    else:
        if matches & engine.cam_written and matches & uint32(matches - uint32(1)):
            report_here(state, RESERVED_CAM_EQUAL, engine, ctx, pc, a, clock)
        make_latest(engine, entry)
        found = uint32((engine.cam_state[entry] << uint32(8)) | uint32(0x80) | (entry << uint32(3)))
        if observing():
            see_cam(state, engine, ctx, pc, entry, a, CAM_HIT, clock)
    engine.cam_found[ctx] = uint32(entry | uint32(CAM_FOUND))
    which = uint32(i.imm) & uint32(3)
    if which:
        word = uint32(((uint32(i.imm) >> uint32(2)) << uint32(8)) | (entry << uint32(4)))
        write_shadowed(state, engine, ctx, uint32(which - uint32(1)), word, order)
    return found


@jit
def claim(state, engine, ctx, entry, pc, clock):
    """Report it if `ctx` writes the entry that its last lookup gave it and another context has written the tag since."""
    if (engine.cam_found[ctx] & uint32(CAM_TAKEN)) and (engine.cam_found[ctx] & uint32(CAM_ENTRY)) == entry:
        report_here(state, RESERVED_CAM_TAKEN, engine, ctx, pc, entry, clock)


@jit
def cam_write(state, engine, i, ctx, a, b, pc, order, clock):
    """Write tag `a` and state `i.imm` to entry `b`."""
    entry = uint32(b & uint32(CAM_ENTRY))
    claim(state, engine, ctx, entry, pc, clock)
    engine.cam_tag[entry] = a
    engine.cam_state[entry] = uint32(i.imm)
    engine.cam_written = uint32(engine.cam_written | (uint32(1) << entry))
    make_latest(engine, entry)
    for other in range(CONTEXTS):
        if (engine.cam_found[other] & uint32(CAM_FOUND | CAM_ENTRY)) == (entry | uint32(CAM_FOUND)):
            engine.cam_found[other] = uint32(entry | uint32(CAM_FOUND | CAM_TAKEN))
    engine.cam_found[ctx] = uint32(engine.cam_found[ctx] & uint32(CAM_FOUND | CAM_ENTRY))
    if observing():
        see_cam(state, engine, ctx, pc, entry, a, CAM_WRITE, clock)


@jit
def cam_write_state(state, engine, i, ctx, a, b, pc, order, clock):
    """Write state `i.imm` to entry `b`."""
    entry = uint32(b & uint32(CAM_ENTRY))
    claim(state, engine, ctx, entry, pc, clock)
    engine.cam_state[entry] = uint32(i.imm)
    if observing():
        see_cam(state, engine, ctx, pc, entry, engine.cam_tag[entry], CAM_STATE, clock)


@jit
def cam_read_tag(state, engine, i, ctx, a, b, pc, order, clock):
    """The tag of entry `b`."""
    entry = uint32(b & uint32(CAM_ENTRY))
    if observing():
        see_cam(state, engine, ctx, pc, entry, engine.cam_tag[entry], CAM_READ, clock)
    return uint32(engine.cam_tag[entry])


@jit
def cam_read_state(state, engine, i, ctx, a, b, pc, order, clock):
    """The state of entry `b`, in bits 11:8."""
    entry = uint32(b & uint32(CAM_ENTRY))
    if observing():
        see_cam(state, engine, ctx, pc, entry, engine.cam_tag[entry], CAM_READ, clock)
    return uint32(engine.cam_state[entry] << uint32(8))
