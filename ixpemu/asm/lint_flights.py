"""Commands that are under way where control comes round to their signal or their registers, and nothing on any path waits.

What is under way on every path is told by `flow_warnings`; here it is also told where the way from the program's beginning has no
command on it yet. If anything on any path may have waited, nothing is said.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ixpemu import codes
from ixpemu.asm.flow import Flight, Occurrence
from ixpemu.asm.lint_base import Lints
from ixpemu.asm.numbers import cells_of
from ixpemu.diagnostics import Note

_NEVER, _IDLE, _FIRST = 1, 2, 2     # bits of a track: no command yet, its signal was looked at since; then one for each command


@dataclass(slots=True)
class _Track:
    """What happened last to one signal or register: one of `flights`, or something at one of the nodes `idle`."""

    variable: int
    flights: list[Flight] = field(default_factory=list)
    idle: set[int] = field(default_factory=set)
    arriving: dict[int, int] = field(default_factory=dict)      # node -> bits, where control arrives there

    @property
    def width(self) -> int:
        """How many bits it takes."""
        return _FIRST + len(self.flights)

    def events(self) -> dict[int, int]:
        """The bit that each node sets, of all of the track's."""
        bits = dict.fromkeys(self.idle, _IDLE)
        return bits | {flight.node: 1 << _FIRST + number for number, flight in enumerate(self.flights)}


def check(lints: Lints) -> None:
    """Adds a warning for each signal that is raised again, and each register that is touched too early."""
    looked_at = _looked_at(lints)
    signals, registers = _signals(lints, looked_at), _registers(lints, looked_at)
    _solve(lints, [*signals, *registers])
    never = [one for one in lints.findings.diagnostics if one.code == codes.NEVER_WAITED_FOR]
    told = {origin for one in never for origin in (one.origin, *one.also)}
    for track in signals:
        for flight in track.flights:
            earlier = _under_way(lints, track, flight.node)
            # That nothing waits for the earlier one is told there.
            if earlier is not None and earlier.signal is not None and lints.flow.occurrences[earlier.signal].origin not in told:
                _again(lints, track, flight, earlier)
    if registers:
        of_variable = {track.variable: track for track in registers}
        for occurrence in lints.flow.occurrences:
            if occurrence.variable in of_variable and occurrence.site is not None and not _of_command(lints, occurrence):
                _touched(lints, of_variable[occurrence.variable], occurrence)


def _looked_at(lints: Lints) -> dict[int, set[int]]:
    """By the variable of each signal, the nodes at which it is waited for, tested, or said to have come."""
    out: dict[int, set[int]] = {}
    for number, node in enumerate(lints.flow.nodes):
        for variable in (*node.consumes, *(lints.flow.occurrences[one].variable for one in node.reads)):
            out.setdefault(variable, set()).add(number)
    return out


def _hidden(lints: Lints, variable: int) -> bool:
    """Whether others than the instructions that name a signal may clear it, or wait for it: whoever has its number."""
    signal = lints.flow.program.signals[lints.flow.variables[variable].name]
    return signal.address_taken or signal.visible


def _signal_of(lints: Lints, flight: Flight) -> int | None:
    """The variable of a command's signal, if it can be followed."""
    variable = None if flight.signal is None else lints.flow.occurrences[flight.signal].variable
    return None if variable is None or _hidden(lints, variable) else variable


def _waits_itself(lints: Lints, flight: Flight) -> bool:
    return bool(lints.flow.facts[flight.instruction].waits)


def _signals(lints: Lints, looked_at: dict[int, set[int]]) -> list[_Track]:
    """A track for each signal that a command raises without waiting for it at once."""
    tracks: dict[int, _Track] = {}
    for flight in lints.flow.flights:
        variable = _signal_of(lints, flight)
        if variable is not None:
            tracks.setdefault(variable, _Track(variable, idle=set(looked_at.get(variable, ())))).flights.append(flight)
    found = {number: one for number, one in tracks.items() if not all(_waits_itself(lints, flight) for flight in one.flights)}
    raised = {occurrence for flight in lints.flow.flights for occurrence in (flight.signal,)}
    for number, one in enumerate(lints.flow.occurrences):
        if one.writes and one.variable in found and number not in raised:
            found[one.variable].idle.add(one.node)      # .set_sig
    return list(found.values())


def _registers(lints: Lints, looked_at: dict[int, set[int]]) -> list[_Track]:
    """A track for each transfer register that a command uses while the program goes on."""
    tracks: dict[int, _Track] = {}
    for flight in lints.flow.flights:
        signal = _signal_of(lints, flight)
        if signal is None or _waits_itself(lints, flight):
            continue
        for variable in {lints.flow.occurrences[one].variable for one in flight.registers}:
            track = tracks.setdefault(variable, _Track(variable))
            track.flights.append(flight)
            track.idle |= looked_at.get(signal, set())
    return list(tracks.values())


def _solve(lints: Lints, tracks: list[_Track]) -> None:
    """Finds what can have happened last in every track, wherever control arrives at something in it."""
    gains: dict[int, int] = {}
    losses: dict[int, int] = {}
    start, low = 0, 0
    for track in tracks:
        for node, bit in track.events().items():
            gains[node] = gains.get(node, 0) | bit << low
            losses[node] = losses.get(node, 0) | (1 << track.width) - 1 << low
        start |= _NEVER << low
        low += track.width
    if not tracks:
        return
    nodes = lints.trails.nodes
    arriving = lints.trails.forward([gains.get(node, 0) for node in nodes], [losses.get(node, 0) for node in nodes], start)
    of_node: dict[int, int] = {}
    for node, mask in zip(nodes, arriving, strict=True):
        of_node[node] = of_node.get(node, 0) | mask
    touched: dict[int, set[int]] = {}
    for occurrence in lints.flow.occurrences:
        touched.setdefault(occurrence.variable, set()).add(occurrence.node)
    low = 0
    for track in tracks:
        named = touched.get(track.variable, set()) | {one.node for one in track.flights}
        track.arriving = {node: of_node.get(node, 0) >> low & (1 << track.width) - 1 for node in named}
        low += track.width


def _under_way(lints: Lints, track: _Track, node: int) -> Flight | None:
    """A command that is under way at a node, whichever way control came from any of them; None if it may be done."""
    mask = track.arriving.get(node, 0)
    if not mask >> _FIRST or mask & _IDLE or (mask & _NEVER and not lints.trails.sure):
        return None
    return track.flights[next(iter(cells_of(mask >> _FIRST)))]


def _again(lints: Lints, track: _Track, flight: Flight, earlier: Flight) -> None:
    flow = lints.flow
    some = " on some path" if track.arriving[flight.node] & _NEVER else ""
    if flight is earlier:
        notes: tuple[Note, ...] = ()
        advice = "control comes round to this command again, and a signal is one bit: wait for it on the way"
    else:
        notes = (lints.note("this command raises it too", earlier.instruction),)
        advice = "a signal is one bit, and ends one wait: wait for it between the two, or give each a signal of its own"
    lints.findings.warning(
        codes.SIGNAL_AGAIN,
        f"`{flow.variables[track.variable].spelling}` is raised again here{some}, and nothing has waited for it since last time",
        None if flight.signal is None else flow.occurrences[flight.signal].origin, help=advice, notes=notes,
    )


def _of_command(lints: Lints, occurrence: Occurrence) -> bool:
    """Whether it is the transfer register of a command."""
    transfer = None if occurrence.site is None else lints.flow.facts[occurrence.site.instruction].transfer
    return transfer is not None and occurrence.site is not None and transfer.operand == occurrence.site.operand


def _touched(lints: Lints, track: _Track, occurrence: Occurrence) -> None:
    flow = lints.flow
    flight = _under_way(lints, track, occurrence.node)
    if flight is None or not track.arriving[occurrence.node] & _NEVER:
        return                  # on every path: told already
    own = (flow.occurrences[one] for one in flight.registers)
    fills = any(one.writes for one in own if one.variable == occurrence.variable)
    if fills is occurrence.writes:
        return
    done, by = ("read", "fills") if fills else ("overwritten", "sends")
    lints.findings.warning(
        codes.TOUCHED_IN_FLIGHT,
        f"`{flow.variables[occurrence.variable].spelling}` is {done} on some path before the command that {by} it is done",
        occurrence.origin, help="control comes round to this from the command: wait for its signal on the way",
        notes=(lints.note("the command is issued here", flight.instruction),),
    )
