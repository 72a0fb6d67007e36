"""Chips of other sizes: fewer microengines, other control stores, the IXP2800; their numbers, and what they refuse."""

import ast
from pathlib import Path

import pytest

from ixpemu import AssemblyError, Chip, UserError, assemble
from ixpemu.app import App
from ixpemu.engine.layout import ME_COUNT, RESERVED_OVERRIDE, RESERVED_THREAD_ENTRY, STORE_WORDS
from ixpemu.engine.state import LARGE, PER_WORD, STATE, layout_for, new_state, state_type
from ixpemu.isa.chipfile import load_chip
from tests.support.machine import words_of

ROOT = Path(__file__).parents[2]
SIXTEEN = load_chip("ixp2800")
ENP = load_chip()


def chip_of(parameters, **changes) -> Chip:
    return Chip(parameters.override({name.replace("__", "."): value for name, value in changes.items()}))


def run(chip: Chip, me: int, *lines: str, contexts: int = 1, cycles: int = 5000):
    chip.load_words(me, words_of("\n".join([*lines, "ctx_arb[kill]"])), start=False)
    chip.start(me, contexts)
    chip.run(cycles=cycles)
    return chip.me[me].ctx[0]


def test_the_usual_layout_is_what_it_was_and_the_large_one_has_the_same_fields():
    assert state_type(ME_COUNT, STORE_WORDS) == STATE
    large = state_type(*LARGE)
    assert large.names == STATE.names
    differing = {name for name in STATE.names if large[name] != STATE[name]}
    assert differing == {"keys", "engines", "packets", *PER_WORD}
    assert {name for name in STATE.names if STATE[name].shape == (ME_COUNT * STORE_WORDS,)} == set(PER_WORD)
    assert len(new_state()[0].keys) % 4 == len(new_state(*LARGE)[0].keys) % 4 == 0
    assert (layout_for(1, 256), layout_for(8, 4096)) == ((8, 4096),) * 2
    assert {layout_for(9, 4096), layout_for(8, 4097), layout_for(16, 8192)} == {LARGE}


def test_compiled_code_asks_the_state_for_its_sizes():
    """A constant of the usual layout would be wrong in the code of the other one."""
    for path in sorted((ROOT / "ixpemu" / "engine").glob("*.py")):
        if path.name in ("layout.py", "state.py", "decode.py"):
            continue
        names = {node.id for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Name)}
        assert not names & {"ME_COUNT", "STORE_WORDS", "KEYS"}, path.name


@pytest.mark.parametrize(("parameters", "numbers"), [
    (ENP, [0, 1, 2, 3, 0x10, 0x11, 0x12, 0x13]), (SIXTEEN, [*range(8), *range(0x10, 0x18)]),
])
def test_chip_numbers_are_the_drivers(parameters, numbers):
    chip = Chip(parameters)
    assert [me.chip_number for me in chip.me] == numbers
    for me, number in enumerate(numbers):
        ctx = run(chip, me, "local_csr_rd[ACTIVE_CTX_STS]", "immed[a0, 0]")
        status = int(ctx.gpr_a[0])
        assert (status >> 7 & 1, status >> 3 & 15, status & 7) == (number >> 4, number & 15, 0)


@pytest.mark.parametrize("parameters", [ENP, SIXTEEN, ENP.override({"chip.microengines": 3})])
def test_the_neighbour_chain_goes_through_all_and_ends(parameters):
    chip = Chip(parameters)
    count = len(chip.me)
    for me in range(count):
        lines = f"immed[n$0, {me + 40}]\nlocal_csr_wr[NEXT_NEIGHBOR_SIGNAL, 24]\nctx_arb[kill]"
        chip.load_words(me, words_of(lines), start=False)
        chip.start(me, 1)
    chip.run(cycles=100)
    assert [int(me.ctx[0].neighbor[0]) for me in chip.me] == [0, *range(40, 40 + count - 1)]
    assert [3 in me.ctx[0].signals for me in chip.me] == [False] + [True] * (count - 1)
    run(chip, count - 1, "local_csr_wr[PREV_NEIGHBOR_SIGNAL, 32]")
    assert chip.me[count - 2].ctx[0].signals == ({3, 4} if count > 2 else {4})
    before = [me.ctx[0].signals for me in chip.me][1:]
    run(chip, 0, "local_csr_wr[PREV_NEIGHBOR_SIGNAL, 32]")
    assert [me.ctx[0].signals for me in chip.me][1:] == before, "the first one has no previous"


def test_clusters_have_their_own_buses():
    """Reads of many words by two microengines take turns on the push bus of a cluster, and do not meet on two."""
    ends = {}
    for other in (7, 8):
        chip = Chip(SIXTEEN.override({"scratch.word_occupancy": 0, "scratch.command_occupancy": 0, "push.s_word_cycles": 100}))
        for me in (0, other):
            chip.load_words(me, words_of("scratch[read, $0, a0, 0, 8], ctx_swap[s1]\nctx_arb[kill]"), start=False)
            chip.start(me, 1)
        chip.run(cycles=20_000)
        ends[other] = int(chip.me[other].engine.clock)
    assert ends[7] - ends[8] == 800


def test_a_thread_of_the_sixteenth_microengine_signals_interrupts_and_is_reached():
    chip = Chip(SIXTEEN)
    # [10:7] microengine, [6:4] context, [3:0] signal
    chip.cap.write("INTERTHREAD_SIGNAL", 13 << 7 | 5 << 4 | 9)
    chip.run(cycles=50)
    assert chip.me[13].ctx[5].signals == {9}
    run(chip, 15, "cap[fast_wr, 0, XSCALE_INT_A]")
    assert int(chip.state.thread_interrupts) == 0 and int(chip.state.thread_interrupts_high[0]) == 1 << 56
    # The reflector: cluster in bit 14, microengine in bits 13..10; $2 of context 3 of microengine 0x15.
    address = 0x8000 | 1 << 14 | 5 << 10 | 4 * (3 * 32 + 2)
    ctx = run(chip, 2, "immed[$0, 0x77]", f"immed[a0, {address}]", "cap[write, $0, a0, 0, 1], ctx_swap[s1]")
    assert ctx.pc and int(chip.me[13].ctx[3].sram_in[2]) == 0x77


def test_a_microengine_that_is_not_there_is_told():
    chip = chip_of(ENP, chip__microengines=5)
    assert len(chip.me) == 5
    with pytest.raises(UserError, match="no microengine 5"):
        chip.load_words(5, [0])
    chip.msf.csr["RX_THREAD_FREELIST_0"] = 1 << 12 | 1 << 9 | 1 << 7          # cluster 1, microengine 1
    assert chip.state.reserved_total[RESERVED_THREAD_ENTRY] == 1
    chip.cap.write("INTERTHREAD_SIGNAL", 12 << 7 | 9)
    chip.run(cycles=50)
    # indirect_ref to microengine 0x11: [31] says so, [30:26] is the chip's number
    run(chip, 0, f"immed[a0, {0x8000 | 0x11 << 10}, <<16]", "alu[--, --, B, a0]",
        "scratch[read, $0, b0, 0, 1], indirect_ref, ctx_swap[s1]")
    assert chip.state.reserved_total[RESERVED_OVERRIDE] == 1


@pytest.mark.parametrize(("changes", "message"), [
    ({"chip.microengines": 0}, "out of range"), ({"chip.microengines": 17}, "out of range"),
    ({"chip.microengines": 9}, "two clusters of 4"), ({"chip.cluster_microengines": 6}, "must be 4 or 8"),
    ({"chip.control_store_words": 255}, "out of range"), ({"chip.control_store_words": 8193}, "out of range"),
    ({"memory.sram0_bytes": 100}, "out of range"), ({"memory.dram_bytes": 1 << 40}, "out of range"),
    ({"chip.megahertz": 0}, "out of range"),
])
def test_sizes_that_cannot_be_are_refused(changes, message):
    with pytest.raises(UserError, match=message) as caught:
        Chip(ENP.override(changes))
    assert caught.value.diagnostics[0].help


def test_more_than_eight_microengines_cannot_be_observed():
    for make in (lambda: Chip(SIXTEEN, mode="races"), lambda: Chip(SIXTEEN).observe(lambda events: None)):
        with pytest.raises(UserError, match="16 microengines cannot be observed"):
            make()
    Chip(SIXTEEN.override({"chip.microengines": 8})).observe(lambda events: None)


def test_control_stores_of_other_sizes():
    small = chip_of(ENP, chip__control_store_words=300)
    program = words_of("\n".join(["nop"] * 299 + ["ctx_arb[kill]"]))
    small.load_words(0, program)
    with pytest.raises(UserError, match="holds 300"):
        small.load_words(0, [*program, 0])
    with pytest.raises(UserError):
        small.break_at(0, 300)
    # The last address is followed by the first for whoever loads through the registers.
    store = small.me[1].csr
    store["USTORE_ADDRESS"] = 1 << 31 | 299
    for word in program[:2]:
        store["USTORE_DATA_LOWER"] = word & 0xFFFFFFFF
        store["USTORE_DATA_UPPER"] = word >> 32
    assert [len(small.me[1].store), int(small.me[1].store[0]) == program[1]] == [300, True]
    assert store["USTORE_ADDRESS"] == 1 << 31 | 1


@pytest.mark.parametrize("parameters", [SIXTEEN, ENP.override({"chip.control_store_words": 8192})])
def test_a_program_of_more_than_4096_words_runs(parameters):
    text = "immed[a0, 1]\nbr[far#]\n" + "nop\n" * 6000 + "far#:\nimmed[a1, 2]\nload_addr[a2, far#]\nctx_arb[kill]\n"
    with pytest.raises(AssemblyError, match="control store"):
        assemble(text=".physical\n" + text)
    image = assemble(text=".physical\n" + text, store=8192)
    chip = Chip(parameters)
    chip.load(0, image)
    assert chip.run(cycles=1000).reason == "quiet"
    assert [int(word) for word in chip.me[0].ctx[0].gpr_a[:3]] == [1, 2, 6002]
    assert [me.chip_number for me in chip.me][-1] == (0x17 if len(chip.me) == 16 else 0x13)
    # A program counter set through the registers reaches the upper half as well.
    chip.me[0].csr["CSR_CTX_POINTER"] = 3
    chip.me[0].csr["INDIRECT_CTX_STS"] = 6002
    assert chip.me[0].ctx[3].pc == 6002
    other = Chip(ENP)
    with pytest.raises(UserError, match="4,096"):
        other.load(0, image)
    saved = chip.snapshot()
    with pytest.raises(UserError, match="other parameters"):
        other.restore(saved)
    chip.run(cycles=10)
    chip.restore(saved)
    assert chip.snapshot() == saved


def test_applications_use_what_the_chip_file_has(tmp_path):
    (tmp_path / "ends.uc").write_text("ctx_arb[kill]\n")
    (tmp_path / "app.toml").write_text('chip = { file = "ixp2800" }\nme = [ { index = 15, image = "ends.uc" } ]\n')
    assert len(App.load(tmp_path).chip.me) == 16
    with pytest.raises(UserError, match="index 15 is out of range: the chip has 8") as caught:
        App.load(tmp_path, overrides={"chip.microengines": "8"})
    assert caught.value.diagnostics[0].origin.span.line == 2


def test_the_second_chip_file_marks_its_differences():
    assert (SIXTEEN["chip.microengines"], SIXTEEN["chip.control_store_words"], SIXTEEN["chip.megahertz"]) == (16, 8192, 1400)
    text = (ROOT / "isa" / "chips" / "ixp2800.toml").read_text()
    for name, parameter in SIXTEEN.parameters.items():
        if parameter.value != ENP[name]:
            section, key = name.split(".")
            assert f"\n{key} = " in text.split(f"[{section}]")[1]
    for name, wanted in {"scratch.latency": 100, "sram.latency": 130, "dram.latency": 297}.items():
        assert SIXTEEN.latency(name) == wanted
    assert Chip(SIXTEEN).family == "IXP2800" and Chip(ENP).family == "IXP2400"
    assert Chip(SIXTEEN).clock_hz == 1_400_000_000


def test_elements_are_counted_in_64_bytes_on_an_ixp2800():
    chip = Chip(SIXTEEN)
    chip.msf.csr["RX_CONTROL"] = 0xF << 28 | 1 << 19 | 2 << 2          # elements of 256 bytes
    for element in (4, 8, 124):
        chip.msf.fast_write("RBUF_ELEMENT_DONE", element)
    assert not chip.state.reserved_total.any()
    chip.msf.fast_write("RBUF_ELEMENT_DONE", 5)
    assert chip.state.reserved_total.sum() == 1
    # A thread of the second cluster: bit 11; its number in it: bits 9..7.
    chip.msf.fast_write("RX_THREAD_FREELIST_0", 3 << 12 | 1 << 11 | 6 << 7 | 2 << 4 | 4)
    chip.ports[0].feed([bytes(100)])
    chip.run(cycles=20_000)
    assert chip.me[14].ctx[2].signals == {3}
    assert int(chip.me[14].ctx[2].sram_in[4]) >> 24 == 4
