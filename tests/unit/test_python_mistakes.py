"""Wrong types and values given to the Python interface: each is a UserError at once, with advice, and has done no harm."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ixpemu import App, Chip, Image, UserError, assemble, disassemble

Any_ = Any      # what follows is wrong on purpose, in ways that no type checker lets through


@pytest.fixture(scope="module")
def chip() -> Any:
    made = Chip()
    made.load(0, assemble(text="loop#:\nnop\nbr[loop#]\n"))
    return made


class Strange:
    """Nothing that anybody expects."""

    def __repr__(self) -> str:
        return "<strange " + "x" * 500 + ">"


ON_A_CHIP: dict[str, Callable[[Any], object]] = {
    "sram[2]": lambda c: c.sram[2],
    "sram[-1]": lambda c: c.sram[-1],
    "sram['a']": lambda c: c.sram["a"],
    "me[8]": lambda c: c.me[8],
    "me[0:2]": lambda c: c.me[0:2],
    "me[None]": lambda c: c.me[None],
    "ctx[8]": lambda c: c.me[0].ctx[8],
    "ports[3]": lambda c: c.ports[3],
    "ports['0']": lambda c: c.ports["0"],
    "load a path": lambda c: c.load(0, "program.uc"),
    "load into 'a'": lambda c: c.load("a", assemble(text="nop\n")),
    "load into 9": lambda c: c.load(9, assemble(text="nop\n")),
    "load_words of text": lambda c: c.load_words(0, "f0000c0300"),
    "load_words of a number": lambda c: c.load_words(0, 5),
    "load_words of fractions": lambda c: c.load_words(0, [1.5]),
    "load_words too large": lambda c: c.load_words(0, [1 << 40]),
    "load_words negative": lambda c: c.load_words(0, [-1]),
    "load_words contexts": lambda c: c.load_words(0, [1], contexts=5),
    "load_words too many": lambda c: c.load_words(0, [0] * 4097),
    "start of 'a'": lambda c: c.start("a"),
    "start of context 8": lambda c: c.start(0, 0x100),
    "start of text": lambda c: c.start(0, "all"),
    "start of a negative": lambda c: c.start(0, -1),
    "break_at 4096": lambda c: c.break_at(0, 4096),
    "break_at a label": lambda c: c.break_at(0, "loop#"),
    "break_at me": lambda c: c.break_at(8, 0),
    "clear_break": lambda c: c.clear_break(8, 0),
    "attach": lambda c: c.attach(Strange()),
    "originate": lambda c: c.originate("a", 60),
    "originate length": lambda c: c.originate(1, -60),
    "run 1.5": lambda c: c.run(cycles=1.5),
    "run True": lambda c: c.run(cycles=True),
    "run '5'": lambda c: c.run(packets="5"),
    "run until 5": lambda c: c.run(until=5),
    "step 8": lambda c: c.step(8),
    "step 'a'": lambda c: c.step("a"),
    "restore 1": lambda c: c.restore(1),
    "restore None": lambda c: c.restore(None),
    "replay 5": lambda c: c.replay(5, 10),
    "replay [5]": lambda c: c.replay([5], 10),
    "replay to -1": lambda c: c.replay([], -1),
    "replay to '1'": lambda c: c.replay([], "1"),
    "read 'a'": lambda c: c.sram[0].read("a"),
    "read 0.5": lambda c: c.sram[0].read(0.5),
    "read beyond": lambda c: c.sram[0].read(1 << 40),
    "read -4": lambda c: c.sram[0].read(-4),
    "read -1 words": lambda c: c.sram[0].read(0, -1),
    "read 'a' words": lambda c: c.sram[0].read(0, "a"),
    "write text": lambda c: c.sram[0].write(0, "abc"),
    "write bytes as words": lambda c: c.sram[0].write(0, b"abcd"),
    "write a fraction": lambda c: c.sram[0].write(0, 1.5),
    "write fractions": lambda c: c.sram[0].write(0, [1.5]),
    "write None": lambda c: c.sram[0].write(0, None),
    "write beyond": lambda c: c.sram[0].write(c.sram[0].length - 4, [1, 2]),
    "write at 'a'": lambda c: c.sram[0].write("a", 1),
    "set an item": lambda c: c.sram[0].__setitem__("a", 1),
    "item 'a'": lambda c: c.sram[0]["a"],
    "write_bytes of text": lambda c: c.dram.write_bytes(0, "abc"),
    "write_bytes of numbers": lambda c: c.dram.write_bytes(0, [1, 2]),
    "write_bytes beyond": lambda c: c.dram.write_bytes(c.dram.length, b"x"),
    "read_bytes -1": lambda c: c.dram.read_bytes(0, -1),
    "read_bytes 'a'": lambda c: c.dram.read_bytes(0, "a"),
    "ring 16": lambda c: c.scratch.ring(16),
    "ring 'a'": lambda c: c.scratch.ring("a"),
    "put on an unset ring": lambda c: c.scratch.ring(5).put(1),
    "get from an unset ring": lambda c: c.scratch.ring(5).get(),
    "ring of 100 words": lambda c: c.scratch.ring(1).setup(0, 100),
    "ring at 'a'": lambda c: c.scratch.ring(1).setup("a", 128),
    "ring of 'a' words": lambda c: c.scratch.ring(1).setup(0, "a"),
    "msf csr name": lambda c: c.msf.csr["RX_CONTORL"],
    "msf csr address": lambda c: c.msf.csr[0x10000],
    "msf csr None": lambda c: c.msf.csr[None],
    "msf csr fraction": lambda c: c.msf.csr[0.5],
    "msf csr value": lambda c: c.msf.csr.__setitem__("RX_CONTROL", "a"),
    "msf csr deleted": lambda c: c.msf.csr.__delitem__("RX_CONTROL"),
    "msf read": lambda c: c.msf.read("a"),
    "msf write": lambda c: c.msf.write(0, 1.5),
    "msf fast_write": lambda c: c.msf.fast_write(0, None),
    "cap read": lambda c: c.cap.read(0),
    "cap write": lambda c: c.cap.write(0x4800, "1"),
    "local csr": lambda c: c.me[0].csr["CTX_ENABLE"],
    "local csr value": lambda c: c.me[0].csr.__setitem__("CTX_ENABLES", [1]),
    "multiplier 50": lambda c: c.hash.multiplier[50],
    "multiplier list": lambda c: c.hash.multiplier[[48]],
    "multiplier value": lambda c: c.hash.multiplier.__setitem__(48, "x"),
    "multiplier too large": lambda c: c.hash.multiplier.__setitem__(48, 1 << 48),
    "multiplier deleted": lambda c: c.hash.multiplier.__delitem__(48),
    "pc": lambda c: setattr(c.me[0].ctx[0], "pc", "loop#"),
    "pc beyond": lambda c: setattr(c.me[0].ctx[0], "pc", 4096),
    "signal 16": lambda c: c.me[0].ctx[0].signal(16),
    "signal 'a'": lambda c: c.me[0].ctx[0].signal("a"),
    "feed 5": lambda c: c.ports[0].feed(5),
    "feed None": lambda c: c.ports[0].feed(None),
    "feed bytes": lambda c: c.ports[0].feed(b"\0" * 60),
    "feed numbers": lambda c: c.ports[0].feed([1, 2]),
    "feed a missing file": lambda c: c.ports[0].feed("nowhere.pcap"),
    "feed rate text": lambda c: c.ports[0].feed([bytes(60)], gbps="1"),
    "feed rate 0": lambda c: c.ports[0].feed([bytes(60)], gbps=0),
    "feed rate nan": lambda c: c.ports[0].feed([bytes(60)], gbps=float("nan")),
    "feed rate too high": lambda c: c.ports[0].feed([bytes(60)], gbps=10),
    "capture 5": lambda c: c.ports[0].capture(5),
    "capture nowhere": lambda c: c.ports[0].capture("/nowhere/at/all.pcap"),
    "capture a folder": lambda c: c.ports[0].capture("/"),
    "capture below a file": lambda c: c.ports[0].capture(f"{__file__}/x.pcap"),
    "capture NUL": lambda c: c.ports[0].capture("a\0b"),
    "probe me": lambda c: c.probes.attach(8, 0, "a0", "p"),
    "probe address": lambda c: c.probes.attach(0, -1, "a0", "p"),
    "probe label": lambda c: c.probes.attach(0, "loop#", "a0", "p"),
    "probe key": lambda c: c.probes.attach(0, 0, "q0", "p"),
    "probe key number": lambda c: c.probes.attach(0, 0, "a16", "p"),
    "probe absolute key": lambda c: c.probes.attach(0, 0, "@a128", "p"),
    "probe transfer key": lambda c: c.probes.attach(0, 0, "$16", "p"),
    "probe key None": lambda c: c.probes.attach(0, 0, None, "p"),
    "probe name": lambda c: c.probes.attach(0, 0, "a0", 5),
    "probe action": lambda c: c.probes.action("p", "finish"),
    "probe action list": lambda c: c.probes.action("p", ["end"]),
    "observe 5": lambda c: c.observe(5),
    "observe kind": lambda c: c.observe(print, "nothing"),
    "observe kinds": lambda c: c.observe(print, 5),
    "queue 'a'": lambda c: c.sram[0].queue("a"),
    "queue 64": lambda c: c.sram[0].queue(64),
    "faults": lambda c: c.ports[0].feed([bytes(60)], faults=[1]),
    "faults name": lambda c: c.ports[0].feed([bytes(60)], faults={0: "x"}),
    "probe hits": lambda c: c.probes.hits("nobody"),
}

BESIDES: dict[str, Callable[[], object]] = {
    "chip mode": lambda: Chip(mode="slow"),
    "chip mode list": lambda: Chip(mode=["fast"]),      # type: ignore[arg-type]
    "chip parameters": lambda: Chip("enp2611"),         # type: ignore[arg-type]
    "chip parameters dict": lambda: Chip({"sram.read_cycles": 90}),     # type: ignore[arg-type]
    "chip allow 5": lambda: Chip(allow=5),               # type: ignore[arg-type]
    "chip allow": lambda: Chip(allow="IXP9999"),
    "chip file": lambda: Chip.from_toml("nowhere.toml"),
    "chip file number": lambda: Chip.from_toml(5),      # type: ignore[arg-type]
    "assemble nothing": lambda: assemble(),
    "assemble 5": lambda: assemble(5),                  # type: ignore[arg-type]
    "assemble bytes": lambda: assemble(text=b"nop"),    # type: ignore[arg-type]
    "assemble a folder": lambda: assemble("/"),
    "assemble include": lambda: assemble(text="nop\n", include=5),      # type: ignore[arg-type]
    "assemble includes": lambda: assemble(text="nop\n", include=[5]),   # type: ignore[list-item]
    "assemble define list": lambda: assemble(text="nop\n", define=["A"]),       # type: ignore[arg-type]
    "assemble define name": lambda: assemble(text="nop\n", define={"a b": 1}),
    "assemble define number": lambda: assemble(text="nop\n", define={5: 1}),    # type: ignore[dict-item]
    "assemble define float": lambda: assemble(text="nop\n", define={"A": 1.5}),     # type: ignore[dict-item]
    "assemble define lines": lambda: assemble(text="nop\n", define={"A": "1\nnop"}),
    "assemble define twice": lambda: assemble(text="nop\n", define={"A": 1, "a": 2}),
    "disassemble 5": lambda: disassemble(5),            # type: ignore[arg-type]
    "disassemble text": lambda: disassemble("f0000c0300"),      # type: ignore[arg-type]
    "disassemble fractions": lambda: disassemble([1.5]),        # type: ignore[list-item]
    "disassemble too large": lambda: disassemble([1 << 40]),
    "disassemble contexts": lambda: disassemble([1], contexts=5),
    "image of text": lambda: Image.from_words("abc"),   # type: ignore[arg-type]
    "image of what is no word": lambda: Image.from_words([-1]),
    "image contexts": lambda: Image.from_words([1], contexts=True),
    "image load": lambda: Image.load(5),                # type: ignore[arg-type]
    "image load missing": lambda: Image.load("nowhere.ixp"),
    "image load format": lambda: Image.load(__file__, "elf"),
    "image load contexts": lambda: Image.load(__file__, "words", contexts=3),
    "image save": lambda: Image.from_words([1]).save(5),        # type: ignore[arg-type]
    "image save format": lambda: Image.from_words([1]).save("x", "elf"),
    "image save format list": lambda: Image.from_words([1]).save("x", ["ixp"]),     # type: ignore[arg-type]
    "image save nowhere": lambda: Image.from_words([1]).save("/nowhere/at/all.ixp"),
    "image bytes": lambda: Image.from_bytes("ixp 1"),   # type: ignore[arg-type]
    "app 5": lambda: App.load(5),                       # type: ignore[arg-type]
    "app missing": lambda: App.load("nowhere"),
    "app feeds": lambda: App.load("echo", feeds=["x.pcap"]),    # type: ignore[arg-type]
    "app feeds port": lambda: App.load("echo", feeds={"0": Path("x.pcap")}),    # type: ignore[dict-item]
    "app feeds port 7": lambda: App.load("echo", feeds={7: Path(__file__)}),
    "app feeds path": lambda: App.load("echo", feeds={0: 5}),   # type: ignore[dict-item]
    "app captures": lambda: App.load("echo", captures={0: 5}),  # type: ignore[dict-item]
    "app captures nowhere": lambda: App.load("echo", captures={0: Path("/nowhere/at/all.pcap")}),
    "app captures port 7": lambda: App.load("echo", captures={7: Path("x.pcap")}),
    "app traffic": lambda: App.load("echo", traffic=5),         # type: ignore[arg-type]
    "app traffic name": lambda: App.load("echo", traffic="65B"),
    "app rate": lambda: App.load("echo", traffic="64B", gbps="x"),      # type: ignore[arg-type]
    "app rate 0": lambda: App.load("echo", traffic="64B", gbps=0),
    "app overrides": lambda: App.load("echo", overrides=["a=1"]),       # type: ignore[arg-type]
    "app overrides name": lambda: App.load("echo", overrides={"sram.reed_cycles": "1"}),
    "app overrides number": lambda: App.load("echo", overrides={5: "1"}),       # type: ignore[dict-item]
    "app overrides value": lambda: App.load("echo", overrides={"sram.read_cycles": [1]}),       # type: ignore[dict-item]
    "app allow": lambda: App.load("echo", allow=5),      # type: ignore[arg-type]
    "app mode": lambda: App.load("echo", mode="slow"),
}


def refused(call: Callable[[], object]) -> None:
    with pytest.raises(UserError) as caught:
        call()
    for found in caught.value.diagnostics:
        assert found.message and found.help, f"no advice: {found.message}"
        assert not re.search(r"Error\b|Traceback|object at 0x", found.message), found.message
        assert len(found.message) < 250


@pytest.mark.parametrize("name", ON_A_CHIP)
def test_a_mistake_on_a_chip_is_told_at_once(name: str, chip: Any) -> None:
    refused(lambda: ON_A_CHIP[name](chip))


@pytest.mark.parametrize("name", BESIDES)
def test_a_mistake_beside_the_chip_is_told_at_once(name: str) -> None:
    refused(BESIDES[name])


def test_nothing_of_all_this_has_changed_the_chip(chip: Any) -> None:
    for call in ON_A_CHIP.values():
        with pytest.raises(UserError):
            call(chip)
    fresh = Chip()
    fresh.load(0, assemble(text="loop#:\nnop\nbr[loop#]\n"))
    assert chip.snapshot() == fresh.snapshot()
    assert len(chip.journal) == len(fresh.journal)


@pytest.mark.parametrize("call", [
    lambda app: app.run(packets="5"), lambda app: app.run(packets=1.5), lambda app: app.run(cycles=-1),
    lambda app: app.run(time="1ms"), lambda app: app.run(time=float("inf")), lambda app: app.run(time=True),
    lambda app: app.run(progress=5), lambda app: app.run(cycles=[1]), lambda app: app.advance("x"), lambda app: app.advance(-1),
])
def test_a_mistake_on_an_application_is_told_at_once(call: Callable[[Any], object], monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    app = App.load("echo")
    refused(lambda: call(app))
    assert app.chip.cycle == 0


def test_what_numpy_counts_in_is_as_good_as_any_number(chip: Any) -> None:
    one = np.uint32(1)
    chip.sram[one].write(np.int64(0x200), np.uint32(7))
    assert chip.sram[1][0x200] == 7
    chip.sram[1].write(0x200, np.arange(3, dtype=np.uint64))
    assert chip.sram[1].read(np.uint16(0x200), np.int16(1)).tolist() == [0]
    assert chip.me[one].number == 1
    assert assemble(text="nop\n", include="microcode/lib", define={"A": 1}) == assemble(text="nop\n")
