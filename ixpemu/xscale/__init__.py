"""The control processor, in Python: it loads microengines, sets up memory and rings, keeps tables, and answers exceptions."""

from __future__ import annotations

from ixpemu.xscale.agent import SOURCES, XScale

__all__ = ["SOURCES", "XScale"]
