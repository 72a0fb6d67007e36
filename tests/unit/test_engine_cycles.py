"""Cycles of every instruction of the set, measured on the engine one cycle at a time against what its block in isa/ says.

Nothing here lists instructions: the cases are made from the blocks, one for every form, case of dispatch and combination of
options, so that a new block is measured without a new test. Branches are tried with flags, registers, signals and states that
take them and that do not; both must happen. What the units behind commands take: test_engine_laws.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product, zip_longest

import pytest

from ixpemu import Chip
from ixpemu.isa import EncodingError, instruction_set
from ixpemu.isa.blocks import Block, Form, Timing
from ixpemu.isa.chipfile import load_chip
from ixpemu.isa.model import Constant, Nothing, Operation, Signal, Target, Word
from ixpemu.isa.samples import operands_for, operations, tokens_for
from tests.support.machine import issues, words_of

ISA = instruction_set()
AT, TARGET = 3, 24              # where the tested instruction stands, and where its branches go
NOP, KILL = words_of("nop\nctx_arb[kill]")
HEADS = {True: words_of("nop\nnop\nalu[--, @a100, -, @b100]"), False: words_of("nop\nalu[--, @a100, -, @b100]\nnop")}
# Operands of the comparison that sets the flags: each condition is met by one and not by another.
COMPARISONS = ((0, 0), (5, 3), (3, 5), (0x80000000, 1), (0x7FFFFFFF, 0xFFFFFFFF))


@dataclass(frozen=True, slots=True)
class World:
    """What is there when the instruction executes. `fresh`: the instruction just before it sets the flags."""

    comparison: tuple[int, int] = (0, 0)
    fill: int = 0               # of all general registers of the thread
    signals: bool = False
    states: bool = False        # rings whose flag is set
    fresh: bool = True


PLAIN = World()
BRANCH_WORLDS = tuple(
    World(comparison, fill, some, some, fresh)
    for fresh in (True, False)
    for comparison, fill, some in zip(COMPARISONS, (0, 0xFFFFFFFF, 0, 0, 0), (False, True, False, True, False), strict=True)
)


@dataclass(frozen=True, slots=True)
class Case:
    """An instruction to measure: its word, what isa/ says of it, and what to call it."""

    block: str
    variant: str
    word: int
    timing: Timing
    deferred: int
    conditional: bool
    branches: bool
    leaves: bool                # gives up the microengine
    ends: bool
    reads_flags: bool
    indirect: bool
    more: bool                  # like another case but for a number or a word


@cache
def cases(block: str) -> tuple[Case, ...]:
    """One of every form, dispatch case and set of options of a block."""
    found: dict[tuple[object, ...], Case] = {}
    for number, form in enumerate(ISA.blocks[block].forms):
        for sample in _samples(form):
            operation = _aimed(sample)
            try:
                decoded = ISA.decode(ISA.encode(operation, 8), 8)
            except EncodingError:
                continue
            assert decoded is not None, operation
            facts, variant = decoded.facts, ISA.variant(operation).name
            key = (number, variant, tuple((token.name, len(token.arguments)) for token in operation.tokens), facts.defer,
                   operation.mnemonic)
            branches = facts.branch is not None and not facts.branch.resume
            more = key in found
            if more and branches and not operation.tokens:
                key = (*key, *(operand for operand in operation.operands if isinstance(operand, Constant | Word | Signal)))
            if key not in found:
                found[key] = Case(
                    block, variant, decoded.word, form.timing, facts.defer, facts.branch is not None and facts.branch.conditional,
                    branches, facts.swaps, facts.ends and facts.branch is None, facts.reads_cc,
                    facts.branch is not None and facts.branch.indirect, more)
    return tuple(found.values())


def _samples(form: Form) -> Iterator[Operation]:
    """A walk over every operand and option, and every combination of words (operations, shifts) with each option."""
    walk = list(operations(form, 8, ISA))
    yield from walk
    base = next(sample for sample in walk if _encodes(sample))
    if form.most_operands is None:
        return
    columns = [operands_for(spec, 8, ISA) if spec.kind in ("word", "shift") else [operand]
               for spec, operand in zip_longest(form.operands, base.operands, fillvalue=Nothing())]
    options = dict.fromkeys([(), *((token,) for spec in form.tokens for token in tokens_for(spec)[:1]), base.tokens])
    for operands, tokens in product(product(*columns), options):
        yield Operation(base.mnemonic, operands, tokens)


def _encodes(operation: Operation) -> bool:
    try:
        ISA.encode(operation, 8)
    except EncodingError:
        return False
    return True


def _aimed(operation: Operation) -> Operation:
    """The same with every branch going to TARGET."""
    def there(operand: object) -> object:
        return Target(TARGET) if isinstance(operand, Target) else operand

    return replace(operation, operands=tuple(map(there, operation.operands)),
                   tokens=tuple(replace(token, arguments=tuple(map(there, token.arguments))) for token in operation.tokens))


@dataclass(frozen=True, slots=True)
class Measured:
    """What followed: cycles until the next instruction that is not in a defer slot, its thread and address; the aborted ones."""

    cycles: int | None          # None: nothing followed
    ctx: int
    pc: int
    aborted: int


def measure(chip: Chip, case: Case, world: World) -> Measured:
    """Thread 0 comes to the instruction, thread 1 is ready to take over; every cycle is looked at."""
    words = [*HEADS[world.fresh], case.word]
    words += [NOP] * (40 - len(words)) + [KILL]
    chip.load_words(0, words, start=False)
    me = chip.me[0]
    me.gpr_a_abs[100], me.gpr_b_abs[100] = world.comparison
    for ctx in (me.ctx[0], me.ctx[1]):
        ctx.gpr_a[:] = ctx.gpr_b[:] = world.fill
    for ring in range(12):
        chip.scratch.ring(ring).setup(0x800 + 0x200 * (ring % 8), 128, empty_flag=world.states)
    chip.run(cycles=20)
    chip.start(0, 0b11)
    if world.signals:
        for signal in range(1, 16):
            me.ctx[0].signal(signal)
    aborted = int(me.engine.aborted)
    seen: list[object] = []
    for _ in range(30):
        seen += issues(chip, 1)
        done = [issue for issue in seen if issue.pc == AT and issue.ctx == 0]
        if done and len(seen) - seen.index(done[0]) > case.deferred + 1:
            break
    [first, *after] = seen[next(k for k, issue in enumerate(seen) if issue.pc == AT and issue.ctx == 0):]
    for number in range(case.deferred):
        slot = after[number]
        assert (slot.cycle, slot.ctx, slot.pc) == (first.cycle + 1 + number, 0, AT + 1 + number), "a defer slot"
    lost = int(me.engine.aborted) - aborted
    if len(after) <= case.deferred:
        return Measured(None, 0, 0, lost)
    following = after[case.deferred]
    return Measured(following.cycle - first.cycle, following.ctx, following.pc, lost)


def expected_aborted(case: Case, world: World, taken: bool) -> int:
    """Cycles squashed behind the instruction, less those that deferred instructions fill: from its block alone."""
    if not (taken or case.leaves or case.ends):
        return 0
    early = case.timing.early is not None and case.reads_flags and not world.fresh and load_chip()["me.early_branch"] == 1
    return max(0, (case.timing.early if early and case.timing.early is not None else case.timing.aborted) - case.deferred)


def worlds(case: Case) -> tuple[World, ...]:
    """Those in which a case is measured."""
    if not case.branches:
        return (PLAIN,)
    if case.indirect:               # it goes to a label plus 0, and not out of the store
        return tuple(world for world in BRANCH_WORLDS if world.fill == 0)
    return BRANCH_WORLDS[:2] if case.more else BRANCH_WORLDS


@pytest.mark.parametrize("block", ISA.blocks.values(), ids=lambda block: block.name)
def test_cycles_of_every_instruction(block: Block) -> None:
    chip = Chip()
    outcomes: dict[str, set[bool]] = {}
    for case in cases(block.name):
        for world in worlds(case):
            found = measure(chip, case, world)
            chip.load_words(0, [KILL] * 64, start=False)
            chip.run(cycles=300)            # whatever it has under way comes to its end
            where = f"{ISA.disassemble(case.word)} ({case.variant}) in {world}: {found}"
            taken = case.branches and (found.pc != AT + 1 + case.deferred or not case.conditional)
            if case.conditional:
                outcomes.setdefault(case.variant, set()).add(taken)
                assert not taken or found.pc == TARGET, where
            lost = expected_aborted(case, world, taken)
            if found.cycles is None:
                assert case.ends and found.aborted in (0, lost), where
                continue
            assert found.aborted == lost, where
            assert found.cycles == case.timing.issue + case.deferred + lost, where
            assert found.ctx == (1 if case.leaves or case.ends else 0), where
            if not (case.branches or case.leaves or case.ends):
                assert found.pc == AT + 1, where
    assert all(found == {True, False} for found in outcomes.values()), f"never taken, or always: {outcomes}"


def test_every_case_of_dispatch_is_measured() -> None:
    measured = {case.variant for block in ISA.blocks for case in cases(block)}
    wanted = {variant.name for block in ISA.blocks.values() for form in block.forms for variant in form.variants.values()}
    assert measured == wanted
    assert all(cases(name) for name in ISA.blocks)


def test_every_number_of_defer_slots_is_measured() -> None:
    for name, block in ISA.blocks.items():
        most = {form.timing.defer for form in block.forms if any(token.name == "defer" for token in form.tokens)}
        # Where nothing swaps or branches there is nothing to defer: the walk combines two options, and that may take three.
        if most and any(case.leaves or case.branches for case in cases(name)):
            assert {case.deferred for case in cases(name)} == set(range(max(most) + 1)), name


def test_blocks_and_chip_file_agree_on_what_a_swap_costs() -> None:
    """The block of an instruction that swaps says how many cycles are lost; so does the chip file, where it can be changed."""
    swapping = [case for block in ISA.blocks for case in cases(block) if case.leaves]
    assert swapping and {case.timing.aborted for case in swapping} == {load_chip()["me.swap_abort"]}
