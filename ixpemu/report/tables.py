"""The one kind of table that all reports use: no lines, numbers to the right."""

from __future__ import annotations

from rich.table import Table


def plain_table(first: str, *numbers: str, left: int = 0) -> Table:
    """A table of one column of names and right-aligned ones, the first `left` of which are text and go to the left.

    Without `first` it has no header.
    """
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="", show_header=bool(first))
    table.add_column(first, no_wrap=True)
    for index, name in enumerate(numbers):
        table.add_column(name, justify="left" if index < left else "right", no_wrap=True)
    return table
