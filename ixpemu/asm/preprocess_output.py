"""What the preprocessor made, as source text: it assembles to the words of the text that it came from.

Labels that a macro defines are renamed where two have one name, since there are no macros left that would keep them apart. A
comment says where a run of lines came from. Nothing is put in order or laid out: that is not a formatter's work.
"""

from __future__ import annotations

import re
from collections import Counter

from ixpemu.asm.preprocess import Preprocessed
from ixpemu.asm.source import Line

_DEFINED = re.compile(r"\s*([A-Za-z_]\w*)#\s*:")
_LABEL = re.compile(r"""'[^']*'|"[^"]*"|(?<![\w$@.])([A-Za-z_]\w*)#""")


def preprocessed_text(preprocessed: Preprocessed) -> str:
    """The statements, one a line."""
    names = _new_names(preprocessed.lines)
    out: list[str] = []
    before: object = None
    for line in preprocessed.lines:
        place = (line.file, line.frames)
        if place != before:
            out.append(_comment(line))
            before = place
        out.append(_renamed(line, names, preprocessed.parents).strip())
    return "".join(f"{text}\n" for text in out)


def _comment(line: Line) -> str:
    calls = "".join(f", in {frame.macro} called at {frame.call.file}:{frame.call.line}" for frame in line.frames)
    text = f"; {line.file}:{line.whole().span.line}{calls}"
    return "".join(sign if sign.isprintable() else "?" for sign in text)


def _definitions(line: Line) -> list[tuple[int, str]]:
    """Level and name of the labels that a line defines."""
    found = []
    position = 0
    while (match := _DEFINED.match(line.text, position)) is not None:
        found.append((line.level(match.end(1)), match.group(1)))
        position = match.end()
    return found


def _new_names(lines: list[Line]) -> dict[tuple[int, str], str]:
    """A name of its own for every label, by level of expansion and name in lower case."""
    definitions = {(level, name.lower()): name for line in lines for level, name in _definitions(line)}
    count = Counter(name for _, name in definitions)
    taken = set(count) | {match.group(1).lower() for line in lines for match in _LABEL.finditer(line.text) if match.group(1)}
    names: dict[tuple[int, str], str] = {}
    for (level, key), name in definitions.items():
        new = name
        if level and count[key] > 1:
            new = f"{name}_{level}"
            while new.lower() in taken:
                new += "_"
            taken.add(new.lower())
        names[level, key] = new
    return names


def _renamed(line: Line, names: dict[tuple[int, str], str], parents: list[int]) -> str:
    if "#" not in line.text:
        return line.text

    def name(match: re.Match[str]) -> str:
        if not match.group(1):
            return match.group()
        level = line.level(match.end() - 1)
        while (level, match.group(1).lower()) not in names:
            if level == 0:
                return match.group()
            level = parents[level]
        return names[level, match.group(1).lower()] + "#"

    return _LABEL.sub(name, line.text)
