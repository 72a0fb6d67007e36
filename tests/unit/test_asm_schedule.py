"""`--vnops` and `-O` in small: how many no-ops and where, over branches, joins and slots; what may pass what; what is told."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from ixpemu import codes
from ixpemu.asm.pipeline import Assembly, assemble_program
from ixpemu.isa import hazards, instruction_set
from ixpemu.isa.effects import _ACTIONS, BITS, EVERYTHING, effects_of
from ixpemu.isa.model import Constant, Operation, Register, RegisterClass, Word

SET = "local_csr_wr[ACTIVE_LM_ADDR_0, base]"
USE = "alu[*l$index0[0], base, +, 1]"
WORK = "alu[x, x, +, 1]"


def made(*lines: str, **options: bool) -> Assembly:
    text = "\n".join([".reg base x", "immed[base, 64]", "immed[x, 1]", *lines, "ctx_arb[kill]", ""])
    return assemble_program(text=text, **options)


def sources(assembly: Assembly) -> list[str]:
    """The source statements in the order of the words."""
    return [origin.source for origin in assembly.image.debug]


def no_ops(*lines: str) -> int:
    assembly = made(*lines, vnops=True)
    assert assembly.schedule is not None
    assert len(assembly.image) == len(made(*lines).image) + assembly.schedule.no_ops
    return assembly.schedule.no_ops


@pytest.mark.parametrize(("lines", "wanted"), [
    ([SET, USE], 3),
    ([SET, WORK, USE], 2),
    ([SET, WORK, WORK, WORK, USE], 0),
    ([SET, USE, USE], 3),
    ([SET, WORK], 0),
    ([SET, SET, USE], 3),
    ([SET, USE, SET, USE], 6),
    ([SET, "local_csr_wr[ACTIVE_LM_ADDR_1, base]", USE, "alu[*l$index1[0], base, +, 1]"], 2),
    ([SET, "br[use#]", "use#:", USE], 2),
    ([SET, "br[use#], defer[2]", WORK, WORK, "use#:", USE], 0),
    (["br[use#], defer[1]", SET, "use#:", USE], 3),
    ([SET, "alu[--, x, -, 1]", "beq[use#], defer[1]", USE, "use#:", WORK], 1),
    ([SET, "alu[--, x, -, 1]", "beq[use#]", WORK, "use#:", USE], 1),        # taken, two instructions lie between
    (["alu[--, x, -, 1]", "beq[use#]", SET, "use#:", USE, USE], 3),
    ([SET, "ctx_arb[voluntary]", USE], 0),
    (["ctx_arb[voluntary], defer[1]", SET, USE], 0),
    ([USE, WORK, SET, "alu[--, x, -, 1]", "bne[again#]", "again#:", WORK], 0),
])
def test_how_many_no_ops(lines: list[str], wanted: int) -> None:
    assert no_ops(*lines) == wanted


def test_a_loop_is_followed_round() -> None:
    assert no_ops("again#:", USE, WORK, SET, "alu[--, x, -, 9]", "bne[again#]") == 1


def test_straight_programs_have_no_no_op_too_many() -> None:
    """Against every way of putting no-ops into a line of settings and uses."""
    chance = random.Random(4)
    kinds = {
        "0": SET, "1": "local_csr_wr[ACTIVE_LM_ADDR_1, base]", "a": USE, "b": "alu[*l$index1[0], base, +, 1]", "-": WORK,
    }
    for _ in range(150):
        plan = "".join(chance.choice("01ab-") for _ in range(chance.randint(2, 5)))
        assert no_ops(*(kinds[one] for one in plan)) == least(plan), plan


def least(plan: str) -> int:
    """The fewest no-ops, found by trying."""
    for total in range(13):
        for gaps in itertools.product(range(min(total, 3) + 1), repeat=len(plan)):
            if sum(gaps) == total and far_enough("".join("n" * gap + one for gap, one in zip(gaps, plan, strict=True))):
                return total
    raise AssertionError("nothing will do")


def far_enough(plan: str) -> bool:
    return not any(
        plan[place - back] == setter and setter not in plan[place - back + 1 : place]
        for place, one in enumerate(plan) if one in "ab"
        for setter in ["01"["ab".index(one)]] for back in range(1, min(3, place) + 1)
    )


def test_labels_and_lines_follow() -> None:
    assembly = made("br[use#]", WORK, "use#:", SET, USE, "alu[--, x, -, 1]", "bne[use#]", vnops=True, optimise=False)
    assert assembly.image.labels["use#"] == 4
    assert sources(assembly)[4:9] == [SET, *["inserted by --vnops"] * 3, USE]
    assert [origin.place.line for origin in assembly.image.debug][4:9] == [7, 8, 8, 8, 8]


def test_an_address_that_a_program_computes_with_follows() -> None:
    text = [".reg base back", "immed[base, 64]", SET, USE, "load_addr[back, here#]", "rtn[back], targets[here#]"]
    assembly = assemble_program(text="\n".join([*text, "here#:", "ctx_arb[kill]"]), vnops=True)
    load, here = assembly.operations[-3], assembly.image.labels["here#"]
    assert here == 8 and getattr(load.operands[1], "address", None) == here


def test_what_is_mended_is_no_warning_any_more() -> None:
    told = [found.code for found in made(SET, USE).diagnostics]
    mended = [found.code for found in made(SET, USE, vnops=True).diagnostics]
    assert codes.SHADOW_OLD in told and codes.NO_OPS in mended and codes.SHADOW_OLD not in mended
    assert codes.SHADOW_OLD in [found.code for found in made(SET, USE, optimise=True).diagnostics]


def test_nothing_is_said_and_done_without_being_asked() -> None:
    assembly = made(SET, WORK, WORK, WORK, USE)
    assert assembly.schedule is None and not [one for one in assembly.diagnostics if 4140 <= one.code < 4150]


def test_a_shadow_that_may_be_meant_is_left_alone() -> None:
    """Without --vnops what stands behind a write of a pointer keeps its place."""
    lines = [WORK, SET, USE, "alu[x, x, +, 2]", "br[end#]", "end#:", USE, "alu[--, --, B, x]"]
    assembly = made(*lines, optimise=True)
    assert sources(assembly)[2:7] == [SET, USE, "alu[x, x, +, 2]", "br[end#]", WORK] or sources(assembly) == sources(made(*lines))


def test_no_more_slots_than_pay() -> None:
    assembly = made(*[WORK] * 5, "br[end#]", "end#:", "alu[--, --, B, x]", optimise=True)
    assert assembly.schedule is not None and assembly.schedule.filled == 2
    assert sources(assembly)[5:8] == ["br[end#]", WORK, WORK]


def test_every_action_inside_a_microengine_is_known() -> None:
    inside = {one.action for one in instruction_set().variants() if one.action is not None and not one.external}
    assert inside == set(_ACTIONS)


def test_every_delay_of_a_csr_belongs_to_a_piece() -> None:
    delayed = {csr.name for csr in instruction_set().csrs if csr.shadow}
    assert delayed <= {name for piece in hazards.PIECES for name in piece.sets}
    table = hazards.table(instruction_set())
    assert all(table[piece.name].between == 3 and table[piece.name].source for piece in hazards.PIECES)


def gpr(bank: str, number: int) -> Register:
    return Register(RegisterClass.GPR, number, bank)


def test_effects_of_an_addition_with_carry() -> None:
    found = effects_of(instruction_set(), Operation("alu", (gpr("a", 1), gpr("a", 2), Word("+carry"), gpr("b", 3))))
    flags = {name: bit for name, bit in BITS.items() if name.startswith("cc.")}
    assert found.reads == 1 << 2 | 1 << 35 | flags["cc.c"]
    assert found.writes == found.kills == 1 << 1 | sum(flags.values())
    assert found.plain and not found.shared and not found.joined and found.latches


def test_effects_of_what_others_reach() -> None:
    absolute = Register(RegisterClass.ABSOLUTE, 21, "a")
    found = effects_of(instruction_set(), Operation("immed", (absolute, Constant(1))))
    assert found.shared and found.writes == 1 << 5        # register 5 of some context
    through = Register(RegisterClass.LOCAL_MEMORY, None, pointer=1, post=1)
    found = effects_of(instruction_set(), Operation("alu", (gpr("a", 0), through, Word("+"), gpr("b", 0))))
    assert found.writes & BITS["LM_ADDR_1"] and found.reads & BITS["local_memory"] and found.uses == {"LM_ADDR_1"}


def test_effects_of_a_csr_that_others_see_are_all() -> None:
    found = effects_of(instruction_set(), Operation("local_csr_wr", (Word("SAME_ME_SIGNAL"), Constant(8))))
    assert found.reads == found.writes == EVERYTHING and not found.plain


def run(source: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ixpemu", "asm", str(source), *options], check=True, capture_output=True, text=True
    )


def test_the_command_line(tmp_path: Path) -> None:
    source = tmp_path / "one.uc"
    lines = [".reg base x", "immed[base, 64]", "immed[x, 1]", SET, USE, WORK, "alu[--, --, B, x]", "ctx_arb[kill]"]
    source.write_text("\n".join(lines))
    said = json.loads(run(source, "--vnops", "-O", "--json").stdout)
    # The second value of x has the register of base, so it cannot be computed before base is read for the last time.
    assert said["schedule"] == {"no_ops": 2, "no_ops_replaced": 1, "slots_filled": 0, "cycles_saved": 0}
    assert said["words"] == 9
    plain = run(source, "--vnops")
    assert "no-ops inserted: 3, a word and a cycle each" in plain.stderr and "IXP4141" in plain.stderr
