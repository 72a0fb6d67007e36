"""From a program to its flow graph: points, edges behind defer slots, what each point reads, writes, raises and waits for.

It reports what contradicts the rules of defer slots and of runs of transfer registers. The graph itself is described in `flow`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ixpemu import codes
from ixpemu.asm.calls import return_places
from ixpemu.asm.dataflow import Graph, backward
from ixpemu.asm.findings import Findings
from ixpemu.asm.flow import File, Flight, Flow, Kind, Node, Occurrence, Site, addressed_names, file_of, probe_site, transfer_run
from ixpemu.asm.numbers import cells_of
from ixpemu.asm.program import FactKind, FlowFact, Half, Instruction, Program
from ixpemu.diagnostics import Note, Origin
from ixpemu.isa import Facts, InstructionSet
from ixpemu.isa.model import Constant, Operand, Register, Signal, Target, Word

MOST_SLOTS = 3      # the two bits of the defer field


def build(program: Program, isa: InstructionSet, findings: Findings) -> Flow:
    """The flow graph of a program; what contradicts the rules of defer slots and transfer runs goes to `findings`."""
    return _Builder(program, isa, findings).build()


def facts_of(program: Program, isa: InstructionSet) -> list[Facts]:
    """The facts of every instruction. They depend on the kinds of operands alone, so that like instructions share them."""
    known: dict[tuple[object, ...], Facts] = {}
    out = []
    for instruction in program.instructions:
        operation = instruction.operation
        tokens = tuple((token.name, *map(_kind, token.arguments)) for token in operation.tokens)
        key = (operation.mnemonic, *map(_kind, operation.operands), tokens)
        if key not in known:
            known[key] = isa.facts(operation)
        out.append(known[key])
    return out


def _several(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _kind(operand: Operand) -> object:
    if isinstance(operand, Register):
        return operand.cls
    return operand if isinstance(operand, (Word, Constant)) else type(operand)


class _Builder:
    def __init__(self, program: Program, isa: InstructionSet, findings: Findings) -> None:
        self.program, self.isa, self.findings = program, isa, findings
        facts = facts_of(program, isa)
        self.flow = Flow(program, facts, addressed=addressed_names(program))
        self.own: list[int] = []            # instruction -> its own point
        self.wait: dict[int, int] = {}      # instruction -> its WAIT point
        self.returns = return_places(program, facts)
        self.labelled = set(program.labels.values())
        self.probes: dict[int, list[int]] = {}      # instruction -> probes there
        for number, probe in enumerate(program.probes):
            self.probes.setdefault(probe.index, []).append(number)

    def build(self) -> Flow:
        instructions, flow = self.program.instructions, self.flow
        for index, instruction in enumerate(instructions):
            self._directives(index, instruction.facts)
            self.own.append(self._node(index, Kind.INSTRUCTION))
            if flow.facts[index].waits:
                self.wait[index] = self._node(index, Kind.WAIT)
            self._effects(index, instruction)
        self._directives(len(instructions), self.program.end_facts)
        for index in range(len(instructions)):
            self._leave(index)
            if flow.facts[index].followed_by is not None:
                self._check_follower(index)
        self._addresses()
        self._enter_again()
        return flow

    def _enter_again(self) -> None:
        """At each `.reentry`, every register that is read behind it may have got a value outside."""
        flow = self.flow
        if not flow.reentries:
            return
        reads, writes = [0] * len(flow.nodes), [0] * len(flow.nodes)
        for occurrence in flow.occurrences:
            kept = writes if occurrence.writes else reads
            if (not occurrence.writes or occurrence.certain) and flow.variables[occurrence.variable].file is not File.SIGNAL:
                kept[occurrence.node] |= 1 << occurrence.variable
        live = backward(Graph.of(flow.successors, flow.starts), reads, writes)
        for node in flow.reentries:
            if flow.nodes[node].instruction >= len(self.program.instructions):
                continue        # behind the last instruction, where nothing is read
            origin = self.program.instructions[flow.nodes[node].instruction].origin
            for number in cells_of(live[node]):
                variable = flow.variables[number]
                self._occur(node, variable.name, variable.file, True, None, origin, certain=False)

    def _addresses(self) -> None:
        """Names whose number somebody uses get one even if no instruction names them otherwise."""
        for symbol in self.program.symbols.values():
            if symbol.address_taken:
                halves = {Half.READ: (False,), Half.WRITE: (True,), Half.BOTH: (False, True)}[symbol.half]
                for half in halves:
                    self.flow.variable(symbol.name, file_of(symbol.cls, half))
        for signal in self.program.signals.values():
            if signal.address_taken:
                self.flow.variable(signal.name, File.SIGNAL)

    def _node(self, instruction: int, kind: Kind) -> int:
        self.flow.nodes.append(Node(instruction, kind))
        self.flow.successors.append([])
        return len(self.flow.nodes) - 1

    def _directives(self, index: int, facts: Sequence[FlowFact]) -> None:
        """The chain of points before instruction `index`: its flow facts, then the probes there. Sets `entry[index]`."""
        first = len(self.flow.nodes)
        for fact in facts:
            self._directive(self._node(index, Kind.FACT), fact)
        for number in self.probes.get(index, ()):
            key, origin = self.program.probes[number].key, self.program.probes[number].origin
            if key is not None and key.name is not None:
                node = self._node(index, Kind.FACT)
                self._occur(node, key.name, file_of(key.cls, False), False, probe_site(index, number), origin)
        behind = len(self.flow.nodes)
        inside = index < len(self.program.instructions)
        if inside or behind > first:
            self.flow.entry.append(first)
        for node in range(first, behind if inside else behind - 1):
            self.flow.successors[node].append(node + 1)

    def _directive(self, node: int, fact: FlowFact) -> None:
        if fact.kind is FactKind.REENTRY:
            self.flow.reentries.append(node)
            return
        if fact.kind is FactKind.SET_SIGNAL:
            self._occur(node, fact.name, File.SIGNAL, True, None, fact.origin)
            return
        if fact.kind is FactKind.IO_COMPLETED:
            self.flow.nodes[node].consumes.append(self.flow.variable(fact.name, File.SIGNAL))
            self._occur(node, fact.name, File.SIGNAL, False, None, fact.origin)
            return
        cls, certain = self.program.symbols[fact.name].cls, fact.kind is not FactKind.INITIAL     # a loop may come here again
        halves = (False, True) if fact.half is Half.BOTH else (fact.half is Half.WRITE,)
        for file in dict.fromkeys(file_of(cls, half) for half in halves):
            self._occur(node, fact.name, file, fact.kind in (FactKind.SET, FactKind.INITIAL), None, fact.origin, certain)

    def _occur(
        self, node: int, name: str, file: File, writes: bool, site: Site | None, origin: Origin, certain: bool = True
    ) -> int:
        number = len(self.flow.occurrences)
        self.flow.occurrences.append(Occurrence(node, self.flow.variable(name, file), writes, site, origin, certain))
        point = self.flow.nodes[node]
        (point.writes if writes else point.reads).append(number)
        return number

    def _effects(self, index: int, instruction: Instruction) -> None:
        """Reads, writes, signals and transfers of one instruction."""
        facts, operands = self.flow.facts[index], instruction.operation.operands
        own = self.own[index]
        for written, indexes in ((False, facts.reads), (True, facts.writes)):
            for operand in indexes:
                register = operands[operand]
                if isinstance(register, Register) and register.name is not None:
                    site, origin = Site(index, operand), instruction.operand_origins[operand]
                    self._occur(own, register.name, file_of(register.cls, written), written, site, origin)
        signal = None
        for token, argument in facts.waits:
            self._wait(index, token, argument)
        if facts.signal is not None:
            token, argument = facts.signal
            raised = instruction.operation.tokens[token].arguments[argument]
            if isinstance(raised, Signal) and raised.name is not None:
                site, origin = Site(index, argument, token), instruction.token_origins[token]
                signal = self._occur(own, raised.name, File.SIGNAL, True, site, origin)
        registers = self._transfer(index, instruction, self.wait.get(index, own) if facts.signal is not None else own)
        if signal is not None or registers:
            self.flow.flights.append(Flight(own, index, signal, tuple(registers), facts.signal_pair))
        if facts.consumes is not None:
            tested = operands[facts.consumes]
            if isinstance(tested, Signal) and tested.name is not None:
                origin = instruction.operand_origins[facts.consumes]
                self._occur(own, tested.name, File.SIGNAL, False, Site(index, facts.consumes), origin)

    def _wait(self, index: int, token: int | None, argument: int) -> None:
        """One signal that instruction `index` waits for: read at its WAIT point, and known to have come behind it."""
        instruction, facts = self.program.instructions[index], self.flow.facts[index]
        if token is None:
            signal, origin = instruction.operation.operands[argument], instruction.operand_origins[argument]
        else:
            signal, origin = instruction.operation.tokens[token].arguments[argument], instruction.token_origins[token]
        if not isinstance(signal, Signal) or signal.name is None:
            return
        node = self.wait[index]
        self._occur(node, signal.name, File.SIGNAL, False, Site(index, argument, token), origin)
        if not facts.waits_any or len(facts.waits) == 1:
            self.flow.nodes[node].consumes.append(self.flow.variable(signal.name, File.SIGNAL))

    def _transfer(self, index: int, instruction: Instruction, node: int) -> list[int]:
        """The transfer registers of a command. Its data counts as read, and as arrived, at `node`: where a command swaps out,
        that is behind its defer slots, which may still fill what it sends and still read what it will overwrite."""
        transfer = self.flow.facts[index].transfer
        if transfer is None or transfer.operand is None:
            return []
        register, origin = instruction.operation.operands[transfer.operand], instruction.operand_origins[transfer.operand]
        if not isinstance(register, Register) or register.name is None:
            return []
        out = []
        for written in {"in": (True,), "out": (False,), "both": (False, True)}[transfer.direction]:
            # The unit reads the write half and fills the read half: the other way round than an instruction does.
            write_half = not written
            count = transfer.registers(written)
            run = transfer_run(self.program, register.name, write_half, count)
            if run is None:
                self._no_run(register.name, count, transfer.words, origin)
                run = [register.name]
            for offset, name in enumerate(run):
                site = Site(index, transfer.operand, None, offset)
                # The result before may ask for fewer registers, or for others.
                certain = not (written and transfer.indirect)
                out.append(self._occur(node, name, file_of(register.cls, write_half), written, site, origin, certain))
        return out

    def _no_run(self, name: str, count: int, words: int, origin: Origin) -> None:
        """A command uses `count` registers from `name` on, `words` for each that its count says, and they have no order."""
        spelling = self.program.symbols[name].spelling
        each = f", {words} for each of its count" if words > 1 else ""
        uses = f"the command uses {count} registers from `{spelling}` on{each},"
        known = next((order for order in self.program.xfer_orders if name in order.names), None)
        if known is None:
            self.findings.error(
                codes.XFER_ORDER_MISSING,
                f"{uses} and nothing says which follow it", origin,
                help=f"put the {count} names into one .xfer_order, `{spelling}` first",
            )
            return
        left = len(known.names) - known.names.index(name)
        self.findings.error(
            codes.XFER_ORDER_SHORT,
            f"{uses} but its .xfer_order goes on for {left} only", origin,
            help=f"add {_several(count - left, 'more name')} to the .xfer_order, or lower the count",
            notes=(Note("the order is given here", known.origin),),
        )

    def _leave(self, index: int) -> None:
        """The edges out of instruction `index`, drawn behind its defer slots."""
        facts, instructions, flow = self.flow.facts[index], self.program.instructions, self.flow
        last = index + facts.defer
        if not self._turns(index):
            if not self._ends_slots(index):
                self._follow(self.own[index], index + 1)
            return
        if facts.defer:
            self._check_slots(index, facts.defer)
            if last >= len(instructions):
                return
            if not self._ends_slots(index):
                self._follow(self.own[index], index + 1)
        node = self.own[last]
        if any(slot in self.labelled for slot in range(index + 1, last + 1)):
            self._follow(node, last + 1)        # whoever jumps into the slots goes on behind them
        if index in self.wait:
            flow.successors[node].append(self.wait[index])
            node = self.wait[index]
        self._turn(index, node, last + 1)

    def _turn(self, index: int, node: int, following: int) -> None:
        """The edges behind the defer slots of a branch or swap: to its targets, and to `following`."""
        facts, operation = self.flow.facts[index], self.program.instructions[index].operation
        branch = facts.branch
        if facts.resume is not None:
            token, argument = facts.resume
            self._to_label(node, operation.tokens[token].arguments[argument])
            return
        polled = None
        if facts.consumes is not None:
            signal = operation.operands[facts.consumes]
            if isinstance(signal, Signal) and signal.name is not None:
                polled = self._node(index, Kind.ARRIVED)
                self.flow.nodes[polled].consumes.append(self.flow.variable(signal.name, File.SIGNAL))
                self.flow.nodes[polled].polled = True
                self.flow.successors[node].append(polled)
        if branch is not None and branch.indirect:
            self._jump(index, node)
        elif branch is not None:
            for target in branch.targets:
                taken = polled if polled is not None and facts.arrived_when_taken else node
                self._to_label(taken, operation.operands[target])
        if not facts.ends:
            self._follow(polled if polled is not None and not facts.arrived_when_taken else node, following)

    def _to_label(self, node: int, target: object) -> None:
        if isinstance(target, Target):
            index = self.program.labels.get(target.name) if target.name is not None else None
            index = target.address if index is None else index
            if index is not None:
                self._follow(node, index)

    def _follow(self, node: int, index: int) -> None:
        """An edge to where instruction `index` begins; none if the program ends there."""
        if index >= len(self.program.instructions):
            self.flow.ends_open.append(self.flow.nodes[node].instruction)
        if index < len(self.flow.entry) and self.flow.entry[index] not in self.flow.successors[node]:
            self.flow.successors[node].append(self.flow.entry[index])

    def _jump(self, index: int, node: int) -> None:
        """Where a computed jump may lead: its `targets[...]`, else any label, and any word of the table it is based on."""
        facts, operation = self.flow.facts[index], self.program.instructions[index].operation
        listed = [argument for token in operation.tokens for argument in token.arguments if isinstance(argument, Target)]
        if index in self.returns:
            for place in self.returns[index]:
                self._follow(node, place)
            return
        if listed:
            for target in listed:
                self._to_label(node, target)
            return
        self.flow.guessed_jumps.append(index)
        self.flow.successors[node] += [one for one in self.flow.reentries if one not in self.flow.successors[node]]
        self.flow.successors[node].append(self._anywhere())
        for operand in facts.branch.targets if facts.branch is not None else ():
            base = operation.operands[operand]
            if not isinstance(base, Target) or base.name not in self.program.labels:
                continue
            place = self.program.labels[base.name] + 1
            while place < len(self.program.instructions) and place not in self.labelled:
                self._follow(node, place)
                place += 1

    def _anywhere(self) -> int:
        """The point from which control goes to any label of the text: one for all jumps, so that their edges do not multiply."""
        if self.flow.anywhere is None:
            labels = self.program.labels.items()
            places = sorted({place for name, place in labels if name not in self.program.made_labels})
            self.flow.anywhere = self._node(len(self.program.instructions), Kind.FACT)
            entry = self.flow.entry
            self.flow.successors[self.flow.anywhere] = [entry[place] for place in places if place < len(entry)]
        return self.flow.anywhere

    def _turns(self, index: int) -> bool:
        """Whether something else than the next instruction comes behind instruction `index` and its defer slots."""
        facts = self.flow.facts[index]
        return facts.branch is not None or facts.ends or index in self.wait or facts.resume is not None

    def _ends_slots(self, index: int) -> bool:
        """Whether `index` is the last defer slot of an instruction before it, which then says what follows."""
        before = range(max(0, index - MOST_SLOTS), index)
        return any(owner + self.flow.facts[owner].defer == index and self._turns(owner) for owner in before)

    def _check_follower(self, index: int) -> None:
        """Whether every instruction that can come behind `index` is the one that must."""
        wanted, instructions = self.flow.facts[index].followed_by, self.program.instructions
        queue = list(self.flow.successors[self.own[index]])
        for node in queue:
            following = self.flow.nodes[node].instruction
            if self.own[following] != node:         # a flow directive or a wait before it
                queue += [other for other in self.flow.successors[node] if other not in queue]
                continue
            block = self.isa.lookup(instructions[following].operation.mnemonic)
            if block is None or block.name != wanted:
                self.findings.error(
                    codes.FOLLOWED_WRONGLY, f"the next instruction must be `{wanted}`, which takes what this one reads",
                    instructions[index].origin, help="put it directly behind this one, with nothing between",
                    notes=(Note("this comes next", instructions[following].origin),),
                )
                return

    def _check_slots(self, index: int, defer: int) -> None:
        instructions = self.program.instructions
        owner = instructions[index]
        origin = next(
            (o for o, token in zip(owner.token_origins, owner.operation.tokens, strict=True) if not token.arguments
             or not isinstance(token.arguments[0], (Signal, Target))), owner.origin,
        )
        if index + defer >= len(instructions):
            self.findings.error(
                codes.DEFER_PAST_END,
                f"{_several(defer, 'instruction')} should execute behind this one, and the program ends before", origin,
                help=f"lower the defer count to {len(instructions) - index - 1}, or put instructions behind it",
            )
            return
        for slot in range(index + 1, index + defer + 1):
            facts = self.flow.facts[slot]
            if facts.branch is not None or facts.swaps or facts.ends:
                self.findings.error(
                    codes.DEFER_SLOT, "an instruction in a defer slot may neither branch nor give up the microengine",
                    instructions[slot].origin, help="move it out of the slots, or lower the defer count",
                    notes=(Note(f"this has {_several(defer, 'slot')} behind it", owner.origin),),
                )
