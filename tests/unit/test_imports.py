"""Imports go one way. The layers are read from the syntax trees, so that an import inside a function counts too."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "ixpemu"

# What each part may import, besides itself. A part that is not listed fails the test, so that a new one gets its place here.
BASE = {"arguments", "diagnostics", "codes", "resources", "files"}
DATA = BASE | {"isa", "toml_file"}
CHIP = DATA | {"image", "engine", "wire"}
ABOVE_CHIP = CHIP | {"chip"}
APP = ABOVE_CHIP | {"asm", "link", "net", "xscale", "trace", "app_file"}
TOP = APP | {"app", "debug", "report", "bench", "explanations", "sarif"}
ALLOWED: dict[str, set[str]] = {
    "arguments": {"codes", "diagnostics"},
    "codes": set(),
    "diagnostics": set(),
    "files": {"codes", "diagnostics"},
    "resources": set(),
    "toml_file": BASE,
    "isa": BASE | {"toml_file"},
    "image": BASE,
    "asm": DATA | {"image"},
    "link": DATA | {"image"},
    "wire": BASE,
    "engine": DATA | {"image", "wire"},
    "chip": CHIP,
    "net": ABOVE_CHIP,
    "xscale": ABOVE_CHIP,
    "trace": ABOVE_CHIP,
    "app_file": BASE | {"toml_file", "link"},
    "explanations": BASE | {"chip"},
    "sarif": BASE | {"explanations"},
    "app": APP,
    "debug": APP | {"app"},
    "report": APP | {"app", "debug", "bench"},
    "bench": APP | {"app"},
    "cli": TOP,
    # The package itself names the public objects; they are imported only when they are used.
    "__main__": {"cli"},
    "__init__": {"app", "asm", "chip", "diagnostics", "image"},
}
# Only these may import a library: the compiled engine, the parser, and what prints.
LIBRARIES = {
    "numba": {"engine"},
    "llvmlite": {"engine"},
    "lark": {"isa", "asm"},
    "rich": {"report", "cli"},
    "typer": {"cli"},
    "dpkt": {"wire", "net", "xscale"},
    "scapy": set(),
    "hypothesis": set(),
    "pytest": set(),
}


def part_of(module: str) -> str:
    """The part a module belongs to: `chip_views` is part of chip, `cli_run` of cli."""
    first = module.split(".")[0]
    return first if first in ALLOWED else first.partition("_")[0]


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and absolute dotted name of everything that `path` imports."""
    inside = path.relative_to(ROOT).with_suffix("").parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join((*inside[: -node.level], base)).rstrip(".")
            if base == "ixpemu":
                for alias in node.names:
                    yield node.lineno, f"ixpemu.{alias.name}"
            else:
                yield node.lineno, base


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_a_module_imports_only_what_its_layer_may(path: Path) -> None:
    relative = path.relative_to(PACKAGE).with_suffix("")
    part = part_of(relative.parts[0])
    assert part in ALLOWED, f"{path}: give the part {part!r} its place in the table above"
    for line, name in imports(path):
        top, _, rest = name.partition(".")
        if top == "ixpemu" and rest and not rest.startswith("__"):
            other = part_of(rest)
            if other in ("__version__", "py"):
                continue
            assert other == part or other in ALLOWED[part], f"{path}:{line}: {part} must not import {other}"
        elif top in LIBRARIES:
            assert part in LIBRARIES[top], f"{path}:{line}: {part} must not import {top}"


def test_the_table_itself_has_no_cycle() -> None:
    order: list[str] = []
    left = {part: allowed - {part} for part, allowed in ALLOWED.items()}
    while left:
        free = [part for part, needs in left.items() if not needs & left.keys()]
        assert free, f"these import each other: {sorted(left)}"
        order += free
        for part in free:
            del left[part]
    assert "asm" not in ALLOWED["engine"] | ALLOWED["chip"] and not {"engine", "chip"} & ALLOWED["asm"]


# What makes a start slow and no assembly needs; speed itself is for `ixpemu bench` to measure.
HEAVY = (
    "numba", "numpy", "rich", "dpkt", "scapy", "ixpemu.engine", "ixpemu.chip", "ixpemu.app", "ixpemu.cli_run",
    "ixpemu.isa.chipfile", "ixpemu.asm.repair", "ixpemu.asm.pressure", "ixpemu.asm.listing",
)


def test_an_assembly_loads_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    (tmp_path / "p.uc").write_text("nop\nctx_arb[kill]\n")
    code = (
        "import sys\nfrom ixpemu.cli import main\nsys.argv = ['ixpemu', 'asm', 'p.uc']\ntry:\n    main()\n"
        f"except SystemExit as leaving:\n    print(leaving.code, sorted(set({HEAVY!r}) & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        check=False,
    )
    assert done.stdout.strip() == "0 []", done.stderr


@pytest.mark.parametrize("statement", [
    "import ixpemu",
    "import ixpemu.asm",
    "from ixpemu import assemble, disassemble",
    "import ixpemu.cli",
])
def test_the_assembler_starts_without_the_engine(statement: str) -> None:
    """In a process of its own: what was imported before does not count."""
    code = f"import sys; {statement}; print(sorted({{'numba', 'scapy', 'dpkt'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
