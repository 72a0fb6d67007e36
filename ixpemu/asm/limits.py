"""How many registers and signals one context has. Not where they go."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What a context can use.

    `gpr`: general purpose registers in each bank; `windows`: contexts that share a bank, so that one relative number is worth as
    many absolute registers, `stride` numbers apart; `transfers`: in each of the four files; `signals`: numbers 1 to `signals`;
    `neighbors`: next neighbour registers. Source: the decoders of the control store word and the chip's loader; confidence H,
    `neighbors` M.
    """

    gpr: int = 16
    windows: int = 8
    transfers: int = 16
    neighbors: int = 16
    signals: int = 15
    stride: int = 16

    @classmethod
    def of_contexts(cls, contexts: int) -> Limits:
        """The limits in 8-context or 4-context mode: 128 registers a file are divided among them."""
        return cls() if contexts == 8 else cls(32, 4, 32, 32, stride=32)
