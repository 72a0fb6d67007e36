"""docs/reserved.md: every kind of reserved behaviour with its code, rule, confidence and advice. The text is the rules' own."""

from __future__ import annotations

from ixpemu.chip_rules import RULES
from ixpemu.codes import TITLES

HEAD = """\
# Reserved behaviour

Made by `make docs` from `ixpemu/chip_rules.py`; do not edit.

What a program does that the hardware does not define is an event: it has a code, a place and a rule, and it changes nothing of
what the machine does. In the mode `default` a run tells of every place once, with its source line, and goes on.

- `ixpemu run --strict` stops at the first; so do `reserved = { strict = true }` in app.toml and `Chip(strict=True)`.
- `--allow CODE` says nothing of that kind; so do `reserved = { allow = ["CODE"] }` and `Chip(allow=["CODE"])`.
- The mode `fast` does not look.
- Of places the 64 earliest are kept; events are all counted. What shows only in the order of instructions (IXP7022, 7025 to
  7031) is looked at until it has been told at a place, and not afterwards.
- `Chip.reserved` counts by kind, `Chip.reserved_places` lists the places, `Chip.warnings` has them as diagnostics.

Confidence is that of the hardware fact: H published or observed, M inferred, L recollected, assumed: a choice made here.
"""


DEADLOCK = """\
## IXP7900 deadlock

When nothing will ever happen any more while packets are inside (or elements of input wait), and contexts sleep on signals that
nobody can raise, a run stops with the reason `deadlock` in every mode, and says which context waits for which signal, by its name
in the source, and which command or thread would raise it. An application in which other threads still poll ends when nothing has
moved for 10 ms on the chip, and says the same. Threads that wait for input, a context that was killed, and signals under way are
no deadlock; a program without packets that sleeps for good just ends as `quiet`, with the same words in its message.
"""


def rules_page() -> str:
    """The page as Markdown."""
    parts = [HEAD]
    for rule in RULES.values():
        stops = " A run always ends there." if rule.fatal else ""
        advice = rule.advice[0].upper() + rule.advice[1:]
        parts.append(
            f"## {rule.label} {rule.name}\n\n{TITLES[rule.code].capitalize()}. {rule.rule}{stops}\n\n{advice}.\n\n"
            f"Confidence {rule.confidence}: {rule.source}.\n"
        )
    return "\n".join([*parts, DEADLOCK])
