"""The support table, made from isa/ alone: what of the machine is there, whether it costs cycles, how sure its description is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ixpemu import resources, toml_file
from ixpemu.isa.blocks import Block
from ixpemu.isa.chipfile import CONFIDENCES, load_chip
from ixpemu.isa.instruction_set import InstructionSet
from ixpemu.isa.reference import CONFIDENCE, markdown_table

_MADE = "<!-- Made from isa/ by `make docs`; edit the blocks, isa/features.toml or the chip file, not this page. -->"
STATES = ("yes", "partly", "no")


def support_page(isa: InstructionSet, features: Path | None = None) -> str:
    """docs/reference/support.md. UserError for a damaged list of `features` (isa/features.toml)."""
    lines = ["# What is there", "", _MADE, "", CONFIDENCE, "", "## Instructions", ""]
    lines += markdown_table(("instruction", "there", "cycles", "meaning", "cycles are"), _instructions(isa))
    for title, rows in _features(features or resources.folder("isa") / "features.toml").items():
        lines += ["", f"## {title.capitalize()}", "", *markdown_table(("feature", "there", "timed", "confidence"), rows)]
    lines += ["", "## Figures of the default chip file", "", *markdown_table(("section", "figures", *CONFIDENCES), _figures())]
    return "\n".join(lines) + "\n"


def _instructions(isa: InstructionSet) -> Iterator[tuple[str, ...]]:
    for block in isa.blocks.values():
        for timing in dict.fromkeys(form.timing for form in block.forms):
            cycles = f"{timing.issue}" + (f" + {timing.aborted} aborted" if timing.aborted else "")
            names = " ".join(f"`{name}`" for name in block.mnemonics) + _commands(block)
            yield names, "yes", cycles, block.confidence, timing.confidence
    for name in sorted(isa.planned):
        yield f"`{name}`", "no", "", "", ""


def _commands(block: Block) -> str:
    """The commands of a unit that are a block of their own, as they follow its name."""
    words = dict.fromkeys(word for form in block.forms for index, word in form.literals if index == 0 and word != "--")
    return f" {', '.join(words)}" if words else ""


def _features(path: Path) -> Mapping[str, list[tuple[str, ...]]]:
    root = toml_file.read(path, "the list of features")
    return {title: [_feature(root.table(title).table(name), name) for name in root.table(title).values] for title in root.values}


def _feature(table: toml_file.Table, name: str) -> tuple[str, ...]:
    table.allow("state", "timed", "confidence")
    allowed = {"state": STATES, "timed": ("yes", "no"), "confidence": CONFIDENCES}
    for key, words in allowed.items():
        if table.need(key, str) not in words:
            raise table.wrong(key, f"{key} is {table.need(key, str)!r}", f"write one of {', '.join(words)}")
    return name, *(table.need(key, str) for key in allowed)


def _figures() -> Iterator[tuple[str, ...]]:
    parameters = load_chip().parameters.values()
    for section in dict.fromkeys(one.name.split(".")[0] for one in parameters):
        found = [one.confidence for one in parameters if one.name.split(".")[0] == section]
        yield section, str(len(found)), *(str(found.count(level)) for level in CONFIDENCES)
