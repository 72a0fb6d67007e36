"""The chip's state record as a whole, and how a fresh one is made. Its parts are in layout.py and msf_layout.py.

There are two layouts: STATE, for eight microengines of 4,096 words, and a larger one for an IXP2800 or for larger control stores.

Not here: what any field does, and the parameters' values.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ixpemu.engine.actions import OP_STORE_END
from ixpemu.engine.layout import (
    ALARMS,
    BUSES,
    CAM_CLEARED_ORDER,
    CHANNEL_CSRS,
    CODE,
    CONSTANT,
    CONTEXTS,
    ENGINE,
    EVENT,
    EVENTS,
    HANDLES,
    KEY_ME,
    KEY_SHIFT,
    KEYS,
    MARK_EXTERNAL,
    ME_COUNT,
    NEVER,
    PACKET,
    PACKET_ROWS,
    PROBE,
    QUEUE_DEPTH_MAX,
    QUEUE_ENTRIES,
    QUEUE_UNITS,
    RESERVED_KINDS,
    RESERVED_ROWS,
    SILENT,
    STORE_WORDS,
    UNIT_COUNT,
    WHEEL,
)
from ixpemu.engine.msf_layout import MSF
from ixpemu.engine.observation import OBSERVED, OBSERVED_ROWS
from ixpemu.engine.parameters import PARAMETER_SLOTS

STATE_VERSION = 1
"""Goes up whenever the meaning of a saved state changes; snapshots of another version are refused."""

IRQ_VALID = 0x0F0FFFFF
"""The interrupts of the XScale that there are (H)."""
PCI_IDENTITY = (0x9001 << 16 | 0x8086, 0, 0x0B400000)
"""First words of the PCI configuration registers: device and vendor, command, class (recalled)."""
PAGE_WORDS = 1024
"""Words of one page of `memory`. Its first words are flags, one per page, set by whoever writes into the page."""

STATE = np.dtype([
    ("now", "u8"),              # time of the last commit
    ("limit", "u8"),            # commits at this time and later wait for the next slice
    ("stop_mask", "u4"),        # 1 << STOP_* for reasons that end the slice
    ("stop_reason", "u4"), ("stop_me", "u4"), ("stop_ctx", "u4"), ("stop_pc", "u4"), ("stop_value", "u4"),
    ("stop_kind", "u4"),        # RESERVED_* of the event that stopped it
    ("stop_time", "u8"),
    ("stop_at_packets", "u8"),
    ("near", "u8"),             # cycles that a microengine arbitrates ahead of the chip's time, see running.py
    ("far", "u8"),              # the same for instructions that touch no transfer register
    ("mode", "u4"),             # 0 fast, 1 default
    ("commits", "u8"),          # external operations and events so far
    ("parameter", "u4", (PARAMETER_SLOTS,)),
    ("keys", "u8", (KEYS,)),    # next time of every source, see KEY_SHIFT
    ("event_time", "u8", (EVENTS,)), ("event_next", "u2", (EVENTS,)),       # next in the bucket, plus one
    ("free_slot", "u2", (EVENTS,)), ("free_events", "u4"),
    ("bucket_first", "u2", (WHEEL,)), ("bucket_last", "u2", (WHEEL,)),      # plus one; 0 for an empty bucket
    ("wheel_bits", "u8", (WHEEL // 64,)),
    ("far_slot", "u2", (EVENTS,)), ("far_count", "u4"),
    ("bus_bits", "u8", (BUSES * 32,)), ("bus_chunk", "u8", (BUSES * 32,)),
    ("push_last", "u8", (2 * UNIT_COUNT,)),     # when a unit's last push to a cluster was ready: they keep their order
    # Queues of the units, by slot plus one; and the latest access time in each
    ("queue_first", "u2", (UNIT_COUNT,)), ("queue_end", "u2", (UNIT_COUNT,)), ("queue_last", "u8", (UNIT_COUNT,)),
    ("silent_issued", "u4", (UNIT_COUNT,)), ("silent_done", "u4", (UNIT_COUNT,)),
    ("alarm", "u8", (ALARMS,)),
    ("command_bus", "u8", (2,)),            # when each cluster's command bus takes the next command
    ("free_at", "u8", (2 * UNIT_COUNT,)),   # when each port takes its next command
    # Figures worked out from the parameters, row 2 * unit for reads and 2 * unit + 1 for writes, see timing.py
    ("port", "u4", (2 * UNIT_COUNT,)), ("cost_latency", "u4", (2 * UNIT_COUNT,)), ("cost_command", "u4", (2 * UNIT_COUNT,)),
    ("cost_word", "u4", (2 * UNIT_COUNT,)), ("cost_queue", "u4", (UNIT_COUNT,)),
    ("dram_cycles", "u4", (40,)),
    ("queue_time", "u8", (UNIT_COUNT * QUEUE_DEPTH_MAX,)), ("queue_next", "u4", (UNIT_COUNT,)),
    ("commands", "u8", (UNIT_COUNT,)), ("words_moved", "u8", (UNIT_COUNT,)), ("busy", "u8", (2 * UNIT_COUNT,)),
    # memory map, word indexes into `memory`
    ("scratch_base", "u4"), ("sram_base", "u4", (2,)), ("dram_base", "u4"),
    ("scratch_words", "u4"), ("sram_words", "u4", (2,)), ("dram_words", "u4"), ("memory_words", "u4"),
    # scratch rings
    ("ring_csr", "u4", (16,)), ("ring_base", "u4", (16,)), ("ring_words", "u4", (16,)), ("ring_head", "u4", (16,)),
    ("ring_tail", "u4", (16,)), ("ring_used", "u4", (16,)),
    ("ring_flag", "u1", (16,)), ("ring_flag_before", "u1", (16,)), ("ring_flag_time", "u8", (16,)),
    # DRAM
    ("dram_row", "u4", (32,)), ("dram_bank_free", "u8", (32,)), ("dram_writing", "u4"),
    # hash unit: 48 (2 words), 64 (2), 128 (4), least significant first
    ("hash_multiplier", "u4", (8,)),
    # CAP
    ("cap", "u4", (1024,)),                 # CSRs 0x4000..0x4fff that only remember
    ("thread_interrupts", "u8"),            # XSCALE_INT_A raw, bit me * 8 + ctx
    ("thread_interrupts_b", "u8"),
    ("attention", "u4"),                    # microengines stopped by ctx_arb[bpt]
    ("interrupts_raised", "u4"),            # IRQ_* that the host has not been told of yet
    # packets
    ("packet_next", "u4"),                  # number of the next packet; 0 is "no packet"
    ("packets_inside", "u4"), ("packets_sent", "u8"), ("packets_dropped", "u8"),
    ("input_open", "u4"),                   # ports (mask) that may still receive
    ("handle_key", "u4", (HANDLES,)), ("handle_packet", "u4", (HANDLES,)), ("handles_used", "u4"),
    ("packet_finished", "u4"),              # finished rows not yet collected by the host
    ("probe", PROBE, (256,)),
    ("reserved_total", "u8", (RESERVED_KINDS,)), ("reserved_rows", "u4"),
    ("reserved_kind", "u1", (RESERVED_ROWS,)), ("reserved_me", "u1", (RESERVED_ROWS,)), ("reserved_ctx", "u1", (RESERVED_ROWS,)),
    ("reserved_pc", "u4", (RESERVED_ROWS,)), ("reserved_value", "u4", (RESERVED_ROWS,)),
    ("reserved_time", "u8", (RESERVED_ROWS,)), ("reserved_count", "u4", (RESERVED_ROWS,)),
    ("reserved_allowed", "u8"),             # kinds (mask) that nobody wants to hear of
    ("cluster_shift", "u4"),                # a microengine's number shifted right by it is its cluster
    ("thread_interrupts_high", "u8", (2,)), # XSCALE_INT_A and _B of microengines 8..15
    ("stamps_stopped", "u8"),               # 0: timestamps run; else they stand since the cycle before it
    ("stamps_lag", "u8"),                   # cycles that they have stood
    # interrupt controller and timers of the XScale, see outside.py
    ("irq_latched", "u4"), ("irq_enable", "u4"), ("fiq_enable", "u4"), ("thread_enable", "u8", (4,)),
    ("timer_control", "u4", (4,)), ("timer_load", "u4", (4,)), ("timer_left", "u4", (4,)), ("timer_due", "u8", (4,)),
    # PCI, see pci.py
    ("pci", "u4", (128,)), ("pci_configuration", "u4", (16,)), ("dma_due", "u8", (3,)), ("host_base", "u4"), ("host_words", "u4"),
    ("stale", "u4"),                        # mask of microengines with stale records
    ("acting", "u4"),                       # who writes a CSR: see reserved.note_actor
    ("engines", ENGINE, (ME_COUNT,)),
    ("msf", MSF),
    ("events", EVENT, (EVENTS + QUEUE_UNITS * SILENT,)),
    ("code", CODE, (ME_COUNT * STORE_WORDS,)),
    ("watch_rules", "u4", (ME_COUNT * STORE_WORDS,)),   # what watch.py looks at
    ("watch_kind", "u1", (ME_COUNT * STORE_WORDS,)),    # RESERVED_* of what certainly offends
    ("watch_left", "u1", (ME_COUNT * STORE_WORDS,)),    # contexts that have not looked yet
    ("store", "u8", (ME_COUNT * STORE_WORDS,)),     # the words behind `code`, for whoever reads the control store
    ("packets", PACKET, (PACKET_ROWS,)),
    # what an observed run has seen since the host last came; the last row is for what nobody wants
    ("observed_kinds", "u4"), ("observed_count", "u4"), ("observed_lost", "u4"), ("observed_key", "u8"),
    ("observed", OBSERVED, (OBSERVED_ROWS + 1,)),
    # SRAM channels: queue array, entry 64 * channel + number; registers; the word under an atomic and when it is written back
    ("array_head", "u4", (2 * QUEUE_ENTRIES,)), ("array_tail", "u4", (2 * QUEUE_ENTRIES,)),
    ("array_count", "u4", (2 * QUEUE_ENTRIES,)), ("array_set", "u1", (2 * QUEUE_ENTRIES,)),
    ("channel_csr", "u4", (2 * CHANNEL_CSRS,)),
    ("atomic_address", "u4", (2,)), ("atomic_free", "u8", (2,)),
], align=True)


PER_WORD = ("code", "watch_rules", "watch_kind", "watch_left", "store")
"""Fields with an element for each word of each control store."""

LARGE = (16, 8192)
"""Microengines and store words of the layout for chips that the usual one has no room for."""


@cache
def state_type(engines: int, words: int) -> np.dtype:
    """STATE for another number of microengines and words of a control store (a power of two).

    Compiled code is compiled anew for each type: all sizes in it are constants.
    """
    per_engine = ("instructions", "aborted", "stalled")
    by_unit = engines * UNIT_COUNT
    packet = _resized(PACKET, {name: engines for name in per_engine} | {"refs": by_unit, "waits": by_unit})
    state = _resized(STATE, {"keys": KEY_ME + engines, "engines": engines, **dict.fromkeys(PER_WORD, engines * words)})
    fields = [(name, packet if name == "packets" else field.base, field.shape) for name, field in _fields(state)]
    return np.dtype(fields, align=True)


def _fields(record: np.dtype) -> list[tuple[str, np.dtype]]:
    """The fields of a record by name, in order."""
    return [(name, record[name]) for name in record.names or ()]


def _resized(record: np.dtype, lengths: dict[str, int]) -> np.dtype:
    """The record with other lengths of some of its arrays."""
    return np.dtype(
        [(name, field.base, (lengths[name],) if name in lengths else field.shape) for name, field in _fields(record)], align=True)


def layout_for(engines: int, words: int) -> tuple[int, int]:
    """The layout, as microengines and store words, that has room for a chip."""
    return (ME_COUNT, STORE_WORDS) if engines <= ME_COUNT and words <= STORE_WORDS else LARGE


def new_state(engines: int = ME_COUNT, words: int = STORE_WORDS) -> np.recarray:
    """A chip after power-up, as a record array of one row: nothing enabled, nothing scheduled, no parameters, no memory map.

    `engines`, `words`: a layout that `layout_for` gives.
    """
    array = np.zeros(1, STATE if (engines, words) == (ME_COUNT, STORE_WORDS) else state_type(engines, words)).view(np.recarray)
    state = array[0]
    state.code["op"] = OP_STORE_END
    state.code["marks"] = MARK_EXTERNAL
    never = NEVER << KEY_SHIFT
    state.keys[:] = [never | k for k in range(len(state.keys))]
    state.alarm[:] = NEVER
    state.free_slot[:] = np.arange(EVENTS)[::-1]
    state.free_events = EVENTS
    state.bus_chunk[:] = NEVER
    state.packet_next = 1
    state.irq_enable = IRQ_VALID
    state.thread_enable[:] = (1 << 64) - 1
    state.timer_due[:] = NEVER
    state.dma_due[:] = NEVER
    state.pci_configuration[:3] = PCI_IDENTITY
    for m in range(engines):
        engine = state.engines[m]
        engine.number = m
        engine.context = 0x80 | (CONTEXTS - 1)          # the first dispatch looks at context 0 first
        engine.cc_enable = 0x2000
        engine.cam_order = CAM_CLEARED_ORDER
        engine.file[CONSTANT:CONSTANT + 256] = np.arange(256)
        engine.future_due[:] = NEVER
    return array


def new_memory(
    scratch_bytes: int, sram_bytes: tuple[int, int], dram_bytes: int, host_bytes: int = 0
) -> tuple[np.ndarray, dict[str, int]]:
    """An array of zeros for all memories, and the values of the record's memory-map fields.

    The array is as large as the memories but costs only the pages that are written. Each region starts on a page.
    """
    words = [scratch_bytes // 4, sram_bytes[0] // 4, sram_bytes[1] // 4, dram_bytes // 4, host_bytes // 4]
    pages = [-(-count // PAGE_WORDS) for count in words]
    total_pages = sum(pages)
    flag_pages = 1
    while (total_pages + flag_pages) > flag_pages * PAGE_WORDS:
        flag_pages += 1
    bases = []
    page = flag_pages
    for count in pages:
        bases.append(page * PAGE_WORDS)
        page += count
    memory = np.zeros(page * PAGE_WORDS, np.uint32)
    return memory, {
        "scratch_base": bases[0], "sram_base0": bases[1], "sram_base1": bases[2], "dram_base": bases[3],
        "scratch_words": words[0], "sram_words0": words[1], "sram_words1": words[2], "dram_words": words[3],
        "host_base": bases[4], "host_words": words[4],
        "memory_words": page * PAGE_WORDS,
    }
