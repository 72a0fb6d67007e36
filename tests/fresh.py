"""The files in the repository that are made from others: written anew, or compared with what would be written.

`python -m tests.fresh --write` or `--check`; a test does the check as well.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]


def reference() -> dict[Path, bytes]:
    """docs/reference: the instruction reference, from isa/."""
    from ixpemu.isa import instruction_set
    from ixpemu.isa.reference import reference_pages
    from ixpemu.isa.support import support_page
    from ixpemu.isa.timing_page import timing_page

    pages = reference_pages(instruction_set()) | {"support.md": support_page(instruction_set()), "timing.md": timing_page()}
    return {ROOT / "docs" / "reference" / name: text.encode() for name, text in pages.items()}


def library() -> dict[Path, bytes]:
    """docs/reference/library.md: the macros of microcode/lib, from their comments."""
    from tests.support.library import page

    return {ROOT / "docs" / "reference" / "library.md": page().encode()}


def reserved() -> dict[Path, bytes]:
    """docs/reserved.md: the rules of reserved behaviour."""
    from ixpemu.report.reserved import rules_page

    return {ROOT / "docs" / "reserved.md": rules_page().encode()}


def dispatch() -> dict[Path, bytes]:
    """The engine's dispatch module and its numbers, from isa/."""
    from ixpemu.isa import instruction_set
    from ixpemu.isa.emit import outputs

    return {path: text.encode() for path, text in outputs(instruction_set()).items()}


def traces() -> dict[Path, bytes]:
    """The sample trace, from its script."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, str(ROOT / "traces" / "make_sample.py"), folder], check=True, stdout=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
        return {ROOT / "traces" / path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


def laws() -> dict[Path, bytes]:
    """docs/laws.md: latencies and thread scaling, measured. Left alone where the engine is not compiled: it would take hours."""
    from ixpemu.engine.jit import COMPILED
    from tests.laws import page

    return {ROOT / "docs" / "laws.md": page().encode()} if COMPILED else {}


GENERATORS: tuple[Callable[[], dict[Path, bytes]], ...] = (reference, library, reserved, dispatch, traces, laws)
# Folders that hold generated files only: a file that no generator makes any more is stale.
WHOLE_FOLDERS = (ROOT / "docs" / "reference",)


def stale() -> list[str]:
    """What is out of date, one line each."""
    found = []
    wanted: dict[Path, bytes] = {}
    for generator in GENERATORS:
        wanted |= generator()
    for path, content in wanted.items():
        if not path.is_file():
            found.append(f"{path.relative_to(ROOT)} is missing")
        elif path.read_bytes() != content:
            found.append(f"{path.relative_to(ROOT)} is not what it is made from")
    for folder in WHOLE_FOLDERS:
        found += [f"{path.relative_to(ROOT)} is made by nothing" for path in sorted(folder.glob("*")) if path not in wanted]
    return found


def write() -> None:
    """Writes every generated file and removes stale ones."""
    wanted: dict[Path, bytes] = {}
    for generator in GENERATORS:
        wanted |= generator()
    for folder in WHOLE_FOLDERS:
        for path in folder.glob("*"):
            if path not in wanted:
                path.unlink()
    for path, content in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_bytes() != content:
            path.write_bytes(content)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true")
    action.add_argument("--check", action="store_true")
    if parser.parse_args().write:
        write()
        return 0
    found = stale()
    for line in found:
        print(f"{line}; run  make docs", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
