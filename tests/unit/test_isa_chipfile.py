"""Chip files and what a user may change in them: ranges, latencies as sums, and messages for everything that cannot be."""

import json
from pathlib import Path

import pytest

from ixpemu import Chip
from ixpemu.cli_isa import timing_command
from ixpemu.diagnostics import UserError
from ixpemu.engine.layout import FIFO_DEPTH_MAX, QUEUE_DEPTH_MAX
from ixpemu.engine.msf_layout import PORTS
from ixpemu.engine.parameters import MSF_PARAMETERS, OUTSIDE_PARAMETERS, PARAMETERS
from ixpemu.engine.state import LARGE, new_state
from ixpemu.isa import instruction_set
from ixpemu.isa.chipfile import load_chip
from ixpemu.isa.latencies import LATENCIES
from ixpemu.report.isa import timing_json
from ixpemu.wire.line import SHORTEST_FRAME
from tests.laws import Reference, measured_latency

CHIP = load_chip()
COMMANDS = {
    "sram.latency": "sram[read, $0, a0, 0, 1]", "sram.write_latency": "sram[write, $0, a0, 0, 1]",
    "scratch.latency": "scratch[read, $0, a0, 0, 1]", "scratch.write_latency": "scratch[write, $0, a0, 0, 1]",
    "hash.latency": "hash_48[$0, 1]", "dram.latency": "dram[read, $$0, a0, 0, 1]",
    "dram.write_latency": "dram[write, $$0, a0, 0, 1]", "msf.latency": "msf[read, $0, b1, 0, 1]",
    "msf.write_latency": "msf[write, $0, b1, 0, 1]", "cap.latency": "cap[read, $0, PRODUCT_ID, 1]",
    "cap.write_latency": "cap[write, $0, SELF_DESTRUCT_0, 1]",
}


@pytest.mark.parametrize("name", LATENCIES)
def test_a_latency_can_be_set_and_is_what_one_takes(name: str) -> None:
    reference = Reference(name, COMMANDS[name], {}, {}, pair=name.startswith("dram."))
    assert measured_latency(reference) == CHIP.latency(name)
    wanted = CHIP.latency(name) + 37
    changed = CHIP.override({name: str(wanted)})
    assert changed.latency(name) == changed.value(name) == wanted
    assert measured_latency(reference, Chip(changed)) == wanted


def test_a_latency_fills_up_what_other_values_leave() -> None:
    changed = CHIP.override({"dram.latency": 150, "push.d_cycles": 20, "dram.row_miss_cycles": 3})
    assert changed.latency("dram.latency") == 150
    assert changed["dram.read_cycles"] == 150 - 1 - 8 - 3 - 20 - 2


@pytest.mark.parametrize(("values", "said"), [
    ({"sram.raed_cycles": 1}, ["no parameter 'sram.raed_cycles'", "did you mean 'sram.read_cycles'?", "sram has", "latency"]),
    ({"srm.latency": 1}, ["did you mean 'sram.latency'?", "sections chip, memory"]),
    ({"latency": 1}, ["no parameter 'latency'", "names are SECTION.NAME"]),
    ({"": 1}, ["no parameter ''"]),
    ({"sram.read_cycles": "fast"}, ["not a whole number", "unit is cycles"]),
    ({"sram.read_cycles": "72ns"}, ["not a whole number"]),
    ({"sram.read_cycles": "-1"}, ["not a whole number"]),
    ({"sram.read_cycles": "1.5"}, ["not a whole number"]),
    ({"sram.read_cycles": ""}, ["not a whole number"]),
    ({"sram.read_cycles": "9" * 19}, ["out of range", "0 to 100,000 cycles", "it is 72 here", "L)"]),
    ({"me.fifo_depth": 0}, ["me.fifo_depth = 0 is out of range", "1 to 16 commands"]),
    ({"me.early_branch": 2}, ["0 to 1;"]),
    ({"chip.control_store_words": 1}, ["256 to 8,192 words"]),
    ({"dram.latency": 33}, ["dram.latency = 33 is out of range", "34 to 100,034 cycles", "dram.row_miss_cycles", "120 here"]),
    ({"dram.latency": 150, "dram.read_cycles": 99}, ["dram.latency and dram.read_cycles are both set", "leave one out"]),
])
def test_what_cannot_be_set_is_told_with_what_can(values: dict[str, int | str], said: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        CHIP.override(values)
    [found] = caught.value.diagnostics
    for text in said:
        assert text in f"{found.message} {found.help}"


def test_names_of_latencies_are_no_parameters_and_what_they_set_is_one() -> None:
    assert not set(LATENCIES) & set(CHIP)
    for latency in LATENCIES.values():
        assert {latency.sets, *latency.terms} <= set(CHIP) and latency.terms[latency.sets] == 1


def test_every_figure_reaches_the_engine_or_is_known_not_to() -> None:
    """The others are read by name: sizes of memories by the chip, costs of the XScale by the XScale."""
    by_name = {name for name in CHIP if name.startswith(("xscale.", "memory."))}
    by_name |= {"chip.product_id", "chip.cluster_microengines"}
    by_name |= {"pci.host_bytes", "pci.queue_depth", "pci.read_cycles", "pci.write_cycles", "pci.command_occupancy"}
    assert set(PARAMETERS) | set(MSF_PARAMETERS) | set(OUTSIDE_PARAMETERS) | by_name == set(CHIP)


def test_ranges_are_what_the_engine_has_room_for() -> None:
    state = new_state(*LARGE)[0]
    for name, most in {
        "me.fifo_depth": FIFO_DEPTH_MAX, "dram.banks": len(state.dram_row), "port.count": PORTS,
        "chip.control_store_words": len(state.code) // len(state.engines), "chip.microengines": len(state.engines),
        "me.shadow": len(state.engines[0].shadow_due) - 3,
        **{f"{unit}.queue_depth": QUEUE_DEPTH_MAX for unit in ("sram", "scratch", "hash", "dram", "msf", "cap")},
    }.items():
        assert CHIP.parameters[name].high == most, name
    for name in ("port.receive_fifo_bytes", "port.transmit_fifo_bytes", "port.longest_frame"):
        assert CHIP.parameters[name].low == SHORTEST_FRAME


@pytest.mark.parametrize("end", ["low", "high"])
@pytest.mark.parametrize("name", [name for name in CHIP if not name.startswith("memory.")])
def test_a_chip_runs_at_both_ends_of_every_range(name: str, end: str) -> None:
    sixteen = {"chip.cluster_microengines": 8} if name == "chip.microengines" else {}
    chip = Chip(CHIP.override({name: getattr(CHIP.parameters[name], end), **sixteen}))
    chip.load_words(0, PROGRAM)
    chip.start(0, 0x3)
    chip.run(cycles=700)
    chip.run(cycles=1)
    assert chip.cycle == 701 and sum(chip.me[0].cycles.values()) <= chip.me[0].clock


def _program() -> list[int]:
    from tests.support.machine import words_of

    lines = ["turn#:", "sram[read, $0, a0, 0, 2], ctx_swap[s1]", "scratch[write, $0, a0, 0, 2], ctx_swap[s1]",
             "dram[write, $$0, a0, 0, 1], ctx_swap[s2]", "dram[read, $$0, a0, 0, 2], ctx_swap[s2]",
             "hash_48[$0, 1], ctx_swap[s1]", "msf[read, $0, b1, 0, 1], ctx_swap[s1]",
             "cap[read, $0, PRODUCT_ID, 1], ctx_swap[s1]", "br[turn#]"]
    return words_of("\n".join(lines))


PROGRAM = _program()


@pytest.mark.parametrize(("banks", "row"), [(3, 4096), (4, 3000), (5, 1032), (1, 8)])
def test_banks_and_rows_need_no_powers_of_two(banks: int, row: int) -> None:
    """A second read finds its row open exactly if nobody has opened another row of that bank, whatever the sizes."""
    for first, second in [(0, row - 8), (0, row), (row, 2 * row), (0, banks * row), (5 * row, 5 * row + 8)]:
        chip = Chip(CHIP.override({"dram.banks": banks, "dram.row_bytes": row}))
        chip.load_words(0, PAIR, start=False)
        chip.me[0].ctx[0].gpr_a[:2] = first, second
        chip.start(0, 1)
        chip.run(cycles=1000)
        same_row = first // row == second // row
        saved = CHIP["dram.row_miss_cycles"] if same_row else 0
        assert chip.me[0].ctx[0].gpr_b[0] == CHIP.latency("dram.latency") - saved + OVERHEAD, (first, second)


def _pair() -> list[int]:
    from tests.support.machine import words_of

    return words_of("\n".join([
        "dram[read, $$0, a0, 0, 1], ctx_swap[s2]", *["nop"] * 20, "local_csr_rd[PROFILE_COUNT]", "immed[a2, 0]",
        "dram[read, $$0, a1, 0, 1], ctx_swap[s2]", "local_csr_rd[PROFILE_COUNT]", "immed[b0, 0]", "alu[b0, b0, -, a2]",
        "ctx_arb[kill]"]))


PAIR = _pair()
OVERHEAD = 2 + 1            # the pair that reads the count before, and the wake-up after


def test_rows_hold_whole_units() -> None:
    with pytest.raises(UserError, match="multiple of 8"):
        Chip(CHIP.override({"dram.row_bytes": 4100}))


@pytest.mark.parametrize(("line", "said"), [
    ("value = 5000000, unit = \"cycles\", source = \"x\", confidence = \"L\"", "sram.read_cycles is 5,000,000"),
    ("value = 5, range = [0, 200000], unit = \"cycles\", source = \"x\", confidence = \"L\"", "no more than that"),
    ("value = 5, range = [9, 2], unit = \"cycles\", source = \"x\", confidence = \"L\"", "range = [lowest, highest]"),
    ("value = 5, range = 7, unit = \"cycles\", source = \"x\", confidence = \"L\"", "range = [lowest, highest]"),
    ("value = 5, unit = \"cycles\", source = \"x\", confidence = \"X\"", "one of H, M, L, assumed"),
])
def test_a_chip_file_with_a_wrong_line_is_refused_at_its_place(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f'base = "enp2611"\n[sram]\nread_cycles = {{ {line} }}\n')
    with pytest.raises(UserError) as caught:
        load_chip(path)
    [found] = caught.value.diagnostics
    assert said in f"{found.message} {found.help}" and found.origin is not None and found.origin.span.line == 3


def test_a_range_can_be_narrower_and_is_inherited_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('base = "enp2611"\n[sram]\n'
                    'read_cycles = { value = 5, range = [2, 9], unit = "cycles", source = "x", confidence = "L" }\n'
                    'write_cycles = { value = 6, unit = "cycles", source = "x", confidence = "L" }\n')
    chip = load_chip(path)
    assert (chip.parameters["sram.read_cycles"].high, chip.parameters["sram.write_cycles"].high) == (9, 100_000)
    with pytest.raises(UserError, match="out of range"):
        chip.override({"sram.read_cycles": 10})


def test_the_timing_table_has_everything_once(capsys: pytest.CaptureFixture[str]) -> None:
    timing_command()
    text = capsys.readouterr().out
    lines = text.splitlines()
    for name in (*CHIP, *LATENCIES):
        assert sum(line.startswith(f"{name} ") for line in lines) == 1, name
    table = lines[2:next(k for k, line in enumerate(lines) if line.startswith("issue:"))]
    names = [line[:55].strip() for line in table]
    assert len(names) == len(set(names)), "an instruction is listed twice"
    for mnemonic in instruction_set().mnemonics():
        assert any(mnemonic in name.split() or name.startswith(f"{mnemonic}[") for name in names), mnemonic


def test_timing_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    timing_command(set_=["dram.latency=150"], json=True)
    values = json.loads(capsys.readouterr().out)
    assert values == json.loads(json.dumps(timing_json(instruction_set(), CHIP.override({"dram.latency": 150}))))
    assert {each["name"] for each in values["parameters"]} == set(CHIP)
    for each in values["parameters"]:
        assert each["source"] and each["unit"] and each["confidence"] in ("H", "M", "L", "assumed")
        assert each["range"][0] <= each["value"] <= each["range"][1]
    assert {each["name"]: each["cycles"] for each in values["latencies"]}["dram.latency"] == 150
    forms = sum(len(block.forms) for block in instruction_set().blocks.values())
    assert len(values["instructions"]) == forms
