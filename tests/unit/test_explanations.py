"""Every diagnostic is explained, and its examples are what they say: the wrong one gives the code, the right one does not.

An example is run as what it is: assembled, executed as Python, loaded as an application, given to the command line, put on a
chip, or read as blocks of an .isa file. Only those of `language = "text"` are believed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ixpemu import codes
from ixpemu.asm.pipeline import assemble_program
from ixpemu.cli import main
from ixpemu.diagnostics import UserError
from ixpemu.explanations import FAMILIES, LANGUAGES, OPTIONS, Explanation, alike, entries, explanation
from ixpemu.resources import folder

ENTRIES = entries()
ALL = [found for label in ENTRIES if (found := explanation(int(label.removeprefix("IXP")))) is not None]
KEYS = {"means", "why", "language", "bad", "good", "options", "run", "files", "with"}
# Codes of the assembler whose examples cannot be assembled, and why.
NOT_ASSEMBLED = {3008: "there is no instruction left that is not supported"}
# Where an example cannot be run here at all, and what is in its place: words. The list may only become shorter.
ONLY_TEXT = {
    3008, 6022, 6031, 6043, 6050, 6051, 6071, 6073, 7001, 7008, 7010, 7011, 7012, 7015, 7016, 7017, 7018, 7900, 8005,
}


def of(language: str) -> list[Explanation]:
    return [found for found in ALL if found.language == language]


def named(found: Explanation) -> str:
    return found.label


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put_files(found: Explanation, where: Path) -> None:
    for name, text in found.files:
        (where / name).write_text(text, encoding="utf-8")


def test_every_code_has_an_entry() -> None:
    missing = [f"{codes.label(code)} ({title})" for code, title in codes.TITLES.items() if codes.label(code) not in ENTRIES]
    assert not missing, f"explain/ says nothing of {', '.join(missing)}: CONTRIBUTING.md tells how to add an entry"
    unknown = [label for label in ENTRIES if int(label.removeprefix("IXP")) not in codes.TITLES]
    assert not unknown, "no diagnostic has these numbers"


def test_entries_are_in_their_files_and_whole() -> None:
    for thousands, (name, _) in FAMILIES.items():
        text = (folder("explain") / f"{name}.toml").read_text(encoding="utf-8")
        labels = [line[1:8] for line in text.splitlines() if line.startswith("[IXP") and line.endswith("]") and len(line) == 9]
        assert labels == sorted(labels) and all(label[3] == str(thousands) for label in labels), name
    for label, entry in ENTRIES.items():
        assert set(entry) <= KEYS, label
        found = explanation(int(label.removeprefix("IXP")))
        assert found is not None and found.means.endswith((".", ":")) and found.why.endswith("."), label
        assert found.bad.strip() and found.good.strip() and found.bad != found.good, label
        assert found.language in LANGUAGES and set(found.options) <= set(OPTIONS), label


def test_what_is_only_text() -> None:
    assert {found.code for found in of("text")} == ONLY_TEXT
    for found in ALL:
        if 1000 <= found.code < 6000:
            assert (found.language in ("asm", "lint")) != (found.code in NOT_ASSEMBLED), found.label


def told_by_the_assembler(found: Explanation, text: str) -> list[str]:
    Path("example.uc").write_text(text, encoding="utf-8")
    try:
        diagnostics = assemble_program("example.uc", **dict.fromkeys(found.options, True)).diagnostics      # type: ignore[arg-type]
    except UserError as error:
        diagnostics = error.diagnostics
    return [diagnostic.label for diagnostic in diagnostics]


@pytest.mark.parametrize("found", of("asm"), ids=named)
def test_source_text(found: Explanation, place: Path) -> None:
    put_files(found, place)
    assert set(told_by_the_assembler(found, found.bad)) == {found.label, *found.others}
    assert told_by_the_assembler(found, found.good) == []


@pytest.mark.parametrize("found", of("lint"), ids=named)
def test_linted_text(
    found: Explanation, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for text, code in ((found.bad, 1), (found.good, 0)):
        (place / "example.uc").write_text(text, encoding="utf-8")
        assert told_by_the_assembler(found, text) == []
        monkeypatch.setattr(sys, "argv", ["ixpemu", "lint", "example.uc"])
        with pytest.raises(SystemExit) as left:
            main()
        assert (left.value.code or 0) == code
        assert (found.label in capsys.readouterr().out) == bool(code)


def told(action: object, *arguments: object) -> list[str]:
    """The codes of the mistakes that a call raises."""
    try:
        action(*arguments)      # type: ignore[operator]
    except UserError as error:
        return [diagnostic.label for diagnostic in error.diagnostics]
    return []


@pytest.mark.parametrize("found", of("python"), ids=named)
def test_python(found: Explanation, place: Path) -> None:
    put_files(found, place)
    assert found.label in told(exec, found.bad, {})
    assert told(exec, found.good, {}) == []


def load_application(where: Path, text: str) -> None:
    from ixpemu import App

    (where / "app.toml").write_text(text, encoding="utf-8")
    App.load(where)


@pytest.mark.parametrize("found", of("toml"), ids=named)
def test_applications(found: Explanation, place: Path) -> None:
    put_files(found, place)
    assert found.label in told(load_application, place, found.bad)
    assert told(load_application, place, found.good) == []


@pytest.mark.parametrize("found", of("console"), ids=named)
def test_commands(
    found: Explanation, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put_files(found, place)
    for text, fails in ((found.bad, True), (found.good, False)):
        monkeypatch.setattr(sys, "argv", text.split("#")[0].split())
        with pytest.raises(SystemExit) as left:
            main()
        shown = capsys.readouterr()
        assert bool(left.value.code) == fails, shown.err
        assert (found.label in shown.err) == fails


@pytest.mark.parametrize("found", of("run"), ids=named)
def test_running_programs(found: Explanation) -> None:
    from tests.unit.test_reserved_corpus import Case, chip_of, cycles

    sections = {"run": "\n".join(found.setup), "bad": found.bad, "good": found.good}
    case = Case(Path(found.label), "", sections)
    for section in ("bad", "good"):
        chip = chip_of(case, section)
        chip.run(cycles=cycles(case))
        told = {place.rule.label for place in chip.reserved_places}
        assert told == ({found.label, *found.others} if section == "bad" else set())


@pytest.mark.parametrize("found", of("races"), ids=named)
def test_races(found: Explanation) -> None:
    from ixpemu import Chip, assemble
    from ixpemu.trace.races import observe_races

    assert found.setup == ("contexts 0x3",)
    for text in (found.bad, found.good):
        chip = Chip()
        chip.load(0, assemble(text=text), start=False)
        races = observe_races(chip)
        chip.start(0, contexts=3)
        chip.run(cycles=3000)
        assert {race.diagnostic({}).label for race in races.found} == ({found.label} if text == found.bad else set())


@pytest.mark.parametrize("found", of("isa"), ids=named)
def test_blocks(found: Explanation, place: Path) -> None:
    from ixpemu.isa import InstructionSet
    from ixpemu.isa.check import check

    (place / "operands.isa").write_text((folder("isa") / "operands.isa").read_text(encoding="utf-8"), encoding="utf-8")
    for text in (found.bad, found.good):
        (place / "blocks.isa").write_text(text, encoding="utf-8")
        try:
            diagnostics = tuple(check(InstructionSet.from_folder(place)))
        except UserError as error:
            diagnostics = error.diagnostics
        labels = {diagnostic.label for diagnostic in diagnostics}
        assert labels == ({found.label, *found.others} if text == found.bad else set())


def explained(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["ixpemu", "explain", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    return int(left.value.code or 0)


def test_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert explained(monkeypatch) == 0
    listed = capsys.readouterr().out
    assert all(f"{codes.label(code)}  {title}\n" in listed for code, title in codes.TITLES.items())
    for code in codes.TITLES:
        assert explained(monkeypatch, str(code)) == 0
        shown = capsys.readouterr().out
        assert shown.startswith(f"{codes.label(code)}: ") and "\nWrong:\n" in shown and "\nRight:\n" in shown
    assert explained(monkeypatch, "ixp4001", "--json") == 0
    assert '"code": "IXP4001"' in capsys.readouterr().out
    assert explained(monkeypatch, "ctx_arb") == 0
    assert capsys.readouterr().out.startswith("## ctx_arb")


@pytest.mark.parametrize(("text", "meant"), [("4099", "IXP4009"), ("IXP40011", "IXP4001"), ("odd cycle", "lists all codes"),
                                             ("races", "lists all codes"), ("transfer", "IXP5001"), ("ctx_abr", "ctx_arb")])
def test_what_is_unknown(text: str, meant: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert explained(monkeypatch, text) == 2
    shown = capsys.readouterr().err
    assert meant in shown and "explain IXP6030" not in shown


def test_alike() -> None:
    assert alike("lost update") == [] and alike("") == []
    assert codes.SIGNAL_UNDECLARED in alike("signal declared") and len(alike("signal")) == 3
    assert codes.SIGNAL_MIXED in alike("IXP5018") and codes.NO_SIGNAL in alike("5118")
