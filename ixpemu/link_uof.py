"""Writes a linked program as a UOF file, Intel's container for the images of a chip.

What UOF has no documented place for is left out and named by `left_out`: labels, source lines, probes, live ranges. What would
change the program's meaning is refused. Reading is `ixpemu.link_uof_read`'s.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ixpemu import codes
from ixpemu.diagnostics import user_error
from ixpemu.image import Image
from ixpemu.image_links import LOCAL_MEMORY, Initial, channel_base, evaluate
from ixpemu.link_file import Program
from ixpemu.link_uof_format import (
    CLUSTER,
    COUNT,
    CPU_TYPES,
    FILE_CHUNK,
    FILE_HEADER,
    FILE_ID,
    GLOBAL,
    GLOBAL_POINTERS,
    IMAGE,
    IMAGES,
    INIT_CONTEXT_REGISTER,
    INIT_REGISTER,
    INITIAL,
    LOCAL,
    MAJOR,
    MEMORIES,
    MEMORY,
    MEMORY_VALUE,
    MINOR,
    NUMBER,
    OBJECT_CHUNK,
    OBJECT_HEADER,
    OBJECTS,
    PAGE,
    REGIONS,
    REGISTER,
    REGISTER_KINDS,
    SEGMENT,
    SEGMENT_TABLE,
    SEGMENTS,
    STRINGS,
    TOOL,
    TOOLS,
    WORD_BYTES,
    checksum,
    engine_bit,
)

_PLACE = re.compile(r"(@?[ab]|\$\$?|n\$|s)(\d+)")
_MODE = "CTX_ENABLES"


@dataclass(slots=True)
class _Strings:
    """The table of strings while it grows; each has one place."""

    content: bytearray = field(default_factory=lambda: bytearray(1))
    places: dict[str, int] = field(default_factory=lambda: {"": 0})

    def place(self, text: str) -> int:
        """The offset of a string."""
        if text not in self.places:
            self.places[text] = len(self.content)
            self.content += text.encode() + b"\0"
        return self.places[text]


@dataclass(frozen=True, slots=True)
class _Part:
    """An image and the microengines that have it. `number` tells its own memory from that of others with the same name."""

    number: int
    name: str
    image: Image
    microengines: tuple[int, ...]


def to_uof(program: Program) -> bytes:
    """The program as a UOF file; the same for equal programs. UserError for what the file cannot say."""
    cpu = CPU_TYPES.get(program.chip)
    if cpu is None:
        raise user_error(
            codes.LINK_CHIP, f"a UOF file is for one of {', '.join(CPU_TYPES)}, and this is linked for {program.chip}",
            help="write an .ixl file, which any chip can have",
        )
    parts, strings = _parts(program), _Strings()
    chunks = [(MEMORIES, _memories(parts, strings)), (SEGMENT_TABLE, _segments(parts)),
              (TOOLS, TOOL.pack(b"ixpemu", 1, 0, 0))]
    # The offsets of an image's tables count from the object, so the chunks before it have to be there.
    count = len(chunks) + len(parts) + 1
    at = OBJECT_HEADER.size + count * OBJECT_CHUNK.size + sum(len(content) for _, content in chunks)
    for part in parts:
        chunks.append((IMAGES, _image(part, cpu, strings, at)))
        at += len(chunks[-1][1])
    chunks.append((STRINGS, COUNT.pack(len(strings.content)) + bytes(strings.content)))
    body = _object(cpu, chunks)
    head = FILE_HEADER.pack(FILE_ID, 0, MINOR, MAJOR, 0, 1, 1)
    place = FILE_HEADER.size + FILE_CHUNK.size
    return head + FILE_CHUNK.pack(OBJECTS, checksum(body), place, len(body)) + body


def left_out(program: Program) -> str:
    """What a UOF file of this program does not hold, in words; empty if that is nothing."""
    images = program.images.values()
    found = [what for what, there in (
        ("labels", any(image.labels for image in images)), ("source lines", any(image.debug for image in images)),
        ("probes", any(image.probes for image in images)), ("live ranges", any(image.ranges for image in images)),
    ) if there]
    return ", ".join(found)


def _parts(program: Program) -> list[_Part]:
    groups: dict[tuple[str, bytes], list[int]] = {}
    for me in sorted(program.images):
        groups.setdefault((program.names[me], program.images[me].as_bytes()), []).append(me)
    return [_Part(number, name, program.images[engines[0]], tuple(engines))
            for number, ((name, _), engines) in enumerate(groups.items())]


def _object(cpu: int, chunks: Sequence[tuple[bytes, bytes]]) -> bytes:
    at = OBJECT_HEADER.size + len(chunks) * OBJECT_CHUNK.size
    head = bytearray(OBJECT_HEADER.pack(cpu, 0, 0xFF, len(chunks), len(chunks), 0, 0))
    for name, content in chunks:
        head += OBJECT_CHUNK.pack(name, at, len(content))
        at += len(content)
    return bytes(head) + b"".join(content for _, content in chunks)


def _values(initial: Initial) -> list[int]:
    """Numbers: nothing of a linked program is open."""
    return [evaluate(value, {}) or 0 for value in initial.values]


def _memories(parts: Sequence[_Part], strings: _Strings) -> bytes:
    """Named memory and its first values. Memory of one image has the image's number before its name."""
    entries: dict[tuple[str, int], tuple[bytes, dict[int, int]]] = {}
    for part in parts:
        for memory in part.image.links.memories:
            name = memory.name if memory.shared else f"{part.number}!{memory.name}"
            values = {initial.offset + 4 * k: value for initial in part.image.links.initial
                      if initial.kind == "memory" and initial.target == memory.name for k, value in enumerate(_values(initial))}
            address = memory.address or 0
            head = (strings.place(name), REGIONS.index(memory.region), GLOBAL if memory.shared else LOCAL, memory.align & 0xFFFF,
                    address, memory.size)
            known = entries.get((name, address))
            merged = values if known is None else known[1] | values
            entries[name, address] = MEMORY.pack(*head, len(merged)), merged
    out = COUNT.pack(len(entries))
    for head_bytes, values in entries.values():
        out += head_bytes + b"".join(MEMORY_VALUE.pack(at) + value.to_bytes(4, "big") for at, value in sorted(values.items()))
    return out


def _segments(parts: Sequence[_Part]) -> bytes:
    """From the first to behind the last byte of named memory in each region, as addresses inside it."""
    bounds: dict[str, tuple[int, int]] = {}
    for part in parts:
        for memory in part.image.links.memories:
            if memory.region != LOCAL_MEMORY:
                start = (memory.address or 0) - channel_base(memory.region)
                low, high = bounds.get(memory.region, (start, start))
                bounds[memory.region] = min(low, start), max(high, start + memory.size)
    rows = (bounds.get(region, (0, 0)) for region in SEGMENTS)
    return b"".join(SEGMENT.pack(low, high - low) for low, high in rows)


def _image(part: _Part, cpu: int, strings: _Strings, at: int) -> bytes:
    """The chunk of an image that begins at offset `at` of the object: itself, its page, registers, first values, words."""
    image, cluster = part.image, CLUSTER[cpu]
    registers = _registers(image.registers, strings)
    initial = _initial(part, strings)
    register_place = at + IMAGE.size + PAGE.size
    initial_place = register_place + len(registers)
    code_place = initial_place + len(initial)
    words = b"".join(word.to_bytes(WORD_BYTES, "little") for word in image.values)
    mask = 0
    for me in part.microengines:
        mask |= engine_bit(me, cluster)
    head = IMAGE.pack(strings.place(part.name), mask, bytes(8), 0, 0, _mode(part), cpu, 0xFF, 0, 0, 0, 0, 1,
                      register_place, initial_place)
    page = PAGE.pack(0, 0, code_place, 0)
    return head + page + registers + initial + COUNT.pack(len(image.values)) + words


def _mode(part: _Part) -> int:
    """The number of contexts, and which local-memory pointers they share."""
    mode = part.image.contexts
    for initial in part.image.links.initial:
        if initial.kind != "csr":
            continue
        value = _values(initial)[0]
        if initial.target.upper() != _MODE or value & ~sum(1 << bit for bit in GLOBAL_POINTERS):
            raise user_error(
                codes.LINK_VALUE, f"{part.name} gives {initial.target} an initial value, and UOF has a place for global "
                "local-memory pointers only", help="write an .ixl file, or write the CSR in the program",
            )
        mode |= sum(flag for bit, flag in GLOBAL_POINTERS.items() if value >> bit & 1)
    return mode


def _kind_and_number(place: str) -> tuple[int, int]:
    found = _PLACE.fullmatch(place)
    return (REGISTER_KINDS.index(found[1]), int(found[2])) if found is not None else (0, 0)


def _registers(places: Mapping[str, str], strings: _Strings) -> bytes:
    rows = [REGISTER.pack(strings.place(name), 0, *_kind_and_number(place), 0, 0, 0, 0, 0, 0)
            for name in places for place in places[name].split()]
    return COUNT.pack(len(rows)) + b"".join(rows)


def _initial(part: _Part, strings: _Strings) -> bytes:
    rows = []
    for initial in part.image.links.initial:
        if initial.kind == "register":
            kind, number = _kind_and_number(initial.target)
            what = INIT_REGISTER if initial.context < 0 else INIT_CONTEXT_REGISTER
            rows.append(INITIAL.pack(strings.place(initial.target), what, NUMBER, kind, max(initial.context, 0), number,
                                     _values(initial)[0]))
    return COUNT.pack(len(rows)) + b"".join(rows)
