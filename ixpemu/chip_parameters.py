"""A chip file's figures into the engine's state: memory sizes, parameters, and the tables worked out from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ixpemu import codes
from ixpemu.diagnostics import user_error
from ixpemu.engine.layout import (
    UNIT_CAP,
    UNIT_DRAM,
    UNIT_HASH,
    UNIT_MSF,
    UNIT_PCI,
    UNIT_SCRATCH,
    UNIT_SRAM0,
    UNIT_SRAM1,
)
from ixpemu.engine.numbers import CAP_PRODUCT_ID
from ixpemu.engine.parameters import MSF_PARAMETERS, OUTSIDE_PARAMETERS, P_LOOKAHEAD, P_MSF_OWN, P_OUTSIDE, PARAMETERS
from ixpemu.engine.state import new_memory
from ixpemu.isa import instruction_set
from ixpemu.isa.chipfile import ChipParameters

REDIRECTED = ("sram", "scratch", "dram", "msf", "cap", "pci")
"""Units whose commands an indirect reference can send to another microengine, besides the hash unit."""


def configure(state: Any, chip: ChipParameters) -> npt.NDArray[np.uint32]:
    """Write the figures into a fresh state and return its memory. UserError for a figure out of range."""
    if chip["dram.row_bytes"] % 8:
        raise user_error(codes.CHIP_PARAMETER, f"dram.row_bytes is {chip['dram.row_bytes']}, and must be a multiple of 8",
                         help="an access is of whole 8 bytes in one row; correct it in the chip file or in --set")
    if chip["chip.cluster_microengines"] not in (4, 8):
        raise user_error(codes.CHIP_PARAMETER,
                         f"chip.cluster_microengines is {chip['chip.cluster_microengines']}, and must be 4 or 8",
                         help="4 in an IXP2400, 8 in an IXP2800; correct it in the chip file or in --set")
    if chip["chip.microengines"] > 2 * chip["chip.cluster_microengines"]:
        raise user_error(codes.CHIP_PARAMETER, f"chip.microengines is {chip['chip.microengines']}, and there are two clusters of "
                         f"{chip['chip.cluster_microengines']}",
                         help="set chip.cluster_microengines to 8 as well, or start the chip file with  base = \"ixp2800\"")
    state.cluster_shift = chip["chip.cluster_microengines"].bit_length() - 1
    if chip["msf.element_unit_bytes"] not in (0, 64):
        raise user_error(codes.CHIP_PARAMETER, f"msf.element_unit_bytes is {chip['msf.element_unit_bytes']}, and must be 0 or 64",
                         help="0 counts elements in their own size, as the IXP2400 does; 64 is the IXP2800's way")
    memory, regions = new_memory(chip["memory.scratch_bytes"], (chip["memory.sram0_bytes"], chip["memory.sram1_bytes"]),
                                 chip["memory.dram_bytes"], chip["pci.host_bytes"])
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
    state.cap[(CAP_PRODUCT_ID >> 2) & 1023] = chip["chip.product_id"]
    for place, name in enumerate(OUTSIDE_PARAMETERS):
        state.parameter[P_OUTSIDE + place] = chip[name]
    _tables(state, chip)
    # A microengine must not run further ahead than the soonest that something it has not heard of could touch a register of its
    # own: a reflector command that issues now, a status pushed to a thread that a command puts on a free list now, a command that
    # an indirect reference sends to another microengine now, or the handler of an interrupt that is raised now.
    reflected = 1 + chip["command.path_cycles"] + min(chip["cap.read_cycles"], chip["cap.write_cycles"])
    pushed = chip["msf.status_cycles"] + chip["push.s_cycles"] + 2 * chip["push.s_word_cycles"]
    sent = 1 + chip["command.path_cycles"] + min(
        chip["hash.operand_cycles"], *(chip[f"{unit}.{way}_cycles"] for unit in REDIRECTED for way in ("read", "write")))
    state.parameter[P_LOOKAHEAD] = max(1, min(chip["me.lookahead"], reflected, pushed, sent, chip["xscale.entry_cycles"]))
    # What touches no transfer register is nobody's business but that of an interrupt's handler, which may look at everything.
    state.far = max(int(state.parameter[P_LOOKAHEAD]), min(chip["me.lookahead"], chip["xscale.entry_cycles"]))
    state.near = max(1, min(
        int(state.parameter[P_LOOKAHEAD]), chip["push.s_cycles"] + chip["push.s_word_cycles"],
        chip["pull.s_cycles"] + chip["pull.s_word_cycles"], chip["signal.interthread_cycles"],
    ))
    return memory


def _tables(state: Any, chip: ChipParameters) -> None:
    """What the engine looks up for every command, worked out once: see ixpemu/engine/timing.py."""
    for unit, name in ((UNIT_SRAM0, "sram"), (UNIT_SRAM1, "sram"), (UNIT_SCRATCH, "scratch"), (UNIT_HASH, "hash"),
                       (UNIT_DRAM, "dram"), (UNIT_MSF, "msf"), (UNIT_CAP, "cap"), (UNIT_PCI, "pci")):
        state.cost_queue[unit] = chip[f"{name}.queue_depth"]
        for row, way in ((2 * unit, "read"), (2 * unit + 1, "write")):
            # SRAM reads and writes at once (QDR); the MSF has a FIFO for each way (IXP2800 manual).
            state.port[row] = row if name in ("sram", "msf") else 2 * unit
            state.cost_latency[row] = 0 if name == "hash" else chip[f"{name}.{way}_cycles"]
            if name in ("scratch", "msf", "cap", "pci"):
                state.cost_command[row] = chip[f"{name}.command_occupancy"]
            if name == "sram":
                state.cost_word[row] = chip[f"sram.{way}_word_occupancy"]
            elif name == "scratch":
                state.cost_word[row] = chip["scratch.word_occupancy"]
    for words in range(len(state.dram_cycles)):
        state.dram_cycles[words] = -(-max(4 * words, chip["dram.minimum_bytes"]) // chip["dram.bytes_per_cycle"])
