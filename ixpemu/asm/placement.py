"""Names that the text itself gives a place, or a meaning: `.addr`, `.areg`, `.breg`, `.reg_addr` and `.operand_synonym`.

Whether the place exists and is free is for allocation to say.
"""

from __future__ import annotations

from dataclasses import replace

from ixpemu.asm.directive_base import DirectiveReader
from ixpemu.asm.findings import Findings
from ixpemu.asm.operands import OperandReader
from ixpemu.asm.output import Output
from ixpemu.asm.program import Fixed, Program, SignalSymbol, Symbol
from ixpemu.asm.scope import Kind, Scopes, register_class, with_article
from ixpemu.asm.source import Line
from ixpemu.asm.syntax import Node, Statement
from ixpemu.diagnostics import Note, Origin
from ixpemu.isa.model import RegisterClass

_BANKED = (RegisterClass.GPR, RegisterClass.ABSOLUTE)
_MOST = 127


class Placement(DirectiveReader):
    """Directives that place names."""

    def __init__(
        self, program: Program, scopes: Scopes, operands: OperandReader, output: Output, findings: Findings
    ) -> None:
        super().__init__(program, scopes, operands, output, findings)
        self.actions = {
            ".addr": self._addr, ".areg": lambda s: self._banked(s, "a"), ".breg": lambda s: self._banked(s, "b"),
            ".reg_addr": self._reg_addr, ".operand_synonym": self._synonym,
        }

    def _form(self, statement: Statement, what: str, form: str) -> list[Node] | None:
        """The operands if there are as many as in `form` and the first can be a name; None after a message."""
        head, nodes = statement.head, [self._operands.meant(node) for node in statement.operands]
        if head is None or self._refused_in_physical(statement):
            return None
        if len(nodes) != len(form.split()) - 1 or nodes[0].kind not in ("name", "member"):
            self._wrong(statement.line, nodes[0] if nodes else head, f"`{head.text}` needs {what}", f"write `{form}`")
            return None
        return nodes

    def _number(self, line: Line, node: Node) -> int | None:
        number = self._operands.known(line, node, "the number of a register or signal")
        if number is None:
            return None
        if number > _MOST:
            self._wrong(line, node, f"`{line.text[node.start:node.end]}` is no number of a register or signal",
                        f"numbers are 0 to {_MOST} at most")
            return None
        return number

    def _addr(self, statement: Statement) -> None:
        """`.addr name n`: a transfer register, a next-neighbour register or a signal; an aggregate from n on."""
        nodes = self._form(statement, "a name and a number", ".addr $name 3")
        if nodes is None:
            return
        line, name = statement.line, nodes[0]
        number = self._number(line, nodes[1])
        if number is None:
            return
        origin = line.origin(name.start, name.end)
        if register_class(name.text) is RegisterClass.GPR and self._scopes.is_declared(Kind.SIGNAL, name.text):
            signal = self._scopes.signal(name.text, origin)
            if signal is not None and self._free(line, name, signal):
                self._scopes.signals[signal.name] = replace(signal, fixed=Fixed(number, None, line.whole()))
            return
        if register_class(name.text) in _BANKED:
            kind = with_article(register_class(name.text))
            self._wrong(line, name, f"`{name.text}` is {kind}, which has a bank besides its number",
                        f"write `.areg {name.text} {number}` or `.breg {name.text} {number}`")
            return
        for offset, symbol in enumerate(self._symbols(line, name)):
            self._fix(line, name, symbol, number + offset, None)

    def _banked(self, statement: Statement, bank: str) -> None:
        nodes = self._form(statement, "a name and a number", f".{bank}reg name 3")
        if nodes is not None:
            self._fix_banked(statement.line, nodes[0], nodes[1], bank)

    def _reg_addr(self, statement: Statement) -> None:
        """`.reg_addr name n A`: as `.areg name n`."""
        nodes = self._form(statement, "a name, a number and a bank", ".reg_addr name 3 A")
        if nodes is None:
            return
        bank = nodes[2].text.lower()
        if nodes[2].kind != "name" or bank not in ("a", "b"):
            self._wrong(statement.line, nodes[2], f"`{nodes[2].text}` is no bank", "the banks are A and B")
            return
        self._fix_banked(statement.line, nodes[0], nodes[1], bank)

    def _fix_banked(self, line: Line, name: Node, number_node: Node, bank: str) -> None:
        number = self._number(line, number_node)
        if number is None:
            return
        if register_class(name.text) not in _BANKED:
            self._wrong(line, name, f"`{name.text}` is in no bank: it is {with_article(register_class(name.text))}",
                        f"write `.addr {name.text} {number}`")
            return
        for offset, symbol in enumerate(self._symbols(line, name)):
            self._fix(line, name, symbol, number + offset, bank)

    def _fix(self, line: Line, name: Node, symbol: Symbol, number: int, bank: str | None) -> None:
        if self._free(line, name, symbol):
            self._scopes.symbols[symbol.name] = replace(symbol, fixed=Fixed(number, bank, line.whole()))

    def _free(self, line: Line, name: Node, symbol: Symbol | SignalSymbol) -> bool:
        """Whether nothing has placed the name before; a message if something has."""
        if symbol.fixed is None or symbol.fixed.origin == line.whole():
            return True
        known: Origin | None = symbol.fixed.origin
        self._wrong(
            line, name, f"`{symbol.spelling}` has a place already", "a name has one place in the whole program",
            (Note("it was placed here", known),),
        )
        return False

    def _synonym(self, statement: Statement) -> None:
        """`.operand_synonym name operand`: from here to the end of the scope the name stands for the operand."""
        line, head, nodes = statement.line, statement.head, statement.operands
        if head is None or self._refused_in_physical(statement):
            return
        if len(nodes) != 2 or nodes[0].kind != "name":
            self._wrong(line, nodes[0] if nodes else head, "`.operand_synonym` needs a name and an operand",
                        "write `.operand_synonym name operand`, e.g. `.operand_synonym length $header[2]`")
            return
        self._scopes.synonym(nodes[0], self._operands.meant(nodes[1]), line.origin(nodes[0].start, nodes[0].end))
