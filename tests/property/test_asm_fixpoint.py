"""Text to words to text to words: the second words are the first, and from there on the text does not change either."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ixpemu import app_file, resources
from ixpemu.asm.pipeline import assemble, assemble_program, disassemble
from ixpemu.diagnostics import AssemblyError
from ixpemu.image import Image
from tests.support import pressed_programs, small_programs
from tests.support.generated_microcode import programs

MICROCODE = resources.folder("microcode")
LIBRARIES = {"check.uc", "check_end.uc", "work.uc"}


def shipped() -> dict[str, tuple[Path, dict[str, object], list[Path]]]:
    """Every program of microcode/: those of its applications with their definitions, and those that stand alone."""
    found: dict[str, tuple[Path, dict[str, object], list[Path]]] = {}
    for application in sorted(path.parent for path in MICROCODE.rglob("app.toml")):
        for entry in app_file.load(application).microengines:
            name = f"{Path(entry.image).relative_to(MICROCODE)} {entry.define or ''}".strip()
            found[name] = (Path(entry.image), dict(entry.define), [Path(one) for one in entry.include])
    for folder in ("tests", "bench"):
        for path in sorted((MICROCODE / folder).rglob("*.uc")):
            if path.name not in LIBRARIES:
                found.setdefault(str(path.relative_to(MICROCODE)), (path, {}, [path.parents[1]]))
    return found


SHIPPED = shipped()


def is_fixed(image: Image) -> None:
    """The image comes back from its text, in a stored form too."""
    text = disassemble(image)
    again = assemble(text=text)
    assert again.values == image.values and again.contexts == image.contexts
    assert disassemble(again) == text
    assert disassemble(Image.from_bytes(image.as_bytes("words"), "words", contexts=image.contexts)) == text


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_program(name: str) -> None:
    path, define, include = SHIPPED[name]
    is_fixed(assemble(path, define=define, include=include))


def test_there_are_shipped_programs() -> None:
    assert len(SHIPPED) > 30 and any("ipv4_forward" in name for name in SHIPPED) and any("echo" in name for name in SHIPPED)


@settings(max_examples=60)
@given(programs())
def test_generated_programs_of_commands_and_branches(text: str) -> None:
    with contextlib.suppress(AssemblyError):        # signals may be waited for where nothing raises them
        is_fixed(assemble_program(text=text).image)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1 << 30), st.floats(0.1, 0.9))
def test_generated_programs_of_any_pressure(seed: int, pressure: float) -> None:
    with contextlib.suppress(AssemblyError):
        is_fixed(assemble(text=pressed_programs.program(seed, pressure)))


@settings(max_examples=60)
@given(st.integers(0, 1 << 30))
def test_generated_small_programs(seed: int) -> None:
    is_fixed(assemble(text=small_programs.text(small_programs.program(seed)), repair=True))
