"""Plain values as bytes and back: what a file may hold of a program's state without ever running anything of it.

Plain are None, truth values, whole numbers of any size, fractions, texts, bytes, arrays of numbers, and tuples, lists and
mappings of these. They are written as JSON with bytes and arrays behind it:

    4 bytes     length of the JSON, least significant byte first
    JSON        as it is for None, truth values, numbers, texts and lists; the others are objects of one name:
                {"tuple": [...]}, {"map": [[key, value], ...]}, {"bytes": [offset, length]},
                {"array": ["<u4", [rows, ...], offset, length]}
    bytes       what the offsets count in

Reading makes nothing but plain values. Not here: any other type, which is refused by name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from ixpemu.arguments import shown

_ATOMS = (bool, int, float, str)
_ARRAYS = frozenset(np.dtype(f"<{kind}").str for kind in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")) | {"|b1"}


class NotPlainError(Exception):
    """What was to be written holds a value of another kind, or what was to be read is no such thing. The text says which."""


def encode(value: Any) -> bytes:
    """The bytes of a plain value; `NotPlainError` for any other."""
    rest = bytearray()
    try:
        text = json.dumps(_written(value, rest), separators=(",", ":"), ensure_ascii=True)
    except (RecursionError, ValueError) as error:
        raise NotPlainError(f"it cannot be written: {error}") from None
    return len(text).to_bytes(4, "little") + text.encode() + bytes(rest)


def decode(content: bytes) -> Any:
    """The value that `encode` has written; `NotPlainError` for what it never writes."""
    size = int.from_bytes(content[:4], "little")
    if len(content) < 4 + size:
        raise NotPlainError("it is cut short")
    try:
        found = json.loads(content[4 : 4 + size].decode("ascii"))
        return _read(found, memoryview(content)[4 + size :])
    except (ValueError, TypeError, RecursionError) as error:      # of JSON, of what is in it, of numpy
        raise NotPlainError(str(error)) from None


def _written(value: Any, rest: bytearray) -> Any:
    if value is None or type(value) in _ATOMS:
        return value
    if isinstance(value, np.generic):
        return _written(value.item(), rest)
    if type(value) is list:
        return [_written(item, rest) for item in value]
    if type(value) is tuple:
        return {"tuple": [_written(item, rest) for item in value]}
    if isinstance(value, bytes | bytearray):
        rest += value
        return {"bytes": [len(rest) - len(value), len(value)]}
    if isinstance(value, Mapping):
        return {"map": [[_written(key, rest), _written(item, rest)] for key, item in value.items()]}
    if isinstance(value, np.ndarray) and value.dtype.newbyteorder("<").str in _ARRAYS:
        content = value.astype(value.dtype.newbyteorder("<")).tobytes()
        rest += content
        return {"array": [value.dtype.newbyteorder("<").str, list(value.shape), len(rest) - len(content), len(content)]}
    raise NotPlainError(f"{shown(value)} is a {type(value).__name__}, and no plain value")


def _read(value: Any, rest: memoryview) -> Any:
    if isinstance(value, list):
        return [_read(item, rest) for item in value]
    if not isinstance(value, dict):
        return value
    ((kind, inside),) = value.items()
    if kind == "tuple":
        return tuple(_read(item, rest) for item in inside)
    if kind == "map":
        return {_read(key, rest): _read(item, rest) for key, item in inside}
    if kind == "bytes":
        return bytes(_part(rest, *inside))
    if kind == "array":
        form, shape, at, size = inside
        if form not in _ARRAYS:
            raise ValueError(f"arrays of {form} are not plain")
        return np.frombuffer(_part(rest, at, size), form).reshape(shape).copy()
    raise ValueError(f"a value of a kind {kind!r} that does not exist")


def _part(rest: memoryview, at: int, size: int) -> memoryview:
    if at < 0 or size < 0 or at + size > len(rest):
        raise ValueError("bytes beyond the end")
    return rest[at : at + size]
