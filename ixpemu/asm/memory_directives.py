"""What the linker and the loader do for a program: named memory, imports, initial values. None of it makes a word.

Names given here stand for constants that are known later: addresses of memory in bytes, values of imports. Local memory belongs
to the microengine alone, so its addresses are given here and now, from 0 up.
"""

from __future__ import annotations

from collections.abc import Sequence

from ixpemu.asm.directive_base import DirectiveReader
from ixpemu.asm.expressions import Expression, Literal
from ixpemu.asm.findings import Findings
from ixpemu.asm.operands import OperandReader
from ixpemu.asm.output import Output
from ixpemu.asm.program import Deferred, FactKind, FlowFact, Half, InitialValues, Program, Symbol
from ixpemu.asm.scope import Scopes
from ixpemu.asm.source import Line
from ixpemu.asm.syntax import Node, Statement
from ixpemu.codes import DIRECTIVE_OPERANDS, MEMORY
from ixpemu.diagnostics import Origin
from ixpemu.image_links import LOCAL_MEMORY, REGIONS, NamedMemory
from ixpemu.isa import instruction_set
from ixpemu.isa.model import RegisterClass

_LOCAL_BYTES = 640 * 4
_LARGEST = 1 << 28
_REGION_WORDS = {name: name for name in REGIONS} | {
    "lm": LOCAL_MEMORY, "lmem": LOCAL_MEMORY, "local_memory": LOCAL_MEMORY, "sram": "sram0", "sdram": "dram",
}
_TRANSFER = (RegisterClass.SRAM, RegisterClass.DRAM)
_WORD = 4


def _several(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


class MemoryDirectives(DirectiveReader):
    """Directives of named memory, imports and initial values."""

    def __init__(
        self, program: Program, scopes: Scopes, operands: OperandReader, output: Output, findings: Findings
    ) -> None:
        super().__init__(program, scopes, operands, output, findings)
        self._local_end = 0
        self._contexts: list[tuple[int, Origin]] = []
        self.start_facts: list[FlowFact] = []
        self.actions = {
            ".import_var": self._import,
            ".local_mem": lambda s: self._memory(s, False), ".global_mem": lambda s: self._memory(s, True),
            ".init": self._init, ".init_ctx": self._init_ctx, ".init_csr": self._init_csr,
        }

    def finish(self) -> None:
        """Reports contexts that there are not, once the program has said how many it has."""
        for context, origin in self._contexts:
            if self._program.contexts == 4 and context % 2:
                self._findings.error(
                    DIRECTIVE_OPERANDS, f"there is no context {context} among four", origin, help="the contexts are 0, 2, 4 and 6"
                )

    def _import(self, statement: Statement) -> None:
        if self._refused_in_physical(statement):
            return
        for node in self._list(statement, ("name",), "names", declares=True):
            if self._plain(statement.line, node) and self._scopes.link(node.text, statement.line.origin(node.start, node.end)):
                self._program.imports.append(node.text)

    def _plain(self, line: Line, node: Node) -> bool:
        """Whether a name has no register's prefix; a message if it has."""
        if node.text[0] in "$@" or node.text[:2].lower() == "n$":
            self._wrong(line, node, f"`{node.text}` is a register's name", "what the linker knows has a plain name")
            return False
        return True

    # Named memory

    def _memory(self, statement: Statement, shared: bool) -> None:
        """`.global_mem name region size [align]`; `.local_mem` also without a region, for local memory."""
        head, line, nodes = statement.head, statement.line, statement.operands
        if head is None or self._refused_in_physical(statement):
            return
        form = f"{head.text} name region size align" if shared else f"{head.text} name size align"
        region = _REGION_WORDS.get(nodes[1].text.lower()) if len(nodes) > 1 and nodes[1].kind == "name" else None
        numbers = nodes[2:] if region is not None else nodes[1:]
        if not nodes or nodes[0].kind != "name" or not 1 <= len(numbers) <= 2:
            message = f"`{head.text}` needs a name and a size"
            self._wrong(line, nodes[0] if nodes else head, message, f"write `{form}`; align may be left out")
            return
        if region is None and (shared or nodes[1].kind == "name"):
            self._wrong(line, nodes[1], f"`{line.text[nodes[1].start:nodes[1].end]}` is no region of memory",
                        f"the regions are {', '.join(REGIONS)}")
            return
        sizes = [self._number(line, node, what) for node, what in zip(numbers, ("the size", "the alignment"), strict=False)]
        if None in sizes or not self._plain(line, nodes[0]):
            return
        align = sizes[1] if len(sizes) == 2 else _WORD
        self._enter(line, nodes[0], region or LOCAL_MEMORY, sizes[0] or 0, align or _WORD, shared)

    def _number(self, line: Line, node: Node, what: str) -> int | None:
        number = self._operands.known(line, node, what)
        if number is None:
            return None
        if not 1 <= number <= _LARGEST:
            text = line.text[node.start:node.end]
            self._findings.error(
                MEMORY, f"{what} of memory is a number from 1 to {_LARGEST}, not `{text}`", line.origin(node.start, node.end)
            )
            return None
        return number

    def _enter(self, line: Line, name: Node, region: str, size: int, align: int, shared: bool) -> None:
        origin = line.origin(name.start, name.end)
        if align & align - 1:
            self._findings.error(
                MEMORY, f"memory is aligned to powers of two, and {align} is none", line.whole(), help="write 4, 8, 16, ..."
            )
            return
        if shared and region == LOCAL_MEMORY:
            self._findings.error(
                MEMORY, "local memory belongs to one microengine and cannot be shared", line.whole(), help="write .local_mem"
            )
            return
        if not self._scopes.link(name.text, origin):
            return
        address = None
        if region == LOCAL_MEMORY:
            address = self._local_end + -self._local_end % align
            self._local_end = address + size
            if self._local_end > _LOCAL_BYTES:
                self._findings.error(
                    MEMORY, f"local memory has {_LOCAL_BYTES:,} bytes, and with this {self._local_end:,} are asked for",
                    line.whole(),
                )
            self._operands.memory_addresses[name.text.lower()] = Literal(address)
        self._program.memories.append(NamedMemory(name.text, region, size, align, shared, address))

    # Initial values

    def _init(self, statement: Statement) -> None:
        """`.init name[+offset] value ...`: of memory, word by word, or of a register."""
        head, line, nodes = statement.head, statement.line, statement.operands
        if head is None or self._refused_in_physical(statement):
            return
        target, offset = (nodes[0], None) if nodes else (head, None)
        if target.kind == "binary" and target.text == "+":
            target, offset = target.children[0], target.children[1]
        target = self._operands.meant(target)
        if len(nodes) < 2 or target.kind not in ("name", "member", "linked"):
            self._wrong(line, nodes[0] if nodes else head, "`.init` needs a name and values",
                        "write `.init name value ...` or `.init name+8 value ...`, values that begin with a sign in parentheses")
            return
        values = self._values(line, nodes[1:])
        memory = next((one for one in self._program.memories if one.name.lower() == target.text.lower()), None)
        if values is None:
            return
        if memory is None or target.kind != "linked":
            if target.kind == "linked":
                self._wrong(line, target, f"`{target.text}` is an import and has its value from outside")
            elif offset is not None:
                self._wrong(line, offset, f"`{target.text}` is a register, and nothing is behind it")
            else:
                self._register(line, target, values, -1)
            return
        start = 0 if offset is None else self._operands.known(line, offset, "the offset of an initial value")
        if start is None:
            return
        if start % _WORD or start + _WORD * len(values) > memory.size:
            words = _several(len(values), "word")
            self._findings.error(
                MEMORY, f"`{memory.name}` has {memory.size} bytes, and no room for {words} from byte {start} on",
                line.whole(), help="an offset is a multiple of 4",
            )
            return
        self._program.initial.append(InitialValues("memory", memory.name, tuple(values), start, -1, Half.BOTH, line.whole()))

    def _values(self, line: Line, nodes: Sequence[Node]) -> list[Expression] | None:
        """The values, None after a message."""
        values: list[Expression] = []
        for node in nodes:
            constant = self._operands.constant(line, node, "an initial value")
            if constant is None:
                return None
            values.append(constant.expression if isinstance(constant, Deferred) else Literal(constant.value))
        return values

    def _register(self, line: Line, node: Node, values: list[Expression], context: int) -> None:
        """An initial value of a register, or one for each member of an aggregate."""
        symbols = self._symbols(line, node)
        if not symbols:
            return
        if len(values) != len(symbols):
            given = _several(len(values), "value")
            self._wrong(line, node, f"`{node.text}` is {_several(len(symbols), 'register')}, and given {given}")
            return
        for symbol, value in zip(symbols, values, strict=True):
            self._initial_register(line, node, symbol, value, context)

    def _initial_register(self, line: Line, node: Node, symbol: Symbol, value: Expression, context: int) -> None:
        half = symbol.half
        if symbol.cls in _TRANSFER and half is Half.BOTH:
            half = Half.READ        # what an instruction reads
        if symbol.remote or symbol.cls is RegisterClass.NEIGHBOR or (context >= 0 and symbol.cls is RegisterClass.ABSOLUTE):
            why = {RegisterClass.NEIGHBOR: "its neighbour writes it", RegisterClass.ABSOLUTE: "all contexts share it"}
            reason = "it is another microengine's" if symbol.remote else why[symbol.cls]
            self._wrong(line, node, f"`{symbol.spelling}` cannot be given a value here: {reason}")
            return
        self._program.initial.append(InitialValues("register", symbol.name, (value,), 0, context, half, line.whole()))
        self.start_facts.append(FlowFact(FactKind.INITIAL, symbol.name, half, line.whole()))

    def _init_ctx(self, statement: Statement) -> None:
        """`.init_ctx n register value`."""
        head, line, nodes = statement.head, statement.line, [self._operands.meant(node) for node in statement.operands]
        if head is None or self._refused_in_physical(statement):
            return
        if len(nodes) != 3 or nodes[1].kind not in ("name", "member"):
            self._wrong(line, nodes[0] if nodes else head, "`.init_ctx` needs a context, a register and a value",
                        "write `.init_ctx 2 name value`")
            return
        context = self._operands.known(line, nodes[0], "the number of a context")
        values = self._values(line, nodes[2:])
        if context is None or values is None:
            return
        if context > 7:
            self._wrong(line, nodes[0], f"there is no context {context}", "the contexts are 0 to 7, or 0, 2, 4 and 6 of four")
            return
        self._contexts.append((context, line.origin(nodes[0].start, nodes[0].end)))
        self._register(line, nodes[1], values, context)

    def _init_csr(self, statement: Statement) -> None:
        """`.init_csr name value`."""
        head, line, nodes = statement.head, statement.line, statement.operands
        if head is None or self._refused_in_physical(statement):
            return
        csr = instruction_set().csr(nodes[0].text) if nodes and nodes[0].kind == "name" else None
        if len(nodes) != 2 or csr is None:
            what = "`.init_csr` needs a local CSR and a value"
            if len(nodes) == 2:
                what = f"there is no local CSR `{line.text[nodes[0].start:nodes[0].end]}`"
            advice = "write `.init_csr CTX_ENABLES value`; docs/reference/csrs.md lists them"
            self._wrong(line, nodes[0] if nodes else head, what, advice)
            return
        values = self._values(line, nodes[1:])
        if values is not None:
            self._program.initial.append(InitialValues("csr", csr.name, tuple(values), 0, -1, Half.BOTH, line.whole()))
