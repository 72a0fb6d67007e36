"""The XScale's side of the SRAM queue array: free lists and rings that it sets up and microengines use, and what it costs."""

from __future__ import annotations

import re

import pytest

from ixpemu import Chip, UserError
from ixpemu.xscale import XScale
from tests.support.machine import words_of

END = 1 << 31


def test_a_free_list_is_emptied_by_a_microengine_in_order() -> None:
    chip = Chip()
    xscale = XScale(chip)
    xscale.queues.free_list(1, 9, range(0x400, 0x480, 0x10))
    xscale.queues.ring_setup(0, 10, 0x8000, 1024)
    chip.load_words(0, words_of("turn#:\nsram[dequeue, $0, a0, 0], ctx_swap[s1]\nalu[--, $0, -, 0]\nbeq[end#]\n"
                                "alu[$1, --, B, $0]\nsram[put, $1, a1, 0, 1], ctx_swap[s2]\nbr[turn#]\n"
                                "end#:\nctx_arb[kill]"), start=False)
    chip.me[0].ctx[0].gpr_a[:2] = 1 << 30 | 9 << 24, 10 << 2
    chip.start(0, 1)
    chip.run(cycles=10_000)
    assert chip.sram[0].ring(10).contents() == [END | address for address in range(0x400, 0x480, 0x10)]
    assert [xscale.queues.ring_get(0, 10) for _ in range(9)] == [END | address for address in range(0x400, 0x480, 0x10)] + [0]
    assert chip.reserved == {}


def test_writes_come_when_their_time_has_come() -> None:
    """Before the start nothing takes time; then an enqueue costs an access and acts behind it, a dequeue at once."""
    chip = Chip()
    xscale = XScale(chip)
    xscale.queues.setup(0, 3)
    xscale.queues.enqueue(0, 3, 0x100)
    assert (chip.sram[0].queue(3).count, xscale.cycle) == (1, 0)
    xscale.start()
    cost = chip.parameters["xscale.sram_cycles"]
    xscale.queues.enqueue(0, 3, 0x110, cells=5, end=True)
    xscale.queues.ring_setup(0, 4, 0x1000, 512)
    xscale.queues.ring_put(0, 4, 77)
    assert xscale.cycle == 5 * cost                                # ring_setup is three accesses
    assert (chip.sram[0].queue(3).count, xscale.queues.dequeue(0, 3), xscale.queues.dequeue(0, 3)) == (1, END | 0x100, 0)
    chip.run(cycles=20 * cost)
    assert list(chip.sram[0].queue(3).links()) == [END | 5 << 24 | 0x110]
    assert chip.sram[0].ring(4).contents() == [77]
    assert xscale.queues.ring_get(0, 4) == 77


@pytest.mark.parametrize(("act", "message"), [
    (lambda queues: queues.setup(2, 0), "there is no SRAM channel 2"),
    (lambda queues: queues.setup(0, 64), "SRAM channel 0 has no queue array entry 64"),
    (lambda queues: queues.enqueue(0, 1, 0), "a buffer at word address 0x0 cannot be enqueued"),
    (lambda queues: queues.free_list(0, 1, [16, 1 << 24]), "a buffer at word address 0x1000000 cannot be enqueued"),
    (lambda queues: queues.ring_setup(0, 1, 0x200, 512), "ring 1 of SRAM channel 0 cannot have 512 words at 0x200"),
    (lambda queues: queues.ring_put(0, -1, 5), "SRAM channel 0 has no queue array entry -1"),
])
def test_what_cannot_be_is_told_at_once(act, message: str) -> None:  # type: ignore[no-untyped-def]
    chip = Chip()
    xscale = XScale(chip)
    xscale.start()
    before = chip.snapshot()
    with pytest.raises(UserError, match=re.escape(message)):
        act(xscale.queues)
    assert chip.snapshot() == before and not xscale.busy()
