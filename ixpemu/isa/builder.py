"""Turns parsed blocks into `Block`, `Form` and `Variant` values: layouts, operand specifications, codecs and dispatch variants.

It checks that each block holds together by itself; what needs the whole set (overlaps, examples, inverses) is `checks`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from ixpemu import codes
from ixpemu.diagnostics import Diagnostic, Origin, Span
from ixpemu.isa import codecs_commands, codecs_control, codecs_pairs, codecs_registers, codecs_values
from ixpemu.isa.blocks import Block, Csr, Form, OperandSpec, Timing, TokenSpec, Variant, Words
from ixpemu.isa.codec import Binding, Codec, Surroundings
from ixpemu.isa.expressions import names_read, statement
from ixpemu.isa.fields import WORD_MASK, Layout, layout
from ixpemu.isa.semantics import STATE, Act, Assign, Statement
from ixpemu.isa.source import Node
from ixpemu.isa.tables import OperandTable

CODECS: dict[str, type[Codec]] = {
    name: codec
    for module in (codecs_registers, codecs_pairs, codecs_values, codecs_control, codecs_commands)
    for name, codec in module.CODECS.items()
}


class BlockError(Exception):
    """A block that does not hold together, at a node of its file."""

    def __init__(self, node: Node, message: str, code: int = codes.ISA_BLOCK) -> None:
        super().__init__(message)
        self.node, self.message, self.code = node, message, code

    def diagnostic(self, file: str, block: str) -> Diagnostic:
        """The finding, with its place."""
        return Diagnostic(self.code, f"{block}: {self.message}", origin=Origin(Span(file, self.node.line, self.node.column)))


def unquote(text: str) -> str:
    """A quoted text on one line, runs of blanks as one."""
    return " ".join(text[1:-1].split())


def words_of(node: Node, skip: int) -> Words:
    """The (number, spellings) pairs of a `choice` or `words` node, behind its first `skip` texts."""
    texts = node.texts()[skip:]
    return [(int(texts[i]), tuple(texts[i + 1].split("|"))) for i in range(0, len(texts), 2)]


@dataclass(slots=True)
class Parts:
    """The items of a block or form, sorted by kind."""

    syntaxes: list[Node] = field(default_factory=list)
    words: list[Node] = field(default_factory=list)
    bindings: list[Node] = field(default_factory=list)
    actions: list[Node] = field(default_factory=list)
    timing: Node | None = None
    flow: str | None = None
    help: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, items: Iterable[Node]) -> Parts:
        """Sort the items."""
        parts = cls()
        for item in items:
            match item.rule:
                case "syntax":
                    parts.syntaxes.append(item)
                case "word":
                    parts.words.append(item)
                case "fields":
                    parts.bindings += item.nodes("binding")
                case "do_each" | "do_case":
                    parts.actions.append(item)
                case "timing":
                    parts.timing = item
                case "flow":
                    parts.flow = item.texts()[0]
                case "help":
                    parts.help[item.texts()[0]] = unquote(item.texts()[1])
        return parts


@dataclass(slots=True)
class BlockBuilder:
    """Builds one block. `tables`, `shared` and `csrs` are what its codecs may look up."""

    file: str
    node: Node
    tables: Mapping[str, OperandTable]
    shared: Mapping[str, Words]
    csrs: Mapping[str, Csr]
    name: str = ""
    variants: dict[str, Variant] = field(default_factory=dict)
    used: list[Node] = field(default_factory=list)          # the bindings some form has a use for

    def build(self) -> Block:
        """The block. Raises `BlockError`."""
        self.name = self.node.texts()[0]
        items = self.node.nodes()
        common = Parts.of(items)
        forms: list[Form] = []
        nodes = self.node.nodes("form")
        local = {child.texts()[0]: words_of(child, 1) for child in self.node.nodes("choice")}
        for part in nodes or [self.node]:
            own = Parts.of(part.nodes()) if nodes else Parts()
            form_name = part.texts()[0] if nodes else ""
            forms += self._forms(part, form_name, common, own, {**self.shared, **local})
            bindings = common.bindings if part is (nodes or [self.node])[-1] else []
            for binding in (*own.bindings, *bindings):
                if not any(binding is used for used in self.used):
                    raise BlockError(binding, f"{', '.join(binding.texts()[:-1])} is bound but not in the syntax")
        texts = {rule: unquote(self.node.nodes(rule)[0].texts()[0]) for rule in ("prose", "source") if self.node.nodes(rule)}
        sources = self.node.nodes("source")
        return Block(
            name=self.name,
            title=unquote(self.node.texts()[1]),
            mnemonics=tuple(dict.fromkeys(mnemonic for form in forms for mnemonic in form.mnemonics)),
            forms=tuple(forms),
            variants=tuple(self.variants.values()),
            prose=texts.get("prose", ""),
            source=texts.get("source", ""),
            confidence=sources[0].texts()[1] if sources else "",
            examples=tuple(self._example(child) for child in self.node.nodes("example")),
            refines=next((child.texts()[0] for child in self.node.nodes("refines")), None),
            spelling_of=next((child.texts()[0] for child in self.node.nodes("spelling_of")), None),
            followed_by=next((child.texts()[0] for child in self.node.nodes("followed_by")), None),
            span=Span(self.file, self.node.line, self.node.column),
        )

    def _example(self, node: Node) -> tuple[str, int]:
        match = re.fullmatch(r"example\s+(.+?)\s*=\s*([0-9a-f]{10})\s*", node.texts()[0])
        if match is None:
            raise BlockError(node, "an example is physical text = ten hexadecimal digits", codes.ISA_EXAMPLE)
        return match[1], int(match[2], 16)

    def _forms(self, node: Node, name: str, common: Parts, own: Parts, choices: Mapping[str, Words]) -> list[Form]:
        words = own.words or common.words
        if len(words) != 1:
            raise BlockError(node, f"{len(words)} word layouts; each form has one", codes.ISA_COLUMNS)
        try:
            columns = layout("".join(words[0].texts()))
        except ValueError as error:
            raise BlockError(words[0], str(error), codes.ISA_COLUMNS) from error
        timing = self._timing(node, own.timing or common.timing)
        syntaxes = own.syntaxes or common.syntaxes
        if not syntaxes:
            raise BlockError(node, "it has no syntax")
        around = Surroundings(columns.fields, self.tables, choices, self.csrs)
        forms: list[Form] = []
        for syntax in syntaxes:
            codecs = self._codecs(syntax, common.bindings, own.bindings, around, timing)
            self._all_fields_owned(words[0], columns, codecs)
            mnemonic = syntax.texts()[0]
            choice = mnemonic.strip("<>") if mnemonic.startswith("<") else None
            axes, variants = self._variants(node, name if own.actions else "", common, own, codecs, timing, choice)
            self._tell_unary(codecs, axes, variants)
            made = self._form(name, syntax, columns, codecs, axes, variants, primary=syntax is syntaxes[0])
            forms.append(replace(made, timing=timing, flow=own.flow or common.flow, help={**common.help, **own.help}))
        return forms

    def _timing(self, node: Node, timing: Node | None) -> Timing:
        if timing is None:
            raise BlockError(node, "it has no timing")
        texts = timing.texts()
        cycles = {texts[i]: int(texts[i + 1]) for i in range(0, len(texts) - 2, 2)}
        unknown = set(cycles) - {"issue", "aborted", "early", "defer"}
        if unknown:
            raise BlockError(timing, f"timing has no {unknown.pop()}: issue, aborted, early, defer")
        return Timing(cycles.get("issue", 1), cycles.get("aborted", 0), cycles.get("early"), cycles.get("defer", 0),
                      unquote(texts[-2]), texts[-1])

    def _codecs(
        self, syntax: Node, common: Sequence[Node], own: Sequence[Node], around: Surroundings, timing: Timing
    ) -> tuple[Codec, ...]:
        mentioned = {child.texts()[0] for child in syntax.nodes("operands") for child in child.nodes()} | set(syntax.texts()[1:])
        mentioned.add(syntax.texts()[0].strip("<>"))
        made: list[Codec] = []
        for node in (*common, *own):
            texts = node.texts()
            names = tuple(texts[:-1])
            if not mentioned.intersection(names):
                continue            # a binding that this syntax has no use for
            self.used.append(node)
            cls = CODECS.get(texts[-1])
            if cls is None:
                raise BlockError(node, f"there is no operand codec {texts[-1]}; known are {', '.join(sorted(CODECS))}")
            arguments = tuple(tuple(argument.texts()) for argument in node.nodes("argument"))
            try:
                codec = cls(Binding(names, texts[-1], arguments), around)
            except (ValueError, KeyError, IndexError, TypeError) as error:
                raise BlockError(node, f"{texts[-1]}({', '.join(' '.join(a) for a in arguments)}): {error}") from error
            if isinstance(codec, codecs_control.Defer):
                codec.limit = timing.defer
            made.append(codec)
        bound = {name for codec in made for name in codec.names}
        for operand in (child for group in syntax.nodes("operands") for child in group.nodes("named", "optional", "variadic")):
            if operand.texts()[0] not in bound:
                raise BlockError(operand, f"operand {operand.texts()[0]} is bound to no field")
        return tuple(sorted(made, key=lambda codec: codec.order))

    def _all_fields_owned(self, node: Node, columns: Layout, codecs: Iterable[Codec]) -> None:
        owners: dict[str, str] = {}
        for codec in codecs:
            for letter in codec.letters:
                if letter in owners:
                    raise BlockError(node, f"field {letter!r} belongs to {owners[letter]} and to {codec.name}", codes.ISA_COLUMNS)
                owners[letter] = codec.name
        if missing := set(columns.fields) - set(owners):
            raise BlockError(node, f"field {missing.pop()!r} is bound to nothing", codes.ISA_COLUMNS)
        covered = columns.fixed_mask
        for found in columns.fields.values():
            covered |= found.mask
        if covered != WORD_MASK:
            raise BlockError(node, "the columns leave bits unaccounted for", codes.ISA_COLUMNS)

    def _variants(
        self, node: Node, name: str, common: Parts, own: Parts, codecs: Sequence[Codec], timing: Timing,
        mnemonic_choice: str | None,
    ) -> tuple[tuple[str, ...], dict[tuple[str, ...], Variant]]:
        actions = (*common.actions, *own.actions)
        if not actions:
            raise BlockError(node, "it has no semantics (do)", codes.ISA_SEMANTICS)
        known = {axis: cases for codec in codecs for axis, cases in codec.axes().items()}
        used: dict[str, set[str]] = {}
        for action in actions:
            if action.rule == "do_case":
                axis, case = action.texts()
                if case not in known.get(axis, {}):
                    cases_known = ", ".join(known.get(axis, {})) or "no such choice"
                    raise BlockError(action, f"there is no case {case} of {axis}: {cases_known}", codes.ISA_SEMANTICS)
                used.setdefault(axis, set()).add(case)
        for axis, cases in used.items():
            if (left := set(known[axis]) - cases) and "off" not in left:
                raise BlockError(node, f"there is no semantics for {axis} {', '.join(sorted(left))}", codes.ISA_SEMANTICS)
        axes = tuple(used)
        variants: dict[tuple[str, ...], Variant] = {}
        for key in product(*(known[axis] for axis in axes)):
            chosen = dict(zip(axes, key, strict=True))
            # A choice that is the mnemonic names the variant by itself: "beq", not "bcc.beq".
            parts = [self.name, name] if mnemonic_choice is None else [chosen.get(mnemonic_choice, self.name), name]
            ranked = sorted((axis for axis in axes if axis != mnemonic_choice), key=lambda axis: _axis_rank(codecs, axis))
            full = ".".join(part for part in (*parts, *(known[axis][chosen[axis]] for axis in ranked)) if part)
            lines = [a for a in actions if a.rule == "do_each" or chosen[a.texts()[0]] == a.texts()[1]]
            variants[key] = self._variant(full, lines, chosen, codecs, timing)
        return axes, variants

    def _variant(
        self, name: str, lines: Sequence[Node], chosen: Mapping[str, str], codecs: Sequence[Codec], timing: Timing
    ) -> Variant:
        parameters = {parameter for codec in codecs for parameter in codec.parameters()}
        readable = {operand for codec in codecs for operand in codec.readable()}
        writable = {operand for codec in codecs for operand in codec.writable()}
        statements: list[Statement] = []
        temporaries: set[str] = set()
        reads: list[str] = []
        writes: set[str] = set()
        for line in lines:
            for node in line.nodes():
                try:
                    step = statement(node)
                except ValueError as error:
                    raise BlockError(node, str(error), codes.ISA_SEMANTICS) from error
                for read in names_read(step):
                    if read not in readable | parameters | temporaries | set(STATE):
                        raise BlockError(node, f"{name} reads {read}, which is no operand, number or state of it",
                                         codes.ISA_SEMANTICS)
                    if read not in temporaries:
                        reads.append(read)
                if isinstance(step, Assign):
                    if step.target in writable or STATE.get(step.target):
                        writes.add(step.target)
                    elif "." in step.target or step.target in readable | parameters | set(STATE):
                        raise BlockError(node, f"{name} assigns {step.target}, which it must not", codes.ISA_SEMANTICS)
                    else:
                        temporaries.add(step.target)
                statements.append(step)
        acts = [step for step in statements if isinstance(step, Act)]
        if len(acts) > 1:
            raise BlockError(lines[0], f"{name} has two actions", codes.ISA_SEMANTICS)
        made = Variant(
            name=name, block=self.name, choices=dict(chosen), statements=tuple(statements),
            parameters=tuple(dict.fromkeys(read for read in reads if read in parameters)),
            reads=frozenset(read for read in reads if read not in parameters), writes=frozenset(writes),
            condition_codes="".join(code for code in "nzvc" if f"cc.{code}" in writes),
            action=acts[0].action if acts else None, external=any(act.external for act in acts), timing=timing,
        )
        found = self.variants.setdefault(name, made)
        if replace(found, timing=made.timing) != made:
            raise BlockError(lines[0], f"two forms give the variant {name} different semantics", codes.ISA_SEMANTICS)
        return found

    def _tell_unary(
        self, codecs: Iterable[Codec], axes: Sequence[str], variants: Mapping[tuple[str, ...], Variant]
    ) -> None:
        """Tell a pair of sources in which cases the first one is not needed, and may be written `--`."""
        for codec in codecs:
            if not isinstance(codec, codecs_pairs.Sources) or len(codec.names) == 1 or codec.first != "read":
                continue
            for position, axis in enumerate(axes):
                needed = {key[position] for key, variant in variants.items() if _needs(variant, codec.names[0])}
                free = {key[position] for key in variants} - needed
                if free:
                    codec.unary = (axis, frozenset(free))
                    break

    def _form(
        self, name: str, syntax: Node, columns: Layout, codecs: tuple[Codec, ...], axes: tuple[str, ...],
        variants: dict[tuple[str, ...], Variant], *, primary: bool,
    ) -> Form:
        specs = {spec: value for codec in codecs for spec, value in codec.operand_specs().items()}
        operands: list[OperandSpec] = []
        literals: list[tuple[int, str]] = []
        for node in (child for group in syntax.nodes("operands") for child in group.nodes()):
            text = node.texts()[0]
            if node.rule == "literal":
                word = text.strip("'")
                literals.append((len(operands), word))
                operands.append(OperandSpec(word, "word", words=(word,)))
                continue
            if text not in specs:
                raise BlockError(node, f"{text} is no operand but an option")
            if operands and operands[-1].optional and node.rule != "optional":
                raise BlockError(node, f"{text} stands behind an operand that may be left out")
            operands.append(replace(specs[text], optional=node.rule == "optional", variadic=node.rule == "variadic"))
        tokens = self._tokens(syntax, codecs)
        mnemonic = syntax.texts()[0]
        choice = mnemonic.strip("<>") if mnemonic.startswith("<") else None
        if choice is not None and choice not in specs:
            raise BlockError(syntax, f"the mnemonic {mnemonic} is no choice of this block")
        return Form(
            block=self.name, name=name, syntax=_syntax_text(mnemonic, operands, literals),
            mnemonics=specs[choice].words if choice is not None else (mnemonic,), mnemonic_choice=choice,
            operands=tuple(operands), tokens=tokens, literals=tuple(literals),
            least_operands=sum(not spec.optional for spec in operands),
            most_operands=None if operands and operands[-1].variadic else len(operands), primary=primary, columns=columns.columns,
            fields=columns.fields, fixed_mask=columns.fixed_mask, fixed_bits=columns.fixed_bits, codecs=codecs, axes=axes,
            variants=variants, span=Span(self.file, syntax.line, syntax.column),
        )

    def _tokens(self, syntax: Node, codecs: Sequence[Codec]) -> tuple[TokenSpec, ...]:
        tokens: dict[str, TokenSpec] = {}
        for name in syntax.texts()[1:]:
            owner = next((codec for codec in codecs if name in codec.names), None)
            if owner is None:
                raise BlockError(syntax, f"option {name} is bound to no field")
            tokens |= {spec.name: spec for spec in owner.token_specs()}
        return tuple(tokens.values())


def _needs(variant: Variant, name: str) -> bool:
    """Whether a variant uses an operand for more than passing it on to the next instruction."""
    return any(
        name in names_read(step) for step in variant.statements
        if not (isinstance(step, Assign) and step.target.startswith("previous."))
    )


def _axis_rank(codecs: Sequence[Codec], axis: str) -> int:
    """Operations come before shifts and flags in a variant's name."""
    return next(i for i, codec in enumerate((*_choices(codecs), *codecs)) if axis in codec.axes())


def _choices(codecs: Sequence[Codec]) -> list[Codec]:
    return [codec for codec in codecs if isinstance(codec, codecs_values.Choice)]


def _syntax_text(mnemonic: str, operands: Sequence[OperandSpec], literals: Sequence[tuple[int, str]]) -> str:
    """The form as people write it: `alu_shf[dest, a, op, b [, shift]]`."""
    if not operands:
        return mnemonic
    text = ""
    for i, spec in enumerate(operands):
        piece = dict(literals).get(i, spec.name) + ("..." if spec.variadic else "")
        text += f" [, {piece}]" if spec.optional else f", {piece}" if i else piece
    return f"{mnemonic}[{text}]"
