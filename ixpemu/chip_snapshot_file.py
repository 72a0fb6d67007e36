"""Snapshots as files: written whole or not at all, read back equal, refused where a bit of them is wrong.

The file, numbers least significant byte first:

    8 bytes     89 49 58 50 0D 0A 1A 0A: 0x89 "IXP" CR LF 0x1A LF, which a transfer as text would change
    4 bytes     version of this layout, 1
    sections    4 letters: what it is; 8 bytes: length as it stands here; 8 bytes: length unpacked; the bytes, packed by
                zlib; 4 bytes: CRC-32 of everything in the section before it
    "END "      a section of 32 bytes, not packed: SHA-256 of all bytes before it. Nothing follows.

Sections, in this order and each once:
    CHIP        a plain value (chip_plain.py): the cycle, the parameters, the length of the journal, `numbering` below
    STAT        the state record as it is in memory
    PAGE        the numbers of the pages of memory that were ever written, 4 bytes each, then the pages
    PORT, AGNT  plain values: ports with all frames that are still to arrive, so that a file needs no other file; agents

Digests find damage, not malice: a state that somebody has made up and signed can make compiled code do anything. Read files of
people whose programs you would run.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ixpemu import arguments, codes
from ixpemu import chip_plain as plain
from ixpemu.chip_ports_saved import ports_from, ports_to
from ixpemu.chip_snapshot import Snapshot
from ixpemu.diagnostics import UserError, user_error
from ixpemu.engine import actions, dispatch, layout, msf_layout, operation_numbers, parameters, timing
from ixpemu.engine.state import PAGE_WORDS, STATE, STATE_VERSION, layout_for, new_state
from ixpemu.files import read_bytes, write_atomically

MAGIC = b"\x89IXP\r\n\x1a\n"
VERSION = 1
SECTIONS = ("CHIP", "STAT", "PAGE", "PORT", "AGNT")
LARGEST = 1 << 31               # bytes of a section, unpacked: more than a chip with all its memory written
_HEAD = struct.Struct("<4sQQ")
_AGAIN = "copy the file again, or save the snapshot again"


@cache
def numbering() -> str:
    """A digest of all numbers that a state record is full of: operations, places in it, kinds. Two programs with the same one
    mean the same by the same record; what else must not change is in STATE_VERSION."""
    said = [f"{STATE_VERSION} {PAGE_WORDS}", _shape(STATE)]
    for module in (layout, msf_layout, actions, operation_numbers, dispatch, parameters, timing):
        said += [f"{module.__name__} {name} {value}" for name, value in sorted(_numbers(module))]
    return hashlib.sha256("\n".join(said).encode()).hexdigest()


def _numbers(module: ModuleType) -> Iterator[tuple[str, str]]:
    for name, value in vars(module).items():
        if name.isupper() and isinstance(value, int):
            yield name, str(int(value))
        elif name.isupper() and isinstance(value, Mapping):
            yield name, str(sorted((str(key), str(item)) for key, item in value.items() if isinstance(item, int)))


def _shape(form: np.dtype[Any]) -> str:
    """The fields of a record with their places, those of records in it too."""
    if form.subdtype is not None:
        return f"{form.shape} of {_shape(form.base)}"
    if form.fields is None:
        return form.newbyteorder("<").str if form.byteorder in "<=|" else form.str
    return f"{form.itemsize}: " + ", ".join(f"{name} at {at} {_shape(kind)}" for name, (kind, at, *_) in form.fields.items())


# Writing

def save(snapshot: Snapshot, path: str | Path, agents: bool = True) -> None:
    """Write `snapshot` to `path`. `agents` false leaves them out. UserError where they hold what no file can, where a port is fed
    from a source that cannot be written, and where the file cannot be."""
    write_atomically(arguments.path("the file of a snapshot", path), to_bytes(snapshot, agents))


def to_bytes(snapshot: Snapshot, agents: bool = True) -> bytes:
    """The file's content."""
    chip = {
        "cycle": snapshot.cycle, "journal": snapshot.journal, "memory": snapshot.memory_words, "numbering": numbering(),
        "parameters": dict(snapshot.parameters), "version": snapshot.version,
    }
    numbers = np.array(sorted(snapshot.pages), "<u4")
    pages = b"".join(snapshot.pages[int(page)].astype("<u4").tobytes() for page in numbers)
    parts = {
        "CHIP": plain.encode(chip), "STAT": snapshot.state.view(np.uint8).tobytes(), "PAGE": numbers.tobytes() + pages,
        "PORT": plain.encode(ports_to(snapshot.ports)),
        "AGNT": plain.encode([_agent(k, saved) for k, saved in enumerate(snapshot.agents)] if agents else None),
    }
    content = bytearray(MAGIC + VERSION.to_bytes(4, "little"))
    for name in SECTIONS:
        packed = zlib.compress(parts[name], 6)
        section = _HEAD.pack(name.encode(), len(packed), len(parts[name])) + packed
        content += section + zlib.crc32(section).to_bytes(4, "little")
    digest = hashlib.sha256(content).digest()
    section = _HEAD.pack(b"END ", len(digest), len(digest)) + digest
    return bytes(content + section + zlib.crc32(section).to_bytes(4, "little"))


def _agent(number: int, saved: Any) -> Any:
    value = saved.plain() if hasattr(saved, "plain") else saved
    try:
        plain.encode(value)
    except plain.NotPlainError as error:
        raise user_error(
            codes.SNAPSHOT_UNWRITABLE, f"agent {number} of the chip holds what no file can: {error}",
            help="have its `snapshot` give plain values, wait until no timer of it is set, or leave agents out: agents=False",
        ) from None
    return value


# Reading

def load(path: str | Path) -> Snapshot:
    """The snapshot in the file `path`. UserError where it cannot be read, is damaged, or is another version's."""
    name = str(arguments.path("the file of a snapshot", path))
    return from_bytes(read_bytes(name, LARGEST, lambda start: _check_magic(start, name)), name)


def from_bytes(content: bytes, name: str = "snapshot") -> Snapshot:
    """The snapshot that `content` is the file of; `name` stands in messages."""
    _check_magic(content, name)
    version = int.from_bytes(content[8:12], "little")
    if len(content) < 12:
        raise _damaged(name, 8, "the version", "the file ends in it")
    if version != VERSION:
        raise _other(name, f"its layout has the version {version}, and this program reads {VERSION}")
    parts: dict[str, bytes] = {}
    at = 12
    for section in SECTIONS:
        parts[section], at = _section(content, at, section, name)
    digest, end = _section(content, at, "END ", name)
    if digest != hashlib.sha256(content[:at]).digest():
        raise _damaged(name, at, "section END", "its digest is not that of what is before it")
    if end != len(content):
        raise _damaged(name, end, "the end", f"{len(content) - end} bytes follow it")
    return _snapshot(parts, name)


def _check_magic(start: bytes, name: str) -> None:
    if start[:8] != MAGIC:
        raise _damaged(
            name, 0, "the beginning", "a snapshot's first bytes are 89 49 58 50 0d 0a 1a 0a", "it is no snapshot's file")


def _section(content: bytes, at: int, wanted: str, name: str) -> tuple[bytes, int]:
    """The bytes of the section that begins at `at`, unpacked, and where the next one begins."""
    what = f"section {wanted.strip()}"
    body = at + _HEAD.size
    if body > len(content):
        raise _damaged(name, at, what, "the file ends before it or in its first bytes")
    letters, packed, size = _HEAD.unpack_from(content, at)
    if letters != wanted.encode():
        raise _damaged(name, at, what, f"there is {letters!r} in its place")
    if size > LARGEST or packed > len(content) - body - 4:
        raise _damaged(name, at + 4, what, "it would reach beyond the end of the file")
    end = body + packed
    if zlib.crc32(content[at:end]) != int.from_bytes(content[end : end + 4], "little"):
        raise _damaged(name, at, what, "its bytes are not those that were written (CRC-32)")
    if wanted == "END ":
        return content[body:end], end + 4
    unpacker = zlib.decompressobj()
    try:
        unpacked = unpacker.decompress(content[body:end], size + 1)
    except zlib.error as error:
        raise _damaged(name, body, what, f"it cannot be unpacked: {error}") from None
    if len(unpacked) != size or not unpacker.eof:
        raise _damaged(name, body, what, f"it has not the {size} bytes that it says")
    return unpacked, end + 4


def _snapshot(parts: Mapping[str, bytes], name: str) -> Snapshot:
    """What the sections say, each of which is as it was written. Who wrote them may have been another program."""
    try:
        chip = plain.decode(parts["CHIP"])
        if chip["numbering"] != numbering():
            raise _other(name, "its state is that of another version of the engine")
        parameters: dict[str, int] = chip["parameters"]
        memory = int(chip["memory"])
        size = layout_for(parameters["chip.microengines"], parameters["chip.control_store_words"])
        form = new_state(*size).view(np.ndarray).dtype
        if len(parts["STAT"]) != form.itemsize:
            raise ValueError("its state is of another size")
        state = np.frombuffer(bytearray(parts["STAT"]), np.uint8).view(form)
        pages = _pages(parts["PAGE"], memory)
        agents = plain.decode(parts["AGNT"])
        ports = ports_from(plain.decode(parts["PORT"]))
        return Snapshot(int(chip["version"]), int(chip["cycle"]), state, pages, memory, parameters, int(chip["journal"]), ports,
                        tuple(agents or ()))
    except (plain.NotPlainError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise _other(name, f"what it holds is not what this program writes: {error}") from None


def _pages(content: bytes, memory: int) -> dict[int, Any]:
    count, rest = divmod(len(content), 4 + 4 * PAGE_WORDS)
    numbers = np.frombuffer(content, "<u4", count).astype(np.int64)
    if rest or (count and (int(numbers.max()) >= memory // PAGE_WORDS or bool((np.diff(numbers) <= 0).any()))):
        raise ValueError("pages that the memory does not have")
    words = np.frombuffer(content, "<u4", offset=4 * count).reshape(count, PAGE_WORDS).astype(np.uint32)
    return dict(zip(numbers.tolist(), words, strict=True))


def _damaged(name: str, at: int, what: str, why: str, said: str | None = None) -> UserError:
    return user_error(
        codes.SNAPSHOT_DAMAGED, f"{name}: {said if said is not None else 'the snapshot is damaged'}: {what}, at byte {at}: {why}",
        help=_AGAIN if said is None else "give a file that Snapshot.save has written",
    )


def _other(name: str, why: str) -> UserError:
    return user_error(codes.SNAPSHOT_FOREIGN, f"{name}: the snapshot is of another version: {why}",
                      help="make it again with this version")
