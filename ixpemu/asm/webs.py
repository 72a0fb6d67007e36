"""Live ranges: splits every name into webs of definitions and uses that belong together, and says which cannot share a register.

A web is what gets a number. Sets of webs are bit masks in Python integers, one bit a web. A transfer register and a signal of a
command are taken from its issue until the wait for its signal, whatever the text does with them. Banks and numbers are given
elsewhere.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ixpemu.asm.flow import File, Flight, Flow, Site, Variable
from ixpemu.asm.numbers import cells_of


@dataclass(slots=True)
class Web:
    """One live range. `occurrences`: where it is read and written, in program order. `pair`: a signal raised as a pair."""

    variable: Variable
    occurrences: list[int] = field(default_factory=list)
    pair: bool = False


@dataclass(slots=True)
class Webs:
    """All live ranges of a program.

    `at[site, file]`: the web named at a place of the text. `occupied[n]`: webs that hold something behind point n. `rivals[w]`:
    webs of the same file that cannot share with web w. `members[file]`: the webs of a file, as a mask.
    """

    flow: Flow
    webs: list[Web]
    at: dict[tuple[Site, File], int]
    of_occurrence: list[int]
    undefined: dict[int, bool]          # occurrence read with no value on some path; True: on every path
    live: list[int] = field(default_factory=list)           # behind each point, webs that will be read
    occupied: list[int] = field(default_factory=list)
    rivals: list[int] = field(default_factory=list)
    members: dict[File, int] = field(default_factory=dict)
    pending: list[int] = field(default_factory=list)        # behind each point, flights that may be under way, as a mask

    def of_variable(self, variable: int) -> list[int]:
        """The webs of a variable, in program order."""
        wanted = self.flow.variables[variable]
        return [number for number, web in enumerate(self.webs) if web.variable is wanted]


def find(flow: Flow) -> Webs:
    """The webs of a program, with their rivals."""
    webs = _split(flow)
    predecessors = flow.predecessors()
    webs.live = _liveness(webs, predecessors)
    webs.pending = _pending(webs, predecessors)
    webs.occupied = _occupied(webs, predecessors)
    for number, web in enumerate(webs.webs):
        webs.members[web.variable.file] = webs.members.get(web.variable.file, 0) | 1 << number
    webs.rivals = _rivals(webs)
    return webs


def _forward(flow: Flow, start: list[int], gain: list[int], lose: list[int], predecessors: list[list[int]]) -> list[int]:
    """The least solution of `out = gain | (in & ~lose)`, `in` the union over predecessors and `start`. Returns every `in`."""
    count = len(flow.nodes)
    before, after = list(start), [0] * count
    queue, waiting = deque(range(count)), [True] * count
    while queue:
        node = queue.popleft()
        waiting[node] = False
        arriving = start[node]
        for predecessor in predecessors[node]:
            arriving |= after[predecessor]
        before[node] = arriving
        leaving = gain[node] | (arriving & ~lose[node])
        if leaving != after[node]:
            after[node] = leaving
            for successor in flow.successors[node]:
                if not waiting[successor]:
                    waiting[successor] = True
                    queue.append(successor)
    return before


def _split(flow: Flow) -> Webs:
    """Joins each use with the definitions that reach it, and what one operand names."""
    parent = list(range(len(flow.occurrences) + len(flow.variables)))   # behind the occurrences: a variable before any definition

    def root(item: int) -> int:
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    def join(left: int, right: int) -> None:
        left, right = root(left), root(right)
        parent[max(left, right)] = min(left, right)

    undefined = _join_reaching(flow, join)
    first: dict[int, int] = {}
    named: dict[tuple[Site, File], int] = {}
    for number, occurrence in enumerate(flow.occurrences):
        if flow.variables[occurrence.variable].pinned:
            join(first.setdefault(occurrence.variable, number), number)
        if occurrence.site is not None:
            key = occurrence.site, flow.variables[occurrence.variable].file
            join(named.setdefault(key, number), number)
    number_of: dict[int, int] = {}
    webs: list[Web] = []
    of_occurrence = []
    for number, occurrence in enumerate(flow.occurrences):
        web = number_of.setdefault(root(number), len(webs))
        if web == len(webs):
            webs.append(Web(flow.variables[occurrence.variable]))
        webs[web].occurrences.append(number)
        of_occurrence.append(web)
    for variable in flow.variables:     # whose address alone is used
        if variable.pinned and all(web.variable is not variable for web in webs):
            webs.append(Web(variable))
    for flight in flow.flights:
        if flight.pair and flight.signal is not None:
            webs[of_occurrence[flight.signal]].pair = True
    return Webs(flow, webs, {key: of_occurrence[number] for key, number in named.items()}, of_occurrence, undefined)


def _join_reaching(flow: Flow, join: Callable[[int, int], None]) -> dict[int, bool]:
    """Joins uses with definitions; returns the uses that may see none."""
    count = len(flow.nodes)
    definition_bit: dict[int, int] = {}
    of_variable = [0] * len(flow.variables)
    items: list[int] = []               # bit -> union-find item
    for variable in range(len(flow.variables)):
        of_variable[variable] |= 1 << len(items)
        items.append(len(flow.occurrences) + variable)
    for number, occurrence in enumerate(flow.occurrences):
        if occurrence.writes and not flow.variables[occurrence.variable].pinned:
            definition_bit[number] = len(items)
            of_variable[occurrence.variable] |= 1 << len(items)
            items.append(number)
    gain, lose, start = [0] * count, [0] * count, [0] * count
    if count:
        start[flow.entry[0]] = (1 << len(flow.variables)) - 1
    for number, bit in definition_bit.items():
        occurrence = flow.occurrences[number]
        gain[occurrence.node] |= 1 << bit
        lose[occurrence.node] |= of_variable[occurrence.variable]
    reaching = _forward(flow, start, gain, lose, flow.predecessors())
    undefined: dict[int, bool] = {}
    joined: dict[int, int] = {}         # set of definitions -> a use joined with all of them
    for number, occurrence in enumerate(flow.occurrences):
        if occurrence.writes or flow.variables[occurrence.variable].pinned:
            continue
        definitions = reaching[occurrence.node] & of_variable[occurrence.variable]
        nothing = definitions & (1 << len(flow.variables)) - 1
        if nothing:
            undefined[number] = definitions == nothing
        if definitions in joined:
            join(number, joined[definitions])
        elif definitions:
            joined[definitions] = number
            for bit in cells_of(definitions):
                join(number, items[bit])
    return undefined


def _liveness(webs: Webs, predecessors: list[list[int]]) -> list[int]:
    """Behind each point, the webs that some path reads before it writes them."""
    flow = webs.flow
    count = len(flow.nodes)
    reads, writes = [0] * count, [0] * count
    for number, occurrence in enumerate(flow.occurrences):
        bit = 1 << webs.of_occurrence[number]
        if occurrence.writes:
            writes[occurrence.node] |= bit
        else:
            reads[occurrence.node] |= bit
    before, after = list(reads), [0] * count
    queue, waiting = deque(reversed(range(count))), [True] * count
    while queue:
        node = queue.popleft()
        waiting[node] = False
        leaving = 0
        for successor in flow.successors[node]:
            leaving |= before[successor]
        after[node] = leaving
        arriving = reads[node] | (leaving & ~writes[node])
        if arriving != before[node]:
            before[node] = arriving
            for predecessor in predecessors[node]:
                if not waiting[predecessor]:
                    waiting[predecessor] = True
                    queue.append(predecessor)
    return after


def _pending(webs: Webs, predecessors: list[list[int]]) -> list[int]:
    """Behind each point, the flights with a signal that may be under way."""
    flow = webs.flow
    count = len(flow.nodes)
    gain, lose = [0] * count, [0] * count
    alone: dict[int, int] = {}          # variable of a signal -> its flights that raise it alone
    pairs: dict[int, int] = {}
    for number, flight in enumerate(flow.flights):
        if flight.signal is not None:
            gain[flight.node] |= 1 << number
            variable = flow.occurrences[flight.signal].variable
            table = pairs if webs.webs[webs.of_occurrence[flight.signal]].pair else alone
            table[variable] = table.get(variable, 0) | 1 << number
    for number, node in enumerate(flow.nodes):
        for variable in node.consumes:
            lose[number] |= alone.get(variable, 0) | (0 if node.polled else pairs.get(variable, 0))
    before = _forward(flow, [0] * count, gain, lose, predecessors)
    return [gain[node] | (before[node] & ~lose[node]) for node in range(count)]


def _flight_mask(webs: Webs, flight: Flight) -> int:
    mask = 0
    for occurrence in (*flight.registers, *(() if flight.signal is None else (flight.signal,))):
        mask |= 1 << webs.of_occurrence[occurrence]
    return mask


def _occupied(webs: Webs, predecessors: list[list[int]]) -> list[int]:
    """Behind each point, the webs that will be read or that a unit may still use."""
    flow = webs.flow
    count = len(flow.nodes)
    masks = [_flight_mask(webs, flight) for flight in flow.flights]
    forever = [0] * count
    for flight, mask in zip(flow.flights, masks, strict=True):
        if flight.signal is None:       # nobody will know when it is done
            forever[flight.node] |= mask
    untold = _forward(flow, [0] * count, forever, [0] * count, predecessors)
    out, known = [], {0: 0}
    for node in range(count):
        pending = webs.pending[node]
        if pending not in known:
            known[pending] = _union(masks[number] for number in cells_of(pending))
        out.append(webs.live[node] | known[pending] | untold[node] | forever[node])
    return out


def _union(masks: Iterable[int]) -> int:
    out = 0
    for mask in masks:
        out |= mask
    return out


def _rivals(webs: Webs) -> list[int]:
    """Which webs of a file hold something at the same time: what is written or filled at a point, against all that is occupied
    behind it; at the start of the program, against each other; pinned ones, against all."""
    flow = webs.flow
    mask_of = [webs.members[web.variable.file] for web in webs.webs]
    rivals = [0] * len(webs.webs)
    starting = [0] * len(flow.nodes)
    for number, occurrence in enumerate(flow.occurrences):
        if occurrence.writes:
            starting[occurrence.node] |= 1 << webs.of_occurrence[number]
    for flight in flow.flights:
        starting[flight.node] |= _flight_mask(webs, flight)
    for node, mask in enumerate(starting):
        for web in cells_of(mask):
            rivals[web] |= (webs.occupied[node] | mask) & mask_of[web]
    if flow.nodes:
        at_start = _before(webs, flow.entry[0])
        for web in cells_of(at_start):
            rivals[web] |= at_start & mask_of[web]
    for web, mask in enumerate(mask_of):
        if webs.webs[web].variable.pinned:
            rivals[web] |= mask
    for web in range(len(rivals)):
        rivals[web] &= ~(1 << web)
        for other in cells_of(rivals[web]):
            rivals[other] |= 1 << web
    return rivals


def _before(webs: Webs, node: int) -> int:
    """The webs that are read from `node` on before they are written."""
    mask = webs.live[node]
    occurrences, point = webs.of_occurrence, webs.flow.nodes[node]
    for number in point.writes:
        mask &= ~(1 << occurrences[number])
    for number in point.reads:
        mask |= 1 << occurrences[number]
    return mask
