"""The listing on paper.

A word has a line `.ADDRESS WORD`, the instruction in physical registers below it, and comments: the statement it was made from,
the names it reads and writes with their registers, the labels it leads to, defer slots. Around the words stand label lines,
`.%line N "FILE"` where the source line changes, `.macro_ref NAME` and `.end_macro_ref NAME` for each expansion; behind the last
`ucode_end`, then live ranges, macros, and how much of the control store is used. Everything behind `;` is for people.
"""

from __future__ import annotations

from collections.abc import Iterator

from ixpemu.asm.listing import Listing, Row, Use


def listing_text(listing: Listing) -> str:
    """The listing as text."""
    lines = [f"; {len(listing.rows)} words, {listing.contexts} contexts"]
    lines += [] if listing.schedule is None else [f"; {line}" for line in listing.schedule.lines()]
    opened: list[int] = []
    place: tuple[str, int] | None = None
    for row in listing.rows:
        lines += _brackets(listing, opened, row.expansion)
        if (row.file, row.line) != place:
            place = row.file, row.line
            lines.append(f'.%line {row.line} "{row.file}"')
        lines += [f"{name}:" for name in row.labels]
        lines += [f".{row.address} {row.word:010x}", f"    {row.text}", *(f"    ; {text}" for text in _comments(row))]
    lines += _brackets(listing, opened, 0)
    lines += [f"{name}:" for name in listing.end_labels]
    lines += ["ucode_end", "", "; where names live: name, place, words"]
    lines += [f"; {entry.name:<28} {entry.register:<6} {entry.first}..{entry.last}" for entry in listing.ranges]
    if listing.macros:
        lines += ["", "; macros: name, expansions, words in all (its own text's and those of macros it calls)"]
        lines += [
            f"; {cost.macro:<28} {cost.expansions:>6} {cost.total:>6} ({cost.own} + {cost.nested})" for cost in listing.macros
        ]
    used, possible = listing.slots
    share = 100 * len(listing.rows) / listing.store if listing.store else 0
    lines += [
        "", f"; defer slots: {used} of {possible} used",
        f"; control store: {len(listing.rows):,} of {listing.store:,} words, {share:.1f} %",
    ]
    return "\n".join(lines) + "\n"


def _brackets(listing: Listing, opened: list[int], expansion: int) -> list[str]:
    """The lines that close and open expansions until one stands in `expansion`; keeps `opened`, outermost first, up to date."""
    wanted = listing.chain(expansion)
    common = 0
    while common < min(len(opened), len(wanted)) and opened[common] == wanted[common]:
        common += 1
    name = [one.macro for one in listing.expansions]
    lines = [f".end_macro_ref {name[number - 1]}" for number in reversed(opened[common:])]
    lines += [f".macro_ref {name[number - 1]}" for number in wanted[common:]]
    opened[:] = wanted
    return lines


def _comments(row: Row) -> Iterator[str]:
    if row.source:
        yield row.source
    if row.uses:
        registers, signals = [use for use in row.uses if not use.signal], [use for use in row.uses if use.signal]
        halves = len({(use.name, use.half) for use in registers}) > len({use.name for use in registers})
        reads = [_use(use, halves) + (" for the last time" if use.last else "") for use in registers if use.reads]
        writes = [_use(use, halves) + (" which nothing reads" if use.unread else "") for use in registers if use.writes]
        raises, waits = [_use(use) for use in signals if use.writes], [_use(use) for use in signals if use.reads]
        parts = (("reads", reads), ("writes", writes), ("raises", raises), ("waits for", waits))
        yield "; ".join(f"{verb} {', '.join(names)}" for verb, names in parts if names)
    if row.targets:
        yield "to " + ", ".join(f"{name} = .{address}" for name, address in row.targets)
    if row.defer:
        last = row.address + row.defer
        words = f".{last}" if row.defer == 1 else f".{row.address + 1} to .{last}"
        yield f"defers {words}, {row.defer} of at most {row.defer_limit}"
    if row.slot_of is not None:
        yield f"in a defer slot of .{row.slot_of}"
    yield from row.remarks


def _use(use: Use, halves: bool = False) -> str:
    """A name and its place. `halves`: a name has several places here, maybe two halves of a transfer register."""
    return f"{use.name} = {use.place}" + (f" {use.half}" if halves and use.half else "")
