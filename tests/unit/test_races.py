"""Data races: for each kind of shared thing and of ordering a program with a race, and one without as near as possible.

Programs are in physical registers. Microengine 0 and 1 are neighbours; s4 is the signal of commands, s2 that of other threads.
"""

from __future__ import annotations

import pytest

from ixpemu import App, Chip, Image, assemble
from ixpemu.trace.race_found import as_text
from ixpemu.trace.races import KINDS, Races, observe_races
from tests.support.machine import words_of

BOTH = 0x03
MEMORIES = {"scratch": "scratch", "sram": "sram", "dram": "dram"}
SWAP = "ctx_arb[voluntary]"


def looked(*programs: tuple[int, int, str], cycles: int = 3000) -> Races:
    """What is found when these programs (microengine, mask of contexts, text) run."""
    chip = Chip()
    for me, _, text in programs:
        chip.load_words(me, words_of(text), start=False)
    chip.scratch.ring(3).setup(0x1000, 128)
    races = observe_races(chip)
    for me, mask, _ in programs:
        chip.start(me, contexts=mask)
    chip.run(cycles=cycles)
    return races


def rules(*programs: tuple[int, int, str], cycles: int = 3000) -> set[str]:
    return {race.rule for race in looked(*programs, cycles=cycles).found}


def times(count: int, *lines: str) -> str:
    """Lines done `count` times, and the end of the thread."""
    return "\n".join([f"immed[a15, {count}]", "again#:", *lines, "alu[a15, a15, -, 1]", "bne[again#]", "ctx_arb[kill]"])


# A microengine's own state: @ registers and local memory

SHARED_REGISTER = ("alu[a1, --, B, @b5]", "alu[@b5, a1, +, 1]")
LOCAL_WORD = ("alu[a1, --, B, *l$index0[2]]", "alu[*l$index0[2], a1, +, 1]")


@pytest.mark.parametrize(("read", "write"), [SHARED_REGISTER, LOCAL_WORD])
def test_a_swap_between_read_and_write_loses_updates(read: str, write: str) -> None:
    found = looked((2, BOTH, times(3, read, SWAP, write))).found
    assert {race.rule for race in found} == {"lost update"}
    assert found[0].what == ("@b5 of microengine 2" if "@b5" in read else "local memory word 2 of microengine 2")
    assert (found[0].first.pc, found[0].second.pc) == (3, 3)
    assert found[0].taken is not None and found[0].taken.pc == 1 and found[0].taken.ctx == found[0].second.ctx
    assert found[0].first.ctx != found[0].second.ctx


@pytest.mark.parametrize(("read", "write"), [SHARED_REGISTER, LOCAL_WORD])
def test_without_a_swap_between_them_it_is_one_step(read: str, write: str) -> None:
    assert rules((2, BOTH, times(3, read, write, SWAP))) == set()


@pytest.mark.parametrize(("read", "write"), [SHARED_REGISTER, LOCAL_WORD])
def test_reading_again_after_the_swap_is_right(read: str, write: str) -> None:
    assert rules((2, BOTH, times(3, read, SWAP, read, write))) == set()


@pytest.mark.parametrize(("read", "write"), [SHARED_REGISTER, LOCAL_WORD])
def test_one_thread_alone_may_swap(read: str, write: str) -> None:
    assert rules((2, 0x01, times(3, read, SWAP, write))) == set()


@pytest.mark.parametrize(("read", "write"), [SHARED_REGISTER, LOCAL_WORD])
def test_a_turn_passed_on_by_signals_orders_them(read: str, write: str) -> None:
    """Each context signals the other one when it is done with the word."""
    turn = times(3, "ctx_arb[s2]", read, SWAP, write, "br=ctx[0, first#]", "local_csr_wr[SAME_ME_SIGNAL, 0x10]", "br[on#]",
                 "first#:", "local_csr_wr[SAME_ME_SIGNAL, 0x11]", "on#:")
    begin = "br!=ctx[0, go#]\nlocal_csr_wr[SAME_ME_SIGNAL, 0x10]\ngo#:\n"
    assert rules((2, BOTH, begin + turn)) == set()
    assert rules((2, BOTH, begin + turn.replace("ctx_arb[s2]", SWAP))) == {"lost update"}


def test_a_lock_in_a_shared_register_is_respected() -> None:
    """@a7 is the lock, tested and taken in one turn: it orders what is done under it, in memory as well."""
    locked = "immed[a0, 0]\n" + times(3, "wait#:", SWAP, "alu[--, --, B, @a7]", "bne[wait#]", "immed[@a7, 1]",
                   "alu[a1, --, B, @b5]", SWAP, "alu[@b5, a1, +, 1]", "scratch[read, $0, a0, 0x40, 1], ctx_swap[s4]",
                   "alu[$0, $0, +, 1]",
                   "scratch[write, $0, a0, 0x40, 1], ctx_swap[s4]", "immed[@a7, 0]")
    assert rules((2, BOTH, locked)) == set()
    assert rules((2, BOTH, locked.replace("bne[wait#]", "nop"))) == {"lost update", "unordered"}


@pytest.mark.parametrize("place", ["@b5", "*l$index0[2]"])
def test_a_place_of_ones_own_that_two_use(place: str) -> None:
    """Each puts its number there and wants it back after a swap."""
    put, get = f"alu[{place}, a15, +, b14]", f"alu[a2, --, B, {place}]"
    own = "immed[b14, 0]\nbr=ctx[0, go#]\nimmed[b14, 32]\ngo#:\n"
    assert rules((2, BOTH, own + times(3, put, SWAP, get))) == {"overwritten"}
    assert rules((2, BOTH, own + times(3, put, get, SWAP))) == set()
    same = own.replace("immed[b14, 32]", "immed[b14, 0]")
    assert rules((2, BOTH, same + times(1, put, SWAP, get))) == set()           # the same value is no change


def test_a_flag_that_another_context_sets_is_no_race() -> None:
    waiter = ("br!=ctx[0, other#]\nimmed[@b1, 1]\nimmed[@a7, 7]\nwait#:\nctx_arb[voluntary]\nalu[--, @a7, -, 1]\nbne[wait#]\n"
              "ctx_arb[kill]\n")
    setter = "other#:\nctx_arb[voluntary]\nalu[--, @b1, -, 1]\nbne[other#]\nimmed[@a7, 1]\nctx_arb[kill]"
    assert rules((2, BOTH, waiter + setter)) == set()


def test_registers_of_two_microengines_have_nothing_to_do_with_each_other() -> None:
    text = times(3, *SHARED_REGISTER[:1], SWAP, *SHARED_REGISTER[1:])
    assert rules((0, 0x01, text), (1, 0x01, text)) == set()


# Memory, between microengines

def write(memory: str, signal: str = "ctx_swap[s4]", address: int = 0x40) -> str:
    register = "$$0" if memory == "dram" else "$0"
    return f"{memory}[write, {register}, a0, {address:#x}, 1], {signal}"


def read(memory: str, address: int = 0x40) -> str:
    register = "$$0" if memory == "dram" else "$0"
    return f"{memory}[read, {register}, a0, {address:#x}, 1], ctx_swap[s4]"


def begin(memory: str) -> str:
    return "immed[a0, 0]\n" + ("alu[$$0, --, B, 1]\nalu[$$1, --, B, 2]\n" if memory == "dram" else "alu[$0, --, B, 1]\n")


NEXT = "local_csr_wr[NEXT_NEIGHBOR_SIGNAL, 0x10]"
DONE = "\nctx_arb[kill]"


@pytest.mark.parametrize("memory", MEMORIES)
def test_a_word_that_nothing_orders(memory: str) -> None:
    writer = begin(memory) + write(memory) + DONE
    found = looked((0, 1, writer), (1, 1, begin(memory) + read(memory) + DONE)).found
    assert {race.rule for race in found} == {"unordered"}
    assert found[0].what.startswith(memory) and found[0].what.endswith("word 0x40")
    assert {(race.first.me, race.second.me) for race in found} <= {(0, 1), (1, 0)}
    assert {access.action for race in found for access in (race.first, race.second)} == {"reads", "writes"}
    assert rules((0, 1, writer), (1, 1, writer)) == {"unordered"}
    assert rules((0, 1, begin(memory) + read(memory) + DONE), (1, 1, begin(memory) + read(memory) + DONE)) == set()
    elsewhere = begin(memory) + read(memory, 0x48) + DONE
    assert rules((0, 1, writer), (1, 1, elsewhere)) == set()


@pytest.mark.parametrize("memory", MEMORIES)
def test_a_signal_after_the_write_is_done(memory: str) -> None:
    reader = begin(memory) + "ctx_arb[s2]\n" + read(memory) + DONE
    assert rules((0, 1, begin(memory) + write(memory) + "\n" + NEXT + DONE), (1, 1, reader)) == set()


@pytest.mark.parametrize("memory", MEMORIES)
def test_a_signal_before_the_write_is_done(memory: str) -> None:
    """The write is sent before the signal, and nobody has waited for it."""
    reader = begin(memory) + "ctx_arb[s2]\n" + read(memory) + DONE
    early = begin(memory) + write(memory, "sig_done[s4]") + "\n" + NEXT + "\nctx_arb[s4]" + DONE
    assert rules((0, 1, early), (1, 1, reader)) == {"unordered"}


@pytest.mark.parametrize("memory", MEMORIES)
def test_signals_through_the_cap(memory: str) -> None:
    """To context 0 of microengine 5, which is no neighbour, and of another cluster."""
    reader = begin(memory) + "ctx_arb[s2]\n" + read(memory) + DONE
    send = f"\ncap[fast_wr, {5 << 7 | 2}, INTERTHREAD_SIGNAL]"
    assert rules((0, 1, begin(memory) + write(memory) + send + DONE), (5, 1, reader)) == set()
    early = begin(memory) + write(memory, "sig_done[s4]") + send + "\nctx_arb[s4]" + DONE
    assert rules((0, 1, early), (5, 1, reader)) == {"unordered"}


def test_a_signal_that_is_polled_orders_too() -> None:
    reader = begin("sram") + "wait#:\nbr_!signal[s2, wait#]\n" + read("sram") + DONE
    writer = begin("sram") + write("sram") + "\n" + NEXT + DONE
    assert rules((0, 1, writer), (1, 1, reader)) == set()
    hasty = reader.replace("br_!signal[s2, wait#]", "br_!signal[s2, on#]\non#:")
    assert rules((0, 1, writer), (1, 1, hasty)) == {"unordered"}


def test_threads_of_one_microengine_race_in_memory_all_the_same() -> None:
    text = begin("scratch") + read("scratch") + "\nalu[$0, $0, +, 1]\n" + write("scratch") + DONE
    assert rules((2, BOTH, text)) == {"unordered"}
    assert rules((2, 0x01, text)) == set()


PUT, GET = "scratch[put, $0, a0, 12, 1], ctx_swap[s4]", "scratch[get, $0, a0, 12, 1], ctx_swap[s4]"


def test_a_ring_hands_a_word_over() -> None:
    """The reader takes the word off the ring before it reads what the writer has written; or it does not wait for it."""
    writer = begin("sram") + write("sram") + "\n" + PUT + DONE
    reader = begin("sram") + f"wait#:\n{GET}\nalu[--, --, B, $0]\nbeq[wait#]\n" + read("sram") + DONE
    assert rules((0, 1, writer), (1, 1, reader)) == set()
    assert rules((0, 1, writer), (1, 1, reader.replace("beq[wait#]", "nop"))) == {"unordered"}
    early = begin("sram") + PUT + "\n" + write("sram") + DONE
    assert rules((0, 1, early), (1, 1, reader)) == {"unordered"}


def test_a_put_that_does_not_wait_for_the_write() -> None:
    """SRAM and the ring are different units: nothing keeps the put behind the write."""
    reader = begin("sram") + f"wait#:\n{GET}\nalu[--, --, B, $0]\nbeq[wait#]\n" + read("sram") + DONE
    early = begin("sram") + write("sram", "sig_done[s6]") + "\n" + PUT + "\nctx_arb[s6]" + DONE
    assert rules((0, 1, early), (1, 1, reader)) == {"unordered"}


def test_commands_of_a_thread_to_one_unit_keep_their_order() -> None:
    """Word and ring both in scratch memory: the put is behind the write without waiting."""
    reader = begin("scratch") + f"wait#:\n{GET}\nalu[--, --, B, $0]\nbeq[wait#]\n" + read("scratch") + DONE
    writer = begin("scratch") + write("scratch", "sig_done[s6]") + "\n" + PUT + "\nctx_arb[s6]" + DONE
    assert rules((0, 1, writer), (1, 1, reader)) == set()


def test_next_neighbour_registers_hand_over_too() -> None:
    writer = begin("sram") + write("sram") + "\nalu[n$3, --, B, 1]" + DONE
    reader = begin("sram") + "wait#:\nalu[--, --, B, n$3]\nbeq[wait#]\n" + read("sram") + DONE
    assert rules((0, 1, writer), (1, 1, reader)) == set()
    assert rules((0, 1, writer), (1, 1, reader.replace("beq[wait#]", "nop"))) == {"unordered"}


@pytest.mark.parametrize(("one", "other", "expected"), [(0x1, 0x8, set()), (0x3, 0x6, {"unordered"})])
def test_different_bytes_of_a_word_are_different(one: int, other: int, expected: set[str]) -> None:
    """Byte masks by indirect_ref: bit 20 says that bits 19..12 are one."""
    def writer(mask: int) -> str:
        word = 1 << 20 | mask << 12
        return (begin("sram") + f"immed[a1, {word & 0xFFFF:#x}]\nimmed_w1[a1, {word >> 16:#x}]\nalu[--, --, B, a1]\n"
                "sram[write, $0, a0, 0x40, 1], indirect_ref, ctx_swap[s4]" + DONE)

    assert rules((0, 1, writer(one)), (1, 1, writer(other))) == expected


# What is said

def test_a_race_is_told_once_with_both_source_lines() -> None:
    source = (".reg $word zero\n.sig done\nimmed[zero, 0]\nimmed[$word, 1]\n"
              "scratch[write, $word, zero, 0x40, 1], ctx_swap[done]\nctx_arb[kill]\n")
    image = assemble(text=source, path="writes.uc")
    chip = Chip()
    for me in range(3):
        chip.load(me, image, start=False)
    races = observe_races(chip, {me: image for me in range(3)})
    for me in range(3):
        chip.start(me)
    chip.run(cycles=3000)
    (race,) = races.found
    assert race.count > 20
    (told,) = races.diagnostics()
    assert told.label == "IXP7801"
    assert told.origin is not None and str(told.origin.span).startswith("writes.uc:5")
    assert told.notes[0].origin is not None and str(told.notes[0].origin.span).startswith("writes.uc:5")
    assert "context" in told.message and "cycle" in told.message and f"{race.count:,} times" in told.message
    assert "unordered on scratch word 0x40" in as_text(races.found)


def test_looking_in_the_middle_of_a_run_is_no_alarm() -> None:
    """What is under way when it begins is not known; later commands are followed."""
    writer = begin("sram") + write("sram") + "\n" + NEXT + DONE
    reader = begin("sram") + "ctx_arb[s2]\n" + read("sram") + DONE
    for cycle in range(0, 60, 7):
        chip = Chip()
        for me, text in ((0, writer), (1, reader)):
            chip.load_words(me, words_of(text), start=False)
            chip.start(me, contexts=1)
        chip.run(cycles=cycle)
        races = Races(chip)
        chip.observe(races, KINDS)
        chip.run(cycles=2000)
        assert races.found == []


def test_the_router_has_no_races() -> None:
    app = App.load("ipv4_forward", capture=False, mode="races")
    app.run(cycles=12_000)
    assert app.races is not None
    assert as_text(app.races.found) == ""
    assert isinstance(app.images[0], Image) and app.report().races == ()


# Atomics, SRAM rings and queues

ADD = "{0}[incr, --, a0, 0x40]"


@pytest.mark.parametrize("memory", ["scratch", "sram"])
def test_atomics_do_not_race_with_each_other(memory: str) -> None:
    text = begin(memory) + times(3, ADD.format(memory), f"{memory}[test_and_incr, $1, a0, 0x40], ctx_swap[s4]")
    assert rules((0, 0xFF, text), (1, 0xFF, text)) == set()


@pytest.mark.parametrize("memory", ["scratch", "sram"])
def test_a_plain_read_and_write_between_atomics_loses_them(memory: str) -> None:
    adds = begin(memory) + times(20, f"{memory}[test_and_incr, $1, a0, 0x40], ctx_swap[s4]")
    plain = begin(memory) + times(20, read(memory), "alu[$0, $0, +, 1]", write(memory))
    looks = begin(memory) + times(20, read(memory), "alu[$0, $0, +, 1]", write(memory, address=0x48))
    assert rules((0, 1, adds), (1, 1, plain), cycles=9000) == {"lost update"}
    assert rules((0, 1, adds), (1, 1, looks), cycles=9000) == set()


LOCK = "wait#:\nalu[$1, --, B, 1]\n{0}[test_and_set, $1, a0, 0x70], ctx_swap[s4]\nalu[--, --, B, $1]\nbne[wait#]"


@pytest.mark.parametrize("unlock", ["scratch[clr, $1, a0, 0x70], ctx_swap[s4]", "scratch[write, $2, a0, 0x70, 1], ctx_swap[s4]"])
def test_a_lock_of_test_and_set_orders_what_is_done_under_it(unlock: str) -> None:
    body = [read("sram"), "alu[$0, $0, +, 1]", write("sram"), "alu[$1, --, B, 1]", "immed[$2, 0]", unlock]
    locked = begin("sram") + times(3, LOCK.format("scratch"), *body)
    assert rules((0, BOTH, locked), (1, BOTH, locked), cycles=12_000) == set()
    open_ = locked.replace("bne[wait#]", "nop")
    assert rules((0, BOTH, open_), (1, BOTH, open_), cycles=12_000) == {"unordered"}


@pytest.mark.parametrize(("put", "get", "value"), [
    ("sram[put, $2, a1, 0, 1], ctx_swap[s4]", "sram[get, $2, a1, 0, 1], ctx_swap[s4]", "$2"),
    ("sram[enqueue, --, a2, 0x78], ctx_swap[s4]", "sram[dequeue, $2, a2, 0], ctx_swap[s4]", "$2"),
])
def test_rings_and_queues_of_sram_hand_over(put: str, get: str, value: str) -> None:
    """Entry 5 is a ring, entry 7 a queue; a word of DRAM is written before, and read after."""
    setup = begin("dram") + "immed[a1, 0x14]\nimmed[a2, 0]\nimmed_w1[a2, 0x700]\nalu[$2, --, B, 1]\n"
    reader = setup + f"wait#:\n{get}\nalu[--, --, B, {value}]\nbeq[wait#]\n" + read("dram") + DONE

    def found(writer: str, reader: str) -> set[str]:
        chip = Chip()
        chip.sram[0].ring(5).setup(0x1000, 512)
        chip.sram[0].queue(7).setup()
        for me, text in ((0, writer), (1, reader)):
            chip.load_words(me, words_of(text), start=False)
        races = observe_races(chip)
        for me in (0, 1):
            chip.start(me, contexts=1)
        chip.run(cycles=6000)
        return {race.rule for race in races.found}

    assert found(setup + write("dram") + "\n" + put + DONE, reader) == set()
    assert found(setup + put + "\n" + write("dram") + DONE, reader) == {"unordered"}
    assert found(setup + write("dram") + "\n" + put + DONE, reader.replace("beq[wait#]", "nop")) == {"unordered"}


def test_the_xscale_hands_over_too() -> None:
    """It takes a word off one ring and puts it on another: who gets it there has seen what who sent it here did before."""
    writer = begin("sram") + write("sram") + "\n" + PUT + DONE
    reader = begin("sram") + f"wait#:\n{GET.replace('12', '16')}\nalu[--, --, B, $0]\nbeq[wait#]\n" + read("sram") + DONE
    for relays in (True, False):
        chip = Chip()
        for ring, address in ((3, 0x1000), (4, 0x1400)):
            chip.scratch.ring(ring).setup(address, 128)
        for me, text in ((0, writer), (1, reader)):
            chip.load_words(me, words_of(text), start=False)
        races = observe_races(chip)
        for me in (0, 1):
            chip.start(me, contexts=1)
        chip.run(cycles=1000)
        if relays:
            assert chip.scratch.ring(3).get() == 1
        chip.scratch.ring(4).put(1)
        chip.run(cycles=2000)
        assert {race.rule for race in races.found} == (set() if relays else {"unordered"})


# Operations: atomics, and what goes from thread to thread on SRAM rings and queues

OPERATION_SETUP = ("immed[a0, 0x40]", "immed[a1, 0x300, <<16]", "immed[a2, 0x10]", "immed[$0, 1]", "immed[$1, 2]")


@pytest.mark.parametrize("unit", ["sram", "scratch"])
@pytest.mark.parametrize("command", [
    "test_and_incr, $2, a0, 0], ctx_swap[s4]", "incr, --, a0, 0]", "add, $0, a0, 0], ctx_swap[s4]",
])
def test_atomics_on_one_word_are_ordered(unit: str, command: str) -> None:
    text = "\n".join(OPERATION_SETUP) + "\n" + times(4, f"{unit}[{command}")
    assert rules((0, 0xFF, text), (1, 0xFF, text), cycles=20_000) == set()


def handed_over(put: str, get: str, between: str = "") -> set[str]:
    """Microengine 0 writes a word and hands it over, microengine 1 polls, and writes it when something has come."""
    first = "\n".join([*OPERATION_SETUP, "sram[write, $0, a0, 0, 1], ctx_swap[s4]", put, "ctx_arb[kill]"])
    second = "\n".join([*OPERATION_SETUP, "poll#:", get, "alu[--, $2, -, 0]", "beq[poll#]", between,
                        "sram[write, $1, a0, 0, 1], ctx_swap[s4]", "ctx_arb[kill]"])
    chip = Chip()
    chip.load_words(0, words_of(first), start=False)
    chip.load_words(1, words_of(second), start=False)
    chip.sram[0].queue(3).setup()
    chip.sram[0].ring(4).setup(0x1000, 512)
    races = observe_races(chip)
    for me in (0, 1):
        chip.start(me, contexts=1)
    chip.run(cycles=5000)
    return {race.rule for race in races.found}


def test_what_a_queue_or_a_ring_of_sram_hands_over_is_ordered() -> None:
    assert handed_over("sram[put, $1, a2, 0, 1], ctx_swap[s6]", "sram[get, $2, a2, 0, 1], ctx_swap[s4]") == set()
    assert handed_over("sram[enqueue, --, a1, 16]", "sram[dequeue, $2, a1, 0], ctx_swap[s4]") == set()


def test_a_word_that_is_only_waited_for_is_not() -> None:
    """The same without anything that orders: the second thread does not look at what the first one has put."""
    assert handed_over("sram[put, $1, a2, 0, 1], ctx_swap[s6]", "immed[a3, 1]\nalu[$2, --, B, 1]\nalu[--, a3, -, 0]\nbne[go#]\n"
                       "sram[get, $2, a2, 0, 1], ctx_swap[s4]", "go#:") == {"unordered"}


@pytest.mark.parametrize("waits", [True, False])
def test_a_signal_that_indirect_ref_sends_to_another_context(waits: bool) -> None:
    """Context 0 writes a word with the registers and the signal of context 1: bit 3 of the previous result says so."""
    text = ("immed[a0, 0]\nalu[$0, --, B, 1]\nbr=ctx[1, other#]\nimmed[a1, 0x9]\nalu[--, --, B, a1]\n"
            "sram[write, $0, a0, 0x40, 1], indirect_ref, sig_done[s4]\nctx_arb[kill]\nother#:\n"
            + ("ctx_arb[s4]" if waits else SWAP) + "\nsram[read, $0, a0, 0x40, 1], ctx_swap[s6]\nctx_arb[kill]")
    assert rules((2, BOTH, text)) == (set() if waits else {"unordered"})
