"""The colours that messages have on a terminal. What they say, and where lines break, is `diagnostics.render`'s."""

from __future__ import annotations

import re

from rich.text import Text

_HEADS = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}
_HEAD = re.compile(r"(error|warning|note) IXP\d+")
_PLACE = re.compile(r"\s*(-->|in macro .*, called at|also at|\.\.\. and) ")
_CARETS = re.compile(r"\s*\| [\s.]*(\^+)$")
_LABEL = re.compile(r"\s*(help|note|more): ")


def coloured(rendered: str) -> Text:
    """A rendered diagnostic with its head, places, carets and advice coloured."""
    return Text("\n").join(_line(line) for line in rendered.split("\n"))


def _line(line: str) -> Text:
    text = Text(line)
    if (head := _HEAD.match(line)) is not None:
        text.stylize(_HEADS[head.group(1)], 0, head.end())
        text.stylize("bold", head.end())
    elif (carets := _CARETS.match(line)) is not None:
        text.stylize("bold red", carets.start(1))
    elif _PLACE.match(line) is not None:
        text.stylize("cyan")
    elif (label := _LABEL.match(line)) is not None:
        text.stylize("bold green" if label.group(1) == "help" else "bold", label.start(1), label.end(1))
    return text
