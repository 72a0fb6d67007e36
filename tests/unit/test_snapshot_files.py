"""Snapshots in files: read back equal and with the same future; damage is a named error and no machine slightly off."""

import json
import os
import random
import resource
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ixpemu import Chip, Snapshot, UserError, assemble, chip_snapshot_file, codes
from ixpemu import chip_plain as plain
from ixpemu.chip_snapshot_file import MAGIC, SECTIONS, from_bytes, to_bytes
from ixpemu.isa.chipfile import load_chip
from ixpemu.trace.digest import TraceHash
from ixpemu.xscale import XScale

BUSY = """
; Writes SRAM and DRAM for ever, a word further each time.
.reg at $data $$a $$b
.xfer_order $$a $$b
.sig written drawn
    immed[at, 0]
    immed[$data, 0x1234]
    immed[$$a, 0x5678]
    immed[$$b, 0x9abc]
again#:
    sram[write, $data, at, 0, 1], sig_done[written]
    dram[write, $$a, at, 0, 1], sig_done[drawn]
    ctx_arb[written, drawn]
    alu[at, at, +, 8]
    br[again#]
"""
FRAMES = [bytes([number]) * (60 + 7 * number) for number in range(30)]


def made() -> Chip:
    """A chip with things under way everywhere: commands, frames, an arrival list, a ring."""
    chip = Chip()
    chip.load(0, assemble(text=BUSY))
    chip.scratch.ring(3).setup(0x800, 128)
    chip.scratch.ring(3).put(77)
    chip.ports[0].feed(FRAMES, gbps=0.5, faults={20: "parity"})
    chip.ports[1].feed([(1_000 * k, frame) for k, frame in enumerate(FRAMES)])
    chip.msf.csr["RX_CONTROL"] = 0xF0000000 | 7
    for element in range(1, 60):
        chip.msf.write(0x44, element)
    return chip


@cache
def content() -> bytes:
    chip = made()
    chip.run(cycles=700)
    return to_bytes(chip.snapshot())


def future(chip: Chip, cycles: int = 1_200) -> tuple[str, int]:
    seen = TraceHash()
    chip.observe(seen)
    chip.run(cycles=cycles)
    chip.unobserve(seen)
    return seen.hexdigest(), seen.count


@pytest.mark.parametrize("cycle", [0, 700, 1_345])
def test_the_same_back_and_the_same_future(cycle: int, tmp_path: Path) -> None:
    chip = made()
    chip.run(cycles=cycle)
    saved = chip.snapshot()
    saved.save(tmp_path / "here.snapshot")
    back = Snapshot.load(tmp_path / "here.snapshot")
    assert back == saved and back.cycle == cycle and back.parameters == saved.parameters
    expected, counters = future(chip), [port.counters for port in chip.ports]
    other = Chip(chip.parameters)
    other.restore(back)
    assert other.snapshot() == saved
    assert future(other) == expected
    assert [port.counters for port in other.ports] == counters and counters[0].received
    assert other.snapshot().differences(chip.snapshot()) == []


def test_saving_what_was_loaded_gives_the_same_bytes() -> None:
    assert to_bytes(from_bytes(content())) == content()


def test_a_file_is_small_and_grows_with_what_was_written() -> None:
    chip = Chip()
    small = len(to_bytes(chip.snapshot()))
    assert small < 100_000                                  # of 13 MB of state and 144 MB of memory
    chip.dram.write_bytes(0x100000, random.Random(1).randbytes(1 << 20))
    assert small + (1 << 20) < len(to_bytes(chip.snapshot())) < small + (1 << 20) + 50_000


class Endless:
    """A source that never ends and never repeats."""

    def frames(self, start: int = 0) -> Iterator[tuple[int, bytes]]:
        while True:
            yield 0, bytes(60)


class Twice(Endless):
    """The same with a period of three frames, eight in all."""

    period, count = 3, 8

    def frames(self, start: int = 0) -> Iterator[tuple[int, bytes]]:
        return iter([(0, FRAMES[number % 3]) for number in range(start, 8)])


def test_sources_that_repeat_are_written_as_a_period_and_endless_ones_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    chip, plainly = Chip(), Chip()
    chip.ports[2].feed(Twice(), gbps=1.0)
    back = from_bytes(to_bytes(chip.snapshot()))
    plainly.restore(back)
    chip.run(cycles=20_000)
    plainly.run(cycles=20_000)
    assert plainly.ports[2].counters == chip.ports[2].counters and chip.ports[2].counters.received == 8
    chip.ports[1].feed(Endless(), gbps=1.0)
    monkeypatch.setattr("ixpemu.chip_ports_saved.MOST_FRAMES", 5_000)
    with pytest.raises(UserError, match="port 1 has more frames to come") as caught:
        to_bytes(chip.snapshot())
    assert caught.value.diagnostics[0].code == codes.SNAPSHOT_UNWRITABLE


# Damage

def refused(changed: bytes) -> str:
    """The message; anything but a UserError of the two kinds is a failure."""
    with pytest.raises(UserError) as caught:
        from_bytes(changed, "some.snapshot")
    (found,) = caught.value.diagnostics
    assert found.code in (codes.SNAPSHOT_DAMAGED, codes.SNAPSHOT_FOREIGN) and found.help and "some.snapshot" in found.message
    return found.message


def test_every_truncation_is_refused() -> None:
    whole = content()
    borders = [len(MAGIC), 12, *(whole.index(name.encode(), 12) for name in ("CHIP", "STAT", "PAGE", "PORT", "AGNT", "END "))]
    near = {at + k for at in borders for k in range(-30, 31)}
    lengths = {*range(200), *near, *range(0, len(whole), 211), *range(len(whole) - 80, len(whole))}
    for length in sorted(lengths):
        if 0 <= length < len(whole):
            message = refused(whole[:length])
            assert "at byte" in message, (length, message)


def test_no_mutation_gets_through() -> None:
    pick = random.Random(7)
    whole = content()
    for _ in range(4_000):
        changed = bytearray(whole)
        kind, at = pick.randrange(5), pick.randrange(len(whole))
        if kind == 0:
            changed[at] ^= 1 << pick.randrange(8)
        elif kind == 1:
            changed[at : at + pick.randrange(1, 40)] = pick.randbytes(pick.randrange(40))
        elif kind == 2:
            del changed[at : at + pick.randrange(1, 400)]
        elif kind == 3:
            other = pick.randrange(len(whole))
            changed[at:at] = whole[other : other + pick.randrange(1, 400)]
        else:
            at = pick.randrange(120)
            changed[at] = pick.randrange(256)
        if changed != whole:
            refused(bytes(changed))


def resealed(**parts: Callable[[bytes], bytes]) -> bytes:
    """The file with some sections changed and all digests made right again: what another program might write."""
    saved, made_of = from_bytes(content()), {}
    whole = to_bytes(saved)
    at = 12
    for name in SECTIONS:
        _, packed, _ = chip_snapshot_file._HEAD.unpack_from(whole, at)
        made_of[name] = zlib.decompress(whole[at + 20 : at + 20 + packed])
        at += 24 + packed
    result = bytearray(whole[:12])
    for name in SECTIONS:
        part = parts.get(name, bytes)(made_of[name])
        packed_part = zlib.compress(part)
        section = chip_snapshot_file._HEAD.pack(name.encode(), len(packed_part), len(part)) + packed_part
        result += section + zlib.crc32(section).to_bytes(4, "little")
    digest = chip_snapshot_file.hashlib.sha256(result).digest()
    section = chip_snapshot_file._HEAD.pack(b"END ", 32, 32) + digest
    return bytes(result + section + zlib.crc32(section).to_bytes(4, "little"))


def test_resealing_alone_changes_nothing() -> None:
    assert from_bytes(resealed()) == from_bytes(content())


def changed(**values: Any) -> Callable[[bytes], bytes]:
    return lambda part: plain.encode({**plain.decode(part), **values})


@pytest.mark.parametrize(("parts", "says"), [
    ({"CHIP": changed(numbering="0" * 64)}, "another version of the engine"),
    ({"CHIP": changed(cycle="soon")}, "what it holds"),
    ({"CHIP": changed(parameters=3)}, "what it holds"),
    ({"CHIP": changed(parameters={})}, "chip.microengines"),
    ({"CHIP": lambda part: b""}, "what it holds"),
    ({"CHIP": lambda part: b"\xff" * 20}, "cut short"),
    ({"STAT": lambda part: part[:-8]}, "state is of another size"),
    ({"PAGE": lambda part: part[:-4]}, "pages"),
    ({"PAGE": lambda part: b"\xff" * 4 + part[4:]}, "pages"),
    ({"PORT": lambda part: plain.encode([1, 2, 3])}, "what it holds"),
    ({"PORT": lambda part: plain.encode(None)}, "what it holds"),
    ({"AGNT": lambda part: plain.encode(5)}, "what it holds"),
])
def test_well_sealed_nonsense_is_refused_too(parts: dict[str, Callable[[bytes], bytes]], says: str) -> None:
    assert says in refused(resealed(**parts))


def test_a_file_of_another_layout_says_so() -> None:
    later = bytearray(content())
    later[8] = 2
    assert "layout has the version 2" in refused(bytes(later))


def test_a_bomb_is_not_unpacked() -> None:
    bomb = zlib.compress(bytes(200 << 20))
    head = chip_snapshot_file._HEAD.pack(b"CHIP", len(bomb), 1000)
    section = head + bomb
    whole = MAGIC + (1).to_bytes(4, "little") + section + zlib.crc32(section).to_bytes(4, "little")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "1000 bytes that it says" in refused(whole)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000      # KB


def test_a_snapshot_of_a_chip_of_another_size_is_refused_by_the_chip(tmp_path: Path) -> None:
    small = Chip(load_chip().override({"chip.microengines": 4}))
    small.snapshot().save(tmp_path / "small")
    back = Snapshot.load(tmp_path / "small")
    with pytest.raises(UserError, match="other parameters"):
        Chip().restore(back)
    large = Chip(load_chip("ixp2800"))
    large.snapshot().save(tmp_path / "large")
    assert Snapshot.load(tmp_path / "large") == large.snapshot()
    with pytest.raises(UserError, match="other parameters"):
        Chip().restore(Snapshot.load(tmp_path / "large"))


@pytest.mark.parametrize(("place", "says"), [
    ("missing/here", "does not exist"), (".", "folder"), ("a" * 300, "shorter name"),
])
def test_places_that_cannot_be_written(place: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        Chip().snapshot().save(tmp_path / place)
    (found,) = caught.value.diagnostics
    assert found.code == codes.FILE_UNWRITABLE and says in f"{found.message} {found.help}"
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_and_endless_and_missing_files(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no space left"):
        Chip().snapshot().save("/dev/full")
    for name, code in (("/dev/zero", codes.SNAPSHOT_DAMAGED), (str(tmp_path), codes.FILE_UNREADABLE),
                       (str(tmp_path / "none"), codes.FILE_UNREADABLE), (os.devnull, codes.SNAPSHOT_DAMAGED)):
        with pytest.raises(UserError) as caught:
            Snapshot.load(name)
        assert caught.value.diagnostics[0].code == code
    with pytest.raises(UserError, match="cannot be 3"):
        Snapshot.load(3)            # type: ignore[arg-type]
    with pytest.raises(UserError, match="cannot be None"):
        Chip().snapshot().save(None)            # type: ignore[arg-type]


# The XScale

TICKS = """
.reg left
    br!=ctx[0, rest#]
    immed[left, 9]
again#:
    cap[fast_wr, 0, XSCALE_INT_A]
.reg wait
    immed[wait, 200]
pause#:
    alu[wait, wait, -, 1]
    bne[pause#]
    alu[left, left, -, 1]
    bne[again#]
rest#:
    ctx_arb[kill]
"""


def served(xscale: XScale) -> None:
    xscale.program.append(xscale.cycle)
    xscale.sram.write(0x100, [len(xscale.program), xscale.cycle])


def with_xscale() -> tuple[Chip, XScale]:
    chip = Chip()
    xscale = XScale(chip, handlers={"thread_a": served})
    xscale.program = []
    xscale.hooks = (lambda x: tuple(x.program), lambda x, saved: x.program.__setitem__(slice(None), saved))
    xscale.load(0, assemble(text=TICKS))
    xscale.start()
    return chip, xscale


@pytest.mark.parametrize("cycle", [30, 560, 1_111])
def test_an_xscale_goes_along_if_what_it_keeps_is_plain(cycle: int) -> None:
    chip, xscale = with_xscale()
    chip.run(cycles=cycle)
    back = from_bytes(to_bytes(chip.snapshot()))
    chip.run(cycles=3_000)
    other, twin = with_xscale()
    other.restore(back)
    other.run(cycles=3_000)
    assert list(twin.program) == list(xscale.program) and len(twin.program) >= 3
    assert other.snapshot() == chip.snapshot()


def test_what_no_file_can_hold_is_named_and_can_be_left_out() -> None:
    chip, xscale = with_xscale()
    xscale.after(10_000, lambda: None)
    with pytest.raises(UserError, match=r"agent 0 .* holds what no file can: .*function") as caught:
        to_bytes(chip.snapshot())
    assert caught.value.diagnostics[0].code == codes.SNAPSHOT_UNWRITABLE
    assert from_bytes(to_bytes(chip.snapshot(), agents=False)).agents == ()


def test_another_agents_state_is_refused() -> None:
    chip, _ = with_xscale()
    back = from_bytes(to_bytes(chip.snapshot()))
    with pytest.raises(UserError, match="another agent's state"):
        chip.restore(Snapshot(**{name: getattr(back, name) for name in Snapshot.__slots__} | {"agents": ({"x": 1},)}))


# Plain values

@pytest.mark.parametrize("value", [
    None, True, 0, -1, 1 << 200, 1.5, float("inf"), "text\n\u20ac\ud800", b"", b"\x00\xff", (), [], {},
    (1, [2, (3,)], {"a": b"b"}),
    {(1, "x"): None, 3: {4: (5,)}, b"k": []},
])
def test_plain_values_come_back(value: object) -> None:
    back = plain.decode(plain.encode(value))
    assert back == value and repr(back) == repr(value)


def test_arrays_come_back_with_type_and_shape() -> None:
    for value in (np.arange(6, dtype=np.uint32).reshape(2, 3), np.zeros((0, 4), np.float64), np.array([True, False])):
        back = plain.decode(plain.encode({"x": [value]}))["x"][0]
        assert back.dtype == value.dtype and back.shape == value.shape and (back == value).all()


@pytest.mark.parametrize("value", [object(), {1, 2}, [lambda: None], {"x": Path()}, np.array([object()]), (1, {2: Ellipsis})])
def test_others_are_refused_by_name(value: object) -> None:
    with pytest.raises(plain.NotPlainError, match=r"no plain value|cannot"):
        plain.encode(value)


def test_any_bytes_are_plain_or_refused() -> None:
    pick = random.Random(3)
    whole = plain.encode({"a": (1, b"xyz", np.arange(4)), 5: [None, 2.5, "t"]})
    for _ in range(5_000):
        changed = bytearray(whole)
        for _ in range(pick.choice((1, 2, 5))):
            changed[pick.randrange(len(changed))] = pick.choice((pick.randrange(256), *b'[]{}",:0129'))
        try:
            plain.encode(plain.decode(bytes(changed[: pick.choice((len(changed), pick.randrange(len(changed))))])))
        except plain.NotPlainError:
            continue
    deep = json.dumps("x").encode()
    for _ in range(100_000):
        deep = b"[" + deep
        if len(deep) > 50_000:
            break
    with pytest.raises(plain.NotPlainError):
        plain.decode(len(deep).to_bytes(4, "little") + deep)
