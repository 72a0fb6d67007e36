"""How many registers each word needs, and the picture of live ranges: against counts made by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ixpemu.asm.pipeline import assemble_program
from ixpemu.asm.stages import pressure

TEXT = """.reg a b c @d $in[2] $out $$x[2]
.sig s t p
.xfer_order $in
.xfer_order $$x
immed[a, 1]
immed[b, 2]
immed[@d, 3]
again#:
alu[c, a, +, b]
alu[$out, c, +, @d]
sram[write, $out, a, 0, 1], sig_done[s]
sram[read, $in[0], a, 0, 2], sig_done[t]
ctx_arb[s, t]
dram[read, $$x[0], a, 0, 1], ctx_swap[p]
alu[c, --, B, a]
alu[--, c, +, $in[0]]
alu[--, b, +, $in[1]]
bne[again#]
ctx_arb[kill]
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "x.uc"
    path.write_text(TEXT)
    return path


def test_every_word_by_hand(source: Path) -> None:
    found = pressure(source)
    assert found is not None
    needs = {name: [line.needs[column] for line in found.lines] for column, name in enumerate(found.columns)}
    both = [a + b for a, b in zip(needs.pop("GPR A"), needs.pop("GPR B"), strict=True)]
    # `c` of line 9 is a third value; `c` of line 15 is a copy of `a`, shares its register and so costs nothing.
    assert both == [1, 2, 2, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 0]
    assert needs == {
        "@": [1] * 14,
        "$ read": [0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 1, 0, 0, 0],
        "$ write": [0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0],
        "$$ read": [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0],
        "signals": [0, 0, 0, 0, 0, 1, 2, 2, 2, 0, 0, 0, 0, 0],
    }
    assert dict(zip(found.columns, found.room, strict=True)) == {
        "GPR A": 15, "GPR B": 16, "@": 256, "$ read": 16, "$ write": 16, "$$ read": 16, "signals": 15,
    }
    peak, line = found.peak(found.columns.index("$ read"))
    assert (peak, line and line.address) == (2, 6)


def test_where_there_are_too_few_it_is_said_all_the_same(tmp_path: Path) -> None:
    names = [f"r{number}" for number in range(34)]
    path = tmp_path / "many.uc"
    path.write_text("\n".join([f".reg {' '.join(names)}", *(f"immed[{name}, 1]" for name in names),
                               *(f"alu[--, --, B, {name}]" for name in names), "ctx_arb[kill]"]) + "\n")
    found = pressure(path)
    assert found is not None and found.columns == ("GPR",) and found.room == (32,)
    assert [line.needs[0] for line in found.lines] == [*range(1, 35), *range(33, -1, -1), 0]
    assert "GPR        34 of 32   !   word 33, line 35: immed[r33, 1]" in found.text()


def test_a_physical_program_needs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "physical.uc"
    path.write_text(".physical\nnop\n")
    assert pressure(path) is None


def test_the_picture(source: Path) -> None:
    picture = assemble_program(source).live().splitlines()
    assert "    9     15 X | . | | | . . . . .  alu[c, --, B, a]  ; a1=c" in picture
    assert picture[-1] == "; word 9, line 15: `c` and `a` share a1, so that this sets the condition codes and nothing else"
    assert "nothing was placed" in assemble_program(text=".physical\nnop\n").live()


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "ixpemu", "asm", *arguments], capture_output=True, text=True, check=False)


def test_the_options(source: Path) -> None:
    assert run(str(source), "--pressure").stdout.startswith("where most are needed at once:\n  GPR A")
    assert "; a1=a @a0=@d" in run(str(source), "--live").stdout
    assert json.loads(run(str(source), "--pressure", "--json").stdout)["pressure"]["peaks"][0] == {
        "column": "GPR A", "needed": 1, "word": 0,
    }
    assert run(str(source), "--pressure", "--live").returncode == 2
