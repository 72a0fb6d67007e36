"""Every case of the corpus cut short or damaged: diagnostics or an image, in bounded time, and never a traceback."""

import os
import time

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ixpemu.asm.findings import MOST_ERRORS
from ixpemu.asm.pipeline import assemble_program
from ixpemu.diagnostics import AssemblyError, Severity, render
from tests.support.corpus import cases, load

SOURCES = [load(path).sections["source"] for path in cases("asm")]
INSERTED = [
    "(", ")", "[", "]", ",", "#", ":", "'", '"', "\\", "/*", "*/", "/**/", "//", ";", "\n", " ", "\t", "\0", "\u00e9", "--", "0",
    "9999999999", "#if ", "#else\n", "#endif\n", "#macro m(a)\n", "#endm\n", "#while 1\n", "#endloop\n", "#define x x x\n",
    "#undef x\n", ".if (", ".end\n",
]


def assemble(text):
    started = time.process_time()
    try:
        diagnostics = assemble_program(text=text, include=[os.devnull]).diagnostics
    except AssemblyError as error:
        diagnostics = error.diagnostics
        assert any(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics)
    assert sum(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics) <= MOST_ERRORS
    for diagnostic in diagnostics:
        assert "\n" not in diagnostic.message and render(diagnostic)
    assert time.process_time() - started < 20


@st.composite
def damaged(draw):
    text = draw(st.sampled_from(SOURCES))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        length = draw(st.sampled_from([0, 0, 1, 2, 5, 40]))
        kind = draw(st.sampled_from(["insert", "delete", "repeat", "move", "cut"]))
        piece = text[start:start + length]
        if kind == "insert":
            text = text[:start] + draw(st.sampled_from(INSERTED)) + text[start:]
        elif kind == "delete":
            text = text[:start] + text[start + length:]
        elif kind == "repeat":
            text = text[:start] + piece * 3 + text[start:]
        elif kind == "move":
            rest = text[:start] + text[start + length:]
            to = draw(st.integers(0, len(rest)))
            text = rest[:to] + piece + rest[to:]
        else:
            text = text[:start]
    return text


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(damaged())
def test_damaged_sources(text):
    assemble(text)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(SOURCES), st.sampled_from(SOURCES), st.floats(0, 1), st.floats(0, 1))
def test_one_source_goes_over_into_another(first, second, end, start):
    assemble(first[: int(end * len(first))] + second[int(start * len(second)):])
