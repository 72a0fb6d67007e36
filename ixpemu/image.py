"""An assembled program: its 40-bit words, and what a debugger wants to know about them.

The only thing the assembler and the chip share. It holds no machine state and knows no instruction. How images become files is
`ixpemu.image_formats`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from ixpemu import arguments, codes
from ixpemu.diagnostics import UserError, user_error
from ixpemu.image_links import Links

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

CONTROL_STORE_WORDS = 4096      # one IXP2400 microengine; size from the part's public literature, confidence H
WORD_BYTES = 5
WORD_LIMIT = 1 << 40            # first value that is not a word


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a source file; `line` counts from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class WordOrigin:
    """Where one word came from: its source line, its text, and the macro calls around it as (macro, call), innermost first."""

    place: Place
    source: str = ""
    macros: tuple[tuple[str, Place], ...] = ()


@dataclass(frozen=True, slots=True)
class Probe:
    """A `.probe`: before the word at `address` executes, the context works on the packet whose handle is in `key`.

    `key` is a physical register, `a3`, `@b16`; empty where the directive names none."""

    name: str
    address: int
    key: str


@dataclass(frozen=True, slots=True)
class LiveRange:
    """The words `first` to `last`, both included, in which `name` lives in the physical register or signal `register`."""

    name: str
    register: str
    first: int
    last: int


def of_structure(label: str) -> bool:
    """Whether a label was made for an `.if` or a loop, and stands in no source: `s0004!else#`."""
    return re.match(r"s\d{4,}!", label) is not None


class NameUnknown(UserError, KeyError):
    """A name that an image does not have: a `KeyError` to those who ask with `get`."""


class Names(Mapping[str, str]):
    """Where names live: by unique name, `l0000!count`, or by the plain one of the source, `count`, `@count` or `$count`.

    A plain name that several scopes use is refused, with their unique names. Going through it gives the unique names.
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = dict(places)
        self._unique: dict[str, list[str]] = {}
        for name in self._places:
            self._unique.setdefault(_plain(name), []).append(name)

    def __getitem__(self, name: str) -> str:
        found = self._places.get(name)
        if found is not None:
            return found
        unique = self._unique.get(name, [])
        if len(unique) > 1:
            raise user_error(
                codes.NAME_AMBIGUOUS, f"{len(unique)} registers are called {name!r}", help=f"name one of {', '.join(unique)}"
            )
        if not unique:
            near = difflib.get_close_matches(str(name), [*self._unique, *self._places], 1)
            text = f"no register is called {arguments.shown(name)}"
            help = f"did you mean {near[0]!r}?" if near else "a register that is never used has no place"
            raise NameUnknown(*user_error(codes.NAME_UNKNOWN, text, help=help).diagnostics)
        return self._places[unique[0]]

    def __contains__(self, name: object) -> bool:
        return name in self._places or name in self._unique

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        return repr(self._places)


def _plain(unique: str) -> str:
    """The name as the source has it: without the number of its scope."""
    front, mark, name = unique.rpartition("!")
    return front.rstrip("0123456789").removesuffix("l") + name if mark else name


@dataclass(frozen=True, eq=False)       # no slots: the array of words is kept in the object once somebody wants it
class Image:
    """A program for one microengine.

    `values`: the 40-bit words; a control store holds 4,096. `contexts`: 8 or 4. `labels`: name, with its `#`, to word address.
    `registers`: unique name (`l0000!count`) to physical register (`a5`); a name that lives in several has them separated by
    blanks, in order of the text; `Names` finds plain ones too. `ranges`: where each name lives. `debug`: one entry per word, or
    empty. `links`: what the linker and the loader have to do.
    """

    values: tuple[int, ...]
    contexts: int = 8
    labels: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    registers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    debug: tuple[WordOrigin, ...] = ()
    probes: tuple[Probe, ...] = ()
    ranges: tuple[LiveRange, ...] = ()
    links: Links = field(default_factory=Links)

    def __post_init__(self) -> None:
        object.__setattr__(self, "registers", Names(self.registers))

    @classmethod
    def from_words(cls, words: Iterable[int], contexts: int = 8) -> Image:
        """An image of bare words, with no labels and no debug information. UserError for what is no word."""
        return cls(tuple(checked_words(words)), context_mode(contexts))

    @cached_property
    def words(self) -> npt.NDArray[np.uint64]:
        """The words as an array that cannot be changed. Made when it is wanted: an assembly does without numpy."""
        import numpy as np

        words = np.array(self.values, dtype=np.uint64)
        words.flags.writeable = False
        return words

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"<image of {len(self.values):,} words for {self.contexts} contexts>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Image):
            return NotImplemented
        return self._described() == other._described()

    __hash__ = None  # type: ignore[assignment]     # holds mappings

    def _described(self) -> tuple[object, ...]:
        registers = dict(self.registers)
        return self.values, self.contexts, dict(self.labels), registers, self.debug, self.probes, self.ranges, self.links

    def addresses(self, file: str, line: int) -> tuple[int, ...]:
        """Where the execution of a source line begins: the places for a breakpoint.

        `file` is named as in the messages, or by the end of its path. A line that made no word, as one of a label or a comment,
        stands for the next one of the file that did; the line of a macro call for what the expansion made; a line in a macro has
        a place in every expansion. Empty behind the last line that made words. UserError for a file that made none.
        """
        chains = [[entry.place, *(call for _, call in entry.macros)] for entry in self.debug]
        files = {place.file for chain in chains for place in chain}
        named = {file} & files or {one for one in files if Path(one).parts[-len(Path(file).parts):] == Path(file).parts}
        if not named:
            near = difflib.get_close_matches(file, files, 1) or sorted(files)[:1]
            raise user_error(
                codes.NAME_UNKNOWN, f"no word comes from a file {arguments.shown(file)}",
                help=f"did you mean {near[0]!r}?" if near else "the image says nothing of its source",
            )
        lines = {place.line for chain in chains for place in chain if place.file in named and place.line >= line}
        wanted = {Place(one, min(lines)) for one in named} if lines else set()
        tails = [next((chain[at:] for at, place in enumerate(chain) if place in wanted), None) for chain in chains]
        return tuple(at for at, tail in enumerate(tails) if tail is not None and (at == 0 or tails[at - 1] != tail))

    def save(self, path: str | Path, format: str | None = None) -> None:
        """Write the image to `path` as `ixp`, `words`, `ucode-c` or `bin`; by default as the suffix says, else as `ixp`."""
        from ixpemu.image_formats import save

        save(self, arguments.path("the file of an image", path), format)

    def as_bytes(self, format: str = "ixp") -> bytes:
        """What `save` would write."""
        from ixpemu.image_formats import to_bytes

        return to_bytes(self, format)

    @classmethod
    def from_bytes(cls, content: bytes, format: str = "ixp", name: str = "image", contexts: int = 8) -> Image:
        """The image in the content of a file; `name` stands in messages."""
        from ixpemu.image_formats import from_bytes

        return from_bytes(arguments.octets("the content of an image", content), format, name, context_mode(contexts))

    @classmethod
    def load(cls, path: str | Path, format: str | None = None, contexts: int = 8) -> Image:
        """Read an image. `contexts` counts only for formats that do not record it. `UserError` for anything not well formed."""
        from ixpemu.image_formats import load

        return load(arguments.path("the file of an image", path), format, context_mode(contexts))


def checked_words(words: Iterable[int]) -> list[int]:
    """Instruction words from anything that can be gone through. UserError with the address of what is none."""
    if isinstance(words, str | bytes) or not isinstance(words, Iterable):
        raise arguments.wrong("a program", words, "give a list of whole numbers, 40 bits each", codes.PROGRAM_UNUSABLE)
    found = []
    for address, word in enumerate(words):
        if isinstance(word, bool) or not hasattr(word, "__index__"):
            raise user_error(codes.PROGRAM_UNUSABLE, f"word {address} is {arguments.shown(word)}, and not a whole number",
                             help="write each word as a number from 0 to 0xffffffffff")
        found.append(int(word))
        if not 0 <= found[-1] < WORD_LIMIT:
            raise user_error(codes.PROGRAM_UNUSABLE, f"word {address} is {found[-1]:#x}, and an instruction has 40 bits",
                             help="write each word as a number from 0 to 0xffffffffff")
    return found


def context_mode(contexts: int) -> int:
    """4 or 8. UserError for anything else."""
    if isinstance(contexts, bool) or contexts not in (4, 8):
        raise arguments.wrong("the number of contexts", contexts, "a microengine runs 4 or 8", codes.ME_UNKNOWN)
    return int(contexts)
