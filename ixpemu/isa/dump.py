"""The instruction set as JSON: what `ixpemu isa dump` writes. Its schema is isa/dump.schema.json."""

from __future__ import annotations

import json
from typing import Any

from ixpemu import resources
from ixpemu.isa.blocks import Block, Csr, Form, OperandSpec, Timing, TokenSpec, Variant
from ixpemu.isa.expressions import statement_text
from ixpemu.isa.instruction_set import InstructionSet

VERSION = 1


def dump(isa: InstructionSet) -> dict[str, Any]:
    """Everything that is known, as JSON values."""
    return {
        "version": VERSION,
        "word_bits": 40,
        "encodings": [
            {
                "name": table.name, "title": table.title, "bits": table.width,
                "rows": [{"pattern": row.pattern, "text": row.spelling, "use": row.use or "both"} for row in table.rows],
            } | _provenance(*isa.provenance[table.name])
            for table in isa.tables.values()
        ],
        "input_states": list(isa.input_states),
        "instructions": [_block(block) for block in isa.blocks.values()],
        "registers": [_csr(csr) for csr in isa.csrs],
    }


def schema() -> dict[str, Any]:
    """The JSON schema of `dump`."""
    found: dict[str, Any] = json.loads((resources.folder("isa") / "dump.schema.json").read_text(encoding="utf-8"))
    return found


def _provenance(source: str, confidence: str) -> dict[str, Any]:
    return {"source": source, "confidence": confidence}


def _block(block: Block) -> dict[str, Any]:
    return {
        "name": block.name, "title": block.title, "mnemonics": list(block.mnemonics), "description": block.prose,
        "refines": block.refines, "spelling_of": block.spelling_of, "followed_by": block.followed_by,
        "forms": [_form(form) for form in block.forms],
        "variants": [_variant(variant) for variant in block.variants],
        "examples": [{"text": text, "word": f"{word:010x}"} for text, word in block.examples],
        "file": block.span.file, "line": block.span.line,
    } | _provenance(block.source, block.confidence)


def _form(form: Form) -> dict[str, Any]:
    return {
        "name": form.name, "syntax": form.syntax, "mnemonics": list(form.mnemonics), "columns": form.columns,
        "fixed_mask": f"{form.fixed_mask:010x}", "fixed_bits": f"{form.fixed_bits:010x}",
        "fields": {
            letter: {"bits": [[at + run.bit_length() - 1, at] for at, _, run in field.runs]}
            for letter, field in form.fields.items()
        },
        "bindings": [
            {
                "names": list(codec.names), "codec": codec.binding.codec,
                "parameters": [" ".join(words) for words in codec.binding.arguments],
            }
            for codec in form.codecs
        ],
        "operands": [_operand(spec) for spec in form.operands],
        "options": [_option(spec) for spec in form.tokens],
        "timing": _timing(form.timing),
        "control": form.flow,
    }


def _operand(spec: OperandSpec) -> dict[str, Any]:
    return {
        "name": spec.name, "kind": spec.kind, "role": spec.role.value, "optional": spec.optional, "several": spec.variadic,
        "words": list(spec.words), "low": spec.low, "high": spec.high, "restricted": spec.restricted,
    }


def _option(spec: TokenSpec) -> dict[str, Any]:
    return {"name": spec.name, "argument": spec.argument, "low": spec.low, "high": spec.high, "needed": spec.needed}


def _timing(timing: Timing) -> dict[str, Any]:
    return {
        "issue": timing.issue, "aborted": timing.aborted, "aborted_early": timing.early, "defer": timing.defer,
    } | _provenance(timing.source, timing.confidence)


def _variant(variant: Variant) -> dict[str, Any]:
    return {
        "name": variant.name, "choices": dict(variant.choices), "statements": [statement_text(s) for s in variant.statements],
        "parameters": list(variant.parameters), "reads": sorted(variant.reads), "writes": sorted(variant.writes),
        "condition_codes": variant.condition_codes, "action": variant.action, "external": variant.external,
    }


def _csr(csr: Csr) -> dict[str, Any]:
    return {
        "name": csr.name, "space": csr.space, "address": csr.address, "description": csr.prose, "access": csr.access,
        "reset": csr.reset, "private": csr.private, "indirect": csr.indirect, "shadow": csr.shadow, "shadow_old": csr.shadow_old,
        "aliases": list(csr.aliases),
        "fields": [
            {"name": field.name, "high": field.high, "low": field.low, "description": field.prose} for field in csr.fields
        ],
    } | _provenance(csr.source, csr.confidence)
