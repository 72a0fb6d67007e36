"""The front end of the assembler as one call: text -> preprocess -> parse -> lower -> scope -> `Program`.

It strings the stages together and owns nothing of what they do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ixpemu.asm.findings import Findings
from ixpemu.asm.program import Program


def read_program(
    path: str | Path | None = None,
    *,
    text: str | None = None,
    include: Sequence[str | Path] = (),
    define: Mapping[str, str | int] | None = None,
    findings: Findings | None = None,
) -> Program:
    """The program of the file `path`, or of `text` (`path` then only names it, `<text>` by default).

    `include` are the folders searched by `#include`, `define` the symbols of `-D`. Warnings are left in `findings`. Raises
    `AssemblyError` with every diagnostic where there is an error, at most `findings.MOST_ERRORS` of them.
    """
    raise NotImplementedError
