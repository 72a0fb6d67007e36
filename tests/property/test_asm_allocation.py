"""Allocations of generated programs, judged by the checker that follows the encoded words."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from ixpemu import codes
from ixpemu.asm.allocate import Allocation, allocate, physical
from ixpemu.asm.banks import Place
from ixpemu.asm.checker import check
from ixpemu.asm.encode import encode
from ixpemu.asm.findings import Findings
from ixpemu.asm.flow import File
from ixpemu.asm.front import read_program
from ixpemu.asm.limits import Limits
from ixpemu.asm.pipeline import Assembly, assemble_program
from ixpemu.asm.transfers import Contradiction, groups
from ixpemu.diagnostics import AssemblyError, Severity
from ixpemu.isa import instruction_set
from tests.support.generated_microcode import programs

IMPOSSIBLE = {codes.BANK_CONFLICT, codes.OUT_OF_REGISTERS, codes.OUT_OF_TRANSFERS, codes.OUT_OF_SIGNALS}
ISA = instruction_set()


def assembled(text: str) -> Assembly | None:
    """The assembly of `text`; None where its sources cannot be divided between the banks."""
    try:
        return assemble_program(text=text)
    except AssemblyError as error:
        errors = {one.code for one in error.diagnostics if one.severity is Severity.ERROR}
        assert errors == {codes.BANK_CONFLICT}, error
        return None


def words_of(allocation: Allocation) -> list[int] | None:
    """The words of an allocation, None if the encoder refuses it."""
    findings = Findings()
    words = encode(allocation.program, physical(allocation, findings), ISA, findings)
    return None if findings.errors else words


@given(programs())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
def test_every_allocation_passes_the_checker(text: str) -> None:
    assembly = assembled(text)
    assume(assembly is not None)
    assert assembly is not None
    words = assembly.image.words.tolist()
    assert len(words) == len(assembly.program.instructions)
    assert check(assembly.program, words, ISA) == []


@given(programs(), st.integers(0, 2**32))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
def test_two_rivals_in_one_place_are_refused(text: str, seed: int) -> None:
    assembly = assembled(text)
    assume(assembly is not None)
    assert assembly is not None and assembly.allocation.webs is not None
    webs, places = assembly.allocation.webs, dict(assembly.allocation.places)
    # A label inside defer slots is a way in that the text may never take: rivals there are careful guesses, no certain conflicts.
    assume(not any(
        assembly.program.instructions[index + slot].labels
        for index, facts in enumerate(webs.flow.facts) for slot in range(1, facts.defer + 1)
    ))
    reached = webs.flow.reachable()
    used = {
        web for web, one in enumerate(webs.webs)
        if all(reached[webs.flow.occurrences[number].node] and number not in webs.undefined for number in one.occurrences)
    }
    found = groups(webs)
    assert not isinstance(found, Contradiction)
    # The word of a command shows where a run begins: moving its first register moves them all, which may be right.
    alone = used - {web for group in found if group.length > 1 for web, _ in group.members}
    # One name that two commands fill at once is the program's own doing, in one register or in two.
    pairs = [
        (left, right) for left in alone for right in used
        if webs.rivals[left] >> right & 1 and webs.webs[left].variable is not webs.webs[right].variable
    ]
    assume(pairs)
    left, right = random.Random(seed).choice(sorted(pairs))
    places[left] = places[right]
    words = words_of(Allocation(assembly.program, webs, places))
    assert words is None or check(assembly.program, words, ISA) != []


SMALL = """
.reg a b c @d $x $y $p[2]
.sig s t
.xfer_order $p
"""


@st.composite
def small_programs(draw: st.DrawFn) -> str:
    """Straight or looping code over a few names, so that all its allocations can be tried."""
    lines = []
    used: list[str] = []
    for _ in range(draw(st.integers(2, 5))):
        target = draw(st.sampled_from(["a", "b", "c"]))
        kind = draw(st.integers(0, 3)) if len(used) > 1 else 0
        if kind == 0:
            lines.append(f"immed[{target}, 1]")
        elif kind == 1:
            left, right = draw(st.permutations(used))[:2]
            lines.append(f"alu[{target}, {left}, +, {right}]")
        elif kind == 2:
            lines.append(f"alu[{target}, --, B, {draw(st.sampled_from(used))}]")
        else:
            left, right = draw(st.permutations(used))[:2]
            lines.append(f"ld_field[{left}, 0001, {right}]")
            continue
        if target not in used:
            used.append(target)
    if draw(st.booleans()):
        lines = [*lines[:2], "again#:", *lines[2:], "bne[again#]"]
    lines += [f"alu[--, --, B, {name}]" for name in used]
    return SMALL + "\n".join([*lines, "ctx_arb[kill]"]) + "\n"


@given(small_programs(), st.integers(1, 2))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
def test_what_exhaustive_search_can_place_is_placed(text: str, gpr: int) -> None:
    limits = Limits(gpr=gpr, transfers=2, signals=2)
    program = read_program(text=text)
    try:
        allocation = allocate(program, ISA, Findings(), limits)
    except AssemblyError as error:
        errors = {one.code for one in error.diagnostics if one.severity is Severity.ERROR}
        assert errors <= IMPOSSIBLE
        whole = allocate_roomy(program)
        assume(whole is None or len(whole.places) <= 5)
        assert whole is None or not any_allocation(whole, limits)
        return
    words = words_of(allocation)
    assert words is not None and check(program, words, ISA) == []


def allocate_roomy(program: object) -> Allocation | None:
    try:
        return allocate(program, ISA, Findings())  # type: ignore[arg-type]
    except AssemblyError:
        return None


def any_allocation(allocation: Allocation, limits: Limits) -> bool:
    """Whether some choice of places for the general purpose webs passes the checker."""
    assert allocation.webs is not None
    webs = [number for number, web in enumerate(allocation.webs.webs) if web.variable.file is File.GPR]
    choices = [Place(number, bank) for bank in "ab" for number in range(limits.gpr)]
    for places in itertools.product(choices, repeat=len(webs)):
        tried = allocation.places | dict(zip(webs, places, strict=True))
        words = words_of(Allocation(allocation.program, allocation.webs, tried))
        if words is not None and check(allocation.program, words, ISA) == []:
            return True
    return False


@pytest.mark.parametrize("windows", [4, 8])
def test_absolute_registers_are_packed_into_one_number_of_each_context(windows: int) -> None:
    names = [f"@r{number}" for number in range(windows)]
    lines = [f"immed[{name}, 1]" for name in names]
    text = f".num_contexts {windows}\n.reg {' '.join(names)} plain\nimmed[plain, 1]\n" + "\n".join(lines) + "\nctx_arb[kill]\n"
    image = assemble_program(text=text).image
    stride = 128 // windows
    assert sorted(image.registers[f"@l0000!r{number}"] for number in range(windows)) == sorted(
        f"@a{window * stride}" for window in range(windows)
    )
    assert image.registers["l0000!plain"] != "a0"
