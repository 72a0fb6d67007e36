"""indirect_ref: every override, alone and with the others, against a plain machine that reads the word's fields itself."""

import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ixpemu import Chip
from ixpemu.engine.jit import COMPILED
from tests.support.machine import chip_with, words_of

SPAN = 256                  # bytes of each memory that commands may touch
AT = 0x40                   # where in it the command begins
FILES = ("sram_in", "sram_out", "dram_in", "dram_out")
EXAMPLES = 200 if COMPILED else 10


def override(
    *, count: int | None = None, mask: int | None = None, register: int | None = None, context: int | None = None,
    engine: int | None = None, buffer: int | None = None,
) -> int:
    """The word for these overrides, as the manual's table has it."""
    word = 0
    if count is not None:
        word |= 1 << 25 | (count - 1) << 21
    if mask is not None:
        word |= 1 << 20 | mask << 12
    if register is not None:
        word |= 1 << 11 | register << 4
    if context is not None:
        word |= 1 << 3 | context
    if engine is not None:
        word |= 1 << 31 | engine << 26
    if buffer is not None:
        word |= 1 << 4 | buffer << 5
    return word


class Machine:
    """Transfer registers and signals of eight microengines and the memories, as dictionaries and lists."""

    def __init__(self, chip: Chip, seed: int) -> None:
        pick = random.Random(seed)
        self.files = {(me.number, name): [pick.getrandbits(32) for _ in range(128)] for me in chip.me for name in FILES}
        self.signals: dict[tuple[int, int], set[int]] = {(me, ctx): set() for me in range(8) for ctx in range(8)}
        self.memory = {unit: [pick.getrandbits(32) for _ in range(SPAN // 4)] for unit in ("sram", "scratch", "dram", "ring")}
        self.rbuf = [pick.getrandbits(32) for _ in range(2048)]
        self.tbuf = [0] * 2048
        for me in chip.me:
            for name, base in zip(FILES, (256, 384, 512, 640), strict=True):
                me.file[base : base + 128] = np.array(self.files[me.number, name], np.uint32)
        chip.sram[0].write(0, self.memory["sram"])
        chip.scratch.write(0, self.memory["scratch"])
        chip.dram.write(0, self.memory["dram"])
        chip.scratch.ring(3).setup(0x1000, 128)
        for word in self.memory["ring"][:24]:
            chip.scratch.ring(3).put(word)
        self.ring = self.memory["ring"][:24]
        chip.msf.rbuf[:] = np.array(self.rbuf, np.uint32)

    def differences(self, chip: Chip) -> list[str]:
        """What the chip has otherwise."""
        found = []
        for me in chip.me:
            for name, base in zip(FILES, (256, 384, 512, 640), strict=True):
                theirs = me.file[base : base + 128].tolist()
                found += [f"me{me.number} {name}[{k}] {theirs[k]:#x} for {ours:#x}"
                          for k, ours in enumerate(self.files[me.number, name]) if theirs[k] != ours]
            found += [f"me{me.number} ctx{ctx.number} signals {sorted(ctx.signals)}" for ctx in me.ctx
                      if ctx.signals != self.signals[me.number, ctx.number]]
        for name, unit in (("sram", chip.sram[0]), ("scratch", chip.scratch), ("dram", chip.dram)):
            theirs = unit.read(0, SPAN // 4).tolist()
            found += [f"{name}[{4 * k:#x}] {theirs[k]:#x}" for k, ours in enumerate(self.memory[name]) if theirs[k] != ours]
        if (there := [chip.scratch.ring(3).get() for _ in range(chip.scratch.ring(3).used)]) != self.ring:
            found.append(f"ring {there}")
        return found


def place(word: int, me: int, ctx: int, register: int, window: Callable[[int], int]) -> tuple[int, int, int, int]:
    """Microengine, context of the signals, register and room of a command with the previous result `word`."""
    if word >> 31:
        number = word >> 26 & 31
        if number & 0xC == 0:
            me = (number >> 4) * 4 + (number & 3)
    if word >> 3 & 1:
        ctx = word & 7
    index = (16 * ctx + register) % 128
    if word >> 11 & 1:
        index = word >> 4 & 127
    size = window(me)
    return me, ctx, index, size - index % size


def masked(old: int, new: int, mask: int) -> int:
    """`new` where the four mask bits say so, bit 0 for the most significant byte."""
    octets = zip(old.to_bytes(4, "big"), new.to_bytes(4, "big"), range(4), strict=True)
    return int.from_bytes(bytes(n if mask >> k & 1 else o for o, n, k in octets), "big")


def run(text: str, seed: int, word: int, contexts: int = 1, wide: int = 0) -> tuple[Chip, Machine]:
    """A chip on which `text` has run behind an instruction whose result is `word`; `wide`: microengines with four contexts."""
    chip = chip_with(f"immed[a0, {word & 0xFFFF}]\nimmed_w1[a0, {word >> 16}]\nimmed[b15, {AT}]\nimmed[b14, 12]\n"
                     f"alu[--, --, B, a0]\n{text}\nctx_arb[kill]", contexts=contexts)
    for me in range(1, 8):
        if wide >> me & 1:
            chip.me[me].csr["CTX_ENABLES"] = 1 << 31
    machine = Machine(chip, seed)
    chip.run(cycles=600)
    return chip, machine


UNITS = {"sram": ("$", 1, 16), "scratch": ("$", 1, 16), "dram": ("$$", 2, 16), "ring": ("$", 1, 16)}


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    unit=st.sampled_from(sorted(UNITS)), reads=st.booleans(), register=st.integers(0, 7), count=st.integers(1, 3),
    signal=st.sampled_from([2, 6, 14]), seed=st.integers(0, 1 << 30), wide=st.sampled_from([0, 0b10010]),
    overrides=st.fixed_dictionaries({}, optional={
        "count": st.integers(1, 16), "mask": st.integers(0, 255), "register": st.integers(0, 127), "context": st.integers(0, 7),
        "engine": st.sampled_from([0, 1, 2, 3, 16, 17, 18, 19, 4, 31])}),
)
def test_overrides_of_memory_commands(
    unit: str, reads: bool, register: int, count: int, signal: int, seed: int, wide: int, overrides: dict[str, int]
) -> None:
    file, factor, most = UNITS[unit]
    word = override(**overrides)
    name = {True: "read", False: "write"}[reads] if unit != "ring" else {True: "get", False: "put"}[reads]
    command = "scratch" if unit == "ring" else unit
    address = "b14" if unit == "ring" else "b15"
    text = f"{command}[{name}, {file}{register}, {address}, 0, max_{count}], sig_done[s{signal}], indirect_ref"
    chip, machine = run(text, seed, word, wide=wide)
    me, ctx, index, room = place(word, 0, 0, register, lambda me: 32 if wide >> me & 1 else 16)
    units = min(overrides.get("count", count), most, room // factor)
    if overrides.get("count", count) == 1:
        units = 1                       # a single unit is not checked: no count went past anything
    files = machine.files[me, {"$": "sram", "$$": "dram"}[file] + ("_in" if reads else "_out")]
    for k in range(units * factor):
        at = (AT >> 2) + k
        if unit == "ring":
            if reads:
                files[index + k] = machine.ring.pop(0) if machine.ring else 0
            else:
                machine.ring.append(files[index + k])
        elif reads:
            if index + k < 128:
                files[index + k] = machine.memory[unit][at]
        else:
            mask = 15
            if "mask" in overrides and unit in ("sram", "dram"):
                mask = overrides["mask"] >> (4 if unit == "dram" and k % 2 else 0) & 15
            if index + k < 128:
                machine.memory[unit][at] = masked(machine.memory[unit][at], files[index + k], mask)
    machine.signals[me, ctx] = {signal, signal + 1} if unit == "dram" else {signal}
    if unit == "dram" and index == 127:
        return                          # half a unit behind the last register there is
    assert machine.differences(chip) == []


@pytest.mark.parametrize("which", ["rbuf_rd", "tbuf_wr"])
@pytest.mark.parametrize("engine", [None, 17])
@pytest.mark.parametrize("context", [None, 5])
def test_overrides_of_buffer_copies(which: str, engine: int | None, context: int | None) -> None:
    """The buffer address takes bits 18..5, among them those of a register, which copies do not have."""
    word = override(count=3, buffer=0x2000 + 0x7C0, engine=engine, context=context)
    chip, machine = run(f"dram[{which}, --, b15, 0, max_8], sig_done[s4], indirect_ref", 1, word)
    first = 0x7C0 // 4
    if which == "rbuf_rd":
        machine.memory["dram"][AT // 4 : AT // 4 + 6] = machine.rbuf[first : first + 6]
    else:
        assert chip.msf.tbuf[first : first + 6].tolist() == machine.memory["dram"][AT // 4 : AT // 4 + 6]
        assert not chip.msf.tbuf[: first].any() and not chip.msf.tbuf[first + 6 :].any()
    machine.signals[0 if engine is None else 5, context or 0] = {4, 5}
    assert machine.differences(chip) == []


@pytest.mark.parametrize(("command", "words"), [("hash_48[$2, 2]", 4), ("hash_128[$0, 1]", 4)])
def test_overrides_of_the_hash_unit(command: str, words: int) -> None:
    """Keys come from, and results go to, the registers named; the number of keys is the command's own."""
    word = override(count=9, register=40, engine=18)
    keys = [0x01234567, 0x89ABCDEF, 0xFEDCBA98, 0x76543210]
    plain = chip_with(f"{command}, sig_done[s1]\nctx_arb[kill]", contexts=1)
    plain.me[0].ctx[0].sram_out[:] = np.array(([0] * int(command.split("$")[1][0]) + keys + [0] * 16)[:16], np.uint32)
    for bits in (48, 64, 128):
        plain.hash.multiplier[bits] = 0x123456789ABCDEF0123456789ABCDEF1 & ((1 << bits) - 1)
    plain.run(cycles=600)
    chip = chip_with(f"immed[a0, {word & 0xFFFF}]\nimmed_w1[a0, {word >> 16}]\nalu[--, --, B, a0]\n"
                     f"{command}, sig_done[s1], indirect_ref\nctx_arb[kill]", contexts=1)
    for bits in (48, 64, 128):
        chip.hash.multiplier[bits] = 0x123456789ABCDEF0123456789ABCDEF1 & ((1 << bits) - 1)
    chip.me[6].file[384 + 40 : 384 + 40 + words] = np.array(keys, np.uint32)
    chip.run(cycles=600)
    first = int(command.split("$")[1][0])
    expected = plain.me[0].ctx[0].sram_in[first : first + words].tolist()
    assert any(expected)
    assert chip.me[6].file[256:384].tolist() == [0] * 40 + expected + [0] * (88 - words)
    assert chip.me[6].ctx[0].signals == {1} and chip.me[0].ctx[0].signals == set()


@pytest.mark.parametrize(("command", "reads"), [
    ("msf[read, $4, a1, 0, max_4]", True), ("msf[write, $4, a1, 0, max_4]", False), ("msf[read64, $4, a1, 0, max_2]", True),
    ("msf[write64, $4, a1, 0, max_2]", False), ("cap[read, $4, THREAD_MESSAGE_0, max_4]", True),
    ("cap[write, $4, THREAD_MESSAGE_0, max_4]", False)])
@pytest.mark.parametrize("overrides", [{}, {"register": 72}, {"context": 4}, {"register": 72, "context": 2, "engine": 3},
                                       {"count": 2, "engine": 16}, {"mask": 1}])
def test_overrides_of_units_that_act_at_their_time(command: str, reads: bool, overrides: dict[str, int]) -> None:
    word = override(**overrides)
    double = 2 if "64" in command else 1
    chip = chip_with("nop", contexts=0)
    machine = Machine(chip, 7)
    for k in range(16):
        chip.cap.write(0x4C00 + 4 * k, 0x100 + k)
    text = (f"immed[a0, {word & 0xFFFF}]\nimmed_w1[a0, {word >> 16}]\nimmed[a1, 0x2100]\nalu[--, --, B, a0]\n"
            f"{command}, sig_done[s3], indirect_ref\nctx_arb[kill]")
    chip.load_words(0, words_of(text), start=False)
    chip.start(0, 1)
    chip.run(cycles=600)
    me, ctx, index, _ = place(word, 0, 0, 4, lambda me: 16)
    words = overrides.get("count", 4 // double) * double
    there = machine.files[me, "sram_in" if reads else "sram_out"]
    if command.startswith("msf"):
        if reads:
            there[index : index + words] = machine.rbuf[0x40 : 0x40 + words]
        else:
            assert chip.msf.tbuf[0x40 : 0x40 + words].tolist() == there[index : index + words]
            assert not chip.msf.tbuf[0x40 + words :].any()
    elif reads:
        there[index : index + words] = [0x100 + k for k in range(words)]
    else:
        assert [chip.cap.read(0x4C00 + 4 * k) for k in range(16)] == [
            there[index + k] if k < words else 0x100 + k for k in range(16)]
    machine.signals[me, ctx] = {3}
    assert machine.differences(chip) == []


def test_a_count_past_the_registers_of_a_context_is_told_and_ends_there() -> None:
    word = override(count=9)
    chip, machine = run("sram[read, $8, b15, 0, max_8], sig_done[s2], indirect_ref", 2, word)
    machine.files[0, "sram_in"][8:16] = machine.memory["sram"][AT // 4 : AT // 4 + 8]
    machine.signals[0, 0] = {2}
    assert machine.differences(chip) == []
    assert chip.reserved == {"count past the transfer registers of a context": 1}
    assert chip.reserved_events[0][2:5] == (0, 0, 5)
    assert run("sram[read, $8, b15, 0, max_8], sig_done[s2], indirect_ref", 2, override(count=8))[0].reserved == {}


def test_a_microengine_or_context_that_is_not_there_is_told() -> None:
    told = {"indirect_ref to a microengine or context that is not there": 1}
    text = "sram[read, $0, b15, 0, max_1], sig_done[s2], indirect_ref"
    assert run(text, 3, override(engine=4))[0].reserved == told
    assert run(text, 3, override(engine=16, context=3), wide=1 << 4)[0].reserved == told
    assert run(text, 3, override(engine=16, context=4), wide=1 << 4)[0].reserved == {}
    assert run(text, 3, override(engine=19))[0].reserved == {}


def test_a_thread_waits_for_what_another_fills() -> None:
    """Context 1 sleeps on the signal of a read that context 0 of another microengine has sent it, and then reads the words."""
    chip = Chip()
    word = override(engine=16, context=1)
    chip.sram[0].write(AT, [5, 6])
    chip.load_words(0, words_of(f"immed[a0, {word & 0xFFFF}]\nimmed_w1[a0, {word >> 16}]\nimmed[b15, {AT}]\nalu[--, --, B, a0]\n"
                                "sram[read, $2, b15, 0, max_2], sig_done[s9], indirect_ref\nctx_arb[kill]"), start=False)
    chip.load_words(4, words_of("ctx_arb[s9]\nalu[a1, $2, +, 0]\nalu[a2, $3, +, a1]\nhalt"), start=False)
    chip.start(4, 0b10)
    chip.start(0, 1)
    stop = chip.run(cycles=1000)
    assert (stop.reason, stop.me, stop.ctx) == ("halt", 4, 1)
    assert chip.me[4].ctx[1].gpr_a[1:3].tolist() == [5, 11]
