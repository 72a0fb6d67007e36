"""Layout changes blanks and nothing else: in every source there is, in the same with their blanks disturbed, in any text."""

import random
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ixpemu import app_file, resources
from ixpemu.asm.formatting import format_text
from ixpemu.asm.pipeline import assemble, assemble_program
from ixpemu.diagnostics import AssemblyError
from tests.support.corpus import cases, load

_PIECES = re.compile(r"""'[^']*'|"[^"]*"|/\*.*?\*/|;.*|//.*""")
MICROCODE = resources.folder("microcode")
SOURCES = sorted(MICROCODE.rglob("*.uc"))


def essence(text: str) -> list[str]:
    """The lines without blanks; those that have nothing else are left out."""
    return [line for line in ("".join(line.split()) for line in re.split("\r\n|\r|\n", text)) if line]


def kept(text: str) -> list[str]:
    """Strings and comments of single lines as they are."""
    return [piece.strip() for line in re.split("\r\n|\r|\n", text) for piece in _PIECES.findall(line)]


def laid_out(text: str) -> str | None:
    """The text laid out, and what has to hold of it; None where it is refused."""
    try:
        once = format_text(text)
    except AssemblyError as error:
        assert error.diagnostics
        return None
    assert format_text(once) == once
    assert essence(once) == essence(text)
    assert kept(once) == kept(text)
    return once


def disturbed(text: str, chance: random.Random) -> str:
    """The text with other blanks at the edges of its lines, before comments and behind commas."""
    lines = []
    for line in text.split("\n"):
        line = chance.choice(["", " ", "\t", "      "]) + line.strip() if chance.random() < 0.7 else line
        if chance.random() < 0.5 and not re.search(r"""['"]|^\s*#""", line):
            code, mark, comment = re.match(r"([^;/]*)(;|/|)(.*)", line).groups()
            line = re.sub(r",\s*", lambda found: "," + " " * chance.randrange(3), code) + mark + comment
        lines.append(line + chance.choice(["", "", " ", "\t"]))
        if chance.random() < 0.05 and not line.rstrip().endswith(("\\", ",")):
            lines.append("")
    return "\n".join(lines)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(MICROCODE)))
def test_shipped_sources_are_laid_out_and_come_back_to_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert laid_out(text) == text, "run `ixpemu fmt microcode`"
    for seed in range(3):
        assert laid_out(disturbed(text, random.Random(seed))) is not None


def results(folder: Path) -> dict[str, list[int]]:
    """The words of every program of a copy of microcode/."""
    found = {}
    for path in [*sorted((folder / "tests").glob("*.uc")), folder / "bench" / "compute.uc", folder / "echo" / "echo.uc"]:
        if not path.stem.startswith("check"):
            found[path.name] = list(assemble(path, include=[folder / "lib"]).values)
    for entry in app_file.load(folder / "ipv4_forward").microengines:
        found[f"{entry.image} {entry.define}"] = list(assemble(entry.image, include=[folder / "lib"], define=entry.define).values)
    return {name.replace(str(folder), ""): words for name, words in found.items()}


def test_words_of_shipped_programs_do_not_change(tmp_path: Path) -> None:
    expected = results(MICROCODE)
    copy = tmp_path / "microcode"
    shutil.copytree(MICROCODE, copy)
    chance = random.Random(7)
    for path in sorted(copy.rglob("*.uc")):
        path.write_text(format_text(disturbed(path.read_text(encoding="utf-8"), chance)), encoding="utf-8")
    assert results(copy) == expected and len(expected) > 20


def outcome(text: str, options: dict[str, bool]) -> tuple[list[int] | None, list[int]]:
    """The words of a case, and the codes of its diagnostics."""
    try:
        assembly = assemble_program("case.uc", text=text, include=["."], **options)
    except AssemblyError as error:
        return None, [found.code for found in error.diagnostics]
    return list(assembly.image.values), [found.code for found in assembly.diagnostics]


@pytest.mark.parametrize("path", cases("asm"), ids=lambda path: path.stem)
def test_cases_give_the_same_words_and_messages(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = load(path)
    monkeypatch.chdir(tmp_path)
    options = dict.fromkeys(case.sections.get("options", "").split(), True)
    for name, text in case.files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    before = outcome(case.sections["source"], options)
    after = laid_out(case.sections["source"])
    if after is None:
        assert before[1], "what assembles is laid out"
        return
    for name, text in case.files.items():
        (tmp_path / name).write_text(laid_out(text) or text, encoding="utf-8")
    assert outcome(after, options) == before


FRAGMENTS = st.sampled_from([
    "alu[a , b,+,  1]", "alu[a, [b", "]", "l#:", "l#: m#:", "r/**/x#:", "br[l#]", "#if (X)", "#if 0", "#else", "#elif Y",
    "#endif", "#macro m(a , b)", "#macro", "#endm", "#repeat (3)", "#while (1)", "#endloop", ".begin", ".end", ".if (a == 1)",
    ".elif (a)", ".else", ".endif", ".while (1)", ".endw", ".repeat", ".until (a)", ".subroutine", ".endsub", ".reg  a   b",
    "; note", "// note", "/* one */", "/* open", "close */", "'text , x'", '"', "'", "\\", ",", "\t", "    ", " ", "\n", "\n",
    "\n", "\n\n\n\n", "\r\n", "\r", "#ifndef _G_", "#define _G_", "m(a,  b , 'c')", "#define N  1,2", "\x00", "\x0b",
    "\u00a0", "#error it's", "sram[read, $x, a, 0, 2],", "ctx_swap[s]", ".local a", ".endlocal",
])


@given(st.lists(FRAGMENTS, max_size=25).map("".join))
def test_any_lines_are_laid_out_or_refused(text: str) -> None:
    laid_out(text)


@given(st.text(max_size=80))
def test_any_text_is_laid_out_or_refused(text: str) -> None:
    laid_out(text)
