"""Why an allocation is impossible, in words: the circle of pairs, or who needs registers at the worst place; and what would help.

It only explains; whether there is an allocation is decided elsewhere.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from ixpemu import codes
from ixpemu.asm.banks import fixed_banks
from ixpemu.asm.findings import Findings
from ixpemu.asm.flow import File
from ixpemu.asm.graphs import Edge, OddCycle, is_bipartite_without, two_colour
from ixpemu.asm.limits import Limits
from ixpemu.asm.numbers import cells_of
from ixpemu.asm.transfers import TRANSFER_FILES, Contradiction
from ixpemu.asm.webs import Webs
from ixpemu.diagnostics import Note, Origin

_REPAIR = "--repair can do it"


def _listed(names: Sequence[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else ", ".join(quoted[:-1]) + f" and {quoted[-1]}"


def _line(origin: Origin) -> str:
    return f"line {origin.span.line}"


def _walk(cycle: OddCycle) -> list[int]:
    """The webs of a closed cycle in the order they are met."""
    first, last = cycle.edges[0], cycle.edges[-1]
    start = first.left if first.left in (last.left, last.right) else first.right
    if len(cycle.edges) > 1 and {first.left, first.right} == {last.left, last.right}:
        start = first.left
    out, node = [], start
    for edge in cycle.edges:
        out.append(node)
        node = edge.right if edge.left == node else edge.left
    return out


def bank_circles(webs: Webs, edges: list[Edge], first: OddCycle, findings: Findings) -> None:
    """Sources that are read in pairs round circles of odd length: each circle that is left once those before it are broken."""
    left, cycle, fixed = edges, first, fixed_banks(webs)
    while True:
        chosen = next((e for e in cycle.edges if is_bipartite_without(len(webs.webs), left, e.reason, fixed)), cycle.edges[-1])
        _bank_circle(webs, cycle, chosen, findings)
        left = [edge for edge in left if edge.reason != chosen.reason]
        result = two_colour(len(webs.webs), left, fixed)
        if not isinstance(result, OddCycle):
            return
        cycle = result


def _bank_circle(webs: Webs, cycle: OddCycle, chosen: Edge, findings: Findings) -> None:
    """One circle; `chosen` is the pair whose parting breaks it, and as many others as possible."""
    program, facts = webs.flow.program, webs.flow.facts
    members = _walk(cycle)
    names = [webs.webs[web].variable.spelling for web in members]
    instruction = program.instructions[chosen.reason]
    pair = facts[chosen.reason].pair or (0, 0)
    origin = instruction.operand_origins[pair[1]]
    copied = names[members.index(chosen.right if chosen.right in members else chosen.left)]
    if cycle.fixed:
        _bank_chain(webs, cycle, chosen, findings)
        return
    if len(cycle.edges) == 1:
        findings.error(
            codes.BANK_CONFLICT,
            f"both sources are {_listed(names)}: one must be in bank A and the other in bank B, and a register is in one of them",
            origin,
            help=f"move `{copied}` to a second register before this line and name that as one of the two sources; {_REPAIR}",
        )
        return
    notes = _pair_notes(webs, cycle, origin)
    findings.error(
        codes.BANK_CONFLICT,
        f"{_listed(list(dict.fromkeys(names)))} cannot be divided between the banks A and B: "
        f"{len(cycle.edges)} pairs of sources form a circle of odd length",
        origin, notes=tuple(notes),
        help=f"move `{copied}` to a register of its own before {_line(instruction.origin)} and name that there; {_REPAIR}",
    )


def _pair_notes(webs: Webs, cycle: OddCycle, said: Origin) -> list[Note]:
    """What a bank is, and each pair, at an operand whose place is not `said` already."""
    program, facts = webs.flow.program, webs.flow.facts
    notes = [Note("a bank is half of the registers, and an instruction reads one of its two sources from each half")]
    for edge in cycle.edges:
        places = [program.instructions[edge.reason].operand_origins[operand] for operand in facts[edge.reason].pair or (0, 0)]
        both = _listed([webs.webs[web].variable.spelling for web in (edge.left, edge.right)])
        where = places[1] if places[0] == said else places[0]
        notes.append(Note(f"{both} are the two sources here, so one is in A and one in B", where))
    return notes


def _bank_chain(webs: Webs, cycle: OddCycle, chosen: Edge, findings: Findings) -> None:
    """A chain of pairs between two names whose banks the text gives, with the wrong number of pairs between them."""
    first, last = (webs.webs[web].variable for web in cycle.fixed)
    instruction = webs.flow.program.instructions[chosen.reason]
    pair = webs.flow.facts[chosen.reason].pair or (0, 0)
    origin = instruction.operand_origins[pair[1]]
    notes = _pair_notes(webs, cycle, origin)
    for one in (first, last):
        if one.fixed is not None and one.fixed.bank is not None:
            notes.append(Note(f"`{one.spelling}` is in bank {one.fixed.bank.upper()} by this", one.fixed.origin))
    pairs = "one pair" if len(cycle.edges) == 1 else f"a chain of {len(cycle.edges)} pairs"
    same = "one bank" if len(cycle.edges) % 2 else "two banks"
    line = _line(instruction.origin)
    findings.error(
        codes.BANK_CONFLICT,
        f"`{first.spelling}` and `{last.spelling}` are given {same}, and {pairs} of sources lies between them",
        origin, notes=tuple(notes),
        help=f"give one of them the other bank, or move a source of {line} to a register of its own before that line",
    )


def _worst(webs: Webs, mask: int, double: int = 0) -> tuple[int, int]:
    """The point behind which most webs of `mask` are occupied, those of `double` counting twice, and how many."""
    best, where = -1, 0
    for node, occupied in enumerate(webs.occupied):
        point = webs.flow.nodes[node]
        for number in point.writes:
            occupied |= 1 << webs.of_occurrence[number]
        count = (occupied & mask).bit_count() + (occupied & mask & double).bit_count()
        if count > best:
            best, where = count, node
    return where, best


def _holders(webs: Webs, node: int, mask: int) -> list[int]:
    occupied = webs.occupied[node]
    for number in webs.flow.nodes[node].writes:
        occupied |= 1 << webs.of_occurrence[number]
    pinned = sum(1 << number for number, web in enumerate(webs.webs) if web.variable.pinned)
    return list(cells_of((occupied | pinned) & mask))


def _set_at(webs: Webs, web: int) -> str:
    """`name (line 3)`, the line being where it gets its value."""
    flow = webs.flow
    occurrences = [flow.occurrences[number] for number in webs.webs[web].occurrences]
    first = next((o for o in occurrences if o.writes), occurrences[0] if occurrences else None)
    spelling = webs.webs[web].variable.spelling
    return spelling if first is None else f"{spelling} ({_line(first.origin)})"


def _longest_unused(webs: Webs, node: int, holders: Iterable[int]) -> tuple[int, Origin] | None:
    """Of the webs, the one that is read last from `node` on, and where it is read: the best one to put elsewhere meanwhile."""
    wanted = {web for web in holders if not webs.webs[web].variable.pinned}
    seen, queue = {node}, deque(webs.flow.successors[node])
    found: tuple[int, Origin] | None = None
    while queue and wanted:
        point = queue.popleft()
        if point in seen:
            continue
        seen.add(point)
        for number in webs.flow.nodes[point].reads:
            web = webs.of_occurrence[number]
            if web in wanted:
                wanted.discard(web)
                found = web, webs.flow.occurrences[number].origin
        queue.extend(webs.flow.successors[point])
    return found


def _crowd(
    webs: Webs, findings: Findings, code: int, files: tuple[File, ...], what: str, capacity: int, advice: str, double: int = 0,
) -> None:
    mask = sum(webs.members.get(file, 0) for file in files)
    node, most = _worst(webs, mask, double)
    holders = _holders(webs, node, mask)
    pinned = [web for web in cells_of(mask) if webs.webs[web].variable.pinned]
    most = sum(2 if double >> web & 1 else 1 for web in holders)
    index = min(webs.flow.nodes[node].instruction, len(webs.flow.program.instructions) - 1)
    notes = [Note("they are " + ", ".join(_set_at(webs, web) for web in holders))]
    if pinned:
        names = _listed([webs.webs[web].variable.spelling for web in pinned])
        notes.append(Note(f"{names} share with nobody: volatile, or used by number"))
    spare = _longest_unused(webs, node, holders)
    more = "" if spare is None else f"; `{webs.webs[spare[0]].variable.spelling}` is not read again before {_line(spare[1])}"
    if most > capacity:
        message = f"{most} {what} are needed at once here, and a context has {capacity}"
    else:
        message = f"no arrangement of {what} was found: {most} of {capacity} are needed at once, and not each fits everywhere"
    origin = webs.flow.program.instructions[index].origin if index >= 0 else None
    findings.error(code, message, origin, notes=tuple(notes), help=advice + more)


def out_of_gprs(webs: Webs, limits: Limits, findings: Findings) -> None:
    """More general purpose registers, or more in one bank, than there are."""
    absolutes = webs.members.get(File.ABSOLUTE, 0).bit_count()
    given = -(-absolutes // limits.windows)
    taken = f"; {absolutes} absolute registers take {given} of every context's numbers" if absolutes else ""
    _crowd(
        webs, findings, codes.OUT_OF_REGISTERS, (File.GPR,), "general purpose registers", 2 * limits.gpr - given,
        f"end a live range before this line, or keep a value in local memory{taken}; {_REPAIR}",
    )


def out_of_transfers(webs: Webs, limits: Limits, findings: Findings) -> None:
    """More transfer registers in one of the four files than there are."""
    file = max(TRANSFER_FILES, key=lambda one: _worst(webs, webs.members.get(one, 0))[1])
    _crowd(
        webs, findings, codes.OUT_OF_TRANSFERS, (file,), f"{file.value} registers", limits.transfers,
        "wait for a command's signal earlier, move values to general purpose registers, or split a command in two",
    )


def out_of_signals(webs: Webs, limits: Limits, findings: Findings) -> None:
    """More signals than there are, pairs counting twice."""
    pairs = sum(1 << number for number, web in enumerate(webs.webs) if web.pair)
    _crowd(
        webs, findings, codes.OUT_OF_SIGNALS, (File.SIGNAL,), "signals", limits.signals,
        "wait for one of them earlier, or let commands that are waited for together share one", pairs,
    )


def out_of_neighbors(webs: Webs, limits: Limits, findings: Findings) -> None:
    """More next neighbour registers than a context sees."""
    _crowd(
        webs, findings, codes.OUT_OF_TRANSFERS, (File.NEIGHBOR,), "next neighbour registers", limits.neighbors,
        "pass several values through one register, or through the ring",
    )


def contradictory_orders(webs: Webs, clash: Contradiction, findings: Findings) -> None:
    """Two orders, or an order and an instruction, that want different distances."""
    variable = webs.webs[clash.web].variable
    name, orders = variable.spelling, webs.flow.program.xfer_orders
    others = [order for order in orders if variable.name in order.names and order is not clash.order]
    notes = tuple(Note(f"`{name}` has its place by this order", order.origin) for order in others)
    occurrences = webs.webs[clash.web].occurrences
    place = webs.flow.occurrences[occurrences[0]].origin if occurrences else None
    findings.error(
        codes.XFER_ORDER_CONTRADICTION, f"`{name}` cannot have the place that this gives it: it has another one already",
        place if clash.order is None else clash.order.origin, notes=notes,
        help="name each register in one .xfer_order only, and give both halves the same order where an instruction uses both",
    )
