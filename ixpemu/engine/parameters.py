"""The chip parameters that compiled code reads: their names in a chip file and their places in `state.parameter`.

Values, units, sources and confidence are in isa/chips/*.toml; nothing here has a default.
"""

from __future__ import annotations

PARAMETERS = (
    "me.early_branch",                  # 1: a taken conditional branch costs one cycle less when flags are older than it
    "me.swap_abort",
    "me.wake_cycles",
    "me.fifo_depth",
    "me.lookahead",
    "me.shadow",
    "signal.same_me_cycles",
    "signal.neighbor_cycles",
    "signal.interthread_cycles",
    "neighbor.put_cycles",
    "neighbor.self_cycles",
    "neighbor.full_words",
    "command.path_cycles",
    "command.bus_cycles",
    "push.s_cycles",
    "push.s_word_cycles",
    "push.d_cycles",
    "push.d_word_cycles",
    "pull.s_cycles",
    "pull.s_word_cycles",
    "pull.d_cycles",
    "pull.d_word_cycles",
    "pull.buffer_word_cycles",
    "sram.queue_depth",
    "sram.read_cycles",
    "sram.write_cycles",
    "sram.read_word_occupancy",
    "sram.write_word_occupancy",
    "scratch.queue_depth",
    "scratch.read_cycles",
    "scratch.write_cycles",
    "scratch.command_occupancy",
    "scratch.word_occupancy",
    "scratch.status_lag",
    "scratch.nearly_full_eighths",
    "hash.queue_depth",
    "hash.operand_cycles",
    "hash.array_48_cycles",
    "hash.array_64_cycles",
    "hash.array_128_cycles",
    "hash.word_cycles",
    "dram.queue_depth",
    "dram.read_cycles",
    "dram.write_cycles",
    "dram.banks",
    "dram.row_bytes",
    "dram.row_miss_cycles",
    "dram.bank_occupancy",
    "dram.bytes_per_cycle",
    "dram.minimum_bytes",
    "dram.turnaround_cycles",
    "msf.queue_depth",
    "msf.read_cycles",
    "msf.write_cycles",
    "msf.command_occupancy",
    "cap.queue_depth",
    "cap.read_cycles",
    "cap.write_cycles",
    "cap.command_occupancy",
    "push.backlog_cycles",
    "pull.backlog_cycles",
    "sram.atomic_cycles",
    "sram.atomic_word_cycles",
    "sram.queue_cycles",
    "sram.queue_occupancy",
    "scratch.atomic_cycles",
    "scratch.atomic_occupancy",
)

(P_EARLY_BRANCH, P_SWAP_ABORT, P_WAKE_CYCLES, P_FIFO_DEPTH, P_LOOKAHEAD, P_SHADOW,
 P_SIGNAL_SAME, P_SIGNAL_NEIGHBOR, P_SIGNAL_INTERTHREAD, P_NEIGHBOR_PUT, P_NEIGHBOR_SELF, P_NEIGHBOR_FULL,
 P_COMMAND_PATH, P_COMMAND_BUS,
 P_PUSH_S, P_PUSH_S_WORD, P_PUSH_D, P_PUSH_D_WORD,
 P_PULL_S, P_PULL_S_WORD, P_PULL_D, P_PULL_D_WORD, P_PULL_BUFFER_WORD,
 P_SRAM_QUEUE, P_SRAM_READ, P_SRAM_WRITE, P_SRAM_READ_WORD, P_SRAM_WRITE_WORD,
 P_SCRATCH_QUEUE, P_SCRATCH_READ, P_SCRATCH_WRITE, P_SCRATCH_COMMAND, P_SCRATCH_WORD, P_SCRATCH_LAG, P_SCRATCH_FULL,
 P_HASH_QUEUE, P_HASH_OPERAND, P_HASH_48, P_HASH_64, P_HASH_128, P_HASH_WORD,
 P_DRAM_QUEUE, P_DRAM_READ, P_DRAM_WRITE, P_DRAM_BANKS, P_DRAM_ROW, P_DRAM_MISS, P_DRAM_BANK, P_DRAM_BYTES, P_DRAM_MINIMUM,
 P_DRAM_TURNAROUND,
 P_MSF_QUEUE, P_MSF_READ, P_MSF_WRITE, P_MSF_COMMAND,
 P_CAP_QUEUE, P_CAP_READ, P_CAP_WRITE, P_CAP_COMMAND, P_PUSH_BACKLOG, P_PULL_BACKLOG,
 P_SRAM_ATOMIC, P_SRAM_ATOMIC_SAME, P_SRAM_QUEUE_TIME, P_SRAM_QUEUE_BUSY,
 P_SCRATCH_ATOMIC, P_SCRATCH_ATOMIC_BUSY) = range(len(PARAMETERS))
PARAMETER_SLOTS = 256
"""Room in `state.parameter`; those from 192 on belong to the MSF (`P_MSF_OWN`)."""
P_OUTSIDE = 240
OUTSIDE_PARAMETERS: tuple[str, ...] = (
    "xscale.timer_cycles",
    "pci.dma_start_cycles",
    "pci.dma_word_cycles",
)
"""Names of the parameters of the XScale's timers and of PCI, in the order of their places from `P_OUTSIDE` on."""
(P_TIMER_CYCLES, P_PCI_DMA_START, P_PCI_DMA_WORD) = range(P_OUTSIDE, P_OUTSIDE + len(OUTSIDE_PARAMETERS))
P_MSF_OWN = 192
MSF_PARAMETERS: tuple[str, ...] = (
    "chip.megahertz",                   # the clock that everything else counts cycles of
    "msf.bus_megahertz",
    "msf.bus_overhead_words",
    "msf.status_cycles",
    "msf.timeout_unit_cycles",
    "port.count",
    "port.megabits",
    "port.receive_fifo_bytes",
    "port.transmit_fifo_bytes",
    "port.longest_frame",
    "msf.element_unit_bytes",           # 0: the element size, 64: the IXP2800's way
    "msf.erratum_69",
    "chip.microengines",
    "chip.control_store_words",
)
"""Names of the parameters of MSF and ports, and of the size of the chip, in the order of their places from `P_MSF_OWN` on."""
(P_MEGAHERTZ, P_MSF_BUS, P_MSF_BUS_OVERHEAD, P_MSF_STATUS, P_MSF_TIMEOUT_UNIT,
 P_PORT_COUNT, P_PORT_MEGABITS, P_PORT_FIFO, P_PORT_SEND_FIFO, P_PORT_LONGEST, P_MSF_UNIT,
 P_MSF_ERRATUM, P_MICROENGINES, P_STORE_WORDS) = range(192, 192 + len(MSF_PARAMETERS))
