"""`ixpemu lint`: what can be told of a source without running it, and `--fix`, which mends what can be mended without a doubt.

Exit codes: 0 nothing to tell; 1 there is something, of any level, that `--fix` has not mended; 2 a wrong command line. With
`--diff` 1 says that there is a difference, or that something would be left.
"""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ixpemu import codes
from ixpemu.cli_asm import STANDARD, Messages, check_includes, definitions
from ixpemu.cli_fmt import source_files
from ixpemu.cli_support import announce, read_standard, report_error, show_diagnostics, usage_error
from ixpemu.diagnostics import Diagnostic, Edit, UserError
from ixpemu.files import MOST_TEXT, decode, read_bytes, split_lines, write_atomically

if TYPE_CHECKING:
    from ixpemu.asm.fixes import Checked, Mended

_ENCODINGS = ("utf-8", "utf-8-sig", "latin-1")
_ENOUGH = 500       # errors that are looked at while texts are mended


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command("lint")(lint_command)


def lint_command(
    paths: Annotated[
        list[Path], typer.Argument(metavar="FILE|FOLDER...", help="Sources, folders with .uc files at any depth, or - for "
                                   "standard input.", show_default=False)
    ],
    include: Annotated[
        list[Path] | None, typer.Option("-I", metavar="DIR", help="A folder for #include, as for ixpemu asm.")
    ] = None,
    define: Annotated[list[str] | None, typer.Option("-D", metavar="NAME=V", help="Define NAME as if by #define.")] = None,
    require_declarations: Annotated[bool, typer.Option("-R", help="Registers have to be declared.")] = False,
    fix: Annotated[bool, typer.Option("--fix", help="Mend in the file what can be mended without a doubt.")] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Print what --fix would change, and change nothing; exit code 1 if that is anything.")
    ] = False,
    messages: Messages = "full",
) -> None:
    """Say everything that can be said of a source before it runs; exit code 1 if there is anything."""
    if fix and diff:
        raise usage_error("--fix and --diff exclude each other", "--diff only shows")
    if STANDARD in paths and (fix or diff or len(paths) > 1):
        raise usage_error("- stands alone, and cannot be mended", "leave --fix, --diff and the other files out")
    check_includes(include or [])
    defined = definitions(define or [])
    text = decode(read_standard()) if STANDARD in paths else None
    files = paths if STANDARD in paths else list(source_files(paths))
    left: list[Diagnostic] = []
    worst = 0
    for file in files:
        checker = _Checker(file, include or [], defined, require_declarations)
        try:
            if diff:
                worst = max(worst, _difference(checker))
            else:
                left += _mend(checker) if fix else checker.check(text).diagnostics
        except UserError as error:
            if len(files) == 1:
                raise typer.Exit(report_error(error, messages)) from error
            left += error.diagnostics
    if not diff:
        show_diagnostics(left, messages, sys.stdout)
    if left or worst:
        raise typer.Exit(max(worst, 1))


class _Checker:
    """Assembles texts in the place of a file."""

    def __init__(
        self, file: Path, include: Sequence[Path], define: Mapping[str, int | str | None], require_declarations: bool
    ) -> None:
        self.file = file
        self._include = include
        self._define = define
        self._required = require_declarations

    def check(self, text: str | None, limit: int | None = None) -> Checked:
        """What is said of a text, or of the file as it is."""
        from ixpemu.asm.findings import MOST_ERRORS, Findings, Stopped
        from ixpemu.asm.fixes import Checked, Reached
        from ixpemu.asm.front import read_program
        from ixpemu.asm.pipeline import back_end
        from ixpemu.asm.unused import report

        findings = Findings(MOST_ERRORS if limit is None else limit)
        reached = Reached.STATEMENTS
        try:
            program = read_program(
                self.file, text=text, include=self._include, define=self._define, findings=findings,
                require_declarations=self._required,
            )
            report(program, str(self.file), findings)
            reached = Reached.REGISTERS
            image = back_end(program, findings).image
        except Stopped:
            return Checked(tuple(findings.diagnostics), reached)
        except UserError as error:
            return Checked(error.diagnostics, reached)
        return Checked(tuple(findings.diagnostics), Reached.WORDS, tuple(image.values))


def _mended(checker: _Checker, content: bytes) -> tuple[str, str, Mended]:
    """The text of a file, its encoding, and what it is after everything was mended that can be."""
    from ixpemu.asm.fixes import mend

    text = decode(content)
    encoding = next((name for name in _ENCODINGS if _is(text, name, content)), None)
    if encoding is None:
        raise _refused(checker.file, "is neither UTF-8 nor Latin-1, and cannot be written back as it is", "write it in UTF-8")
    return text, encoding, mend(str(checker.file), text, lambda changed: checker.check(changed, _ENOUGH))


def _mend(checker: _Checker) -> tuple[Diagnostic, ...]:
    """Mends the file; what is left to say of it."""
    content = read_bytes(checker.file, MOST_TEXT)
    text, encoding, done = _mended(checker, content)
    if done.text != text:
        if read_bytes(checker.file, MOST_TEXT) != content:
            raise _refused(checker.file, "has been changed meanwhile: nothing was written")
        write_atomically(checker.file, done.text.encode(encoding))
        for edit in sorted((edit for found in done.mended for edit in found.edits), key=lambda edit: (edit.line, edit.column)):
            announce(f"mended {edit.file}:{edit.line}:{edit.column}: {_said(edit)}")
    left = checker.check(done.text).diagnostics         # once more with the usual limit of errors
    _say_what_is_left(checker.file, left)
    return left


def _said(edit: Edit) -> str:
    """An edit in words."""
    return f"`{edit.written}` is now `{edit.text}`" if edit.text else f"`{edit.written}` is gone"


def _say_what_is_left(file: Path, left: Sequence[Diagnostic]) -> None:
    """Where edits are known and were not made."""
    others = sorted({edit.file for found in left for edit in found.edits if edit.file != str(file)})
    for name in others:
        announce(f"not mended: {name}, which other programs may include; ixpemu lint --fix {name} mends it by itself")
    macros = sum(1 for found in left if not found.edits and found.origin is not None and found.origin.expansions)
    if macros:
        announce(f"not mended: {macros} in macros, whose bodies stand for all their expansions")


def _difference(checker: _Checker) -> int:
    """Prints what would be changed; the exit code, 1 if that is anything."""
    text, _, done = _mended(checker, read_bytes(checker.file, MOST_TEXT))
    name = os.fspath(checker.file)
    for line in difflib.unified_diff(split_lines(text), split_lines(done.text), name, f"{name} (mended)", lineterm=""):
        sys.stdout.write(f"{line}\n")
    if done.left:
        announce(f"{_messages(len(done.left))} would be left: ixpemu lint {name} shows them")
    return int(done.text != text or bool(done.left))


def _messages(count: int) -> str:
    """A number of messages in words."""
    return f"{count} message{'' if count == 1 else 's'}"


def _is(text: str, encoding: str, content: bytes) -> bool:
    """Whether the text in this encoding is what was read."""
    try:
        return text.encode(encoding) == content
    except UnicodeEncodeError:
        return False


def _refused(file: Path, why: str, help: str = "run it again") -> UserError:
    return UserError(Diagnostic(codes.FILE_UNWRITABLE, f"{file} {why}", help=help))
