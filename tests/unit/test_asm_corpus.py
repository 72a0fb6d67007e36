"""The cases of tests/corpus/asm, through the whole assembler.

Sections: `source`, `file NAME` (for #include), `options` (arguments of `assemble_program` that are to be true); results:
`statements` (what the preprocessor makes; alone, nothing else is run), `errors` (every diagnostic as it is shown; none may
appear in a case without this section), `words`, `listing`. Whatever assembles is judged besides.
"""

import contextlib
import re

import pytest

from ixpemu import codes
from ixpemu.asm import checker
from ixpemu.asm.control import Control
from ixpemu.asm.directives import Directives
from ixpemu.asm.findings import Findings, Stopped
from ixpemu.asm.operands import OperandReader
from ixpemu.asm.output import Output
from ixpemu.asm.pipeline import assemble, assemble_program, disassemble
from ixpemu.asm.preprocess import preprocess
from ixpemu.asm.program import Program
from ixpemu.asm.scope import Labels, Scopes
from ixpemu.codes import TITLES
from ixpemu.diagnostics import AssemblyError, Sources, UserError, render
from ixpemu.isa import instruction_set
from tests.support.corpus import CORPUS, cases, check, load
from tests.support.listings import judge_listing

GIVEN = ("source", "file", "options")
RESULTS = ("statements", "errors", "words", "listing")


def sources_of(case):
    lines = {name: text.split("\n") for name, text in case.files.items()}
    return Sources({"case.uc": case.sections["source"].split("\n"), **lines})


# With one of these a program waits for what does not come, and the checker has no right answer to compare with.
SENSELESS = {codes.SIGNAL_MIXED, codes.SIGNAL_NEVER_RAISED, codes.NEVER_WAITED_FOR, codes.SIGNAL_AGAIN}


def judge(assembly):
    """The words are what the independent checker accepts, and text that gives them can be made of them."""
    words = list(assembly.image.values)
    if not assembly.program.physical and not {found.code for found in assembly.diagnostics} & SENSELESS:
        assert checker.check(assembly.program, words, instruction_set()) == []
    assert list(assemble(text=disassemble(assembly.image)).values) == words
    judge_listing(assembly)


def statements(text, sources):
    """What the preprocessor makes of a text, and its diagnostics."""
    findings = Findings()
    made = ""
    with contextlib.suppress(Stopped):
        made = "".join(f"{line.text.strip()}\n" for line in preprocess("case.uc", text, findings, ["."]).lines)
    return made, "".join(render(diagnostic, sources) + "\n" for diagnostic in findings.diagnostics)


@pytest.mark.parametrize("path", cases("asm"), ids=lambda path: path.stem)
def test_case(path, tmp_path, monkeypatch, update_goldens):
    case = load(path)
    assert case.about.strip(), "a case says what it is for"
    unknown = [name for name in case.sections if name.split()[0] not in GIVEN + RESULTS]
    assert not unknown, f"unknown sections {unknown}"
    assert set(case.sections) & set(RESULTS), "a case has a result"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "case.uc").write_text(case.sections["source"], encoding="utf-8")
    for name, text in case.files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    if "statements" in case.sections:
        made, shown = statements(case.sections["source"], sources_of(case))
        check(case, "statements", made, update_goldens)
        if not set(case.sections) & {"errors", "words", "listing"}:
            assert shown == ""
            return
    assembly = None
    try:
        assembly = assemble_program("case.uc", include=["."], **dict.fromkeys(case.sections.get("options", "").split(), True))
        diagnostics = assembly.diagnostics
    except AssemblyError as error:
        diagnostics = error.diagnostics
    if assembly is not None:
        judge(assembly)
    shown = "".join(render(diagnostic, sources_of(case)) + "\n" for diagnostic in diagnostics)
    if "errors" in case.sections:
        check(case, "errors", shown, update_goldens)
    else:
        assert shown == ""
    if "words" in case.sections:
        assert assembly is not None, shown
        check(case, "words", "".join(f"{word:010x}\n" for word in assembly.image.words.tolist()), update_goldens)
    if "listing" in case.sections:
        assert assembly is not None, shown
        check(case, "listing", assembly.listing(), update_goldens)


@pytest.mark.parametrize("path", cases("asm"), ids=lambda path: path.stem)
def test_case_with_instructions_moved(path, tmp_path, monkeypatch):
    """Whatever assembles does so with no-ops and moved instructions, too, and is judged in its new order."""
    case = load(path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "case.uc").write_text(case.sections["source"], encoding="utf-8")
    for name, text in case.files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with contextlib.suppress(UserError):
        judge(assemble_program("case.uc", include=["."], vnops=True, optimise=True))


# Diagnostics of the assembler that no case can show, with the reason.
NOT_IN_CORPUS: dict[int, str] = {
    3008: "every instruction has its block; tests/unit/test_asm_pipeline.py plans one",
    4014: "only `ixpemu lint` tells it; tests/unit/test_lint.py",
}


def good_sources():
    """The sources of all cases that assemble, in lower case."""
    texts = [load(path).sections for path in cases("asm")]
    return "\n".join(one["source"] for one in texts if "error IXP" not in one.get("errors", "")).lower()


def test_every_diagnostic_has_a_case():
    shown = "".join(load(path).sections.get("errors", "") for path in cases("asm"))
    wanted = [code for code in TITLES if 1000 <= code < 6000]
    missing = [f"{code} {TITLES[code]}" for code in wanted if f"IXP{code}" not in shown and code not in NOT_IN_CORPUS]
    assert not missing
    assert not [code for code in NOT_IN_CORPUS if f"IXP{code}" in shown], "an exemption is stale"


def test_every_mnemonic_option_and_word_has_a_case_that_assembles():
    """Each option with each mnemonic that takes it, and each word that stands for an operand."""
    good, missing = good_sources(), set()
    for block in instruction_set().blocks.values():
        for form in block.forms:
            for mnemonic in form.mnemonics:
                name = rf"(?m)(?<![\w.]){re.escape(mnemonic.lower())}"
                if re.search(rf"{name}(?![\w#])", good) is None:
                    missing.add(mnemonic)
                missing |= {f"{mnemonic}, {token.name}" for token in form.tokens
                            if re.search(rf"{name}\b[^;\n]*\b{re.escape(token.name.lower())}\b", good) is None}
                missing |= {f"{mnemonic}[{word}]" for spec in form.operands for word in spec.words
                            if re.search(rf"{name}\s*\[[^;\n]*(?<!\w){re.escape(word.lower())}(?!\w)", good) is None}
    assert sorted(missing) == []


def test_everything_of_the_preprocessor_has_a_case():
    """Directives and built-in functions, those that another one replaces included."""
    texts = "\n".join(load(path).sections.get("source", "") for path in cases("asm")).lower()
    for page, pattern in (("preprocessor.md", r"`(#\w+)"), ("preprocessor.md", r"`(\w+)\([\w, ]*\)`")):
        named = set(re.findall(pattern, (CORPUS.parents[1] / "docs" / page).read_text(encoding="utf-8").lower()))
        assert len(named) > 5
        assert [name for name in sorted(named) if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", texts) is None] == []


def test_every_directive_has_a_case_that_assembles():
    program, findings = Program(), Findings()
    scopes, isa = Scopes(findings), instruction_set()
    labels = Labels(findings, [])
    operands, output = OperandReader(isa, scopes, labels, findings, False), Output(program, labels, scopes, isa)
    control = Control(operands, output, findings, False)
    names = {*Directives(program, scopes, operands, output, findings).actions, *control.names}
    assert len(names) > 50
    good = good_sources()
    assert [name for name in sorted(names) if re.search(rf"{re.escape(name)}(?!\w)", good) is None] == []


def test_the_corpus_is_there():
    assert CORPUS.is_dir()
    assert len(cases("asm")) + len(cases("link")) >= 250
