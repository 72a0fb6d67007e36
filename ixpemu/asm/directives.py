"""The directives that begin with a dot: declarations, scopes, order of transfer registers, facts about data flow, modes, probes.

Each method gets one statement and changes the scopes or the program. Directives of the language that this version does not know
yet have a message of their own, so that nobody takes them for a typing mistake.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ixpemu.asm.directive_base import DirectiveReader
from ixpemu.asm.expressions import number
from ixpemu.asm.findings import Findings
from ixpemu.asm.memory_directives import MemoryDirectives
from ixpemu.asm.operands import OperandReader
from ixpemu.asm.output import Output
from ixpemu.asm.placement import Placement
from ixpemu.asm.program import (
    Deferred,
    FactKind,
    FlowFact,
    Half,
    Instruction,
    LinkCheck,
    Probe,
    Program,
    Subroutine,
    Symbol,
    XferOrder,
)
from ixpemu.asm.scope import Declaration, Kind, Scopes, register_class
from ixpemu.asm.source import Line
from ixpemu.asm.suggestions import Near, nearest
from ixpemu.asm.syntax import Node, Statement
from ixpemu.codes import AGGREGATE, ASSERTION, DIRECTIVE_UNKNOWN, NUMBER, PHYSICAL, SCOPE_UNBALANCED
from ixpemu.diagnostics import Note
from ixpemu.isa.model import Operation, RegisterClass

# What the language has and this version has not; it is refused and never skipped, since it would change the code.
UNSUPPORTED = frozenset((
    ".image_name", ".cpu_type", ".nn_mode",
))
# What others call the directives of structured control.
_OTHER_WORDS = {
    ".elseif": ".elif", ".elsif": ".elif", ".else_if": ".elif", ".endwhile": ".endw", ".end_while": ".endw", ".wend": ".endw",
    ".end_if": ".endif", ".fi": ".endif", ".do": ".repeat", ".loop": ".repeat",
}
_LARGEST_AGGREGATE = 128
_TRANSFER = (RegisterClass.SRAM, RegisterClass.DRAM)
_FILE_SCOPE = "global"
_QUALIFIERS = ("volatile", _FILE_SCOPE, "visible", "remote", "extern")


class Directives(DirectiveReader):
    """Carries out directives."""

    def __init__(
        self, program: Program, scopes: Scopes, operands: OperandReader, output: Output, findings: Findings,
        others: Collection[str] = (),
    ) -> None:
        """`others`: the directives that are carried out elsewhere, for suggestions."""
        super().__init__(program, scopes, operands, output, findings)
        self._others = others
        self._contexts_set = False
        self._subroutine_open: Subroutine | None = None
        self.actions = {
            ".reg": self._reg, ".sig": self._sig, ".begin": self._begin, ".end": self._end,
            ".local": self._local, ".endlocal": self._end,
            ".xfer_order": lambda s: self._xfer_order(s, None), ".xfer_order_rd": lambda s: self._xfer_order(s, Half.READ),
            ".xfer_order_wr": lambda s: self._xfer_order(s, Half.WRITE),
            ".set": lambda s: self._flow(s, FactKind.SET, None), ".use": lambda s: self._flow(s, FactKind.USE, None),
            ".set_rd": lambda s: self._flow(s, FactKind.SET, Half.READ),
            ".set_wr": lambda s: self._flow(s, FactKind.SET, Half.WRITE),
            ".use_rd": lambda s: self._flow(s, FactKind.USE, Half.READ),
            ".use_wr": lambda s: self._flow(s, FactKind.USE, Half.WRITE),
            ".set_sig": lambda s: self._signals(s, FactKind.SET_SIGNAL),
            ".io_completed": lambda s: self._signals(s, FactKind.IO_COMPLETED),
            ".reentry": self._reentry, ".subroutine": self._subroutine, ".endsub": self._endsub,
            ".num_contexts": self._num_contexts, ".ctx_mode": self._num_contexts, ".assert": self._assert,
            ".dram_signals": lambda s: self._fixed_mode(s, "2", "a DRAM command of this chip raises a pair of signals"),
            ".indirect_ref_mode": lambda s: self._fixed_mode(s, "ixp_compatible", "indirect references here have one form"),
            ".physical": self._physical, ".probe": self._probe, ".word": self._word,
        }
        self._memory = MemoryDirectives(program, scopes, operands, output, findings)
        placement = Placement(program, scopes, operands, output, findings)
        self.actions = {**self.actions, **placement.actions, **self._memory.actions}

    def run(self, statement: Statement) -> None:
        """Carries out the directive of a statement; mistakes go to the findings."""
        head = statement.head
        if head is None:
            return
        name = head.text.lower()
        action = self.actions.get(name)
        if action is not None:
            action(statement)
            return
        known = [*self.actions, *UNSUPPORTED, *self._others]
        near = Near(_OTHER_WORDS[name], True) if name in _OTHER_WORDS else nearest(name, known)
        origin = statement.line.origin(head.start, head.end)
        self._findings.error(
            DIRECTIVE_UNKNOWN, f"there is no directive `{head.text}`", origin,
            help="docs/statements.md lists all there are" if near is None else f"did you mean `{near.name}`?",
            edits=() if near is None else near.edits(origin, head.text),
        )

    # Declarations

    def _reg(self, statement: Statement) -> None:
        if self._refused_in_physical(statement):
            return
        line = statement.line
        nodes = self._list(statement, ("name", "member"), "names of registers", declares=True)
        qualifiers, nodes = self._qualifiers(line, nodes, ("read", "write", *_QUALIFIERS))
        if qualifiers is None:
            return
        half = Half.BOTH if {"read", "write"} <= qualifiers or not qualifiers & {"read", "write"} else (
            Half.READ if "read" in qualifiers else Half.WRITE
        )
        for node in nodes:
            if half is not Half.BOTH and register_class(node.text) not in _TRANSFER:
                self._wrong(
                    line, node, f"`{node.text}` is no transfer register: only `$` and `$$` have a read and a write half"
                )
                continue
            size = None
            if node.kind == "member":
                size = self._size(line, node)
                if size is None:
                    continue
            self._declare(Kind.REGISTER, line, node, qualifiers, half, size)

    def _declare(
        self, kind: Kind, line: Line, node: Node, qualifiers: set[str], half: Half = Half.BOTH, size: int | None = None
    ) -> None:
        """Enters a name. What is visible exists whether it is used or not."""
        origin = line.origin(node.start, node.end)
        remote = bool(qualifiers & {"remote", "extern"})
        if remote and "visible" in qualifiers:
            self._wrong(line, node, f"`{node.text}` cannot be both here and elsewhere",
                        "`visible` is for names of this program, `remote` and `extern` for those of another")
            return
        declaration = Declaration(
            node.text, origin, half, "volatile" in qualifiers, size, "visible" in qualifiers, remote
        )
        everywhere = _FILE_SCOPE in qualifiers or remote or declaration.visible
        self._scopes.declare(kind, declaration, everywhere)
        if declaration.visible and kind is Kind.SIGNAL:
            self._scopes.signal(node.text, origin)
        elif declaration.visible:
            self._scopes.members(node.text, origin)

    def _size(self, line: Line, node: Node) -> int | None:
        size = self._operands.known(line, node.children[0], "the size of an aggregate")
        if size is None:
            return None
        if not 1 <= size <= _LARGEST_AGGREGATE:
            self._findings.error(
                AGGREGATE, f"an aggregate has 1 to {_LARGEST_AGGREGATE} members, not {size}",
                line.origin(node.children[0].start, node.children[0].end),
            )
            return None
        return size

    def _qualifiers(
        self, line: Line, nodes: list[Node], allowed: Sequence[str]
    ) -> tuple[set[str] | None, list[Node]]:
        """The qualifiers before the names, None after a message, and the names."""
        qualifiers: set[str] = set()
        for position, node in enumerate(nodes):
            word = node.text.lower()
            if node.kind != "name" or word not in allowed:
                return self._names_alone(line, qualifiers, nodes[position:], allowed)
            qualifiers.add(word)
        if nodes:
            self._wrong(line, nodes[-1], f"a name is missing behind `{nodes[-1].text}`")
        return None, []

    def _names_alone(
        self, line: Line, qualifiers: set[str], nodes: list[Node], allowed: Sequence[str]
    ) -> tuple[set[str] | None, list[Node]]:
        """The names behind the qualifiers; a qualifier among them is reported, for it would be taken for a name."""
        for node in nodes:
            if node.kind == "name" and node.text.lower() in allowed:
                self._wrong(
                    line, node, f"`{node.text}` stands behind a name, and what it says would hold for none",
                    "put it before all names, and names that it does not hold for on a line of their own",
                )
                return None, []
        return qualifiers, nodes

    def _sig(self, statement: Statement) -> None:
        if self._refused_in_physical(statement):
            return
        line = statement.line
        errors = self._findings.errors
        names = self._list(statement, ("name",), "names of signals", declares=True)
        qualifiers, nodes = self._qualifiers(line, names, _QUALIFIERS)
        for node in nodes:
            if register_class(node.text) is not RegisterClass.GPR:
                self._wrong(line, node, f"`{node.text}` is a register's name: signals have plain names")
                continue
            self._declare(Kind.SIGNAL, line, node, qualifiers or set())
        if self._findings.errors > errors:
            self._scopes.trust_signals = True

    def _begin(self, statement: Statement) -> None:
        self._none(statement)
        self._scopes.begin(statement.line.whole())

    def _end(self, statement: Statement) -> None:
        self._none(statement)
        self._scopes.end(statement.line.whole(), statement.head.text if statement.head is not None else ".end")

    def _local(self, statement: Statement) -> None:
        self._scopes.begin(statement.line.whole())
        self._reg(statement)

    # Order and flow

    def _xfer_order(self, statement: Statement, half: Half | None) -> None:
        if self._refused_in_physical(statement):
            return
        line = statement.line
        symbols: list[Symbol] = []
        for node in self._list(statement, ("name", "member"), "names of transfer registers"):
            for symbol in self._symbols(line, node):
                problem = None
                if symbol.cls not in _TRANSFER:
                    problem = f"`{symbol.spelling}` is no transfer register"
                elif symbols and symbol.cls is not symbols[0].cls:
                    problem = f"`{symbol.spelling}` and `{symbols[0].spelling}` are of different kinds and cannot be in one order"
                elif symbol in symbols:
                    problem = f"`{symbol.spelling}` is there twice"
                if problem is not None:
                    self._wrong(line, node, problem)
                    return
                symbols.append(symbol)
        halves = {symbol.half for symbol in symbols} - {Half.BOTH}
        if half is not None:
            halves.add(half)
        if len(halves) > 1:
            self._wrong(line, statement.operands[0], "a register declared `read` and one declared `write` have no common order")
        elif symbols:
            order = XferOrder(tuple(symbol.name for symbol in symbols), halves.pop() if halves else Half.BOTH, line.whole())
            self._program.xfer_orders.append(order)

    def _flow(self, statement: Statement, kind: FactKind, half: Half | None) -> None:
        if self._refused_in_physical(statement):
            return
        line = statement.line
        for node in self._list(statement, ("name", "member"), "names of registers"):
            for symbol in self._symbols(line, node):
                known = symbol.half
                if half is not None and known is not half and (symbol.cls not in _TRANSFER or known is not Half.BOTH):
                    self._wrong(line, node, f"`{symbol.spelling}` has no {half.value} half")
                    continue
                if half is not None:
                    known = half
                elif known is Half.BOTH and symbol.cls in _TRANSFER:
                    # What sets or reads a transfer register unseen is a unit: it fills the read half and takes the write half.
                    known = Half.READ if kind is FactKind.SET else Half.WRITE
                self._output.facts.append(FlowFact(kind, symbol.name, known, line.origin(node.start, node.end)))

    def _signals(self, statement: Statement, kind: FactKind) -> None:
        if self._refused_in_physical(statement):
            return
        for node in self._list(statement, ("name",), "names of signals"):
            origin = statement.line.origin(node.start, node.end)
            signal = self._scopes.signal(node.text, origin)
            if signal is not None:
                self._output.facts.append(FlowFact(kind, signal.name, Half.BOTH, origin))

    def _reentry(self, statement: Statement) -> None:
        self._none(statement)
        if not self._refused_in_physical(statement):
            self._output.facts.append(FlowFact(FactKind.REENTRY, "", Half.BOTH, statement.line.whole()))

    def _subroutine(self, statement: Statement) -> None:
        self._none(statement)
        if self._subroutine_open is not None:
            self._findings.error(
                SCOPE_UNBALANCED, "a subroutine cannot begin inside another", statement.line.whole(),
                help="end that one with .endsub first", notes=(Note("it began here", self._subroutine_open.origin),),
            )
            return
        self._subroutine_open = Subroutine(len(self._program.instructions), 0, statement.line.whole())

    def _endsub(self, statement: Statement) -> None:
        self._none(statement)
        opened, self._subroutine_open = self._subroutine_open, None
        if opened is None:
            self._findings.error(
                SCOPE_UNBALANCED, ".endsub closes nothing", statement.line.whole(),
                help="each .endsub belongs to one .subroutine before it",
            )
        else:
            self._program.subroutines.append(replace(opened, behind=len(self._program.instructions)))

    def finish(self) -> None:
        """Reports what is still open at the end of the program, and says of its first instruction what has a value there."""
        self._memory.finish()
        if self._program.instructions:
            first = self._program.instructions[0]
            first.facts = (*self._memory.start_facts, *first.facts)
        if self._subroutine_open is not None:
            self._findings.error(
                SCOPE_UNBALANCED, "this subroutine is never closed", self._subroutine_open.origin, help="end it with .endsub"
            )

    # Modes, probes, literal words

    def _num_contexts(self, statement: Statement) -> None:
        line, nodes, head = statement.line, statement.operands, statement.head
        if head is None:
            return
        if len(nodes) != 1 or nodes[0].kind != "number" or number(nodes[0].text) not in (4, 8):
            self._wrong(line, nodes[0] if nodes else head, f"`{head.text}` is followed by 4 or 8")
            return
        contexts = number(nodes[0].text) or 8
        if self._contexts_set and contexts != self._program.contexts:
            self._wrong(line, nodes[0], f"this program has {self._program.contexts} contexts already")
        self._contexts_set = True
        self._program.contexts = contexts

    def _fixed_mode(self, statement: Statement, word: str, why: str) -> None:
        """A mode that later chips of the family have to choose and this one has not."""
        line, nodes, head = statement.line, statement.operands, statement.head
        if head is not None and (len(nodes) != 1 or nodes[0].text.lower() != word):
            self._wrong(line, nodes[0] if nodes else head, f"`{head.text}` can only be `{word}`", why)

    def _assert(self, statement: Statement) -> None:
        """`.assert (expression) "message"`: checked now, or by the linker if it knows more."""
        line, nodes, head = statement.line, statement.operands, statement.head
        if head is None or self._refused_in_physical(statement):
            return
        if not 1 <= len(nodes) <= 2 or (len(nodes) == 2 and nodes[1].kind != "string"):
            advice = 'write `.assert (SIZE < 64) "message"`'
            self._wrong(line, nodes[-1] if nodes else head, "`.assert` needs an expression, and may have a message", advice)
            return
        constant = self._operands.constant(line, nodes[0], "what is asserted")
        message = nodes[1].text[1:-1] if len(nodes) == 2 else line.text[nodes[0].start:nodes[0].end]
        if isinstance(constant, Deferred):
            self._program.checks.append(LinkCheck(constant.expression, message, line.whole()))
        elif constant is not None and not constant.value:
            self._findings.error(ASSERTION, f"this does not hold: {message}", line.origin(nodes[0].start, nodes[0].end))

    def _physical(self, statement: Statement) -> None:
        self._none(statement)
        if not self._program.physical:
            self._findings.error(
                PHYSICAL, "`.physical` must be the first statement of the program", statement.line.whole(),
                help="move it before everything else",
            )

    def _probe(self, statement: Statement) -> None:
        line, nodes, head = statement.line, statement.operands, statement.head
        if head is None:
            return
        if not 1 <= len(nodes) <= 2 or nodes[0].kind != "name":
            self._wrong(
                line, nodes[0] if nodes else head, "`.probe` needs a name and a register", "write `.probe NAME, register`"
            )
            return
        key = None
        if len(nodes) == 2 and nodes[1].kind != "nothing":
            key = self._operands.register(line, nodes[1], "the key of a probe")
            if key is None:
                return
        self._program.probes.append(Probe(nodes[0].text, len(self._program.instructions), key, line.whole()))

    def _word(self, statement: Statement) -> None:
        line, nodes, head = statement.line, statement.operands, statement.head
        if head is None:
            return
        if not self._program.physical:
            self._findings.error(
                PHYSICAL, "`.word` may stand only in a `.physical` program", line.whole(),
                help="what an unknown word does to registers cannot be allocated around",
            )
            return
        value = number(nodes[0].text) if len(nodes) == 1 and nodes[0].kind == "number" else None
        if value is None or value >= 1 << 40:
            self._findings.error(
                NUMBER, "`.word` is followed by one number of at most 40 bits", line.whole(), help="write `.word 0xf0000c0300`"
            )
            return
        self._output.add(Instruction(Operation(".word"), line.whole(), source=line.text.strip(), word=value))
