"""What a linker did, for people and for programs: segments with addresses, sizes and owners, imports with values and who gave
them, names between microengines, and how full each control store is. It decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ixpemu.image_links import LOCAL_MEMORY, channel_base
from ixpemu.link import LOCAL_BYTES, Linked
from ixpemu.link_memory import Segment, region_bytes
from ixpemu.link_settings import SHARED_REGIONS

SCHEMA = 1


def as_json(linked: Linked) -> dict[str, object]:
    """The map as JSON values; addresses and sizes in bytes."""
    store = linked.chip["chip.control_store_words"]
    return {
        "schema": SCHEMA,
        "chip": linked.chip.name,
        "microengines": [
            {"me": index, "image": linked.names[index], "contexts": image.contexts, "words": len(image), "store": store}
            for index, image in linked.images.items()
        ],
        "segments": [
            {"name": one.name, "region": one.region, "address": one.address, "size": one.size, "align": one.align,
             "shared": one.shared, "microengines": list(one.owners), "placed_by": one.given_by or "the linker"}
            for one in _ordered(linked.segments)
        ],
        "reserved": [
            {"region": one.region, "start": one.start, "size": one.size, "for": one.owner} for one in linked.reserved
        ],
        "imports": [
            {"name": one.name, "value": one.value, "given_by": one.by, "microengines": list(one.users)} for one in linked.imports
        ],
        "remote": [
            {"name": one.name, "kind": one.kind, "me": one.user, "of": one.owner, "number": one.number}
            for one in linked.crossings
        ],
    }


def text(linked: Linked) -> str:
    """The map as lines of text."""
    store = linked.chip["chip.control_store_words"]
    out = [f"linked for {linked.chip.name}", "", "control stores"]
    out += _table(("me", "words", "of", "full", "contexts", "image"), [
        (str(index), f"{len(image):,}", f"{store:,}", f"{100 * len(image) / store:.1f} %", str(image.contexts),
         linked.names[index])
        for index, image in linked.images.items()
    ], right=5)
    for region in (*SHARED_REGIONS, LOCAL_MEMORY):
        out += _region(linked, region)
    if linked.imports:
        out += ["", "imports"]
        out += _table(("name", "value", "given by", "for"), [
            (one.name, f"{one.value:#x}", one.by, _engines(one.users)) for one in linked.imports
        ])
    if linked.crossings:
        out += ["", "names of other microengines"]
        out += _table(("name", "kind", "number", "used by", "of"), [
            (one.name, one.kind, str(one.number), f"me {one.user}", f"me {one.owner}") for one in linked.crossings
        ])
    return "\n".join(out) + "\n"


def _region(linked: Linked, region: str) -> list[str]:
    segments = [one for one in _ordered(linked.segments) if one.region == region]
    rows: list[tuple[int, tuple[str, ...]]] = [
        (one.start, (f"{one.address or 0:#x}", f"{one.size:,}", one.name, _engines(one.owners), one.given_by)) for one in segments
    ]
    base = channel_base(region)
    rows += [
        (one.start, (f"{base + one.start:#x}", f"{one.size:,}", f"({one.owner})", "", "reserved"))
        for one in linked.reserved if one.region == region
    ]
    if not rows:
        return []
    if region == LOCAL_MEMORY:
        head = f"local memory, {LOCAL_BYTES:,} bytes in each microengine"
        ordered = [row for _, row in rows]
    else:
        used = sum(one.size for one in segments) + sum(one.size for one in linked.reserved if one.region == region)
        head = f"{region}, {used:,} of {region_bytes(linked.chip, region):,} bytes used or reserved"
        ordered = [row for _, row in sorted(rows, key=lambda row: row[0])]
    return ["", head, *_table(("address", "bytes", "name", "for", "placed by"), ordered, right=2)]


def _ordered(segments: Sequence[Segment]) -> list[Segment]:
    """By region, then by address; local memory by microengine."""
    regions = (*SHARED_REGIONS, LOCAL_MEMORY)
    return sorted(segments, key=lambda one: (
        regions.index(one.region), one.owners if one.region == LOCAL_MEMORY else (), one.address or 0, *one.key
    ))


def _engines(indexes: Iterable[int]) -> str:
    return "me " + ", ".join(map(str, indexes))


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]], right: int = 0) -> list[str]:
    """Rows in columns; the first `right` columns are numbers, and end below each other."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    return [
        ("  " + "  ".join(
            cell.rjust(width) if column < right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )).rstrip()
        for row in (head, *rows)
    ]
