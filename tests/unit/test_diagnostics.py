"""How diagnostics are shown, whatever the file holds that they speak of."""

import pytest

from ixpemu.diagnostics import Diagnostic, MacroFrame, Note, Origin, Severity, Sources, Span, as_json, render


def shown(line: str, column: int, length: int = 1, message: str = "wrong") -> list[str]:
    diagnostic = Diagnostic(2001, message, origin=Origin(Span("f.uc", 1, column, length)))
    return render(diagnostic, Sources({"f.uc": [line]})).split("\n")


def test_everything_that_belongs_to_a_diagnostic_is_shown() -> None:
    call = MacroFrame("copy", Span("f.uc", 2, 3))
    diagnostic = Diagnostic(
        4003,
        "twice",
        Severity.WARNING,
        Origin(Span("f.uc", 1, 3, 2), (call,)),
        "say it once",
        (Note("here too", Origin(Span("g.uc", 9))),),
    )
    assert render(diagnostic, Sources({"f.uc": ["\tx yz", ""]})).split("\n") == [
        "warning IXP4003: twice",
        "  --> f.uc:1:3",
        "      | \tx yz",
        "      | \t ^^",
        "      in macro copy, called at f.uc:2:3",
        "  note: here too",
        "    --> g.uc:9:1",
        "  help: say it once",
    ]
    (row,) = as_json([diagnostic])
    assert (row["code"], row["line"], row["column"], row["length"]) == ("IXP4003", 1, 3, 2)


@pytest.mark.parametrize("column", [1, 30, 5000, 99_990, 100_000])
def test_of_a_long_line_the_part_in_question_is_shown(column: int) -> None:
    line = "a" * (column - 1) + "X" + "b" * (100_000 - column)
    _, _, text, carets = shown(line, column, 3)
    assert len(text) < 190
    assert text[carets.index("^")] == "X"
    assert carets.count("^") == min(3, 100_001 - column)


def test_a_caret_behind_the_end_of_a_line_is_shown_there() -> None:
    assert shown("ab", 7)[-1] == "      |   ^"


def test_a_long_message_is_cut() -> None:
    text = shown("x", 1, message="`" + "9" * 5000 + "` is no number")[0]
    assert len(text) < 700 and text.endswith("` is no number")


def test_what_would_steer_a_terminal_is_not_sent_to_it() -> None:
    text = "\n".join(shown("ab\x1b[31m\x9b\u202ec\x00d", 10, message="`\x1b[2J` has no meaning"))
    assert "\x1b" not in text and "\x9b" not in text and "\u202e" not in text and "\x00" not in text
    line, carets = text.split("\n")[2:]
    assert line[carets.index("^")] == "c"
