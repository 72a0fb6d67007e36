"""What a person or a program reads of a run: Rich renderables and JSON values. Nothing here computes or prints."""

from __future__ import annotations

from ixpemu.report.run import run_json, run_report

__all__ = ["run_json", "run_report"]
