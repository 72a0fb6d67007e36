"""Proves the instruction set: what `ixpemu isa check` runs.

Columns and semantics are checked while a block is built (a set that breaks them does not load); here is what needs the whole set:
no two encodings overlap except where a block says it refines another, and those that say so do; encoding and decoding are inverse
for every operand form; examples hold; every fact has a source and a confidence.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

from ixpemu import codes
from ixpemu.diagnostics import Diagnostic, Origin, Span
from ixpemu.isa.blocks import Block, Csr, Decoded, EncodingError, Form
from ixpemu.isa.codec import Codec, Reading
from ixpemu.isa.fields import WORD_MASK, Field
from ixpemu.isa.instruction_set import InstructionSet
from ixpemu.isa.physical import parse_physical_instruction
from ixpemu.isa.samples import encodable
from ixpemu.isa.semantics import STATE

_ENUMERABLE = 1 << 12       # fields with more free values than this are taken to be legal
_MOST_PER_FORM = 3          # findings of one kind that are reported for one form


def check(isa: InstructionSet) -> list[Diagnostic]:
    """Every finding; an empty list means the set is proved."""
    findings = [*_overlaps(isa), *_csrs(isa), *_shared(isa)]
    for block in isa.blocks.values():
        findings += _provenance(block)
        findings += _examples(isa, block)
        for form in block.forms:
            findings += _columns(block, form)
            for contexts in (8, 4):
                findings += _inverse(isa, block, form, contexts)
    return findings


def _finding(code: int, span: Span, message: str, help: str | None = None) -> Diagnostic:
    return Diagnostic(code, message, origin=Origin(span), help=help)


# Columns


def _columns(block: Block, form: Form) -> Iterator[Diagnostic]:
    covered = form.fixed_mask
    for field in form.fields.values():
        if covered & field.mask:
            yield _finding(codes.ISA_COLUMNS, form.span, f"{block.name}: field {field.letter!r} shares bits with another")
        covered |= field.mask
    if covered != WORD_MASK:
        yield _finding(codes.ISA_COLUMNS, form.span, f"{block.name}: bits {covered ^ WORD_MASK:010x} are unaccounted for")


# Overlaps


def _overlaps(isa: InstructionSet) -> Iterator[Diagnostic]:
    read = (block for block in isa.blocks.values() if block.spelling_of is None)
    decoded = [(block, form) for block in read for form in block.forms if form.primary]
    met: set[tuple[str, str]] = set()
    for (first_block, first), (second_block, second) in combinations(decoded, 2):
        if disjoint(first, second):
            continue
        names = (first_block.name, second_block.name)
        if first_block.refines == names[1] or second_block.refines == names[0]:
            met.add(names if first_block.refines == names[1] else (names[1], names[0]))
            continue
        yield _finding(codes.ISA_OVERLAP, second.span, f"words of {_title(second)} are also words of {_title(first)}",
                       "fix a bit that differs, or say `refines` in the block that is to be read first")
    for block in isa.blocks.values():
        for named in (block.refines, block.spelling_of, block.followed_by):
            if named is not None and named not in isa.blocks:
                yield _finding(codes.ISA_EXEMPTION, block.span, f"{block.name} names {named}, which is no block")
        if block.refines is not None and (block.name, block.refines) not in met:
            yield _finding(codes.ISA_EXEMPTION, block.span, f"{block.name} refines {block.refines} but shares no word with it")


def _title(form: Form) -> str:
    return f"{form.block} ({form.name})" if form.name else form.block


def disjoint(first: Form, second: Form) -> bool:
    """Whether no word is of both forms: fixed bits differ, or a field would need a value that its codec never writes."""
    if (first.fixed_bits ^ second.fixed_bits) & first.fixed_mask & second.fixed_mask:
        return True
    return _illegal(first, second) or _illegal(second, first) or _apart(first, second)


def _owned(form: Form) -> Iterator[tuple[Codec, Field]]:
    for codec in form.codecs:
        for field in codec.letters.values():
            yield codec, field


def _values(field: Field, mask: int, bits: int) -> Iterator[int]:
    """The values of a field that agree with fixed bits of a word; nothing if they are too many to try."""
    places = [(at + i, low + i) for at, low, run in field.runs for i in range(run.bit_length())]
    free = [value_bit for word_bit, value_bit in places if not mask >> word_bit & 1]
    if 1 << len(free) > _ENUMERABLE:
        return
    base = field.get(bits & mask)
    for chosen in product((0, 1), repeat=len(free)):
        yield base | sum(bit << at for bit, at in zip(chosen, free, strict=True))


def _illegal(form: Form, other: Form) -> bool:
    """Whether the fixed bits of `other` leave some field of `form` no legal value."""
    for codec, field in _owned(form):
        if field.mask & other.fixed_mask:
            tried = list(_values(field, other.fixed_mask, other.fixed_bits))
            if tried and not any(codec.legal(field.letter, value) for value in tried):
                return True
    return False


def _apart(first: Form, second: Form) -> bool:
    """Whether two fields at the same place have no legal value in common."""
    others = {field.runs: (codec, field) for codec, field in _owned(second)}
    for codec, field in _owned(first):
        found = others.get(field.runs)
        if found is None or 1 << field.width > _ENUMERABLE:
            continue
        other, other_field = found
        if not any(codec.legal(field.letter, v) and other.legal(other_field.letter, v) for v in range(1 << field.width)):
            return True
    return False


# Inverse


def _inverse(isa: InstructionSet, block: Block, form: Form, contexts: int) -> Iterator[Diagnostic]:
    found = tried = 0
    for operation, word in encodable(isa, form, contexts):
        tried += 1
        problem = _one_way_back(isa, block, form, word, contexts)
        if problem is not None:
            found += 1
            if found <= _MOST_PER_FORM:
                yield _finding(codes.ISA_INVERSE, form.span, f"{isa.format(operation)} is {word:010x}, which {problem}")
    if tried == 0:
        yield _finding(codes.ISA_INVERSE, form.span, f"no operands could be found that {_title(form)} encodes")


def _one_way_back(isa: InstructionSet, block: Block, form: Form, word: int, contexts: int) -> str | None:
    decoded = isa.decode(word, contexts)
    if decoded is None:
        return "is not read as any instruction"
    if not decoded.canonical:
        return f"reads as {isa.format(decoded.operation)}, which is not the same word again"
    owner = isa.blocks[decoded.form.block]
    if owner.name not in (block.name, block.spelling_of) and owner.refines not in (block.name, block.spelling_of):
        return f"is read as {owner.name}"
    if block.refines is not None and not any(_reads(other, word, contexts) for other in isa.blocks[block.refines].forms):
        return f"is no word of {block.refines}, which the block says it refines"
    return _semantics_problem(decoded)


def _reads(form: Form, word: int, contexts: int) -> bool:
    reading = Reading(contexts)
    return word & form.fixed_mask == form.fixed_bits and all(codec.decode(word, reading) for codec in form.codecs)


def _semantics_problem(decoded: Decoded) -> str | None:
    """Whether the decoder leaves out something that the semantics read or write."""
    variant = decoded.variant
    for name in variant.parameters:
        if name not in decoded.values:
            return f"decodes without the number {name} that {variant.name} reads"
    for name in variant.reads | variant.writes:
        if name not in STATE and name not in decoded.operands:
            return f"decodes without the operand {name} that {variant.name} uses"
    return None


# Examples and provenance


def _examples(isa: InstructionSet, block: Block) -> Iterator[Diagnostic]:
    if not block.examples:
        yield _finding(codes.ISA_EXAMPLE, block.span, f"{block.name} has no example")
    for text, word in block.examples:
        try:
            made = isa.encode(parse_physical_instruction(text))
        except EncodingError as error:
            yield _finding(codes.ISA_EXAMPLE, block.span, f"{block.name}: {text} does not assemble: {error.message}", error.help)
            continue
        if made != word:
            yield _finding(codes.ISA_EXAMPLE, block.span, f"{block.name}: {text} is {made:010x}, not {word:010x}")
            continue
        back = isa.disassemble(word)
        if back.startswith(".word") or isa.encode(parse_physical_instruction(back)) != word:
            yield _finding(codes.ISA_EXAMPLE, block.span, f"{block.name}: {word:010x} disassembles to {back}")


def _provenance(block: Block) -> Iterator[Diagnostic]:
    timings = {form.timing for form in block.forms}
    facts = [("source", block.source), ("confidence", block.confidence), ("description", block.prose), ("title", block.title)]
    facts += [(f"{part} of its timing", getattr(timing, part)) for timing in timings for part in ("source", "confidence")]
    for what, text in facts:
        if not text:
            yield _finding(codes.ISA_PROVENANCE, block.span, f"{block.name} has no {what}")


def _shared(isa: InstructionSet) -> Iterator[Diagnostic]:
    for name, (source, confidence) in isa.provenance.items():
        if not source or not confidence:
            yield Diagnostic(codes.ISA_PROVENANCE, f"{name} has no source or confidence")
    commands = {
        f"{mnemonic}.{word}" for block in isa.blocks.values() for form in block.forms for mnemonic in form.mnemonics
        for index, word in form.literals if index == 0
    }
    for word in sorted(isa.planned & (commands | set(isa.mnemonics()))):
        yield Diagnostic(codes.ISA_EXEMPTION, f"{word} is planned and has a block: take it off the list")


# Registers


def _csrs(isa: InstructionSet) -> Iterator[Diagnostic]:
    places: dict[tuple[str, int], Csr] = {}
    names: set[tuple[str, str]] = set()
    for csr in isa.csrs:
        other = places.setdefault((csr.space, csr.address), csr)
        if other is not csr:
            yield Diagnostic(codes.ISA_OVERLAP, f"{csr.name} and {other.name} are both at {csr.address:#x} of {csr.space}")
        for name in (csr.name, *csr.aliases):
            if (csr.space, name) in names:
                yield Diagnostic(codes.ISA_OVERLAP, f"two registers of {csr.space} are named {name}")
            names.add((csr.space, name))
        if not csr.source or not csr.confidence or not csr.prose:
            yield Diagnostic(codes.ISA_PROVENANCE, f"register {csr.name} has no source, confidence or description")
        yield from _csr_fields(csr)


def _csr_fields(csr: Csr) -> Iterator[Diagnostic]:
    taken = 0
    for field in csr.fields:
        mask = (1 << field.high + 1) - (1 << field.low)
        if not 31 >= field.high >= field.low:
            yield Diagnostic(codes.ISA_COLUMNS, f"field {field.name} of {csr.name} is {field.high}:{field.low}")
        elif taken & mask:
            yield Diagnostic(codes.ISA_OVERLAP, f"field {field.name} of {csr.name} shares bits with another")
        taken |= mask
