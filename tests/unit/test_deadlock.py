"""Who waits for what when nothing happens any more. Waiting for input, killed contexts and signals under way are no deadlock."""

from __future__ import annotations

from ixpemu import Chip, assemble
from ixpemu.chip_deadlock import Waiting, stuck

NEVER_STARTED = """
.sig done other
.reg $x a
immed[a, 0]
br=ctx[0, wait#]
sram[read, $x, a, 0, 1], sig_done[done]
wait#:
ctx_arb[done]
alu[--, --, B, $x]
ctx_arb[kill]
"""


def loaded(*sources: str, contexts: int = 1) -> Chip:
    chip = Chip()
    for me, source in enumerate(sources):
        chip.load(me, assemble(text=source), start=False)
        chip.start(me, contexts)
    return chip


def hold_a_packet(chip: Chip) -> None:
    """A packet that is inside the chip and that nobody works on."""
    chip.originate(0x1000, 60)


def test_a_wait_for_a_command_that_was_not_issued() -> None:
    chip = loaded(NEVER_STARTED)
    hold_a_packet(chip)
    stop = chip.run()
    assert (stop.reason, stop.me, stop.ctx) == ("deadlock", 0, 0) and stop.diagnostic is not None
    assert stop.diagnostic.label == "IXP7900"
    assert "with 1 packet inside: microengine 0 context 0 at 4 waits for signal done (1); it is raised by " in stop.message
    assert "sram[read, $x, a, 0, 1], sig_done[done] in <text>:6, which is not under way" in stop.message
    assert stop.diagnostic.origin is not None and stop.diagnostic.origin.span.line == 8
    assert chip.run(cycles=10).reason == "deadlock", "and it stays one"


def test_without_packets_the_run_is_quiet_and_says_the_same() -> None:
    stop = loaded(NEVER_STARTED).run()
    assert stop.reason == "quiet" and "microengine 0 context 0 at 4 waits for signal done (1); it is raised by" in stop.message


def test_another_thread_would_raise_it() -> None:
    chip = loaded(".physical\nbr=ctx[1, end#]\nctx_arb[s3]\nlocal_csr_wr[SAME_ME_SIGNAL, 0x98]\nend#:\nctx_arb[kill]", contexts=3)
    hold_a_packet(chip)
    stop = chip.run()
    assert stop.reason == "deadlock"
    assert "another thread would raise it, as by local_csr_wr[SAME_ME_SIGNAL, 0x98] in <text>:4 of microengine 0" in stop.message


def test_nobody_would_raise_it() -> None:
    chip = loaded(".physical\nctx_arb[s3, s4], any\nctx_arb[kill]")
    hold_a_packet(chip)
    assert chip.run().message.endswith("waits for signals 3 or 4; no instruction of any program raises it")


def test_two_microengines_that_wait_for_each_other() -> None:
    one = ".physical\nctx_arb[s1]\nlocal_csr_wr[NEXT_NEIGHBOR_SIGNAL, 0x10]\nctx_arb[kill]"
    other = ".physical\nctx_arb[s2]\nlocal_csr_wr[PREV_NEIGHBOR_SIGNAL, 0x8]\nctx_arb[kill]"
    chip = loaded(one, other)
    hold_a_packet(chip)
    stop = chip.run()
    assert stop.reason == "deadlock" and stop.diagnostic is not None and len(stop.diagnostic.notes) == 2
    assert "PREV_NEIGHBOR_SIGNAL" in stop.diagnostic.notes[0].message
    assert "NEXT_NEIGHBOR_SIGNAL" in stop.diagnostic.notes[1].message


def test_killed_contexts_wait_for_nothing() -> None:
    chip = loaded(".physical\nctx_arb[kill]")
    hold_a_packet(chip)
    stop = chip.run()
    assert stop.reason == "quiet" and "waits" not in stop.message


def test_what_is_under_way_or_timed_will_come() -> None:
    chip = loaded(".physical\nimmed[a0, 0]\nsram[read, $0, a0, 0, 1], sig_done[s1]\nlocal_csr_wr[ACTIVE_FUTURE_COUNT_SIGNAL, 2]\n"
                  "local_csr_wr[ACTIVE_FUTURE_COUNT, 10]\nctx_arb[s1, s2]\nctx_arb[kill]")
    hold_a_packet(chip)
    chip.run(cycles=30)
    assert not stuck(chip.state, chip.me) and chip.deadlock() is None
    assert chip.run().reason == "quiet"


def test_waiting_for_input_is_no_deadlock_and_keeps_those_alive_whom_it_could_wake() -> None:
    # Context 0 is on the receive free list with signal 1; it would signal context 1.
    source = (".physical\nbr=ctx[1, second#]\nimmed[a0, 0x30]\nimmed_w1[a0, 0x1000]\nmsf[fast_wr, --, a0, 0]\nctx_arb[s1]\n"
              "local_csr_wr[SAME_ME_SIGNAL, 0x19]\nctx_arb[kill]\nsecond#:\nctx_arb[s3]\nctx_arb[kill]")
    chip = loaded(source, contexts=3)
    hold_a_packet(chip)
    stop = chip.run()
    assert stop.reason == "quiet" and chip.deadlock() is None, stop.message


def test_a_thread_that_polls_does_not_hide_those_that_sleep() -> None:
    chip = loaded(NEVER_STARTED, ".physical\nagain#:\nbr[again#]")
    hold_a_packet(chip)
    assert chip.run(cycles=5000).reason == "cycles"
    assert stuck(chip.state, chip.me) == [Waiting(0, 0, 4, (1,), False)]
    found = chip.deadlock()
    assert found is not None and "waits for signal done (1)" in found.message
