"""A linked program as one file, `ixl`: the images of all microengines, each an `ixp` image as it is.

The first line is `ixl 1`, the second the chip it was linked for, as a JSON string. Then for each image a line
`image NAME BYTES ME...`, and its bytes; microengines with the same image share it. The last line is `end` and the CRC-32 of all
bytes before it. What a linker decided is in the images; how they become files is `ixpemu.image_formats`.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ixpemu import codes
from ixpemu.diagnostics import UserError, user_error
from ixpemu.files import MOST_TEXT, read_bytes
from ixpemu.image import Image
from ixpemu.image_formats import from_bytes as image_from_bytes

SUFFIX = ".ixl"
UOF_SUFFIX = ".uof"
SUFFIXES = (SUFFIX, UOF_SUFFIX)         # of files that `load` reads
_HEAD = re.compile(rb'image ("(?:[^"\\\x00-\x1f]|\\.)*") ([0-9]{1,9})((?: [0-9]{1,2})+)')
_AGAIN = "link it again, or copy it again if it came over a line"


@dataclass(frozen=True, slots=True)
class Program:
    """Images by microengine as a file has them. `names`: what each image is called; `chip`: what it was linked for."""

    images: Mapping[int, Image]
    names: Mapping[int, str]
    chip: str


def is_program(path: str | Path) -> bool:
    """Whether there is a file with a linked program, by its first bytes or, as long as they are not wrong, by its name."""
    try:
        with open(path, "rb") as stream:
            beginning = stream.read(4)
    except (OSError, ValueError):
        return False
    from ixpemu.link_uof_read import is_uof

    return beginning == b"ixl " or is_uof(beginning) or (Path(path).suffix.lower() in SUFFIXES and beginning != b"ixp ")


def to_bytes(program: Program) -> bytes:
    """The program as a file; the same for equal programs."""
    groups: dict[tuple[str, bytes], list[int]] = {}
    for index in sorted(program.images):
        groups.setdefault((program.names[index], program.images[index].as_bytes()), []).append(index)
    out = f"ixl 1\n{json.dumps(program.chip)}\n".encode()
    for (name, content), indexes in groups.items():
        out += f"image {json.dumps(name)} {len(content)} {' '.join(map(str, indexes))}\n".encode() + content
    return out + f"end {zlib.crc32(out):08x}\n".encode()


def from_bytes(content: bytes, name: str) -> Program:
    """The program in a file's content; `name` stands in messages. UserError for anything that `to_bytes` did not write."""
    if not content.startswith(b"ixl "):
        raise _damaged(name, content, 0, "this is no linked program: its first line is not 'ixl 1'")
    version, at = _line(content, 0, name)
    if version != b"ixl 1":
        raise _damaged(name, content, 0, f"{version[:20].decode('utf-8', 'replace')!r}: this version of ixpemu reads 'ixl 1'")
    chip, at = _chip(content, at, name)
    images: dict[int, Image] = {}
    names: dict[int, str] = {}
    while True:
        line, behind = _line(content, at, name)
        if line.startswith(b"end "):
            break
        head = _HEAD.fullmatch(line)
        if head is None:
            raise _damaged(name, content, at, "expected 'image NAME BYTES ME...' or 'end'")
        called = _string(head[1])
        length = int(head[2])
        if called is None or behind + length > len(content):
            raise _damaged(name, content, at, "the file ends here, in the middle of an image")
        image = _image(content, behind, length, name)
        for index in map(int, head[3].split()):
            if index in images:
                raise _damaged(name, content, at, f"microengine {index} has two images")
            images[index], names[index] = image, called
        at = behind + length
    if line != f"end {zlib.crc32(content[:at]):08x}".encode():
        raise _damaged(name, content, at, "the check sum does not match: the file is not as it was written")
    if behind != len(content):
        raise _damaged(name, content, behind, "the program ends here, but the file goes on")
    return Program(dict(sorted(images.items())), dict(sorted(names.items())), chip)


def load(path: str | Path) -> Program:
    """Read a linked program, in either form."""
    from ixpemu.link_uof_read import from_uof, is_uof

    content = read_bytes(path, MOST_TEXT)
    uof = is_uof(content) or (Path(path).suffix.lower() == UOF_SUFFIX and not content.startswith(b"ixl "))
    return from_uof(content, str(path)) if uof else from_bytes(content, str(path))


def _line(content: bytes, at: int, name: str) -> tuple[bytes, int]:
    """The line at an offset, and where the next one begins."""
    end = content.find(b"\n", at)
    if end < 0:
        raise _damaged(name, content, at, "the file ends here, in the middle of a program")
    return content[at:end], end + 1


def _string(text: bytes) -> str | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, str) else None


def _chip(content: bytes, at: int, name: str) -> tuple[str, int]:
    line, behind = _line(content, at, name)
    chip = _string(line)
    if chip is None:
        raise _damaged(name, content, at, "expected the name of a chip, in quotes")
    return chip, behind


def _image(content: bytes, start: int, length: int, name: str) -> Image:
    """One image; what is wrong with it is told with its line in the whole file."""
    try:
        return image_from_bytes(content[start:start + length], "ixp", name)
    except UserError as error:
        found = error.diagnostics[0]
        line = content.count(b"\n", 0, start) + (found.origin.span.line if found.origin is not None else 1)
        raise user_error(found.code, found.message, file=name, line=line, help=_AGAIN) from None


def _damaged(name: str, content: bytes, at: int, message: str) -> UserError:
    line = content.count(b"\n", 0, at) + 1
    return user_error(codes.IMAGE_DAMAGED, message, file=name, line=line, help=_AGAIN)
