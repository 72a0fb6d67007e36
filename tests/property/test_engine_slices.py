"""How a run is cut changes nothing: slices of any length, single instructions of one microengine, a predicate after every
commit."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ixpemu import Chip
from ixpemu.engine.jit import COMPILED
from tests.support.comparing import advance, differences, whole
from tests.support.generated_programs import Machine, Program, machines
from tests.support.machine import words_of

EXAMPLES = 25 if COMPILED else 2
CYCLES = 400
MODEST = settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


@MODEST
@given(machines())
def test_single_cycles(machine: Machine) -> None:
    chip = machine.chip()
    for _ in range(CYCLES):
        chip.run(cycles=1)
    assert differences(chip, whole(machine, CYCLES)) == []


@MODEST
@given(machines())
def test_seven_cycles(machine: Machine) -> None:
    chip = machine.chip()
    for _ in range(300):
        chip.run(cycles=7)
    assert differences(chip, whole(machine, 2100)) == []


@MODEST
@given(machines())
def test_a_thousand_cycles(machine: Machine) -> None:
    chip = machine.chip()
    for _ in range(6):
        chip.run(cycles=1000)
    assert differences(chip, whole(machine, 6000)) == []


@MODEST
@given(machines(), st.lists(st.integers(1, 60), max_size=40))
def test_uneven_slices(machine: Machine, lengths: list[int]) -> None:
    chip = machine.chip()
    for length in lengths:
        chip.run(cycles=length)
    assert differences(chip, whole(machine, sum(lengths))) == []


@MODEST
@given(machines(), st.data())
def test_stepping_equals_running(machine: Machine, data: st.DataObject) -> None:
    """Any number of steps of any microengines lead where a run of as many cycles leads, and each executes one instruction."""
    chip = machine.chip()
    running = [entry.me for entry in machine.programs]
    for me in data.draw(st.lists(st.sampled_from(running), min_size=1, max_size=80)):
        before = chip.me[me].cycles["executing"]
        stop = chip.step(me)
        assert stop.reason in ("step", "quiet")
        assert chip.me[me].cycles["executing"] == before + (stop.reason == "step")
    assert differences(chip, whole(machine, chip.cycle)) == []


@MODEST
@given(machines())
def test_a_predicate_after_every_commit_changes_nothing(machine: Machine) -> None:
    chip = machine.chip()
    calls = 0

    def count(_: Chip) -> bool:
        nonlocal calls
        calls += 1
        return calls % 5 == 0

    while chip.cycle < CYCLES:
        chip.run(cycles=CYCLES - chip.cycle, until=count)
    assert differences(chip, whole(machine, CYCLES)) == []


@MODEST
@given(machines(), st.integers(0, 100), st.integers(0, 2**16))
def test_breakpoints_change_nothing(machine: Machine, often: int, seed: int) -> None:
    """Stopping at a hundred places and going on leads where a run without them leads, and every stop is at a breakpoint."""
    chip = machine.chip()
    pick = random.Random(seed)
    places = set()
    for entry in machine.programs:
        for _ in range(often // 10):
            places.add((entry.me, pick.randrange(len(chip.me[entry.me].store))))
    for me, address in places:
        chip.break_at(me, address)
    while chip.cycle < CYCLES:
        stop = chip.run(cycles=CYCLES - chip.cycle, to_break=True)
        if stop.reason == "break":
            assert (stop.me, stop.pc) in places
    for me, address in places:
        chip.clear_break(me, address)
    assert [name for name in differences(chip, whole(machine, CYCLES)) if not name.endswith(".probed")] == []


@MODEST
@given(machines(), st.lists(st.integers(1, 700), min_size=1, max_size=5))
def test_every_cycle_is_accounted_for(machine: Machine, lengths: list[int]) -> None:
    chip = machine.chip()
    for length in lengths:
        chip.run(cycles=length)
        for me in chip.me:
            assert sum(me.cycles.values()) == me.clock


WATCHED = Program(1, 8, 0x01, "immed[a15, 90]\nturn#:\nalu[$0, $0, B, a15]\nalu[a15, a15, -, 1]\nbne[turn#]\nctx_arb[kill]")


@pytest.mark.parametrize("command", ["cap[read, $4, b12, 0, 1]", "cap[write, $0, b12, 0, 1]", "cap[read, $4, a14, 0, 2]",
                                     "cap[write, $1, a14, 0, 1]"])
def test_what_a_microengine_sees_of_another_is_of_that_cycle(command: str) -> None:
    """The reflector reads and writes registers of a microengine that could be ahead of the reader, but must not seem so."""
    text = "immed[a14, 0x8044]\nimmed_w1[a14, 0x1]\n" if "a14" in command else ""       # its ACTIVE_CTX_STS
    if "write, $1" in command:
        text = "immed[a14, 0x8064]\nimmed_w1[a14, 0x1]\n"                               # its ACTIVE_LM_ADDR_0
    text = text.replace("0x80", "0x84")
    reader = Program(0, 8, 0x03, f"{text}immed[a15, 4]\nturn#:\n{command}, ctx_swap[s2]\nalu[*l$index0++, --, B, $4]\n"
                                 "alu[a15, a15, -, 1]\nbne[turn#]\nctx_arb[kill]")
    for seed in range(6):
        machine = Machine((reader, WATCHED), seed)
        chip = machine.chip()
        for _ in range(CYCLES):
            chip.run(cycles=1)
        assert differences(chip, whole(machine, CYCLES)) == []


@pytest.mark.parametrize("delay", range(12, 32, 2))
def test_a_status_pushed_to_a_running_thread_arrives_at_its_cycle(delay: int) -> None:
    """A thread that goes on after it has put itself on the free list, and looks into the register that the status will fill."""
    entry = 5 << 12                             # signal 5, this thread, register 0
    lines = ["immed[a0, 0x30]", f"immed_w1[a0, {entry:#x}]", "msf[fast_wr, --, a0, 0]", *["nop"] * delay,
             "local_csr_rd[TIMESTAMP_LOW]", "immed[a1, 0]", *["alu[*l$index0++, --, B, $0]"] * 60, "ctx_arb[kill]"]

    def prepared() -> Chip:
        chip = Chip()
        chip.msf.csr["RX_CONTROL"] = 0xF0000000
        for element in range(1, 4):
            chip.msf.write(0x44, element)
        chip.ports[0].feed([bytes(range(60))] * 2, gbps=1.0)
        chip.run(cycles=3000)
        chip.load_words(0, words_of("\n".join(lines)), start=False)
        chip.start(0, 1)
        return chip

    one, other = prepared(), prepared()
    one.run(cycles=200)
    for _ in range(200):
        other.run(cycles=1)
    assert differences(one, other) == []
    seen = one.me[0].local_memory[:60]
    assert seen.any() and not seen.all(), "the status came while it looked"


def test_a_journal_replays_without_its_agent() -> None:
    """What an agent wrote at its times, written again from the journal, leads to the same machine."""
    class Meddler:
        def __init__(self, chip: Chip) -> None:
            self.chip, self.next, self.pick = chip, 100, random.Random(5)

        def due(self) -> int:
            return self.next

        def busy(self) -> bool:
            return False

        def act(self, cycle: int) -> None:
            self.chip.sram[0].write(4 * self.pick.randrange(16), [self.pick.getrandbits(32)])
            self.chip.scratch.ring(0).put(cycle)
            self.chip.me[0].ctx[self.pick.randrange(8)].signal(9)
            self.chip.cap.write("SELF_DESTRUCT_0", cycle)
            self.next = cycle + self.pick.randrange(1, 90)

        def interrupt(self, cycle: int, source: str) -> None:
            raise AssertionError(source)

    text = (
        "immed[a15, 9]\nturn#:\nsram[read, $0, a10, b10, 4], ctx_swap[s2]\nscratch[get, $4, b13, 0, 1], ctx_swap[s4]\n"
        "br_signal[s9, turn#]\nalu[a1, $4, +, a1]\nalu[*l$index0++, $0, +, 1]\n"
        "alu[a15, a15, -, 1]\nbne[turn#]\nctx_arb[s9]\nbr[turn#]"
    )
    machine = Machine((Program(0, 8, 0xFF, text),), 4)
    chip = machine.chip()
    saved = chip.snapshot()
    chip.attach(Meddler(chip))
    advance(chip, 1500)
    journal = list(chip.journal)
    assert len(journal) > 20
    again = machine.chip()
    again.restore(saved)
    again.replay(journal[saved.journal:], 1500)
    assert differences(again, chip) == []
