"""Structured control: `.if .elif .else .endif`, `.while .endw`, `.repeat .until`, `.break .continue` become branches and labels.

They are written where they stand, in the order of the text, while the program is read: from here on they are instructions like
others, with the place of their directive. A loop tests where its condition stands. Nothing is left out but what nobody could
execute: the branch over an `.else` behind code that ends elsewhere. What a condition is made of is `conditions`' work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum

from ixpemu.asm.conditions import Condition
from ixpemu.asm.findings import Findings
from ixpemu.asm.operand_place import Refused
from ixpemu.asm.operands import OperandReader
from ixpemu.asm.output import Output
from ixpemu.asm.program import Instruction
from ixpemu.asm.syntax import Statement
from ixpemu.codes import CONDITION, CONTROL, PHYSICAL
from ixpemu.diagnostics import Note, Origin
from ixpemu.isa import conditions as make
from ixpemu.isa.model import Target

_UNSIGNED = "_unsigned"
# Whose operand is a condition: there, a name before a parenthesis is a predicate.
CONDITIONAL = frozenset(f"{word}{ending}" for word in (".if", ".elif", ".while", ".until") for ending in ("", _UNSIGNED))


class _Kind(Enum):
    IF = ".if"
    WHILE = ".while"
    REPEAT = ".repeat"


_CLOSED_BY = {_Kind.IF: ".endif", _Kind.WHILE: ".endw", _Kind.REPEAT: ".until"}


@dataclass(slots=True)
class _Open:
    """A structure that is not closed yet. `again`: where `.continue` leads; `otherwise`: where the condition leads if it does
    not hold, None behind `.else`; `direct`: the condition itself branches where the one statement inside would."""

    kind: _Kind
    origin: Origin
    end: str
    again: str = ""
    otherwise: str | None = None
    direct: bool = False
    otherwise_origin: Origin | None = None


class Control:
    """Carries out the directives of structured control."""

    def __init__(self, operands: OperandReader, output: Output, findings: Findings, physical: bool) -> None:
        self._operands = operands
        self._output = output
        self._findings = findings
        self._physical = physical
        self._open: list[_Open] = []
        self._excused: list[tuple[str, str | None]] = []    # directives that lack their opening for a reason that has been told
        self._next: Sequence[Statement] = ()
        self._actions: dict[str, Callable[[Statement], None]] = {
            ".if": self._if, ".elif": self._elif, ".else": self._else, ".endif": self._endif, ".while": self._while,
            ".endw": self._endw, ".repeat": self._repeat, ".until": self._until, ".break": self._leave, ".continue": self._leave,
        }

    @property
    def names(self) -> frozenset[str]:
        """Every directive that is carried out here."""
        return CONDITIONAL | frozenset(self._actions)

    def run(self, statement: Statement, following: Sequence[Statement] = ()) -> None:
        """Carries out one directive; mistakes go to the findings. `following`: the next statements."""
        head = statement.head
        if head is None:
            return
        if self._physical:
            self._findings.error(
                PHYSICAL, f"`{head.text}` has no meaning in a `.physical` program", statement.line.whole(),
                help="conditions there are instructions and branches",
            )
            return
        name = head.text.lower()
        if name not in CONDITIONAL and statement.operands:
            first = statement.operands[0]
            self._wrong(f"`{head.text}` stands alone", statement.line.origin(first.start, first.end))
        self._next = following
        self._actions[name.removesuffix(_UNSIGNED)](statement)

    def recover(self, directive: str, origin: Origin) -> None:
        """Takes notice of a directive whose line could not be read, so that the others do not seem to lack it."""
        word = directive.removesuffix(_UNSIGNED)
        kind = next((kind for kind in _Kind if kind.value == word), None)
        if kind is not None:
            self._open.append(_Open(kind, origin, self._output.new_label("end"), otherwise=self._output.new_label("else")))
        elif self._open and word == _CLOSED_BY[self._open[-1].kind]:
            self._open.pop()

    def finish(self) -> None:
        """Reports what is still open at the end of the program."""
        for structure in self._open:
            self._wrong(
                f"this `{structure.kind.value}` is never closed", structure.origin, f"end it with {_CLOSED_BY[structure.kind]}"
            )

    def _wrong(self, message: str, origin: Origin, help: str | None = None, notes: tuple[Note, ...] = ()) -> None:
        self._findings.error(CONTROL, message, origin, help=help, notes=notes)

    # Writing

    def _branch(self, statement: Statement, label: str) -> None:
        origin = statement.line.whole()
        operation = make.branch(Target(None, label))
        self._output.add(Instruction(operation, origin, (origin,), source=" ".join(statement.line.text.split())))

    def _condition(self, statement: Statement, when: bool, label: str) -> None:
        """Writes the branch to `label` that is taken if the condition of a statement is `when`."""
        head, nodes, line = statement.head, statement.operands, statement.line
        if head is None:
            return
        if not nodes:
            advice = f"write `{head.text} (x == 1)`"
            self._findings.error(CONDITION, f"`{head.text}` needs a condition", line.origin(head.start, head.end), help=advice)
            return
        if len(nodes) > 1:
            self._findings.error(
                CONDITION, f"`{line.text[nodes[1].start:nodes[-1].end]}` cannot stand behind the condition of `{head.text}`",
                line.origin(nodes[1].start, nodes[-1].end),
                help="instructions stand on lines of their own, and `&&` and `||` join two conditions",
            )
            return
        signed = not head.text.lower().endswith(_UNSIGNED)
        with suppress(Refused):
            Condition(line, signed, self._operands, self._output, self._findings).branch(nodes[0], when, label)

    # .if

    def _if(self, statement: Statement) -> None:
        structure = _Open(
            _Kind.IF, statement.line.whole(), self._output.new_label("endif"), otherwise=self._output.new_label("else")
        )
        leaves = self._leaves_at_once()
        self._open.append(structure)
        if leaves is not None:
            structure.direct = True
            self._condition(statement, True, leaves)
        else:
            self._condition(statement, False, structure.otherwise or "")

    def _leaves_at_once(self) -> str | None:
        """Where an `.if` leads that holds a `.break` or `.continue` and nothing else."""
        heads = [None if one.labels or one.operands or one.head is None else one.head.text.lower() for one in self._next]
        loop = self._loop()
        if len(heads) < 2 or heads[1] != ".endif" or heads[0] not in (".break", ".continue") or loop is None:
            return None
        return loop.end if heads[0] == ".break" else loop.again

    def _innermost(self, statement: Statement, kind: _Kind) -> _Open | None:
        """The structure that a directive belongs to, None after a message."""
        found = self._open[-1] if self._open else None
        if found is not None and found.kind is kind:
            return found
        head = statement.head.text if statement.head is not None else ""
        outer = next((place for place in reversed(range(len(self._open))) if self._open[place].kind is kind), None)
        excuse = next((one for one in self._excused if one[0] == head.lower()), None)
        if excuse is not None and outer is None:
            # What was taken for missing stands here: the two cross, and the one that was closed too early is closed once more.
            self._excused.remove(excuse)
            if excuse[1] is not None:
                self._excused.append((excuse[1], None))
            return None
        if found is None:
            self._wrong(f"`{head}` belongs to nothing", statement.line.whole(), f"it needs a {kind.value} before it")
        else:
            self._wrong(
                f"`{head}` stands inside a `{found.kind.value}` that is not closed", statement.line.whole(),
                f"close that with {_CLOSED_BY[found.kind]} first", (Note("it was opened here", found.origin),),
            )
        if outer is None:
            return None
        self._excused += [(_CLOSED_BY[inner.kind], head.lower()) for inner in self._open[outer + 1:]]
        del self._open[outer + 1:]
        return self._open[outer]

    def _branch_of_if(self, statement: Statement) -> _Open | None:
        """The `.if` of an `.elif` or `.else`, the way to its end written; None after a message."""
        structure = self._innermost(statement, _Kind.IF)
        if structure is None:
            return None
        if structure.otherwise is None:
            head = statement.head.text if statement.head is not None else ""
            self._wrong(
                f"`{head}` cannot follow an `.else`", statement.line.whole(), "an .if has one .else, behind every .elif",
                () if structure.otherwise_origin is None else (Note("the .else is here", structure.otherwise_origin),),
            )
            return None
        if self._output.reached:
            self._branch(statement, structure.end)
        self._output.place_if_used(structure.otherwise)
        return structure

    def _elif(self, statement: Statement) -> None:
        structure = self._branch_of_if(statement)
        if structure is not None:
            structure.otherwise = self._output.new_label("else")
            self._condition(statement, False, structure.otherwise)

    def _else(self, statement: Statement) -> None:
        structure = self._branch_of_if(statement)
        if structure is not None:
            structure.otherwise, structure.otherwise_origin = None, statement.line.whole()

    def _endif(self, statement: Statement) -> None:
        structure = self._innermost(statement, _Kind.IF)
        if structure is not None:
            self._open.pop()
            if structure.otherwise is not None:
                self._output.place_if_used(structure.otherwise)
            self._output.place_if_used(structure.end)

    # Loops

    def _loop(self) -> _Open | None:
        return next((one for one in reversed(self._open) if one.kind is not _Kind.IF), None)

    def _while(self, statement: Statement) -> None:
        structure = _Open(
            _Kind.WHILE, statement.line.whole(), self._output.new_label("endw"), again=self._output.new_label("while")
        )
        self._open.append(structure)
        self._output.place(structure.again)
        self._condition(statement, False, structure.end)

    def _endw(self, statement: Statement) -> None:
        structure = self._innermost(statement, _Kind.WHILE)
        if structure is not None:
            self._open.pop()
            if self._output.reached:
                self._branch(statement, structure.again)
            self._output.place_if_used(structure.end)

    def _repeat(self, statement: Statement) -> None:
        structure = _Open(
            _Kind.REPEAT, statement.line.whole(), self._output.new_label("end"), again=self._output.new_label("until"),
            otherwise=self._output.new_label("repeat"),
        )
        self._open.append(structure)
        self._output.place(structure.otherwise or "")

    def _until(self, statement: Statement) -> None:
        structure = self._innermost(statement, _Kind.REPEAT)
        if structure is not None:
            self._open.pop()
            self._output.place_if_used(structure.again)
            self._condition(statement, False, structure.otherwise or "")
            self._output.place_if_used(structure.end)

    def _leave(self, statement: Statement) -> None:
        """`.break` and `.continue`."""
        head = statement.head.text if statement.head is not None else ""
        loop = self._loop()
        if loop is None:
            advice = "it belongs between .while and .endw, or .repeat and .until"
            self._wrong(f"`{head}` stands in no loop", statement.line.whole(), advice)
        elif not self._open[-1].direct:
            self._branch(statement, loop.end if head.lower() == ".break" else loop.again)
