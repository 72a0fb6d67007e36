"""Who waits for what when nothing happens any more: contexts asleep on signals that nobody can raise, and who would raise them.

A context can still be woken if its signal is on its way, if it stands on a receive free list (waiting for input is no deadlock),
or if a microengine with a context that can run, or still be woken, has an instruction that signals other threads. Instructions
are read from the control stores, so that it is known what a program could do and not what it will.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ixpemu import codes
from ixpemu.chip_reserved import origin_of
from ixpemu.chip_views import Microengine
from ixpemu.diagnostics import Diagnostic, Note, Severity
from ixpemu.engine import numbers as n
from ixpemu.engine.arrivals import CTX_SHIFT, SIGNAL_ALONE
from ixpemu.engine.decode import read_word
from ixpemu.engine.layout import CONTEXTS, NEVER, SIGNAL_BITS, WAKEUP_ANY
from ixpemu.engine.msf_layout import LISTS, THREADS_MAX
from ixpemu.image import Image
from ixpemu.isa import instruction_set

SHOWN = 6       # waiting contexts that a message names


@dataclass(frozen=True, slots=True)
class Waiting:
    """A context asleep: the numbers of the signals that have not come, and whether one of them is enough."""

    me: int
    ctx: int
    address: int
    signals: tuple[int, ...]
    any_of_them: bool


@dataclass(frozen=True, slots=True)
class _Raisers:
    """Instructions of a program that raise signals: commands as (address, mask), and what signals other threads by whom it can
    reach, as (address, microengines away from its own; None for any)."""

    commands: tuple[tuple[int, int], ...]
    threads: tuple[tuple[int, int | None], ...]


def asleep(microengines: Iterable[Microengine]) -> list[Waiting]:
    """The contexts that sleep on something, in order. One that was killed waits for nothing."""
    found = []
    for me in microengines:
        engine = me.engine
        enabled, ready, executing = int(engine.enabled), int(engine.ready), int(engine.context)
        for ctx in range(CONTEXTS):
            wakeup = int(engine.wakeup[ctx])
            if not enabled >> ctx & 1 or ready >> ctx & 1 or executing == ctx or not wakeup & SIGNAL_BITS:
                continue
            missing = wakeup & ~int(engine.signals[ctx]) & SIGNAL_BITS
            numbers = tuple(k for k in range(1, 16) if missing >> k & 1)
            found.append(Waiting(me.number, ctx, int(engine.pc[ctx]), numbers, bool(wakeup & WAKEUP_ANY)))
    return found


def stuck(state: Any, microengines: Sequence[Microengine]) -> list[Waiting]:
    """The sleeping contexts that nothing can wake any more."""
    coming = _on_their_way(state)
    waiting = asleep(microengines)
    lost = [one for one in waiting if not _can_come(one, coming.get((one.me, one.ctx), 0))]
    alive = {me.number for me in microengines if int(me.engine.context) < 0x80 or int(me.engine.ready) & int(me.engine.enabled)}
    alive |= {one.me for one in waiting if one not in lost}
    while True:
        reached: set[int] = set()
        for me in alive:
            for _, distance in _raisers(_words(microengines[me])).threads:
                reached |= set(range(len(microengines))) if distance is None else {me + distance}
        woken = [one for one in lost if one.me in reached]
        if not woken:
            return lost
        lost = [one for one in lost if one not in woken]
        alive |= {one.me for one in woken}


def ended(microengines: Sequence[Microengine]) -> bool:
    """Whether no context executes, is ready or sleeps on a signal."""
    idle = all(int(me.engine.context) >= 0x80 and not int(me.engine.ready) & int(me.engine.enabled) for me in microengines)
    return idle and not asleep(microengines)


def _can_come(one: Waiting, coming: int) -> bool:
    bits = [coming >> number & 1 for number in one.signals]
    return any(bits) if one.any_of_them else all(bits)


def _words(me: Microengine) -> tuple[int, ...]:
    return tuple(me.store.tolist())


@lru_cache(maxsize=32)
def _raisers(words: tuple[int, ...]) -> _Raisers:
    commands: list[tuple[int, int]] = []
    threads: list[tuple[int, int | None]] = []
    away = {n.CSR_SAME_ME_SIGNAL: 0, n.CSR_NEXT_NEIGHBOR_SIGNAL: 1, n.CSR_PREV_NEIGHBOR_SIGNAL: -1}
    for address, word in enumerate(words):
        step = read_word(word, 8)
        if step is None:
            continue
        if step.value("signal") and step.variant.external and step.facts.signal is not None:
            commands.append((address, ((3 if step.facts.signal_pair else 1) << step.value("signal")) & SIGNAL_BITS))
            if step.value("indirect_ref"):
                threads.append((address, None))         # its signal may go to another thread
        if step.variant.action == "csr_write" and step.values.get("csr") in away:
            threads.append((address, away[step.values["csr"]]))
        elif step.variant.action is not None and step.variant.external and step.variant.block == "cap":
            threads.append((address, None))             # an inter-thread signal, or an interrupt whose handler sends one
    return _Raisers(tuple(commands), tuple(threads))


def _on_their_way(state: Any) -> dict[tuple[int, int], int]:
    """The signals that will come by themselves, by microengine and context: of events under way, timers, and free lists."""
    found: dict[tuple[int, int], int] = {}

    def note(me: int, ctx: int, mask: int) -> None:
        found[me, ctx] = found.get((me, ctx), 0) | mask

    for slot in _slots(state):
        event = state.events[slot]
        note(int(event["me"]), int(event["ctx"]), int(event["signals"]))
    for me in range(len(state.engines)):
        engine = state.engines[me]
        for what in engine.arrival_what[: int(engine.arrivals)].tolist():
            if what & SIGNAL_ALONE:
                note(me, what >> CTX_SHIFT & 7, what & 0xFFFF)
            else:
                event = state.events[what]
                note(int(event["me"]), int(event["ctx"]), int(event["signals"]))
        for ctx in range(CONTEXTS):
            if int(engine.future_due[ctx]) < NEVER:
                note(me, ctx, 1 << int(engine.future_signal[ctx]))
    msf = state.msf
    for which in range(LISTS):
        for k in range(int(msf.thread_head[which]), int(msf.thread_tail[which])):
            entry = int(msf.thread_ring[which * THREADS_MAX + k % THREADS_MAX])
            me = entry >> 7 & 7
            if int(state.cluster_shift) > 2:            # the cluster is in another bit there, see receive_lists.py
                me |= entry >> 11 << 3 & 8
            note(me, entry >> 4 & 7, 1 << (entry >> 12))
    return found


def _slots(state: Any) -> Iterable[int]:
    """The events that are under way."""
    for bucket in state.bucket_first[state.bucket_first != 0]:
        slot = int(bucket)
        while slot:
            yield slot - 1
            slot = int(state.event_next[slot - 1])
    yield from (int(slot) for slot in state.far_slot[: int(state.far_count)])


def backlog(state: Any) -> int:
    """Received elements that no thread has taken."""
    msf = state.msf
    return sum(int(msf.full_tail[which]) - int(msf.full_head[which]) for which in range(LISTS))


def deadlock(state: Any, microengines: Sequence[Microengine], images: Mapping[int, Image], cycle: int) -> Diagnostic | None:
    """What to say if packets are inside, or input waits, and contexts sleep on what nobody can raise; None if that is not so."""
    inside, waiting = int(state.packets_inside), backlog(state)
    if not inside and not waiting:
        return None
    lost = stuck(state, microengines)
    if not lost:
        return None
    held = [f"{inside:,} packet{'s' if inside != 1 else ''} inside"] if inside else []
    held += [f"{waiting:,} element{'s' if waiting != 1 else ''} of input waiting"] if waiting else []
    first = lost[0]
    notes = [Note(describe(one, microengines, images), origin_of(images.get(one.me), one.address - 1)) for one in lost[:SHOWN]]
    if len(lost) > SHOWN:
        notes.append(Note(f"and {len(lost) - SHOWN} more contexts"))
    return Diagnostic(
        codes.DEADLOCK, f"deadlock at cycle {cycle:,}, with {' and '.join(held)}: {describe(first, microengines, images)}",
        Severity.ERROR, origin_of(images.get(first.me), first.address - 1),
        "raise the signal on every path that another thread may wait on, and wait only for what was started", tuple(notes),
    )


def describe(one: Waiting, microengines: Sequence[Microengine], images: Mapping[int, Image]) -> str:
    """One waiting context in words: for which signals, by name where the source has one, and who would raise them."""
    image = images.get(one.me)
    joined = (" or " if one.any_of_them else " and ").join(_signal(image, number, one.address) for number in one.signals)
    plural = "s" if len(one.signals) > 1 else ""
    who = _who(one, microengines, images)
    return f"microengine {one.me} context {one.ctx} at {one.address} waits for signal{plural} {joined}; {who}"


def _signal(image: Image | None, number: int, address: int) -> str:
    """A signal by the name that it has just before `address`, or by its number."""
    ranges = () if image is None else tuple(live for live in image.ranges if number in _numbers(live.register))
    near = [live for live in ranges if live.first <= address - 1 <= live.last] or ranges
    return f"{near[0].name.rpartition('!')[2]} ({number})" if near else str(number)


def _numbers(register: str) -> tuple[int, ...]:
    """The numbers of a signal as images name it: `s4`."""
    return (int(register[1:]),) if register[:1] == "s" and register[1:].isdigit() else ()


def _who(one: Waiting, microengines: Sequence[Microengine], images: Mapping[int, Image]) -> str:
    mask = sum(1 << number for number in one.signals)
    own = _raisers(_words(microengines[one.me]))
    commands = [address for address, raised in own.commands if raised & mask]
    if commands:
        before = [address for address in commands if address < one.address]
        nearest = before[-1] if before else commands[-1]
        others = f" (and {len(commands) - 1} more)" if len(commands) > 1 else ""
        return f"it is raised by {_instruction(microengines[one.me], images, nearest)}{others}, which is not under way"
    for me in microengines:
        for address, distance in _raisers(_words(me)).threads:
            if distance is None or me.number + distance == one.me:
                return f"another thread would raise it, as by {_instruction(me, images, address)} of microengine {me.number}"
    return "no instruction of any program raises it"


def _instruction(me: Microengine, images: Mapping[int, Image], address: int) -> str:
    """An instruction in its source's words, with its line."""
    image = images.get(me.number)
    if image is not None and address < len(image.debug):
        found = image.debug[address]
        return f"{found.source.strip()} in {found.place}" if found.source else f"the instruction in {found.place}"
    decoded = read_word(int(me.store[address]), me.contexts)
    return f"{instruction_set().format(decoded.operation)} at {address}" if decoded is not None else f"the word at {address}"
