"""Instructions: from a statement's shape to an `Operation`, by what isa/ says may stand where.

Which form a statement is written in is decided by its mnemonic, its literal words and the number of its operands; then each
operand is read as the kind that its place asks for (operands.py). Whether values fit their fields, and whether two registers can
be read together, is for the encoder and the allocator to say. Not a mnemonic is known here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ixpemu.asm.findings import Findings
from ixpemu.asm.operand_place import OperandPlace, Refused
from ixpemu.asm.operands import OperandReader, as_word, listed
from ixpemu.asm.program import Instruction
from ixpemu.asm.source import Line
from ixpemu.asm.suggestions import nearest
from ixpemu.asm.syntax import Node, Statement
from ixpemu.codes import INSTRUCTION_PLANNED, MNEMONIC_UNKNOWN, OPERAND_COUNT, OPERAND_WORD, OPTION_ARGUMENT, OPTION_UNKNOWN
from ixpemu.isa import Form, InstructionSet, TokenSpec
from ixpemu.isa.model import Operand, Operation, Token

_MNEMONIC_CHOICE = re.compile(r"^<\w+>")        # in the syntax of a form with several mnemonics
_PLANNED = "the chip has it and this version does not: see docs/reference/support.md, or write `.word` with its 40 bits"
_ANY_NUMBER = 1000      # of operands, where the last one may be repeated


@dataclass(frozen=True, slots=True)
class _Shape:
    """What tells a form from the others of its mnemonic: how many operands, which words in which places, which options."""

    form: Form
    fewest: int
    most: int
    words: tuple[tuple[int, frozenset[str]], ...]
    options: frozenset[str]

    @classmethod
    def of(cls, form: Form) -> _Shape:
        """The shape of a form."""
        specs = form.operands
        return cls(
            form,
            sum(not spec.optional for spec in specs),
            _ANY_NUMBER if specs and specs[-1].variadic else len(specs),
            tuple((place, frozenset(map(str.lower, spec.words))) for place, spec in enumerate(specs) if spec.kind == "word"),
            frozenset(token.name.lower() for token in form.tokens),
        )

    def pairs(self) -> set[tuple[int, str]]:
        """Every word with its place."""
        return {(place, word) for place, words in self.words for word in words}

    def first_bad_word(self, texts: list[str]) -> int:
        """The first operand that is none of the words that belong in its place; the number of operands if there is none."""
        for place, words in self.words:
            if place < len(texts) and texts[place] not in words:
                return place
        return len(texts)


class Lowering:
    """Turns statements into instructions."""

    def __init__(
        self, isa: InstructionSet, operands: OperandReader, findings: Findings, macros: Sequence[str] = ()
    ) -> None:
        """`macros`: the names that an unknown instruction may have been meant for."""
        self._macros = macros
        self._planned = isa.planned
        self._operands = operands
        self._findings = findings
        self._forms: dict[str, tuple[_Shape, ...]] = {}
        for block in isa.blocks.values():
            for form in block.forms:
                for mnemonic in form.mnemonics:
                    key = mnemonic.lower()
                    self._forms[key] = (*self._forms.get(key, ()), _Shape.of(form))
        self._words = {mnemonic: tuple(sorted({word for shape in forms for _, word in shape.pairs()}))
                       for mnemonic, forms in self._forms.items()}

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
        specs = form.operands
        places = []
        for position, node in enumerate(statement.operands):
            spec = specs[position] if position < len(specs) else None
            advice = form.help.get(spec.name) if spec is not None and spec.kind == "number" else None
            places.append(OperandPlace(line, self._operands.meant(node), (position, mnemonic), advice))
        operands: list[Operand] = []
        tokens: list[Token] = []
        good = True
        self._operands.words_instead = self._words[mnemonic]
        for position, place in enumerate(places):
            try:
                operands.append(self._operands.operand(place, specs[position] if position < len(specs) else specs[-1]))
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
            tuple([place.origin() for place in places]),
            tuple([line.origin(node.start, node.end) for node in statement.options]),
            source=line.text[head.start:].strip(),
        )

    @staticmethod
    def _end(statement: Statement) -> int:
        return len(statement.line.text.rstrip())

    def _report_mnemonic(self, line: Line, head: Node) -> None:
        if head.text.lower() in self._planned:
            self._findings.error(
                INSTRUCTION_PLANNED, f"the instruction `{head.text}` is not supported yet", line.origin(head.start, head.end),
                help=_PLANNED,
            )
            return
        near = nearest(head.text.lower(), [*self._forms, *self._macros])
        help_text = "if it is a macro, include the file that defines it before this line"
        if near is not None:
            help_text = f"did you mean `{near.name}`?"
        origin = line.origin(head.start, head.end)
        self._findings.error(
            MNEMONIC_UNKNOWN, f"there is no instruction `{head.text}`", origin, help=help_text,
            edits=() if near is None else near.edits(origin, head.text),
        )

    def _choose(self, statement: Statement, forms: tuple[_Shape, ...]) -> Form | None:
        nodes = statement.operands
        count = len(nodes)
        if len(forms) == 1 and not forms[0].words and forms[0].fewest <= count <= forms[0].most:
            return forms[0].form
        texts = [as_word(statement.line, node) for node in nodes]
        lowered = [text.lower() if text is not None else "" for text in texts]
        wanted = {node.text.lower() for node in statement.options}
        best: Form | None = None
        best_score = -1
        for shape in forms:
            if not shape.fewest <= count <= shape.most or shape.first_bad_word(lowered) < count:
                continue
            score = 2 * len(shape.words) + (wanted <= shape.options)
            if score > best_score:
                best, best_score = shape.form, score
        if best is None:
            self._report_shape(statement, forms, lowered)
        elif best.most_operands is None and count > 1:
            return self._without_words(statement, forms, best, lowered)
        return best

    def _without_words(self, statement: Statement, forms: tuple[_Shape, ...], form: Form, texts: list[str]) -> Form | None:
        """The form, unless one of its several operands is a word that makes a form of its own."""
        for node, text in zip(statement.operands, texts, strict=True):
            own = next((shape.form for shape in forms if any(text in words for _, words in shape.words)), None)
            if own is not None:
                self._findings.error(
                    OPERAND_WORD, f"`{statement.line.text[node.start:node.end]}` cannot stand beside other operands",
                    statement.line.origin(node.start, node.end), help=f"it is written `{own.syntax}`",
                )
                return None
        return form

    def _report_shape(self, statement: Statement, forms: tuple[_Shape, ...], texts: list[str]) -> None:
        line, head, nodes = statement.line, statement.head, statement.operands
        if head is None:
            return
        fitting = [shape for shape in forms if shape.first_bad_word(texts) == len(texts)]
        # A first word is a command, and says how many operands there are; a later one may need the number that there is.
        counted = [shape for shape in forms if shape.fewest <= len(nodes) <= shape.most and shape.first_bad_word(texts) > 0]
        if counted or not fitting:
            self._report_word(statement, counted or list(forms), texts)
            return
        nearest = min(fitting, key=lambda shape: min(abs(len(nodes) - shape.fewest), abs(len(nodes) - shape.most)))
        wanted = sorted({count for shape in fitting for count in (shape.fewest, shape.most) if count < _ANY_NUMBER})
        origin = line.origin(head.start, self._end(statement))
        if nodes and len(nodes) > wanted[-1]:
            origin = line.origin(nodes[wanted[-1]].start, nodes[-1].end)
        takes = " or ".join(str(count) for count in wanted)
        if any(shape.most == _ANY_NUMBER for shape in fitting):
            takes = f"{wanted[0]} or more"
        self._findings.error(
            OPERAND_COUNT, f"`{head.text}` takes {takes} operand{'s' * (takes != '1')}, not {len(nodes)}", origin,
            help=f"it is written `{_MNEMONIC_CHOICE.sub(head.text, nearest.form.syntax)}`",
        )

    def _report_word(self, statement: Statement, forms: list[_Shape], texts: list[str]) -> None:
        """An operand that is none of the words that belong in its place, in all of `forms`."""
        line, head = statement.line, statement.head
        position = max(shape.first_bad_word(texts) for shape in forms)
        spelled = {
            word.lower(): word for shape in forms if shape.first_bad_word(texts) == position
            for word in shape.form.operands[position].words
        }
        node = statement.operands[position]
        written = line.text[node.start:node.end]
        mnemonic = head.text if head is not None else ""
        if f"{mnemonic}.{texts[position]}".lower() in self._planned:
            self._findings.error(
                INSTRUCTION_PLANNED, f"`{mnemonic}[{written}, ...]` is not supported yet", line.origin(node.start, node.end),
                help=_PLANNED,
            )
            return
        near = nearest(texts[position].lower(), spelled, 0.5)
        known = listed(sorted(spelled.values()))
        message = f"`{mnemonic}` knows no `{written}`"
        help_text: str | None = f"it knows {known}"
        if near is not None:
            help_text = f"did you mean `{spelled[near.name]}`? {help_text}"
        if len(spelled) == 1:
            message, help_text = f"`{written}` cannot stand here: operand {position + 1} of this `{mnemonic}` is {known}", None
        elif any((position, texts[position]) in shape.pairs() for shape in self._forms[mnemonic.lower()]):
            message = f"`{mnemonic}` with {len(texts)} operands knows no `{written}`"
        origin = line.origin(node.start, node.end)
        edits = () if near is None else near.edits(origin, written, spelled[near.name])
        self._findings.error(OPERAND_WORD, message, origin, help=help_text, edits=edits)

    def _option(self, line: Line, node: Node, form: Form, mnemonic: str, before: list[Token]) -> Token:
        name = node.text.lower()
        place = OperandPlace(line, node, f"the option of `{mnemonic}`")
        spec = next((token for token in form.tokens if token.name.lower() == name), None)
        if spec is None:
            names = [token.name for token in form.tokens]
            near = nearest(name, names)
            takes = f"it takes {listed(names)}" if names else "it takes none"
            words = ", ".join(word for _, word in form.literals)
            raise self._operands.refuse(
                OPTION_UNKNOWN, f"`{mnemonic}{f'[{words}]' if words else ''}` takes no option `{node.text}`", place,
                takes if near is None else f"did you mean `{near.name}`? {takes}",
                edits=() if near is None else near.edits(line.origin(node.start, node.start + len(node.text)), node.text),
            )
        if any(token.name == spec.name for token in before):
            raise self._operands.refuse(OPTION_UNKNOWN, f"the option `{spec.name}` is there twice", place)
        return Token(spec.name, self._option_arguments(place, spec))

    def _option_arguments(self, place: OperandPlace, spec: TokenSpec) -> tuple[Operand, ...]:
        nodes = place.node.children
        what = f"the argument of `{spec.name}`"
        places = [OperandPlace(place.line, self._operands.meant(node), what) for node in nodes]
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
