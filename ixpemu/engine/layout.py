"""The whole state of a chip as two arrays: one record (`STATE`) and one array of memory words. Names of everything in them.

Compiled functions take these two and nothing else: `state`, the record, and `memory`, an array of uint32. Nothing here
computes; who writes which field is said beside it. Times are cycles of the microengine clock since reset, uint64; `NEVER` is the
time of what is not going to happen. Addresses of commands are byte addresses as programs use them; positions in `memory` are
word indexes. A field must not be called like an attribute of a numpy record (`data`, `size`, ...): uncompiled code would
reach the attribute.

What a user can change is a parameter: `state.parameter[P_...]`, filled from a chip file. numba freezes module constants, so none
of the constants below is one of those.
"""

from __future__ import annotations

import numpy as np

# Of the layout that IXP2400s have. Compiled code asks the state it works on (sizes.py): there is a larger layout (state.py).
ME_COUNT = 8
CONTEXTS = 8
STORE_WORDS = 4096
"""Instruction words of one microengine's control store (literature value for the IXP2400, confidence M)."""

NEVER = (1 << 59) - 1
KEY_SHIFT = 5
"""A queue key is `time << KEY_SHIFT | number`: one comparison orders by time, then by lane or microengine number."""

# One register file per microengine, word indexes into `ENGINE.file`. Context-relative registers: base + 16 * ctx + number.
GPR_A, GPR_B, SRAM_IN, SRAM_OUT, DRAM_IN, DRAM_OUT, NEIGHBOR = 0, 128, 256, 384, 512, 640, 768
LOCAL_MEMORY = 896
CONSTANT = LOCAL_MEMORY + 1024      # 256 words that hold 0..255: a constant operand is a register that never changes
SINK = CONSTANT + 256               # destination of results nobody wants
CSR_VALUE = SINK + 1             # what a local_csr_rd read, for the immed that follows it
FILE_WORDS = CSR_VALUE + 1
WATCHED_WORDS = LOCAL_MEMORY        # registers of which it can be known whether they were written
LOCAL_MEMORY_WORDS = 640            # populated; pointers reach 1,024

# Marks of an instruction, compared with what is pending: any bit in common makes it an external operation.
MARK_READS_IN = 1           # reads a transfer-in register of its context
MARK_WRITES_OUT = 2         # writes a transfer-out register of its context
MARK_READS_IN_INDEXED = 4   # the same through T_INDEX: any context's register
MARK_WRITES_OUT_INDEXED = 8
MARK_PROBE = 16
MARK_BREAK = 32
MARK_WATCH = 64             # may be reserved behaviour: watch.py looks first
MARK_EXTERNAL = 128         # touches another thread or a unit: always external
MARKS_TRANSFER = MARK_READS_IN | MARK_WRITES_OUT | MARK_READS_IN_INDEXED | MARK_WRITES_OUT_INDEXED

# Sources of what happens, in the order in which they go at one cycle: events, alarms, microengines.
KEY_WHEEL, KEY_FAR, LANE_ALARM, KEY_ME = 0, 1, 2, 4
KEYS = 12
WHEEL = 2048                # cycles that the event queue looks ahead without its overflow list; a power of two
EVENTS = 2048               # events that can wait at once
INBOX = 256                 # arrivals that can be on their way to one microengine
INBOX_ROOM = 96             # a microengine with so many under way issues no command until some have arrived
SILENT = 64                 # writes of one unit under way at once that signal nothing; their slots lie behind those of the events
QUEUE_UNITS = 5             # SRAM 0 and 1, scratch, hash, DRAM: units whose commands wait in a queue of their own

# Buses, each with a calendar: S push and pull by cluster, D push and pull.
BUS_PUSH0, BUS_PUSH1, BUS_PULL0, BUS_PULL1, BUS_D_PUSH, BUS_D_PULL = 0, 1, 2, 3, 4, 5
BUSES = 6

# What an event is: EVENT.kind.
EVENT_PUSH, EVENT_PULL, EVENT_NEIGHBOR, EVENT_ACCESS = 0, 1, 2, 3

# Units, as commands and counters know them.
UNIT_SRAM0, UNIT_SRAM1, UNIT_SCRATCH, UNIT_HASH, UNIT_DRAM, UNIT_MSF, UNIT_CAP = 0, 1, 2, 3, 4, 5, 6
UNIT_SIGNAL = 7             # waiting for another thread, the timer or the XScale
UNIT_RECEIVE = 8            # waiting for a received element
UNIT_READY = 9              # ready, and another context executes
UNIT_PCI = 10
UNIT_COUNT = 11
UNIT_NAMES = ("sram0", "sram1", "scratch", "hash", "dram", "msf", "cap", "signal", "receive", "ready", "pci")
QUEUE_DEPTH_MAX = 64        # deepest command queue of a unit that a chip file may ask for
FIFO_DEPTH_MAX = 16         # the same for a microengine's command FIFO

# First word of each multiplier in `state.hash_multiplier`, least significant word first.
HASH_MULTIPLIER_48, HASH_MULTIPLIER_64, HASH_MULTIPLIER_128 = 0, 2, 4

# Alarms: single times that a part of the chip sets for itself.
ALARM_RECEIVE, ALARM_TRANSMIT, ALARM_MSF_TIMER, ALARM_FUTURE_COUNT = 0, 4, 8, 12
ALARM_TIMER, ALARM_DMA = 13, 14
ALARMS = 16

# Reasons for the core to return.
(STOP_CYCLES, STOP_IDLE, STOP_QUIET, STOP_PACKETS, STOP_BREAKPOINT, STOP_HALT, STOP_RESERVED, STOP_INTERRUPT, STOP_STEP,
 STOP_COMMIT, STOP_INPUT, STOP_OUTPUT, STOP_PACKET_TABLE, STOP_INTERNAL, STOP_ATTENTION, STOP_OBSERVED,
 STOP_STORE) = range(1, 18)
STOP_NAMES = ("", "cycles", "idle", "quiet", "packets", "break", "halt", "reserved", "interrupt", "step", "commit", "input",
              "output", "packet table", "internal", "attention", "observed", "store")

# Interrupts to the XScale by their bit in its controller (facts H; microengines 4 to 7 are in the third group of threads).
(IRQ_SOFT, IRQ_TIMER, IRQ_DMA, IRQ_DOORBELL, IRQ_ATTENTION, IRQ_PCI, IRQ_THREAD_A, IRQ_THREAD_B) = (0, 4, 10, 13, 14, 15, 16, 24)
INTERRUPTS = {
    IRQ_SOFT: "soft", IRQ_TIMER: "timer1", IRQ_TIMER + 1: "timer2", IRQ_TIMER + 2: "timer3", IRQ_TIMER + 3: "timer4",
    IRQ_DMA: "dma1", IRQ_DMA + 1: "dma2", IRQ_DMA + 2: "dma3", IRQ_DOORBELL: "doorbell",
    IRQ_ATTENTION: "attention", IRQ_PCI: "pci", IRQ_THREAD_A: "thread_a", IRQ_THREAD_B: "thread_b",
}

# Reserved behaviour: kinds and their short names. A new one goes to the end of both, and gets a rule in `ixpemu.chip_rules` with
# the code 7000 + kind and a case in tests/corpus/reserved.
(RESERVED_ILLEGAL, RESERVED_STORE_END, RESERVED_UNPOPULATED, RESERVED_RING_OVERFLOW, RESERVED_LOCAL_MEMORY, RESERVED_CSR_READ,
 RESERVED_DEFER, RESERVED_COMMAND, RESERVED_RING_BASE,
 RESERVED_ELEMENT, RESERVED_THREADS, RESERVED_TRANSMIT,
 RESERVED_OVERRIDE, RESERVED_TRANSFER_WINDOW, RESERVED_ERRATUM_69, RESERVED_THREAD_ENTRY,
 RESERVED_CONTROL_WORD, RESERVED_MSF_MODE,
 RESERVED_SIGNAL_LOST,
 RESERVED_SHORT_GET,
 RESERVED_UNALIGNED,
 RESERVED_UNWRITTEN, RESERVED_IN_FLIGHT_READ, RESERVED_IN_FLIGHT_WRITE, RESERVED_FLAGS_SWAPPED, RESERVED_FLAGS_DOUBTFUL,
 RESERVED_SIGN, RESERVED_NO_PREVIOUS_A, RESERVED_NO_PREVIOUS_RESULT, RESERVED_SHADOW, RESERVED_T_INDEX_SWAPPED,
 RESERVED_T_INDEX_WINDOW, RESERVED_NEIGHBOR_RING, RESERVED_NO_NEIGHBOR, RESERVED_RANDOM, RESERVED_MULTIPLIER,
 RESERVED_STORE_RUNNING,
 RESERVED_QUEUE_UNSET, RESERVED_QUEUE_LINK, RESERVED_QUEUE_TAIL, RESERVED_DESCRIPTOR, RESERVED_QUEUE_SHORT,
 RESERVED_RING_ALIGNMENT, RESERVED_BUFFER_ALIGNMENT,
 RESERVED_MULTIPLY, RESERVED_MULTIPLY_BETWEEN, RESERVED_MULTIPLY_WIDE, RESERVED_POP_COUNT, RESERVED_FIND_FIRST,
 RESERVED_ALIGN_SWAP, RESERVED_CRC_SWAP, RESERVED_CRC_EARLY, RESERVED_CAM_EQUAL, RESERVED_CAM_TAKEN,
 RESERVED_STORE_CLOSED, RESERVED_SIGNAL, RESERVED_REFLECTOR, RESERVED_PCI,
 RESERVED_NOT_MODELLED,
 ) = range(1, 60)
RESERVED_NAMES = ("", "illegal instruction", "ran past the end of the program", "unpopulated memory", "put on a full ring",
                  "unpopulated local memory", "local_csr_rd without its immed", "branch or swap in a defer slot",
                  "command that the unit does not know", "scratch ring outside scratch memory",
                  "RBUF element that may not be freed", "receive thread list overrun", "transmit element out of rule",
                  "indirect_ref to a microengine or context that is not there", "count past the transfer registers of a context",
                  "RBUF element of erratum 69 on the free list", "receive thread entry out of rule",
                  "transmit control word out of rule", "MSF mode that is not modelled",
                  "signal raised while still set",
                  "get of more words than the ring held",
                  "unaligned DRAM address",
                  "register read that nobody has written", "transfer register read before its data has come",
                  "transfer register of a command under way overwritten", "condition codes of before a swap",
                  "C or V of a logical operation", "asr with the sign of another value",
                  "indirect shift without its amount just before", "previous result used without one",
                  "CSR used too soon after it was written", "T_INDEX of before a swap",
                  "T_INDEX outside of the context's registers", "next-neighbour ring without a word or without room",
                  "signal or word to a neighbour that is not there", "random number without a seed",
                  "hash without a multiplier", "control store written while it runs",
                  "queue array entry that was not loaded", "NIL buffer in a queue", "enqueue_tail on an empty queue",
                  "unaligned queue descriptor", "get of more words than the SRAM ring held",
                  "scratch ring not on a multiple of its length", "unaligned RBUF or TBUF address",
                  "broken mul_step sequence", "instruction between the steps of a mul_step",
                  "mul_step operand wider than its shape", "broken pop_count sequence", "ffs of 0",
                  "byte_align goes on after a swap", "CRC remainder kept across a swap",
                  "CRC_REMAINDER read too soon after a crc",
                  "lookup that several CAM entries match", "CAM entry written by another context since its lookup",
                  "control store written without access from outside", "signal to nobody",
                  "reflector address that nobody has", "PCI address that nobody has",
                  "part of the chip that is not modelled",
                  )
RESERVED_KINDS = 64
RESERVED_ROWS = 64          # places that are kept, the earliest ones

# Parts of a queue array entry that have been loaded: STATE.array_set.
QUEUE_HEAD, QUEUE_TAIL, QUEUE_COUNT = 1, 2, 4
QUEUE_ENTRIES = 64          # of a channel
CHANNEL_CSRS = 16           # words of an SRAM channel's registers

# Rows of the packet table.
PACKET_ROWS = 8192          # a power of two; a packet's row is its number modulo this
ORIGINATED = 255            # `port_in` of a packet that the XScale has made
PACKET_FREE, PACKET_INSIDE, PACKET_SENT, PACKET_DROPPED, PACKET_ENDED = 0, 1, 2, 3, 4
HANDLES = 16384             # a power of two, twice the rows at least

CODE = np.dtype([
    ("op", "u1"),               # number of the case in dispatch.py
    ("marks", "u1"),            # MARK_*
    ("a_window", "u1"), ("b_window", "u1"),     # 0xf0 for a context-relative register, else 0: and-ed with 16 * ctx
    ("a", "u2"), ("b", "u2"), ("d", "u2"),      # word indexes into the register file, for context 0
    ("d_window", "u1"),
    ("amount", "u1"),           # rotate-right amount of a shift, bit or byte number, rotate of a merge
    ("mask", "u4"),             # what a shift leaves; waits of ctx_arb
    ("imm", "u4"),              # constant: of immed, byte mask of ld_field, address of a CSR, immediate of fast_wr
    ("target", "u2"),
    ("defer", "u1"),
    ("special", "u1"),          # SPECIAL_*: an operand goes through a pointer
    ("total", "u1"), ("unit", "u1"), ("command", "u1"),
    ("variant", "u1"),          # completion of a command, flags of ctx_arb
    ("probe", "u1"),            # row of the probe table, 0 for none
    ("post", "u1"),             # post-modify, two bits each for LM_ADDR_0, LM_ADDR_1, T_INDEX, NN_GET: 0 none, 1 up, 2 down
    ("abort", "u1"), ("early", "u1"),       # aborted cycles of a taken branch: flags just set, flags older; defer slots taken off
    ("in_a", "u1"), ("in_b", "u1"), ("out_d", "u1"),    # bits of the transfer registers it uses, in ENGINE.in_registers and so on
], align=True)
"""One decoded instruction, 36 bytes. `total` counts words, or 8-byte units for DRAM."""

# CODE.special: which operands go through a pointer.
SPECIAL_A, SPECIAL_B, SPECIAL_D = 1, 2, 4
# An operand through a pointer keeps what it is in CODE.a/b/d: pointer kind << 8 | offset.
POINTER_LM0, POINTER_LM1, POINTER_SRAM, POINTER_DRAM, POINTER_NEIGHBOR = 0, 1, 2, 3, 4
# A next-neighbour destination by number is POINTER_NEIGHBOR_DIRECT << 8 | register number; sources by number are plain registers.
POINTER_NEIGHBOR_DIRECT = 5
AFTER_NOTHING, AFTER_GO, AFTER_SWAP, AFTER_SWAP_GO = 0, 1, 2, 3

# Shadowed registers, for ENGINE.shadow_which: 0 and 1 are LM_ADDR_0 and LM_ADDR_1 of the executing context.
SHADOW_T_INDEX, SHADOW_NN_PUT, SHADOW_NN_GET, SHADOW_BYTE_INDEX = 2, 3, 4, 5
SHADOW_SAVED = 6            # and 7: the saved copy of the executing context's pointers, in force when it starts again
SHADOWS = 10                # writes that can be on their way: a delay of 7, this one, and both saved copies
HOLD_FLAGS = 0x10000       # in ENGINE.watched: CC_ENABLE forbids instructions to change the condition codes

# What a translated program returns (translation.py): it stands where it has to commit; at something it does not know; or the
# horizon lies inside the block that comes next.
STOPPED, INTERPRET, CUT = 0, 1, 2

WAKEUP_ANY = 1 << 16
SIGNAL_BITS = 0xFFFE
VOLUNTARY = 1

ENGINE = np.dtype([
    ("file", "u4", (FILE_WORDS,)),
    ("clock", "u8"),            # cycle at which the next instruction of the executing context issues
    ("retired", "u8"), ("aborted", "u8"), ("stalled", "u8"), ("idle", "u8"),   # cycles since reset, up to `clock`
    ("context", "u4"),          # executing context; 0x80 | last one while none executes
    ("number", "u4"),           # 0..7
    ("cc_result", "u4"),        # result whose bit 31 is N and whose being 0 is Z
    ("cc_v", "u4"), ("cc_c", "u4"),     # each 0 or 1
    ("cc_time", "u8"),          # cycle of the last instruction that set them
    ("previous_a", "u4"), ("previous_alu", "u4"), ("align_a", "u4"), ("align_b", "u4"),
    ("slots", "u4"),            # defer slots still to be executed before `after` takes place
    ("after", "u4"),            # AFTER_*: nothing, go to `after_pc`, swap out, both
    ("after_pc", "u4"), ("after_abort", "u4"),
    ("at_a", "u4"), ("at_b", "u4"), ("at_d", "u4"),     # places of operands that go through pointers, for one instruction
    ("probed", "u4"),           # of the instruction it stands at: 1 the probe has been served, 2 the breakpoint
    ("enabled", "u4"), ("ready", "u4"),            # masks of contexts
    ("base_marks", "u4"),       # marks that always count in this mode
    ("watched", "u4"),          # reflector commands under way to it, and HOLD_FLAGS: it runs no cycle ahead of its commits
    ("pc", "u4", (CONTEXTS,)),
    ("signals", "u4", (CONTEXTS,)),     # event signals that have arrived, bits 15..1
    ("wakeup", "u4", (CONTEXTS,)),      # signals slept on, bits 15..1; bit 16: any of them; bit 0: voluntary
    ("marks", "u4", (CONTEXTS,)),            # MARK_READS_IN and MARK_WRITES_OUT while the next two are not 0
    ("in_pending", "u4", (CONTEXTS,)), ("out_pending", "u4", (CONTEXTS,)),   # pushes and pulls outstanding
    ("in_registers", "u8", (CONTEXTS,)), ("out_registers", "u8", (CONTEXTS,)),     # theirs: 31..0 SRAM, 63..32 DRAM
    ("in_shared", "u4"), ("out_shared", "u4"),     # masks of contexts of which two commands use one register
    ("in_total", "u4"), ("out_total", "u4"),
    ("fifo_time", "u8", (FIFO_DEPTH_MAX,)), ("fifo_next", "u4"),     # when each of the last commands left for the bus
    # what is on its way here, see arrivals.py: the next one last
    ("arrivals", "u4"), ("arrival_time", "u8", (INBOX,)), ("arrival_what", "u4", (INBOX,)),
    # local CSRs
    ("lm_addr", "u4", (2 * CONTEXTS,)),      # word index of pointer p of context c at 2 * c + p
    ("t_index", "u4"), ("nn_put", "u4"), ("nn_get", "u4"), ("byte_index", "u4"), ("crc_remainder", "u4"),
    ("shadow_count", "u4"),
    ("shadow_due", "u8", (SHADOWS,)), ("shadow_which", "u4", (SHADOWS,)), ("shadow_value", "u4", (SHADOWS,)),
    ("ctx_enables", "u4"),      # the bits of CTX_ENABLES besides the context enables
    ("cc_enable", "u4"), ("csr_ctx_pointer", "u4"), ("prn", "u4"), ("previous_context", "u4"),
    ("timestamp_offset", "u8"), ("profile_offset", "u8"), ("prn_time", "u8"),
    ("future_count", "u4", (CONTEXTS,)), ("future_signal", "u4", (CONTEXTS,)), ("future_due", "u8", (CONTEXTS,)),
    ("ustore_address", "u4"), ("ustore_lower", "u4"),
    ("csr_other", "u4", (128,)),        # local CSRs that only remember what was written, by word address
    ("neighbor_words", "u4"),           # words on the next-neighbour ring
    # accounting, per context since its last flush
    ("packet", "u4", (CONTEXTS,)),      # number of the packet a context works on, 0 for none
    ("instructions", "u4", (CONTEXTS,)), ("aborts", "u4", (CONTEXTS,)), ("stalls", "u4", (CONTEXTS,)),
    ("refs", "u4", (CONTEXTS * UNIT_COUNT,)), ("waits", "u4", (CONTEXTS * UNIT_COUNT,)),
    ("slept_at", "u8", (CONTEXTS,)), ("ready_at", "u8", (CONTEXTS,)),       # the latter is when it started, while it executes
    # reserved behaviour, see watch.py
    ("written", "u4", (WATCHED_WORDS // 32,)),      # registers that somebody has written, as far as anybody wants to know
    ("watch_inputs", "u4"),     # instructions that want to know of transfer-in registers
    ("watch_hidden", "u4"),     # 1: marks were taken away of which contexts that are not enabled would have use
    ("doubt_time", "u8"),       # `cc_time` of condition codes whose C and V are inferred
    ("t_index_time", "u8"),     # when T_INDEX was last written, where that is noted
    # units beside the datapath, one each for all contexts
    ("own", "u4"),              # OWN_*: which of that state the executing context has set since it was started
    ("crc_readable", "u8"),     # number of the instruction from which on CRC_REMAINDER may be read
    ("cam_tag", "u4", (16,)), ("cam_state", "u4", (16,)),
    ("cam_order", "u8"),        # entries, four bits each, the least recently used one in bits 3:0
    ("cam_written", "u4"),      # mask of the entries written since the CAM was cleared
    ("cam_found", "u4", (CONTEXTS,)),   # CAM_*: what a context's last lookup gave it
    ("pop_step", "u4"), ("pop_value", "u4"), ("pop_next", "u8"),    # steps done, their source, number of the next instruction
    ("multiply_product", "u8"), ("multiply_a", "u4"), ("multiply_b", "u4"),
    ("multiply_shape", "u4"), ("multiply_step", "u4"), ("multiply_next", "u8"),    # as of pop_count
    ("stale_first", "u4"), ("stale_end", "u4"),     # addresses whose records the host has to make anew; end 0: none
    ("translated", "u8"),       # where the machine code of its program is, 0 if there is none; see translation.py
], align=True)

# ENGINE.own: state of the microengine that no context can rely on after it has slept.
OWN_CRC, OWN_BYTE_INDEX, OWN_ALIGN_A, OWN_ALIGN_B, OWN_MULTIPLY, OWN_POP_COUNT = 1, 2, 4, 8, 16, 32

# ENGINE.cam_found: the entry, whether there is one, and whether another context has written it since.
CAM_ENTRY, CAM_FOUND, CAM_TAKEN = 15, 16, 32
CAM_CLEARED_ORDER = 0xFEDCBA9876543210

EVENT = np.dtype([
    ("access", "u8"),           # when the unit touches memory
    ("address", "u4"), ("value", "u4"),
    ("signals", "u4"),          # mask to set in the context
    ("packet", "u4"),           # packet the context works on from here on, 0: unchanged
    ("first", "u2"),            # register-file index of the first transfer register
    ("pc", "u2"),               # address of the command
    ("queued", "u2"),           # slot of the next command in the unit's queue, plus one
    ("kind", "u1"),             # EVENT_*
    ("me", "u1"), ("ctx", "u1"), ("unit", "u1"), ("command", "u1"), ("total", "u1"), ("byte_mask", "u1"),
    ("flag", "u1"),             # of EVENT_NEIGHBOR: the word goes on the ring; of a command: see overrides.ELSEWHERE
    ("words", "u4", (32,)),
], align=True)
"""What reaches a microengine or a unit at a time: a command on its way and back, a signal or word from another microengine.
`total` counts 4-byte words."""

PACKET = np.dtype([
    ("number", "u4"), ("status", "u4"),         # PACKET_*
    ("arrived", "u8"), ("departed", "u8"),
    ("length", "u4"), ("handle", "u4"),
    ("port_in", "u1"), ("port_out", "u1"), ("reason", "u1"), ("kind", "u1"),    # reason: row of the probe table; kind: Python's
    ("instructions", "u4", (ME_COUNT,)), ("aborted", "u4", (ME_COUNT,)), ("stalled", "u4", (ME_COUNT,)),
    ("refs", "u2", (ME_COUNT * UNIT_COUNT,)), ("waits", "u4", (ME_COUNT * UNIT_COUNT,)),
], align=True)
"""What one packet cost, per microengine (`me`, or `me * UNIT_COUNT + unit`). Waits are elapsed cycles of its threads."""

# What a probe does.
PROBE_AT, PROBE_BEGIN, PROBE_END, PROBE_DROP, PROBE_NOTHING = 0, 1, 2, 3, 4
PROBE = np.dtype([("action", "u1"), ("window", "u1"), ("key", "u2"), ("hits", "u4")], align=True)
"""`key` + (`window` & 16 * ctx) is the register-file index of the buffer handle."""
