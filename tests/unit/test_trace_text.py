"""Traces as text: the columns, what each kind says, windows; and how two traces are compared."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from ixpemu import Chip, assemble
from ixpemu.diagnostics import UserError
from ixpemu.report.difference import difference_text
from ixpemu.trace.difference import Divergence, difference
from ixpemu.trace.text import HEAD, MAGIC, Describer, TextTrace, Window

SOURCE = """
.reg count @total $word
.sig done
immed[count, 2]
immed[@total, 0]
again#:
alu[@total, @total, +, count]
alu[$word, --, b, @total]
scratch[write, $word, count, 0, 1], ctx_swap[done]
alu[count, count, -, 1]
bne[again#]
ctx_arb[kill]
"""
ASSEMBLED = assemble(text=SOURCE, path="adds.uc")


def traced(window: Window | None = None, image: object = ASSEMBLED, cycles: int = 600) -> list[str]:
    """The lines of a trace of one thread on microengine 2, without the head."""
    chip = Chip()
    chip.load(2, ASSEMBLED, start=False)
    chip.start(2, contexts=1)
    stream = io.StringIO()
    window = window or Window()
    images = {} if image is None else {2: ASSEMBLED}
    chip.observe(TextTrace(stream, Describer(chip, images).line, window), window.observed)
    chip.run(cycles=cycles)
    head, columns, *lines = stream.getvalue().splitlines()
    assert (head, columns) == (MAGIC, HEAD)
    return lines


def test_the_lines_of_a_short_program() -> None:
    lines = traced()
    words = [" ".join(line.split()) for line in lines]
    assert words[0] == "1 2 0 0 issue b0 = 0x00000002 adds.uc:4 immed[count, 2]"
    assert words[1] == "2 2 0 1 issue @a0 = 0x00000000 adds.uc:5 immed[@total, 0]"
    assert words[2].startswith("3 2 0 2 issue @a0 = 0x00000002 adds.uc:7")
    assert words[3].startswith("4 2 0 3 issue $0 = 0x00000002 adds.uc:8")
    command = next(line for line in words if " command " in line)
    source = "adds.uc:9 scratch[write, $word, count, 0, 1], ctx_swap[done]"
    assert command == f"5 2 0 4 command scratch write 0x2, 1 at $0, s1 {source}"
    kinds = [line.split()[4] for line in lines]
    assert kinds[:12] == [*["issue"] * 4, "command", "issue", "swap", "abort", "access", "write", "done", "start"]
    assert kinds.count("branch") == 2
    assert any(" branch to 2 adds.uc:11 bne[again#]" in line for line in words)
    assert any(line.endswith("abort 3 cycles") for line in words)
    assert words[-2].endswith("swap waits for nothing")


def test_every_line_has_its_columns() -> None:
    for line in traced():
        cycle, me, ctx, pc, kind = line.split()[:5]
        assert line[:12].strip() == cycle and line[12:15].strip() == me and line[15:19].strip() == ctx
        assert line[19:24].strip() == pc and line[25:34].strip() == kind


def test_without_a_source_there_is_the_disassembly() -> None:
    assert any(line.rstrip().endswith(("alu[b0, b0, -, 1]", "alu[b0, 1, B-A, b0]", "bne[l2#]")) for line in traced(image=None))


@pytest.mark.parametrize(("window", "wanted"), [
    (Window(kinds=frozenset(["branch", "write"])), lambda words: words[4] in ("branch", "write")),
    (Window(first=4, end=20), lambda words: 4 <= int(words[0]) < 20),
    (Window(engines=frozenset([1, 3])), lambda words: False),
    (Window(engines=frozenset([2])), lambda words: True),
    (Window(packets=frozenset([1])), lambda words: False),
])
def test_windows(window: Window, wanted: object) -> None:
    assert callable(wanted)
    assert traced(window) == [line for line in traced() if wanted(line.split())]


def test_slices_write_the_same_text() -> None:
    chip = Chip()
    chip.load(2, ASSEMBLED, start=False)
    chip.start(2, contexts=1)
    stream = io.StringIO()
    chip.observe(TextTrace(stream, Describer(chip, {2: ASSEMBLED}).line, Window()))
    for _ in range(600):
        chip.run(cycles=1)
    assert stream.getvalue().splitlines()[2:] == traced()


def test_kinds_are_checked() -> None:
    with pytest.raises(UserError, match="there is no kind of event 'issuee'"):
        Chip().observe(print, ["issuee"])


def written(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join([MAGIC, HEAD, *lines]) + "\n")
    return path


def test_equal_traces(tmp_path: Path) -> None:
    lines = traced()
    assert difference(written(tmp_path / "a", lines), written(tmp_path / "b", ["# another title", *lines])) == len(lines)


def test_the_first_difference_is_shown_with_what_came_before(tmp_path: Path) -> None:
    lines = traced()
    changed = list(lines)
    at = next(index for index, line in enumerate(lines) if " branch " in line)
    changed[at] = changed[at].replace("to 2", "to 9")
    found = difference(written(tmp_path / "a", lines), written(tmp_path / "b", changed))
    assert isinstance(found, Divergence)
    assert found.common == at
    assert found.first[0].text == lines[at] and found.second[0].text == changed[at]
    assert [line.text for line in found.histories[2, 0]] == lines[at - 10 : at]
    assert found.registers[2, 0] == {"$0 out": "0x00000002", "@a0": "0x00000002", "b0": "0x00000001"}
    text = difference_text(found, ("a", "b"))
    assert f"the first {at} events are the same" in text
    assert f"- a, line {at + 3}" in text and f"+ b, line {at + 3}" in text
    assert "b0 = 0x00000001" in text and "adds.uc:11 bne[again#]" in text


def test_a_trace_that_ends_early(tmp_path: Path) -> None:
    lines = traced()
    found = difference(written(tmp_path / "a", lines[:7]), written(tmp_path / "b", lines))
    assert isinstance(found, Divergence)
    assert (found.common, found.first) == (7, ())
    assert "- a, has ended" in difference_text(found, ("a", "b"))


@pytest.mark.parametrize(("content", "expected"), [
    (b"", "is no trace"),
    (b"\x00\x01\x02" * 1000, "is no trace"),
    (b"#ixpemu trace 7\n", "another version"),
    (b"#ixpemu trace 1\n   5 1 2\n", "has a line that is no event"),
    (b"#ixpemu trace 1\n   5 1 two - done x\n", "has a line that is no event"),
    (b"#ixpemu trace 1\n   5 1 2 - done x", "ends inside a line"),
    (b"#ixpemu trace 1\n" + b"x" * 30_000 + b"\n", "ends inside a line"),
])
def test_bad_files_are_refused(tmp_path: Path, content: bytes, expected: str) -> None:
    (tmp_path / "bad").write_bytes(content)
    good = written(tmp_path / "good", traced())
    for pair in ((tmp_path / "bad", good), (good, tmp_path / "bad")):
        with pytest.raises(UserError, match=expected):
            difference(*pair)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot read"):
        difference(tmp_path / "none", tmp_path / "none")


def test_the_xscale_is_microengine_8() -> None:
    chip = Chip()
    chip.load(2, ASSEMBLED)
    chip.scratch.ring(5).setup(0x200, 128)
    stream = io.StringIO()
    chip.observe(TextTrace(stream, Describer(chip).line, Window(engines=frozenset([8]))))
    chip.run(cycles=20)
    chip.scratch.ring(5).put(77)
    chip.run(cycles=20)
    assert chip.scratch.ring(5).get() == 77
    chip.run(cycles=20)
    lines = [line.split() for line in stream.getvalue().splitlines()[2:]]
    assert [line[:5] for line in lines] == [["20", "8", "0", "-", "ring"], ["40", "8", "0", "-", "ring"]]
    assert [line[-2:] for line in lines] == [["<-", "0x0000004d"], ["->", "0x0000004d"]]


def test_records_are_never_lost_silently() -> None:
    """What the engine finds no room for it counts, and the host says so."""
    chip = Chip()
    chip.load(2, ASSEMBLED)
    chip.observe(lambda events: None)
    chip.state.observed_count = len(chip.state.observed) - 1
    with pytest.raises(RuntimeError, match="records of an observed run found no room"):
        chip.run(cycles=50)


def test_a_busy_chip_is_drained_in_time() -> None:
    """More records than there is room for in one slice: the engine comes back for them by itself."""
    chip = Chip()
    for me in range(8):
        chip.load_words(me, assemble(text=".physical\nagain#:\nalu[a0, a0, +, 1]\nbr[again#]").words)
    seen: list[int] = []
    chip.observe(lambda events: seen.append(len(events)), ["issue", "branch", "abort"])
    chip.run(cycles=5_000)
    executed = chip.instructions
    assert sum(seen) == executed + executed // 2 and len(seen) > 2
