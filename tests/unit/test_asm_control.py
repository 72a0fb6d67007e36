"""Structured control where chance does not lead: COUT, loops in loops, four contexts, macros, what is left out."""

import pytest

from ixpemu import Chip, assemble
from ixpemu.asm.pipeline import assemble_program
from tests.support.conditions import EDGES


def ran(text: str, name: str = "done") -> int:
    """What the program leaves in a volatile register, of context 0."""
    image = assemble(text=f".reg volatile {name}\nimmed[{name}, 0]\n{text}\nctx_arb[kill]\n")
    chip = Chip()
    chip.load(0, image, start=False)
    chip.start(0, 1)
    assert chip.run(cycles=50_000).reason == "quiet"
    bank, ctx = image.registers[name], chip.me[0].ctx[0]
    return int((ctx.gpr_a if bank[0] == "a" else ctx.gpr_b)[int(bank[1:])])


@pytest.mark.parametrize(
    ("first", "second", "carry"), [(0xFFFFFFFF, 1, 1), (0xFFFFFFFE, 1, 0), (0, 0, 0), (0x80000000, 0x80000000, 1)]
)
@pytest.mark.parametrize("form", ["COUT", "!(!cout)", "COUT == 1", "0 != COUT"])
def test_cout_is_the_carry_of_the_instruction_before(first: int, second: int, carry: int, form: str) -> None:
    load = "".join(f"immed[{n}, {v & 0xFFFF}]\nimmed_w1[{n}, {v >> 16}]\n" for n, v in (("x", first), ("y", second)))
    assert ran(f".reg x y\n{load}alu[--, x, +, y]\n.if ({form})\nimmed[done, 1]\n.endif") == carry


def test_loops_nest_and_each_has_its_own_ends() -> None:
    text = """
.reg i j
immed[i, 0]
.while (i < 10)
    alu[i, i, +, 1]
    .if (i == 3)
        .continue
    .endif
    immed[j, 0]
    .repeat
        alu[j, j, +, 1]
        .if (j == 2)
            .continue
        .elif (j > i)
            .break
        .endif
        alu[done, done, +, 1]
    .until (j >= 5)
    .if (i == 8)
        .break
    .endif
.endw
"""
    wanted = i = 0
    while i < 10:
        i += 1
        if i == 3:
            continue
        j = 0
        while True:
            j += 1
            if j != 2:
                if j > i:
                    break
                wanted += 1
            if j >= 5:
                break
        if i == 8:
            break
    assert ran(text) == wanted


def test_a_macro_has_its_own_structures_each_time() -> None:
    text = """
#macro absolute(x)
.if (x < 0)
    alu[x, --, ~B, x]
    alu[x, x, +, 1]
.endif
#endm
.reg a
immed[a, -5]
absolute(a)
alu[done, done, +, a]
immed[a, 7]
absolute(a)
alu[done, done, +, a]
"""
    assert ran(text) == 12


def test_parked_code_is_reached_by_branches_alone() -> None:
    text = """
.if (0)
add#:
    alu[done, done, +, 3]
    br[back#]
.endif
.if (done == 0)
    br[add#]
.endif
back#:
"""
    assert ran(text) == 3


@pytest.mark.parametrize("contexts", [4, 8])
def test_contexts_are_told_apart_in_both_modes(contexts: int) -> None:
    image = assemble(text=f"""
.num_contexts {contexts}
.reg volatile @seen
.set @seen
.reg own
immed[own, 0]
.if (CTX() == 2)
    immed[own, 0x10]
.elif (CTX() >= 4)
    immed[own, 0x100]
.endif
alu[@seen, @seen, +, own]
ctx_arb[kill]
""")
    chip = Chip()
    chip.load(0, image)
    assert chip.run(cycles=5000).reason == "quiet"
    place = image.registers["@seen"]
    file = chip.me[0].gpr_a_abs if place[1] == "a" else chip.me[0].gpr_b_abs
    assert int(file[int(place[2:])]) == 0x10 + 0x100 * (2 if contexts == 4 else 4)


def test_no_branch_is_written_that_nobody_comes_to() -> None:
    text = "start#:\n.if (CTX() == 1)\nbr[start#]\n.else\nctx_arb[kill]\n.endif\n"
    assembly = assemble_program(text=text)
    assert [i.operation.mnemonic for i in assembly.program.instructions] == ["br!=ctx", "br", "ctx_arb"]
    assert assembly.diagnostics == ()


def test_instructions_of_a_condition_stand_where_it_stands() -> None:
    text = ".reg a b\nimmed[a, 1]\nimmed[b, 2]\n.if (a == 5 &&\n     b > 0x12345)\nnop\n.endif\nctx_arb[kill]\n"
    program = assemble_program(text=text).program
    made = [(i.operation.mnemonic, i.origin.span) for i in program.instructions[2:-2]]
    spans = [(name, span.line, span.column, span.length) for name, span in made]
    assert spans == [("alu", 4, 6, 6), ("bne", 4, 6, 6), *[(name, 5, 6, 11) for name in ("immed", "immed_w1", "alu", "ble")]]


def test_subroutines_call_each_other_and_return() -> None:
    text = """
.reg ret inner
    load_addr[ret, one#]
    br[outer#]
one#:
    load_addr[ret, two#]
    br[outer#], defer[1]
    alu[done, done, +, 16]
two#:
.if (0)
.subroutine
outer#:
    alu[done, done, +, 1]
    load_addr[inner, within#]
    br[helper#]
within#:
    rtn[ret]
.endsub
.subroutine
helper#:
    alu[done, done, +, 2]
    rtn[inner]
.endsub
.endif
"""
    assert ran(text) == 22


RELATIONS = ("==", "!=", "<", "<=", ">", ">=")


def load(name: str, value: int) -> str:
    return f"immed[{name}, {value & 0xFFFF}]\nimmed_w1[{name}, {value >> 16}]\n"


@pytest.mark.parametrize("constant", EDGES)
@pytest.mark.parametrize("exchanged", [False, True])
def test_every_comparison_with_a_constant_is_right_around_it(constant: int, exchanged: bool) -> None:
    """All six relations, signed and not, for the values around the constant and at the ends of both ranges."""
    values = [*(constant + d & 0xFFFFFFFF for d in (-1, 0, 1)), 0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]
    text = [".reg volatile x\n.reg done\n"]
    for place, value in enumerate(values):
        text.append(load("x", value) + "immed[done, 0]\n")
        for bit, (relation, ending) in enumerate((r, e) for r in RELATIONS for e in ("", "_unsigned")):
            sides = f"{constant:#x} {relation} x" if exchanged else f"x {relation} {constant:#x}"
            text.append(f".if{ending} ({sides})\nalu_shf[done, done, OR, 1, <<{bit}]\n.endif\n")
        text.append(f"alu[*l$index0[{place}], --, B, done]\n")
    chip = Chip()
    chip.load(0, assemble(text="".join(text) + "ctx_arb[kill]\n"), start=False)
    chip.start(0, 1)
    assert chip.run(cycles=50_000).reason == "quiet"
    for place, value in enumerate(values):
        wanted = 0
        for bit, (relation, signed) in enumerate((r, s) for r in RELATIONS for s in (True, False)):
            a, b = (constant, value) if exchanged else (value, constant)
            if signed:
                a, b = (one - (1 << 32) if one >> 31 else one for one in (a, b))
            holds = {"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[relation]
            wanted |= holds << bit
        assert int(chip.me[0].local_memory[place]) == wanted, (hex(value), hex(constant))
