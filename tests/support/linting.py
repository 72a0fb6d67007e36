"""Texts assembled and mended without files, for tests of edits."""

from __future__ import annotations

from ixpemu.asm.findings import Findings, Stopped
from ixpemu.asm.fixes import Checked, Mended, Reached, mend
from ixpemu.asm.front import read_program
from ixpemu.asm.pipeline import back_end
from ixpemu.asm.unused import report
from ixpemu.diagnostics import UserError

FILE = "case.uc"


def checked(text: str) -> Checked:
    """What `ixpemu lint` finds out about a text."""
    findings, reached = Findings(500), Reached.STATEMENTS
    try:
        program = read_program(FILE, text=text, include=["."], findings=findings)
        report(program, FILE, findings)
        reached = Reached.REGISTERS
        image = back_end(program, findings).image
    except Stopped:
        return Checked(tuple(findings.diagnostics), reached)
    except UserError as error:
        return Checked(error.diagnostics, reached)
    return Checked(tuple(findings.diagnostics), Reached.WORDS, tuple(image.values))


def mended(text: str) -> Mended:
    """The text after `--fix`."""
    return mend(FILE, text, checked)
