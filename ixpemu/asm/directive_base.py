"""What every directive needs: its operands by their kinds, messages at the right place, the registers that names stand for.

The directives themselves are in `directives`, `placement` and `memory_directives`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ixpemu.asm.findings import Findings
from ixpemu.asm.operands import OperandReader
from ixpemu.asm.output import Output
from ixpemu.asm.program import Program, Symbol
from ixpemu.asm.scope import Scopes
from ixpemu.asm.source import Line
from ixpemu.asm.syntax import Node, Statement
from ixpemu.codes import DIRECTIVE_OPERANDS, PHYSICAL
from ixpemu.diagnostics import Note

Action = Callable[[Statement], None]


class DirectiveReader:
    """Directives of one subject. `actions`: what each does, by its name in lower case."""

    actions: Mapping[str, Action]

    def __init__(
        self, program: Program, scopes: Scopes, operands: OperandReader, output: Output, findings: Findings
    ) -> None:
        self._output = output
        self._program = program
        self._scopes = scopes
        self._operands = operands
        self._findings = findings

    def _wrong(
        self, line: Line, node: Node, message: str, help: str | None = None, notes: tuple[Note, ...] = ()
    ) -> None:
        self._findings.error(DIRECTIVE_OPERANDS, message, line.origin(node.start, node.end), help=help, notes=notes)

    def _list(self, statement: Statement, kinds: Sequence[str], what: str, declares: bool = False) -> list[Node]:
        """The operands of one of `kinds`; the others, and an empty list, are reported. `declares`: they are new names."""
        head = statement.head
        if head is not None and not statement.operands:
            self._wrong(statement.line, head, f"`{head.text}` needs {what}")
        good = []
        for operand in statement.operands:
            node = operand if declares else self._operands.meant(operand)
            if node.kind in kinds:
                good.append(node)
            else:
                text = statement.line.text[node.start:node.end]
                self._wrong(statement.line, node, f"`{text}` cannot stand here: expected {what}")
        return good

    def _none(self, statement: Statement) -> None:
        if statement.operands and statement.head is not None:
            first = statement.operands[0]
            self._wrong(statement.line, first, f"`{statement.head.text}` stands alone")

    def _refused_in_physical(self, statement: Statement) -> bool:
        if self._program.physical and statement.head is not None:
            self._findings.error(
                PHYSICAL, f"`{statement.head.text}` has no meaning in a `.physical` program", statement.line.whole(),
                help="registers there are named by number and nothing is declared",
            )
        return self._program.physical

    def _symbols(self, line: Line, node: Node) -> list[Symbol]:
        """The registers that a name, or one member, stands for; empty after a message."""
        origin = line.origin(node.start, node.end)
        if node.kind == "name":
            return self._scopes.members(node.text, origin)
        index = self._operands.known(line, node.children[0], "the index of an aggregate")
        symbol = self._scopes.register(node.text, index, origin) if index is not None else None
        return [symbol] if symbol is not None else []
