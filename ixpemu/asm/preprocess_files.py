"""`#include`: where a file is looked for, and its lines, read once.

Which file includes which, and how deep, is watched here; running the lines is `preprocess`'s.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ixpemu import resources
from ixpemu.asm.findings import Findings
from ixpemu.asm.preprocess_text import Substitution
from ixpemu.asm.source import Line, logical_lines
from ixpemu.codes import FILE_UNREADABLE, HASH_MALFORMED, INCLUDE_CYCLE, INCLUDE_MISSING
from ixpemu.diagnostics import Note, Origin, Sources, UserError
from ixpemu.files import MOST_TEXT, decode, read_bytes, split_lines

DEEPEST = 50        # files within files
MOST_OPENED = 16    # times that one file may be open within itself
_INCLUDE = re.compile(r"""\s*(?:"([^"]+)"|'([^']+)'|<([^>]+)>)\s*$""")


class Opened(NamedTuple):
    """A file that is being read, and the #include that named it, None for the first."""

    path: Path
    origin: Origin | None = None


class Files:
    """Finds and reads included files. The text of each goes to `sources`, for messages."""

    def __init__(self, include: Sequence[Path], sources: Sources, substitution: Substitution, findings: Findings) -> None:
        self._include = include
        self._sources = sources
        self._substitution = substitution
        self._findings = findings
        self._lines_of: dict[Path, list[Line]] = {}

    def text(self, file: str, text: str) -> list[Line]:
        """The lines of a text that is there already."""
        self._sources.lines[file] = split_lines(text)
        return logical_lines(file, text, self._findings)

    def include(self, line: Line, start: int, within: tuple[Opened, ...]) -> tuple[Opened, list[Line]] | None:
        """The file that an `#include` names, with its lines; None after a message. `within` are the files being read."""
        rest = self._substitution.line(line, start)
        if rest is None:
            return None
        match = _INCLUDE.match(line.text, start) or _INCLUDE.match(rest.text, start)
        if match is None:
            self._findings.error(
                HASH_MALFORMED, "#include needs a file name", line.whole(),
                help='write `#include "file.uc"` or `#include <file.uc>`',
            )
            return None
        name = match.group(1) or match.group(2) or match.group(3)
        where = (line if match.string is line.text else rest).origin(
            match.start(match.lastindex or 0), match.end(match.lastindex or 0)
        )
        # The shipped macros come last: a folder of the user's may have a file of the same name.
        library = resources.folder("microcode") / "lib"
        beside = [] if match.group(3) or line.file[:1] == "<" else [Path(line.file).parent]
        folders = list(dict.fromkeys([*beside, *self._include, library]))
        path = next((folder / name for folder in folders if _is_file(folder / name)), None)
        if path is None:
            looked = ", ".join(str(folder) for folder in folders[:-1])
            looked = f"{looked} and in the shipped microcode/lib" if looked else "the shipped microcode/lib"
            self._findings.error(
                INCLUDE_MISSING, f"there is no file `{name}`", where, help=f"looked in {looked}; -I adds folders"
            )
            return None
        resolved = path.resolve()
        if sum(opened.path == resolved for opened in within) >= MOST_OPENED or len(within) >= DEEPEST:
            self._report_cycle(name, resolved, within, where)
            return None
        return Opened(resolved, where), self._read(path, resolved, where)

    def _report_cycle(self, name: str, resolved: Path, within: Sequence[Opened], where: Origin) -> None:
        """A file that is open already may be included once more, since a guard may stop it; here none has."""
        repeats = [index for index, opened in enumerate(within) if opened.path == resolved]
        if not repeats:
            self._findings.error(INCLUDE_CYCLE, f"files include one another more than {DEEPEST} deep", where)
            return
        cycle = within[repeats[0]:repeats[1]] if len(repeats) > 1 else within[repeats[0]:]
        chain = " -> ".join(opened.path.name for opened in (*cycle, cycle[0]))
        notes = tuple(Note(f"`{opened.path.name}` is included here", opened.origin) for opened in cycle[1:][:3] if opened.origin)
        self._findings.error(
            INCLUDE_CYCLE, f"`{name}` includes itself without end: {chain}", where, notes=notes,
            help="protect it: #ifndef NAME, #define NAME, ..., #endif",
        )

    def _read(self, path: Path, resolved: Path, where: Origin) -> list[Line]:
        known = self._lines_of.get(resolved)
        if known is not None:
            return known
        try:
            text = decode(read_bytes(path, MOST_TEXT))
        except UserError as error:
            self._findings.error(FILE_UNREADABLE, error.diagnostics[0].message, where)
            return []
        lines = self._lines_of[resolved] = self.text(str(path), text)
        return lines


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):       # a name no file system takes
        return False
