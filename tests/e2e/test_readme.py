"""The README is true: its session is run as it stands there, and what it names exists."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_the_session_gives_the_output_that_is_shown(tmp_path: Path, update_goldens: bool) -> None:
    command = tmp_path / "bin" / "ixpemu"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ixpemu "$@"\n')
    command.chmod(0o755)
    environment = os.environ | {"PATH": f"{command.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    # Without this the line about a first compile would come in between.
    subprocess.run(["ixpemu", "bench", "--compile-only"], env=environment, check=True, capture_output=True)

    def rerun(block: re.Match[str]) -> str:
        """A fenced block as it ought to be: a file is written, a session is run, anything else stays."""
        name, language, body = block.groups()
        if name:
            (tmp_path / name).write_text(body)
        if language != "console":
            return block.group()
        lines = [line for line in body.splitlines() if line.startswith("$ ")]
        assert lines
        shown = ""
        for line in lines:
            done = subprocess.run(
                line[2:], shell=True, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                check=False,
            )
            shown += f"{line}\n{done.stdout}"
        return f"```console\n{shown}```"

    again = re.sub(r"(?:^`([\w.]+)`:\n\n)?^```(\w*)\n(.*?)^```$", rerun, README, flags=re.MULTILINE | re.DOTALL)
    if update_goldens:
        (ROOT / "README.md").write_text(again)
    else:
        assert again == README


def test_the_two_commands_are_targets() -> None:
    makefile = (ROOT / "Makefile").read_text()
    named = re.findall(r"^make (\w+)", README, re.MULTILINE)
    assert named[:2] == ["demo", "test"]
    for target in named:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert links
    for link in links:
        assert (ROOT / link).exists(), link
