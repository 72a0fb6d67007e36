"""Random programs on a whole chip: valid words, any 40 bits, and a host that writes registers, memories and rings meanwhile."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache

from ixpemu import Chip
from ixpemu.diagnostics import UserError
from ixpemu.engine.layout import STOP_NAMES, STORE_WORDS
from ixpemu.isa import instruction_set
from ixpemu.isa.chipfile import load_chip
from tests.fuzz.limits import watched

NAMED = set(STOP_NAMES) - {"", "internal"}
STORE = 256                     # words of a random program
POOL = 5_000                    # valid words that programs are drawn from, new ones for every process
FRAMES = [bytes(range(60)), bytes(range(256)) * 5, bytes(1514), bytes(64)]
# Blocks that end a thread or all of them: rare, or nothing else would get a turn.
ENDS = ("ctx_arb_kill", "halt")


@cache
def pool(seed: int) -> tuple[int, ...]:
    """Words that decode: the fixed bits of a form, anything in its fields."""
    pick = random.Random(seed)
    isa = instruction_set()
    blocks = [block for block in isa.blocks.values() if block.name not in ENDS]
    found: list[int] = []
    while len(found) < POOL:
        form = pick.choice(pick.choice(blocks).forms)
        word = pick.getrandbits(40) & ~form.fixed_mask | form.fixed_bits
        decoded = isa.decode(word, 8)
        if decoded is not None and decoded.block.name not in ENDS:
            found.append(word)
    return tuple(found)


def near(pick: random.Random, word: int) -> int:
    """The word, its branch target inside the program if it has one: programs that leave at once say little."""
    decoded = instruction_set().decode(word, 8)
    if decoded is not None and decoded.facts.branch is not None and "t" in decoded.form.fields:
        field = decoded.form.fields["t"]
        shift = (field.mask & -field.mask).bit_length() - 1
        return word & ~field.mask | pick.randrange(STORE) << shift & field.mask
    return word


def machine(pick: random.Random, words: Callable[[], int], mode: str) -> Chip:
    """A chip with random programs, registers, memories, rings and ports that receive frames."""
    chip = Chip(load_chip(), mode=mode)
    small = pick.random() < 0.7
    for me in range(8):
        contexts = pick.choice((8, 8, 8, 4))
        chip.load_words(me, [words() for _ in range(STORE)], contexts=contexts, start=False)
        _fill_store(chip, me)
        engine = chip.me[me]
        for bank in (engine.gpr_a_abs, engine.gpr_b_abs, engine.local_memory):
            bank[:] = [_value(pick, small) for _ in range(len(bank))]
    for ring in range(16):
        if pick.random() < 0.8:
            chip.scratch.ring(ring).setup(0x800 + 0x200 * (ring % 16), 128, empty_flag=pick.random() < 0.5)
    chip.msf.csr["RX_CONTROL"] = 0xF0000000 | pick.getrandbits(4)
    for element in range(1, pick.randrange(2, 100)):
        chip.msf.write(0x44, element)
    for port in chip.ports:
        if pick.random() < 0.5:
            port.feed([pick.choice(FRAMES) for _ in range(200)], gbps=1.0)
    for me in range(8):
        chip.start(me)
    return chip


def _fill_store(chip: Chip, me: int) -> None:
    """Repeat a program to the end of the store, so that a jump to anywhere finds words. Decoding so many would take seconds."""
    for field in (chip.state.code, chip.state.store):
        store = field[me * STORE_WORDS:(me + 1) * STORE_WORDS]
        for first in range(STORE, STORE_WORDS, STORE):
            store[first:first + STORE] = store[:STORE]


def _value(pick: random.Random, small: bool) -> int:
    """A register's value: an address that is populated more often than not."""
    kind = pick.random()
    if kind < 0.5 and small:
        return pick.randrange(0, 0x2000, 4)
    if kind < 0.6:
        return pick.choice((0, 1, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0x2000, 0x40000000, 0x8400))
    return pick.getrandbits(32)


def wake(pick: random.Random, chip: Chip) -> None:
    """Give sleeping threads signals, and start anew those that will never run again."""
    for me in chip.me:
        if me.executing is None or pick.random() < 0.1:
            for ctx in me.ctx:
                if ctx.state == "inactive":
                    continue
                for _ in range(3):
                    ctx.signal(pick.randrange(1, 16))
        if me.executing is None and pick.random() < 0.5:
            chip.start(me.number)


def run(seed: int, amount: int, words: Callable[[random.Random], Iterator[int]], host: bool) -> dict[str, object]:
    """Runs until `amount` instructions have been executed; new programs every now and then. Returns what happened."""
    pick = random.Random(seed)
    stops: dict[str, int] = {}
    done = programs = cycles = 0
    reserved: set[str] = set()
    while done < amount:
        source = words(pick)
        chip = machine(pick, lambda source=source: next(source), pick.choice(("default", "fast")))  # type: ignore[misc]
        programs += 1
        burst = max(50, min(10_000, amount // 50))
        for _ in range(20):
            with watched(60):
                before = chip.cycle
                stop = chip.run(cycles=pick.randrange(1, 2 * burst))
                assert stop.reason in NAMED, stop
                assert chip.cycle - before <= 2 * burst
            stops[stop.reason] = stops.get(stop.reason, 0) + 1
            for me in chip.me:
                assert sum(me.cycles.values()) == me.clock, "a cycle is not accounted for"
            if host:
                meddle(pick, chip)
            wake(pick, chip)
            if done + chip.instructions >= amount:
                break
        done += chip.instructions
        cycles += chip.cycle
        reserved |= set(chip.reserved)
    return {"instructions": done, "programs": programs, "cycles": cycles, "stops": stops, "reserved": sorted(reserved)}


def valid_words(pick: random.Random) -> Iterator[int]:
    """Words that decode, most branches staying inside."""
    words = pool(pick.randrange(1 << 32) if pick.random() < 0.02 else 1)
    while True:
        word = pick.choice(words)
        yield near(pick, word) if pick.random() < 0.95 else word


def any_words(pick: random.Random) -> Iterator[int]:
    """Any 40 bits, among enough valid words to get from one to the next."""
    valid = valid_words(pick)
    share = pick.choice((0.02, 0.2, 1.0))
    while True:
        yield pick.getrandbits(40) if pick.random() < share else next(valid)


def meddle(pick: random.Random, chip: Chip) -> None:
    """What a host may do at any time: CSRs of all three spaces by address and name, memories, rings, signals, program store."""
    names = {space: [csr.name for csr in instruction_set().csrs if csr.space == space] for space in ("cap", "msf")}
    for _ in range(pick.randrange(1, 12)):
        value = pick.choice((0, 1, 0xFFFFFFFF, pick.getrandbits(32), pick.getrandbits(8), 1 << pick.randrange(32)))
        action: Callable[[], object] = pick.choice((
            lambda value=value: chip.me[pick.randrange(8)].csr.__setitem__(pick.randrange(0, 0x200, 4), value),
            lambda value=value: chip.me[pick.randrange(8)].csr[pick.randrange(0, 0x200, 4)],
            lambda value=value: chip.cap.write(pick.randrange(0x4000, 0x5000, 4), value),
            lambda value=value: chip.cap.write(pick.choice(names["cap"]), value),
            lambda value=value: chip.cap.read(pick.randrange(0x4000, 0x5000, 4)),
            lambda value=value: chip.msf.write(pick.randrange(0, 0x4000, 4), value),
            lambda value=value: chip.msf.fast_write(pick.randrange(0, 0x200, 4), value),
            lambda value=value: chip.msf.read(pick.randrange(0, 0x4000, 4)),
            lambda value=value: chip.sram[pick.randrange(2)].write(pick.randrange(0, 0x1000, 4), [value]),
            lambda value=value: chip.scratch.write(pick.randrange(0, 0x4000, 4), [value]),
            lambda value=value: chip.scratch.ring(pick.randrange(16)).put(value),
            lambda value=value: chip.scratch.ring(pick.randrange(16)).get(),
            lambda value=value: chip.dram.write(pick.randrange(0, 0x10000, 8), [value, value]),
            lambda value=value: chip.restore(chip.snapshot()),
        ))
        with suppress(UserError):
            action()
