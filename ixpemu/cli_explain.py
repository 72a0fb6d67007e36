"""`ixpemu explain`: what a diagnostic means, with a wrong and a right example; or what an instruction does.

The texts are those of `explanations` and of the instruction reference.
"""

from __future__ import annotations

import difflib
import shutil
import sys
import textwrap
from typing import Annotated

import typer

from ixpemu import codes
from ixpemu.cli_support import show_json, usage_error
from ixpemu.diagnostics import UserError
from ixpemu.explanations import FAMILIES, OPTIONS, Explanation, alike, code_of, explanation

_WIDEST = 100           # characters of a line of prose


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command("explain")(explain_command)


def explain_command(
    name: Annotated[
        str | None, typer.Argument(metavar="CODE|MNEMONIC", help="A code such as IXP4001 or 4001, or an instruction; all "
                                   "codes, if not given.", show_default=False)
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the explanation, or the list, as JSON.")] = False,
) -> None:
    """Explain a diagnostic: what it means, why, a wrong example and a right one. Without a code: the list of all."""
    if name is None:
        if json:
            show_json([{"code": codes.label(code), "title": title} for code, title in sorted(codes.TITLES.items())])
        else:
            sys.stdout.write(_list())
        return
    number = code_of(name)
    found = None if number is None else explanation(number)
    if found is None:
        text = None if number is not None else _instruction(name) or _word(name)
        if text is None:
            raise _unknown(name)
        if json:
            show_json({"name": name.lower(), "text": text})
        else:
            sys.stdout.write(text)
    elif json:
        show_json(found.as_json())
    else:
        sys.stdout.write(text_of(found, min(shutil.get_terminal_size((_WIDEST, 0)).columns, _WIDEST)))


def text_of(found: Explanation, width: int = _WIDEST) -> str:
    """An explanation as lines of text."""
    parts = [textwrap.fill(text, width) for text in (f"{found.label}: {found.title}", found.means, found.why)]
    if found.advice is not None:
        parts.append(textwrap.fill(f"What to do: {found.advice}.", width))
    for word, example in (("Wrong", found.bad), ("Right", found.good)):
        parts.append(f"{word}:\n\n{textwrap.indent(example.rstrip(), '    ')}")
    for name, text in found.files:
        parts.append(f"with {name}:\n\n{textwrap.indent(text.rstrip(), '    ')}")
    if found.options:
        parts.append(f"Both with {' '.join(OPTIONS[option] for option in found.options)}.")
    if found.setup:
        parts.append(f"Set up before: {', '.join(found.setup)}.")
    if found.others:
        parts.append(f"The wrong one is told {' and '.join(found.others)} as well.")
    return "\n\n".join(parts) + "\n"


def _list() -> str:
    """All codes by family, a line each."""
    lines: list[str] = []
    for thousands, (_, about) in FAMILIES.items():
        lines += [*([""] if lines else []), f"{thousands}xxx  {about}"]
        lines += [f"  {codes.label(code)}  {title}" for code, title in sorted(codes.TITLES.items()) if code // 1000 == thousands]
    return "\n".join(lines) + "\n"


def _instruction(name: str) -> str | None:
    """What the reference says of an instruction; None if there is none."""
    from ixpemu.isa import instruction_set
    from ixpemu.isa.reference import block_page

    block = instruction_set().lookup(name)
    return None if block is None else block_page(block)


def _word(name: str) -> str | None:
    """What takes a word that instructions have, or where a directive is described; None if it is neither."""
    from ixpemu.isa import instruction_set

    wanted = name.lower()
    if wanted[:1] in ("#", "."):
        page = "docs/preprocessor.md" if wanted[0] == "#" else "docs/statements.md"
        return f"`{name}` is a directive, if there is one of that name: {page} has them all.\n"
    options, words = list[str](), list[str]()
    for block in instruction_set().blocks.values():
        for form in block.forms:
            if any(token.name.lower() == wanted for token in form.tokens):
                options += form.mnemonics
            if any(wanted == word.lower() for spec in form.operands for word in spec.words):
                words += [f"{mnemonic}[{name}]" for mnemonic in form.mnemonics]
    lines = [f"`{name}` is an option of {', '.join(dict.fromkeys(options))}.\n"] if options else []
    lines += [f"`{name}` is a word of {', '.join(dict.fromkeys(words))}.\n"] if words else []
    first = (options or words or [""])[0].partition("[")[0]
    return "".join((*lines, f"more: ixpemu explain {first}\n")) if lines else None


def _unknown(name: str) -> UserError:
    """The error for what is neither a code nor an instruction, with what may have been meant."""
    meant = [f"{codes.label(code)} ({codes.TITLES[code]})" for code in alike(name)]
    if code_of(name) is None:
        from ixpemu.isa import instruction_set

        meant += difflib.get_close_matches(name.lower(), instruction_set().mnemonics(), 3 - len(meant)) if len(meant) < 3 else []
    what = "diagnostic" if code_of(name) is not None else "diagnostic or instruction"
    return usage_error(
        f"there is no {what} {name!r}", f"did you mean {' or '.join(meant)}?" if meant else "`ixpemu explain` lists all codes"
    )
