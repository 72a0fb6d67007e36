"""Messages in their four forms, and that one mistake is one message, however often it is met."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ixpemu import __version__
from ixpemu.asm.pipeline import assemble_program
from ixpemu.cli import main
from ixpemu.cli_messages import coloured
from ixpemu.diagnostics import Diagnostic, Edit, MacroFrame, Note, Origin, Severity, Span, UserError, one_line, render
from ixpemu.sarif import SCHEMA, sarif_log

INNER = (MacroFrame("inner", Span("lib.uc", 7, 3, 8)), MacroFrame("outer", Span("main prog.uc", 12, 1, 5)))
FOUND = Diagnostic(
    4001, "there is no label `lop#`", Severity.ERROR, Origin(Span("lib.uc", 3, 4, 5), INNER), "did you mean `loop#`?",
    (Note("it is here", Origin(Span("lib.uc", 9, 1, 6))), Note("case does not count")),
    (Origin(Span("lib.uc", 3, 4, 5), (MacroFrame("inner", Span("main prog.uc", 14)),)), Origin(Span("/tmp/x.uc", 2))),
    (Edit("lib.uc", 3, 4, "lop#", "loop#"), Edit("lib.uc", 5, 1, "", "nop\n")),
)
PLACELESS = Diagnostic(6001, "no file", Severity.WARNING)
BROKEN = (
    "#macro add(a, b)\nalu[a, a, +, b\n#endm\n#macro twice(a)\nadd(a, 1)\nadd(a, 2)\n#endm\n"
    "twice(x)\nimed[x, 1]\nctx_arb[kill]\n"
)


def test_one_line() -> None:
    assert one_line(FOUND) == (
        "lib.uc:3:4: error IXP4001: there is no label `lop#` [in macro inner called at lib.uc:7:3, in macro outer called at "
        "main prog.uc:12:1] [also at main prog.uc:14:1, /tmp/x.uc:2:1]"
    )
    assert one_line(PLACELESS) == "ixpemu: warning IXP6001: no file"
    assert "\n" not in one_line(Diagnostic(2001, "two\nlines"))


def test_colours_change_no_character() -> None:
    text = render(FOUND)
    shown = coloured(text)
    assert shown.plain == text
    styles = {str(span.style): shown.plain[span.start:span.end] for span in shown.spans}
    assert styles["bold red"] == "error IXP4001" and styles["bold green"] == "help"


def test_a_sarif_log() -> None:
    """Every value by hand, from the text of SARIF 2.1.0: sections 3.13, 3.14, 3.19, 3.27, 3.28, 3.30, 3.49, 3.55."""
    log = sarif_log([FOUND, PLACELESS], __version__)
    assert log["$schema"] == SCHEMA and log["version"] == "2.1.0" and set(log) == {"$schema", "version", "runs"}
    (run,) = log["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("ixpemu", __version__)
    assert [rule["id"] for rule in driver["rules"]] == ["IXP4001", "IXP6001"]
    assert all(set(rule) == {"id", "shortDescription", "fullDescription", "help"} for rule in driver["rules"])
    first, elsewhere, placeless = run["results"]
    assert first == {
        "ruleId": "IXP4001", "ruleIndex": 0, "level": "error",
        "message": {"text": "there is no label `lop#`; did you mean `loop#`?; case does not count"},
        "locations": [{"physicalLocation": {
            "artifactLocation": {"uri": "lib.uc"}, "region": {"startLine": 3, "startColumn": 4, "endColumn": 9}}}],
        "relatedLocations": [
            {"id": 0, "message": {"text": "in macro inner, called here"}, "physicalLocation": {
                "artifactLocation": {"uri": "lib.uc"}, "region": {"startLine": 7, "startColumn": 3, "endColumn": 11}}},
            {"id": 1, "message": {"text": "in macro outer, called here"}, "physicalLocation": {
                "artifactLocation": {"uri": "main%20prog.uc"}, "region": {"startLine": 12, "startColumn": 1, "endColumn": 6}}},
            {"id": 2, "message": {"text": "the same here"}, "physicalLocation": {
                "artifactLocation": {"uri": "main%20prog.uc"}, "region": {"startLine": 14, "startColumn": 1, "endColumn": 2}}},
            {"id": 3, "message": {"text": "it is here"}, "physicalLocation": {
                "artifactLocation": {"uri": "lib.uc"}, "region": {"startLine": 9, "startColumn": 1, "endColumn": 7}}},
        ],
        "fixes": [{"description": {"text": "did you mean `loop#`?"}, "artifactChanges": [{
            "artifactLocation": {"uri": "lib.uc"},
            "replacements": [
                {"deletedRegion": {"startLine": 3, "startColumn": 4, "endColumn": 8}, "insertedContent": {"text": "loop#"}},
                {"deletedRegion": {"startLine": 5, "startColumn": 1, "endColumn": 1}, "insertedContent": {"text": "nop\n"}},
            ]}]}],
    }
    assert elsewhere["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "file:///tmp/x.uc"
    assert "fixes" not in elsewhere
    assert placeless == {"ruleId": "IXP6001", "ruleIndex": 1, "level": "warning", "message": {"text": "no file"}}


def test_an_empty_log() -> None:
    assert sarif_log([], "1")["runs"][0]["results"] == []


def asm(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["ixpemu", "asm", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    return int(left.value.code or 0)


def test_the_command_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.uc").write_text(BROKEN)
    Path("b.uc").write_text("immed[x, 1]\nctx_arb[kill]\n")
    assert asm(monkeypatch, "a.uc", "--message-format", "short") == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("a.uc:2:4: error IXP2001: this `[` is never closed [in macro add called at a.uc:5:1, in macro ")
    assert lines[1].startswith("a.uc:9:1: error IXP3001: ") and len(lines) == 2
    assert asm(monkeypatch, "a.uc", "--message-format", "json") == 1
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().err)["diagnostics"]
    assert [row["code"] for row in rows] == ["IXP2001", "IXP3001"] and rows[0]["explain"] == "ixpemu explain IXP2001"
    assert rows[0]["macros"][-1] == {"name": "twice", "call": "a.uc:8:1"} and rows[0]["also"][0]["line"] == 2
    assert asm(monkeypatch, "a.uc", "--message-format", "sarif") == 1
    assert len(json.loads(capsys.readouterr().err)["runs"][0]["results"]) == 2
    assert asm(monkeypatch, "b.uc", "--message-format", "sarif") == 0
    assert [one["level"] for one in json.loads(capsys.readouterr().err)["runs"][0]["results"]] == ["warning"]
    assert asm(monkeypatch, "b.uc", "--message-format", "long") == 2
    assert "one of full, short, json, sarif" in capsys.readouterr().err
    assert asm(monkeypatch, "b.uc") == 0
    assert capsys.readouterr().err.endswith("more: ixpemu explain IXP5008\n")


def labels(text: str, **options: bool) -> list[str]:
    try:
        return [found.label for found in assemble_program(text=text, **options).diagnostics]        # type: ignore[arg-type]
    except UserError as error:
        return [found.label for found in error.diagnostics]


DATA = ".reg $x a\n.sig done\nimmed[a, 0]\n"


@pytest.mark.parametrize(("text", "expected"), [
    ("bne[nowhere#]\n" * 30, ["IXP4001"]),
    (DATA + "sram[read, $x, a, 0, 1], ctx_swap[dnoe]\n" * 30, ["IXP4004"]),
    (DATA + "sram[reed, $x, a, 0, 1], ctx_swap[done]\n" * 30, ["IXP3004"]),
    ("imed[a, 1]\n" * 30, ["IXP3001"]),
    ("plus(x, 1)\n" * 30, ["IXP1017"]),
    ("immed[a, (PORTS + 1)]\n" * 30, ["IXP2005"]),
    (".rge a b c\nimmed[a, 1]\nalu[b, a, +, 1]\nalu[c, b, +, 1]\n", ["IXP2002"]),
    ("#macro add(a, b)\nalu[a, a, +, b\n#endm\n" + "add(x, 1)\n" * 30, ["IXP2001"]),
    ("#macro add(a, b)\nalu[a, a, +, b]\n" + "add(x, 1)\nbr[on#]\n" * 30, ["IXP1004"]),
    ("immed[a, 1]\n.if (a == 1)\nalu[a, a, +, 1]\nbr[on#]\non#:\n", ["IXP2008"]),
    ("immed[a, 1]\n.while (a > 1)\nalu[a, a, -, 1]\n.if (a == 3)\nnop\n.endw\n", ["IXP2008"]),
    ("immed[a, 1]\n.while (a > 1)\n.if (a == 3)\nnop\n.endw\nnop\n.endif\n.endw\n", ["IXP2008"]),
    ("#ifdef A\nimmed[a, 1]\nalu[a, a, +, 1]\n", ["IXP1004"]),
    ('#include "nothing.h"\nalu[A, A, +, SOMETHING]\nfoo(3)\n', ["IXP1006"]),
    ("br[on#], defer[1]\nctx_arb[voluntary]\non#:\nimmed[a, 1]\n", ["IXP4101"]),
    ("".join(f"imed{k}[a, 1]\n" for k in range(30)), ["IXP3001"] * 20 + ["IXP2007"]),
    ("imed[a, 1]\n" * 3000, ["IXP3001", "IXP2007"]),
    ("#while (1)\n#defin A\n#endloop\n", ["IXP1002", "IXP2007"]),
], ids=str)
def test_one_mistake_is_one_message(text: str, expected: list[str]) -> None:
    assert labels(text + "ctx_arb[kill]\n") == expected


def test_the_other_places_are_named() -> None:
    with pytest.raises(UserError) as caught:
        assemble_program(text="imed[a, 1]\n" * 30 + "ctx_arb[kill]\n")
    (found,) = caught.value.diagnostics
    assert len(found.also) == 29
    assert "  also at <text>:2:1, <text>:3:1, <text>:4:1, " in render(found) and "7:1 and 23 more places\n" in render(found)
