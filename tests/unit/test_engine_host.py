"""Mistakes of whoever drives a chip from Python, and programs that cannot go on: each is told clearly, none shows the inside."""

from collections.abc import Callable

import pytest

from ixpemu import Chip, UserError
from ixpemu.isa.chipfile import load_chip
from tests.support.machine import chip_with, run_lines, words_of

NOP = words_of("nop")[0]
MISTAKES: dict[str, tuple[Callable[[Chip], object], str]] = {
    "no such microengine to load": (lambda chip: chip.load_words(8, [NOP]), "no microengine 8"),
    "nor to start": (lambda chip: chip.start(-1), "no microengine -1"),
    "nor to step": (lambda chip: chip.step(9), "no microengine 9"),
    "nor to break": (lambda chip: chip.break_at(8, 0), "no microengine 8"),
    "nor to look at": (lambda chip: chip.me[-1], "no microengine -1"),
    "no such context": (lambda chip: chip.me[0].ctx[8], "no context 8"),
    "no such channel": (lambda chip: chip.sram[2], "no SRAM channel 2"),
    "contexts outside the mask": (lambda chip: chip.start(0, 0x100), "no contexts of the mask 0x100"),
    "odd contexts of four": (lambda chip: (chip.load_words(0, [NOP], contexts=4, start=False), chip.start(0, 2)), "mask 0x2"),
    "five contexts": (lambda chip: chip.load_words(0, [NOP], contexts=5), "number of contexts cannot be 5"),
    "a word of 41 bits": (lambda chip: chip.load_words(0, [NOP, 1 << 40]), "word 1 is 0x10000000000"),
    "a negative word": (lambda chip: chip.load_words(0, [-1]), "word 0 is -0x1"),
    "a program too large": (lambda chip: chip.load_words(0, [NOP] * 4097), "4,097 words: a control store holds 4,096"),
    "a breakpoint outside the store": (lambda chip: chip.break_at(0, 4096), "address of an instruction cannot be 4096"),
    "SRAM below its start": (lambda chip: chip.sram[0].read(-4), "SRAM channel 0 has no bytes -0x4"),
    "SRAM past its end": (lambda chip: chip.sram[1].write(4 << 20, 1), "SRAM channel 1 has no bytes 0x400000"),
    "a write over the end": (lambda chip: chip.sram[0].write((4 << 20) - 4, [1, 2]), "has no bytes 0x3ffffc to 0x400003"),
    "DRAM past its end": (lambda chip: chip.dram.read_bytes(128 << 20, 1), "DRAM has no bytes 0x8000000"),
    "scratch past its end": (lambda chip: chip.scratch.read(16384), "scratch memory has no bytes 0x4000"),
    "a ring too many": (lambda chip: chip.scratch.ring(16), "number of a scratch ring cannot be 16"),
    "a ring that is not aligned": (lambda chip: chip.scratch.ring(0).setup(100, 128), "ring 0 cannot have 128 words at 0x64"),
    "a ring of an odd size": (lambda chip: chip.scratch.ring(0).setup(0, 100), "cannot have 100 words"),
    "a ring over the end": (lambda chip: chip.scratch.ring(0).setup(0x3E00, 1024), "cannot have 1024 words"),
    "an unknown CSR": (lambda chip: chip.me[0].csr["T_INDEXX"], "no local CSR 'T_INDEXX'"),
    "a CSR outside its space": (lambda chip: chip.me[0].csr[0x1000], "no local CSR at 0x1000"),
    "a CAP address outside": (lambda chip: chip.cap.read(0x10), "no cap CSR at 0x10"),
    "an MSF address outside": (lambda chip: chip.msf.write(0x4000, 0), "no msf CSR at 0x4000"),
    "a signal that is none": (lambda chip: chip.me[0].ctx[0].signal(0), "number of an event signal cannot be 0"),
    "a multiplier of no width": (lambda chip: chip.hash.multiplier[32], "no 32-bit multiplier"),
    "a port too many": (lambda chip: chip.ports[3], "no port 3"),
    "a run backwards": (lambda chip: chip.run(cycles=-1), "cannot run for -1 cycles"),
    "part of a cycle": (lambda chip: chip.run(cycles=10.5), "cannot run for 10.5 cycles"),        # type: ignore[arg-type]
    "packets backwards": (lambda chip: chip.run(packets=-5), "cannot run for -5 packets"),
    "a mode that is none": (lambda chip: Chip(mode="turbo"), "no mode 'turbo'"),
    "an unknown parameter": (lambda chip: Chip(load_chip().override({"sram.speed": 1})), "no parameter 'sram.speed'"),
    "a parameter out of range": (lambda chip: Chip(load_chip().override({"me.fifo_depth": 0})), "me.fifo_depth = 0 is out"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told(name: str) -> None:
    make, message = MISTAKES[name]
    chip = Chip()
    with pytest.raises(UserError, match=message.replace("(", r"\(")) as caught:
        make(chip)
    assert caught.value.diagnostics[0].code
    assert caught.value.diagnostics[0].help, "what to do is said"
    assert chip.run(cycles=10).reason == "quiet", "the chip is as good as before"


def test_messages_suggest_what_was_meant() -> None:
    with pytest.raises(UserError) as caught:
        Chip().me[0].csr["ACTIVE_CTX_STATUS"]
    assert "ACTIVE_CTX_STS" in str(caught.value.diagnostics[0].help)


# Programs that cannot go on


def test_an_endless_loop_stops_with_where_each_microengine_is() -> None:
    chip = Chip()
    for me, text in ((0, "l#:\nalu[a0, a0, +, 1]\nbr[l#]"), (5, "nop\nl#:\nbr[l#]"), (7, "ctx_arb[s1]")):
        chip.load_words(me, words_of(text))
    stop = chip.run(cycles=1000)
    assert (stop.reason, stop.cycle) == ("cycles", 1000)
    assert stop.message.startswith("cycles at cycle 1,000; me0 ctx0 at ")
    assert "me5 ctx0 at 1" in stop.message
    assert "me7 idle" in stop.message


@pytest.mark.parametrize("mode", ["default", "fast"])
def test_an_illegal_word_is_shown_with_its_place(mode: str) -> None:
    chip = Chip(mode=mode)
    chip.load_words(2, [NOP, 0xFF12345678])
    stop = chip.run()
    assert (stop.reason, stop.me, stop.ctx, stop.pc) == ("reserved", 2, 0, 1)
    assert stop.message == "illegal instruction (0xff12345678): microengine 2 context 0 at 1, cycle 2"


@pytest.mark.parametrize("mode", ["default", "fast"])
def test_running_off_the_end(mode: str) -> None:
    chip = chip_with("nop\nnop", contexts=1, mode=mode)
    stop = chip.run()
    assert (stop.reason, stop.me, stop.pc) == ("reserved", 0, 2)
    assert "ran past the end of the program" in stop.message
    assert chip.run(cycles=10).reason == "quiet"


def test_the_message_names_what_stopped_it_even_after_many_events() -> None:
    lines = ["immed[a0, 0xa00]", "local_csr_wr[ACTIVE_LM_ADDR_0, a0]", "nop", "nop", "nop", "immed[a1, 100]", "l#:",
             "alu[a2, --, B, *l$index0[0]]", "alu[a1, a1, -, 1]", "bne[l#]"]
    chip = chip_with("\n".join(lines), contexts=1)
    stop = chip.run()
    assert "ran past the end" in stop.message
    assert chip.reserved["unpopulated local memory"] == 100
    assert [(event[1], event[4]) for event in chip.reserved_events] == [
        ("unpopulated local memory", 6), ("ran past the end of the program", 9)]
    assert chip.reserved_places[0].count == 100


def test_a_strict_chip_stops_at_the_first_reserved_event() -> None:
    lines = ["immed[a0, 0xa00]", "local_csr_wr[ACTIVE_LM_ADDR_0, a0]", "nop", "nop", "nop", "alu[a2, --, B, *l$index0[1]]",
             "alu[a3, --, B, *l$index0[2]]", "ctx_arb[kill]"]
    chip = Chip(strict=True)
    chip.load_words(0, words_of("\n".join(lines)), start=False)
    chip.start(0, 1)
    stop = chip.run()
    assert (stop.reason, stop.pc) == ("reserved", 5)
    assert "unpopulated local memory (word 0x281)" in stop.message


def test_a_halt_at_the_last_address() -> None:
    chip = Chip()
    chip.load_words(0, [NOP] * 4095 + words_of("halt"), start=False)
    chip.start(0, 1)
    stop = chip.run()
    assert (stop.reason, stop.pc) == ("halt", 4095)


def test_a_full_program_goes_round() -> None:
    chip = Chip()
    chip.load_words(0, words_of("alu[a0, a0, +, 1]") + [NOP] * 4095, start=False)
    chip.start(0, 1)
    chip.run(cycles=3 * 4096 + 2)
    assert int(chip.me[0].ctx[0].gpr_a[0]) == 4


# Breakpoints and starting anew


def test_a_breakpoint_stops_once_each_time_it_is_reached() -> None:
    """Also at a command that has to wait for room in its FIFO."""
    lines = ["sram[read, $0, a15, 0, 8], sig_done[s1]"] * 12 + ["ctx_arb[kill]"]
    chip = chip_with("\n".join(lines), contexts=1, overrides={"sram.queue_depth": 1})
    for address in range(12):
        chip.break_at(0, address)
    stops = []
    while (stop := chip.run(cycles=2000, to_break=True)).reason == "break":
        stops.append(stop.pc)
    assert stops == list(range(12))
    assert chip.me[0].cycles["stalled"] > 50


def test_breakpoints_belong_to_the_chip_and_not_to_a_snapshot() -> None:
    chip = chip_with("l#:\nalu[a0, a0, +, 1]\nbr[l#]", contexts=1)
    before = chip.snapshot()
    chip.break_at(0, 1)
    with_break = chip.snapshot()
    chip.restore(before)
    assert chip.run(cycles=100, to_break=True).reason == "break"
    chip.clear_break(0, 1)
    chip.restore(with_break)
    assert chip.run(cycles=100, to_break=True).reason == "cycles"


def test_a_fast_chip_stays_fast_over_a_restore() -> None:
    saved = chip_with("ctx_arb[kill]").snapshot()
    fast = Chip(mode="fast")
    fast.restore(saved)
    assert int(fast.state.mode) == 0


def test_a_pointer_written_just_before_the_end_is_written() -> None:
    """And it does not come later, into the next program."""
    chip = run_lines(["local_csr_wr[ACTIVE_LM_ADDR_0, 40]"])
    assert chip.me[0].csr["ACTIVE_LM_ADDR_0"] == 40
    chip = chip_with("local_csr_wr[ACTIVE_LM_ADDR_0, 40]\nhalt", contexts=1)
    chip.run()
    chip.me[0].csr["ACTIVE_LM_ADDR_0"] = 8
    chip.me[0].local_memory[:12] = range(12)
    chip.load_words(0, words_of("nop\nnop\nnop\nnop\nalu[a0, --, B, *l$index0[0]]\nhalt"), start=False)
    chip.start(0, 1)
    chip.run()
    assert int(chip.me[0].ctx[0].gpr_a[0]) == 2
