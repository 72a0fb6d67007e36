"""Small straight programs of commands, and every way of placing their transfer registers and signals tried.

Each group of registers is filled by one command and read behind the wait for it. So a register is taken from the command's issue
to its last read, or to the wait, and a signal from the issue to the wait: intervals of the text, found without any analysis of
flow.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass(slots=True)
class Group:
    """One command: its file, its registers' names, when it is issued and waited for, and when each register is read last."""

    pair: bool
    names: list[str]
    signal: str
    issue: int = -1
    wait: int = -1
    last: list[int] = field(default_factory=list)

    def ends(self) -> list[int]:
        """Until when each register is taken."""
        return [max(self.wait, last) for last in self.last]


@dataclass(slots=True)
class Commands:
    """A program with its groups."""

    text: str
    groups: list[Group]

    def possible(self, transfers: int, signals: int) -> bool:
        """Whether there are places for all, in so many registers of each file and with so many signals."""
        files = [[one for one in self.groups if one.pair is pair] for pair in (False, True)]
        return all(_registers(groups, transfers, []) for groups in files) and _signals(self.groups, signals, [])


def _meet(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def _registers(groups: list[Group], room: int, starts: list[int]) -> bool:
    """Whether the groups behind those that have a start can be placed."""
    if len(starts) == len(groups):
        return True
    mine = groups[len(starts)]
    for start in range(room - len(mine.names) + 1):
        clash = any(
            start + place == theirs + there and _meet((mine.issue, end), (other.issue, their_end))
            for other, theirs in zip(groups, starts, strict=False)
            for place, end in enumerate(mine.ends()) for there, their_end in enumerate(other.ends())
        )
        if not clash and _registers(groups, room, [*starts, start]):
            return True
    return False


def _signals(groups: list[Group], most: int, numbers: list[int]) -> bool:
    if len(numbers) == len(groups):
        return True
    mine = groups[len(numbers)]
    for number in range(1, most + 1):
        if mine.pair and (number % 2 or number == most):
            continue
        own = {number, number + mine.pair}
        clash = any(
            own & {theirs, theirs + other.pair} and _meet((mine.issue, mine.wait), (other.issue, other.wait))
            for other, theirs in zip(groups, numbers, strict=False)
        )
        if not clash and _signals(groups, most, [*numbers, number]):
            return True
    return False


def program(seed: int, most: int = 12) -> Commands:
    """A program of up to `most` transfer registers."""
    chance = random.Random(seed)
    groups: list[Group] = []
    left = chance.randint(4, most)
    while left > 0:
        pair = chance.random() < 0.3
        size = 2 if pair else min(left, chance.randint(1, 4))
        number, mark = len(groups), "$$" if pair else "$"
        groups.append(Group(pair, [f"{mark}g{number}[{place}]" for place in range(size)], f"s{number}"))
        left -= size
    lines = ["immed[where, 0]"]
    todo, flying, unread = list(range(len(groups))), [], []
    while todo or flying or unread:
        kind = chance.choice(["issue"] * bool(todo) + ["wait"] * bool(flying) + ["read"] * bool(unread))
        now = len(lines)
        if kind == "issue":
            number = todo.pop(0)
            one = groups[number]
            one.issue = now
            count = len(one.names) // (2 if one.pair else 1)
            lines.append(f"{'dram' if one.pair else 'sram'}[read, {one.names[0]}, where, 0, {count}], sig_done[{one.signal}]")
            flying.append(number)
        elif kind == "wait":
            number = flying.pop(chance.randrange(len(flying)))
            groups[number].wait = now
            groups[number].last = [now] * len(groups[number].names)
            lines.append(f"ctx_arb[{groups[number].signal}]")
            unread += [(number, place) for place in range(len(groups[number].names)) if chance.random() < 0.8]
        else:
            number, place = unread.pop(chance.randrange(len(unread)))
            groups[number].last[place] = now
            lines.append(f"alu[--, --, B, {groups[number].names[place]}]")
    head = [".reg where", f".sig {' '.join(one.signal for one in groups)}"]
    for one in groups:
        name = one.names[0].split("[")[0]
        head += [f".reg read {name}[{len(one.names)}]", f".xfer_order {name}"]
    return Commands("\n".join([*head, *lines, "ctx_arb[kill]"]) + "\n", groups)
