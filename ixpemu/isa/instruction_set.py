"""The loaded instruction set: lookup, encoding, decoding, facts, text. Loading is `loader`, bit work is the codecs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path

from ixpemu import resources
from ixpemu.isa.blocks import Block, BranchFacts, Csr, Decoded, EncodingError, Facts, Form, Loaded, Variant
from ixpemu.isa.codec import FactsBuilder, Given, Reading, Refused
from ixpemu.isa.codecs_commands import transfer_facts
from ixpemu.isa.fields import WORD_BITS, WORD_MASK
from ixpemu.isa.kept import load_kept
from ixpemu.isa.model import Constant, Nothing, Operand, Operation, Word
from ixpemu.isa.physical import format_operand, format_operation
from ixpemu.isa.semantics import Assign, Branch, Jump, Name, Number
from ixpemu.isa.tables import OperandTable

_TOP = WORD_BITS - 8            # decoding starts at the eight most significant bits
_SMALL = 32                     # numbers of a field below this are printed in decimal: bits, bytes, contexts, counts


class InstructionSet:
    """Every block of isa/, with its tables. Immutable after loading; its methods are pure."""

    def __init__(self, loaded: Loaded) -> None:
        self.blocks: Mapping[str, Block] = loaded.blocks
        self.csrs: tuple[Csr, ...] = loaded.csrs
        self.tables: Mapping[str, OperandTable] = loaded.tables
        self.words = loaded.words
        self.provenance = loaded.provenance
        self._csr_by_name = {(csr.space, name.lower()): csr for csr in self.csrs for name in (csr.name, *csr.aliases)}
        self._csr_by_address = {(csr.space, csr.address): csr for csr in self.csrs}
        self._forms: dict[str, list[Form]] = defaultdict(list)
        for block in self.blocks.values():
            for form in block.forms:
                for mnemonic in form.mnemonics:
                    self._forms[mnemonic.lower()].append(form)
        self._candidates = self._decode_order()

    @classmethod
    def shipped(cls) -> InstructionSet:
        """The instruction set of this installation."""
        return cls(load_kept(resources.folder("isa")))

    @classmethod
    def from_folder(cls, folder: Path) -> InstructionSet:
        """Load the `.isa` files of a folder. Raises `UserError` with the place of each mistake."""
        from ixpemu.isa.loader import load

        return cls(load(folder))

    @cached_property
    def input_states(self) -> tuple[str, ...]:
        """The names of the branch input states, by number."""
        return tuple(words[0] for _, words in self.words["input_state"])

    # Lookup

    @cached_property
    def planned(self) -> frozenset[str]:
        """Mnemonics, and commands as `unit.command`, that the machine has and this set has not yet."""
        return frozenset(word for _, words in self.words.get("planned", ()) for word in words)

    def lookup(self, mnemonic: str) -> Block | None:
        """The block of a mnemonic, aliases included, in any case. `alu` with a shift is found by `form`, not here."""
        forms = self._forms.get(mnemonic.lower())
        return self.blocks[forms[0].block] if forms else None

    def mnemonics(self) -> tuple[str, ...]:
        """All spellings, sorted."""
        return tuple(sorted({mnemonic for block in self.blocks.values() for mnemonic in block.mnemonics}))

    def forms(self, mnemonic: str) -> Sequence[Form]:
        """All forms a mnemonic can be written in, over all blocks and layouts."""
        return tuple(self._forms.get(mnemonic.lower(), ()))

    def form(self, operation: Operation) -> Form:
        """The syntax form an operation is written in (by mnemonic, literal words and operand count). Raises `EncodingError`."""
        return self._matching(operation)[0]

    def variants(self) -> tuple[Variant, ...]:
        """Every dispatch variant, in file order."""
        return tuple(variant for block in self.blocks.values() for variant in block.variants)

    def csr(self, name: str, space: str = "local") -> Csr | None:
        """The CSR of a name, in any case, in one of the spaces "local", "cap", "msf", "sram"."""
        return self._csr_by_name.get((space, name.lower()))

    def csr_at(self, address: int, space: str = "local") -> Csr | None:
        """The CSR at a byte address of a space."""
        return self._csr_by_address.get((space, address))

    def input_state(self, name: str) -> int | None:
        """The number of a branch input state, by name in any case."""
        upper = name.upper()
        return self.input_states.index(upper) if upper in self.input_states else None

    # Encoding

    def encode(self, operation: Operation, contexts: int = 8) -> int:
        """The 40-bit word of an operation on physical registers. Raises `EncodingError`."""
        refusals: list[EncodingError] = []
        for form in self._matching(operation):
            given = self._given(form, operation, contexts)
            try:
                word = form.fixed_bits
                for codec in form.codecs:
                    word |= codec.encode(given)
                return word
            except Refused as refused:
                refusals.append(EncodingError(
                    refused.message, _place(form).get(refused.name), _token_place(operation).get(refused.name),
                    refused.help or form.help.get(refused.name)))
                # A register on the other side only means that another layout of the same syntax is the right one.
                if not refused.side:
                    break
        raise refusals[-1]

    def _matching(self, operation: Operation) -> list[Form]:
        forms = self._forms.get(operation.mnemonic.lower())
        if not forms:
            close = get_close_matches(operation.mnemonic.lower(), list(self._forms), n=1)
            raise EncodingError(f"there is no instruction {operation.mnemonic}",
                                help=f"did you mean {close[0]}?" if close else None)
        matching = [form for form in forms if _fits(form, operation.operands)]
        if not matching:
            raise _no_form(operation, forms)
        for index, token in enumerate(operation.tokens):
            if all(token.name.lower() != spec.name for form in matching for spec in form.tokens):
                known = ", ".join(spec.name for spec in matching[0].tokens)
                raise EncodingError(f"{operation.mnemonic} has no option {token.name}", token_index=index,
                                    help=f"options here: {known}" if known else "it takes no options")
            if any(token.name.lower() == earlier.name.lower() for earlier in operation.tokens[:index]):
                raise EncodingError(f"option {token.name} is given twice", token_index=index)
        return matching

    def _given(self, form: Form, operation: Operation, contexts: int) -> Given:
        operands: dict[str, Operand] = {}
        several: tuple[Operand, ...] = ()
        for i, spec in enumerate(form.operands):
            if spec.variadic:
                several = operation.operands[i:]
            elif i < len(operation.operands):
                operands[spec.name] = operation.operands[i]
        if form.mnemonic_choice is not None:
            operands[form.mnemonic_choice] = Word(operation.mnemonic)
        return Given(contexts, operands, {token.name.lower(): token for token in operation.tokens}, several)

    # Decoding

    def decode(self, word: int, contexts: int = 8) -> Decoded | None:
        """The reading of a word, or None if it is an illegal instruction."""
        if not 0 <= word <= WORD_MASK:
            return None
        for form in self._candidates[word >> _TOP]:
            if word & form.fixed_mask != form.fixed_bits:
                continue
            reading = Reading(contexts)
            if all(codec.decode(word, reading) for codec in form.codecs):
                return self._decoded(word, form, reading)
        return None

    def _decoded(self, word: int, form: Form, reading: Reading) -> Decoded:
        operation = _operation(form, reading)
        try:
            canonical = self.encode(operation, reading.contexts) == word
        except EncodingError:
            canonical = False
        variant = form.variants[tuple(reading.choices[axis] for axis in form.axes)]
        return Decoded(word, self.blocks[form.block], form, variant, operation, self._facts(form, operation), canonical,
                       reading.semantic, reading.values)

    def _decode_order(self) -> list[tuple[Form, ...]]:
        """For each value of the top bits the forms to try. A block that refines another shares words with it and comes first; for
        all others the order does not matter, which `check` proves."""
        primary = [form for block in self.blocks.values() if block.spelling_of is None for form in block.forms if form.primary]
        primary.sort(key=lambda form: self.blocks[form.block].refines is None)
        order: list[tuple[Form, ...]] = []
        for top in range(1 << (WORD_BITS - _TOP)):
            order.append(tuple(
                form for form in primary
                if (top ^ form.fixed_bits >> _TOP) & form.fixed_mask >> _TOP == 0
            ))
        return order

    # Text

    def format(self, operation: Operation) -> str:
        """The operation as physical text, e.g. `alu[b3, b3, +, 1]`; a target without a name is printed as `l11#`."""
        try:
            specs = self.form(operation).operands
        except EncodingError:
            specs = ()
        pieces: list[str] = []
        for i, operand in enumerate(operation.operands):
            spec = specs[min(i, len(specs) - 1)] if specs else None
            decimal = spec is not None and spec.kind in ("number", "count") and spec.high < _SMALL
            digits = operand.text if spec is not None and spec.kind == "mask" and isinstance(operand, Constant) else None
            pieces.append(digits or format_operand(operand, decimal=decimal))
        return format_operation(operation.mnemonic, pieces, operation.tokens)

    def disassemble(self, word: int, contexts: int = 8) -> str:
        """One line of physical text that assembles back to `word`; `.word 0x...`, the reading behind `;`, where none does."""
        decoded = self.decode(word, contexts)
        if decoded is not None and decoded.canonical:
            return self.format(decoded.operation)
        text = f".word 0x{word:010x}"
        return text if decoded is None else f"{text} ; {self.format(decoded.operation)}"

    # Facts

    def facts(self, operation: Operation) -> Facts:
        """What an operation reads, writes, waits for and where control goes; registers need no numbers yet.

        Raises `EncodingError` if no form of the instruction has such operands.
        """
        return self._facts(self.form(operation), operation)

    def variant(self, operation: Operation) -> Variant:
        """The dispatch variant of an operation. Raises `EncodingError` as `facts` does."""
        form = self.form(operation)
        given = self._given(form, operation, 8)
        builder = FactsBuilder(_place(form), _token_place(operation))
        for codec in form.codecs:
            codec.note(given, builder)
        return _variant(form, given)

    def _facts(self, form: Form, operation: Operation) -> Facts:
        given = self._given(form, operation, 8)
        builder = FactsBuilder(_place(form), _token_place(operation))
        for codec in form.codecs:
            codec.note(given, builder)
        variant = _variant(form, given)
        parts = builder.parts
        timing = form.timing
        branch, ends = parts.pop("branch", None), form.flow == "ends"
        for step in variant.statements:
            targets = _targets(form)
            if isinstance(step, Branch):
                ends = step.condition == Number(1)
                branch = BranchFacts(not ends, targets, indirect=False)
            elif isinstance(step, Jump):
                ends = True
                branch = BranchFacts(False, targets, indirect=True)
        if form.flow == "branches":
            branch = BranchFacts(True, _targets(form), indirect=False)
        indirect = bool(parts.get("flags", {}).get("indirect_ref"))
        swaps = parts.get("swaps", False) or form.flow == "swaps"
        leaves = swaps or ends or branch is not None        # only then are fetches squashed, or slots behind it filled
        return Facts(
            reads=tuple(sorted(parts["reads"])),
            writes=tuple(sorted(parts["writes"])),
            pair=parts.get("pair"),
            copies=_copies(variant, _place(form), parts["writes"], parts["reads"]),
            restricted=frozenset(parts["restricted"]),
            transfer=transfer_facts(builder),
            signal=parts.get("signal"),
            signal_pair=parts.get("signal_pair", False),
            waits=tuple(parts["waits"]),
            waits_any=parts.get("waits_any", False),
            swaps=swaps,
            consumes=parts.get("consumes"),
            arrived_when_taken=parts.get("arrived_when_taken", False),
            branch=branch,
            resume=parts.get("resume"),
            reads_cc=any(name.startswith("cc.") for name in variant.reads),
            writes_cc=variant.condition_codes != "",
            reads_previous=indirect or any(name in ("previous.a", "previous.alu") for name in variant.reads),
            writes_previous=any(name in ("previous.a", "previous.alu") for name in variant.writes),
            defer=parts.get("defer", 0),
            defer_limit=timing.defer if leaves else 0,
            issue=timing.issue,
            aborted=timing.aborted if leaves else 0,
            ends=ends or parts.get("resume") is not None,
            followed_by=self.blocks[form.block].followed_by,
        )


def _copies(
    variant: Variant, place: Mapping[str, int], writes: Collection[int], reads: Collection[int]
) -> tuple[int, int] | None:
    """The written register operand and the read one whose value it gets unchanged, as the statements say."""
    passed = {
        step.target: step.value.name for step in variant.statements if isinstance(step, Assign) and isinstance(step.value, Name)
    }
    for target, source in passed.items():
        found = place.get(target), place.get(passed.get(source, source))
        if found[0] in writes and found[1] in reads and found[0] is not None and found[1] is not None:
            return found[0], found[1]
    return None


def _targets(form: Form) -> tuple[int, ...]:
    return tuple(i for i, spec in enumerate(form.operands) if spec.kind == "target")


def _place(form: Form) -> dict[str, int]:
    return {spec.name: i for i, spec in enumerate(form.operands)}


def _token_place(operation: Operation) -> dict[str, int]:
    return {token.name.lower(): i for i, token in enumerate(operation.tokens)}


def _variant(form: Form, given: Given) -> Variant:
    key = tuple(given.choices.get(axis, "") for axis in form.axes)
    found = form.variants.get(key)
    if found is not None:
        return found
    # A word that is none of its choice: the encoder says so; facts go on with any variant of the form.
    return next(iter(form.variants.values()))


def _fits(form: Form, operands: Sequence[Operand]) -> bool:
    count = len(operands)
    if count < form.least_operands or (form.most_operands is not None and count > form.most_operands):
        return False
    for index, word in form.literals:
        if not _is_word(operands[index], word):
            return False
    # A variadic form takes nothing that another form of the block has as a literal word.
    return not (form.most_operands is None and any(isinstance(operand, Word | Nothing) for operand in operands))


def _is_word(operand: Operand, word: str) -> bool:
    if isinstance(operand, Nothing):
        return word == "--"
    return isinstance(operand, Word) and operand.text.lower() == word.lower()


def _no_form(operation: Operation, forms: Sequence[Form]) -> EncodingError:
    """Why no form fits: an unknown command, or a wrong number of operands."""
    shapes = tuple(dict.fromkeys(form.syntax.replace(f"<{form.mnemonic_choice}>", operation.mnemonic) for form in forms))
    expected = f"expected {' or '.join(shapes[:4])}"
    operands = operation.operands
    by_command = [form for form in forms if not form.literals or (operands and all(
        index < len(operands) and _is_word(operands[index], word) for index, word in form.literals[:1]))]
    commands = sorted({word for form in forms for index, word in form.literals if index == 0})
    if commands and operands and not by_command:
        given = format_operand(operands[0])
        close = get_close_matches(given.lower(), commands, n=1)
        return EncodingError(f"{operation.mnemonic} has no command {given}", 0, None,
                             f"did you mean {close[0]}?" if close else f"commands: {', '.join(commands)}")
    if by_command:
        expected = f"expected {' or '.join(dict.fromkeys(form.syntax for form in by_command))}".replace(
            f"<{by_command[0].mnemonic_choice}>", operation.mnemonic)
    given = f"{len(operands)} operand{'' if len(operands) == 1 else 's'}"
    return EncodingError(f"{operation.mnemonic} has no form with {given} like these", help=expected)


def _operation(form: Form, reading: Reading) -> Operation:
    """The operation a reading stands for, in canonical spelling and order."""
    operands: list[Operand] = []
    for i, spec in enumerate(form.operands):
        if spec.variadic:
            operands += reading.several
        elif any(i == index for index, _ in form.literals):
            operands.append(Nothing() if spec.name == "--" else Word(spec.name))
        elif spec.name in reading.operands:
            operands.append(reading.operands[spec.name])
        elif not spec.optional:
            operands.append(Nothing())
    mnemonic = form.mnemonics[0] if form.mnemonic_choice is None else reading.choices[form.mnemonic_choice]
    tokens = tuple(reading.tokens[spec.name] for spec in form.tokens if spec.name in reading.tokens)
    return Operation(mnemonic, tuple(operands), tokens)


