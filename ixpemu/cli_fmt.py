"""`ixpemu fmt`."""

from __future__ import annotations

import codecs
import difflib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from ixpemu import codes
from ixpemu.cli_support import read_standard, report_error, usage_error, write_standard
from ixpemu.diagnostics import AssemblyError, UserError, user_error
from ixpemu.files import MOST_TEXT, SOURCE_SUFFIXES, decode, read_bytes, write_atomically

STANDARD = Path("-")
_UNCHANGED, _CHANGED, _REFUSED = range(3)


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command("fmt")(format_command)


def format_command(
    paths: Annotated[
        list[Path], typer.Argument(metavar="FILE|FOLDER...", help="Sources, folders with .uc files at any depth, or - for "
                                   "standard input.", show_default=False)
    ],
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; name the files that would change, with exit code 1.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Write nothing; print what would change.")] = False,
) -> None:
    """Lay sources out in one way: blanks change and nothing else, so that the words stay the same."""
    if STANDARD in paths and len(paths) > 1:
        raise usage_error("- stands for standard input, and stands alone")
    if paths == [STANDARD]:
        worst = _one(None, check, diff)
    else:
        worst = max([_one(path, check, diff) for path in source_files(paths)], default=_UNCHANGED)
    if worst == _REFUSED or (worst == _CHANGED and check):
        raise typer.Exit(1)


def source_files(paths: Sequence[Path]) -> Iterator[Path]:
    """The files that are named, and the sources in the folders that are, each once."""
    seen: set[Path] = set()
    for path in paths:
        found = sorted(entry for entry in path.rglob("*.uc") if entry.is_file()) if path.is_dir() else [path]
        if not found:
            raise usage_error(f"there is no .uc file in {path}", "name the files, or another folder")
        for entry in found:
            if entry.resolve() not in seen:
                seen.add(entry.resolve())
                yield entry


def _one(path: Path | None, check: bool, diff: bool) -> int:
    """Lays out a file, or standard input for None. What does not hold together is reported and left as it is."""
    from ixpemu.asm.formatting import format_text

    name = "<standard input>" if path is None else str(path)
    try:
        if path is not None and path.suffix.lower() not in SOURCE_SUFFIXES:
            raise usage_error(f"{path} is no source by its name", f"sources are {', '.join(SOURCE_SUFFIXES)}; any other file can "
                              "come from standard input: ixpemu fmt - < FILE")
        content = read_standard() if path is None else read_bytes(path, MOST_TEXT)
        text, encoding = decode(content), _encoding(content)
        if _encoded(text, encoding) != content:
            raise user_error(codes.FILE_UNREADABLE, f"{name} is no valid {encoding}", help="write it in UTF-8")
        try:
            formatted = format_text(text, name)
        except AssemblyError:
            if path is None and not check and not diff:
                write_standard(content)         # a filter gives back what it cannot lay out
            raise
        if path is None and not check and not diff:
            write_standard(_encoded(formatted, encoding))
            return _CHANGED if formatted != text else _UNCHANGED
        if formatted == text:
            return _UNCHANGED
        if diff:
            sys.stdout.writelines(_difference(name, text, formatted))
        if check:
            sys.stderr.write(f"{name} is not laid out\n")
        elif path is not None and not diff:
            write_atomically(path, _encoded(formatted, encoding))
        return _CHANGED
    except UserError as error:
        report_error(error)
        return _REFUSED


def _difference(name: str, before: str, after: str) -> Iterator[str]:
    for line in difflib.unified_diff(before.splitlines(), after.splitlines(), name, f"{name}, laid out", lineterm=""):
        yield f"{line}\n"


def _encoding(content: bytes) -> str:
    """The encoding that `decode` reads the content in; the mark at its beginning is put back by `_encoded`."""
    for mark, name in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"), (codecs.BOM_UTF8, "utf-8-sig")):
        if content.startswith(mark):
            return name
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


def _encoded(text: str, encoding: str) -> bytes:
    if encoding.startswith("utf-16"):
        return (codecs.BOM_UTF16_LE if encoding.endswith("le") else codecs.BOM_UTF16_BE) + text.encode(encoding)
    return text.encode(encoding)
