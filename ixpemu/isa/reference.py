"""The instruction and register reference as Markdown pages, made from the blocks; docs/reference holds what it writes."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from itertools import groupby
from textwrap import dedent

from ixpemu.isa import semantics
from ixpemu.isa.blocks import Block, Csr, Form, Timing
from ixpemu.isa.builder import CODECS
from ixpemu.isa.codecs_values import Choice
from ixpemu.isa.expressions import statement_text
from ixpemu.isa.instruction_set import InstructionSet

CONFIDENCE = (
    "Confidence: **H** explicit in a primary source or seen in real IXP2400 words, **M** one secondary source or a strong "
    "inference, **L** a recollection, **assumed** a decision of this project."
)
_MADE = "<!-- Made from isa/ by `ixpemu isa reference`; edit the blocks, not this page. -->"
_SPACES = {
    "local": "Local CSRs, by byte offset (`local_csr_rd`, `local_csr_wr`)",
    "cap": "Registers behind the CSR access proxy (`cap`)",
    "msf": "Registers of the media and switch fabric interface (`msf`)",
    "sram": "Registers of an SRAM channel (`sram[csr_rd]`, `sram[csr_wr]`)",
}


def reference_pages(isa: InstructionSet) -> dict[str, str]:
    """The pages by file name."""
    return {"instructions.md": _instructions(isa), "csrs.md": _registers(isa), "isa-format.md": _format()}


def block_page(block: Block) -> str:
    """What the reference says of one instruction."""
    return "\n".join(_block(block)).rstrip() + "\n"


# The format


def _format() -> str:
    """The operand codecs and the language of the `do` lines, from their own descriptions."""
    lines = ["# The .isa format", "", _MADE.replace("edit the blocks", "edit the descriptions in ixpemu/isa"), "",
             "The grammar, with an example of every line, is `ixpemu/isa/grammar.lark`. This page lists the operand codecs that",
             "a `fields` line can name, and describes the language of the `do` lines.", "", "## Operand codecs", ""]
    for name, codec in sorted(CODECS.items()):
        lines += [f"### {name}", "", *dedent(inspect.getdoc(codec) or "").splitlines(), ""]
    lines += ["## Semantics", "", "```text", *(semantics.__doc__ or "").strip().splitlines(), "```"]
    return "\n".join(lines) + "\n"


# Instructions


def _instructions(isa: InstructionSet) -> str:
    lines = ["# Instructions", "", _MADE, "", CONFIDENCE, "",
             "A word has 40 bits; layouts are written from bit 39 to bit 0, a letter for each field.", ""]
    lines += markdown_table(("instruction", "does", "forms"), (
        (f"[{block.name}](#{_anchor(block.name)})", block.title, " ".join(f"`{m}`" for m in block.mnemonics))
        for block in isa.blocks.values()
    ))
    for block in isa.blocks.values():
        lines += ["", *_block(block)]
    lines += ["", "# Operand fields", ""]
    for table in isa.tables.values():
        source, confidence = isa.provenance[table.name]
        lines += [f"## {table.name}", "", f"{table.title}.", ""]
        lines += markdown_table(("bits", "operand", "as"), (
            (f"`{row.pattern}`", f"`{row.spelling}`", row.use or "source, destination") for row in table.rows
        ))
        lines += ["", f"Source: {source}. Confidence: {confidence}.", ""]
    return "\n".join(lines).rstrip() + "\n"


def _anchor(name: str) -> str:
    return name.lower().replace(" ", "-")


def _block(block: Block) -> list[str]:
    lines = [f"## {block.name}", "", f"*{block.title}*", "", block.prose, ""]
    if block.refines is not None:
        lines += [f"Its words are words of [{block.refines}](#{_anchor(block.refines)}) and are read as this.", ""]
    if block.spelling_of is not None:
        other = f"[{block.spelling_of}](#{_anchor(block.spelling_of)})"
        lines += [f"Another way to write words of {other}, which is how they are read.", ""]
    if block.followed_by is not None:
        lines += [f"The next instruction must be [{block.followed_by}](#{_anchor(block.followed_by)}).", ""]
    lines.append("```text")
    for syntax, same in groupby(block.forms, key=_written):
        lines.append(syntax)
        shown = [form for form in same if form.primary]
        lines += [f"    {_spaced(form)}{f'    {form.name}' if form.name else ''}" for form in shown]
    lines += ["```", ""]
    for codec in _choices(block):
        entries = "  ".join(f"`{'|'.join(words)}` {value}" for value, words in codec.entries)
        lines += [f"{codec.name} (field {codec.field.letter}): {entries}", ""]
    lines += ["```text"]
    for variant in block.variants:
        statements = "  ".join(statement_text(step) for step in variant.statements)
        lines.append(f"{variant.name:<28} {statements}".rstrip())
    lines += ["```", ""]
    for timing in dict.fromkeys(form.timing for form in block.forms):
        lines += [_timing(timing), ""]
    lines += [f"Source: {block.source}. Confidence: {block.confidence}.", "", "```text"]
    lines += [f"{word:010x}  {text}" for text, word in block.examples]
    return [*lines, "```"]


def _written(form: Form) -> str:
    needed = " | ".join(_option(spec.name, spec.argument) for spec in form.tokens if spec.needed)
    options = "".join(f" [, {_option(spec.name, spec.argument)}]" for spec in form.tokens if not spec.needed)
    return form.syntax + (f", {needed}" if needed else "") + options


def _option(name: str, argument: str | None) -> str:
    return name if argument is None else f"{name}[{argument}]"


def _spaced(form: Form) -> str:
    """The layout with a blank between fields, and between fixed bits and fields."""
    return " ".join("".join(run) for _, run in groupby(form.columns, key=lambda ch: "fixed" if ch in "01" else ch))


def _choices(block: Block) -> list[Choice]:
    found: dict[str, Choice] = {}
    for form in block.forms:
        for codec in form.codecs:
            if isinstance(codec, Choice):
                found.setdefault(codec.name, codec)
    return list(found.values())


def _timing(timing: Timing) -> str:
    parts = [f"{timing.issue} issue cycle{'s' if timing.issue != 1 else ''}"]
    if timing.aborted:
        early = "" if timing.early is None else f" ({timing.early} if the condition codes are older than the instruction before)"
        parts.append(f"{timing.aborted} aborted cycles when taken or swapped{early}")
    if timing.defer:
        parts.append(f"up to {timing.defer} deferred instructions, each instead of an aborted cycle")
    return f"Timing: {', '.join(parts)}. Source: {timing.source}. Confidence: {timing.confidence}."


# Registers


def _registers(isa: InstructionSet) -> str:
    lines = ["# Control and status registers", "", _MADE, "", CONFIDENCE, ""]
    for space, title in _SPACES.items():
        lines += [f"## {title}", ""]
        for csr, others in _families([csr for csr in isa.csrs if csr.space == space]):
            lines += [*_register(csr, others), ""]
    return "\n".join(lines).rstrip() + "\n"


def _families(csrs: Sequence[Csr]) -> Iterable[tuple[Csr, Sequence[Csr]]]:
    """Registers that differ by a number and an address only come as one, with the others."""
    def kind(csr: Csr) -> tuple[object, ...]:
        stem = csr.name.rstrip("0123456789")
        return (stem, csr.prose) if stem.endswith("_") else (csr.name,)

    for _, group in groupby(csrs, key=kind):
        family = list(group)
        yield family[0], family[1:]


def _register(csr: Csr, others: Sequence[Csr]) -> list[str]:
    name = csr.name if not others else f"{csr.name} .. {others[-1].name.rsplit('_', 1)[1]}"
    place = f"{csr.address:#06x}" if not others else f"{csr.address:#06x}, every {others[0].address - csr.address:#x}"
    text = f"`{place}` {csr.prose}." + {"r": " Read only.", "w": " Write only.", "rw": ""}[csr.access]
    text += " One for each context, chosen by CSR_CTX_POINTER." if csr.indirect else ""
    if csr.shadow:
        old = ", the old value valid until then" if csr.shadow_old else ""
        text += f" {csr.shadow} instructions between write and use{old}."
    lines = [f"### {name}", "", text, ""]
    if csr.fields:
        lines += markdown_table(("bits", "field", "meaning"), (
            (f"{field.high}:{field.low}" if field.high != field.low else str(field.high), f"`{field.name}`", field.prose)
            for field in csr.fields
        ))
        lines.append("")
    lines.append(f"Source: {csr.source}. Confidence: {csr.confidence}.")
    return lines


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a Markdown table."""
    escaped = [" | ".join(cell.replace("|", "\\|") for cell in row) for row in rows]
    return [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", *(f"| {row} |" for row in escaped)]
