"""The operand codecs: how operands travel in the fields of a word. Being written."""

from __future__ import annotations


class Codec:
    """One binding of a block's `fields`."""
