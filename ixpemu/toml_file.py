"""TOML files that a user writes, read so that every complaint can name the line and column of the key it is about.

`tomllib` reads the values but forgets where they stood; `places` walks the same text once more for the positions. `Table` is
a view of one table that knows its place and refuses unknown keys. It knows nothing of applications, chips or traffic.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ixpemu import codes
from ixpemu.diagnostics import Diagnostic, Origin, Span, UserError, user_error

Key = tuple[str | int, ...]
Scalar = TypeVar("Scalar", bool, int, float, str)

_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
      | (?P<long>\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}.*?'{3})
      | (?P<string>"(?:[^"\\\n]|\\.)*"|'[^'\n]*')
      | (?P<newline>\n)
      | (?P<space>[ \t\r]+)
      | (?P<mark>[\[\]{}=,.])
      | (?P<bare>[^\s\[\]{}=,.\#"']+)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class _Piece:
    kind: str
    text: str
    at: int

    @property
    def name(self) -> str:
        """The key this piece spells, quotes removed (escapes in keys are left as they are: nobody writes them)."""
        return self.text[1:-1] if self.kind == "string" else self.text


class _Walker:
    """Follows the structure of a text that tomllib has already accepted and notes where each key stands."""

    def __init__(self, text: str) -> None:
        self.found: dict[Key, tuple[int, int]] = {}
        self.counts: dict[Key, int] = {}
        self.pieces = [
            _Piece(str(m.lastgroup), m.group(), m.start())
            for m in _TOKEN.finditer(text)
            if m.lastgroup not in ("comment", "space")
        ]
        self.next = 0

    def peek(self) -> _Piece | None:
        return self.pieces[self.next] if self.next < len(self.pieces) else None

    def take(self) -> _Piece | None:
        piece = self.peek()
        self.next += 1
        return piece

    def skip_lines(self) -> None:
        while (piece := self.peek()) is not None and piece.kind == "newline":
            self.next += 1

    def note(self, key: Key, piece: _Piece) -> None:
        self.found.setdefault(key, (piece.at, len(piece.text)))

    def dotted(self, base: Key) -> Key:
        """A possibly dotted key; every prefix of it is noted as well."""
        key = base
        while (piece := self.peek()) is not None and piece.kind in ("bare", "string"):
            self.next += 1
            key = (*key, piece.name)
            if key in self.counts:      # the last element of an array of tables
                key = (*key, self.counts[key])
            self.note(key, piece)
            following = self.peek()
            if following is None or following.text != ".":
                break
            self.next += 1
        return key

    def header(self) -> Key:
        """`[a.b]` or `[[a.b]]`, whose first bracket is already taken."""
        array = (piece := self.peek()) is not None and piece.text == "["
        if not array:
            key = self.dotted(())
            self.next += 1
            return key
        self.next += 1
        names: list[_Piece] = []
        while (piece := self.take()) is not None and piece.text != "]":
            if piece.kind in ("bare", "string"):
                names.append(piece)
        self.next += 1
        key = ()
        for piece in names[:-1]:
            key = (*key, piece.name)
            if key in self.counts:
                key = (*key, self.counts[key])
        key = (*key, names[-1].name)
        self.counts[key] = self.counts.get(key, -1) + 1
        self.note(key, names[-1])
        key = (*key, self.counts[key])
        self.note(key, names[-1])
        return key

    def pair(self, base: Key) -> None:
        key = self.dotted(base)
        self.take()         # the equals sign
        self.value(key)

    def value(self, key: Key) -> None:
        piece = self.take()
        if piece is None:
            return
        self.note(key, piece)
        if piece.text == "{" and piece.kind == "mark":
            while (piece := self.peek()) is not None and piece.text != "}":
                if piece.text == "," or piece.kind == "newline":
                    self.next += 1
                else:
                    self.pair(key)
            self.next += 1
        elif piece.text == "[" and piece.kind == "mark":
            index = 0
            while (piece := self.peek()) is not None and piece.text != "]":
                if piece.text == "," or piece.kind == "newline":
                    self.next += 1
                else:
                    self.value((*key, index))
                    index += 1
            self.next += 1
        else:           # a number such as 1.0 comes as several pieces
            while (piece := self.peek()) is not None and piece.kind != "newline" and piece.text not in (",", "]", "}"):
                self.next += 1

    def run(self) -> dict[Key, tuple[int, int]]:
        base: Key = ()
        self.skip_lines()
        while (piece := self.peek()) is not None:
            if piece.text == "[" and piece.kind == "mark":
                self.next += 1
                base = self.header()
            else:
                self.pair(base)
            self.skip_lines()
        return self.found


def places(text: str, file: str) -> dict[Key, Span]:
    """The place of every key (and array element) of `text`, a valid TOML document, by its path from the root."""
    starts = [0] + [m.end() for m in re.finditer("\n", text)]
    spans: dict[Key, Span] = {}
    line = 0
    for key, (at, length) in sorted(_Walker(text).run().items(), key=lambda item: item[1]):
        while line + 1 < len(starts) and starts[line + 1] <= at:
            line += 1
        spans[key] = Span(file, line + 1, at - starts[line] + 1, length)
    return spans


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word that `word` most looks like, for a suggestion; None where nothing is near."""
    near = difflib.get_close_matches(word.lower(), list(known), n=1, cutoff=0.55)
    return near[0] if near else None


@dataclass(slots=True)
class Table:
    """One table of a file: values by key, its path from the root, and what is known of places."""

    values: dict[str, Any]
    path: Key
    file: str
    spans: dict[Key, Span]

    def origin(self, *key: str | int) -> Origin:
        """The place of a key of this table, or the nearest enclosing one that is known."""
        path = (*self.path, *key)
        while path and path not in self.spans:
            path = path[:-1]
        return Origin(self.spans.get(path, Span(self.file, 1)))

    def wrong(self, key: str | int | None, message: str, help: str | None = None, code: int = codes.FILE_BAD_VALUE) -> UserError:
        """The error to raise about `key` of this table (None: about the table as a whole)."""
        where = self.origin() if key is None else self.origin(key)
        return UserError(Diagnostic(code, message, origin=where, help=help))

    def name(self) -> str:
        """The table as people call it: `me[0]`, `packets`, or the file itself."""
        text = ""
        for part in self.path:
            text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
        return text or Path(self.file).name

    def allow(self, *known: str, meant: Mapping[str, str] | None = None) -> None:
        """Refuses every key that is not among `known`, all of them in one error. `meant`: what is meant by other words."""
        found = []
        for key in self.values:
            if key not in known:
                near = (meant or {}).get(key.lower()) or closest(key, known)
                advice = f"did you mean {near!r}?" if near else f"known here: {', '.join(sorted(known))}"
                found.append(
                    Diagnostic(codes.FILE_UNKNOWN_KEY, f"{self.name()} has no key {key!r}", origin=self.origin(key), help=advice)
                )
        if found:
            raise UserError(*found)

    def get(self, key: str, kind: type[Scalar]) -> Scalar | None:
        """The value of `key` as `kind`, or None where it is absent; an integer will do for a float."""
        if key not in self.values:
            return None
        value = self.values[key]
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            return kind(value)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self.wrong(key, f"{key} must be {_KINDS[kind]}, not {_kind_of(value)}", f"write  {key} = {_EXAMPLES[kind]}")
        return value

    def need(self, key: str, kind: type[Scalar]) -> Scalar:
        """The value of `key` as `kind`; an error where it is absent."""
        value = self.get(key, kind)
        if value is None:
            raise self.wrong(None, f"{self.name()} lacks the key {key!r}", f"add  {key} = ...", codes.FILE_MISSING_KEY)
        return value

    def table(self, key: str) -> Table:
        """The table under `key`; an empty one where it is absent."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise self.wrong(key, f"{key} must be a table, not {_kind_of(value)}", f"write  {key} = {{ ... }}")
        return Table(value, (*self.path, key), self.file, self.spans)

    def tables(self, key: str) -> Iterator[Table]:
        """The tables of the array under `key`; none where it is absent."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.wrong(key, f"{key} must be an array of tables", f"write  {key} = [ {{ ... }}, {{ ... }} ]")
        for index, item in enumerate(value):
            yield Table(item, (*self.path, key, index), self.file, self.spans)

    def words(self, key: str) -> tuple[str, ...]:
        """The array of strings under `key`; none where it is absent."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.wrong(key, f"{key} must be an array of strings", f'write  {key} = ["...", "..."]')
        return tuple(value)


_KINDS: dict[type, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "a string"}
_EXAMPLES: dict[type, str] = {bool: "true", int: "1", float: "1.0", str: '"..."'}


def _kind_of(value: object) -> str:
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "an array"
    return _KINDS.get(type(value), f"a {type(value).__name__}")


def read(path: Path, what: str) -> Table:
    """The root table of the TOML file `path`. `what` names it in the message when it cannot be read."""
    try:
        text = path.read_bytes().decode("utf-8").replace("\r\n", "\n")
    except OSError as error:
        raise user_error(
            codes.FILE_UNREADABLE, f"{what} {path} cannot be read: {error.strerror}", file=str(path),
            help="check the path and its permissions",
        ) from error
    except UnicodeDecodeError as error:
        raise user_error(codes.FILE_SYNTAX, f"{path} is not UTF-8 text", file=str(path), help="save it as UTF-8") from error
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        line, column = (int(found[1]), int(found[2])) if found else (max(1, text.count("\n")), 1)
        message = re.sub(r" \(at .*\)", "", str(error))
        raise user_error(
            codes.FILE_SYNTAX, f"not a TOML file: {message}", file=str(path), line=line, column=column,
            help="a line is  key = value ; strings are in double quotes",
        ) from error
    return Table(values, (), str(path), places(text, str(path)))
