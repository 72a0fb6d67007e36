"""What the flow graph and the live ranges show to be suspicious: only what is certain on the paths of the graph, as warnings.

Whatever makes an allocation impossible is not here.
"""

from __future__ import annotations

from ixpemu import codes
from ixpemu.asm.calls import taken_labels, undefined_by_calls
from ixpemu.asm.findings import Findings
from ixpemu.asm.flow import File, Flow, Kind, Site
from ixpemu.asm.webs import Webs
from ixpemu.diagnostics import Note

_SETTABLE = (File.GPR, File.SRAM_WRITE, File.DRAM_WRITE)


def warn(webs: Webs, findings: Findings) -> None:
    """Adds every warning about registers, signals and unreachable code."""
    reached = _reached(webs.flow)
    _used_before_set(webs, reached, findings)
    _never_used(webs, findings)
    _signals(webs, reached, findings)
    _pairs(webs, findings)
    _never_waited_for(webs, reached, findings)
    _no_signal(webs, findings)
    in_flight(webs, findings)
    _paths(webs.flow, reached, findings)


def _reached(flow: Flow) -> list[bool]:
    """Points that control can come to from address 0, or from a label whose address somebody has."""
    taken = taken_labels(flow.program, flow.facts)
    places = {flow.program.labels[name] for name in taken if name in flow.program.labels}
    return flow.reachable([flow.entry[place] for place in sorted(places) if place < len(flow.entry)])


def _used_before_set(webs: Webs, reached: list[bool], findings: Findings) -> None:
    flow = webs.flow
    said: set[tuple[int, bool]] = set()
    by_calls = undefined_by_calls(flow) if webs.undefined else None
    for number, always in webs.undefined.items():
        occurrence = flow.occurrences[number]
        variable = flow.variables[occurrence.variable]
        if variable.file is File.SIGNAL or not reached[occurrence.node] or (occurrence.variable, always) in said:
            continue
        if not always and flow.guessed_jumps:
            continue                # the path without a value may be one that no jump takes
        if not always and by_calls is not None and (occurrence.node, occurrence.variable) not in by_calls:
            continue                # the path without a value returns to where it did not come from
        if not findings.wants(codes.USED_BEFORE_SET if always else codes.MAYBE_USED_BEFORE_SET, occurrence.origin):
            continue                # one place where it is wanted is enough to tell
        said.add((occurrence.variable, always))
        if always:
            findings.warning(
                codes.USED_BEFORE_SET, f"`{variable.spelling}` has no value here on any path", occurrence.origin,
                help="set it first; if something that no instruction shows sets it, say so with .set",
            )
        else:
            findings.warning(
                codes.MAYBE_USED_BEFORE_SET, f"`{variable.spelling}` has no value here on some path", occurrence.origin,
                help="set it on every path; if something that no instruction shows sets it, say so with .set",
            )


def _never_used(webs: Webs, findings: Findings) -> None:
    """A value that nobody reads. Registers that a command fills are left out: one often wants some words of many. So are
    results that the next instruction takes from the ALU, whatever register they go to."""
    flow = webs.flow
    for web in webs.webs:
        occurrences = [flow.occurrences[number] for number in web.occurrences]
        if web.variable.pinned or web.variable.file not in _SETTABLE or any(not one.writes for one in occurrences):
            continue
        for one in occurrences:
            if one.site is not None and not _taken_from_alu(flow, one.site.instruction):
                findings.warning(
                    codes.SET_NEVER_USED, f"the value that `{web.variable.spelling}` gets here is never used", one.origin,
                    help="write `--` as the destination if only the condition codes count, or say .use where it is used",
                )


def _taken_from_alu(flow: Flow, instruction: int) -> bool:
    return instruction + 1 < len(flow.facts) and flow.facts[instruction + 1].reads_previous


def _signals(webs: Webs, reached: list[bool], findings: Findings) -> None:
    """Waits that no command and no .set_sig can end."""
    flow = webs.flow
    raised = {one.variable for one in flow.occurrences if one.writes and flow.variables[one.variable].file is File.SIGNAL}
    for number, occurrence in enumerate(flow.occurrences):
        variable = flow.variables[occurrence.variable]
        if variable.file is not File.SIGNAL or occurrence.writes or occurrence.site is None or not reached[occurrence.node]:
            continue
        if flow.program.signals[variable.name].visible:
            continue                # another microengine raises it
        nobody = occurrence.variable not in raised if variable.pinned else webs.undefined.get(number, False)
        if nobody:
            findings.warning(
                codes.SIGNAL_NEVER_RAISED, f"nobody raises `{variable.spelling}` before this waits for it", occurrence.origin,
                help="name it in a command before; if something that no instruction shows raises it, say so with .set_sig",
            )


def _pairs(webs: Webs, findings: Findings) -> None:
    """Signals that come in pairs and are waited for as if they came alone."""
    flow = webs.flow
    pair_of = {webs.of_occurrence[f.signal]: f for f in flow.flights if f.pair and f.signal is not None}
    for flight in flow.flights:
        if flight.signal is None or flight.pair or webs.of_occurrence[flight.signal] not in pair_of:
            continue
        other = pair_of[webs.of_occurrence[flight.signal]]
        spelling = flow.variables[flow.occurrences[flight.signal].variable].spelling
        findings.warning(
            codes.SIGNAL_MIXED, f"`{spelling}` is raised alone here, and the wait for it waits for a pair of signals",
            flow.occurrences[flight.signal].origin, help="use one signal for commands that raise two and another for this one",
            notes=(Note("here it is raised as a pair", flow.program.instructions[other.instruction].origin),),
        )
    for node in flow.nodes:
        for number in node.reads:
            occurrence, web = flow.occurrences[number], webs.of_occurrence[number]
            if occurrence.site is None or not webs.webs[web].pair:
                continue
            facts, spelling = flow.facts[node.instruction], webs.webs[web].variable.spelling
            if node.kind is Kind.INSTRUCTION and facts.consumes is not None:
                findings.warning(
                    codes.PAIR_POLLED, f"`{spelling}` is raised as a pair, and this tests only its first", occurrence.origin,
                    help="the command may not be done when the first one comes: swap out until both have come",
                )
            elif facts.waits_any and len(facts.waits) > 1:
                findings.warning(
                    codes.PAIR_ANY, f"`{spelling}` is raised as a pair, and either of it ends this wait", occurrence.origin,
                    help="wait for a pair on its own, so that both are needed",
                )


def _never_waited_for(webs: Webs, reached: list[bool], findings: Findings) -> None:
    """Signals of commands that nothing tests or waits for before they are raised anew, or at all."""
    flow = webs.flow
    for flight in flow.flights:
        if flight.signal is None or not reached[flight.node]:
            continue
        web = webs.webs[webs.of_occurrence[flight.signal]]
        if web.variable.pinned or any(not flow.occurrences[number].writes for number in web.occurrences):
            continue
        findings.warning(
            codes.NEVER_WAITED_FOR, f"nothing waits for the `{web.variable.spelling}` that is raised here",
            flow.occurrences[flight.signal].origin,
            help="wait for it, or say .io_completed where the command is known to be done; else its registers never become free",
        )


def _no_signal(webs: Webs, findings: Findings) -> None:
    flow = webs.flow
    for flight in flow.flights:
        if flight.signal is None and flight.registers:
            first = flow.occurrences[flight.registers[0]]
            spelling = flow.variables[first.variable].spelling
            findings.warning(
                codes.NO_SIGNAL, f"nothing tells when this command is done with `{spelling}`, so that its register is never free",
                first.origin, help="give the command a signal, and wait for it or name it in .io_completed",
            )


def in_flight(webs: Webs, findings: Findings) -> None:
    """Registers read before a command has filled them, or overwritten before it has sent them, or filled by another command as
    well, on every path.

    A command that swaps out itself is left out: its defer slots may do both, and know what they do.
    """
    flow = webs.flow
    said: set[int] = set()              # commands of which one register was told
    touched: dict[int, int] = {}        # variable -> flights that use it
    for number, flight in enumerate(flow.flights):
        if not flow.facts[flight.instruction].waits:
            for register in flight.registers:
                variable = flow.occurrences[register].variable
                touched[variable] = touched.get(variable, 0) | 1 << number
    for occurrence in flow.occurrences:
        flights = touched.get(occurrence.variable, 0) & webs.certain[occurrence.node]
        if not flights or occurrence.site is None:
            continue
        by_command = _is_transfer(flow, occurrence.site)
        flight = flow.flights[flights.bit_length() - 1]
        own = (flow.occurrences[one] for one in flight.registers)
        fills = any(one.writes for one in own if one.variable == occurrence.variable)
        if by_command:
            both = fills and occurrence.writes and occurrence.certain and flight.instruction != occurrence.site.instruction
            if not both or occurrence.site.instruction in said:
                continue
            said.add(occurrence.site.instruction)
        elif fills is occurrence.writes:
            continue
        spelling = flow.variables[occurrence.variable].spelling
        what = "read before the command that fills it" if fills else "overwritten before the command that sends it"
        what = "filled by this command before another that fills it too" if by_command else what
        findings.warning(
            codes.TOUCHED_IN_FLIGHT, f"`{spelling}` is {what} is done", occurrence.origin,
            help="wait for the command's signal before this",
            notes=(Note("the command is issued here", flow.program.instructions[flight.instruction].origin),),
        )


def _is_transfer(flow: Flow, site: Site) -> bool:
    """Whether a place is the transfer register of a command."""
    transfer = flow.facts[site.instruction].transfer
    return transfer is not None and transfer.operand == site.operand


def _paths(flow: Flow, reached: list[bool], findings: Findings) -> None:
    """Code that is never reached, and control that leaves the program at its end."""
    instructions = flow.program.instructions
    if not instructions:
        findings.warning(
            codes.PROGRAM_EMPTY, "the program has no instructions", None,
            help="is all of it inside an #if, a #macro that nobody calls, or a comment?",
        )
    points = [node for node, seen in zip(flow.nodes, reached, strict=True) if seen]
    alive = {node.instruction for node in points if node.kind is Kind.INSTRUCTION}
    for index, instruction in enumerate(instructions):
        if index not in alive and (index == 0 or index - 1 in alive):
            findings.warning(
                codes.UNREACHABLE, "control never comes here", instruction.origin,
                help="a label before it, or the `targets[...]` of a jump, may be missing",
            )
    for index in flow.ends_open:
        if index in alive:
            findings.warning(
                codes.RUNS_OFF_END, "the program has no instruction behind this, and control goes on", instructions[index].origin,
                help="end it with a branch, or by giving up the microengine for good",
            )

