"""What is wrong with a line that is no statement, said by example: the token that cannot stand where it is, and what could.

Reading lines is `parser`'s work; this only finds words for where it got stuck.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ixpemu.asm.findings import Findings
from ixpemu.asm.source import Line
from ixpemu.asm.suggestions import insertion, replacement
from ixpemu.codes import SYNTAX
from ixpemu.diagnostics import Edit


class Scanned(NamedTuple):
    """One token of a line: its terminal in the grammar, its text and its offset."""

    kind: str
    text: str
    start: int


class Failure(NamedTuple):
    """A shape that is no statement: the token that cannot stand where it is, and the kinds that could."""

    token: int
    accepted: frozenset[str]


_OPENERS = {"LSQB": "RSQB", "LPAR": "RPAR"}


def _open_brackets(tokens: list[Scanned], before: int) -> list[Scanned]:
    stack: list[Scanned] = []
    for token in tokens[:before]:
        if token.kind in _OPENERS:
            stack.append(token)
        elif stack and token.kind == _OPENERS[stack[-1].kind]:
            stack.pop()
    return stack


def report(line: Line, tokens: list[Scanned], failure: Failure, spellings: Mapping[str, str], findings: Findings) -> None:
    """Adds to `findings` why the line is no statement. `spellings`: what each kind of token looks like."""
    at = failure.token
    open_brackets = _open_brackets(tokens, at)
    if at >= len(tokens):
        if open_brackets:
            bracket = open_brackets[-1]
            closing = "]" if bracket.kind == "LSQB" else ")"
            findings.error(
                SYNTAX, f"this `{bracket.text}` is never closed", line.origin(bracket.start, bracket.start + 1),
                help=f"write the `{closing}` that belongs to it; a list may go on in the next line behind a comma",
                edits=insertion(line, len(line.text.rstrip()), closing) if len(open_brackets) == 1 else (),
            )
            return
        where = len(line.text.rstrip())
        findings.error(
            SYNTAX, f"the line ends too soon: {_expected(failure, spellings)}", line.origin(max(0, where - 1), where),
            help=_end_help(tokens), edits=insertion(line, where, ":") if _end_help(tokens) is not None else (),
        )
        return
    token = tokens[at]
    origin = line.origin(token.start, token.start + len(token.text))
    previous = tokens[at - 1] if at else None
    message, help_text = _reason(token, previous, failure, bool(open_brackets), spellings)
    findings.error(SYNTAX, message, origin, help=help_text, edits=_edits(line, tokens, failure, bool(open_brackets)))


def _edits(line: Line, tokens: list[Scanned], failure: Failure, inside: bool) -> tuple[Edit, ...]:
    """What would mend the line where one character is missing or too many; the cases of `_reason` of which that can be said."""
    token, accepted = tokens[failure.token], failure.accepted
    previous = tokens[failure.token - 1] if failure.token else None
    if token.kind == "OTHER":
        return ()
    if previous is not None and previous.kind == "LABEL" and "COLON" in accepted and len(accepted) == 1:
        return insertion(line, previous.start + len(previous.text), ":")
    if token.kind in ("NAME", "NUMBER", "REGISTER", "INDEX", "LABEL", "__ANON_1") and "COMMA" in accepted:
        return insertion(line, previous.start + len(previous.text), ",") if inside and previous is not None else ()
    if token.kind == "COLON" and previous is not None and previous.kind == "NAME" and failure.token == 1:
        return insertion(line, previous.start + len(previous.text), "#")
    if token.kind in ("RSQB", "RPAR") and not inside:
        return replacement(line.origin(token.start, token.start + 1), token.text, "")
    return ()


def _end_help(tokens: list[Scanned]) -> str | None:
    if len(tokens) == 1 and tokens[0].kind == "LABEL":
        return f"a label is defined with a colon behind it: `{tokens[0].text}:`"
    return None


def _reason(
    token: Scanned, previous: Scanned | None, failure: Failure, inside: bool, spellings: Mapping[str, str]
) -> tuple[str, str | None]:
    accepted = failure.accepted
    if token.kind == "OTHER":
        if token.text in "'\"":
            return f"this {token.text} begins a string that is never closed", f"write a second {token.text} on the same line"
        if not token.text.isascii():
            return f"`{token.text}` has no meaning here", "names are made of the letters A to Z, digits and _"
        return f"`{token.text}` has no meaning here", "a label is written `name#`" if token.text == "#" else None
    if previous is not None and previous.kind == "LABEL" and "COLON" in accepted and len(accepted) == 1:
        return f"expected `:` behind the label `{previous.text}`", f"a label is defined as `{previous.text}:`"
    if token.kind in ("COMMA", "RSQB") and inside and "NAME" in accepted:
        return "an operand is missing here", "write `--` where there is no operand"
    if token.kind in ("NAME", "NUMBER", "REGISTER", "INDEX", "LABEL", "__ANON_1") and "COMMA" in accepted:
        if inside:
            return f"a comma is missing before `{token.text}`", None
        if "LSQB" in accepted:
            help = "operands stand in square brackets, and the next instruction begins a line of its own"
            return f"`{token.text}` cannot stand here", help
        return f"`{token.text}` cannot stand here", "an option follows a comma, and the next instruction begins a line of its own"
    if token.kind == "DIRECTIVE":
        return f"`{token.text}` must begin a line", "a directive stands on a line of its own"
    if token.kind == "COLON" and previous is not None and previous.kind == "NAME" and failure.token == 1:
        return f"`{previous.text}:` is no label", f"labels end in #: `{previous.text}#:`"
    if token.text == "=" and inside and previous is not None:
        return "`=` cannot stand here", "`==` compares"
    if token.kind in ("RSQB", "RPAR") and not inside:
        return f"this `{token.text}` closes nothing", None
    return f"`{token.text}` cannot stand here: {_expected(failure, spellings)}", None


# In the order in which they are named. A message that lists every operator helps nobody.
_TOLD = ("NAME", "NUMBER", "REGISTER", "LABEL", "COMMA", "LSQB", "RSQB", "RPAR", "COLON", "$END")


def _expected(failure: Failure, spellings: Mapping[str, str]) -> str:
    told = [spellings[kind] for kind in _TOLD if kind in failure.accepted]
    if {"NAME", "NUMBER", "REGISTER", "LPAR"} <= failure.accepted:
        told = ["an operand"] + [text for text in told if text not in ("a name", "a number", "a register", "a label")]
    if not told:
        told = [spellings.get(kind, kind) for kind in sorted(failure.accepted)[:4]] or ["something else"]
    return "expected " + (" or ".join([", ".join(told[:-1]), told[-1]]) if len(told) > 1 else told[0])
