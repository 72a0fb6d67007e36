"""Reads UOF files: those of `ixpemu.link_uof` whole; of others what their documented structures say.

Nothing is believed: every count, offset and size is compared with what there is before it is used, and a file that is damaged,
cut short or of another kind is refused with the offset of the field that is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from struct import Struct
from typing import Any

from ixpemu import codes
from ixpemu.diagnostics import UserError, user_error
from ixpemu.image import CONTROL_STORE_WORDS, Image
from ixpemu.image_links import LOCAL_MEMORY, Initial, Links, NamedMemory
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
    INIT_SYMBOL,
    INITIAL,
    LOCAL_BYTES,
    MEMORIES,
    MEMORY,
    MEMORY_VALUE,
    NUMBER,
    OBJECT_CHUNK,
    OBJECT_HEADER,
    OBJECTS,
    PAGE,
    REGIONS,
    REGISTER,
    REGISTER_KINDS,
    STRINGS,
    SWAPPED_ID,
    WORD_BYTES,
    WRITABLE_KINDS,
    checksum,
    engines_of,
)

_STORE = {2: CONTROL_STORE_WORDS, 4: 2 * CONTROL_STORE_WORDS}
_AGAIN = "link it again, or copy it again if it came over a line"


@dataclass(slots=True)
class _Content:
    """A file, and the part of it that offsets count in. `at` in messages is an offset in the file."""

    data: bytes
    name: str
    start: int = 0
    end: int = 0
    strings: tuple[int, int] = (0, 0)

    def wrong(self, at: int, message: str, help: str = _AGAIN) -> UserError:
        return user_error(codes.IMAGE_DAMAGED, f"{self.name}, byte {self.start + at:#x}: {message}", help=help)

    def take(self, struct: Struct, at: int, what: str) -> tuple[Any, ...]:
        """The fields of a structure at an offset."""
        if at < 0 or self.start + at + struct.size > self.end:
            raise self.wrong(at, f"the file ends inside of {what}, or an offset leads out of it")
        return struct.unpack_from(self.data, self.start + at)

    def rows(self, struct: Struct, at: int, what: str) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """The entries of a table of equal ones, each with its offset."""
        (count,) = self.take(COUNT, at, what)
        if count * struct.size > self.end - self.start - at:
            raise self.wrong(at, f"{what} cannot have {count:,} entries: there is no room for them")
        for number in range(count):
            place = at + COUNT.size + number * struct.size
            yield place, self.take(struct, place, what)

    def string(self, at: int, offset: int, what: str) -> str:
        """The string that a field at `at` names by its offset in the table."""
        first, length = self.strings
        end = self.data.find(b"\0", self.start + first + offset, self.start + first + length) if offset < length else -1
        if end < 0:
            raise self.wrong(at, f"{what} is no string of the table: offset {offset:#x}, and it has {length:#x} bytes")
        try:
            return self.data[self.start + first + offset : end].decode()
        except UnicodeDecodeError:
            raise self.wrong(at, f"{what} is no text") from None


@dataclass(slots=True)
class _Memory:
    """An entry of UOF_IMEM. `image`: the number of the image whose own it is, None if all share it."""

    image: int | None
    declared: NamedMemory
    values: list[Initial] = field(default_factory=list)


def is_uof(beginning: bytes) -> bool:
    """Whether a file that begins so may be a UOF file, of either byte order."""
    return len(beginning) >= 2 and int.from_bytes(beginning[:2], "little") in (FILE_ID, SWAPPED_ID)


def from_uof(data: bytes, name: str) -> Program:
    """The program in a UOF file; `name` stands in messages. UserError, with an offset, for whatever is not as it should be."""
    content = _Content(data, name, 0, len(data))
    cpu, chunks = _chunks(content)
    single = {kind: (at, size) for kind, at, size in chunks if kind != IMAGES}
    for kind in (STRINGS, MEMORIES):
        if kind not in single:
            raise content.wrong(0, f"there is no chunk {kind.decode()}")
    at, size = single[STRINGS]
    (length,) = content.take(COUNT, at, "the table of strings")
    if length > size - COUNT.size:
        raise content.wrong(at, f"the table of strings says {length:,} bytes, and its chunk has {size - COUNT.size:,}")
    content.strings = at + COUNT.size, length
    memories = list(_memories(content, *single[MEMORIES]))
    images: dict[int, Image] = {}
    names: dict[int, str] = {}
    for number, place in enumerate(at for kind, at, _ in chunks if kind == IMAGES):
        called, engines, image = _image(content, place, cpu, number, memories)
        for me in engines:
            if me in images:
                raise content.wrong(place, f"microengine {me} has two images, {names[me]} and {called}")
            images[me], names[me] = image, called
    chip = next(chip for chip, kind in CPU_TYPES.items() if kind == cpu)
    return Program(dict(sorted(images.items())), dict(sorted(names.items())), chip)


def _chunks(content: _Content) -> tuple[int, list[tuple[bytes, int, int]]]:
    """The chip and the chunks of the object, to which offsets count from here on."""
    file_id, _, _, _, _, most, count = content.take(FILE_HEADER, 0, "the file header")
    if file_id == SWAPPED_ID:
        raise content.wrong(0, "this is a UOF file of a big-endian machine", "only little-endian files can be read")
    if file_id != FILE_ID:
        raise content.wrong(0, f"this is no UOF file: it begins with {file_id:#x}, not {FILE_ID:#x}",
                            "a linked program of ixpemu is a file .ixl")
    if count > most:
        raise content.wrong(10, f"{count} chunks, and room for {most}")
    for number in range(count):
        place = FILE_HEADER.size + number * FILE_CHUNK.size
        kind, check, at, size = content.take(FILE_CHUNK, place, "the chunks of the file")
        if kind != OBJECTS:
            continue                                    # DBG_OBJS among others: not needed to run
        if at + size > len(content.data):
            raise content.wrong(place + 12, f"the object has {size:,} bytes from {at:#x} on, and the file {len(content.data):,}")
        if checksum(content.data[at : at + size]) != check:
            raise content.wrong(place + 8, "the check sum does not match: the file is not as it was written")
        content.start, content.end = at, at + size
        return _object(content)
    raise content.wrong(FILE_HEADER.size, f"there is no chunk {OBJECTS.decode()}")


def _object(content: _Content) -> tuple[int, list[tuple[bytes, int, int]]]:
    cpu, _, _, most, count, _, _ = content.take(OBJECT_HEADER, 0, "the header of the object")
    if cpu not in CLUSTER:
        raise content.wrong(0, f"chip type {cpu}: 2 is an IXP2400, 4 an IXP2800", "files for other chips cannot be read")
    if count > most:
        raise content.wrong(10, f"{count} chunks, and room for {most}")
    found = []
    for number in range(count):
        place = OBJECT_HEADER.size + number * OBJECT_CHUNK.size
        kind, at, size = content.take(OBJECT_CHUNK, place, "the chunks of the object")
        if at + size > content.end - content.start:
            raise content.wrong(place + 8, f"a chunk of {size:,} bytes from {at:#x} on, and the object has "
                                f"{content.end - content.start:,}")
        found.append((kind, at, size))
    return cpu, found


def _memories(content: _Content, at: int, size: int) -> Iterator[_Memory]:
    """The entries of UOF_IMEM: named memory and the values that it has first."""
    (count,) = content.take(COUNT, at, "the named memory")
    place, end = at + COUNT.size, at + size
    for _ in range(count):
        named, region, scope, align, address, size_bytes, values = content.take(MEMORY, place, "the named memory")
        name = content.string(place, named, "the name of memory")
        if region >= len(REGIONS):
            raise content.wrong(place + 4, f"there is no region {region}")
        if values * (MEMORY_VALUE.size + 4) > end - place - MEMORY.size:
            raise content.wrong(place + 16, f"{name} cannot have {values:,} values: there is no room for them")
        number, mark, plain = name.partition("!")
        own = int(number) if scope != GLOBAL and mark and number.isdecimal() else None
        called = plain if own is not None else name
        if address % 4 or (REGIONS[region] == LOCAL_MEMORY and address + size_bytes > LOCAL_BYTES):
            raise content.wrong(place + 8, f"{called} cannot be at {address:#x} with {size_bytes:,} bytes")
        declared = NamedMemory(called, REGIONS[region], size_bytes, align or 4, scope == GLOBAL, address)
        found = _Memory(own, declared)
        row = place + MEMORY.size
        for _ in range(values):
            (offset,) = content.take(MEMORY_VALUE, row, "the values of memory")
            value = int.from_bytes(content.data[content.start + row + 4 : content.start + row + 8], "big")
            if offset % 4 or offset + 4 > size_bytes:
                raise content.wrong(row, f"a value at byte {offset:,} of {name}, which has {size_bytes:,}")
            found.values.append(Initial("memory", declared.name, (str(value),), offset))
            row += MEMORY_VALUE.size + 4
        yield found
        place = row


def _image(content: _Content, at: int, cpu: int, number: int, memories: list[_Memory]) -> tuple[str, list[int], Image]:
    """An image: its name, its microengines, itself."""
    named, mask, _, _, _, mode, _, _, _, _, _, entry, pages, registers_at, initial_at = content.take(IMAGE, at, "an image")
    name = content.string(at, named, "the name of an image")
    engines = engines_of(mask, CLUSTER[cpu])
    if not engines:
        raise content.wrong(at + 4, f"{name} is for no microengine that the chip has: mask {mask:#x}")
    contexts = mode & 15
    if contexts not in (4, 8):
        raise content.wrong(at + 18, f"{name} has {contexts} contexts: 4 or 8 is possible")
    if pages != 1 or entry:
        raise content.wrong(at + 28, f"{name} has {pages} pages and begins at {entry}", "code in one page from 0 on can be read")
    _, first, code_at, open_at = content.take(PAGE, at + IMAGE.size, "the page of an image")
    if first:
        raise content.wrong(at + IMAGE.size + 2, f"the page begins at word {first}", "code from 0 on can be read")
    if open_at:
        raise content.wrong(at + IMAGE.size + 8, f"{name} leaves values open", "link it with the tool that made it")
    registers: dict[str, list[str]] = {}
    for place, (register, _, kind, index, *_) in content.rows(REGISTER, registers_at, "the registers"):
        if kind >= len(REGISTER_KINDS):
            raise content.wrong(place + 8, f"there is no kind of register {kind}")
        called = content.string(place, register, "the name of a register")
        registers.setdefault(called, []).append(f"{REGISTER_KINDS[kind]}{index}")
    own = [memory for memory in memories if memory.image in (None, number)]
    # Shared memory gets its values once.
    given = [value for memory in own if memory.image is not None or number == 0 for value in memory.values]
    links = Links(memories=tuple(memory.declared for memory in own),
                  initial=(*given, *_initial(content, initial_at, contexts), *_pointers(mode)))
    image = Image(_words(content, code_at, _STORE[cpu]), contexts, registers={k: " ".join(v) for k, v in registers.items()},
                  links=links)
    return name, engines, image


def _initial(content: _Content, at: int, contexts: int) -> Iterator[Initial]:
    """First values of registers."""
    own = 128 // contexts
    for place, (_, what, kind_of_value, kind, context, number, value) in content.rows(INITIAL, at, "the initial values"):
        most = 128 if kind < len(REGISTER_KINDS) and REGISTER_KINDS[kind].startswith("@") else own
        if what == INIT_SYMBOL or kind_of_value != NUMBER:
            raise content.wrong(place + 4, "an initial value of a symbol, or an expression", "link it with the tool that made it")
        if what not in (INIT_REGISTER, INIT_CONTEXT_REGISTER) or not 0 < kind <= WRITABLE_KINDS or number >= most or context > 7:
            raise content.wrong(place + 4, f"no register of kind {kind} has the number {number} in context {context}")
        yield Initial("register", f"{REGISTER_KINDS[kind]}{number}", (str(value),), 0,
                      context if what == INIT_CONTEXT_REGISTER else -1)


def _pointers(mode: int) -> Iterator[Initial]:
    """Local-memory pointers that all contexts share."""
    bits = sum(1 << bit for bit, flag in GLOBAL_POINTERS.items() if mode & flag)
    if bits:
        yield Initial("csr", "CTX_ENABLES", (str(bits),))


def _words(content: _Content, at: int, most: int) -> tuple[int, ...]:
    (count,) = content.take(COUNT, at, "the code")
    start = content.start + at + COUNT.size
    if count > most:
        raise content.wrong(at, f"{count:,} words, and a control store holds {most:,}")
    if start + count * WORD_BYTES > content.end:
        raise content.wrong(at, f"{count:,} words, and the object ends before that")
    return tuple(int.from_bytes(content.data[place : place + WORD_BYTES], "little")
                 for place in range(start, start + count * WORD_BYTES, WORD_BYTES))
