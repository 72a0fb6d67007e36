"""What images leave to the linker and the loader: written and read again, given values, loaded, and executed."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ixpemu import Chip, Image, assemble, codes
from ixpemu.diagnostics import UserError
from ixpemu.image_links import evaluate, is_well_formed
from ixpemu.link_values import resolve

PROGRAM = """
.import_var PORTS
.global_mem table sram0 64 16
.local_mem cache 32
.local_mem counters scratch 16
.sig remote their_signal
.sig visible mine
.reg visible @shared
.reg a b $x volatile_sum
.reg volatile sum
.init a 5
.init @shared (PORTS + 1)
.init_ctx 2 sum 77
.init table 1 2 (PORTS << 8)
.init table+12 (-1)
.init cache+4, 9, 10
.init counters 0x1234
.init_csr T_INDEX 12
.assert (PORTS > 1) "no ports"
.sig done
    immed[b, (table & 0xffff)]
    immed_w1[b, (table >> 16)]
    sram[read, $x, b, 4, 1], ctx_swap[done]
    alu[a, a, +, PORTS]
    alu[sum, $x, +, a]
    alu[sum, sum, +, (&remote(their_signal, 3) * 2)]
    .if (sum > (PORTS * 1000))
        immed[sum, 0]
    .endif
    alu[@shared, @shared, +, sum]
    ctx_arb[kill]
"""
VALUES = {"PORTS": 3, "table": 0x121230, "counters": 0x40, "remote:their_signal@3": 7}


def code_of(error: pytest.ExceptionInfo[UserError]) -> int:
    return error.value.diagnostics[0].code


def test_an_image_with_open_names_is_written_and_read_again() -> None:
    image = assemble(text=PROGRAM)
    assert set(image.links.unresolved()) == set(VALUES)
    content = image.as_bytes()
    assert content.startswith(b"ixp 2\n")
    assert Image.from_bytes(content) == image
    assert assemble(text="nop").as_bytes().startswith(b"ixp 1\n")      # older versions read what needs nothing new


def test_a_damaged_image_with_links_is_refused_with_its_line() -> None:
    content = assemble(text=PROGRAM).as_bytes().decode()
    lines = content.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("imports "))
    for number in range(first, len(lines) - 1):
        for changed in ("", "nonsense", lines[number] + " 1", lines[number].replace('"', "")):
            if changed == lines[number]:
                continue
            text = "\n".join([*lines[:number], changed, *lines[number + 1:]]) + "\n"
            with pytest.raises(UserError) as error:
                Image.from_bytes(text.encode(), name="x.ixp")
            assert code_of(error) == codes.IMAGE_DAMAGED
            assert error.value.diagnostics[0].origin is not None
    for end in range(first, len(lines)):
        with pytest.raises(UserError):
            Image.from_bytes(("\n".join(lines[:end]) + "\n").encode())


def test_values_go_into_words_memory_registers_and_csrs() -> None:
    image = resolve(assemble(text=PROGRAM), VALUES)
    assert image.links.unresolved() == () and image.links.fixups == ()
    assert Image.from_bytes(image.as_bytes()) == image
    chip = Chip()
    chip.load(0, image, start=False)
    assert chip.sram[0].read(VALUES["table"], 4).tolist() == [1, 2, 3 << 8, 0xFFFFFFFF]
    assert chip.me[0].local_memory[:4].tolist() == [0, 9, 10, 0]
    assert chip.scratch.read(0x40, 1).tolist() == [0x1234]
    assert chip.me[0].csr["T_INDEX"] == 12
    own = place(chip, 0, 2, image.registers["sum"])
    assert own == 77 and place(chip, 0, 1, image.registers["sum"]) == 0
    chip.start(0, 1)
    assert chip.run(cycles=20_000).reason == "quiet"
    wanted = 2 + 5 + 3 + 14
    assert place(chip, 0, 0, image.registers["sum"]) == wanted
    (shared,) = [one for one in image.links.exports if one.name == "@shared"]
    assert place(chip, 0, 0, shared.place) == 4 + wanted


def place(chip: Chip, me: int, context: int, text: str) -> int:
    found = re.fullmatch(r"(@?)([ab])(\d+)", text)
    assert found is not None, text
    engine = chip.me[me]
    if found[1]:
        return int((engine.gpr_a_abs if found[2] == "a" else engine.gpr_b_abs)[int(found[3])])
    own = engine.ctx[context]
    return int((own.gpr_a if found[2] == "a" else own.gpr_b)[int(found[3])])


def test_some_values_first_and_the_others_later() -> None:
    image = assemble(text=PROGRAM)
    whole = resolve(image, VALUES)
    halfway = resolve(image, {"PORTS": 3})
    assert "PORTS" not in halfway.links.unresolved() and "table" in halfway.links.unresolved()
    assert resolve(halfway, {name: value for name, value in VALUES.items() if name != "PORTS"}) == whole


def test_what_is_open_is_not_loaded() -> None:
    with pytest.raises(UserError) as error:
        Chip().load(0, assemble(text=PROGRAM))
    assert code_of(error) == codes.LINK_OPEN
    assert "table, PORTS" in str(error.value)


@pytest.mark.parametrize(
    ("values", "code", "says"),
    [
        ({"PORTZ": 1}, codes.LINK_NAME, "did you mean 'PORTS'?"),
        ({"PORTS": 1 << 32}, codes.LINK_VALUE, "32 bits"),
        ({"PORTS": 300}, codes.LINK_VALUE, "<text>:24"),
        ({"table": 0x121234}, codes.LINK_VALUE, "no multiple of 16"),
    ],
)
def test_values_that_do_not_do_are_refused(values: dict[str, int], code: int, says: str) -> None:
    with pytest.raises(UserError) as error:
        resolve(assemble(text=PROGRAM), values)
    assert code_of(error) == code
    assert says in str(error.value)


def test_a_division_by_a_value_of_zero_is_refused() -> None:
    image = assemble(text=".import_var N\n.reg a\nimmed[a, (100 / N)]\nalu[--, --, B, a]\nctx_arb[kill]\n")
    with pytest.raises(UserError) as error:
        resolve(image, {"N": 0})
    assert code_of(error) == codes.LINK_VALUE
    known = assemble(text=".reg a\nimmed[a, 14]\nalu[--, --, B, a]\nctx_arb[kill]\n")
    assert resolve(image, {"N": 7}).values == known.values


def test_an_assertion_is_checked_when_its_names_are_known() -> None:
    image = assemble(text='.import_var N\n.assert (N < 5) "too many"\nctx_arb[kill]\n')
    assert Image.from_bytes(image.as_bytes()) == image and image.links.unresolved() == ("N",)
    assert resolve(image, {"N": 4}).links.checks == ()
    with pytest.raises(UserError) as error:
        resolve(image, {"N": 5})
    assert code_of(error) == codes.ASSERTION
    assert "too many" in str(error.value) and "<text>:2" in str(error.value) and "N = 0x5" in str(error.value)


def test_initial_values_outlive_a_loop_back_to_the_start() -> None:
    text = """
.reg count limit $given pair[2]
.reg volatile @total
.init count 5
.init limit (2 * 8)
.init $given 0x100
.init pair 7 8
.init @total 0
again#:
    alu[count, count, +, 1]
    alu[@total, @total, +, pair[0]]
    alu[--, count, -, limit]
    blt[again#]
    alu[@total, @total, +, $given]
    alu[@total, @total, +, pair[1]]
    ctx_arb[kill]
"""
    image = assemble(text=text)
    chip = Chip()
    chip.load(0, image, start=False)
    chip.start(0, 1)
    assert chip.run(cycles=20_000).reason == "quiet"
    assert place(chip, 0, 0, image.registers["@total"]) == 7 * 11 + 0x100 + 8


NAMES = {"x": 3, "y": 0xFFFFFFF0, "z": 0}
OPERATORS = {"+": "+", "-": "-", "*": "*", "&": "&", "|": "|", "^": "^", "==": "==", "!=": "!="}


def trees() -> st.SearchStrategy[tuple[str, str]]:
    """An expression as Python has it, and in postfix."""
    leaf = st.sampled_from(list(NAMES)).map(lambda name: (name, name)) | st.integers(0, 99).map(lambda n: (str(n), hex(n)))
    return st.recursive(leaf, lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(list(OPERATORS)), inner).map(
            lambda t: (f"({t[0][0]} {OPERATORS[t[1]]} {t[2][0]})", f"{t[0][1]} {t[2][1]} {t[1]}")),
        inner.map(lambda one: (f"(-{one[0]})", f"{one[1]} neg")), inner.map(lambda one: (f"(~{one[0]})", f"{one[1]} ~")),
    ), max_leaves=8)


@given(trees())
@settings(max_examples=60, deadline=None)
def test_postfix_is_worth_what_python_says(tree: tuple[str, str]) -> None:
    infix, postfix = tree
    assert is_well_formed(postfix)
    if "==" not in infix and "!=" not in infix:      # the others agree with arithmetic that is reduced at the end
        assert evaluate(postfix, NAMES) == eval(infix, {}, dict(NAMES)) & 0xFFFFFFFF
    assert evaluate(postfix, {}) is None or not set(NAMES) & set(postfix.split())
    assert not is_well_formed(postfix + " +") and not is_well_formed("")
