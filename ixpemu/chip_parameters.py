"""A chip file's figures into the engine's state: memory sizes, parameters, and the limits of what the emulator has room for."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ixpemu import codes
from ixpemu.diagnostics import user_error
from ixpemu.engine.layout import (
    FIFO_DEPTH_MAX,
    QUEUE_DEPTH_MAX,
    STORE_WORDS,
    UNIT_CAP,
    UNIT_DRAM,
    UNIT_HASH,
    UNIT_MSF,
    UNIT_SCRATCH,
    UNIT_SRAM0,
    UNIT_SRAM1,
)
from ixpemu.engine.parameters import MSF_PARAMETERS, P_LOOKAHEAD, P_MSF_OWN, PARAMETERS
from ixpemu.engine.state import new_memory
from ixpemu.isa import instruction_set
from ixpemu.isa.chipfile import ChipParameters

# Lowest and highest value where the state's room or the arithmetic sets one.
LIMITS = {
    "chip.control_store_words": (STORE_WORDS, STORE_WORDS),
    "memory.scratch_bytes": (4096, 1 << 16),
    "memory.sram0_bytes": (4096, 1 << 28), "memory.sram1_bytes": (4096, 1 << 28),
    "memory.dram_bytes": (4096, 1 << 31),
    "me.fifo_depth": (1, FIFO_DEPTH_MAX),
    "me.shadow": (0, 7),
    "me.swap_abort": (0, 100), "me.wake_cycles": (0, 1000), "me.early_branch": (0, 1), "me.lookahead": (1, 1000),
    "sram.queue_depth": (1, QUEUE_DEPTH_MAX), "scratch.queue_depth": (1, QUEUE_DEPTH_MAX),
    "hash.queue_depth": (1, QUEUE_DEPTH_MAX),
    "dram.queue_depth": (1, QUEUE_DEPTH_MAX), "msf.queue_depth": (1, QUEUE_DEPTH_MAX), "cap.queue_depth": (1, QUEUE_DEPTH_MAX),
    "dram.banks": (1, 32), "dram.row_bytes": (8, 1 << 20), "dram.bytes_per_cycle": (1, 128),
    "signal.same_me_cycles": (1, 1000), "signal.neighbor_cycles": (1, 1000), "signal.interthread_cycles": (1, 1000),
    "neighbor.put_cycles": (1, 1000), "neighbor.self_cycles": (1, 1000),
    "push.s_word_cycles": (1, 100), "push.d_word_cycles": (1, 100), "pull.s_word_cycles": (1, 100),
    "pull.d_word_cycles": (1, 100),
    "pull.buffer_word_cycles": (1, 100), "scratch.nearly_full_eighths": (1, 8),
}


def configure(state: Any, chip: ChipParameters) -> npt.NDArray[np.uint32]:
    """Write the figures into a fresh state and return its memory. UserError for a figure out of range."""
    for name, (low, high) in LIMITS.items():
        if not low <= chip[name] <= high:
            raise user_error(codes.CHIP_PARAMETER, f"{name} is {chip[name]}, and must be from {low} to {high}",
                             help="correct it in the chip file or in --set")
    memory, regions = new_memory(chip["memory.scratch_bytes"], (chip["memory.sram0_bytes"], chip["memory.sram1_bytes"]),
                                 chip["memory.dram_bytes"])
    for name, value in regions.items():
        if name[-1].isdigit():
            state[name[:-1]][int(name[-1])] = value
        else:
            state[name] = value
    for place, name in enumerate(PARAMETERS):
        state.parameter[place] = chip[name]
    for csr in instruction_set().csrs:
        if csr.space == "cap" and csr.reset:
            state.cap[(csr.address >> 2) & 1023] = csr.reset
    for place, name in enumerate(MSF_PARAMETERS):
        state.parameter[P_MSF_OWN + place] = chip[name]
    _tables(state, chip)
    # A microengine must not run further ahead than the soonest that something it has not heard of could touch a register of its
    # own: a reflector command that issues now, or a status pushed to a thread that a command puts on a free list now.
    reflected = 1 + chip["command.path_cycles"] + min(chip["cap.read_cycles"], chip["cap.write_cycles"])
    pushed = chip["msf.status_cycles"] + chip["push.s_cycles"] + 2 * chip["push.s_word_cycles"]
    state.parameter[P_LOOKAHEAD] = max(1, min(chip["me.lookahead"], reflected, pushed))
    return memory


def _tables(state: Any, chip: ChipParameters) -> None:
    """What the engine looks up for every command, worked out once: see ixpemu/engine/timing.py."""
    for name in ("dram.banks", "dram.row_bytes"):
        if chip[name] & (chip[name] - 1):
            raise user_error(codes.CHIP_PARAMETER, f"{name} is {chip[name]}, and must be a power of two",
                             help="correct it in the chip file or in --set")
    for unit, name in ((UNIT_SRAM0, "sram"), (UNIT_SRAM1, "sram"), (UNIT_SCRATCH, "scratch"), (UNIT_HASH, "hash"),
                       (UNIT_DRAM, "dram"), (UNIT_MSF, "msf"), (UNIT_CAP, "cap")):
        state.cost_queue[unit] = chip[f"{name}.queue_depth"]
        for row, way in ((2 * unit, "read"), (2 * unit + 1, "write")):
            state.port[row] = row if name == "sram" else 2 * unit
            state.cost_latency[row] = 0 if name == "hash" else chip[f"{name}.{way}_cycles"]
            if name in ("scratch", "msf", "cap"):
                state.cost_command[row] = chip[f"{name}.command_occupancy"]
            if name == "sram":
                state.cost_word[row] = chip[f"sram.{way}_word_occupancy"]
            elif name == "scratch":
                state.cost_word[row] = chip["scratch.word_occupancy"]
    state.dram_row_shift = chip["dram.row_bytes"].bit_length() - 1
    state.dram_bank_mask = chip["dram.banks"] - 1
    for words in range(len(state.dram_cycles)):
        state.dram_cycles[words] = -(-max(4 * words, chip["dram.minimum_bytes"]) // chip["dram.bytes_per_cycle"])
