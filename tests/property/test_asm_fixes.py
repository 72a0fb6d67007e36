"""Edits applied to programs with one slip of the pen: they never break what assembles, and most slips in words are mended to the
very program that was meant."""

from __future__ import annotations

import random
import re

from ixpemu.asm.fixes import Reached
from tests.support.corpus import cases, load
from tests.support.linting import checked, mended

_WORD = re.compile(r"(?<![\w$@])\.?[A-Za-z_]\w{3,}#?")


def _programs() -> list[str]:
    """Programs of the corpus that assemble without a warning and name no file."""
    found = []
    for path in cases("asm"):
        sections = load(path).sections
        if "words" in sections and not {"errors", "options"} & set(sections) and "#include" not in sections["source"]:
            found.append(sections["source"])
    return found


def _slip(text: str, chance: random.Random) -> str:
    """The text with one word that has two letters exchanged, or one missing or doubled."""
    words = list(_WORD.finditer(re.sub(r";.*|//.*", lambda comment: " " * len(comment.group()), text)))
    word = chance.choice(words)
    at = chance.randrange(word.start() + 1, word.end() - 1)
    new = chance.choice((text[at + 1] + text[at], text[at + 1], text[at] * 2 + text[at + 1]))
    return text[:at] + new + text[at + 2:]


def test_slips_are_mended_or_left_alone() -> None:
    chance = random.Random(20240501)
    programs = _programs()
    assert len(programs) > 20
    broken = right = wrong = 0
    for _ in range(150):
        text = chance.choice(programs)
        slipped = _slip(text, chance)
        before, done = checked(slipped), mended(slipped)
        after = checked(done.text)
        if before.reached is Reached.WORDS:
            assert after.words == before.words
            continue
        broken += 1
        if after.reached is Reached.WORDS:
            same = after.words == checked(text).words
            right, wrong = right + same, wrong + (not same)
    assert broken > 60
    assert right / broken > 0.75 and wrong == 0
