"""The XScale's address space and interrupt controller, its timers, and the PCI unit: commands, registers, doorbells and DMA."""

import pytest

from ixpemu import Chip, UserError
from ixpemu.xscale import XScale
from tests.support.machine import chip_with, run_lines, words_of

CONTROLLER, TIMERS, PCI_CSR = 0xD6000000, 0xC0020000, 0xDF000000


# Addresses


def test_every_memory_and_register_is_where_the_driver_has_it() -> None:
    chip = Chip()
    chip.dram.write(0x100, 1)
    chip.sram[0].write(0x200, 2)
    chip.sram[1].write(0x300, 3)
    chip.scratch.write(0x40, 4)
    bus = chip.xscale
    assert [bus.read(address) for address in (0x100, 0x80000200, 0x90000300, 0xCA000040)] == [1, 2, 3, 4]
    assert bus.read(0xC0004A00) == 0x210
    bus.write(0xC0004A14, 77)
    assert chip.cap.read("CCR") == 77
    bus.write(0xC8000000, 0)
    bus.write(0x80000204, 9)
    assert int(chip.sram[0].read(0x204)[0]) == 9
    for me, address in ((0, 0xC0018000), (3, 0xC0018C00), (4, 0xC001C000), (7, 0xC001CC00)):
        bus.write(address + 0x20, me % 8)
        assert chip.me[me].csr["CSR_CTX_POINTER"] == me % 8
    chip.scratch.ring(2).setup(0x1000, 128)
    bus.write(0xCB400008, 55)
    assert bus.read(0xCB400008) == 55 and bus.read(0xCB400008) == 0
    bus.write(0xE0000010, 0x1234)
    assert int(chip.pci.host.read(0x10)[0]) == 0x1234


@pytest.mark.parametrize(("address", "text"), [
    (0x0FFFFFFC, "nearest is DRAM"), (0xC0000000, "CSR access proxy"), (0x80000001, "middle of a word"), (-4, "physical address"),
    (0xFFFFFFFFF, "physical address")])
def test_what_is_nowhere_is_refused_with_what_is_near(address: int, text: str) -> None:
    with pytest.raises(UserError) as caught:
        Chip().xscale.read(address)
    assert text in str(caught.value)


def test_what_goes_over_the_bus_is_in_the_journal() -> None:
    chip = Chip()
    chip.xscale.write(TIMERS + 0x10, 5)
    chip.xscale.write(TIMERS, 0x80)
    chip.run(cycles=100)
    chip.xscale.interrupts["THREAD_ENABLE_CLEAR_A0"] = 3
    chip.pci.host.write(0, [1, 2])
    chip.run(cycles=200)
    other = Chip()
    other.replay(chip.journal, chip.cycle)
    assert other.snapshot() == chip.snapshot()


# Interrupts


def raising(me: int, name: str, contexts: int = 1) -> Chip:
    return chip_with(f"cap[fast_wr, 0, XSCALE_INT_{name}]\nctx_arb[kill]", me=me, contexts=contexts)


@pytest.mark.parametrize(("me", "group", "name"), [(0, 0, "A"), (3, 0, "A"), (4, 2, "A"), (7, 2, "B")])
def test_threads_have_their_groups(me: int, group: int, name: str) -> None:
    """Microengines 0 to 3 in the first group of A and B, 4 to 7 in the third."""
    chip = raising(me, name, 1 << 5)
    chip.run(cycles=200)
    controller = chip.xscale.interrupts
    bit = 1 << (me % 4 * 8 + 5)
    number = (16 if name == "A" else 24) + group
    assert controller[f"THREAD_RAW_{name}{group}"] == bit == controller[f"THREAD_STATUS_{name}{group}"]
    assert controller["RAW_STATUS"] == 1 << number == controller["STATUS"]
    assert controller.pending == [f"thread_{name.lower()}"]
    controller[f"THREAD_ENABLE_CLEAR_{name}{group}"] = bit
    assert controller[f"THREAD_STATUS_{name}{group}"] == 0 == controller["RAW_STATUS"]
    assert controller[f"THREAD_RAW_{name}{group}"] == bit
    controller[f"THREAD_ENABLE_SET_{name}{group}"] = bit
    assert controller["STATUS"] == 1 << number
    controller[f"THREAD_RAW_{name}{group}"] = bit
    assert controller["RAW_STATUS"] == 0 and controller.pending == []


def test_a_masked_interrupt_waits_for_its_handler_until_it_is_let_through() -> None:
    chip = raising(2, "A")
    seen: list[int] = []
    xscale = XScale(chip, handlers={"thread_a": lambda xscale: seen.append(xscale.cycle)})
    xscale.start()
    chip.xscale.interrupts.mask("thread_a")
    chip.run(cycles=2000)
    assert seen == [] and chip.xscale.interrupts.pending == ["thread_a"]
    chip.xscale.interrupts.unmask("thread_a")
    chip.run(cycles=2000)
    assert len(seen) == 1 and seen[0] > 2000


def test_one_thread_may_be_masked_and_another_not() -> None:
    chip = raising(0, "A", 0b11)
    seen: list[int] = []
    XScale(chip, handlers={"thread_a": lambda xscale: seen.append(1)}).start()
    chip.xscale.interrupts["THREAD_ENABLE_CLEAR_A0"] = 0b11
    chip.run(cycles=1000)
    assert seen == []
    chip.xscale.interrupts["THREAD_ENABLE_SET_A0"] = 0b10
    chip.run(cycles=1000)
    assert seen == [1]


def test_attention_is_there_as_long_as_a_breakpoint_is() -> None:
    chip = chip_with("halt", me=6, contexts=1)
    chip.run(cycles=100)
    assert chip.xscale.interrupts["STATUS"] == 1 << 14
    chip.xscale.interrupts["RAW_STATUS"] = 1 << 14
    assert chip.xscale.interrupts["STATUS"] == 1 << 14, "its cause is still there"
    chip.me[6].csr["CTX_ENABLES"] = 1 << 27
    assert chip.xscale.interrupts["STATUS"] == 0


def test_a_soft_interrupt_reaches_its_handler() -> None:
    chip = Chip()
    seen: list[int] = []
    XScale(chip, handlers={"soft": lambda xscale: seen.append(1)}).start()
    chip.run(cycles=10)
    chip.xscale.interrupts["SOFT"] = 1
    chip.run(cycles=1000)
    assert seen == [1] and chip.xscale.interrupts.pending == ["soft"]
    chip.xscale.interrupts["RAW_STATUS"] = 1
    assert chip.xscale.interrupts.pending == []


@pytest.mark.parametrize("what", [lambda chip: chip.xscale.interrupts["ENABLE"],
                                  lambda chip: chip.xscale.interrupts.mask("thread_c"), lambda chip: chip.pci.csr["MAILBOX_9"],
                                  lambda chip: chip.pci.configuration["BAR"],
                                  lambda chip: chip.pci.csr[0x400], lambda chip: chip.pci.read(0x1000)])
def test_wrong_names_are_told_with_the_right_ones(what: object) -> None:
    with pytest.raises(UserError) as caught:
        what(Chip())  # type: ignore[operator]
    assert caught.value.diagnostics[0].help if hasattr(caught.value, "diagnostics") else "help" in str(caught.value)


def test_a_control_program_uses_the_bus_and_pays_for_it() -> None:
    chip = Chip()
    xscale = XScale(chip)
    xscale.start()
    xscale.bus.write(0x80000040, 9)
    xscale.bus.write(0xC0018020, 5)
    assert xscale.bus.read(0x80000040) == 9, "what is queued is seen"
    assert int(chip.sram[0].read(0x40)[0]) == 0
    assert xscale.cycle == 3 * chip.parameters["xscale.csr_cycles"]
    chip.run(cycles=1000)
    assert int(chip.sram[0].read(0x40)[0]) == 9 and chip.me[0].csr["CSR_CTX_POINTER"] == 5
    with pytest.raises(UserError):
        xscale.bus.write(0xC0000000, 1)


# Timers


@pytest.mark.parametrize(("control", "cycles"), [(0x80, 12), (0x88, 12 * 256)])
def test_a_timer_interrupts_again_and_again(control: int, cycles: int) -> None:
    chip = Chip()
    seen: list[int] = []

    def tick(xscale: XScale) -> None:
        seen.append(chip.cycle)
        chip.xscale.write(TIMERS + 0x34, 1)

    XScale(chip, handlers={"timer2": tick}).start()
    chip.xscale.write(TIMERS + 0x14, 100)
    chip.xscale.write(TIMERS + 0x04, control)
    chip.run(cycles=100 * cycles * 3 + 1000)
    assert [cycle - 150 for cycle in seen[:3]] == [100 * cycles, 200 * cycles, 300 * cycles]
    assert chip.xscale.interrupts["RAW_STATUS"] >> 5 & 1 == 0


def test_a_timer_shows_what_is_left_and_keeps_it_while_it_stands() -> None:
    chip = Chip()
    chip.xscale.write(TIMERS + 0x10, 1000)
    chip.xscale.write(TIMERS, 0x80)
    chip.run(cycles=12 * 400)
    assert chip.xscale.read(TIMERS + 0x20) == 600
    chip.xscale.write(TIMERS, 0)
    chip.run(cycles=12 * 400)
    assert chip.xscale.read(TIMERS + 0x20) == 600
    chip.xscale.write(TIMERS, 0x80)
    chip.run(cycles=12 * 100)
    assert chip.xscale.read(TIMERS + 0x20) == 500 and chip.xscale.read(TIMERS + 0x10) == 1000


# PCI


def test_microengines_read_and_write_the_hosts_memory() -> None:
    chip = chip_with("immed[a0, 0]\nimmed_w1[a0, 0xe000]\npci[read, $0, a0, 0x10, 3], ctx_swap[s1]\nalu[a1, --, B, $2]\n"
                     "alu[$1, a1, +, $1]\n"
                     "pci[write, $1, a0, 0x20, 1], ctx_swap[s1]\nctx_arb[kill]", contexts=1)
    chip.pci.host.write(0x10, [5, 6, 7])
    chip.run(cycles=2000)
    assert chip.me[0].ctx[0].sram_in[:3].tolist() == [5, 6, 7]
    assert int(chip.pci.host.read(0x20)[0]) == 13
    assert chip.reserved == {}


def test_they_reach_its_registers_and_the_window_moves_with_its_extension() -> None:
    chip = chip_with("immed[a0, 0x50]\nimmed_w1[a0, 0xdf00]\nimmed[$0, 99]\npci[write, $0, a0, 0, 1], ctx_swap[s1]\n"
                     "pci[read, $4, a0, 0, 1], ctx_swap[s1]\nctx_arb[kill]", contexts=1)
    chip.run(cycles=2000)
    assert chip.pci.csr["MAILBOX_0"] == 99 == int(chip.me[0].ctx[0].sram_in[4])
    chip.pci.csr["ADDR_EXT"] = 0xE000
    assert chip.xscale.read(0xE0000000) == 0xFFFFFFFF, "nobody is at e0000000 on the bus"
    assert chip.reserved != {}


def test_doorbells_ring_on_the_other_side_and_are_silenced_on_their_own() -> None:
    chip = Chip()
    seen: list[int] = []

    def rung(xscale: XScale) -> None:
        seen.append(chip.pci.csr["XSCALE_DOORBELL"])
        chip.pci.csr["XSCALE_DOORBELL"] = 0xFFFFFFFF

    XScale(chip, handlers={"doorbell": rung}).start()
    chip.run(cycles=10)
    chip.pci.host_csr["XSCALE_DOORBELL"] = 0x11
    chip.run(cycles=1000)
    assert seen == [0x11] and chip.xscale.interrupts.pending == []
    chip.pci.csr["PCI_DOORBELL"] = 4
    assert chip.pci.interrupt
    chip.pci.csr["OUT_INT_MASK"] = 4
    assert not chip.pci.interrupt
    chip.pci.csr["OUT_INT_MASK"] = 0
    chip.pci.host_csr["PCI_DOORBELL"] = 4
    assert not chip.pci.interrupt


def test_a_host_reaches_the_chips_memories_through_its_base_address_registers() -> None:
    chip = Chip()
    chip.pci.configuration["SRAM_BAR"], chip.pci.csr["SRAM_BAR_MASK"] = 0x40000000, 0x7FFFFF
    chip.pci.configuration["DRAM_BAR"], chip.pci.csr["DRAM_BAR_MASK"] = 0x50000000, 0x7FFFFFF
    chip.pci.configuration["CSR_BAR"] = 0x60000000
    chip.pci.write(0x40000010, 1)
    chip.pci.write(0x40400010, 2)
    chip.pci.write(0x50000010, 3)
    chip.pci.write(0x60000054, 4)
    assert [int(unit.read(0x10)[0]) for unit in (chip.sram[0], chip.sram[1], chip.dram)] == [1, 2, 3]
    assert chip.pci.csr["MAILBOX_1"] == 4
    assert [chip.pci.read(address) for address in (0x40000010, 0x40400010, 0x50000010, 0x60000054)] == [1, 2, 3, 4]


def test_identity_cannot_be_written() -> None:
    chip = Chip()
    before = chip.pci.configuration["VENDOR_DEVICE"]
    chip.pci.configuration["VENDOR_DEVICE"] = 0
    assert chip.pci.configuration["VENDOR_DEVICE"] == before


@pytest.mark.parametrize("to_bus", [True, False])
@pytest.mark.parametrize("channel", [1, 2, 3])
def test_a_channel_moves_bytes_either_way(channel: int, to_bus: bool) -> None:
    chip = Chip()
    words = [0x100 + k for k in range(9)]
    source, target = (chip.dram, chip.pci.host) if to_bus else (chip.pci.host, chip.dram)
    source.write(0x200, words)
    csr = chip.pci.csr
    csr[f"DMA_BYTE_CNT_{channel}"] = 1 << 31 | (1 << 30 if to_bus else 0) | 36
    csr[f"DMA_DRAM_ADDR_{channel}"], csr[f"DMA_PCI_ADDR_{channel}"] = (0x200, 0x400) if to_bus else (0x400, 0x200)
    csr[f"DMA_CONTROL_{channel}"] = 0x11
    cycles = chip.parameters["pci.dma_start_cycles"] + 9 * chip.parameters["pci.dma_word_cycles"]
    chip.run(cycles=cycles)
    assert csr[f"DMA_CONTROL_{channel}"] & 0x8D == 1 and not target.read(0x400, 9).any()
    chip.run(cycles=1)
    assert csr[f"DMA_CONTROL_{channel}"] & 0x8D == 0x84
    assert target.read(0x400, 10).tolist() == [*words, 0]
    assert chip.xscale.interrupts.pending == [f"dma{channel}"]
    csr[f"DMA_CONTROL_{channel}"] = 0x84
    assert chip.xscale.interrupts.pending == [] and csr[f"DMA_CONTROL_{channel}"] == 0


def test_a_chain_of_descriptors_and_its_signal_to_a_thread() -> None:
    """Three pieces into one place; thread 2 of microengine 5 sleeps until all have come."""
    chip = chip_with("ctx_arb[s7]\nalu[a0, --, B, 1]\nhalt", me=5, contexts=1 << 2)
    for k in range(3):
        chip.pci.host.write(0x1000 * (k + 1), [10 * k + j for j in range(4)])
        last = k == 2
        chip.dram.write(0x100 + 16 * k, [(1 << 31 if last else 0) | 16, 0x1000 * (k + 1), 0x800 + 16 * k, 0x110 + 16 * k])
    csr = chip.pci.csr
    csr["DMA_DESC_PTR_2"], csr["DMA_ME_PARAM_2"], csr["ME_PUSH_ENABLE"] = 0x100, 5 << 7 | 2 << 4 | 7, 0b010
    csr["DMA_CONTROL_2"] = 1
    stop = chip.run(cycles=20_000)
    assert (stop.reason, stop.me, stop.ctx) == ("halt", 5, 2)
    assert chip.dram.read(0x800, 12).tolist() == [10 * k + j for k in range(3) for j in range(4)]
    assert csr["ME_PUSH_STATUS"] == 0b010
    csr["ME_PUSH_STATUS"] = 0b010
    assert csr["ME_PUSH_STATUS"] == 0


@pytest.mark.parametrize("where", ["bus", "dram", "descriptor"])
def test_a_channel_that_leaves_its_memory_says_so(where: str) -> None:
    chip = Chip()
    csr = chip.pci.csr
    csr["DMA_BYTE_CNT_1"] = 1 << 31 | 64
    csr["DMA_PCI_ADDR_1"] = 0xFFFFFF00 if where == "bus" else 0
    csr["DMA_DRAM_ADDR_1"] = 0xFFFFFF00 if where == "dram" else 0
    csr["DMA_DESC_PTR_1"] = 0xFFFFFFF0
    csr["DMA_CONTROL_1"] = 1 if where == "descriptor" else 0x11
    chip.run(cycles=1000)
    assert csr["DMA_CONTROL_1"] & 0x8D == 8
    assert chip.xscale.interrupts.pending == ["dma1"]


def test_the_latency_of_a_command_alone_is_the_sum_of_its_figures() -> None:
    names = ("command.path_cycles", "pci.read_cycles", "push.s_cycles", "push.s_word_cycles")
    chip = run_lines(["local_csr_rd[PROFILE_COUNT]", "immed[a1, 0]", "immed[a0, 0]", "immed_w1[a0, 0xe000]",
                      "pci[read, $0, a0, 0, 1], ctx_swap[s1]", "local_csr_rd[PROFILE_COUNT]", "immed[a2, 0]"])
    begin, end = chip.me[0].ctx[0].gpr_a[1:3].tolist()
    assert end - begin == 4 + 1 + sum(chip.parameters[name] for name in names) + chip.parameters["me.wake_cycles"]


def test_an_odd_word_count_and_other_contexts_share_the_unit() -> None:
    chip = Chip()
    chip.load_words(1, words_of("immed[b0, 0x100]\nimmed_w1[b0, 0xe000]\nimmed[$0, 1]\nimmed[$1, 2]\nimmed[$2, 3]\n"
                                "alu_shf[a1, --, B, a2, <<4]\npci[write, $0, a1, b0, 3], ctx_swap[s1]\nctx_arb[kill]"),
                    start=False)
    for k in range(8):
        chip.me[1].ctx[k].gpr_a[2] = k
    chip.start(1)
    chip.run(cycles=5000)
    assert chip.pci.host.read(0x100, 32).tolist() == [1, 2, 3, 0] * 8
