"""Races on the CAM, in RBUF and TBUF, and with the XScale: for each a program with one, and the nearest without.

Programs are in physical registers where they are not the shipped echo. s4 is the signal of commands, s2 that of other threads.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ixpemu import App, Chip, Image, assemble, resources
from ixpemu.trace.race_found import as_text
from ixpemu.trace.race_places import word_masks
from ixpemu.trace.races import Races, observe_races
from ixpemu.trace.text import Describer, TextTrace, Window
from ixpemu.xscale import XScale

SWAP = "ctx_arb[voluntary]"


def program(*lines: str) -> Image:
    return assemble(text="\n".join([".physical", *lines, "ctx_arb[kill]"]), path="program.uc")


def watched(image: Image, contexts: int = 0x03, cycles: int = 2_000) -> Races:
    chip = Chip()
    chip.load(2, image, start=False)
    races = observe_races(chip, chip.images)
    chip.start(2, contexts=contexts)
    chip.run(cycles=cycles)
    return races


# The CAM

LOOKUP = ("immed[a1, 0x55]", "cam_lookup[a2, a1]")
WRITE = ("alu_shf[b3, 0xf, AND, a2, >>3]", "cam_write[b3, a1, 1]")


def test_two_that_miss_and_swap_before_they_write() -> None:
    races = watched(program(*LOOKUP, SWAP, *WRITE))
    (race,) = races.found
    assert (race.rule, race.what) == ("lost update", "CAM entry 0 of microengine 2")
    assert race.first.ctx != race.second.ctx and race.taken is not None and race.taken.ctx == race.second.ctx
    (told,) = races.diagnostics()
    assert "CAM entry 0 of microengine 2" in told.message and told.origin is not None and told.origin.span.line == 6


def test_a_miss_and_its_write_in_one_turn() -> None:
    assert watched(program(*LOOKUP, *WRITE, SWAP)).found == []


@pytest.mark.parametrize("entry", ["5", "b4"])
@pytest.mark.parametrize("clears", [False, True])
def test_an_entry_that_two_take_for_their_own(entry: str, clears: bool) -> None:
    """Both write it and read it back after a swap; or one clears all of them meanwhile."""
    other = "cam_clear" if clears else f"cam_write[{entry}, a5, 2]"
    text = ("immed[a4, 5]", "immed[b4, 5]", "immed[a5, 0x77]", "br=ctx[1, other#]", f"cam_write[{entry}, a4, 1]", SWAP,
            f"cam_read_tag[a6, {entry}]", "ctx_arb[kill]", "other#:", other)
    (race,) = watched(program(*text)).found
    assert (race.rule, race.what) == ("overwritten", "CAM entry 5 of microengine 2")


@pytest.mark.parametrize("other", ["cam_write[6, a5, 2]", "cam_write[5, a4, 1]", "cam_read_state[a7, 5]"])
def test_other_entries_the_same_content_and_reads_are_none(other: str) -> None:
    text = ("immed[a4, 5]", "immed[a5, 0x77]", "br=ctx[1, other#]", "cam_write[5, a4, 1]", SWAP, "cam_read_tag[a6, 5]",
            "ctx_arb[kill]", "other#:", other)
    assert watched(program(*text)).found == []


def test_who_looks_an_entry_up_and_evicts_it_knows_of_it() -> None:
    """Each thread looks something else up, misses, takes the oldest entry, and later finds its own again or takes another."""
    text = ("local_csr_rd[ACTIVE_CTX_STS]", "immed[a1, 0]", "alu[a1, 7, AND, a1]", "immed[a9, 30]", "again#:",
            "cam_lookup[a2, a1]", *WRITE, SWAP, "alu[a1, a1, +, 8]", "alu[a9, a9, -, 1]", "bne[again#]")
    assert watched(program(*text), contexts=0xFF, cycles=6_000).found == []


def test_a_state_kept_over_a_swap_loses_an_eviction() -> None:
    """One finds its entry and swaps; another writes another tag there; the first one sets the state of what is no longer its."""
    text = ("immed[a1, 0x55]", "br=ctx[1, other#]", "cam_write[0, a1, 1]", "ctx_arb[voluntary]", "cam_lookup[a2, a1]", SWAP,
            "cam_write_state[0, 3]", "ctx_arb[kill]", "other#:", SWAP, "immed[a3, 0x99]", "cam_write[0, a3, 0]")
    (race,) = watched(program(*text)).found
    assert race.rule == "lost update" and race.taken is not None and race.taken.pc == 4


# RBUF and TBUF

def echo(tmp_path: Path, *changes: tuple[str, str]) -> App:
    """The shipped echo, with pieces of its text replaced."""
    folder = tmp_path / "echo"
    shutil.copytree(resources.folder("microcode") / "echo", folder)
    text = (folder / "echo.uc").read_text()
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    (folder / "echo.uc").write_text(text)
    app = App.load(str(folder), capture=False, mode="races")
    app.run(cycles=12_000)
    assert app.chip.packets_sent > 2
    return app


FREE = "    msf[fast_wr, --, done, 0]\n"
VALID = "    msf[write, $control0, where, control_base, 2], ctx_swap[written]\n"


def test_echo_as_it_is(tmp_path: Path) -> None:
    app = echo(tmp_path)
    assert app.races is not None and as_text(app.races.found) == ""


def test_an_element_given_back_before_its_copy_is_done(tmp_path: Path) -> None:
    app = echo(tmp_path, ("ctx_swap[copied]", "sig_done[copied]"), (FREE, FREE + "    ctx_arb[copied]\n"))
    assert app.races is not None
    (race,) = app.races.found
    assert race.rule == "unordered" and race.what.startswith("RBUF word 0x")
    assert {race.first.action, race.second.action} == {"reads", "frees"}


def test_an_element_made_valid_before_it_is_filled(tmp_path: Path) -> None:
    app = echo(tmp_path, ("ctx_swap[filled]", "sig_done[filled]"), (VALID, VALID + "    ctx_arb[filled]\n"))
    assert app.races is not None
    (race,) = app.races.found
    assert race.rule == "unordered" and race.what.startswith("TBUF word 0x")
    assert {race.first.action, race.second.action} == {"writes", "sends"}
    (told,) = app.races.diagnostics()
    assert "sends it" in told.message + str(told.notes) and told.origin is not None and told.origin.span.file.endswith("echo.uc")


def buffer_writers(hands_over: bool) -> set[str]:
    """Context 0 writes words of TBUF by the MSF, context 1 the same ones; with or without a signal in between."""
    send = "local_csr_wr[SAME_ME_SIGNAL, 0x11]" if hands_over else "nop"      # signal 2 of context 1
    wait = "ctx_arb[s2]" if hands_over else "nop"
    text = ("immed[a0, 0x2000]", "immed[$0, 1]", "immed[$1, 2]", "br=ctx[1, other#]", "msf[write, $0, a0, 0x40, 2], ctx_swap[s4]",
            send, "ctx_arb[kill]", "other#:", wait, "msf[write, $0, a0, 0x44, 2], ctx_swap[s4]")
    races = watched(program(*text))
    assert all(race.what == "TBUF word 0x44" for race in races.found)
    return {race.rule for race in races.found}


def test_words_of_tbuf_written_by_two() -> None:
    assert buffer_writers(False) == {"unordered"}
    assert buffer_writers(True) == set()


def test_word_masks_cover_just_the_bytes() -> None:
    for first in range(9):
        for total in range(1, 14):
            bytes_ = [4 * word + k for word, mask in word_masks(first, total) for k in range(4) if mask >> k & 1]
            assert bytes_ == list(range(first, first + total))


# The XScale

def with_xscale(image: Image, handler: Callable[[XScale], None], cycles: int = 6_000) -> set[str]:
    """What is found when a handler of interrupt A runs beside a program in microengine 2."""
    chip = Chip()
    xscale = XScale(chip, handlers={"thread_a": handler})
    xscale.load(2, image)
    xscale.ring_setup(3, 0x1000, 128, empty_flag=True)
    xscale.sram.write(0x40, [7])                        # before anything runs: nobody's race
    races = observe_races(chip, xscale.images)
    xscale.start()
    chip.run(cycles=cycles)
    assert all("the XScale" in race.diagnostic(xscale.images).message + str(race.diagnostic(xscale.images).notes)
               for race in races.found)
    return {f"{race.rule} {race.what}" for race in races.found}


ASK = "cap[fast_wr, 0, XSCALE_INT_A]"
IDLE = ("br!=ctx[0, rest#]", "immed[a0, 0]", "immed[a1, 0xc]", "immed[$0, 5]")
REST = ("ctx_arb[kill]", "rest#:")
POLL = ("poll#:", "scratch[get, $2, a1, 0, 1], ctx_swap[s4]", "alu[--, --, B, $2]", "beq[poll#]")
READ = "sram[read, $3, a0, 0x40, 1], ctx_swap[s4]"


@pytest.mark.parametrize("polls", [True, False])
def test_a_word_that_the_xscale_writes(polls: bool) -> None:
    def handler(xscale: XScale) -> None:
        xscale.sram.write(0x40, [9])
        xscale.ring_put(3, 1)

    pause = ("immed[a2, 500]", "wait#:", "alu[a2, a2, -, 1]", "bne[wait#]")
    found = with_xscale(program(*IDLE, ASK, *(POLL if polls else pause), READ, *REST), handler)
    assert found == (set() if polls else {"unordered sram0 word 0x40"})


@pytest.mark.parametrize("waits", [True, False])
def test_a_word_that_the_xscale_reads_when_it_is_interrupted(waits: bool) -> None:
    write = "sram[write, $0, a0, 0x40, 1], " + ("ctx_swap[s4]" if waits else "sig_done[s4]")
    rest = () if waits else ("ctx_arb[s4]",)
    found = with_xscale(program(*IDLE, write, ASK, *rest, *REST), lambda xscale: xscale.spend(xscale.sram.read(0x40)[0]))
    assert found == (set() if waits else {"unordered sram0 word 0x40"})


@pytest.mark.parametrize(
    ("first", "count", "races"), [(0x60, 2, False), (0x62, 1, True), (0x51, 0xF, False), (0x51, 0x13, True)])
def test_bytes_of_dram(first: int, count: int, races: bool) -> None:
    """The microengine writes bytes 0x62 and 0x63, by a mask, while the XScale writes some of its own."""
    override = 1 << 20 | 0x0C << 12
    text = ("immed[$$0, 5]", "immed[$$1, 5]", f"immed[a5, {override & 0xFFFF:#x}]", f"immed_w1[a5, {override >> 16:#x}]",
            "alu[--, --, B, a5]", "dram[write, $$0, a0, 0x60, 1], indirect_ref, ctx_swap[s4]")
    found = with_xscale(program(*IDLE, ASK, *text, *REST), lambda xscale: xscale.dram.write_bytes(first, bytes(count)))
    assert found == ({"unordered dram word 0x60"} if races else set())


@pytest.mark.parametrize("unit", ["scratch", "sram", "dram"])
def test_the_bus_reaches_memories_too(unit: str) -> None:
    address = {"scratch": 0xCA000040, "sram": 0x80000040, "dram": 0x40}[unit]
    register = "$$0" if unit == "dram" else "$0"
    text = (f"immed[{register}, 1]", "immed[$$1, 2]", f"{unit}[write, {register}, a0, 0x40, 1], ctx_swap[s4]")
    found = with_xscale(program(*IDLE, ASK, *text, *REST), lambda xscale: xscale.bus.write(address, 3))
    assert found == {f"unordered {unit + '0' * (unit == 'sram')} word 0x40"}
    assert with_xscale(program(*IDLE, *text, ASK, *REST), lambda xscale: xscale.bus.write(address, 3)) == set()


def test_the_trace_shows_all_of_them() -> None:
    chip = Chip()
    image = program("immed[a1, 0x55]", "cam_lookup[a2, a1]", "cam_write[3, a1, 2]", "cam_lookup[a2, a1]", "cam_write_state[3, 1]",
                    "cam_read_tag[a3, 3]", "cam_clear")
    chip.load(2, image, start=False)
    stream = io.StringIO()
    window = Window(kinds=frozenset(["cam"]))
    chip.observe(TextTrace(stream, Describer(chip, {2: image}).line, window), window.observed)
    chip.start(2, contexts=1)
    chip.run(cycles=200)
    said = [" ".join(line.split()[5:-2]).split(" program.uc")[0] for line in stream.getvalue().splitlines() if line[0] != "#"]
    assert said == ["entry 0 missed: tag 0x00000055", "entry 3 written: tag 0x00000055, state 2",
                    "entry 3 found: tag 0x00000055, state 2", "entry 3 given a state: tag 0x00000055, state 1",
                    "entry 3 read: tag 0x00000055, state 1", "cleared"]
