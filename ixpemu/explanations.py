"""What each diagnostic means, why the language or the chip is so, and two examples: the texts behind `ixpemu explain`.

They stand in the folder explain/, a TOML file for each family of numbers; this module reads them and knows no text itself. The
rules of reserved behaviour are not written a second time: those come from `chip_rules`. Nothing here prints.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from ixpemu import codes
from ixpemu.resources import folder

FAMILIES: Mapping[int, tuple[str, str]] = {
    1: ("preprocessor", "preprocessor"),
    2: ("syntax", "syntax"),
    3: ("operands", "operands and encoding"),
    4: ("flow", "flow and registers"),
    5: ("signals", "transfers and signals"),
    6: ("files", "files, applications and arguments"),
    7: ("running", "the running chip"),
    8: ("isa", "the files of the instruction set"),
}
"""By the thousands of the number: the TOML file, and what the family is about."""

# What an example is: source text for the assembler, or for `ixpemu lint`; Python; an app.toml; a command; a program that is run,
# or watched for races; blocks of an .isa file; or words that nobody can run.
LANGUAGES = ("asm", "lint", "python", "toml", "console", "run", "races", "isa", "text")
OPTIONS = {"require_declarations": "-R", "repair": "--repair", "vnops": "--vnops", "optimise": "-O"}
"""What an example for the assembler may ask for, and its option on the command line."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """One diagnostic explained. `bad` gives the code and `good`, which is as like it as can be, does not.

    `options` are arguments of `assemble_program` that both need, `setup` what is set up on the chip before they run, `files` what
    they read, by name; `others` are codes that `bad` gives besides. `advice` is there where one fits every case.
    """

    code: int
    title: str
    means: str
    why: str
    bad: str
    good: str
    language: str = "asm"
    advice: str | None = None
    options: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    others: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The code as people write it."""
        return codes.label(self.code)

    def as_json(self) -> dict[str, object]:
        """The explanation as a JSON value."""
        values: dict[str, object] = {
            "code": self.label, "title": self.title, "means": self.means, "why": self.why, "language": self.language,
            "bad": self.bad, "good": self.good,
        }
        values |= {} if self.advice is None else {"advice": self.advice}
        values |= {"options": [OPTIONS[option] for option in self.options]} if self.options else {}
        values |= {"setup": list(self.setup)} if self.setup else {}
        values |= {"files": dict(self.files)} if self.files else {}
        return values


@cache
def _family(thousands: int) -> dict[str, dict[str, Any]]:
    """The entries of one file by label."""
    path = folder("explain") / f"{FAMILIES[thousands][0]}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def entries() -> dict[str, dict[str, Any]]:
    """Every entry of all files, as it is written there, by label."""
    return {label: entry for thousands in FAMILIES for label, entry in _family(thousands).items()}


def explanation(code: int) -> Explanation | None:
    """What is written about a code; None if there is no such code, or nothing is written."""
    entry = _family(code // 1000).get(codes.label(code)) if code in codes.TITLES else None
    if entry is None:
        return None
    advice = None
    means, why = entry.get("means", ""), entry.get("why", "")
    if not means:
        means, why, advice = _rule(code)
    return Explanation(
        code, codes.TITLES[code], means, why, entry["bad"], entry["good"], entry.get("language", "asm"), advice,
        tuple(entry.get("options", ())), tuple(entry.get("run", ())), tuple(entry.get("files", {}).items()),
        tuple(entry.get("with", ())),
    )


def _rule(code: int) -> tuple[str, str, str]:
    """What a rule of reserved behaviour says, why it is believed, and what to do."""
    from ixpemu.chip_rules import RULES

    rule = next(rule for rule in RULES.values() if rule.code == code)
    sure = "assumed" if rule.confidence == "assumed" else f"confidence {rule.confidence}"
    return rule.rule, f"Known from: {rule.source} ({sure}).", rule.advice


def code_of(text: str) -> int | None:
    """The number that somebody means by `IXP4001`, `ixp4001` or `4001`; None if the text is none of these."""
    digits = text.strip().upper().removeprefix("IXP")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 6 else None


def alike(text: str) -> list[int]:
    """The codes that somebody may have meant who wrote `text`: near in number, or with its words in the title; at most 3."""
    number = code_of(text)
    if number is not None:
        family = [code for code in codes.TITLES if code // 1000 == number // 1000] or list(codes.TITLES)
        written = difflib.get_close_matches(f"{number:04d}", [f"{code:04d}" for code in family], 2, 0.75)
        near = sorted(family, key=lambda code: abs(code - number))
        return list(dict.fromkeys([*map(int, written), *near]))[:3]
    words = text.lower().split()
    return [code for code, title in codes.TITLES.items() if words and all(word in title.lower() for word in words)][:3]
