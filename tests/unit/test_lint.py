"""`ixpemu lint`: what it tells, what `--fix` mends and what it keeps its hands off."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from ixpemu.asm import fixes
from ixpemu.asm.fixes import Reached, applied
from ixpemu.asm.suggestions import nearest
from ixpemu.cli import main
from ixpemu.diagnostics import Edit
from tests.support.corpus import cases, load
from tests.support.linting import FILE, checked, mended

HEAD = ".reg $x address\n.sig done\nimmed[address, 0]\n"
READ = "sram[read, $x, address, 0, 1], ctx_swap[done]\n"
END = "alu[--, --, B, $x]\nctx_arb[kill]\n"


@pytest.mark.parametrize(("wrong", "right"), [
    pytest.param(HEAD + READ.replace("sram", "srma") + END, HEAD + READ + END, id="mnemonic"),
    pytest.param(HEAD + READ.replace("read", "reed") + END, HEAD + READ + END, id="command"),
    pytest.param(HEAD + READ.replace("ctx_swap", "ctxswap") + END, HEAD + READ + END, id="option"),
    pytest.param(HEAD + READ.replace("done", "dome") + END, HEAD + READ + END, id="signal"),
    pytest.param(HEAD.replace(".sig", ".sgi") + READ + END, HEAD + READ + END, id="directive"),
    pytest.param(HEAD + READ + END.replace("[kill]", "[kill"), HEAD + READ + END, id="bracket that is missing"),
    pytest.param(HEAD + READ + END.replace("[kill]", "[kill]]"), HEAD + READ + END, id="bracket too many"),
    pytest.param(HEAD + READ.replace("read, ", "read ") + END, HEAD + READ + END, id="comma"),
    pytest.param(HEAD + READ + END.replace("[--, --, B, $x]", "(--, --, B, $x)"), HEAD + READ + END, id="brackets"),
    pytest.param("#defin A 3\nimmed[b, A]\nalu[--, b, +, A]\nctx_arb[kill]\n",
                 "#define A 3\nimmed[b, A]\nalu[--, b, +, A]\nctx_arb[kill]\n", id="# directive"),
    pytest.param("#macro twice(x)\nalu[--, x, +, 1]\n#endm\nimmed[b, 1]\ntwcie(b)\nctx_arb[kill]\n",
                 "#macro twice(x)\nalu[--, x, +, 1]\n#endm\nimmed[b, 1]\ntwice(b)\nctx_arb[kill]\n", id="macro"),
    pytest.param("loop#:\nnop\nbr[lop#]\n", "loop#:\nnop\nbr[loop#]\n", id="label"),
    pytest.param("loop:\nnop\nbr[loop]\n", "loop#:\nnop\nbr[loop#]\n", id="# of a label"),
    pytest.param("loop#\nnop\nbr[loop#]\n", "loop#:\nnop\nbr[loop#]\n", id="colon of a label"),
    pytest.param("immed[a, 1]\n.if (a == 1)\nnop\n.end_if\nctx_arb[kill]\n",
                 "immed[a, 1]\n.if (a == 1)\nnop\n.endif\nctx_arb[kill]\n", id="other word"),
    pytest.param("local_csr_wr[T_INDX, 0]\nctx_arb[kill]\n", "local_csr_wr[T_INDEX, 0]\nctx_arb[kill]\n", id="CSR"),
    pytest.param("\r\nlocal_csr_wr[T_INDX, 0]\r\nctx_arb[kill]\r\n",
                 "\r\nlocal_csr_wr[T_INDEX, 0]\r\nctx_arb[kill]\r\n", id="CRLF"),
    pytest.param("#repeat 3\nnopp\n#endloop\nctx_arb[kill]\n", "#repeat 3\nnop\n#endloop\nctx_arb[kill]\n", id="loop"),
    pytest.param("nopp\n" * 150 + "ctx_arb[kill]\n", "nop\n" * 150 + "ctx_arb[kill]\n", id="many"),
])
def test_what_is_mended(wrong: str, right: str) -> None:
    assert checked(right).reached is Reached.WORDS
    done = mended(wrong)
    assert done.text == right and done.mended
    assert mended(right).text == right


@pytest.mark.parametrize("text", [
    pytest.param("#macro bad()\nnopp\n#endm\nbad()\nctx_arb[kill]\n", id="in a macro, whose other calls would change"),
    pytest.param("#macro add(operation)\noperation[a, 1]\n#endm\nadd(imed)\nalu[--, a, +, 1]\nctx_arb[kill]\n", id="an argument"),
    pytest.param("#define OP imed\nOP[a, 1]\nalu[--, a, +, 1]\nctx_arb[kill]\n", id="a #define name"),
    pytest.param("#define nooo nopp\nnooo\nctx_arb[kill]\n", id="a #define name of the same length"),
    pytest.param("loop1#:\nloop2#:\nnop\nbr[loop#]\n", id="two labels that are as near"),
    pytest.param("frobnicate[a, 1]\nctx_arb[kill]\n", id="nothing is near"),
    pytest.param(HEAD + READ.replace("done", "finished") + END, id="a signal that may be another"),
    pytest.param('#include "other.uc"\nctx_arb[kill]\n', id="a file that others may include"),
    pytest.param("alu[a, a, -, 1\nb, c]\nctx_arb[kill]\n", id="brackets over lines"),
])
def test_what_is_left_alone(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("other.uc").write_text("nopp\n")
    done = mended(text)
    assert done.text == text and done.left and not done.mended


def test_the_preprocessor_is_mended_though_more_comes_out() -> None:
    """What the line has hidden is looked at then."""
    done = mended("#macr twice(x)\nalu[--, x, +, x]\n#endm\nimmed[b, 1]\ntwice(b)\nfrobnicate[b]\nctx_arb[kill]\n")
    assert done.text.startswith("#macro twice") and [found.code for found in done.left] == [3001]


def test_an_edit_that_makes_it_no_better_is_not_taken() -> None:
    """An assembly that says the same afterwards, and one that gives other words."""
    text = "nopp\nctx_arb[kill]\n"
    good = checked(text)
    assert fixes._tried(text, good.diagnostics, good, lambda changed: good) is None
    words = checked(".reg b\nnop\nctx_arb[kill]\n")
    other = fixes.Checked((), Reached.WORDS, (*words.words, 1))
    assert words.diagnostics[0].edits
    assert fixes._tried(".reg b\nnop\nctx_arb[kill]\n", words.diagnostics, words, lambda changed: other) is None


def test_edits_are_applied_only_where_they_belong() -> None:
    text = "abc\r\ndef\rghi\n"
    three = [Edit(FILE, 1, 2, "b", "XX"), Edit(FILE, 3, 3, "i", "i;"), Edit(FILE, 2, 1, "def", "")]
    assert applied(text, three) == "aXXc\r\nghi;\n"
    assert applied(text, [Edit(FILE, 1, 2, "c", "X")]) is None
    assert applied(text, [Edit(FILE, 9, 1, "a", "X")]) is None and applied(text, [Edit(FILE, 0, 1, "a", "X")]) is None
    assert applied(text, [Edit(FILE, 1, 1, "ab", "X"), Edit(FILE, 1, 2, "bc", "Y")]) is None
    assert applied(text, [Edit(FILE, 1, 1, "a", "X"), Edit(FILE, 1, 2, "b", "Y")]) == "XYc\r\ndef\rghi\n"


def test_what_is_near() -> None:
    assert nearest("imed", ["immed", "alu"]) == ("immed", True)
    assert nearest("loop#", ["loop1#", "loop2#"]) in (("loop1#", False), ("loop2#", False))
    assert nearest("xyz", ["alu"]) is None


@pytest.mark.parametrize(("text", "names", "after"), [
    (".reg a b c\nimmed[a, 1]\nalu[--, a, +, 1]\nctx_arb[kill]\n", "bc",
     ".reg a\nimmed[a, 1]\nalu[--, a, +, 1]\nctx_arb[kill]\n"),
    (".reg read $a[4]\nctx_arb[kill]\n", ["$a"], "ctx_arb[kill]\n"),
    (".sig s t\nctx_arb[kill]\n", "st", "ctx_arb[kill]\n"),
    (".reg b     ; the sum\nctx_arb[kill]\n", "b", None),
    (".reg b\n#ifdef LATER\nimmed[b, 1]\n#endif\nctx_arb[kill]\n", "b", None),
    (".reg volatile b\n.sig visible s\nctx_arb[kill]\n", "", None),
    (".reg b\n.use b\n.set b\nctx_arb[kill]\n", "", None),
    ("#macro m()\n.reg b\n#endm\nm()\nctx_arb[kill]\n", "", None),
    (".reg $a $b x\n.sig s\n.xfer_order $a $b\nimmed[x, 0]\n"
     "sram[read, $a, x, 0, 2], ctx_swap[s]\nalu[--, --, B, $a]\nctx_arb[kill]\n", "", None),
])
def test_what_is_declared_and_never_used(text: str, names: str | list[str], after: str | None) -> None:
    told = [found.message.split("`")[1] for found in checked(text).diagnostics if found.code == 4014]
    assert told == list(names)
    assert mended(text).text == (text if after is None else after)


@pytest.mark.parametrize("path", cases("asm"), ids=lambda path: path.stem)
def test_the_corpus_is_not_broken(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What assembled gives the same words, what is mended is told no more, and mending again changes nothing."""
    case = load(path)
    monkeypatch.chdir(tmp_path)
    for name, text in case.files.items():
        Path(name).write_text(text, encoding="utf-8")
    source = case.sections["source"]
    before = checked(source)
    done = mended(source)
    after = checked(done.text)
    assert after.diagnostics == done.left and after.reached >= before.reached
    if before.reached is Reached.WORDS:
        assert after.words == before.words
    if done.mended:
        assert mended(done.text).text == done.text
        places = {(found.code, found.message): 1 + len(found.also) for found in before.diagnostics}
        left = {(found.code, found.message): 1 + len(found.also) for found in after.diagnostics}
        for found in done.mended:
            key = (found.code, found.message)
            assert left.get(key, 0) < places.get(key, 100)
    else:
        assert done.text == source


def lint(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["ixpemu", "lint", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    return int(left.value.code or 0)


def test_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    file = Path("a.uc")
    wrong, right = "\ufeffimed[b, 1]\nalu[--, b, +, \xe41]\n", "immed[b, 1]\nalu[--, b, +, 1]\nctx_arb[kill]\n"
    file.write_bytes(b"imed[b, 1]\r\nalu[--, b, +, 1]\t; \xe4\r\nctx_arb[kill]\r\n")
    assert lint(monkeypatch, "a.uc") == 1
    shown = capsys.readouterr()
    assert "error IXP3001" in shown.out and "more: ixpemu explain IXP3001" in shown.out and shown.err == ""
    assert lint(monkeypatch, "a.uc", "--message-format", "sarif") == 1
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert result["fixes"][0]["artifactChanges"][0]["replacements"] == [
        {"deletedRegion": {"startLine": 1, "startColumn": 1, "endColumn": 5}, "insertedContent": {"text": "immed"}}]
    before = file.read_bytes()
    assert lint(monkeypatch, "a.uc", "--diff") == 1
    assert capsys.readouterr().out.splitlines()[2:5] == ["@@ -1,4 +1,4 @@", "-imed[b, 1]", "+immed[b, 1]"]
    assert file.read_bytes() == before and [path.name for path in tmp_path.iterdir()] == ["a.uc"]
    assert lint(monkeypatch, "a.uc", "--fix") == 0
    assert capsys.readouterr() == ("", "mended a.uc:1:1: `imed` is now `immed`\n")
    assert file.read_bytes() == before.replace(b"imed", b"immed"), "encoding and ends of lines stay"
    assert lint(monkeypatch, "a.uc", "--fix") == lint(monkeypatch, "a.uc", "--diff") == lint(monkeypatch, "a.uc") == 0
    assert capsys.readouterr() == ("", "")
    file.write_text(right.replace("immed", "imed"), encoding="utf-8-sig")
    assert lint(monkeypatch, "a.uc", "--fix") == 0 and file.read_text(encoding="utf-8") == "\ufeff" + right
    file.write_text(wrong, encoding="utf-16")
    before = file.read_bytes()
    assert lint(monkeypatch, "a.uc", "--fix") == 1 and file.read_bytes() == before
    assert "cannot be written back" in capsys.readouterr().err
    assert lint(monkeypatch, "a.uc", "--fix", "--diff") == 2
    assert lint(monkeypatch, "none.uc") == lint(monkeypatch, "none.uc", "--fix") == 1


def test_several_files_folders_and_standard_input(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("deep").mkdir()
    Path("deep", "a.uc").write_text("nopp\nctx_arb[kill]\n")
    Path("b.uc").write_text("nop\nctx_arb[kil]\n")
    assert lint(monkeypatch, ".", "b.uc", "--message-format", "short") == 1
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == ["b.uc", str(Path("deep", "a.uc"))]
    assert lint(monkeypatch, "b.uc", "none.uc", "--message-format", "short") == 1
    assert [line.split()[2] for line in capsys.readouterr().out.splitlines()] == ["IXP4004:", "IXP6001:"]
    assert lint(monkeypatch, ".", "--fix") == 0
    assert Path("deep", "a.uc").read_text() == "nop\nctx_arb[kill]\n"
    assert Path("b.uc").read_text() == "nop\nctx_arb[kill]\n"
    capsys.readouterr()
    monkeypatch.setattr("ixpemu.cli_lint.read_standard", lambda: b"nopp\nctx_arb[kill]\n")
    assert lint(monkeypatch, "-", "--message-format", "short") == 1
    assert "IXP3001" in capsys.readouterr().out
    assert lint(monkeypatch, "-", "--fix") == lint(monkeypatch, "-", "b.uc") == 2


def test_what_would_be_left_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A guess is asked about and not made; macros and included files stay as they are, and are named."""
    monkeypatch.chdir(tmp_path)
    Path("m.h").write_text("#macro once()\nnopp\n#endm\n")
    Path("a.uc").write_text("#include \"m.h\"\nonce()\nwibble[a]\nnopp\nctx_arb[kill]\n")
    assert lint(monkeypatch, "a.uc", "--diff") == 1
    shown = capsys.readouterr()
    assert "+nop" in shown.out and "+ble" not in shown.out and "2 messages would be left" in shown.err
    assert lint(monkeypatch, "a.uc", "--fix") == 1
    shown = capsys.readouterr()
    assert "mended a.uc:4:1: `nopp` is now `nop`" in shown.err and "not mended: 1 in macros" in shown.err
    assert Path("m.h").read_text() == "#macro once()\nnopp\n#endm\n"


def test_a_file_that_changes_meanwhile_is_not_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    file = Path("a.uc")
    file.write_text("nopp\nctx_arb[kill]\n")
    original = fixes.mend

    def slow(name: str, text: str, check: fixes.Check) -> fixes.Mended:
        file.write_text("nopp\n; somebody else's work\nctx_arb[kill]\n")
        return original(name, text, check)

    monkeypatch.setattr(fixes, "mend", slow)
    assert lint(monkeypatch, "a.uc", "--fix") == 1
    assert "changed meanwhile: nothing was written" in capsys.readouterr().err
    assert "somebody else" in file.read_text()
