"""What becomes of reserved events besides being found (that is test_reserved_corpus.py): once a place, the earliest places, the
same whatever the slices, marks that go away, and what a program that does nothing wrong pays."""

from __future__ import annotations

import time

import pytest

from ixpemu import Chip, UserError, assemble
from ixpemu.chip_reserved import uncounted
from ixpemu.chip_watch import plan
from ixpemu.engine.layout import MARK_WATCH, RESERVED_ROWS
from tests.support.corpus import cases, load
from tests.unit.test_reserved_corpus import FOLDER, chip_of, cycles

# 100 instructions that use local memory that is not there, each in three microengines.
MANY = ".physical\nimmed[a0, 0xa00]\nlocal_csr_wr[ACTIVE_LM_ADDR_0, a0]\nnop\nnop\nnop\n" + (
    "alu[a1, --, B, *l$index0[1]]\n" * 100) + "ctx_arb[kill]"


def marked(chip: Chip) -> int:
    return int((chip.state.code["marks"] & MARK_WATCH != 0).sum())


@pytest.mark.parametrize("length", [1, 7, 1000])
@pytest.mark.parametrize("path", cases(FOLDER), ids=lambda path: path.stem)
def test_slices_change_nothing(path: object, length: int) -> None:
    case = load(path)  # type: ignore[arg-type]     # a Path
    limit = min(cycles(case), 200 if length == 1 else 1000)
    whole, sliced = chip_of(case, "program"), chip_of(case, "program")
    stop = whole.run(cycles=limit)
    while sliced.cycle < limit:
        last = sliced.run(cycles=min(length, limit - sliced.cycle))
        if last.reason == "reserved":
            break
    assert sliced.reserved_places == whole.reserved_places, stop
    assert sliced.reserved == whole.reserved


@pytest.mark.parametrize("length", [5, 10_000])
def test_the_earliest_places_are_kept_and_all_events_counted(length: int) -> None:
    chip = Chip()
    for me in (2, 0, 1):
        chip.load(me, assemble(text=MANY), start=False)
        chip.start(me, 1)
    while chip.cycle < 10_000:
        chip.run(cycles=length)
    places = chip.reserved_places
    assert len(places) == RESERVED_ROWS and sum(chip.reserved.values()) == 300
    assert [(place.cycle, place.me, place.address) for place in places] == [
        (cycle, me, cycle - 1) for cycle in range(6, 28) for me in (0, 1, 2)][:RESERVED_ROWS]
    assert uncounted(chip.state) == 300 - RESERVED_ROWS
    text = chip.warnings[-1].message
    assert text.startswith("236 more events at other places") and text.endswith("unpopulated local memory 300")


def test_a_place_is_told_once_for_all_microengines_with_its_line() -> None:
    chip = Chip()
    for me in (0, 3):
        chip.load(me, assemble(text=".physical\nagain#:\nalu[a1, --, B, b2]\nbr=byte[a1, 0, 0, again#]\nctx_arb[kill]"))
    chip.run(cycles=500)
    (found,) = chip.warnings
    assert found.label == "IXP7022" and found.origin is not None and found.origin.span.line == 3
    assert found.message.startswith("register read that nobody has written (b2): microengine 0 context 0 at 0, cycle 1")
    assert found.notes[-1].message.startswith("the same in microengine (times): 3 (")


def test_names_of_the_source_are_used() -> None:
    chip = Chip()
    chip.load(0, assemble(text=".reg count total\nbr=ctx[0, skip#]\nimmed[count, 1]\nskip#:\nalu[total, --, B, count]\n"
                               "alu[--, --, B, total]\nctx_arb[kill]"))
    chip.run(cycles=200)
    assert any(" count): microengine 0 context 0" in found.message for found in chip.warnings), chip.warnings


def test_a_program_that_does_nothing_wrong_has_no_marks_in_the_end() -> None:
    source = (".physical\nbr=ctx[0, first#]\nctx_arb[s1]\nbr[work#]\nfirst#:\nimmed[@a20, 7]\n"
              "local_csr_wr[SAME_ME_SIGNAL, 0x88]\n"
              "work#:\nalu[a1, --, B, @a20]\nbr=byte[a1, 0, 7, next#]\nalu[a1, --, B, 1]\nnext#:\n"
              "local_csr_wr[SAME_ME_SIGNAL, 0x88]\nctx_arb[voluntary], br[work#]")
    chip = Chip(strict=True)
    chip.load(0, assemble(text=source))
    assert marked(chip) == 2, "the absolute register and its writer"
    stop = chip.run(cycles=3000)
    assert stop.reason in ("cycles", "reserved")
    assert marked(chip) == 0


def test_contexts_enabled_later_are_looked_at_too() -> None:
    source = ".physical\nbr=ctx[1, read#]\nimmed[a5, 1]\nread#:\nalu[a1, --, B, a5]\nctx_arb[voluntary], br[read#]"
    chip = Chip()
    chip.load(0, assemble(text=source), start=False)
    chip.start(0, 1)
    chip.run(cycles=200)
    assert not chip.reserved and marked(chip) == 0
    chip.me[0].csr["CTX_ENABLES"] = 3 << 8
    chip.run(cycles=200)
    assert [(place.ctx, place.address) for place in chip.reserved_places] == [(1, 2)]


def test_registers_set_from_outside_are_written() -> None:
    chip = Chip(strict=True)
    chip.load(0, assemble(text=".physical\nalu[a1, --, B, b2]\nctx_arb[kill]"), start=False)
    chip.me[0].ctx[0].gpr_b[2] = 5
    chip.start(0, 1)
    assert chip.run().reason == "quiet"


def test_words_written_one_by_one_are_looked_at() -> None:
    words = assemble(text=".physical\nalu[a1, --, B, b2]\nctx_arb[kill]").values
    chip = Chip()
    csr = chip.me[0].csr
    csr["USTORE_ADDRESS"] = 1 << 31
    for word in words:
        csr["USTORE_DATA_LOWER"], csr["USTORE_DATA_UPPER"] = word & 0xFFFFFFFF, word >> 32
    csr["USTORE_ADDRESS"] = 0
    chip.start(0, 1)
    chip.run()
    assert list(chip.reserved) == ["register read that nobody has written"]
    csr["USTORE_ADDRESS"], csr["USTORE_DATA_LOWER"], csr["USTORE_DATA_UPPER"] = 1 << 31, 0, 0
    assert "control store written while it runs" in chip.reserved
    assert chip.warnings[-1].origin is None and "from outside of the microengines" in chip.warnings[-1].message


def test_fast_looks_for_nothing() -> None:
    chip = Chip(mode="fast")
    chip.load(0, assemble(text=".physical\nalu[a1, --, B, b2]\nctx_arb[kill]"))
    chip.run()
    assert not chip.reserved and not chip.warnings
    with pytest.raises(UserError, match="cannot be strict"):
        Chip(mode="fast", strict=True)


@pytest.mark.parametrize(("code", "why"), [("IXP6999", "there is no reserved behaviour"), ("7001", "cannot be allowed")])
def test_codes_that_cannot_be_allowed(code: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        Chip(allow=[code])


def test_allowed_codes_end_no_strict_run() -> None:
    source = ".physical\nalu[a1, --, B, b2]\nimmed[a0, 4]\ndram[read, $$0, a0, 0, 1], ctx_swap[s2]\nctx_arb[kill]"

    def run(*allow: str) -> str:
        chip = Chip(strict=True, allow=allow)
        chip.load(0, assemble(text=source), start=False)
        chip.start(0, 1)
        return chip.run().message.partition(":")[0]

    assert run().startswith("register read that nobody has written")
    assert run("IXP7022").startswith("unaligned DRAM address")
    assert run("7022", "ixp7021").startswith("quiet at cycle")


def test_a_strict_stop_is_the_earliest_and_not_the_first_that_was_found() -> None:
    """Microengine 0 runs ahead of its time to cycle 40; microengine 1 offends before, at a commit of its own."""
    late = ".physical\nimmed[a0, 0xa00]\nlocal_csr_wr[ACTIVE_LM_ADDR_0, a0]\n" + "nop\n" * 40 + (
        "alu[a1, --, B, *l$index0[1]]\nctx_arb[kill]")
    early = ".physical\n" + "nop\n" * 20 + "alu[a1, --, B, b2]\nctx_arb[kill]"
    chip = Chip(strict=True)
    for me, source in enumerate((late, early)):
        chip.load(me, assemble(text=source), start=False)
        chip.start(me, 1)
    stop = chip.run()
    assert (stop.reason, stop.me, stop.pc) == ("reserved", 1, 20) and ", cycle 21" in stop.message


@pytest.mark.parametrize("jump", ["rtn[a1]", "jump[a1, top#]"])
def test_planning_takes_no_time_to_speak_of(jump: str) -> None:
    """4,096 instructions, 1,000 of which may jump to any of 1,000 places."""
    body = f"alu[a1, a2, +, b3]\nbr_bset[a1, 3, top#]\nimmed[b3, {{}}]\n{jump}\n"
    words = assemble(text=".physical\nnop\ntop#:\nimmed[a2, 0]\n" + "".join(body.format(4 * k) for k in range(1000))).values
    started = time.perf_counter()
    made = plan(words, 8)
    assert time.perf_counter() - started < 5
    assert made.contexts[4:3996:4].all(), "all of it can be reached"
