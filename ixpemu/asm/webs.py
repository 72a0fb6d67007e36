"""Live ranges: splits every name into webs of definitions and uses that belong together, and says which cannot share a register.

A web is what gets a number. Sets of webs are bit masks in Python integers, one bit a web. A transfer register and a signal of a
command are taken from its issue until the wait for its signal, whatever the text does with them. Banks and numbers are given
elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ixpemu.asm import copies
from ixpemu.asm.copies import Copy
from ixpemu.asm.dataflow import Graph, backward, forward
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
    certain: list[int] = field(default_factory=list)        # at each point, flights that are under way on every path
    copies: list[Copy] = field(default_factory=list)

    def of_variable(self, variable: int) -> list[int]:
        """The webs of a variable, in program order."""
        wanted = self.flow.variables[variable]
        return [number for number, web in enumerate(self.webs) if web.variable is wanted]


def find(flow: Flow) -> Webs:
    """The webs of a program, with their rivals."""
    graph = Graph.of(flow.successors, flow.starts)
    webs = _split(flow, graph)
    webs.live = _liveness(webs, graph)
    webs.pending = _pending(webs, graph)
    webs.occupied = _occupied(webs, graph)
    for number, web in enumerate(webs.webs):
        webs.members[web.variable.file] = webs.members.get(web.variable.file, 0) | 1 << number
    webs.copies = copies.find(flow, webs.at, [web.variable.pinned for web in webs.webs])
    webs.rivals = _rivals(webs, copies.alike(flow, graph, webs.copies, webs.of_occurrence))
    return webs


def _split(flow: Flow, graph: Graph) -> Webs:
    """Joins each use with the definitions that reach it, and what one operand names."""
    parent = list(range(len(flow.occurrences)))

    def root(item: int) -> int:
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    def join(left: int, right: int) -> None:
        left, right = root(left), root(right)
        parent[max(left, right)] = min(left, right)

    undefined = _join_reaching(flow, graph, join)
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


def _join_reaching(flow: Flow, graph: Graph, join: Callable[[int, int], None]) -> dict[int, bool]:
    """Joins uses with definitions; returns the uses that may see none."""
    count = len(flow.nodes)
    definition_bit: dict[int, int] = {}
    of_variable = [1 << variable for variable in range(len(flow.variables))]    # the lowest bits: a variable without a value
    items = [-1] * len(flow.variables)  # bit -> occurrence
    for number, occurrence in enumerate(flow.occurrences):
        if occurrence.writes and not flow.variables[occurrence.variable].pinned:
            definition_bit[number] = len(items)
            of_variable[occurrence.variable] |= 1 << len(items)
            items.append(number)
    gain, lose = [0] * count, [0] * count
    for number, bit in definition_bit.items():
        occurrence = flow.occurrences[number]
        gain[occurrence.node] |= 1 << bit
        lose[occurrence.node] |= of_variable[occurrence.variable] if occurrence.certain else 1 << occurrence.variable
    _consume(flow, definition_bit, of_variable, gain, lose)
    start = {flow.entry[0]: (1 << len(flow.variables)) - 1} if count else {}
    reaching = forward(graph, gain, lose, start)
    undefined: dict[int, bool] = {}
    joined: dict[int, int] = {}         # set of definitions -> a use joined with all of them
    for number, occurrence in enumerate(flow.occurrences):
        if occurrence.writes or flow.variables[occurrence.variable].pinned:
            continue
        definitions = reaching[occurrence.node] & of_variable[occurrence.variable]
        nothing = definitions & (1 << len(flow.variables)) - 1
        if nothing:
            undefined[number] = definitions == nothing
        values = definitions ^ nothing
        if values in joined:
            join(number, joined[values])
        elif values:
            joined[values] = number
            for bit in cells_of(values):
                join(number, items[bit])
    return undefined


def _consume(flow: Flow, definition_bit: dict[int, int], of_variable: list[int], gain: list[int], lose: list[int]) -> None:
    """A signal that has been waited for is not raised any more: behind the wait it is as before any command that raises it."""
    pairs = 0
    for flight in flow.flights:
        if flight.pair and flight.signal in definition_bit:
            pairs |= 1 << definition_bit[flight.signal]
    for number, node in enumerate(flow.nodes):
        for variable in node.consumes:
            if not flow.variables[variable].pinned:
                lose[number] |= of_variable[variable] & ~(pairs if node.polled else 0)
                gain[number] |= 1 << variable


def _liveness(webs: Webs, graph: Graph) -> list[int]:
    """Behind each point, the webs that some path reads before it writes them for certain."""
    flow = webs.flow
    count = len(flow.nodes)
    reads, writes, certain = [0] * count, [0] * count, [0] * count
    perhaps = 0
    for number, occurrence in enumerate(flow.occurrences):
        bit = 1 << webs.of_occurrence[number]
        if not occurrence.writes:
            reads[occurrence.node] |= bit
            continue
        writes[occurrence.node] |= bit
        if occurrence.certain:
            certain[occurrence.node] |= bit
        else:
            perhaps |= bit
    live = backward(graph, reads, certain)
    if perhaps:
        # A value that may stay is one that there may be.
        valued = forward(graph, writes, [0] * count)
        live = [mask & ~(perhaps & ~(valued[node] | writes[node])) for node, mask in enumerate(live)]
    return live


def _pending(webs: Webs, graph: Graph) -> list[int]:
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
    before = forward(graph, gain, lose)
    # What is not under way on some path is found as what may have been consumed, or not issued yet.
    everything = (1 << len(flow.flights)) - 1
    absent = forward(graph, lose, gain, dict.fromkeys(flow.starts, everything) if count else {})
    webs.certain = [before[node] & ~absent[node] for node in range(count)]
    return [gain[node] | (before[node] & ~lose[node]) for node in range(count)]


def _flight_mask(webs: Webs, flight: Flight) -> int:
    mask = 0
    for occurrence in (*flight.registers, *(() if flight.signal is None else (flight.signal,))):
        mask |= 1 << webs.of_occurrence[occurrence]
    return mask


def _occupied(webs: Webs, graph: Graph) -> list[int]:
    """Behind each point, the webs that will be read or that a unit may still use."""
    flow = webs.flow
    count = len(flow.nodes)
    masks = [_flight_mask(webs, flight) for flight in flow.flights]
    forever = [0] * count
    for flight, mask in zip(flow.flights, masks, strict=True):
        if flight.signal is None:       # nobody will know when it is done
            forever[flight.node] |= mask
    untold = forward(graph, forever, [0] * count)
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


def _rivals(webs: Webs, alike: dict[int, int]) -> list[int]:
    """Which webs of a file hold something at the same time: what is written or filled at a point, against all that is occupied
    behind it but what it is a copy of; at the start of the program, against each other; pinned ones, against all."""
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
            rivals[web] |= (webs.occupied[node] | mask) & mask_of[web] & ~alike.get(node, 0)
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
