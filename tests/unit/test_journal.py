"""The journal: whatever Python does to a chip is in it, so that a second chip does the same from the journal alone."""

import numpy as np
import pytest

from ixpemu import Chip, assemble
from ixpemu.chip_agents import PATCH
from tests.support.comparing import differences
from tests.support.machine import words_of

LOOP = "l#:\nalu[a1, a1, +, b1]\nsram[write, $0, a15, 0, 1], ctx_swap[s1]\nalu[$0, a1, +, *l$index0]\nbr[l#]"


def again(chip: Chip, cycle: int | None = None) -> Chip:
    """Another chip that has done what the journal of `chip` says."""
    other = Chip()
    other.replay(chip.journal, chip.cycle if cycle is None else cycle)
    return other


def test_loads_and_patches_are_replayed() -> None:
    chip = Chip()
    chip.load_words(0, words_of(LOOP))
    chip.me[0].ctx[3].gpr_b[1] = 7
    chip.run(cycles=500)
    chip.me[0].ctx[0].gpr_b[0:3] = [1, 2, 3]
    chip.me[0].local_memory[:] = np.arange(640)
    chip.me[0].ctx[5].sram_out[::2] = 9
    chip.me[0].gpr_a_abs[[3, 40, 41]] = 5
    chip.me[0].ctx[1].gpr_a[-1] = 0x200
    chip.msf.rbuf[100] = 0x1234
    chip.run(cycles=300)
    chip.load_words(1, words_of("l#:\nlocal_csr_wr[PREV_NEIGHBOR_SIGNAL, 9]\nctx_arb[voluntary]\nbr[l#]"), start=False)
    chip.me[1].ctx[0].pc = 1
    chip.run(cycles=50)
    chip.start(1)
    chip.run(cycles=400)
    chip.load_words(0, words_of("l#:\nalu[a20, a20, +, 1]\nbr[l#]", 4), contexts=4)
    chip.run(cycles=100)
    other = again(chip)
    assert differences(chip, other) == []
    assert other.me[0].contexts == 4 and int(other.me[0].ctx[0].gpr_a[20]) > 5


def test_words_through_the_store_registers_are_replayed() -> None:
    chip = Chip()
    chip.load_words(0, words_of("l#:\nalu[a0, a0, +, 1]\nctx_arb[voluntary]\nbr[l#]"), start=False)
    chip.start(0, 1)
    chip.run(cycles=100)
    csr = chip.me[0].csr
    enabled = csr["CTX_ENABLES"]
    csr["CTX_ENABLES"] = 0
    chip.run(cycles=20)
    csr["USTORE_ADDRESS"] = 1 << 31
    (word,) = words_of("alu[a0, a0, +, 100]")
    csr["USTORE_DATA_LOWER"] = word & 0xFFFFFFFF
    csr["USTORE_DATA_UPPER"] = word >> 32
    csr["CTX_ENABLES"] = enabled
    before = int(chip.me[0].ctx[0].gpr_a[0])
    chip.run(cycles=100)
    assert int(chip.me[0].ctx[0].gpr_a[0]) > before + 500
    assert differences(chip, again(chip)) == []


def test_registers_that_change_when_they_are_read_are_in_the_journal() -> None:
    chip = Chip()
    chip.cap.write("SELF_DESTRUCT_0", 5)
    chip.cap.write("THREAD_MESSAGE_9", 6)
    chip.me[2].csr["PSEUDO_RANDOM_NUMBER"] = 77
    assert (chip.cap.read("SELF_DESTRUCT_0"), chip.cap.read("THREAD_MESSAGE_CLEAR_9")) == (5, 6)
    assert chip.me[2].csr["PSEUDO_RANDOM_NUMBER"] != 77
    length = len(chip.journal)
    assert [chip.cap.read(name) for name in ("SELF_DESTRUCT_0", "THREAD_MESSAGE_9", "THREAD_MESSAGE_SUMMARY_0")] == [0, 0, 0]
    assert len(chip.journal) == length + 1, "reading a clearing register clears it, whatever is in it; the others do not"
    assert differences(chip, again(chip)) == []


def test_probes_are_replayed_without_their_names() -> None:
    image = assemble(text=".reg handle\nl#:\nalu[handle, handle, +, 1]\n.probe here, handle\nctx_arb[voluntary]\nbr[l#]\n"
                          ".reg x\nimmed[handle, 0]\n")
    chip = Chip()
    chip.load(0, image)
    chip.probes.action("here", "drop")
    chip.run(cycles=200)
    other = again(chip)
    assert chip.probes.hits("here") > 10
    assert differences(chip, other) == []


def test_what_is_no_assignment_cannot_write_past_the_journal() -> None:
    chip = Chip()
    registers = chip.me[0].ctx[0].gpr_a
    for write in (lambda: registers.fill(1), lambda: np.copyto(registers, 1), lambda: np.add(registers, 1, out=registers),
                  lambda: registers.sort(), lambda: registers.view(np.ndarray).__setitem__(0, 1)):
        with pytest.raises(ValueError, match="read-only"):
            write()
    assert not registers.any() and len(chip.journal) == 0


def test_what_is_computed_from_registers_is_an_array_of_its_own() -> None:
    chip = Chip()
    chip.me[0].ctx[0].gpr_a[:3] = [1, 2, 3]
    entries = len(chip.journal)
    doubled, copied = chip.me[0].ctx[0].gpr_a * 2, chip.me[0].ctx[0].gpr_a.copy()
    doubled[0] = copied[0] = 9
    assert chip.me[0].ctx[0].gpr_a[:3].tolist() == [1, 2, 3]
    assert len(chip.journal) == entries
    part = chip.me[0].ctx[0].gpr_a[1:]
    part[1] = 30
    assert int(chip.me[0].ctx[0].gpr_a[2]) == 30
    assert chip.journal.entries[-1].operation == PATCH and chip.journal.entries[-1].words.tolist() == [30]
