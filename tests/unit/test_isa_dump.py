"""The dump follows its schema, the reference names everything, loading is quick to repeat."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ixpemu.isa import InstructionSet, instruction_set
from ixpemu.isa.dump import dump, schema
from ixpemu.isa.kept import load_kept
from ixpemu.isa.loader import load
from ixpemu.isa.reference import reference_pages
from ixpemu.resources import folder


def problems(value: Any, rule: dict[str, Any], whole: dict[str, Any], at: str = "$") -> list[str]:
    """Where `value` breaks the part of JSON schema that the schema of the dump uses."""
    import re

    if "$ref" in rule:
        return problems(value, whole["$defs"][rule["$ref"].rsplit("/", 1)[1]], whole, at)
    found: list[str] = []
    if "const" in rule and value != rule["const"]:
        found.append(f"{at} is not {rule['const']!r}")
    if "enum" in rule and value not in rule["enum"]:
        found.append(f"{at} is {value!r}")
    kinds = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict, "null": type(None)}
    wanted = rule.get("type")
    if wanted is not None:
        names = wanted if isinstance(wanted, list) else [wanted]
        if not any(type(value) is kinds[name] for name in names):
            return [*found, f"{at} is no {wanted}"]
    if isinstance(value, str):
        if "pattern" in rule and not re.search(rule["pattern"], value):
            found.append(f"{at}: {value!r} does not match {rule['pattern']}")
        if len(value) < rule.get("minLength", 0):
            found.append(f"{at} is empty")
    if isinstance(value, list):
        if not rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", len(value)):
            found.append(f"{at} has {len(value)} items")
        for i, item in enumerate(value):
            found += problems(item, rule.get("items", {}), whole, f"{at}[{i}]")
    if isinstance(value, dict):
        known = rule.get("properties", {})
        more = rule.get("additionalProperties", {})
        found += [f"{at} lacks {name}" for name in rule.get("required", []) if name not in value]
        for name, item in value.items():
            if name in known:
                found += problems(item, known[name], whole, f"{at}.{name}")
            elif more is False:
                found.append(f"{at} has {name}, which the schema does not know")
            else:
                found += problems(item, more, whole, f"{at}.{name}")
    return found


def test_the_dump_follows_its_schema() -> None:
    values = json.loads(json.dumps(dump(instruction_set())))
    assert problems(values, schema(), schema()) == []


@pytest.mark.parametrize("change", [{"version": 2}, {"more": 1}, {"input_states": [1]}])
def test_the_schema_can_refuse(change: dict[str, Any]) -> None:
    assert problems(dump(instruction_set()) | change, schema(), schema()) != []


def test_the_reference_names_every_mnemonic_and_register() -> None:
    pages = reference_pages(instruction_set())
    for mnemonic in instruction_set().mnemonics():
        assert f"`{mnemonic}`" in pages["instructions.md"]
    for block in instruction_set().blocks.values():
        assert all(f"{word:010x}  {text}" in pages["instructions.md"] for text, word in block.examples)
    for name in ("CTX_ENABLES", "XSCALE_INT_A", "RBUF_ELEMENT_DONE", "SCRATCH_RING_BASE_0 .. 15"):
        assert f"### {name}\n" in pages["csrs.md"]


def test_the_format_page_describes_every_codec() -> None:
    page = reference_pages(instruction_set())["isa-format.md"]
    forms = [form for block in instruction_set().blocks.values() for form in block.forms]
    for name in {codec.binding.codec for form in forms for codec in form.codecs}:
        assert f"### {name}\n\n`" in page


def test_a_second_start_does_not_parse(tmp_path: Path) -> None:
    program = "import sys, ixpemu.isa as isa; isa.instruction_set(); print('lark' in sys.modules)"
    environment = os.environ | {"IXPEMU_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", program]
    said = [subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.strip() for _ in range(2)]
    assert said == ["True", "False"]


def test_what_is_kept_encodes_alike_and_a_damaged_file_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("IXPEMU_CACHE_DIR", raising=False)
    expected = json.dumps(dump(InstructionSet(load(folder("isa")))))
    load_kept(folder("isa"))
    (kept,) = (tmp_path / "ixpemu").glob("isa-*.kept")
    whole = kept.read_bytes()
    for content in (whole, whole[:-1], whole[:100] + b"x" + whole[101:], b"", b"{"):
        kept.write_bytes(content)
        assert json.dumps(dump(InstructionSet(load_kept(folder("isa"))))) == expected
        assert kept.read_bytes()[32:] and len(kept.read_bytes()) == len(whole)


def test_a_changed_block_is_not_taken_from_what_was_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IXPEMU_CACHE_DIR", str(tmp_path / "cache"))
    changed = tmp_path / "isa"
    shutil.copytree(folder("isa"), changed)
    assert load_kept(changed).blocks["alu"].title != "another title"
    text = (changed / "alu.isa").read_text(encoding="utf-8")
    title = load_kept(changed).blocks["alu"].title
    (changed / "alu.isa").write_text(text.replace(title, "another title"), encoding="utf-8")
    assert load_kept(changed).blocks["alu"].title == "another title"
    assert len(list((tmp_path / "cache").glob("isa-*.kept"))) == 2


def test_no_writable_cache_only_costs_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    monkeypatch.setenv("IXPEMU_CACHE_DIR", str(blocked))
    assert "alu" in load_kept(folder("isa")).blocks


def test_lookup() -> None:
    isa = instruction_set()
    names = {name: isa.lookup(name) for name in ("alu", "BHS", "bcs", "halt", "rtn", "load_addr", "nop", "sram", "nothing")}
    assert {name: block.name if block else None for name, block in names.items()} == {
        "alu": "alu", "BHS": "bcc", "bcs": "bcc", "halt": "halt", "rtn": "rtn", "load_addr": "load_addr", "nop": "nop",
        "sram": "sram", "nothing": None,
    }
    assert isa.input_state("scr_ring3_status") == 5
    assert isa.input_state("nothing") is None
    found = isa.csr("same_me_signal")
    assert found is not None
    assert found.address == 0x108
    assert isa.csr_at(0x108) is found
    assert isa.csr("XSCALE_INT_A", "cap") is isa.csr_at(0x4B20, "cap")
