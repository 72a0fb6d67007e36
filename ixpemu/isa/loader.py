"""Loads a folder of `.isa` files into blocks, operand tables and CSRs, or says everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ixpemu import codes
from ixpemu.diagnostics import Diagnostic, Origin, Span, UserError
from ixpemu.isa.blocks import Block, Csr, CsrField, Loaded, Words
from ixpemu.isa.builder import BlockBuilder, BlockError, unquote, words_of
from ixpemu.isa.source import Node, parse_folder
from ixpemu.isa.tables import OperandTable, Row


def load(folder: Path) -> Loaded:
    """Load a folder. Raises `UserError` with one diagnostic for each block that does not hold together."""
    return build(parse_folder(folder))


def build(trees: Mapping[str, Node]) -> Loaded:
    """Blocks, tables and CSRs of parsed files. Raises `UserError`."""
    tables: dict[str, OperandTable] = {}
    words: dict[str, Words] = {}
    csrs: list[Csr] = []
    provenance: dict[str, tuple[str, str]] = {}
    for tree in trees.values():
        for node in tree.nodes("encoding"):
            table = _table(node)
            tables[table.name] = table
            provenance[table.name] = _provenance(node)
        for node in tree.nodes("words"):
            name = node.texts()[0]
            words[name] = words_of(node, 2)
            provenance[name] = _provenance(node)
        for node in tree.nodes("csrs"):
            csrs += _csrs(node)
    known = {f"{csr.space} {csr.name}": csr for csr in csrs}
    blocks: dict[str, Block] = {}
    problems: list[Diagnostic] = []
    for file, tree in trees.items():
        for node in tree.nodes("instruction"):
            name = node.texts()[0]
            if name in blocks:
                first = blocks[name].span
                problems.append(Diagnostic(codes.ISA_BLOCK, f"{name} is defined twice; first at {first}",
                                           origin=Origin(Span(file, node.line, node.column))))
                continue
            try:
                blocks[name] = BlockBuilder(file, node, tables, words, known).build()
            except BlockError as error:
                problems.append(error.diagnostic(file, name))
    if problems:
        raise UserError(*problems)
    return Loaded(blocks, tables, words, tuple(csrs), provenance)


def _provenance(node: Node) -> tuple[str, str]:
    text, confidence = node.nodes("source")[0].texts()
    return unquote(text), confidence


def _table(node: Node) -> OperandTable:
    name, title = node.texts()[:2]
    rows: list[Row] = []
    for row in node.nodes("row"):
        texts = row.texts()
        rows.append(Row(texts[0], texts[1], texts[2].strip("()") if len(texts) > 2 else None))
    help = {part.texts()[0]: unquote(part.texts()[1]) for part in node.nodes("help")}
    return OperandTable(name, unquote(title), len(rows[0].pattern), tuple(rows), help)


def _csrs(node: Node) -> list[Csr]:
    space = node.texts()[0]
    source, confidence = _provenance(node)
    return [csr for register in node.nodes("register") for csr in _family(register, _csr(register, space, source, confidence))]


def _family(node: Node, first: Csr) -> list[Csr]:
    """The registers of a `times` line: NAME_0, NAME_1, ... at equal distances; without one, the register itself."""
    for times in node.nodes("times"):
        count, step = int(times.texts()[0]), int(times.texts()[1], 16)
        return [replace(first, name=f"{first.name}_{i}", address=first.address + i * step) for i in range(count)]
    return [first]


def _csr(node: Node, space: str, source: str, confidence: str) -> Csr:
    address, name, prose = node.texts()
    flags = {text for flag in node.nodes("flag") for text in flag.texts()}
    for own in node.nodes("register_source"):
        source, confidence = unquote(own.texts()[0]), own.texts()[1]
    fields: list[CsrField] = []
    for part in node.nodes("csr_field"):
        bits, field_name, field_prose = part.texts()
        high, _, low = bits.partition(":")
        fields.append(CsrField(field_name, int(high), int(low or high), unquote(field_prose)))
    return Csr(
        name=name, space=space, address=int(address, 16), prose=unquote(prose), source=source, confidence=confidence,
        fields=tuple(fields),
        reset=next((int(part.texts()[0], 16) for part in node.nodes("reset")), 0),
        private="private" in flags, indirect="indirect" in flags,
        shadow=next((int(part.texts()[0]) for part in node.nodes("shadow")), 0),
        shadow_old="old_value" in flags,
        access="r" if "read_only" in flags else "w" if "write_only" in flags else "rw",
        aliases=tuple(text for part in node.nodes("alias") for text in part.texts()),
    )
