"""What the preprocessor hands on: text that assembles to the same words, places, names of chips. Its texts are in the corpus."""

from pathlib import Path

import pytest

from ixpemu.asm.findings import Findings
from ixpemu.asm.pipeline import assemble
from ixpemu.asm.preprocess import Preprocessed, preprocess
from ixpemu.asm.preprocess_output import preprocessed_text
from ixpemu.asm.preprocess_symbols import CHIPS, linked_names, predefined, revision_number
from ixpemu.diagnostics import AssemblyError, UserError
from tests.support.corpus import cases, load

MICROCODE = sorted((Path(__file__).parents[2] / "microcode").glob("*/*.uc"))


def lines_of(text, **options):
    result = Preprocessed()
    preprocess("t.uc", text, Findings(), result=result, **options)
    return result


def same_words(file, text):
    """False where the text does not assemble as it is."""
    try:
        words = assemble(file, text=text, include=["."]).values
    except AssemblyError:
        return False
    result = Preprocessed()
    preprocess(file, text, Findings(), ["."], None, result)
    assert assemble(text=preprocessed_text(result)).values == words
    return True


@pytest.mark.parametrize("path", cases("asm"), ids=lambda path: path.stem)
def test_preprocessed_text_assembles_to_the_same_words(path, tmp_path, monkeypatch):
    case = load(path)
    if "options" in case.sections:
        pytest.skip("assembles with options only")
    monkeypatch.chdir(tmp_path)
    for name, text in case.files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assembled = same_words("case.uc", case.sections["source"])
    assert assembled or "words" not in case.sections


@pytest.mark.parametrize("path", MICROCODE, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_preprocessed_microcode_assembles_to_the_same_words(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    assembled = same_words(path.name, path.read_text(encoding="utf-8"))
    assert assembled or path.parent.name == "lib"


def test_labels_of_expansions_get_names_that_nobody_has():
    result = lines_of("#macro m\nl#: br[l#]\n#endm\nl_2#: nop\nl#: nop\nm\nm\nbr[l_1#]\nl_1#: br[l#]")
    made = [line for line in preprocessed_text(result).splitlines() if line[0] != ";"]
    assert made == ["l_2#: nop", "l#: nop", "l_1_#: br[l_1_#]", "l_2_#: br[l_2_#]", "br[l_1#]", "l_1#: br[l#]"]


def test_every_character_knows_its_place():
    text = "\n".join([
        "#define WIDE (1 + 2)", "#macro inner(reg)", "    alu[reg, --, b, WIDE]", "#endm", "#macro outer(reg)", "  inner(reg)",
        "#endm", "outer(some_register)", "alu[a, \\", "   b, +, c]",
    ])
    first, second = lines_of(text).lines
    starts = [(first.text.index(word), len(word)) for word in ("some_register", "(1 + 2)")]
    spans = [first.origin(start, start + length).span for start, length in starts]
    assert [(span.line, span.column, span.length) for span in spans] == [(3, 9, 3), (3, 21, 4)]
    assert [(frame.macro, frame.call.line, frame.call.column) for frame in first.frames] == [("inner", 6, 3), ("outer", 8, 1)]
    assert (second.span(second.text.index("c")).line, second.span(second.text.index("c")).column) == (10, 10)
    assert [first.level(first.text.index(word)) for word in ("alu", "some_register")] == [2, 0]


def test_names_of_chips_and_steppings():
    for chip in CHIPS:
        names = {name for name, value in predefined(chip).items() if value is not None}
        assert names >= {"__IXP2XXX", "__PREPROC32", "__REVISION_MIN"}
        assert ("__IXP2400" in names) == (chip == "ixp2400")
        assert ("__IXP28XX" in names) == (chip in ("ixp2800", "ixp2850"))
    text = "#ifdef __IXP2400\nold\n#elif IS_IXPTYPE(__IXP28XX) && __REVISION_MIN >= 0x10\nnew\n#endif"
    assert [line.text for line in lines_of(text).lines] == ["old"]
    assert [line.text for line in lines_of(text, define=predefined("ixp2800", (0x10, 0xFF))).lines] == ["new"]
    assert [revision_number(text) for text in ("A0", "b1", "C2", "0x13", "255")] == [0, 0x11, 0x22, 0x13, 255]
    for text in ("", "Z0", "A", "256", "-1", "A00"):
        with pytest.raises(UserError):
            revision_number(text)


def test_names_of_the_linker():
    assert linked_names(".import_var Alpha, beta gamma") == {"alpha", "beta", "gamma"}
    assert linked_names("  .GLOBAL_MEM block sram0 64") == {"block"}
    assert linked_names(".reg import_var") == frozenset()


def test_a_hundred_thousand_lines_come_out():
    result = lines_of("#repeat (1000)\n#repeat (100)\nnop\n#endloop\n#endloop")
    assert len(result.lines) == 100_000


def test_names_from_outside_can_take_predefined_ones_away():
    assert [line.text for line in lines_of("__ixpemu X", define={"__IXPEMU": None, "x": 5}).lines] == ["__ixpemu 5"]
    assert preprocessed_text(lines_of("nop")) == "; t.uc:1\nnop\n"
