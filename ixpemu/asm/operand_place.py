"""Where an operand stands in the text, for the messages about it; and the exception that says that there has been one."""

from __future__ import annotations

from ixpemu.asm.source import Line
from ixpemu.asm.syntax import Node
from ixpemu.diagnostics import Origin


class Refused(Exception):
    """The operand at hand is wrong and has been reported."""


class OperandPlace:
    """Where an operand stands, for messages; `what` says it in words. Made for every operand, so it does no work unasked."""

    __slots__ = ("_origin", "_what", "advice", "line", "node")

    def __init__(self, line: Line, node: Node, what: str | tuple[int, str], advice: str | None = None) -> None:
        """`what` may be the operand's number from 0 and the mnemonic. `advice` helps where a message has no help of its own."""
        self.line = line
        self.node = node
        self.advice = advice
        self._what = what
        self._origin: Origin | None = None

    @property
    def what(self) -> str:
        """E.g. "operand 2 of `alu`"."""
        return self._what if isinstance(self._what, str) else f"operand {self._what[0] + 1} of `{self._what[1]}`"

    def origin(self) -> Origin:
        """Where it is in the source."""
        if self._origin is None:
            self._origin = self.line.origin(self.node.start, self.node.end)
        return self._origin

    def text(self) -> str:
        """How it is written, after preprocessing."""
        return self.line.text[self.node.start:self.node.end]
