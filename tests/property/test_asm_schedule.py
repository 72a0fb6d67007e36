"""Instructions that have moved leave what they left before: memory, local memory and every register of a thread that has stopped.

Generated programs (tests/support/movable_programs.py) run on the emulator, one thread alone, as written and optimised, with and
without no-ops; the independent checker judges the words besides. That the comparison can fail is shown by optimisers that leave
out one kind of dependence each. No-ops are judged by something that knows nothing of them: with all that hazards ask for between,
it is the same whether a pointer's new value is in force at once or after three instructions.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

import pytest

from ixpemu import Chip, Image, codes
from ixpemu.asm import checker, regions, schedule
from ixpemu.asm.pipeline import Assembly, assemble_program
from ixpemu.isa import InstructionSet, instruction_set
from ixpemu.isa.chipfile import load_chip
from ixpemu.isa.effects import BITS, CODES, GPRS, TRANSFERS, Effects, effects_of
from ixpemu.isa.model import Operation
from tests.support.movable_programs import FOCUS, program

SEEDS = range(30)
MOST = 100_000          # cycles


@dataclass(frozen=True)
class Left:
    """What a run leaves, and the cycles in which the microengine issued or squashed instructions."""

    state: dict[str, object]
    busy: int


def left_by(image: Image, shadow: int = 3) -> Left:
    """One thread runs a program to its end, or for `MOST` cycles."""
    chip = Chip(load_chip().override({"me.shadow": shadow}))
    pick = random.Random(5)
    memories = (chip.sram[0], chip.dram, chip.scratch)
    for memory in memories:
        memory.write(0, [pick.getrandbits(32) for _ in range(192)])
    chip.me[0].local_memory[:] = [pick.getrandbits(32) for _ in range(640)]
    chip.load(0, image, start=False)
    chip.start(0, 1)
    reason = chip.run(cycles=MOST).reason
    me, ctx = chip.me[0], chip.me[0].ctx[0]
    ended = reason == "quiet" and image.debug[ctx.pc - 1].source == "ctx_arb[kill]"
    state: dict[str, object] = {"ended": ended} | {
        name: getattr(ctx, name).tolist() for name in ("gpr_a", "gpr_b", "sram_in", "sram_out", "dram_in", "dram_out")
    }
    state |= {"absolute": me.gpr_a_abs.tolist() + me.gpr_b_abs.tolist(), "local memory": me.local_memory.tolist()}
    state |= {f"memory {place}": memory.read(0, 1024).tolist() for place, memory in enumerate(memories)}
    return Left(state, me.cycles["executing"] + me.cycles["aborted"])


@cache
def text_of(seed: int) -> str:
    """Every other program is about everything."""
    return program(seed) if seed % 2 else program(seed, focus=FOCUS[seed // 2 % len(FOCUS)])


@cache
def written(seed: int, vnops: bool) -> tuple[Assembly, Left]:
    """A program as it is written, and what it leaves."""
    assembly = assemble_program(text=text_of(seed), vnops=vnops)
    left = left_by(assembly.image)
    assert left.state["ended"]
    return assembly, left


def optimised(seed: int, vnops: bool) -> Assembly:
    assembly = assemble_program(text=text_of(seed), vnops=vnops, optimise=True)
    assert checker.check(assembly.program, list(assembly.image.values), instruction_set()) == []
    return assembly


@pytest.mark.parametrize("vnops", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_what_has_moved_does_the_same(seed: int, vnops: bool) -> None:
    before, wanted = written(seed, vnops)
    after = optimised(seed, vnops)
    found = left_by(after.image)
    assert found.state == wanted.state
    assert len(after.image) <= len(before.image)
    if not vnops:
        assert len(after.image) == len(before.image) and found.busy <= wanted.busy


@pytest.mark.parametrize(("seed", "focus"), [(1116, "local memory"), (1123, "transfers")])
def test_what_a_long_search_has_found(seed: int, focus: str) -> None:
    """A word of local memory is not the only one; a command takes what it sends until its signal has come."""
    text = program(seed, 0.5, focus, 16)
    for vnops in (False, True):
        wanted = left_by(assemble_program(text=text, vnops=vnops).image).state
        assert left_by(assemble_program(text=text, vnops=vnops, optimise=True).image).state == wanted


def test_it_is_worth_it() -> None:
    """Cycles that the microengine issues or squashes, over all these programs: a tenth is saved."""
    for vnops in (False, True):
        before = sum(written(seed, vnops)[1].busy for seed in SEEDS)
        after = sum(left_by(optimised(seed, vnops).image).busy for seed in SEEDS)
        assert after < 0.95 * before


@pytest.mark.parametrize("seed", SEEDS)
def test_no_ops_are_enough(seed: int) -> None:
    for optimise in (False, True):
        assembly = assemble_program(text=program(seed, 0.9), vnops=True, optimise=optimise)
        if any(found.code == codes.NO_OPS_OPEN for found in assembly.diagnostics):
            continue            # told that nothing can be put there
        assert left_by(assembly.image, 3).state == left_by(assembly.image, 0).state


def test_without_no_ops_the_difference_is_seen() -> None:
    images = [assemble_program(text=program(seed, 0.9)).image for seed in SEEDS]
    assert sum(left_by(image, 3).state != left_by(image, 0).state for image in images) > 3


# One kind of dependence left out: each has to be noticed.

Change = Callable[[Effects], Effects]


def without(mask: int) -> Change:
    return lambda one: replace(
        one, reads=one.reads & ~mask, writes=one.writes & ~mask, kills=one.kills & ~mask, sends=one.sends & ~mask)


# What the programs are about, the seed from which on they are tried (there it is noticed soon), and the model.
WRONG: dict[str, tuple[str, int, Change]] = {
    "condition codes": ("codes", 2, without(CODES)),
    "local memory": ("local memory", 16, without(BITS["local_memory"])),
    "pointers of local memory": ("pointers", 16, without(BITS["LM_ADDR_0"] | BITS["LM_ADDR_1"])),
    "T_INDEX": ("T_INDEX", 5, without(BITS["T_INDEX"])),
    "BYTE_INDEX": ("byte_align", 22, without(BITS["BYTE_INDEX"])),
    "latches of byte_align": ("byte_align", 43, without(BITS["previous.align_a"] | BITS["previous.align_b"])),
    "CAM": ("CAM", 5, without(BITS["cam"])),
    "registers": ("", 6, without(GPRS)),
    "registers that are read": ("", 53, lambda one: replace(one, reads=one.reads & ~GPRS)),
    "the instruction just before": ("", 1, lambda one: replace(one, joined=False)),
    "what is overwritten": ("codes", 23, lambda one: replace(one, kills=one.kills | CODES | GPRS)),
    "delays": ("pointers", 3, lambda one: replace(one, sets=frozenset())),
    "what may not move": ("", 47, lambda one: replace(one, plain=True)),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_dependence_left_out_is_noticed(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    focus, first, change = WRONG[what]

    def wrong(isa: InstructionSet, operation: Operation, contexts: int) -> Effects:
        return change(effects_of(isa, operation, contexts))

    assert is_noticed(focus, first, wrong, monkeypatch)


def test_transfer_registers_left_out_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their names protect them a second time, so both are left out."""
    whole = regions._Effects.names

    def names(effects: regions._Effects, occurrences: list[int], certain: bool = False) -> int:
        flow = effects.flow
        kept = [one for one in occurrences if "transfer" not in flow.variables[flow.occurrences[one].variable].file.value]
        return whole(effects, kept, certain)

    monkeypatch.setattr(regions._Effects, "names", names)
    drop = without(TRANSFERS)
    assert is_noticed("transfers", 0, lambda isa, operation, contexts: drop(effects_of(isa, operation, contexts)), monkeypatch)


def is_noticed(focus: str, first: int, wrong: regions.Model, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether some program, optimised by a wrong model, leaves something else."""
    right = schedule.schedule
    for seed in range(first, first + 60):
        for vnops in (False, True):
            text = program(seed, focus=focus)
            monkeypatch.setattr(schedule, "schedule", right)
            wanted = left_by(assemble_program(text=text, vnops=vnops).image).state
            monkeypatch.setattr(schedule, "schedule", partial(right, model=wrong))
            with contextlib.suppress(RuntimeError):     # a name that would be in two places
                if left_by(assemble_program(text=text, vnops=vnops, optimise=True).image).state != wanted:
                    return True
    return False
