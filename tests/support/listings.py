"""Judges a listing as those programs read it that know its lines and nothing of the assembler."""

from __future__ import annotations

import json
import re

from ixpemu.asm.pipeline import Assembly

_WORD = re.compile(r"\.(\d+) ([0-9a-f]{10})")
_LABEL = re.compile(r"(\S+#):")
_BRACKET = re.compile(r"\.(end_)?macro_ref (\S+)")


def judge_listing(assembly: Assembly) -> None:
    """Every word, label and macro call is where it belongs, and the form for programs says the same."""
    text = assembly.listing()
    body, end = text.split("\nucode_end\n")
    words: list[int] = []
    labels: dict[str, int] = {}
    opened: list[str] = []
    for line in body.splitlines():
        if (word := _WORD.fullmatch(line)) is not None:
            assert int(word[1]) == len(words)
            around = [frame.macro for frame in assembly.program.instructions[len(words)].origin.expansions]
            assert opened[::-1] == around
            words.append(int(word[2], 16))
        elif (label := _LABEL.fullmatch(line)) is not None:
            labels[label[1]] = len(words)
        elif (bracket := _BRACKET.fullmatch(line)) is not None:
            if bracket[1]:
                assert opened.pop() == bracket[2]
            else:
                opened.append(bracket[2])
    assert not opened
    assert words == list(assembly.image.values)
    assert labels == dict(assembly.image.labels)
    assert f"control store: {len(words):,} of {assembly.store:,} words" in end
    values = json.loads(json.dumps(assembly.rows().as_json()))
    assert [int(row["word"], 16) for row in values["words"]] == words
    outside = sum(not row["expansion"] for row in values["words"])
    assert outside + sum(cost["own"] for cost in values["macros"]) == len(words)
    for row in values["words"]:
        for target in row["targets"]:
            assert labels[target["label"]] == target["address"]
        for use in row["registers"]:
            held = [(one["first"], one["last"]) for one in values["live_ranges"]
                    if one["register"] == use["register"].split()[0] and use["name"].lstrip("@$n") in one["name"]]
            assert any(first <= row["address"] <= last for first, last in held), (row["address"], use)
