"""Probes as a chip serves them: which packet a context works on, by key and without one."""

import pytest

from ixpemu import Chip, UserError, assemble

HOUSEKEEPING = """
.reg handle
    immed[handle, 7]
.probe work, handle
    nop
.probe housekeeping
    nop
    ctx_arb[kill]
"""


def test_a_probe_without_a_key_means_no_packet() -> None:
    chip = Chip()
    image = assemble(text=HOUSEKEEPING)
    assert [probe.key != "" for probe in image.probes] == [True, False]
    number = chip.originate(7, 60)
    chip.load(0, image)
    chip.start(0, 1)
    packets = []
    for _ in range(3):
        chip.step(0)
        packets.append(chip.me[0].ctx[0].packet)
    assert packets == [0, number, 0]
    chip.run(cycles=20)
    row = chip.state.packets[number]
    # One instruction was for the packet, and the time after the second probe was not.
    assert int(row["instructions"][0]) == 1
    assert (chip.probes.hits("work"), chip.probes.hits("housekeeping")) == (1, 1)


@pytest.mark.parametrize("first", ["load", "action"])
def test_a_probe_without_a_key_ends_no_packet(first: str) -> None:
    chip = Chip()
    image = assemble(text=HOUSEKEEPING)
    if first == "load":
        chip.load(0, image)
        with pytest.raises(UserError, match="'housekeeping' has no key"):
            chip.probes.action("housekeeping", "end")
    else:
        chip.probes.action("housekeeping", "drop")
        with pytest.raises(UserError, match="'housekeeping' has no key"):
            chip.load(0, image)
