"""Diagnostics as a SARIF 2.1.0 log, the form in which code hosts and editors take the findings of a tool.

A rule is a code of ours with its explanation; a result is a diagnostic at one place. Where a macro is in between, the location is
the line in the macro, as in the other forms, and the calls that led there are related locations, innermost first; so are other
calls of which the same is to be said, and notes with a place. Nothing here reads sources or prints.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ixpemu import codes
from ixpemu.diagnostics import Diagnostic, Edit, Origin, Severity, Span
from ixpemu.explanations import explanation

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
VERSION = "2.1.0"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def sarif_log(diagnostics: Sequence[Diagnostic], version: str) -> dict[str, Any]:
    """The log of one run of ixpemu `version`. Columns count characters from 1; paths stay as they were given."""
    order = list(dict.fromkeys(found.code for found in diagnostics))
    results: list[dict[str, Any]] = []
    for found in diagnostics:
        elsewhere = [origin for origin in found.also if found.origin is None or origin.span != found.origin.span]
        for origin in (found.origin, *elsewhere):
            results.append(_result(found, origin, order.index(found.code)))
    driver = {"name": "ixpemu", "version": version, "rules": [_rule(code) for code in order]}
    return {
        "$schema": SCHEMA, "version": VERSION,
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }


def _rule(code: int) -> dict[str, Any]:
    told = explanation(code)
    rule: dict[str, Any] = {"id": codes.label(code), "shortDescription": {"text": codes.TITLES[code]}}
    if told is not None:
        rule["fullDescription"] = {"text": told.means}
        rule["help"] = {"text": f"{told.why}\n\nWrong:\n\n{told.bad}\nRight:\n\n{told.good}"}
    return rule


def _result(found: Diagnostic, origin: Origin | None, rule: int) -> dict[str, Any]:
    message = found.message if found.help is None else f"{found.message}; {found.help}"
    result: dict[str, Any] = {
        "ruleId": found.label, "ruleIndex": rule, "level": _LEVELS[found.severity], "message": {"text": message},
    }
    related: list[dict[str, Any]] = []
    if origin is not None:
        result["locations"] = [{"physicalLocation": _place(origin.span)}]
        related += [_related(f"in macro {frame.macro}, called here", frame.call) for frame in origin.expansions]
        related += [
            _related("the same here", other.expansions[-1].call) for other in found.also if other.span == origin.span
            and other.expansions and other != origin
        ]
    for note in found.notes:
        if note.origin is not None:
            related.append(_related(note.message, note.origin.span))
        else:
            result["message"]["text"] += f"; {note.message}"
    if related:
        result["relatedLocations"] = [{"id": number, **one} for number, one in enumerate(related)]
    if found.edits and origin is found.origin:
        result["fixes"] = [_fix(found)]
    return result


def _related(message: str, span: Span) -> dict[str, Any]:
    return {"message": {"text": message}, "physicalLocation": _place(span)}


def _place(span: Span) -> dict[str, Any]:
    region = {"startLine": span.line, "startColumn": span.column, "endColumn": span.column + span.length}
    return {"artifactLocation": {"uri": _uri(span.file)}, "region": region}


def _uri(file: str) -> str:
    path = Path(file)
    if path.is_absolute():
        return "file://" + quote(path.as_posix(), errors="surrogateescape")
    return quote(path.as_posix(), errors="surrogateescape")


def _fix(found: Diagnostic) -> dict[str, Any]:
    """All edits of a diagnostic as one fix."""
    files: dict[str, list[Edit]] = {}
    for edit in found.edits:
        files.setdefault(edit.file, []).append(edit)
    changes = [
        {
            "artifactLocation": {"uri": _uri(file)},
            "replacements": [{
                "deletedRegion": {"startLine": edit.line, "startColumn": edit.column, "endColumn": edit.column + edit.length},
                "insertedContent": {"text": edit.text},
            } for edit in edits],
        } for file, edits in files.items()
    ]
    return {"description": {"text": found.help or found.message}, "artifactChanges": changes}
