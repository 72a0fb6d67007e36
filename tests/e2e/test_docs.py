"""The pages for users are true: their programs are run as they stand there, and their links lead somewhere."""

import re
import struct
from pathlib import Path

import pytest

from ixpemu.asm.pipeline import assemble_program

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PYTHON = (DOCS / "python.md").read_text()
APPLICATIONS = (DOCS / "applications.md").read_text()


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of a page in one language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def test_the_program_of_the_python_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names = re.findall(r"^`(\w+\.uc)`", PYTHON, re.MULTILINE)
    sources = blocks(PYTHON, "asm")
    assert names == ["count.uc", "turns.uc"] and len(sources) == 2
    for name, source in zip(names, sources, strict=True):
        Path(name).write_text(source)
    exec(compile("".join(blocks(PYTHON, "python")), "docs/python.md", "exec"), {})
    shown = capsys.readouterr().out
    assert "count.uc:11 sram[read, $count, table, where, 1], ctx_swap[done]" in shown
    assert "\npacket " in shown


STATEMENTS = (DOCS / "statements.md").read_text()


@pytest.mark.parametrize("source", blocks(STATEMENTS, "asm"))
def test_the_programs_of_the_statements_page_assemble(source: str) -> None:
    from ixpemu.asm.pipeline import assemble_program

    assert assemble_program(text=source).diagnostics == ()


def test_what_the_statements_page_names_is_carried_out() -> None:
    from ixpemu.asm.control import CONDITIONAL

    assert [name for name in CONDITIONAL if f"`{name}" not in STATEMENTS] == []


def test_what_the_python_page_names_is_there() -> None:
    from ixpemu import Chip

    chip = Chip()
    context, engine = chip.me[0].ctx[1], chip.me[0]
    files = ("gpr_a", "gpr_b", "sram_in", "sram_out", "dram_in", "dram_out", "neighbor")
    for name in (*files, "pc", "state", "signals", "waiting_for", "packet", "signal"):
        assert name in PYTHON and hasattr(context, name)
    for name in ["gpr_a_abs", "gpr_b_abs", "local_memory", "cc", "csr", "executing", "cycles", "store"]:
        assert f".{name}" in PYTHON and hasattr(engine, name)
    expressions = [e for e in re.findall(r"`(chip\.[^`]*)`", PYTHON) if "path" not in e and "(" not in e.split("ring(")[0]]
    assert "chip.cap.csr" in expressions and len(expressions) > 6
    for expression in expressions:
        eval(expression, {"chip": chip})


def test_the_program_of_the_tracing_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile("".join(blocks((DOCS / "tracing.md").read_text(), "python")), "docs/tracing.md", "exec"), {})
    digest, count = capsys.readouterr().out.split()
    assert len(digest) == 64 and int(count) > 1000
    lines = (tmp_path / "rings.trace").read_text().splitlines()
    assert len(lines) > 3 and all(" ring " in line for line in lines[3:])


def test_the_tracing_page_names_every_kind_of_event() -> None:
    from ixpemu.engine.observation import SEEN_NAMES

    page = (DOCS / "tracing.md").read_text()
    assert [name for name in SEEN_NAMES[1:] if f"`{name}`" not in page] == []


def frame(length: int) -> bytes:
    return bytes.fromhex("020000000001020000000101 0800") + bytes(length - 14)


def test_the_application_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ixpemu import App

    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "mine"
    folder.mkdir()
    (settings,), (traffic,) = blocks(APPLICATIONS, "toml"), blocks((DOCS / "traffic.md").read_text(), "toml")
    (control,) = blocks(APPLICATIONS, "python")
    # The sample trace would take long.
    (folder / "app.toml").write_text(settings.replace("sample1.pcap", "in.pcap"))
    (folder / "control.py").write_text(control)
    (folder / "limits.txt").write_text("17\n")
    (folder / "program.uc").write_text((ROOT / "microcode" / "echo" / "echo.uc").read_text())
    header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    (folder / "in.pcap").write_bytes(
        header + b"".join(struct.pack("<IIII", 0, 9 * k, n, n) + frame(n) for k, n in enumerate((60, 700, 64)))
    )
    app = App.load("mine")
    app.xscale.interrupt(0, "thread_a")         # the program itself never asks for anything
    report = app.run()
    assert {kind.name: kind.sent for kind in report.types} == {"short": 4, "long": 2}
    assert report.stop == "quiet"
    assert list(app.chip.sram[0].read(0x100, 2)) == [17, 1]
    assert (tmp_path / "back.pcap").is_file() and not (folder / "back.pcap").exists()
    (tmp_path / "mix.toml").write_text(traffic)
    assert App.load("mine", traffic="mix.toml").run(packets=10).sent == 10


def test_every_key_of_app_toml_is_described() -> None:
    source = (ROOT / "ixpemu" / "app_file.py").read_text()
    known = {key for names in re.findall(r"\.allow\(([^)]*)\)", source) for key in re.findall(r'"(\w+)"', names)}
    assert known > {"index", "image", "classifier"}
    for key in known:
        assert re.search(rf"[`.]{key}\b|^{key} =|\b{key} =", APPLICATIONS, re.MULTILINE), key


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_links_of_the_pages_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / link).exists(), link


def test_every_page_can_be_found_from_the_readme() -> None:
    readme = (ROOT / "README.md").read_text()
    for page in DOCS.glob("*.md"):
        assert f"docs/{page.name}" in readme, page.name


ALLOCATION = (DOCS / "allocation.md").read_text()


def test_the_conflict_of_the_allocation_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ixpemu import codes
    from ixpemu.asm.pipeline import assemble_program
    from ixpemu.diagnostics import AssemblyError, Sources, render

    monkeypatch.chdir(tmp_path)
    (source,), (conflict, mended) = blocks(ALLOCATION, "asm"), blocks(ALLOCATION, "text")
    Path("example.uc").write_text(source)
    sources = Sources({"example.uc": source.split("\n")})
    with pytest.raises(AssemblyError) as caught:
        assemble_program("example.uc")
    assert "".join(render(one, sources) + "\n" for one in caught.value.diagnostics if one.code == codes.BANK_CONFLICT) == conflict
    moves = [one for one in assemble_program("example.uc", repair=True).diagnostics if one.code == codes.REPAIR_MOVE]
    assert "".join(render(one, sources) + "\n" for one in moves) == mended


def test_the_listings_page_shows_what_comes_out() -> None:
    from ixpemu.asm.pipeline import assemble_program

    page = (DOCS / "listing.md").read_text()
    ((source,), (listing,), (table,)) = (blocks(page, language) for language in ("asm", "listing", "table"))
    assembly = assemble_program("sum.uc", text=source)
    assert (assembly.listing(), assembly.macro_cost()) == (listing, table)


def test_the_example_of_the_formatting_page_is_laid_out_and_assembles() -> None:
    from ixpemu.asm.formatting import format_text
    from ixpemu.asm.pipeline import assemble_program

    (source,) = blocks((DOCS / "formatting.md").read_text(), "asm")
    assert format_text(source) == source
    assert assemble_program(text=source).diagnostics == ()


def test_the_listing_of_the_optimizer_page() -> None:
    page = (DOCS / "optimizer.md").read_text()
    [source], [shown] = blocks(page, "asm"), blocks(page, "text")
    lines = iter(assemble_program(text=source, vnops=True, optimise=True).listing().splitlines())
    assert [line for line in shown.splitlines() if line not in lines] == []      # in this order
