"""Whatever the text, the assembler answers with an image or with diagnostics in bounded time, and never with a traceback."""

import time

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ixpemu.asm.findings import MOST_ERRORS
from ixpemu.asm.pipeline import assemble_program
from ixpemu.diagnostics import AssemblyError, Severity, as_json, render
from ixpemu.isa import instruction_set

SIGNS = [
    *"[](),#:;'\"$@*&-+~!<>=?%/^|\\.{}` \t", "\n", "/*", "*/", "//", "/**/", "--", "<<", ">>", "n$", "*l$index0", "\\\n",
]
WORDS = [
    "a", "b", "x", "x[0]", "$x", "$$y", "@t", "n$n", "*$index++", "*l$index0[3]", "l#", "l#:", "s", "0", "1", "255", "0xffff",
    "0011", "read", "write", "and", "b-a", "<<rot3", "voluntary", "m", "N", "F(1)", "&s", "&$x", "(1 + 2)", "defer[1]",
    "ctx_swap[s]", "sig_done[s]", "any", "br[l#]", "max_4", "indirect_ref", "volatile", "global", "'text'", '"text"',
]
DIRECTIVES = [
    ".reg", ".sig", ".begin", ".end", ".local", ".endlocal", ".xfer_order", ".set", ".use", ".set_sig", ".io_completed",
    ".num_contexts", ".physical", ".probe", ".word", ".if", "#define", "#define_eval", "#undef", "#if", "#elif", "#else",
    "#endif", "#ifdef", "#ifndef", "#macro", "#endm", "#while", "#for", "#repeat", "#endloop", "#include", "#error",
    "#warning", "#pragma", "defined(", "strlen(", "log2(", "strright(", "isnum(", "streq(",
]
PIECES = st.sampled_from(SIGNS + WORDS + DIRECTIVES + list(instruction_set().mnemonics()))

START = ".sig s\n.reg x[2]\n#define N 3\n#define F(a) a + N\n#macro m(a)\nalu[a, --, b, 1]\n#endm\nl#:\n"


def assemble(text):
    """Assembles and renders what comes of it; only user errors may be raised."""
    started = time.monotonic()
    try:
        diagnostics = assemble_program(text=text).diagnostics
    except AssemblyError as error:
        diagnostics = error.diagnostics
        assert any(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics)
    assert sum(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics) <= MOST_ERRORS
    for diagnostic in diagnostics:
        assert render(diagnostic).startswith(f"{diagnostic.severity.value} IXP")
    as_json(diagnostics)
    assert time.monotonic() - started < 30


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=200))
def test_any_characters(text):
    assemble(text)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(PIECES, max_size=60).map(" ".join))
def test_any_words(text):
    assemble(START + text)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.tuples(
            st.sampled_from(list(instruction_set().mnemonics())),
            st.lists(st.sampled_from(WORDS), max_size=6),
            st.lists(st.sampled_from(WORDS), max_size=2),
        ).map(lambda parts: f"{parts[0]}[{', '.join(parts[1])}]" + "".join(f", {option}" for option in parts[2])),
        max_size=8,
    )
)
def test_instructions_of_any_operands(lines):
    assemble(START + "\n".join(lines))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(DIRECTIVES), st.lists(PIECES, max_size=5)), max_size=15))
def test_directives_of_any_operands(lines):
    assemble(START + "\n".join(" ".join([directive, *pieces]) for directive, pieces in lines))


def test_long_lines_and_deep_nesting_end_soon():
    for text in (
        "alu[" * 3000, "(" * 30000, "#if " + "(" * 5000, "#if " + "strlen(" * 3000, "immed[x, " + "~" * 5000 + "1]",
        "immed[x, " + "1+" * 1500 + "1]", "x#: " * 5000, "#if 1\n" * 3000, ".begin\n" * 3000, "a[" + "0," * 50000 + "]",
        "#define a a a\n" + "a " * 3000, "#define a(x) x x\n" + "a(" * 500 + "1" + ")" * 500, "\\\n" * 5000, "alu[\n" * 5000,
        "#macro m(a)\nm(a a)\n#endm\nm(x)", "#repeat (0x7fffffff)\n#endloop", "#for x [" + "1," * 5000 + "]\nnop\n#endloop",
        "/*" * 10000, "'" * 10001, "#define_eval x strleft('" + "y" * 30000 + "', 20000)\nx", ".reg x[128]\n.xfer_order x\n" * 50,
    ):
        assemble(text)
