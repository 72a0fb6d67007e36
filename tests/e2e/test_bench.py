"""The benchmark measures what it says, in the form that it says. How fast the machine is, no test asks."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ixpemu import assemble, bench
from ixpemu.asm.findings import Findings
from ixpemu.asm.preprocess import Preprocessed, preprocess
from ixpemu.bench import peers
from ixpemu.bench.assembly import expanded, full_program
from ixpemu.bench.peers import PEERS
from ixpemu.cli_support import show
from ixpemu.report.bench import ASSEMBLY, bench_report

ROOT = Path(__file__).parents[2]
FIGURES = {"instructions_per_second", "chip_cycles_per_second", "packets_per_second"}


@pytest.fixture(scope="module")
def result() -> bench.BenchResult:
    with pytest.MonkeyPatch.context() as patch:
        # A first compile takes half a minute; that it is measured in an empty cache is read off the code.
        patch.setattr(bench, "first_compile", lambda: 12.3)
        patch.setattr(bench, "LARGE", 20_000)
        patch.setenv("PYTHONPATH", str(ROOT))
        return bench.run_bench(bench.CASES, 0.2)


def test_every_case_and_mode_has_its_figures(result: bench.BenchResult) -> None:
    values = json.loads(json.dumps(result.as_json()))
    for case in ("ipv4_forward_64B", "compute"):
        assert set(values[case]) == {"default", "fast", "trace", "races", "uncompiled"}
        for mode, figures in values[case].items():
            assert set(figures) == FIGURES
            assert figures["instructions_per_second"] > 0 and figures["chip_cycles_per_second"] > 0
            # Uncompiled, a packet may not get through in so short a time.
            assert case == "compute" or mode == "uncompiled" or figures["packets_per_second"] > 0
        assert values["compiled_to_uncompiled"][case] > 20
        assert values["cost_of_observation"][case]["trace"] > 1
    assert values["compute"]["default"]["packets_per_second"] == 0
    assert "absent" in values["content_switch"] and set(values["content_switch"]) == {"absent"}
    assert values["offered"]["ipv4_forward_64B"]["rate"] == "3 x 1 Gb/s" and values["offered"]["ipv4_forward_64B"]["limit"]
    assert values["first_compile_seconds"] == 12.3 and 0 < values["warm_start_seconds"] < 60
    assert values["assembler_lines_per_second"] > 100 and 50 < values["peak_memory_mb"] < 600


def test_the_assembler_is_measured_from_start_to_large_texts(result: bench.BenchResult) -> None:
    values = result.as_json()["assembly"]
    assert all(values[key] > 0 for _, key, _ in ASSEMBLY)
    assert values["full_image_words"] == 4096 < values["full_image_lines"]
    assert set(values["microseconds_per_expanded_line"]) == {"10000", "20000"}


def test_its_texts_are_what_they_are_said_to_be() -> None:
    assert [len(assemble(text=full_program(words))) for words in (40, 41, 44, 100)] == [40, 41, 44, 100]
    lines = full_program().splitlines()
    code = [line for line in lines if line.startswith(("step", "    "))]
    assert len(set(code)) == len(code)
    for size in (250, 1000):
        made = preprocess("text", expanded(size), Findings(), (), None, Preprocessed())
        assert size <= len(made.lines) < size + 20
        assert len(assemble(text=expanded(size))) == size // 25 + 1


def test_others_are_measured_or_said_to_be_absent(result: bench.BenchResult) -> None:
    values = result.as_json()
    for name in PEERS:
        if name in values["peers"]:
            assert values["peers"][name]["instructions_per_second"] > 0 and values["peers"][name]["compute_to_peer"] > 0
        else:
            assert "pip install" in result.absent[f"peer {name}"] or "C compiler" in result.absent[f"peer {name}"]


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_the_loop_in_c_computes_what_the_engine_does() -> None:
    """It raises RuntimeError for other registers or another number of instructions."""
    assert peers.measure("c_loop", 0.05)["instructions_per_second"] > 1_000_000


def test_the_report_shows_all_of_it(result: bench.BenchResult, capsys: pytest.CaptureFixture[str]) -> None:
    show(bench_report(result))
    text = capsys.readouterr().out
    for word in ("ipv4_forward_64B", "uncompiled", "first compile", "12.3 s", "lines/s", "MB", "content_switch", "times"):
        assert word in text


def test_the_command_compiles_on_request() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ixpemu", "bench", "--compile-only"], env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )
    assert (done.returncode, done.stdout) == (0, "") and done.stderr.endswith("the engine is compiled\n")
