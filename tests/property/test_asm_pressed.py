"""Allocation where almost everything is needed at once, wrong allocations made on purpose, and small programs tried to the end.

A tenth of what `make soak` does is in the suite.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from ixpemu.asm.allocate import allocate, physical
from ixpemu.asm.checker import check
from ixpemu.asm.encode import encode
from ixpemu.asm.findings import Findings
from ixpemu.asm.front import read_program
from ixpemu.asm.limits import Limits
from ixpemu.asm.pipeline import Assembly, assemble_program
from ixpemu.diagnostics import AssemblyError
from ixpemu.isa import instruction_set
from tests.support import pressed_programs, small_commands, small_programs
from tests.support.walking import difference
from tests.support.wrong_allocations import mutants

ISA = instruction_set()
PRESSURES = (0.3, 0.6, 0.8, 0.9, 1.0)
LARGEST = 12                    # live ranges of a program of which every allocation is tried


def assembled(seed: int) -> Assembly:
    """A program that has an allocation: that it is found is part of what is tested."""
    return assemble_program(text=pressed_programs.program(seed, PRESSURES[seed % len(PRESSURES)]))


def every_allocation(first: int, count: int) -> None:
    for seed in range(first, first + count):
        made = assembled(seed)
        words = list(made.image.values)
        assert check(made.program, words, ISA) == [], f"seed {seed}"
        assert difference(made.program, words, ISA, seed, 2000) is None, f"seed {seed}"


def test_programs_near_the_limits_are_allocated_rightly() -> None:
    every_allocation(0, 200)


@pytest.mark.soak
def test_programs_near_the_limits_are_allocated_rightly_at_length() -> None:
    every_allocation(200, 1800)


def wrong_ones(first: int, programs: int, each: int) -> Counter[str]:
    """What became of mutants. One that some walk sees to do something else must have been refused."""
    fate: Counter[str] = Counter()
    for seed in range(first, first + programs):
        made = assembled(seed)
        right = list(made.image.values)
        for kind, words in mutants(made, ISA, random.Random(seed), each):
            if words is None or words == right:
                fate["no word" if words is None else "same words"] += 1
            elif check(made.program, words, ISA):
                fate["refused"] += 1
            else:
                fate["accepted"] += 1
                for walk in range(8):
                    seen = difference(made.program, words, ISA, walk, 2000)
                    assert seen is None, f"seed {seed}, {kind}: {seen}"
    return fate


def test_wrong_allocations_are_refused() -> None:
    fate = wrong_ones(0, 10, 15)
    assert fate["refused"] > fate.total() / 2


@pytest.mark.soak
def test_wrong_allocations_are_refused_at_length() -> None:
    fate = wrong_ones(1000, 400, 25)
    assert fate["refused"] > fate.total() / 2


def test_what_is_accepted_of_them_is_right_for_a_reason() -> None:
    """Mutants that cannot be seen: another free register, and another free signal for a command that waits for itself."""
    text = ".reg a b $x\n.sig s\nimmed[a, 1]\nimmed[b, 2]\nsram[read, $x, a, 0, 1], ctx_swap[s]\nalu[--, b, +, $x]\n" \
           "ctx_arb[kill]\n"
    made = assemble_program(text=text)
    right = list(made.image.values)
    harmless = [words for _, words in mutants(made, ISA, random.Random(1), 300)
                if words is not None and words != right and not check(made.program, words, ISA)]
    assert harmless
    for words in harmless:
        changed = [place for place, pair in enumerate(zip(words, right, strict=True)) if pair[0] != pair[1]]
        assert changed == [2] or len(changed) > 1, "a range moves as a whole, or it is the signal of the one command"


def test_a_branch_to_another_label_is_refused() -> None:
    made = assemble_program(text="a#:\nnop\nb#:\nnop\nbr[a#]\n")
    words, other = list(made.image.values), assemble_program(text="a#:\nnop\nb#:\nnop\nbr[b#]\n")
    assert check(made.program, words, ISA) == []
    assert check(made.program, list(other.image.values), ISA) == ["word 2: another label than the source has"]


def tried_to_the_end(first: int, count: int) -> Counter[tuple[bool, bool]]:
    """Small programs with very few registers: whatever trying everything finds possible is allocated, and nothing else."""
    seen: Counter[tuple[bool, bool]] = Counter()
    for seed in range(first, first + count):
        steps = small_programs.program(seed)
        small = small_programs.Small.of(steps, ISA)
        if small.count > LARGEST:
            continue
        program = read_program(text=small_programs.text(steps))
        for gpr in (1, 2, 3, 4):
            possible = small.search(gpr, 2)
            assert possible is None or small.accepted(possible), f"seed {seed}: what is found by trying is right"
            seen[possible is not None, allocated(program, gpr)] += 1
            assert (possible is not None) == allocated(program, gpr), f"seed {seed}, {gpr} registers in a bank"
    return seen


def allocated(program: object, gpr: int) -> bool:
    """Whether the allocator finds places that the checker accepts."""
    try:
        allocation = allocate(program, ISA, Findings(), Limits(gpr=gpr, windows=2, stride=32))  # type: ignore[arg-type]
    except AssemblyError:
        return False
    findings = Findings()
    words = encode(allocation.program, physical(allocation, findings), ISA, findings)
    assert not findings.errors and check(allocation.program, words, ISA) == []
    return True


def test_small_programs_are_allocated_whenever_that_is_possible() -> None:
    seen = tried_to_the_end(0, 40)
    assert seen[True, True] > 20 and seen[False, False] > 10


@pytest.mark.soak
def test_small_programs_are_allocated_whenever_that_is_possible_at_length() -> None:
    seen = tried_to_the_end(40, 400)
    assert seen[True, True] > 200 and seen[False, False] > 100


def commands_tried_to_the_end(first: int, count: int) -> Counter[bool]:
    """Small programs of commands: their registers and signals are placed whenever trying everything finds places."""
    seen: Counter[bool] = Counter()
    for seed in range(first, first + count):
        small = small_commands.program(seed)
        program = read_program(text=small.text)
        for transfers, signals in [*((few, 15) for few in (2, 4, 5, 6, 8)), *((16, few) for few in range(1, 7))]:
            possible = small.possible(transfers, signals)
            try:
                allocation = allocate(program, ISA, Findings(), Limits(transfers=transfers, signals=signals))
            except AssemblyError:
                assert not possible, f"seed {seed}, {transfers} registers, {signals} signals"
            else:
                words = encode(program, physical(allocation, Findings()), ISA, Findings())
                assert possible and check(program, words, ISA) == [], f"seed {seed}, {transfers} registers, {signals} signals"
            seen[possible] += 1
    return seen


def test_small_programs_of_commands_are_allocated_whenever_that_is_possible() -> None:
    seen = commands_tried_to_the_end(0, 40)
    assert min(seen[True], seen[False]) > 50


@pytest.mark.soak
def test_small_programs_of_commands_are_allocated_whenever_that_is_possible_at_length() -> None:
    seen = commands_tried_to_the_end(40, 600)
    assert min(seen[True], seen[False]) > 1000
