"""Programs as machine code of their own do exactly what the interpreter does, whatever happens to program and run."""

import random
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ixpemu import Chip, assemble, chip_translate
from ixpemu.engine.jit import COMPILED
from tests.support.comparing import advance, differences
from tests.support.generated_programs import Machine, machines

pytestmark = pytest.mark.skipif(not COMPILED, reason="where nothing is compiled, no program is translated")
MODEST = settings(max_examples=25, deadline=None, derandomize=True,
                  suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
LOOP = """
.num_contexts 8
.begin
.reg sum @all count
immed[sum, 0]
local_csr_wr[ACTIVE_LM_ADDR_0, sum]
immed[count, 50]
again#:
    alu[sum, sum, +, 7]
    alu_shf[sum, count, OR, sum, <<3]
    alu[@all, @all, +, 1]
    alu[*l$index0[2], sum, +carry, *l$index0[2]]
    br_bset[sum, 3, odd#], defer[1]
    alu[sum, --, ~B, sum]
    ld_field[sum, 0110, count]
odd#:
    alu[count, count, -, 1]
    bne[again#]
ctx_arb[voluntary]
immed[count, 50]
br[again#]
.end
"""


@pytest.fixture
def translating(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every program is translated before its first instruction."""
    monkeypatch.setattr(chip_translate, "WHEN", "always")
    yield


def interpreted(machine: Machine, cycles: int) -> Chip:
    """The machine's chip after some cycles in which nothing was translated."""
    before, chip_translate.WHEN = chip_translate.WHEN, "never"
    try:
        chip = machine.chip()
        advance(chip, cycles)
    finally:
        chip_translate.WHEN = before
    assert not chip.state.engines["translated"].any()
    return chip


def loops(count: int = 2) -> Chip:
    """A chip with the loop above on some microengines."""
    chip = Chip()
    image = assemble(text=LOOP)
    for me in range(count):
        chip.load(me, image)
    return chip


def same(one: Chip, other: Chip) -> None:
    """The chips are in the same state, the first one by machine code and the second without."""
    assert one.state.engines["translated"].any()
    assert not other.state.engines["translated"].any()
    assert differences(one, other) == []


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> Chip:
    """The loops, to be interpreted."""
    with monkeypatch.context() as here:
        here.setattr(chip_translate, "WHEN", "never")
        return loops()


@MODEST
@given(machines())
def test_one_run(translating: None, machine: Machine) -> None:
    chip = machine.chip()
    advance(chip, 3000)
    same(chip, interpreted(machine, 3000))


@MODEST
@given(machines(), st.integers(0, 1 << 32))
def test_slices_and_steps(translating: None, machine: Machine, seed: int) -> None:
    chip = machine.chip()
    pick = random.Random(seed)
    running = [entry.me for entry in machine.programs]
    for _ in range(60):
        if pick.random() < 0.3:
            chip.step(pick.choice(running))
        else:
            chip.run(cycles=pick.choice((1, 2, 3, 5, 11, 40)))
    same(chip, interpreted(machine, chip.cycle))


def test_the_loop_is_known_as_a_whole(translating: None, plain: Chip) -> None:
    chip = loops()
    for _ in range(50):
        chip.run(cycles=997)
        plain.run(cycles=997)
        same(chip, plain)
    assert chip.instructions > 50_000


def test_a_breakpoint_in_machine_code(translating: None, plain: Chip) -> None:
    chip = loops()
    chip.run(cycles=500)
    plain.run(cycles=500)
    for each in (chip, plain):
        each.break_at(1, 6)
    for _ in range(20):
        stops = [each.run(cycles=10_000, to_break=True) for each in (chip, plain)]
        assert stops[0] == stops[1] and stops[0].reason == "break"
    for each in (chip, plain):
        each.clear_break(1, 6)
        each.run(cycles=1_000 - each.cycle % 1_000)
    same(chip, plain)


def test_a_word_patched_between_runs(translating: None, plain: Chip) -> None:
    """An instruction is replaced in the middle of the loop: `alu[sum, sum, +, 7]` adds 9."""
    chip = loops()
    for each in (chip, plain):
        each.run(cycles=700)
        address = next(k for k, line in enumerate(each.images[0].debug) if "+, 7" in line.source)
        word = int(each.images[0].words[address]) + (2 << 10)           # the constant is in the field of the second operand
        each.me[0].csr["USTORE_ADDRESS"] = 1 << 31 | address
        each.me[0].csr["USTORE_DATA_LOWER"] = word & 0xFFFFFFFF
        each.me[0].csr["USTORE_DATA_UPPER"] = word >> 32
        each.run(cycles=700)
    assert differences(chip, plain) == []


def test_a_probe_attached_to_machine_code(translating: None, plain: Chip) -> None:
    chip = loops()
    for each in (chip, plain):
        each.run(cycles=333)
        each.probes.attach(0, 5, "", "here")
        each.run(cycles=3_000)
    assert chip.probes.hits("here") == plain.probes.hits("here") > 100
    same(chip, plain)


def test_restored_and_run_again(translating: None, plain: Chip) -> None:
    chip = loops()
    chip.run(cycles=1_000)
    plain.run(cycles=1_000)
    saved = chip.snapshot()
    assert saved == plain.snapshot()
    chip.run(cycles=5_000)
    after = chip.snapshot()
    chip.restore(saved)
    chip.run(cycles=5_000)
    assert chip.snapshot() == after
    plain.restore(saved)
    plain.run(cycles=5_000)
    assert plain.snapshot() == after


def test_another_program_in_its_place(translating: None, plain: Chip) -> None:
    other = assemble(text=LOOP.replace("+, 7", "-, 11"))
    chip = loops()
    for each in (chip, plain):
        each.run(cycles=500)
        each.load(0, other)
        each.run(cycles=2_000)
    same(chip, plain)


def test_only_what_has_run_long_is_translated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chip_translate, "WHEN", "")
    monkeypatch.setattr(chip_translate, "WORTH", 20_000)
    monkeypatch.setattr(chip_translate, "LOOK", 5_000)
    chip = loops()
    chip.run(cycles=10_000)
    assert not chip.state.engines["translated"].any()
    chip.run(cycles=40_000)
    assert chip.state.engines["translated"][:2].all() and not chip.state.engines["translated"][2:].any()
