"""Images as files: `ixp` (everything), `words`, `ucode-c` and `bin` (the words alone), each written and read.

`ixp` is text of one record a line. The first line is `ixp 1`; then, in this order, one record each of

    contexts N
    words N             N lines follow: word, place and macro calls and source text where known
    labels N            N lines: name address
    registers N         N lines: name physical...
    ranges N            N lines: name physical first last
    probes N            N lines: name address key
    end CRC             CRC-32 of all bytes before this line, 8 hex digits

Names, files and source texts are JSON strings; a word line is `HEX`, or `HEX FILE LINE [MACRO FILE LINE]... SOURCE`. A damaged
file of any format is refused with its place: nothing here guesses.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from ixpemu import codes
from ixpemu.arguments import shown
from ixpemu.diagnostics import UserError, user_error
from ixpemu.files import MOST_TEXT, read_bytes, write_atomically
from ixpemu.image import WORD_BYTES, Image, LiveRange, Place, Probe, WordOrigin
from ixpemu.image_links import REGIONS, Check, Export, Fixup, Initial, Links, NamedMemory, is_well_formed

FORMATS = ("ixp", "words", "ucode-c", "bin")
_SUFFIXES = {".ixp": "ixp", ".words": "words", ".c": "ucode-c", ".h": "ucode-c", ".bin": "bin"}
_VERSION = 1
_LINKED_VERSION = 2     # with what is left to the linker and the loader
_T = TypeVar("_T")


def format_of(path: str | Path) -> str:
    """The format that a file name's suffix stands for; `ixp` for a suffix of no meaning."""
    return _SUFFIXES.get(Path(path).suffix.lower(), "ixp")


def save(image: Image, path: str | Path, format: str | None = None) -> None:
    """Write `image` to `path`, whole or not at all."""
    write_atomically(path, to_bytes(image, format or format_of(path)))


def load(path: str | Path, format: str | None = None, contexts: int = 8) -> Image:
    """Read an image from `path`."""
    return from_bytes(read_bytes(path, MOST_TEXT), format or format_of(path), str(path), contexts)


def to_bytes(image: Image, format: str) -> bytes:
    """The image as a file of `format`."""
    return _known(_WRITERS, format)(image)


def from_bytes(content: bytes, format: str, name: str = "image", contexts: int = 8) -> Image:
    """The image that `content` holds; `name` stands in messages. `contexts` for the formats that do not record it."""
    return _known(_READERS, format)(content, name, contexts)


def _known(table: dict[str, _T], format: str) -> _T:
    if not isinstance(format, str) or format not in table:
        raise user_error(
            codes.IMAGE_FORMAT_UNKNOWN, f"there is no image format {shown(format)}", help=f"the formats are {', '.join(FORMATS)}"
        )
    return table[format]


_AGAIN = "assemble it again, or copy it again if it came over a line"


def _damaged(name: str, line: int, message: str, help: str = _AGAIN) -> UserError:
    return user_error(codes.IMAGE_DAMAGED, message, file=name, line=line, help=help)


def _text(content: bytes, name: str) -> list[str]:
    """The lines of a text file. A byte that is not text is reported at its line."""
    try:
        return content.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _damaged(name, line, f"byte {error.start} is not text") from None



def _write_words(image: Image) -> bytes:
    head = f"# {len(image)} words of 40 bits, {image.contexts} contexts\n"
    return (head + "".join(f"{word:010x}\n" for word in image.values)).encode()


_HEX_WORD = re.compile(r"(?:0x)?([0-9a-fA-F]{1,10})")


def _read_words(content: bytes, name: str, contexts: int) -> Image:
    words = []
    for number, line in enumerate(_text(content, name), start=1):
        body = line.split("#", 1)[0].strip()
        if not body:
            continue
        match = _HEX_WORD.fullmatch(body)
        if match is None or (len(match[1]) != 10 and not body.lower().startswith("0x")):
            help = "a word is 10 hexadecimal digits, one word a line, # before a comment"
            raise _damaged(name, number, f"{body[:40]!r} is not a word", help)
        words.append(int(match[1], 16))
    return Image.from_words(words, contexts)



def _word_bytes(image: Image) -> bytes:
    return b"".join(word.to_bytes(WORD_BYTES, "big") for word in image.values)


def _write_c(image: Image) -> bytes:
    data = _word_bytes(image)
    rows = [data[at : at + WORD_BYTES] for at in range(0, len(data), WORD_BYTES)]
    lines = "".join("    " + " ".join(f"0x{byte:02x}," for byte in row) + "\n" for row in rows)
    head = f"/* {len(rows)} words of 40 bits, five bytes each, most significant first; {image.contexts} contexts */\n"
    return (head + "static const unsigned char ucode[] = {\n" + lines + "};\n").encode()


_C_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_C_BYTE = re.compile(r"0[xX]0*([0-9a-fA-F]{1,2})|(0|[1-9][0-9]{0,2})")


def _blank(match: re.Match[str]) -> str:
    """What replaces a comment: nothing but its line ends, so that line numbers stay."""
    return "\n" * match[0].count("\n") or " "


def _read_c(content: bytes, name: str, contexts: int) -> Image:
    text = _C_COMMENT.sub(_blank, "\n".join(_text(content, name)))
    start, end = text.find("{"), text.find("}")
    if start < 0 or end < start:
        line = text.count("\n") + 1
        raise _damaged(name, line, "no { ... } of byte values", "a C initialiser of byte values, five for every word")
    last = text.count("\n", 0, end) + 1
    if text[end + 1 :].strip(" \t\n;"):
        raise _damaged(name, last, "the file goes on behind the }", "one C initialiser in one file")
    data, line = bytearray(), text.count("\n", 0, start) + 1
    for row_number, row in enumerate(text[start + 1 : end].split("\n"), start=line):
        for item in (piece.strip() for piece in row.split(",")):
            if not item:
                continue
            data.append(_c_byte(item, name, row_number))
    return _from_word_bytes(bytes(data), name, last, contexts)


def _c_byte(item: str, name: str, line: int) -> int:
    """The value of one item of the initialiser, in decimal or hexadecimal as `ucode-c` files have it; no octal."""
    match = _C_BYTE.fullmatch(item)
    value = 256 if match is None else int(match[1], 16) if match[1] is not None else int(match[2])
    if value > 255:
        raise _damaged(name, line, f"{item[:40]!r} is not a byte", "byte values 0 to 255, commas between them")
    return value


def _from_word_bytes(data: bytes, name: str, line: int, contexts: int) -> Image:
    if len(data) % WORD_BYTES:
        raise _damaged(name, line, f"{len(data)} bytes are no whole number of 5-byte words: {len(data) % WORD_BYTES} left over")
    words = [int.from_bytes(data[at : at + WORD_BYTES], "big") for at in range(0, len(data), WORD_BYTES)]
    return Image.from_words(words, contexts)


def _read_bin(content: bytes, name: str, contexts: int) -> Image:
    return _from_word_bytes(content, name, 1, contexts)



def _quote(text: str) -> str:
    return json.dumps(text)


def _word_line(word: int, origin: WordOrigin | None) -> str:
    if origin is None:
        return f"{word:010x}"
    calls = "".join(f" {_quote(macro)} {_quote(place.file)} {place.line}" for macro, place in origin.macros)
    return f"{word:010x} {_quote(origin.place.file)} {origin.place.line}{calls} {_quote(origin.source)}"


def _link_lines(links: Links) -> list[str]:
    """The sections that version 2 has behind those of version 1."""
    lines = [f"imports {len(links.imports)}", *map(_quote, links.imports), f"memories {len(links.memories)}"]
    for memory in links.memories:
        address = "-" if memory.address is None else memory.address
        scope = "shared" if memory.shared else "own"
        lines.append(f"{_quote(memory.name)} {_quote(memory.region)} {memory.size} {memory.align} {_quote(scope)} {address}")
    lines += [f"exports {len(links.exports)}"]
    lines += [f"{_quote(one.name)} {_quote(one.kind)} {_quote(one.place)}" for one in links.exports]
    lines += [f"fixups {len(links.fixups)}"]
    for fixup in links.fixups:
        values = "".join(f" {operand} {_quote(expression)}" for operand, expression in fixup.values)
        lines.append(f"{fixup.address} {_quote(fixup.text)}{values}")
    lines += [f"initial {len(links.initial)}"]
    for one in links.initial:
        context = "-" if one.context < 0 else one.context
        values = "".join(f" {_quote(value)}" for value in one.values)
        lines.append(f"{_quote(one.kind)} {_quote(one.target)} {one.offset} {context}{values}")
    lines += [f"checks {len(links.checks)}"]
    lines += [f"{_quote(one.expression)} {_quote(one.message)} {_quote(one.file)} {one.line}" for one in links.checks]
    return lines


def _write_ixp(image: Image) -> bytes:
    words = image.values
    origins = image.debug if len(image.debug) == len(words) else [None] * len(words)
    lines = [f"ixp {_LINKED_VERSION if image.links else _VERSION}", f"contexts {image.contexts}", f"words {len(words)}"]
    lines += [_word_line(word, origin) for word, origin in zip(words, origins, strict=True)]
    lines += [f"labels {len(image.labels)}", *(f"{_quote(name)} {address}" for name, address in image.labels.items())]
    lines += [f"registers {len(image.registers)}"]
    lines += [f"{_quote(name)} {_quote(register)}" for name, register in image.registers.items()]
    lines += [f"ranges {len(image.ranges)}"]
    lines += [f"{_quote(r.name)} {_quote(r.register)} {r.first} {r.last}" for r in image.ranges]
    lines += [f"probes {len(image.probes)}"]
    lines += [f"{_quote(p.name)} {p.address} {_quote(p.key)}" for p in image.probes]
    if image.links:
        lines += _link_lines(image.links)
    body = ("\n".join(lines) + "\n").encode()
    return body + f"end {zlib.crc32(body):08x}\n".encode()


_FIELD = re.compile(r'("(?:[^"\\\x00-\x1f]|\\.)*"|[^" ]+)(?: |$)')


class _Records:
    """The lines of an ixp file, read front to back, each mistake reported at its line."""

    def __init__(self, lines: list[str], name: str) -> None:
        self.lines, self.name, self.at = lines, name, 0

    def damaged(self, message: str) -> UserError:
        return _damaged(self.name, max(self.at, 1), message)

    def next(self) -> list[str | int]:
        """The fields of the next line: JSON strings as text in quotes undone, everything else as it stands."""
        if self.at >= len(self.lines):
            raise self.damaged("the file ends here, in the middle of an image")
        line = self.lines[self.at]
        self.at += 1
        fields: list[str | int] = []
        position = 0
        while position < len(line):
            match = _FIELD.match(line, position)
            if match is None:
                raise self.damaged(f"cannot read {line[position:position + 30]!r}")
            position = match.end()
            piece = match[1]
            if piece.startswith('"'):
                try:
                    fields.append(json.loads(piece))
                except json.JSONDecodeError:
                    raise self.damaged(f"cannot read {piece[:30]!r}") from None
            else:
                fields.append(int(piece) if piece.isdecimal() and piece.isascii() and len(piece) <= 10 else piece)
        return fields

    def header(self, keyword: str) -> int:
        """The number of a `keyword N` line."""
        fields = self.next()
        if len(fields) != 2 or fields[0] != keyword or not isinstance(fields[1], int):
            raise self.damaged(f"expected '{keyword}' and a number")
        return fields[1]

    def table(self, keyword: str, *kinds: type, last: int = 0) -> list[list[str | int]]:
        """The rows of the section `keyword`, each with fields of `kinds`; its numbers are word addresses up to `last`."""
        rows = []
        for _ in range(self.header(keyword)):
            fields = self.next()
            if [type(field) for field in fields] != list(kinds):
                raise self.damaged(f"not a row of '{keyword}'")
            for field in fields:
                if isinstance(field, int) and field > last:
                    raise self.damaged(f"address {field} is behind the last word of the image")
            rows.append(fields)
        return rows


def _read_word_line(records: _Records) -> tuple[int, WordOrigin | None]:
    # Not split into fields: a word of ten decimal digits must stay text.
    line = records.lines[records.at] if records.at < len(records.lines) else ""
    word, fields = line[:10], records.next()[1:]
    if re.fullmatch(r"[0-9a-f]{10}", word) is None or line[10:11] not in ("", " "):
        raise records.damaged("expected a word of 10 hexadecimal digits")
    if not fields:
        return int(word, 16), None
    kinds = [type(field) for field in fields]
    if len(fields) % 3 or kinds != [str, int] + [str, str, int] * (len(fields) // 3 - 1) + [str]:
        raise records.damaged("a word line is: word, file, line, [macro, file, line]..., source")
    calls = tuple(
        (str(fields[at]), Place(str(fields[at + 1]), int(fields[at + 2]))) for at in range(2, len(fields) - 1, 3)
    )
    return int(word, 16), WordOrigin(Place(str(fields[0]), int(fields[1])), str(fields[-1]), calls)


def _read_links(records: _Records, words: int) -> Links:
    """The sections of version 2."""
    imports = tuple(str(row[0]) for row in records.table("imports", str))
    memories, exports, fixups, initial = [], [], [], []
    for _ in range(records.header("memories")):
        row = records.next()
        if len(row) != 6 or [type(one) for one in row[:5]] != [str, str, int, int, str] or row[1] not in REGIONS:
            raise records.damaged("not a row of 'memories'")
        size, align = int(row[2]), int(row[3])
        if not (isinstance(row[5], int) or row[5] == "-") or align < 1 or row[4] not in ("shared", "own"):
            raise records.damaged("not a row of 'memories'")
        address = None if row[5] == "-" else int(row[5])
        memories.append(NamedMemory(str(row[0]), str(row[1]), size, align, row[4] == "shared", address))
    for row in records.table("exports", str, str, str):
        exports.append(Export(str(row[0]), str(row[1]), str(row[2])))
    for _ in range(records.header("fixups")):
        row = records.next()
        values = list(zip(row[2::2], row[3::2], strict=False))
        if len(row) < 4 or len(row) % 2 or not isinstance(row[0], int) or row[0] >= words or not isinstance(row[1], str) or any(
            not isinstance(operand, int) or not is_well_formed(str(expression)) for operand, expression in values
        ):
            raise records.damaged("not a row of 'fixups'")
        fixups.append(Fixup(row[0], row[1], tuple((int(operand), str(expression)) for operand, expression in values)))
    names = {memory.name for memory in memories}
    for _ in range(records.header("initial")):
        row = records.next()
        context = -1 if len(row) > 3 and row[3] == "-" else row[3] if len(row) > 3 else None
        if len(row) < 5 or row[0] not in ("memory", "register", "csr") or not isinstance(row[2], int) or not isinstance(
            context, int
        ) or not all(is_well_formed(str(value)) for value in row[4:]) or (row[0] == "memory" and row[1] not in names):
            raise records.damaged("not a row of 'initial'")
        initial.append(Initial(str(row[0]), str(row[1]), tuple(map(str, row[4:])), row[2], context))
    checks = []
    for _ in range(records.header("checks")):
        row = records.next()
        if [type(one) for one in row] != [str, str, str, int] or not is_well_formed(str(row[0])):
            raise records.damaged("not a row of 'checks'")
        checks.append(Check(str(row[0]), str(row[1]), str(row[2]), int(row[3])))
    return Links(imports, tuple(memories), tuple(exports), tuple(fixups), tuple(initial), tuple(checks))


def _read_ixp(content: bytes, name: str, contexts: int) -> Image:
    lines = _text(content, name)
    records = _Records(lines, name)
    if not lines or not lines[0].startswith("ixp "):
        help = "for a file of bare words say --format words, ucode-c or bin"
        raise _damaged(name, 1, "this is not an ixp image: its first line is not 'ixp 1'", help)
    version = records.header("ixp")
    if version not in (_VERSION, _LINKED_VERSION):
        raise records.damaged(f"{lines[0]!r}: this version of ixpemu reads 'ixp {_VERSION}' and 'ixp {_LINKED_VERSION}'")
    contexts = records.header("contexts")
    if contexts not in (4, 8):
        raise records.damaged(f"{contexts} contexts: a microengine runs 4 or 8")
    rows = [_read_word_line(records) for _ in range(records.header("words"))]
    origins = [origin for _, origin in rows if origin is not None]
    if origins and len(origins) != len(rows):
        raise records.damaged("some words have a source place and some have none")
    behind = len(rows)          # where a label or a probe at the end of the text stands
    labels = {str(row[0]): int(row[1]) for row in records.table("labels", str, int, last=behind)}
    registers = {str(row[0]): str(row[1]) for row in records.table("registers", str, str)}
    kept = records.table("ranges", str, str, int, int, last=behind - 1)
    ranges = tuple(LiveRange(str(r[0]), str(r[1]), int(r[2]), int(r[3])) for r in kept)
    probes = tuple(Probe(str(r[0]), int(r[1]), str(r[2])) for r in records.table("probes", str, int, str, last=behind))
    links = _read_links(records, len(rows)) if version == _LINKED_VERSION else Links()
    _check_end(records, content)
    words = tuple(word for word, _ in rows)
    return Image(words, contexts, MappingProxyType(labels), MappingProxyType(registers), tuple(origins), probes, ranges, links)


def _check_end(records: _Records, content: bytes) -> None:
    body = content[: content.rfind(b"\nend ") + 1]
    records.next()
    if records.at != len(records.lines):
        raise records.damaged("the image ends here, but the file goes on")
    if content[len(body) :] != f"end {zlib.crc32(body):08x}\n".encode():
        raise records.damaged("the check sum does not match: the file is not as it was written")


_WRITERS: dict[str, Callable[[Image], bytes]] = {
    "ixp": _write_ixp, "words": _write_words, "ucode-c": _write_c, "bin": _word_bytes,
}
_READERS: dict[str, Callable[[bytes, str, int], Image]] = {
    "ixp": _read_ixp, "words": _read_words, "ucode-c": _read_c, "bin": _read_bin,
}
