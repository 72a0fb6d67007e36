"""Case files: one text file a case, cut into sections by lines `==== name`, read by every runner that knows one of them.

The text before the first section says what the case is for. Runners compare or, with `--update-goldens`, rewrite the sections
that are results; what the case gives (`source`, `file NAME`) is never touched.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

CORPUS = Path(__file__).resolve().parent.parent / "corpus"
_HEADER = re.compile(r"^==== (.+?)[ \t]*\n", re.MULTILINE)


@dataclass(slots=True)
class Case:
    """A case file. `sections` keeps their order; a text ends in a newline unless it is empty."""

    path: Path
    about: str
    sections: dict[str, str] = field(default_factory=dict)

    @property
    def files(self) -> dict[str, str]:
        """The `file NAME` sections: further files that the source needs."""
        return {name.removeprefix("file "): text for name, text in self.sections.items() if name.startswith("file ")}

    def save(self) -> None:
        """Writes the file."""
        parts = [self.about, *(f"==== {name}\n{text}" for name, text in self.sections.items())]
        self.path.write_text("".join(parts), encoding="utf-8")


def load(path: Path) -> Case:
    """The case of a file."""
    pieces = _HEADER.split(path.read_text(encoding="utf-8"))
    names, texts = pieces[1::2], pieces[2::2]
    assert len(set(names)) == len(names), f"{path} has a section twice"
    return Case(path, pieces[0], dict(zip(names, texts, strict=True)))


def cases(folder: str) -> list[Path]:
    """The case files of a folder of the corpus."""
    return sorted((CORPUS / folder).glob("*.txt"))


def check(case: Case, section: str, actual: str, update: bool) -> None:
    """Compares a section with what came out, or rewrites it."""
    if update:
        case.sections[section] = actual
        case.save()
    else:
        assert actual == case.sections[section], f"{case.path.name}: section `{section}` differs"
