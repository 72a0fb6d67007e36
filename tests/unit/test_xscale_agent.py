"""The XScale's clock against a chip that only writes down what is done to it and when."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest

from ixpemu.diagnostics import UserError
from ixpemu.xscale import XScale
from ixpemu.xscale.loader import store_halves

COSTS = {
    "xscale.entry_cycles": 150, "xscale.exit_cycles": 50, "xscale.handler_cycles": 500, "xscale.sram_cycles": 100,
    "xscale.dram_cycles": 60, "xscale.scratch_cycles": 80, "xscale.csr_cycles": 70,
}


class Space:
    """SRAM, MSF or CAP: words by address."""

    def __init__(self, chip: Recorder, name: str) -> None:
        self.chip, self.name, self.words = chip, name, {}

    def check(self, address: int, length: int) -> None:
        assert address >= 0 and length > 0

    def read(self, address: int, count: int = 1) -> Any:
        found = [self.words.get(address + 4 * index, 0) for index in range(count)]
        return found if self.name.startswith("sram") else found[0]

    def write(self, address: int, value: Any) -> None:
        for index, word in enumerate(value if isinstance(value, list) else [value]):
            self.words[address + 4 * index] = word
            self.chip.log.append((self.chip.cycle, self.name, address + 4 * index, word))

    __getitem__ = read
    __setitem__ = write


class Dram:
    def __init__(self, chip: Recorder) -> None:
        self.chip, self.octets = chip, bytearray(4096)

    def check(self, address: int, length: int) -> None:
        assert address >= 0 and address + length <= len(self.octets)

    def read_bytes(self, address: int, count: int) -> bytes:
        return bytes(self.octets[address : address + count])

    def write_bytes(self, address: int, octets: bytes) -> None:
        self.octets[address : address + len(octets)] = octets
        self.chip.log.append((self.chip.cycle, "dram", address, octets))


class Ring:
    def __init__(self, chip: Recorder, number: int) -> None:
        self.chip, self.number, self.row = chip, number, deque()

    used = property(lambda self: len(self.row))
    words = 8

    def put(self, word: int) -> None:
        self.row.append(word)
        self.chip.log.append((self.chip.cycle, "ring", self.number, word))

    def get(self) -> int:
        return self.row.popleft() if self.row else 0


class Recorder:
    """Stands for the chip: time, memories, and a log of every write with its cycle."""

    def __init__(self) -> None:
        self.cycle = 0
        self.log: list[tuple[int, str, int, Any]] = []
        self.parameters = COSTS
        self.sram = [Space(self, "sram0"), Space(self, "sram1")]
        self.dram = Dram(self)
        self.cap = Space(self, "cap")
        self.msf = self
        self.csr = Space(self, "msf")
        self.scratch = self
        self.rings = [Ring(self, number) for number in range(16)]
        self.started: list[int] = []

    def attach(self, agent: XScale) -> None:
        self.agent = agent

    def touched(self, unit: int, address: int, words: int, writes: bool, mask: int = 15) -> None:
        """Nobody observes."""

    def ring(self, number: int) -> Ring:
        return self.rings[number]

    def check(self, address: int, length: int) -> None:
        assert address >= 0 and length > 0

    def load(self, me: int, image: Any, start: bool) -> None:
        assert not start

    def start(self, me: int) -> None:
        self.started.append(me)

    def run(self, until: int) -> None:
        while self.agent.due() <= until:
            self.cycle = max(self.cycle, self.agent.due())
            self.agent.act(self.cycle)
        self.cycle = until


def pair(**handlers: Any) -> tuple[Recorder, XScale]:
    chip = Recorder()
    return chip, XScale(chip, handlers=handlers)  # type: ignore[arg-type]


def test_set_up_costs_nothing_and_is_done_at_once() -> None:
    chip, xscale = pair()
    xscale.ring_setup(5, 0x2000, 256, empty_flag=True)
    xscale.sram.write(0x4000_0010, [7, 8])
    xscale.load(3, None)  # type: ignore[arg-type]
    assert xscale.sram.read(0x4000_0010, 2) == [7, 8]
    xscale.start()
    assert chip.started == [3]
    assert chip.log == [
        (0, "cap", 0x4850, 0x4400_2000), (0, "cap", 0x4854, 0), (0, "cap", 0x4858, 0),
        (0, "sram1", 0x10, 7), (0, "sram1", 0x14, 8),
    ]
    with pytest.raises(UserError, match="scratch ring 1 cannot have 256 words"):
        xscale.ring_setup(1, 0x100, 256, empty_flag=False)


def test_ring_base_words_are_those_of_the_driver() -> None:
    chip, xscale = pair()
    for ring in range(4):
        xscale.ring_setup(ring, 0x400 * ring, 256, empty_flag=ring % 2 == 0)
    bases = [word for _, _, address, word in chip.log if address & 0xF == 0]
    assert bases == [0x4400_0000, 0x4000_0400, 0x4400_0800, 0x4000_0C00]


def test_a_handler_is_entered_after_the_entry_time_and_its_writes_come_one_by_one() -> None:
    def handler(xscale: XScale) -> None:
        word = xscale.ring_get(7)
        assert xscale.dram.read_bytes(0, 40) == bytes(40)
        xscale.dram.write_bytes(0, b"\1" * 33)
        assert xscale.dram.read_bytes(30, 5) == b"\1\1\1\0\0"
        xscale.sram.write(0x20, [word, word + 1])
        assert xscale.sram.read(0x1C, 3) == [0, word, word + 1]
        xscale.ring_put(4, word)

    chip, xscale = pair(thread_a=handler)
    xscale.start()
    chip.rings[7].put(9)
    del chip.log[:]
    chip.cycle = 1000
    xscale.interrupt(1000, "thread_a")
    assert xscale.due() == 1150 and xscale.busy()
    chip.run(1149)
    assert not chip.log
    chip.run(10_000)
    # 500 for the handler, 80 for the ring, 2 lines read, 2 written, 1 line (two: bytes 30 to 34) read, then SRAM.
    write = 1150 + 500 + 80 + 120 + 120
    sram = write + 120
    assert chip.log == [
        (write, "dram", 0, b"\1" * 33),
        (sram + 100, "sram0", 0x20, 9), (sram + 200, "sram0", 0x24, 10),
        (sram + 200 + 300 + 80, "ring", 4, 9),
    ]
    assert xscale.interrupts == 1 and not xscale.busy()


def test_interrupts_during_a_handler_are_one_and_wait_for_its_end() -> None:
    entered: list[int] = []

    def handler(xscale: XScale) -> None:
        entered.append(xscale.chip.cycle)
        xscale.spend(1000)

    chip, xscale = pair(thread_a=handler)
    xscale.start()
    for cycle in (100, 300, 400, 1000):
        chip.run(cycle)
        xscale.interrupt(cycle, "thread_a")
    chip.run(20_000)
    assert entered == [250, 250 + 500 + 1000 + 50]
    xscale.interrupt(20_000, "attention")               # nobody listens
    assert not xscale.busy()


def test_timers_go_off_in_order_and_after_what_was_queued_before() -> None:
    chip, xscale = pair()
    xscale.start()
    order: list[tuple[str, int]] = []
    chip.cycle = 50
    xscale.after(500, lambda: order.append(("late", chip.cycle)))
    xscale.sram.write(0, [1])
    xscale.after(300, lambda: order.append(("early", chip.cycle)))
    xscale.after(300, lambda: order.append(("early too", chip.cycle)))
    assert not chip.log and xscale.sram.read(0) == [1]
    chip.run(10_000)
    assert order == [("early", 450), ("early too", 450), ("late", 550)]
    assert chip.log == [(150, "sram0", 0, 1)]


def test_queued_words_count_towards_a_full_ring() -> None:
    chip, xscale = pair()
    xscale.start()
    for word in range(5):
        xscale.ring_put(2, word + 1)
    assert not xscale.ring_nearly_full(2)
    xscale.ring_put(2, 6)
    assert xscale.ring_nearly_full(2) and chip.rings[2].used == 0


def test_parity_of_a_stored_word() -> None:
    assert store_halves(0) == (0, 0)
    assert store_halves(1) == (1, 0x100)
    assert store_halves(1 << 20) == (1 << 20, 0x200)
    assert store_halves(0xFF_FFFF_FFFF) == (0xFFFF_FFFF, 0xFF)
    assert store_halves(0xF0000C0300) == (0xC0300, 0xF0)
