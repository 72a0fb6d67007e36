"""The listing: what stands at a word, the brackets of macro expansions, what macros cost, the form for programs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ixpemu import resources
from ixpemu.asm.pipeline import assemble_program
from tests.support.listings import judge_listing

PROGRAM = """\
.reg count mask $x[2] unused
.xfer_order $x
.sig arrived
#macro step(r)
    alu[r, r, +, 1]
#endm
#macro twice(r)
    step(r)
    step(r)
    alu[--, r, AND, 7]
#endm
#macro nothing
#endm
immed[count, 5]
immed[mask, 0]
immed[unused, 1]
again#:
twice(count)
twice(count)
nothing
ld_field[mask, 0011, count]
sram[read, $x[0], count, 0, 2], ctx_swap[arrived], defer[1]
alu[mask, mask, +, count]
alu[--, $x[0], +, 1]
alu[--, $x[1], +, mask]
bne[again#], defer[1]
nop
ctx_arb[kill]
"""


@pytest.fixture(scope="module")
def assembly():
    return assemble_program("p.uc", text=PROGRAM)


def comments(assembly, address):
    """The comments of a word."""
    lines = assembly.listing().splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith(f".{address} "))
    found = []
    for line in lines[at + 2:]:
        if not line.startswith("    ; "):
            return found
        found.append(line.removeprefix("    ; "))
    return found


def test_a_word_says_what_it_reads_and_writes(assembly) -> None:
    assert comments(assembly, 0) == ["immed[count, 5]", "writes count = b0"]
    assert comments(assembly, 2)[1] == "writes unused = a1 which nothing reads"
    read = comments(assembly, 10)
    assert read[0].startswith("sram[read, $x[0]") and read[1].startswith("reads count = ")
    assert "writes $x[0] = $0, $x[1] = $1; raises arrived = s1" in read[1]
    assert read[2] == "defers .11, 1 of at most 2"
    assert comments(assembly, 11)[-1] == "in a defer slot of .10"
    assert "$x[0] = $0 for the last time" in comments(assembly, 12)[1]
    assert comments(assembly, 14)[1:] == ["to again# = .3", "defers .15, 1 of at most 3"]


def test_a_byte_mask_is_four_digits(assembly) -> None:
    assert ", 0011, " in assembly.rows().rows[9].text


def test_every_expansion_has_brackets_of_its_own(assembly) -> None:
    judge_listing(assembly)
    brackets = [line for line in assembly.listing().splitlines() if "macro_ref" in line]
    step = [".macro_ref step", ".end_macro_ref step"]
    assert brackets == [".macro_ref twice", *step, *step, ".end_macro_ref twice"] * 2


def test_macros_are_counted_with_what_they_call(assembly) -> None:
    costs = {cost.macro: (cost.expansions, cost.own, cost.nested, cost.total, cost.least, cost.most)
             for cost in assembly.rows().macros}
    assert costs == {"twice": (2, 2, 4, 6, 3, 3), "step": (4, 4, 0, 4, 1, 1), "nothing": (1, 0, 0, 0, 0, 0)}
    assert [line.split() for line in assembly.macro_cost().splitlines()[1:]] == [
        ["twice", "2", "3", "2", "4", "6"], ["step", "4", "1", "4", "0", "4"], ["nothing", "1", "0", "0", "0", "0"],
        ["outside", "macros", "11"], ["all", "17"],
    ]


def test_a_macro_within_itself_is_counted_once(assembly) -> None:
    text = "#macro down(n)\n    nop\n#if (n > 0)\n    down((n - 1))\n#endif\n#endm\ndown(2)\nctx_arb[kill]\n"
    (cost,) = assemble_program(text=text).rows().macros
    assert (cost.expansions, cost.own, cost.total, cost.least, cost.most) == (3, 3, 3, 1, 3)


def test_a_physical_program_has_a_listing() -> None:
    assembly = assemble_program(text=".physical\nl0#:\nalu[a0, a0, +, b1]\n.word 0x0123456789\nbr[l0#]\n")
    judge_listing(assembly)
    assert "to l0# = .0" in assembly.listing() and "0123456789" in assembly.listing()


@pytest.mark.parametrize("name", ["ipv4_forward/forward.uc", "ipv4_forward/receive.uc", "echo/echo.uc", "tests/library_table.uc"])
def test_listings_of_the_shipped_programs(name: str) -> None:
    judge_listing(assemble_program(resources.folder("microcode") / name))


def test_the_command_writes_both_forms_and_the_table(tmp_path: Path) -> None:
    (tmp_path / "p.uc").write_text(PROGRAM)

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "ixpemu", "asm", "p.uc", *arguments], cwd=tmp_path, capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        )
        return done.stdout

    assert run("--list", "p.JSON", "--macro-cost").startswith("macro ")
    assert json.loads((tmp_path / "p.JSON").read_text())["control_store"] == {"used": 17, "words": 4096}
    assert {one["macro"] for one in json.loads(run("--json", "--macro-cost"))["macros"]} == {"step", "twice", "nothing"}
    assert "macros" not in json.loads(run("--json"))
