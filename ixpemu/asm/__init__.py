"""The assembler: `.uc` text to an `Image`, and words back to text.

The stages are pure functions in modules of their own: preprocess, parser, lower, scope (the front end, up to
`program.Program`), then flow, allocation and encoding (the back end). `pipeline` strings them together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ixpemu.asm.pipeline import assemble as assemble
    from ixpemu.asm.pipeline import disassemble as disassemble

__all__ = ["assemble", "disassemble"]


def __getattr__(name: str) -> object:
    # Late, so that a module of this package can be imported without all the others.
    if name in __all__:
        from ixpemu.asm import pipeline

        return getattr(pipeline, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
