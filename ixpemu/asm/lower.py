"""Instructions: from a statement's shape to an `Operation`, by what isa/ says may stand where.

Which form a statement is written in is decided by its mnemonic, its literal words and the number of its operands; then each
operand is read as the kind that its place asks for (operands.py). Whether values fit their fields, and whether two registers can
be read together, is for the encoder and the allocator to say. Not a mnemonic is known here.
"""

from __future__ import annotations

import difflib
import re

from ixpemu.asm.findings import Findings
from ixpemu.asm.operands import OperandReader, Place, Refused, as_word, listed
from ixpemu.asm.program import Instruction
from ixpemu.asm.source import Line
from ixpemu.asm.syntax import Node, Statement
from ixpemu.codes import MNEMONIC_UNKNOWN, OPERAND_COUNT, OPERAND_WORD, OPTION_ARGUMENT, OPTION_UNKNOWN
from ixpemu.isa import Form, InstructionSet, TokenSpec
from ixpemu.isa.model import Operand, Operation, Token

_MNEMONIC_CHOICE = re.compile(r"^<\w+>")        # in the syntax of a form with several mnemonics
_ANY_NUMBER = 1000      # of operands, where the last one may be repeated


class Lowering:
    """Turns statements into instructions."""

    def __init__(self, isa: InstructionSet, operands: OperandReader, findings: Findings) -> None:
        self._operands = operands
        self._findings = findings
        self._forms: dict[str, tuple[Form, ...]] = {}
        for block in isa.blocks.values():
            for form in block.forms:
                for mnemonic in form.mnemonics:
                    key = mnemonic.lower()
                    self._forms[key] = (*self._forms.get(key, ()), form)

    def instruction(self, statement: Statement) -> Instruction | None:
        """The instruction of a statement, or None after adding what is wrong with it to the findings."""
        head = statement.head
        if head is None:
            return None
        line = statement.line
        mnemonic = head.text.lower()
        forms = self._forms.get(mnemonic)
        if forms is None:
            self._report_mnemonic(line, head)
            return None
        form = self._choose(statement, forms)
        if form is None:
            return None
        operands: list[Operand] = []
        tokens: list[Token] = []
        good = True
        for position, node in enumerate(statement.operands):
            spec = form.operands[min(position, len(form.operands) - 1)]
            place = Place(line, node, f"operand {position + 1} of `{mnemonic}`")
            try:
                operands.append(self._operands.operand(place, spec))
            except Refused:
                good = False
        for node in statement.options:
            try:
                tokens.append(self._option(line, node, form, mnemonic, tokens))
            except Refused:
                good = False
        if not good:
            return None
        return Instruction(
            Operation(mnemonic, tuple(operands), tuple(tokens)),
            line.origin(head.start, self._end(statement)),
            tuple([line.origin(node.start, node.end) for node in statement.operands]),
            tuple([line.origin(node.start, node.end) for node in statement.options]),
            source=line.text[head.start:].strip(),
        )

    @staticmethod
    def _end(statement: Statement) -> int:
        return len(statement.line.text.rstrip())

    def _report_mnemonic(self, line: Line, head: Node) -> None:
        close = difflib.get_close_matches(head.text.lower(), self._forms, 1, 0.6)
        help_text = "if it is a macro, include the file that defines it before this line"
        if close:
            help_text = f"did you mean `{close[0]}`?"
        self._findings.error(
            MNEMONIC_UNKNOWN, f"there is no instruction `{head.text}`", line.origin(head.start, head.end), help=help_text
        )

    def _choose(self, statement: Statement, forms: tuple[Form, ...]) -> Form | None:
        nodes = statement.operands
        texts = [as_word(statement.line, node) for node in nodes]
        best: Form | None = None
        best_score = -1
        fitting_words: list[Form] = []
        wanted = {node.text.lower() for node in statement.options}
        for form in forms:
            literal = _literal_words(form, texts)
            if literal is None:
                continue
            fitting_words.append(form)
            if not _fewest(form) <= len(nodes) <= _most(form):
                continue
            score = 2 * literal + (wanted <= {token.name.lower() for token in form.tokens})
            if score > best_score:
                best, best_score = form, score
        if best is None:
            self._report_shape(statement, forms, fitting_words, texts)
        return best

    def _report_shape(
        self, statement: Statement, forms: tuple[Form, ...], fitting: list[Form], texts: list[str | None]
    ) -> None:
        line, head = statement.line, statement.head
        if head is None:
            return
        nodes = statement.operands
        if not fitting:
            position = max(_first_bad_word(form, texts) for form in forms)
            words = sorted({
                word for form in forms if position < len(form.operands) and _first_bad_word(form, texts) == position
                for word in form.operands[position].words
            })
            given = texts[position] or line.text[nodes[position].start:nodes[position].end]
            spelled = {word.lower(): word for word in words}
            close = difflib.get_close_matches(given.lower(), spelled, 1, 0.5)
            self._findings.error(
                OPERAND_WORD, f"`{head.text}` knows no `{given}`", line.origin(nodes[position].start, nodes[position].end),
                help=(f"did you mean `{spelled[close[0]]}`? " if close else "") + f"it knows {listed(words)}",
            )
            return
        form = min(fitting, key=lambda form: min(abs(len(nodes) - _fewest(form)), abs(len(nodes) - _most(form))))
        wanted = sorted({count for form in fitting for count in (_fewest(form), _most(form)) if count < _ANY_NUMBER})
        origin = line.origin(head.start, self._end(statement))
        if nodes and len(nodes) > wanted[-1]:
            origin = line.origin(nodes[wanted[-1]].start, nodes[-1].end)
        takes = " or ".join(str(count) for count in wanted)
        if any(_most(form) == _ANY_NUMBER for form in fitting):
            takes = f"{wanted[0]} or more"
        self._findings.error(
            OPERAND_COUNT, f"`{head.text}` takes {takes} operand{'s' * (takes != '1')}, not {len(nodes)}", origin,
            help=f"it is written `{_MNEMONIC_CHOICE.sub(head.text, form.syntax)}`",
        )

    def _option(self, line: Line, node: Node, form: Form, mnemonic: str, before: list[Token]) -> Token:
        name = node.text.lower()
        place = Place(line, node, f"the option of `{mnemonic}`")
        spec = next((token for token in form.tokens if token.name.lower() == name), None)
        if spec is None:
            names = [token.name for token in form.tokens]
            close = difflib.get_close_matches(name, names, 1)
            takes = f"it takes {listed(names)}" if names else "it takes none"
            raise self._operands.refuse(
                OPTION_UNKNOWN, f"`{mnemonic}` takes no option `{node.text}`", place,
                f"did you mean `{close[0]}`? {takes}" if close else takes,
            )
        if any(token.name == spec.name for token in before):
            raise self._operands.refuse(OPTION_UNKNOWN, f"the option `{spec.name}` is there twice", place)
        return Token(spec.name, self._option_arguments(place, spec))

    def _option_arguments(self, place: Place, spec: TokenSpec) -> tuple[Operand, ...]:
        nodes = place.node.children
        places = [Place(place.line, node, f"the argument of `{spec.name}`") for node in nodes]
        if spec.argument == "targets":
            if nodes:
                return tuple([self._operands.target(argument) for argument in places])
        elif len(nodes) == (spec.argument is not None):
            match spec.argument:
                case None:
                    return ()
                case "signal":
                    return (self._operands.signal(places[0]),)
                case "target":
                    return (self._operands.target(places[0]),)
                case _:
                    return (self._operands.number_between(places[0], spec.low, spec.high),)
        example = {
            None: "", "signal": "[signal]", "target": "[label#]", "targets": "[label#, label#]"
        }.get(spec.argument, f"[{spec.low}]")
        takes = {None: "no argument", "targets": "one label or more"}.get(spec.argument, "one argument")
        raise self._operands.refuse(
            OPTION_ARGUMENT, f"`{spec.name}` takes {takes}, not {len(nodes)}", place,
            f"it is written `{spec.name}{example}`",
        )


def _fewest(form: Form) -> int:
    return sum(not spec.optional for spec in form.operands)


def _most(form: Form) -> int:
    return _ANY_NUMBER if form.operands and form.operands[-1].variadic else len(form.operands)


def _first_bad_word(form: Form, texts: list[str | None]) -> int:
    """The first operand that is none of the words that its place asks for; the number of operands if there is none."""
    for position, (spec, text) in enumerate(zip(form.operands, texts, strict=False)):
        if spec.kind == "word" and (text is None or text.lower() not in [word.lower() for word in spec.words]):
            return position
    return len(texts)


def _literal_words(form: Form, texts: list[str | None]) -> int | None:
    """How many operands are words that the form asks for; None if one of them is another."""
    count = 0
    for spec, text in zip(form.operands, texts, strict=False):
        if spec.kind == "word":
            if text is None or text.lower() not in [word.lower() for word in spec.words]:
                return None
            count += 1
    return count
