"""What control costs: branches taken or not, deferred, resolved early, computed; what runs in defer slots and what does not.

Figures are those of the hardware notes: 3 squashed fetches behind a conditional branch, 2 behind an unconditional one, one less
for each filled slot, and one less where the flags are older than the instruction before.
"""

import pytest

from ixpemu import Chip
from ixpemu.isa.chipfile import load_chip
from tests.support.machine import chip_with, issues, run_lines

SET = "alu[--, a0, -, b0]"          # a0 is 5 and b0 is 5 unless said otherwise


def run(lines: list[str], a: int = 5, b: int = 5, early: int = 1) -> Chip:
    chip = chip_with("\n".join([*lines, "halt"]), contexts=1, overrides={"me.early_branch": early})
    chip.me[0].ctx[0].gpr_a[0], chip.me[0].ctx[0].gpr_b[0] = a, b
    stop = chip.run(cycles=5000)
    assert stop.reason == "halt", stop
    return chip


def spent(lines: list[str], a: int = 5, b: int = 5, early: int = 1) -> tuple[int, int]:
    """Cycles executing and aborted, the halt's one not counted."""
    cycles = run(lines, a, b, early).me[0].cycles
    return cycles["executing"] - 1, cycles["aborted"]


# (branch, aborted cycles when taken, most defer slots); each with what makes it taken or not.
CONDITIONAL = {
    "beq": ((5, 5), (5, 4)), "bne": ((5, 4), (5, 5)), "bmi": ((4, 5), (5, 4)), "bpl": ((5, 4), (4, 5)), "bhs": ((5, 4), (4, 5)),
    "bcs": ((5, 5), (4, 5)), "blo": ((4, 5), (5, 5)), "bcc": ((4, 5), (5, 4)), "bvs": ((0x80000000, 1), (5, 4)),
    "bvc": ((5, 4), (0x80000000, 1)), "bge": ((5, 5), (4, 5)), "blt": ((0x80000000, 1), (5, 5)), "ble": ((5, 5), (6, 5)),
    "bgt": ((0x7FFFFFFF, 0xFFFFFFFF), (5, 5)),
}
OTHERS = {
    "br[go#]": (2, 2, True), "br=ctx[0, go#]": (2, 2, True), "br=ctx[1, go#]": (2, 2, False), "br!=ctx[1, go#]": (2, 2, True),
    "br!=ctx[0, go#]": (2, 2, False), "br_bset[a0, 2, go#]": (3, 3, True), "br_bset[a0, 1, go#]": (3, 3, False),
    "br_bclr[a0, 1, go#]": (3, 3, True), "br_bclr[a0, 2, go#]": (3, 3, False), "br=byte[a0, 0, 5, go#]": (3, 3, True),
    "br=byte[a0, 1, 5, go#]": (3, 3, False), "br!=byte[a0, 1, 5, go#]": (3, 3, True), "br!=byte[b0, 0, 5, go#]": (3, 3, False),
    "br_signal[s1, go#]": (3, 3, False), "br_!signal[s1, go#]": (3, 3, True), "br_inp_state[NN_EMPTY, go#]": (3, 3, True),
    "br_!inp_state[NN_EMPTY, go#]": (3, 3, False), "br_inp_state[FCI_FULL, go#]": (3, 3, False),
}
BEHIND = ["alu[a1, a1, +, 1]"] * 4      # what a taken branch jumps over, but for its slots


@pytest.mark.parametrize("branch", CONDITIONAL)
def test_conditional_branches(branch: str) -> None:
    """Taken and not, right behind the flags and later, with every number of slots."""
    taken, not_taken = CONDITIONAL[branch]
    for slots in range(4):
        defer = f", defer[{slots}]" if slots else ""
        lines = [SET, f"{branch}[go#]{defer}", *BEHIND, "go#:"]
        late = [SET, "nop", *lines[1:]]
        assert spent(lines, *taken) == (2 + slots, 3 - slots), slots
        assert spent(late, *taken) == (3 + slots, max(2 - slots, 0)), slots
        assert spent(late, *taken, early=0) == (3 + slots, 3 - slots), slots
        assert spent(lines, *not_taken) == (2 + 4, 0), slots
        assert int(run(lines, *taken).me[0].ctx[0].gpr_a[1]) == slots
        assert int(run(lines, *not_taken).me[0].ctx[0].gpr_a[1]) == 4


@pytest.mark.parametrize("branch", OTHERS)
def test_other_branches(branch: str) -> None:
    aborted, most, taken = OTHERS[branch]
    for slots in range(most + 1):
        defer = f", defer[{slots}]" if slots else ""
        lines = [f"{branch}{defer}", *BEHIND, "go#:"]
        wanted = (1 + slots, aborted - slots) if taken else (1 + 4, 0)
        assert spent(lines) == wanted, slots
        # These do not look at the flags: it is all the same to them when those were set.
        assert spent([SET, *lines]) == (wanted[0] + 1, wanted[1]), slots


def test_jump_and_return() -> None:
    """A computed branch: target plus register, or the register alone, always 3 squashed but for its slots."""
    for slots in range(4):
        defer = f", defer[{slots}]" if slots else ""
        lines = ["immed[a2, 2]", f"jump[a2, table#]{defer}", *BEHIND, "table#:", "br[out#]", "nop", "immed[a3, 7]", "out#:"]
        assert spent(lines) == (2 + slots + 1, 3 - slots)
        assert run(lines).me[0].ctx[0].gpr_a[1:4].tolist() == [slots, 2, 7]
        lines = ["load_addr[b2, out#]", f"rtn[b2]{defer}", *BEHIND, "out#:"]
        assert spent(lines) == (2 + slots, 3 - slots)


def test_a_jump_wraps_at_the_end_of_the_store() -> None:
    chip = chip_with("jump[a2, l4095#]\nimmed[a1, 9]\nhalt", contexts=1)
    chip.me[0].ctx[0].gpr_a[2] = 2
    assert chip.run().pc == 2
    assert int(chip.me[0].ctx[0].gpr_a[1]) == 9


def test_subroutine() -> None:
    chip = run_lines(["load_addr[a2, back#]", "br[double#], defer[1]", "immed[a1, 21]", "back#:", "ctx_arb[kill]", "double#:",
                      "rtn[a2], defer[1]", "alu_shf[a1, --, B, a1, <<1]"])
    assert int(chip.me[0].ctx[0].gpr_a[1]) == 42


def test_flags_set_in_a_slot_are_seen_by_the_next_branch() -> None:
    lines = ["br[on#], defer[2]", "nop", SET, "immed[a1, 1]", "on#:", "beq[out#]", "immed[a1, 2]", "out#:"]
    assert int(run(lines).me[0].ctx[0].gpr_a[1]) == 0
    # With both slots filled nothing is squashed: the flags are of the instruction just before, and the branch costs all of 3.
    assert spent(lines) == (1 + 2 + 1, 3)
    # One squashed cycle lies between: the flags are older, and the branch costs 2.
    assert spent(["br[on#], defer[1]", SET, "nop", "on#:", "beq[out#]", "nop", "out#:"]) == (1 + 1 + 1, 1 + 2)


def test_a_command_may_stand_in_a_slot() -> None:
    chip = run_lines(["immed[a0, 0x40]", "br[on#], defer[2]", "immed[$0, 7]", "sram[write, $0, a0, 0, 1], sig_done[s1]",
                      "immed[a1, 1]", "on#:", "ctx_arb[s1]"])
    assert (chip.sram[0][0x40], int(chip.me[0].ctx[0].gpr_a[1])) == (7, 0)


def test_cycle_by_cycle() -> None:
    """Where each instruction issues: slots run behind the branch, then the target after what is squashed."""
    chip = chip_with("nop\nbr[go#], defer[1]\nnop\nnop\nnop\ngo#:\nnop\nnop\nhalt", contexts=1)
    wake = load_chip()["me.wake_cycles"]
    assert [(issue.cycle - wake, issue.pc) for issue in issues(chip, 12)] == [(0, 0), (1, 1), (2, 2), (4, 5), (5, 6), (6, 7)]
