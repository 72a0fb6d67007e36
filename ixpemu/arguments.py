"""What somebody gives a function of the public Python interface, checked: the wrong type or range is a `UserError` at once.

Each function takes what it is called in the message, gives back the value in the type that is worked with, and raises with what
was expected. Checks of contents (a file, a program) are their readers'.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from operator import index
from pathlib import Path
from typing import Any

from ixpemu import codes
from ixpemu.diagnostics import UserError, user_error

_MANY = 1 << 256          # no number that somebody gives is larger


def shown(value: object) -> str:
    """A value of any kind in a message, in part if it is long."""
    text = f"{value!r:.60}"
    return text if len(text) < 60 else f"{text[:57]}..."


def wrong(what: str, value: object, help: str, code: int = codes.ARGUMENT_VALUE) -> UserError:
    """The error for a value that `what` cannot be."""
    return user_error(code, f"{what} cannot be {shown(value)}", help=help)


def whole(
    what: str, value: Any, low: int = 0, high: int = _MANY, *, code: int = codes.ARGUMENT_VALUE, help: str | None = None
) -> int:
    """A whole number from `low` to `high`; numpy's count, truth values and fractions do not."""
    try:
        number = None if isinstance(value, bool) else index(value)
    except TypeError:
        number = None
    if number is None or not low <= number <= high:
        reach = f"{low} or more" if high >= _MANY else f"{low:,} to {high:,}"
        raise wrong(what, value, help if help is not None else f"give a whole number, {reach}", code)
    return number


def word(what: str, value: Any) -> int:
    """A whole number as 32 bits: what does not fit is cut off, negative numbers are two's complement."""
    return whole(what, value, -_MANY, _MANY, help="give a whole number; its lower 32 bits count") & 0xFFFFFFFF


def words(what: str, values: Any, help: str = "give whole numbers; the lower 32 bits of each count") -> list[int]:
    """Several of them, from anything that can be gone through."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise wrong(what, values, help)
    return [word(what, value) for value in values]


def number(what: str, value: Any, help: str, code: int = codes.ARGUMENT_VALUE) -> float:
    """A number above 0 that is finite."""
    try:
        found = None if isinstance(value, bool | str | bytes) else float(value)
    except (TypeError, ValueError, OverflowError):
        found = None
    if found is None or not 0 < found < float("inf"):
        raise wrong(what, value, help, code)
    return found


def path(what: str, value: Any) -> Path:
    """A path, given as text or as a path."""
    if not isinstance(value, str | os.PathLike) or not isinstance(os.fspath(value), str) or not os.fspath(value):
        raise wrong(what, value, "give a path, as text or as a Path")
    return Path(value)


def text(what: str, value: Any, help: str = "give a text") -> str:
    """A text."""
    if not isinstance(value, str):
        raise wrong(what, value, help)
    return value


def texts(what: str, values: Any) -> list[Any]:
    """Several texts, or one alone. What is in the list is its reader's to check."""
    if isinstance(values, str):
        return [values]
    if not isinstance(values, Iterable):
        raise wrong(what, values, "give a list of texts")
    return list(values)


def octets(what: str, value: Any) -> bytes:
    """Bytes, from anything that holds bytes."""
    if not isinstance(value, bytes | bytearray | memoryview):
        raise wrong(what, value, "give bytes")
    return bytes(value)


def function(what: str, value: Any, form: str, code: int = codes.ARGUMENT_VALUE) -> Callable[..., Any]:
    """Something that can be called."""
    if not callable(value):
        raise wrong(what, value, f"give a function, for instance  {form}", code)
    return value  # type: ignore[no-any-return]     # callable() is all that can be known of it


def mapping(what: str, value: Any, form: str) -> dict[Any, Any]:
    """A dict or the like, None for an empty one."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise wrong(what, value, f"give a dict: {form}")
    return dict(value)


def folders(what: str, value: Any) -> list[Path]:
    """Several paths, or one."""
    if isinstance(value, str | os.PathLike):
        return [path(what, value)]
    if not isinstance(value, Iterable):
        raise wrong(what, value, "give a list of folders")
    return [path(what, each) for each in value]
